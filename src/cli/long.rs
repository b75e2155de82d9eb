//! Validated options of `pairwave long`.

mod records;
mod run;
mod summary;

use super::args::*;
use super::common::plot::PlotFile;
use super::common::rows::{check_evalue, check_score_only};
use super::common::{ComputeOptions, OutputFiles, check_others, check_standard, check_strand};
use super::endings;
use super::runner::kernel_called;
use super::scoring::ScoringChoice;
use super::size;
use pairwave::gpu::kernels::{self, Family, selectable};
use pairwave::jobs::long::{CircularSides, Strands, TopPer};
use pairwave::long::Method;
use pairwave::output::{CsForm, Field, LongFormat, LongPaths};
use pairwave::score::Mode;
use pairwave::seq::reader::AlphabetChoice;
use pairwave::seq::{Alphabet, ReadOptions};
use pairwave::{Error, Result};
use std::ffi::OsString;
use std::path::PathBuf;

/// Pairs of long sequences.
#[derive(Debug)]
pub(super) struct Long {
    /// File of the queries; `-` is standard input.
    pub query: PathBuf,
    pub target: PathBuf,
    /// Names of the selected sequences, byte for byte; empty for all.
    pub query_ids: Vec<OsString>,
    pub target_ids: Vec<OsString>,
    pub read: ReadOptions,
    pub scoring: ScoringChoice,
    /// Strands to align; `None` is both for nucleotides, and the only strand of proteins.
    pub strand: Option<Strands>,
    pub circular: CircularSides,
    pub top: u32,
    pub top_per: TopPer,
    pub min_score: Option<i64>,
    pub evalue: Option<f64>,
    pub score_only: bool,
    pub method: Option<Method>,
    pub strip: Option<u32>,
    pub chunk: Option<u32>,
    pub prune: bool,
    pub host_memory: Option<u64>,
    pub checkpoint: Option<PathBuf>,
    pub format: LongFormat,
    pub files: OutputFiles,
    pub plot: Option<PlotFile>,
    /// File for an HTML page of the alignments.
    pub report: Option<PathBuf>,
    pub compute: ComputeOptions,
    /// Arguments of the command.
    pub request: JobRequest,
}

impl TryFrom<LongArgs> for Long {
    type Error = Error;

    fn try_from(args: LongArgs) -> Result<Self> {
        let read = ReadOptions::from(args.letters);
        let scoring = ScoringChoice::try_from(&args.alignment)?;
        let format = format(&args)?;
        if let AlphabetChoice::Fixed(alphabet) = read.alphabet {
            scoring.resolve(alphabet)?;
            check_alphabet(alphabet, args.strands.given(), &format)?;
        }
        check_mode(&args, scoring.mode())?;
        check_evalue(args.evalue, scoring.mode())?;
        check_circular(&args, scoring.mode(), &format)?;
        let circular = circular(&args);
        check_alignment(&args)?;
        check_kernel(&args)?;
        for (option, number) in [("--top", args.top), ("--strip", args.strip), ("--chunk", args.chunk)] {
            size::check_positive(option, number)?;
        }
        let host_memory =
            args.host_memory.as_deref().map(|text| size::bytes_of_option("--host-memory", text)).transpose()?;
        let compute = ComputeOptions::try_from(&args.machine)?;
        args.kernels.check(&compute.devices)?;

        let query = args.query.ok_or_else(|| Error::usage("QUERY is missing: name a file with the query"))?;
        let target = args.target.ok_or_else(|| Error::usage("TARGET is missing: name a file with the target"))?;
        let inputs = [query.as_path(), &target];
        check_standard(&inputs, "QUERY and TARGET cannot both be -")?;
        let files = OutputFiles::new(&args.output, args.machine.stats.as_deref(), &inputs)?;
        let plot = args.plot.map(|path| PlotFile::new(path, &inputs, files.names())).transpose()?;
        endings::check("long", "--output", files.output.as_deref(), &args.rows.format_name())?;
        let report = args.report;
        let drawn = plot.as_ref().map(|plot| plot.path.as_path());
        check_others(&[("--report", report.as_deref()), ("--plot", drawn)], &inputs, &files.names())?;
        endings::check("long", "--report", report.as_deref(), "--report")?;
        endings::check("long", "--checkpoint", args.checkpoint.as_deref(), "a directory")?;
        Ok(Long {
            query,
            target,
            query_ids: args.query_id,
            target_ids: args.target_id,
            read,
            scoring,
            strand: args.strands.given(),
            circular,
            top: args.top.unwrap_or(1),
            top_per: args.top_per.map(TopPer::from).unwrap_or_default(),
            min_score: args.scores.min_score,
            evalue: args.evalue,
            score_only: args.results.score_only,
            method: args.method.map(Method::from),
            strip: args.strip,
            chunk: args.chunk,
            prune: !args.no_prune,
            host_memory,
            checkpoint: args.checkpoint,
            format,
            files,
            plot,
            report,
            compute,
            request: JobRequest::default(),
        })
    }
}

