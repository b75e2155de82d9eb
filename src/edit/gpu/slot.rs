//! The buffers and the state of one batch in flight.

use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rayon::prelude::*;

use super::decode::EditDecoder;
use super::dispatch::{EditPlan, EditWork, plan_dispatches};
use super::staging::{StagedList, Staging};
use crate::edit::kernels::myers::{EditTasks, EditVariant, PairSelection};
use crate::edit::{BatchDistances, EditBatch, EditChunk, EditReport, Region, TextRegions};
use crate::engine::buffer_pool::BufferPool;
use crate::error::Result;
use crate::gpu::device::Gpu;
use crate::gpu::launch::{BatchResults, Buffers, Slot};
use crate::gpu::pipeline::Compiled;
use crate::score::EditDistance;

struct EditInFlight {
    batch: Arc<EditBatch>,
    variant: EditVariant,
    text_symbols: Option<u32>,
    /// Capacity of the list, if the list is read instead of the results of all pairs.
    list_room: Option<u32>,
}

/// Number of u32 values in the output before its data, as in `Output` of `common/myers.wgsl`.
const HEADER_WORDS: u64 = 4;

/// Buffers of one batch.
pub struct EditSlot {
    /// Task list of the batch.
    tasks: EditTasks,
    lists: Staging,
    buffers: Buffers,
    in_flight: Option<EditInFlight>,
}

impl Slot for EditSlot {
    fn new(gpu: &Gpu) -> Self {
        EditSlot { tasks: EditTasks::default(), lists: Staging::default(), buffers: Buffers::new(gpu), in_flight: None }
    }

    fn release(&mut self) {
        self.tasks = EditTasks::default();
        self.lists = Staging::default();
        self.buffers.release();
        self.in_flight = None;
    }

    fn collect(&mut self, gpu: &Gpu, limit: Duration) -> Result<BatchResults> {
        self.buffers.collect(gpu, limit)
    }
}

impl EditSlot {
    /// Records a batch: its lists, its dispatches and the copy of its results.
    pub fn record(&mut self, gpu: &Gpu, batch: &Arc<EditBatch>, work: &mut EditWork<'_>) -> Result<()> {
        let (begin, variant, chunk, pool) = (Instant::now(), work.variant, &batch.chunk, work.pool);
        let heads = work.heads.map(|(_, variant)| variant);
        pool.install(|| self.tasks.fill(batch, &heads.unwrap_or(variant), &work.profiles.begins));
        let list = &self.tasks;
        if chunk.text_symbols().0 == 0 && pool.install(|| has_empty_text(chunk, list.regions.clone())) {
            // Kernels do not know the results of texts without symbols.
            work.listing = None;
        }
        let listed = begin.elapsed();
        // Heads are computed first.
        let programs: Vec<(&Compiled, EditVariant)> = work.heads.into_iter().chain([(work.program, variant)]).collect();
        let plans: Vec<EditPlan> = programs.iter().map(|(_, variant)| plan_dispatches(list, work, variant)).collect();
        let scratch_bytes = plans.iter().map(|plan| plan.scratch_bytes).max().unwrap_or(0);
        let runs: &[u32] = bytemuck::cast_slice(&list.runs);
        let region_words = work.region_words() as usize;
        let write_regions = |first: usize, words: &mut [u32]| {
            let first = list.regions.start as usize + first / region_words;
            write_regions(chunk, first, &work.texts.begins, region_words, words);
        };
        let copied = |from: &[u32], first: usize, words: &mut [u32]| {
            let count = words.len();
            words.copy_from_slice(&from[first..first + count]);
        };
        let lists = [
            StagedList { words: region_words * list.regions.len(), write: &write_regions },
            StagedList { words: runs.len(), write: &|first, words| copied(runs, first, words) },
            StagedList { words: list.first_runs.len(), write: &|first, words| copied(&list.first_runs, first, words) },
        ];
        let list_bytes = lists.each_ref().map(|list| 4 * list.words as u64);
        let (staged, begins) = self.lists.fill(gpu, pool, "lists to be copied", lists)?;
        let written = begin.elapsed();

        let mut recording = self.buffers.record(gpu);
        recording.resident("profile", &work.profiles.buffer);
        recording.resident("texts", &work.texts.buffer);
        for ((name, begin), bytes) in ["places", "runs", "first_runs"].into_iter().zip(begins).zip(list_bytes) {
            recording.reserve(name, bytes)?;
            if bytes > 0 {
                recording.copy_in(&staged, begin..begin + bytes, name)?;
            }
        }
        recording.reserve("scratch", scratch_bytes)?;
        let list_room = work.listing.map(|(_, room)| room);
        let listed_bytes = 4 * u64::from(variant.list_words()) * u64::from(list_room.unwrap_or(0));
        let all_bytes = 4 * u64::from(variant.output_words()) * u64::from(list.tasks);
        let kept_bytes = if heads.is_some() { 4 * u64::from(list.tasks) } else { 0 };
        recording.reserve("out", 4 * HEADER_WORDS + listed_bytes + all_bytes + kept_bytes)?;
        recording.zero("out", 0..4 * HEADER_WORDS)?;
        let steps = programs
            .iter()
            .zip(&plans)
            .flat_map(|(&(program, _), plan)| plan.dispatches.iter().map(move |dispatch| (program, dispatch)));
        for (index, (program, dispatch)) in steps.enumerate() {
            if index > 0 {
                recording.cut();
            }
            recording.dispatch(program, &dispatch.params, dispatch.workgroups.into());
        }
        // Copy either the list with its length, or the results of all pairs.
        let bytes = if list_room.is_some() { listed_bytes } else { all_bytes };
        recording.copy_back("out", 0..4 * HEADER_WORDS + bytes)?;
        recording.submit("myers")?;
        tracing::trace!(?variant, ?heads, tasks = list.tasks, ?listed, ?written, submitted = ?begin.elapsed(), "edit batch");
        let (batch, text_symbols) = (Arc::clone(batch), work.text_symbols);
        self.in_flight = Some(EditInFlight { batch, variant, text_symbols, list_room });
        Ok(())
    }

