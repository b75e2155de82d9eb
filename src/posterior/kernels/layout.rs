//! Structures that the kernels and the host share. `shaders/common/posterior.wgsl` declares them
//! too.

use crate::posterior::scale::{BLOCK, STEP};

/// Number of u32 in the header of a pair's results.
pub const HEADER: u32 = 4;

/// Parameters of a dispatch.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct PosteriorParams {
    /// First task.
    pub task_begin: u32,
    /// Number of tasks.
    pub task_count: u32,
    /// First strip, in the order of the sweep.
    pub strip_begin: u32,
    /// Strip after the last.
    pub strip_end: u32,
    /// Number of survivors that fit the reserved memory.
    pub capacity: u32,
    /// Offset of the survivors, in u32.
    pub arena_begin: u32,
    /// Always 0.
    pub zero: u32,
    /// Weight of the first symbol of a gap.
    pub open: f32,
    /// Weight of each further symbol of a gap.
    pub extend: f32,
    /// Minimum approximate probability of a survivor.
    pub cutoff: f32,
    /// Weight of a gap at an end of the alignment.
    pub end_gap: f32,
    /// Unused.
    pub reserved: u32,
}

/// A pair of sequences.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct PosteriorPair {
    /// Offset of the first residue of the row sequence.
    pub row_begin: u32,
    /// Number of rows.
    pub rows: u32,
    /// Offset of the first residue of the column sequence.
    pub column_begin: u32,
    /// Number of columns.
    pub columns: u32,
    /// Offset of its results, in u32.
    pub out_begin: u32,
    /// Unused.
    pub reserved0: u32,
    /// Unused.
    pub reserved1: u32,
    /// Unused.
    pub reserved2: u32,
}

impl PosteriorPair {
    /// Returns the sizes, in u32 values, of the five sections of the results before the survivors.
    /// They are the header, the values of all rows in the last column, the exponents of the groups
    /// of rows, the values of the last row, and the exponents of its blocks.
    pub fn parts(&self) -> [u32; 5] {
        [HEADER, self.rows, self.rows.div_ceil(STEP as u32), self.columns + 1, self.columns / BLOCK as u32 + 1]
    }
}

/// Pairs that a workgroup computes at once.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct PosteriorTask {
    /// First pair.
    pub first: u32,
    /// Number of pairs.
    pub count: u32,
    /// Number of groups of rows.
    pub groups: u32,
    /// Number of strips of columns.
    pub strips: u32,
    /// Offset of its forward values, in groups of four.
    pub kept_begin: u32,
    /// Offset of its scratch memory, in u32.
    pub scratch_begin: u32,
    /// Maximum number of survivors of a pair.
    pub list: u32,
    /// Unused.
    pub reserved: u32,
}
