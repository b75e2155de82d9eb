//! Where the words of pairs side by side are in their buffer.

use crate::simd::MAX_U64_LANES;

/// Vectors that are computed in turn: while one waits for its last operation, the other goes on.
pub(super) const VECTORS: usize = 2;
/// The most pairs.
pub(super) const MAX_PAIRS: usize = VECTORS * MAX_U64_LANES;

/// Where things are in the words' buffer.
#[derive(Clone, Copy)]
pub(super) struct Layout {
    /// Words of a vector's lanes, of all vectors.
    pub lanes: usize,
    /// Planes of a word of rows.
    pub planes: usize,
}

impl Layout {
    /// A plane of a word of rows.
    #[inline(always)]
    pub(super) fn plane(self, word: usize, plane: usize) -> usize {
        (word * (self.planes + 2) + plane) * self.lanes
    }
    /// Rows one above the row before.
    #[inline(always)]
    pub(super) fn pv(self, word: usize) -> usize {
        self.plane(word, self.planes)
    }
    /// Rows one below the row before.
    #[inline(always)]
    pub(super) fn mv(self, word: usize) -> usize {
        self.plane(word, self.planes + 1)
    }
}
