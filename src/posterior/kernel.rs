//! Probabilities that residues of two sequences belong together, of sixteen pairs at once: one sequence against a group.
//!
//! Forward and backward sums of both models go over the same cells. Forward values of matches are kept, as many rows as
//! memory allows; rows before those are computed again from a copy of the row before them. Values are scaled block by
//! block ([`super::scale`]), so that no length and no detour of the best path makes them vanish.
#![allow(
    unsafe_op_in_unsafe_fn,
    reason = "all that is unsafe is what floats ask for, and every function asks for the same"
)]

use super::floats::{FloatKernel, Floats, LANES, Lane};
use super::model::Model;
use super::scale::{BLOCK, Exponents, Ratios, STEP, Total, ratio, shifts};
use crate::seq::Code;

/// The least probability that is kept.
pub(super) const CUTOFF: f32 = 0.01;

/// A group of sequences, one a lane, as columns.
#[derive(Debug)]
pub(super) struct Group {
    /// Columns with column 0, whole blocks.
    columns: usize,
    lengths: [usize; LANES],
    /// Of each code that is asked for and column: odds against the symbol there. One more column than there are.
    odds: Vec<Lane<f32>>,
    /// The same of weights of the partition function.
    weights: Vec<Lane<f32>>,
    /// 1 in each lane's last column.
    ends: Vec<Lane<f32>>,
    /// Whether a block has a last column.
    has_end: Vec<bool>,
    /// Where a code's columns begin.
    slots: Vec<usize>,
}

impl Group {
    /// Sequences of a group, to be compared with sequences of the codes in `wanted`.
    pub(super) fn new(model: &Model, sequences: &[&[Code]], wanted: &[bool]) -> Self {
        assert!(sequences.len() <= LANES, "a group of {}", sequences.len());
        let longest = sequences.iter().map(|sequence| sequence.len()).max().unwrap_or(0);
        let columns = (longest + 1).next_multiple_of(BLOCK);
        let stride = columns + 1;
        let (mut odds, mut weights) = (Vec::new(), Vec::new());
        let mut slots = vec![usize::MAX; model.codes()];
        for code in (0..model.codes()).filter(|&code| wanted[code]) {
            slots[code] = odds.len();
            let (first, more) = (odds.len(), stride);
            odds.resize(first + more, Lane::splat(0.0));
            weights.resize(first + more, Lane::splat(0.0));
            for (lane, sequence) in sequences.iter().enumerate() {
                for (column, &other) in (1..).zip(*sequence) {
                    odds[first + column].0[lane] = model.odds(code as Code, other);
                    weights[first + column].0[lane] = model.weight(code as Code, other);
                }
            }
        }
        let mut lengths = [0; LANES];
        let mut ends = vec![Lane::splat(0.0); columns];
        let mut has_end = vec![false; columns / BLOCK];
        for (lane, sequence) in sequences.iter().enumerate().filter(|(_, sequence)| !sequence.is_empty()) {
            lengths[lane] = sequence.len();
            ends[sequence.len()].0[lane] = 1.0;
            has_end[sequence.len() / BLOCK] = true;
        }
        Group { columns, lengths, odds, weights, ends, has_end, slots }
    }

    fn of<'a>(&self, all: &'a [Lane<f32>], code: Code) -> &'a [Lane<f32>] {
        &all[self.slots[usize::from(code)]..][..self.columns + 1]
    }
}

/// Forward values of a column. Gaps are without the weight of their first symbol.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
struct Ahead {
    /// All that may go on to a match.
    onward: Lane<f32>,
    matched: Lane<f32>,
    gaps: [Lane<f32>; 2],
    /// The same of the partition function.
    wide_onward: Lane<f32>,
    wide_matched: Lane<f32>,
    wide_gap: Lane<f32>,
}

