//! What all `nw_` kernels share with the host: `shaders/common/nw.wgsl`.

use bytemuck::{Pod, Zeroable};

use crate::gpu::source::Constants;
use crate::score::Scoring;

/// `filter_mode`: keep every pair.
pub const MODE_ALL: u32 = 6;

/// Numbers that a border cell keeps: its value and, under affine gaps, that of the gap that goes on.
pub const fn planes(affine: bool) -> u32 {
    if affine { 2 } else { 1 }
}

/// What end gaps cost, as far as a shader's text depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Ends {
    /// What inner gaps cost.
    Charged,
    /// Costs of their own, or none, the same for every symbol.
    Linear,
    /// Costs of their own, the first symbol's above the others'.
    Affine,
}

impl Ends {
    /// All kinds.
    pub const ALL: [Ends; 3] = [Ends::Charged, Ends::Linear, Ends::Affine];

    /// Those of a scoring scheme.
    pub fn of(scoring: &Scoring) -> Self {
        match (scoring.has_own_ends(), scoring.end_costs().is_linear()) {
            (false, _) => Ends::Charged,
            (true, true) => Ends::Linear,
            (true, false) => Ends::Affine,
        }
    }

    /// Whether end gaps have costs of their own.
    pub const fn are_own(self) -> bool {
        !matches!(self, Ends::Charged)
    }
}

/// The constants that the shared part asks for.
pub fn constants(codes: u32, affine: bool, ends: Ends) -> Constants {
    Constants::default()
        .number("CODES", codes)
        .number("PLANES", planes(affine))
        .flag("AFFINE", affine)
        .flag("OWN_ENDS", ends.are_own())
        .flag("END_OPENING", ends == Ends::Affine)
}

/// `Params` of the shaders.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub struct Params {
    /// First task of this dispatch.
    pub task_begin: u32,
    /// One past the last task.
    pub task_count: u32,
    /// First slice (or pass) of this dispatch.
    pub slice_begin: u32,
    /// One past the last slice (or pass) of this dispatch.
    pub slice_end: u32,
    /// 1: workgroups draw tasks by ticket and finish them.
    pub ticketed: u32,
    /// Rows that a slot has scratch for, in words of 4.
    pub rows_words: u32,
    /// See [`crate::score::OffsetScoring::opening`].
    pub opening: i32,
    /// See [`crate::score::OffsetScoring::edge_opening`].
    pub edge_opening: i32,
    /// See [`crate::score::OffsetScoring::edge_step`].
    pub edge_step: i32,
    /// See [`crate::score::OffsetScoring::match_bits`].
    pub match_bits: u32,
    /// Index of the first value in `out.data`.
    pub values_begin: u32,
    /// See [`crate::score::bound::DeviceFilter::mode`]; [`MODE_ALL`] keeps all.
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
    /// Diagonal of tiles that this dispatch does (`nw_tiled_diagonal`).
    pub tile_diagonal: u32,
    /// Index of the first word of runs in `out.data` (`nw_walk`).
    pub runs_begin: u32,
    /// Words of runs that there is room for.
    pub runs_capacity_words: u32,
    /// 1: walk back; 0: values only.
    pub walk: u32,
    /// Quads of an arena that a workgroup has (`nw_checkpoint`).
    pub slot_quads: u32,
    /// Workgroups that an arena serves.
    pub slots_an_arena: u32,
    /// What fills the uniform up to whole quads.
    pub reserved: [u32; 2],
}

/// `Task` of the shaders: one query against up to a workgroup of targets.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct Task {
    /// Word just past the query's last symbol.
    pub query_end_word: u32,
    /// Length of the query.
    pub query_symbols: u32,
    /// First of its targets.
    pub first: u32,
    /// Number of its targets.
    pub count: u32,
    /// Rows to walk in words of 4.
    pub rows_words: u32,
    /// Index of the first pair among the batch's pairs.
    pub pairs_begin: u32,
    /// Targets with a smaller number take the query's part in alignments; 0 where none does.
    pub query_number: u32,
    /// The task's arena.
    pub arena: u32,
    /// First quad (of four words) of the task's part of the arena.
    pub arena_begin: u32,
    /// Columns, padding included.
    pub columns: u32,
    /// Quads of directions of one pair.
    pub direction_quads: u32,
}

/// `Target` of the shaders.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct Target {
    /// Word just past the target's last symbol.
    pub end_word: u32,
    /// Length of the target.
    pub symbols: u32,
    /// Its number in the store.
    pub number: u32,
}
