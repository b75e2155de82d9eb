//! One strip of the sweep: its lanes, its cells, and the row that it passes to the next strip.

use std::ops::Range;

use super::{AnchoredPair, Gains, STEPS_AT_ONCE};
use crate::score::difference::Element;
use crate::seq::{Code, PAD};
use crate::simd::{AlignedBuffer, Lanes, MAX_LANES, Skew};

/// The sweep of one strip.
pub(super) struct StripSweep<'s, 'a, W: Lanes> {
    pub at: &'s AnchoredPair<'a>,
    /// Number of the strip's first rows that have a possible end above them.
    pub end_rows: usize,
    /// Values of these ends.
    pub end_values: &'s [W::Elem; MAX_LANES],
    pub lowest: W::Elem,
    pub gain: W,
    pub goal: W,
    /// Value of cells that lead nowhere.
    pub floor: W,
    /// Range of all steps. The sweep may stop earlier.
    pub steps: Range<usize>,
    /// First step into which no values enter from above.
    pub quiet: usize,
    /// The row above. The sweep overwrites it with the last row of the strip.
    pub above: *mut W::Elem,
    pub gaps: *mut W::Elem,
}

impl<W: Lanes> StripSweep<'_, '_, W> {
    /// Computes the strip and stores its values in `cells` from index `used` on. Returns the step
    /// after the last one, and the greatest difference between a value and the lane's goal. Returns
    /// `None` if the number of stored values would exceed `max_values`.
    ///
    /// # Safety
    /// The processor has the instructions of `W`. `self.above` and, if `AFFINE`, `self.gaps` point
    /// to [`MAX_LANES`] elements, then one element for each column, then [`MAX_LANES`] more. All of
    /// these may be written. `skew` is set to a strip of these columns.
    #[inline(always)]
    pub(super) unsafe fn run<const AFFINE: bool>(
        self,
        skew: &mut Skew<W>,
        cells: &mut AlignedBuffer<W::Elem>,
        used: &mut usize,
        max_values: usize,
    ) -> Option<(usize, W)> {
        let StripSweep { at, end_rows, end_values, lowest, gain, goal, floor, steps, quiet, above, gaps } = self;
        let (arrays, count) = (if AFFINE { 3 } else { 1 }, W::COUNT);
        // SAFETY: the caller guarantees the preconditions, and `cells` grows to the size of each
        // group of steps.
        unsafe {
            let costs = at.scoring.gaps;
            let (first, next) =
                (W::splat(W::Elem::from_number(costs.first.into())), W::splat(W::Elem::from_number(costs.next.into())));
            let first_gain = first.add(gain);
            let (mut cell, mut left, mut gap, mut diagonal) = (floor, floor, floor, floor);
            let mut over = W::splat(W::Elem::from_number(-1));
            let (h, f) = (above.add(MAX_LANES), gaps.wrapping_add(MAX_LANES));
            let (mut t, end) = (steps.start, steps.end);
            while t < end {
                let to = (t + STEPS_AT_ONCE).min(end);
                let size = (to - t) * arrays * count;
                if *used + size > max_values {
                    return None;
                }
                let mut out = cells.at_least(*used + size).as_mut_ptr().add(*used);
                *used += size;
                while t < to {
                    if end_rows > 0 && t < at.ends[1] + end_rows {
                        diagonal = diagonal.max(values_of_ends(end_values, end_rows, t, at.ends[1], lowest));
                    }
                    let over_cell = cell.shift_down(*h.add(t));
                    let down = if AFFINE { gap.shift_down(*f.add(t)).sub(gain) } else { over_cell.sub(first_gain) };
                    let before = if AFFINE { left } else { cell.sub(first) };
                    cell = diagonal.add(skew.step(t)).max(down).max(before).max(floor);
                    over = over.max(cell.sub(goal));
                    cell.store(out);
                    cell.store(h.add(t + 1).sub(count));
                    out = out.add(count);
                    if AFFINE {
                        down.store(out);
                        left.store(out.add(count));
                        out = out.add(2 * count);
                        let opened = cell.sub(first);
                        left = left.sub(next).max(opened);
                        gap = down.sub(next).max(opened);
                        gap.store(f.add(t + 1).sub(count));
                    }
                    diagonal = over_cell;
                    t += 1;
                }
                if t >= quiet && !cell.max(diagonal).exceeds(floor) {
                    break;
                }
            }
            Some((t, over))
        }
    }
}

/// Initial values of the lanes of a strip. The last lane contains the first row.
pub(super) struct StripLanes<E> {
    pub codes: [Code; MAX_LANES],
    pub gain: [E; MAX_LANES],
    /// Value that a cell must have to be the start of an alignment with the score.
    pub goal: [E; MAX_LANES],
    /// Values of ends above the lanes' rows.
    pub end_values: [E; MAX_LANES],
}

