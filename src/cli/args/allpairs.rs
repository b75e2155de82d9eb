//! What was typed after `pairwave allpairs`.

use crate::cli::args::headings::{COMPUTING, OUTPUT, SELECTION};
use crate::cli::args::input::{LettersArgs, StrandName};
use crate::cli::args::machine::ComputeArgs;
use crate::cli::args::output::{OutputArgs, RowsArgs, WidthArgs, with_more_help};
use crate::cli::args::scoring::{AlignmentArgs, IdentityArgs};
use clap::{Arg, ValueEnum, ValueHint};
use std::path::PathBuf;

/// Align all pairs of sequences, as wholes or their best parts
///
/// Every sequence is aligned with every later one of the file, or with every one of another file: over
/// their whole length, or with --mode local the two parts of them that score most. Scores, alignments and the order of the output do not depend on the devices that compute them.
#[derive(Debug, clap::Args, Default)]
#[command(override_usage = "pairwave allpairs [OPTIONS] <SEQS> [OTHER]", after_long_help = EXAMPLES)]
#[command(mut_args(as_in_allpairs))]
pub(crate) struct AllPairsArgs {
    /// Sequences: FASTA or FASTQ, plain or compressed (gz, bz2, xz, zst); - is standard input
    #[arg(required_unless_present_any = ["fields", "scheme"], value_hint = ValueHint::FilePath)]
    pub seqs: Option<PathBuf>,

    /// Align every sequence of SEQS with every sequence of this file instead of with each other
    #[arg(value_hint = ValueHint::FilePath)]
    pub other: Option<PathBuf>,

    /// The same as OTHER
    #[arg(long, value_name = "OTHER", value_hint = ValueHint::FilePath, conflicts_with = "other")]
    pub against: Option<PathBuf>,

    #[command(flatten)]
    pub letters: LettersArgs,

    /// Which strand of each query is aligned with the targets; DNA and RNA only [default: plus]
    ///
    /// Of both strands of a pair that reach --min-identity and --min-score the one that scores more is written, the plus
    /// strand if they score the same. Both take twice the time. Positions are those of the sequences as they were read.
    #[arg(long, value_name = "STRAND", value_enum, ignore_case = true)]
    pub strand: Option<StrandName>,

    #[command(flatten)]
    pub alignment: AlignmentArgs,

    /// Write only pairs of at least this identity, a fraction from 0 to 1
    #[arg(long, value_name = "FRACTION", help_heading = SELECTION, allow_negative_numbers = true)]
    pub min_identity: Option<f64>,

    /// Write only pairs of at least this score
    #[arg(long, value_name = "SCORE", help_heading = SELECTION, allow_negative_numbers = true)]
    pub min_score: Option<i64>,

    #[command(flatten)]
    pub identity: IdentityArgs,

    /// Write at most this many pairs for each query: the best by identity, then by score, then by input order (with
    /// --mode local by score first). What is left stays in input order
    #[arg(long, value_name = "N", help_heading = SELECTION)]
    pub max_hits: Option<u32>,

    /// Compute scores only, no alignments
    #[arg(long, help_heading = SELECTION)]
    pub score_only: bool,

    #[command(flatten)]
    pub output: OutputArgs,

    #[command(flatten)]
    pub rows: RowsArgs<FormatName>,

    #[command(flatten)]
    pub width: WidthArgs,

    /// Distance in a phylip matrix [default: identity]
    #[arg(long, value_name = "DISTANCE", help_heading = OUTPUT, value_enum, ignore_case = true)]
    pub distance: Option<DistanceName>,

    /// Shape of a phylip matrix [default: square]
    #[arg(long, value_name = "SHAPE", help_heading = OUTPUT, value_enum, ignore_case = true)]
    pub matrix_shape: Option<ShapeName>,

    /// Leave out pairs whose edit distance rules --min-identity out, before they are scored [default: auto]
    ///
    /// It never changes what is written.
    #[arg(long, value_name = "WHEN", help_heading = COMPUTING, value_enum, ignore_case = true)]
    pub edit_filter: Option<EditFilterName>,

    #[command(flatten)]
    pub compute: ComputeArgs,
}

/// The options of all jobs as `pairwave allpairs` has them.
fn as_in_allpairs(arg: Arg) -> Arg {
    match arg.get_id().as_str() {
        "fields" => with_more_help(arg, FIELDS),
        _ => arg,
    }
}

const FIELDS: &str = "\
The default of tsv is query,target,identity,score,matches,columns,gaps,query_length,target_length, \
and query,target,score with --score-only; with --mode local query_start, query_end, target_start and \
target_end stand before the lengths, and with --strand minus or both strand stands after target. \
vsearch's and BLAST's names of fields are understood too, and give what these programs print: \
identity is a fraction with six digits, id and pident are percentages. Positions count from 1 and \
include the last.";

const EXAMPLES: &str = "\
Cost of a gap of k symbols: OPEN + k * EXTEND (BLAST's convention)

Examples:
  Pairs of 16S genes of one species, as a table:
    pairwave allpairs genes.fa --min-identity 0.97 -o pairs.tsv.gz
  A distance matrix for a tree:
    pairwave allpairs genes.fa --format phylip --distance jukes-cantor -o genes.phy
  The best five proteins of a second file for each of the first:
    pairwave allpairs queries.fa targets.fa --max-hits 5 --format blast6
  The alignments themselves:
    pairwave allpairs genes.fa --fields query,target,identity,cigar
  Parts of proteins that are alike:
    pairwave allpairs proteins.fa --mode local --min-score 60 --format blast6";

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormatName {
    /// Tab-separated values with a header line
    #[default]
    #[value(alias = "table", alias = "tab-separated")]
    Tsv,
    /// The twelve columns of BLAST's -outfmt 6; E-value and bit score are -1 and 0
    #[value(alias = "blast-tab", alias = "outfmt6")]
    Blast6,
    /// minimap2's format with the tags NM, AS, de and cg
    #[value(alias = "pairwise-mapping")]
    Paf,
    /// One JSON object a line
    #[value(alias = "json", alias = "json-lines", alias = "ndjson")]
    Jsonl,
    /// The alignments in blocks under each other, for people (as EMBOSS's needle and water have them)
    #[value(alias = "pair", alias = "blocks")]
    Text,
    /// SAM with = and X, soft clips and the tags NM and AS: queries are reads, targets are references; DNA and RNA only
    Sam,
    /// PHYLIP distance matrix
    #[value(alias = "phylip-matrix", alias = "distance-matrix")]
    Phylip,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DistanceName {
    /// 1 - identity
    Identity,
    /// Nucleotides: two parameters, transitions and transversions (1980); proteins: -ln(1 - p - 0.2 p^2) (1983)
    Kimura,
    /// -b ln(1 - p/b), b = 3/4 for nucleotides and 19/20 for proteins
    #[value(alias = "jc", alias = "jc69")]
    JukesCantor,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EditFilterName {
    /// Where it pays: large jobs with a high identity
    Auto,
    /// Wherever an edit distance tells something
    On,
    /// Never
    Off,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ShapeName {
    /// The whole matrix
    Square,
    /// The triangle below the diagonal
    Lower,
}
