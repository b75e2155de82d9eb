//! What was typed after `pairwave plan`, `run` and `merge`.

use crate::cli::args::allpairs::AllPairsArgs;
use crate::cli::args::edit::EditArgs;
use crate::cli::args::headings::OUTPUT;
use crate::cli::args::machine::{ComputeArgs, ThreadsArgs};
use crate::cli::args::msa::{DistArgs, MsaArgs, TreeArgs};
use crate::cli::args::output::OutputArgs;
use crate::cli::args::pairs::PairsArgs;
use crate::cli::args::papara::PaparaArgs;
use crate::cli::args::search::SearchArgs;
use clap::{Arg, Command, Subcommand, ValueHint};
use std::path::PathBuf;

const BLOCKS: &str = "Blocks";

/// Cut a job into blocks for several machines: 'pairwave run' computes them, 'pairwave merge' puts their rows together
///
/// The options of the job are its own ('pairwave allpairs --help'), but for who computes, which 'pairwave run' is told, and where
/// results go, which 'pairwave merge' is told. What is written in the end is what the job writes on one machine, to the byte,
/// whoever computed which block when. The directory, and the input, have to be where all machines can read them; the input
/// must not change until the rows are merged.
#[derive(Debug, clap::Args)]
#[command(override_usage = "pairwave plan [OPTIONS] <JOB> [OPTIONS OF THE JOB] --output <DIRECTORY>")]
#[command(subcommand_value_name = "JOB", subcommand_help_heading = "Jobs", after_long_help = PLAN_EXAMPLES)]
#[command(mut_subcommands(as_in_plan))]
pub(crate) struct PlanArgs {
    #[command(subcommand)]
    pub job: BlockJob,

    /// How long a block is computed, about, by a device of the speed of --speed: the fastest of them [default: 30]
    #[arg(long, value_name = "SECONDS", help_heading = BLOCKS, global = true, allow_negative_numbers = true)]
    pub block_seconds: Option<f64>,

    /// Cells of the devices' matrices a second, as 'pairwave devices --bench' has them: 2T, or several as in 2T,100G or 8x2T
    /// [default: 500G]
    ///
    /// G is 10^9, T is 10^12. The blocks are the same for any devices: this says how large they are, and with --dry-run what
    /// time is expected.
    #[arg(long, value_name = "CELLS", help_heading = BLOCKS, global = true)]
    pub speed: Option<String>,

    /// Cells in a block, as in 5T, instead of what follows from --block-seconds and --speed
    #[arg(long, value_name = "CELLS", help_heading = BLOCKS, global = true)]
    pub block_cells: Option<String>,

    /// Make so many blocks at most, larger ones if need be: an array of Slurm has 1001 tasks if its administrator did not
    /// say otherwise
    #[arg(long, value_name = "N", help_heading = BLOCKS, global = true)]
    pub max_blocks: Option<usize>,

    /// Say what blocks there would be, and what time they would take, and write nothing
    #[arg(long, help_heading = BLOCKS, global = true)]
    pub dry_run: bool,
}

/// A job that can be cut.
#[derive(Debug, Subcommand)]
pub(crate) enum BlockJob {
    Allpairs(Box<AllPairsArgs>),
    Search(Box<SearchArgs>),
    Pairs(Box<PairsArgs>),
    Edit(Box<EditArgs>),
    Papara(Box<PaparaArgs>),
    Msa(Box<MsaArgs>),
    Tree(Box<TreeArgs>),
    Dist(Box<DistArgs>),
}

impl BlockJob {
    /// Returns what was typed for `--output`.
    pub(crate) fn into_output(self) -> Option<PathBuf> {
        let args = match self {
            BlockJob::Allpairs(args) => args.output,
            BlockJob::Search(args) => args.output,
            BlockJob::Pairs(args) => args.output,
            BlockJob::Edit(args) => args.output,
            BlockJob::Papara(args) => args.output,
            BlockJob::Msa(args) => args.output,
            BlockJob::Tree(args) => args.output,
            BlockJob::Dist(args) => args.output,
        };
        args.output
    }
}

/// Returns a job as a command that runs jobs has it: its usage follows that of the command, and it has no
/// examples.
pub(super) fn as_job_of(command: &str, output: &str, job: Command) -> Command {
    let name = job.get_name();
    let inputs = match name {
        "allpairs" => "<SEQS> [OTHER]",
        "search" => "<QUERIES> <DB>",
        "pairs" => "<A> [B]",
        "edit" => "<PATTERNS> [TEXTS]",
        "papara" => "-t <FILE> -s <FILE> -q <FILE>",
        _ => "<SEQS>",
    };
    let usage = format!("{command} {name} [OPTIONS] {inputs} {output}");
    job.override_usage(usage).after_long_help("")
}

/// Returns a job as `pairwave plan` has it.
fn as_in_plan(job: Command) -> Command {
    as_job_of("pairwave plan", "-o <DIRECTORY>", job.mut_args(of_plan))
}

/// Options that another command of a job in blocks has.
const ELSEWHERE: [&str; 12] = [
    "device",
    "memory",
    "threads",
    "stats",
    "kernel",
    "tune",
    "table",
    "tree_out",
    "checkpoint",
    "guidetree_out",
    "distmat_out",
    "report",
];

