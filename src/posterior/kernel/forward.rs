//! Forward sums: of all ways to align what is above and to the left.

use std::ops::Range;

use super::{BLOCK, Gaps, Posteriors, ROWS, STEP, TILE, ZERO};
use crate::posterior::floats::{Floats, LANES, Lane};
use crate::posterior::scale::{self, Exponents, NO_EXPONENTS, NO_RATIOS, Total};

/// Forward values of a column. Gaps are without the weight of their first symbol.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(super) struct Ahead {
    /// All that may go on to a match.
    onward: Lane<f32>,
    matched: Lane<f32>,
    gap: Lane<f32>,
}

/// Row 0: an alignment begins anywhere in it.
const BEGUN: Ahead = Ahead { onward: Lane::splat(1.0), matched: ZERO, gap: ZERO };

/// Of the column to the left: what goes on to a match from the row above, the match, the gap.
#[derive(Clone, Copy)]
struct Carried<F> {
    onward: F,
    left: F,
    gap: F,
}

impl Posteriors<'_> {
    /// Row 0.
    pub(super) fn start_ahead(&mut self) {
        let columns = self.columns();
        self.scratch.ahead.clear();
        self.scratch.ahead.resize(columns, BEGUN);
        self.scratch.exponents.clear();
        self.scratch.exponents.resize(columns / BLOCK, NO_EXPONENTS);
    }

    /// Rows `range.start` + 1 to `range.end`, from the row before them.
    #[inline(always)]
    pub(super) unsafe fn forward<F: Floats>(
        &mut self,
        range: Range<usize>,
        keep: bool,
        mut totals: Option<&mut [Total; LANES]>,
    ) {
        let blocks = self.columns() / BLOCK;
        if keep {
            let tiles = range.len().div_ceil(STEP) * blocks;
            let length = (tiles * TILE).max(self.scratch.kept.len());
            self.scratch.kept.resize(length, ZERO);
            self.scratch.kept_exponents.clear();
        }
        let gaps = Gaps::<F>::new(self.model);
        let mut own = [ZERO; TILE];
        for (step, start) in range.clone().step_by(STEP).enumerate() {
            let rows = start..(start + STEP).min(range.end);
            let zero = F::splat(0.0);
            let mut carried = [Carried { onward: zero, left: zero, gap: zero }; STEP];
            for block in 0..blocks {
                let scratch = &mut *self.scratch;
                let cells = &mut scratch.ahead[block * BLOCK..][..BLOCK];
                rescale::<F>(cells, &mut scratch.exponents[block]);
                let exponents = scratch.exponents[block];
                let ratio = match block {
                    0 => NO_RATIOS,
                    _ => scale::ratio(&scratch.exponents[block - 1], &exponents),
                };
                let ratio = F::load(&ratio);
                for Carried { onward, left, gap } in &mut carried {
                    (*onward, *left, *gap) = (onward.mul(ratio), left.mul(ratio), gap.mul(ratio));
                }
                // Alignments begin in column 0 as they do in row 0.
                let begin = (block == 0).then(|| Lane(exponents.0.map(|exponent| scale::power(-exponent))));
                let ends = totals.is_some() && self.group.has_end[block];
                let tile = if keep {
                    scratch.kept_exponents.push(exponents);
                    &mut scratch.kept[(step * blocks + block) * TILE..][..TILE]
                } else {
                    &mut own[..]
                };
                let mut at = 0;
                while at < rows.len() {
                    let codes = &self.rows[rows.start + at..rows.end];
                    let many = if codes.len() >= ROWS { ROWS } else { 1 };
                    let weights = |row: usize| &self.group.weights(codes[row])[block * BLOCK..][..BLOCK];
                    let (carried, tile) = (&mut carried[at..], &mut tile[at * BLOCK..]);
                    let begin = begin.as_ref();
                    match (many == ROWS, keep || ends) {
                        (true, true) => {
                            tile_rows::<F, ROWS, true>(
                                &gaps,
                                std::array::from_fn(weights),
                                cells,
                                carried,
                                begin,
                                tile,
                            );
                        }
                        (true, false) => {
                            tile_rows::<F, ROWS, false>(
                                &gaps,
                                std::array::from_fn(weights),
                                cells,
                                carried,
                                begin,
                                tile,
                            );
                        }
                        (false, _) => tile_rows::<F, 1, true>(&gaps, [weights(0)], cells, carried, begin, tile),
                    }
                    at += many;
                }
                if let Some(totals) = totals.as_deref_mut().filter(|_| ends) {
                    // The last row is all added later.
                    let rows = rows.len() - usize::from(rows.end == self.rows.len());
                    for lane in self.lanes.clone().filter(|&lane| self.group.lengths[lane] / BLOCK == block) {
                        for row in 0..rows {
                            let value = tile[row * BLOCK + self.group.lengths[lane] % BLOCK].0[lane];
                            totals[lane].add(value, exponents.0[lane]);
                        }
                    }
                }
            }
        }
    }

    /// Adds what ends in the last row.
    pub(super) fn finish_totals(&self, totals: &mut [Total; LANES]) {
        for lane in self.lanes.clone().filter(|&lane| self.group.lengths[lane] > 0) {
            for (column, cell) in self.scratch.ahead[..=self.group.lengths[lane]].iter().enumerate() {
                totals[lane].add(cell.matched.0[lane], self.scratch.exponents[column / BLOCK].0[lane]);
            }
        }
    }
}

#[inline(always)]
unsafe fn rescale<F: Floats>(cells: &mut [Ahead], exponents: &mut Exponents) {
    let mut greatest = F::splat(0.0);
    for cell in &*cells {
        greatest = greatest.max(F::load(&cell.onward));
    }
    let mut lanes = ZERO;
    greatest.store(&mut lanes);
    let factors = scale::shifts(&lanes, exponents);
    let factors = F::load(&factors);
    for cell in cells {
        for value in [&mut cell.onward, &mut cell.matched, &mut cell.gap] {
            F::load(value).mul(factors).store(value);
        }
    }
}

/// Some rows of a tile. `begin` goes on to a match from column 0, if that is the tile's first.
#[inline(always)]
unsafe fn tile_rows<F: Floats, const MANY: usize, const KEEP: bool>(
    gaps: &Gaps<F>,
    weights: [&[Lane<f32>]; MANY],
    cells: &mut [Ahead],
    carried: &mut [Carried<F>],
    begin: Option<&Lane<f32>>,
    kept: &mut [Lane<f32>],
) {
    let Gaps { open, extend } = *gaps;
    let mut beside: [Carried<F>; MANY] = std::array::from_fn(|row| carried[row]);
    for at in 0..BLOCK {
        let cell = &mut cells[at];
        let mut above_onward = F::load(&cell.onward);
        let (mut above, mut above_gap) = (F::load(&cell.matched), F::load(&cell.gap));
        for row in 0..MANY {
            let Carried { onward, left, gap } = &mut beside[row];
            let matched = F::load(&weights[row][at]).mul(*onward);
            *onward = above_onward;
            let down = above.add(extend.mul(above_gap));
            *gap = left.add(extend.mul(*gap));
            *left = matched;
            above_onward = match begin {
                Some(begin) if at == 0 => F::load(begin),
                _ => matched.add(open.mul(down.add(*gap))),
            };
            (above, above_gap) = (matched, down);
            if KEEP {
                matched.store(&mut kept[row * BLOCK + at]);
            }
        }
        above_onward.store(&mut cell.onward);
        above.store(&mut cell.matched);
        above_gap.store(&mut cell.gap);
    }
    carried[..MANY].copy_from_slice(&beside);
}
