//! A panel on the device: edges up, dispatches, edges down.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use bytemuck::Zeroable;
use rayon::prelude::*;

use super::laid::{Known, Laid};
use super::panel::PanelPlan;
use super::{GpuLong, Schedule};
use crate::error::{Error, Result};
use crate::gpu::clock::Clock;
use crate::gpu::launch::Commands;
use crate::gpu::readback::{Readback, Words};
use crate::gpu::shortage;
use crate::long::kernels::striped::{BLOCK_ROWS, FLIP, Shared};
use crate::long::{Edge, Sink, Source, Sweep, Swept};

/// How long a submission may take.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);
/// How long a panel has to take to tell how fast the device is.
const TELLING: Duration = Duration::from_millis(50);
/// The part of a panel's time that may be spent waiting for its left neighbour where the device has no clock.
const WAITING_SHARE: u32 = 20;
/// How many times shorter than others the first submission is.
const FIRST_PART: u32 = 8;
/// Entries of edges that are read back at once, and that a thread takes of them.
const PIECE_ENTRIES: usize = 8 << 20;
const THREAD_ENTRIES: usize = 1 << 16;
pub(super) const SHARED_BYTES: u64 = size_of::<Shared>() as u64;

impl GpuLong {
    /// Computes a panel by one schedule. `Ok(None)`: a strip waited too long. What was handed on is right in
    /// any case.
    pub(super) fn run_panel(
        &mut self,
        sweep: &Sweep,
        keep: Keep,
        schedule: Schedule,
        left: &dyn Source,
        sink: &dyn Sink,
        handed: &mut Handed,
    ) -> Result<Option<(PanelPlan, Swept)>> {
        self.retained = None;
        let mut buffers = std::mem::take(&mut self.buffers);
        let laid = self.lay_out(sweep, keep, schedule, &mut buffers);
        self.buffers = buffers;
        let laid = laid?;
        let Laid { plan, variant, vertical, shared, .. } = &laid;
        let (rows, columns) = (plan.params.rows, plan.params.columns);
        let gpu = self.gpu.clone();
        let a_submission = self.a_submission(u64::from(rows) * u64::from(columns), plan.dispatches);
        let mut left_rows = None;
        // Of the left edge's rows that the submission before reads: strips read some of them late.
        let mut reached_before = 0;
        let mut flights: VecDeque<Flight> = VecDeque::new();
        let (mut begin, mut right_begin) = (0, 0);
        let started = Instant::now();
        let (mut busy, mut waited) = (Some(Duration::ZERO), Duration::ZERO);
        let mut told = Shared::zeroed();
        while begin < plan.dispatches || !flights.is_empty() {
            if sweep.interrupt.load(Ordering::Relaxed) {
                return Err(Error::Interrupted);
            }
            // The device computes one submission while the host takes what the last one left.
            if begin < plan.dispatches && flights.len() < 2 {
                // The first one is short: until its part of the left edge is there, the device has nothing to do.
                let count = if begin == 0 { a_submission.div_ceil(FIRST_PART) } else { a_submission };
                let end = (begin + count).min(plan.dispatches);
                let asked = Instant::now();
                let reached = self.write_left(vertical, sweep, left, plan.left_rows(end - 1), &mut left_rows)?;
                waited += asked.elapsed();
                let clock = self.buffers.clocks.pop().unwrap_or_else(|| Clock::new(&gpu));
                let known = Known { best: sweep.best.get(), left_reached: reached.max(reached_before) };
                reached_before = reached;
                let mut commands = Commands::default();
                for (index, dispatch) in laid.hand_over(&gpu, begin..end, known).into_iter().enumerate() {
                    // Where strips wait for each other, each dispatch draws tickets of its own.
                    if index == 0 || schedule == Schedule::Persistent {
                        laid.clear_tickets(&mut commands);
                    }
                    commands.dispatch(0, dispatch.params_offset, [dispatch.workgroups, 1, 1]);
                }
                // Row 0 is there once the last strip has begun.
                let right_end = match plan.right_rows(end - 1, variant.lanes) {
                    rows if rows > 0 && !keep.quiet => rows + 1,
                    _ => right_begin,
                };
                let right = right_begin..right_end;
                right_begin = right_end;
                let edge_bytes = u64::from(right.end - right.start) * 8;
                commands.copy_back(shared, 0..SHARED_BYTES);
                if edge_bytes > 0 {
                    let from = (plan.right_begin() + u64::from(right.start)) * 8;
                    commands.copy_back(vertical, from..from + edge_bytes);
                }
                let staging = self.free_staging(commands.staging_bytes(true))?;
                let programs = std::slice::from_ref(&laid.program);
                let readback = commands.submit(&gpu, "strips", programs, &staging, Some(&clock));
                flights.push_back(Flight { readback, staging, clock, right, cells: plan.cells(end - 1) });
                begin = end;
                if flights.len() < 2 && begin < plan.dispatches {
                    continue;
                }
            }
            let Some(flight) = flights.pop_front() else { continue };
            let Flight { readback, staging, clock, right, cells: until } = flight;
            {
                let mut words = readback.read(&gpu, PATIENCE)?;
                busy = busy.zip(clock.elapsed(&gpu, &words)).map(|(all, own)| all + own);
                let head = SHARED_BYTES as usize / 4;
                words.truncate(head + 2 * right.len());
                told = bytemuck::cast_slice::<u32, Shared>(&words[..head])[0];
                if told.stuck != 0 {
                    return Ok(None);
                }
                if variant.prune {
                    sweep.best.raise(told.best);
                }
                // After a schedule that failed, rows may be known already.
                let skip = handed.rows.saturating_sub(right.start).min(right.end - right.start);
                if skip < right.end - right.start {
                    let pairs = words[head + 2 * skip as usize..].chunks_exact(2);
                    let (h, gap): (Vec<i32>, Vec<i32>) =
                        pairs.map(|pair| ((pair[0] ^ FLIP) as i32, (pair[1] ^ FLIP) as i32)).unzip();
                    sink.right(sweep.rows.0 + right.start + skip, &h, &gap)?;
                    handed.rows = right.end;
                }
            }
            self.buffers.spare.push(staging);
            self.buffers.clocks.push(clock);
            // Nor are cells told twice.
            sink.progress(until.saturating_sub(handed.cells), None);
            handed.cells = handed.cells.max(until);
        }
        let seconds = started.elapsed();
        // Who had to wait for its left neighbour shows its speed by the device's own clock alone.
        let busy = busy.or((waited < seconds / WAITING_SHARE).then_some(seconds));
        tracing::debug!(
            rows,
            columns,
            cells = variant.cells,
            strips = plan.params.strips,
            dispatches = plan.dispatches,
            seconds = seconds.as_secs_f64(),
            waited = waited.as_secs_f64(),
            busy = busy.map(|busy| busy.as_secs_f64()),
            "panel computed"
        );
        let batch_cells = u64::from(variant.strip()) * u64::from(variant.batch * BLOCK_ROWS);
        let all = u64::from(rows) * u64::from(columns);
        let pruned_cells = (u64::from(told.pruned) * batch_cells).min(all);
        // Nor does a panel of which most was left out.
        if let Some(busy) = busy.filter(|&busy| busy > TELLING && pruned_cells < all / 2) {
            self.speed = all as f64 / busy.as_secs_f64();
        }
        let best = if variant.best { self.best(&laid, sweep)? } else { None };
        let swept = Swept { best, pruned_cells };
        Ok(Some((laid.plan, swept)))
    }

