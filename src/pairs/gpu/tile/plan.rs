//! Divides a batch into dispatches of the kernels for local scores.

use super::shape::{CompiledVariants, TileKernels, TileShape, cheapest};
use crate::error::Result;
use crate::gpu::device::Gpu;
use crate::gpu::kernels::{LaneGrouping, Packing};
use crate::pairs::kernels::sw_tile::{SATURATED, TileParams, TilePart, TileTask, TileVariant, VECTOR_BYTES};
use crate::pairs::kernels::tile_tasks::{self, TileRun};
use crate::pairs::{PairsChunk, ResultFilter};
use crate::seq::SequenceId;

/// Number of rows for which a workgroup should use a profile at least, if there are enough targets.
const PROFILE_ROWS: u32 = 2048;
/// Greatest number of targets that a team of lanes computes one after another.
const MAX_TURNS: u32 = 16;
/// Greatest number of cells of dispatches that are submitted together, if tasks are not drawn by
/// ticket.
const ROUND_CELLS: u64 = 500_000_000_000;
/// Least number of rows per block if a pass is divided into blocks, and greatest number of blocks
/// per pass.
const BLOCK_ROWS: u64 = 1024;
const MAX_BLOCKS: u32 = 64;
/// Greatest number of workgroups of a dispatch that every implementation supports.
const MAX_WORKGROUPS: u32 = 65_535;

/// Limits of dispatches.
#[derive(Debug, Clone, Copy)]
pub(super) struct TileLimits {
    /// Bytes of scratch memory.
    pub scratch_bytes: u64,
    /// Number of workgroups that run at the same time.
    pub slots: u64,
    /// Greatest number of loop iterations of an invocation in one dispatch, if the device limits
    /// them.
    pub loops: Option<u64>,
}

/// One dispatch: its parameters and its number of workgroups.
#[derive(Debug, Clone, Copy)]
pub(super) struct TileDispatch {
    pub params: TileParams,
    pub workgroups: u32,
    /// Whether the driver receives this dispatch in one submission with the dispatches since the
    /// previous end of a round.
    pub ends_round: bool,
}

/// Dispatches of one program.
#[derive(Debug, Clone)]
pub(super) struct TileLaunch {
    pub variant: TileVariant,
    pub dispatches: Vec<TileDispatch>,
}

/// A batch divided into launches.
#[derive(Debug, Clone, Default)]
pub(super) struct TilePlan {
    pub tasks: Vec<TileTask>,
    pub parts: Vec<TilePart>,
    pub launches: Vec<TileLaunch>,
    /// Number of pairs that are computed with f16.
    pub halved: u64,
    /// Number of pairs for which only a bound of the score is computed.
    pub bounded: u64,
    /// Bytes of scratch memory.
    pub scratch_bytes: u64,
}

/// Runs of a chunk to compute. They have `pairs` pairs in total.
pub(super) struct TileProblem<'a> {
    pub chunk: &'a PairsChunk,
    pub runs: Vec<TileRun>,
    pub pairs: u64,
    /// Whether to list the pairs that reach their query's threshold.
    pub lists: bool,
}

