//! Arguments of `pairwave search`.

use crate::cli::args::headings::{OUTPUT, SELECTION};
use crate::cli::args::help::with_first_paragraph;
use crate::cli::args::input::{LettersArgs, StrandArgs};
use crate::cli::args::machine::ComputeArgs;
use crate::cli::args::output::OutputArgs;
use crate::cli::args::scoring::LocalAlignmentArgs;
use crate::cli::args::selection::{CoverageArgs, EditFilterArgs, MinIdentityArgs, MinScoreArgs, ScoreOnlyArgs};
use clap::{Arg, ValueEnum, ValueHint};
use std::path::PathBuf;

/// Search a database for the best hits of each query, with bit scores and E-values
///
/// Aligns every query with every sequence of DB, without seeds or heuristics, so no hit is missed.
/// By default it aligns the best-scoring part of each sequence (Smith-Waterman) with BLAST's scores
/// and costs, and writes at most 500 hits per query with an E-value of at most 10. The hits of a
/// query are sorted by falling score, equal scores by the order of DB. Hits and their order do not
/// depend on the devices.
#[derive(Debug, clap::Args, Default)]
#[command(override_usage = "pairwave search [OPTIONS] <QUERIES> <DB>", after_long_help = EXAMPLES)]
#[command(mut_args(as_in_searches))]
pub(crate) struct SearchArgs {
    /// Queries: FASTA or FASTQ, plain or compressed (gz, bz2, xz, zst); - is standard input
    #[arg(value_hint = ValueHint::FilePath)]
    pub queries: Option<PathBuf>,

    /// Sequences to search: a file of the same kind, or a database made by 'pairwave makedb'
    #[arg(value_hint = ValueHint::FilePath)]
    pub db: Option<PathBuf>,

    /// Alternative to the argument QUERIES
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub query: Option<PathBuf>,

    /// Alternative to the argument DB
    #[arg(short, long = "db", value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub database: Option<PathBuf>,

    #[command(flatten)]
    pub letters: LettersArgs,

    #[command(flatten)]
    pub strands: StrandArgs,

    #[command(flatten)]
    pub alignment: LocalAlignmentArgs,

    /// Write only hits with at most this E-value, the number of such scores expected by chance
    /// [default: 10]
    #[arg(short, long, value_name = "EVALUE", help_heading = SELECTION, allow_negative_numbers = true)]
    pub evalue: Option<f64>,

    /// Write at most this many hits per query, the best by score [default: 500]
    #[arg(short = 'k', long, visible_alias = "max-hits", value_name = "N", help_heading = SELECTION)]
    pub max_target_seqs: Option<usize>,

    /// Write at most this many local alignments (HSPs) of a query with each sequence [default: 1]
    ///
    /// Each further alignment is the best that does not enter the rectangle of an earlier alignment
    /// of the same strand, as in 'pairwave long --top'.
    /// E-value, score, identity and coverage apply to each alignment. --max-target-seqs counts
    /// sequences.
    #[arg(long, value_name = "N", help_heading = SELECTION)]
    pub max_hsps: Option<usize>,

    /// Write only the hits of each query that have its best score
    ///
    /// --max-target-seqs also limits these hits.
    #[arg(long, help_heading = SELECTION)]
    pub top_hits_only: bool,

    #[command(flatten)]
    pub scores: MinScoreArgs,

    #[command(flatten)]
    pub identities: MinIdentityArgs,

    /// Write only hits that span at least this fraction of the query, from 0 to 1
    #[arg(long, value_name = "FRACTION", help_heading = SELECTION, allow_negative_numbers = true)]
    pub query_cover: Option<f64>,

    #[command(flatten)]
    pub coverage: CoverageArgs,

    #[command(flatten)]
    pub results: ScoreOnlyArgs,

    #[command(flatten)]
    pub output: OutputArgs,

    /// Write this format [default: tsv]
    #[arg(long, value_name = "FORMAT", help_heading = OUTPUT, value_enum, ignore_case = true)]
    pub format: Option<SearchFormatName>,

    /// Write the format of this BLAST number, optionally with its fields: 0, 6, 7 or '6 qseqid
    /// sseqid evalue'
    #[arg(long, value_name = "NUMBER [FIELDS]", help_heading = OUTPUT, conflicts_with_all = ["format", "fields"])]
    pub outfmt: Option<String>,

    /// Write these fields in tsv, jsonl, blast6 and blast7, separated by commas; --fields help
    /// lists them
    ///
    /// Default fields of tsv:
    /// query,target,evalue,bits,score,identity,columns,query_start,query_end,query_length,
    /// target_start,target_end,target_length. For nucleotides, strand follows target. Without
    /// E-values, evalue and bits are omitted. Field names of vsearch and BLAST are accepted.
    /// Positions count from 1 and include the last.
    #[arg(long, value_name = "LIST", help_heading = OUTPUT)]
    pub fields: Option<String>,

    /// Write an HTML page of the hits, with pictures and alignments, to this file; --mode local
    #[arg(long, value_name = "FILE", help_heading = OUTPUT, value_hint = ValueHint::FilePath)]
    pub report: Option<PathBuf>,

    #[command(flatten)]
    pub sequences: HitSequencesArgs,

    #[command(flatten)]
    pub filter: EditFilterArgs,

    #[command(flatten)]
    pub compute: ComputeArgs,
}

// Plain comments: clap would take a doc comment as the help of the command.
// File for the sequences of the hits.
#[derive(Debug, Clone, clap::Args, Default)]
pub(crate) struct HitSequencesArgs {
    /// Write the database sequences of the hits to this FASTA file, each once, in the order of the
    /// hits
    ///
    /// Letters are in upper case, with T for U, as in a database.
    #[arg(long, value_name = "FILE", help_heading = OUTPUT, value_hint = ValueHint::FilePath)]
    pub hits_fasta: Option<PathBuf>,

