//! A batch as dispatches of the kernels for local scores.

use super::shape::{Tiles, Ways, by_variant};
use crate::error::Result;
use crate::gpu::device::Gpu;
use crate::gpu::kernels::{Cooperation, Numbers};
use crate::pairs::kernels::sw_tile::{ENTRY_BYTES, Params, Task, Variant};
use crate::pairs::kernels::tile_tasks::{self, Run};
use crate::pairs::{Band, Want};
use crate::seq::SequenceId;

/// Padding for which it still pays to compute two queries together, as a part of the longer one.
const MOST_PADDING: f64 = 0.25;
/// Rows for which a workgroup should use a profile, if there are targets enough.
const PROFILE_ROWS: u32 = 2048;
/// Targets that a team has one after the other at most.
const MOST_TURNS: u32 = 16;
/// Cells of a dispatch at most where tasks are no longer drawn by ticket.
const ROUND_CELLS: u64 = 500_000_000_000;

/// What bounds dispatches.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Bytes of scratch.
    pub scratch_bytes: u64,
    /// Workgroups at once.
    pub slots: u64,
    /// Loop iterations that an invocation may make in one dispatch, if the device limits them.
    pub loops: Option<u64>,
}

/// One dispatch: its parameters and its number of workgroups.
#[derive(Debug, Clone, Copy)]
pub(super) struct Dispatch {
    pub params: Params,
    pub workgroups: u32,
}

/// Dispatches of one program.
#[derive(Debug, Clone)]
pub(super) struct Launch {
    pub variant: Variant,
    pub dispatches: Vec<Dispatch>,
}

/// A batch made ready.
#[derive(Debug, Clone, Default)]
pub(super) struct Plan {
    pub tasks: Vec<Task>,
    pub launches: Vec<Launch>,
    /// Pairs that are computed in halves.
    pub halved: u64,
    /// Bytes of scratch.
    pub scratch_bytes: u64,
}

/// What is to be computed: runs of a band, which are `pairs` pairs together.
pub(super) struct Problem<'a> {
    pub band: &'a Band,
    pub runs: Vec<Run>,
    pub pairs: u64,
    /// Pairs that reach their query's floor are listed.
    pub lists: bool,
}

impl Plan {
    pub(super) fn new(
        gpu: &Gpu,
        tiles: &Tiles,
        ways: Ways,
        problem: Problem<'_>,
        limits: Limits,
        query_end_word: impl Fn(SequenceId) -> u32,
    ) -> Result<Plan> {
        let Problem { band, runs, pairs, lists } = problem;
        let (together, alone) =
            if ways.halves { tile_tasks::paired_runs(runs, band, MOST_PADDING) } else { (Vec::new(), runs) };
        let alone_numbers = if ways.halves_alone { Numbers::Halves } else { Numbers::Words };
        let mut plan = Plan::default();
        let floor = |query: SequenceId| match &band.want {
            Want::AtLeast(floors) => floors.least(query).clamp(i32::MIN.into(), i32::MAX.into()) as i32,
            _ => i32::MIN,
        };
        for (numbers, runs) in [(Numbers::Halves, together), (alone_numbers, alone)] {
            if runs.is_empty() {
                continue;
            }
            if numbers == Numbers::Halves {
                plan.halved += runs.iter().map(Run::pairs).sum::<u64>();
            }
            let cooperation = if numbers == Numbers::Halves { Cooperation::Subgroup } else { ways.cooperation };
            let variants = tiles.variants(&gpu.description, &band.scoring, (cooperation, numbers));
            if variants.is_empty() {
                return Err(gpu.unsuited("its workgroups have too little memory for a profile"));
            }
            for (variant, runs) in by_variant(runs, band, &variants) {
                let sizes = Sizes::new(variant, &runs, band, limits, tiles.shape.most_rows)
                    .map_err(|message| gpu.unsuited(message))?;
                // What halves do not hold is always listed.
                let floor = |query| if numbers == Numbers::Halves { floor(query).min(2048) } else { floor(query) };
                let targets = sizes.slot_targets;
                let tasks = tile_tasks::tasks(&runs, band, &sizes.variant, targets, &query_end_word, floor);
                let begin = plan.tasks.len() as u32;
                plan.tasks.extend(tasks);
                plan.scratch_bytes = plan.scratch_bytes.max(sizes.slots * sizes.slot_entries * ENTRY_BYTES);
                let dispatches = sizes.dispatches(begin, plan.tasks.len() as u32);
                plan.launches.push(Launch { variant: sizes.variant, dispatches });
            }
        }
        let gaps = &band.scoring.gaps;
        let tasks = plan.tasks.len() as u32;
        for dispatch in plan.launches.iter_mut().flat_map(|launch| &mut launch.dispatches) {
            dispatch.params = Params {
                first: gaps.first,
                next: gaps.next,
                values_begin: tasks,
                list_begin: tasks + pairs as u32,
                floors: lists.into(),
                ..dispatch.params
            };
        }
        Ok(plan)
    }
}

/// How the runs of one variant are divided.
struct Sizes {
    variant: Variant,
    slot_targets: u32,
    slot_rows: u32,
    slot_entries: u64,
    slots: u64,
    /// Passes and words of rows of a dispatch; `None` where tasks are drawn by ticket.
    step: Option<(u32, u32)>,
    passes: u32,
    words: u32,
}

