//! One of the batches that are in flight at once: its buffers, its dispatches, its identities.

use std::ops::Range;
use std::time::Duration;

use crate::clustal::kernels::layout::{Found, Params};
use crate::clustal::kernels::program::{Pass, Variant};
use crate::clustal::kernels::tasks::{Launch, Tasks};
use crate::clustal::{ClustalReport, PairIdentities};
use crate::error::Result;
use crate::gpu::clock::{Clock, TIME_BYTES};
use crate::gpu::device::{Gpu, GrowingBuffer};
use crate::gpu::pipeline::Compiled;
use crate::gpu::readback::Readback;

/// Tasks and slices of one dispatch.
struct Dispatch {
    launch: usize,
    params: Params,
}

/// What a batch needs beside its own lists.
pub struct SlotWork<'a> {
    /// The packed sequences.
    pub symbols: &'a wgpu::Buffer,
    /// Scores of all pairs of codes.
    pub table: &'a wgpu::Buffer,
    /// What is to be computed.
    pub tasks: &'a Tasks,
    /// The program of each launch.
    pub programs: &'a [Compiled],
    /// Bytes that its scratch memory may take.
    pub scratch_budget: u64,
    /// Workgroups of a dispatch at most.
    pub most_groups: u64,
    /// Iterations that an invocation may make in a dispatch.
    pub loop_budget: Option<u64>,
}

/// Buffers of one batch.
pub struct ClustalSlot {
    params: GrowingBuffer,
    pairs: GrowingBuffer,
    lists: GrowingBuffer,
    found: GrowingBuffer,
    scratch: GrowingBuffer,
    staging: GrowingBuffer,
    clock: Clock,
    in_flight: Option<Readback>,
}

impl ClustalSlot {
    /// No buffers yet.
    pub fn new(gpu: &Gpu) -> Self {
        ClustalSlot {
            params: GrowingBuffer::default(),
            pairs: GrowingBuffer::default(),
            lists: GrowingBuffer::default(),
            found: GrowingBuffer::default(),
            scratch: GrowingBuffer::default(),
            staging: GrowingBuffer::default(),
            clock: Clock::new(gpu),
            in_flight: None,
        }
    }

    /// Gives the memory of its buffers back; it holds no batch.
    pub fn release(&mut self) {
        let buffers = [&mut self.params, &mut self.pairs, &mut self.lists, &mut self.found];
        buffers.into_iter().for_each(|buffer| *buffer = GrowingBuffer::default());
        let buffers = [&mut self.scratch, &mut self.staging];
        buffers.into_iter().for_each(|buffer| *buffer = GrowingBuffer::default());
        self.in_flight = None;
    }

