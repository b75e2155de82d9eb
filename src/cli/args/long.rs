//! What was typed after `pairwave long`.

use crate::cli::args::headings::{COMPUTING, OUTPUT, SELECTION};
use crate::cli::args::input::{LettersArgs, StrandName};
use crate::cli::args::machine::MachineArgs;
use crate::cli::args::output::{OutputArgs, RowsArgs, WidthArgs, with_more_help};
use crate::cli::args::scoring::LocalAlignmentArgs;
use clap::{Arg, ValueEnum, ValueHint};
use std::path::PathBuf;

/// Align one pair of very long sequences, such as genomes, in memory that grows with their lengths only
///
/// QUERY and TARGET hold one sequence each, or --query-id and --target-id choose one of several. By default the two parts
/// that score most are aligned (Smith-Waterman); every cell of the matrix that could matter is computed, so the score is
/// exact. Scores and alignments do not depend on the devices that compute them.
#[derive(Debug, clap::Args, Default)]
#[command(override_usage = "pairwave long [OPTIONS] <QUERY> <TARGET>", after_long_help = EXAMPLES)]
#[command(mut_args(as_in_long))]
pub(crate) struct LongArgs {
    /// The first sequence: FASTA or FASTQ, plain or compressed (gz, bz2, xz, zst); - is standard input
    #[arg(required_unless_present_any = ["fields", "scheme"], value_hint = ValueHint::FilePath)]
    pub query: Option<PathBuf>,

    /// The second, in a file of the same kind, which may be the same file
    #[arg(required_unless_present_any = ["fields", "scheme"], value_hint = ValueHint::FilePath)]
    pub target: Option<PathBuf>,

    /// Name of the sequence in QUERY to take, if there are several: its header up to the first blank
    #[arg(long, value_name = "NAME")]
    pub query_id: Option<String>,

    /// Name of the sequence in TARGET to take
    #[arg(long, value_name = "NAME")]
    pub target_id: Option<String>,

    #[command(flatten)]
    pub letters: LettersArgs,

    /// Which strand of the query is aligned with the target [default: both for nucleotides, plus for proteins]
    ///
    /// Both take twice the time of one.
    #[arg(long, value_name = "STRAND", value_enum, ignore_case = true)]
    pub strand: Option<StrandName>,

    #[command(flatten)]
    pub alignment: LocalAlignmentArgs,

    /// Write up to this many alignments, best first; --mode local [default: 1]
    ///
    /// Each one but the first is the best that aligns no symbol of the query with a symbol of the target where an earlier
    /// one has the two in its parts: no two overlap in both sequences.
    #[arg(long, value_name = "K", help_heading = SELECTION)]
    pub top: Option<u32>,

    /// Write only alignments of at least this score [default: 1 with --mode local, else any]
    #[arg(long, value_name = "SCORE", help_heading = SELECTION, allow_negative_numbers = true)]
    pub min_score: Option<i64>,

    /// Compute scores, and where alignments end, but no alignments
    #[arg(long, help_heading = SELECTION)]
    pub score_only: bool,

    #[command(flatten)]
    pub output: OutputArgs,

    #[command(flatten)]
    pub rows: RowsArgs<LongFormatName>,

    #[command(flatten)]
    pub width: WidthArgs,

    /// Draw a dot plot of the alignments, target across and query up, to this file: .svg or .png
    #[arg(long, value_name = "FILE", help_heading = OUTPUT, value_hint = ValueHint::FilePath)]
    pub plot: Option<PathBuf>,

    #[command(flatten)]
    pub machine: MachineArgs,

    /// Memory for edges to take on the host at most, as in 8G or 512M; the rest is kept in files [default: 4G, or a quarter
    /// of the memory if that is less]
    #[arg(long, value_name = "SIZE", help_heading = COMPUTING, allow_hyphen_values = true)]
    pub host_memory: Option<String>,

