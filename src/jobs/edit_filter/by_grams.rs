//! Pairs that q-grams rule out, left out of chunks before engines see them, and counted.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use crate::edit::Edit;
use crate::edit::qgrams::{self, LeftOut};
use crate::engine::queue::QueuedChunk;
use crate::engine::stats::{self, EngineStats, RunStats};

/// Leaves pairs out of chunks. Clones count together.
#[derive(Debug, Clone)]
pub(super) struct ByGrams {
    pool: Arc<rayon::ThreadPool>,
    counts: Arc<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    chunks: AtomicU64,
    pairs: AtomicU64,
    cells: AtomicU64,
    nanoseconds: AtomicU64,
    /// Of these pairs and cells, those that somebody was told of.
    told: [AtomicU64; 2],
}

impl ByGrams {
    /// On the threads of this pool.
    pub(super) fn new(pool: &Arc<rayon::ThreadPool>) -> Self {
        ByGrams { pool: Arc::clone(pool), counts: Arc::default() }
    }

    /// What is left of a chunk.
    pub(super) fn leave_out(&self, planned: QueuedChunk<Edit>) -> (QueuedChunk<Edit>, LeftOut) {
        let begin = Instant::now();
        let (planned, left_out) = self.pool.install(|| qgrams::leave_out(planned));
        if left_out.pairs > 0 {
            let counts = &*self.counts;
            counts.chunks.fetch_add(1, Ordering::Relaxed);
            counts.nanoseconds.fetch_add(begin.elapsed().as_nanos() as u64, Ordering::Relaxed);
            counts.cells.fetch_add(left_out.cells, Ordering::Relaxed);
            counts.pairs.fetch_add(left_out.pairs, Ordering::Relaxed);
        }
        (planned, left_out)
    }

    /// Pairs and cells that were left out since this was asked last.
    pub(super) fn untold(&self) -> (u64, u64) {
        let Counts { pairs, cells, told, .. } = &*self.counts;
        let since = |all: &AtomicU64, told: &AtomicU64| {
            let all = all.load(Ordering::Relaxed);
            all - told.swap(all, Ordering::Relaxed)
        };
        (since(pairs, &told[0]), since(cells, &told[1]))
    }

    /// Adds a row behind those of the engines, if there is something in it.
    pub(super) fn add_to(&self, mut ran: RunStats) -> RunStats {
        let Counts { chunks, pairs, cells, nanoseconds, .. } = &*self.counts;
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
