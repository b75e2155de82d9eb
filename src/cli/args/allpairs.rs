//! Arguments of `pairwave allpairs`.

use crate::cli::args::headings::{OUTPUT, SELECTION};
use crate::cli::args::help::with_more_help;
use crate::cli::args::input::{LettersArgs, StrandArgs};
use crate::cli::args::machine::ComputeArgs;
use crate::cli::args::output::{MatrixShapeArgs, OutputArgs, RowsArgs, WidthArgs};
use crate::cli::args::scoring::{AlignmentArgs, IdentityArgs};
use crate::cli::args::selection::{CoverageArgs, EditFilterArgs, MinIdentityArgs, MinScoreArgs, ScoreOnlyArgs};
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

    #[command(flatten)]
    pub strands: StrandArgs,

    #[command(flatten)]
    pub alignment: AlignmentArgs,

    #[command(flatten)]
    pub identities: MinIdentityArgs,

    #[command(flatten)]
    pub scores: MinScoreArgs,

    #[command(flatten)]
    pub coverage: CoverageArgs,

    #[command(flatten)]
    pub identity: IdentityArgs,

    /// Write at most this many pairs per query: the best by identity, then by score, then by input
    /// order
    ///
    /// With --mode local, score ranks before identity. The selected pairs are written in input
    /// order.
    #[arg(long, value_name = "N", help_heading = SELECTION)]
    pub max_hits: Option<u32>,

    /// Write only the pairs of each query that have its best identity
    ///
    /// With --mode local, the score counts instead of the identity. --max-hits also limits these
    /// pairs.
    #[arg(long, help_heading = SELECTION)]
    pub top_hits_only: bool,

    #[command(flatten)]
    pub results: ScoreOnlyArgs,

    #[command(flatten)]
    pub output: OutputArgs,

    #[command(flatten)]
    pub rows: RowsArgs<FormatName>,

    #[command(flatten)]
    pub width: WidthArgs,

    /// Write this distance in a phylip matrix [default: identity]
    #[arg(long, value_name = "DISTANCE", help_heading = OUTPUT, value_enum, ignore_case = true)]
    pub distance: Option<DistanceName>,

    #[command(flatten)]
    pub shape: MatrixShapeArgs,

    #[command(flatten)]
    pub filter: EditFilterArgs,

    #[command(flatten)]
    pub compute: ComputeArgs,
}

/// Adapts the options that all jobs share to `pairwave allpairs`.
fn as_in_allpairs(arg: Arg) -> Arg {
    match arg.get_id().as_str() {
        "fields" => with_more_help(arg, FIELDS),
        "strand" => {
            with_more_help(arg, "Strands below --min-identity, --min-score or a minimum coverage are excluded first.")
        }
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
