//! Forward sums over all alignments of the prefixes above and to the left of a cell.

use std::ops::Range;

use super::{
    BLOCK, PANEL_BLOCKS, PANEL_ROWS, PANEL_STEPS, PANEL_TILES, PartitionGaps, PosteriorLanes, Posteriors, ROWS, STEP,
    TILE, ZERO,
};
use crate::posterior::floats::{Floats, LANES, LaneArray};
use crate::posterior::scale::{self, Exponents, LaneTotal, NO_EXPONENTS};
use crate::seq::Code;
use crate::simd::array_of;

/// Forward values of a column in the current row. Gaps exclude the weight of their first symbol.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(super) struct ForwardCell {
    /// Sum of all values that a match may follow.
    onward: LaneArray<f32>,
    matched: LaneArray<f32>,
    gap: LaneArray<f32>,
}

/// The first cell of row 0, where an alignment starts without a gap.
const START_CELL: ForwardCell = ForwardCell { onward: LaneArray::splat(1.0), matched: ZERO, gap: ZERO };

/// Values of the column to the left: `onward` of the row above, then the match and the gap of this
/// row.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
struct ForwardCarry<V> {
    onward: V,
    left: V,
    gap: V,
}

/// Border to the left of a panel.
#[derive(Debug, Clone)]
#[repr(C)]
pub(super) struct LeftBorder {
    cells: [ForwardCarry<LaneArray<f32>>; PANEL_ROWS],
    /// Exponents of the cells, by rows of tiles.
    exponents: [Exponents; PANEL_STEPS],
}

impl Default for LeftBorder {
    fn default() -> Self {
        let nothing = ForwardCarry { onward: ZERO, left: ZERO, gap: ZERO };
        LeftBorder { cells: [nothing; PANEL_ROWS], exponents: [NO_EXPONENTS; PANEL_STEPS] }
    }
}

/// Borders of the panels of some rows. Panels are in row-major order.
#[derive(Debug, Default)]
pub(super) struct PanelBorders {
    /// Row above each row of panels, and its exponents.
    tops: Vec<ForwardCell>,
    top_exponents: Vec<Exponents>,
    /// Border to the left of each panel.
    lefts: Vec<LeftBorder>,
    /// Exponents of the tiles of each panel.
    tiles: Vec<Exponents>,
}

impl PanelBorders {
    fn clear(&mut self) {
        self.tops.clear();
        self.top_exponents.clear();
        self.lefts.clear();
        self.tiles.clear();
    }
}

/// A panel, truncated at the end of the matrix.
struct ForwardPanel<'a> {
    group: &'a PosteriorLanes,
    codes: &'a [Code],
    rows: Range<usize>,
    blocks: Range<usize>,
}

/// Position of a panel.
pub(super) struct PanelIndex {
    /// Index among the panels of the part, in row-major order.
    pub(super) index: usize,
    pub(super) rows: Range<usize>,
    pub(super) blocks: Range<usize>,
}

/// Optional outputs of a panel's forward pass.
#[derive(Default)]
struct PanelOutputs<'a> {
    /// Values of matches, tile by tile.
    values: Option<&'a mut [LaneArray<f32>]>,
    /// Exponents of tiles.
    exponents: Option<&'a mut [Exponents]>,
    /// Sums of the alignments that end in the last column of a lane, and the lanes to add.
    totals: Option<(&'a mut [LaneTotal; LANES], &'a Range<usize>)>,
}

