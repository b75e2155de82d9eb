//! Batches for the kernels that can store directions. A batch is divided into rounds that fit in
//! the arenas. Each round is computed and then traced back. The resulting values and runs are read
//! back.
//!
//! The arenas take most of a job's memory. They stay on the device and serve every batch. There is
//! one output buffer per slot: one is copied to the host while the kernels fill the other (Truong
//! et al. 2014, figure 6a).

use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use super::dispatch::filter_params;
use super::resident::ResidentSequences;
use super::upload::{HeldTargets, Inputs};
use crate::engine::buffer_pool::BufferPool;
use crate::error::Result;
use crate::gpu::device::Gpu;
use crate::gpu::launch::{BatchResults, Buffers, Slot};
use crate::gpu::pipeline::Compiled;
use crate::pairs::kernels::layout::NwParams;
use crate::pairs::kernels::matrix::{
    DROPPED, MatrixVariant, NO_INDEX, OUTPUT_HEADER_WORDS, PAIR_WORDS, Scan, TRACEBACK_WORKGROUP,
};
use crate::pairs::kernels::matrix_tasks::{ArenaParts, MatrixTasks};
use crate::pairs::{PairHit, PairsBatch, PairsReport};
use crate::score::OffsetScoring;

/// Greatest number of cells per dispatch for one invocation, and for a team of invocations. They
/// take a fraction of a second.
const STEP_CELLS: u64 = 8_000_000;
pub(super) const TEAM_STEP_CELLS: u64 = 200_000_000;

/// Value of `slice_end` in the dispatch that traces back (`LAST` in `nw_checkpoint`).
const LAST_PASS: u32 = u32::MAX;

/// Factor by which the output of later batches may exceed the output of the first batch. The first
/// batch is small, and later batches may have more runs. The driver needs a third of a millisecond
/// per MiB to allocate a larger buffer, during which nothing is computed (H100).
const FIRST_GROWTH: f64 = 1.4;

/// Words of runs that every output can hold, regardless of the expected number.
const SMALL_RUN_WORDS: u64 = 1 << 20;

/// A batch that is ready for the device.
pub(super) struct MatrixWork<'a> {
    pub batch: &'a Arc<PairsBatch>,
    pub list: MatrixTasks,
    pub scoring: OffsetScoring,
    pub variant: MatrixVariant,
    /// Expected words of packed runs per symbol of a pair's shorter sequence.
    pub words_a_symbol: f64,
    /// Greatest number of bytes of the output.
    pub output_budget: u64,
    /// Whether the job has more cells than this batch.
    pub has_more: bool,
    /// Greatest number of loop iterations of an invocation in one dispatch, if the device limits
    /// them.
    pub loop_budget: Option<u64>,
    pub program: &'a Compiled,
    /// The traceback. `None` if the kernel itself traces back.
    pub traceback_program: Option<&'a Compiled>,
    pub queries: &'a ResidentSequences,
    pub targets: &'a ResidentSequences,
}

/// A batch in flight.
struct MatrixInFlight {
    batch: Arc<PairsBatch>,
    list: MatrixTasks,
    scoring: OffsetScoring,
    traces_back: bool,
    tag_bits: u32,
}

/// Buffers of a slot, and the batch in flight.
pub(super) struct MatrixSlot {
    pub(super) buffers: Buffers,
    targets: HeldTargets,
    /// Buffers for results, which are moved into the report.
    words: BufferPool<u32>,
    in_flight: Option<MatrixInFlight>,
}

/// One dispatch.
struct MatrixDispatch {
    params: NwParams,
    traces_back: bool,
    workgroups: u32,
    /// Tiles of a task along an antidiagonal, each with its own workgroup. `None` if a task has a
    /// single workgroup.
    tiles: Option<u32>,
}

impl MatrixSlot {
    /// Creates an empty slot.
    pub(super) fn new(gpu: &Gpu) -> Self {
        MatrixSlot {
            buffers: Buffers::new(gpu),
            targets: HeldTargets::default(),
            words: BufferPool::default(),
            in_flight: None,
        }
    }

