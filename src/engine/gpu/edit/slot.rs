//! One of the batches that are in flight at once: its buffers, its dispatches, its results.

use std::sync::Arc;
use std::time::Duration;

use rayon::prelude::*;

use super::dispatch::plan_dispatches;
use super::resident::{ResidentProfiles, ResidentTexts};
use crate::engine::edit::{EditBatch, EditReport};
use crate::engine::gpu::device::{Gpu, GrowingBuffer};
use crate::engine::gpu::readback::Readback;
use crate::engine::gpu::upload::{Clock, TIME_BYTES};
use crate::error::Result;
use crate::kernels::myers::{EditTasks, Params, Variant};
use crate::score::Found;

/// Pairs that one thread decodes at a time.
const DECODED_AT_ONCE: u64 = 1 << 16;

/// What a batch needs beside its own lists.
pub struct EditWork<'a> {
    /// The texts.
    pub texts: &'a ResidentTexts,
    /// The patterns.
    pub profiles: &'a ResidentProfiles,
    /// The pipeline and its bindings.
    pub pipeline: &'a wgpu::ComputePipeline,
    /// The bindings' layout.
    pub layout: &'a wgpu::BindGroupLayout,
    /// What the pipeline was made for.
    pub variant: Variant,
    /// Bytes that its scratch memory may take.
    pub scratch_budget: u64,
    /// Columns that one dispatch may compute.
    pub columns: u32,
}

struct InFlight {
    batch: Arc<EditBatch>,
    variant: Variant,
    readback: Readback,
}

/// Buffers of one batch.
pub struct EditSlot {
    params: GrowingBuffer,
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

    /// Hands a batch to the device.
    pub fn start(&mut self, gpu: &Gpu, batch: &Arc<EditBatch>, work: &EditWork<'_>) -> Result<()> {
        let variant = work.variant;
        let begins = &work.profiles.begins;
        let list = EditTasks::new(batch, variant.tasks(), &work.texts.begins, |id| begins[id as usize]);
        let plan = plan_dispatches(&list, work);
        let alignment = gpu.device.limits().min_uniform_buffer_offset_alignment;
        let stride = (size_of::<Params>() as u32).next_multiple_of(alignment);
        let mut params = vec![0u8; stride as usize * plan.dispatches.len()];
        for (bytes, dispatch) in params.chunks_mut(stride as usize).zip(&plan.dispatches) {
            bytes[..size_of::<Params>()].copy_from_slice(bytemuck::bytes_of(&dispatch.params));
        }
        let fill = |buffer: &mut GrowingBuffer, label: &str, usage: wgpu::BufferUsages, content: &[u8]| {
            let usage = usage | wgpu::BufferUsages::COPY_DST;
            let buffer = buffer.reserve(gpu, label, content.len() as u64, usage)?;
            gpu.queue.write_buffer(buffer, 0, content);
            Result::Ok(buffer.clone())
        };
        let storage = wgpu::BufferUsages::STORAGE;
        let params = fill(&mut self.params, "parameters", wgpu::BufferUsages::UNIFORM, &params)?;
        let places = fill(&mut self.places, "places", storage, bytemuck::cast_slice(&list.places))?;
        let runs = fill(&mut self.runs, "runs", storage, bytemuck::cast_slice(&list.runs))?;
        let first_runs = fill(&mut self.first_runs, "first runs", storage, bytemuck::cast_slice(&list.first_runs))?;
        let scratch = self.scratch.reserve(gpu, "scratch", plan.scratch_bytes, storage)?.clone();
        let bytes = 4 * u64::from(variant.output_words()) * u64::from(list.tasks);
        let output = self.output.reserve(gpu, "output", bytes, storage | wgpu::BufferUsages::COPY_SRC)?.clone();
        let time_offset = bytes.next_multiple_of(8);
        let staging_bytes = time_offset + TIME_BYTES;
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        let staging = self.staging.reserve(gpu, "staging", staging_bytes, usage)?.clone();

        let uniform = wgpu::BufferBinding {
            buffer: &params,
            offset: 0,
            size: std::num::NonZeroU64::new(size_of::<Params>() as u64),
        };
        let mut entries = vec![wgpu::BindGroupEntry { binding: 0, resource: wgpu::BindingResource::Buffer(uniform) }];
        let buffers = [&work.profiles.buffer, &work.texts.buffer, &places, &runs, &first_runs, &scratch, &output];
        entries.extend(
            (1..)
                .zip(buffers)
                .map(|(binding, buffer)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() }),
        );
        let descriptor = wgpu::BindGroupDescriptor { label: Some("myers"), layout: work.layout, entries: &entries };
        let bind_group = gpu.device.create_bind_group(&descriptor);
        let mut readback = None;
        for (index, dispatch) in plan.dispatches.iter().enumerate() {
            let (first, last) = (index == 0, index + 1 == plan.dispatches.len());
            let mut encoder = gpu.device.create_command_encoder(&Default::default());
            {
                let mut pass = self.clock.begin_pass(&mut encoder, "myers", first, last);
                pass.set_pipeline(work.pipeline);
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
        self.in_flight = readback.map(|readback| InFlight { batch: Arc::clone(batch), variant, readback });
        gpu.check()
    }

    /// Waits for the batch and decodes its results.
    pub fn finish(&mut self, gpu: &Gpu, limit: Duration) -> Result<EditReport> {
        let Some(flight) = self.in_flight.take() else {
            return Err(gpu.error("no batch in flight"));
        };
        let words = flight.readback.read(gpu, limit, true)?;
        let found = decode(&flight.batch, flight.variant, &words);
        Ok(EditReport { found, unfinished: Vec::new(), kernel_time: self.clock.elapsed(gpu, &words) })
    }
}

/// Results of all pairs, from what the kernel wrote.
fn decode(batch: &EditBatch, variant: Variant, words: &[u32]) -> Vec<Found> {
    let band = &batch.band;
    let (scheme, a_pair) = (&*band.scheme, variant.output_words() as usize);
    let mut found = vec![Found::NONE; batch.pairs() as usize];
    let (mut rest, mut words) = (found.as_mut_slice(), words);
    let mut parts = Vec::new();
    for block in &batch.blocks {
        let count = block.places.len();
        let (own, after) = std::mem::take(&mut rest).split_at_mut(count);
        let (own_words, words_after) = words.split_at(a_pair * count);
        (rest, words) = (after, words_after);
        parts.push((block, own, own_words));
    }
    let decode_block = |(block, own, words): (&crate::engine::edit::EditBlock, &mut [Found], &[u32])| {
        let m = band.patterns.length(block.pattern);
        for ((place, found), output) in block.places.clone().zip(own).zip(words.chunks_exact(a_pair)) {
            let n = band.region(place).symbols();
            *found = scheme.trivial(m, n).unwrap_or_else(|| variant.decode(output, n).within(scheme.limit(m, n)));
        }
    };
    if batch.pairs() > DECODED_AT_ONCE {
        parts.into_par_iter().for_each(decode_block);
    } else {
        parts.into_iter().for_each(decode_block);
    }
    found
}
