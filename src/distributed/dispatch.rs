//! Who computes which blocks: the one that all ranks of a job ask for work.
//!
//! A state machine without clock, threads or input and output: it hears what happens and when, and says what follows.
//! Whoever carries messages, be it MPI or the simulation in [`super::simulate`], uses it like this:
//!
//! 1. [`Dispatcher::joined`] for every rank that there will be, before any of them asks.
//! 2. A rank [asks](Dispatcher::asks); it is told a lease, that all is done, or nothing yet. It asks again when no more than
//!    [`Lease::ask_at`] of its blocks are unfinished, or no more than one is left to begin, so that its engines have the next lease
//!    before they are done with this one.
//! 3. It tells of each block as soon as it is [finished](Dispatcher::finished) or has [failed](Dispatcher::failed).
//! 4. After each event, [`Dispatcher::answer`] until that is `None`: those who wait may have got something.
//! 5. About every second, [`Dispatcher::tick`], then the same.
//! 6. [`Dispatcher::is_over`], and nobody waits any more: what was [given up](Dispatcher::given_up) is named.
//!
//! How much a rank gets is guided self-scheduling by its measured speed, as in a node's queue ([`crate::engine::sizing`]):
//! a third of what it will do of all that is left when all end together, but no more than [`Rules::lease_seconds`] of work,
//! and at least one block. Towards the end,
//! - a rank that would be done with the next block later than all others with everything that is left gets nothing,
//! - an idle rank gets a copy of a block that another holds if it would be done with it much sooner. The first result counts. The
//!   block is then expected of who got it last: if nothing is heard of that one either, yet another gets it.
//!
//! A rank that says nothing for long loses nothing, but others may have its blocks as well. A block that fails is tried on other
//! ranks, and given up after [`Rules::attempts`]. A rank that fails whatever it is given gets no more while others do well.
//! Each event costs O(log n) of blocks and ranks.

mod books;
mod choose;
mod message;
mod spans;
mod standing;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

pub use message::{Lease, Reply, Request};

use spans::Spans;
use standing::{Moment, Standing};

/// The number of one who computes.
pub type Rank = usize;

/// Idle ranks that are looked at when something changes, at least: the fastest ones.
const LOOKED_AT: usize = 4;

/// What the dispatcher goes by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rules {
    /// Ranks on which a block may fail before it is given up.
    pub attempts: usize,
    /// Seconds of work that a lease has at most, if it has more than one block.
    pub lease_seconds: f64,
    /// Seconds of work that a rank still has when it asks for the next lease, if it holds more than one block.
    pub ahead_seconds: f64,
    /// Seconds of silence after which others may have a rank's blocks, and the same in times that its block should take: both
    /// have to be over.
    pub silence_seconds: f64,
    /// See `silence_seconds`.
    pub silence_blocks: f64,
    /// Whether idle ranks get copies of blocks that others hold.
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

/// What a rank that asks is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// Blocks for it.
    Lease(Lease),
    /// Nothing yet: [`Dispatcher::answer`] will say more.
    Wait,
    /// Nothing any more.
    End,
}

/// What a finished block means.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Finished {
    /// It is the first result of this block.
    pub counts: bool,
    /// Others who hold this block, and need not begin it.
    pub drop: Vec<Rank>,
}

/// What has happened so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Leases given.
    pub leases: u64,
    /// Blocks in them.
    pub leased: u64,
    /// Of these, copies of blocks that another rank held.
    pub copies: u64,
    /// Results that came when there was one.
    pub repeated: u64,
    /// Blocks that failed on some rank.
    pub failures: u64,
    /// Times that a rank was found silent for too long.
    pub overdue: u64,
}

/// A block that no rank could compute: ranks, and what they said.
pub type GivenUp<'a> = (usize, &'a [(Rank, String)]);