/// Backward values of a column. Gaps are with the weight of their first symbol.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
struct Behind {
    matched: Lane<f32>,
    gaps: [Lane<f32>; 2],
    wide_matched: Lane<f32>,
    wide_gap: Lane<f32>,
}

const ZERO: Lane<f32> = Lane::splat(0.0);
const NOTHING_AHEAD: Ahead =
    Ahead { onward: ZERO, matched: ZERO, gaps: [ZERO; 2], wide_onward: ZERO, wide_matched: ZERO, wide_gap: ZERO };
const NOTHING_BEHIND: Behind = Behind { matched: ZERO, gaps: [ZERO; 2], wide_matched: ZERO, wide_gap: ZERO };
const NO_EXPONENTS: Exponents = [Lane::splat(0); 2];
const NO_RATIOS: Ratios = [Lane::splat(1.0); 2];

/// A pair of residues that belong together, from the second sequence's end to its beginning: row, column (from 0) and
/// probability.
pub(super) type Found = (u32, u32, f32);

/// What a thread computes in; kept from one call to the next.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    ahead: Vec<Ahead>,
    exponents: Vec<Exponents>,
    ratios: Vec<Ratios>,
    /// Forward values of matches, of the rows of a segment.
    kept: Vec<[Lane<f32>; 2]>,
    /// Exponents of those, a step of rows after the other.
    kept_exponents: Vec<Exponents>,
    /// The row before each segment, and its exponents.
    copies: Vec<Ahead>,
    copied_exponents: Vec<Exponents>,
    behind: Vec<Behind>,
    behind_exponents: Vec<Exponents>,
    shares: Vec<Ratios>,
    squares: Vec<Lane<f32>>,
}