    /// Hands a batch to the device.
    pub fn start(&mut self, gpu: &Gpu, work: &SlotWork<'_>) -> Result<()> {
        let tasks = work.tasks;
        let (dispatches, scratch_bytes) = plan(gpu, work)?;
        let alignment = gpu.device.limits().min_uniform_buffer_offset_alignment;
        let stride = (size_of::<Params>() as u32).next_multiple_of(alignment);
        let mut params = vec![0u8; stride as usize * dispatches.len()];
        for (bytes, dispatch) in params.chunks_mut(stride as usize).zip(&dispatches) {
            bytes[..size_of::<Params>()].copy_from_slice(bytemuck::bytes_of(&dispatch.params));
        }
        let storage = wgpu::BufferUsages::STORAGE;
        let params = self.params.fill(gpu, "parameters", wgpu::BufferUsages::UNIFORM, &params)?;
        let pairs = self.pairs.fill(gpu, "pairs", storage, bytemuck::cast_slice(&tasks.pairs))?;
        let lists = self.lists.fill(gpu, "tasks", storage, bytemuck::cast_slice(&tasks.list))?;
        let bytes = (size_of::<Found>() * tasks.pairs.len()) as u64;
        let found = self.found.reserve(gpu, "found", bytes, storage | wgpu::BufferUsages::COPY_SRC)?.clone();
        let scratch = self.scratch.reserve(gpu, "scratch", scratch_bytes, storage)?.clone();
        let staging_bytes = bytes + TIME_BYTES;
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        let staging = self.staging.reserve(gpu, "staging", staging_bytes, usage)?.clone();
        let buffers = [
            ("params", &params),
            ("symbols", work.symbols),
            ("table", work.table),
            ("pairs", &pairs),
            ("found", &found),
            ("tasks", &lists),
            ("scratch", &scratch),
        ];
        let bound: Vec<_> = work.programs.iter().map(|program| program.bind(gpu, &buffers)).collect::<Result<_>>()?;
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        for (index, dispatch) in dispatches.iter().enumerate() {
            let (first, last) = (index == 0, index + 1 == dispatches.len());
            let mut pass = self.clock.begin_pass(&mut encoder, "clustal", first, last);
            pass.set_pipeline(&work.programs[dispatch.launch].pipeline);
            pass.set_bind_group(0, &bound[dispatch.launch], &[index as u32 * stride]);
            let side = dispatch.params.groups.min(gpu.device.limits().max_compute_workgroups_per_dimension);
            pass.dispatch_workgroups(side, dispatch.params.groups.div_ceil(side.max(1)), 1);
        }
        encoder.copy_buffer_to_buffer(&found, 0, &staging, 0, bytes);
        if !dispatches.is_empty() {
            self.clock.resolve(&mut encoder, &staging, bytes);
        }
        let submission = gpu.queue.submit([encoder.finish()]);
        self.in_flight = Some(Readback::begin(&staging, staging_bytes, submission));
        gpu.check()
    }

    /// Waits for the batch and takes its identities.
    pub fn finish(&mut self, gpu: &Gpu, tasks: &Tasks, limit: Duration) -> Result<ClustalReport> {
        let readback = self.in_flight.take().ok_or_else(|| gpu.error("no batch in flight"))?;
        let words = readback.read(gpu, limit, true)?;
        let all: &[Found] = bytemuck::cast_slice(&words[..tasks.pairs.len() * size_of::<Found>() / 4]);
        let mut identities = vec![PairIdentities::default(); tasks.pairs.len()];
        for ((found, pair), &place) in all.iter().zip(&tasks.pairs).zip(&tasks.places) {
            identities[place as usize] = found.identities(pair);
        }
        Ok(ClustalReport { identities, unfinished: Vec::new(), kernel_time: self.clock.elapsed(gpu, &words) })
    }
}

/// Iterations of loops that an invocation makes of a slice of so many rows.
fn slice_iterations(variant: Variant, rows: u32) -> u64 {
    u64::from(rows) + u64::from(8 * variant.codes * variant.size / variant.workgroup + 4 * variant.size)
}

/// Makes workgroups smaller where their loops would be too long: invocations that have a pair each wait for each other.
pub(super) fn narrow(tasks: &mut Tasks, iterations: u64) {
    for launch in tasks.launches.iter_mut().filter(|launch| launch.variant.pass == Pass::ForwardReverseThread) {
        while launch.variant.workgroup > 1 && pair_iterations(launch.variant, tasks.longest) > iterations {
            launch.variant.workgroup /= 2;
        }
    }
}

/// Workgroups of a launch that find scratch memory, for pairs of so many symbols at most.
pub(super) fn groups(launch: &Launch, longest: [u32; 2], scratch_budget: u64, most_groups: u64) -> u64 {
    let group_bytes = launch.variant.entry_bytes() * u64::from(entries(launch.variant.pass, longest).max(1));
    let tasks = u64::from(launch.tasks.end - launch.tasks.start).div_ceil(u64::from(launch.variant.pairs()));
    (scratch_budget / group_bytes).min(most_groups).min(tasks)
}

/// Entries of scratch memory that a pass needs.
fn entries(pass: Pass, [rows, columns]: [u32; 2]) -> u32 {
    if pass.is_last() { rows.max(columns) + 1 } else { rows }
}