    /// Hands on the edges along marked rows, and along the last one if it is `end`; else gives that one back.
    pub(super) fn hand_marks(
        &mut self,
        sweep: &Sweep,
        plan: &PanelPlan,
        end: u32,
        sink: &dyn Sink,
    ) -> Result<Option<Edge>> {
        let horizontal = self.buffers.horizontal.get().expect("a panel was computed").clone();
        let p = plan.params;
        let row_of = |mark: u32| (u64::from(mark) * u64::from(p.mark_blocks * BLOCK_ROWS)).min(p.rows.into()) as u32;
        let is_marked = |row: u32| row.is_multiple_of(sweep.mark_every);
        let marks: Vec<u32> = (1..=p.marks).filter(|&mark| is_marked(row_of(mark)) || row_of(mark) == p.rows).collect();
        let begins: Vec<u64> = marks.iter().map(|&mark| u64::from(mark) * u64::from(p.columns_stride)).collect();
        let mut last = None;
        self.read_edges(&horizontal, &begins, p.columns_stride, false, |n, edge| {
            let row = row_of(marks[n]);
            if row < p.rows || sweep.rows.0 + row == end {
                return sink.mark(sweep.rows.0 + row, edge);
            }
            if is_marked(row) {
                sink.mark(sweep.rows.0 + row, edge.clone())?;
            }
            last = Some(edge);
            Ok(())
        })?;
        Ok(last)
    }

