//! Computes a panel on the device: uploads borders, dispatches strips, and downloads borders.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;

use rayon::prelude::*;

use super::delivery::{DeliveredRange, PATIENCE, RecordPolicy};
use super::panel::PanelPlan;
use super::submission::{PanelRun, StripSubmission};
use super::{GpuLong, Schedule};
use crate::error::{Error, Result};
use crate::gpu::launch::Commands;
use crate::gpu::readback::ReadbackWords;
use crate::gpu::shortage;
use crate::long::kernels::striped::{BLOCK_ROWS, FLIP};
use crate::long::{Border, LeftSource, PanelSweep, SweepResult, SweepSink};

/// Divisor of the size of the first submission, which is shorter than the others.
const FIRST_PART: u32 = 8;
/// Number of entries of borders that are read back at once, and number of entries that a thread
/// copies at once.
const PIECE_ENTRIES: usize = 8 << 20;
const THREAD_ENTRIES: usize = 1 << 16;

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
    ) -> Result<Option<(PanelPlan, SweepResult)>> {
        self.retained = None;
        let mut buffers = std::mem::take(&mut self.buffers);
        let laid = self.lay_out(sweep, keep, schedule, &mut buffers);
        self.buffers = buffers;
        let laid = laid?;
        let plan = &laid.plan;
        let (rows, columns) = (plan.params.rows, plan.params.columns);
        let a_submission = self.a_submission(u64::from(rows) * u64::from(columns), plan.dispatches);
        let mut run = PanelRun::new(sweep, &laid, schedule, keep.quiet);
        let mut flights: VecDeque<StripSubmission> = VecDeque::new();
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
        let best = if laid.variant.best { self.best(&laid, sweep)? } else { None };
        Ok(Some((laid.plan, SweepResult { best, pruned_cells })))
    }

    /// Delivers the borders along marked rows. Also delivers the border along the last row if that
    /// is row `end`, and otherwise returns it.
    pub(super) fn hand_marks(
        &mut self,
        sweep: &PanelSweep,
        plan: &PanelPlan,
        end: u32,
        sink: &dyn SweepSink,
    ) -> Result<Option<Border>> {
        let horizontal = self.buffers.horizontal.get().expect("a panel was computed").clone();
        let p = plan.params;
        let row_of = |mark: u32| (u64::from(mark) * u64::from(p.mark_blocks * BLOCK_ROWS)).min(p.rows.into()) as u32;
        let is_marked = |row: u32| row.is_multiple_of(sweep.mark_every);
        let marks: Vec<u32> = (1..=p.marks).filter(|&mark| is_marked(row_of(mark)) || row_of(mark) == p.rows).collect();
        let begins: Vec<u64> = marks.iter().map(|&mark| u64::from(mark) * u64::from(p.columns_stride)).collect();
        let mut last = None;
        self.read_borders(&horizontal, &begins, p.columns_stride, false, |n, border| {
            let row = row_of(marks[n]);
            if row < p.rows || sweep.rows.first + row == end {
                return sink.push_row(sweep.rows.first + row, border);
            }
            if is_marked(row) {
                sink.push_row(sweep.rows.first + row, border.clone())?;
            }
            last = Some(border);
            Ok(())
        })?;
        Ok(last)
    }

    /// Delivers the requested columns inside a panel. `last` contains the values of the last rows,
    /// which are also written to the device.
    pub(super) fn hand_columns(
        &mut self,
        sweep: &PanelSweep,
        plan: &PanelPlan,
        columns: &[u32],
        last: &[Border],
        sink: &dyn SweepSink,
    ) -> Result<()> {
        let vertical = self.buffers.vertical.get().expect("a panel was computed").clone();
        let every = sweep.keep_every.map_or(u32::MAX, |every| (every / (plan.strip * plan.params.keep_strips)).max(1));
        for (n, last) in (1..).zip(last) {
            self.write_pairs(&vertical, plan.whole_begin(n) + u64::from(plan.params.rows) + 1, last, true);
        }
        let wanted: Vec<(u32, u32)> = (1..).zip(columns.iter().copied()).filter(|(n, _)| n % every == 0).collect();
        let begins: Vec<u64> = wanted.iter().map(|&(n, _)| plan.whole_begin(n)).collect();
        let rows = sweep.rows.length();
        self.read_borders(&vertical, &begins, rows + 1, true, |k, border| {
            sink.push_column(sweep.columns.first + wanted[k].1, border)
        })
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

    /// Reads borders of `count` entries that start at the entries `begins`, and passes each border
    /// to `give`.
    fn read_borders(
        &mut self,
        buffer: &wgpu::Buffer,
        begins: &[u64],
        count: u32,
        flipped: bool,
        mut give: impl FnMut(usize, Border) -> Result<()>,
    ) -> Result<()> {
        let flip = if flipped { FLIP } else { 0 };
        // Reads several short borders at once, or a long one in parts.
        let at_once = (PIECE_ENTRIES / count as usize).max(1);
        for (k, begins) in (0..).step_by(at_once).zip(begins.chunks(at_once)) {
            let new = || Border { h: vec![0; count as usize], gap: vec![0; count as usize] };
            let mut borders: Vec<Border> = begins.iter().map(|_| new()).collect();
            for first in (0..count as usize).step_by(PIECE_ENTRIES) {
                let entries = PIECE_ENTRIES.min(count as usize - first);
                let places: Vec<u64> = begins.iter().map(|begin| (begin + first as u64) * 8).collect();
                let words = self.read_pieces(buffer, &places, entries as u64 * 8)?;
                // The first write to a new page of memory is slow, so threads share this cost.
                let parts = borders.iter_mut().zip(words.chunks_exact(2 * entries)).flat_map(|(border, words)| {
                    let (h, gap) = (&mut border.h[first..first + entries], &mut border.gap[first..first + entries]);
                    let both = h.chunks_mut(THREAD_ENTRIES).zip(gap.chunks_mut(THREAD_ENTRIES));
                    both.zip(words.chunks(2 * THREAD_ENTRIES))
                });
                let copy = |((h, gap), words): ((&mut [i32], &mut [i32]), &[u32])| {
                    for ((h, gap), pair) in h.iter_mut().zip(gap).zip(words.chunks_exact(2)) {
                        (*h, *gap) = ((pair[0] ^ flip) as i32, (pair[1] ^ flip) as i32);
                    }
                };
                match &self.pool {
                    Some(pool) => {
                        let parts: Vec<_> = parts.collect();
                        pool.install(|| parts.into_par_iter().for_each(copy));
                    }
                    None => parts.for_each(copy),
                }
            }
            borders.into_iter().enumerate().try_for_each(|(n, border)| give(k + n, border))?;
        }
        Ok(())
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

    /// Returns a free staging buffer.
    pub(super) fn free_staging(&mut self, bytes: u64) -> Result<wgpu::Buffer> {
        let spare = &mut self.buffers.spare;
        if let Some(at) = spare.iter().position(|buffer| buffer.size() >= bytes) {
            return Ok(spare.swap_remove(at));
        }
        spare.clear();
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        self.gpu.buffer("borders to be read", bytes.max(1 << 16), usage)
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
