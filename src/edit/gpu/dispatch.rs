//! A batch of pairs as dispatches: rounds of pairs whose scratch memory fits, strips of rows, parts of columns.

use super::extent::Extent;
use super::resident::{ResidentProfiles, ResidentTexts};
use crate::edit::kernels::myers::{EditTasks, Params, Selection, Variant};
use crate::gpu::pipeline::Compiled;
use crate::score::{EditMode, OverlapReach};

/// Cells of a pair that one dispatch computes at most: some tenths of a second of a subgroup.
const DISPATCH_CELLS: u64 = 1 << 31;

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
    /// Symbols of every text of the chunk, if all have as many.
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

/// One dispatch.
pub(super) struct EditDispatch {
    /// Its parameters.
    pub params: Params,
    /// Its workgroups.
    pub workgroups: u32,
}

/// The dispatches of a batch.
pub(super) struct EditPlan {
    /// In their order.
    pub dispatches: Vec<EditDispatch>,
    /// Bytes of scratch memory.
    pub scratch_bytes: u64,
}

/// Plans a batch for one of its programs. `list` is that of the program that computes all pairs.
pub(super) fn plan_dispatches(list: &EditTasks, work: &EditWork<'_>, variant: &Variant) -> EditPlan {
    let (kept, scratch_words) = variant.scratch_words(work.extent.text_symbols);
    let per_workgroup = 4 * u64::from(scratch_words) * u64::from(variant.tasks());
    // As many as heads can keep: those that are too many leave at once.
    let is_kept = variant.selection == Selection::Kept;
    let all = if is_kept { list.tasks.div_ceil(variant.tasks()) } else { list.workgroups };
    let round =
        work.scratch_budget.checked_div(per_workgroup).map_or(all, |fit| fit.clamp(1, u64::from(all.max(1))) as u32);
    let strips = variant.strips_of(match variant.selection {
        Selection::Heads(words) => list.pattern_symbols.min(32 * words),
        Selection::All | Selection::Kept => list.pattern_symbols,
    });
    let reach = match variant.mode {
        EditMode::Overlap(reach) => reach,
        EditMode::Global | EditMode::Infix | EditMode::Prefix => {
            OverlapReach { shorter: 0, constant: 0, divisor: 1, rate: 0 }
        }
    };
    let list_room = work.listing.map_or(0, |(_, room)| room);
    let dense_begin = list_room * work.variant.list_words();
    let base = Params {
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
        place_words: work.place_words(),
        text_symbols: work.text_symbols.unwrap_or(0),
    };
    let whole = !variant.strips;
    let strip_rows = u64::from(32 * variant.words * variant.lanes);
    let columns = (DISPATCH_CELLS / strip_rows).clamp(32, u64::from(work.columns)) as u32 / 32 * 32;
    let mut dispatches = Vec::new();
    for first in (0..all).step_by(round.max(1) as usize) {
        let workgroups = round.min(all - first);
        let base = Params { first_workgroup: first, ..base };
        if whole {
            dispatches.push(EditDispatch { params: base, workgroups });
            continue;
        }
        let parts = work.extent.text_symbols.div_ceil(columns).max(1);
        for pass in 0..strips {
            for part in 0..parts {
                let params = Params {
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
