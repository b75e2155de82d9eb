//! Records of rank 0 while a job runs, and its summary.

use crate::cli::progress::{ProgressDisplay, gcups, pairs_in_words};
use indicatif::HumanCount;
use pairwave::Result;
use pairwave::distributed::ranks::{FinishedBlock, LeadHandler, LeadSummary, RankInfo};
use pairwave::distributed::{Directory, JournalEvent, dispatch};
use pairwave::jobs::Progress as _;
use pairwave::jobs::blocks::Divisible;
use std::collections::BTreeSet;
use std::marker::PhantomData;

/// Writes finished blocks and the journal, and advances the progress bar.
pub(super) struct Ledger<'a, J> {
    pub directory: &'a Directory,
    pub progress: ProgressDisplay,
    pub seen: PhantomData<fn(&J)>,
}

impl<J: Divisible> LeadHandler for Ledger<'_, J> {
    fn rank_joined(&mut self, rank: dispatch::Rank, member: &RankInfo) {
        tracing::debug!("rank {rank} on {} has {}", member.host, member.devices);
    }

    fn finished(&mut self, _rank: dispatch::Rank, finished: FinishedBlock) -> Result<()> {
        let FinishedBlock { block, rows, seconds, part } = finished;
        if let Some(part) = part {
            self.directory.put::<J>(block, &part)?;
        }
        self.directory.record_event(JournalEvent::Finished { block, seconds, rows });
        let block = &self.directory.manifest().blocks[block];
        self.progress.advance(block.pairs, block.cells);
        Ok(())
    }

    fn failed(&mut self, _rank: dispatch::Rank, block: usize, error: &str) {
        self.directory.record_event(JournalEvent::Failed { block, error: error.to_owned() });
    }
}

/// Returns the summary as text.
pub(super) fn summary_lines(
    led: &LeadSummary,
    directory: &Directory,
    done: &[bool],
    seconds: f64,
    again: bool,
) -> Vec<String> {
    let blocks = directory.manifest().blocks.iter().zip(done).filter(|(_, done)| !**done).map(|(block, _)| block);
    let (pairs, cells) = blocks.fold((0, 0), |(pairs, cells), block| (pairs + block.pairs, cells + block.cells));
    let machines: BTreeSet<&str> = led.members.values().map(|(member, _)| member.host.as_str()).collect();
    let plural = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    let mut lines = vec![format!(
        "{} on {}: {}{} in {seconds:.3} s: {} pairs/s, {}",
        plural(led.members.len(), "rank"),
        plural(machines.len(), "machine"),
        if again { "the last " } else { "" },
        pairs_in_words(pairs),
        HumanCount((pairs as f64 / seconds.max(1e-6)).round() as u64),
        gcups(cells as f64 / seconds.max(1e-6)),
    )];
    for (rank, (member, speed)) in &led.members {
        let speed = speed.map_or_else(|| "no block".to_owned(), |speed| gcups(speed as f64));
        tracing::debug!("rank {rank} on {}: {speed}, {}", member.host, member.devices);
    }
    if led.tally.failures > 0 {
        lines.push(format!(
            "{} on some ranks; other ranks computed these blocks",
            plural(led.tally.failures as usize, "failure")
        ));
    }
    lines
}
