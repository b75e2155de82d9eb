//! What was typed after `pairwave msa`, `pairwave tree` and `pairwave dist`.

use crate::cli::args::allpairs::ShapeName;
use crate::cli::args::headings::{OUTPUT, SCORING};
use crate::cli::args::input::LettersArgs;
use crate::cli::args::machine::ComputeArgs;
use crate::cli::args::output::OutputArgs;
use clap::{ValueEnum, ValueHint};
use std::path::PathBuf;

const DISTANCES: &str = "Distances and guide tree";

/// Align many sequences with each other: distances, guide tree, progressive alignment
///
/// With --mode clustalw the result is that of ClustalW 2.1. The default, --mode accurate, aligns by the probabilities that residues
/// belong together, made consistent over all sequences, and takes longer. Neither depends on the devices that compute.
#[derive(Debug, clap::Args, Default)]
#[command(override_usage = "pairwave msa [OPTIONS] <SEQS>", after_long_help = MSA_EXAMPLES)]
pub(crate) struct MsaArgs {
    #[command(flatten)]
    pub input: SequencesArgs,

    /// How sequences are aligned
    #[arg(long, value_name = "MODE", value_enum, ignore_case = true, default_value_t)]
    pub mode: MsaModeName,

    #[command(flatten)]
    pub distances: DistanceArgs,

    /// Guide tree to align by instead of making one: Newick, its leaves named as the sequences are
    #[arg(long, value_name = "FILE", help_heading = DISTANCES, value_hint = ValueHint::FilePath)]
    pub guidetree_in: Option<PathBuf>,

    /// Write the guide tree to this file, in ClustalW's form of Newick (.dnd)
    #[arg(long, value_name = "FILE", help_heading = DISTANCES, value_hint = ValueHint::FilePath)]
    pub guidetree_out: Option<PathBuf>,

    /// Write the distances to this file as a PHYLIP matrix
    #[arg(long, value_name = "FILE", help_heading = DISTANCES, value_hint = ValueHint::FilePath)]
    pub distmat_out: Option<PathBuf>,

    #[command(flatten)]
    pub pairs: PairScoringArgs,

    #[command(flatten)]
    pub scoring: ProfileScoringArgs,

    #[command(flatten)]
    pub output: OutputArgs,

    /// What to write [default: by the ending of --output (.aln .phy .sto .msf .nex), else fasta]
    #[arg(long, value_name = "FORMAT", help_heading = OUTPUT, value_enum, ignore_case = true)]
    pub format: Option<MsaFormatName>,

    /// Order of the rows
    #[arg(long, alias = "outorder", value_name = "ORDER", help_heading = OUTPUT, value_enum, ignore_case = true)]
    #[arg(default_value_t)]
    pub order: RowOrderName,

    /// Write a page to this file that shows the alignment in colour, its conservation and the tree: HTML, self-contained
    #[arg(long, value_name = "FILE", help_heading = OUTPUT, value_hint = ValueHint::FilePath)]
    pub report: Option<PathBuf>,

    #[command(flatten)]
    pub compute: ComputeArgs,
}

/// Make a tree of sequences: neighbour joining or UPGMA
///
/// Sequences that are aligned (rows of equal length with gaps) are compared column by column, others pair by pair as --distance
/// says.
#[derive(Debug, clap::Args, Default)]
#[command(override_usage = "pairwave tree [OPTIONS] <SEQS>", after_long_help = TREE_EXAMPLES)]
pub(crate) struct TreeArgs {
    #[command(flatten)]
    pub input: SequencesArgs,

    #[command(flatten)]
    pub columns: ColumnArgs,

    #[command(flatten)]
    pub distances: DistanceArgs,

    #[command(flatten)]
    pub pairs: PairScoringArgs,

    /// Draw the columns of the alignment anew so many times, and write at each branch how often its groups came out, as ClustalW
    #[arg(long, value_name = "N", help_heading = DISTANCES, requires = "aligned")]
    pub bootstrap: Option<u32>,

    /// What the random numbers of --bootstrap begin with: ClustalW's draws the same columns
    #[arg(long, value_name = "NUMBER", help_heading = DISTANCES, default_value_t = 111, requires = "bootstrap")]
    pub seed: u32,

    /// Where the numbers of --bootstrap stand: as names of the nodes, or behind the lengths of branches, as ClustalW has them
    #[arg(long, value_name = "WHERE", help_heading = DISTANCES, value_enum, ignore_case = true, default_value_t)]
    #[arg(requires = "bootstrap")]
    pub labels: LabelsName,

    #[command(flatten)]
    pub output: OutputArgs,

    #[command(flatten)]
    pub compute: ComputeArgs,
}

/// Write the distances of all pairs of sequences as a matrix
///
/// 'pairwave allpairs' has more to say of each pair.
#[derive(Debug, clap::Args, Default)]
#[command(override_usage = "pairwave dist [OPTIONS] <SEQS>", after_long_help = DIST_EXAMPLES)]
pub(crate) struct DistArgs {
    #[command(flatten)]
    pub input: SequencesArgs,

    #[command(flatten)]
    pub columns: ColumnArgs,

