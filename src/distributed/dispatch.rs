//! The dispatcher: decides which rank computes which blocks.
//!
//! It is a state machine without a clock, threads, input or output. The caller reports events with
//! their times, and the dispatcher returns what to do. MPI and the simulation in
//! [`super::simulate`] use it in the same way:
//!
//! 1. Call [`Dispatcher::add_rank`] for every rank before any rank asks for work.
//! 2. A rank [asks](Dispatcher::answer_request) for blocks. The [answer](Answer) is a lease
//!    (consecutive blocks to compute), the end, or to wait. A rank asks again when at most
//!    [`BlockLease::ask_at`] of its blocks are unfinished, or when at most one block waits in its
//!    queue. The next lease then arrives before its engines finish this one.
//! 3. A rank reports each block as soon as it has [finished](Dispatcher::finished) or
//!    [failed](Dispatcher::failed).
//! 4. After each event, call [`Dispatcher::answer`] until it returns `None`: an event may provide
//!    work for waiting ranks.
//! 5. Call [`Dispatcher::tick`] about once a second, then [`Dispatcher::answer`] until it returns
//!    `None`.
//! 6. When [`Dispatcher::is_over`] returns true and no rank waits, [`Dispatcher::failed_blocks`]
//!    lists the blocks that no rank could compute.
//!
//! The size of a lease follows guided self-scheduling by measured speed, as in the work queue of
//! one machine ([`crate::engine::sizing`]). The share of a rank is the part of the free blocks that
//! it would compute if all ranks finished at the same time. Its lease is a third of this share, at
//! most [`Rules::lease_seconds`] of work, and at least one block. Two rules apply towards the end:
//! - A rank gets no block if all other ranks together would finish the remaining work before this
//!   rank finishes one block.
//! - An idle rank gets a copy of a block that another rank holds, if it would finish the block much
//!   sooner. The first result counts. The dispatcher then expects the result from the latest
//!   holder. If that rank is silent too, a further rank gets a copy.
//!
//! A rank that is silent for long keeps its blocks, but other ranks may compute them too. A block
//! that fails is tried on other ranks, up to [`Rules::attempts`] in total. A rank with several
//! failures in a row gets no more blocks while other ranks succeed. Each event costs O(log n) in
//! the number of blocks and ranks.

mod block_set;
mod choose;
mod index;
mod message;
mod rank_state;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

pub use message::{BlockLease, RankRequest, Reply};

use block_set::BlockSet;
use rank_state::{RankState, TimeKey};

/// Number of a rank. It is a type of its own, because blocks also have numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rank(pub usize);

impl fmt::Display for Rank {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Minimum number of idle ranks, the fastest first, that are checked after a change.
const MIN_SCANNED: usize = 4;

/// Parameters of the dispatcher.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rules {
    /// Number of ranks on which a block must fail to count as failed.
    pub attempts: usize,
    /// Maximum seconds of work in a lease that has more than one block.
    pub lease_seconds: f64,
    /// Seconds of work that a rank still holds when it asks for the next lease. This is at least
    /// one block.
    pub ahead_seconds: f64,
    /// Minimum seconds of silence after which other ranks may compute a rank's blocks.
    pub silence_seconds: f64,
    /// Minimum silence as a multiple of the expected time of the block. Both minimum times must
    /// have passed.
    pub silence_blocks: f64,
    /// Whether idle ranks get copies of blocks that other ranks hold.
    pub copies: bool,
}

impl Default for Rules {
    fn default() -> Self {
        Rules {
            attempts: 3,
            lease_seconds: 60.0,
            ahead_seconds: 1.0,
            silence_seconds: 60.0,
            silence_blocks: 20.0,
            copies: true,
        }
    }
}

/// Answer to a rank that asks for blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The rank computes these blocks.
    Lease(BlockLease),
    /// The rank waits until [`Dispatcher::answer`] returns this rank.
    Wait,
    /// There is no more work for the rank.
    End,
}

/// Consequences of a finished block.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FinishOutcome {
    /// Whether this is the first result of the block.
    pub counts: bool,
    /// Other ranks that hold the block and no longer need to compute it.
    pub drop: Vec<Rank>,
}

/// Counts of events.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DispatchTally {
    /// Number of leases.
    pub leases: u64,
    /// Number of blocks in all leases.
    pub leased: u64,
    /// Number of leased blocks that another rank already held.
    pub copies: u64,
    /// Number of results that arrived for blocks with an earlier result.
    pub repeated: u64,
    /// Number of failures of a block on a rank.
    pub failures: u64,
    /// Number of times that a rank was silent for too long.
    pub overdue: u64,
}

/// A block that no rank could compute, with the error message of each rank.
pub type FailedBlock<'a> = (usize, &'a [(Rank, String)]);

