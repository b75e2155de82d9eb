//! Backward sums, of all ways to align what is below and to the right, and what is probable by both.

use std::ops::Range;

use super::forward::PanelIndex;
use super::{BLOCK, CUTOFF, Found, Gaps, PANEL_BLOCKS, PANEL_ROWS, PANEL_STEPS, Posteriors, ROWS, STEP, TILE, ZERO};
use crate::posterior::floats::{Floats, LANES, Lane};
use crate::posterior::scale::{self, Exponents, NO_EXPONENTS, Shares, Total};

/// Backward values of a column. Gaps are with the weight of their first symbol.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(super) struct Behind {
    matched: Lane<f32>,
    gap: Lane<f32>,
}

const NOTHING: Behind = Behind { matched: ZERO, gap: ZERO };

/// What is probable enough: lane, column (from 0) and probability.
pub(super) type Hit = (u32, u32, f32);

/// Of the column to the right: the match in the row below, the gap.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
struct Carried<V> {
    right: V,
    gap: V,
}

impl Carried<Lane<f32>> {
    /// Loads the values into registers.
    ///
    /// # Safety
    /// The processor has the instructions of `F`.
    #[inline(always)]
    unsafe fn load<F: Floats>(&self) -> Carried<F> {
        Carried { right: F::load(&self.right), gap: F::load(&self.gap) }
    }
}

impl<F: Floats> Carried<F> {
    /// Stores the values to memory.
    ///
    /// # Safety
    /// The processor has the instructions of `F`.
    #[inline(always)]
    unsafe fn store(&self, to: &mut Carried<Lane<f32>>) {
        self.right.store(&mut to.right);
        self.gap.store(&mut to.gap);
    }
}

/// The column to the right of a panel.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Right {
    cells: [Carried<Lane<f32>>; PANEL_ROWS],
    /// Exponents of the cells, by rows of tiles.
    exponents: [Exponents; PANEL_STEPS],
}

impl Default for Right {
    fn default() -> Self {
        let nothing = Carried { right: ZERO, gap: ZERO };
        Right { cells: [nothing; PANEL_ROWS], exponents: [NO_EXPONENTS; PANEL_STEPS] }
    }
}

/// What a tile is computed with.
struct Tile<'a, F> {
    gaps: Gaps<F>,
    /// Whether a product may reach what is reported.
    may_be_probable: bool,
    /// What a product of forward and backward values is multiplied by.
    share: F,
    /// What 1 is in this tile, and the lanes' last columns, if it has any.
    one: F,
    ends: Option<&'a [Lane<f32>]>,
}

