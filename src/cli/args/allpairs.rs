//! Arguments of `pairwave allpairs`.

use crate::cli::args::headings::{COMPUTING, OUTPUT, SELECTION};
use crate::cli::args::input::{LettersArgs, StrandName};
use crate::cli::args::machine::ComputeArgs;
use crate::cli::args::output::{OutputArgs, RowsArgs, WidthArgs, with_more_help};
use crate::cli::args::scoring::{AlignmentArgs, IdentityArgs};
use clap::{Arg, ValueEnum, ValueHint};
use std::path::PathBuf;

/// Align all pairs of sequences, end to end or locally
///
/// Aligns every sequence with every later one of the same file, or with every sequence of a second
/// file. An alignment covers both sequences end to end, or with --mode local the best-scoring part
/// of each. Scores, alignments and the order of the output do not depend on the devices.
#[derive(Debug, clap::Args, Default)]
#[command(override_usage = "pairwave allpairs [OPTIONS] <SEQS> [OTHER]", after_long_help = EXAMPLES)]
#[command(mut_args(as_in_allpairs))]
pub(crate) struct AllPairsArgs {
    /// Sequences: FASTA or FASTQ, plain or compressed (gz, bz2, xz, zst); - is standard input
    #[arg(required_unless_present_any = ["fields", "scheme"], value_hint = ValueHint::FilePath)]
    pub seqs: Option<PathBuf>,

    /// Align every sequence of SEQS with every sequence of this file [default: all pairs of SEQS]
    #[arg(value_hint = ValueHint::FilePath)]
    pub other: Option<PathBuf>,

    /// Alternative to the argument OTHER
    #[arg(long, value_name = "OTHER", value_hint = ValueHint::FilePath, conflicts_with = "other")]
    pub against: Option<PathBuf>,

    #[command(flatten)]
    pub letters: LettersArgs,

    /// Align this strand of each query with the targets; DNA and RNA only [default: plus]
    ///
    /// With 'both', pairwave writes the better-scoring strand of each pair among those that reach
    /// --min-identity and --min-score, the plus strand if the scores are equal. 'both' takes twice
    /// the time. Positions refer to the sequences as read.
    #[arg(long, value_name = "STRAND", value_enum, ignore_case = true)]
    pub strand: Option<StrandName>,

    #[command(flatten)]
    pub alignment: AlignmentArgs,

    /// Write only pairs with at least this identity, a fraction from 0 to 1
    #[arg(long, value_name = "FRACTION", help_heading = SELECTION, allow_negative_numbers = true)]
    pub min_identity: Option<f64>,

    /// Write only pairs with at least this score
    #[arg(long, value_name = "SCORE", help_heading = SELECTION, allow_negative_numbers = true)]
    pub min_score: Option<i64>,

    #[command(flatten)]
    pub identity: IdentityArgs,

    /// Write at most this many pairs per query: the best by identity, then by score, then by input
    /// order
    ///
    /// With --mode local, score ranks before identity. The selected pairs are written in input
    /// order.
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

    /// Write this distance in a phylip matrix [default: identity]
    #[arg(long, value_name = "DISTANCE", help_heading = OUTPUT, value_enum, ignore_case = true)]
    pub distance: Option<DistanceName>,

    /// Write a phylip matrix in this shape [default: square]
    #[arg(long, value_name = "SHAPE", help_heading = OUTPUT, value_enum, ignore_case = true)]
    pub matrix_shape: Option<ShapeName>,

    /// Skip pairs whose edit distance rules out --min-identity before they are scored [default:
    /// auto]
    ///
    /// The output is the same with and without the filter.
    #[arg(long, value_name = "WHEN", help_heading = COMPUTING, value_enum, ignore_case = true)]
    pub edit_filter: Option<EditFilterName>,

    #[command(flatten)]
    pub compute: ComputeArgs,
}

/// Adapts the options that all jobs share to `pairwave allpairs`.
fn as_in_allpairs(arg: Arg) -> Arg {
    match arg.get_id().as_str() {
        "fields" => with_more_help(arg, FIELDS),
        _ => arg,
    }
}

const FIELDS: &str = "\
Default fields of tsv: \
query,target,identity,score,matches,columns,gaps,query_length,target_length, and with \
--score-only query,target,score. --mode local inserts query_start, query_end, target_start and \
target_end before the lengths; --strand minus or both inserts strand after target. Field names \
of vsearch and BLAST are accepted and give the values that these programs print: identity is a \
fraction with six digits, id and pident are percentages. Positions count from 1 and include the \
last.";

const EXAMPLES: &str = "\
Cost of a gap of k symbols: OPEN + k * EXTEND (BLAST's convention)

Examples:
  Find pairs of 16S genes of one species, as a table:
    pairwave allpairs genes.fa --min-identity 0.97 -o pairs.tsv.gz
  Write a distance matrix for a tree:
    pairwave allpairs genes.fa --format phylip --distance jukes-cantor -o genes.phy
  Find the best five proteins of a second file for each protein of the first:
    pairwave allpairs queries.fa targets.fa --max-hits 5 --format blast6
  Write the alignments:
    pairwave allpairs genes.fa --fields query,target,identity,cigar
  Find similar parts of proteins:
    pairwave allpairs proteins.fa --mode local --min-score 60 --format blast6";

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormatName {
    /// Tab-separated values with a header line
    #[default]
    #[value(alias = "table", alias = "tab-separated")]
    Tsv,
    /// BLAST's -outfmt 6 with its twelve default columns; E-value and bit score are -1 and 0
    #[value(alias = "blast-tab", alias = "outfmt6")]
    Blast6,
    /// PAF, minimap2's format, with the tags NM, AS, de and cg
    #[value(alias = "pairwise-mapping")]
    Paf,
    /// One JSON object per line
    #[value(alias = "json", alias = "json-lines", alias = "ndjson")]
    Jsonl,
    /// Alignments in blocks for reading, as EMBOSS's needle and water write them
    #[value(alias = "pair", alias = "blocks")]
    Text,
    /// SAM with = and X, soft clips and the tags NM and AS; queries are reads, targets are
    /// references; DNA and RNA only
    Sam,
    /// PHYLIP distance matrix
    #[value(alias = "phylip-matrix", alias = "distance-matrix")]
    Phylip,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DistanceName {
    /// 1 - identity
    Identity,
    /// Kimura: for nucleotides the two-parameter model (1980), for proteins -ln(1 - p - 0.2 p^2)
    /// (1983)
    Kimura,
    /// -b ln(1 - p/b) with b = 3/4 for nucleotides and 19/20 for proteins
    #[value(alias = "jc", alias = "jc69")]
    JukesCantor,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EditFilterName {
    /// Filter where it saves time: large jobs with a high identity
    Auto,
    /// Filter wherever an edit distance can rule out pairs
    On,
    /// Never filter
    Off,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ShapeName {
    /// Whole matrix
    Square,
    /// Triangle below the diagonal
    Lower,
}
