//! What was typed after `pairwave papara`.

use crate::cli::args::headings::{COMPUTING, OUTPUT, QUIET, QUIET_ORDER, SCORING};
use crate::cli::args::input::{AlphabetName, StrandName};
use crate::cli::args::machine::ComputeArgs;
use crate::cli::args::output::OutputArgs;
use clap::{Arg, ArgAction, ValueEnum, ValueHint};
use std::path::PathBuf;

/// Align reads with a reference alignment and its tree, for phylogenetic placement (PaPaRa)
///
/// Every read is scored against the ancestral states of every edge of the tree, and aligned with those of the best one; the
/// reference alignment stays as it is. What comes out is read by EPA-ng (with --keep-length), pplacer and RAxML. Scores, edges
/// and alignments are those of PaPaRa 2.5. Where on the edge a read belongs, and how surely, is for those programs to say:
/// there is no jplace here.
#[derive(Debug, clap::Args, Default)]
#[command(
    override_usage = "pairwave papara [OPTIONS] --tree <FILE> --reference <FILE> --reads <FILE>",
    after_long_help = EXAMPLES,
    // As in PaPaRa, -t is the tree and -q the reads: the option of all commands has no letter behind this one's name.
    mut_arg("threads", |arg| arg.short(None)),
    arg(Arg::new("quiet").long("quiet").action(ArgAction::SetTrue).display_order(QUIET_ORDER).help(QUIET)),
)]
pub(crate) struct PaparaArgs {
    /// Tree of the references: Newick, unrooted or rooted, multifurcating or not; - is standard input
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub tree: PathBuf,

    /// Alignment of the references: FASTA, PHYLIP (relaxed, sequential or interleaved) or Stockholm
    ///
    /// Its names are those of the tree's leaves, all of them. Plain or compressed (gz, bz2, xz, zst); - is standard input.
    #[arg(short = 's', long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub reference: PathBuf,

    /// Reads: FASTA or FASTQ, plain or compressed; - is standard input. Gaps are taken out
    #[arg(short = 'q', long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub reads: PathBuf,

    /// Kind of sequences [default: detected from the letters of the references]
    #[arg(long, value_name = "ALPHABET", value_enum, ignore_case = true)]
    pub alphabet: Option<AlphabetName>,

    /// Which strand of each read is aligned; DNA and RNA only [default: plus]
    ///
    /// Of both strands the one that scores more is written, the plus strand if they score the same. What is written of the
    /// minus strand is the read's reverse complement.
    #[arg(long, value_name = "STRAND", value_enum, ignore_case = true)]
    pub strand: Option<StrandName>,

    /// How a site of an edge is found to be a gap
    #[arg(long, value_name = "MODEL", help_heading = SCORING, value_enum, ignore_case = true, default_value_t)]
    pub gap_model: GapModelName,

    /// Whose scores [default: papara]
    #[arg(long, value_name = "SCORES", help_heading = SCORING, value_enum, ignore_case = true)]
    pub scoring: Option<PhyloScoringName>,

    /// The four numbers of PaPaRa's option of this name: gap open, gap extension, match, match at a gap site
    ///
    /// As in -p -3:-1:2:-3, PaPaRa's default. A gap of k symbols scores the first and k - 1 times the second.
    #[arg(short, long, value_name = "O:E:M:G", help_heading = SCORING, allow_hyphen_values = true)]
    pub parameters: Option<String>,

    /// Score of a character that the edge's states hold
    #[arg(long = "match", value_name = "SCORE", help_heading = SCORING, allow_negative_numbers = true)]
    pub matching: Option<i32>,

    /// Score of a character that they do not hold
    #[arg(long, value_name = "SCORE", help_heading = SCORING, allow_negative_numbers = true)]
    pub mismatch: Option<i32>,

