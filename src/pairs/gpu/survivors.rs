//! Survivors of a filter: the pairs that a batch of scores cannot rule out. A second batch in the
//! same slot aligns them.
//!
//! The host can align them as well, while the device computes the next batch. It does so if there
//! are few survivors or many threads, so that it finishes in time.

use std::cmp::Reverse;
use std::sync::Arc;

use super::shape::Expected;
use super::{ChosenKernel, PairsChoice, PairsDeviceState, is_filtered};
use crate::gpu::engine::{BatchContext, FinishedBatch};
use crate::pairs::kernels::nw_slice;
use crate::pairs::plan::cost::host_trace_seconds;
use crate::pairs::{PairHit, Pairs, PairsBatch, PairsBlock, PairsChunk};

/// Fraction of the device's computing time in which host threads can trace. In the rest they format
/// rows.
const FREE_PART: f64 = 0.75;
/// Least number of seconds that a second batch must save. The first such batch also has to compile
/// its kernel and to allocate its memory.
const MIN_SAVED_SECONDS: f64 = 0.02;

/// Selects the device or the host to align the pairs that a filter keeps.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Survivors {
    /// Selects whichever makes the job end earlier.
    #[default]
    ByPrice,
    /// Selects the device wherever it can align them.
    OnDevice,
}

impl PairsDeviceState {
    /// Returns the kept pairs of a batch as a new batch, and the kernel to align them. Returns
    /// `None` if the host should align them. `trace_seconds` is the time in seconds in which the host
    /// could do so, because the device computes other batches.
    pub(super) fn align_survivors(
        &mut self,
        site: &BatchContext<'_>,
        FinishedBatch { batch, choice, report }: FinishedBatch<'_, Pairs>,
        trace_seconds: f64,
    ) -> Option<(Arc<PairsBatch>, ChosenKernel)> {
        let PairsChoice::Global(ChosenKernel { choice, .. }) = choice else { return None };
        let by_price = self.survivors == Survivors::ByPrice;
        let is_open = is_filtered(batch) && choice.kernel.scan().is_none() && !report.hits.is_empty();
        // If the user selected a kernel, it computes all batches.
        if !is_open || by_price && site.kernel.is_some() {
            return None;
        }
        let is_linear = batch.chunk.scoring.gaps.is_linear();
        let cells: u64 = report.hits.iter().map(|hit| count_cells(&batch.chunk, hit)).sum();
        let on_host = host_trace_seconds(cells as f64, is_linear, self.threads()) - FREE_PART * trace_seconds;
        if by_price && on_host <= MIN_SAVED_SECONDS {
            return None;
        }
        let survivors = survivors_batch(&batch.chunk, &report.hits);
        let extent = survivors.extent();
        let scoring = nw_slice::offset_scoring(&survivors, &extent)?;
        // The remaining batches are expected to have as many survivors.
        let batches = 1.0 + site.remaining_cells as f64 / site.cells.max(1) as f64;
        let cells = (cells as f64 * batches) as u64;
        self.arenas.grow_arenas(Expected { cells, affine: !is_linear, devices: self.devices });
        let (choice, on_device) = self.prices.choose_aligned(&self.situation(&survivors, extent, &scoring))?;
        tracing::trace!(pairs = survivors.pairs(), trace_seconds, on_host, on_device, "survivors of a filter");
        let is_better = !by_price || on_device + MIN_SAVED_SECONDS < on_host;
        is_better.then(|| (Arc::new(survivors), ChosenKernel { choice, extent, scoring, stores: None }))
    }
}

fn count_cells(chunk: &PairsChunk, hit: &PairHit) -> u64 {
    u64::from(chunk.queries.length(hit.query)) * u64::from(chunk.targets.length(hit.target))
}

/// Returns the pairs of some hits as a batch: one block per query, with targets by decreasing
/// length.
fn survivors_batch(chunk: &PairsChunk, hits: &[PairHit]) -> PairsBatch {
    let mut pairs: Vec<(u32, Reverse<u32>, u32)> =
        hits.iter().map(|hit| (hit.query, Reverse(chunk.targets.length(hit.target)), hit.target)).collect();
    pairs.sort_unstable();
    let mut blocks = Vec::new();
    let mut first = 0;
    for group in pairs.chunk_by(|(one, ..), (other, ..)| one == other) {
        let query = group[0].0;
        let symbols: u64 = group.iter().map(|(_, Reverse(symbols), _)| u64::from(*symbols)).sum();
        let targets = first..first + group.len() as u32;
        first = targets.end;
        blocks.push(PairsBlock { query, targets, cells: u64::from(chunk.queries.length(query)) * symbols });
    }
    let order = pairs.iter().map(|&(.., target)| target).collect();
    let chunk = PairsChunk {
        queries: Arc::clone(&chunk.queries),
        targets: Arc::clone(&chunk.targets),
        order,
        scoring: Arc::clone(&chunk.scoring),
        filter: chunk.filter.clone(),
        earlier_is_query: chunk.earlier_is_query,
    };
    PairsBatch { chunk: Arc::new(chunk), blocks }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pairs::ResultFilter;
    use crate::pairs::gpu::tune::random_batch;
    use crate::score::Scoring;

    #[test]
    fn survivors_are_blocks_of_their_queries() {
        let batch = random_batch(&Arc::new(Scoring::truong()), 4, 6, 20, ResultFilter::Scores);
        let hit = |query, target| PairHit { query, target, score: 0, matches: None };
        let survivors = survivors_batch(&batch.chunk, &[hit(3, 5), hit(0, 2), hit(3, 1), hit(0, 0), hit(2, 4)]);
        let block = |query, targets: std::ops::Range<u32>| {
            let cells = 400 * targets.len() as u64;
            PairsBlock { query, targets, cells }
        };
        assert_eq!(survivors.blocks, [block(0, 0..2), block(2, 2..3), block(3, 3..5)]);
        assert_eq!(&survivors.chunk.order[..], [0, 2, 4, 1, 5]);
        assert_eq!(survivors_batch(&batch.chunk, &[]).blocks, []);
    }
}
