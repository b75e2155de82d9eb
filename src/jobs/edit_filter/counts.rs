//! Counts of the pairs that a stage of the filter excluded, for the summary.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use crate::engine::queue::ExcludedPairs;
use crate::engine::stats::EngineStats;

/// Pairs that a stage excluded, and its time. Threads may add to it at the same time.
#[derive(Debug, Default)]
pub(super) struct ExclusionCounts {
    calls: AtomicU64,
    pairs: AtomicU64,
    cells: AtomicU64,
    nanoseconds: AtomicU64,
}

impl ExclusionCounts {
    /// Adds the pairs that a call excluded.
    pub(super) fn add(&self, excluded: ExcludedPairs) {
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.pairs.fetch_add(excluded.pairs, Ordering::Relaxed);
        self.cells.fetch_add(excluded.cells, Ordering::Relaxed);
    }

    /// Adds the time since `started`.
    pub(super) fn add_time(&self, started: Instant) {
        self.nanoseconds.fetch_add(started.elapsed().as_nanos() as u64, Ordering::Relaxed);
    }

    /// Returns a row of the summary with the counts since the last call.
    pub(super) fn take_row(&self, name: &str, threads: usize) -> EngineStats {
        let take = |count: &AtomicU64| count.swap(0, Ordering::Relaxed);
        let seconds = take(&self.nanoseconds) as f64 / 1e9;
        EngineStats {
            name: name.into(),
            threads: threads as u64,
            batches: take(&self.calls),
            pairs: take(&self.pairs),
            cells: take(&self.cells),
            busy_seconds: seconds,
            kernel_seconds: seconds,
            ..EngineStats::default()
        }
    }
}
