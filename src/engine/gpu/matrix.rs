//! Batches for the kernels that can store directions: chunks of a batch go through the arenas in turn, each computed, then
//! walked back; what the walks leave, values and runs, is read back.
//!
//! The arenas, most of the memory that a job takes, stay on the device and serve every batch. The output buffers exist
//! once a slot: one is copied to the host while the kernels fill the other (Truong et al. 2014, figure 6a).

use std::sync::Arc;
use std::time::Duration;

use super::device::{Gpu, GrowingBuffer};
use super::dispatch::filter_params;
use super::readback::Readback;
use super::resident::Resident;
use super::upload::{Clock, TIME_BYTES, Uploads};
use crate::engine::{Batch, Hit, Report, Want};
use crate::error::Result;
use crate::kernels::layout::Params;
use crate::kernels::matrix::{
    Chunk, DROPPED, MatrixTasks, NO_ROOM, OUTPUT_HEADER_WORDS, PAIR_WORDS, Scan, Variant, WALK_WORKGROUP,
};
use crate::score::OffsetScoring;

/// Workgroups in the first dimension of a dispatch; more go to the next.
const WIDTH: u32 = 1 << 15;
/// Cells that one invocation, or one team of them, does in one dispatch at most: a fraction of a second.
const STEP_CELLS: u64 = 8_000_000;
const TEAM_STEP_CELLS: u64 = 200_000_000;

/// Words of runs that an arena's output has room for whatever is expected.
const SMALL_RUN_WORDS: u64 = 1 << 20;

/// A batch made ready for the device.
pub struct MatrixWork<'a> {
    pub batch: &'a Arc<Batch>,
    pub list: MatrixTasks,
    pub scoring: OffsetScoring,
    pub variant: Variant,
    /// Whether to walk back; else values only.
    pub walk: bool,
    /// Words of runs that are expected for each symbol of a pair's shorter sequence.
    pub words_a_symbol: f64,
    /// Bytes that all outputs together may take.
    pub output_budget: u64,
    /// Loop iterations that an invocation may make in one dispatch, if the device limits them.
    pub loop_budget: Option<u64>,
    pub pipeline: &'a wgpu::ComputePipeline,
    pub walk_pipeline: &'a wgpu::ComputePipeline,
    pub layout: &'a wgpu::BindGroupLayout,
    pub queries: &'a Resident,
    pub targets: &'a Resident,
}

/// What of a batch is in flight in a slot.
struct InFlight {
    batch: Arc<Batch>,
    list: MatrixTasks,
    scoring: OffsetScoring,
    walk: bool,
    tag_bits: u32,
    /// First word and words of each arena's output in what is read back.
    outputs: Vec<Output>,
    cells: u64,
    readback: Readback,
}

/// One arena's output.
#[derive(Clone, Copy)]
struct Output {
    begin: u64,
    pairs: u64,
    runs_words: u64,
}

impl Output {
    fn words(&self) -> u64 {
        OUTPUT_HEADER_WORDS + PAIR_WORDS * self.pairs + self.runs_words
    }
}

/// Buffers of a slot and the batch that is in it.
pub struct MatrixSlot {
    uploads: Uploads,
    outputs: Vec<GrowingBuffer>,
    staging: GrowingBuffer,
    clock: Clock,
    in_flight: Option<InFlight>,
}

/// One dispatch.
struct Dispatch {
    params: Params,
    arena: usize,
    walk: bool,
    workgroups: [u32; 3],
}

impl MatrixSlot {
    /// An empty slot.
    pub fn new(gpu: &Gpu) -> Self {
        MatrixSlot {
            uploads: Uploads::default(),
            outputs: Vec::new(),
            staging: GrowingBuffer::default(),
            clock: Clock::new(gpu),
            in_flight: None,
        }
    }

    /// Cells of the batch in flight.
    pub fn cells(&self) -> u64 {
        self.in_flight.as_ref().map_or(0, |flight| flight.cells)
    }

