//! Excludes pairs by their q-grams before engines see a chunk, and counts these pairs.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use super::counts::ExclusionCounts;
use crate::edit::{Edit, qgrams};
use crate::engine::queue::{ExcludedPairs, QueuedChunk};
use crate::engine::stats::{self, RunStats};

/// Excludes pairs from chunks. Clones share their counts.
#[derive(Debug, Clone)]
pub(super) struct QgramFilter {
    pool: Arc<rayon::ThreadPool>,
    counts: Arc<QgramCounts>,
}

#[derive(Debug, Default)]
struct QgramCounts {
    all: ExclusionCounts,
    /// Excluded pairs and cells that were not reported as progress yet.
    unreported: [AtomicU64; 2],
}

impl QgramFilter {
    /// Creates a filter that runs on the threads of this pool.
    pub(super) fn new(pool: &Arc<rayon::ThreadPool>) -> Self {
        QgramFilter { pool: Arc::clone(pool), counts: Arc::default() }
    }

    /// Returns the rest of a chunk, and the excluded pairs.
    pub(super) fn exclude(&self, planned: QueuedChunk<Edit>) -> (QueuedChunk<Edit>, ExcludedPairs) {
        let started = Instant::now();
        let (planned, excluded) = self.pool.install(|| qgrams::prune(planned));
        if excluded.pairs > 0 {
            let QgramCounts { all, unreported } = &*self.counts;
            all.add(excluded);
            all.add_time(started);
            unreported[0].fetch_add(excluded.pairs, Ordering::Relaxed);
            unreported[1].fetch_add(excluded.cells, Ordering::Relaxed);
        }
        (planned, excluded)
    }

    /// Returns the numbers of pairs and cells that were excluded since the last call.
    pub(super) fn take_unreported(&self) -> (u64, u64) {
        let [pairs, cells] = &self.counts.unreported;
        (pairs.swap(0, Ordering::Relaxed), cells.swap(0, Ordering::Relaxed))
    }

    /// Appends the statistics since the last call, if the filter excluded pairs.
    pub(super) fn add_to(&self, mut ran: RunStats) -> RunStats {
        let row = self.counts.all.take_row("q-grams", self.pool.current_num_threads());
        if row.pairs > 0 {
            stats::append_run(&mut ran.engines, vec![row], 0.0);
        }
        ran
    }
}