/// Computes the pairs of one sequence and a group's.
pub(super) struct Posteriors<'a> {
    /// Both models.
    pub model: &'a Model,
    /// The columns.
    pub group: &'a Group,
    /// The rows.
    pub rows: &'a [Code],
    /// Lanes that are wanted.
    pub lanes: std::ops::Range<usize>,
    /// Bytes of forward values that may be kept.
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
        let row_bytes = self.columns() * size_of::<[Lane<f32>; 2]>();
        let segment = ((self.memory / row_bytes).min(rows) / STEP).max(1) * STEP;
        let segments = rows.div_ceil(segment);
        self.scratch.copies.clear();
        self.scratch.copied_exponents.clear();
        self.start_ahead();
        let mut totals = [[Total::default(); LANES]; 2];
        for index in 0..segments {
            let last = ((index + 1) * segment).min(rows);
            if index + 1 < segments {
                let scratch = &mut *self.scratch;
                scratch.copies.extend_from_slice(&scratch.ahead);
                scratch.copied_exponents.extend_from_slice(&scratch.exponents);
            }
            self.forward::<F>(index * segment..last, index + 1 == segments, Some(&mut totals[1]));
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

    /// Row 0: an alignment begins anywhere in it.
    fn start_ahead(&mut self) {
        let (chain, columns) = (self.model.chain, self.columns());
        let blocks = columns / BLOCK;
        let scratch = &mut *self.scratch;
        scratch.ahead.clear();
        scratch.ahead.resize(columns, NOTHING_AHEAD);
        scratch.exponents.clear();
        scratch.exponents.resize(blocks, NO_EXPONENTS);
        scratch.ratios.clear();
        scratch.ratios.resize(blocks, NO_RATIOS);
        // A gap that begins an alignment is one that was opened before, at no cost.
        let begun = |kind: usize| chain.start_gap[kind] / chain.open[kind];
        let mut gaps = [begun(0), begun(1)];
        let mut exponent = 0;
        for (column, cell) in scratch.ahead.iter_mut().enumerate() {
            if column % BLOCK == 0 && column > 0 {
                let shift = (gaps[1].to_bits() >> 23) as i32 - 127;
                gaps = gaps.map(|gap| gap * super::scale::power(-shift));
                exponent += shift;
            }
            scratch.exponents[column / BLOCK][0] = Lane::splat(exponent);
            cell.wide_onward = Lane::splat(1.0);
            if column == 0 {
                cell.onward = Lane::splat(chain.start);
                cell.gaps = std::array::from_fn(|kind| Lane::splat(begun(kind) / chain.extend[kind]));
            } else {
                cell.onward = Lane::splat(chain.round_trip(0) * gaps[0] + chain.round_trip(1) * gaps[1]);
                gaps = [gaps[0] * chain.extend[0], gaps[1] * chain.extend[1]];
            }
        }
    }

    /// Rows `range.start` + 1 to `range.end`, from the row before them.
    #[inline(always)]
    unsafe fn forward<F: Floats>(
        &mut self,
        range: std::ops::Range<usize>,
        keep: bool,
        mut totals: Option<&mut [Total; LANES]>,
    ) {
        let (group, model) = (self.group, self.model);
        let columns = self.columns();
        let scratch = &mut *self.scratch;
        if keep {
            scratch.kept.resize((range.len() * columns).max(scratch.kept.len()), [ZERO; 2]);
            scratch.kept_exponents.clear();
        }
        let first = range.start;
        for row in range {
            if (row - first).is_multiple_of(STEP) {
                rescale_ahead::<F>(&mut scratch.ahead, &mut scratch.exponents, &mut scratch.ratios);
                if keep {
                    scratch.kept_exponents.extend_from_slice(&scratch.exponents);
                }
            }
            let code = self.rows[row];
            let kept = if keep { &mut scratch.kept[(row - first) * columns..][..columns] } else { &mut [] };
            if keep {
                forward_row::<F, true>(group, model, code, &mut scratch.ahead, &scratch.ratios, kept);
            } else {
                forward_row::<F, false>(group, model, code, &mut scratch.ahead, &scratch.ratios, kept);
            }
            for lane in 0..LANES {
                // Alignments begin in column 0 as they do in row 0.
                scratch.ahead[0].wide_onward.0[lane] = super::scale::power(-scratch.exponents[0][1].0[lane]);
            }
            if let Some(totals) = totals.as_deref_mut().filter(|_| row + 1 < self.rows.len()) {
                for lane in self.lanes.clone() {
                    let end = group.lengths[lane];
                    totals[lane]
                        .add(scratch.ahead[end].wide_matched.0[lane], scratch.exponents[end / BLOCK][1].0[lane]);
                }
            }
        }
    }

    /// Adds what ends in the last row.
    fn finish_totals(&mut self, totals: &mut [[Total; LANES]; 2]) {
        let chain = self.model.chain;
        let scratch = &*self.scratch;
        for lane in self.lanes.clone().filter(|&lane| self.group.lengths[lane] > 0) {
            let end = self.group.lengths[lane];
            let (mut left, mut gaps) = (0.0, [0.0; 2]);
            for (column, cell) in scratch.ahead[..=end].iter().enumerate() {
                let exponents = &scratch.exponents[column / BLOCK];
                totals[1][lane].add(cell.wide_matched.0[lane], exponents[1].0[lane]);
                if column % BLOCK == 0 {
                    let step = scratch.ratios[column / BLOCK][0].0[lane];
                    left *= step;
                    gaps = gaps.map(|gap| gap * step);
                }
                gaps = std::array::from_fn(|kind| left + chain.extend[kind] * gaps[kind]);
                left = cell.matched.0[lane];
            }
            let last = &scratch.ahead[end];
            let exponent = scratch.exponents[end / BLOCK][0].0[lane];
            totals[0][lane].add(chain.start * last.matched.0[lane], exponent);
            for (kind, gap) in gaps.into_iter().enumerate() {
                let weight = chain.start_gap[kind] * chain.open[kind];
                totals[0][lane].add(weight * (last.gaps[kind].0[lane] + gap), exponent);
            }
        }
    }

    /// The last row: an alignment ends anywhere in it.
    fn start_behind(&mut self) {
        let (chain, columns) = (self.model.chain, self.columns());
        let scratch = &mut *self.scratch;
        scratch.behind.clear();
        scratch.behind.resize(columns, NOTHING_BEHIND);
        scratch.behind_exponents.clear();
        scratch.behind_exponents.resize(columns / BLOCK, NO_EXPONENTS);
        scratch.shares.resize(columns / BLOCK, NO_RATIOS);
        scratch.squares.resize(columns, ZERO);
        for lane in self.lanes.clone().filter(|&lane| self.group.lengths[lane] > 0) {
            let end = self.group.lengths[lane];
            let mut gaps: [f32; 2] = std::array::from_fn(|kind| chain.open[kind] * chain.start_gap[kind]);
            let mut exponent = 0;
            for column in (0..=end).rev() {
                let cell = &mut scratch.behind[column];
                if column % BLOCK == BLOCK - 1 && column < end {
                    let shift = (gaps[1].to_bits() >> 23) as i32 - 127;
                    gaps = gaps.map(|gap| gap * super::scale::power(-shift));
                    exponent += shift;
                }
                scratch.behind_exponents[column / BLOCK][0].0[lane] = exponent;
                cell.wide_matched.0[lane] = 1.0;
                if column == end {
                    cell.matched.0[lane] = chain.start;
                    cell.gaps[0].0[lane] = gaps[0];
                    cell.gaps[1].0[lane] = gaps[1];
                } else {
                    cell.matched.0[lane] = gaps[0] + gaps[1];
                    gaps = [gaps[0] * chain.extend[0], gaps[1] * chain.extend[1]];
                }
            }
        }
    }

    /// Backward values of rows `range.end` to `range.start` + 1, and with them probabilities.
    #[inline(always)]
    unsafe fn backward<F: Floats>(
        &mut self,
        range: std::ops::Range<usize>,
        totals: &[[Total; LANES]; 2],
        found: &mut [Vec<Found>],
    ) {
        let (group, model) = (self.group, self.model);
        let columns = self.columns();
        let blocks = columns / BLOCK;
        let scratch = &mut *self.scratch;
        let first = range.start;
        let mut step = usize::MAX;
        for row in range.rev() {
            if (row - first) / STEP != step {
                step = (row - first) / STEP;
                rescale_behind::<F>(&mut scratch.behind, &mut scratch.behind_exponents);
                let kept = &scratch.kept_exponents[step * blocks..][..blocks];
                for ((share, ahead), behind) in scratch.shares.iter_mut().zip(kept).zip(&scratch.behind_exponents) {
                    for (model, share) in share.iter_mut().enumerate() {
                        for (lane, total) in totals[model].iter().enumerate() {
                            let exponent = ahead[model].0[lane] + behind[model].0[lane];
                            share.0[lane] = if self.lanes.contains(&lane) { total.share(exponent) } else { 0.0 };
                        }
                    }
                }
                // From here on a block's ratio is to the block after it.
                scratch.ratios.clear();
                for block in 0..blocks {
                    let after = scratch.behind_exponents.get(block + 1).unwrap_or(&NO_EXPONENTS);
                    scratch.ratios.push(ratio(after, &scratch.behind_exponents[block]));
                }
            }
            // The last row is there from the start.
            let below = (row + 1 < self.rows.len()).then(|| self.rows[row + 1]);
            let kept = &scratch.kept[(row - first) * columns..][..columns];
            let mut before = [ZERO; 2];
            let mut carried = [ZERO; 3];
            for block in (0..blocks).rev() {
                let span = block * BLOCK..(block + 1) * BLOCK;
                let cells = &mut scratch.behind[span.clone()];
                if let Some(code) = below {
                    let odds = &group.of(&group.odds, code)[span.start + 1..span.end + 1];
                    let weights = &group.of(&group.weights, code)[span.start + 1..span.end + 1];
                    let ends = group.has_end[block].then_some(&group.ends[span.clone()]);
                    backward_block::<F>(model, odds, weights, cells, &scratch.ratios[block], &mut before, &mut carried);
                    if let Some(ends) = ends {
                        add_ends::<F>(cells, ends, &scratch.behind_exponents[block][1]);
                    }
                }
                let squares = &mut scratch.squares[span.clone()];
                let best = probabilities::<F>(cells, &kept[span.clone()], &scratch.shares[block], squares);
                if best.0.iter().any(|&best| best >= 2.0 * CUTOFF * CUTOFF) {
                    collect(row, span.start, squares, found);
                }
            }
        }
    }
}

