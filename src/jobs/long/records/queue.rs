//! The waiting pairs of a block.

use std::cmp::Reverse;
use std::collections::VecDeque;
use std::sync::Mutex;

use super::LongRecordPairs;
use super::compute::lock;

/// Maximum number of cells of a pair that one thread computes while other threads compute other
/// pairs: at most about a second.
const SMALL_CELLS: u64 = 1 << 32;
/// Seconds that devices need for a pair in addition to its cells: launches, copies, and a traceback
/// through many small regions. (An H200: 6 ms for pairs of 3,000 symbols, 26 ms for 16,000.)
const PAIR_SECONDS: f64 = 0.005;

/// Speeds in cells per second.
#[derive(Debug, Clone, Copy)]
pub(super) struct PairSpeeds {
    /// All devices together.
    pub(super) devices: f64,
    /// One thread.
    pub(super) thread: f64,
}

/// Pairs that wait, longest first. Devices take any pair. A thread takes small pairs only.
pub(super) struct PairQueue {
    waiting: Mutex<WaitingPairs>,
    /// Speeds if devices compute at the same time as threads.
    speeds: Option<PairSpeeds>,
}

/// A pair that waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct WaitingPair {
    pub(super) unit: u64,
    /// Number of cells in all strands.
    cells: u64,
    /// Whether one thread may compute the pair.
    is_small: bool,
}

#[derive(Default)]
struct WaitingPairs {
    large: VecDeque<WaitingPair>,
    small: VecDeque<WaitingPair>,
    /// Cells of all waiting pairs.
    cells: u64,
}

impl PairQueue {
    /// Creates a queue of these units of a job.
    pub(super) fn new(job: &LongRecordPairs, units: &[u64], strands: u64, speeds: Option<PairSpeeds>) -> Self {
        let pair = |&unit: &u64| {
            let cells = job.cells_of(unit).saturating_mul(strands);
            WaitingPair { unit, cells, is_small: is_small(job, unit) }
        };
        let mut longest_first: Vec<WaitingPair> = units.iter().map(pair).collect();
        longest_first.sort_by_key(|pair| (Reverse(pair.cells), pair.unit));
        let mut waiting = WaitingPairs::default();
        longest_first.into_iter().for_each(|pair| waiting.push_back(pair));
        PairQueue { waiting: Mutex::new(waiting), speeds }
    }

    /// Takes the longest pair.
    pub(super) fn take_longest(&self) -> Option<WaitingPair> {
        let mut waiting = lock(&self.waiting);
        let pair = waiting.large.pop_front().or_else(|| waiting.small.pop_front())?;
        waiting.cells = waiting.cells.saturating_sub(pair.cells);
        Some(pair)
    }

    /// Takes the longest small pair for one thread. Returns `None` if there is none, or if devices
    /// would finish all waiting pairs before the thread finishes this one.
    pub(super) fn take_small(&self) -> Option<WaitingPair> {
        let mut waiting = lock(&self.waiting);
        let pair = *waiting.small.front()?;
        if let Some(speeds) = self.speeds {
            let pairs = waiting.large.len() + waiting.small.len();
            let by_devices = waiting.cells as f64 / speeds.devices + pairs as f64 * PAIR_SECONDS;
            if pair.cells as f64 / speeds.thread > by_devices {
                return None;
            }
        }
        waiting.small.pop_front();
        waiting.cells = waiting.cells.saturating_sub(pair.cells);
        Some(pair)
    }

    /// Takes back a pair whose engine failed. It is the next one.
    pub(super) fn give_back(&self, pair: WaitingPair) {
        let mut waiting = lock(&self.waiting);
        waiting.cells = waiting.cells.saturating_add(pair.cells);
        if pair.is_small { waiting.small.push_front(pair) } else { waiting.large.push_front(pair) }
    }

    /// Returns whether no pair waits.
    pub(super) fn is_empty(&self) -> bool {
        let waiting = lock(&self.waiting);
        waiting.large.is_empty() && waiting.small.is_empty()
    }
}

impl WaitingPairs {
    fn push_back(&mut self, pair: WaitingPair) {
        self.cells = self.cells.saturating_add(pair.cells);
        if pair.is_small { self.small.push_back(pair) } else { self.large.push_back(pair) }
    }
}

/// Returns whether one thread may compute a pair.
pub(super) fn is_small(job: &LongRecordPairs, unit: u64) -> bool {
    job.cells_of(unit) <= SMALL_CELLS
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::jobs::long::{LongAlignment, TopPer};
    use crate::score::Scoring;
    use crate::seq::{Alphabet, SequenceStore};

    /// Returns a job whose queries have these lengths, with a target of 100,000 symbols.
    fn job(lengths: &[usize]) -> LongRecordPairs {
        let store = |lengths: &[usize]| {
            let mut store = SequenceStore::builder(Alphabet::Dna);
            for (index, &length) in lengths.iter().enumerate() {
                store.push(index.to_string(), &vec![1; length]).expect("the sequence fits");
            }
            Arc::new(store.build())
        };
        let settings = LongAlignment::new(store(lengths), 0, store(&[100_000]), 0, Arc::new(Scoring::dna()));
        let queries = (0..lengths.len() as u32).collect();
        LongRecordPairs { settings, queries, targets: vec![0], top_per: TopPer::Pair }
    }

    #[test]
    fn devices_take_the_longest_pair_and_threads_the_longest_small_one() {
        let job = job(&[30, 90_000, 40_000, 50_000, 42_949]);
        let queue = PairQueue::new(&job, &[0, 1, 2, 3, 4], 1, None);
        let small = || queue.take_small().map(|pair| pair.unit);
        let longest = || queue.take_longest().map(|pair| pair.unit);
        assert_eq!(small(), Some(4), "42,949 rows have at most 2^32 cells");
        let first = queue.take_longest().expect("a pair");
        assert_eq!(first.unit, 1);
        queue.give_back(first);
        assert_eq!([small(), longest(), longest(), longest()], [Some(2), Some(1), Some(3), Some(0)]);
        assert!(queue.is_empty() && longest().is_none() && small().is_none());
    }

    #[test]
    fn threads_leave_pairs_that_devices_finish_earlier() {
        let job = job(&[20_000; 10]);
        let units: Vec<u64> = (0..10).collect();
        let taken = |thread| {
            let queue = PairQueue::new(&job, &units, 2, Some(PairSpeeds { devices: 1e12, thread }));
            std::iter::from_fn(|| queue.take_small()).count()
        };
        // A thread needs 4 s, 0.04 s or 0.004 s for a pair, and devices 0.009 s.
        assert_eq!([taken(1e9), taken(1e11), taken(1e12)], [0, 6, 10]);
    }
}
