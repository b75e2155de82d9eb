//! Arguments of `pairwave papara`.

use crate::cli::args::headings::{COMPUTING, OUTPUT, QUIET, QUIET_ORDER, SCORING};
use crate::cli::args::help::with_help;
use crate::cli::args::input::{AlphabetArgs, StrandArgs};
use crate::cli::args::machine::ComputeArgs;
use crate::cli::args::output::OutputArgs;
use clap::{Arg, ArgAction, ValueEnum, ValueHint};
use std::path::PathBuf;

/// Align reads with a reference alignment and its tree, for phylogenetic placement (PaPaRa)
///
/// Scores every read against the ancestral states of every edge of the tree, and aligns it with the
/// states of the best edge; the reference alignment does not change. Scores, edges and alignments
/// equal the results of PaPaRa 2.5. EPA-ng (with --keep-length), pplacer and RAxML read the output.
/// They compute the position on the edge and its likelihood.
#[derive(Debug, clap::Args, Default)]
#[command(
    override_usage = "pairwave papara [OPTIONS] --tree <FILE> --reference <FILE> --reads <FILE>",
    after_long_help = EXAMPLES,
    mut_args(as_in_papara),
    // As in PaPaRa, -q is the reads, so --quiet has no short form here.
    arg(Arg::new("quiet").long("quiet").action(ArgAction::SetTrue).display_order(QUIET_ORDER).help(QUIET)),
)]
pub(crate) struct PaparaArgs {
    /// Read the tree of the references: Newick, rooted or unrooted, with or without
    /// multifurcations; - is standard input
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub tree: PathBuf,

    /// Read the alignment of the references: FASTA, PHYLIP (relaxed, sequential or interleaved),
    /// Stockholm, Clustal, MSF or NEXUS
    ///
    /// The names must be exactly the names of the tree's leaves. The file may be plain or
    /// compressed (gz, bz2, xz, zst); - is standard input.
    #[arg(short = 's', long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub reference: PathBuf,

    /// Align these reads: FASTA or FASTQ, plain or compressed; - is standard input
    ///
    /// Gaps in the reads are removed.
    #[arg(short = 'q', long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub reads: PathBuf,

    #[command(flatten)]
    pub alphabet: AlphabetArgs,

    #[command(flatten)]
    pub strands: StrandArgs,

    /// Detect the gap sites of an edge by this model
    #[arg(long, value_name = "MODEL", help_heading = SCORING, value_enum, ignore_case = true, default_value_t)]
    pub gap_model: GapModelName,

    /// Detect gap sites by parsimony, as PaPaRa's -c does: --gap-model cgap
    #[arg(short = 'c', long, help_heading = SCORING, conflicts_with = "gap_model")]
    pub cgap: bool,

    /// Use this set of scores [default: papara]
    #[arg(long, value_name = "SCORES", help_heading = SCORING, value_enum, ignore_case = true)]
    pub scoring: Option<PhyloScoringName>,

    /// Set the scores of gap open, gap extension, match and match at a gap site, as PaPaRa's -p
    /// does
    ///
    /// PaPaRa's default is -p -3:-1:2:-3. A gap of k symbols scores the first number plus k - 1
    /// times the second.
    #[arg(short, long, value_name = "O:E:M:G", help_heading = SCORING, allow_hyphen_values = true)]
    pub parameters: Option<String>,

    /// Set the score of a character that is in the edge's states
    #[arg(long = "match", value_name = "SCORE", help_heading = SCORING, allow_negative_numbers = true)]
    pub matching: Option<i32>,

    /// Set the score of a character that is not in the edge's states
    #[arg(long, value_name = "SCORE", help_heading = SCORING, allow_negative_numbers = true)]
    pub mismatch: Option<i32>,

    /// Set the cost of opening a gap, in addition to the costs of its symbols
    #[arg(long, value_name = "COST", help_heading = SCORING, allow_negative_numbers = true)]
    pub gap_open: Option<i32>,

    /// Set the cost of each symbol of a gap; gaps in the read are free at gap sites
    #[arg(long, value_name = "COST", help_heading = SCORING, allow_negative_numbers = true)]
    pub gap_extend: Option<i32>,

    /// Set the additional cost of a character at a gap site
    #[arg(long, value_name = "COST", help_heading = SCORING, allow_negative_numbers = true)]
    pub gap_site: Option<i32>,

    #[command(flatten)]
    pub output: OutputArgs,

    /// Write to the file papara_alignment.NAME in the current directory, as PaPaRa's -n does
    #[arg(short = 'n', long, value_name = "NAME", help_heading = OUTPUT, conflicts_with = "output")]
    pub run_name: Option<String>,

    /// Write this format [default: phylip if the name of --output ends in .phy or .phylip, or with
    /// -n or -c, else fasta]
    #[arg(long, value_name = "FORMAT", help_heading = OUTPUT, value_enum, ignore_case = true)]
    pub format: Option<PlacedFormatName>,