    /// Hands on the columns inside a panel that are wanted, `last` being their last rows, and leaves those on the device.
    pub(super) fn hand_columns(
        &mut self,
        sweep: &Sweep,
        plan: &PanelPlan,
        columns: &[u32],
        last: &[Edge],
        sink: &dyn Sink,
    ) -> Result<()> {
        let vertical = self.buffers.vertical.get().expect("a panel was computed").clone();
        let every = sweep.keep_every.map_or(u32::MAX, |every| (every / (plan.strip * plan.params.keep_strips)).max(1));
        for (n, last) in (1..).zip(last) {
            self.write_pairs(&vertical, plan.whole_begin(n) + u64::from(plan.params.rows) + 1, last, true);
        }
        let wanted: Vec<(u32, u32)> = (1..).zip(columns.iter().copied()).filter(|(n, _)| n % every == 0).collect();
        let begins: Vec<u64> = wanted.iter().map(|&(n, _)| plan.whole_begin(n)).collect();
        let rows = sweep.rows.1 - sweep.rows.0;
        self.read_edges(&vertical, &begins, rows + 1, true, |k, edge| sink.column(sweep.columns.0 + wanted[k].1, edge))
    }

    /// Writes entries of an edge from entry `at` on.
    pub(super) fn write_pairs(&self, buffer: &wgpu::Buffer, at: u64, edge: &Edge, flipped: bool) {
        const PIECE: usize = 4 << 20;
        let flip = if flipped { FLIP } else { 0 };
        for (index, (h, gap)) in edge.h.chunks(PIECE).zip(edge.gap.chunks(PIECE)).enumerate() {
            let words: Vec<[u32; 2]> =
                h.iter().zip(gap).map(|(&h, &gap)| [h as u32 ^ flip, gap as u32 ^ flip]).collect();
            let offset = (at + (index * PIECE) as u64) * 8;
            self.gpu.queue.write_buffer(buffer, offset, bytemuck::cast_slice(&words));
            if edge.h.len() > PIECE {
                self.gpu.queue.submit([]);
            }
        }
    }

