//! Arguments of `pairwave cluster`.

use crate::cli::args::headings::{COMPUTING, OUTPUT, SELECTION};
use crate::cli::args::help::{with_first_paragraph, with_more_help};
use crate::cli::args::input::{LettersArgs, StrandArgs};
use crate::cli::args::machine::ComputeArgs;
use crate::cli::args::output::OutputArgs;
use crate::cli::args::scoring::{AlignmentArgs, IdentityArgs};
use crate::cli::args::selection::{CoverageArgs, MinScoreArgs};
use clap::{Arg, ValueEnum, ValueHint};
use std::path::PathBuf;

/// Cluster sequences by the exact identities of their pairs
///
/// Identical sequences are one sequence whose abundance is the sum of their abundances (;size=N in
/// names, 1 without it). Sequences are ordered by abundance, length and symbols, so the clusters do
/// not depend on the order of the input, on devices or on threads.
#[derive(Debug, clap::Args, Default)]
#[command(override_usage = "pairwave cluster [OPTIONS] --min-identity <LIST> <SEQS>", after_long_help = EXAMPLES)]
#[command(mut_args(as_in_cluster))]
pub(crate) struct ClusterArgs {
    /// Sequences: FASTA or FASTQ, plain or compressed (gz, bz2, xz, zst); - is standard input
    #[arg(required_unless_present = "scheme", value_hint = ValueHint::FilePath)]
    pub seqs: Option<PathBuf>,

    #[command(flatten)]
    pub letters: LettersArgs,

    #[command(flatten)]
    pub strands: StrandArgs,

    #[command(flatten)]
    pub alignment: AlignmentArgs,

    /// Cluster sequences with at least this identity, a fraction from 0 to 1; several values,
    /// separated by commas, give clusters at each
    #[arg(long = "min-identity", value_name = "LIST", help_heading = SELECTION, value_delimiter = ',')]
    #[arg(required_unless_present = "scheme", allow_negative_numbers = true)]
    pub min_identities: Vec<f64>,

    #[command(flatten)]
    pub scores: MinScoreArgs,

    #[command(flatten)]
    pub identity: IdentityArgs,

    #[command(flatten)]
    pub coverages: CoverageArgs,

    /// Cluster sequences whose alignment covers at least this fraction of the sequences that
    /// --cov-mode names, from 0 to 1
    #[arg(long, value_name = "FRACTION", help_heading = SELECTION, allow_negative_numbers = true)]
    #[arg(conflicts_with_all = ["query_cov", "target_cov", "min_cov"])]
    pub cov: Option<f64>,

    /// Apply --cov to these sequences [default: both]
    #[arg(long, value_name = "MODE", help_heading = SELECTION, value_enum, ignore_case = true)]
    pub cov_mode: Option<CoverageModeName>,

    /// Form clusters by this method
    #[arg(long = "method", value_name = "METHOD", help_heading = SELECTION, value_enum, ignore_case = true)]
    #[arg(default_value_t)]
    pub clustering: ClusterMethodName,

    #[command(flatten)]
    pub output: OutputArgs,

    #[command(flatten)]
    pub files: ClusterFilesArgs,

    /// Write an HTML page of the clusters to this file
    #[arg(long, value_name = "FILE", help_heading = OUTPUT, value_hint = ValueHint::FilePath)]
    pub report: Option<PathBuf>,

    /// Draw a heat map of the identities of centroids to this .svg or .png file
    #[arg(long, value_name = "FILE", help_heading = OUTPUT, value_hint = ValueHint::FilePath)]
    pub plot: Option<PathBuf>,

    /// Use at most this much memory for similar pairs, as in 8G or 512M [default: 8G]
    #[arg(long, value_name = "SIZE", help_heading = COMPUTING, allow_hyphen_values = true)]
    pub pair_memory: Option<String>,

    #[command(flatten)]
    pub compute: ComputeArgs,
}

// Plain comments: clap would take a doc comment as the help of the command.
// Further files that describe clusters.
#[derive(Debug, Clone, clap::Args, Default)]
pub(crate) struct ClusterFilesArgs {
    /// Write the clusters in vsearch's and USEARCH's uc format to this file
    #[arg(long, value_name = "FILE", help_heading = OUTPUT, value_hint = ValueHint::FilePath)]
    pub uc: Option<PathBuf>,

    /// Write the centroids, with the abundances of their clusters, to this FASTA file
    #[arg(long, value_name = "FILE", help_heading = OUTPUT, value_hint = ValueHint::FilePath)]
    pub centroids: Option<PathBuf>,

    /// Write the sequences of each cluster to a FASTA file in this directory
    #[arg(long, value_name = "DIRECTORY", help_heading = OUTPUT, value_hint = ValueHint::DirPath)]
    pub clusters: Option<PathBuf>,

    /// Write the abundances of clusters by sample to this file, in the format of vsearch's
    /// --otutabout
    #[arg(long, value_name = "FILE", help_heading = OUTPUT, value_hint = ValueHint::FilePath)]
    pub otu_table: Option<PathBuf>,

