//! Updates of the ordered sets of blocks and ranks that the dispatcher searches (the index).

use super::rank_state::{IndexKeys, RankState, TimeKey};
use super::{Dispatcher, Rank};

/// Multiple of `silence_seconds` after which a block that failed on all other ranks no longer waits
/// for a silent rank.
const HOPELESS_SILENCES: f64 = 5.0;

impl Dispatcher {
    /// Removes a rank from all ordered sets. The caller changes the state and
    /// [inserts](Self::insert_rank) the rank again.
    pub(super) fn remove_rank(&mut self, rank: Rank) -> Option<RankState> {
        let mut state = self.ranks.remove(&rank)?;
        let keys = std::mem::take(&mut state.keys);
        if let Some(end) = keys.end {
            self.ends.remove(&(end, rank));
        }
        if let Some(deadline) = keys.deadline {
            self.deadlines.remove(&(deadline, rank));
        }
        if let Some(speed) = keys.waiting {
            self.waiting.remove(&(speed, rank));
        }
        if let Some(speed) = keys.speed {
            self.by_speed.remove(&(speed, rank));
            self.speed_sum -= speed;
            self.measured -= 1;
        }
        self.reliable -= usize::from(keys.is_reliable);
        self.idle -= usize::from(keys.is_reliable && keys.waiting.is_some());
        Some(state)
    }

    /// Inserts a rank into all ordered sets.
    pub(super) fn insert_rank(&mut self, rank: Rank, mut state: RankState) {
        let is_reliable = state.is_reliable();
        let speed = state.speed().filter(|_| is_reliable);
        if let Some(speed) = speed {
            self.by_speed.insert((speed, rank));
            self.speed_sum += speed;
            self.measured += 1;
        }
        self.reliable += usize::from(is_reliable);
        let end = (state.expected_cells > 0 && !state.is_overdue).then(|| self.end(&state));
        let waits_with = if is_reliable { self.likely_speed(&state).unwrap_or(0) } else { 0 };
        self.idle += usize::from(is_reliable && state.is_waiting);
        let waiting = state.is_waiting.then_some(waits_with);
        let deadline = (!state.queue.is_empty() && !state.is_overdue).then(|| self.deadline(&state));
        self.ends.extend(end.map(|end| (end, rank)));
        self.waiting.extend(waiting.map(|speed| (speed, rank)));
        self.deadlines.extend(deadline.map(|deadline| (deadline, rank)));
        state.keys = IndexKeys { end, deadline, waiting, speed, is_reliable };
        self.ranks.insert(rank, state);
    }

    /// Changes a rank and its keys in the ordered sets.
    pub(super) fn update_rank(&mut self, rank: Rank, change: impl FnOnce(&mut RankState)) {
        if let Some(mut state) = self.remove_rank(rank) {
            change(&mut state);
            self.insert_rank(rank, state);
        }
    }

    /// Returns the measured speed of a rank, or the mean speed of all ranks if it has none.
    pub(super) fn likely_speed(&self, state: &RankState) -> Option<u64> {
        state.speed().or_else(|| self.speed_sum.checked_div(self.measured as u64))
    }

    /// Returns the time when a rank should finish the blocks that are expected from it. The time is
    /// infinite if no speed is known.
    pub(super) fn end(&self, state: &RankState) -> TimeKey {
        let seconds = self.likely_speed(state).map(|speed| state.expected_cells as f64 / speed as f64);
        TimeKey(seconds.map_or(f64::INFINITY, |seconds| state.since + seconds))
    }

    /// Returns the time of the next check for silence of a rank.
    fn deadline(&self, state: &RankState) -> TimeKey {
        let first = state.since + self.rules.silence_seconds;
        TimeKey(self.silent_until(state).unwrap_or(first).max(first).max(state.next_check))
    }

    /// Returns the time until which a rank may be silent while it computes its first block. A rank
    /// without a measured speed is assumed to be as slow as the slowest rank. If no rank has a
    /// measured speed, a block is assumed to take `silence_seconds`.
    fn silent_until(&self, state: &RankState) -> Option<f64> {
        let &block = state.queue.front()?;
        let speed = state.speed().or_else(|| self.by_speed.first().map(|&(speed, _)| speed));
        let least = self.rules.silence_seconds;
        let seconds = speed.map_or(least, |speed| self.cells(block) as f64 / speed as f64);
        Some(state.since + (self.rules.silence_blocks * seconds).max(least))
    }

    pub(super) fn is_overdue(&self, state: &RankState, now: f64) -> bool {
        self.silent_until(state).is_some_and(|until| until <= now)
    }