impl Posteriors<'_> {
    /// Initializes row 0.
    pub(super) fn start_forward(&mut self) {
        let columns = self.columns();
        self.scratch.forward_row.clear();
        // An alignment may start in any other column too, after a gap.
        let after_gap = ForwardCell { onward: LaneArray::splat(self.model.end_gap), ..START_CELL };
        self.scratch.forward_row.resize(columns, after_gap);
        self.scratch.forward_row[0] = START_CELL;
        self.scratch.exponents.clear();
        self.scratch.exponents.resize(columns / BLOCK, NO_EXPONENTS);
    }

    /// Computes rows `range.start` + 1 to `range.end` from the row before them. Adds alignments
    /// that end in the last column of a lane to `totals`.
    ///
    /// # Safety
    /// The processor must have the instructions of `F`.
    #[inline(always)]
    pub(super) unsafe fn forward<F: Floats>(
        &mut self,
        range: Range<usize>,
        keep_borders: bool,
        mut totals: Option<&mut [LaneTotal; LANES]>,
    ) {
        let gaps = PartitionGaps::<F>::new(self.model);
        let Posteriors { group, rows: codes, ref lanes, ref mut scratch, .. } = *self;
        let borders = &mut scratch.borders;
        borders.clear();
        let blocks = scratch.exponents.len();
        for start in range.clone().step_by(PANEL_ROWS) {
            let rows = start..(start + PANEL_ROWS).min(range.end);
            if keep_borders {
                borders.tops.extend_from_slice(&scratch.forward_row);
                borders.top_exponents.extend_from_slice(&scratch.exponents);
            }
            scratch.left = LeftBorder::default();
            for first in (0..blocks).step_by(PANEL_BLOCKS) {
                let mut outputs = PanelOutputs {
                    totals: totals.as_deref_mut().map(|totals| (totals, lanes)),
                    ..PanelOutputs::default()
                };
                if keep_borders {
                    borders.lefts.push(scratch.left.clone());
                    let tiles = borders.tiles.len();
                    borders.tiles.resize(tiles + PANEL_TILES, NO_EXPONENTS);
                    outputs.exponents = Some(&mut borders.tiles[tiles..]);
                }
                let panel = ForwardPanel {
                    group,
                    codes,
                    rows: rows.clone(),
                    blocks: first..(first + PANEL_BLOCKS).min(blocks),
                };
                let cells = &mut scratch.forward_row[panel.blocks.start * BLOCK..panel.blocks.end * BLOCK];
                let exponents = &mut scratch.exponents[panel.blocks.clone()];
                panel.forward::<F>(&gaps, cells, exponents, &mut scratch.left, outputs);
            }
        }
    }

    /// Recomputes the forward values of a panel from the stored borders. This overwrites the
    /// borders, so each panel can be recomputed only once.
    ///
    /// # Safety
    /// The processor must have the instructions of `F`.
    #[inline(always)]
    pub(super) unsafe fn keep_panel<F: Floats>(&mut self, at: &PanelIndex) {
        let gaps = PartitionGaps::<F>::new(self.model);
        let Posteriors { group, rows: codes, ref mut scratch, .. } = *self;
        let borders = &mut scratch.borders;
        let blocks = scratch.exponents.len();
        let first = at.index / blocks.div_ceil(PANEL_BLOCKS) * blocks + at.blocks.start;
        let cells = &mut borders.tops[first * BLOCK..][..at.blocks.len() * BLOCK];
        let exponents = &mut borders.top_exponents[first..][..at.blocks.len()];
        scratch.kept.resize(PANEL_TILES * TILE, ZERO);
        let outputs = PanelOutputs { values: Some(&mut scratch.kept), ..PanelOutputs::default() };
        let panel = ForwardPanel { group, codes, rows: at.rows.clone(), blocks: at.blocks.clone() };
        panel.forward::<F>(&gaps, cells, exponents, &mut borders.lefts[at.index], outputs);
    }

    /// Returns the forward exponents of a panel's tiles.
    pub(super) fn tile_exponents(&self, at: &PanelIndex) -> [Exponents; PANEL_TILES] {
        *self.scratch.borders.tiles[at.index * PANEL_TILES..]
            .first_chunk()
            .expect("all tiles of a panel have exponents")
    }

    /// Adds the alignments that end in the last row.
    pub(super) fn finish_totals(&self, totals: &mut [LaneTotal; LANES]) {
        for lane in self.lanes.clone().filter(|&lane| self.group.lengths[lane] > 0) {
            let length = self.group.lengths[lane];
            for (column, cell) in self.scratch.forward_row[..=length].iter().enumerate() {
                let end = if column == length { 1.0 } else { self.model.end_gap };
                totals[lane].add(cell.matched.0[lane] * end, self.scratch.exponents[column / BLOCK].0[lane]);
            }
        }
    }
}

impl ForwardPanel<'_> {
    /// Computes the panel from the row above it and the column to its left. On return, these
    /// buffers contain the last row and the last column of the panel.
    ///
    /// # Safety
    /// The processor must have the instructions of `F`.
    #[inline(always)]
    unsafe fn forward<F: Floats>(
        &self,
        gaps: &PartitionGaps<F>,
        cells: &mut [ForwardCell],
        exponents: &mut [Exponents],
        left: &mut LeftBorder,
        mut outputs: PanelOutputs,
    ) {
        let mut unkept = [ZERO; TILE];
        for (step, start) in self.rows.clone().step_by(STEP).enumerate() {
            let rows = start..(start + STEP).min(self.rows.end);
            let border = &mut left.cells[step * STEP..][..STEP];
            let mut carried: [ForwardCarry<F>; STEP] = array_of(|row| border[row].load());
            let mut left_exponents = left.exponents[step];
            for (at, block) in self.blocks.clone().enumerate() {
                let cells = &mut cells[at * BLOCK..][..BLOCK];
                rescale::<F>(cells, &mut exponents[at]);
                let exponents = exponents[at];
                let ratio = scale::ratio(&left_exponents, &exponents);
                left_exponents = exponents;
                let ratio = F::load(&ratio);
                for ForwardCarry { onward, left, gap } in &mut carried {
                    (*onward, *left, *gap) = (onward.mul(ratio), left.mul(ratio), gap.mul(ratio));
                }
                // An alignment may start in column 0 of any row.
                let begin = (block == 0).then(|| gaps.end_values(&exponents));
                let ends = outputs.totals.is_some() && self.group.has_end[block];
                let keep = outputs.values.is_some() || ends;
                let tile = step * PANEL_BLOCKS + at;
                if let Some(tiles) = &mut outputs.exponents {
                    tiles[tile] = exponents;
                }
                let tile = match &mut outputs.values {
                    Some(values) => &mut values[tile * TILE..][..TILE],
                    None => &mut unkept[..],
                };
                let codes = &self.codes[rows.clone()];
                let part = ForwardTile { group: self.group, codes, block, begin, keep };
                part.forward(gaps, cells, &mut carried, tile);
                if let Some((totals, lanes)) = outputs.totals.as_mut().filter(|_| ends) {
                    // `finish_totals` adds the last row.
                    let rows = rows.len() - usize::from(rows.end == self.codes.len());
                    for lane in (*lanes).clone().filter(|&lane| self.group.lengths[lane] / BLOCK == block) {
                        for row in 0..rows {
                            let value = tile[row * BLOCK + self.group.lengths[lane] % BLOCK].0[lane];
                            totals[lane].add(value * gaps.end, exponents.0[lane]);
                        }
                    }
                }
            }
            left.exponents[step] = left_exponents;
            for (border, carried) in border.iter_mut().zip(&carried) {
                carried.store(border);
            }
        }
    }
}

