//! Probabilities that residues of two sequences belong together, of sixteen pairs at once: one sequence against a group.
//!
//! Forward and backward sums go over the same cells, in tiles of [`STEP`] rows and [`BLOCK`] columns, several rows of a
//! tile at once, so that values go from cell to cell in registers. Tiles are grouped in panels of [`PANEL_ROWS`] rows and
//! [`PANEL_COLUMNS`] columns, whose values stay in a core's cache. The forward pass stores the values at the top and left
//! edge of each panel. The backward pass computes a panel's forward values again from these edges, unless the scales of the
//! values show that no cell of the panel is probable. Where the edges of all rows would need more memory than is allowed,
//! rows are divided into parts, and the parts' edges are computed from a copy of the row before each part. Values are scaled tile by tile ([`super::scale`]), so that no length and no detour
//! of the best path makes them vanish.
#![allow(
    unsafe_op_in_unsafe_fn,
    reason = "all that is unsafe is what floats ask for, and every function asks for the same"
)]

mod backward;
mod forward;
mod group;

use std::ops::Range;

use self::backward::{Behind, Hit, Right};
use self::forward::{Ahead, Edges, Left};
pub(super) use self::group::Group;
use super::floats::{FloatKernel, Floats, LANES, Lane};
use super::model::Model;
use super::scale::{BLOCK, Exponents, STEP, Total};
use crate::seq::Code;

/// The least probability that is kept.
pub(super) const CUTOFF: f32 = 0.01;
/// Usual limit in bytes of the edges of panels, and of the copied rows.
pub(super) const MEMORY: usize = 64 << 20;
/// Cells of a tile.
const TILE: usize = STEP * BLOCK;
/// Rows of a tile that are computed at once.
const ROWS: usize = 4;
/// Rows of a panel.
const PANEL_ROWS: usize = 64;
/// Columns of a panel.
const PANEL_COLUMNS: usize = 64;
/// Blocks of columns of a panel.
const PANEL_BLOCKS: usize = PANEL_COLUMNS / BLOCK;
/// Rows of tiles of a panel.
const PANEL_STEPS: usize = PANEL_ROWS / STEP;
/// Tiles of a panel.
const PANEL_TILES: usize = PANEL_STEPS * PANEL_BLOCKS;

const ZERO: Lane<f32> = Lane::splat(0.0);

/// A pair of residues that belong together, from the second sequence's end to its beginning: row, column (from 0) and
/// probability.
pub(super) type Found = (u32, u32, f32);

/// What a thread computes in; kept from one call to the next.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    ahead: Vec<Ahead>,
    exponents: Vec<Exponents>,
    left: Left,
    /// Edges of the panels of one part.
    edges: Edges,
    /// Forward values of matches of one panel, tile by tile.
    kept: Vec<Lane<f32>>,
    /// The row before each part that is not finished, and its exponents.
    copies: Vec<Ahead>,
    copied_exponents: Vec<Exponents>,
    behind: Vec<Behind>,
    behind_exponents: Vec<Exponents>,
    right: Right,
    /// Probable pairs of residues, by row, of one row of panels.
    hits: Vec<Vec<Hit>>,
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
    /// Limit in bytes of the edges of panels, and of the copied rows. The least possible is one row of panels and two
    /// copies.
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
        self.start_ahead();
        self.scratch.copies.clear();
        self.scratch.copied_exponents.clear();
        let mut totals = [Total::default(); LANES];
        let mut parts = self.divide(0..rows);
        let is_whole = parts.len() == 1;
        for part in parts.clone() {
            self.push_copy();
            self.forward::<F>(part, is_whole, Some(&mut totals));
        }
        self.finish_totals(&mut totals);
        self.start_behind();
        while let Some(part) = parts.pop() {
            self.pop_copy();
            let smaller = self.divide(part.clone());
            if let [whole] = &smaller[..] {
                if !is_whole {
                    self.forward::<F>(whole.clone(), true, None);
                }
                self.backward::<F>(part, &totals, &mut found);
                continue;
            }
            for (index, part) in smaller.iter().enumerate() {
                self.push_copy();
                if index + 1 < smaller.len() {
                    self.forward::<F>(part.clone(), false, None);
                }
            }
            parts.extend(smaller);
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

    /// Divides rows into parts of whole panels. Returns one part if its edges fit in memory.
    fn divide(&self, rows: Range<usize>) -> Vec<Range<usize>> {
        let columns = self.columns();
        let row_bytes = columns * size_of::<Ahead>() + columns / BLOCK * size_of::<Exponents>();
        let panel_bytes = size_of::<Left>() + PANEL_TILES * size_of::<Exponents>();
        let edge_bytes = row_bytes + columns.div_ceil(PANEL_COLUMNS) * panel_bytes;
        let fitting = (self.memory / edge_bytes).max(1) * PANEL_ROWS;
        let count = rows.len().div_ceil(fitting).min((self.memory / row_bytes).max(2));
        let length = rows.len().div_ceil(count).next_multiple_of(PANEL_ROWS);
        rows.clone().step_by(length).map(|start| start..(start + length).min(rows.end)).collect()
    }

    /// Saves the current row.
    fn push_copy(&mut self) {
        let scratch = &mut *self.scratch;
        scratch.copies.extend_from_slice(&scratch.ahead);
        scratch.copied_exponents.extend_from_slice(&scratch.exponents);
    }

    /// Makes the row that was saved last the current one.
    fn pop_copy(&mut self) {
        let scratch = &mut *self.scratch;
        let rest = scratch.copies.len() - scratch.ahead.len();
        scratch.ahead.copy_from_slice(&scratch.copies[rest..]);
        scratch.copies.truncate(rest);
        let rest = scratch.copied_exponents.len() - scratch.exponents.len();
        scratch.exponents.copy_from_slice(&scratch.copied_exponents[rest..]);
        scratch.copied_exponents.truncate(rest);
    }
}

/// What a gap weighs, in registers.
struct Gaps<F> {
    open: F,
    extend: F,
}

impl<F: Floats> Gaps<F> {
    /// Sets lanes to the weights of gaps.
    ///
    /// # Safety
    /// The processor has the instructions of `F`.
    #[inline(always)]
    unsafe fn new(model: &Model) -> Self {
        Gaps { open: F::splat(model.open), extend: F::splat(model.extend) }
    }
}