    /// Decodes the results of the batch on the threads of a pool. If there is a result for every
    /// pair, they are written to a buffer from `shelf`. If there were heads, also returns the
    /// number of pairs that the heads kept.
    pub fn decode(
        &mut self,
        gpu: &Gpu,
        pool: &rayon::ThreadPool,
        shelf: &BufferPool<EditDistance>,
        results: BatchResults,
    ) -> Result<(EditReport, Option<u32>)> {
        let Some(EditInFlight { batch, variant, text_symbols, list_room }) = self.in_flight.take() else {
            return Err(gpu.error("no batch in flight"));
        };
        let begin = Instant::now();
        let BatchResults { words, kernel_time, limit } = results;
        let data = &words[HEADER_WORDS as usize..];
        let kept = (variant.selection == PairSelection::Kept).then_some(words[1]);
        let report = |distances| {
            tracing::trace!(?kept, ?kernel_time, finished = ?begin.elapsed(), "edit batch done");
            (EditReport { distances, kernel_time, is_checked: true, ..EditReport::default() }, kept)
        };
        let tasks = self.tasks.tasks;
        let each = |task_list: &EditTasks, words: &[u32]| {
            let decoder = EditDecoder { batch: &batch, tasks: task_list, variant, text_symbols };
            let distances = pool.install(|| decoder.decode_all(words, shelf.take()));
            distances.map(BatchDistances::Each).ok_or_else(|| gpu.error("it reported an impossible result"))
        };
        let Some(room) = list_room else {
            return Ok(report(each(&self.tasks, data)?));
        };
        let count = words[0];
        if count > tasks {
            return Err(gpu.error(format!("it listed {count} of {tasks} pairs")));
        }
        if count <= room {
            let listed = &data[..variant.list_words() as usize * count as usize];
            let decoder = EditDecoder { batch: &batch, tasks: &self.tasks, variant, text_symbols };
            let list = pool.install(|| decoder.listed(listed));
            let list = list.ok_or_else(|| gpu.error("it listed an impossible pair, or a pair twice"))?;
            return Ok(report(BatchDistances::Listed { pairs: tasks as usize, list }));
        }
        drop(words);
        let before = HEADER_WORDS + u64::from(variant.list_words()) * u64::from(room);
        let end = before + u64::from(variant.output_words()) * u64::from(tasks);
        let words = self.buffers.fetch(gpu, "out", 4 * before..4 * end, limit)?;
        Ok(report(each(&self.tasks, &words)?))
    }
}

/// Writes the regions of a chunk from index `first` on in the layout of the kernels: the offset of
/// the first symbol, and the length if a region has two u32 values.
fn write_regions(chunk: &EditChunk, first: usize, begins: &[u32], region_words: usize, words: &mut [u32]) {
    let range = first..first + words.len() / region_words;
    let begin_of = |region: Region| begins[region.text as usize] + region.start;
    // Separate loops avoid a decision for each region.
    match (&chunk.regions, region_words) {
        (TextRegions::Regions(regions), 1) => {
            words.iter_mut().zip(&regions[range]).for_each(|(word, &region)| *word = begin_of(region));
        }
        (TextRegions::Candidates(all, part), 1) => {
            let part = &all[part.start as usize..part.end as usize][range];
            words.iter_mut().zip(part).for_each(|(word, candidate)| *word = begin_of(candidate.region));
        }
        (TextRegions::Texts(order), 1) => {
            words.iter_mut().zip(&order[range]).for_each(|(word, &text)| *word = begins[text as usize]);
        }
        (_, 1) => {
            let regions = range.map(|index| chunk.region(index as u32));
            words.iter_mut().zip(regions).for_each(|(word, region)| *word = begin_of(region));
        }
        _ => {
            let regions = range.map(|index| chunk.region(index as u32));
            let entries = words.as_chunks_mut().0.iter_mut().zip(regions);
            entries.for_each(|(entry, region)| *entry = [begin_of(region), region.symbols()]);
        }
    }
}

/// Checks whether a region in a range has no symbols.
fn has_empty_text(chunk: &EditChunk, regions: Range<u32>) -> bool {
    regions.into_par_iter().any(|index| chunk.region(index).symbols() == 0)
}