    /// Reads edges of `count` entries that begin at these entries, and gives them out in turn.
    fn read_edges(
        &mut self,
        buffer: &wgpu::Buffer,
        begins: &[u64],
        count: u32,
        flipped: bool,
        mut give: impl FnMut(usize, Edge) -> Result<()>,
    ) -> Result<()> {
        let flip = if flipped { FLIP } else { 0 };
        // Several short edges at once, a long one in parts.
        let at_once = (PIECE_ENTRIES / count as usize).max(1);
        for (k, begins) in (0..).step_by(at_once).zip(begins.chunks(at_once)) {
            let new = || Edge { h: vec![0; count as usize], gap: vec![0; count as usize] };
            let mut edges: Vec<Edge> = begins.iter().map(|_| new()).collect();
            for first in (0..count as usize).step_by(PIECE_ENTRIES) {
                let entries = PIECE_ENTRIES.min(count as usize - first);
                let places: Vec<u64> = begins.iter().map(|begin| (begin + first as u64) * 8).collect();
                let words = self.read_pieces(buffer, &places, entries as u64 * 8)?;
                // Threads share the pages that the host's memory is made of as they are written first.
                let parts = edges.iter_mut().zip(words.chunks_exact(2 * entries)).flat_map(|(edge, words)| {
                    let (h, gap) = (&mut edge.h[first..first + entries], &mut edge.gap[first..first + entries]);
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
            edges.into_iter().enumerate().try_for_each(|(n, edge)| give(k + n, edge))?;
        }
        Ok(())
    }

    /// Reads words.
    pub(super) fn read_words(&mut self, buffer: &wgpu::Buffer, offset: u64, bytes: u64) -> Result<Vec<u32>> {
        Ok(self.read_pieces(buffer, &[offset], bytes)?.to_vec())
    }

    /// Reads so many bytes from each of these places.
    pub(super) fn read_pieces(&mut self, buffer: &wgpu::Buffer, places: &[u64], bytes: u64) -> Result<Words> {
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        let all = bytes * places.len() as u64;
        let staging = shortage::attempt(self, |engine, _| {
            engine.buffers.staging.reserve(&engine.gpu, "edges to be read", all.max(1 << 16), usage).cloned()
        })?;
        let staging = staging.map_err(|error| self.gpu.error(error))?;
        let mut commands = Commands::default();
        places.iter().for_each(|&offset| commands.copy_back(buffer, offset..offset + bytes));
        commands.submit(&self.gpu, "edges", &[], &staging, None).read(&self.gpu, PATIENCE)
    }

    /// A buffer to be read that nobody uses.
    pub(super) fn free_staging(&mut self, bytes: u64) -> Result<wgpu::Buffer> {
        let spare = &mut self.buffers.spare;
        if let Some(at) = spare.iter().position(|buffer| buffer.size() >= bytes) {
            return Ok(spare.swap_remove(at));
        }
        spare.clear();
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        self.gpu.buffer("edges to be read", bytes.max(1 << 16), usage)
    }

    /// Uploads the left edge up to a row, when it is there; the greatest H of what is uploaded, at least 0.
    pub(super) fn write_left(
        &self,
        vertical: &wgpu::Buffer,
        sweep: &Sweep,
        left: &dyn Source,
        rows: u32,
        done: &mut Option<u32>,
    ) -> Result<i32> {
        let first = done.map_or(0, |done| done + 1);
        if done.is_some_and(|done| done >= rows) {
            return Ok(0);
        }
        let until = rows.min(sweep.rows.1 - sweep.rows.0);
        let count = (until - first + 1) as usize;
        let mut edge = Edge { h: vec![0; count], gap: vec![0; count] };
        left.read(sweep.rows.0 + first, sweep.rows.0 + until, &mut edge.h, &mut edge.gap)?;
        self.write_pairs(vertical, first.into(), &edge, true);
        *done = Some(until);
        Ok(edge.h.into_iter().fold(0, i32::max))
    }
}

/// What of a panel was handed on already.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Handed {
    /// Rows of its right edge.
    rows: u32,
    /// Cells that were told of.
    cells: u64,
}

/// What a panel is to leave on the device.
#[derive(Debug, Clone, Copy)]
pub(super) struct Keep {
    /// Columns between edges that are kept whole, at least a strip's; `None` for none inside.
    pub columns: Option<u32>,
    /// Columns of a strip, if that matters.
    pub strip: Option<u32>,
    /// Rows between edges along rows; a multiple of 4.
    pub mark_every: u32,
    /// Whether nobody wants the right edge and the best cell.
    pub quiet: bool,
}

/// A submission that the device computes.
struct Flight {
    readback: Readback,
    staging: wgpu::Buffer,
    clock: Clock,
    /// Rows of the right edge that come with it.
    right: Range<u32>,
    /// Cells that are done after it.
    cells: u64,
}