impl TilePlan {
    pub(super) fn new(
        gpu: &Gpu,
        shape: &TileShape,
        ways: TileKernels,
        problem: TileProblem<'_>,
        limits: TileLimits,
        compiled: CompiledVariants<'_>,
        query_end_word: impl Fn(SequenceId) -> u32,
    ) -> Result<TilePlan> {
        let TileProblem { chunk, runs, pairs, lists } = problem;
        // One unused part, so that the buffer is never empty.
        let mut plan = TilePlan { parts: vec![bytemuck::Zeroable::zeroed()], ..TilePlan::default() };
        let most_rows = shape.most_rows;
        for (variant, runs) in chosen_variants(gpu, shape, ways, chunk, runs, limits.slots, compiled)? {
            let is_f16 = variant.is_f16();
            // Pairs that bounds do not rule out are computed again with i32. The i32 kernels that
            // do this compute scores, not bounds.
            let bounded = if is_f16 && ways.slack > 0 { variant.bounded(ways.slack) } else { None };
            let variant = bounded.unwrap_or(variant);
            let own_pairs = runs.iter().map(TileRun::pairs).sum::<u64>();
            plan.halved += if is_f16 { own_pairs } else { 0 };
            plan.bounded += if bounded.is_some() { own_pairs } else { 0 };
            let of_rows = |run: TileRun| {
                let most = most_rows / u64::from(run.passes(chunk, &variant).max(1));
                run.divided(chunk, most)
            };
            let (long, others): (Vec<TileRun>, Vec<TileRun>) =
                runs.into_iter().map(of_rows).map(|[long, rest]| (long, rest)).unzip();
            for (runs, may_be_ticketed) in [(long, false), (others, true)] {
                let runs: Vec<TileRun> = runs.into_iter().filter(|run| !run.targets.is_empty()).collect();
                if runs.is_empty() {
                    continue;
                }
                let sizes = TileSizes::new(variant, &runs, chunk, limits, most_rows.min(BLOCK_ROWS), may_be_ticketed)
                    .map_err(|message| gpu.refusal(message))?;
                plan.add_launch(chunk, &runs, &sizes, &query_end_word);
            }
        }
        plan.place_output(pairs, lists);
        Ok(plan)
    }

    /// Divides runs into tasks according to `sizes`. Adds the tasks and their dispatches.
    fn add_launch(
        &mut self,
        chunk: &PairsChunk,
        runs: &[TileRun],
        sizes: &TileSizes,
        query_end_word: impl Fn(SequenceId) -> u32,
    ) {
        let variant = sizes.variant;
        let (is_f16, slack) = (variant.is_f16(), variant.slack() as i32);
        let floor = |query: SequenceId| {
            let floor = match &chunk.filter {
                ResultFilter::AtLeast(thresholds) => {
                    thresholds.threshold(query).clamp(i32::MIN.into(), i32::MAX.into()) as i32
                }
                _ => i32::MIN,
            };
            // Pairs whose scores exceed f16 are always listed, because they must be computed again.
            if is_f16 { floor.min(SATURATED).saturating_sub(slack) } else { floor }
        };
        let begin = self.tasks.len() as u32;
        let targets = sizes.slot_borders * variant.targets();
        let tasks = tile_tasks::tasks(runs, chunk, &variant, targets, query_end_word, floor, &mut self.parts);
        self.tasks.extend(tasks);
        self.scratch_bytes = self.scratch_bytes.max(sizes.slots * sizes.slot_vectors * VECTOR_BYTES);
        let dispatches = sizes.dispatches(begin, self.tasks.len() as u32);
        self.launches.push(TileLaunch { variant, dispatches });
    }

    /// Sets the positions of scores and lists for `pairs` pairs in all dispatches. It must be
    /// called after all tasks have been added.
    fn place_output(&mut self, pairs: u64, lists: bool) {
        let tasks = self.tasks.len() as u32;
        for dispatch in self.launches.iter_mut().flat_map(|launch| &mut launch.dispatches) {
            dispatch.params = TileParams {
                values_begin: tasks,
                list_begin: tasks + pairs as u32,
                floors: lists.into(),
                ..dispatch.params
            };
        }
    }
}

