//! Structures that the kernels and the host share, as `shaders/common/posterior.wgsl` declares them.

use crate::posterior::scale::{BLOCK, STEP};

/// Words before all else that is said of a pair.
pub const HEADER: u32 = 4;

/// The parameters of a dispatch.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct Params {
    /// First task.
    pub task_begin: u32,
    /// Tasks.
    pub task_count: u32,
    /// First strip, in the order of the sweep.
    pub strip_begin: u32,
    /// Strip after the last.
    pub strip_end: u32,
    /// Survivors that there is room for.
    pub capacity: u32,
    /// Word where they begin.
    pub arena_begin: u32,
    /// 0.
    pub zero: u32,
    /// What a gap's first symbol weighs.
    pub open: f32,
    /// What each further one weighs.
    pub extend: f32,
    /// The least probability that is handed over.
    pub cutoff: f32,
    /// Nothing.
    pub reserved0: u32,
    /// Nothing.
    pub reserved1: u32,
}

/// A pair.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct Pair {
    /// First residue of the rows.
    pub row_begin: u32,
    /// Rows.
    pub rows: u32,
    /// First residue of the columns.
    pub column_begin: u32,
    /// Columns.
    pub columns: u32,
    /// Word where its part of the results begins.
    pub out_begin: u32,
    /// Nothing.
    pub reserved0: u32,
    /// Nothing.
    pub reserved1: u32,
    /// Nothing.
    pub reserved2: u32,
}

impl Pair {
    /// Words of its results beside survivors: the header; of rows the values in the last column, of their groups the exponents;
    /// the last row's values and their blocks' exponents.
    pub fn parts(&self) -> [u32; 5] {
        [HEADER, self.rows, self.rows.div_ceil(STEP as u32), self.columns + 1, self.columns / BLOCK as u32 + 1]
    }
}

/// Pairs that a workgroup does at once.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct Task {
    /// The first pair.
    pub first: u32,
    /// How many there are.
    pub count: u32,
    /// Groups of rows.
    pub groups: u32,
    /// Strips of columns.
    pub strips: u32,
    /// Where its forward values begin, in fours.
    pub kept_begin: u32,
    /// Where its scratch memory begins, in words.
    pub scratch_begin: u32,
    /// Survivors of a pair at most.
    pub list: u32,
    /// Nothing.
    pub reserved: u32,
}
