//! All threads of the CPU behind one engine, for measurements of scores that hand it batch after batch. Jobs give every
//! thread an engine of its own, which have no barrier at the end of every batch.

use std::sync::Arc;
use std::time::Instant;

use crate::engine::pending::PendingBatches;
use crate::engine::thread_engine::compute_together;
use crate::engine::{Capacity, Engine, Ticket};
use crate::error::Result;
use crate::pairs::cpu::{CpuWorker, Scratch};
use crate::pairs::{Batch, Pairs, Report};

/// Cells a thread and batch: about half a second.
const CELLS_A_THREAD: u64 = 2_000_000_000;

/// Threads that score together, and trace nothing.
pub(crate) struct AllThreads {
    pool: Arc<rayon::ThreadPool>,
    workers: Vec<CpuWorker>,
    waiting: PendingBatches<Pairs>,
}

impl AllThreads {
    /// A worker on every thread of a pool.
    pub(crate) fn new(pool: Arc<rayon::ThreadPool>) -> Self {
        let worker = |_| CpuWorker::default().with_scratch(Scratch::of_scores());
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

    fn submit(&mut self, batch: Arc<Batch>) -> Result<Ticket> {
        Ok(self.waiting.add(batch))
    }

    /// The time in kernels is that of all threads together, up to when the last is done.
    fn collect(&mut self, ticket: Ticket) -> Result<Report> {
        let batch = self.waiting.take(ticket)?;
        let begin = Instant::now();
        let reports = compute_together(&self.pool, &mut self.workers, &batch)?;
        let hits = reports.into_iter().flat_map(|report| report.hits).collect();
        Ok(Report { hits, kernel_time: Some(begin.elapsed()), ..Report::default() })
    }
}