/// Chooses the fastest variants for runs: one for the queries that are computed together in f16,
/// and one for all other queries. Returns each variant with its runs.
fn chosen_variants(
    gpu: &Gpu,
    shape: &TileShape,
    ways: TileKernels,
    chunk: &PairsChunk,
    runs: Vec<TileRun>,
    slots: u64,
    compiled: CompiledVariants<'_>,
) -> Result<Vec<(TileVariant, Vec<TileRun>)>> {
    let choose = |grouping, packing, runs: &[TileRun]| {
        let variants = shape.variants(&gpu.description, &chunk.scoring, grouping, packing);
        let variant = cheapest(&variants, runs, chunk, slots, compiled);
        variant.ok_or_else(|| gpu.refusal("its workgroup memory is too small for a profile"))
    };
    let mut alone = runs;
    let mut chosen = Vec::new();
    if ways.halves && !alone.is_empty() {
        let variant = choose(LaneGrouping::Subgroup, Packing::Queries, &alone)?;
        let has_another = compiled.is_worth_another(ways.alone);
        let least_fill = if has_another { ways.least_fill() } else { 0.0 };
        let (mut together, mut rest) = tile_tasks::chained_runs(alone, chunk, &variant, least_fill);
        if !has_another {
            together.append(&mut rest);
        }
        chosen.push((variant, together));
        alone = rest;
    }
    if !alone.is_empty() {
        let grouping = if ways.alone == Packing::One { ways.grouping } else { LaneGrouping::Subgroup };
        let variant = choose(grouping, ways.alone, &alone)?;
        let (together, mut rest) = tile_tasks::chained_runs(alone, chunk, &variant, ways.least_fill());
        rest.extend(together);
        chosen.push((variant, rest));
    }
    Ok(chosen)
}

/// Division of the runs of one variant.
struct TileSizes {
    variant: TileVariant,
    slot_borders: u32,
    slot_rows: u32,
    slot_vectors: u64,
    /// Number of tasks at the same time. These are the workgroups that draw tasks by ticket.
    /// Without tickets, they are the tasks, each of which has one workgroup per pass.
    slots: u64,
    /// Words of rows per block. `None` if tasks are drawn by ticket.
    block_words: Option<u32>,
    passes: u32,
    words: u32,
    kept_passes: u32,
}

impl TileSizes {
    fn new(
        variant: TileVariant,
        runs: &[TileRun],
        chunk: &PairsChunk,
        limits: TileLimits,
        block_rows: u64,
        may_be_ticketed: bool,
    ) -> Result<Self, String> {
        let words = runs.iter().map(|run| chunk.longest(run.targets.clone())).max().unwrap_or(0).div_ceil(4).max(1);
        let passes = runs.iter().map(|run| run.passes(chunk, &variant)).max().unwrap_or(1).max(1);
        let targets: u64 = runs.iter().map(|run| run.targets.len() as u64).sum();
        let variant = TileVariant { passes: passes > 1, ..variant };
        let at_once = variant.teams() * variant.targets();
        // Few tasks, so that each uses its profiles for many rows, but enough tasks for all
        // workgroups.
        let turns_for_all = targets / (u64::from(at_once) * limits.slots).max(1);
        let wanted = (PROFILE_ROWS / (4 * words)).min(turns_for_all.try_into().unwrap_or(u32::MAX)).clamp(1, MAX_TURNS);
        let pass_loops = |turns: u32| {
            variant.pass_iterations(turns) + u64::from(turns) * u64::from(words) * variant.step_iterations()
        };
        let count = |turns: u32| -> u64 {
            runs.iter().map(|run| u64::from((run.targets.len() as u32).div_ceil(at_once * turns))).sum()
        };
        // With tickets, a single workgroup might compute all tasks.
        let all_loops = |turns: u32| count(turns) * u64::from(passes) * pass_loops(turns);
        let is_ticketed = may_be_ticketed && limits.loops.is_none_or(|most| all_loops(wanted) <= most);
        let block_words = if is_ticketed {
            None
        } else {
            let by_loops = limits
                .loops
                .map_or(u64::MAX, |most| most.saturating_sub(variant.pass_iterations(1)) / variant.step_iterations());
            let block = (block_rows / 4).max(words.div_ceil(MAX_BLOCKS).into()).max(1).min(by_loops);
            if block == 0 {
                return Err("the driver limits loops to fewer iterations than these sequences need".into());
            }
            Some(block.min(words.into()) as u32)
        };
        let variant = TileVariant { split: block_words.is_some_and(|block| block < words), ..variant };
        // A pass takes as many diagonals as it has blocks. At most this many passes are therefore
        // in progress at the same time.
        let kept_passes = if variant.split { passes.min(words.div_ceil(block_words.unwrap_or(words))) } else { 1 };
        let of_turns = |turns: u32| {
            let slot_borders = variant.teams() * turns;
            let slot_vectors = variant.slot_vectors(slot_borders, words, kept_passes);
            let by_memory = limits.scratch_bytes / (VECTOR_BYTES * slot_vectors.max(1));
            let mut slots = if slot_vectors == 0 { limits.slots } else { by_memory.min(limits.slots) };
            if let Some(block) = block_words {
                slots = slots.min((ROUND_CELLS / Self::diagonal_cells(&variant, passes, block).max(1)).max(1));
                slots = slots.min((MAX_WORKGROUPS / passes).max(1).into());
            }
            let slot_rows = if variant.passes { words * 4 } else { 0 };
            TileSizes { variant, slot_borders, slot_rows, slot_vectors, slots, block_words, passes, words, kept_passes }
        };
        let sizes = of_turns(if is_ticketed { wanted } else { 1 });
        let sizes = if sizes.slots < limits.slots && is_ticketed { of_turns(1) } else { sizes };
        if sizes.slots == 0 {
            let bytes = sizes.slot_vectors * VECTOR_BYTES;
            return Err(format!("{bytes} bytes of scratch memory exceed the limit of {}", limits.scratch_bytes));
        }
        let slots = sizes.slots.min(count(sizes.slot_borders / variant.teams()));
        Ok(TileSizes { slots, ..sizes })
    }