    /// Frees the buffers. The slot must not hold a batch.
    pub(super) fn release(&mut self) {
        self.buffers.release();
        self.words = BufferPool::default();
        self.in_flight = None;
    }

    /// Uploads the batch's lists, records its dispatches and the copies back, and submits. Does not
    /// wait.
    pub(super) fn record(&mut self, gpu: &Gpu, work: MatrixWork<'_>, arenas: &[wgpu::Buffer]) -> Result<()> {
        let (batch, list) = (work.batch, &work.list);
        let runs_words = if work.variant.directions { room_for_runs(&work) } else { 0 };
        let before_runs = OUTPUT_HEADER_WORDS + PAIR_WORDS * list.pairs;
        let output_bytes = 4 * (before_runs + runs_words);
        let dispatches = plan_dispatches(&work, runs_words);
        let table = work.variant.tagged_table(&work.scoring);
        let is_first = !self.buffers.has_staging();
        let growth = if is_first && work.has_more { FIRST_GROWTH } else { 1.0 };
        let room = room_for(output_bytes, growth, work.output_budget);

        let begin = Instant::now();
        let mut recording = self.buffers.record(gpu);
        let MatrixWork { program, queries, targets, .. } = work;
        let inputs = Inputs { chunk: &batch.chunk, queries, targets, tasks: &list.tasks, table: &table };
        self.targets.record(&mut recording, &inputs)?;
        arenas.iter().for_each(|arena| recording.resident("arena", arena));
        recording.reserve("out", room)?;
        recording.make_room_for_results(room);
        // The counter starts at 0. If the device is lost, the pairs that it never reached have no
        // runs.
        recording.zero("out", 0..4 * before_runs)?;
        for MatrixDispatch { params, traces_back, workgroups, tiles } in &dispatches {
            let program = work.traceback_program.filter(|_| *traces_back).unwrap_or(program);
            match tiles {
                Some(tiles) => recording.dispatch_tiles(program, params, (*workgroups).into(), *tiles),
                None => recording.dispatch(program, params, (*workgroups).into()),
            }
        }
        recording.copy_back("out", 0..output_bytes)?;
        recording.submit("nw_")?;
        tracing::trace!(output_bytes, room, submitted = ?begin.elapsed(), "output of a batch");
        self.in_flight = Some(MatrixInFlight {
            batch: Arc::clone(batch),
            scoring: work.scoring,
            list: work.list,
            traces_back: work.variant.directions,
            tag_bits: work.variant.tag_bits(),
        });
        Ok(())
    }

    /// Decodes the results of the batch. If the pairs were traced, it also returns the words of
    /// runs per symbol.
    pub(super) fn decode(&mut self, gpu: &Gpu, results: BatchResults) -> Result<(PairsReport, Option<f64>)> {
        let Some(flight) = self.in_flight.take() else {
            return Err(gpu.error("no batch in flight"));
        };
        let MatrixInFlight { batch, list, scoring, traces_back, tag_bits } = flight;
        let pairs_begin = OUTPUT_HEADER_WORDS as usize;
        let runs_begin = pairs_begin + (PAIR_WORDS * list.pairs) as usize;
        let begin = Instant::now();
        let BatchResults { words: mapped, kernel_time, .. } = results;
        // The buffer can be larger than the number of runs. The first word is the number of words
        // in use.
        let needed = (runs_begin + mapped[0] as usize).min(mapped.len());
        let mut words = self.words.take();
        words.clear();
        words.extend_from_slice(&mapped[..needed]);
        drop(mapped);
        let read = begin.elapsed();
        let chunk = &batch.chunk;
        let mut report = PairsReport { kernel_time, ..PairsReport::default() };
        for (task, &block) in list.tasks.iter().zip(&list.blocks) {
            let query = batch.blocks[block as usize].query;
            for slot in 0..task.count {
                let at = pairs_begin + PAIR_WORDS as usize * (task.pairs_begin + slot) as usize;
                let [value, first, runs] = [words[at], words[at + 1], words[at + 2]];
                if traces_back && runs == DROPPED {
                    continue;
                }
                let target = chunk.order[(task.first + slot) as usize];
                let (m, n) = (chunk.queries.length(query), chunk.targets.length(target));
                let (score, matches) = scoring.decode(value as i32 >> tag_bits, m, n);
                let hit = PairHit { query, target, score, matches };
                if !traces_back && !chunk.filter.keeps(query, score, matches, m, n) {
                    continue;
                }
                report.hits.push(hit);
                if traces_back {
                    let span = (runs != NO_INDEX).then_some((runs_begin + first as usize, runs));
                    if span.is_some_and(|(first, runs)| first + runs.div_ceil(2) as usize > words.len()) {
                        return Err(gpu.error("the kernel reports runs beyond the end of its output"));
                    }
                    report.traced.spans.push(span);
                }
            }
        }
        // If the runs exceed the buffer, the counter still counts all of them, so that the next
        // batch can have a larger buffer.
        let taken = traces_back.then(|| f64::from(words[0]) / list.symbols.max(1) as f64);
        tracing::trace!(words = words.len(), ?read, decoded = ?begin.elapsed(), ?kernel_time, "alignments of a batch");
        if traces_back {
            report.traced.words = words;
        }
        Ok((report, taken))
    }
}

