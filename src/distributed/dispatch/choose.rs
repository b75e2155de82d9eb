//! Chooses the blocks that a rank gets.

use super::rank_state::RankState;
use super::{Answer, BlockLease, Dispatcher, Rank};

/// Fraction of a rank's share of the free blocks that one lease contains.
const SHARE_PER_LEASE: f64 = 1.0 / 3.0;
/// A rank whose speed is unknown gets a second block if at least this number of free blocks per
/// rank is left.
const MIN_FREE_PER_RANK: usize = 4;
/// A block is copied if its holder takes longer than the other rank by this factor.
const COPY_GAIN: f64 = 1.25;
/// Maximum number of expected ends that are updated before a copy. The expected ends of ranks
/// without a measured speed may be out of date.
const MAX_UPDATED_ENDS: usize = 4;

impl Dispatcher {
    /// Chooses the blocks for a rank that has been removed from the index.
    pub(super) fn choose(&mut self, rank: Rank, state: &mut RankState, now: f64) -> Answer {
        if self.unsettled == 0 {
            return Answer::End;
        }
        // A rank that fails every block would soon fail all of them. An overdue rank gets blocks
        // after its next message.
        if state.is_overdue || state.fails_repeatedly() && self.is_work_left_to_others(now) {
            return Answer::Wait;
        }
        let again = self.retry.iter().copied().find(|&block| !self.has_failed_on(block, rank));
        if let Some(block) = again
            && !self.is_too_late(state, block, now)
        {
            return self.lease(rank, state, block..block + 1, now);
        }
        if let Some(span) = self.free.first() {
            if self.is_too_late(state, span.start, now) || self.is_too_early(state) {
                return Answer::Wait;
            }
            let end = self.prefix_cells[span.start] + self.lease_cells(state);
            let blocks = self.prefix_cells[span.start + 1..=span.end].partition_point(|&cells| cells <= end).max(1);
            let Some(blocks) = self.free.take_first(blocks) else { return Answer::Wait };
            self.free_cells -= self.prefix_cells[blocks.end] - self.prefix_cells[blocks.start];
            return self.lease(rank, state, blocks, now);
        }
        if state.queue.is_empty()
            && self.rules.copies
            && let Some(block) = self.block_worth_copying(rank, state, now)
        {
            self.tally.copies += 1;
            return self.lease(rank, state, block..block + 1, now);
        }
        Answer::Wait
    }

    fn lease(&mut self, rank: Rank, state: &mut RankState, blocks: std::ops::Range<usize>, now: f64) -> Answer {
        if state.queue.is_empty() {
            state.since = now;
        }
        for block in blocks.clone() {
            self.make_unavailable(block);
            self.add_holder(rank, state, block);
        }
        self.tally.leases += 1;
        self.tally.leased += blocks.len() as u64;
        let block = (self.prefix_cells[blocks.end] - self.prefix_cells[blocks.start]) as f64 / blocks.len() as f64;
        let ahead = state.speed().map_or(0.0, |speed| self.rules.ahead_seconds * speed as f64 / block);
        let ask_at = (ahead as usize).clamp(1, blocks.len().max(1));
        Answer::Lease(BlockLease { blocks, ask_at })
    }

    /// Checks whether other reliable ranks compute or will soon ask for blocks.
    fn is_work_left_to_others(&self, now: f64) -> bool {
        let ask = self.reliable > self.idle && now - self.last_heard < self.rules.silence_seconds;
        self.reliable > 0 && (ask || !self.deadlines.is_empty())
    }

    /// Returns the estimated total speed of the other reliable ranks, in cells per second.
    fn others_speed(&self) -> f64 {
        let mean = self.speed_sum as f64 / (self.measured as f64).max(1.0);
        mean * self.reliable as f64
    }

    /// Returns the number of cells in the next lease.
    fn lease_cells(&self, state: &RankState) -> u64 {
        // The first lease is one block, which shows the speed of the rank.
        let Some(speed) = state.speed().map(|speed| speed as f64) else { return 0 };
        let share = self.free_cells as f64 * speed / (speed + self.others_speed());
        let most = (share * SHARE_PER_LEASE).min(speed * self.rules.lease_seconds);
        (most as u64).saturating_sub(state.queued_cells)
    }

    /// Checks whether all other ranks would finish all remaining work before this rank finishes
    /// `block`.
    fn is_too_late(&self, state: &RankState, block: usize, now: f64) -> bool {
        let Some(speed) = self.likely_speed(state) else { return false };
        let others = self.others_speed();
        if others == 0.0 || !self.is_work_left_to_others(now) {
            return false;
        }
        let cells = self.cells(block) as f64;
        let fastest = self.by_speed.last().map_or(speed, |&(fastest, _)| fastest) as f64;
        let theirs = (self.open_cells - state.expected_cells) as f64 / others + cells / fastest;
        let busy = (state.since + state.queued_cells as f64 / speed as f64 - now).max(0.0);
        let busy = if state.queue.is_empty() { 0.0 } else { busy };
        busy + cells / speed as f64 > theirs
    }

    /// Checks whether a rank without a measured speed should finish its block before it gets
    /// another one.
    fn is_too_early(&self, state: &RankState) -> bool {
        let mean = self.prefix_cells.last().map_or(0, |&cells| cells) / (self.done.len() as u64).max(1);
        let blocks = self.free_cells / mean.max(1);
        state.speed().is_none()
            && !state.queue.is_empty()
            && blocks < (MIN_FREE_PER_RANK * (self.ranks.len() + 1)) as u64
    }

    /// Returns a block that another rank holds and that this rank would finish much sooner.
    fn block_worth_copying(&mut self, rank: Rank, state: &RankState, now: f64) -> Option<usize> {
        let speed = state.speed()? as f64;
        for _ in 0..MAX_UPDATED_ENDS {
            let &(key, other) = self.ends.last()?;
            if self.end(self.ranks.get(&other)?) == key {
                break;
            }
            self.update_rank(other, |_| ());
        }
        let &(latest, last) = self.ends.last()?;
        // A rank that is late by some time is assumed to need the same time again.
        let &(due, first) = self.ends.first()?;
        let again = now + (now - due.0);
        let (end, holder) = if again > latest.0 { (again, first) } else { (latest.0, last) };
        let queue = &self.ranks.get(&holder)?.queue;
        let is_last = |block: usize| self.holders.get(&block).is_some_and(|holders| holders.last() == Some(&holder));
        let block = queue.iter().rev().copied().find(|&block| is_last(block) && !self.has_failed_on(block, rank))?;
        let seconds = self.cells(block) as f64 / speed;
        (end.is_finite() && now + COPY_GAIN * seconds < end).then_some(block)
    }
}
