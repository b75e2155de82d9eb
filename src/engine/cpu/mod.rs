//! The CPU engine: several targets at once against one query, in vector lanes, over all threads.
//!
//! Global scores come from differences between cells ([`crate::score::difference`]), local ones from the cells
//! themselves, in the narrowest lanes that hold them.

pub mod compute;
mod difference;
mod group;
mod local;
mod pair_difference;
mod pair_local;
mod simd;
mod skew;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use rayon::prelude::*;

use super::{Batch, Block, Capacity, Engine, Hit, Report, Ticket};
use crate::error::{Error, Result};

pub use compute::{Form, Workspace};
pub use simd::Isa;

/// Cells a thread and batch: about half a second.
const CELLS_A_THREAD: u64 = 2_000_000_000;

/// The CPU as an engine.
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

/// A pool of `threads` threads; 0 for as many as there are processors.
pub fn thread_pool(threads: usize) -> Result<Arc<rayon::ThreadPool>> {
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .thread_name(|index| format!("pairwave-{index}"))
        .build()
        .map(Arc::new)
        .map_err(|error| Error::Internal(format!("threads could not be started: {error}")))
}

impl Engine for CpuEngine {
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
            let alone = |block: &Block| Batch { band: Arc::clone(&batch.band), blocks: vec![block.clone()] };
            batch.blocks.par_iter().map_init(Workspace::default, |w, block| compute::run(&alone(block), w)).collect()
        });
        let hits = per_block?.concat();
        Ok(Report { hits, kernel_time: Some(begin.elapsed()), ..Report::default() })
    }
}