/// Returns the size of a buffer for `bytes` bytes, with up to an eighth of slack. Without slack,
/// every batch that needs slightly more than the previous one would allocate a new buffer. That
/// costs as much as tracing thousands of pairs.
fn with_slack(bytes: u64, budget: u64) -> u64 {
    bytes.next_multiple_of((bytes.next_power_of_two() / 16).max(16)).min(budget.max(bytes))
}

/// Returns the size of a buffer that needs `bytes` bytes now and `growth` times as many later,
/// within the budget.
fn room_for(bytes: u64, growth: f64, budget: u64) -> u64 {
    let later = ((bytes as f64 * growth) as u64).min(budget);
    with_slack(later.max(bytes), budget)
}

/// Returns the number of words of runs that the output buffer of a batch gets.
fn room_for_runs(work: &MatrixWork<'_>) -> u64 {
    let list = &work.list;
    let most =
        (work.output_budget / 4).min(u32::MAX as u64).saturating_sub(OUTPUT_HEADER_WORDS + PAIR_WORDS * list.pairs);
    let expected = (list.symbols as f64 * work.words_a_symbol) as u64 + 8 * list.pairs;
    // A small buffer costs next to nothing, so it can hold the longest possible runs.
    list.run_words.min(expected.max(SMALL_RUN_WORDS)).min(most)
}

/// Returns the dispatches of a batch: for each round the kernel's steps, then the traceback.
fn plan_dispatches(work: &MatrixWork<'_>, runs_words: u64) -> Vec<MatrixDispatch> {
    let (list, variant) = (&work.list, &work.variant);
    let scoring = &work.scoring;
    let params = NwParams {
        opening: scoring.opening() << variant.tag_bits(),
        border_opening: scoring.border_opening() << variant.tag_bits(),
        border_step: scoring.border_step() << variant.tag_bits(),
        match_bits: scoring.match_bits(),
        runs_begin: (PAIR_WORDS * list.pairs) as u32,
        runs_capacity_words: runs_words as u32,
        traces_back: work.variant.directions as u32,
        ..filter_params(work.batch, scoring)
    };
    if !list.parts.is_empty() {
        return dispatches_by_parts(work, params);
    }
    let mut dispatches = Vec::new();
    for round in &list.rounds {
        let params = NwParams { task_begin: round.start, task_count: round.end, ..params };
        dispatches.extend(steps(work, round, params));
        let threads = round.len() as u64 * variant.slots() as u64;
        let workgroups = threads.div_ceil(TRACEBACK_WORKGROUP as u64) as u32;
        dispatches.push(MatrixDispatch { params, traces_back: true, workgroups, tiles: None });
    }
    dispatches
}