    /// Write FASTA, as PaPaRa's -f does: --format fasta
    #[arg(short = 'f', long, help_heading = OUTPUT, conflicts_with = "format")]
    pub fasta: bool,

    /// Drop characters of reads outside the references' columns, so that all rows keep the
    /// references' length
    ///
    /// EPA-ng needs this option. Columns that are gaps in all references are always dropped.
    #[arg(short = 'r', long, help_heading = OUTPUT)]
    pub keep_length: bool,

    /// Write only the reads, without the references
    #[arg(long, help_heading = OUTPUT)]
    pub split: bool,

    /// Write a table of the reads to this file: best edge, its score, runner-up, its score, strand,
    /// split
    ///
    /// Edges are numbered as in --tree-out. The split is a quartet of leaves a,b|c,d, with one leaf
    /// of each subtree at the ends of the edge.
    #[arg(long, value_name = "FILE", help_heading = OUTPUT, value_hint = ValueHint::FilePath)]
    pub table: Option<PathBuf>,

    /// Write the best edge and the runner-up of each read to this file, with the tree: jplace,
    /// version 3, for gappa and iTOL
    ///
    /// The field parsimony has PaPaRa's score. Likelihoods are not computed: every read is in the
    /// middle of its edge, and its best edge has the weight 1. EPA-ng and pplacer place the reads of
    /// the alignment by likelihood.
    #[arg(long, value_name = "FILE", help_heading = OUTPUT, value_hint = ValueHint::FilePath)]
    pub jplace: Option<PathBuf>,

    /// Write the tree to this file, with the number of each edge in braces after its length, as in
    /// jplace
    #[arg(long, value_name = "FILE", help_heading = OUTPUT, value_hint = ValueHint::FilePath)]
    pub tree_out: Option<PathBuf>,

    /// Save finished reads to this file, and resume from it when the same job runs again
    ///
    /// The file may be deleted when the job is done.
    #[arg(long, value_name = "FILE", help_heading = COMPUTING, value_hint = ValueHint::FilePath)]
    pub checkpoint: Option<PathBuf>,

    /// Score every read against every edge, even where bounds rule the edge out; the output is the
    /// same
    #[arg(long, help_heading = COMPUTING)]
    pub exhaustive: bool,

    #[command(flatten)]
    pub compute: ComputeArgs,
}

/// Adapts the options that all jobs share to `pairwave papara`.
fn as_in_papara(arg: Arg) -> Arg {
    match arg.get_id().as_str() {
        "alphabet" => {
            arg.help("Interpret the sequences as this alphabet [default: detected from the letters of the references]")
        }
        "strand" => with_help(arg, STRAND, STRANDS),
        // As in PaPaRa, -t is the tree.
        "threads" => arg.short(None),
        // Parsed only so that the error can give the reason: other jobs have this option.
        "tune" => arg.hide(true),
        _ => arg,
    }
}

const STRAND: &str = "Align this strand of each read; DNA and RNA only [default: plus]";
const STRANDS: &str = "\
With 'both', pairwave writes the better-scoring strand, the plus strand if the scores are equal. The \
minus strand is written as the reverse complement of the read.";

const EXAMPLES: &str = "\
Cost of a gap of k symbols: OPEN + k * EXTEND (BLAST's convention); PaPaRa's -p -3:-1:2:-3 is
--gap-open 2 --gap-extend 1 --match 2 --gap-site 3, the default.

Examples:
  Align references and reads together, with columns for insertions in reads:
    pairwave papara --tree ref.nwk --reference ref.fa --reads reads.fq.gz -o aligned.fa
  Write the input of EPA-ng, and a table of best edges:
    pairwave papara -t ref.nwk -s ref.phy -q reads.fa --keep-length --split --table best.tsv -o reads.phy
  Use the options of PaPaRa; the alignment is papara_alignment.run1, in PHYLIP:
    pairwave papara -t ref.nwk -s ref.phy -q reads.fa -j 8 -r -n run1
  Align reads of either strand, in a job that may be interrupted:
    pairwave papara -t ref.nwk -s ref.fa -q reads.fq.gz --strand both --checkpoint reads.work -o aligned.fa";

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum GapModelName {
    /// Likelihood of gaps given the branch lengths: PaPaRa's default
    #[default]
    #[value(alias = "likelihood")]
    Pgap,
    /// Parsimony: PaPaRa's -c, the model of its papers
    #[value(alias = "parsimony")]
    Cgap,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PhyloScoringName {
    /// Scores of PaPaRa 2.5; the ends of a read that hang over the references are free
    Papara,
    /// Scores of equation 1 of Alachiotis, Berger and Stamatakis (2013); a read is aligned end to
    /// end
    Paper,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlacedFormatName {
    /// One record per row
    Fasta,
    /// Relaxed, sequential PHYLIP
    Phylip,
}