/// Puts what is probable enough to the lanes' lists, the last column first.
fn collect(row: usize, first: usize, squares: &[Lane<f32>], found: &mut [Vec<Found>]) {
    for (column, square) in squares.iter().enumerate().rev() {
        for (lane, &square) in square.0.iter().enumerate() {
            if square >= 2.0 * CUTOFF * CUTOFF && first + column > 0 {
                let probability = (square / 2.0).sqrt().min(1.0);
                found[lane].push((row as u32, (first + column - 1) as u32, probability));
            }
        }
    }
}

#[inline(always)]
unsafe fn rescale_ahead<F: Floats>(ahead: &mut [Ahead], exponents: &mut [Exponents], ratios: &mut [Ratios]) {
    for (block, cells) in ahead.chunks_exact_mut(BLOCK).enumerate() {
        let (mut narrow, mut wide) = (F::splat(0.0), F::splat(0.0));
        for cell in &*cells {
            narrow = narrow.max(F::load(&cell.onward));
            wide = wide.max(F::load(&cell.wide_onward));
        }
        let (narrow, wide) = shifts_of::<F>(narrow, wide, &mut exponents[block]);
        for cell in cells {
            for value in [&mut cell.onward, &mut cell.matched].into_iter().chain(&mut cell.gaps) {
                F::load(value).mul(narrow).store(value);
            }
            for value in [&mut cell.wide_onward, &mut cell.wide_matched, &mut cell.wide_gap] {
                F::load(value).mul(wide).store(value);
            }
        }
        ratios[block] = if block > 0 { ratio(&exponents[block - 1], &exponents[block]) } else { NO_RATIOS };
    }
}

