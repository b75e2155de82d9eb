//! Jobs in blocks: validated options of `pairwave plan`, `run` and `merge`, and the trait of a
//! command whose job can be split.

use super::args::{MergeArgs, PlanArgs, RunArgs};
use super::common::{ComputeOptions, OutputFiles, check_others, first_given, words_of_job};
use super::endings;
use super::runner::{JobCommand, JobRunner};
use super::size;
use pairwave::jobs::blocks::{BlockSink, Divisible};
use pairwave::jobs::{Job, Summary};
use pairwave::output::Output;
use pairwave::{Error, Result};
use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Default time that the fastest device spends on a block, in seconds.
const BLOCK_SECONDS: f64 = 30.0;
/// Default speed of a device in cells per second: a small GPU, or many CPU cores.
const SPEED: f64 = 500e9;

/// Job to split into blocks.
#[derive(Debug)]
pub(super) struct BlockPlan {
    /// Directory of blocks; `None` writes nothing.
    pub directory: Option<PathBuf>,
    /// Command line of the job: its name and its arguments, without the options of the plan.
    pub arguments: Vec<OsString>,
    /// Cells per block.
    pub cells: u64,
    pub max_blocks: Option<usize>,
    /// Expected speed of each device, in cells per second.
    pub speeds: Vec<f64>,
}

impl BlockPlan {
    pub(super) fn new(args: PlanArgs, typed: &[OsString]) -> Result<Self> {
        let speeds = args.speed.as_deref().map_or_else(|| Ok(vec![SPEED]), |speed| size::speeds("--speed", speed))?;
        let fastest = speeds.iter().copied().fold(0.0, f64::max);
        let has_cells = args.block_cells.is_some();
        let cells = match (args.block_cells, args.block_seconds) {
            (Some(_), Some(_)) => {
                return Err(Error::usage(
                    "--block-cells and --block-seconds both set the size of blocks: remove one of them",
                ));
            }
            (Some(cells), None) => size::cells("--block-cells", &cells)?,
            (None, seconds) => (size::block_seconds(seconds, BLOCK_SECONDS)? * fastest).max(1.0) as u64,
        };
        if has_cells && args.speed.is_some() && !args.dry_run {
            return Err(Error::usage(
                "--speed with --block-cells only predicts the time: add --dry-run or remove --speed",
            ));
        }
        size::check_positive("--max-blocks", args.max_blocks)?;
        let directory = match args.job.into_output() {
            _ if args.dry_run => None,
            None => {
                return Err(Error::usage(
                    "no directory for the blocks is given: name it with --output, or use --dry-run",
                ));
            }
            Some(path) if path == Path::new("-") => {
                return Err(Error::usage("--output -: blocks are written to a directory, not to standard output"));
            }
            path => path,
        };
        endings::check("plan", "--output", directory.as_deref(), "a directory of blocks")?;
        Ok(BlockPlan { directory, arguments: job_arguments(typed), cells, max_blocks: args.max_blocks, speeds })
    }
}

/// Returns the command line of the job: from the job's name on, without the options of the plan.
fn job_arguments(typed: &[OsString]) -> Vec<OsString> {
    // `pairwave search` also accepts '--out' for '--output'.
    const WITH_VALUE: [&str; 7] =
        ["--block-seconds", "--block-cells", "--max-blocks", "--speed", "--output", "--out", "-o"];
    const ALONE: [&str; 4] = ["--dry-run", "--quiet", "--verbose", "-v"];
    words_of_job(typed, "plan", &WITH_VALUE, &ALONE)
}

/// Blocks to compute, or the report to print.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum BlockSelection {
    One(usize),
    /// Blocks from the first to the last, both included.
    Several(usize, usize),
    /// Share with this index, of this number of shares.
    Share(usize, usize),
    /// At most this many unclaimed blocks.
    Next(usize),
    /// No block: print the state of all.
    Status,
    /// No block: list the unfinished ones.
    Missing,
}

