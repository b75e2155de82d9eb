//! Posterior probabilities of residue pairs for sixteen pairs of sequences at once: one row
//! sequence against a group of column sequences, one per lane.
//!
//! The forward and backward sums cover the same cells, in tiles of [`STEP`] rows and [`BLOCK`]
//! columns. Several rows of a tile are computed at once, so that values pass from cell to cell in
//! registers. Tiles form panels of [`PANEL_ROWS`] rows and [`PANEL_COLUMNS`] columns, whose values
//! stay in a core's cache. The forward pass stores the borders at the top and left of each panel.
//! The backward pass recomputes the forward values of a panel from these borders. It skips this if
//! the exponents of the values show that no cell of the panel is probable.
//!
//! If the borders of all rows exceed the memory limit, the rows are divided into parts, and the
//! borders of each part are computed from a copy of the row before it. Values are scaled tile by
//! tile ([`super::scale`]). Therefore they never underflow, for sequences of any length and paths
//! with long gaps.
#![allow(
    unsafe_op_in_unsafe_fn,
    reason = "all that is unsafe is what floats ask for, and every function asks for the same"
)]

mod backward;
mod forward;
mod group;

use std::ops::Range;

use self::backward::{BackwardCell, ProbablePair, RightBorder};
use self::forward::{ForwardCell, LeftBorder, PanelBorders};
pub(super) use self::group::PosteriorLanes;
use super::floats::{FloatKernel, Floats, LANES, LaneArray};
use super::model::Model;
use super::scale::{self, BLOCK, Exponents, LaneTotal, STEP};
use crate::seq::Code;

/// Minimum probability that is stored.
pub(super) const CUTOFF: f32 = 0.01;
/// Default maximum bytes of panel borders, and of copied rows.
pub(super) const MEMORY: usize = 64 << 20;
/// Number of cells in a tile.
const TILE: usize = STEP * BLOCK;
/// Number of rows of a tile that are computed at once.
const ROWS: usize = 4;
/// Number of rows in a panel.
const PANEL_ROWS: usize = 64;
/// Number of columns in a panel.
const PANEL_COLUMNS: usize = 64;
/// Number of blocks of columns in a panel.
const PANEL_BLOCKS: usize = PANEL_COLUMNS / BLOCK;
/// Number of rows of tiles in a panel.
const PANEL_STEPS: usize = PANEL_ROWS / STEP;
/// Number of tiles in a panel.
const PANEL_TILES: usize = PANEL_STEPS * PANEL_BLOCKS;

const ZERO: LaneArray<f32> = LaneArray::splat(0.0);

/// Row, column (from 0) and probability of a residue pair. Lists run from the ends of the sequences
/// to their starts.
pub(super) type ResiduePair = (u32, u32, f32);

/// Buffers of a thread, reused for all calls.
#[derive(Debug, Default)]
pub(super) struct PosteriorScratch {
    forward_row: Vec<ForwardCell>,
    exponents: Vec<Exponents>,
    left: LeftBorder,
    /// Borders of the panels of one part.
    borders: PanelBorders,
    /// Forward values of matches of one panel, tile by tile.
    kept: Vec<LaneArray<f32>>,
    /// Row before each part that the backward pass has not reached, and its exponents.
    copies: Vec<ForwardCell>,
    copied_exponents: Vec<Exponents>,
    backward_row: Vec<BackwardCell>,
    backward_exponents: Vec<Exponents>,
    right: RightBorder,
    /// Probable residue pairs of one row of panels, by row.
    hits: Vec<Vec<ProbablePair>>,
}

/// Computes the probabilities of one sequence with the sequences of a group.
pub(super) struct Posteriors<'a> {
    /// Weights of residues and gaps.
    pub model: &'a Model,
    /// Sequences of the columns.
    pub group: &'a PosteriorLanes,
    /// Sequence of the rows.
    pub rows: &'a [Code],
    /// Lanes to compute.
    pub lanes: Range<usize>,
    /// Maximum bytes of panel borders, and of copied rows. At least one row of panels and two
    /// copies are used.
    pub memory: usize,
    /// Buffers.
    pub scratch: &'a mut PosteriorScratch,
}

