//! `pairwave run`.

mod bar;
#[cfg(test)]
mod tests;

use bar::BlockBar;

use super::operation::{JobOperation, absolute, check_inputs, on_job, open};
use super::status;
use crate::cli::blocks::{BlockCommand, BlockSelection, RunBlocks};
use crate::cli::common::{ComputeOptions, first_idle};
use crate::cli::progress::{counted, summary_lines};
use crate::cli::runner::{JobCommand, JobRunner, run_settings, write_json};
use crate::cli::{flags, interrupt, log};
use pairwave::distributed::{
    Claim, ClaimHolder, ClaimOutcome, Directory, FinishedPart, JournalEvent, PartState, PartWriter, host, ranges,
};
use pairwave::jobs::blocks::{Block, Divisible};
use pairwave::jobs::stats::JobStats;
use pairwave::jobs::{Run, Summary};
use pairwave::output::Output;
use pairwave::{Error, Result};
use std::collections::{BTreeSet, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

/// Approximate time in seconds of a group of blocks that is computed without a pause. Short groups
/// lose little at their ends, and leave blocks to other processes.
const GROUP_SECONDS: f64 = 20.0;
/// Greatest number of blocks in a group.
const GROUP: usize = 16;
/// Number of consecutive failures after which the process stops. The machine is then more likely to
/// be the cause than the blocks.
const FAILURES: usize = 3;

/// Computes blocks.
pub(crate) fn run(options: &RunBlocks, quiet: bool) -> Result<()> {
    let stats = options.stats.as_deref().map(absolute).transpose()?;
    let directory = open(&options.directory)?;
    match options.which {
        BlockSelection::Status => return status::status(&directory),
        BlockSelection::Missing => return status::missing(&directory),
        _ => {}
    }
    let mut arguments = directory.manifest().arguments.clone();
    if options.compute.check && !arguments.iter().any(|argument| argument == "--check") {
        arguments.insert(1, "--check".into());
    }
    on_job(&arguments, RunOperation { directory: &directory, options, stats, quiet })
}

struct RunOperation<'a> {
    directory: &'a Directory,
    options: &'a RunBlocks,
    stats: Option<PathBuf>,
    quiet: bool,
}

/// Rejects options that have no effect on the blocks of a job.
fn check_idle(compute: &ComputeOptions, command: &impl JobCommand) -> Result<()> {
    match first_idle(&compute.given(), &command.idle_computing()) {
        Some(option) => Err(Error::usage(format!("{option} has no effect on the blocks of this job: remove it"))),
        None => Ok(()),
    }
}

impl JobOperation for RunOperation<'_> {
    type Output = ();

    fn perform<C: BlockCommand>(self, command: C) -> Result<()> {
        let RunOperation { directory, options, stats, quiet } = self;
        let say = |line: &str| {
            if !quiet {
                log::line(line);
            }
        };
        check_idle(&options.compute, &command)?;
        let mut run = run_settings(&options.compute, command.family())?;
        stats.as_deref().map_or(Ok(()), Output::check)?;
        let wanted = blocks_to_compute::<C::Job>(directory, &options.which)?;
        if wanted.is_empty() {
            say(&why_nothing_is_left(&options.which, directory.len()));
            return Ok(());
        }
        refuse_if_all_are_claimed(directory)?;
        check_inputs(directory)?;
        let input = command.read(&run)?;
        run.interrupt = interrupt::watch();
        let stats = stats.as_deref().map(Output::create).transpose()?;
        let job = command.job(&input)?;
        let most = if let BlockSelection::Next(most) = options.which { most } else { usize::MAX };
        let cells = wanted.iter().take(most).map(|&block| directory.manifest().blocks[block].cells).sum();
        let mut runner = JobRunner::new(run, quiet);
        runner.show_progress(cells);
        let bar = BlockBar::new(Arc::clone(&runner.run.progress));
        runner.run.progress = bar.clone();
        let mut work = BlockRun::new(directory, wanted, &options.which, bar);
        let ended = work.run(&job, &runner.run);
        // Removes the bar before the last lines are printed.
        drop(runner);
        let BlockRun { done, failed, held, total, .. } = work;
        if let Some(stats) = stats {
            write_json(stats, &JobStats::from_summary(&total))?;
        }
        if !done.is_empty() {
            let blocks = if done.len() == 1 { "block" } else { "blocks" };
            let numbers: Vec<usize> = done.into_iter().collect();
            say(&format!("{blocks} {} done", ranges(&numbers)));
            summary_lines(&total, false).iter().for_each(|line| say(line));
        }
        if !failed.is_empty() {
            let numbers: Vec<usize> =
                failed.iter().map(|(block, _)| *block).collect::<BTreeSet<_>>().into_iter().collect();
            log::line(&format!("failed: {}", ranges(&numbers)));
        }
        ended?;
        match failed.into_iter().next() {
            Some((_, error)) => Err(error),
            None => left_to_others(directory, held, &options.which, say),
        }
    }
}

