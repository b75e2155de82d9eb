//! One of the batches that are in flight at once: its buffers, its dispatches, its results.

use std::time::Duration;

use super::results::OUTPUT_HEADER;
use crate::error::Result;
use crate::gpu::clock::{Clock, TIME_BYTES};
use crate::gpu::device::{Gpu, GrowingBuffer};
use crate::gpu::pipeline::Compiled;
use crate::gpu::readback::{Readback, Words};
use crate::posterior::kernel::CUTOFF;
use crate::posterior::kernels::layout::Params;
use crate::posterior::kernels::program::Variant;
use crate::posterior::kernels::tasks::Tasks;
use crate::posterior::model::Model;

/// What a kernel may be wrong about a sum of 131,072 floats, and more.
const SLACK: f32 = 0.97;
/// Strips of one dispatch at most, where all that loops can do is one dispatch.
const ALL_STRIPS: u32 = 1 << 20;

/// What a batch needs beside its own lists.
pub(super) struct SlotWork<'a> {
    /// The packed sequences.
    pub symbols: &'a wgpu::Buffer,
    /// Weights of all pairs of codes.
    pub table: &'a wgpu::Buffer,
    /// What gaps weigh.
    pub model: &'a Model,
    /// What is to be computed.
    pub tasks: &'a Tasks,
    /// The programs in the order in which they go over a round of tasks.
    pub programs: &'a [(Variant, Compiled)],
    /// Survivors that there is room for.
    pub capacity: u32,
    /// Iterations that an invocation may make in a dispatch.
    pub loop_budget: Option<u64>,
    /// Bytes of a binding at most.
    pub binding: u64,
    /// Bytes of forward values at most; of scratch memory half as many.
    pub kept_bytes: u64,
}

/// Buffers of one batch.
pub struct PosteriorSlot {
    params: GrowingBuffer,
    pairs: GrowingBuffer,
    lists: GrowingBuffer,
    kept: GrowingBuffer,
    scratch: GrowingBuffer,
    out: GrowingBuffer,
    staging: GrowingBuffer,
    clock: Clock,
    in_flight: Option<Readback>,
}

impl PosteriorSlot {
    /// No buffers yet.
    pub(super) fn new(gpu: &Gpu) -> Self {
        PosteriorSlot {
            params: GrowingBuffer::default(),
            pairs: GrowingBuffer::default(),
            lists: GrowingBuffer::default(),
            kept: GrowingBuffer::default(),
            scratch: GrowingBuffer::default(),
            out: GrowingBuffer::default(),
            staging: GrowingBuffer::default(),
            clock: Clock::new(gpu),
            in_flight: None,
        }
    }

    /// Gives the memory of its buffers back; it holds no batch.
    pub(super) fn release(&mut self) {
        let buffers = [&mut self.params, &mut self.pairs, &mut self.lists, &mut self.kept];
        buffers.into_iter().for_each(|buffer| *buffer = GrowingBuffer::default());
        let buffers = [&mut self.scratch, &mut self.out, &mut self.staging];
        buffers.into_iter().for_each(|buffer| *buffer = GrowingBuffer::default());
        self.in_flight = None;
    }