impl FloatKernel for Posteriors<'_> {
    type Output = Vec<Vec<ResiduePair>>;

    #[inline(always)]
    unsafe fn run<F: Floats>(mut self) -> Self::Output {
        let mut pairs = vec![Vec::new(); LANES];
        let rows = self.rows.len();
        if rows == 0 || self.longest() == 0 {
            return pairs;
        }
        self.start_forward();
        self.scratch.copies.clear();
        self.scratch.copied_exponents.clear();
        let mut totals = [LaneTotal::default(); LANES];
        let mut parts = self.divide(0..rows);
        let is_whole = parts.len() == 1;
        for part in parts.clone() {
            self.push_copy();
            self.forward::<F>(part, is_whole, Some(&mut totals));
        }
        self.finish_totals(&mut totals);
        self.start_backward();
        while let Some(part) = parts.pop() {
            self.pop_copy();
            let smaller = self.divide(part.clone());
            if let [whole] = &smaller[..] {
                if !is_whole {
                    self.forward::<F>(whole.clone(), true, None);
                }
                self.backward::<F>(part, &totals, &mut pairs);
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
        pairs
    }
}

impl Posteriors<'_> {
    /// Returns the length of the longest sequence in the lanes to compute.
    fn longest(&self) -> usize {
        self.group.lengths[self.lanes.clone()].iter().copied().max().unwrap_or(0)
    }

    /// Returns the number of computed columns, column 0 included, rounded up to whole blocks.
    fn columns(&self) -> usize {
        (self.longest() + 1).next_multiple_of(BLOCK)
    }

    /// Divides rows into parts of whole panels. Returns one part if its borders fit in memory.
    fn divide(&self, rows: Range<usize>) -> Vec<Range<usize>> {
        let columns = self.columns();
        let row_bytes = columns * size_of::<ForwardCell>() + columns / BLOCK * size_of::<Exponents>();
        let panel_bytes = size_of::<LeftBorder>() + PANEL_TILES * size_of::<Exponents>();
        let border_bytes = row_bytes + columns.div_ceil(PANEL_COLUMNS) * panel_bytes;
        let fitting = (self.memory / border_bytes).max(1) * PANEL_ROWS;
        let count = rows.len().div_ceil(fitting).min((self.memory / row_bytes).max(2));
        let length = rows.len().div_ceil(count).next_multiple_of(PANEL_ROWS);
        rows.clone().step_by(length).map(|start| start..(start + length).min(rows.end)).collect()
    }

    /// Saves the current row.
    fn push_copy(&mut self) {
        let scratch = &mut *self.scratch;
        scratch.copies.extend_from_slice(&scratch.forward_row);
        scratch.copied_exponents.extend_from_slice(&scratch.exponents);
    }

    /// Restores the row that was saved last.
    fn pop_copy(&mut self) {
        let scratch = &mut *self.scratch;
        let rest = scratch.copies.len() - scratch.forward_row.len();
        scratch.forward_row.copy_from_slice(&scratch.copies[rest..]);
        scratch.copies.truncate(rest);
        let rest = scratch.copied_exponents.len() - scratch.exponents.len();
        scratch.exponents.copy_from_slice(&scratch.copied_exponents[rest..]);
        scratch.copied_exponents.truncate(rest);
    }
}

/// Weights of gaps. The weights of inner gaps are in registers.
struct PartitionGaps<F> {
    open: F,
    extend: F,
    end: f32,
}

impl<F: Floats> PartitionGaps<F> {
    /// Sets lanes to the weights of gaps.
    ///
    /// # Safety
    /// The processor must have the instructions of `F`.
    #[inline(always)]
    unsafe fn new(model: &Model) -> Self {
        PartitionGaps { open: F::splat(model.open), extend: F::splat(model.extend), end: model.end_gap }
    }

    /// Returns the weight of a gap at an end of the alignment, in the scale of a tile. It is a normal
    /// float, because devices disagree about others.
    #[inline(always)]
    fn end_values(&self, exponents: &Exponents) -> LaneArray<f32> {
        LaneArray(exponents.0.map(|exponent| (scale::power(-exponent) * self.end).max(f32::MIN_POSITIVE)))
    }
}
