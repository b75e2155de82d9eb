//! Arguments of `pairwave plan`, `run` and `merge`.

use crate::cli::args::allpairs::AllPairsArgs;
use crate::cli::args::cluster::{ClusterArgs, ClusterFilesArgs};
use crate::cli::args::edit::EditArgs;
use crate::cli::args::headings::OUTPUT;
use crate::cli::args::long::LongArgs;
use crate::cli::args::machine::{ComputeArgs, ThreadsArgs};
use crate::cli::args::msa::{DistArgs, MsaArgs, TreeArgs};
use crate::cli::args::output::OutputArgs;
use crate::cli::args::pairs::PairsArgs;
use crate::cli::args::papara::PaparaArgs;
use crate::cli::args::search::{HitSequencesArgs, SearchArgs};
use clap::{Arg, Command, Subcommand, ValueHint};
use std::path::PathBuf;

const BLOCKS: &str = "Blocks";

/// Split a job into blocks that several machines compute with 'pairwave run'
///
/// The options of the job are the same as without 'plan' (see 'pairwave allpairs --help'), with two
/// exceptions: 'pairwave run' takes the options that select devices, and 'pairwave merge' takes the
/// options that name output files. The merged output is byte for byte the output of the job on one
/// machine, whichever machines compute the blocks in whichever order. All machines must be able to
/// read the directory of blocks and the input. The input must not change until the results are
/// merged.
#[derive(Debug, clap::Args)]
#[command(override_usage = "pairwave plan [OPTIONS] <JOB> [OPTIONS OF THE JOB] --output <DIRECTORY>")]
#[command(subcommand_value_name = "JOB", subcommand_help_heading = "Jobs", after_long_help = PLAN_EXAMPLES)]
#[command(mut_subcommands(as_in_plan))]
pub(crate) struct PlanArgs {
    #[command(subcommand)]
    pub job: BlockJob,

    /// Size blocks so that the fastest device of --speed takes about this long [default: 30 s]
    #[arg(long, value_name = "SECONDS", help_heading = BLOCKS, global = true, allow_negative_numbers = true)]
    pub block_seconds: Option<f64>,

    /// Assume devices of this speed in cells per second, as in 2T, 2T,100G or 8x2T [default: 500G]
    ///
    /// G is 10^9 and T is 10^12. A cell is an entry of the alignment matrix; 'pairwave devices
    /// --bench' measures the speed of each device. The speed determines the size of the blocks and
    /// the time that --dry-run predicts. Any device can compute the blocks.
    #[arg(long, value_name = "CELLS", help_heading = BLOCKS, global = true)]
    pub speed: Option<String>,

    /// Put this many cells into a block, as in 5T, instead of deriving it from --block-seconds and
    /// --speed
    #[arg(long, value_name = "CELLS", help_heading = BLOCKS, global = true)]
    pub block_cells: Option<String>,

    /// Make at most this many blocks, larger ones if necessary
    ///
    /// Slurm allows 1001 tasks in an array unless its administrator has changed the limit.
    #[arg(long, value_name = "N", help_heading = BLOCKS, global = true)]
    pub max_blocks: Option<usize>,

    /// Print the blocks and the expected time; write nothing
    #[arg(long, help_heading = BLOCKS, global = true)]
    pub dry_run: bool,
}

/// Job that can be split into blocks.
#[derive(Debug, Subcommand)]
pub(crate) enum BlockJob {
    Allpairs(Box<AllPairsArgs>),
    Cluster(Box<ClusterArgs>),
    Search(Box<SearchArgs>),
    Pairs(Box<PairsArgs>),
    Edit(Box<EditArgs>),
    Long(Box<LongArgs>),
    Papara(Box<PaparaArgs>),
    Msa(Box<MsaArgs>),
    Tree(Box<TreeArgs>),
    Dist(Box<DistArgs>),
}