/// Returns the reason why no block is left to compute in a job of `blocks` blocks.
fn why_nothing_is_left(which: &BlockSelection, blocks: usize) -> String {
    match *which {
        BlockSelection::One(_) => "the block is already done".into(),
        BlockSelection::Share(share, shares) if which.selected_blocks(blocks).is_ok_and(|range| range.is_empty()) => {
            format!("share {share}/{shares} is empty: the job has {}", counted(blocks as u64, "block"))
        }
        BlockSelection::Share(..) | BlockSelection::Several(..) => "all selected blocks are already done".into(),
        _ => "all blocks are already done".into(),
    }
}

/// Returns the blocks to compute, in the order of attempts.
fn blocks_to_compute<J: Divisible>(directory: &Directory, which: &BlockSelection) -> Result<VecDeque<usize>> {
    let range = which.selected_blocks(directory.len())?;
    if let BlockSelection::One(block) = *which {
        // Verifies all bytes of a block that the user names.
        return Ok(match directory.verify::<J>(block)? {
            PartState::Done(_) => VecDeque::new(),
            PartState::Missing => VecDeque::from([block]),
            PartState::Damaged(why) => {
                tracing::warn!("{why}");
                directory.rename_damaged(block)?;
                VecDeque::from([block])
            }
        });
    }
    let states = directory.states()?;
    let open = range.filter(|&block| !states.get(block).is_some_and(PartState::is_done));
    if !matches!(which, BlockSelection::Next(_)) {
        return Ok(open.collect());
    }
    let (this_host, mut failed) = (host(), BTreeSet::new());
    for entry in directory.journal()? {
        match entry.event {
            JournalEvent::Failed { block, .. } if entry.host == this_host => drop(failed.insert(block)),
            _ => {}
        }
    }
    let (last, first): (Vec<usize>, Vec<usize>) = open.partition(|block| failed.contains(block));
    Ok(first.into_iter().chain(last).collect())
}

fn refuse_if_all_are_claimed(directory: &Directory) -> Result<()> {
    match directory.holders()?.1 {
        Some(holder) => Err(Error::usage(format!(
            "{}: {} is computing all blocks; wait for it or stop it first",
            directory.path().display(),
            holder.process
        ))),
        None => Ok(()),
    }
}

/// Reports blocks that other processes compute. It is an error if the user named these blocks,
/// because they are not done.
fn left_to_others(
    directory: &Directory,
    held: Vec<(usize, ClaimHolder)>,
    which: &BlockSelection,
    say: impl Fn(&str),
) -> Result<()> {
    let mut open = Vec::new();
    for (block, holder) in held {
        if !directory.state(block)?.is_done() {
            open.push((block, holder));
        }
    }
    let Some((block, holder)) = open.first() else { return Ok(()) };
    let numbers: Vec<usize> = open.iter().map(|(block, _)| *block).collect();
    if matches!(which, BlockSelection::Next(_)) {
        say(&format!(
            "other processes are computing {} {}",
            if numbers.len() == 1 { "block" } else { "blocks" },
            ranges(&numbers)
        ));
        return Ok(());
    }
    let message = match numbers.len() {
        1 => format!("block {block} is being computed by {}", holder.process),
        _ => format!(
            "blocks {} are being computed by other processes, block {block} by {}",
            ranges(&numbers),
            holder.process
        ),
    };
    Err(Error::usage(format!("{}: {message}; wait for it or stop it first", directory.path().display())))
}

/// Blocks that this process computes.
struct BlockRun<'a> {
    directory: &'a Directory,
    open: VecDeque<usize>,
    /// Number of blocks that may still be started.
    left: usize,
    /// Whether other processes are likely to compute at the same time.
    is_shared: bool,
    done: BTreeSet<usize>,
    failed: Vec<(usize, Error)>,
    held: Vec<(usize, ClaimHolder)>,
    /// Summary of all groups.
    total: Summary,
    /// Seconds per block, once known.
    pace: Option<f64>,
    bar: Arc<BlockBar>,
}

impl<'a> BlockRun<'a> {
    fn new(directory: &'a Directory, open: VecDeque<usize>, which: &BlockSelection, bar: Arc<BlockBar>) -> Self {
        let left = if let BlockSelection::Next(most) = *which { most } else { usize::MAX };
        BlockRun {
            directory,
            open,
            left,
            is_shared: matches!(which, BlockSelection::Next(_)),
            done: BTreeSet::new(),
            failed: Vec::new(),
            held: Vec::new(),
            total: Summary::default(),
            pace: None,
            bar,
        }
    }

