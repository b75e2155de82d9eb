//! A region that is divided into chunks whose borders are on a device. A traceback can start from
//! it.

/// The borders of a region's chunks. Rows and columns count from the region's first. Strip k
/// contains the columns `k * strip < j + lead <= (k + 1) * strip`. Chunk row c contains the rows
/// `c * chunk < i <= (c + 1) * chunk`. The last strip and the last chunk row end with the region.
#[derive(Debug, Clone)]
pub struct FineGrid {
    /// u32 values `(k * rows_stride + i) * 2 ..` contain H, and the D that enters the next column,
    /// at row i of the left border of strip k. That is also the right border of strip k - 1. Each
    /// value is combined with 2^31 by exclusive or.
    pub vertical: wgpu::Buffer,
    /// u32 values `(c * columns_stride + j) * 2 ..` contain H, and the I that enters the next row,
    /// at column j of the upper border of chunk row c. That is also the lower border of chunk row
    /// c - 1. [`Method::Striped`](crate::long::Method::Striped) reads only those with c = 0.
    pub horizontal: wgpu::Buffer,
    /// Rows of the region.
    pub rows: u32,
    /// Columns of the region.
    pub columns: u32,
    /// Number of entries of `vertical` per border; greater than `rows`.
    pub rows_stride: u32,
    /// Number of entries of `horizontal` per border; greater than `columns`.
    pub columns_stride: u32,
    /// Columns of a strip.
    pub strip: u32,
    /// Number of columns by which the first strip is narrower than the others.
    pub lead: u32,
    /// Rows of a chunk.
    pub chunk: u32,
}

impl FineGrid {
    /// Returns the bytes of all borders.
    pub fn bytes(&self) -> u64 {
        self.vertical.size() + self.horizontal.size()
    }
}
