//! Structures that the kernels and the host share. `shaders/common/profiles.wgsl` declares them
//! too.

/// Parameters of a dispatch.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct ProfileParams {
    /// Number of problems in the batch.
    pub problems: u32,
    /// First rectangle of each problem in this dispatch.
    pub node_begin: u32,
    /// Number of rectangles of each problem in this dispatch.
    pub nodes: u32,
    /// Maximum number of rows of tiles in half a rectangle.
    pub tile_rows: u32,
    /// Anti-diagonal of tiles.
    pub diagonal: u32,
    /// Unused.
    pub reserved0: u32,
    /// Unused.
    pub reserved1: u32,
    /// Unused.
    pub reserved2: u32,
}

/// Two profiles: their sizes and offsets in the buffers.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, bytemuck::Pod, bytemuck::Zeroable)]
pub struct ProfileProblem {
    /// Number of columns of the first profile.
    pub m: u32,
    /// Number of columns of the second profile.
    pub n: u32,
    /// Number of letters divided by 4, rounded up.
    pub fours: u32,
    /// Offset in `data` of the scores of letters with columns of the first profile.
    pub scored: u32,
    /// Offset in `data` of the shares of letters in columns of the second profile, in tenths, four
    /// per u32.
    pub tenths: u32,
    /// Offset in `data` of the gap costs of the first profile.
    pub first: u32,
    /// Offset in `data` of the gap costs of the second profile.
    pub second: u32,
    /// Offset of its rectangles in `nodes`.
    pub nodes: u32,
    /// Offset of its row borders in `rows`.
    pub rows: u32,
    /// Offset of its column borders in `columns`.
    pub columns: u32,
    /// Offset of its tile corners in `corners`.
    pub corners: u32,
    /// Number of corners of one diagonal in one direction.
    pub corner_count: u32,
}

/// A rectangle, and the position where the best alignment crosses its middle row.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct RectangleNode {
    /// Number of rows before it.
    pub a: u32,
    /// Number of columns before it.
    pub b: u32,
    /// Number of rows.
    pub m: u32,
    /// Number of columns.
    pub n: u32,
    /// Value 1: a gap along the left border opens in this rectangle. Value 2: a gap along the right
    /// border does. Both values may be added.
    pub ends: u32,
    /// Column after which the best alignment crosses the middle row, or [`UNDIVIDED`].
    pub column: u32,
    /// 1 if the crossing is inside a gap, else 0.
    pub in_gap: u32,
    /// Unused.
    pub reserved: u32,
}

/// Value of [`RectangleNode::column`] if the rectangle is not divided.
pub const UNDIVIDED: u32 = u32::MAX;
