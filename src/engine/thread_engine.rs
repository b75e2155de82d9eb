//! One thread of the CPU as an engine, whatever it computes: a [`CpuKind`] says how a batch is computed.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::sizing::LeastWork;
use super::waiting::Waiting;
use super::{Batch, Capacity, Engine, Ticket, Work};
use crate::error::Result;

/// Seconds of work that are worth a batch.
const MIN_SECONDS: f64 = 0.004;

/// A kind of work that threads of the CPU do.
pub trait CpuKind: Work {
    /// Memory that a thread keeps from batch to batch.
    type Scratch: Default + Send;

    /// Cells a batch at most: some hundredths of a second, or a tenth. Jobs that are that short beside a GPU's start are the CPU's.
    const CELLS: u64;
    /// Pairs a batch at most.
    const PAIRS: u64;
    /// Pairs at whose multiples blocks are cut, so that no vector of lanes is left half empty.
    const GROUP_PAIRS: u64;

    /// Computes a batch on the calling thread.
    ///
    /// # Errors
    /// [`crate::Error::Interrupted`] if the flag is set before all is done and the kind looks at it in between.
    fn compute(batch: &Batch<Self>, scratch: &mut Self::Scratch, interrupt: &AtomicBool) -> Result<Self::Report>;
}

/// One thread of the CPU. It takes a batch at once, and computes it on the thread that collects.
pub struct ThreadEngine<K: CpuKind> {
    scratch: K::Scratch,
    waiting: Waiting<K>,
    interrupt: Arc<AtomicBool>,
}

impl<K: CpuKind> ThreadEngine<K> {
    /// An engine that ends a batch early with [`crate::Error::Interrupted`] once the flag is set.
    pub fn new(interrupt: Arc<AtomicBool>) -> Self {
        ThreadEngine { scratch: K::Scratch::default(), waiting: Waiting::default(), interrupt }
    }

    /// Computes with this memory, which may say how.
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

/// So many engines, at least one.
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

    fn least_work(&self) -> LeastWork {
        LeastWork { seconds: MIN_SECONDS, pairs: K::GROUP_PAIRS, fill: 0 }
    }

    fn submit(&mut self, batch: Arc<Batch<K>>) -> Result<Ticket> {
        Ok(self.waiting.add(batch))
    }

    fn collect(&mut self, ticket: Ticket) -> Result<K::Report> {
        let batch = self.waiting.take(ticket)?;
        K::compute(&batch, &mut self.scratch, &self.interrupt)
    }
}

/// Parts that every thread computes of a batch that all compute together: enough that they end at about the same time.
const PARTS_A_THREAD: usize = 8;

/// Computes a batch on all threads of a pool, each an engine that takes the next part when it is free: for measurements,
/// where all threads are to be seen as one. The reports are in the order of the blocks.
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
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    let Some(part) = parts.get(place) else { break };
                    let report = K::compute(part, &mut engine.scratch, &engine.interrupt);
                    let mut reports = reports.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                    reports.push((place, report));
                }
            });
        }
    });
    let mut reports = reports.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    reports.sort_unstable_by_key(|(place, _)| *place);
    reports.into_iter().map(|(_, report)| report).collect()
}

/// A batch in at most so many of about the same number of blocks.
fn parts<K: CpuKind>(batch: &Batch<K>, most: usize) -> Vec<Batch<K>> {
    let blocks = batch.blocks.chunks(batch.blocks.len().div_ceil(most.max(1)).max(1));
    blocks.map(|blocks| Batch { chunk: Arc::clone(&batch.chunk), blocks: blocks.to_vec() }).collect()
}