/// Assigns the blocks of one job to ranks. See [the module](self).
#[derive(Debug)]
pub struct Dispatcher {
    rules: Rules,
    /// Prefix sums of the blocks' cells: element `b` is the number of cells of all blocks before
    /// `b`.
    prefix_cells: Vec<u64>,
    done: Vec<bool>,
    /// Number of blocks that are neither done nor failed.
    unsettled: usize,
    open_cells: u64,
    /// Blocks that any rank may get and that have not failed on any rank.
    free: BlockSet,
    free_cells: u64,
    /// Blocks that have failed on at least one rank. Any other rank may get them.
    retry: BTreeSet<usize>,
    failures: BTreeMap<usize, Vec<(Rank, String)>>,
    failed_blocks: BTreeSet<usize>,
    /// Ranks that hold each block, the latest last. The result is expected from the latest holder.
    holders: BTreeMap<usize, Vec<Rank>>,
    ranks: BTreeMap<Rank, RankState>,
    overdue: usize,
    /// Time of the latest message from a rank whose blocks do not fail repeatedly.
    last_heard: f64,
    /// Number of ranks that are neither silent for too long nor fail repeatedly.
    reliable: usize,
    idle: usize,
    measured: usize,
    speed_sum: u64,
    by_speed: BTreeSet<(u64, Rank)>,
    /// Time when each rank should finish the blocks that are expected from it.
    ends: BTreeSet<(TimeKey, Rank)>,
    /// Time of the next check for silence of each rank.
    deadlines: BTreeSet<(TimeKey, Rank)>,
    /// Waiting ranks, ordered by speed.
    waiting: BTreeSet<(u64, Rank)>,
    /// Whether an event may have provided work for a waiting rank.
    needs_scan: bool,
    wake_first: Vec<Rank>,
    tally: DispatchTally,
}

impl Dispatcher {
    /// Creates a dispatcher for blocks with these numbers of cells. Skips the blocks that are
    /// `done`.
    ///
    /// # Panics
    /// Panics if `done` and `cells` differ in length.
    pub fn new(cells: &[u64], done: &[bool], rules: Rules) -> Self {
        assert_eq!(cells.len(), done.len(), "a block is done or not");
        let mut before = Vec::with_capacity(cells.len() + 1);
        before.push(0);
        let mut sum = 0u64;
        for &cells in cells {
            // A block without cells also takes some time, so it counts as one cell.
            sum += cells.max(1);
            before.push(sum);
        }
        let mut dispatcher = Dispatcher {
            rules,
            prefix_cells: before,
            done: done.to_vec(),
            unsettled: 0,
            open_cells: 0,
            free: BlockSet::default(),
            free_cells: 0,
            retry: BTreeSet::new(),
            failures: BTreeMap::new(),
            failed_blocks: BTreeSet::new(),
            holders: BTreeMap::new(),
            ranks: BTreeMap::new(),
            overdue: 0,
            last_heard: f64::NEG_INFINITY,
            reliable: 0,
            idle: 0,
            measured: 0,
            speed_sum: 0,
            by_speed: BTreeSet::new(),
            ends: BTreeSet::new(),
            deadlines: BTreeSet::new(),
            waiting: BTreeSet::new(),
            needs_scan: false,
            wake_first: Vec::new(),
            tally: DispatchTally::default(),
        };
        for block in (0..cells.len()).filter(|&block| !done[block]) {
            dispatcher.unsettled += 1;
            dispatcher.open_cells += dispatcher.cells(block);
            dispatcher.make_available(block);
        }
        dispatcher
    }

    /// Adds a rank. If the rank joins again, its state is reset and its blocks become free.
    pub fn add_rank(&mut self, rank: Rank, now: f64) {
        self.end_rank(rank, now);
        self.insert_rank(rank, RankState::default());
    }

    /// Answers a rank that asks for blocks. After [`Answer::Wait`], the rank waits until
    /// [`Dispatcher::answer`] returns this rank.
    pub fn answer_request(&mut self, rank: Rank, now: f64) -> Answer {
        let Some(mut state) = self.remove_rank(rank) else { return Answer::End };
        self.record_contact(&mut state, now);
        let answer = self.choose(rank, &mut state, now);
        state.is_waiting = answer == Answer::Wait;
        self.insert_rank(rank, state);
        answer
    }

    /// Records that a block is done. The first result counts, from any rank.
    pub fn finished(&mut self, rank: Rank, block: usize, now: f64) -> FinishOutcome {
        if let Some(mut state) = self.remove_rank(rank) {
            self.record_contact(&mut state, now);
            if self.remove_holder(rank, &mut state, block) {
                state.measure(self.cells(block), now - state.since);
                state.since = now;
            }
            state.consecutive_failures = 0;
            self.insert_rank(rank, state);
        }
        self.wake_first.push(rank);
        self.needs_scan = true;
        if self.done.get(block) != Some(&false) {
            self.tally.repeated += 1;
            return FinishOutcome::default();
        }
        self.done[block] = true;
        if !self.failed_blocks.remove(&block) {
            self.count_finished(block);
        }
        self.make_unavailable(block);
        let drop = self.holders.remove(&block).unwrap_or_default();
        let cells = self.cells(block);
        for &other in &drop {
            if let Some(mut state) = self.remove_rank(other) {
                let is_last = drop.last() == Some(&other);
                state.queue.retain(|&one| one != block);
                state.queued_cells -= cells;
                state.expected_cells -= if is_last { cells } else { 0 };
                self.insert_rank(other, state);
                self.wake_first.push(other);
            }
        }
        FinishOutcome { counts: true, drop }
    }