    /// Computes until no unclaimed block is left. Records a block that fails, and continues with
    /// the others.
    fn run<J: Divisible>(&mut self, job: &J, run: &Run) -> Result<()> {
        let mut session = None;
        let mut failures = 0;
        loop {
            let (numbers, mut claims) = self.claim()?;
            if numbers.is_empty() {
                return Ok(());
            }
            let blocks: Vec<Block> =
                numbers.iter().map(|&number| self.directory.manifest().blocks[number].clone()).collect();
            let begin = Instant::now();
            let mut made = Vec::new();
            let (directory, bar) = (self.directory, Arc::clone(&self.bar));
            let mut writer = PartWriter::<J>::to_files(directory, &numbers, |part: FinishedPart| {
                let (seconds, rows) = (part.info.seconds, part.info.rows);
                directory.record_event(JournalEvent::Finished { block: part.block, seconds, rows });
                made.push(part.block);
                bar.done(directory.manifest().blocks[part.block].cells);
                // The block is stored, so its claim can be released.
                drop(claims.pop_front());
                Ok(())
            });
            let session = match &mut session {
                Some(session) => session,
                None => session.insert(job.session(run)?),
            };
            let result = job.run_blocks(&blocks, session, run, &mut writer);
            let finished = writer.finished();
            drop(writer);
            self.done.extend(made);
            self.left = self.left.saturating_sub(finished);
            drop(claims);
            if finished > 0 {
                self.pace = Some(begin.elapsed().as_secs_f64() / finished as f64);
                failures = 0;
            }
            match result {
                Ok(summary) => self.total.add(summary),
                Err(error) => {
                    let due = numbers.get(finished).copied();
                    let Some(block) = due.filter(|_| is_of_block(&error)) else { return Err(error) };
                    let message = flags::message(&error);
                    tracing::warn!("block {block} failed: {message}");
                    self.directory.record_event(JournalEvent::Failed { block, error: message });
                    self.failed.push((block, error));
                    self.left = self.left.saturating_sub(1);
                    numbers[finished + 1..].iter().rev().for_each(|&block| self.open.push_front(block));
                    failures += 1;
                    if failures >= FAILURES {
                        return Ok(());
                    }
                }
            }
        }
    }

    /// Claims the next blocks. Returns their numbers and claims.
    fn claim(&mut self) -> Result<(Vec<usize>, VecDeque<Claim>)> {
        let most = self.group();
        let (mut numbers, mut claims) = (Vec::new(), VecDeque::new());
        while numbers.len() < most {
            let Some(block) = self.open.pop_front() else { break };
            // Other processes may have finished blocks since the list was made.
            if self.is_shared && self.directory.state(block)?.is_done() {
                self.left_to_others(block);
                continue;
            }
            match self.directory.claim(block)? {
                ClaimOutcome::HeldBy(holder) => {
                    self.left_to_others(block);
                    self.held.push((block, holder));
                }
                ClaimOutcome::Acquired(claim) => {
                    if let Some((from, why)) = &claim.taken_over {
                        tracing::warn!("taking over block {block} from {}: {why}", from.process);
                    }
                    // The previous owner may just have finished the block.
                    if !self.directory.state(block)?.is_done() {
                        numbers.push(block);
                        claims.push_back(claim);
                    }
                }
            }
        }
        Ok((numbers, claims))
    }

    /// Advances the bar past a block that another process computes, unless another block takes its
    /// place.
    fn left_to_others(&self, block: usize) {
        if self.left > self.open.len() {
            self.bar.done(self.directory.manifest().blocks[block].cells);
        }
    }

    /// Returns the number of blocks to compute without a pause.
    fn group(&self) -> usize {
        let by_pace = match self.pace {
            Some(seconds) => (GROUP_SECONDS / seconds.max(1e-3)) as usize,
            None if self.is_shared => 1,
            None => GROUP,
        };
        // Towards the end, other processes may be idle and can take some of the blocks.
        let by_rest = if self.is_shared { self.open.len() / 8 } else { GROUP };
        by_pace.min(by_rest).clamp(1, GROUP).min(self.left)
    }
}

/// Returns whether another block may succeed after this error.
fn is_of_block(error: &Error) -> bool {
    match error {
        Error::Device { .. } | Error::Unsuited { .. } | Error::Internal(_) | Error::Input { .. } => true,
        Error::Usage(_) | Error::Io { .. } | Error::Interrupted | Error::OutputClosed => false,
    }
}