/// Rejects options that apply only to local alignments.
fn check_mode(args: &LongArgs, mode: Mode) -> Result<()> {
    if mode == Mode::Local {
        return match args.scores.min_score {
            Some(score) if score < 1 => {
                Err(Error::usage(format!("--min-score {score}: must be at least 1 for local alignments")))
            }
            _ => Ok(()),
        };
    }
    let is_per_pair = args.top_per.is_none_or(|per| per == TopPerName::Pair);
    if is_per_pair && args.top.is_some_and(|top| top > 1) {
        return Err(Error::usage(
            "--top applies only to --mode local, because a pair has one alignment end to end: remove it, or add \
             --top-per query",
        ));
    }
    Ok(())
}

/// Returns which sequences are circular.
fn circular(args: &LongArgs) -> CircularSides {
    CircularSides { query: args.circular || args.circular_query, target: args.circular || args.circular_target }
}

/// Rejects what does not suit circular sequences, and the field that only they have.
fn check_circular(args: &LongArgs, mode: Mode, format: &LongFormat) -> Result<()> {
    if !circular(args).any() {
        return match format {
            LongFormat::Tsv(fields) | LongFormat::JsonLines(fields) if fields.contains(&Field::long_number()) => {
                let message =
                    "--fields: 'alignment' numbers alignments of circular sequences: remove it, or add --circular";
                Err(Error::usage(message))
            }
            _ => Ok(()),
        };
    }
    let given = [("--circular", args.circular), ("--circular-query", args.circular_query)];
    let option = given.iter().find(|(_, is_given)| *is_given).map_or("--circular-target", |(option, _)| *option);
    if mode != Mode::Local {
        return Err(Error::usage(format!(
            "{option} applies only to --mode local, because an alignment end to end starts at the origin: remove it"
        )));
    }
    if args.results.score_only {
        return Err(Error::usage(format!(
            "{option} needs alignments, to find where they cross the origin: remove --score-only"
        )));
    }
    Ok(())
}

/// Rejects options that need alignments if only scores are computed.
fn check_alignment(args: &LongArgs) -> Result<()> {
    if args.method == Some(MethodName::Striped) && args.chunk.is_some() {
        return Err(Error::usage("--chunk has no effect with --method striped: remove one of them"));
    }
    check_score_only(
        args.results.score_only,
        &[
            ("--check", args.machine.check, "rescores alignments"),
            ("--plot", args.plot.is_some(), "draws alignments"),
            ("--report", args.report.is_some(), "describes alignments"),
            ("--method", args.method.is_some(), "controls how alignments are traced"),
            ("--strip", args.strip.is_some(), "controls how alignments are traced"),
            ("--chunk", args.chunk.is_some(), "controls how alignments are traced"),
        ],
    )
}

/// Name of the score kernel for long pairs.
const STRIPED: &str = "sw_striped_score";

/// Rejects options of other jobs that choose among several kernels.
fn check_kernel(args: &LongArgs) -> Result<()> {
    args.kernels.check_untuned("long")?;
    match args.kernels.kernel.as_deref() {
        None | Some(STRIPED) => Ok(()),
        Some(name) if kernels::find(name).is_some() => {
            Err(Error::usage(format!("--kernel {name} cannot align long pairs, only {STRIPED} can; remove it")))
        }
        Some(name) => kernel_called(name, selectable(Family::Long)).map(drop),
    }
}

