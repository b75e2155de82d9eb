//! Arguments of `pairwave edit`.

use crate::cli::args::headings::{OUTPUT, SELECTION};
use crate::cli::args::help::{with_help, with_more_help};
use crate::cli::args::input::{GapArgs, StrandArgs};
use crate::cli::args::machine::ComputeArgs;
use crate::cli::args::output::{OutputArgs, RowsArgs};
use clap::{Arg, ValueEnum, ValueHint};
use std::path::PathBuf;

const COMPARISON: &str = "Comparison";

/// Compute Levenshtein distances of all pairs, or of a read mapper's candidates
///
/// A distance is the least number of substitutions, insertions and deletions that turn a pattern
/// into a text, or with --mode infix or prefix into a part of the text. Every sequence of PATTERNS
/// is compared with every later one, or with every sequence of TEXTS, or with --pairs with the
/// parts of texts that the file lists. Distances, alignments and the order of the output do not
/// depend on the devices.
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

    /// Compare the pairs listed in this file: pattern, text, and optionally start and end of a part
    /// of the text
    ///
    /// Columns are separated by tabs; names are those in the two files. Start and end count from 0,
    /// and the end is excluded. Without them, the part is the whole text. Blank lines are skipped.
    /// A first line 'pattern text ...' without numbers is skipped unless sequences have both names.
    /// A line that starts with # is skipped unless a pattern has such a name. The file may be
    /// compressed; - is standard input. The job is fastest if the lines of each pattern are
    /// adjacent. The output follows the order of the file.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub pairs: Option<PathBuf>,

    /// Interpret the sequences as this alphabet [default: dna or protein, detected from all
    /// letters]
    #[arg(long, value_name = "ALPHABET", value_enum, ignore_case = true)]
    pub alphabet: Option<EditAlphabetName>,

    /// Accept lists: each line is a sequence, or a name, a tab and a sequence
    ///
    /// A file that starts like FASTA or FASTQ is read as such. A sequence without a name is its own
    /// name. Blank lines and lines that start with ; are skipped.
    #[arg(long)]
    pub lists: bool,

    #[command(flatten)]
    pub gaps: GapArgs,

    #[command(flatten)]
    pub strands: StrandArgs,

    /// Compare the pattern with this part of the text
    #[arg(long, value_name = "MODE", help_heading = COMPARISON, value_enum, ignore_case = true, default_value_t)]
    pub mode: EditModeName,

    /// Compare ambiguous nucleotides (N, R, Y, ...) by this rule [default: overlap]
    #[arg(long, value_name = "RULE", help_heading = COMPARISON, value_enum, ignore_case = true)]
    pub ambiguity: Option<EditAmbiguityName>,

    /// Compare N as --ambiguity does, or as unequal to everything, even N [default: match]
    #[arg(long, value_name = "RULE", help_heading = COMPARISON, value_enum, ignore_case = true)]
    pub n: Option<EditNName>,

    /// Allow no edits at these positions of each pattern, as in 21-23 or 1-4,21-23; with --all-places
    ///
    /// Positions count from 1 and include the last. No mismatch and no gap is allowed in a range.
    /// Only alignments without such edits count: the distance of an end is the smallest distance of
    /// these alignments, and places are the local minima of these distances.
    #[arg(long, value_name = "RANGES", help_heading = COMPARISON)]
    pub exact: Option<String>,

    /// Append this PAM to each pattern, as in NGG; it must match without edits; with --all-places
    ///
    /// The patterns are guides without their PAM. IUPAC codes match as --ambiguity and --n define.
    /// For a PAM at the start, write it into the patterns and use --exact 1-4.
    #[arg(long, value_name = "CODE", help_heading = COMPARISON)]
    pub pam: Option<String>,

    /// Let patterns hang over the ends of texts, at this cost per symbol, from 0 to 1; with
    /// --all-places
    ///
    /// A part of the pattern is then compared with the first or the last symbols of the text. The
    /// cost of all symbols beyond an end is rounded down, as in sassy: with 0.5, 3 symbols cost as
    /// much as one edit. The distance contains these costs.
    #[arg(long, value_name = "COST", help_heading = COMPARISON, allow_hyphen_values = true)]
    pub overhang: Option<f64>,

    /// Write only pairs of at most this distance: edits, or with a decimal point a rate from 0 to 1
    ///
    /// A whole number such as 5 limits the number of edits. A number with a decimal point such as
    /// 0.05 limits the edits per symbol of the pattern (in global mode, of the longer sequence),
    /// rounded down. A limit makes the job faster.
    #[arg(long, value_name = "EDITS|RATE", help_heading = SELECTION, allow_hyphen_values = true)]
    pub max_distance: Option<String>,

    /// Write at most this many pairs per pattern: the smallest distances, ties by input order
    ///
    /// The selected pairs are written in input order.
    #[arg(long, value_name = "N", help_heading = SELECTION)]
    pub max_hits: Option<u32>,

    /// Report all ends within --max-distance, not only the first with the least distance; infix and
    /// prefix mode
    ///
    /// Each pair still has one line. Its field 'ends' lists the last symbol of every part within
    /// --max-distance, counted from 1, each with the least distance of a part that ends there.
    #[arg(long, help_heading = SELECTION)]
    pub all_ends: bool,

    /// Report every place within --max-distance on its own line; infix mode with TEXTS
    ///
    /// Every end in the text has the smallest distance of the parts with this end. A place is a
    /// local minimum: the ends before and after it have greater distances. Adjacent ends with equal
    /// distances are one place, and the last end is reported. On the minus strand, the same holds
    /// for starts, and the first is reported. Every place is aligned. Lines are sorted by pattern,
    /// text, strand and position.
    #[arg(long, help_heading = SELECTION)]
    pub all_places: bool,

    /// Drop places where a larger fraction of the matched part of the text is N; with --all-places
    #[arg(long, value_name = "FRACTION", help_heading = SELECTION, allow_hyphen_values = true)]
    pub max_n_frac: Option<f64>,

    /// Align every written pair; implied by formats and fields that need alignments
    #[arg(long, help_heading = OUTPUT)]
    pub align: bool,

    #[command(flatten)]
    pub output: OutputArgs,

    #[command(flatten)]
    pub rows: RowsArgs<EditFormatName>,

    #[command(flatten)]
    pub compute: ComputeArgs,
}

