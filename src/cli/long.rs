//! `pairwave long`: what is valid.

mod run;

use super::args::*;
use super::common::{Compute, check_stats, check_strand, is_same_file, is_standard, machine, output, positive};
use super::endings;
use super::runner::kernel_called;
use super::scoring::ScoringChoice;
use super::size;
use pairwave::gpu::kernels::{self, Family, offered};
use pairwave::jobs::long::Strand;
use pairwave::long::Method;
use pairwave::output::dotplot::Picture;
use pairwave::output::{Field, LongFormat};
use pairwave::score::{EndGaps, Mode};
use pairwave::seq::Alphabet;
use pairwave::seq::reader::AlphabetChoice;
use pairwave::{Error, Result};
use std::path::{Path, PathBuf};

/// One pair of long sequences.
#[derive(Debug)]
pub(super) struct Long {
    /// `-` is standard input.
    pub query: PathBuf,
    pub target: PathBuf,
    pub query_id: Option<String>,
    pub target_id: Option<String>,
    pub alphabet: AlphabetChoice,
    pub degap: bool,
    pub scoring: ScoringChoice,
    pub mode: Mode,
    /// `None` is both of nucleotides, and what proteins have.
    pub strand: Option<Strand>,
    pub top: u32,
    pub min_score: Option<i64>,
    pub score_only: bool,
    pub method: Option<Method>,
    pub strip: Option<u32>,
    pub chunk: Option<u32>,
    pub prune: bool,
    pub host_memory: Option<u64>,
    pub checkpoint: Option<PathBuf>,
    pub format: LongFormat,
    /// `None` is standard output.
    pub output: Option<PathBuf>,
    pub plot: Option<(PathBuf, Picture)>,
    pub stats: Option<PathBuf>,
    pub compute: Compute,
    /// The arguments of the command.
    pub request: Request,
}

impl TryFrom<LongArgs> for Long {
    type Error = Error;

    fn try_from(args: LongArgs) -> Result<Self> {
        let alphabet = args.alphabet.map_or(AlphabetChoice::Detect, AlphabetChoice::from);
        let (mode, end_gaps) = match args.mode {
            LongModeName::Local => (Mode::Local, None),
            LongModeName::Global => (Mode::Global, None),
            LongModeName::SemiGlobal => (Mode::Global, Some(EndGaps::Free)),
        };
        let scoring = ScoringChoice::new(&args.scoring, mode, end_gaps)?;
        let format = format(&args)?;
        if let AlphabetChoice::Fixed(alphabet) = alphabet {
            scoring.resolve(alphabet)?;
            check_alphabet(alphabet, args.strand.map(Strand::from), &format)?;
        }
        check_mode(&args, mode)?;
        check_alignment(&args)?;
        check_kernel(&args)?;
        let above_zero = |option: &str, number: Option<u32>| match number {
            Some(0) => Err(Error::usage(format!("{option} 0: at least 1 is needed"))),
            number => Ok(number),
        };
        let top = above_zero("--top", args.top)?.unwrap_or(1);
        let (strip, chunk) = (above_zero("--strip", args.strip)?, above_zero("--chunk", args.chunk)?);
        let host_memory = args.host_memory.as_deref().map(|text| size::of_option("--host-memory", text)).transpose()?;
        let (compute, stats) = machine(args.machine)?;

        let query = args.query.ok_or_else(|| Error::usage("a file with the query is missing"))?;
        let target = args.target.ok_or_else(|| Error::usage("a file with the target is missing"))?;
        if is_standard(&query) && is_standard(&target) {
            return Err(Error::usage("standard input can be read once: QUERY and TARGET cannot both be -"));
        }
        let inputs = [query.as_path(), &target];
        let output = output(args.output, &inputs)?;
        check_stats(stats.as_deref(), &inputs, output.as_deref())?;
        let plot = args.plot.map(|path| plot(path, &inputs, [output.as_deref(), stats.as_deref()])).transpose()?;
        endings::check("long", "--output", output.as_deref(), &endings::typed(args.format))?;
        endings::check("long", "--checkpoint", args.checkpoint.as_deref(), "a directory")?;
        Ok(Long {
            query,
            target,
            query_id: args.query_id,
            target_id: args.target_id,
            alphabet,
            degap: args.degap,
            scoring,
            mode,
            strand: args.strand.map(Strand::from),
            top,
            min_score: args.min_score,
            score_only: args.score_only,
            method: args.method.map(Method::from),
            strip,
            chunk,
            prune: !args.no_prune,
            host_memory,
            checkpoint: args.checkpoint,
            format,
            output,
            plot,
            stats,
            compute,
            request: Request::default(),
        })
    }
}

/// Options that are for local alignments.
fn check_mode(args: &LongArgs, mode: Mode) -> Result<()> {
    if mode == Mode::Local {
        return match args.min_score {
            Some(score) if score < 1 => Err(Error::usage(format!(
                "--min-score {score}: a local alignment scores at least 1, and there is always one of less"
            ))),
            _ => Ok(()),
        };
    }
    if args.top.is_some_and(|top| top > 1) {
        return Err(Error::usage("--top is for --mode local: of whole sequences there is one alignment"));
    }
    if args.no_prune {
        return Err(Error::usage("--no-prune is for --mode local: of whole sequences every cell is computed"));
    }
    Ok(())
}

