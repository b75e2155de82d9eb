//! Arguments of `pairwave mpi`.

use crate::cli::args::blocks::{BlockJob, as_job_of};
use clap::{Command, ValueEnum, ValueHint};
use std::path::PathBuf;

const RANKS: &str = "Ranks";

/// Run a job on many machines with MPI: 'mpirun -n RANKS pairwave mpi JOB ...'
///
/// The options of the job are the same as without 'mpi' (see 'pairwave allpairs --help'). The
/// output is byte for byte the output of the job on one machine. The ranks of a machine share its
/// GPUs and processors: each rank gets one GPU if there are as many GPUs as ranks, and a single
/// rank gets all. Rank 0 distributes blocks of the job, more of them to faster ranks, and computes
/// as well. Finished blocks are kept in a directory until the output is complete. The death of a
/// rank ends an MPI job; --resume then continues from the finished blocks.
#[derive(Debug, clap::Args)]
#[command(override_usage = "mpirun -n <RANKS> pairwave mpi [OPTIONS] <JOB> [OPTIONS OF THE JOB] --output <FILE>")]
#[command(subcommand_value_name = "JOB", subcommand_help_heading = "Jobs", after_long_help = MPI_EXAMPLES)]
#[command(mut_subcommands(as_in_mpi))]
pub(crate) struct MpiArgs {
    #[command(subcommand)]
    pub job: BlockJob,

    /// Keep finished blocks in this directory [default: name of the output with .pairwave appended]
    ///
    /// The directory is removed when the output is complete.
    #[arg(long, value_name = "DIRECTORY", help_heading = RANKS, global = true, value_hint = ValueHint::DirPath)]
    pub work: Option<PathBuf>,

    /// Continue from the finished blocks of an earlier run
    #[arg(long, help_heading = RANKS, global = true)]
    pub resume: bool,

    /// Keep the directory of blocks
    #[arg(long, help_heading = RANKS, global = true)]
    pub keep: bool,

    /// Bring the input to the ranks this way
    #[arg(long, value_name = "HOW", help_heading = RANKS, global = true, value_enum, default_value_t)]
    pub input: InputName,

    /// Bring finished blocks to the directory this way
    #[arg(long, value_name = "HOW", help_heading = RANKS, global = true, value_enum, default_value_t)]
    pub results: ResultsName,

    /// Give each rank this many GPUs, or 'all' GPUs of its machine [default: the GPUs of a machine
    /// divided among its ranks]
    ///
    /// GPUs are assigned by PCI bus id, in the order of the ranks. Ranks share GPUs if there are
    /// too few.
    #[arg(long, value_name = "N", help_heading = RANKS, global = true)]
    pub gpus_per_rank: Option<String>,

    /// Print ranks, blocks, bytes and the expected time; write nothing
    ///
    /// The prediction assumes 2 T cells per second for a GPU (edit: 20 T, papara: 50 T) and 3 G for
    /// a CPU thread. Run a small job to measure the true speed.
    #[arg(long, help_heading = RANKS, global = true)]
    pub dry_run: bool,

    /// Size blocks so that a rank takes about this long, less if each rank would get few blocks
    /// [default: 5 s]
    #[arg(long, value_name = "SECONDS", help_heading = RANKS, global = true, allow_negative_numbers = true)]
    pub block_seconds: Option<f64>,

    /// Put this many cells into a block, as in 5T, instead of deriving it from --block-seconds
    #[arg(long, value_name = "CELLS", help_heading = RANKS, global = true)]
    pub block_cells: Option<String>,
}

/// Distribution of the input to the ranks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum InputName {
    /// Each rank reads the files, which must be on a file system that all machines share
    #[default]
    Shared,
    /// Rank 0 reads the files and sends them to all other ranks
    Broadcast,
}

/// Collection of finished blocks in the directory of blocks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ResultsName {
    /// Each rank writes its own blocks; the directory must be on a file system that all machines
    /// share
    #[default]
    Shared,
    /// Rank 0 writes the blocks that the other ranks send to it
    Gather,
}

/// Adapts a job to `pairwave mpi`.
fn as_in_mpi(job: Command) -> Command {
    let job = match job.get_name() {
        "papara" | "long" => job.mut_arg("checkpoint", |option| option.hide(true)),
        _ => job,
    };
    as_job_of("mpirun -n <RANKS> pairwave mpi", "-o <FILE>", job)
}

const MPI_EXAMPLES: &str = "\
Examples:
  Use four machines, each with one rank and all of its GPUs:
    mpirun -n 4 --map-by ppr:1:node --bind-to none pairwave mpi allpairs genes.fa --min-identity 0.97 -o pairs.tsv
  Resume after a machine failed:
    mpirun -n 3 --map-by ppr:1:node --bind-to none pairwave mpi allpairs genes.fa --min-identity 0.97 -o pairs.tsv --resume
  Use machines without a shared file system:
    mpirun -n 4 pairwave mpi --input broadcast --results gather allpairs genes.fa -o pairs.tsv";