    /// Records that a block failed on a rank. Returns whether other ranks will try it.
    pub fn failed(&mut self, rank: Rank, block: usize, error: String, now: f64) -> bool {
        if let Some(mut state) = self.remove_rank(rank) {
            self.record_contact(&mut state, now);
            if self.remove_holder(rank, &mut state, block) {
                state.since = now;
            }
            state.consecutive_failures += 1;
            self.insert_rank(rank, state);
        }
        self.tally.failures += 1;
        self.needs_scan = true;
        if self.done.get(block) != Some(&false) || self.failed_blocks.contains(&block) {
            return false;
        }
        let failures = self.failures.entry(block).or_default();
        failures.retain(|(other, _)| *other != rank);
        failures.push((rank, error));
        self.make_unavailable(block);
        if self.needs_worker(block) {
            self.make_available(block);
            self.check_failed(block);
        }
        !self.failed_blocks.contains(&block)
    }

    /// Removes a rank that has ended. Its blocks become free.
    pub fn end_rank(&mut self, rank: Rank, now: f64) {
        let Some(mut state) = self.remove_rank(rank) else { return };
        self.record_contact(&mut state, now);
        while let Some(&block) = state.queue.front() {
            self.remove_holder(rank, &mut state, block);
            if self.needs_worker(block) {
                self.make_available(block);
            }
        }
        self.check_failed_all();
        self.needs_scan = true;
    }

    /// Makes the blocks of ranks that are silent for too long available to other ranks. Returns the
    /// ranks that have become silent since the last call.
    pub fn tick(&mut self, now: f64) -> Vec<Rank> {
        let mut silent = Vec::new();
        while let Some(&(deadline, rank)) = self.deadlines.first()
            && deadline.0 <= now
        {
            let Some(mut state) = self.remove_rank(rank) else { break };
            if self.is_overdue(&state, now) {
                state.is_overdue = true;
                self.overdue += 1;
                silent.push(rank);
            } else {
                state.next_check = now + self.rules.silence_seconds.max(1.0);
            }
            let queue = state.queue.clone();
            self.insert_rank(rank, state);
            for block in queue {
                if self.needs_worker(block) {
                    self.make_available(block);
                }
            }
        }
        if !silent.is_empty() {
            self.tally.overdue += silent.len() as u64;
            self.check_failed_all();
        }
        self.fail_hopeless(now);
        self.needs_scan = true;
        silent
    }

    /// Returns the next waiting rank with its answer, which is a lease or the end.
    pub fn answer(&mut self, now: f64) -> Option<(Rank, Answer)> {
        if self.unsettled == 0 {
            let &(_, rank) = self.waiting.first()?;
            self.update_rank(rank, |state| state.is_waiting = false);
            return Some((rank, Answer::End));
        }
        while self.needs_scan {
            let mut candidates = std::mem::take(&mut self.wake_first);
            // A block has failed on fewer than `attempts` ranks, so one of the scanned ranks can
            // try it.
            let scanned = MIN_SCANNED.max(self.rules.attempts.saturating_add(1));
            candidates.extend(self.waiting.iter().rev().take(scanned).map(|&(_, rank)| rank));
            for (index, &rank) in candidates.iter().enumerate() {
                let Some(mut state) = self.remove_rank(rank) else { continue };
                let answer = if state.is_waiting { self.choose(rank, &mut state, now) } else { Answer::Wait };
                if answer != Answer::Wait {
                    state.is_waiting = false;
                    self.insert_rank(rank, state);
                    self.wake_first.extend(&candidates[index + 1..]);
                    return Some((rank, answer));
                }
                self.insert_rank(rank, state);
            }
            self.needs_scan = false;
        }
        None
    }

    /// Checks whether every block is done or has failed.
    pub fn is_over(&self) -> bool {
        self.unsettled == 0
    }

    /// Returns the number of blocks that are neither done nor failed.
    pub fn unfinished_blocks(&self) -> usize {
        self.unsettled
    }

    /// Checks whether a block has a result.
    pub fn is_done(&self, block: usize) -> bool {
        self.done.get(block) == Some(&true)
    }

    /// Returns the blocks that no rank could compute, in order.
    pub fn failed_blocks(&self) -> impl Iterator<Item = FailedBlock<'_>> {
        self.failed_blocks.iter().map(|block| (*block, self.failures.get(block).map_or(&[][..], Vec::as_slice)))
    }

    /// Returns the number of ranks.
    pub fn ranks(&self) -> usize {
        self.ranks.len()
    }

    /// Returns the speed of a rank in cells per second. `None` until the rank has finished a block.
    pub fn speed(&self, rank: Rank) -> Option<u64> {
        self.ranks.get(&rank)?.speed()
    }

    /// Returns the counts of events.
    pub fn tally(&self) -> DispatchTally {
        self.tally
    }

    fn cells(&self, block: usize) -> u64 {
        self.prefix_cells[block + 1] - self.prefix_cells[block]
    }
}