/// Iterations of loops that an invocation makes at most of a pair whose identities it finds: of all sizes of parts that there
/// are.
fn pair_iterations(variant: Variant, longest: [u32; 2]) -> u64 {
    let longest = longest[0].max(longest[1]);
    let (rows, columns, half) = (u64::from(longest), u64::from(longest), u64::from(variant.workgroup / 2));
    let size = u64::from(variant.size);
    // Invocations wait for each other: parts of a place in their trees may be long in one and short in the next.
    let alone = |level: u32| {
        let parts = (1 << level).min(rows);
        let own = rows.div_ceil(1 << level);
        let all = columns * parts.min(u64::from(variant.workgroup));
        let slices = if own > 1 { all.div_ceil(size) + parts } else { 0 };
        slices * (own + size) + all + parts * (own + 4)
    };
    if variant.pass == Pass::ForwardReverseThread {
        return (0..=rows.max(1).ilog2() + 1).map(alone).sum::<u64>() + u64::from(variant.codes * variant.codes);
    }
    let of = |level: u32| {
        let parts = (1 << level).min(rows);
        let own = rows.div_ceil(1 << level).div_ceil(2) + 1;
        let (strips, lanes) = (own.div_ceil(half * size), own.div_ceil(size).min(half));
        strips * (columns + parts * (lanes + 2 * size)) + 2 * (columns / half + parts) + columns + 4 * parts
    };
    (0..=rows.max(1).ilog2() + 1).map(of).sum()
}

/// The dispatches of a batch, and the bytes of scratch memory that the greatest of them takes.
fn plan(gpu: &Gpu, work: &SlotWork<'_>) -> Result<(Vec<Dispatch>, u64)> {
    let (mut dispatches, mut most_bytes) = (Vec::new(), 0);
    for (index, launch) in work.tasks.launches.iter().enumerate() {
        let Launch { variant, ref tasks } = *launch;
        let [rows, columns] = work.tasks.longest;
        let entries = entries(variant.pass, work.tasks.longest);
        let group_bytes = variant.entry_bytes() * u64::from(entries.max(1));
        let groups = groups(launch, work.tasks.longest, work.scratch_budget, work.most_groups) as u32;
        let pairs = variant.pairs();
        if groups == 0 {
            return Err(gpu.unsuited(format!("a pair of {rows} and {columns} symbols takes {group_bytes} bytes of it")));
        }
        most_bytes = most_bytes.max(u64::from(groups) * group_bytes);
        let all_slices = if variant.pass.is_last() { 1 } else { variant.slices(columns) };
        let mut add = |tasks: Range<u32>, slices: Range<u32>| {
            let params = Params {
                task_begin: tasks.start,
                task_end: tasks.end,
                groups: groups.min((tasks.end - tasks.start).div_ceil(pairs)),
                slice_begin: slices.start,
                slice_end: slices.end,
                entries,
                extension: work.tasks.extension,
                reserved: 0,
            };
            dispatches.push(Dispatch { launch: index, params });
        };
        let Some(iterations) = work.loop_budget else {
            add(tasks.clone(), 0..all_slices);
            continue;
        };
        // Where loops end early, so many slices at a time, of as many tasks as have scratch memory.
        let slices = match variant.pass.is_last() {
            true => u64::from(pair_iterations(variant, work.tasks.longest) <= iterations),
            false => iterations / slice_iterations(variant, rows),
        };
        if slices == 0 {
            return Err(gpu.unsuited(format!("its loops are too short for {rows} and {columns} symbols")));
        }
        let at_once = groups.saturating_mul(pairs);
        for task in tasks.clone().step_by(at_once as usize) {
            for slice in (0..all_slices.max(1)).step_by(slices.min(1 << 20) as usize) {
                let end = slice.saturating_add(slices.min(1 << 20) as u32).min(all_slices);
                add(task..task.saturating_add(at_once).min(tasks.end), slice..end);
            }
        }
    }
    Ok((dispatches, most_bytes))
}