    /// Write this part of each sequence to --hits-fasta [default: region]
    #[arg(long, value_name = "PART", help_heading = OUTPUT, value_enum, ignore_case = true, requires = "hits_fasta")]
    pub hit_part: Option<HitPartName>,

    /// Add up to this many symbols on both sides of each region of --hits-fasta [default: 0]
    #[arg(long, value_name = "N", help_heading = OUTPUT, requires = "hits_fasta")]
    pub flank: Option<u32>,
}

impl HitSequencesArgs {
    /// Returns the given options that describe the file, with their values.
    pub(crate) fn values(&self) -> Vec<(&'static str, String)> {
        let part = self.hit_part.as_ref().and_then(ValueEnum::to_possible_value);
        let part = part.map(|part| ("--hit-part", part.get_name().to_owned()));
        part.into_iter().chain(self.flank.map(|flank| ("--flank", flank.to_string()))).collect()
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum HitPartName {
    /// Aligned symbols, in the direction of the query, named name:start-end, or name:cend-start if
    /// they are a reverse complement
    #[default]
    #[value(alias = "aligned")]
    Region,
    /// Whole sequence as it is stored
    #[value(alias = "full")]
    Whole,
}

/// Adapts the options that all jobs share to `pairwave search`: its defaults, and option names from
/// other search programs.
fn as_in_searches(arg: Arg) -> Arg {
    match arg.get_id().as_str() {
        "alphabet" => arg.help(
            "Interpret the sequences as this alphabet [default: the database's, or detected from its \
             letters]",
        ),
        "strand" => {
            let first = "Align this strand of each query [default: both for nucleotides, plus for proteins]";
            return with_first_paragraph(arg, first);
        }
        "min_score" => arg.help("Write only hits with at least this score"),
        "min_identity" => arg
            .visible_alias("id")
            .help("Write only hits with at least this identity (matches / columns), a fraction from 0 to 1"),
        "mode" => arg.help("Align these parts of two sequences; E-values need local alignments"),
        "match_score" => arg.visible_alias("reward").help("Set the score of a nucleotide match [default: 2]"),
        "mismatch" => {
            arg.visible_alias("penalty").help("Set the score of a nucleotide mismatch, 0 or less [default: -3]")
        }
        "ambiguity" => arg.help("Score ambiguous nucleotides (N, R, Y, ...) by this rule [default: mean]"),
        "gap_open" => arg.visible_alias("gapopen").help(
            "Set the cost of opening a gap, charged once per gap [default: 5 for nucleotides, 11 for \
             proteins]; a gap of k symbols costs OPEN + k * EXTEND",
        ),
        "gap_extend" => arg.visible_alias("gapextend").help(
            "Set the cost of each symbol of a gap, including the first [default: 2 for nucleotides, 1 \
             for proteins]",
        ),
        "end_gap_open" => arg.help(
            "Set the cost of opening a gap at an end of the alignment [default: as --gap-open]; \
             --mode global",
        ),
        "end_gap_extend" => arg.help(
            "Set the cost of each symbol of a gap at an end of the alignment [default: as \
             --gap-extend]; --mode global",
        ),
        "output" => return arg.visible_alias("out"),
        "threads" => arg.visible_short_alias('p').visible_alias("num-threads"),
        _ => return arg,
    }
    .long_help(None)
}

const EXAMPLES: &str = "\
Cost of a gap of k symbols: OPEN + k * EXTEND (BLAST's convention)

Examples:
  Search proteins in a file of others, as a table:
    pairwave search queries.fa proteins.fa -o hits.tsv
  Write the five best hits of each query in BLAST's format:
    pairwave search queries.fa proteins.fa --max-target-seqs 5 --evalue 1e-5 --outfmt 6
  Find genes on both strands that cover at least nine tenths of the query, as SAM:
    pairwave search probe.fa genes.fa --min-identity 0.9 --query-cover 0.9 --format sam -o hits.sam
  Write the parts of the database that match, with 20 symbols on both sides, for an alignment:
    pairwave search queries.fa proteins.fa -o hits.tsv --hits-fasta parts.fa --flank 20
  Find up to ten copies of each gene in each sequence of a genome:
    pairwave search genes.fa genome.fa --max-hsps 10 --evalue 1e-20 --outfmt 6
  Align proteins end to end:
    pairwave search queries.fa proteins.fa --mode global --min-score 0 --max-target-seqs 3";

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum SearchFormatName {
    /// Tab-separated values with a header line
    #[default]
    #[value(alias = "table", alias = "tab-separated")]
    Tsv,
    /// BLAST's -outfmt 6: no header line, by default its twelve columns
    #[value(alias = "blast-tab", alias = "outfmt6", alias = "m8")]
    Blast6,
    /// BLAST's -outfmt 7: as blast6 with comment lines, which also report queries without hits
    #[value(alias = "outfmt7", alias = "m9")]
    Blast7,
    /// BLAST's -outfmt 0: text with alignments, for reading
    #[value(alias = "outfmt0", alias = "text", alias = "pairwise")]
    Blast0,
    /// PAF, minimap2's format, with the tags NM, AS, de and cg
    #[value(alias = "pairwise-mapping")]
    Paf,
    /// One JSON object per line
    #[value(alias = "json", alias = "json-lines", alias = "ndjson")]
    Jsonl,
    /// SAM with = and X, soft clips and the tags NM and AS; queries are reads; DNA and RNA only
    Sam,
}
