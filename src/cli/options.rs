//! What is valid: [`Options`] made from [`Args`], or an error that says what contradicts what.

mod pairs;

use super::args::*;
use super::bench::Bench;
use super::blocks::{BlockCommand as _, Merge, Plan, RunBlocks};
use super::common::{Compute, check_stats, check_strand, compute, is_standard, max_hits, output, positive};
use super::device::DeviceChoice;
use super::edit::Edit;
use super::endings;
use super::long::Long;
use super::makedb::{DbInfo, MakeDb};
use super::mpi::Mpi;
use super::msa::MultipleAlign;
use super::pairs::PairsJob;
use super::papara::Papara;
use super::scoring::ScoringChoice;
use super::search::Search;
use super::tips::{one_line, share_of_percent};
use super::trees::{DistanceMatrix, TreeMake};
use pairwave::jobs::EditFilter;
use pairwave::output::{Distance, FIELDS, Field, Format, MatrixShape};
use pairwave::score::{Ambiguity, EndGaps, IdentityDefinition, Mode};
use pairwave::seq::Strand;
use pairwave::seq::reader::AlphabetChoice;
use pairwave::{Error, Result};
use std::ffi::OsString;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

/// A valid command line.
#[derive(Debug)]
pub(super) struct Options {
    /// Nothing on standard error but errors.
    pub quiet: bool,
    pub verbose: bool,
    pub action: Action,
}

/// One job, or something to print.
#[derive(Debug)]
pub(super) enum Action {
    AllPairs(Box<AllPairs>),
    Search(Box<Search>),
    Pairs(Box<PairsJob>),
    Edit(Box<Edit>),
    Long(Box<Long>),
    Papara(Box<Papara>),
    Msa(Box<MultipleAlign>),
    Tree(Box<TreeMake>),
    Dist(Box<DistanceMatrix>),
    /// A job is cut.
    Plan(Box<Plan>),
    /// Blocks of a job are computed.
    Run(Box<RunBlocks>),
    /// Rows of blocks are put together.
    Merge(Box<Merge>),
    /// A job is run by many ranks.
    Mpi(Box<Mpi>),
    MakeDb(MakeDb),
    DbInfo(DbInfo),
    Devices(Devices),
    Bench(Box<Bench>),
    Completions(clap_complete::Shell),
    Man(Option<PathBuf>),
    Citation,
    /// The table of fields of `allpairs`.
    Fields,
    /// The same of `search`.
    SearchFields,
    /// The same of `edit`.
    EditFields,
    /// The same of `long`.
    LongFields,
    /// The list of scoring schemes.
    Schemes,
}

/// All pairs of one file, or of one file against another.
#[derive(Debug)]
pub(super) struct AllPairs {
    /// `-` is standard input.
    pub seqs: PathBuf,
    pub against: Option<PathBuf>,
    pub alphabet: AlphabetChoice,
    pub degap: bool,
    pub scoring: ScoringChoice,
    pub strand: Strand,
    pub selection: Selection,
    pub format: Format,
    /// `None` is standard output.
    pub output: Option<PathBuf>,
    /// Where to write what the job took.
    pub stats: Option<PathBuf>,
    pub compute: Compute,
}

/// Which pairs are written, and what is computed of them.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Selection {
    /// From 0 to 1.
    pub min_identity: Option<f64>,
    pub min_score: Option<i64>,
    pub identity: IdentityDefinition,
    pub max_hits: Option<NonZeroU32>,
    pub score_only: bool,
    /// Whether edit distances leave pairs out before they are scored.
    pub edit_filter: EditFilter,
}

/// The list of devices.
#[derive(Debug)]
pub(super) struct Devices {
    pub json: bool,
    pub self_test: bool,
    pub bench: bool,
    /// At least one; [`DeviceChoice::Auto`] stands for all of them here.
    pub devices: Vec<DeviceChoice>,
}

impl TryFrom<Args> for Options {
    type Error = Error;

