//! A panel on the device: edges up, dispatches, edges down.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bytemuck::Zeroable;

use super::panel::{Extent, PanelPlan};
use super::resident::Resident;
use super::{GpuLong, Schedule};
use crate::error::{Error, Result};
use crate::gpu::readback::Readback;
use crate::gpu::shortage;
use crate::long::kernels::striped::{BLOCK_ROWS, FLIP, Params, Shared, Variant};
use crate::long::{Best, Edge, Sink, Source, Sweep, Swept};

/// How long a submission may take.
const PATIENCE: Duration = Duration::from_secs(60);
/// Seconds of work in a submission: short enough that the right neighbour and the user hear of it.
const SUBMISSION_SECONDS: f64 = 0.02;
/// Dispatches in a submission at most.
const SUBMISSION_DISPATCHES: u32 = 512;
/// Bytes that are read back at once.
const PIECE_BYTES: u64 = 64 << 20;
/// How often a lane asks in vain before a dispatch is given up: some tenths of a second.
const SPINS: u32 = 1 << 19;
const SHARED_BYTES: u64 = size_of::<Shared>() as u64;

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
        let pair = sweep.pair;
        let Resident { query, target } = Resident::of(&mut self.residents, &self.gpu, pair, sweep.rows.0)?;
        let columns = sweep.columns.1 - sweep.columns.0;
        let variant = self.variant((pair, query.kinds), columns, keep.strip, sweep.prune, schedule);
        let extent = Extent {
            rows: sweep.rows.1 - sweep.rows.0,
            columns,
            mark_every: keep.mark_every,
            keep_strips: keep.columns.map(|columns| (columns / variant.strip()).max(1)),
        };
        self.retained = None;
        let Some(mut plan) = self.plan(extent, &variant, schedule) else {
            return Err(self.gpu.unsuited(format!(
                "a panel of {} rows and {} columns does not fit its memory",
                extent.rows, extent.columns
            )));
        };
        let program = self.pipelines.get(&self.gpu, variant)?;
        let substitution = &pair.scoring.substitution;
        plan.params = Params {
            query_begin: (sweep.rows.0 - query.shift) / BLOCK_ROWS,
            target_begin: sweep.columns.0,
            first: -pair.scoring.gaps.first,
            next: -pair.scoring.gaps.next,
            greatest: substitution.max_score().max(0),
            rows_to_end: pair.query.len() as i32 - sweep.rows.0 as i32,
            columns_to_end: pair.target.len() as i32 - sweep.columns.0 as i32,
            spin_limit: if self.loop_budget.is_some() { 20_000 } else { SPINS },
            ..plan.params
        };

        let gpu = self.gpu.clone();
        let storage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::COPY_SRC;
        let buffers = &mut self.buffers;
        let vertical = buffers.vertical.reserve(&gpu, "vertical edges", plan.vertical_bytes(), storage)?.clone();
        let horizontal =
            buffers.horizontal.reserve(&gpu, "horizontal edges", plan.horizontal_bytes(), storage)?.clone();
        let state = buffers.state.reserve(&gpu, "strips", plan.state_bytes(&variant), storage)?.clone();
        let shared = buffers.shared.reserve(&gpu, "best", size_of::<Shared>() as u64, storage)?.clone();
        let alignment = gpu.device.limits().min_uniform_buffer_offset_alignment;
        let stride = (size_of::<Params>() as u32).next_multiple_of(alignment);
        let uniform = wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST;
        let params_bytes = u64::from(stride) * u64::from(SUBMISSION_DISPATCHES);
        let params = buffers.params.reserve(&gpu, "panel", params_bytes, uniform)?.clone();
        let group = program.bind(
            &gpu,
            &[
                ("params", &params),
                ("query_classes", &query.classes),
                ("target_codes", &target.0),
                ("table", &query.table),
                ("vertical", &vertical),
                ("horizontal", &horizontal),
                ("state", &state),
                ("shared_best", &shared),
            ],
        )?;

        // What is above and, as far as it is there, to the left.
        self.write_pairs(&horizontal, 0, sweep.top, false);
        gpu.queue.write_buffer(&shared, 0, bytemuck::bytes_of(&Shared { best: sweep.best.get(), ..Shared::zeroed() }));
        if schedule == Schedule::Persistent {
            let mut encoder = gpu.device.create_command_encoder(&Default::default());
            let begin = u64::from(plan.params.whole_entries) * 8;
            encoder.clear_buffer(&vertical, begin, Some(plan.vertical_bytes() - begin));
            gpu.queue.submit([encoder.finish()]);
        }
        let seconds = extent.rows as f64 * extent.columns as f64 / self.speed / f64::from(plan.dispatches);
        let a_submission = ((SUBMISSION_SECONDS / seconds.max(1e-9)) as u32).clamp(1, SUBMISSION_DISPATCHES);
        let mut left_rows = None;
        let mut flights: VecDeque<Flight> = VecDeque::new();
        let (mut begin, mut right_begin) = (0, 0);
        let started = std::time::Instant::now();
        let mut told = Shared::zeroed();
        while begin < plan.dispatches || !flights.is_empty() {
            if sweep.interrupt.load(Ordering::Relaxed) {
                return Err(Error::Interrupted);
            }
            // The device computes one submission while the host takes what the last one left.
            if begin < plan.dispatches && flights.len() < 2 {
                let end = (begin + a_submission).min(plan.dispatches);
                self.write_left(&vertical, sweep, left, plan.left_rows(end - 1), &mut left_rows)?;
                let floor = sweep.best.get();
                let mut bytes = vec![0u8; stride as usize * (end - begin) as usize];
                let mut counts = Vec::new();
                for (d, room) in (begin..end).zip(bytes.chunks_exact_mut(stride as usize)) {
                    let (one, workgroups) = plan.dispatch(d);
                    room[..size_of::<Params>()]
                        .copy_from_slice(bytemuck::bytes_of(&Params { best_floor: floor, ..one }));
                    counts.push(workgroups);
                }
                gpu.queue.write_buffer(&params, 0, &bytes);
                let mut encoder = gpu.device.create_command_encoder(&Default::default());
                let mut dispatches = counts.iter().enumerate().peekable();
                while dispatches.peek().is_some() {
                    // Tickets begin anew with each dispatch.
                    let together = if schedule == Schedule::Persistent { 1 } else { usize::MAX };
                    encoder.clear_buffer(&shared, 4, Some(4));
                    let mut pass = encoder.begin_compute_pass(&Default::default());
                    pass.set_pipeline(&program.pipeline);
                    for (k, &workgroups) in dispatches.by_ref().take(together) {
                        pass.set_bind_group(0, &group, &[k as u32 * stride]);
                        pass.dispatch_workgroups(workgroups, 1, 1);
                    }
                }
                // Row 0 is there once the last strip has begun.
                let right_end = match plan.right_rows(end - 1, variant.lanes) {
                    rows if rows > 0 && !keep.quiet => rows + 1,
                    _ => right_begin,
                };
                let right = right_begin..right_end;
                right_begin = right_end;
                let edge_bytes = u64::from(right.end - right.start) * 8;
                let staging = self.free_staging(SHARED_BYTES + edge_bytes)?;
                encoder.copy_buffer_to_buffer(&shared, 0, &staging, 0, SHARED_BYTES);
                if edge_bytes > 0 {
                    let from = (plan.right_begin() + u64::from(right.start)) * 8;
                    encoder.copy_buffer_to_buffer(&vertical, from, &staging, SHARED_BYTES, edge_bytes);
                }
                let index = gpu.queue.submit([encoder.finish()]);
                let readback = Readback::begin(&staging, SHARED_BYTES + edge_bytes, index);
                flights.push_back(Flight { readback, staging, right, cells: plan.cells(end - 1) });
                begin = end;
                if flights.len() < 2 && begin < plan.dispatches {
                    continue;
                }
            }
            let Some(Flight { readback, staging, right, cells: until }) = flights.pop_front() else { continue };
            {
                let words = readback.read(&gpu, PATIENCE, true)?;
                let head = SHARED_BYTES as usize / 4;
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
            // Nor are cells told twice.
            sink.progress(until.saturating_sub(handed.cells), None);
            handed.cells = handed.cells.max(until);
        }
        let seconds = started.elapsed().as_secs_f64();
        if seconds > 0.05 {
            self.speed = f64::from(extent.rows) * f64::from(extent.columns) / seconds;
        }
        let best = if pair.is_local() && !keep.quiet { self.best(&state, &plan, &variant, sweep)? } else { None };
        let batch_cells = u64::from(variant.strip()) * u64::from(variant.batch * BLOCK_ROWS);
        let all = u64::from(extent.rows) * u64::from(extent.columns);
        let swept = Swept { best, pruned_cells: (u64::from(told.pruned) * batch_cells).min(all) };
        Ok(Some((plan, swept)))
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
        for mark in 1..=p.marks {
            let row = (u64::from(mark) * u64::from(p.mark_blocks * BLOCK_ROWS)).min(p.rows.into()) as u32;
            let marked = row.is_multiple_of(sweep.mark_every);
            if !marked && row < p.rows {
                continue;
            }
            let begin = u64::from(mark) * u64::from(p.columns_stride);
            let edge = self.read_pairs(&horizontal, begin, p.columns_stride, false)?;
            if sweep.rows.0 + row == end {
                sink.mark(end, edge)?;
            } else if row == p.rows {
                if marked {
                    sink.mark(sweep.rows.0 + row, edge.clone())?;
                }
                return Ok(Some(edge));
            } else {
                sink.mark(sweep.rows.0 + row, edge)?;
            }
        }
        Ok(None)
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
        for (n, &column) in (1..).zip(columns) {
            let begin = plan.whole_begin(n);
            if let Some(last) = last.get(n as usize - 1) {
                self.write_pairs(&vertical, begin + u64::from(plan.params.rows) + 1, last, true);
            }
            if n % every == 0 {
                let rows = sweep.rows.1 - sweep.rows.0;
                let edge = self.read_pairs(&vertical, begin, rows + 1, true)?;
                sink.column(sweep.columns.0 + column, edge)?;
            }
        }
        Ok(())
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

    /// Reads `count` entries of an edge.
    fn read_pairs(&mut self, buffer: &wgpu::Buffer, begin: u64, count: u32, flipped: bool) -> Result<Edge> {
        let flip = if flipped { FLIP } else { 0 };
        let mut edge = Edge { h: Vec::with_capacity(count as usize), gap: Vec::with_capacity(count as usize) };
        let piece = PIECE_BYTES / 8;
        let mut done = 0;
        while done < u64::from(count) {
            let now = piece.min(u64::from(count) - done);
            let words = self.read_words(buffer, (begin + done) * 8, now * 8)?;
            for pair in words.chunks_exact(2) {
                edge.h.push((pair[0] ^ flip) as i32);
                edge.gap.push((pair[1] ^ flip) as i32);
            }
            done += now;
        }
        Ok(edge)
    }

    /// Reads words.
    pub(super) fn read_words(&mut self, buffer: &wgpu::Buffer, offset: u64, bytes: u64) -> Result<Vec<u32>> {
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        let staging = shortage::attempt(self, |engine, _| {
            engine.buffers.staging.reserve(&engine.gpu, "edges to be read", bytes.max(1 << 16), usage).cloned()
        })?;
        let staging = staging.map_err(|error| self.gpu.error(error))?;
        let mut encoder = self.gpu.device.create_command_encoder(&Default::default());
        encoder.copy_buffer_to_buffer(buffer, offset, &staging, 0, bytes);
        let index = self.gpu.queue.submit([encoder.finish()]);
        Readback::begin(&staging, bytes, index).words(&self.gpu, PATIENCE)
    }

    /// A buffer to be read that nobody uses.
    fn free_staging(&mut self, bytes: u64) -> Result<wgpu::Buffer> {
        let spare = &mut self.buffers.spare;
        if let Some(at) = spare.iter().position(|buffer| buffer.size() >= bytes) {
            return Ok(spare.swap_remove(at));
        }
        spare.clear();
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        self.gpu.buffer("edges to be read", bytes.max(1 << 16), usage)
    }

    /// Uploads the left edge up to a row, when it is there.
    fn write_left(
        &self,
        vertical: &wgpu::Buffer,
        sweep: &Sweep,
        left: &dyn Source,
        rows: u32,
        done: &mut Option<u32>,
    ) -> Result<()> {
        let first = done.map_or(0, |done| done + 1);
        if done.is_some_and(|done| done >= rows) {
            return Ok(());
        }
        // All that is there at once: it is seldom asked for again.
        let until = rows.max(left.ready().saturating_sub(sweep.rows.0)).min(sweep.rows.1 - sweep.rows.0);
        let count = (until - first + 1) as usize;
        let mut edge = Edge { h: vec![0; count], gap: vec![0; count] };
        left.read(sweep.rows.0 + first, sweep.rows.0 + until, &mut edge.h, &mut edge.gap)?;
        self.write_pairs(vertical, first.into(), &edge, true);
        *done = Some(until);
        Ok(())
    }

    /// The best cell that any lane found.
    fn best(
        &mut self,
        state: &wgpu::Buffer,
        plan: &PanelPlan,
        variant: &Variant,
        sweep: &Sweep,
    ) -> Result<Option<Best>> {
        let (lanes, words) = (variant.lanes as usize, variant.state_words() as usize);
        let mut best = None;
        let a_strip = lanes * words;
        let strips_a_read = ((16 << 20) / (4 * a_strip)).max(1);
        let all = plan.params.strips as usize;
        for first in (0..all).step_by(strips_a_read) {
            let count = strips_a_read.min(all - first);
            let read = self.read_words(state, (first * a_strip * 4) as u64, (count * a_strip * 4) as u64)?;
            for strip in read.chunks_exact(a_strip) {
                let found = &strip[(words - 3) * lanes..];
                for lane in 0..lanes {
                    let (score, i, j) = (found[lane] as i32, found[lanes + lane], found[2 * lanes + lane]);
                    if score > 0 {
                        let cell = Best { score, i: sweep.rows.0 + i, j: sweep.columns.0 + j };
                        best = Best::better(best, Some(cell));
                    }
                }
            }
        }
        Ok(best)
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
    /// Rows of the right edge that come with it.
    right: Range<u32>,
    /// Cells that are done after it.
    cells: u64,
}