    /// What a distance is [default: clustal]
    #[arg(long, value_name = "DISTANCE", value_enum, ignore_case = true)]
    pub distance: Option<PairDistanceName>,

    #[command(flatten)]
    pub pairs: PairScoringArgs,

    /// What to write
    #[arg(long, value_name = "FORMAT", help_heading = OUTPUT, value_enum, ignore_case = true, default_value_t)]
    pub format: DistanceFormatName,

    /// Shape of the matrix [default: square]
    #[arg(long, value_name = "SHAPE", help_heading = OUTPUT, value_enum, ignore_case = true)]
    pub matrix_shape: Option<ShapeName>,

    #[command(flatten)]
    pub output: OutputArgs,

    #[command(flatten)]
    pub compute: ComputeArgs,
}

// Not a comment of documentation: clap would make it that of the command.
// What is read: the same for the three.
#[derive(Debug, Clone, clap::Args, Default)]
pub(crate) struct SequencesArgs {
    /// Sequences: FASTA or FASTQ, plain or compressed (gz, bz2, xz, zst); - is standard input
    #[arg(value_hint = ValueHint::FilePath)]
    pub seqs: PathBuf,

    #[command(flatten)]
    pub letters: LettersArgs,
}

// As above.
// How rows of an alignment are compared: the same for the tree and the distances.
#[derive(Debug, Clone, clap::Args, Default)]
pub(crate) struct ColumnArgs {
    /// The sequences are an alignment: FASTA, PHYLIP, Stockholm, Clustal, MSF or NEXUS. Its columns are compared, and nothing is
    /// aligned
    #[arg(long)]
    pub aligned: bool,

    /// Leave out columns in which a row has a gap
    #[arg(long, alias = "toss-gaps", alias = "tossgaps", help_heading = DISTANCES, requires = "aligned")]
    pub no_gap_columns: bool,

    /// Correct distances for residues that changed more than once, by Kimura's formulas as ClustalW has them
    #[arg(long, help_heading = DISTANCES, requires = "aligned")]
    pub kimura: bool,
}

// As above.
// From sequences to a tree.
#[derive(Debug, Clone, clap::Args, Default)]
pub(crate) struct DistanceArgs {
    /// What the distance of two sequences is [default: clustal, or what --mode accurate computes anyway]
    #[arg(long, value_name = "DISTANCE", help_heading = DISTANCES, value_enum, ignore_case = true)]
    pub distance: Option<PairDistanceName>,

    /// How the tree is made of the distances [default: nj]
    #[arg(long, alias = "clustering", value_name = "METHOD", help_heading = DISTANCES, value_enum, ignore_case = true)]
    pub tree: Option<TreeMethodName>,
}

// As above.
// What ClustalW's distances are computed with.
#[derive(Debug, Clone, clap::Args, Default)]
pub(crate) struct PairScoringArgs {
    /// Matrix of --distance clustal: gonnet, blosum, pam, id, iub, clustalw or a file in NCBI's format [default: gonnet for
    /// proteins, iub for nucleotides]
    #[arg(long, value_name = "NAME|FILE", help_heading = DISTANCES, value_hint = ValueHint::FilePath)]
    pub pair_matrix: Option<PathBuf>,

    /// What opening a gap costs there [default: 10 for proteins, 15 for nucleotides]
    #[arg(long, value_name = "COST", help_heading = DISTANCES, allow_negative_numbers = true)]
    pub pair_gap_open: Option<f32>,

    /// What extending it costs there [default: 0.1 for proteins, 6.66 for nucleotides]
    #[arg(long, value_name = "COST", help_heading = DISTANCES, allow_negative_numbers = true)]
    pub pair_gap_extend: Option<f32>,
}

// As above.
// What each mode computes with.
#[derive(Debug, Clone, clap::Args, Default)]
pub(crate) struct ProfileScoringArgs {
    /// Matrices of --mode clustalw: gonnet, blosum, pam, id, iub, clustalw or a file in NCBI's format [default: gonnet for
    /// proteins, iub for nucleotides]
    #[arg(long, value_name = "NAME|FILE", help_heading = SCORING, value_hint = ValueHint::FilePath)]
    pub matrix: Option<PathBuf>,

    /// What opening a gap costs with --mode clustalw, before it is scaled as ClustalW does [default: 10 for proteins, 15 for
    /// nucleotides]
    #[arg(long, value_name = "COST", help_heading = SCORING, allow_negative_numbers = true)]
    pub gap_open: Option<f32>,

    /// What extending it costs [default: 0.2 for proteins, 6.66 for nucleotides]
    #[arg(long, value_name = "COST", help_heading = SCORING, allow_negative_numbers = true)]
    pub gap_extend: Option<f32>,

    /// What a transition scores with --mode clustalw, as a share of a match [default: 0.5]
    #[arg(long, value_name = "SHARE", help_heading = SCORING, allow_negative_numbers = true)]
    pub transition_weight: Option<f32>,

    /// Columns from a gap within which opening another costs more, with --mode clustalw (proteins) [default: 4]
    #[arg(long, value_name = "COLUMNS", help_heading = SCORING)]
    pub gap_distance: Option<u16>,

