//! One of the batches that are in flight at once: its buffers, its dispatches, its results.

use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rayon::prelude::*;

use super::decode::Decoder;
use super::dispatch::{EditPlan, plan_dispatches};
use super::extent::Extent;
use super::resident::{ResidentProfiles, ResidentTexts};
use super::staging::{List, Staging};
use crate::edit::kernels::myers::{EditTasks, Params, Selection, Variant};
use crate::edit::{Distances, EditBand, EditBatch, EditReport, Places, Region};
use crate::engine::shelf::Shelf;
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
    /// Symbols of every text of the band, if all have as many.
    pub text_symbols: Option<u32>,
    /// Columns that one dispatch may compute.
    pub columns: u32,
    /// The greatest distance that is listed and the pairs that there is room for; `None` if all results are to be read.
    pub listing: Option<(u32, u32)>,
    /// Threads that write its lists.
    pub pool: &'a rayon::ThreadPool,
}

impl EditWork<'_> {
    /// Words of a place on the device.
    pub(super) fn place_words(&self) -> u32 {
        if self.text_symbols.is_some() { 1 } else { 2 }
    }
}

struct InFlight {
    batch: Arc<EditBatch>,
    variant: Variant,
    text_symbols: Option<u32>,
    /// Pairs that the list has room for, if it was read and not the results of all pairs.
    list_room: Option<u32>,
    readback: Readback,
}

/// Words of the output before its data: as `Output` of `common/myers.wgsl` has them.
const HEADER_WORDS: u64 = 4;

/// Buffers of one batch.
pub struct EditSlot {
    /// What is in flight, as the kernels see it.
    tasks: EditTasks,
    lists: Staging,
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
            tasks: EditTasks::default(),
            lists: Staging::default(),
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

    /// Gives the memory of its buffers back; it holds no batch.
    pub fn release(&mut self) {
        self.tasks = EditTasks::default();
        self.lists = Staging::default();
        let buffers = [&mut self.params, &mut self.places, &mut self.runs, &mut self.first_runs];
        buffers.into_iter().for_each(|buffer| *buffer = GrowingBuffer::default());
        let buffers = [&mut self.scratch, &mut self.output, &mut self.staging];
        buffers.into_iter().for_each(|buffer| *buffer = GrowingBuffer::default());
        self.in_flight = None;
    }

