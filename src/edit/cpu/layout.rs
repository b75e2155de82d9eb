//! Layout of the words of a group in its buffer.

use crate::simd::MAX_U64_LANES;

/// Number of vectors that are computed in turn. While one waits for its last operation, the other
/// proceeds.
pub(super) const VECTORS: usize = 2;
/// Maximum number of pairs in a group.
pub(super) const MAX_PAIRS: usize = VECTORS * MAX_U64_LANES;

/// Offsets in the buffer of words.
#[derive(Clone, Copy)]
pub(super) struct GroupLayout {
    /// Number of lanes of all vectors.
    pub lanes: usize,
    /// Number of planes per word of rows.
    pub planes: usize,
}

impl GroupLayout {
    /// Returns the offset of a plane of a word.
    #[inline(always)]
    pub(super) fn plane(self, word: usize, plane: usize) -> usize {
        (word * (self.planes + 2) + plane) * self.lanes
    }
    /// Returns the offset of `pv`: bits of the rows whose distance is one more than in the previous
    /// row.
    #[inline(always)]
    pub(super) fn pv(self, word: usize) -> usize {
        self.plane(word, self.planes)
    }
    /// Returns the offset of `mv`: bits of the rows whose distance is one less than in the previous
    /// row.
    #[inline(always)]
    pub(super) fn mv(self, word: usize) -> usize {
        self.plane(word, self.planes + 1)
    }
}