    /// Cost of opening a gap, beside that of its symbols
    #[arg(long, value_name = "COST", help_heading = SCORING, allow_negative_numbers = true)]
    pub gap_open: Option<i32>,

    /// Cost of every symbol of a gap; at gap sites a gap in the read costs nothing
    #[arg(long, value_name = "COST", help_heading = SCORING, allow_negative_numbers = true)]
    pub gap_extend: Option<i32>,

    /// What a character at a gap site costs beside
    #[arg(long, value_name = "COST", help_heading = SCORING, allow_negative_numbers = true)]
    pub gap_site: Option<i32>,

    #[command(flatten)]
    pub output: OutputArgs,

    /// What to write [default: phylip if the name of --output ends in .phy or .phylip, else fasta]
    #[arg(long, value_name = "FORMAT", help_heading = OUTPUT, value_enum, ignore_case = true)]
    pub format: Option<PlacedFormatName>,

    /// Drop characters of reads that are in no column of the references: all rows keep the references' length
    ///
    /// Columns that are gaps in all references are dropped in any case. This is what EPA-ng reads.
    #[arg(short = 'r', long, help_heading = OUTPUT)]
    pub keep_length: bool,

    /// Write reads only, without the references
    #[arg(long, help_heading = OUTPUT)]
    pub split: bool,

    /// Write a table of the reads to this file: best edge, its score, the runner-up and its score, strand, split
    ///
    /// Edges have the numbers of --tree-out. The split is a quartet of leaves, one of each subtree at the edge's ends:
    /// a,b|c,d.
    #[arg(long, value_name = "FILE", help_heading = OUTPUT, value_hint = ValueHint::FilePath)]
    pub table: Option<PathBuf>,

    /// Write the tree to this file, with the number of every edge in braces behind its length, as in jplace
    #[arg(long, value_name = "FILE", help_heading = OUTPUT, value_hint = ValueHint::FilePath)]
    pub tree_out: Option<PathBuf>,

    /// Write finished reads to this file, and go on from there if the same job is run again
    ///
    /// It may be deleted when the job is done.
    #[arg(long, value_name = "FILE", help_heading = COMPUTING, value_hint = ValueHint::FilePath)]
    pub checkpoint: Option<PathBuf>,

    /// Score every read against every edge, even where bounds show that it cannot be the best. Never changes what is written
    #[arg(long, help_heading = COMPUTING)]
    pub exhaustive: bool,

    #[command(flatten)]
    pub compute: ComputeArgs,
}

const EXAMPLES: &str = "\
Cost of a gap of k symbols: OPEN + k * EXTEND (BLAST's convention); PaPaRa's -p -3:-1:2:-3 is
--gap-open 2 --gap-extend 1 --match 2 --gap-site 3, the default.

Examples:
  References and reads in one alignment, with columns for what reads have inserted:
    pairwave papara --tree ref.nwk --reference ref.fa --reads reads.fq.gz -o aligned.fa
  What EPA-ng takes, and a table of best edges:
    pairwave papara -t ref.nwk -s ref.phy -q reads.fa --keep-length --split --table best.tsv -o reads.phy
  Reads of either strand, in a job that may be interrupted:
    pairwave papara -t ref.nwk -s ref.fa -q reads.fq.gz --strand both --checkpoint reads.work -o aligned.fa";

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum GapModelName {
    /// By the likelihood of gaps on the branch lengths: PaPaRa's default
    #[default]
    #[value(alias = "likelihood")]
    Pgap,
    /// By parsimony: PaPaRa's -c, the model of its papers
    #[value(alias = "parsimony")]
    Cgap,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PhyloScoringName {
    /// PaPaRa 2.5's; what hangs over of a read at the references' ends is free
    Papara,
    /// Those of equation 1 of Alachiotis, Berger and Stamatakis (2013): a read is aligned as a whole
    Paper,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlacedFormatName {
    /// One record a row
    Fasta,
    /// Relaxed and sequential
    Phylip,
}
