//! The books: what every block and every rank is found by, kept when one of them changes.

use super::standing::{Keys, Moment, Standing};
use super::{Dispatcher, Rank};

/// Silences after which nobody is expected any more who could try a block that the others failed.
const HOPE: f64 = 5.0;

impl Dispatcher {
    /// Takes a rank out of all books, to be changed and [put](Self::put) back.
    pub(super) fn take(&mut self, rank: Rank) -> Option<Standing> {
        let mut standing = self.ranks.remove(&rank)?;
        let keys = std::mem::take(&mut standing.keys);
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
            self.speeds -= speed;
            self.measured -= 1;
        }
        self.counted -= usize::from(keys.is_counted);
        self.idle -= usize::from(keys.is_counted && keys.waiting.is_some());
        Some(standing)
    }

    /// Enters a rank into all books.
    pub(super) fn put(&mut self, rank: Rank, mut standing: Standing) {
        let is_counted = standing.is_reliable();
        let speed = standing.speed().filter(|_| is_counted);
        if let Some(speed) = speed {
            self.by_speed.insert((speed, rank));
            self.speeds += speed;
            self.measured += 1;
        }
        self.counted += usize::from(is_counted);
        let end = (standing.sole > 0 && !standing.is_overdue).then(|| self.end(&standing));
        let waits_with = if is_counted { self.likely_speed(&standing).unwrap_or(0) } else { 0 };
        self.idle += usize::from(is_counted && standing.is_waiting);
        let waiting = standing.is_waiting.then_some(waits_with);
        let deadline = (!standing.queue.is_empty() && !standing.is_overdue).then(|| self.deadline(&standing));
        self.ends.extend(end.map(|end| (end, rank)));
        self.waiting.extend(waiting.map(|speed| (speed, rank)));
        self.deadlines.extend(deadline.map(|deadline| (deadline, rank)));
        standing.keys = Keys { end, deadline, waiting, speed, is_counted };
        self.ranks.insert(rank, standing);
    }

    /// Changes a rank.
    pub(super) fn change(&mut self, rank: Rank, change: impl FnOnce(&mut Standing)) {
        if let Some(mut standing) = self.take(rank) {
            change(&mut standing);
            self.put(rank, standing);
        }
    }

    /// Cells a second of a rank, or of a mean one while it has not shown any.
    pub(super) fn likely_speed(&self, standing: &Standing) -> Option<u64> {
        standing.speed().or_else(|| self.speeds.checked_div(self.measured as u64))
    }

    /// When a rank should be done with what is expected of it; of one without a speed, never.
    pub(super) fn end(&self, standing: &Standing) -> Moment {
        let seconds = self.likely_speed(standing).map(|speed| standing.sole as f64 / speed as f64);
        Moment(seconds.map_or(f64::INFINITY, |seconds| standing.since + seconds))
    }

    /// When to look whether a rank is overdue.
    fn deadline(&self, standing: &Standing) -> Moment {
        let first = standing.since + self.rules.silence_seconds;
        Moment(self.silent_until(standing).unwrap_or(first).max(first).max(standing.look_again))
    }

    /// Until when a rank may be silent over its first block. A new one may be as slow as the slowest; while no rank has a speed,
    /// a block is thought to take as long as a silence.
    fn silent_until(&self, standing: &Standing) -> Option<f64> {
        let &block = standing.queue.front()?;
        let speed = standing.speed().or_else(|| self.by_speed.first().map(|&(speed, _)| speed));
        let least = self.rules.silence_seconds;
        let seconds = speed.map_or(least, |speed| self.cells(block) as f64 / speed as f64);
        Some(standing.since + (self.rules.silence_blocks * seconds).max(least))
    }

    pub(super) fn is_overdue(&self, standing: &Standing, now: f64) -> bool {
        self.silent_until(standing).is_some_and(|until| until <= now)
    }

    /// A rank said something: its blocks are its own again as far as nobody else has them.
    pub(super) fn heard(&mut self, standing: &mut Standing, now: f64) {
        if !standing.stumbles() {
            self.last_heard = now;
        }
        standing.look_again = 0.0;
        if std::mem::take(&mut standing.is_overdue) {
            self.overdue -= 1;
            for &block in &standing.queue {
                self.withdraw(block);
            }
        }
    }

    /// Takes a block from a rank, which is out of the books. Whether it held it.
    pub(super) fn unhold(&mut self, rank: Rank, standing: &mut Standing, block: usize) -> bool {
        let Some(at) = standing.queue.iter().position(|&one| one == block) else { return false };
        standing.queue.remove(at);
        let cells = self.cells(block);
        standing.queued -= cells;
        let Some(holders) = self.held.get_mut(&block) else { return true };
        let was_last = holders.last() == Some(&rank);
        holders.retain(|&other| other != rank);
        let last = holders.last().copied();
        if last.is_none() {
            self.held.remove(&block);
        }
        if was_last {
            standing.sole -= cells;
            if let Some(other) = last {
                self.change(other, |standing| standing.sole += cells);
            }
        }
        true
    }

    /// Gives a block to a rank, which is out of the books.
    pub(super) fn hold(&mut self, rank: Rank, standing: &mut Standing, block: usize) {
        let cells = self.cells(block);
        standing.queue.push_back(block);
        standing.queued += cells;
        let holders = self.held.entry(block).or_default();
        let before = holders.last().copied();
        holders.push(rank);
        standing.sole += cells;
        if let Some(before) = before {
            self.change(before, |standing| standing.sole -= cells);
        }
    }

    /// Whether nobody who can be relied on computes a block that has to be computed.
    pub(super) fn is_left_alone(&self, block: usize) -> bool {
        let is_awake = |rank: &Rank| self.ranks.get(rank).is_some_and(|standing| !standing.is_overdue);
        let is_settled = self.done[block] || self.given_up.contains(&block);
        !is_settled && !self.held.get(&block).is_some_and(|holders| holders.iter().any(is_awake))
    }

    /// A block may be had by anyone who asks.
    pub(super) fn release(&mut self, block: usize) {
        if self.failures.contains_key(&block) {
            self.retry.insert(block);
        } else if self.free.insert(block) {
            self.free_cells += self.cells(block);
        }
    }

    /// A block may not be had any more.
    pub(super) fn withdraw(&mut self, block: usize) {
        self.retry.remove(&block);
        if self.free.remove(block) {
            self.free_cells -= self.cells(block);
        }
    }

    /// A block needs no more work.
    pub(super) fn settle(&mut self, block: usize) {
        self.unsettled -= 1;
        self.open_cells -= self.cells(block);
    }

    pub(super) fn has_failed_on(&self, block: usize, rank: Rank) -> bool {
        self.failures.get(&block).is_some_and(|failures| failures.iter().any(|(other, _)| *other == rank))
    }

    /// Gives a block up that waits to be tried again if it failed often enough, or on everyone there is.
    pub(super) fn abandon(&mut self, block: usize) {
        let Some(failures) = self.failures.get(&block) else { return };
        let awake = self.ranks.len() - self.overdue;
        let tried = failures.iter().filter(|(rank, _)| self.ranks.get(rank).is_some_and(|one| !one.is_overdue)).count();
        let everywhere = awake > 0 && tried == awake;
        if (failures.len() >= self.rules.attempts || everywhere) && self.retry.remove(&block) {
            self.given_up.insert(block);
            self.settle(block);
        }
    }

    /// The same of all blocks, as there are fewer ranks now.
    pub(super) fn abandon_all(&mut self) {
        // More ranks than attempts: one is left for every block.
        if self.ranks.len() - self.overdue < self.rules.attempts {
            for block in self.retry.clone() {
                self.abandon(block);
            }
        }
    }

    /// Gives up what only ranks could try that do not come: nobody has computed anything or spoken for long.
    pub(super) fn abandon_hopeless(&mut self, now: f64) {
        let is_still = self.deadlines.is_empty() && now - self.last_heard > HOPE * self.rules.silence_seconds;
        if is_still && self.free.first().is_none() && self.ranks.len() > self.overdue {
            for block in std::mem::take(&mut self.retry) {
                self.given_up.insert(block);
                self.settle(block);
            }
        }
    }
}
