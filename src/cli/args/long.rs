//! Arguments of `pairwave long`.

use crate::cli::args::headings::{COMPUTING, OUTPUT, SELECTION};
use crate::cli::args::help::{with_help, with_more_help};
use crate::cli::args::input::{LettersArgs, StrandArgs};
use crate::cli::args::machine::{KernelArgs, MachineArgs};
use crate::cli::args::output::{OutputArgs, RowsArgs, WidthArgs};
use crate::cli::args::scoring::LocalAlignmentArgs;
use crate::cli::args::selection::{MinScoreArgs, ScoreOnlyArgs};
use clap::{Arg, ValueEnum, ValueHint};
use std::ffi::OsString;
use std::path::PathBuf;

/// Align very long sequences, such as genomes and contigs, in linear memory
///
/// Every sequence of QUERY is aligned with every sequence of TARGET, in the order of the files,
/// unless --query-id and --target-id select some of them. By default the command aligns the
/// best-scoring part of each sequence (Smith-Waterman). It computes every cell of the matrix that
/// can affect the result, so the score is exact. Scores and alignments do not depend on the devices.
#[derive(Debug, clap::Args, Default)]
#[command(override_usage = "pairwave long [OPTIONS] <QUERY> <TARGET>", after_long_help = EXAMPLES)]
#[command(mut_args(as_in_long))]
pub(crate) struct LongArgs {
    /// Queries: FASTA or FASTQ, plain or compressed (gz, bz2, xz, zst); - is standard input
    #[arg(required_unless_present_any = ["fields", "scheme"], value_hint = ValueHint::FilePath)]
    pub query: Option<PathBuf>,

    /// Targets, in a file of the same kind or in the same file
    #[arg(required_unless_present_any = ["fields", "scheme"], value_hint = ValueHint::FilePath)]
    pub target: Option<PathBuf>,

    /// Align only the sequence of this name in QUERY: its header up to the first blank; repeatable
    #[arg(long, value_name = "NAME")]
    pub query_id: Vec<OsString>,

    /// Align only the sequence of this name in TARGET; repeatable
    #[arg(long, value_name = "NAME")]
    pub target_id: Vec<OsString>,

    #[command(flatten)]
    pub letters: LettersArgs,

    #[command(flatten)]
    pub strands: StrandArgs,

    /// Treat all sequences of both files as circular: alignments may cross the origin; --mode local
    ///
    /// An alignment has no symbol twice. In formats other than vcf, an alignment that crosses an
    /// origin has several rows, one for each part between the origins.
    #[arg(long, conflicts_with_all = ["circular_query", "circular_target"])]
    pub circular: bool,

    /// Treat all sequences of QUERY as circular; --mode local
    #[arg(long)]
    pub circular_query: bool,

    /// Treat all sequences of TARGET as circular; --mode local
    #[arg(long)]
    pub circular_target: bool,

    #[command(flatten)]
    pub alignment: LocalAlignmentArgs,

    /// Write up to this many alignments of each pair, best first; --mode local [default: 1]
    ///
    /// Each further alignment is the best that does not enter the rectangle of an earlier alignment
    /// of the same strand, which consists of the parts of query and target that it aligns. Neither
    /// aligned symbols nor gaps lie in such a rectangle.
    #[arg(long, value_name = "K", help_heading = SELECTION)]
    pub top: Option<u32>,

    /// Apply --top to each pair of sequences, to each query, or to all alignments [default: pair]
    ///
    /// The selected alignments stay in the order of the files. With 'query' and 'all', --top is
    /// allowed in every mode.
    #[arg(long, value_name = "GROUP", help_heading = SELECTION, value_enum, ignore_case = true)]
    pub top_per: Option<TopPerName>,

    #[command(flatten)]
    pub scores: MinScoreArgs,

    /// Write only alignments with at most this E-value, the number of such scores expected by chance;
    /// --mode local
    ///
    /// It is the E-value of 'pairwave search' with TARGET as the database. BLAST's parameters must
    /// be known for the scores and gap costs. The fields evalue and bits are added to the default
    /// fields of tsv and jsonl, and the tags EV and BS to paf and sam.
    #[arg(short, long, value_name = "EVALUE", help_heading = SELECTION, allow_negative_numbers = true)]
    pub evalue: Option<f64>,

    #[command(flatten)]
    pub results: ScoreOnlyArgs,

    #[command(flatten)]
    pub output: OutputArgs,

    #[command(flatten)]
    pub rows: RowsArgs<LongFormatName>,

    #[command(flatten)]
    pub width: WidthArgs,

    /// Add the tag cs with the differences to paf, in one of minimap2's forms
    #[arg(long, value_name = "FORM", help_heading = OUTPUT, value_enum, ignore_case = true)]
    pub cs: Option<CsName>,

    /// Write an HTML page with the dot plot, variants by type, identity along the targets and a table
    /// of the alignments to this file
    #[arg(long, value_name = "FILE", help_heading = OUTPUT, value_hint = ValueHint::FilePath)]
    pub report: Option<PathBuf>,

    /// Draw a dot plot of the alignments to this file, .svg or .png: target across, query up
    #[arg(long, value_name = "FILE", help_heading = OUTPUT, value_hint = ValueHint::FilePath)]
    pub plot: Option<PathBuf>,

    #[command(flatten)]
    pub machine: MachineArgs,

    /// Keep at most this much border data in host memory, as in 8G, at least 16M; the rest goes to
    /// files [default: 4G, or a quarter of the memory if less]
    #[arg(long, value_name = "SIZE", help_heading = COMPUTING, allow_hyphen_values = true)]
    pub host_memory: Option<String>,