impl BlockJob {
    /// Returns the value of `--output` as typed.
    pub(crate) fn into_output(self) -> Option<PathBuf> {
        let args = match self {
            BlockJob::Allpairs(args) => args.output,
            BlockJob::Cluster(args) => args.output,
            BlockJob::Search(args) => args.output,
            BlockJob::Pairs(args) => args.output,
            BlockJob::Edit(args) => args.output,
            BlockJob::Long(args) => args.output,
            BlockJob::Papara(args) => args.output,
            BlockJob::Msa(args) => args.output,
            BlockJob::Tree(args) => args.output,
            BlockJob::Dist(args) => args.output,
        };
        args.output
    }
}

/// Adapts a job to a command that runs jobs: extends the usage line of the command, and removes the
/// examples.
pub(super) fn as_job_of(command: &str, output: &str, job: Command) -> Command {
    let name = job.get_name();
    let inputs = match name {
        "allpairs" => "<SEQS> [OTHER]",
        "cluster" => "--min-identity <LIST> <SEQS>",
        "search" => "<QUERIES> <DB>",
        "pairs" => "<A> [B]",
        "edit" => "<PATTERNS> [TEXTS]",
        "long" => "<QUERY> <TARGET>",
        "papara" => "-t <FILE> -s <FILE> -q <FILE>",
        _ => "<SEQS>",
    };
    let usage = format!("{command} {name} [OPTIONS] {inputs} {output}");
    job.override_usage(usage).after_long_help("")
}

/// Adapts a job to `pairwave plan`.
fn as_in_plan(job: Command) -> Command {
    as_job_of("pairwave plan", "-o <DIRECTORY>", job.mut_args(adapt_option_to_plan))
}

/// Options of a job that belong to `pairwave run` or `pairwave merge` once the job is split.
const ELSEWHERE: [&str; 28] = [
    "device",
    "memory",
    "threads",
    "stats",
    "kernel",
    "tune",
    "table",
    "jplace",
    "run_name",
    "tree_out",
    "checkpoint",
    "guidetree_out",
    "distmat_out",
    "report",
    "plot",
    "uc",
    "centroids",
    "clusters",
    "otu_table",
    "biom",
    "mothur_list",
    "shared",
    "clstr",
    "pairs_out",
    "pair_memory",
    "hits_fasta",
    "hit_part",
    "flank",
];

/// Adapts an option of a job to `pairwave plan`.
fn adapt_option_to_plan(option: Arg) -> Arg {
    match option.get_id().as_str() {
        "output" => option
            .value_name("DIRECTORY")
            .help("Write the blocks to this directory; it is created if missing")
            .long_help(None),
        id if ELSEWHERE.contains(&id) => option.hide(true),
        _ => option,
    }
}

/// Compute the blocks of a planned job
///
/// Without --block, --blocks, --share or --next, computes every block that no other process is
/// computing. Any number of these commands may run at once, on any machines, and each may be killed
/// at any time: finished blocks are kept, and another run computes the rest. A run skips the blocks
/// that other processes are computing. It takes over a block whose process has ended or has been
/// silent for two minutes.
#[derive(Debug, clap::Args)]
#[command(override_usage = "pairwave run [OPTIONS] <DIRECTORY>", after_long_help = RUN_EXAMPLES)]
pub(crate) struct RunArgs {
    /// Directory made by 'pairwave plan'
    #[arg(value_hint = ValueHint::DirPath)]
    pub directory: PathBuf,

    /// Compute this block, counted from 0; a finished block is not computed again
    #[arg(long, value_name = "K", help_heading = BLOCKS, group = "which")]
    pub block: Option<usize>,

    /// Compute the blocks from A to B, both included
    #[arg(long, value_name = "A-B", help_heading = BLOCKS, group = "which")]
    pub blocks: Option<String>,

    /// Compute share I, counted from 0, of N shares of adjacent blocks
    #[arg(long, value_name = "I/N", help_heading = BLOCKS, group = "which")]
    pub share: Option<String>,

    /// Compute up to this many unfinished, unclaimed blocks [default: all]
    ///
    /// Blocks that failed on this machine before come last.
    #[arg(long, value_name = "N", help_heading = BLOCKS, group = "which", num_args = 0..=1, require_equals = true)]
    pub next: Option<Option<usize>>,

    /// Print which blocks are done, running, failed or missing; compute nothing
    #[arg(long, help_heading = BLOCKS, group = "which")]
    pub status: bool,