#[inline(always)]
unsafe fn rescale_behind<F: Floats>(behind: &mut [Behind], exponents: &mut [Exponents]) {
    for (block, cells) in behind.chunks_exact_mut(BLOCK).enumerate() {
        let (mut narrow, mut wide) = (F::splat(0.0), F::splat(0.0));
        for cell in &*cells {
            narrow = narrow.max(F::load(&cell.matched));
            wide = wide.max(F::load(&cell.wide_matched));
        }
        let (narrow, wide) = shifts_of::<F>(narrow, wide, &mut exponents[block]);
        for cell in cells {
            for value in [&mut cell.matched].into_iter().chain(&mut cell.gaps) {
                F::load(value).mul(narrow).store(value);
            }
            for value in [&mut cell.wide_matched, &mut cell.wide_gap] {
                F::load(value).mul(wide).store(value);
            }
        }
    }
}

#[inline(always)]
unsafe fn shifts_of<F: Floats>(narrow: F, wide: F, exponents: &mut Exponents) -> (F, F) {
    let (mut narrow_lanes, mut wide_lanes) = (ZERO, ZERO);
    narrow.store(&mut narrow_lanes);
    wide.store(&mut wide_lanes);
    let narrow = shifts(&narrow_lanes, &mut exponents[0]);
    let wide = shifts(&wide_lanes, &mut exponents[1]);
    (F::load(&narrow), F::load(&wide))
}