    /// Write down in this directory how far the job is, and go on from there if the same job is run again
    ///
    /// The directory is made if it is not there. It may be deleted when the job is done.
    #[arg(long, value_name = "DIRECTORY", help_heading = COMPUTING, value_hint = ValueHint::DirPath)]
    pub checkpoint: Option<PathBuf>,

    /// Kernel for GPUs: sw_striped_score, the only one for long pairs
    #[arg(long, value_name = "NAME", help_heading = COMPUTING)]
    pub kernel: Option<String>,

    // Here to be refused with a reason: other jobs have it.
    #[arg(long, hide = true)]
    pub tune: bool,

    /// How the alignment is found once its end is known [default: chunked2]; all find the same
    #[arg(long, value_name = "METHOD", help_heading = COMPUTING, value_enum, ignore_case = true)]
    pub method: Option<MethodName>,

    /// Columns of a strip, the part of the matrix that is traced at once [default: what suits the device]
    #[arg(long, value_name = "COLUMNS", help_heading = COMPUTING)]
    pub strip: Option<u32>,

    /// Rows of a chunk, a part of a strip [default: what suits the device]
    #[arg(long, value_name = "ROWS", help_heading = COMPUTING)]
    pub chunk: Option<u32>,

    /// Compute the cells too from which the best score cannot be reached; --mode local. It never changes what is written
    #[arg(long, help_heading = COMPUTING)]
    pub no_prune: bool,
}

/// The options of all jobs as `pairwave long` has them.
fn as_in_long(arg: Arg) -> Arg {
    match arg.get_id().as_str() {
        "alphabet" => arg.help("Kind of sequences [default: detected from the letters of both files]"),
        "fields" => with_more_help(arg, FIELDS),
        _ => arg,
    }
}

const FIELDS: &str = "\
The default of tsv is \
query,target,strand,score,identity,matches,mismatches,gaps,query_start,query_end, \
query_length,target_start,target_end,target_length; jsonl has gap_openings and cigar as well. With \
--score-only it is \
query,target,strand,score,query_start,query_end,query_length,target_start,target_end,target_length, \
and a position that is not known is a point, in jsonl null. Positions count from 1 on the strand \
that the file has, and include the last.";

const EXAMPLES: &str = "\
Cost of a gap of k symbols: OPEN + k * EXTEND (BLAST's convention)

Examples:
  Two genomes, their best local alignment, and a picture of it:
    pairwave long one.fa.gz other.fa.gz --match 1 --mismatch -3 --gap-open 5 --gap-extend 2 --plot path.svg
  The ten best, on both strands, for programs that read SAM:
    pairwave long one.fa.gz other.fa.gz --top 10 --min-score 1000 --format sam -o hits.sam
  From end to end, to be read by people:
    pairwave long one.fa other.fa --mode global --format text
  One chromosome of each of two files, which may be interrupted:
    pairwave long a.fa b.fa --query-id chr1 --target-id chr1 --checkpoint work --format paf -o chr1.paf";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MethodName {
    /// StripedAlignment: strips of columns, each traced in whole
    Striped,
    /// ChunkedAlignment1: strips traced chunk by chunk
    Chunked1,
    /// ChunkedAlignment2: all chunks traced at once
    Chunked2,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum LongFormatName {
    /// Tab-separated values with a header line
    #[default]
    #[value(alias = "table", alias = "tab-separated")]
    Tsv,
    /// minimap2's format with the tags NM, AS, de and cg
    #[value(alias = "pairwise-mapping")]
    Paf,
    /// SAM with = and X, soft clips and the tags NM and AS; DNA and RNA only
    Sam,
    /// One JSON object a line
    #[value(alias = "json", alias = "json-lines", alias = "ndjson")]
    Jsonl,
    /// The alignments in blocks under each other, for people (as EMBOSS has them)
    #[value(alias = "pair", alias = "blocks")]
    Text,
}
