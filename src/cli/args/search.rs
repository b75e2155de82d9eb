//! What was typed after `pairwave search`.

use crate::cli::args::headings::{OUTPUT, SELECTION};
use crate::cli::args::input::{LettersArgs, StrandName};
use crate::cli::args::machine::ComputeArgs;
use crate::cli::args::output::OutputArgs;
use crate::cli::args::scoring::LocalAlignmentArgs;
use clap::{Arg, ValueEnum, ValueHint};
use std::path::PathBuf;

/// Search: the best hits of each query in a database, with bits and E-values
///
/// Every query is aligned with every sequence of DB, so that nothing is missed: there are no seeds and no heuristics. By default
/// the two parts that score most are aligned (Smith-Waterman), by BLAST's scores and costs, and hits of an E-value of at most 10
/// are written, 500 a query. A query's hits come by falling score, of equal ones the earlier in DB first. Hits and their order do not
/// depend on the devices that compute them.
#[derive(Debug, clap::Args, Default)]
#[command(override_usage = "pairwave search [OPTIONS] <QUERIES> <DB>", after_long_help = EXAMPLES)]
#[command(mut_args(as_in_searches))]
pub(crate) struct SearchArgs {
    /// Queries: FASTA or FASTQ, plain or compressed (gz, bz2, xz, zst); - is standard input
    #[arg(value_hint = ValueHint::FilePath)]
    pub queries: Option<PathBuf>,

    /// What is searched: a file of the same kind, or a database that 'pairwave makedb' made
    #[arg(value_hint = ValueHint::FilePath)]
    pub db: Option<PathBuf>,

    /// The same as QUERIES
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub query: Option<PathBuf>,

    /// The same as DB
    #[arg(short, long = "db", value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub database: Option<PathBuf>,

    #[command(flatten)]
    pub letters: LettersArgs,

    /// Which strand of each query is aligned [default: both for nucleotides, plus for proteins]
    ///
    /// Of both strands of a pair the one that scores more is written, the plus strand if they score the same. Positions are
    /// those of the sequences as they were read.
    #[arg(long, value_name = "STRAND", value_enum, ignore_case = true)]
    pub strand: Option<StrandName>,

    #[command(flatten)]
    pub alignment: LocalAlignmentArgs,

    /// Write only hits of at most this E-value: how many that score as much are to be expected by chance [default: 10]
    #[arg(short, long, value_name = "EVALUE", help_heading = SELECTION, allow_negative_numbers = true)]
    pub evalue: Option<f64>,

    /// Write at most this many hits a query, the best by score [default: 500]
    #[arg(short = 'k', long, visible_alias = "max-hits", value_name = "N", help_heading = SELECTION)]
    pub max_target_seqs: Option<usize>,

    /// Write only hits of at least this score
    #[arg(long, value_name = "SCORE", help_heading = SELECTION, allow_negative_numbers = true)]
    pub min_score: Option<i64>,

    /// Write only hits of at least this identity, a fraction from 0 to 1: matches / columns
    #[arg(long, visible_alias = "id", value_name = "FRACTION", help_heading = SELECTION, allow_negative_numbers = true)]
    pub min_identity: Option<f64>,

    /// Write only hits that span at least this part of the query, a fraction from 0 to 1
    #[arg(long, value_name = "FRACTION", help_heading = SELECTION, allow_negative_numbers = true)]
    pub query_cover: Option<f64>,

    /// Compute scores only, no alignments
    #[arg(long, help_heading = SELECTION)]
    pub score_only: bool,

    #[command(flatten)]
    pub output: OutputArgs,

    /// What to write [default: tsv]
    #[arg(long, value_name = "FORMAT", help_heading = OUTPUT, value_enum, ignore_case = true)]
    pub format: Option<SearchFormatName>,

    /// The format by BLAST's number, with the fields after it if others than the usual ones are to be written: 0, 6,
    /// 7, or '6 qseqid sseqid evalue'
    #[arg(long, value_name = "NUMBER [FIELDS]", help_heading = OUTPUT, conflicts_with_all = ["format", "fields"])]
    pub outfmt: Option<String>,