/// Options that are for alignments.
fn check_alignment(args: &LongArgs) -> Result<()> {
    if args.method == Some(MethodName::Striped) && args.chunk.is_some() {
        return Err(Error::usage("--chunk: --method striped has no chunks"));
    }
    if !args.score_only {
        return Ok(());
    }
    let needs = [
        ("--check", args.machine.check, "rescores alignments"),
        ("--plot", args.plot.is_some(), "draws alignments"),
        ("--method", args.method.is_some(), "says how alignments are found"),
        ("--strip", args.strip.is_some(), "says how alignments are found"),
        ("--chunk", args.chunk.is_some(), "says how alignments are found"),
    ];
    match needs.iter().find(|(_, given, _)| *given) {
        Some((option, _, why)) => {
            Err(Error::usage(format!("{option} {why}, but --score-only computes none: leave one of them out")))
        }
        None => Ok(()),
    }
}

/// The kernel for scores of long pairs.
const STRIPED: &str = "sw_striped_score";

/// Options of other jobs that choose among kernels, where there is one.
fn check_kernel(args: &LongArgs) -> Result<()> {
    if args.tune {
        return Err(Error::usage("--tune: long pairs have no settings that are measured; leave it out"));
    }
    match args.kernel.as_deref() {
        None | Some(STRIPED) => Ok(()),
        Some(name) if kernels::find(name).is_some() => {
            Err(Error::usage(format!("--kernel {name} is not for long pairs, which have {STRIPED}; leave it out")))
        }
        Some(name) => kernel_called(name, offered(Family::Long)).map(drop),
    }
}

fn format(args: &LongArgs) -> Result<LongFormat> {
    let name = args.format;
    let typed = clap::ValueEnum::to_possible_value(&name).expect("no format is hidden").get_name().to_owned();
    let has_fields = matches!(name, LongFormatName::Tsv | LongFormatName::Jsonl);
    if args.fields.is_some() && !has_fields {
        return Err(Error::usage(format!("--fields is for tsv and jsonl: {typed} has its own columns")));
    }
    if args.score_only && !has_fields {
        return Err(Error::usage(format!(
            "--score-only leaves out the alignments that {typed} describes: use --format tsv or jsonl"
        )));
    }
    if args.width.is_some() && name != LongFormatName::Text {
        return Err(Error::usage(format!("--width is for --format text, but the format is {typed}")));
    }
    let fields = |defaults: fn(bool) -> Vec<&'static Field>| match &args.fields {
        Some(list) => Field::parse_long_list(list, args.score_only),
        None => Ok(defaults(args.score_only)),
    };
    Ok(match name {
        LongFormatName::Tsv => LongFormat::Tsv(fields(Field::long_tsv_defaults)?),
        LongFormatName::Jsonl => LongFormat::JsonLines(fields(Field::long_json_defaults)?),
        LongFormatName::Paf => LongFormat::Paf,
        LongFormatName::Sam => LongFormat::Sam { command: String::new() },
        LongFormatName::Text => {
            let width = args.width.map_or(60, |width| width as usize);
            LongFormat::Text { width: positive("--width", width)?.get() as u32 }
        }
    })
}

/// A file for a plot; no other file may be lost.
fn plot(path: PathBuf, inputs: &[&Path], others: [Option<&Path>; 2]) -> Result<(PathBuf, Picture)> {
    let typed = path.display();
    let ending = path.extension().map(|ending| ending.to_ascii_lowercase());
    let picture = match ending.as_deref().and_then(|ending| ending.to_str()) {
        Some("svg") => Picture::Svg,
        Some("png") => Picture::Png,
        _ => return Err(Error::usage(format!("--plot {typed}: the name of a picture ends in .svg or .png"))),
    };
    if inputs.iter().any(|input| is_same_file(&path, input)) {
        return Err(Error::usage(format!("--plot {typed} would replace the input of that name")));
    }
    if others.into_iter().flatten().any(|other| path == other || is_same_file(&path, other)) {
        return Err(Error::usage(format!("--plot {typed} would replace another output of that name")));
    }
    Ok((path, picture))
}

/// What is for nucleotides only.
fn check_alphabet(alphabet: Alphabet, strand: Option<Strand>, format: &LongFormat) -> Result<()> {
    check_strand(strand.unwrap_or_default(), alphabet)?;
    if alphabet != Alphabet::Dna && matches!(format, LongFormat::Sam { .. }) {
        let letters = alphabet.letters();
        return Err(Error::usage(format!("--format sam is for nucleotides, but these are {letters}: use paf")));
    }
    Ok(())
}

impl Long {
    /// Sets the request, for the header of SAM and for the checkpoint.
    pub(super) fn set_request(&mut self, request: Request) {
        if let LongFormat::Sam { command } = &mut self.format {
            *command = request.line();
        }
        self.request = request;
    }

    /// The strands of sequences of this alphabet that are aligned.
    fn strand(&self, alphabet: Alphabet) -> Strand {
        let all = if alphabet == Alphabet::Dna { Strand::Both } else { Strand::Forward };
        self.strand.unwrap_or(all)
    }
}

impl From<MethodName> for Method {
    fn from(name: MethodName) -> Self {
        match name {
            MethodName::Striped => Method::Striped,
            MethodName::Chunked1 => Method::Chunked1,
            MethodName::Chunked2 => Method::Chunked2,
        }
    }
}