    /// Print the unfinished, unclaimed blocks as indices for a Slurm array; compute nothing
    #[arg(long, help_heading = BLOCKS, group = "which")]
    pub missing: bool,

    #[command(flatten)]
    pub compute: ComputeArgs,
}

/// Merge the results of all blocks into the output of the job
///
/// The output is byte for byte the output of the job on one machine. If a block is missing or
/// damaged, the command names it and writes nothing.
#[derive(Debug, clap::Args)]
#[command(override_usage = "pairwave merge [OPTIONS] <DIRECTORY>", after_long_help = MERGE_EXAMPLES)]
pub(crate) struct MergeArgs {
    /// Directory made by 'pairwave plan'; it may be deleted afterwards
    #[arg(value_hint = ValueHint::DirPath)]
    pub directory: PathBuf,

    #[command(flatten)]
    pub output: OutputArgs,

    /// Write a table of the reads to this file, as 'pairwave papara --table' does; papara only
    #[arg(long, value_name = "FILE", help_heading = OUTPUT, value_hint = ValueHint::FilePath)]
    pub table: Option<PathBuf>,

    /// Write the best edges of the reads to this file, as 'pairwave papara --jplace' does; papara
    /// only
    #[arg(long, value_name = "FILE", help_heading = OUTPUT, value_hint = ValueHint::FilePath)]
    pub jplace: Option<PathBuf>,

    /// Write the tree with numbered edges to this file; papara only
    #[arg(long, value_name = "FILE", help_heading = OUTPUT, value_hint = ValueHint::FilePath)]
    pub tree_out: Option<PathBuf>,

    /// Write the guide tree to this file; msa only
    #[arg(long, value_name = "FILE", help_heading = OUTPUT, value_hint = ValueHint::FilePath)]
    pub guidetree_out: Option<PathBuf>,

    /// Write the distances to this file; msa only
    #[arg(long, value_name = "FILE", help_heading = OUTPUT, value_hint = ValueHint::FilePath)]
    pub distmat_out: Option<PathBuf>,

    #[command(flatten)]
    pub clusters: ClusterFilesArgs,

    /// Write an HTML page of the results to this file; search, long, msa and cluster
    /// only
    #[arg(long, value_name = "FILE", help_heading = OUTPUT, value_hint = ValueHint::FilePath)]
    pub report: Option<PathBuf>,

    #[command(flatten)]
    pub sequences: HitSequencesArgs,

    /// Draw a dot plot, tree or heat map to this .svg or .png file; long, tree, dist and cluster
    /// only
    #[arg(long, value_name = "FILE", help_heading = OUTPUT, value_hint = ValueHint::FilePath)]
    pub plot: Option<PathBuf>,

    /// Write statistics of the merge to this JSON file
    #[arg(long, value_name = "FILE", help_heading = OUTPUT, value_hint = ValueHint::FilePath)]
    pub stats: Option<PathBuf>,

    #[command(flatten)]
    pub threads: ThreadsArgs,
}

const PLAN_EXAMPLES: &str = "\
Examples:
  Make blocks of about a minute each on a GPU of 2 TCUPS, at most as many as a Slurm array has tasks:
    pairwave plan allpairs genes.fa --min-identity 0.97 -o work --speed 2T --block-seconds 60 --max-blocks 1001
  Predict the time on eight such GPUs and a slower one:
    pairwave plan allpairs genes.fa --min-identity 0.97 --speed 8x2T,100G --dry-run";

const RUN_EXAMPLES: &str = "\
Examples:
  Compute everything that is left, on each machine that runs this command:
    pairwave run work
  Compute one block per task of a Slurm array, or one of 16 shares of the blocks:
    pairwave run work --block $SLURM_ARRAY_TASK_ID
    pairwave run work --share $SLURM_ARRAY_TASK_ID/16
  Show the progress, and submit a Slurm array of the missing blocks:
    pairwave run work --status
    sbatch --array=$(pairwave run work --missing) array.sh";

const MERGE_EXAMPLES: &str = "\
Example:
  Write the table that 'pairwave allpairs' would have written:
    pairwave merge work -o pairs.tsv.gz";
