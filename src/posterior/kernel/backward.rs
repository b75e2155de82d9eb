//! Backward sums over all alignments of the suffixes below and to the right of a cell, and the
//! probabilities that follow from forward and backward sums.

use std::ops::Range;

use super::forward::PanelIndex;
use super::{
    BLOCK, CUTOFF, PANEL_BLOCKS, PANEL_ROWS, PANEL_STEPS, PartitionGaps, Posteriors, ROWS, ResiduePair, STEP, TILE,
    ZERO,
};
use crate::posterior::floats::{Floats, LANES, LaneArray};
use crate::posterior::scale::{self, Exponents, LaneShares, LaneTotal, NO_EXPONENTS};
use crate::simd::array_of;

/// Backward values of a column in the current row. Gaps include the weight of their first symbol.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(super) struct BackwardCell {
    matched: LaneArray<f32>,
    gap: LaneArray<f32>,
}

const ZERO_CELL: BackwardCell = BackwardCell { matched: ZERO, gap: ZERO };

/// Lane, column (from 0) and probability of a probable residue pair.
pub(super) type ProbablePair = (u32, u32, f32);

/// Values of the column to the right: the match in the row below, and the gap along the row.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
struct BackwardCarry<V> {
    right: V,
    gap: V,
}

impl BackwardCarry<LaneArray<f32>> {
    /// Loads the values into registers.
    ///
    /// # Safety
    /// The processor must have the instructions of `F`.
    #[inline(always)]
    unsafe fn load<F: Floats>(&self) -> BackwardCarry<F> {
        BackwardCarry { right: F::load(&self.right), gap: F::load(&self.gap) }
    }
}

impl<F: Floats> BackwardCarry<F> {
    /// Stores the values to memory.
    ///
    /// # Safety
    /// The processor must have the instructions of `F`.
    #[inline(always)]
    unsafe fn store(&self, to: &mut BackwardCarry<LaneArray<f32>>) {
        self.right.store(&mut to.right);
        self.gap.store(&mut to.gap);
    }
}

/// Border to the right of a panel.
#[derive(Debug)]
#[repr(C)]
pub(super) struct RightBorder {
    cells: [BackwardCarry<LaneArray<f32>>; PANEL_ROWS],
    /// Exponents of the cells, by rows of tiles.
    exponents: [Exponents; PANEL_STEPS],
}

impl Default for RightBorder {
    fn default() -> Self {
        let nothing = BackwardCarry { right: ZERO, gap: ZERO };
        RightBorder { cells: [nothing; PANEL_ROWS], exponents: [NO_EXPONENTS; PANEL_STEPS] }
    }
}

/// Constants of a tile.
struct BackwardTile<'a, F> {
    gaps: PartitionGaps<F>,
    /// Whether a product may reach the cutoff.
    may_be_probable: bool,
    /// Factor that converts products of forward and backward values to probabilities.
    share: F,
    /// Value of an alignment that ends before a gap, in the scale of the tile. `ends` has the last
    /// columns of the lanes, if the block contains any.
    end_value: F,
    ends: Option<&'a [LaneArray<f32>]>,
}