    /// Returns the greatest number of cells of a task in a dispatch that computes one block of each
    /// pass.
    fn diagonal_cells(variant: &TileVariant, passes: u32, block_words: u32) -> u64 {
        let pass = u64::from(variant.pass_columns()) * u64::from(block_words) * 4;
        let pairs = u64::from(variant.teams() * variant.targets()) * variant.queries() as u64;
        pass * u64::from(passes) * pairs
    }

    /// Returns the dispatches of the tasks from `begin` on. With tickets, there is a single
    /// dispatch whose workgroups draw all tasks. Without tickets, there are rounds of one task per
    /// slot. A round has one dispatch for each diagonal, where block b of pass p is on diagonal b +
    /// p.
    fn dispatches(&self, begin: u32, end: u32) -> Vec<TileDispatch> {
        let params = TileParams {
            task_begin: begin,
            task_end: end,
            ticketed: 1,
            passes: 1,
            kept_passes: self.kept_passes,
            block_words: self.words,
            slot_rows: self.slot_rows,
            slot_borders: if self.slot_rows > 0 { self.slot_borders } else { 0 },
            slot_vectors: self.slot_vectors as u32,
            ..bytemuck::Zeroable::zeroed()
        };
        let Some(block_words) = self.block_words else {
            let workgroups = self.slots.min(u64::from(end - begin)) as u32;
            return vec![TileDispatch { params, workgroups, ends_round: false }];
        };
        let mut all = Vec::new();
        let mut cells = 0;
        for task_begin in (begin..end).step_by(self.slots.max(1) as usize) {
            let task_end = end.min(task_begin + self.slots as u32);
            let tasks = task_end - task_begin;
            for diagonal in 0..self.passes + self.words.div_ceil(block_words) - 1 {
                let passes = self.passes;
                let params = TileParams { task_begin, task_end, ticketed: 0, passes, diagonal, block_words, ..params };
                cells += u64::from(tasks) * Self::diagonal_cells(&self.variant, passes, block_words);
                let ends_round = cells >= ROUND_CELLS;
                cells = if ends_round { 0 } else { cells };
                all.push(TileDispatch { params, workgroups: tasks * passes, ends_round });
            }
        }
        all
    }
}
