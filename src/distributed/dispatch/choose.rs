//! What a rank gets.

use super::standing::Standing;
use super::{Answer, Dispatcher, Lease, Rank};

/// The part of what a rank will do of all that is free that it gets at once.
const PART_OF_SHARE: f64 = 1.0 / 3.0;
/// A rank without a speed gets a second block while there are so many free ones for each rank.
const UNKNOWN_AHEAD: usize = 4;
/// A copy pays if the holder takes longer by this factor than who computes it once more.
const COPY_GAIN: f64 = 1.25;
/// Expectations that are looked at for a copy; those of ranks without a speed may have changed.
const EXPECTED: usize = 4;

impl Dispatcher {
    /// What a rank, which is out of the books, gets now.
    pub(super) fn choose(&mut self, rank: Rank, standing: &mut Standing, now: f64) -> Answer {
        if self.unsettled == 0 {
            return Answer::End;
        }
        // Who fails everything would soon have failed all blocks. Who is silent gets more when it speaks.
        if standing.is_overdue || standing.stumbles() && self.others_work(now) {
            return Answer::Wait;
        }
        let again = self.retry.iter().copied().find(|&block| !self.has_failed_on(block, rank));
        if let Some(block) = again
            && !self.is_too_late(standing, block, now)
        {
            return self.lease(rank, standing, block..block + 1, now);
        }
        if let Some(span) = self.free.first() {
            if self.is_too_late(standing, span.start, now) || self.is_too_early(standing) {
                return Answer::Wait;
            }
            let end = self.before[span.start] + self.lease_cells(standing);
            let blocks = self.before[span.start + 1..=span.end].partition_point(|&cells| cells <= end).max(1);
            let Some(blocks) = self.free.take_first(blocks) else { return Answer::Wait };
            self.free_cells -= self.before[blocks.end] - self.before[blocks.start];
            return self.lease(rank, standing, blocks, now);
        }
        if standing.queue.is_empty()
            && self.rules.copies
            && let Some(block) = self.worth_a_copy(rank, standing, now)
        {
            self.tally.copies += 1;
            return self.lease(rank, standing, block..block + 1, now);
        }
        Answer::Wait
    }

    fn lease(&mut self, rank: Rank, standing: &mut Standing, blocks: std::ops::Range<usize>, now: f64) -> Answer {
        if standing.queue.is_empty() {
            standing.since = now;
        }
        for block in blocks.clone() {
            self.withdraw(block);
            self.hold(rank, standing, block);
        }
        self.tally.leases += 1;
        self.tally.leased += blocks.len() as u64;
        let block = (self.before[blocks.end] - self.before[blocks.start]) as f64 / blocks.len() as f64;
        let ahead = standing.speed().map_or(0.0, |speed| self.rules.ahead_seconds * speed as f64 / block);
        let ask_at = (ahead as usize).clamp(1, blocks.len().max(1));
        Answer::Lease(Lease { blocks, ask_at })
    }

    /// Whether other ranks that can be relied on compute or are about to ask.
    fn others_work(&self, now: f64) -> bool {
        let ask = self.counted > self.idle && now - self.last_heard < self.rules.silence_seconds;
        self.counted > 0 && (ask || !self.deadlines.is_empty())
    }

    /// Cells a second of all other ranks that can be relied on.
    fn others_speed(&self) -> f64 {
        let mean = self.speeds as f64 / (self.measured as f64).max(1.0);
        mean * self.counted as f64
    }

    /// Cells of the next lease.
    fn lease_cells(&self, standing: &Standing) -> u64 {
        // The first block shows how fast it is.
        let Some(speed) = standing.speed().map(|speed| speed as f64) else { return 0 };
        let share = self.free_cells as f64 * speed / (speed + self.others_speed());
        let most = (share * PART_OF_SHARE).min(speed * self.rules.lease_seconds);
        (most as u64).saturating_sub(standing.queued)
    }

    /// Whether all others would be done with everything before this rank with this block.
    fn is_too_late(&self, standing: &Standing, block: usize, now: f64) -> bool {
        let Some(speed) = self.likely_speed(standing) else { return false };
        let others = self.others_speed();
        if others == 0.0 || !self.others_work(now) {
            return false;
        }
        let cells = self.cells(block) as f64;
        let fastest = self.by_speed.last().map_or(speed, |&(fastest, _)| fastest) as f64;
        let theirs = (self.open_cells - standing.sole) as f64 / others + cells / fastest;
        let busy = (standing.since + standing.queued as f64 / speed as f64 - now).max(0.0);
        let busy = if standing.queue.is_empty() { 0.0 } else { busy };
        busy + cells / speed as f64 > theirs
    }

    /// Whether a rank that has not shown its speed should do so before it gets more.
    fn is_too_early(&self, standing: &Standing) -> bool {
        let mean = self.before.last().map_or(0, |&cells| cells) / (self.done.len() as u64).max(1);
        let blocks = self.free_cells / mean.max(1);
        standing.speed().is_none()
            && !standing.queue.is_empty()
            && blocks < (UNKNOWN_AHEAD * (self.ranks.len() + 1)) as u64
    }

    /// A block that another rank holds and that this one would be done with much sooner.
    fn worth_a_copy(&mut self, rank: Rank, standing: &Standing, now: f64) -> Option<usize> {
        let speed = standing.speed()? as f64;
        for _ in 0..EXPECTED {
            let &(key, other) = self.ends.last()?;
            if self.end(self.ranks.get(&other)?) == key {
                break;
            }
            self.change(other, |_| ());
        }
        let &(latest, last) = self.ends.last()?;
        // Who is late is thought to need as long again.
        let &(due, first) = self.ends.first()?;
        let again = now + (now - due.0);
        let (end, holder) = if again > latest.0 { (again, first) } else { (latest.0, last) };
        let queue = &self.ranks.get(&holder)?.queue;
        let is_last = |block: usize| self.held.get(&block).is_some_and(|holders| holders.last() == Some(&holder));
        let block = queue.iter().rev().copied().find(|&block| is_last(block) && !self.has_failed_on(block, rank))?;
        let seconds = self.cells(block) as f64 / speed;
        (end.is_finite() && now + COPY_GAIN * seconds < end).then_some(block)
    }
}
