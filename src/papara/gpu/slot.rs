//! One of the batches that are in flight at once: its buffers, its dispatches, its scores.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use crate::error::Result;
use crate::gpu::clock::{Clock, TIME_BYTES};
use crate::gpu::device::{Gpu, GrowingBuffer};
use crate::gpu::pipeline::Compiled;
use crate::gpu::readback::Readback;
use crate::papara::kernels::block::{BlockTasks, Launch, Params};
use crate::papara::{OCTET, PhyloBatch, PhyloReport};

/// Places and sites of one dispatch.
struct Dispatch {
    launch: usize,
    params: Params,
}

/// What a batch needs beside its own lists.
pub struct BlockWork<'a> {
    /// The vectors.
    pub vectors: &'a wgpu::Buffer,
    /// What is to be computed.
    pub tasks: &'a BlockTasks,
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
pub struct BlockSlot {
    params: GrowingBuffer,
    reads: GrowingBuffer,
    rows: GrowingBuffer,
    places: GrowingBuffer,
    scratch: GrowingBuffer,
    output: GrowingBuffer,
    staging: GrowingBuffer,
    clock: Clock,
    in_flight: Option<Readback>,
}

impl BlockSlot {
    /// No buffers yet.
    pub fn new(gpu: &Gpu) -> Self {
        BlockSlot {
            params: GrowingBuffer::default(),
            reads: GrowingBuffer::default(),
            rows: GrowingBuffer::default(),
            places: GrowingBuffer::default(),
            scratch: GrowingBuffer::default(),
            output: GrowingBuffer::default(),
            staging: GrowingBuffer::default(),
            clock: Clock::new(gpu),
            in_flight: None,
        }
    }

    /// Gives the memory of its buffers back; it holds no batch.
    pub fn release(&mut self) {
        let buffers = [&mut self.params, &mut self.reads, &mut self.rows, &mut self.places];
        buffers.into_iter().for_each(|buffer| *buffer = GrowingBuffer::default());
        let buffers = [&mut self.scratch, &mut self.output, &mut self.staging];
        buffers.into_iter().for_each(|buffer| *buffer = GrowingBuffer::default());
        self.in_flight = None;
    }

    /// Hands a batch to the device.
    pub fn start(&mut self, gpu: &Gpu, batch: &Arc<PhyloBatch>, work: &BlockWork<'_>) -> Result<()> {
        let tasks = work.tasks;
        let (dispatches, scratch_bytes) = plan(gpu, batch, work)?;
        let alignment = gpu.device.limits().min_uniform_buffer_offset_alignment;
        let stride = (size_of::<Params>() as u32).next_multiple_of(alignment);
        let mut params = vec![0u8; stride as usize * dispatches.len()];
        for (bytes, dispatch) in params.chunks_mut(stride as usize).zip(&dispatches) {
            bytes[..size_of::<Params>()].copy_from_slice(bytemuck::bytes_of(&dispatch.params));
        }
        let storage = wgpu::BufferUsages::STORAGE;
        let params = self.params.fill(gpu, "parameters", wgpu::BufferUsages::UNIFORM, &params)?;
        let reads = self.reads.fill(gpu, "reads", storage, &tasks.reads)?;
        let rows = self.rows.fill(gpu, "rows", storage, bytemuck::cast_slice(&tasks.rows))?;
        let all: Vec<_> = tasks.launches.iter().flat_map(|launch| launch.places.iter().copied()).collect();
        let places = self.places.fill(gpu, "places", storage, bytemuck::cast_slice(&all))?;
        let scratch = self.scratch.reserve(gpu, "scratch", scratch_bytes, storage)?.clone();
        let bytes = 4 * OCTET as u64 * u64::from(tasks.places);
        let output = self.output.reserve(gpu, "output", bytes, storage | wgpu::BufferUsages::COPY_SRC)?.clone();
        let staging_bytes = bytes.next_multiple_of(8) + TIME_BYTES;
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        let staging = self.staging.reserve(gpu, "staging", staging_bytes, usage)?.clone();
        let buffers = [
            ("params", &params),
            ("vectors", work.vectors),
            ("reads", &reads),
            ("rows", &rows),
            ("places", &places),
            ("scratch", &scratch),
            ("out", &output),
        ];
        let bound: Vec<_> = work.programs.iter().map(|program| program.bind(gpu, &buffers)).collect::<Result<_>>()?;
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        for (index, dispatch) in dispatches.iter().enumerate() {
            let (first, last) = (index == 0, index + 1 == dispatches.len());
            let mut pass = self.clock.begin_pass(&mut encoder, "papara", first, last);
            pass.set_pipeline(&work.programs[dispatch.launch].pipeline);
            pass.set_bind_group(0, &bound[dispatch.launch], &[index as u32 * stride]);
            let side = dispatch.params.groups.min(gpu.device.limits().max_compute_workgroups_per_dimension);
            pass.dispatch_workgroups(side, dispatch.params.groups.div_ceil(side.max(1)), 1);
        }
        encoder.copy_buffer_to_buffer(&output, 0, &staging, 0, bytes);
        if !dispatches.is_empty() {
            self.clock.resolve(&mut encoder, &staging, bytes.next_multiple_of(8));
        }
        let submission = gpu.queue.submit([encoder.finish()]);
        self.in_flight = Some(Readback::begin(&staging, staging_bytes, submission));
        gpu.check()
    }

