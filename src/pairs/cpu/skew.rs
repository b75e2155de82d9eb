//! One pair in all lanes, with the rows of a strip in adjacent lanes ([`Skew`](crate::simd::Skew)).

use std::ops::Range;

use super::group::ProfiledSequence;
use crate::seq::{Code, PAD};
use crate::simd::{AlignedBuffer, SkewBuffers};
use crate::trace::Band;

/// Buffers that are reused for all pairs, by all kernels.
#[derive(Debug, Clone, Default)]
pub(super) struct PairBuffers<E> {
    /// Buffers of the current strip.
    pub skew: SkewBuffers<E>,
    /// The row above the strip: cells or differences, one per column, from index
    /// [`MAX_LANES`](crate::simd::MAX_LANES) on.
    pub above: AlignedBuffer<E>,
    /// Gaps that continue from the row above the strip, at the same indices.
    pub gaps: AlignedBuffer<E>,
}

/// One pair, with the scoring `F` and elements of type `E`.
pub(super) struct PairTask<'a, F, E, V> {
    /// The scoring. Its range must hold the pair's score.
    pub form: &'a F,
    /// The sequence that is divided into strips. The shorter sequence is faster.
    pub rows: &'a [Code],
    /// The other sequence.
    pub columns: &'a ProfiledSequence<'a>,
    /// Working memory.
    pub buffers: &'a mut PairBuffers<E>,
    /// Result: a value to be decoded by the scoring.
    pub value: &'a mut V,
}

/// Rows of a pair divided into strips, with padding before the first row. The last strip ends with
/// the last row.
pub(super) struct Strips<'a> {
    rows: &'a [Code],
    pad: usize,
    lanes: usize,
}

impl<'a> Strips<'a> {
    /// Divides rows into strips of `lanes` rows.
    pub(super) fn new(rows: &'a [Code], lanes: usize) -> Self {
        Strips { rows, pad: rows.len().next_multiple_of(lanes) - rows.len(), lanes }
    }

    /// Returns the number of strips.
    pub(super) fn count(&self) -> usize {
        (self.pad + self.rows.len()) / self.lanes
    }

    /// Returns the number of rows of padding.
    pub(super) fn pad(&self) -> usize {
        self.pad
    }

    /// Returns the number of rows up to and including this lane of this strip. Padding does not
    /// count, so the number is 0 within the padding.
    pub(super) fn done(&self, strip: usize, lane: usize) -> usize {
        (strip * self.lanes + self.lanes - lane).saturating_sub(self.pad)
    }

    /// Returns whether this lane of this strip is the last row of the padding.
    pub(super) fn is_corner(&self, strip: usize, lane: usize) -> bool {
        strip * self.lanes + self.lanes - lane == self.pad
    }

    /// Returns the columns, from 0, of the cells of a strip that lie in a band of diagonals, of `n`
    /// columns in all.
    pub(super) fn columns(&self, strip: usize, band: Band, n: usize) -> Range<usize> {
        let [first, last] = [self.lanes - 1, 0].map(|lane| self.done(strip, lane).max(1) as i64);
        let clamped = |column: i64| column.clamp(0, n as i64) as usize;
        clamped(first - band.high - 1)..clamped(last - band.low)
    }

    /// Reads the codes of a strip's lanes.
    pub(super) fn codes(&self, strip: usize, codes: &mut [Code]) {
        if let Some(first) = (strip * self.lanes).checked_sub(self.pad) {
            let rows = &self.rows[first..first + self.lanes];
            codes.iter_mut().zip(rows.iter().rev()).for_each(|(code, &row)| *code = row);
            return;
        }
        for (lane, code) in codes[..self.lanes].iter_mut().enumerate() {
            *code = match self.done(strip, lane) {
                0 => PAD,
                done => self.rows[done - 1],
            };
        }
    }
}