impl<E: Element> StripLanes<E> {
    /// Sets up the lanes for these rows. The first `end_rows` rows have ends above them. `least` is
    /// the value of cells that lead nowhere.
    #[inline(always)]
    pub(super) fn new(
        at: &AnchoredPair,
        gains: &Gains,
        rows: Range<usize>,
        end_rows: usize,
        count: usize,
        least: i64,
    ) -> Self {
        let mut lanes = StripLanes {
            codes: [PAD; MAX_LANES],
            gain: [E::default(); MAX_LANES],
            goal: [E::from_number(1); MAX_LANES],
            end_values: [E::from_number(least); MAX_LANES],
        };
        let top = rows.start;
        for row in rows {
            let lane = count - 1 - (row - top);
            lanes.codes[lane] = at.query[row];
            lanes.gain[lane] = E::from_number(gains.codes[usize::from(at.query[row])]);
            // No value exceeds 0, so a goal of 1 is never reached.
            lanes.goal[lane] = E::from_number((at.score - gains.query[row + 1]).min(1));
            if row - top < end_rows {
                lanes.end_values[lane] = E::from_number((-gains.query[row]).max(least));
            }
        }
        lanes
    }
}

/// Adds the cells of a step whose values show that an alignment with the score starts there.
/// `vector` contains the values of the step.
#[inline(always)]
pub(super) fn add_start_cells<E: Element>(
    at: &AnchoredPair,
    gains: &Gains,
    rows: Range<usize>,
    step: usize,
    vector: &[E],
    start_cells: &mut Vec<[usize; 2]>,
) {
    let top = rows.start;
    let in_step = |row: usize| Some([row, step.checked_sub(row - top)?]);
    let reaches = |&[row, column]: &[usize; 2]| {
        let value = vector[vector.len() - 1 - (row - top)];
        column < at.target.len() && value.number() == at.score - gains.query[row + 1]
    };
    start_cells.extend(rows.filter_map(in_step).filter(reaches));
}

/// Keeps the values of a strip's last row that are in `columns` and above the limit. Sets all other
/// values that the sweep wrote up to step `end` to `lowest`.
#[inline(always)]
pub(super) fn keep_last_row<E: Element>(
    row: &mut [E],
    columns: Range<usize>,
    count: usize,
    end: usize,
    limit: E,
    lowest: E,
) {
    if row.is_empty() {
        return;
    }
    row[MAX_LANES + 1 + columns.start - count..MAX_LANES + columns.start].fill(lowest);
    row[MAX_LANES + columns.end..MAX_LANES + end].fill(lowest);
    for value in &mut row[MAX_LANES + columns.start..MAX_LANES + columns.end] {
        *value = if *value > limit { *value } else { lowest };
    }
}

/// Sets the values of a row to `lowest` outside the columns from which the score can still be
/// reached. Returns the first of these columns, and the column after the last. `rows` are the cells
/// of the row above row `bottom`, and its gaps if these are affine. `columns` are the columns that
/// have values.
#[inline(always)]
pub(super) fn trim_last_row<E: Element>(
    at: &AnchoredPair,
    gains: &Gains,
    bottom: usize,
    rows: [&mut [E]; 2],
    columns: Range<usize>,
    lowest: E,
) -> (usize, usize) {
    let (low, done) = (columns.start, columns.end);
    let [above, gaps] = rows;
    let all_target = gains.target[at.target.len()];
    let leads = |column: usize| {
        let value = above[MAX_LANES + column].max(if gaps.is_empty() { lowest } else { gaps[MAX_LANES + column] });
        let rest = all_target - gains.target[column + 1];
        value > lowest && value.number() + gains.query[bottom] + rest >= at.score
    };
    let high = (low..done).rev().find(|&column| leads(column)).map_or(low, |column| column + 1);
    let first_left = (low..high).find(|&column| leads(column)).unwrap_or(high);
    for row in [above, gaps] {
        if !row.is_empty() {
            row[MAX_LANES + low..MAX_LANES + first_left].fill(lowest);
            row[MAX_LANES + high..MAX_LANES + done].fill(lowest);
        }
    }
    (first_left, high)
}

/// Returns, for the cells of `step`, the values of ends above the first `end_rows` rows of a strip.
/// `end_values` contains the value of each lane.
///
/// # Safety
/// The processor has the instructions of `W`.
#[inline(always)]
unsafe fn values_of_ends<W: Lanes>(
    end_values: &[W::Elem; MAX_LANES],
    end_rows: usize,
    step: usize,
    columns: usize,
    lowest: W::Elem,
) -> W {
    let mut lanes = [lowest; MAX_LANES];
    for row in (step + 1).saturating_sub(columns)..end_rows.min(step + 1) {
        lanes[W::COUNT - 1 - row] = end_values[W::COUNT - 1 - row];
    }
    // SAFETY: the caller guarantees the instructions, and `lanes` has MAX_LANES elements.
    unsafe { W::load(lanes.as_ptr()) }
}