impl BlockSelection {
    /// Returns the range of selected blocks in a job of `blocks` blocks.
    pub(super) fn selected_blocks(&self, blocks: usize) -> Result<Range<usize>> {
        let there_are = |last: usize| match blocks {
            0 => Error::usage(format!("block {last} does not exist: the job has no blocks")),
            _ => Error::usage(format!("block {last} does not exist: blocks are numbered 0 to {}", blocks - 1)),
        };
        match *self {
            BlockSelection::One(block) if block >= blocks => Err(there_are(block)),
            BlockSelection::One(block) => Ok(block..block + 1),
            BlockSelection::Several(_, last) if last >= blocks => Err(there_are(last)),
            BlockSelection::Several(first, last) => Ok(first..last + 1),
            BlockSelection::Share(share, shares) => {
                let begin = |share: usize| (share as u128 * blocks as u128 / shares as u128) as usize;
                Ok(begin(share)..begin(share + 1))
            }
            BlockSelection::Next(_) | BlockSelection::Status | BlockSelection::Missing => Ok(0..blocks),
        }
    }
}

/// Validated options of `pairwave run`.
#[derive(Debug)]
pub(super) struct RunBlocks {
    pub directory: PathBuf,
    pub which: BlockSelection,
    pub stats: Option<PathBuf>,
    pub compute: ComputeOptions,
}

impl TryFrom<RunArgs> for RunBlocks {
    type Error = Error;

    fn try_from(args: RunArgs) -> Result<Self> {
        let pair = |option: &str, text: &str, mark: char, form: &str| {
            let wrong = || Error::usage(format!("{option} '{text}': {form}"));
            let (first, second) = text.split_once(mark).ok_or_else(wrong)?;
            let number = |text: &str| text.trim().parse::<usize>().map_err(|_| wrong());
            Ok::<_, Error>((number(first)?, number(second)?))
        };
        let which = if let Some(block) = args.block {
            BlockSelection::One(block)
        } else if let Some(text) = args.blocks {
            let (first, last) = pair("--blocks", &text, '-', "must be the first and the last block, as in 0-9")?;
            if first > last {
                return Err(Error::usage(format!("--blocks {text}: the first block comes after the last")));
            }
            BlockSelection::Several(first, last)
        } else if let Some(text) = args.share {
            let (share, shares) = pair("--share", &text, '/', "must be a share and the number of shares, as in 0/16")?;
            if share >= shares {
                return Err(Error::usage(format!(
                    "--share {text}: shares are numbered from 0, and there are only {shares}"
                )));
            }
            BlockSelection::Share(share, shares)
        } else if args.status {
            BlockSelection::Status
        } else if args.missing {
            BlockSelection::Missing
        } else {
            let most = args.next.flatten();
            size::check_positive("--next", most)?;
            BlockSelection::Next(most.unwrap_or(usize::MAX))
        };
        let compute = ComputeOptions::try_from(&args.compute)?;
        let stats = args.compute.machine.stats;
        if matches!(which, BlockSelection::Status | BlockSelection::Missing) {
            let given = [("--stats", stats.is_some()), ("--check", compute.check)];
            let given_option = if which == BlockSelection::Status { "--status" } else { "--missing" };
            if let Some((option, _)) = compute.given().into_iter().chain(given).find(|(_, given)| *given) {
                return Err(Error::usage(format!(
                    "{option} has no effect with {given_option}, which computes nothing: remove one of them"
                )));
            }
        }
        Ok(RunBlocks { directory: args.directory, which, stats, compute })
    }
}