impl Posteriors<'_> {
    /// The last row: an alignment ends anywhere in it.
    pub(super) fn start_behind(&mut self) {
        let columns = self.columns();
        let scratch = &mut *self.scratch;
        scratch.behind.clear();
        scratch.behind.resize(columns, NOTHING);
        scratch.behind_exponents.clear();
        scratch.behind_exponents.resize(columns / BLOCK, NO_EXPONENTS);
        for lane in self.lanes.clone().filter(|&lane| self.group.lengths[lane] > 0) {
            for cell in &mut scratch.behind[..=self.group.lengths[lane]] {
                cell.matched.0[lane] = 1.0;
            }
        }
    }

    /// Computes backward values of rows `range.end` to `range.start` + 1, and with them probabilities. The edges are those
    /// of these rows.
    ///
    /// # Safety
    /// The processor has the instructions of `F`.
    #[inline(always)]
    pub(super) unsafe fn backward<F: Floats>(
        &mut self,
        range: Range<usize>,
        totals: &[Total; LANES],
        found: &mut [Vec<Found>],
    ) {
        let shares = Shares::new(totals, self.lanes.clone());
        let blocks = self.scratch.exponents.len();
        let panels = blocks.div_ceil(PANEL_BLOCKS);
        self.scratch.hits.resize_with(PANEL_ROWS, Vec::new);
        for start in range.clone().step_by(PANEL_ROWS).rev() {
            let rows = start..(start + PANEL_ROWS).min(range.end);
            self.scratch.right = Right::default();
            for first in (0..blocks).step_by(PANEL_BLOCKS).rev() {
                let blocks = first..(first + PANEL_BLOCKS).min(blocks);
                let index = (start - range.start) / PANEL_ROWS * panels + first / PANEL_BLOCKS;
                self.backward_panel::<F>(&PanelIndex { index, rows: rows.clone(), blocks }, &shares);
            }
            for (row, hits) in rows.zip(&mut self.scratch.hits).rev() {
                for (lane, column, probability) in hits.drain(..) {
                    found[lane as usize].push((row as u32, column, probability));
                }
            }
        }
    }

    /// Computes backward values of a panel, from the row below it and the column to the right of it. Forward values of the
    /// panel are computed again as soon as a tile may have something probable.
    ///
    /// # Safety
    /// The processor has the instructions of `F`.
    #[inline(always)]
    unsafe fn backward_panel<F: Floats>(&mut self, panel: &PanelIndex, shares: &Shares) {
        let ahead_exponents = self.tile_exponents(panel);
        let mut is_kept = false;
        let mut products = [ZERO; TILE];
        for (step, start) in panel.rows.clone().step_by(STEP).enumerate().rev() {
            let rows = start..(start + STEP).min(panel.rows.end);
            let border = &self.scratch.right.cells[step * STEP..][..STEP];
            let mut carried: [Carried<F>; STEP] = std::array::from_fn(|row| border[row].load());
            let mut right_exponents = self.scratch.right.exponents[step];
            for (at, block) in panel.blocks.clone().enumerate().rev() {
                let cells = &mut self.scratch.behind[block * BLOCK..][..BLOCK];
                rescale::<F>(cells, &mut self.scratch.behind_exponents[block]);
                let exponents = self.scratch.behind_exponents[block];
                let ratio = scale::ratio(&right_exponents, &exponents);
                right_exponents = exponents;
                let ratio = F::load(&ratio);
                for Carried { right, gap } in &mut carried {
                    (*right, *gap) = (right.mul(ratio), gap.mul(ratio));
                }
                let index = step * PANEL_BLOCKS + at;
                let share = shares.of(&ahead_exponents[index], &exponents);
                let may_be_probable = share != ZERO;
                if may_be_probable && !is_kept {
                    self.keep_panel::<F>(panel);
                    is_kept = true;
                }
                let Posteriors { model, group, rows: codes, ref mut scratch, .. } = *self;
                let one = Lane(exponents.0.map(|exponent| scale::power(-exponent)));
                let tile = Tile {
                    gaps: Gaps::new(model),
                    may_be_probable,
                    share: F::load(&share),
                    one: F::load(&one),
                    ends: group.has_end[block].then(|| &group.ends[block * BLOCK..][..BLOCK]),
                };
                let cells = &mut scratch.behind[block * BLOCK..][..BLOCK];
                let kept = if is_kept { &scratch.kept[index * TILE..][..TILE] } else { &[] };
                let mut greatest = F::splat(0.0);
                let mut left = rows.len();
                if rows.end == codes.len() {
                    // The last row is there from the start.
                    left -= 1;
                    if may_be_probable {
                        let at = left * BLOCK..left * BLOCK + BLOCK;
                        last_row::<F>(&tile, cells, &kept[at.clone()], &mut products[at], &mut greatest);
                    }
                }
                while left > 0 {
                    let many = if left >= ROWS { ROWS } else { 1 };
                    let first = left - many;
                    // A row goes by the symbols of the row below, and of the column after.
                    let codes = &codes[rows.start + first + 1..];
                    let weights = |row: usize| &group.weights(codes[row])[block * BLOCK + 1..][..BLOCK];
                    let carried = &mut carried[first..left];
                    let at = if may_be_probable { first * BLOCK..left * BLOCK } else { 0..0 };
                    let (kept, products) = (&kept[at.clone()], &mut products[at]);
                    let greatest = &mut greatest;
                    if many == ROWS {
                        let weights: [_; ROWS] = std::array::from_fn(weights);
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

/// Adds the probable residues of a row of a tile to a list, the last column first.
///
/// # Safety
/// The processor has the instructions of `F`.
#[inline(always)]
unsafe fn collect<F: Floats>(products: &[Lane<f32>], first: usize, hits: &mut Vec<Hit>) {
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
/// The processor has the instructions of `F`.
#[inline(always)]
unsafe fn rescale<F: Floats>(cells: &mut [Behind], exponents: &mut Exponents) {
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
/// The processor has the instructions of `F`.
#[inline(always)]
unsafe fn last_row<F: Floats>(
    tile: &Tile<F>,
    cells: &[Behind],
    kept: &[Lane<f32>],
    products: &mut [Lane<f32>],
    greatest: &mut F,
) {
    for ((cell, kept), product) in cells.iter().zip(kept).zip(products) {
        let value = F::load(kept).mul(F::load(&cell.matched)).mul(tile.share);
        *greatest = greatest.max(value);
        value.store(product);
    }
}

/// Computes some rows of a tile from the row below them, and their products with forward values
/// where something may be probable.
///
/// # Safety
/// The processor has the instructions of `F`.
#[inline(always)]
unsafe fn some_rows<F: Floats, const MANY: usize>(
    tile: &Tile<F>,
    weights: [&[Lane<f32>]; MANY],
    cells: &mut [Behind],
    carried: &mut [Carried<F>],
    kept: &[Lane<f32>],
    products: &mut [Lane<f32>],
    greatest: &mut F,
) {
    // SAFETY: the caller's.
    unsafe {
        match tile.may_be_probable {
            true => tile_rows::<F, MANY, true>(tile, weights, cells, carried, kept, products, greatest),
            false => tile_rows::<F, MANY, false>(tile, weights, cells, carried, kept, products, greatest),
        }
    }
}

/// Computes some rows of a tile from the row below them, and if `SHARE` is set their products with
/// forward values. Slices are by row, the topmost first.
///
/// # Safety
/// The processor has the instructions of `F`.
#[inline(always)]
unsafe fn tile_rows<F: Floats, const MANY: usize, const SHARE: bool>(
    tile: &Tile<F>,
    weights: [&[Lane<f32>]; MANY],
    cells: &mut [Behind],
    carried: &mut [Carried<F>],
    kept: &[Lane<f32>],
    products: &mut [Lane<f32>],
    greatest: &mut F,
) {
    let Gaps { open, extend } = tile.gaps;
    let mut beside: [Carried<F>; MANY] = std::array::from_fn(|row| carried[row]);
    for at in (0..BLOCK).rev() {
        let cell = &mut cells[at];
        let (mut below, mut below_gap) = (F::load(&cell.matched), F::load(&cell.gap));
        for row in (0..MANY).rev() {
            let Carried { right, gap } = &mut beside[row];
            let diagonal = F::load(&weights[row][at]).mul(*right);
            *right = below;
            below = diagonal.add(below_gap.add(*gap));
            if let Some(ends) = tile.ends {
                // Alignments that end in a lane's last column.
                below = below.add(F::load(&ends[at]).mul(tile.one));
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
    carried[..MANY].copy_from_slice(&beside);
}