impl Sizes {
    fn new(variant: Variant, runs: &[Run], band: &Band, limits: Limits, most_rows: u64) -> Result<Self, String> {
        let words = runs.iter().map(|run| band.longest(run.targets.clone())).max().unwrap_or(0).div_ceil(4).max(1);
        let passes = runs.iter().map(|run| variant.passes_of(run.symbols(band))).max().unwrap_or(1);
        let targets: u64 = runs.iter().map(|run| run.targets.len() as u64).sum();
        let variant = Variant { passes: passes > 1, ..variant };
        let teams = variant.teams();
        // As few tasks as have a profile each for a while, but enough for all workgroups.
        let turns_for_all = targets / (u64::from(teams) * limits.slots).max(1);
        let wanted =
            (PROFILE_ROWS / (4 * words)).min(turns_for_all.try_into().unwrap_or(u32::MAX)).clamp(1, MOST_TURNS);
        let pass_loops = |turns: u32| {
            variant.pass_iterations(turns) + u64::from(turns) * u64::from(words) * variant.step_iterations()
        };
        let count = |turns: u32| -> u64 {
            runs.iter().map(|run| u64::from((run.targets.len() as u32).div_ceil(teams * turns))).sum()
        };
        // By ticket one workgroup may do everything.
        let all_loops = |turns: u32| count(turns) * u64::from(passes) * pass_loops(turns);
        let rows = u64::from(words) * 4;
        let is_ticketed =
            u64::from(passes) * rows <= most_rows && limits.loops.is_none_or(|most| all_loops(wanted) <= most);
        let turns = if is_ticketed { wanted } else { 1 };
        let by_loops = |least: u64, each: u64| limits.loops.map_or(u64::MAX, |most| most.saturating_sub(least) / each);
        let pass_step = (most_rows / rows).min(by_loops(0, pass_loops(1)));
        let word_step = (most_rows / 4).max(1).min(by_loops(variant.pass_iterations(1), variant.step_iterations()));
        let step = match (is_ticketed, pass_step) {
            (true, _) => None,
            (false, 0) if word_step == 0 => return Err("the driver ends loops as long as these sequences".into()),
            (false, 0) => Some((1, word_step.min(words.into()) as u32)),
            (false, step) => Some((step.min(passes.into()) as u32, words)),
        };
        let variant = Variant { split: step.is_some_and(|(_, step)| step < words), ..variant };
        let of_turns = |turns: u32| {
            let slot_targets = teams * turns;
            let slot_entries = variant.slot_entries(slot_targets, words);
            let by_memory = limits.scratch_bytes / (ENTRY_BYTES * slot_entries.max(1));
            let mut slots = if slot_entries == 0 { limits.slots } else { by_memory.min(limits.slots) };
            if let Some((passes, words)) = step {
                let cells = u64::from(passes * variant.pass_columns()) * u64::from(words) * 4 * u64::from(teams);
                slots = slots.min((ROUND_CELLS / cells.max(1)).max(1));
            }
            let slot_rows = if variant.passes { words * 4 } else { 0 };
            Sizes { variant, slot_targets, slot_rows, slot_entries, slots, step, passes, words }
        };
        let sizes = of_turns(turns);
        let sizes = if sizes.slots < limits.slots && turns > 1 { of_turns(1) } else { sizes };
        if sizes.slots == 0 {
            let bytes = sizes.slot_entries * ENTRY_BYTES;
            return Err(format!("{bytes} bytes of scratch exceed {}", limits.scratch_bytes));
        }
        let slots = sizes.slots.min(count(sizes.slot_targets / teams));
        Ok(Sizes { slots, ..sizes })
    }

    /// The dispatches of tasks from `begin` on: one that draws all of them by ticket; or rounds of as many tasks as there are
    /// slots, some passes, or some rows of a pass, at a time.
    fn dispatches(&self, begin: u32, end: u32) -> Vec<Dispatch> {
        let params = Params {
            task_begin: begin,
            task_end: end,
            pass_end: self.passes,
            word_end: self.words,
            ticketed: 1,
            slot_rows: self.slot_rows,
            slot_targets: if self.slot_rows > 0 { self.slot_targets } else { 0 },
            slot_entries: self.slot_entries as u32,
            ..bytemuck::Zeroable::zeroed()
        };
        let Some((pass_step, word_step)) = self.step else {
            return vec![Dispatch { params, workgroups: self.slots.min(u64::from(end - begin)) as u32 }];
        };
        let mut all = Vec::new();
        for task_begin in (begin..end).step_by(self.slots.max(1) as usize) {
            let task_end = end.min(task_begin + self.slots as u32);
            for pass_begin in (0..self.passes).step_by(pass_step as usize) {
                let pass_end = self.passes.min(pass_begin + pass_step);
                for word_begin in (0..self.words).step_by(word_step as usize) {
                    let word_end = self.words.min(word_begin + word_step);
                    let params = Params {
                        task_begin,
                        task_end,
                        pass_begin,
                        pass_end,
                        word_begin,
                        word_end,
                        ticketed: 0,
                        ..params
                    };
                    all.push(Dispatch { params, workgroups: task_end - task_begin });
                }
            }
        }
        all
    }
}