    fn try_from(args: Args) -> Result<Self> {
        let mut action = match args.command {
            _ if args.citation => Action::Citation,
            None => return Err(Error::usage("a command is missing; see 'pairwave --help'")),
            Some(Command::Allpairs(args)) if args.scoring.lists_schemes() => Action::Schemes,
            Some(Command::Long(args)) if args.scoring.lists_schemes() => Action::Schemes,
            Some(Command::Search(args)) if args.scoring.lists_schemes() => Action::Schemes,
            Some(Command::Search(args)) if args.fields.as_deref() == Some("help") => Action::SearchFields,
            Some(Command::Search(args)) => Action::Search(Box::new(Search::try_from(*args)?)),
            Some(Command::Pairs(args)) if args.scoring.lists_schemes() => Action::Schemes,
            Some(Command::Allpairs(args)) if args.fields.as_deref() == Some("help") => Action::Fields,
            Some(Command::Allpairs(args)) => Action::AllPairs(Box::new(AllPairs::try_from(*args)?)),
            Some(Command::Pairs(args)) if args.fields.as_deref() == Some("help") => Action::Fields,
            Some(Command::Pairs(args)) => Action::Pairs(Box::new(PairsJob::try_from(*args)?)),
            Some(Command::Edit(args)) if args.fields.as_deref() == Some("help") => Action::EditFields,
            Some(Command::Edit(args)) => Action::Edit(Box::new(Edit::try_from(*args)?)),
            Some(Command::Long(args)) if args.fields.as_deref() == Some("help") => Action::LongFields,
            Some(Command::Long(args)) => Action::Long(Box::new(Long::try_from(*args)?)),
            Some(Command::Papara(args)) => Action::Papara(Box::new(Papara::try_from(*args)?)),
            Some(Command::Msa(args)) => Action::Msa(Box::new(MultipleAlign::try_from(*args)?)),
            Some(Command::Tree(args)) => Action::Tree(Box::new(TreeMake::try_from(*args)?)),
            Some(Command::Dist(args)) => Action::Dist(Box::new(DistanceMatrix::try_from(*args)?)),
            Some(Command::Plan(plan)) => Action::Plan(Box::new(Plan::new(*plan, &args.typed)?)),
            Some(Command::Run(args)) => Action::Run(Box::new(RunBlocks::try_from(*args)?)),
            Some(Command::Merge(args)) => Action::Merge(Box::new(Merge::try_from(args)?)),
            Some(Command::Mpi(mpi)) => Action::Mpi(Box::new(Mpi::new(*mpi, &args.typed)?)),
            Some(Command::Makedb(args)) => Action::MakeDb(MakeDb::try_from(args)?),
            Some(Command::Dbinfo(args)) => Action::DbInfo(DbInfo::try_from(args)?),
            Some(Command::Devices(args)) => Action::Devices(Devices {
                json: args.json,
                self_test: args.self_test,
                bench: args.bench,
                devices: DeviceChoice::parse_all(&args.device)?,
            }),
            Some(Command::Bench(args)) => Action::Bench(Box::new(Bench::try_from(*args)?)),
            Some(Command::Completions { shell }) => Action::Completions(shell),
            Some(Command::Man { directory }) => Action::Man(directory),
        };
        match &mut action {
            Action::AllPairs(job) => job.set_command_line(args.request.line()),
            Action::Search(job) => job.set_command_line(args.request.line()),
            Action::Pairs(job) => job.set_command_line(args.request.line()),
            Action::Long(job) => job.set_request(args.request),
            Action::Papara(job) => job.request = args.request,
            _ => {}
        }
        Ok(Options { quiet: args.quiet, verbose: args.verbose, action })
    }
}

/// The job of a command line without the program's name, as a plan has it.
pub(super) fn job_of(arguments: &[OsString]) -> Result<Action> {
    let typed = std::iter::once("pairwave".into()).chain(arguments.iter().cloned()).collect();
    let args = Args::of(typed).map_err(|error| Error::usage(one_line(&error.render().to_string())))?;
    Options::try_from(args).map(|options| options.action)
}

impl TryFrom<AllPairsArgs> for AllPairs {
    type Error = Error;

    fn try_from(mut args: AllPairsArgs) -> Result<Self> {
        args.against = args.against.or(args.other.take());
        let alphabet = args.alphabet.map_or(AlphabetChoice::Detect, AlphabetChoice::from);
        let (mode, end_gaps) = mode(args.mode, args.end_gaps)?;
        let scoring = ScoringChoice::new(&args.scoring, mode, end_gaps)?;
        let strand = args.strand.map_or(Strand::Forward, Strand::from);
        if let AlphabetChoice::Fixed(alphabet) = alphabet {
            scoring.resolve(alphabet)?;
            check_strand(strand, alphabet)?;
        }
        let selection = selection(&args, mode)?;
        let format = format(&args, mode)?;
        let (compute, stats) = compute(args.compute)?;
        let seqs = args.seqs.ok_or_else(|| Error::usage("a file of sequences is missing"))?;
        if is_standard(&seqs) && args.against.as_deref().is_some_and(is_standard) {
            return Err(Error::usage("standard input can be read once: SEQS and OTHER cannot both be -"));
        }
        let inputs: Vec<&Path> = [Some(&*seqs), args.against.as_deref()].into_iter().flatten().collect();
        let output = output(args.output, &inputs)?;
        check_stats(stats.as_deref(), &inputs, output.as_deref())?;
        endings::check("allpairs", "--output", output.as_deref(), &endings::typed(args.format))?;
        Ok(AllPairs {
            seqs,
            against: args.against,
            alphabet,
            degap: args.degap,
            scoring,
            strand,
            selection,
            format,
            output,
            stats,
            compute,
        })
    }
}