    /// Fields of tsv, jsonl, blast6 and blast7, separated by commas; --fields help lists them
    ///
    /// The default of tsv is query,target,evalue,bits,score,identity,columns,query_start,query_end,query_length,
    /// target_start,target_end,target_length; of nucleotides strand stands after target, and without E-values evalue and bits are
    /// left out. vsearch's and BLAST's names of fields are understood too. Positions count from 1 and include the last.
    #[arg(long, value_name = "LIST", help_heading = OUTPUT)]
    pub fields: Option<String>,

    /// Write a page of the hits as well, with pictures and alignments: one HTML file, to be looked at in any browser; --mode local
    #[arg(long, value_name = "FILE", help_heading = OUTPUT, value_hint = ValueHint::FilePath)]
    pub report: Option<PathBuf>,

    #[command(flatten)]
    pub compute: ComputeArgs,
}

/// Options that all commands share, as a search has them: with its defaults, and names that its users know.
fn as_in_searches(arg: Arg) -> Arg {
    match arg.get_id().as_str() {
        "alphabet" => arg.help("Kind of sequences [default: that of the database, or detected from its letters]"),
        "mode" => arg.help("Which parts of two sequences are aligned; E-values are of local alignments"),
        "match_score" => arg.visible_alias("reward").help("Score of two nucleotides that match [default: 2]"),
        "mismatch" => {
            arg.visible_alias("penalty").help("Score of two nucleotides that do not match, 0 or less [default: -3]")
        }
        "ambiguity" => arg.help("How an ambiguous nucleotide (N, R, Y, ...) meets another [default: mean]"),
        "gap_open" => arg.visible_alias("gapopen").help(
            "What a gap costs once, however long it is [default: 5 for nucleotides, 11 for proteins]; a gap of k symbols \
             costs OPEN + k * EXTEND",
        ),
        "gap_extend" => arg.visible_alias("gapextend").help(
            "What every symbol of a gap costs, the first included [default: 2 for nucleotides, 1 for proteins]",
        ),
        "end_gap_open" => arg.help(
            "What a gap at an end of the alignment costs once [default: as --gap-open]; --mode global",
        ),
        "end_gap_extend" => arg.help(
            "What every symbol of a gap at an end of the alignment costs [default: as --gap-extend]; --mode global",
        ),
        "output" => arg.visible_alias("out"),
        "threads" => arg.visible_short_alias('p').visible_alias("num-threads"),
        _ => return arg,
    }
    .long_help(None)
}

const EXAMPLES: &str = "\
Cost of a gap of k symbols: OPEN + k * EXTEND (BLAST's convention)

Examples:
  The hits of some proteins in a file of others, as a table:
    pairwave search queries.fa proteins.fa -o hits.tsv
  The five best of each, as BLAST writes them:
    pairwave search queries.fa proteins.fa --max-target-seqs 5 --evalue 1e-5 --outfmt 6
  Genes on both strands, of which at least nine tenths are found, as SAM:
    pairwave search probe.fa genes.fa --min-identity 0.9 --query-cover 0.9 --format sam -o hits.sam
  Whole proteins:
    pairwave search queries.fa proteins.fa --mode global --min-score 0 --max-target-seqs 3";

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum SearchFormatName {
    /// Tab-separated values with a header line
    #[default]
    #[value(alias = "table", alias = "tab-separated")]
    Tsv,
    /// BLAST's -outfmt 6: the same without a header, by default its twelve columns
    #[value(alias = "blast-tab", alias = "outfmt6", alias = "m8")]
    Blast6,
    /// BLAST's -outfmt 7: the same with lines of comments, which also say of queries that nothing was found
    #[value(alias = "outfmt7", alias = "m9")]
    Blast7,
    /// BLAST's -outfmt 0: text for people, with alignments
    #[value(alias = "outfmt0", alias = "text", alias = "pairwise")]
    Blast0,
    /// minimap2's format with the tags NM, AS, de and cg
    #[value(alias = "pairwise-mapping")]
    Paf,
    /// One JSON object a line
    #[value(alias = "json", alias = "json-lines", alias = "ndjson")]
    Jsonl,
    /// SAM with = and X, soft clips and the tags NM and AS: queries are reads; DNA and RNA only
    Sam,
}
