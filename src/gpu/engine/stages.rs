//! The stages of a batch: the device computes it, and then perhaps a second one in the same slot, of what it left to do.

use std::sync::Arc;
use std::time::Duration;

use super::{GpuEngine, GpuKind};
use crate::engine::{Batch, BatchReport, Ticket};
use crate::error::{Error, Result};
use crate::gpu::launch::Slot;
use crate::gpu::shortage;

/// Seconds after which a device that was to compute a batch is taken for lost, beside 50 times what the batch should take.
const PATIENCE_SECONDS: u64 = 60;
const PATIENCE_TIMES: u32 = 50;

/// A batch that is finished.
pub struct FinishedBatch<'a, K: GpuKind> {
    /// The batch.
    pub batch: &'a Arc<Batch<K>>,
    /// How it was computed.
    pub choice: &'a K::Choice,
    /// What came of it.
    pub report: &'a K::Report,
}

/// A batch that follows another up, and its kernel.
pub type FollowUp<K> = (Arc<Batch<K>>, <K as GpuKind>::Choice);

/// A batch that nobody has collected yet.
pub(super) struct PendingBatch<K: GpuKind> {
    pub slot: usize,
    pub batch: Arc<Batch<K>>,
    /// Of the batch: it may have many blocks to count through.
    pub cells: u64,
    /// `None` while it is being worked on.
    pub stage: Option<BatchStage<K>>,
}

/// How far a batch is.
pub(super) enum BatchStage<K: GpuKind> {
    /// The device computes it.
    First(K::Choice),
    /// It is computed, and the device computes a second batch of what it left to do.
    Second { batch: Arc<Batch<K>>, choice: K::Choice, first: K::Report },
    /// It is finished.
    Done(K::Report),
}

impl<K: GpuKind> GpuEngine<K> {
    /// Waits for a batch in a slot, as long as may be expected at most; `None` if memory was short.
    fn finish(
        &mut self,
        slot: usize,
        batch: &Arc<Batch<K>>,
        cells: u64,
        choice: &K::Choice,
    ) -> Result<Option<K::Report>> {
        let expected = Duration::from_secs_f64(cells as f64 / self.speed);
        let limit = Duration::from_secs(PATIENCE_SECONDS) + expected * PATIENCE_TIMES;
        let refused = self.gpu.refused_buffers();
        let slot = &mut self.slots[slot];
        let results = slot.collect(&self.gpu, limit);
        let finished = results.and_then(|results| K::decode(&mut self.state, slot, batch, choice, results));
        match shortage::of(&self.gpu, refused, &finished) {
            Some(error) => {
                shortage::recover(self, &error);
                Ok(None)
            }
            None => finished.map(Some),
        }
    }

    /// Waits until the device has computed a batch, and has it follow that up.
    fn end_first(
        &mut self,
        slot: usize,
        batch: &Arc<Batch<K>>,
        cells: u64,
        choice: K::Choice,
    ) -> Result<BatchStage<K>> {
        self.has_learnt = true;
        let Some(report) = self.finish(slot, batch, cells, &choice)? else {
            // What was computed is lost: somebody else does it again.
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

    /// Hands the device what follows up a batch in a slot, if anything does.
    fn follow_up(&mut self, slot: usize, first: FinishedBatch<'_, K>, cells: u64) -> Result<Option<FollowUp<K>>> {
        if !self.follows_up {
            return Ok(None);
        }
        let computed =
            |pending: &PendingBatch<K>| matches!(pending.stage, Some(BatchStage::First(_))).then_some(pending.cells);
        let beside = self.in_flight.values().filter_map(computed).sum::<u64>() as f64 / self.speed;
        let refused = self.gpu.refused_buffers();
        let (state, mut context, slot) = self.parts(slot, cells, false);
        let followed = K::follow_up(state, &mut context, first, beside).and_then(|next| {
            let Some((batch, mut choice)) = next else { return Ok(None) };
            context.cells = batch.cells();
            K::record(state, &mut context, slot, &batch, &mut choice)?;
            Ok(Some((batch, choice)))
        });
        if let Some(error) = shortage::of(&self.gpu, refused, &followed) {
            shortage::recover(self, &error);
            self.follows_up = false;
            return Ok(None);
        }
        match followed {
            Err(Error::Unsuited { .. }) => Ok(None),
            followed => followed,
        }
    }

    /// Waits until the device has computed a batch that is in its first stage; true if it was and is now followed up.
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

    /// What came of a batch.
    pub(super) fn complete(&mut self, ticket: Ticket) -> Result<K::Report> {
        if self.advance(ticket)? {
            // What the device computes before that is followed up as well: so it has something to do while the host reads this
            // and prepares the next batch.
            let mut others: Vec<Ticket> = self.in_flight.keys().copied().collect();
            others.sort_unstable_by_key(|&Ticket(number)| number);
            others.into_iter().try_for_each(|other| self.advance(other).map(drop))?;
        }
        let pending = self.in_flight.get_mut(&ticket).map(|pending| (pending.slot, pending.stage.take()));
        let (slot, batch, choice, first) = match pending {
            Some((slot, Some(BatchStage::Second { batch, choice, first }))) => (slot, batch, choice, first),
            Some((_, Some(BatchStage::Done(report)))) => return Ok(report),
            _ => return Err(self.gpu.error("a ticket that was never given, or of a batch that was lost")),
        };
        let Some(second) = self.finish(slot, &batch, batch.cells(), &choice)? else {
            self.follows_up = false;
            return Ok(first);
        };
        K::learn(&mut self.state, self.kernel, &batch, &choice, &second);
        Ok(K::join(first, second))
    }
}