    /// Waits for the batch and takes its scores.
    pub fn finish(&mut self, gpu: &Gpu, batch: &PhyloBatch, limit: Duration) -> Result<PhyloReport> {
        let readback = self.in_flight.take().ok_or_else(|| gpu.error("no batch in flight"))?;
        let words = readback.read(gpu, limit, true)?;
        let (eights, _) = words[..OCTET * batch.pairs() as usize].as_chunks::<OCTET>();
        let scores = eights.iter().map(|eight| eight.map(|word| word as i32)).collect();
        Ok(PhyloReport { scores, unfinished: Vec::new(), kernel_time: self.clock.elapsed(gpu, &words) })
    }
}

/// The dispatches of a batch, and the bytes of scratch memory that the greatest of them takes.
fn plan(gpu: &Gpu, batch: &PhyloBatch, work: &BlockWork<'_>) -> Result<(Vec<Dispatch>, u64)> {
    let (mut dispatches, mut most_bytes, mut first) = (Vec::new(), 0, 0u32);
    for (index, launch) in work.tasks.launches.iter().enumerate() {
        let (variant, columns) = (launch.variant, launch.columns());
        let group_bytes = variant.scratch_vectors(columns) * variant.vector_bytes();
        let needed = launch.places.len().div_ceil(variant.places() as usize) as u64;
        let groups = (work.scratch_budget / group_bytes).min(work.most_groups).min(needed) as u32;
        if groups == 0 {
            return Err(gpu.unsuited(format!("a read of {columns} symbols takes {group_bytes} bytes of it")));
        }
        most_bytes = most_bytes.max(u64::from(groups) * group_bytes);
        let count = launch.places.len() as u32;
        let params = params_of(batch, launch);
        let mut add = |places: Range<u32>, sites: Range<u32>| {
            let params = Params {
                place_begin: first + places.start,
                place_end: first + places.end,
                groups: groups.min((places.len() as u32).div_ceil(variant.places())),
                site_begin: sites.start,
                site_end: sites.end,
                ..params
            };
            dispatches.push(Dispatch { launch: index, params });
        };
        match work.loop_budget {
            None => add(0..count, 0..params.sites),
            // Where loops end early, so many sites at a time, of as many places as have scratch memory.
            Some(iterations) => {
                let a_site = u64::from(columns + 8 * (columns / variant.columns));
                let sites = iterations / (u64::from(variant.chunk) * a_site).max(1) * u64::from(variant.chunk);
                if sites == 0 {
                    return Err(gpu.unsuited(format!("its loops are too short for {columns} columns")));
                }
                let (all, at_once) = (params.sites.max(1), groups * variant.places());
                let sites = sites.min(u64::from(all)) as u32;
                for place in (0..count).step_by(at_once as usize) {
                    for site in (0..all).step_by(sites as usize) {
                        let end = site.saturating_add(sites).min(params.sites);
                        add(place..(place + at_once).min(count), site..end);
                    }
                }
            }
        }
        first += count;
    }
    Ok((dispatches, most_bytes))
}

/// What all dispatches of a launch have in common.
fn params_of(batch: &PhyloBatch, launch: &Launch) -> Params {
    let scheme = &batch.band.scheme;
    Params {
        place_begin: 0,
        place_end: 0,
        groups: 0,
        site_begin: 0,
        site_end: 0,
        sites: batch.band.vectors.sites(),
        columns: launch.columns(),
        scratch_vectors: launch.variant.scratch_vectors(launch.columns()) as u32,
        free_read_ends: u32::from(scheme.free_read_ends),
        matching: scheme.matching,
        mismatch: scheme.mismatch,
        gap_site: scheme.gap_site,
        deletion_first: scheme.deletion.first,
        deletion_next: scheme.deletion.next,
        insertion_first: scheme.insertion.first,
        insertion_next: scheme.insertion.next,
    }
}
