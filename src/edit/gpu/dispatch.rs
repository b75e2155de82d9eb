//! Dispatches of a batch: groups of pairs whose scratch memory fits, strips of rows, and parts of
//! columns.

use super::extent::EditExtent;
use super::resident::{ResidentProfiles, ResidentTexts};
use crate::edit::kernels::myers::{EditParams, EditTasks, EditVariant, PairSelection};
use crate::gpu::pipeline::Compiled;
use crate::score::{EditMode, OverlapReach};

/// Maximum number of cells of a pair in one dispatch. A subgroup takes some tenths of a second for
/// them.
const DISPATCH_CELLS: u64 = 1 << 31;

/// Inputs for recording a batch.
pub struct EditWork<'a> {
    /// Texts on the device.
    pub texts: &'a ResidentTexts,
    /// Patterns on the device.
    pub profiles: &'a ResidentProfiles,
    /// Main kernel.
    pub program: &'a Compiled,
    /// Variant of the main kernel.
    pub variant: EditVariant,
    /// Kernel that computes heads first, and its variant.
    pub heads: Option<(&'a Compiled, EditVariant)>,
    /// Maximum bytes of scratch memory.
    pub scratch_budget: u64,
    /// Lengths and limits of the batch.
    pub extent: EditExtent,
    /// Number of symbols of every text of the chunk, if all have the same length.
    pub text_symbols: Option<u32>,
    /// Maximum number of columns of a dispatch.
    pub columns: u32,
    /// Maximum distance that is listed, and the capacity of the list; `None` if the results of all
    /// pairs are read.
    pub listing: Option<(u32, u32)>,
    /// Threads that write the lists.
    pub pool: &'a rayon::ThreadPool,
}

impl EditWork<'_> {
    /// Returns the number of u32 values of a region on the device.
    pub(super) fn region_words(&self) -> u32 {
        if self.text_symbols.is_some() { 1 } else { 2 }
    }
}

/// One dispatch.
pub(super) struct EditDispatch {
    /// Parameters of the dispatch.
    pub params: EditParams,
    /// Number of workgroups.
    pub workgroups: u32,
}

/// The dispatches of a batch.
pub(super) struct EditPlan {
    /// Dispatches in their order.
    pub dispatches: Vec<EditDispatch>,
    /// Bytes of scratch memory.
    pub scratch_bytes: u64,
}

/// Plans the dispatches of one program of a batch. `list` is the task list of the program that
/// computes all pairs.
pub(super) fn plan_dispatches(list: &EditTasks, work: &EditWork<'_>, variant: &EditVariant) -> EditPlan {
    let (kept, scratch_words) = variant.scratch_words(work.extent.text_symbols);
    let per_workgroup = 4 * u64::from(scratch_words) * u64::from(variant.tasks());
    // Heads may keep any number of pairs, so there are workgroups for all of them. Workgroups
    // without pairs return at once.
    let is_kept = variant.selection == PairSelection::Kept;
    let all = if is_kept { list.tasks.div_ceil(variant.tasks()) } else { list.workgroups };
    let round =
        work.scratch_budget.checked_div(per_workgroup).map_or(all, |fit| fit.clamp(1, u64::from(all.max(1))) as u32);
    let strips = variant.strips_of(match variant.selection {
        PairSelection::Heads(words) => list.pattern_symbols.min(32 * words),
        PairSelection::All | PairSelection::Kept => list.pattern_symbols,
    });
    let reach = match variant.mode {
        EditMode::Overlap(reach) => reach,
        EditMode::Global | EditMode::Infix | EditMode::Prefix => {
            OverlapReach { shorter: 0, constant: 0, divisor: 1, rate: 0 }
        }
    };
    let list_room = work.listing.map_or(0, |(_, room)| room);
    let dense_begin = list_room * work.variant.list_words();
    let base = EditParams {
        task_count: list.tasks,
        first_workgroup: 0,
        pass_begin: 0,
        pass_end: strips,
        column_begin: 0,
        column_end: u32::MAX,
        scratch_words,
        kept,
        text_words: work.texts.words,
        limit: work.extent.limit,
        groups: list.workgroups,
        reach_divisor: reach.divisor,
        sets: work.texts.coding.sets,
        reach_shorter: reach.shorter,
        reach_constant: reach.constant,
        reach_rate: reach.rate.min(OverlapReach::ANY_RATE),
        list_limit: work.listing.map_or(0, |(limit, _)| limit),
        list_room,
        dense_begin,
        kept_begin: dense_begin + work.variant.output_words() * list.tasks,
        result_words: work.variant.output_words(),
        place_words: work.region_words(),
        text_symbols: work.text_symbols.unwrap_or(0),
        last_run: list.runs.len().saturating_sub(2) as u32,
        reserved: 0,
    };
    let whole = !variant.strips;
    let strip_rows = u64::from(32 * variant.words * variant.lanes);
    let columns = (DISPATCH_CELLS / strip_rows).clamp(32, u64::from(work.columns)) as u32 / 32 * 32;
    let mut dispatches = Vec::new();
    for first in (0..all).step_by(round.max(1) as usize) {
        let workgroups = round.min(all - first);
        let base = EditParams { first_workgroup: first, ..base };
        if whole {
            dispatches.push(EditDispatch { params: base, workgroups });
            continue;
        }
        let parts = work.extent.text_symbols.div_ceil(columns).max(1);
        for pass in 0..strips {
            for part in 0..parts {
                let params = EditParams {
                    pass_begin: pass,
                    pass_end: pass + 1,
                    column_begin: part * columns,
                    column_end: if part + 1 == parts { u32::MAX } else { (part + 1) * columns },
                    ..base
                };
                dispatches.push(EditDispatch { params, workgroups });
            }
        }
    }
    if dispatches.is_empty() {
        dispatches.push(EditDispatch { params: base, workgroups: 0 });
    }
    EditPlan { dispatches, scratch_bytes: per_workgroup * u64::from(round) }
}
