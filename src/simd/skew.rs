//! The substitution scores of one pair for vectors along antidiagonals (intra-sequence SIMD,
//! Wozniak 1997).
//!
//! A strip has as many rows as a vector has lanes. Row k is in lane COUNT - 1 - k and computes
//! column t - k at step t. So all cells of a step lie on one antidiagonal and depend on the last
//! two steps only. Only the bottom row, in lane 0, is needed by the next strip. Each step stores
//! its whole vector, and later steps overwrite the other lanes.
//!
//! Each lane needs the score of its own row against a different column. A profile contains, for
//! each code, a vector of its scores against all rows of the strip. [`Skew`] delays each lane of
//! the stream of these vectors by its row number. Each stage handles one bit of the row number, so
//! a step takes log2(COUNT) blends for any substitution table.

use super::{AlignedBuffer, Lanes};
use crate::score::difference::{Element, STEPS};
use crate::seq::{Code, PAD};

/// Number of padding codes before the first column. The first two stages look back this far.
const BACK: usize = 3;
/// Number of delay stages with a ring buffer. Their delays are 4, 8, 16 and 32 steps.
const STAGES: usize = 4;

/// Memory of a [`Skew`], reused for many pairs.
#[derive(Debug, Clone, Default)]
pub(crate) struct SkewBuffers<E> {
    /// Codes of the columns, with padding before and after.
    columns: Vec<Code>,
    /// One vector of scores for each code.
    profile: AlignedBuffer<E>,
    /// For each stage, a ring buffer of its last inputs. Its length in vectors is the delay of the
    /// stage.
    rings: AlignedBuffer<E>,
    /// One vector for each bit of the row number: all bits set in the lanes that the stage delays.
    masks: AlignedBuffer<E>,
}

/// A stream of score vectors for the columns of a pair and the rows of one strip at a time.
pub(crate) struct Skew<'a, W: Lanes> {
    columns: &'a [Code],
    profile: &'a mut [W::Elem],
    rings: &'a mut [W::Elem],
    masks: &'a [W::Elem],
}

/// Returns an element with all bits set.
fn all_ones<E: Element>() -> E {
    E::from_number(-1)
}

impl<'a, W: Lanes> Skew<'a, W> {
    /// Creates the stream for these columns.
    ///
    /// # Panics
    /// Panics if a code is not less than `codes`.
    #[inline(always)]
    pub(crate) fn new(columns: &[Code], codes: usize, buffers: &'a mut SkewBuffers<W::Elem>) -> Self {
        // `step` reads the vector of each code without a check. Computing a maximum is vectorised.
        let greatest = columns.iter().fold(PAD, |greatest, &code| greatest.max(code));
        assert!(usize::from(greatest) < codes, "code {greatest} has no scores");
        let SkewBuffers { columns: padded, profile, rings, masks } = buffers;
        padded.clear();
        padded.resize(BACK, PAD);
        padded.extend_from_slice(columns);
        padded.resize(BACK + columns.len() + W::COUNT, PAD);
        let masks = masks.at_least((STAGES + 2) * W::COUNT);
        for (stage, mask) in masks.chunks_exact_mut(W::COUNT).take(STAGES + 2).enumerate() {
            for (lane, mask) in mask.iter_mut().enumerate() {
                let delayed = (W::COUNT - 1 - lane) >> stage & 1 == 1;
                *mask = if delayed { all_ones() } else { W::Elem::from_number(0) };
            }
        }
        Skew {
            columns: padded,
            profile: profile.at_least(codes * W::COUNT),
            rings: rings.at_least((4 << STAGES) * W::COUNT),
            masks,
        }
    }

    /// Starts a strip. `rows` are the codes of its lanes, and `codes` are the distinct codes of the
    /// columns. [`PAD`] is added to `codes`.
    ///
    /// # Safety
    /// The processor has the instructions of `W`. Each of the first [`Lanes::COUNT`] of `rows` is
    /// less than [`STEPS`].
    #[inline(always)]
    pub(crate) unsafe fn begin(&mut self, table: &[[W::Elem; STEPS]], codes: &[Code], rows: &[Code]) {
        let pad = std::iter::once(&PAD);
        for &code in codes.iter().chain(pad) {
            // SAFETY: guaranteed by the caller; there are COUNT rows, and the profile has a vector
            // for each code.
            unsafe {
                W::lookup(&table[code as usize], rows[..W::COUNT].as_ptr())
                    .store(self.profile[code as usize * W::COUNT..][..W::COUNT].as_mut_ptr());
            }
        }
        // SAFETY: guaranteed by the caller; the profile starts with the vector of code 0, which is
        // PAD.
        let padding = unsafe { W::load(self.profile.as_ptr()) };
        for ring in self.rings.chunks_exact_mut(W::COUNT) {
            // SAFETY: guaranteed by the caller; each chunk has COUNT elements.
            unsafe { padding.store(ring.as_mut_ptr()) };
        }
    }

    /// Returns the scores of step `t` lane by lane. The caller requests the steps in order, the
    /// last of which is columns + COUNT - 2.
    ///
    /// # Safety
    /// The processor has the instructions of `W`. `t` is at most columns + [`Lanes::COUNT`] - 1.
    #[inline(always)]
    pub(crate) unsafe fn step(&mut self, t: usize) -> W {
        // SAFETY: guaranteed by the caller; `new` allocated columns, profile and rings with these
        // lengths, and checked that the profile has a vector for every code.
        unsafe {
            let at = |delay: usize| {
                let code = *self.columns.get_unchecked(t + BACK - delay);
                W::load(self.profile.as_ptr().add(code as usize * W::COUNT))
            };
            let mask = |stage: usize| W::load(self.masks.as_ptr().add(stage * W::COUNT));
            let odd = mask(0);
            let mut scores = at(0).blend(at(1), odd).blend(at(2).blend(at(3), odd), mask(1));
            let mut ring = self.rings.as_mut_ptr();
            for stage in 0..STAGES {
                let delay = 4usize << stage;
                if delay >= W::COUNT {
                    break;
                }
                let slot = ring.add((t & (delay - 1)) * W::COUNT);
                let before = W::load(slot);
                scores.store(slot);
                scores = scores.blend(before, mask(stage + 2));
                ring = ring.add(delay * W::COUNT);
            }
            scores
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::portable::Array;
    use super::*;

    #[test]
    #[should_panic(expected = "code 40 has no scores")]
    fn code_beyond_the_profile_is_refused() {
        Skew::<Array<i8, 16>>::new(&[1, 40, 2], 40, &mut SkewBuffers::default());
    }
}