/// Validated options of `pairwave merge`.
#[derive(Debug)]
pub(super) struct Merge {
    pub directory: PathBuf,
    pub files: OutputFiles,
    /// Further output files: the option of the job, and the path.
    pub others: Vec<(&'static str, PathBuf)>,
    /// Options that describe these files, with their values.
    pub values: Vec<(&'static str, String)>,
    /// Number of CPU threads; `None` is all.
    pub threads: Option<NonZeroUsize>,
}

impl TryFrom<MergeArgs> for Merge {
    type Error = Error;

    fn try_from(args: MergeArgs) -> Result<Self> {
        let files = OutputFiles::new(&args.output, args.stats.as_deref(), &[])?;
        let threads = args.threads.number()?;
        let others = [
            ("--table", args.table),
            ("--jplace", args.jplace),
            ("--tree-out", args.tree_out),
            ("--guidetree-out", args.guidetree_out),
            ("--distmat-out", args.distmat_out),
            ("--report", args.report),
            ("--plot", args.plot),
            ("--hits-fasta", args.sequences.hits_fasta.clone()),
        ];
        let of_clusters = args.clusters.given().into_iter().map(|(option, path)| (option, path.clone()));
        let others: Vec<_> =
            others.into_iter().filter_map(|(option, path)| Some((option, path?))).chain(of_clusters).collect();
        let named: Vec<_> = others.iter().map(|(option, path)| (*option, Some(path.as_path()))).collect();
        check_others(&named, &[], &files.names())?;
        Ok(Merge { directory: args.directory, files, others, values: args.sequences.values(), threads })
    }
}

/// Receiver of a job's rows, computed now or read from blocks.
pub(super) type RowSink<'a, J> = &'a mut dyn BlockSink<<J as Job>::Row>;

/// Command whose job can be split: its rows come from the job itself, or from blocks.
pub(super) trait BlockCommand: JobCommand {
    /// Job that is split into blocks.
    type Job: Divisible + Sync;

    /// Returns the paths of the input files as typed.
    fn inputs(&mut self) -> Vec<&mut PathBuf>;

    /// Returns the first given option that names an output file besides the results.
    fn other_output(&self) -> Option<&'static str> {
        None
    }

    /// Sets the command line that results record.
    fn set_command_line(&mut self, _line: String) {}

    /// Returns the job for the input.
    fn job(&self, input: &Self::Input) -> Result<Self::Job>;

    /// Checks that the format can contain the results, before a job that writes them late.
    fn check_format(&self, _input: &Self::Input) -> Result<()> {
        Ok(())
    }

    /// Writes all results. `source` delivers all rows of the job in order.
    fn deliver(
        &self,
        input: Self::Input,
        runner: JobRunner,
        output: Output,
        source: impl FnOnce(&Self::Job, &mut JobRunner, RowSink<'_, Self::Job>) -> Result<Summary>,
    ) -> Result<Self::Summary>;

    /// Rejects options that belong to `pairwave run` or `pairwave merge`.
    fn check_plan(&self) -> Result<()> {
        if let Some(option) = first_given(&self.compute().given()) {
            return Err(Error::usage(format!(
                "{option}: 'pairwave plan' computes nothing: give this option to 'pairwave run'"
            )));
        }
        let other = self.files().stats.map(|_| "--stats").or(self.other_output());
        match other {
            Some(option) => Err(Error::usage(format!(
                "{option}: 'pairwave plan' writes no results: give this option to 'pairwave merge'"
            ))),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(line: &str) -> Vec<OsString> {
        job_arguments(&line.split(' ').map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn the_job_in_the_command_line_of_a_plan() {
        let job = ["allpairs", "a.fa", "--format", "sam", "-j4"];
        for line in [
            "pairwave plan allpairs a.fa --format sam -j4",
            "/bin/pairwave -q plan --dry-run --speed 2T allpairs a.fa -o work --format sam --block-cells=5 -j4",
            "pairwave --verbose plan -owork allpairs --output=work a.fa --max-blocks 7 --format sam -v -j4 --output x",
        ] {
            assert_eq!(arguments(line), job, "{line}");
        }
        assert_eq!(
            arguments("p plan search a.fa b.fa --out d --outfmt 6"),
            ["search", "a.fa", "b.fa", "--outfmt", "6"]
        );
        assert_eq!(arguments("p plan allpairs -o d -- -o --speed"), ["allpairs", "--", "-o", "--speed"]);
    }

    #[test]
    fn shares_are_all_blocks_each_once() {
        for (blocks, shares) in [(0, 3), (2, 5), (17, 4), (1001, 16)] {
            let all: Vec<usize> = (0..shares)
                .flat_map(|share| BlockSelection::Share(share, shares).selected_blocks(blocks).unwrap())
                .collect();
            assert_eq!(all, (0..blocks).collect::<Vec<_>>());
        }
        assert_eq!(BlockSelection::Several(2, 4).selected_blocks(5).unwrap(), 2..5);
        assert_eq!(
            BlockSelection::Several(2, 5).selected_blocks(5).unwrap_err().to_string(),
            "block 5 does not exist: blocks are numbered 0 to 4"
        );
        assert_eq!(
            BlockSelection::One(0).selected_blocks(0).unwrap_err().to_string(),
            "block 0 does not exist: the job has no blocks"
        );
    }
}
