//! One pair in lanes, rows of a strip side by side ([`Skew`](crate::simd::Skew)).

use crate::seq::{Code, PAD};
use crate::simd::{AlignedBuffer, SkewBuffers};

/// Buffers that live from pair to pair, whatever is computed.
#[derive(Debug, Clone, Default)]
pub(super) struct PairBuffers<E> {
    /// Of the strip.
    pub skew: SkewBuffers<E>,
    /// The row above the strip: cells or differences, one a column, from index [`MAX_LANES`](crate::simd::MAX_LANES).
    pub above: AlignedBuffer<E>,
    /// The gaps that come down from it, likewise.
    pub gaps: AlignedBuffer<E>,
}

/// One pair, by the scheme `F` in numbers `E`.
pub(super) struct PairTask<'a, F, E, V> {
    /// The scheme, which holds the pair.
    pub form: &'a F,
    /// The sequence that is cut into strips; better the shorter one.
    pub rows: &'a [Code],
    /// The other one.
    pub columns: &'a [Code],
    /// The codes that `columns` has.
    pub codes: &'a [Code],
    /// Room.
    pub buffers: &'a mut PairBuffers<E>,
    /// What comes out: a value for the scheme to decode.
    pub value: &'a mut V,
}

/// Rows of a pair cut into strips, with padding before the first row: the last strip ends with the last row.
pub(super) struct Strips<'a> {
    rows: &'a [Code],
    pad: usize,
    lanes: usize,
}

impl<'a> Strips<'a> {
    /// Strips of `lanes` rows.
    pub(super) fn new(rows: &'a [Code], lanes: usize) -> Self {
        Strips { rows, pad: rows.len().next_multiple_of(lanes) - rows.len(), lanes }
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        (self.pad + self.rows.len()) / self.lanes
    }

    /// Rows of padding.
    pub(super) fn pad(&self) -> usize {
        self.pad
    }

    /// Real rows up to and with the one of this lane in this strip; 0 within the padding.
    pub(super) fn done(&self, strip: usize, lane: usize) -> usize {
        (strip * self.lanes + self.lanes - lane).saturating_sub(self.pad)
    }

    /// Whether the row of this lane in this strip is the last of the padding.
    pub(super) fn is_corner(&self, strip: usize, lane: usize) -> bool {
        strip * self.lanes + self.lanes - lane == self.pad
    }

    /// The codes of a strip's lanes.
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
