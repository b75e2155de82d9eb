//! What was typed after `pairwave edit`.

use crate::cli::args::headings::{OUTPUT, SELECTION};
use crate::cli::args::input::StrandName;
use crate::cli::args::machine::ComputeArgs;
use crate::cli::args::output::{OutputArgs, RowsArgs, with_more_help};
use clap::{Arg, ValueEnum, ValueHint};
use std::path::PathBuf;

const COMPARISON: &str = "Comparison";

/// Compute Levenshtein distances: of all pairs of sequences, or of candidates of a read mapper
///
/// The least number of substitutions, insertions and deletions that turn a pattern into a text, or with --mode infix or
/// prefix into a part of it. Every sequence of PATTERNS is compared with every later one, or with every one of TEXTS,
/// or with --pairs each pattern with the parts of texts that the file names. Distances, alignments and the order of the
/// output do not depend on the devices that compute them.
#[derive(Debug, clap::Args, Default)]
#[command(override_usage = "pairwave edit [OPTIONS] <PATTERNS> [TEXTS]", after_long_help = EXAMPLES)]
#[command(mut_args(as_in_edit))]
pub(crate) struct EditArgs {
    /// Patterns: FASTA or FASTQ, plain or compressed (gz, bz2, xz, zst); - is standard input
    #[arg(required_unless_present = "fields", value_hint = ValueHint::FilePath)]
    pub patterns: Option<PathBuf>,

    /// Texts, in a file of the same kind [default: the patterns, each with every later one]
    #[arg(value_hint = ValueHint::FilePath)]
    pub texts: Option<PathBuf>,

    /// Compare the pairs of this file: lines of pattern, text, and where given start and end of a part of the text
    ///
    /// Columns with tabs between them, names as in the two files; start and end count from 0, and the end is not
    /// included. Without them the part is the whole text. Blank lines are skipped. A first line 'pattern text ...' without
    /// numbers is skipped unless sequences have both names, and a line that begins with # unless a pattern has such a name.
    /// Plain or compressed; - is standard input. Fastest if the lines of a pattern follow each other; the output is in the
    /// order of the file in any case.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub pairs: Option<PathBuf>,

    /// Kind of sequences [default: detected from the letters of all of them, dna or protein]
    #[arg(long, value_name = "ALPHABET", value_enum, ignore_case = true)]
    pub alphabet: Option<EditAlphabetName>,

    /// Take gaps (-, . and ~) out of aligned sequences instead of refusing them
    #[arg(long)]
    pub degap: bool,

    /// Which strand of each pattern is compared with the texts; DNA and RNA only [default: plus]
    ///
    /// Of both strands the nearer one is written, the plus strand if they are at the same distance: a primer is found where
    /// its reverse complement is as well. Both take twice the time. Positions are those of the text as it was read.
    #[arg(long, value_name = "STRAND", value_enum, ignore_case = true)]
    pub strand: Option<StrandName>,

    /// Which part of the text the pattern is compared with
    #[arg(long, value_name = "MODE", help_heading = COMPARISON, value_enum, ignore_case = true, default_value_t)]
    pub mode: EditModeName,

    /// How an ambiguous nucleotide (N, R, Y, ...) meets another [default: overlap]
    #[arg(long, value_name = "RULE", help_heading = COMPARISON, value_enum, ignore_case = true)]
    pub ambiguity: Option<EditAmbiguityName>,

    /// Whether N equals what --ambiguity says, or nothing, not even N [default: match]
    #[arg(long, value_name = "RULE", help_heading = COMPARISON, value_enum, ignore_case = true)]
    pub n: Option<EditNName>,

    /// Write only pairs of at most this distance: edits, or with a decimal point a rate from 0 to 1
    ///
    /// A whole number, as in 5, is a number of edits. A number with a decimal point, as in 0.05, is a number of edits
    /// for each symbol of the pattern, in global mode of the longer of the two, rounded down. A limit makes it faster.
    #[arg(long, value_name = "EDITS|RATE", help_heading = SELECTION, allow_hyphen_values = true)]
    pub max_distance: Option<String>,

    /// Write at most this many pairs for each pattern: those of least distance, then the earliest. What is left stays
    /// in input order
    #[arg(long, value_name = "N", help_heading = SELECTION)]
    pub max_hits: Option<u32>,

    /// Find all ends within --max-distance, not only the first one of least distance; infix and prefix mode
    ///
    /// There is still one line a pair: the field 'ends' lists the last symbol of every part that is near enough, from
    /// 1, each with the least distance of a part that ends there.
    #[arg(long, help_heading = SELECTION)]
    pub all_ends: bool,

    /// Align every pair that is written; implied by formats and fields that need it
    #[arg(long, help_heading = OUTPUT)]
    pub align: bool,

    #[command(flatten)]
    pub output: OutputArgs,

    #[command(flatten)]
    pub rows: RowsArgs<EditFormatName>,

    #[command(flatten)]
    pub compute: ComputeArgs,
}

/// The options of all jobs as `pairwave edit` has them.
fn as_in_edit(arg: Arg) -> Arg {
    match arg.get_id().as_str() {
        "fields" => with_more_help(arg, FIELDS),
        _ => arg,
    }
}

const FIELDS: &str = "\
The default is query,target,distance; with --pairs region_start,region_end stand before the \
distance, in infix and prefix mode target_end after it, and with --align target_start, identity and \
cigar in their places; with --strand minus or both strand stands after target. Positions count from \
1 and include the last, but those of regions are written as --pairs has them.";

const EXAMPLES: &str = "\
Examples:
  Distances of all pairs of a file that are at most a tenth of the longer one apart:
    pairwave edit barcodes.fa --max-distance 0.1
  Where each primer is found in each gene, with at most 3 edits, and how:
    pairwave edit primers.fa genes.fa --mode infix --max-distance 3 --align
  Candidates of a read mapper, verified:
    pairwave edit reads.fq genome.fa --pairs candidates.tsv --mode infix --max-distance 0.05 --format paf
  The same on both strands of the genes:
    pairwave edit primers.fa genes.fa --mode infix --max-distance 3 --strand both
  Every place where a probe fits:
    pairwave edit probe.fa genome.fa --mode infix --max-distance 2 --all-ends";

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum EditModeName {
    /// All of it
    #[default]
    #[value(alias = "nw")]
    Global,
    /// Any part, the one of least distance: approximate string matching
    #[value(alias = "hw")]
    Infix,
    /// Any part that begins where the text, or its region, does
    #[value(alias = "shw")]
    Prefix,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum EditAlphabetName {
    /// DNA with the IUPAC codes
    Dna,
    /// The same: U and T are one letter
    Rna,
    /// Amino acids with B, Z, X, U, O, J and *
    Protein,
    /// Any text: bytes other than 0 and line ends, each equal to itself alone, capitals and small letters apart
    Bytes,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EditAmbiguityName {
    /// They are equal if they can be the same base
    Overlap,
    /// They equal nothing
    Mismatch,
    /// They are letters like others: each equals itself alone (as in edlib)
    Literal,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EditNName {
    /// It is like other ambiguous nucleotides
    Match,
    /// It equals nothing
    Mismatch,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum EditFormatName {
    /// Tab-separated values with a header line
    #[default]
    #[value(alias = "table", alias = "tab-separated")]
    Tsv,
    /// One JSON object a line
    #[value(alias = "json", alias = "json-lines", alias = "ndjson")]
    Jsonl,
    /// minimap2's format with the tags NM, de and cg
    #[value(alias = "pairwise-mapping")]
    Paf,
}
