//! Validated options of `pairwave mpi`.

use super::args::{BlockJob, InputName, MpiArgs, ResultsName};
use super::common::words_of_job;
use super::size;
use pairwave::{Error, Result};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Default time that a rank spends on a block, in seconds. Ranks that end one block apart waste
/// half of it.
const BLOCK_SECONDS: f64 = 5.0;

/// Job for many ranks.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(not(feature = "mpi"), allow(dead_code, reason = "it is checked, and then refused"))]
pub(super) struct MpiOptions {
    /// Command line of the job: its name and its arguments, without the options of this command.
    pub arguments: Vec<OsString>,
    /// Directory of blocks.
    pub work: PathBuf,
    pub resume: bool,
    pub keep: bool,
    /// Whether rank 0 sends the input to the other ranks.
    pub broadcast: bool,
    /// Whether rank 0 writes the blocks of the other ranks.
    pub gather: bool,
    pub size: BlockSize,
    /// Greatest number of GPUs per rank; `None` divides all GPUs of a machine among its ranks.
    pub gpus: Option<usize>,
    /// Whether to print a prediction only.
    pub dry_run: bool,
}

/// Size of a block.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum BlockSize {
    /// Number of cells.
    Cells(u64),
    /// Approximate time in seconds.
    Seconds(f64),
}

impl MpiOptions {
    pub(super) fn new(args: MpiArgs, typed: &[OsString]) -> Result<Self> {
        let size = match (args.block_cells, args.block_seconds) {
            (Some(_), Some(_)) => {
                return Err(Error::usage(
                    "--block-cells and --block-seconds both set the size of blocks: remove one of them",
                ));
            }
            (Some(cells), None) => BlockSize::Cells(size::cells("--block-cells", &cells)?),
            (None, seconds) => BlockSize::Seconds(size::block_seconds(seconds, BLOCK_SECONDS)?),
        };
        let gpus = args.gpus_per_rank.as_deref().map(gpus).transpose()?;
        let has_checkpoint = match &args.job {
            BlockJob::Papara(job) => job.checkpoint.is_some(),
            BlockJob::Long(job) => job.checkpoint.is_some(),
            _ => false,
        };
        if has_checkpoint {
            return Err(Error::usage(
                "--checkpoint: 'pairwave mpi' keeps finished blocks in --work; continue from them with --resume",
            ));
        }
        let output = args.job.into_output().filter(|path| path != Path::new("-"));
        let Some(output) = output.or_else(|| args.dry_run.then(PathBuf::new)) else {
            return Err(Error::usage("no file for the results is given: name it with --output"));
        };
        let default_work = || {
            let mut name = output.clone().into_os_string();
            name.push(".pairwave");
            PathBuf::from(name)
        };
        Ok(MpiOptions {
            arguments: job_arguments(typed),
            work: args.work.unwrap_or_else(default_work),
            resume: args.resume,
            keep: args.keep,
            broadcast: args.input == InputName::Broadcast,
            gather: args.results == ResultsName::Gather,
            size,
            gpus,
            dry_run: args.dry_run,
        })
    }
}

fn gpus(typed: &str) -> Result<usize> {
    match typed.parse() {
        Ok(number) if number > 0 => Ok(number),
        Err(_) if typed == "all" => Ok(usize::MAX),
        _ => Err(Error::usage(format!("--gpus-per-rank {typed}: must be a number above 0 or 'all'"))),
    }
}

/// Returns the command line of the job: from the job's name on, without the options of `pairwave
/// mpi`.
fn job_arguments(typed: &[OsString]) -> Vec<OsString> {
    const WITH_VALUE: [&str; 6] =
        ["--work", "--input", "--results", "--block-seconds", "--block-cells", "--gpus-per-rank"];
    // `-q` stays: papara uses it for the reads, and other jobs accept it.
    const ALONE: [&str; 6] = ["--resume", "--keep", "--dry-run", "--quiet", "--verbose", "-v"];
    words_of_job(typed, "mpi", &WITH_VALUE, &ALONE)
}

/// Returns whether this process is a rank other than 0 of `pairwave mpi`, which reports no error in
/// the command line because rank 0 does. The environment variables of MPI launchers give the rank.
pub(super) fn leaves_it_to_rank_0(typed: &[OsString]) -> bool {
    const RANKS: [&str; 4] = ["OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"];
    let rank = RANKS.iter().find_map(|name| std::env::var(name).ok());
    let command = typed.iter().skip(1).filter_map(|word| word.to_str()).find(|word| !word.starts_with('-'));
    command == Some("mpi") && rank.is_some_and(|rank| rank.trim() != "0")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    fn arguments(line: &str) -> Vec<OsString> {
        job_arguments(&words(line))
    }

    #[test]
    fn the_job_in_the_command_line_of_many_ranks() {
        for line in [
            "pairwave mpi allpairs a.fa -o b.tsv --device cpu",
            "/bin/pairwave -q mpi --input broadcast allpairs a.fa --resume -o b.tsv --work=x --device cpu --keep",
            "pairwave -v mpi allpairs --results gather a.fa -o b.tsv --block-cells 5T --device cpu -v --block-seconds=1",
            "pairwave mpi --gpus-per-rank 2 allpairs --dry-run a.fa --gpus-per-rank=all -o b.tsv --device cpu",
        ] {
            assert_eq!(arguments(line), words("allpairs a.fa -o b.tsv --device cpu"), "{line}");
        }
        assert_eq!(arguments("p mpi allpairs -o d -- --keep"), words("allpairs -o d -- --keep"));
    }

    #[test]
    fn gpus_of_a_rank() {
        assert_eq!([gpus("1").unwrap(), gpus("3").unwrap(), gpus("all").unwrap()], [1, 3, usize::MAX]);
        for wrong in ["0", "-1", "some", ""] {
            assert!(gpus(wrong).unwrap_err().to_string().contains("must be a number above 0 or 'all'"));
        }
    }
}
