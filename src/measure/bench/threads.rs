//! All CPU threads as one engine, for measurements of scores batch by batch. In jobs, every thread
//! is a separate engine, without a barrier at the end of each batch.

use std::sync::Arc;
use std::time::Instant;

use crate::engine::pending::PendingBatches;
use crate::engine::thread_engine::compute_together;
use crate::engine::{Capacity, Engine, Ticket};
use crate::error::Result;
use crate::pairs::cpu::{CpuWorker, PairsScratch};
use crate::pairs::{Pairs, PairsBatch, PairsReport};

/// Number of cells per thread and batch. They take about half a second.
const CELLS_A_THREAD: u64 = 2_000_000_000;

/// Threads that score together. They trace nothing back.
pub(crate) struct AllThreads {
    pool: Arc<rayon::ThreadPool>,
    workers: Vec<CpuWorker>,
    waiting: PendingBatches<Pairs>,
}

impl AllThreads {
    /// Creates a worker for every thread of a pool.
    pub(crate) fn new(pool: Arc<rayon::ThreadPool>) -> Self {
        let worker = |_| CpuWorker::default().with_scratch(PairsScratch::for_scores());
        let workers = (0..pool.current_num_threads()).map(worker).collect();
        AllThreads { pool, workers, waiting: PendingBatches::default() }
    }
}

impl Engine<Pairs> for AllThreads {
    fn name(&self) -> &str {
        "cpu"
    }

    fn universal(&self) -> bool {
        true
    }

    fn capacity(&self) -> Capacity {
        let cells = CELLS_A_THREAD * self.workers.len() as u64;
        Capacity { cells, pairs: 1 << 20, store_bytes: u64::MAX, batches: 1 }
    }

    fn submit(&mut self, batch: Arc<PairsBatch>) -> Result<Ticket> {
        Ok(self.waiting.add(batch))
    }

    /// Collects a batch. Its kernel time ends when the last thread is done.
    fn collect(&mut self, ticket: Ticket) -> Result<PairsReport> {
        let batch = self.waiting.take(ticket)?;
        let started = Instant::now();
        let reports = compute_together(&self.pool, &mut self.workers, &batch)?;
        let hits = reports.into_iter().flat_map(|report| report.hits).collect();
        Ok(PairsReport { hits, kernel_time: Some(started.elapsed()), ..PairsReport::default() })
    }
}
