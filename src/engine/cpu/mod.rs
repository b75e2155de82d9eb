//! The CPU engine: several targets at once against one query, in vector lanes, over all threads.
//!
//! It computes the recurrence of `nw_slice` on the same padded, offset values ([`crate::score::OffsetScoring`]), in
//! 32-bit lanes with the matches carried where they fit, and in 64-bit lanes where 32 bits do not hold the score.

mod lanes;
mod vector;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use rayon::prelude::*;

use super::{Batch, Capacity, Engine, Hit, Report, Ticket, Want};
use crate::error::{Error, Result};
use crate::score::OffsetScoring;

pub use lanes::{LANES, lane_kind};

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
        let hits = self.pool.install(|| compute(&batch))?;
        Ok(Report { hits, kernel_time: Some(begin.elapsed()), ..Report::default() })
    }
}

fn compute(batch: &Batch) -> Result<Vec<Hit>> {
    let extent = batch.extent();
    let (shorter, sum) = (extent.shorter as u64, extent.sum);
    let scoring = &batch.band.scoring;
    let with_matches = !matches!(batch.band.want, Want::Scores);
    // 32 bits with the matches; 32 bits without them, as on a device; 64 bits only where the score itself needs them.
    for carry in [with_matches, false] {
        if let Some(scoring) = OffsetScoring::<i32>::new(scoring, shorter, sum, carry) {
            return Ok(compute_in(batch, &scoring));
        }
    }
    if let Some(scoring) = OffsetScoring::<i64>::new(scoring, shorter, sum, with_matches) {
        return Ok(compute_in(batch, &scoring));
    }
    Err(Error::Internal(format!("scores of {sum} symbols do not fit 64 bits")))
}

fn compute_in<V: lanes::LaneValue>(batch: &Batch, scoring: &OffsetScoring<V>) -> Vec<Hit> {
    let band = &batch.band;
    let groups: Vec<(usize, usize)> = batch
        .blocks
        .iter()
        .enumerate()
        .flat_map(|(index, block)| {
            (block.targets.start as usize..block.targets.end as usize).step_by(LANES).map(move |first| (index, first))
        })
        .collect();
    groups
        .par_iter()
        .map_init(lanes::Workspace::<V>::default, |workspace, &(index, first)| {
            let block = &batch.blocks[index];
            let last = (first + LANES).min(block.targets.end as usize);
            let ids = &band.order[first..last];
            let targets: Vec<&[u8]> = ids.iter().map(|&id| band.targets.codes(id)).collect();
            let values = lanes::align(scoring, band.queries.codes(block.query), &targets, workspace);
            let hits: Vec<Hit> = ids
                .iter()
                .zip(values)
                .filter_map(|(&target, value)| {
                    let (m, n) = (band.queries.length(block.query), band.targets.length(target));
                    let (score, matches) = scoring.decode(value, m, n);
                    let keep = match &band.want {
                        Want::Reaching(filter) => filter.may_reach(score, matches, m, n),
                        Want::Scores | Want::Alignments => true,
                    };
                    keep.then_some(Hit { query: block.query, target, score, matches })
                })
                .collect();
            hits
        })
        .flatten_iter()
        .collect()
}