impl Posteriors<'_> {
    /// Initializes the last row, where an alignment ends in any column.
    pub(super) fn start_backward(&mut self) {
        let columns = self.columns();
        let scratch = &mut *self.scratch;
        scratch.backward_row.clear();
        scratch.backward_row.resize(columns, ZERO_CELL);
        scratch.backward_exponents.clear();
        scratch.backward_exponents.resize(columns / BLOCK, NO_EXPONENTS);
        for lane in self.lanes.clone().filter(|&lane| self.group.lengths[lane] > 0) {
            let length = self.group.lengths[lane];
            for cell in &mut scratch.backward_row[..length] {
                cell.matched.0[lane] = self.model.end_gap;
            }
            scratch.backward_row[length].matched.0[lane] = 1.0;
        }
    }

    /// Computes the backward values of rows `range.end` to `range.start` + 1, and their
    /// probabilities. The stored borders must belong to these rows.
    ///
    /// # Safety
    /// The processor must have the instructions of `F`.
    #[inline(always)]
    pub(super) unsafe fn backward<F: Floats>(
        &mut self,
        range: Range<usize>,
        totals: &[LaneTotal; LANES],
        pairs: &mut [Vec<ResiduePair>],
    ) {
        let shares = LaneShares::new(totals, self.lanes.clone());
        let blocks = self.scratch.exponents.len();
        let panels = blocks.div_ceil(PANEL_BLOCKS);
        self.scratch.hits.resize_with(PANEL_ROWS, Vec::new);
        for start in range.clone().step_by(PANEL_ROWS).rev() {
            let rows = start..(start + PANEL_ROWS).min(range.end);
            self.scratch.right = RightBorder::default();
            for first in (0..blocks).step_by(PANEL_BLOCKS).rev() {
                let blocks = first..(first + PANEL_BLOCKS).min(blocks);
                let index = (start - range.start) / PANEL_ROWS * panels + first / PANEL_BLOCKS;
                self.backward_panel::<F>(&PanelIndex { index, rows: rows.clone(), blocks }, &shares);
            }
            for (row, hits) in rows.zip(&mut self.scratch.hits).rev() {
                for (lane, column, probability) in hits.drain(..) {
                    pairs[lane as usize].push((row as u32, column, probability));
                }
            }
        }
    }

    /// Computes the backward values of a panel from the row below it and the column to its right.
    /// Recomputes the forward values of the panel when the first tile that may contain a probable
    /// pair is reached.
    ///
    /// # Safety
    /// The processor must have the instructions of `F`.
    #[inline(always)]
    unsafe fn backward_panel<F: Floats>(&mut self, panel: &PanelIndex, shares: &LaneShares) {
        let forward_exponents = self.tile_exponents(panel);
        let mut is_kept = false;
        let mut products = [ZERO; TILE];
        for (step, start) in panel.rows.clone().step_by(STEP).enumerate().rev() {
            let rows = start..(start + STEP).min(panel.rows.end);
            let border = &self.scratch.right.cells[step * STEP..][..STEP];
            let mut carried: [BackwardCarry<F>; STEP] = array_of(|row| border[row].load());
            let mut right_exponents = self.scratch.right.exponents[step];
            for (at, block) in panel.blocks.clone().enumerate().rev() {
                let cells = &mut self.scratch.backward_row[block * BLOCK..][..BLOCK];
                rescale::<F>(cells, &mut self.scratch.backward_exponents[block]);
                let exponents = self.scratch.backward_exponents[block];
                let ratio = scale::ratio(&right_exponents, &exponents);
                right_exponents = exponents;
                let ratio = F::load(&ratio);
                for BackwardCarry { right, gap } in &mut carried {
                    (*right, *gap) = (right.mul(ratio), gap.mul(ratio));
                }
                let index = step * PANEL_BLOCKS + at;
                let share = shares.factors(&forward_exponents[index], &exponents);
                let may_be_probable = share != ZERO;
                if may_be_probable && !is_kept {
                    self.keep_panel::<F>(panel);
                    is_kept = true;
                }
                let Posteriors { model, group, rows: codes, ref mut scratch, .. } = *self;
                let gaps = PartitionGaps::new(model);
                let end_value = gaps.end_values(&exponents);
                let tile = BackwardTile {
                    gaps,
                    may_be_probable,
                    share: F::load(&share),
                    end_value: F::load(&end_value),
                    ends: group.has_end[block].then(|| &group.ends[block * BLOCK..][..BLOCK]),
                };
                let cells = &mut scratch.backward_row[block * BLOCK..][..BLOCK];
                let kept = if is_kept { &scratch.kept[index * TILE..][..TILE] } else { &[] };
                let mut greatest = F::splat(0.0);
                let mut left = rows.len();
                if rows.end == codes.len() {
                    // The values of the last row are already initialised.
                    left -= 1;
                    if may_be_probable {
                        let at = left * BLOCK..left * BLOCK + BLOCK;
                        last_row::<F>(&tile, cells, &kept[at.clone()], &mut products[at], &mut greatest);
                    }
                }
                while left > 0 {
                    let many = if left >= ROWS { ROWS } else { 1 };
                    let first = left - many;
                    // A row uses the symbols of the row below and of the next column.
                    let codes = &codes[rows.start + first + 1..];
                    let weights = |row: usize| &group.weights(codes[row])[block * BLOCK + 1..][..BLOCK];
                    let carried = &mut carried[first..left];
                    let at = if may_be_probable { first * BLOCK..left * BLOCK } else { 0..0 };
                    let (kept, products) = (&kept[at.clone()], &mut products[at]);
                    let greatest = &mut greatest;
                    if many == ROWS {
                        let weights: [_; ROWS] = array_of(weights);
                        some_rows::<F, ROWS>(&tile, weights, cells, carried, kept, products, greatest);
                    } else {
                        some_rows::<F, 1>(&tile, [weights(0)], cells, carried, kept, products, greatest);
                    }
                    left -= many;
                }
                if greatest.at_least(CUTOFF) != 0 {
                    for (row, hits) in scratch.hits[step * STEP..][..rows.len()].iter_mut().enumerate() {
                        collect::<F>(&products[row * BLOCK..][..BLOCK], block * BLOCK, hits);
                    }
                }
            }
            let right = &mut self.scratch.right;
            right.exponents[step] = right_exponents;
            for (border, carried) in right.cells[step * STEP..].iter_mut().zip(&carried) {
                carried.store(border);
            }
        }
    }
}