    /// Uploads the batch's lists, records its dispatches and the copies back, and submits. Does not wait.
    pub fn start(&mut self, gpu: &Gpu, work: MatrixWork<'_>, arenas: &[wgpu::Buffer]) -> Result<()> {
        let (batch, list) = (work.batch, &work.list);
        let outputs = plan_outputs(&work);
        let dispatches = plan_dispatches(&work, &outputs);
        let params = dispatches.iter().map(|dispatch| dispatch.params);
        let table = work.variant.tagged_table(&work.scoring);
        let uploaded = self.uploads.fill(gpu, &batch.band, work.targets, &list.tasks, &table, params)?;
        let storage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::COPY_SRC;
        self.outputs.resize_with(self.outputs.len().max(outputs.len()), GrowingBuffer::default);
        let mut groups = Vec::new();
        for ((output, buffer), arena) in outputs.iter().zip(&mut self.outputs).zip(arenas) {
            let buffer = buffer.reserve(gpu, "output", 4 * output.words(), storage)?.clone();
            groups.push((uploaded.bind(gpu, work.layout, work.queries, work.targets, arena, &buffer), buffer));
        }
        let end = outputs.iter().map(|output| output.begin + output.words()).max().unwrap_or(0);
        let time_offset = (4 * end).next_multiple_of(8);
        let staging_bytes = time_offset + TIME_BYTES;
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        let staging = self.staging.reserve(gpu, "staging", staging_bytes, usage)?.clone();

        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        for (output, (_, buffer)) in outputs.iter().zip(&groups) {
            // The counter begins at 0, and pairs that a lost device never reached have no runs.
            encoder.clear_buffer(buffer, 0, Some(4 * (OUTPUT_HEADER_WORDS + PAIR_WORDS * output.pairs)));
        }
        {
            // One pass: dispatches that share no arena need not wait for each other.
            let mut pass = self.clock.begin_pass(&mut encoder, "nw_", true, true);
            for (index, dispatch) in dispatches.iter().enumerate() {
                pass.set_pipeline(if dispatch.walk { work.walk_pipeline } else { work.pipeline });
                pass.set_bind_group(0, &groups[dispatch.arena].0, &[index as u32 * uploaded.params_stride]);
                let [x, y, z] = dispatch.workgroups;
                pass.dispatch_workgroups(x, y, z);
            }
        }
        for (output, (_, buffer)) in outputs.iter().zip(&groups) {
            encoder.copy_buffer_to_buffer(buffer, 0, &staging, 4 * output.begin, 4 * output.words());
        }
        self.clock.resolve(&mut encoder, &staging, time_offset);
        let submission = gpu.queue.submit([encoder.finish()]);
        let readback = Readback::begin(&staging, staging_bytes, submission);
        self.in_flight = Some(InFlight {
            cells: batch.cells(),
            batch: Arc::clone(batch),
            scoring: work.scoring,
            list: work.list,
            walk: work.walk,
            tag_bits: work.variant.tag_bits(),
            outputs,
            readback,
        });
        gpu.check()
    }

    /// Waits for the batch and decodes its results; beside them the words of runs a symbol that they took, if they were
    /// walked.
    pub fn finish(&mut self, gpu: &Gpu, limit: Duration) -> Result<(Report, Option<f64>)> {
        let Some(flight) = self.in_flight.take() else {
            return Err(gpu.error("no batch in flight"));
        };
        let InFlight { batch, list, scoring, walk, tag_bits, outputs, readback, .. } = flight;
        let words = readback.words(gpu, limit)?;
        let kernel_time = self.clock.elapsed(gpu, &words);
        let band = &batch.band;
        let mut report = Report { kernel_time, ..Report::default() };
        for chunk in &list.chunks {
            let output = outputs[chunk.arena];
            let pairs_begin = (output.begin + OUTPUT_HEADER_WORDS) as usize;
            let runs_begin = pairs_begin + (PAIR_WORDS * output.pairs) as usize;
            for index in chunk.tasks.clone() {
                let task = &list.tasks[index as usize];
                let query = batch.blocks[list.blocks[index as usize] as usize].query;
                for slot in 0..task.count {
                    let at = pairs_begin + PAIR_WORDS as usize * (task.pairs_begin + slot) as usize;
                    let [value, first, runs] = [words[at], words[at + 1], words[at + 2]];
                    if walk && runs == DROPPED {
                        continue;
                    }
                    let target = band.order[(task.first + slot) as usize];
                    let (m, n) = (band.queries.length(query), band.targets.length(target));
                    let (score, matches) = scoring.decode(value as i32 >> tag_bits, m, n);
                    let found = Hit { query, target, score, matches };
                    if let (false, Want::Reaching(filter)) = (walk, &band.want)
                        && !filter.may_reach(score, matches, m, n)
                    {
                        continue;
                    }
                    report.hits.push(found);
                    if walk {
                        let span = (runs != NO_ROOM).then_some((runs_begin + first as usize, runs));
                        if span.is_some_and(|(first, runs)| first + runs.div_ceil(2) as usize > words.len()) {
                            return Err(gpu.error("runs beyond what was read back"));
                        }
                        report.traced.spans.push(span);
                    }
                }
            }
        }
        let taken = walk.then(|| {
            // The counter goes on where there is no room, so that the next batch can have more.
            let used: u64 = outputs.iter().map(|output| words[output.begin as usize] as u64).sum();
            used as f64 / list.arena_symbols.iter().sum::<u64>().max(1) as f64
        });
        if walk {
            report.traced.words = words;
        }
        Ok((report, taken))
    }
}

