//! The waiting pairs of a block.

use std::cmp::Reverse;
use std::collections::VecDeque;
use std::sync::Mutex;

use super::LongRecordPairs;
use crate::engine::guard::lock;

/// Maximum number of cells of a small pair, which one thread computes: at most about a second.
pub(super) const SMALL_CELLS: u64 = 1 << 32;
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
    /// Creates a queue of these units of a job. Small pairs have at most `small` cells per strand.
    pub(super) fn new(
        job: &LongRecordPairs,
        units: &[u64],
        strands: u64,
        small: u64,
        speeds: Option<PairSpeeds>,
    ) -> Self {
        let pair = |&unit: &u64| {
            let cells = job.cells_of(unit);
            WaitingPair { unit, cells: cells.saturating_mul(strands), is_small: cells <= small }
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

/// The pairs of a block that threads of the CPU compute without devices.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PairsOfThreads {
    /// Pairs that all threads compute together, one after the other.
    pub(super) together: Vec<u64>,
    /// Pairs that one thread computes each.
    pub(super) alone: Vec<u64>,
}

impl PairsOfThreads {
    /// Divides the units of a job. A thread computes small pairs, and larger ones as long as every
    /// thread has equally many of them: most of their cells may be skipped, and then the rest is too
    /// small for several threads.
    pub(super) fn new(job: &LongRecordPairs, units: &[u64], threads: usize) -> Self {
        if threads < 2 || units.len() < threads {
            // Threads would be idle.
            return PairsOfThreads { together: units.to_vec(), alone: Vec::new() };
        }
        let cells = |unit: u64| job.cells_of(unit);
        let mut longest_first = units.to_vec();
        longest_first.sort_by_key(|&unit| (Reverse(cells(unit)), unit));
        let all = units.iter().map(|&unit| cells(unit)).fold(0, u64::saturating_add);
        // At least two of these pairs are the work of one thread.
        let most = SMALL_CELLS.max(all / (2 * threads as u64));
        let large = longest_first.partition_point(|&unit| cells(unit) > most);
        let small = longest_first.partition_point(|&unit| cells(unit) > SMALL_CELLS);
        let mut alone = longest_first.split_off(large + (small - large) % threads);
        if alone.len() < threads {
            longest_first.append(&mut alone);
        }
        PairsOfThreads { together: longest_first, alone }
    }
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
        LongRecordPairs { settings, queries, targets: vec![0], top_per: TopPer::Pair, max_evalue: None }
    }

    #[test]
    fn devices_take_the_longest_pair_and_threads_the_longest_small_one() {
        let job = job(&[30, 90_000, 40_000, 50_000, 42_949]);
        let queue = PairQueue::new(&job, &[0, 1, 2, 3, 4], 1, SMALL_CELLS, None);
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
            let queue = PairQueue::new(&job, &units, 2, SMALL_CELLS, Some(PairSpeeds { devices: 1e12, thread }));
            std::iter::from_fn(|| queue.take_small()).count()
        };
        // A thread needs 4 s, 0.04 s or 0.004 s for a pair, and devices 0.009 s.
        assert_eq!([taken(1e9), taken(1e11), taken(1e12)], [0, 6, 10]);
    }

    #[test]
    fn threads_have_equally_many_large_pairs() {
        let divide = |lengths: &[usize], threads| {
            let units: Vec<u64> = (0..lengths.len() as u64).collect();
            PairsOfThreads::new(&job(lengths), &units, threads)
        };
        let pairs = |together: &[u64], alone: &[u64]| PairsOfThreads { together: together.into(), alone: alone.into() };
        // Pairs of more than 42,949 rows are large.
        assert_eq!(divide(&[50_000; 5], 2), pairs(&[0], &[1, 2, 3, 4]));
        assert_eq!(divide(&[50_000; 3], 2), pairs(&[0, 1, 2], &[]), "a thread would have one of three pairs");
        assert_eq!(divide(&[30, 400_000, 60_000, 20, 50_000], 2), pairs(&[1], &[2, 4, 0, 3]));
        assert_eq!(divide(&[30, 400_000, 20], 4), pairs(&[0, 1, 2], &[]), "threads would be idle");
        assert_eq!(divide(&[400_000, 30, 20], 2), pairs(&[0], &[1, 2]));
        assert_eq!(divide(&[400_000, 300_000, 30], 2), pairs(&[0, 1, 2], &[]));
        assert_eq!(divide(&[30, 20, 10], 1), pairs(&[0, 1, 2], &[]));
    }
}