    /// Hands a batch to the device.
    pub fn start(&mut self, gpu: &Gpu, batch: &Arc<EditBatch>, work: &mut EditWork<'_>) -> Result<()> {
        let (begin, variant, band, pool) = (Instant::now(), work.variant, &batch.band, work.pool);
        let heads = work.heads.map(|(_, variant)| variant);
        pool.install(|| self.tasks.fill(batch, &heads.unwrap_or(variant), &work.profiles.begins));
        let list = &self.tasks;
        if band.text_symbols().0 == 0 && pool.install(|| has_empty_text(band, list.places.clone())) {
            // Kernels do not know what is found in a text without symbols.
            work.listing = None;
        }
        let listed = begin.elapsed();
        // Heads first.
        let programs: Vec<(&Compiled, Variant)> = work.heads.into_iter().chain([(work.program, variant)]).collect();
        let plans: Vec<EditPlan> = programs.iter().map(|(_, variant)| plan_dispatches(list, work, variant)).collect();
        let dispatches = || plans.iter().flat_map(|plan| &plan.dispatches);
        let dispatch_count = dispatches().count();
        let scratch_bytes = plans.iter().map(|plan| plan.scratch_bytes).max().unwrap_or(0);
        let alignment = gpu.device.limits().min_uniform_buffer_offset_alignment;
        let stride = (size_of::<Params>() as u32).next_multiple_of(alignment);
        let mut params = vec![0u32; stride as usize / 4 * dispatch_count];
        for (words, dispatch) in params.chunks_mut(stride as usize / 4).zip(dispatches()) {
            words[..size_of::<Params>() / 4]
                .copy_from_slice(bytemuck::cast_slice(bytemuck::bytes_of(&dispatch.params)));
        }
        let runs: &[u32] = bytemuck::cast_slice(&list.runs);
        let place_words = work.place_words() as usize;
        let write_places = |first: usize, words: &mut [u32]| {
            let first = list.places.start as usize + first / place_words;
            write_places(band, first, &work.texts.begins, place_words, words);
        };
        let copied = |from: &[u32], first: usize, words: &mut [u32]| {
            let count = words.len();
            words.copy_from_slice(&from[first..first + count]);
        };
        let lists = [
            List { words: params.len(), write: &|first, words| copied(&params, first, words) },
            List { words: place_words * list.places.len(), write: &write_places },
            List { words: runs.len(), write: &|first, words| copied(runs, first, words) },
            List { words: list.first_runs.len(), write: &|first, words| copied(&list.first_runs, first, words) },
        ];
        let list_bytes = lists.each_ref().map(|list| 4 * list.words as u64);
        let (staged, begins) = self.lists.fill(gpu, pool, "lists to be copied", lists)?;
        let written = begin.elapsed();
        let storage = wgpu::BufferUsages::STORAGE;
        let usages =
            [wgpu::BufferUsages::UNIFORM, storage, storage, storage].map(|usage| usage | wgpu::BufferUsages::COPY_DST);
        let buffers = [&mut self.params, &mut self.places, &mut self.runs, &mut self.first_runs];
        let labels = ["parameters", "places", "runs", "first runs"];
        let mut copied = Vec::with_capacity(buffers.len());
        for (((buffer, label), usage), bytes) in buffers.into_iter().zip(labels).zip(usages).zip(list_bytes) {
            copied.push(buffer.reserve(gpu, label, bytes, usage)?.clone());
        }
        let scratch = self.scratch.reserve(gpu, "scratch", scratch_bytes, storage)?.clone();
        let list_room = work.listing.map(|(_, room)| room);
        let listed_bytes = 4 * u64::from(variant.list_words()) * u64::from(list_room.unwrap_or(0));
        let all_bytes = 4 * u64::from(variant.output_words()) * u64::from(list.tasks);
        let kept_bytes = if heads.is_some() { 4 * u64::from(list.tasks) } else { 0 };
        let usage = storage | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
        let output_bytes = 4 * HEADER_WORDS + listed_bytes + all_bytes + kept_bytes;
        let output = self.output.reserve(gpu, "output", output_bytes, usage)?.clone();
        // What is read: the number of listed pairs and the list, or the results of all pairs.
        let bytes = 4 * HEADER_WORDS + if list_room.is_some() { listed_bytes } else { all_bytes };
        let time_offset = bytes.next_multiple_of(8);
        let staging_bytes = time_offset + TIME_BYTES;
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        let staging = self.staging.reserve(gpu, "staging", staging_bytes, usage)?.clone();

        let buffers = [
            ("params", &copied[0]),
            ("profile", &work.profiles.buffer),
            ("texts", &work.texts.buffer),
            ("places", &copied[1]),
            ("runs", &copied[2]),
            ("first_runs", &copied[3]),
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
            let to_copy =
                copied.iter().zip(begins.into_iter().zip(list_bytes)).filter(|(_, (_, bytes))| first && *bytes > 0);
            to_copy.for_each(|(to, (begin, bytes))| encoder.copy_buffer_to_buffer(&staged, begin, to, 0, bytes));
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
        tracing::trace!(?variant, ?heads, tasks = list.tasks, ?listed, ?written, submitted = ?begin.elapsed(), "edit batch");
        self.in_flight = readback.map(|readback| InFlight {
            batch: Arc::clone(batch),
            variant,
            text_symbols: work.text_symbols,
            list_room,
            readback,
        });
        gpu.check()
    }

    /// Waits for the batch and decodes its results, on the threads of a pool, and in a buffer from a shelf if there is one for
    /// every pair; and how many pairs heads kept, if there were any.
    pub fn finish(
        &mut self,
        gpu: &Gpu,
        (pool, shelf): (&rayon::ThreadPool, &Shelf<Found>),
        limit: Duration,
    ) -> Result<(EditReport, Option<u32>)> {
        let Some(InFlight { batch, variant, text_symbols, list_room, readback }) = self.in_flight.take() else {
            return Err(gpu.error("no batch in flight"));
        };
        let begin = Instant::now();
        let words = readback.read(gpu, limit, true)?;
        let waited = begin.elapsed();
        let kernel_time = self.clock.elapsed(gpu, &words);
        let data = &words[HEADER_WORDS as usize..];
        let kept = (variant.selection == Selection::Kept).then_some(words[1]);
        let report = |found| {
            tracing::trace!(?kept, ?kernel_time, ?waited, finished = ?begin.elapsed(), "edit batch done");
            (EditReport { found, kernel_time, is_checked: true, ..EditReport::default() }, kept)
        };
        let tasks = self.tasks.tasks;
        let each = |own: &EditTasks, words: &[u32]| {
            let decoder = Decoder { batch: &batch, tasks: own, variant, text_symbols };
            let found = pool.install(|| decoder.each(words, shelf.take()));
            found.map(Distances::Each).ok_or_else(|| gpu.error("a result that cannot be"))
        };
        let Some(room) = list_room else {
            return Ok(report(each(&self.tasks, data)?));
        };
        let count = words[0];
        if count > tasks {
            return Err(gpu.error(format!("{count} pairs listed of {tasks}")));
        }
        if count <= room {
            let listed = &data[..variant.list_words() as usize * count as usize];
            let decoder = Decoder { batch: &batch, tasks: &self.tasks, variant, text_symbols };
            let list = pool.install(|| decoder.listed(listed));
            let list = list.ok_or_else(|| gpu.error("a pair that cannot be, or twice, is listed"))?;
            return Ok(report(Distances::Listed { pairs: tasks as usize, list }));
        }
        drop(words);
        let before = HEADER_WORDS + u64::from(variant.list_words()) * u64::from(room);
        let words = self.fetch(gpu, before, u64::from(variant.output_words()) * u64::from(tasks), limit)?;
        Ok(report(each(&self.tasks, &words)?))
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

/// Writes the places of a band from one on, as the kernels read them: the first symbol of the text, and its length if a place has
/// two words.
fn write_places(band: &EditBand, first: usize, begins: &[u32], place_words: usize, words: &mut [u32]) {
    let range = first..first + words.len() / place_words;
    let begin_of = |region: Region| begins[region.text as usize] + region.start;
    // Loops of their own, so that none decides anything for each place.
    match (&band.places, place_words) {
        (Places::Regions(regions), 1) => {
            words.iter_mut().zip(&regions[range]).for_each(|(word, &region)| *word = begin_of(region));
        }
        (Places::Candidates(all, own), 1) => {
            let own = &all[own.start as usize..own.end as usize][range];
            words.iter_mut().zip(own).for_each(|(word, candidate)| *word = begin_of(candidate.region));
        }
        (Places::Texts(order), 1) => {
            words.iter_mut().zip(&order[range]).for_each(|(word, &text)| *word = begins[text as usize]);
        }
        _ => {
            let regions = range.map(|place| band.region(place as u32));
            let places = words.as_chunks_mut().0.iter_mut().zip(regions);
            places.for_each(|(place, region)| *place = [begin_of(region), region.symbols()]);
        }
    }
}

/// Whether a text at one of these places has no symbols.
fn has_empty_text(band: &EditBand, places: Range<u32>) -> bool {
    places.into_par_iter().any(|place| band.region(place).symbols() == 0)
}