    /// Write the abundances of clusters by sample to this BIOM 1.0 file
    #[arg(long, value_name = "FILE", help_heading = OUTPUT, value_hint = ValueHint::FilePath)]
    pub biom: Option<PathBuf>,

    /// Write the clusters at all thresholds to this file, in mothur's list format
    #[arg(long, value_name = "FILE", help_heading = OUTPUT, value_hint = ValueHint::FilePath)]
    pub mothur_list: Option<PathBuf>,

    /// Write the abundances of clusters by sample at all thresholds to this file, in mothur's shared
    /// format
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    #[arg(value_hint = ValueHint::FilePath)]
    pub shared: Option<PathBuf>,

    /// Write the clusters in CD-HIT's clstr format to this file
    #[arg(long, value_name = "FILE", help_heading = OUTPUT, value_hint = ValueHint::FilePath)]
    pub clstr: Option<PathBuf>,

    /// Write a line with centroid and member for each sequence to this file, as MMseqs2 does
    #[arg(long, value_name = "FILE", help_heading = OUTPUT, value_hint = ValueHint::FilePath)]
    pub pairs_out: Option<PathBuf>,
}

impl ClusterFilesArgs {
    /// Returns the given files with their options.
    pub(crate) fn given(&self) -> Vec<(&'static str, &PathBuf)> {
        let all = [
            ("--uc", &self.uc),
            ("--centroids", &self.centroids),
            ("--clusters", &self.clusters),
            ("--otu-table", &self.otu_table),
            ("--biom", &self.biom),
            ("--mothur-list", &self.mothur_list),
            ("--shared", &self.shared),
            ("--clstr", &self.clstr),
            ("--pairs-out", &self.pairs_out),
        ];
        all.into_iter().filter_map(|(option, path)| Some((option, path.as_ref()?))).collect()
    }
}

/// Adapts the options that all jobs share to `pairwave cluster`.
fn as_in_cluster(arg: Arg) -> Arg {
    match arg.get_id().as_str() {
        "output" => with_first_paragraph(
            arg,
            "Write the table of clusters to this file [default: standard output, unless another output is named]; \
             compressed if the name ends in .gz, .zst, .xz or .bz2",
        ),
        "strand" => with_more_help(
            arg,
            "'minus' alone is refused, because identical sequences are always joined as they were read.",
        ),
        "query_cov" => with_first_paragraph(
            arg,
            "Cluster sequences whose alignment covers at least this fraction of the later sequence of a pair (in the \
             order of abundance), usually the member",
        ),
        "target_cov" => with_first_paragraph(
            arg,
            "Cluster sequences whose alignment covers at least this fraction of the earlier sequence of a pair (in \
             the order of abundance), usually the centroid",
        ),
        "min_cov" => with_first_paragraph(
            arg,
            "Cluster sequences whose alignment covers at least this fraction of both sequences, from 0 to 1",
        ),
        "min_score" => with_first_paragraph(arg, "Treat pairs with a lower score as below the threshold"),
        "check" => {
            with_first_paragraph(arg, "Rescore every alignment, and verify that no two centroids reach the threshold")
        }
        _ => arg,
    }
}

const EXAMPLES: &str = "\
Columns of the table: cluster (numbered from 0), member, role (centroid, member, or identical to \
the centroid), identity with the centroid, strand and size. With several thresholds, the first \
column is the threshold.

Examples:
  Cluster 16S genes at 97% identity:
    pairwave cluster genes.fa --min-identity 0.97 -o clusters.tsv
  Make OTUs of amplicons with names such as read1;sample=A;size=3:
    pairwave cluster amplicons.fa --min-identity 0.97 --centroids otus.fa --otu-table otus.tsv
  Write clusters at three thresholds for mothur:
    pairwave cluster genes.fa --min-identity 0.99,0.97,0.95 --method average --mothur-list genes.list
  Cluster proteins by local alignments:
    pairwave cluster proteins.fa --mode local --min-identity 0.3 --cov 0.8 --clstr proteins.clstr";

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ClusterMethodName {
    /// Sequences by decreasing abundance become centroids unless one is near; each other sequence
    /// joins the most similar centroid
    #[default]
    #[value(alias = "centroid", alias = "cluster_size")]
    Greedy,
    /// A sequence joins a cluster if it is similar to one member
    #[value(alias = "nearest")]
    Single,
    /// All pairs in a cluster are similar
    #[value(alias = "furthest")]
    Complete,
    /// The mean identity of the pairs of merged clusters reaches the threshold; pairs below it count
    /// as 0
    #[value(alias = "upgma")]
    Average,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum CoverageModeName {
    /// Both sequences (MMseqs2's mode 0, CD-HIT's -aL)
    #[default]
    #[value(aliases = ["0", "aL", "longer"])]
    Both,
    /// The earlier sequence in the order of abundance, usually the centroid (MMseqs2's mode 1)
    #[value(aliases = ["1", "centroid"])]
    Target,
    /// The later sequence, usually the member (MMseqs2's mode 2)
    #[value(aliases = ["2", "member"])]
    Query,
    /// The shorter sequence (CD-HIT's -aS)
    #[value(aliases = ["aS"])]
    Shorter,
}