/// Room for the results of each arena's pairs.
fn plan_outputs(work: &MatrixWork<'_>) -> Vec<Output> {
    let list = &work.list;
    let mut begin = 0;
    let all_pairs: u64 = list.arena_pairs.iter().sum();
    let for_runs = (work.output_budget / 4).saturating_sub((PAIR_WORDS + OUTPUT_HEADER_WORDS) * all_pairs);
    list.arena_pairs
        .iter()
        .zip(list.arena_symbols.iter().zip(&list.arena_run_words))
        .map(|(&pairs, (&symbols, &most))| {
            let expected = (symbols as f64 * work.words_a_symbol) as u64 + 8 * pairs;
            // What costs next to nothing is given for the worst case.
            let wanted = most.min(expected.max(SMALL_RUN_WORDS));
            let share = (for_runs as f64 * pairs as f64 / all_pairs.max(1) as f64) as u64;
            let output = Output { begin, pairs, runs_words: if work.walk { wanted.min(share) } else { 0 } };
            begin += output.words();
            output
        })
        .collect()
}

/// The dispatches of a batch: round by round as many chunks as there are arenas, first the kernel's steps, then the walks.
fn plan_dispatches(work: &MatrixWork<'_>, outputs: &[Output]) -> Vec<Dispatch> {
    let (list, variant) = (&work.list, &work.variant);
    let scoring = &work.scoring;
    let params = Params {
        opening: scoring.opening() << variant.tag_bits(),
        edge_opening: scoring.edge_opening() << variant.tag_bits(),
        edge_step: scoring.edge_step() << variant.tag_bits(),
        match_bits: scoring.match_bits(),
        walk: work.walk as u32,
        ..filter_params(work.batch, scoring)
    };
    let mut dispatches = Vec::new();
    for round in list.chunks.chunks(list.arena_pairs.len().max(1)) {
        let steps: Vec<Vec<Dispatch>> = round.iter().map(|chunk| chunk_steps(work, chunk, params)).collect();
        let most = steps.iter().map(Vec::len).max().unwrap_or(0);
        let mut steps: Vec<_> = steps.into_iter().map(Vec::into_iter).collect();
        for _ in 0..most {
            dispatches.extend(steps.iter_mut().filter_map(Iterator::next));
        }
        for chunk in round {
            let threads = (chunk.tasks.end - chunk.tasks.start) as u64 * variant.slots() as u64;
            let workgroups = threads.div_ceil(WALK_WORKGROUP as u64) as u32;
            let output = outputs[chunk.arena];
            dispatches.push(Dispatch {
                params: Params {
                    task_begin: chunk.tasks.start,
                    task_count: chunk.tasks.end,
                    runs_begin: (PAIR_WORDS * output.pairs) as u32,
                    runs_capacity_words: output.runs_words as u32,
                    ..params
                },
                arena: chunk.arena,
                walk: true,
                workgroups: [workgroups.min(WIDTH), workgroups.div_ceil(WIDTH), 1],
            });
        }
    }
    dispatches
}

/// The kernel's dispatches for one chunk, each after the other.
fn chunk_steps(work: &MatrixWork<'_>, chunk: &Chunk, params: Params) -> Vec<Dispatch> {
    let variant = &work.variant;
    let tasks = &work.list.tasks[chunk.tasks.start as usize..chunk.tasks.end as usize];
    let count = tasks.len() as u32;
    let [x, y] = [count.min(WIDTH), count.div_ceil(WIDTH)];
    let params = Params { task_begin: chunk.tasks.start, task_count: chunk.tasks.end, ..params };
    let of = |params: Params, workgroups: [u32; 3]| Dispatch { params, arena: chunk.arena, walk: false, workgroups };
    if variant.scan == Scan::TiledDiagonal {
        let diagonals = tasks.iter().map(|task| variant.tile_diagonals(task)).max().unwrap_or(0);
        let columns = tasks.iter().map(|task| task.columns / variant.column_unit()).max().unwrap_or(0);
        return (0..diagonals)
            .map(|diagonal| {
                let tiles = (diagonal + 1).min(diagonals - diagonal).min(columns);
                // Pairs of different size have their widest diagonals elsewhere: enough for all of them.
                let tiles =
                    if tasks.iter().all(|task| variant.tile_diagonals(task) == diagonals) { tiles } else { columns };
                of(Params { tile_diagonal: diagonal, ..params }, [x, tiles, y])
            })
            .collect();
    }
    let passes = tasks.iter().map(|task| variant.passes(task)).max().unwrap_or(1);
    let rows = tasks.iter().map(|task| task.rows_words as u64 * 4).max().unwrap_or(4);
    let cells = if variant.scan == Scan::Rows { STEP_CELLS } else { TEAM_STEP_CELLS };
    let by_time = cells / (rows * variant.column_unit() as u64);
    let by_loops = work.loop_budget.map_or(u64::MAX, |budget| budget / variant.iterations_a_pass(rows));
    let step = by_time.min(by_loops).clamp(1, passes as u64) as u32;
    (0..passes)
        .step_by(step as usize)
        .map(|first| of(Params { slice_begin: first, slice_end: passes.min(first + step), ..params }, [x, y, 1]))
        .collect()
}
