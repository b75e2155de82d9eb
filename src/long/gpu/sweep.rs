//! Computes a panel on the device: uploads borders, dispatches strips, and downloads borders.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;

use super::delivery::{DeliveredRange, PATIENCE, RecordPolicy};
use super::inner::InnerBorders;
use super::panel::PanelPlan;
use super::submission::{PanelRun, StripSubmission};
use super::{GpuLong, Schedule};
use crate::error::{Error, Result};
use crate::gpu::launch::Commands;
use crate::gpu::readback::ReadbackWords;
use crate::gpu::shortage;
use crate::long::kernels::striped::FLIP;
use crate::long::{Border, LeftSource, PanelSweep, SweepResult, SweepSink};

/// Divisor of the size of the first submission, which is shorter than the others.
const FIRST_PART: u32 = 8;

impl GpuLong {
    /// Computes a panel with one schedule. Returns `None` if a strip waited too long. The values
    /// that were delivered before are correct in any case.
    pub(super) fn run_panel(
        &mut self,
        sweep: &PanelSweep,
        keep: RecordPolicy,
        schedule: Schedule,
        left: &dyn LeftSource,
        sink: &dyn SweepSink,
        handed: &mut DeliveredRange,
    ) -> Result<Option<(PanelPlan, SweepResult, InnerBorders)>> {
        self.retained = None;
        let mut buffers = std::mem::take(&mut self.buffers);
        let laid = self.lay_out(sweep, keep, schedule, &mut buffers);
        self.buffers = buffers;
        let laid = laid?;
        let plan = &laid.plan;
        let (rows, columns) = (plan.params.rows, plan.params.columns);
        let mut run = PanelRun::new(sweep, &laid, schedule, keep);
        let a_submission = self.a_submission(u64::from(rows) * u64::from(columns), plan.dispatches);
        let a_submission = a_submission.min(run.inner.max_dispatches(plan));
        let mut flights: VecDeque<StripSubmission> = VecDeque::new();
        let mut compiling = None;
        while run.next < plan.dispatches || !flights.is_empty() {
            if sweep.interrupt.load(Ordering::Relaxed) {
                return Err(Error::Interrupted);
            }
            // The device computes one submission while the host reads the results of the previous
            // one.
            if run.next < plan.dispatches && flights.len() < 2 {
                // The first submission is short, because the device is idle until its part of the
                // left border is known.
                let count = if run.next == 0 { a_submission.div_ceil(FIRST_PART) } else { a_submission };
                flights.push_back(self.submit_dispatches(&mut run, count, left)?);
                // The traceback then starts with compiled programs. On software adapters, the
                // compiler would delay the sweep.
                if compiling.is_none() && sweep.is_kept && !keep.quiet && !self.software {
                    compiling = Some(self.compile_for_traceback(sweep.pair, sweep.rows.first)?);
                }
                if flights.len() < 2 && run.next < plan.dispatches {
                    continue;
                }
            }
            let Some(flight) = flights.pop_front() else { continue };
            if !self.receive(&mut run, flight, sink, handed)? {
                return Ok(None);
            }
        }
        let pruned_cells = self.learn_speed(&run);
        let inner = run.inner;
        let best = if laid.variant.best { self.best(&laid, sweep)? } else { None };
        Ok(Some((laid.plan, SweepResult { best, pruned_cells }, inner)))
    }

    /// Writes entries of a border from entry `at` on.
    pub(super) fn write_pairs(&self, buffer: &wgpu::Buffer, at: u64, border: &Border, flipped: bool) {
        const PIECE: usize = 4 << 20;
        let flip = if flipped { FLIP } else { 0 };
        for (index, (h, gap)) in border.h.chunks(PIECE).zip(border.gap.chunks(PIECE)).enumerate() {
            let words: Vec<[u32; 2]> =
                h.iter().zip(gap).map(|(&h, &gap)| [h as u32 ^ flip, gap as u32 ^ flip]).collect();
            let offset = (at + (index * PIECE) as u64) * 8;
            self.gpu.queue.write_buffer(buffer, offset, bytemuck::cast_slice(&words));
            if border.h.len() > PIECE {
                self.gpu.queue.submit([]);
            }
        }
    }

    /// Reads u32 values.
    pub(super) fn read_words(&mut self, buffer: &wgpu::Buffer, offset: u64, bytes: u64) -> Result<Vec<u32>> {
        Ok(self.read_pieces(buffer, &[offset], bytes)?.to_vec())
    }

    /// Reads this number of bytes from each of these offsets.
    pub(super) fn read_pieces(&mut self, buffer: &wgpu::Buffer, places: &[u64], bytes: u64) -> Result<ReadbackWords> {
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        let all = bytes * places.len() as u64;
        let staging = shortage::attempt(self, |engine, _| {
            engine.buffers.staging.reserve(&engine.gpu, "borders to be read", all.max(1 << 16), usage).cloned()
        })?;
        let staging = staging.map_err(|error| self.gpu.error(error))?;
        let mut commands = Commands::default();
        places.iter().for_each(|&offset| commands.copy_back(buffer, offset..offset + bytes));
        commands.submit(&self.gpu, "borders", &[], &staging, None).read(&self.gpu, PATIENCE)
    }

    /// Returns a free staging buffer. Sizes are rounded up to powers of two, because a new buffer
    /// takes as long as a submission.
    pub(super) fn free_staging(&mut self, bytes: u64) -> Result<wgpu::Buffer> {
        let spare = &mut self.buffers.spare;
        if let Some(at) = spare.iter().position(|buffer| buffer.size() >= bytes) {
            return Ok(spare.swap_remove(at));
        }
        spare.clear();
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        self.gpu.buffer("borders to be read", bytes.next_power_of_two().max(1 << 16), usage)
    }

    /// Waits for the left border up to a row, and uploads it. Returns the greatest H of the
    /// uploaded rows, but at least 0.
    pub(super) fn write_left(
        &self,
        vertical: &wgpu::Buffer,
        sweep: &PanelSweep,
        left: &dyn LeftSource,
        rows: u32,
        done: &mut Option<u32>,
    ) -> Result<i32> {
        let first = done.map_or(0, |done| done + 1);
        if done.is_some_and(|done| done >= rows) {
            return Ok(0);
        }
        let until = rows.min(sweep.rows.length());
        let count = (until - first + 1) as usize;
        let mut border = Border { h: vec![0; count], gap: vec![0; count] };
        left.read(sweep.rows.first + first, sweep.rows.first + until, &mut border.h, &mut border.gap)?;
        self.write_pairs(vertical, first.into(), &border, true);
        *done = Some(until);
        Ok(border.h.into_iter().fold(0, i32::max))
    }
}
