//! A thread of the CPU as an engine for distances.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::compute::{Workspace, run_until};
use crate::edit::{Edit, EditBatch, EditReport};
use crate::engine::sizing::LeastWork;
use crate::engine::waiting::Waiting;
use crate::engine::{Capacity, Engine, Ticket};
use crate::error::{Error, Result};

/// Cells a batch at most: some hundredths of a second.
const CELLS: u64 = 1 << 32;
/// Pairs a batch at most.
const PAIRS: u64 = 1 << 16;
/// Seconds of work that are worth a batch.
const LEAST_SECONDS: f64 = 0.004;
/// Pairs at whose multiples blocks are cut, so that no vector of lanes is left half empty.
const GROUP_PAIRS: u64 = super::side::MAX_PAIRS as u64;

/// One thread of the CPU. It computes on the thread that collects.
#[derive(Debug, Default)]
pub struct EditWorker {
    workspace: Workspace,
    waiting: Waiting<Edit>,
    interrupt: Arc<AtomicBool>,
}

impl EditWorker {
    /// A worker that ends a batch early with [`Error::Interrupted`] once the flag is set.
    pub fn new(interrupt: Arc<AtomicBool>) -> Self {
        EditWorker { interrupt, ..Self::default() }
    }
}

/// So many workers, at least one.
pub fn edit_workers(threads: usize, interrupt: &Arc<AtomicBool>) -> Vec<Box<dyn Engine<Edit>>> {
    (0..threads.max(1)).map(|_| Box::new(EditWorker::new(Arc::clone(interrupt))) as Box<dyn Engine<Edit>>).collect()
}

impl Engine<Edit> for EditWorker {
    fn name(&self) -> &str {
        "cpu"
    }

    fn universal(&self) -> bool {
        true
    }

    fn capacity(&self) -> Capacity {
        Capacity { cells: CELLS, pairs: PAIRS, store_bytes: u64::MAX, batches: 1 }
    }

    fn least_work(&self) -> LeastWork {
        LeastWork { seconds: LEAST_SECONDS, pairs: GROUP_PAIRS }
    }

    fn submit(&mut self, batch: Arc<EditBatch>) -> Result<Ticket> {
        Ok(self.waiting.add(batch))
    }

    fn collect(&mut self, ticket: Ticket) -> Result<EditReport> {
        let batch = self.waiting.take(ticket)?;
        let begin = Instant::now();
        let found = run_until(&batch, &mut self.workspace, || self.interrupt.load(Ordering::Relaxed));
        let found = found.ok_or(Error::Interrupted)?;
        Ok(EditReport { found, unfinished: Vec::new(), kernel_time: Some(begin.elapsed()) })
    }
}
