//! The stages of a batch. The device computes the batch, and then possibly a second batch in the
//! same slot, which contains the work that the first one did not finish.

use std::sync::Arc;
use std::time::Duration;

use super::{GpuEngine, GpuKind};
use crate::engine::{Batch, BatchReport, Ticket};
use crate::error::{Error, Result};
use crate::gpu::launch::Slot;
use crate::gpu::shortage;

/// Seconds after which a device that computes a batch is considered lost. The limit also includes
/// 50 times the expected duration of the batch.
const PATIENCE_SECONDS: u64 = 60;
const PATIENCE_FACTOR: u32 = 50;

/// A finished batch.
pub struct FinishedBatch<'a, K: GpuKind> {
    /// The batch.
    pub batch: &'a Arc<Batch<K>>,
    /// Its choice.
    pub choice: &'a K::Choice,
    /// Its report.
    pub report: &'a K::Report,
}

/// A second batch and its choice. The batch contains the work that a first batch did not finish.
pub type FollowUp<K> = (Arc<Batch<K>>, <K as GpuKind>::Choice);

/// A batch that has not been collected.
pub(super) struct PendingBatch<K: GpuKind> {
    pub slot: usize,
    pub batch: Arc<Batch<K>>,
    /// Number of cells in the batch. Stored, because counting them visits every block.
    pub cells: u64,
    /// `None` while the stage is being changed.
    pub stage: Option<BatchStage<K>>,
}

/// Progress of a batch.
pub(super) enum BatchStage<K: GpuKind> {
    /// The device computes the batch.
    First(K::Choice),
    /// The batch is computed, and the device computes a second batch with the work that is left.
    Second { batch: Arc<Batch<K>>, choice: K::Choice, first: K::Report },
    /// The batch is finished.
    Done(K::Report),
}

impl<K: GpuKind> GpuEngine<K> {
    /// Waits for a batch in a slot, up to a limit that depends on its expected duration. Returns
    /// `None` if memory was short.
    fn finish(
        &mut self,
        slot: usize,
        batch: &Arc<Batch<K>>,
        cells: u64,
        choice: &K::Choice,
    ) -> Result<Option<K::Report>> {
        let expected = Duration::from_secs_f64(cells as f64 / self.speed);
        let limit = Duration::from_secs(PATIENCE_SECONDS) + expected * PATIENCE_FACTOR;
        let refused = self.gpu.refused_buffers();
        let slot = &mut self.slots[slot];
        let results = slot.collect(&self.gpu, limit);
        let finished = results.and_then(|results| K::decode(&mut self.state, slot, batch, choice, results));
        match shortage::shortage_message(&self.gpu, refused, &finished) {
            Some(error) => {
                shortage::recover(self, &error);
                Ok(None)
            }
            None => finished.map(Some),
        }
    }

    /// Waits until the device has computed a batch, and starts a second batch if that pays
    /// off.
    fn end_first(
        &mut self,
        slot: usize,
        batch: &Arc<Batch<K>>,
        cells: u64,
        choice: K::Choice,
    ) -> Result<BatchStage<K>> {
        self.has_measured = true;
        let Some(report) = self.finish(slot, batch, cells, &choice)? else {
            // The results are lost: another engine computes the batch again.
            return Ok(BatchStage::Done(K::unfinished_report(batch)));
        };
        if let Some(time) = report.kernel_time() {
            self.observe(cells, time.as_secs_f64());
        }
        if let Some(speed) = K::learn(&mut self.state, self.kernel, batch, &choice, &report) {
            self.speed = speed;
        }
        let followed = self.follow_up(slot, FinishedBatch { batch, choice: &choice, report: &report }, cells)?;
        Ok(match followed {
            Some((batch, choice)) => BatchStage::Second { batch, choice, first: report },
            None => BatchStage::Done(report),
        })
    }

    /// Starts the second batch of a slot, if there is one.
    fn follow_up(&mut self, slot: usize, first: FinishedBatch<'_, K>, cells: u64) -> Result<Option<FollowUp<K>>> {
        if !self.follows_up {
            return Ok(None);
        }
        let computed =
            |pending: &PendingBatch<K>| matches!(pending.stage, Some(BatchStage::First(_))).then_some(pending.cells);
        let other_seconds = self.in_flight.values().filter_map(computed).sum::<u64>() as f64 / self.speed;
        let refused = self.gpu.refused_buffers();
        let (state, mut context, slot) = self.parts(slot, cells, false);
        let followed = K::follow_up(state, &mut context, first, other_seconds).and_then(|next| {
            let Some((batch, mut choice)) = next else { return Ok(None) };
            context.cells = batch.cells();
            K::record(state, &mut context, slot, &batch, &mut choice)?;
            Ok(Some((batch, choice)))
        });
        if let Some(error) = shortage::shortage_message(&self.gpu, refused, &followed) {
            shortage::recover(self, &error);
            self.follows_up = false;
            return Ok(None);
        }
        match followed {
            Err(Error::Unsuited { .. }) => Ok(None),
            followed => followed,
        }
    }

    /// Waits until the device has computed a batch in its first stage. Returns true if a second
    /// batch was started.
    fn advance(&mut self, ticket: Ticket) -> Result<bool> {
        let Some(pending) = self.in_flight.get_mut(&ticket) else { return Ok(false) };
        let (slot, batch, cells) = (pending.slot, Arc::clone(&pending.batch), pending.cells);
        let (stage, is_new) = match pending.stage.take() {
            Some(BatchStage::First(choice)) => (Some(self.end_first(slot, &batch, cells, choice)?), true),
            stage => (stage, false),
        };
        let is_second = matches!(stage, Some(BatchStage::Second { .. }));
        if let Some(pending) = self.in_flight.get_mut(&ticket) {
            pending.stage = stage;
        }
        Ok(is_new && is_second)
    }

    /// Waits for a batch and returns its report.
    pub(super) fn complete(&mut self, ticket: Ticket) -> Result<K::Report> {
        if self.advance(ticket)? {
            // Batches that the device computes earlier get their second batches, too. The device
            // then has work while the host reads these results and prepares the next batch.
            let mut others: Vec<Ticket> = self.in_flight.keys().copied().collect();
            others.sort_unstable_by_key(|&Ticket(number)| number);
            others.into_iter().try_for_each(|other| self.advance(other).map(drop))?;
        }
        let pending = self.in_flight.get_mut(&ticket).map(|pending| (pending.slot, pending.stage.take()));
        let (slot, batch, choice, first) = match pending {
            Some((slot, Some(BatchStage::Second { batch, choice, first }))) => (slot, batch, choice, first),
            Some((_, Some(BatchStage::Done(report)))) => return Ok(report),
            _ => return Err(self.gpu.error("the batch of a ticket is unknown or was lost")),
        };
        let Some(second) = self.finish(slot, &batch, batch.cells(), &choice)? else {
            self.follows_up = false;
            return Ok(first);
        };
        K::learn(&mut self.state, self.kernel, &batch, &choice, &second);
        Ok(K::join(first, second))
    }
}