    /// Save progress in this directory, and resume from it when the same job runs again
    ///
    /// The directory is created if missing. It may be deleted when the job is done.
    #[arg(long, value_name = "DIRECTORY", help_heading = COMPUTING, value_hint = ValueHint::DirPath)]
    pub checkpoint: Option<PathBuf>,

    #[command(flatten)]
    pub kernels: KernelArgs,

    /// Trace the alignment by this method; all give the same alignment [default: chunked2]
    #[arg(long, value_name = "METHOD", help_heading = COMPUTING, value_enum, ignore_case = true)]
    pub method: Option<MethodName>,

    /// Set the width of a strip, the part of the matrix that is traced at once [default: chosen for
    /// the device]
    #[arg(long, value_name = "COLUMNS", help_heading = COMPUTING)]
    pub strip: Option<u32>,

    /// Set the height of a chunk, a part of a strip [default: chosen for the device]
    #[arg(long, value_name = "ROWS", help_heading = COMPUTING)]
    pub chunk: Option<u32>,

    /// Also compute cells that cannot reach the best score. The output is the same
    #[arg(long, help_heading = COMPUTING)]
    pub no_prune: bool,
}

/// Adapts the options that all jobs share to `pairwave long`.
fn as_in_long(arg: Arg) -> Arg {
    match arg.get_id().as_str() {
        "alphabet" => arg.help("Kind of sequences [default: detected from the letters of both files]"),
        "fields" => with_more_help(arg, FIELDS),
        "strand" => with_help(arg, STRAND, "'both' takes twice the time of one strand."),
        "min_score" => {
            arg.help("Write only alignments with at least this score [default: 1 with --mode local, else any]")
        }
        "score_only" => arg.help("Compute scores and ends of alignments only, no alignments"),
        "kernel" => arg.help("Use this GPU kernel; sw_striped_score is the only one for long pairs"),
        // Parsed only so that the error can give the reason: other jobs have this option.
        "tune" => arg.hide(true),
        _ => arg,
    }
}

const STRAND: &str = "Align this strand of the query [default: both for nucleotides, plus for proteins]";

const FIELDS: &str = "\
Default fields of tsv: \
query,target,strand,score,identity,matches,mismatches,gaps,query_start,query_end, \
query_length,target_start,target_end,target_length; jsonl adds gap_openings and cigar. With \
--score-only: \
query,target,strand,score,query_start,query_end,query_length,target_start,target_end,target_length, \
where an unknown position is a point, in jsonl null. Positions count from 1 on the strand in the \
file, and include the last. Circular sequences also have the field alignment.";

const EXAMPLES: &str = "\
Cost of a gap of k symbols: OPEN + k * EXTEND (BLAST's convention)

Examples:
  Align two genomes locally, and draw the best alignment:
    pairwave long one.fa.gz other.fa.gz --match 1 --mismatch -3 --gap-open 5 --gap-extend 2 --plot path.svg
  Write the ten best alignments, on both strands, as SAM:
    pairwave long one.fa.gz other.fa.gz --top 10 --min-score 1000 --format sam -o hits.sam
  Align end to end, and write text for reading:
    pairwave long one.fa other.fa --mode global --format text
  Write the best alignment of each contig with a genome of several chromosomes:
    pairwave long contigs.fa genome.fa --top-per query --format paf -o contigs.paf
  Align a bacterial genome with a reference that starts at another position:
    pairwave long genome.fa reference.fa --circular-target --scheme asm5 --format paf
  Align one chromosome of each file, in a job that may be interrupted:
    pairwave long a.fa b.fa --query-id chr1 --target-id chr1 --checkpoint work --format paf -o chr1.paf";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TopPerName {
    /// The best alignments of each query with each target
    Pair,
    /// The best alignments of each query
    Query,
    /// The best alignments of the whole job
    All,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CsName {
    /// Numbers of equal letters
    Short,
    /// Equal letters themselves
    Long,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MethodName {
    /// StripedAlignment: traces each strip of columns in one piece
    Striped,
    /// ChunkedAlignment1: traces strips chunk by chunk
    Chunked1,
    /// ChunkedAlignment2: traces all chunks at once
    Chunked2,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum LongFormatName {
    /// Tab-separated values with a header line
    #[default]
    #[value(alias = "table", alias = "tab-separated")]
    Tsv,
    /// PAF, minimap2's format, with the tags NM, AS, de and cg, and cs with --cs
    #[value(alias = "pairwise-mapping")]
    Paf,
    /// SAM with = and X, soft clips and the tags NM and AS; DNA and RNA only
    Sam,
    /// VCF 4.3, the variants of TARGET, which is the reference; DNA and RNA only
    #[value(alias = "variants")]
    Vcf,
    /// MAF, UCSC's multiple alignment format
    #[value(alias = "multiple-alignment-format")]
    Maf,
    /// UCSC's chains for liftOver, from TARGET to QUERY; DNA and RNA only
    Chain,
    /// MUMmer's format for show-snps, dnadiff and mummerplot; TARGET is the reference; DNA and RNA
    /// only
    #[value(alias = "nucmer", alias = "mummer")]
    Delta,
    /// One JSON object per line
    #[value(alias = "json", alias = "json-lines", alias = "ndjson")]
    Jsonl,
    /// Alignments in blocks for reading, as EMBOSS writes them
    #[value(alias = "pair", alias = "blocks")]
    Text,
}