/// Hands out the blocks of one job. See [the module](self).
#[derive(Debug)]
pub struct Dispatcher {
    rules: Rules,
    /// Cells of all blocks before each one, and of all blocks.
    before: Vec<u64>,
    done: Vec<bool>,
    /// Blocks that are neither done nor given up, and their cells.
    unsettled: usize,
    open_cells: u64,
    /// Blocks that anyone may have who asks.
    free: Spans,
    free_cells: u64,
    /// The same of those that failed on some rank: any other may have them.
    retry: BTreeSet<usize>,
    failures: BTreeMap<usize, Vec<(Rank, String)>>,
    given_up: BTreeSet<usize>,
    /// Who computes a block, in the order in which they got it: it is expected of the last.
    held: BTreeMap<usize, Vec<Rank>>,
    ranks: BTreeMap<Rank, Standing>,
    overdue: usize,
    /// When a rank was heard that can be relied on.
    last_heard: f64,
    /// Ranks that can be relied on, those of them who wait, those with a speed, and these speeds together.
    counted: usize,
    idle: usize,
    measured: usize,
    speeds: u64,
    by_speed: BTreeSet<(u64, Rank)>,
    /// When ranks will be done with what is expected of them.
    ends: BTreeSet<(Moment, Rank)>,
    /// Until when ranks are expected to say something.
    deadlines: BTreeSet<(Moment, Rank)>,
    /// Those who wait, by speed.
    waiting: BTreeSet<(u64, Rank)>,
    /// Something has changed for those who wait, and for whom above all.
    is_stirred: bool,
    nudged: Vec<Rank>,
    tally: Tally,
}

impl Dispatcher {
    /// Hands out blocks of so many cells, without those that are done.
    ///
    /// # Panics
    /// If there are not as many in `done` as in `cells`.
    pub fn new(cells: &[u64], done: &[bool], rules: Rules) -> Self {
        assert_eq!(cells.len(), done.len(), "a block is done or not");
        let mut before = Vec::with_capacity(cells.len() + 1);
        before.push(0);
        let mut sum = 0u64;
        for &cells in cells {
            // A block without cells is some work, too.
            sum += cells.max(1);
            before.push(sum);
        }
        let mut dispatcher = Dispatcher {
            rules,
            before,
            done: done.to_vec(),
            unsettled: 0,
            open_cells: 0,
            free: Spans::default(),
            free_cells: 0,
            retry: BTreeSet::new(),
            failures: BTreeMap::new(),
            given_up: BTreeSet::new(),
            held: BTreeMap::new(),
            ranks: BTreeMap::new(),
            overdue: 0,
            last_heard: f64::NEG_INFINITY,
            counted: 0,
            idle: 0,
            measured: 0,
            speeds: 0,
            by_speed: BTreeSet::new(),
            ends: BTreeSet::new(),
            deadlines: BTreeSet::new(),
            waiting: BTreeSet::new(),
            is_stirred: false,
            nudged: Vec::new(),
            tally: Tally::default(),
        };
        for block in (0..cells.len()).filter(|&block| !done[block]) {
            dispatcher.unsettled += 1;
            dispatcher.open_cells += dispatcher.cells(block);
            dispatcher.release(block);
        }
        dispatcher
    }

    /// A rank is there and will ask. One that was there is so afresh: what it held is free.
    pub fn joined(&mut self, rank: Rank, now: f64) {
        self.gone(rank, now);
        self.put(rank, Standing::default());
    }

    /// A rank wants blocks. One that is told to wait waits until [`Dispatcher::answer`] names it.
    pub fn asks(&mut self, rank: Rank, now: f64) -> Answer {
        let Some(mut standing) = self.take(rank) else { return Answer::End };
        self.heard(&mut standing, now);
        let answer = self.choose(rank, &mut standing, now);
        standing.is_waiting = answer == Answer::Wait;
        self.put(rank, standing);
        answer
    }

    /// A block is computed. The first result counts, whoever brings it.
    pub fn finished(&mut self, rank: Rank, block: usize, now: f64) -> Finished {
        if let Some(mut standing) = self.take(rank) {
            self.heard(&mut standing, now);
            if self.unhold(rank, &mut standing, block) {
                standing.measure(self.cells(block), now - standing.since);
                standing.since = now;
            }
            standing.stumbles = 0;
            self.put(rank, standing);
        }
        self.nudged.push(rank);
        self.is_stirred = true;
        if self.done.get(block) != Some(&false) {
            self.tally.repeated += 1;
            return Finished::default();
        }
        self.done[block] = true;
        if !self.given_up.remove(&block) {
            self.settle(block);
        }
        self.withdraw(block);
        let drop = self.held.remove(&block).unwrap_or_default();
        let cells = self.cells(block);
        for &other in &drop {
            if let Some(mut standing) = self.take(other) {
                let is_last = drop.last() == Some(&other);
                standing.queue.retain(|&one| one != block);
                standing.queued -= cells;
                standing.sole -= if is_last { cells } else { 0 };
                self.put(other, standing);
                self.nudged.push(other);
            }
        }
        Finished { counts: true, drop }
    }

