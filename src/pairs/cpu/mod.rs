//! The CPU: every thread an engine of its own, which computes several targets at once against one query, in vector lanes,
//! and traces its own pairs back.
//!
//! Global scores come from differences between cells ([`crate::score::difference`]), local ones from the cells
//! themselves, in the narrowest lanes that hold them.

pub mod compute;
mod difference;
mod group;
mod local;
mod pair_difference;
mod pair_local;
mod skew;
mod whole;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::{Batch, Hit, Report, Traced, Want};
use crate::alignment::packed;
use crate::engine::sizing::LeastWork;
use crate::engine::waiting::Waiting;
use crate::engine::{Capacity, Engine, Ticket};
use crate::error::{Error, Result};
use crate::pairs::Pairs;
use crate::score::Mode;
use crate::trace::{self, Hint, traceback};

pub use compute::{Form, Workspace};
pub use whole::CpuEngine;

/// Cells a batch at most: some hundredths of a second, or a tenth where many are traced. What is computed is not
/// interrupted.
const CELLS: u64 = 1 << 31;
/// Pairs a batch at most: of very short sequences, whose alignments take longer than their scores.
const PAIRS: u64 = 1 << 16;
/// Seconds of work that are worth a batch.
const LEAST_SECONDS: f64 = 0.004;
/// Pairs at whose multiples blocks are cut, so that no vector of lanes is left half empty.
const GROUP_PAIRS: u64 = 64;

/// One thread of the CPU as an engine. It computes on the thread that collects.
#[derive(Debug, Default)]
pub struct CpuWorker {
    compute: Workspace,
    trace: trace::Workspace,
    waiting: Waiting<Pairs>,
    interrupt: Arc<AtomicBool>,
}

impl CpuWorker {
    /// A worker that ends a batch early with [`Error::Interrupted`] once the flag is set.
    pub fn new(interrupt: Arc<AtomicBool>) -> Self {
        CpuWorker { interrupt, ..Self::default() }
    }

    /// Alignments of the hits. The same as [`crate::jobs::allpairs`] makes of hits without one.
    fn trace(&mut self, batch: &Batch, hits: &[Hit]) -> Result<Traced> {
        let band = &batch.band;
        // A local alignment has to say where it lies, which runs alone do not: the job traces it.
        if matches!(band.want, Want::Scores) || band.scoring.mode == Mode::Local {
            return Ok(Traced::default());
        }
        let mut traced = Traced { words: Vec::new(), spans: Vec::with_capacity(hits.len()) };
        for hit in hits {
            if self.interrupt.load(Ordering::Relaxed) {
                return Err(Error::Interrupted);
            }
            let is_turned = band.earlier_is_query && hit.target < hit.query;
            let (a, b) = (band.queries.codes(hit.query), band.targets.codes(hit.target));
            let (query, target) = if is_turned { (b, a) } else { (a, b) };
            let hint = Hint { score: Some(hit.score), matches: hit.matches };
            // Fails if the traceback finds another score or number of matches.
            let alignment = traceback(query, target, &band.scoring, hint, &mut self.trace)?;
            traced.spans.push(Some(packed::pack(&alignment.cigar, &mut traced.words)));
        }
        Ok(traced)
    }
}

/// So many workers.
pub fn workers(threads: usize, interrupt: &Arc<AtomicBool>) -> Vec<Box<dyn Engine<Pairs>>> {
    (0..threads.max(1)).map(|_| Box::new(CpuWorker::new(Arc::clone(interrupt))) as Box<dyn Engine<Pairs>>).collect()
}

impl Engine<Pairs> for CpuWorker {
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

    fn submit(&mut self, batch: Arc<Batch>) -> Result<Ticket> {
        Ok(self.waiting.add(batch))
    }

    fn collect(&mut self, ticket: Ticket) -> Result<Report> {
        let batch = self.waiting.take(ticket)?;
        let begin = Instant::now();
        let hits = compute::run(&batch, &mut self.compute)?;
        let kernel_time = Some(begin.elapsed());
        let traced = self.trace(&batch, &hits)?;
        Ok(Report { hits, traced, kernel_time, ..Report::default() })
    }
}