/// Some rows of a block.
struct ForwardTile<'a> {
    group: &'a PosteriorLanes,
    /// Symbols of the rows.
    codes: &'a [Code],
    block: usize,
    /// Value that a match may follow in column 0, if the block contains column 0.
    begin: Option<LaneArray<f32>>,
    /// Whether to store the values of matches.
    keep: bool,
}

impl ForwardTile<'_> {
    /// Computes the rows of the tile.
    ///
    /// # Safety
    /// The processor must have the instructions of `F`.
    #[inline(always)]
    unsafe fn forward<F: Floats>(
        &self,
        gaps: &PartitionGaps<F>,
        cells: &mut [ForwardCell],
        carried: &mut [ForwardCarry<F>],
        values: &mut [LaneArray<f32>],
    ) {
        let begin = self.begin.as_ref();
        let mut at = 0;
        while at < self.codes.len() {
            let codes = &self.codes[at..];
            let many = if codes.len() >= ROWS { ROWS } else { 1 };
            let weights = |row: usize| &self.group.weights(codes[row])[self.block * BLOCK..][..BLOCK];
            let (carried, values) = (&mut carried[at..], &mut values[at * BLOCK..]);
            if many == 1 {
                tile_rows::<F, 1, true>(gaps, [weights(0)], cells, carried, begin, values);
            } else if self.keep {
                tile_rows::<F, ROWS, true>(gaps, array_of(weights), cells, carried, begin, values);
            } else {
                tile_rows::<F, ROWS, false>(gaps, array_of(weights), cells, carried, begin, values);
            }
            at += many;
        }
    }
}

impl ForwardCarry<LaneArray<f32>> {
    /// Loads the values into registers.
    ///
    /// # Safety
    /// The processor must have the instructions of `F`.
    #[inline(always)]
    unsafe fn load<F: Floats>(&self) -> ForwardCarry<F> {
        ForwardCarry { onward: F::load(&self.onward), left: F::load(&self.left), gap: F::load(&self.gap) }
    }
}

impl<F: Floats> ForwardCarry<F> {
    /// Stores the values to memory.
    ///
    /// # Safety
    /// The processor must have the instructions of `F`.
    #[inline(always)]
    unsafe fn store(&self, to: &mut ForwardCarry<LaneArray<f32>>) {
        self.onward.store(&mut to.onward);
        self.left.store(&mut to.left);
        self.gap.store(&mut to.gap);
    }
}

/// Rescales a block's values so that the greatest `onward` of every lane is between 1 and 2, and
/// adjusts `exponents`.
///
/// # Safety
/// The processor must have the instructions of `F`.
#[inline(always)]
unsafe fn rescale<F: Floats>(cells: &mut [ForwardCell], exponents: &mut Exponents) {
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

/// Computes some rows of a tile. `begin` is the value that a match may follow in column 0, if the
/// tile contains column 0.
///
/// # Safety
/// The processor must have the instructions of `F`.
#[inline(always)]
unsafe fn tile_rows<F: Floats, const MANY: usize, const KEEP: bool>(
    gaps: &PartitionGaps<F>,
    weights: [&[LaneArray<f32>]; MANY],
    cells: &mut [ForwardCell],
    carried: &mut [ForwardCarry<F>],
    begin: Option<&LaneArray<f32>>,
    kept: &mut [LaneArray<f32>],
) {
    let PartitionGaps { open, extend, .. } = *gaps;
    let mut row_carries: [ForwardCarry<F>; MANY] = array_of(|row| carried[row]);
    for at in 0..BLOCK {
        let cell = &mut cells[at];
        let mut above_onward = F::load(&cell.onward);
        let (mut above, mut above_gap) = (F::load(&cell.matched), F::load(&cell.gap));
        for row in 0..MANY {
            let ForwardCarry { onward, left, gap } = &mut row_carries[row];
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
    carried[..MANY].copy_from_slice(&row_carries);
}