/// What is aligned, and what the ends cost: two options that can say the same, or contradict each other.
fn mode(mode: Option<ModeName>, end_gaps: Option<EndGapsName>) -> Result<(Mode, Option<EndGaps>)> {
    match (mode, end_gaps) {
        (Some(ModeName::Local), Some(_)) => {
            Err(Error::usage("--end-gaps with --mode local: a local alignment has no end gaps, leave it out"))
        }
        (Some(ModeName::SemiGlobal), Some(EndGapsName::Charged)) => Err(Error::usage(
            "--mode semi-global leaves end gaps free, --end-gaps charged does not: leave one of them out",
        )),
        (Some(ModeName::Global), Some(EndGapsName::Free)) => Err(Error::usage(
            "--mode global charges end gaps, --end-gaps free does not: use --mode semi-global, or leave --mode out",
        )),
        (Some(ModeName::Local), None) => Ok((Mode::Local, None)),
        (Some(ModeName::SemiGlobal), _) => Ok((Mode::Global, Some(EndGaps::Free))),
        (_, end_gaps) => Ok((Mode::Global, end_gaps.map(EndGaps::from))),
    }
}

fn selection(args: &AllPairsArgs, mode: Mode) -> Result<Selection> {
    if let Some(given) = args.min_identity {
        if given > 1.0 && given <= 100.0 {
            return Err(Error::usage(format!(
                "--min-identity {given}: identities are fractions from 0 to 1; did you mean {}?",
                share_of_percent(given)
            )));
        }
        if !(0.0..=1.0).contains(&given) {
            return Err(Error::usage(format!("--min-identity {given}: identities are fractions from 0 to 1")));
        }
    }
    if args.score_only {
        let needs = [
            ("--min-identity", args.min_identity.is_some(), "compares identities"),
            ("--max-hits", args.max_hits.is_some(), "ranks by identity"),
            ("--iddef", args.iddef.is_some(), "defines identity"),
            ("--check", args.compute.machine.check, "rescores alignments"),
        ];
        if let Some((option, _, why)) = needs.iter().find(|(_, given, _)| *given) {
            return Err(Error::usage(format!("{option} {why}, but --score-only computes none: leave one of them out")));
        }
    }
    let identity = match args.iddef {
        Some(number) => IdentityDefinition::from_number(number)
            .ok_or_else(|| Error::usage(format!("--iddef {number}: there are 0 to 4")))?,
        None => IdentityDefinition::default(),
    };
    if mode == Mode::Local && identity == IdentityDefinition::Mbl {
        return Err(Error::usage(
            "--iddef 3 compares whole sequences, but --mode local leaves parts of them out: use 0, 1, 2 or 4",
        ));
    }
    Ok(Selection {
        min_identity: args.min_identity,
        min_score: args.min_score,
        identity,
        max_hits: max_hits(args.max_hits)?,
        score_only: args.score_only,
        edit_filter: match args.edit_filter {
            Some(_) if args.min_identity.is_none() => {
                return Err(Error::usage("--edit-filter: nothing is left out without --min-identity"));
            }
            None | Some(EditFilterName::Auto) => EditFilter::Auto,
            Some(EditFilterName::On) => EditFilter::On,
            Some(EditFilterName::Off) => EditFilter::Off,
        },
    })
}