    /// Records a message of a rank. If the rank was overdue, its blocks are no longer available to
    /// other ranks.
    pub(super) fn record_contact(&mut self, state: &mut RankState, now: f64) {
        if !state.fails_repeatedly() {
            self.last_heard = now;
        }
        state.next_check = 0.0;
        if std::mem::take(&mut state.is_overdue) {
            self.overdue -= 1;
            for &block in &state.queue {
                self.make_unavailable(block);
            }
        }
    }

    /// Removes a block from a rank that has been removed from the index. Returns whether the rank
    /// held the block.
    pub(super) fn remove_holder(&mut self, rank: Rank, state: &mut RankState, block: usize) -> bool {
        let Some(at) = state.queue.iter().position(|&one| one == block) else { return false };
        state.queue.remove(at);
        let cells = self.cells(block);
        state.queued_cells -= cells;
        let Some(holders) = self.holders.get_mut(&block) else { return true };
        let was_last = holders.last() == Some(&rank);
        holders.retain(|&other| other != rank);
        let last = holders.last().copied();
        if last.is_none() {
            self.holders.remove(&block);
        }
        if was_last {
            state.expected_cells -= cells;
            if let Some(other) = last {
                self.update_rank(other, |state| state.expected_cells += cells);
            }
        }
        true
    }

    /// Adds a block to a rank that has been removed from the index.
    pub(super) fn add_holder(&mut self, rank: Rank, state: &mut RankState, block: usize) {
        let cells = self.cells(block);
        state.queue.push_back(block);
        state.queued_cells += cells;
        let holders = self.holders.entry(block).or_default();
        let before = holders.last().copied();
        holders.push(rank);
        state.expected_cells += cells;
        if let Some(before) = before {
            self.update_rank(before, |state| state.expected_cells -= cells);
        }
    }

    /// Checks whether a block is neither done nor failed and all its holders are overdue.
    pub(super) fn needs_worker(&self, block: usize) -> bool {
        let is_awake = |rank: &Rank| self.ranks.get(rank).is_some_and(|state| !state.is_overdue);
        let is_settled = self.done[block] || self.failed_blocks.contains(&block);
        !is_settled && !self.holders.get(&block).is_some_and(|holders| holders.iter().any(is_awake))
    }

    /// Makes a block available to all ranks.
    pub(super) fn make_available(&mut self, block: usize) {
        if self.failures.contains_key(&block) {
            self.retry.insert(block);
        } else if self.free.insert(block) {
            self.free_cells += self.cells(block);
        }
    }

    /// Makes a block unavailable to further ranks.
    pub(super) fn make_unavailable(&mut self, block: usize) {
        self.retry.remove(&block);
        if self.free.remove(block) {
            self.free_cells -= self.cells(block);
        }
    }

    /// Counts a block as done or failed.
    pub(super) fn count_finished(&mut self, block: usize) {
        self.unsettled -= 1;
        self.open_cells -= self.cells(block);
    }

    pub(super) fn has_failed_on(&self, block: usize, rank: Rank) -> bool {
        self.failures.get(&block).is_some_and(|failures| failures.iter().any(|(other, _)| *other == rank))
    }

    /// Counts a block as failed if it has failed on enough ranks, or on all ranks that are not
    /// silent.
    pub(super) fn check_failed(&mut self, block: usize) {
        let Some(failures) = self.failures.get(&block) else { return };
        let awake = self.ranks.len() - self.overdue;
        let tried = failures.iter().filter(|(rank, _)| self.ranks.get(rank).is_some_and(|one| !one.is_overdue)).count();
        let everywhere = awake > 0 && tried == awake;
        if (failures.len() >= self.rules.attempts || everywhere) && self.retry.remove(&block) {
            self.failed_blocks.insert(block);
            self.count_finished(block);
        }
    }

    /// Checks all blocks that wait for a retry, because fewer ranks are left.
    pub(super) fn check_failed_all(&mut self) {
        // With at least as many ranks as attempts, one rank is left to try each block.
        if self.ranks.len() - self.overdue < self.rules.attempts {
            for block in self.retry.clone() {
                self.check_failed(block);
            }
        }
    }

    /// Counts all blocks that wait for a retry as failed, if no rank computes and none has sent a
    /// message for a long time.
    pub(super) fn fail_hopeless(&mut self, now: f64) {
        let is_still =
            self.deadlines.is_empty() && now - self.last_heard > HOPELESS_SILENCES * self.rules.silence_seconds;
        if is_still && self.free.first().is_none() && self.ranks.len() > self.overdue {
            for block in std::mem::take(&mut self.retry) {
                self.failed_blocks.insert(block);
                self.count_finished(block);
            }
        }
    }
}