    /// Residues in runs of which gaps cost less, with --mode clustalw; none for no such runs [default: GPSNDQEKR]
    #[arg(long, value_name = "LETTERS", help_heading = SCORING)]
    pub hydrophilic: Option<String>,

    /// Gaps cost the same beside all residues, with --mode clustalw
    #[arg(long, help_heading = SCORING)]
    pub no_residue_gaps: bool,

    /// Sequences that are not more alike than this to any other, in percent, are aligned last with --mode clustalw [default: 30]
    #[arg(long, value_name = "PERCENT", help_heading = SCORING)]
    pub delay: Option<u8>,

    /// Keep the negative scores of matrices, with --mode clustalw
    #[arg(long, help_heading = SCORING)]
    pub negative: bool,

    /// All sequences count the same, with --mode clustalw
    #[arg(long, help_heading = SCORING)]
    pub no_weights: bool,

    /// Take every sequence out and align it with the others anew, with --mode clustalw, and keep what ClustalW 2.1 takes for better
    #[arg(long, value_name = "WHAT", help_heading = SCORING, value_enum, ignore_case = true)]
    pub iterate: Option<IterateName>,

    /// Rounds of consistency of --mode accurate, 0 to 3 [default: 2]
    #[arg(long, value_name = "N", help_heading = SCORING)]
    pub consistency: Option<u32>,

    /// Cuts of the alignment of --mode accurate whose parts are joined anew, at most [default: 100]
    #[arg(long, value_name = "N", help_heading = SCORING)]
    pub refinements: Option<u32>,
}

const MSA_EXAMPLES: &str = "\
Examples:
  Align proteins, and look at the result in a browser:
    pairwave msa proteins.fa -o aligned.fa --report aligned.html
  What ClustalW writes, with its guide tree:
    pairwave msa genes.fa --mode clustalw --guidetree-out genes.dnd -o genes.aln
  Ten thousand genes by a tree of clusters of words:
    pairwave msa genes.fa.gz --mode clustalw --tree mbed -o aligned.fa.gz";

const TREE_EXAMPLES: &str = "\
Examples:
  The tree by which ClustalW would align:
    pairwave tree genes.fa -o genes.dnd
  A tree of an alignment with bootstrap values:
    pairwave tree --aligned aligned.fa --bootstrap 1000 -o genes.nwk";

const DIST_EXAMPLES: &str = "\
Examples:
  1 - identity, as ClustalW's first stage has it:
    pairwave dist genes.fa -o genes.phy
  Edit distances, divided by the length of the longer sequence:
    pairwave dist genes.fa --distance edit --matrix-shape lower";

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum MsaModeName {
    /// Posterior probabilities and their consistency; of very many sequences those of families, which are then joined
    #[default]
    Accurate,
    /// ClustalW 2.1's alignment
    #[value(alias = "clustal")]
    Clustalw,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum IterateName {
    /// In the alignment of every join of the guide tree
    Tree,
    /// In the alignment of all
    Alignment,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum LabelsName {
    /// As names of nodes
    #[default]
    #[value(alias = "node")]
    Nodes,
    /// In brackets behind the lengths of branches
    #[value(alias = "branch")]
    Branches,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum DistanceFormatName {
    /// PHYLIP's matrix, six decimals
    #[default]
    #[value(alias = "phy")]
    Phylip,
    /// ClustalW's, three decimals, eight to a line (.dst)
    #[value(alias = "dst", alias = "clustalw")]
    Clustal,
    /// A table with a line of names
    Tsv,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PairDistanceName {
    /// 1 - identities of ClustalW's full pairwise alignment / length of the shorter sequence
    Clustal,
    /// The same of the best global alignment under the scores of 'pairwave allpairs'
    Identity,
    /// Levenshtein distance / length of the longer sequence
    Edit,
    /// 1 - words that both have / words of the shorter sequence: fast, for very many sequences
    Kmer,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TreeMethodName {
    /// Neighbour joining, rooted where the leaves' mean distances balance, as in ClustalW
    #[value(alias = "neighbour-joining", alias = "neighbor-joining")]
    Nj,
    /// Means of clusters (UPGMA)
    Upgma,
    /// Clusters by the distances to some seeds, for more sequences than a matrix has room for (as mBed)
    Mbed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum MsaFormatName {
    /// Aligned FASTA
    #[value(alias = "fa", alias = "pearson")]
    Fasta,
    /// Clustal's blocks with the line of conservation
    #[value(alias = "clu", alias = "aln", alias = "clustalw")]
    Clustal,
    /// Relaxed, interleaved PHYLIP
    #[value(alias = "phy")]
    Phylip,
    /// Interleaved PHYLIP with names of ten characters
    PhylipStrict,
    /// Stockholm
    #[value(alias = "sto", alias = "st")]
    Stockholm,
    /// GCG's MSF
    #[value(alias = "gcg")]
    Msf,
    /// NEXUS
    #[value(alias = "nex")]
    Nexus,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum RowOrderName {
    /// As the sequences came
    #[default]
    Input,
    /// As they stand in the guide tree
    #[value(alias = "aligned")]
    Tree,
}
