//! One of the batches that are in flight at once: its buffers, its dispatches, its results.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rayon::prelude::*;

use super::choice::Extent;
use super::dispatch::plan_dispatches;
use super::resident::{ResidentProfiles, ResidentTexts};
use super::staging::Staging;
use crate::edit::kernels::myers::{EditTasks, Params, Variant};
use crate::edit::{EditBatch, EditReport, GROUP_PAIRS, Group, groups};
use crate::error::Result;
use crate::gpu::clock::{Clock, TIME_BYTES};
use crate::gpu::device::{Gpu, GrowingBuffer};
use crate::gpu::pipeline::Compiled;
use crate::gpu::readback::Readback;
use crate::score::Found;

/// What a batch needs beside its own lists.
pub struct EditWork<'a> {
    /// The texts.
    pub texts: &'a ResidentTexts,
    /// The patterns.
    pub profiles: &'a ResidentProfiles,
    /// The kernel.
    pub program: &'a Compiled,
    /// What it was made for.
    pub variant: Variant,
    /// Bytes that its scratch memory may take.
    pub scratch_budget: u64,
    /// Greatest lengths, and the greatest distance of interest.
    pub extent: Extent,
    /// Columns that one dispatch may compute.
    pub columns: u32,
    /// Threads that write its lists.
    pub pool: &'a rayon::ThreadPool,
}

struct InFlight {
    batch: Arc<EditBatch>,
    variant: Variant,
    readback: Readback,
}

/// Buffers of one batch.
pub struct EditSlot {
    params: GrowingBuffer,
    staged_places: Staging,
    places: GrowingBuffer,
    runs: GrowingBuffer,
    first_runs: GrowingBuffer,
    scratch: GrowingBuffer,
    output: GrowingBuffer,
    staging: GrowingBuffer,
    clock: Clock,
    in_flight: Option<InFlight>,
}

impl EditSlot {
    /// No buffers yet.
    pub fn new(gpu: &Gpu) -> Self {
        EditSlot {
            params: GrowingBuffer::default(),
            staged_places: Staging::default(),
            places: GrowingBuffer::default(),
            runs: GrowingBuffer::default(),
            first_runs: GrowingBuffer::default(),
            scratch: GrowingBuffer::default(),
            output: GrowingBuffer::default(),
            staging: GrowingBuffer::default(),
            clock: Clock::new(gpu),
            in_flight: None,
        }
    }

    /// Gives the memory of its buffers back; it holds no batch.
    pub fn release(&mut self) {
        self.staged_places = Staging::default();
        let buffers = [&mut self.params, &mut self.places, &mut self.runs, &mut self.first_runs];
        buffers.into_iter().for_each(|buffer| *buffer = GrowingBuffer::default());
        let buffers = [&mut self.scratch, &mut self.output, &mut self.staging];
        buffers.into_iter().for_each(|buffer| *buffer = GrowingBuffer::default());
        self.in_flight = None;
    }

