//! The state of one rank in the dispatcher.

use std::cmp::Ordering;
use std::collections::VecDeque;

/// Seconds of work after which the weight of a measurement has halved.
const HALF_LIFE: f64 = 60.0;
/// Weight of the first measurement after the second one. The first block takes longer, because the
/// rank prepares its engines.
const FIRST_WEIGHT: f64 = 0.1;
/// Number of consecutive failures after which a rank gets no blocks while others compute.
const MAX_CONSECUTIVE_FAILURES: u32 = 3;

/// A time in seconds as a key of an ordered set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct TimeKey(pub(super) f64);

impl Eq for TimeKey {}

impl PartialOrd for TimeKey {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for TimeKey {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// State of one rank.
#[derive(Debug, Clone, Default)]
pub(super) struct RankState {
    /// Weighted sums of computed cells and of the seconds they took. Recent blocks have the highest
    /// weight.
    cells: f64,
    seconds: f64,
    finished: u64,
    /// Blocks that the rank holds, in the order of computation.
    pub(super) queue: VecDeque<usize>,
    /// Number of cells of the blocks in the queue.
    pub(super) queued_cells: u64,
    /// Number of cells of those blocks in the queue whose latest holder is this rank.
    pub(super) expected_cells: u64,
    /// Start of the first block in the queue, in seconds.
    pub(super) since: f64,
    /// Time of the earliest next check for silence.
    pub(super) next_check: f64,
    /// Whether the rank waits for an answer.
    pub(super) is_waiting: bool,
    /// Whether the rank has been silent for too long.
    pub(super) is_overdue: bool,
    /// Number of failed blocks since the last finished one.
    pub(super) consecutive_failures: u32,
    /// Keys of this rank in the dispatcher's ordered sets.
    pub(super) keys: IndexKeys,
}

/// Keys of a rank in the ordered sets, needed to remove it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct IndexKeys {
    pub(super) end: Option<TimeKey>,
    pub(super) deadline: Option<TimeKey>,
    pub(super) waiting: Option<u64>,
    pub(super) speed: Option<u64>,
    pub(super) is_reliable: bool,
}

impl RankState {
    /// Returns the speed in cells per second. `None` until the rank has finished a block.
    pub(super) fn speed(&self) -> Option<u64> {
        (self.finished > 0).then(|| ((self.cells / self.seconds) as u64).max(1))
    }

    /// Checks whether the latest blocks of this rank have all failed.
    pub(super) fn fails_repeatedly(&self) -> bool {
        self.consecutive_failures >= MAX_CONSECUTIVE_FAILURES
    }

    /// Checks whether the dispatcher expects results from this rank.
    pub(super) fn is_reliable(&self) -> bool {
        !self.is_overdue && !self.fails_repeatedly()
    }

    /// Adds a measurement of one block. Several engines may finish blocks at almost the same time,
    /// so that a single measurement is unreliable.
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
    fn speed_follows_measurements() {
        let mut state = RankState::default();
        assert_eq!(state.speed(), None);
        // The first block is slow because kernels are compiled.
        state.measure(1000, 10.0);
        assert_eq!(state.speed(), Some(100));
        state.measure(1000, 1.0);
        assert_eq!(state.speed(), Some(550));
        for _ in 0..200 {
            state.measure(1000, 1.0);
        }
        assert!((990..=1000).contains(&state.speed().unwrap()), "{state:?}");
        // Two blocks that end at the same time do not distort the speed.
        state.measure(1000, 2.0);
        state.measure(1000, 0.0);
        assert!((950..=1050).contains(&state.speed().unwrap()), "{state:?}");
        // A rank that becomes slower is detected within minutes.
        for _ in 0..30 {
            state.measure(1000, 10.0);
        }
        assert!((100..=130).contains(&state.speed().unwrap()), "{state:?}");
    }
}
