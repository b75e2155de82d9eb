//! One of the batches that are in flight at once: its buffers, its dispatches, its results.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rayon::prelude::*;

use super::choice::Extent;
use super::dispatch::{EditPlan, plan_dispatches};
use super::resident::{ResidentProfiles, ResidentTexts};
use super::staging::Staging;
use crate::edit::kernels::myers::{EditTasks, Params, Selection, Variant};
use crate::edit::{Distances, EditBatch, EditReport, GROUP_PAIRS, Group, groups};
use crate::error::Result;
use crate::gpu::clock::{Clock, TIME_BYTES};
use crate::gpu::device::{Gpu, GrowingBuffer};
use crate::gpu::pipeline::Compiled;
use crate::gpu::readback::{Readback, Words};
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
    /// The kernel that computes heads first, and what it was made for.
    pub heads: Option<(&'a Compiled, Variant)>,
    /// Bytes that its scratch memory may take.
    pub scratch_budget: u64,
    /// Greatest lengths, and the greatest distance of interest.
    pub extent: Extent,
    /// Columns that one dispatch may compute.
    pub columns: u32,
    /// The greatest distance that is listed and the pairs that there is room for; `None` if all results are to be read.
    pub listing: Option<(u32, u32)>,
    /// Threads that write its lists.
    pub pool: &'a rayon::ThreadPool,
}

struct InFlight {
    batch: Arc<EditBatch>,
    variant: Variant,
    /// Pairs that the list has room for, if it was read and not the results of all pairs.
    list_room: Option<u32>,
    readback: Readback,
}