    /// Hands a batch to the device.
    pub(super) fn start(&mut self, gpu: &Gpu, work: &SlotWork<'_>) -> Result<()> {
        let tasks = work.tasks;
        let dispatches = plan(gpu, work)?;
        let alignment = gpu.device.limits().min_uniform_buffer_offset_alignment;
        let stride = (size_of::<Params>() as u32).next_multiple_of(alignment);
        let mut params = vec![0u8; stride as usize * dispatches.len()];
        for (bytes, (_, own)) in params.chunks_mut(stride as usize).zip(&dispatches) {
            bytes[..size_of::<Params>()].copy_from_slice(bytemuck::bytes_of(own));
        }
        let storage = wgpu::BufferUsages::STORAGE;
        let bytes = 4 * (OUTPUT_HEADER as u64 + tasks.result_words + 2 * u64::from(work.capacity));
        if bytes > work.binding {
            return Err(gpu.unsuited(format!("{bytes} bytes of results exceed its limit of {}", work.binding)));
        }
        let params = self.params.fill(gpu, "parameters", wgpu::BufferUsages::UNIFORM, &params)?;
        let pairs = self.pairs.fill(gpu, "pairs", storage, bytemuck::cast_slice(&tasks.pairs))?;
        let lists = self.lists.fill(gpu, "tasks", storage, bytemuck::cast_slice(&tasks.list))?;
        let kept = roomy(16 * tasks.kept_fours, work.kept_bytes);
        let kept = self.kept.reserve(gpu, "forward values", kept, storage)?.clone();
        let scratch = roomy(4 * tasks.scratch_words, work.kept_bytes / 2);
        let scratch = self.scratch.reserve(gpu, "scratch", scratch, storage)?.clone();
        let usage = storage | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
        let out_bytes = roomy(bytes, work.binding);
        let out = self.out.reserve(gpu, "results", out_bytes, usage)?.clone();
        let staging_bytes = bytes + TIME_BYTES;
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        let staging = self.staging.reserve(gpu, "staging", out_bytes + TIME_BYTES, usage)?.clone();
        let buffers = [
            ("params", &params),
            ("symbols", work.symbols),
            ("table", work.table),
            ("pairs", &pairs),
            ("tasks", &lists),
            ("kept", &kept),
            ("scratch", &scratch),
            ("out", &out),
        ];
        let bind = |(_, program): &(Variant, Compiled)| program.bind(gpu, &buffers);
        let bound: Vec<_> = work.programs.iter().map(bind).collect::<Result<_>>()?;
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        encoder.clear_buffer(&out, 0, Some(4 * OUTPUT_HEADER as u64));
        for (index, (program, own)) in dispatches.iter().enumerate() {
            let (first, last) = (index == 0, index + 1 == dispatches.len());
            let mut pass = self.clock.begin_pass(&mut encoder, "posterior", first, last);
            pass.set_pipeline(&work.programs[*program].1.pipeline);
            pass.set_bind_group(0, &bound[*program], &[index as u32 * stride]);
            let side = own.task_count.min(gpu.device.limits().max_compute_workgroups_per_dimension);
            pass.dispatch_workgroups(side, own.task_count.div_ceil(side.max(1)), 1);
        }
        encoder.copy_buffer_to_buffer(&out, 0, &staging, 0, bytes);
        if !dispatches.is_empty() {
            self.clock.resolve(&mut encoder, &staging, bytes);
        }
        let submission = gpu.queue.submit([encoder.finish()]);
        self.in_flight = Some(Readback::begin(&staging, staging_bytes, submission));
        gpu.check()
    }

    /// Waits for the batch: what the device wrote, and how long it was busy.
    pub(super) fn finish(&mut self, gpu: &Gpu, limit: Duration) -> Result<(Words, Option<Duration>)> {
        let readback = self.in_flight.take().ok_or_else(|| gpu.error("no batch in flight"))?;
        let words = readback.read(gpu, limit, true)?;
        let time = self.clock.elapsed(gpu, &words);
        Ok((words, time))
    }
}

/// Bytes for a buffer that needs so many, if it may have so many at most: batches differ a little, and memory that the host
/// reads is slow to be had.
fn roomy(bytes: u64, most: u64) -> u64 {
    (bytes + bytes / 4).next_power_of_two().min(most).max(bytes)
}

/// The dispatches of a batch, each of a program: round by round, and a round in parts where loops end early.
fn plan(gpu: &Gpu, work: &SlotWork<'_>) -> Result<Vec<(usize, Params)>> {
    let tasks = work.tasks;
    let mut dispatches = Vec::new();
    for round in &tasks.rounds {
        let own = &tasks.list[round.start as usize..round.end as usize];
        let strips = own.iter().map(|task| task.strips).max().unwrap_or(0);
        for (index, (variant, _)) in work.programs.iter().enumerate() {
            let at_once = match work.loop_budget {
                None => ALL_STRIPS,
                Some(budget) => {
                    let groups = own.iter().map(|task| task.groups).max().unwrap_or(0);
                    let residues = [8 * groups, strips * variant.lanes * 16];
                    let list = own.iter().map(|task| task.list).max().unwrap_or(0);
                    let rest = budget.saturating_sub(variant.other_iterations(residues, list));
                    (rest / variant.strip_iterations(groups)) as u32
                }
            };
            if at_once == 0 {
                return Err(gpu.unsuited("its loops are too short for sequences of this length"));
            }
            for begin in (0..strips).step_by(at_once as usize) {
                let params = Params {
                    task_begin: round.start,
                    task_count: round.end - round.start,
                    strip_begin: begin,
                    strip_end: (begin + at_once).min(strips),
                    capacity: work.capacity,
                    arena_begin: tasks.result_words as u32,
                    zero: 0,
                    open: work.model.open,
                    extend: work.model.extend,
                    cutoff: CUTOFF * SLACK,
                    reserved0: 0,
                    reserved1: 0,
                };
                dispatches.push((index, params));
            }
        }
    }
    Ok(dispatches)
}
