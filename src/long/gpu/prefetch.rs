//! Prepares regions that a traceback is likely to enter.
//!
//! A region has fewer strips than the device can run at once, and its strips start one after
//! another. If regions were computed one after another, the device would mostly wait. The sweep has
//! left the upper and left borders of every region, so regions do not depend on each other. All of
//! them are dispatched side by side. Each region has separate buffers, so that no barrier separates
//! them.

use std::sync::atomic::Ordering;
use std::time::Instant;

use super::delivery::{PATIENCE, SHARED_BYTES};
use super::layout::{PruningHints, StripDispatch, StripLayout};
use super::region::{FineSweep, Retained};
use super::{GpuLong, PanelBuffers, Schedule};
use crate::error::{Error, Result};
use crate::gpu::launch::{BoundProgram, Commands};
use crate::gpu::shortage;
use crate::long::kernels::striped::StripedShared;
use crate::long::{BestSoFar, TraceRegion};

/// Divisor of the engine's memory that gives the bytes for prepared regions, and the maximum of
/// these bytes.
const PART: u64 = 16;
const MAX_BYTES: u64 = 4 << 30;

/// Prepared regions and their memory.
#[derive(Default)]
pub(super) struct PreparedRegions {
    regions: Vec<Retained>,
    /// Buffers to reuse, larger ones first.
    slots: Vec<PanelBuffers>,
    /// Number of regions that were prepared so far.
    count: u64,
}

impl PreparedRegions {
    /// Returns the regions whose chunks have known borders.
    pub(super) fn regions(&self) -> &[Retained] {
        &self.regions
    }
}

impl GpuLong {
    /// Returns the number of regions that were prepared since memory was last short.
    pub fn regions_prepared(&self) -> u64 {
        self.ahead.count
    }

    /// Prepares as many regions as memory allows, starting with the first one, and returns their
    /// number. Prepares none if memory turns out to be short.
    pub(super) fn prepare_regions(&mut self, regions: &[TraceRegion]) -> Result<usize> {
        self.ahead.regions.clear();
        let refused = self.gpu.refused_buffers();
        let prepared = self.try_prepare(regions);
        if let Some(error) = shortage::shortage_message(&self.gpu, refused, &prepared) {
            shortage::recover(self, &error);
            return Ok(0);
        }
        prepared?;
        Ok(self.ahead.regions.len())
    }

    fn try_prepare(&mut self, regions: &[TraceRegion]) -> Result<()> {
        let begin = Instant::now();
        let schedule = self.schedule()?;
        let mut left = (self.memory / PART).min(MAX_BYTES);
        let mut chosen = Vec::new();
        for region in regions {
            let Some(bytes) = self.fine_bytes(region).filter(|&bytes| bytes <= left) else { break };
            left -= bytes;
            chosen.push((region, self.fine_sweep(region), bytes));
        }
        // After sorting, a buffer is used for regions of about the same size every time.
        chosen.sort_by_key(|&(.., bytes)| std::cmp::Reverse(bytes));
        let mut slots = std::mem::take(&mut self.ahead.slots);
        slots.resize_with(slots.len().max(chosen.len()), PanelBuffers::default);
        let laid: Result<Vec<StripLayout>> = chosen
            .iter()
            .zip(&mut slots)
            .map(|((region, fine, _), slot)| self.lay_out_region(region, fine, schedule, slot))
            .collect();
        self.ahead.slots = slots;
        let (laid, layout) = (laid?, begin.elapsed().as_secs_f64());
        let Some((first, _, _)) = chosen.first() else { return Ok(()) };
        if !self.run_together(&laid, schedule, first)? {
            self.strips_waited();
            return Ok(());
        }
        let ready = chosen.iter().zip(&laid).filter_map(|((region, fine, _), laid)| {
            Retained::new(region, fine, &laid.plan, &laid.vertical, &laid.horizontal)
        });
        self.ahead.regions = ready.collect();
        self.ahead.count += self.ahead.regions.len() as u64;
        let cells: u64 = laid.iter().map(StripLayout::cells).sum();
        let seconds = begin.elapsed().as_secs_f64();
        tracing::debug!(regions = chosen.len(), of = regions.len(), cells, layout, seconds, "regions prepared");
        Ok(())
    }

    fn lay_out_region(
        &mut self,
        region: &TraceRegion,
        fine: &FineSweep,
        schedule: Schedule,
        slot: &mut PanelBuffers,
    ) -> Result<StripLayout> {
        let best = BestSoFar::default();
        let sweep = fine.sweep(region, &best);
        let laid = self.lay_out(&sweep, fine.keep, schedule, slot)?;
        self.write_left(&laid.vertical, &sweep, &fine.left_border(region), laid.plan.params.rows, &mut None)?;
        Ok(laid)
    }

    /// Dispatches panels that do not depend on each other. Returns `false` if a strip waited too
    /// long.
    fn run_together(&mut self, laid: &[StripLayout], schedule: Schedule, region: &TraceRegion) -> Result<bool> {
        let gpu = self.gpu.clone();
        let cells = laid.iter().map(StripLayout::cells).sum();
        let dispatches = laid.iter().map(|laid| laid.plan.dispatches).max().unwrap_or(0);
        let a_submission = self.a_submission(cells, dispatches);
        let bytes = SHARED_BYTES * laid.len() as u64;
        let programs: Vec<BoundProgram> = laid.iter().map(|laid| laid.program.clone()).collect();
        let mut begin = 0;
        while begin < dispatches {
            if region.interrupt.load(Ordering::Relaxed) {
                return Err(Error::Interrupted);
            }
            let end = (begin + a_submission).min(dispatches);
            let dispatches: Vec<Vec<StripDispatch>> = laid
                .iter()
                .map(|laid| laid.hand_over(&gpu, begin.min(laid.plan.dispatches)..end, PruningHints::default()))
                .collect();
            // A command buffer starts with one barrier for everything that it uses first. A second
            // use of a buffer in it would need another barrier, at which all panels would wait for
            // each other. Therefore each round of dispatches has a separate command buffer.
            let mut commands = Commands::default();
            for k in 0..(end - begin) as usize {
                let there =
                    || (0..).zip(laid).zip(&dispatches).filter_map(|(panel_work, all)| Some((panel_work, all.get(k)?)));
                if schedule == Schedule::Persistent || k == 0 {
                    there().for_each(|((_, laid), _)| laid.clear_tickets(&mut commands));
                    commands.split();
                }
                for ((index, _), dispatch) in there() {
                    commands.dispatch(index, dispatch.params_offset, [dispatch.workgroups, 1, 1]);
                }
                commands.split();
            }
            laid.iter().for_each(|laid| commands.copy_back(&laid.shared, 0..SHARED_BYTES));
            let staging = self.free_staging(bytes)?;
            let stuck = {
                let words = commands.submit(&gpu, "regions", &programs, &staging, None).read(&gpu, PATIENCE)?;
                bytemuck::cast_slice::<u32, StripedShared>(&words).iter().any(|state| state.stuck != 0)
            };
            self.buffers.spare.push(staging);
            if stuck {
                return Ok(false);
            }
            begin = end;
        }
        Ok(true)
    }
}
