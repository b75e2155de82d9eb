//! All threads behind one engine, for measurements of scores that hand it batch after batch. Jobs use a
//! [`CpuWorker`](super::CpuWorker) a thread, which have no barrier at the end of every batch.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use rayon::prelude::*;

use super::{Workspace, compute};
use crate::engine::{Capacity, Engine, Ticket};
use crate::error::{Error, Result};
use crate::pairs::Pairs;
use crate::pairs::{Batch, Hit, Report};

/// Cells a thread and batch: about half a second.
const CELLS_A_THREAD: u64 = 2_000_000_000;

/// The whole CPU as one engine. It scores, and traces nothing.
pub struct CpuEngine {
    pool: Arc<rayon::ThreadPool>,
    waiting: HashMap<Ticket, Arc<Batch>>,
    next_ticket: u64,
}

impl CpuEngine {
    /// An engine on the threads of a pool.
    pub fn new(pool: Arc<rayon::ThreadPool>) -> Self {
        CpuEngine { pool, waiting: HashMap::new(), next_ticket: 0 }
    }
}

impl Engine<Pairs> for CpuEngine {
    fn name(&self) -> &str {
        "cpu"
    }

    fn universal(&self) -> bool {
        true
    }

    fn capacity(&self) -> Capacity {
        let cells = CELLS_A_THREAD * self.pool.current_num_threads() as u64;
        Capacity { cells, pairs: 1 << 20, store_bytes: u64::MAX, batches: 1 }
    }

    fn submit(&mut self, batch: Arc<Batch>) -> Result<Ticket> {
        let ticket = Ticket(self.next_ticket);
        self.next_ticket += 1;
        self.waiting.insert(ticket, batch);
        Ok(ticket)
    }

    fn collect(&mut self, ticket: Ticket) -> Result<Report> {
        let batch = self
            .waiting
            .remove(&ticket)
            .ok_or_else(|| Error::Internal("a ticket that the CPU engine never gave".into()))?;
        let begin = Instant::now();
        let per_block: Result<Vec<Vec<Hit>>> = self.pool.install(|| {
            let run = |workspace: &mut Workspace, block| compute::run_block(&batch.band, block, workspace);
            batch.blocks.par_iter().map_init(Workspace::default, run).collect()
        });
        let hits = per_block?.concat();
        Ok(Report { hits, kernel_time: Some(begin.elapsed()), ..Report::default() })
    }
}
