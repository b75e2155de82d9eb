//! Arguments of `pairwave pairs`.

use crate::cli::args::allpairs::FormatName;
use crate::cli::args::help::with_more_help;
use crate::cli::args::input::{LettersArgs, StrandArgs};
use crate::cli::args::machine::ComputeArgs;
use crate::cli::args::output::{OutputArgs, RowsArgs, WidthArgs};
use crate::cli::args::scoring::{AlignmentArgs, IdentityArgs};
use crate::cli::args::selection::{CoverageArgs, ScoreOnlyArgs};
use clap::{Arg, ValueEnum, ValueHint};
use std::path::PathBuf;

/// Align given pairs of sequences: record i of A with record i of B, or the pairs of a list
///
/// Without --pairs, both files are read in step, and only a part of them is in memory at a time, so
/// they may be of any size. The command fails if one file has more records than the other. With
/// --pairs, each line of a list names a sequence of A and one of B. Every pair is written, in input
/// order; with --query-cov, --target-cov or --min-cov, only those with sufficient coverage. Scores,
/// alignments and the order of the output do not depend on the devices.
#[derive(Debug, clap::Args, Default)]
#[command(override_usage = "pairwave pairs [OPTIONS] <A> [B]", after_long_help = EXAMPLES, mut_args(as_in_pairs))]
pub(crate) struct PairsArgs {
    /// Queries: FASTA or FASTQ, plain or compressed (gz, bz2, xz, zst); - is standard input
    #[arg(required_unless_present_any = ["fields", "scheme"], value_hint = ValueHint::FilePath)]
    pub a: Option<PathBuf>,

    /// Targets, in a file of the same kind [default with --pairs: the sequences of A]
    #[arg(value_hint = ValueHint::FilePath)]
    pub b: Option<PathBuf>,

    /// Align the pairs listed in this file: on each line a query in A and a target in B, separated
    /// by a tab
    ///
    /// A pair may be listed several times. Blank lines are skipped. A first line 'query target' is
    /// skipped unless sequences have both names. A line that starts with # is skipped unless a
    /// query has such a name. The file may be compressed; - is standard input. The sequences are
    /// held in memory and looked up by name: the header up to the first blank.
    #[arg(long, value_name = "LIST", value_hint = ValueHint::FilePath)]
    pub pairs: Option<PathBuf>,

    /// Align the intervals of each record of this PAF file end to end, and write PAF with the tags cg
    /// and cs
    ///
    /// Columns 1 to 9 of a record name a part of a query in A, its strand, and a part of a target in
    /// B (of A without B). Names and lengths must agree with the sequences. The file may be
    /// compressed; - is standard input. End gaps cost as much as inner gaps unless an option sets
    /// other costs.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with_all = ["format", "fields"])]
    pub paf: Option<PathBuf>,

    /// Extend the intervals of --paf by this many symbols on each side, at most to the ends of the
    /// sequences [default: 0]
    #[arg(long, value_name = "SYMBOLS", allow_negative_numbers = true)]
    pub extend: Option<u32>,

    #[command(flatten)]
    pub letters: LettersArgs,

    #[command(flatten)]
    pub strands: StrandArgs,

    #[command(flatten)]
    pub alignment: AlignmentArgs,

    #[command(flatten)]
    pub coverage: CoverageArgs,

    #[command(flatten)]
    pub identity: IdentityArgs,

    #[command(flatten)]
    pub results: ScoreOnlyArgs,

    #[command(flatten)]
    pub output: OutputArgs,

    #[command(flatten)]
    pub rows: RowsArgs<PairsFormatName>,

    #[command(flatten)]
    pub width: WidthArgs,

    #[command(flatten)]
    pub compute: ComputeArgs,
}

/// Adapts the options that all jobs share to `pairwave pairs`.
fn as_in_pairs(arg: Arg) -> Arg {
    match arg.get_id().as_str() {
        "alphabet" => arg.help(ALPHABET),
        "fields" => with_more_help(arg, FIELDS),
        "strand" => with_more_help(arg, "Strands below a minimum coverage are excluded first."),
        _ => arg,
    }
}

const ALPHABET: &str = "\
Interpret the sequences as this alphabet [default: detected from all letters of both files, or \
from the first records of files read in step]";

const FIELDS: &str = "\
Default fields of tsv: \
query,target,identity,score,matches,columns,gaps,query_length,target_length,cigar, and with \
--score-only query,target,score. --mode local inserts query_start, query_end, target_start and \
target_end before the lengths; --strand minus or both inserts strand after target. Field names \
of vsearch and BLAST are accepted and give the values that these programs print: identity is a \
fraction with six digits, id and pident are percentages. Positions count from 1 and include the \
last. A local alignment without columns has score 0, positions 0 and an empty CIGAR.";

const EXAMPLES: &str = "\
Cost of a gap of k symbols: OPEN + k * EXTEND (BLAST's convention)

Examples:
  Align record i of one file with record i of another, with CIGARs:
    pairwave pairs a.fa b.fa -o pairs.tsv
  Align the pairs of one file that a list names:
    pairwave pairs proteins.fa --pairs list.tsv
  Align as EMBOSS's needle does by default (10 and 0.5; here every number is doubled), as text:
    pairwave pairs a.fa b.fa --scheme needle --format text
  Align as EMBOSS's water does:
    pairwave pairs a.fa b.fa --scheme needle --mode local --format text
  Align the mappings of wfmash or minimap2 exactly, 100 symbols longer on each side:
    pairwave pairs query.fa target.fa --paf mappings.paf --extend 100 -o exact.paf
  Align reads that overlap at their ends:
    pairwave pairs forward.fq reverse.fq --mode overlap --strand minus --format paf
  Score millions of pairs:
    pairwave pairs a.fa.gz b.fa.gz --score-only -o scores.tsv.gz";

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum PairsFormatName {
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
    #[value(alias = "pair", alias = "srspair", alias = "blocks")]
    Text,
    /// SAM with = and X, soft clips and the tags NM and AS; queries are reads, targets are
    /// references; DNA and RNA only. Holds both files in memory
    Sam,
}

impl From<PairsFormatName> for FormatName {
    fn from(name: PairsFormatName) -> Self {
        match name {
            PairsFormatName::Tsv => FormatName::Tsv,
            PairsFormatName::Blast6 => FormatName::Blast6,
            PairsFormatName::Paf => FormatName::Paf,
            PairsFormatName::Jsonl => FormatName::Jsonl,
            PairsFormatName::Text => FormatName::Text,
            PairsFormatName::Sam => FormatName::Sam,
        }
    }
}