    /// A block could not be computed. Says whether others will try it.
    pub fn failed(&mut self, rank: Rank, block: usize, error: String, now: f64) -> bool {
        if let Some(mut standing) = self.take(rank) {
            self.heard(&mut standing, now);
            if self.unhold(rank, &mut standing, block) {
                standing.since = now;
            }
            standing.stumbles += 1;
            self.put(rank, standing);
        }
        self.tally.failures += 1;
        self.is_stirred = true;
        if self.done.get(block) != Some(&false) || self.given_up.contains(&block) {
            return false;
        }
        let failures = self.failures.entry(block).or_default();
        failures.retain(|(other, _)| *other != rank);
        failures.push((rank, error));
        self.withdraw(block);
        if self.is_left_alone(block) {
            self.release(block);
            self.abandon(block);
        }
        !self.given_up.contains(&block)
    }

    /// A rank is no more: what it held is free.
    pub fn gone(&mut self, rank: Rank, now: f64) {
        let Some(mut standing) = self.take(rank) else { return };
        self.heard(&mut standing, now);
        while let Some(&block) = standing.queue.front() {
            self.unhold(rank, &mut standing, block);
            if self.is_left_alone(block) {
                self.release(block);
            }
        }
        self.abandon_all();
        self.is_stirred = true;
    }

    /// Looks for ranks that have been silent for too long: others may have their blocks as well. Says which ranks are newly so.
    pub fn tick(&mut self, now: f64) -> Vec<Rank> {
        let mut late = Vec::new();
        while let Some(&(deadline, rank)) = self.deadlines.first()
            && deadline.0 <= now
        {
            let Some(mut standing) = self.take(rank) else { break };
            if self.is_overdue(&standing, now) {
                standing.is_overdue = true;
                self.overdue += 1;
                late.push(rank);
            } else {
                standing.look_again = now + self.rules.silence_seconds.max(1.0);
            }
            let queue = standing.queue.clone();
            self.put(rank, standing);
            for block in queue {
                if self.is_left_alone(block) {
                    self.release(block);
                }
            }
        }
        if !late.is_empty() {
            self.tally.overdue += late.len() as u64;
            self.abandon_all();
        }
        self.abandon_hopeless(now);
        self.is_stirred = true;
        late
    }

    /// The next one of those who wait that there is something for: a lease, or the end.
    pub fn answer(&mut self, now: f64) -> Option<(Rank, Answer)> {
        if self.unsettled == 0 {
            let &(_, rank) = self.waiting.first()?;
            self.change(rank, |standing| standing.is_waiting = false);
            return Some((rank, Answer::End));
        }
        while self.is_stirred {
            let mut candidates = std::mem::take(&mut self.nudged);
            // One more than a block may have failed on.
            let looked_at = LOOKED_AT.max(self.rules.attempts.saturating_add(1));
            candidates.extend(self.waiting.iter().rev().take(looked_at).map(|&(_, rank)| rank));
            for (index, &rank) in candidates.iter().enumerate() {
                let Some(mut standing) = self.take(rank) else { continue };
                let answer = if standing.is_waiting { self.choose(rank, &mut standing, now) } else { Answer::Wait };
                if answer != Answer::Wait {
                    standing.is_waiting = false;
                    self.put(rank, standing);
                    self.nudged.extend(&candidates[index + 1..]);
                    return Some((rank, answer));
                }
                self.put(rank, standing);
            }
            self.is_stirred = false;
        }
        None
    }

    /// Whether every block is done or given up.
    pub fn is_over(&self) -> bool {
        self.unsettled == 0
    }

    /// Blocks that are neither done nor given up.
    pub fn unsettled(&self) -> usize {
        self.unsettled
    }

    /// Whether a block has a result.
    pub fn is_done(&self, block: usize) -> bool {
        self.done.get(block) == Some(&true)
    }

    /// The blocks that could not be computed, in order.
    pub fn given_up(&self) -> impl Iterator<Item = GivenUp<'_>> {
        self.given_up.iter().map(|block| (*block, self.failures.get(block).map_or(&[][..], Vec::as_slice)))
    }

    /// Ranks that are there.
    pub fn ranks(&self) -> usize {
        self.ranks.len()
    }

    /// Cells a second of a rank that has finished a block.
    pub fn speed(&self, rank: Rank) -> Option<u64> {
        self.ranks.get(&rank)?.speed()
    }

    /// What has happened.
    pub fn tally(&self) -> Tally {
        self.tally
    }

    fn cells(&self, block: usize) -> u64 {
        self.before[block + 1] - self.before[block]
    }
}