fn format(args: &LongArgs) -> Result<LongFormat> {
    let name = args.rows.format;
    let has_fields = matches!(name, LongFormatName::Tsv | LongFormatName::Jsonl);
    args.rows.check_fields(has_fields)?;
    args.rows.check_score_only(args.results.score_only, has_fields)?;
    args.width.check(name == LongFormatName::Text, &args.rows.format_name())?;
    if args.cs.is_some() && name != LongFormatName::Paf {
        let format = args.rows.format_name();
        return Err(Error::usage(format!("--cs applies only to --format paf, not to {format}: remove one of them")));
    }
    let number = circular(args).any().then(Field::long_number);
    let fields = |defaults: fn(bool) -> Vec<&'static Field>| match &args.rows.fields {
        Some(list) => Field::parse_long_list(list, args.results.score_only),
        None => {
            let defaults = defaults(args.results.score_only);
            let defaults = if args.evalue.is_some() { Field::with_significance(defaults) } else { defaults };
            Ok(defaults.into_iter().chain(number).collect())
        }
    };
    Ok(match name {
        LongFormatName::Tsv => LongFormat::Tsv(fields(Field::long_tsv_defaults)?),
        LongFormatName::Jsonl => LongFormat::JsonLines(fields(Field::long_json_defaults)?),
        LongFormatName::Paf => LongFormat::Paf { cs: args.cs.map(CsForm::from) },
        LongFormatName::Sam => LongFormat::Sam { command: String::new() },
        LongFormatName::Vcf => LongFormat::Vcf(paths(args)),
        LongFormatName::Maf => LongFormat::Maf,
        LongFormatName::Chain => LongFormat::Chain,
        LongFormatName::Delta => LongFormat::Delta(paths_without_blanks(args)?),
        LongFormatName::Text => LongFormat::Text { width: args.width.columns()? },
    })
}

/// Returns the paths that headers contain.
fn paths(args: &LongArgs) -> LongPaths {
    let typed = |path: &Option<PathBuf>| path.as_ref().map(|path| path.display().to_string()).unwrap_or_default();
    LongPaths { query: typed(&args.query), target: typed(&args.target) }
}

/// Returns the paths that the first line of a delta file contains.
fn paths_without_blanks(args: &LongArgs) -> Result<LongPaths> {
    let paths = paths(args);
    for path in [&paths.query, &paths.target] {
        if path.contains(char::is_whitespace) {
            return Err(Error::usage(format!(
                "--format delta: '{path}' has a blank, which separates the paths of the two files: rename the file"
            )));
        }
    }
    Ok(paths)
}

/// Rejects options that apply only to nucleotides.
fn check_alphabet(alphabet: Alphabet, strand: Option<Strands>, format: &LongFormat) -> Result<()> {
    check_strand(strand.unwrap_or_default(), alphabet)?;
    let name = match format {
        LongFormat::Sam { .. } => "sam",
        LongFormat::Vcf(_) => "vcf",
        LongFormat::Chain => "chain",
        LongFormat::Delta(_) => "delta",
        LongFormat::Tsv(_)
        | LongFormat::Paf { .. }
        | LongFormat::Maf
        | LongFormat::JsonLines(_)
        | LongFormat::Text { .. } => {
            return Ok(());
        }
    };
    if alphabet != Alphabet::Dna {
        let letters = alphabet.letters();
        return Err(Error::usage(format!(
            "--format {name} applies only to nucleotides, but the sequences are {letters}: use paf"
        )));
    }
    Ok(())
}

impl Long {
    /// Sets the arguments, which the header of SAM and the checkpoint record.
    pub(super) fn set_request(&mut self, request: JobRequest) {
        if let LongFormat::Sam { command } = &mut self.format {
            *command = request.line();
        }
        self.request = request;
    }

    /// Returns the strands to align for this alphabet.
    fn strand(&self, alphabet: Alphabet) -> Strands {
        let all = if alphabet == Alphabet::Dna { Strands::Both } else { Strands::Plus };
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

impl From<CsName> for CsForm {
    fn from(name: CsName) -> Self {
        match name {
            CsName::Short => CsForm::Short,
            CsName::Long => CsForm::Long,
        }
    }
}

impl From<TopPerName> for TopPer {
    fn from(name: TopPerName) -> Self {
        match name {
            TopPerName::Pair => TopPer::Pair,
            TopPerName::Query => TopPer::Query,
            TopPerName::All => TopPer::All,
        }
    }
}
