//! Structures that all `nw_` kernels share with the host: `shaders/common/nw.wgsl`.

use bytemuck::{Pod, Zeroable};

use crate::gpu::source::Constants;
use crate::score::Scoring;

/// Value of `filter_mode` that keeps every pair.
pub const MODE_ALL: u32 = 6;

/// Returns the number of values that are stored per cell of a border: V, and with affine gaps also
/// the value of the gap that continues.
pub const fn planes(affine: bool) -> u32 {
    if affine { 2 } else { 1 }
}

/// Costs of end gaps, as far as the generated shader text depends on them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EndGapKind {
    /// End gaps cost as much as inner gaps.
    Charged,
    /// End gaps are free or have their own costs, equal for all symbols.
    Linear,
    /// End gaps have their own costs, and the first symbol costs more than the others.
    Affine,
}

impl EndGapKind {
    /// All variants.
    pub const ALL: [EndGapKind; 3] = [EndGapKind::Charged, EndGapKind::Linear, EndGapKind::Affine];

    /// Returns the variant of a scoring scheme.
    pub fn from_scoring(scoring: &Scoring) -> Self {
        match (scoring.has_own_ends(), scoring.end_costs().is_linear()) {
            (false, _) => EndGapKind::Charged,
            (true, true) => EndGapKind::Linear,
            (true, false) => EndGapKind::Affine,
        }
    }

    /// Returns whether end gaps have their own costs.
    pub const fn are_own(self) -> bool {
        !matches!(self, EndGapKind::Charged)
    }
}

/// Returns the constants that the shared part of the shaders needs.
pub fn constants(codes: u32, affine: bool, ends: EndGapKind) -> Constants {
    Constants::default()
        .number("CODES", codes)
        .number("PLANES", planes(affine))
        .flag("AFFINE", affine)
        .flag("OWN_ENDS", ends.are_own())
        .flag("END_OPENING", ends == EndGapKind::Affine)
}

/// `NwParams` of the shaders.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub struct NwParams {
    /// Index of the first task of this dispatch.
    pub task_begin: u32,
    /// Index after the last task.
    pub task_count: u32,
    /// First slice (or pass) of this dispatch.
    pub slice_begin: u32,
    /// Index after the last slice (or pass) of this dispatch.
    pub slice_end: u32,
    /// 1: workgroups draw tasks by ticket and finish them.
    pub ticketed: u32,
    /// Capacity of a slot's scratch memory, in words of 4 rows.
    pub rows_words: u32,
    /// See [`crate::score::OffsetScoring::opening`].
    pub opening: i32,
    /// See [`crate::score::OffsetScoring::border_opening`].
    pub border_opening: i32,
    /// See [`crate::score::OffsetScoring::border_step`].
    pub border_step: i32,
    /// See [`crate::score::OffsetScoring::match_bits`].
    pub match_bits: u32,
    /// Index of the first value in `out.data`.
    pub values_begin: u32,
    /// See [`crate::score::bound::DeviceFilter::mode`]. [`MODE_ALL`] keeps all pairs.
    pub filter_mode: u32,
    /// See [`crate::score::bound::DeviceFilter`].
    pub filter_match: i32,
    /// See [`crate::score::bound::DeviceFilter`].
    pub filter_mismatch: i32,
    /// See [`crate::score::bound::DeviceFilter`].
    pub filter_unequal: i32,
    /// See [`crate::score::bound::DeviceFilter`].
    pub filter_threshold: f32,
    /// See [`crate::score::bound::DeviceFilter`].
    pub filter_mismatch_low: i32,
    /// See [`crate::score::bound::DeviceFilter`].
    pub filter_match_low: i32,
    /// See [`crate::score::bound::DeviceFilter`].
    pub filter_dearest: i32,
    /// See [`crate::score::bound::DeviceFilter`].
    pub filter_free_step: i32,
    /// See [`crate::score::bound::DeviceFilter`].
    pub filter_forms: [[f32; 4]; 3],
    /// Diagonal of tiles that this dispatch computes (`nw_tiled_diagonal`).
    pub tile_diagonal: u32,
    /// Index of the first word of runs in `out.data` (`nw_traceback`).
    pub runs_begin: u32,
    /// Capacity for runs in words.
    pub runs_capacity_words: u32,
    /// 1: trace back. 0: return values only.
    pub traces_back: u32,
    /// Quads of an arena for each workgroup (`nw_checkpoint`).
    pub slot_quads: u32,
    /// Number of workgroups that share an arena.
    pub slots_an_arena: u32,
    /// Padding of the uniform buffer to whole quads.
    pub reserved: [u32; 2],
}

/// `NwTask` of the shaders: one query against at most as many targets as a workgroup has slots.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct NwTask {
    /// Index of the word after the query's last symbol.
    pub query_end_word: u32,
    /// Length of the query in symbols.
    pub query_symbols: u32,
    /// Index of the first target.
    pub first: u32,
    /// Number of targets.
    pub count: u32,
    /// Rows to sweep, in words of 4.
    pub rows_words: u32,
    /// Index of the task's first pair in the batch.
    pub pairs_begin: u32,
    /// Targets with an id less than this are the query of their alignment, in place of the block's
    /// query. 0 if there are no such targets.
    pub query_number: u32,
    /// Index of the task's arena.
    pub arena: u32,
    /// First quad (of four words) of the task's part of the arena.
    pub arena_begin: u32,
    /// Number of columns, including padding.
    pub columns: u32,
    /// Quads of directions of one pair.
    pub direction_quads: u32,
}

/// `NwTarget` of the shaders.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct NwTarget {
    /// Index of the word after the target's last symbol.
    pub end_word: u32,
    /// Length of the target in symbols.
    pub symbols: u32,
    /// Id of the target in its store.
    pub number: u32,
}
