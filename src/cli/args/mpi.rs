//! What was typed after `pairwave mpi`.

use crate::cli::args::blocks::{BlockJob, as_job_of};
use clap::{Command, ValueEnum, ValueHint};
use std::path::PathBuf;

const RANKS: &str = "Ranks";

/// Run a job on many machines by MPI: 'mpirun -n RANKS pairwave mpi JOB ...'
///
/// The options of the job are its own ('pairwave allpairs --help'), and what is written is what it writes on one machine, to the
/// byte. Ranks of one machine share its GPUs and processors: one GPU each if there are as many, or all for one rank. Rank 0 hands
/// out blocks of the job, to faster ranks more of them, and computes as well. Finished blocks are kept in a directory until the
/// output is there: after the death of a rank, which ends an MPI job, --resume goes on from them.
#[derive(Debug, clap::Args)]
#[command(override_usage = "mpirun -n <RANKS> pairwave mpi [OPTIONS] <JOB> [OPTIONS OF THE JOB] --output <FILE>")]
#[command(subcommand_value_name = "JOB", subcommand_help_heading = "Jobs", after_long_help = MPI_EXAMPLES)]
#[command(mut_subcommands(as_in_mpi))]
pub(crate) struct MpiArgs {
    #[command(subcommand)]
    pub job: BlockJob,

    /// Directory for finished blocks [default: the output's name with .pairwave behind it]
    ///
    /// It is removed when the output is there.
    #[arg(long, value_name = "DIRECTORY", help_heading = RANKS, global = true, value_hint = ValueHint::DirPath)]
    pub work: Option<PathBuf>,

    /// Go on from the blocks that an earlier run has finished
    #[arg(long, help_heading = RANKS, global = true)]
    pub resume: bool,

    /// Keep the directory of blocks
    #[arg(long, help_heading = RANKS, global = true)]
    pub keep: bool,

    /// How ranks come by the input
    #[arg(long, value_name = "HOW", help_heading = RANKS, global = true, value_enum, default_value_t)]
    pub input: InputName,

    /// How finished blocks come to the directory
    #[arg(long, value_name = "HOW", help_heading = RANKS, global = true, value_enum, default_value_t)]
    pub results: ResultsName,

    /// GPUs of a rank: a number, or 'all' that its machine has [default: those of a machine are dealt out to its ranks]
    ///
    /// They are dealt out by PCI bus id to the ranks of a machine as these are numbered. Where there are fewer, ranks share them.
    #[arg(long, value_name = "N", help_heading = RANKS, global = true)]
    pub gpus_per_rank: Option<String>,

    /// Say what ranks and blocks there would be, what bytes, and what time they would take, and write nothing
    ///
    /// A GPU is thought to compute 2 T cells a second and a CPU's thread 3 G: measure with a small job.
    #[arg(long, help_heading = RANKS, global = true)]
    pub dry_run: bool,

    /// How long a block is computed, about, by a rank; less if there would be few for each rank [default: 5]
    #[arg(long, value_name = "SECONDS", help_heading = RANKS, global = true, allow_negative_numbers = true)]
    pub block_seconds: Option<f64>,

    /// Cells in a block, as in 5T, instead of what follows from --block-seconds
    #[arg(long, value_name = "CELLS", help_heading = RANKS, global = true)]
    pub block_cells: Option<String>,
}

/// How ranks come by the input.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum InputName {
    /// Each reads the files, which are where all machines can read them
    #[default]
    Shared,
    /// Rank 0 reads the files and sends them to all others
    Broadcast,
}

/// How finished blocks come to the directory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ResultsName {
    /// Each rank writes its own: the directory is where all machines can write
    #[default]
    Shared,
    /// Rank 0 writes what the others send to it
    Gather,
}

/// Returns a job as `pairwave mpi` has it.
fn as_in_mpi(job: Command) -> Command {
    let job = match job.get_name() {
        "papara" => job.mut_arg("checkpoint", |option| option.hide(true)),
        _ => job,
    };
    as_job_of("mpirun -n <RANKS> pairwave mpi", "-o <FILE>", job)
}

const MPI_EXAMPLES: &str = "\
Examples:
  Four machines, one rank each with all of its GPUs:
    mpirun -n 4 --map-by ppr:1:node --bind-to none pairwave mpi allpairs genes.fa --min-identity 0.97 -o pairs.tsv
  The same after a machine went down:
    mpirun -n 3 --map-by ppr:1:node --bind-to none pairwave mpi allpairs genes.fa --min-identity 0.97 -o pairs.tsv --resume
  Machines that have no directory in common:
    mpirun -n 4 pairwave mpi --input broadcast --results gather allpairs genes.fa -o pairs.tsv";