/// Words of the output before its data: as `Output` of `common/myers.wgsl` has them.
const HEADER_WORDS: u64 = 4;

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
    pub fn start(&mut self, gpu: &Gpu, batch: &Arc<EditBatch>, work: &mut EditWork<'_>) -> Result<()> {
        let variant = work.variant;
        let begin = Instant::now();
        let band = &batch.band;
        let heads = work.heads.map(|(_, variant)| variant);
        let places = EditTasks::places_of(batch);
        let (first_place, place_count) = (places.start, places.len());
        let has_empty_text = AtomicBool::new(false);
        let begins = &work.texts.begins;
        let pool = work.pool;
        let mut fill = || {
            self.staged_places.fill(gpu, pool, "places to be copied", place_count, |index| {
                let region = band.region(first_place + index as u32);
                if region.symbols() == 0 {
                    has_empty_text.store(true, Ordering::Relaxed);
                }
                let place = [begins[region.text as usize] + region.start, region.symbols()];
                bytemuck::cast::<[u32; 2], [u8; 8]>(place)
            })
        };
        // One thread lists tasks while the others write places.
        let profile_begins = &work.profiles.begins;
        let mut list = EditTasks::default();
        let staged = pool.in_place_scope(|scope| {
            scope.spawn(|_| list = EditTasks::new(batch, &heads.unwrap_or(variant), profile_begins));
            fill()
        })?;
        let listed = begin.elapsed();
        if has_empty_text.into_inner() {
            // Kernels do not know what is found in a text without symbols.
            work.listing = None;
        }
        // Heads first.
        let programs: Vec<(&Compiled, Variant)> = work.heads.into_iter().chain([(work.program, variant)]).collect();
        let plans: Vec<EditPlan> = programs.iter().map(|(_, variant)| plan_dispatches(&list, work, variant)).collect();
        let dispatches = || plans.iter().flat_map(|plan| &plan.dispatches);
        let dispatch_count = dispatches().count();
        let scratch_bytes = plans.iter().map(|plan| plan.scratch_bytes).max().unwrap_or(0);
        let alignment = gpu.device.limits().min_uniform_buffer_offset_alignment;
        let stride = (size_of::<Params>() as u32).next_multiple_of(alignment);
        let mut params = vec![0u8; stride as usize * dispatch_count];
        for (bytes, dispatch) in params.chunks_mut(stride as usize).zip(dispatches()) {
            bytes[..size_of::<Params>()].copy_from_slice(bytemuck::bytes_of(&dispatch.params));
        }
        let storage = wgpu::BufferUsages::STORAGE;
        let params = self.params.fill(gpu, "parameters", wgpu::BufferUsages::UNIFORM, &params)?;
        let place_bytes = 8 * place_count as u64;
        let places = self.places.reserve(gpu, "places", place_bytes, storage | wgpu::BufferUsages::COPY_DST)?.clone();
        let runs = self.runs.fill(gpu, "runs", storage, bytemuck::cast_slice(&list.runs))?;
        let first_runs = self.first_runs.fill(gpu, "first runs", storage, bytemuck::cast_slice(&list.first_runs))?;
        let scratch = self.scratch.reserve(gpu, "scratch", scratch_bytes, storage)?.clone();
        let list_room = work.listing.map(|(_, room)| room);
        let list_bytes = 4 * u64::from(variant.list_words()) * u64::from(list_room.unwrap_or(0));
        let all_bytes = 4 * u64::from(variant.output_words()) * u64::from(list.tasks);
        let kept_bytes = if heads.is_some() { 4 * u64::from(list.tasks) } else { 0 };
        let usage = storage | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
        let output_bytes = 4 * HEADER_WORDS + list_bytes + all_bytes + kept_bytes;
        let output = self.output.reserve(gpu, "output", output_bytes, usage)?.clone();
        // What is read: the number of listed pairs and the list, or the results of all pairs.
        let bytes = 4 * HEADER_WORDS + if list_room.is_some() { list_bytes } else { all_bytes };
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
        let bind = |(program, _): &(&Compiled, Variant)| program.bind(gpu, &buffers);
        let bind_groups = programs.iter().map(bind).collect::<Result<Vec<_>>>()?;
        let of_plan = plans.iter().zip(programs.iter().zip(&bind_groups));
        let steps = of_plan.flat_map(|(plan, of)| plan.dispatches.iter().map(move |dispatch| (dispatch, of)));
        let mut readback = None;
        for (index, (dispatch, ((program, _), bind_group))) in steps.enumerate() {
            let (first, last) = (index == 0, index + 1 == dispatch_count);
            let mut encoder = gpu.device.create_command_encoder(&Default::default());
            if first {
                encoder.clear_buffer(&output, 0, Some(4 * HEADER_WORDS));
            }
            if first && place_bytes > 0 {
                encoder.copy_buffer_to_buffer(&staged, 0, &places, 0, place_bytes);
            }
            {
                let mut pass = self.clock.begin_pass(&mut encoder, "myers", first, last);
                pass.set_pipeline(&program.pipeline);
                pass.set_bind_group(0, bind_group, &[index as u32 * stride]);
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
        tracing::trace!(?variant, ?heads, tasks = list.tasks, ?listed, submitted = ?begin.elapsed(), "edit batch");
        self.in_flight = readback.map(|readback| InFlight { batch: Arc::clone(batch), variant, list_room, readback });
        gpu.check()
    }

    /// Waits for the batch and decodes its results, on the threads of a pool; and how many pairs heads kept, if there were any.
    pub fn finish(
        &mut self,
        gpu: &Gpu,
        pool: &rayon::ThreadPool,
        limit: Duration,
    ) -> Result<(EditReport, Option<u32>)> {
        let Some(InFlight { batch, variant, list_room, readback }) = self.in_flight.take() else {
            return Err(gpu.error("no batch in flight"));
        };
        let words = readback.read(gpu, limit, true)?;
        let kernel_time = self.clock.elapsed(gpu, &words);
        let data = &words[HEADER_WORDS as usize..];
        let kept = (variant.selection == Selection::Kept).then_some(words[1]);
        tracing::trace!(?kept, ?kernel_time, "edit batch done");
        let report = |found| (EditReport { found, unfinished: Vec::new(), kernel_time }, kept);
        let Some(room) = list_room else {
            return Ok(report(Distances::Each(pool.install(|| decode(&batch, variant, data)))));
        };
        let count = u64::from(words[0]);
        if count > batch.pairs() {
            return Err(gpu.error(format!("{count} pairs listed of {}", batch.pairs())));
        }
        if count <= u64::from(room) {
            let listed = &data[..(u64::from(variant.list_words()) * count) as usize];
            let list = pool.install(|| decode_list(&batch, variant, listed));
            let list = list.ok_or_else(|| gpu.error("a pair that is not in the batch, or twice, is listed"))?;
            return Ok(report(Distances::Listed { pairs: batch.pairs() as usize, list }));
        }
        drop(words);
        let before = HEADER_WORDS + u64::from(variant.list_words()) * u64::from(room);
        let words = self.fetch(gpu, before, u64::from(variant.output_words()) * batch.pairs(), limit)?;
        Ok(report(Distances::Each(pool.install(|| decode(&batch, variant, &words)))))
    }

    /// Copies words of the output that did not come with the first copy.
    fn fetch(&mut self, gpu: &Gpu, begin: u64, count: u64, limit: Duration) -> Result<Words> {
        let output = self.output.get().ok_or_else(|| gpu.error("no output buffer"))?;
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        let staging = self.staging.reserve(gpu, "staging", 4 * count, usage)?;
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        encoder.copy_buffer_to_buffer(output, 4 * begin, staging, 0, 4 * count);
        let submission = gpu.queue.submit([encoder.finish()]);
        Readback::begin(staging, 4 * count, submission).read(gpu, limit, true)
    }
}

/// Results of the pairs that a kernel listed, in any order: those within their limits, by their number. `None` if a number
/// cannot be.
fn decode_list(batch: &EditBatch, variant: Variant, words: &[u32]) -> Option<Vec<(u32, Found)>> {
    // A pair's number and two words of output at most.
    let read = |entry: &[u32]| (entry[0], [entry[1], entry.get(2).copied().unwrap_or(0)]);
    let mut listed: Vec<(u32, [u32; 2])> = words.par_chunks_exact(variant.list_words() as usize).map(read).collect();
    listed.par_sort_unstable();
    let is_rising = listed.is_sorted_by(|(one, _), (next, _)| one < next);
    if !is_rising || listed.last().is_some_and(|&(pair, _)| u64::from(pair) >= batch.pairs()) {
        return None;
    }
    let of_group = |group: Group| {
        let before = |end: usize| listed.partition_point(|&(pair, _)| (pair as usize) < end);
        let mut rest = &listed[before(group.pairs.start)..before(group.pairs.end)];
        let (band, scheme) = (&batch.band, &*batch.band.scheme);
        let mut found = Vec::with_capacity(rest.len());
        let mut first = group.pairs.start;
        for block in &batch.blocks[group.blocks] {
            let end = first + block.places.len();
            while let Some((&(pair, output), others)) = rest.split_first()
                && (pair as usize) < end
            {
                rest = others;
                let m = band.patterns.length(block.pattern);
                let n = band.region(block.places.start + (pair as usize - first) as u32).symbols();
                let one = variant.decode(&output, n).within(scheme.limit(m, n));
                if one.is_some() {
                    found.push((pair, one));
                }
            }
            first = end;
        }
        found
    };
    let parts: Vec<Vec<(u32, Found)>> = groups(batch, GROUP_PAIRS).into_par_iter().map(of_group).collect();
    Some(parts.concat())
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
