//! Excludes pairs by their q-grams before engines see a chunk, and counts these pairs.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use crate::edit::Edit;
use crate::edit::qgrams::{self, PrunedPairs};
use crate::engine::queue::QueuedChunk;
use crate::engine::stats::{self, EngineStats, RunStats};

/// Excludes pairs from chunks. Clones share their counts.
#[derive(Debug, Clone)]
pub(super) struct QgramFilter {
    pool: Arc<rayon::ThreadPool>,
    counts: Arc<ExclusionCounts>,
}

#[derive(Debug, Default)]
struct ExclusionCounts {
    chunks: AtomicU64,
    pairs: AtomicU64,
    cells: AtomicU64,
    nanoseconds: AtomicU64,
    /// Excluded pairs and cells that were already reported as progress.
    reported: [AtomicU64; 2],
}

impl QgramFilter {
    /// Creates a filter that runs on the threads of this pool.
    pub(super) fn new(pool: &Arc<rayon::ThreadPool>) -> Self {
        QgramFilter { pool: Arc::clone(pool), counts: Arc::default() }
    }

    /// Returns the rest of a chunk, and the excluded pairs.
    pub(super) fn exclude(&self, planned: QueuedChunk<Edit>) -> (QueuedChunk<Edit>, PrunedPairs) {
        let started = Instant::now();
        let (planned, left_out) = self.pool.install(|| qgrams::prune(planned));
        if left_out.pairs > 0 {
            let counts = &*self.counts;
            counts.chunks.fetch_add(1, Ordering::Relaxed);
            counts.nanoseconds.fetch_add(started.elapsed().as_nanos() as u64, Ordering::Relaxed);
            counts.cells.fetch_add(left_out.cells, Ordering::Relaxed);
            counts.pairs.fetch_add(left_out.pairs, Ordering::Relaxed);
        }
        (planned, left_out)
    }

    /// Returns the numbers of pairs and cells that were excluded since the last call.
    pub(super) fn take_unreported(&self) -> (u64, u64) {
        let ExclusionCounts { pairs, cells, reported, .. } = &*self.counts;
        let since = |all: &AtomicU64, reported: &AtomicU64| {
            let all = all.load(Ordering::Relaxed);
            all - reported.swap(all, Ordering::Relaxed)
        };
        (since(pairs, &reported[0]), since(cells, &reported[1]))
    }

    /// Appends the statistics of this filter if it excluded pairs.
    pub(super) fn add_to(&self, mut ran: RunStats) -> RunStats {
        let ExclusionCounts { chunks, pairs, cells, nanoseconds, .. } = &*self.counts;
        let seconds = nanoseconds.load(Ordering::Relaxed) as f64 / 1e9;
        let row = EngineStats {
            name: "q-grams".into(),
            threads: self.pool.current_num_threads() as u64,
            batches: chunks.load(Ordering::Relaxed),
            pairs: pairs.load(Ordering::Relaxed),
            cells: cells.load(Ordering::Relaxed),
            busy_seconds: seconds,
            kernel_seconds: seconds,
            ..EngineStats::default()
        };
        if row.pairs > 0 {
            stats::append_run(&mut ran.engines, vec![row], 0.0);
        }
        ran
    }
}
