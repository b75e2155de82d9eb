//! One pair in lanes: rows of a strip side by side, each a column behind the one above (intra-sequence vectors along
//! antidiagonals, Wozniak 1997).
//!
//! A strip has as many rows as a vector has lanes. Its row k is in lane COUNT - 1 - k and computes column t - k at step t:
//! all cells of a step lie on one antidiagonal and depend on the last two steps only. What leaves the strip at the
//! bottom, from lane 0, is stored with the whole vector; the lanes above are overwritten by later steps.
//!
//! Lanes need the scores of their own row against different columns. A profile has, for each code, a vector of its
//! scores against all rows; [`Skew`] delays each lane of the stream of such vectors by its row, a bit of the row's number at
//! a time: log2(COUNT) blends a step, for any substitution table.

use super::{Lanes, Lines};
use crate::score::difference::{Element, STEPS};
use crate::seq::{Code, PAD};

/// Room for the codes before the first column that the first stage looks back to.
const BACK: usize = 3;
/// Delays that are made from memory: 4, 8, 16, 32.
const STAGES: usize = 4;

/// Buffers of a skewed strip.
#[derive(Debug, Clone, Default)]
pub(crate) struct SkewBuffers<E> {
    /// Codes of the columns with padding before and after.
    columns: Vec<Code>,
    /// A vector for each code.
    profile: Lines<E>,
    /// What each stage gave for the last steps, as many as it delays by.
    rings: Lines<E>,
    /// A vector for each stage, and two for the first: all bits in the lanes that it delays.
    masks: Lines<E>,
}

/// Columns of a pair, and the rows of a strip at a time.
pub(crate) struct Skew<'a, W: Lanes> {
    columns: &'a [Code],
    profile: &'a mut [W::Elem],
    rings: &'a mut [W::Elem],
    masks: &'a [W::Elem],
}

/// All bits.
fn ones<E: Element>() -> E {
    E::of(-1)
}

impl<'a, W: Lanes> Skew<'a, W> {
    /// The stream of these columns.
    #[inline(always)]
    pub(crate) fn new(columns: &[Code], codes: usize, buffers: &'a mut SkewBuffers<W::Elem>) -> Self {
        let SkewBuffers { columns: padded, profile, rings, masks } = buffers;
        padded.clear();
        padded.resize(BACK, PAD);
        padded.extend_from_slice(columns);
        padded.resize(BACK + columns.len() + W::COUNT, PAD);
        let masks = masks.at_least((STAGES + 2) * W::COUNT);
        for (stage, mask) in masks.chunks_exact_mut(W::COUNT).take(STAGES + 2).enumerate() {
            for (lane, mask) in mask.iter_mut().enumerate() {
                let delayed = (W::COUNT - 1 - lane) >> stage & 1 == 1;
                *mask = if delayed { ones() } else { W::Elem::of(0) };
            }
        }
        Skew {
            columns: padded,
            profile: profile.at_least(codes * W::COUNT),
            rings: rings.at_least((4 << STAGES) * W::COUNT),
            masks,
        }
    }

    /// Starts a strip. `rows` are the codes of its lanes, `codes` those of the columns; [`PAD`] is
    /// added to these.
    ///
    /// # Safety
    /// The processor has the instructions of `W`. Each of the first [`Lanes::COUNT`] of `rows` is
    /// less than [`STEPS`].
    #[inline(always)]
    pub(crate) unsafe fn begin(&mut self, table: &[[W::Elem; STEPS]], codes: &[Code], rows: &[Code]) {
        let pad = std::iter::once(&PAD);
        for &code in codes.iter().chain(pad) {
            // SAFETY: the caller's; there are COUNT rows, and room for a vector a code.
            unsafe {
                W::lookup(&table[code as usize], rows[..W::COUNT].as_ptr())
                    .store(self.profile[code as usize * W::COUNT..][..W::COUNT].as_mut_ptr());
            }
        }
        // SAFETY: as above.
        let padding = unsafe { W::load(self.profile.as_ptr()) };
        for ring in self.rings.chunks_exact_mut(W::COUNT) {
            // SAFETY: as above.
            unsafe { padding.store(ring.as_mut_ptr()) };
        }
    }

    /// Returns the scores of step `t`, lane by lane. Steps come in order, up to step
    /// columns + COUNT - 2.
    ///
    /// # Safety
    /// The processor has the instructions of `W`. `t` is at most columns + [`Lanes::COUNT`] - 1.
    /// Every code of the columns is less than the number of codes that [`Skew::new`] was given.
    #[inline(always)]
    pub(crate) unsafe fn step(&mut self, t: usize) -> W {
        // SAFETY: the caller's; columns, profile and rings are as long as `new` made them.
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
