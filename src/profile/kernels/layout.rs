//! Structures that the kernels and the host share, as `shaders/common/profiles.wgsl` declares them.

/// The parameters of a dispatch.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct Params {
    /// Problems of the batch.
    pub problems: u32,
    /// The first rectangle of each that is to do.
    pub node_begin: u32,
    /// How many of them.
    pub nodes: u32,
    /// Rows of tiles that a rectangle's half has at most.
    pub tile_rows: u32,
    /// The anti-diagonal of tiles to do.
    pub diagonal: u32,
    /// Nothing.
    pub reserved0: u32,
    /// Nothing.
    pub reserved1: u32,
    /// Nothing.
    pub reserved2: u32,
}

/// Two profiles: where they lie in the buffers.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, bytemuck::Pod, bytemuck::Zeroable)]
pub struct Problem {
    /// Columns of the first profile.
    pub m: u32,
    /// Of the second.
    pub n: u32,
    /// Letters in fours.
    pub fours: u32,
    /// What letters score with columns of the first profile.
    pub scored: u32,
    /// Tenths of letters of the second, four in a word.
    pub tenths: u32,
    /// Gap costs of the first.
    pub first: u32,
    /// Gap costs of the second.
    pub second: u32,
    /// Its rectangles.
    pub nodes: u32,
    /// Its row borders.
    pub rows: u32,
    /// Its column borders.
    pub columns: u32,
    /// Its corners of tiles.
    pub corners: u32,
    /// Corners of one diagonal of one way.
    pub corner_count: u32,
}

/// A rectangle, and where the best alignment crosses its middle row.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct Node {
    /// Rows before it.
    pub a: u32,
    /// Columns before it.
    pub b: u32,
    /// Rows.
    pub m: u32,
    /// Columns.
    pub n: u32,
    /// 1: a gap along the left edge is opened in it; 2: one along the right edge is.
    pub ends: u32,
    /// The column behind which the best alignment crosses the middle row, or [`UNDIVIDED`].
    pub column: u32,
    /// Whether it is in a gap there.
    pub in_gap: u32,
    /// Nothing.
    pub reserved: u32,
}

/// The column of a rectangle that is not divided.
pub const UNDIVIDED: u32 = u32::MAX;