/// Returns the dispatches of a kernel that itself traces back. There is one dispatch for tasks of
/// similar size, whose workgroups draw them by ticket. If the device limits loops, each workgroup
/// has one task instead, computes a few passes per dispatch, and traces back in the last dispatch.
fn dispatches_by_parts(work: &MatrixWork<'_>, params: NwParams) -> Vec<MatrixDispatch> {
    let list = &work.list;
    let of = |params, workgroups| MatrixDispatch { params, traces_back: false, workgroups, tiles: None };
    let mut dispatches = Vec::new();
    // Every workgroup of the earlier dispatches drew one last ticket that had no task. These
    // tickets count as drawn.
    let mut in_vain = 0u32;
    for parts in &list.parts {
        let ArenaParts { tasks, quads, an_arena, count } = parts.clone();
        let params = NwParams {
            slot_quads: quads,
            slots_an_arena: an_arena,
            task_count: tasks.end,
            slice_end: LAST_PASS,
            ..params
        };
        let Some(budget) = work.loop_budget else {
            let task_begin = 0u32.wrapping_sub(in_vain);
            dispatches.push(of(NwParams { ticketed: 1, task_begin, ..params }, count));
            in_vain += count;
            continue;
        };
        let part_tasks = &list.tasks[tasks.start as usize..tasks.end as usize];
        let passes = part_tasks.iter().map(|task| work.variant.passes(task)).max().unwrap_or(1);
        let rows = part_tasks.iter().map(|task| task.rows_words as u64 * 4).max().unwrap_or(4);
        let step = (budget / work.variant.iterations_a_sweep(rows)).clamp(1, passes as u64) as u32;
        for task_begin in tasks.step_by(count as usize) {
            let round = count.min(params.task_count - task_begin);
            let params = NwParams { task_begin, task_count: task_begin + round, ..params };
            let sweeps = (0..passes).step_by(step as usize);
            dispatches.extend(sweeps.map(|slice_begin| {
                of(NwParams { slice_begin, slice_end: passes.min(slice_begin + step), ..params }, round)
            }));
            dispatches.push(of(NwParams { slice_begin: LAST_PASS, ..params }, round));
        }
    }
    dispatches
}

/// Returns the kernel's dispatches for one round, one after another.
fn steps(work: &MatrixWork<'_>, round: &Range<u32>, params: NwParams) -> Vec<MatrixDispatch> {
    let variant = &work.variant;
    let tasks = &work.list.tasks[round.start as usize..round.end as usize];
    let count = tasks.len() as u32;
    let of = |params: NwParams, tiles| MatrixDispatch { params, traces_back: false, workgroups: count, tiles };
    if variant.scan == Scan::TiledDiagonal {
        let diagonals = tasks.iter().map(|task| variant.tile_diagonals(task)).max().unwrap_or(0);
        let columns = tasks.iter().map(|task| task.columns / variant.column_unit()).max().unwrap_or(0);
        return (0..diagonals)
            .map(|diagonal| {
                let tiles = (diagonal + 1).min(diagonals - diagonal).min(columns);
                // The widest diagonals of pairs of different sizes need not coincide. The number of
                // tile columns is enough for all of them.
                let tiles =
                    if tasks.iter().all(|task| variant.tile_diagonals(task) == diagonals) { tiles } else { columns };
                of(NwParams { tile_diagonal: diagonal, ..params }, Some(tiles))
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
        .map(|first| of(NwParams { slice_begin: first, slice_end: passes.min(first + step), ..params }, None))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_large_enough_and_within_the_budget() {
        const BUDGET: u64 = 128 << 20;
        assert_eq!(room_for(100 << 20, 1.0, BUDGET), 104 << 20);
        assert_eq!(room_for(60 << 20, FIRST_GROWTH, BUDGET), 88 << 20);
        // Growth and slack never exceed the budget, but required bytes are always provided.
        assert_eq!(room_for(120 << 20, FIRST_GROWTH, BUDGET), BUDGET);
        assert_eq!(room_for(130 << 20, FIRST_GROWTH, BUDGET), 130 << 20);
        for bytes in (0..2 * BUDGET).step_by(999_983) {
            for growth in [1.0, FIRST_GROWTH] {
                let room = room_for(bytes, growth, BUDGET);
                assert!((bytes..=BUDGET.max(bytes)).contains(&room), "{bytes} bytes, {growth}: {room}");
            }
        }
    }
}
