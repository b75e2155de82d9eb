//! Probabilities that residues of two sequences belong together, of sixteen pairs at once: one sequence against a group.
//!
//! Forward and backward sums go over the same cells, in tiles of [`STEP`] rows and [`BLOCK`] columns, several rows of a
//! tile at once, so that values go from cell to cell in registers. Forward values of matches are kept, as many rows as
//! memory allows; rows before those are computed again from a copy of the row before them. Values are scaled tile by
//! tile ([`super::scale`]), so that no length and no detour of the best path makes them vanish.
#![allow(
    unsafe_op_in_unsafe_fn,
    reason = "all that is unsafe is what floats ask for, and every function asks for the same"
)]

mod backward;
mod forward;
mod group;

use std::ops::Range;

use self::backward::{Behind, Hit};
use self::forward::Ahead;
pub(super) use self::group::Group;
use super::floats::{FloatKernel, Floats, LANES, Lane};
use super::model::Model;
use super::scale::{BLOCK, Exponents, STEP, Total};
use crate::seq::Code;

/// The least probability that is kept.
pub(super) const CUTOFF: f32 = 0.01;
/// Cells of a tile.
const TILE: usize = STEP * BLOCK;
/// Rows of a tile that are computed at once.
const ROWS: usize = 4;

const ZERO: Lane<f32> = Lane::splat(0.0);

/// A pair of residues that belong together, from the second sequence's end to its beginning: row, column (from 0) and
/// probability.
pub(super) type Found = (u32, u32, f32);

/// What a thread computes in; kept from one call to the next.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    ahead: Vec<Ahead>,
    exponents: Vec<Exponents>,
    /// Forward values of matches, of the tiles of a segment, row by row of tiles.
    kept: Vec<Lane<f32>>,
    /// Exponents of those tiles.
    kept_exponents: Vec<Exponents>,
    /// The row before each segment, and its exponents.
    copies: Vec<Ahead>,
    copied_exponents: Vec<Exponents>,
    behind: Vec<Behind>,
    behind_exponents: Vec<Exponents>,
    /// What is probable enough, of each row of a row of tiles.
    hits: [Vec<Hit>; STEP],
}

/// Computes the pairs of one sequence and a group's.
pub(super) struct Posteriors<'a> {
    /// What residues and gaps weigh.
    pub model: &'a Model,
    /// The columns.
    pub group: &'a Group,
    /// The rows.
    pub rows: &'a [Code],
    /// Lanes that are wanted.
    pub lanes: Range<usize>,
    /// Bytes of forward values that may be kept; of long sequences it is more, so that the copies are not far more yet.
    pub memory: usize,
    /// Where to.
    pub scratch: &'a mut Scratch,
}

impl FloatKernel for Posteriors<'_> {
    type Output = Vec<Vec<Found>>;

    #[inline(always)]
    unsafe fn run<F: Floats>(mut self) -> Self::Output {
        let mut found = vec![Vec::new(); LANES];
        let rows = self.rows.len();
        if rows == 0 || self.longest() == 0 {
            return found;
        }
        let row_bytes = self.columns() * size_of::<Lane<f32>>();
        // Of long sequences the copies would be the most, one every few rows: a row of a copy is about two that are kept.
        let balanced = (2 * rows).isqrt();
        let segment = ((self.memory / row_bytes).max(balanced).min(rows) / STEP).max(1) * STEP;
        let segments = rows.div_ceil(segment);
        self.scratch.copies.clear();
        self.scratch.copied_exponents.clear();
        self.start_ahead();
        let mut totals = [Total::default(); LANES];
        for index in 0..segments {
            let last = ((index + 1) * segment).min(rows);
            if index + 1 < segments {
                let scratch = &mut *self.scratch;
                scratch.copies.extend_from_slice(&scratch.ahead);
                scratch.copied_exponents.extend_from_slice(&scratch.exponents);
            }
            self.forward::<F>(index * segment..last, index + 1 == segments, Some(&mut totals));
        }
        self.finish_totals(&mut totals);
        self.start_behind();
        for index in (0..segments).rev() {
            let range = index * segment..((index + 1) * segment).min(rows);
            if index + 1 < segments {
                let scratch = &mut *self.scratch;
                let (columns, blocks) = (scratch.ahead.len(), scratch.exponents.len());
                scratch.ahead.copy_from_slice(&scratch.copies[index * columns..][..columns]);
                scratch.exponents.copy_from_slice(&scratch.copied_exponents[index * blocks..][..blocks]);
                self.forward::<F>(range.clone(), true, None);
            }
            self.backward::<F>(range, &totals, &mut found);
        }
        found
    }
}

impl Posteriors<'_> {
    /// The longest of the lanes that are wanted.
    fn longest(&self) -> usize {
        self.group.lengths[self.lanes.clone()].iter().copied().max().unwrap_or(0)
    }

    /// Columns that are computed, column 0 among them; whole blocks.
    fn columns(&self) -> usize {
        (self.longest() + 1).next_multiple_of(BLOCK)
    }
}

/// What a gap weighs, in registers.
struct Gaps<F> {
    open: F,
    extend: F,
}

impl<F: Floats> Gaps<F> {
    #[inline(always)]
    unsafe fn new(model: &Model) -> Self {
        Gaps { open: F::splat(model.open), extend: F::splat(model.extend) }
    }
}
