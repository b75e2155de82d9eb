//! One CPU thread as an engine. A [`CpuKind`] defines how it computes a batch.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::pending::PendingBatches;
use super::sizing::MinWork;
use super::{Batch, Capacity, Engine, Ticket, Work};
use crate::error::Result;

/// Seconds of work below which a batch is not worth its overhead.
const MIN_SECONDS: f64 = 0.004;

/// A kind of work that CPU threads compute.
pub trait CpuKind: Work {
    /// Memory that a thread keeps from batch to batch.
    type Scratch: Default + Send;

    /// Largest number of cells in a batch, which takes between some hundredths and a tenth of a
    /// second. A job that is shorter than the start of a GPU is computed by the CPU alone.
    const CELLS: u64;
    /// Largest number of pairs in a batch.
    const PAIRS: u64;
    /// Blocks are cut at multiples of this number of pairs, so that all lanes of the vectors are
    /// used.
    const GROUP_PAIRS: u64;

    /// Computes a batch on the calling thread.
    ///
    /// # Errors
    /// [`crate::Error::Interrupted`] if the flag is set before the batch is finished. A kind need
    /// not check the flag within a batch.
    fn compute(batch: &Batch<Self>, scratch: &mut Self::Scratch, interrupt: &AtomicBool) -> Result<Self::Report>;
}

/// An engine that uses one CPU thread. It computes a batch on the thread that collects it.
pub struct ThreadEngine<K: CpuKind> {
    scratch: K::Scratch,
    pending: PendingBatches<K>,
    interrupt: Arc<AtomicBool>,
}

impl<K: CpuKind> ThreadEngine<K> {
    /// Returns an engine that ends a batch early with [`crate::Error::Interrupted`] once the flag
    /// is set.
    pub fn new(interrupt: Arc<AtomicBool>) -> Self {
        ThreadEngine { scratch: K::Scratch::default(), pending: PendingBatches::default(), interrupt }
    }

    /// Replaces the scratch memory, which may also hold settings.
    pub fn with_scratch(mut self, scratch: K::Scratch) -> Self {
        self.scratch = scratch;
        self
    }
}

impl<K: CpuKind> Default for ThreadEngine<K> {
    fn default() -> Self {
        Self::new(Arc::default())
    }
}

/// Returns `threads` engines, but at least one.
pub fn thread_engines<K: CpuKind>(threads: usize, interrupt: &Arc<AtomicBool>) -> Vec<Box<dyn Engine<K>>> {
    let engine = |_| Box::new(ThreadEngine::<K>::new(Arc::clone(interrupt))) as Box<dyn Engine<K>>;
    (0..threads.max(1)).map(engine).collect()
}

impl<K: CpuKind> Engine<K> for ThreadEngine<K> {
    fn name(&self) -> &str {
        "cpu"
    }

    fn universal(&self) -> bool {
        true
    }

    fn capacity(&self) -> Capacity {
        Capacity { cells: K::CELLS, pairs: K::PAIRS, store_bytes: u64::MAX, batches: 1 }
    }

    fn min_work(&self) -> MinWork {
        MinWork { seconds: MIN_SECONDS, pairs: K::GROUP_PAIRS, fill: 0, first_part: 0.0 }
    }

    fn submit(&mut self, batch: Arc<Batch<K>>) -> Result<Ticket> {
        Ok(self.pending.add(batch))
    }

    fn collect(&mut self, ticket: Ticket) -> Result<K::Report> {
        let batch = self.pending.take(ticket)?;
        K::compute(&batch, &mut self.scratch, &self.interrupt)
    }
}

/// Number of parts per thread into which a batch is divided. There are enough parts for all threads
/// to end at about the same time.
const PARTS_A_THREAD: usize = 8;

/// Computes a batch on all threads of a pool. Each thread takes the next part of the batch when it
/// is free. Measurements use this function to treat all threads as one engine. The results are in
/// the order of the blocks.
///
/// # Errors
/// The first error of an engine.
pub fn compute_together<K: CpuKind>(
    pool: &rayon::ThreadPool,
    engines: &mut [ThreadEngine<K>],
    batch: &Batch<K>,
) -> Result<Vec<K::Report>> {
    let parts = parts(batch, engines.len() * PARTS_A_THREAD);
    let next = AtomicUsize::new(0);
    let reports: Mutex<Vec<(usize, Result<K::Report>)>> = Mutex::new(Vec::with_capacity(parts.len()));
    pool.scope(|scope| {
        for engine in engines {
            let (parts, next, reports) = (&parts, &next, &reports);
            scope.spawn(move |_| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(part) = parts.get(index) else { break };
                    let report = K::compute(part, &mut engine.scratch, &engine.interrupt);
                    let mut reports = reports.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                    reports.push((index, report));
                }
            });
        }
    });
    let mut reports = reports.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    reports.sort_unstable_by_key(|(index, _)| *index);
    reports.into_iter().map(|(_, report)| report).collect()
}

/// Divides a batch into at most `max_parts` parts with about the same number of blocks.
fn parts<K: CpuKind>(batch: &Batch<K>, max_parts: usize) -> Vec<Batch<K>> {
    let blocks = batch.blocks.chunks(batch.blocks.len().div_ceil(max_parts.max(1)).max(1));
    blocks.map(|blocks| Batch { chunk: Arc::clone(&batch.chunk), blocks: blocks.to_vec() }).collect()
}