/// The option of a job as `pairwave plan` has it.
fn of_plan(option: Arg) -> Arg {
    match option.get_id().as_str() {
        "output" => option.value_name("DIRECTORY").help("Directory for the blocks; it is made if there is none"),
        id if ELSEWHERE.contains(&id) => option.hide(true),
        _ => option,
    }
}

/// Compute blocks of a job that was planned
///
/// Without --block, --blocks, --share or --next it computes all that nobody else computes. Any number of these may run at
/// once, on any machines, and any of them may be killed: what was finished stays, and another run does the rest. A block that
/// another process computes is left to it; one whose process is gone, or was silent for two minutes, is taken over.
#[derive(Debug, clap::Args)]
#[command(override_usage = "pairwave run [OPTIONS] <DIRECTORY>", after_long_help = RUN_EXAMPLES)]
pub(crate) struct RunArgs {
    /// The directory that 'pairwave plan' made
    #[arg(value_hint = ValueHint::DirPath)]
    pub directory: PathBuf,

    /// Compute this block: they count from 0. One that is done is left as it is
    #[arg(long, value_name = "K", help_heading = BLOCKS, group = "which")]
    pub block: Option<usize>,

    /// Compute these blocks, first and last
    #[arg(long, value_name = "A-B", help_heading = BLOCKS, group = "which")]
    pub blocks: Option<String>,

    /// Compute share I, counted from 0, of N shares of neighbouring blocks
    #[arg(long, value_name = "I/N", help_heading = BLOCKS, group = "which")]
    pub share: Option<String>,

    /// Compute so many blocks that are not done and that nobody computes [default: as many as there are]
    ///
    /// Those that failed on this machine before are tried last.
    #[arg(long, value_name = "N", help_heading = BLOCKS, group = "which", num_args = 0..=1, require_equals = true)]
    pub next: Option<Option<usize>>,

    /// Say what is done, computed now, failed and missing, and compute nothing
    #[arg(long, help_heading = BLOCKS, group = "which")]
    pub status: bool,

    /// List the blocks without a result that nobody computes, as Slurm takes the indices of an array, and compute nothing
    #[arg(long, help_heading = BLOCKS, group = "which")]
    pub missing: bool,

    #[command(flatten)]
    pub compute: ComputeArgs,
}

/// Put the rows of all blocks of a job together
///
/// What is written is what the job writes on one machine, to the byte. If a block is missing or damaged, it is named, and
/// nothing is written.
#[derive(Debug, clap::Args)]
#[command(override_usage = "pairwave merge [OPTIONS] <DIRECTORY>", after_long_help = MERGE_EXAMPLES)]
pub(crate) struct MergeArgs {
    /// The directory that 'pairwave plan' made. It may be deleted afterwards
    #[arg(value_hint = ValueHint::DirPath)]
    pub directory: PathBuf,

    #[command(flatten)]
    pub output: OutputArgs,

    /// Of papara: write a table of the reads to this file, as 'pairwave papara --table' does
    #[arg(long, value_name = "FILE", help_heading = OUTPUT, value_hint = ValueHint::FilePath)]
    pub table: Option<PathBuf>,

    /// Of papara: write the tree to this file, with the numbers of its edges
    #[arg(long, value_name = "FILE", help_heading = OUTPUT, value_hint = ValueHint::FilePath)]
    pub tree_out: Option<PathBuf>,

    /// Of msa: write the guide tree to this file
    #[arg(long, value_name = "FILE", help_heading = OUTPUT, value_hint = ValueHint::FilePath)]
    pub guidetree_out: Option<PathBuf>,

    /// Of msa: write the distances to this file
    #[arg(long, value_name = "FILE", help_heading = OUTPUT, value_hint = ValueHint::FilePath)]
    pub distmat_out: Option<PathBuf>,

    /// Of search and msa: write a page for people to this file
    #[arg(long, value_name = "FILE", help_heading = OUTPUT, value_hint = ValueHint::FilePath)]
    pub report: Option<PathBuf>,

    /// Write what was merged to this file as JSON. The file appears when it is whole
    #[arg(long, value_name = "FILE", help_heading = OUTPUT, value_hint = ValueHint::FilePath)]
    pub stats: Option<PathBuf>,

    #[command(flatten)]
    pub threads: ThreadsArgs,
}

const PLAN_EXAMPLES: &str = "\
Examples:
  Blocks that take about a minute each on a GPU of 2 TCUPS, not more than an array of Slurm has tasks:
    pairwave plan allpairs genes.fa --min-identity 0.97 -o work --speed 2T --block-seconds 60 --max-blocks 1001
  What that would take on eight such GPUs and one of another kind:
    pairwave plan allpairs genes.fa --min-identity 0.97 --speed 8x2T,100G --dry-run";

const RUN_EXAMPLES: &str = "\
Examples:
  Everything that is left, on every machine that this is started on:
    pairwave run work
  The tasks of an array of Slurm, one block each, or the job's blocks in 16 shares:
    pairwave run work --block $SLURM_ARRAY_TASK_ID
    pairwave run work --share $SLURM_ARRAY_TASK_ID/16
  How far it is, and an array of what is missing:
    pairwave run work --status
    sbatch --array=$(pairwave run work --missing) array.sh";

const MERGE_EXAMPLES: &str = "\
Example:
  The table that 'pairwave allpairs' would have written:
    pairwave merge work -o pairs.tsv.gz";
