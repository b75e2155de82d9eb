//! Divides a batch into dispatches and sets their parameters.

use std::sync::Arc;

use super::resident::ResidentSequences;
use crate::gpu::pipeline::Compiled;
use crate::pairs::kernels::layout::{self, NwParams, NwTask};
use crate::pairs::kernels::nw_slice::{self, TaskList};
use crate::pairs::{PairsBatch, ResultFilter};
use crate::score::OffsetScoring;

/// A batch that is ready for the device.
pub(super) struct SliceWork<'a> {
    pub batch: &'a Arc<PairsBatch>,
    pub list: TaskList,
    pub scoring: OffsetScoring,
    /// Scores of diagonal steps in the layout of the kernel.
    pub table: Vec<i32>,
    /// Columns per slice.
    pub slice: u32,
    pub scratch_slots: u32,
    /// Greatest number of loop iterations of an invocation in one dispatch, if the device limits
    /// them.
    pub loop_budget: Option<u64>,
    pub program: &'a Compiled,
    pub queries: &'a ResidentSequences,
    pub targets: &'a ResidentSequences,
    pub scratch: &'a wgpu::Buffer,
}

/// One dispatch: its parameters and its number of workgroups.
pub(super) struct SliceDispatch {
    pub params: NwParams,
    pub workgroups: u32,
}

/// Returns the dispatches of a batch. Normally there is a single dispatch, whose workgroups draw
/// all tasks by ticket. If a pair would occupy the device too long, or if the device limits loops,
/// there are rounds instead. A round has as many tasks as fit in `scratch_slots` slots. Each
/// dispatch of a round computes a few slices of these tasks.
pub(super) fn plan_dispatches(work: &SliceWork<'_>) -> Vec<SliceDispatch> {
    let list = &work.list;
    let tasks = list.tasks.len() as u32;
    let rows_words = list.rows_words();
    let params = base_params(work, tasks, rows_words);
    let longest = |task: &NwTask| task.query_symbols as u64 * task.rows_words as u64 * 4;
    let is_long = list.tasks.iter().map(longest).max().unwrap_or(0) > nw_slice::LONG_PAIR_CELLS;
    if !is_long && work.loop_budget.is_none() {
        return vec![SliceDispatch { params: NwParams { ticketed: 1, ..params }, workgroups: work.scratch_slots }];
    }
    let slices = list.slices(work.slice);
    let by_time = nw_slice::LONG_STEP_CELLS / (rows_words as u64 * 4 * work.slice as u64);
    let by_loops = work.loop_budget.map_or(u64::MAX, |budget| nw_slice::slices_within(budget, rows_words));
    let step = by_time.max(1).min(by_loops.max(1)).min(slices as u64) as u32;
    let mut dispatches = Vec::new();
    let round = work.scratch_slots.max(1) * list.of_slot;
    for task_begin in (0..tasks).step_by(round as usize) {
        let task_end = tasks.min(task_begin + round);
        for slice_begin in (0..slices).step_by(step as usize) {
            dispatches.push(SliceDispatch {
                params: NwParams {
                    task_begin,
                    task_count: task_end,
                    slice_begin,
                    slice_end: slices.min(slice_begin + step),
                    ..params
                },
                workgroups: (task_end - task_begin) / list.of_slot,
            });
        }
    }
    dispatches
}

fn base_params(work: &SliceWork<'_>, tasks: u32, rows_words: u32) -> NwParams {
    let scoring = &work.scoring;
    NwParams {
        task_count: tasks,
        rows_words,
        opening: scoring.opening(),
        border_opening: scoring.border_opening(),
        border_step: scoring.border_step(),
        match_bits: scoring.match_bits(),
        values_begin: tasks,
        ..filter_params(work.batch, scoring)
    }
}

/// Returns the parameters that determine which pairs to keep. All others are zero.
pub(super) fn filter_params(batch: &PairsBatch, scoring: &OffsetScoring) -> NwParams {
    let mut params = NwParams { filter_mode: layout::MODE_ALL, ..bytemuck::Zeroable::zeroed() };
    if let ResultFilter::Reaching(filter) = &batch.chunk.filter {
        let form = filter.device_form(scoring.carries_matches());
        params.filter_mode = form.mode;
        params.filter_match = form.match_score;
        params.filter_mismatch = form.mismatch_score;
        params.filter_unequal = form.unequal;
        params.filter_threshold = form.threshold;
        params.filter_mismatch_low = form.mismatch_low;
        params.filter_match_low = form.match_low;
        params.filter_dearest = form.max_unit_cost;
        params.filter_free_step = form.free_step;
        params.filter_forms = form.forms;
    }
    params
}