/// Appends the probable residue pairs of a row of a tile to a list, the last column first.
///
/// # Safety
/// The processor must have the instructions of `F`.
#[inline(always)]
unsafe fn collect<F: Floats>(products: &[LaneArray<f32>], first: usize, hits: &mut Vec<ProbablePair>) {
    for (at, product) in products.iter().enumerate().rev() {
        let column = first + at;
        let mut lanes = F::load(product).at_least(CUTOFF);
        while lanes != 0 && column > 0 {
            let lane = lanes.trailing_zeros();
            hits.push((lane, column as u32 - 1, product.0[lane as usize].min(1.0)));
            lanes &= lanes - 1;
        }
    }
}

/// Rescales a block's values so that the greatest match of every lane is between 1 and 2, and
/// adjusts `exponents`.
///
/// # Safety
/// The processor must have the instructions of `F`.
#[inline(always)]
unsafe fn rescale<F: Floats>(cells: &mut [BackwardCell], exponents: &mut Exponents) {
    let mut greatest = F::splat(0.0);
    for cell in &*cells {
        greatest = greatest.max(F::load(&cell.matched));
    }
    let mut lanes = ZERO;
    greatest.store(&mut lanes);
    let factors = scale::shifts(&lanes, exponents);
    let factors = F::load(&factors);
    for cell in cells {
        for value in [&mut cell.matched, &mut cell.gap] {
            F::load(value).mul(factors).store(value);
        }
    }
}

/// Computes the products of the last row, whose values are known.
///
/// # Safety
/// The processor must have the instructions of `F`.
#[inline(always)]
unsafe fn last_row<F: Floats>(
    tile: &BackwardTile<F>,
    cells: &[BackwardCell],
    kept: &[LaneArray<f32>],
    products: &mut [LaneArray<f32>],
    greatest: &mut F,
) {
    for ((cell, kept), product) in cells.iter().zip(kept).zip(products) {
        let value = F::load(kept).mul(F::load(&cell.matched)).mul(tile.share);
        *greatest = greatest.max(value);
        value.store(product);
    }
}

/// Computes some rows of a tile from the row below them. Also computes their products with forward
/// values if a product may be probable.
///
/// # Safety
/// The processor must have the instructions of `F`.
#[inline(always)]
unsafe fn some_rows<F: Floats, const MANY: usize>(
    tile: &BackwardTile<F>,
    weights: [&[LaneArray<f32>]; MANY],
    cells: &mut [BackwardCell],
    carried: &mut [BackwardCarry<F>],
    kept: &[LaneArray<f32>],
    products: &mut [LaneArray<f32>],
    greatest: &mut F,
) {
    // SAFETY: the caller guarantees that the processor has the instructions of `F`.
    unsafe {
        match tile.may_be_probable {
            true => tile_rows::<F, MANY, true>(tile, weights, cells, carried, kept, products, greatest),
            false => tile_rows::<F, MANY, false>(tile, weights, cells, carried, kept, products, greatest),
        }
    }
}

/// Computes some rows of a tile from the row below them. If `SHARE` is set, also computes their
/// products with forward values. Slices are ordered by row from top to bottom.
///
/// # Safety
/// The processor must have the instructions of `F`.
#[inline(always)]
unsafe fn tile_rows<F: Floats, const MANY: usize, const SHARE: bool>(
    tile: &BackwardTile<F>,
    weights: [&[LaneArray<f32>]; MANY],
    cells: &mut [BackwardCell],
    carried: &mut [BackwardCarry<F>],
    kept: &[LaneArray<f32>],
    products: &mut [LaneArray<f32>],
    greatest: &mut F,
) {
    let PartitionGaps { open, extend, .. } = tile.gaps;
    let mut row_carries: [BackwardCarry<F>; MANY] = array_of(|row| carried[row]);
    for at in (0..BLOCK).rev() {
        let cell = &mut cells[at];
        let (mut below, mut below_gap) = (F::load(&cell.matched), F::load(&cell.gap));
        for row in (0..MANY).rev() {
            let BackwardCarry { right, gap } = &mut row_carries[row];
            let diagonal = F::load(&weights[row][at]).mul(*right);
            *right = below;
            below = diagonal.add(below_gap.add(*gap));
            if let Some(ends) = tile.ends {
                // Add the alignments that end in the last column of a lane.
                below = below.add(F::load(&ends[at]).mul(tile.end_value));
            }
            let opened = open.mul(diagonal);
            below_gap = extend.mul(below_gap).add(opened);
            *gap = extend.mul(*gap).add(opened);
            if SHARE {
                let product = F::load(&kept[row * BLOCK + at]).mul(below).mul(tile.share);
                *greatest = greatest.max(product);
                product.store(&mut products[row * BLOCK + at]);
            }
        }
        below.store(&mut cell.matched);
        below_gap.store(&mut cell.gap);
    }
    carried[..MANY].copy_from_slice(&row_carries);
}