/// The constants of both models in registers.
struct Constants<F> {
    stay: F,
    extend: [F; 2],
    round_trip: [F; 2],
    wide_open: F,
    wide_extend: F,
}

impl<F: Floats> Constants<F> {
    #[inline(always)]
    unsafe fn new(model: &Model) -> Self {
        let chain = &model.chain;
        Constants {
            stay: F::splat(chain.stay()),
            extend: [F::splat(chain.extend[0]), F::splat(chain.extend[1])],
            round_trip: [F::splat(chain.round_trip(0)), F::splat(chain.round_trip(1))],
            wide_open: F::splat(model.open),
            wide_extend: F::splat(model.extend),
        }
    }
}

#[inline(always)]
unsafe fn forward_row<F: Floats, const KEEP: bool>(
    group: &Group,
    model: &Model,
    code: Code,
    ahead: &mut [Ahead],
    ratios: &[Ratios],
    kept: &mut [[Lane<f32>; 2]],
) {
    let constants = Constants::<F>::new(model);
    let [short, long] = constants.extend;
    let [short_trip, long_trip] = constants.round_trip;
    let (odds, weights) = (group.of(&group.odds, code), group.of(&group.weights, code));
    let zero = F::splat(0.0);
    // Of the column to the left: what goes on to a match from the row above, the match, the gaps.
    let (mut onward, mut left, mut gap, mut long_gap) = (zero, zero, zero, zero);
    let (mut wide_onward, mut wide_left, mut wide_gap) = (zero, zero, zero);
    for (block, cells) in ahead.chunks_exact_mut(BLOCK).enumerate() {
        let span = block * BLOCK..(block + 1) * BLOCK;
        let [narrow, wide] = &ratios[block];
        let (narrow, wide) = (F::load(narrow), F::load(wide));
        (onward, left) = (onward.mul(narrow), left.mul(narrow));
        (gap, long_gap) = (gap.mul(narrow), long_gap.mul(narrow));
        (wide_onward, wide_left, wide_gap) = (wide_onward.mul(wide), wide_left.mul(wide), wide_gap.mul(wide));
        let kept = if KEEP { &mut kept[span.clone()] } else { &mut [] };
        for (at, (cell, (odds, weights))) in
            cells.iter_mut().zip(odds[span.clone()].iter().zip(&weights[span])).enumerate()
        {
            let matched = F::load(odds).mul(onward);
            onward = F::load(&cell.onward);
            let above = F::load(&cell.matched);
            let down = above.add(short.mul(F::load(&cell.gaps[0])));
            let long_down = above.add(long.mul(F::load(&cell.gaps[1])));
            gap = left.add(short.mul(gap));
            long_gap = left.add(long.mul(long_gap));
            left = matched;
            matched.store(&mut cell.matched);
            down.store(&mut cell.gaps[0]);
            long_down.store(&mut cell.gaps[1]);
            let gaps = short_trip.mul(down.add(gap)).add(long_trip.mul(long_down.add(long_gap)));
            constants.stay.mul(matched).add(gaps).store(&mut cell.onward);

            let wide_matched = F::load(weights).mul(wide_onward);
            wide_onward = F::load(&cell.wide_onward);
            let wide_down = F::load(&cell.wide_matched).add(constants.wide_extend.mul(F::load(&cell.wide_gap)));
            wide_gap = wide_left.add(constants.wide_extend.mul(wide_gap));
            wide_left = wide_matched;
            wide_matched.store(&mut cell.wide_matched);
            wide_down.store(&mut cell.wide_gap);
            wide_matched.add(constants.wide_open.mul(wide_down.add(wide_gap))).store(&mut cell.wide_onward);
            if KEEP {
                let [narrow, wide] = &mut kept[at];
                matched.store(narrow);
                wide_matched.store(wide);
            }
        }
    }
}

