//! A slot of the double buffer: the device memory for one batch in flight.

use std::sync::Arc;

use super::decode::{decode_all, decode_kept, drop_blocks};
use super::dispatch::{SliceWork, plan_dispatches};
use super::upload::{HeldTargets, Inputs};
use crate::error::Result;
use crate::gpu::device::Gpu;
use crate::gpu::launch::{BatchResults, Buffers, Slot};
use crate::pairs::kernels::nw_slice::{self, TaskList};
use crate::pairs::{PairsBatch, PairsReport, ResultFilter};
use crate::score::OffsetScoring;

/// Number of kept pairs that are copied together with the status words. If there are more, a second
/// copy fetches the rest.
const FIRST_KEPT: u64 = 1 << 16;

/// Buffers of a slot, and the batch in flight.
pub(super) struct SliceSlot {
    pub(super) buffers: Buffers,
    targets: HeldTargets,
    in_flight: Option<SliceInFlight>,
}

struct SliceInFlight {
    batch: Arc<PairsBatch>,
    list: TaskList,
    scoring: OffsetScoring,
    kept_in_staging: u64,
}

impl SliceSlot {
    /// Creates an empty slot.
    pub(super) fn new(gpu: &Gpu) -> Self {
        SliceSlot { buffers: Buffers::new(gpu), targets: HeldTargets::default(), in_flight: None }
    }

    /// Frees the buffers. The slot must not hold a batch.
    pub(super) fn release(&mut self) {
        self.buffers.release();
        self.in_flight = None;
    }

    /// Uploads the batch's lists, records its dispatches and the copy of the results to the host,
    /// and submits them. Does not wait for the device.
    pub(super) fn record(&mut self, gpu: &Gpu, work: SliceWork<'_>) -> Result<()> {
        let (batch, list) = (work.batch, &work.list);
        let before_values = words_before_values(list);
        let keeps_all = !matches!(batch.chunk.filter, ResultFilter::Reaching(_));
        let value_words = if keeps_all { list.pairs } else { 2 * list.pairs };
        let kept_in_staging = if keeps_all { 0 } else { list.pairs.min(FIRST_KEPT) };
        let copied_words = before_values + if keeps_all { value_words } else { 2 * kept_in_staging };

        let dispatches = plan_dispatches(&work);
        let mut recording = self.buffers.record(gpu);
        let SliceWork { queries, targets, .. } = work;
        let inputs = Inputs { chunk: &batch.chunk, queries, targets, tasks: &list.tasks, table: &work.table };
        self.targets.record(&mut recording, &inputs)?;
        recording.resident("scratch", work.scratch);
        recording.reserve("out", 4 * (before_values + value_words))?;
        // Tickets, the number of kept pairs and the status words start at 0.
        recording.zero("out", 0..4 * before_values)?;
        for (index, dispatch) in dispatches.iter().enumerate() {
            if index > 0 {
                recording.cut();
            }
            recording.dispatch(work.program, &dispatch.params, dispatch.workgroups.into());
        }
        recording.copy_back("out", 0..4 * copied_words)?;
        recording.submit("nw_slice")?;
        self.in_flight =
            Some(SliceInFlight { batch: Arc::clone(batch), scoring: work.scoring, list: work.list, kept_in_staging });
        Ok(())
    }

    /// Decodes the results of the batch.
    pub(super) fn decode(&mut self, gpu: &Gpu, results: BatchResults) -> Result<PairsReport> {
        let Some(flight) = self.in_flight.take() else {
            return Err(gpu.error("no batch in flight"));
        };
        let BatchResults { words, kernel_time, limit } = results;
        let words = words.into_vec();
        let header = nw_slice::OUTPUT_HEADER_WORDS as usize;
        let (status, values) = words[header..].split_at(flight.list.tasks.len());
        let is_known = |status: u32| [nw_slice::STATUS_NONE, nw_slice::STATUS_DONE].contains(&status);
        if let Some(status) = status.iter().find(|&&status| !is_known(status)) {
            return Err(gpu.error(format!("the kernel returned the unknown status {status}")));
        }
        let mut unfinished: Vec<usize> = status
            .iter()
            .zip(&flight.list.blocks)
            .filter(|&(&status, _)| status != nw_slice::STATUS_DONE)
            .map(|(_, &block)| block as usize)
            .collect();
        unfinished.sort_unstable();
        unfinished.dedup();

        let hits = if matches!(flight.batch.chunk.filter, ResultFilter::Reaching(_)) {
            let kept = words[1] as u64;
            if kept > flight.list.pairs {
                return Err(gpu.error(format!("the kernel reports {kept} kept pairs out of {}", flight.list.pairs)));
            }
            let mut pairs = values[..2 * kept.min(flight.kept_in_staging) as usize].to_vec();
            if kept > flight.kept_in_staging {
                let begin = words_before_values(&flight.list) + 2 * flight.kept_in_staging;
                let end = begin + 2 * (kept - flight.kept_in_staging);
                pairs.extend_from_slice(&self.buffers.fetch(gpu, "out", 4 * begin..4 * end, limit)?);
            }
            decode_kept(&flight.batch, &flight.scoring, &pairs)
        } else {
            decode_all(&flight.batch, &flight.scoring, values)
        };
        let hits = drop_blocks(hits, &flight.batch, &unfinished);
        Ok(PairsReport { hits, unfinished, kernel_time, ..PairsReport::default() })
    }
}

/// Returns the number of words of the output before its values: the header, and one status word per
/// task.
fn words_before_values(list: &TaskList) -> u64 {
    nw_slice::OUTPUT_HEADER_WORDS + list.tasks.len() as u64
}
