//! What is known of one rank.

use std::cmp::Ordering;
use std::collections::VecDeque;

/// After so many seconds of work a measurement counts half.
const HALF_LIFE: f64 = 60.0;
/// What the first block, in which a rank got ready, counts once there is a second.
const FIRST_WEIGHT: f64 = 0.1;
/// Blocks that a rank fails one after another before the others' blocks are kept from it.
const STUMBLES: u32 = 3;

/// A time or a time span as a key of an ordered set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Moment(pub(super) f64);

impl Eq for Moment {}

impl PartialOrd for Moment {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Moment {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// One rank, as it looks from where the blocks are handed out.
#[derive(Debug, Clone, Default)]
pub(super) struct Standing {
    /// Cells and seconds in which they were done, the last ones with full weight.
    cells: f64,
    seconds: f64,
    finished: u64,
    /// What it holds, in the order in which it will compute that.
    pub(super) queue: VecDeque<usize>,
    /// Cells of the queue.
    pub(super) queued: u64,
    /// Cells of those blocks in the queue that no other rank got later.
    pub(super) sole: u64,
    /// When it began the first of the queue.
    pub(super) since: f64,
    /// Not to be looked at before, if it has no speed yet.
    pub(super) look_again: f64,
    /// It asked and has no answer yet.
    pub(super) is_waiting: bool,
    /// It was silent for too long.
    pub(super) is_overdue: bool,
    /// Blocks failed since one was finished.
    pub(super) stumbles: u32,
    /// What it is in the dispatcher's ordered sets by.
    pub(super) keys: Keys,
}

/// Where a rank is found in ordered sets, so that it can be taken out.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Keys {
    pub(super) end: Option<Moment>,
    pub(super) deadline: Option<Moment>,
    pub(super) waiting: Option<u64>,
    pub(super) speed: Option<u64>,
    pub(super) is_counted: bool,
}

impl Standing {
    /// Cells a second, once it has finished a block.
    pub(super) fn speed(&self) -> Option<u64> {
        (self.finished > 0).then(|| ((self.cells / self.seconds) as u64).max(1))
    }

    /// Whether it fails whatever it is given.
    pub(super) fn stumbles(&self) -> bool {
        self.stumbles >= STUMBLES
    }

    /// Whether others can count on it.
    pub(super) fn is_reliable(&self) -> bool {
        !self.is_overdue && !self.stumbles()
    }

    /// It did a block in so many seconds. Several engines may end theirs almost at once, so that single measurements say little.
    pub(super) fn measure(&mut self, cells: u64, seconds: f64) {
        let seconds = seconds.max(1e-6);
        let kept = if self.finished == 1 { FIRST_WEIGHT } else { (-seconds / HALF_LIFE).exp2() };
        self.cells = self.cells * kept + cells as f64;
        self.seconds = self.seconds * kept + seconds;
        self.finished += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_speed_follows_what_is_done() {
        let mut standing = Standing::default();
        assert_eq!(standing.speed(), None);
        // The first block is slow as kernels are compiled in it.
        standing.measure(1000, 10.0);
        assert_eq!(standing.speed(), Some(100));
        standing.measure(1000, 1.0);
        assert_eq!(standing.speed(), Some(550));
        for _ in 0..200 {
            standing.measure(1000, 1.0);
        }
        assert!((990..=1000).contains(&standing.speed().unwrap()), "{standing:?}");
        // Two that end together are no marvel.
        standing.measure(1000, 2.0);
        standing.measure(1000, 0.0);
        assert!((950..=1050).contains(&standing.speed().unwrap()), "{standing:?}");
        // A rank that has become slow is seen to be after some minutes.
        for _ in 0..30 {
            standing.measure(1000, 10.0);
        }
        assert!((100..=130).contains(&standing.speed().unwrap()), "{standing:?}");
    }
}