fn format(args: &AllPairsArgs, mode: Mode) -> Result<Format> {
    let name = args.format;
    let typed = clap::ValueEnum::to_possible_value(&name).expect("no format is hidden").get_name().to_owned();
    let is_matrix = name == FormatName::Phylip;
    let has_fields = matches!(name, FormatName::Tsv | FormatName::Jsonl);
    if args.fields.is_some() && !has_fields {
        return Err(Error::usage(format!("--fields is for tsv and jsonl: {typed} has its own columns")));
    }
    for (option, given) in [("--distance", args.distance.is_some()), ("--matrix-shape", args.matrix_shape.is_some())] {
        if given && !is_matrix {
            return Err(Error::usage(format!("{option} is for --format phylip, but the format is {typed}")));
        }
    }
    if args.width.is_some() && name != FormatName::Text {
        return Err(Error::usage(format!("--width is for --format text, but the format is {typed}")));
    }
    if args.score_only && !has_fields {
        return Err(Error::usage(format!(
            "--score-only leaves out the alignments that {typed} describes: use --format tsv or jsonl"
        )));
    }
    if is_matrix {
        if mode == Mode::Local {
            return Err(Error::usage(
                "phylip has distances of whole sequences, but --mode local leaves parts of them out",
            ));
        }
        let filters = [
            ("--min-identity", args.min_identity.is_some()),
            ("--min-score", args.min_score.is_some()),
            ("--max-hits", args.max_hits.is_some()),
        ];
        if let Some((option, _)) = filters.iter().find(|(_, given)| *given) {
            return Err(Error::usage(format!("{option} would leave holes in the matrix: phylip needs every pair")));
        }
        if args.against.is_some() && args.matrix_shape == Some(ShapeName::Lower) {
            return Err(Error::usage(
                "--matrix-shape lower is for one file: with a second one the matrix is a rectangle",
            ));
        }
        if args.iddef.is_some() && args.distance.is_some_and(|distance| distance != DistanceName::Identity) {
            return Err(Error::usage("--iddef counts only with --distance identity"));
        }
    }
    let is_local = mode == Mode::Local;
    let fields = |defaults: fn(bool) -> Vec<&'static Field>, of_local: fn() -> Vec<&'static Field>| match &args.fields {
        Some(list) => {
            let fields = Field::parse_list(list, args.score_only)?;
            match fields.iter().find(|field| is_local && field.needs_whole_sequences()) {
                Some(field) => Err(Error::usage(format!(
                    "--fields: '{}' compares whole sequences, but --mode local leaves parts of them out",
                    field.name
                ))),
                None => Ok(fields),
            }
        }
        None => {
            let defaults = if is_local && !args.score_only { of_local() } else { defaults(args.score_only) };
            let has_strand = !matches!(args.strand, None | Some(StrandName::Plus));
            Ok(if has_strand { Field::with_strand(defaults, FIELDS) } else { defaults })
        }
    };
    let format = match name {
        FormatName::Tsv => Format::Tsv(fields(Field::tsv_defaults, Field::local_tsv_defaults)?),
        FormatName::Jsonl => Format::JsonLines(fields(Field::json_defaults, Field::local_json_defaults)?),
        FormatName::Blast6 => Format::Blast6,
        FormatName::Paf => Format::Paf,
        FormatName::Sam => Format::Sam { command: String::new() },
        FormatName::Text => {
            let width = args.width.map_or(60, |width| width as usize);
            Format::Text { width: positive("--width", width)?.get() as u32 }
        }
        FormatName::Phylip => Format::Phylip {
            distance: args.distance.map_or(Distance::default(), Distance::from),
            shape: args.matrix_shape.map_or(MatrixShape::default(), MatrixShape::from),
        },
    };
    let shows_identity = match &format {
        Format::Tsv(fields) | Format::JsonLines(fields) => fields.iter().any(|field| field.follows_definition()),
        Format::Blast6 | Format::Phylip { .. } => true,
        Format::Paf | Format::Sam { .. } | Format::Text { .. } => false,
    };
    if args.iddef.is_some() && !shows_identity && args.min_identity.is_none() && args.max_hits.is_none() {
        return Err(Error::usage(format!(
            "--iddef: nothing that {typed} writes here depends on the definition of identity, leave it out"
        )));
    }
    Ok(format)
}

impl From<AmbiguityName> for Ambiguity {
    fn from(name: AmbiguityName) -> Self {
        match name {
            AmbiguityName::Overlap => Ambiguity::Overlap,
            AmbiguityName::Mismatch => Ambiguity::Mismatch,
            AmbiguityName::Zero => Ambiguity::Zero,
            AmbiguityName::Mean => Ambiguity::Mean,
        }
    }
}

impl From<EndGapsName> for EndGaps {
    fn from(name: EndGapsName) -> Self {
        match name {
            EndGapsName::Charged => EndGaps::Charged,
            EndGapsName::Free => EndGaps::Free,
        }
    }
}

impl From<DistanceName> for Distance {
    fn from(name: DistanceName) -> Self {
        match name {
            DistanceName::Identity => Distance::Identity,
            DistanceName::Kimura => Distance::Kimura,
            DistanceName::JukesCantor => Distance::JukesCantor,
        }
    }
}

impl From<ShapeName> for MatrixShape {
    fn from(name: ShapeName) -> Self {
        match name {
            ShapeName::Square => MatrixShape::Square,
            ShapeName::Lower => MatrixShape::Lower,
        }
    }
}