/// A block of a row from the row below it and the block after it. `before` are matches of the column to the right in the
/// row below, `carried` gaps to the right.
#[inline(always)]
unsafe fn backward_block<F: Floats>(
    model: &Model,
    odds: &[Lane<f32>],
    weights: &[Lane<f32>],
    cells: &mut [Behind],
    ratios: &Ratios,
    before: &mut [Lane<f32>; 2],
    carried: &mut [Lane<f32>; 3],
) {
    let constants = Constants::<F>::new(model);
    let [short, long] = constants.extend;
    let [short_trip, long_trip] = constants.round_trip;
    let (narrow, wide) = (F::load(&ratios[0]), F::load(&ratios[1]));
    let mut right = F::load(&before[0]).mul(narrow);
    let mut wide_right = F::load(&before[1]).mul(wide);
    let mut gap = F::load(&carried[0]).mul(narrow);
    let mut long_gap = F::load(&carried[1]).mul(narrow);
    let mut wide_gap = F::load(&carried[2]).mul(wide);
    for (cell, (odds, weights)) in cells.iter_mut().zip(odds.iter().zip(weights)).rev() {
        let diagonal = F::load(odds).mul(right);
        right = F::load(&cell.matched);
        let (down, long_down) = (F::load(&cell.gaps[0]), F::load(&cell.gaps[1]));
        constants.stay.mul(diagonal).add(down.add(gap).add(long_down.add(long_gap))).store(&mut cell.matched);
        let (opened, long_opened) = (short_trip.mul(diagonal), long_trip.mul(diagonal));
        short.mul(down).add(opened).store(&mut cell.gaps[0]);
        long.mul(long_down).add(long_opened).store(&mut cell.gaps[1]);
        gap = short.mul(gap).add(opened);
        long_gap = long.mul(long_gap).add(long_opened);

        let wide_diagonal = F::load(weights).mul(wide_right);
        wide_right = F::load(&cell.wide_matched);
        let wide_down = F::load(&cell.wide_gap);
        wide_diagonal.add(wide_down.add(wide_gap)).store(&mut cell.wide_matched);
        let wide_opened = constants.wide_open.mul(wide_diagonal);
        constants.wide_extend.mul(wide_down).add(wide_opened).store(&mut cell.wide_gap);
        wide_gap = constants.wide_extend.mul(wide_gap).add(wide_opened);
    }
    right.store(&mut before[0]);
    wide_right.store(&mut before[1]);
    gap.store(&mut carried[0]);
    long_gap.store(&mut carried[1]);
    wide_gap.store(&mut carried[2]);
}

/// Alignments that end in a lane's last column.
#[inline(always)]
unsafe fn add_ends<F: Floats>(cells: &mut [Behind], ends: &[Lane<f32>], exponents: &Lane<i32>) {
    let one = Lane(exponents.0.map(|exponent| super::scale::power(-exponent)));
    let one = F::load(&one);
    for (cell, end) in cells.iter_mut().zip(ends) {
        let value = &mut cell.wide_matched;
        F::load(value).add(F::load(end).mul(one)).store(value);
    }
}

/// The sums of the squares of both models' probabilities, and the greatest.
#[inline(always)]
unsafe fn probabilities<F: Floats>(
    cells: &[Behind],
    kept: &[[Lane<f32>; 2]],
    shares: &Ratios,
    squares: &mut [Lane<f32>],
) -> Lane<f32> {
    let mut best = ZERO;
    let (narrow, wide) = (F::load(&shares[0]), F::load(&shares[1]));
    let mut greatest = F::splat(0.0);
    for ((cell, kept), square) in cells.iter().zip(kept).zip(squares) {
        let narrow = F::load(&kept[0]).mul(F::load(&cell.matched)).mul(narrow);
        let wide = F::load(&kept[1]).mul(F::load(&cell.wide_matched)).mul(wide);
        let sum = narrow.mul(narrow).add(wide.mul(wide));
        greatest = greatest.max(sum);
        sum.store(square);
    }
    greatest.store(&mut best);
    best
}