    /// Hands a batch to the device.
    pub fn start(&mut self, gpu: &Gpu, batch: &Arc<EditBatch>, work: &EditWork<'_>) -> Result<()> {
        let variant = work.variant;
        let begin = Instant::now();
        let band = &batch.band;
        let list = EditTasks::new(batch, &variant, &work.profiles.begins);
        let plan = plan_dispatches(&list, work);
        let alignment = gpu.device.limits().min_uniform_buffer_offset_alignment;
        let stride = (size_of::<Params>() as u32).next_multiple_of(alignment);
        let mut params = vec![0u8; stride as usize * plan.dispatches.len()];
        for (bytes, dispatch) in params.chunks_mut(stride as usize).zip(&plan.dispatches) {
            bytes[..size_of::<Params>()].copy_from_slice(bytemuck::bytes_of(&dispatch.params));
        }
        let storage = wgpu::BufferUsages::STORAGE;
        let params = self.params.fill(gpu, "parameters", wgpu::BufferUsages::UNIFORM, &params)?;
        let listed = begin.elapsed();
        let (first_place, place_count) = (list.places.start, list.places.len());
        let staged = self.staged_places.fill(gpu, work.pool, "places to be copied", place_count, |index| {
            let region = band.region(first_place + index as u32);
            let place = [work.texts.begins[region.text as usize] + region.start, region.symbols()];
            bytemuck::cast::<[u32; 2], [u8; 8]>(place)
        })?;
        let staged_after = begin.elapsed();
        let place_bytes = 8 * place_count as u64;
        let places = self.places.reserve(gpu, "places", place_bytes, storage | wgpu::BufferUsages::COPY_DST)?.clone();
        let runs = self.runs.fill(gpu, "runs", storage, bytemuck::cast_slice(&list.runs))?;
        let first_runs = self.first_runs.fill(gpu, "first runs", storage, bytemuck::cast_slice(&list.first_runs))?;
        let scratch = self.scratch.reserve(gpu, "scratch", plan.scratch_bytes, storage)?.clone();
        let bytes = 4 * u64::from(variant.output_words()) * u64::from(list.tasks);
        let output = self.output.reserve(gpu, "output", bytes, storage | wgpu::BufferUsages::COPY_SRC)?.clone();
        let time_offset = bytes.next_multiple_of(8);
        let staging_bytes = time_offset + TIME_BYTES;
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        let staging = self.staging.reserve(gpu, "staging", staging_bytes, usage)?.clone();

        let buffers = [
            ("params", &params),
            ("profile", &work.profiles.buffer),
            ("texts", &work.texts.buffer),
            ("places", &places),
            ("runs", &runs),
            ("first_runs", &first_runs),
            ("scratch", &scratch),
            ("out", &output),
        ];
        let bind_group = work.program.bind(gpu, &buffers)?;
        let mut readback = None;
        for (index, dispatch) in plan.dispatches.iter().enumerate() {
            let (first, last) = (index == 0, index + 1 == plan.dispatches.len());
            let mut encoder = gpu.device.create_command_encoder(&Default::default());
            if first && place_bytes > 0 {
                encoder.copy_buffer_to_buffer(&staged, 0, &places, 0, place_bytes);
            }
            {
                let mut pass = self.clock.begin_pass(&mut encoder, "myers", first, last);
                pass.set_pipeline(&work.program.pipeline);
                pass.set_bind_group(0, &bind_group, &[index as u32 * stride]);
                let side = dispatch.workgroups.min(gpu.device.limits().max_compute_workgroups_per_dimension);
                pass.dispatch_workgroups(side, dispatch.workgroups.div_ceil(side.max(1)), 1);
            }
            if last {
                encoder.copy_buffer_to_buffer(&output, 0, &staging, 0, bytes);
                self.clock.resolve(&mut encoder, &staging, time_offset);
            }
            let submission = gpu.queue.submit([encoder.finish()]);
            readback = last.then(|| Readback::begin(&staging, staging_bytes, submission));
        }
        tracing::trace!(?variant, tasks = list.tasks, ?listed, ?staged_after, submitted = ?begin.elapsed(), "edit batch");
        self.in_flight = readback.map(|readback| InFlight { batch: Arc::clone(batch), variant, readback });
        gpu.check()
    }

    /// Waits for the batch and decodes its results, on the threads of a pool.
    pub fn finish(&mut self, gpu: &Gpu, pool: &rayon::ThreadPool, limit: Duration) -> Result<EditReport> {
        let Some(flight) = self.in_flight.take() else {
            return Err(gpu.error("no batch in flight"));
        };
        let words = flight.readback.read(gpu, limit, true)?;
        let found = pool.install(|| decode(&flight.batch, flight.variant, &words));
        Ok(EditReport { found, unfinished: Vec::new(), kernel_time: self.clock.elapsed(gpu, &words) })
    }
}

/// Results of all pairs, from what the kernel wrote.
fn decode(batch: &EditBatch, variant: Variant, words: &[u32]) -> Vec<Found> {
    let groups = groups(batch, GROUP_PAIRS);
    let a_pair = variant.output_words() as usize;
    // Not touched before the threads write it.
    let mut found: Vec<Found> = bytemuck::zeroed_vec(groups.last().map_or(0, |group| group.pairs.end));
    let mut rest = found.as_mut_slice();
    let parts: Vec<(Group, &mut [Found])> = groups
        .into_iter()
        .map(|group| {
            let (own, after) = std::mem::take(&mut rest).split_at_mut(group.pairs.len());
            rest = after;
            (group, own)
        })
        .collect();
    parts.into_par_iter().for_each(|(group, own)| {
        let (band, scheme) = (&batch.band, &*batch.band.scheme);
        let mut results = own.iter_mut().zip(words[a_pair * group.pairs.start..].chunks_exact(a_pair));
        for block in &batch.blocks[group.blocks] {
            let m = band.patterns.length(block.pattern);
            for (place, (found, output)) in block.places.clone().zip(&mut results) {
                let n = band.region(place).symbols();
                *found = scheme.trivial(m, n).unwrap_or_else(|| variant.decode(output, n).within(scheme.limit(m, n)));
            }
        }
    });
    found
}
