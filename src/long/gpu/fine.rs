//! A region cut into chunks whose edges are on a device: what a traceback starts from.

/// The edges of a region's chunks. Rows and columns count from the region's first; strip k has the columns
/// `k * strip < j + lead <= (k + 1) * strip`, chunk row c the rows `c * chunk < i <= (c + 1) * chunk`, and the last of both end with
/// the region.
#[derive(Debug, Clone)]
pub struct FineGrid {
    /// Words `(k * rows_stride + i) * 2 ..`: H and the D that enters the next column, at row i of the left edge of strip k
    /// (or the right edge of strip k - 1), exclusive-or 2^31.
    pub vertical: wgpu::Buffer,
    /// Words `(c * columns_stride + j) * 2 ..`: H and the I that enters the next row, at column j of the upper edge of chunk
    /// row c (or the lower edge of chunk row c - 1). Those with c > 0 are not looked at for
    /// [`Method::Striped`](crate::long::Method::Striped).
    pub horizontal: wgpu::Buffer,
    /// Rows of the region.
    pub rows: u32,
    /// Columns of the region.
    pub columns: u32,
    /// Entries of `vertical` a column; more than `rows`.
    pub rows_stride: u32,
    /// Entries of `horizontal` a row; more than `columns`.
    pub columns_stride: u32,
    /// Columns of a strip.
    pub strip: u32,
    /// Columns that the first strip lacks.
    pub lead: u32,
    /// Rows of a chunk.
    pub chunk: u32,
}

impl FineGrid {
    /// Bytes of all edges.
    pub fn bytes(&self) -> u64 {
        self.vertical.size() + self.horizontal.size()
    }
}