/// Adapts the options that all jobs share to `pairwave edit`.
fn as_in_edit(arg: Arg) -> Arg {
    match arg.get_id().as_str() {
        "fields" => with_more_help(arg, FIELDS),
        "strand" => with_help(arg, STRAND, STRANDS),
        // Parsed only so that the error can give the reason: other jobs have this option.
        "tune" => arg.hide(true),
        _ => arg,
    }
}

const STRAND: &str = "Compare this strand of each pattern; DNA and RNA only [default: plus]";
const STRANDS: &str = "\
With 'both', pairwave writes the strand with the smaller distance, the plus strand if the distances \
are equal. A primer is then also detected where its reverse complement occurs. With --all-places, it \
writes the places on both strands. 'both' takes twice the time. Positions refer to the text as read.";

const FIELDS: &str = "\
Default fields: query,target,distance. --pairs inserts region_start,region_end before the \
distance. Infix and prefix mode append target_end. --align inserts target_start before \
target_end, and appends identity and cigar. --strand minus or both inserts strand after target. \
Positions count from 1 and include the last, except those of regions, which are written as in \
--pairs.";

const EXAMPLES: &str = "\
Examples:
  Write all pairs of a file with a distance of at most a tenth of the longer length:
    pairwave edit barcodes.fa --max-distance 0.1
  Align each primer with the best part of each gene, with at most 3 edits:
    pairwave edit primers.fa genes.fa --mode infix --max-distance 3 --align
  Verify the candidates of a read mapper:
    pairwave edit reads.fq genome.fa --pairs candidates.tsv --mode infix --max-distance 0.05 --format paf
  Search both strands of the genes:
    pairwave edit primers.fa genes.fa --mode infix --max-distance 3 --strand both
  Find every place where a primer fits, on both strands:
    pairwave edit primers.fa genome.fa --mode infix --max-distance 2 --strand both --all-places
  Find the off-targets of guides with the PAM NGG:
    pairwave edit guides.fa genome.fa --mode infix --max-distance 4 --strand both --all-places --pam NGG
  Find the places of barcodes that are listed one per line:
    pairwave edit barcodes.txt reads.fq --lists --mode infix --max-distance 3 --all-places
  Write the places as BED for bedtools:
    pairwave edit primers.fa genome.fa --mode infix --max-distance 2 --all-places --format bed
  List the end of every part that fits a probe:
    pairwave edit probe.fa genome.fa --mode infix --max-distance 2 --all-ends";

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum EditModeName {
    /// Whole text
    #[default]
    #[value(alias = "nw")]
    Global,
    /// Any part, the one with the least distance (approximate string matching)
    #[value(alias = "hw")]
    Infix,
    /// Any part that starts where the text, or its region, starts
    #[value(alias = "shw")]
    Prefix,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum EditAlphabetName {
    /// DNA with the IUPAC codes
    Dna,
    /// RNA with the IUPAC codes; U and T are the same letter
    Rna,
    /// Amino acids with B, Z, X, U, O, J and *
    Protein,
    /// Any text: bytes other than 0 and line ends, case-sensitive, each equal only to itself
    Bytes,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EditAmbiguityName {
    /// Two codes are equal if they share a base
    Overlap,
    /// A code equals nothing
    Mismatch,
    /// A code is a letter like others and equals only itself (as in edlib)
    Literal,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EditNName {
    /// N is like other ambiguous nucleotides
    Match,
    /// N equals nothing
    Mismatch,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum EditFormatName {
    /// Tab-separated values with a header line
    #[default]
    #[value(alias = "table", alias = "tab-separated")]
    Tsv,
    /// One JSON object per line
    #[value(alias = "json", alias = "json-lines", alias = "ndjson")]
    Jsonl,
    /// PAF, minimap2's format, with the tags NM, de and cg
    #[value(alias = "pairwise-mapping")]
    Paf,
    /// BED with six columns: text, start, end, pattern, score and strand; infix and prefix mode
    #[value(alias = "bed6")]
    Bed,
    /// SAM with = and X, soft clips and the tags NM and AS; patterns are reads, texts are
    /// references; DNA and RNA only; infix and prefix mode
    Sam,
}
