//! What was typed after `pairwave pairs`.

use crate::cli::args::allpairs::FormatName;
use crate::cli::args::headings::SELECTION;
use crate::cli::args::input::{LettersArgs, StrandName};
use crate::cli::args::machine::ComputeArgs;
use crate::cli::args::output::{OutputArgs, RowsArgs, WidthArgs, with_more_help};
use crate::cli::args::scoring::{AlignmentArgs, IdentityArgs};
use clap::{Arg, ValueEnum, ValueHint};
use std::path::PathBuf;

/// Align listed pairs of sequences, one row each: record i of one file with record i of another
///
/// Without --pairs the files are read in step, and files of any size go through memory a part at a time; it is an error if
/// one of them has more records than the other. With --pairs each line of a list names a sequence of A and one of B. Every
/// pair is written, in the order of the input. Scores, alignments and the order of the output do not depend on the devices
/// that compute them.
#[derive(Debug, clap::Args, Default)]
#[command(override_usage = "pairwave pairs [OPTIONS] <A> [B]", after_long_help = EXAMPLES, mut_args(as_in_pairs))]
pub(crate) struct PairsArgs {
    /// Queries: FASTA or FASTQ, plain or compressed (gz, bz2, xz, zst); - is standard input
    #[arg(required_unless_present_any = ["fields", "scheme"], value_hint = ValueHint::FilePath)]
    pub a: Option<PathBuf>,

    /// Targets, in a file of the same kind [default with --pairs: the sequences of A]
    #[arg(value_hint = ValueHint::FilePath)]
    pub b: Option<PathBuf>,

    /// Align the pairs of this file: lines of two names, of a query in A and a target in B, with a tab between them
    ///
    /// A pair may be listed several times. Blank lines are skipped. A first line 'query target' is skipped unless sequences have
    /// both names, and a line that begins with # unless a query has such a name. Plain or compressed; - is standard input. Sequences are then held in memory, and looked up by their names: the
    /// header up to the first blank.
    #[arg(long, value_name = "LIST", value_hint = ValueHint::FilePath)]
    pub pairs: Option<PathBuf>,

    #[command(flatten)]
    pub letters: LettersArgs,

    /// Which strand of each query is aligned with its target; DNA and RNA only [default: plus]
    ///
    /// Of both strands the one that scores more is written, the plus strand if they score the same. Both take twice the
    /// time. Positions are those of the sequences as they were read.
    #[arg(long, value_name = "STRAND", value_enum, ignore_case = true)]
    pub strand: Option<StrandName>,

    #[command(flatten)]
    pub alignment: AlignmentArgs,

    #[command(flatten)]
    pub identity: IdentityArgs,

    /// Compute scores only, no alignments
    #[arg(long, help_heading = SELECTION)]
    pub score_only: bool,

    #[command(flatten)]
    pub output: OutputArgs,

    #[command(flatten)]
    pub rows: RowsArgs<PairsFormatName>,

    #[command(flatten)]
    pub width: WidthArgs,

    #[command(flatten)]
    pub compute: ComputeArgs,
}

/// The options of all jobs as `pairwave pairs` has them.
fn as_in_pairs(arg: Arg) -> Arg {
    match arg.get_id().as_str() {
        "alphabet" => arg.help(ALPHABET),
        "fields" => with_more_help(arg, FIELDS),
        _ => arg,
    }
}

const ALPHABET: &str = "\
Kind of sequences [default: detected from the letters of both files, where these are read in step from those \
of the first records]";

const FIELDS: &str = "\
The default of tsv is \
query,target,identity,score,matches,columns,gaps,query_length,target_length,cigar, and \
query,target,score with --score-only; with --mode local query_start, query_end, target_start and \
target_end stand before the lengths, and with --strand minus or both strand stands after target. \
vsearch's and BLAST's names of fields are understood too, and give what these programs print: \
identity is a fraction with six digits, id and pident are percentages. Positions count from 1 and \
include the last. A local alignment without a column, of score 0, has positions of 0 and an empty \
CIGAR.";

const EXAMPLES: &str = "\
Cost of a gap of k symbols: OPEN + k * EXTEND (BLAST's convention)

Examples:
  Record i of one file with record i of another, with CIGARs:
    pairwave pairs a.fa b.fa -o pairs.tsv
  Pairs that are named in a list, of one file:
    pairwave pairs proteins.fa --pairs list.tsv
  As EMBOSS's needle does with its defaults (10 and 0.5; here every number is twice as great), for people:
    pairwave pairs a.fa b.fa --scheme needle --format text
  As water does:
    pairwave pairs a.fa b.fa --scheme needle --mode local --format text
  Reads that overlap at their ends:
    pairwave pairs forward.fq reverse.fq --mode overlap --strand minus --format paf
  Scores of millions of pairs:
    pairwave pairs a.fa.gz b.fa.gz --score-only -o scores.tsv.gz";

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum PairsFormatName {
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
    #[value(alias = "pair", alias = "srspair", alias = "blocks")]
    Text,
    /// SAM with = and X, soft clips and the tags NM and AS: queries are reads, targets are references; DNA and RNA only. Both
    /// files are held in memory
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
