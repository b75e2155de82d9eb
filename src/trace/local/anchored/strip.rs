//! One strip of the sweep: its lanes, its cells, and what the next strip has of it.

use std::ops::Range;

use super::{Anchor, Gains, STEPS_AT_ONCE};
use crate::score::difference::Element;
use crate::seq::{Code, PAD};
use crate::simd::{AlignedBuffer, Lanes, MAX_LANES, Skew};

/// The sweep of one strip.
pub(super) struct StripSweep<'s, 'a, W: Lanes> {
    pub at: &'s Anchor<'a>,
    /// Ends are above so many of its rows.
    pub starts: usize,
    /// Values of these ends.
    pub start: &'s [W::Elem; MAX_LANES],
    pub nowhere: W::Elem,
    pub gain: W,
    pub goal: W,
    /// The value of what leads nowhere.
    pub floor: W,
    /// All steps; the sweep may end before.
    pub steps: Range<usize>,
    /// Step from which on nothing enters from above.
    pub quiet: usize,
    /// The row above and its gaps, which become those of the last row.
    pub above: *mut W::Elem,
    pub gaps: *mut W::Elem,
}

impl<W: Lanes> StripSweep<'_, '_, W> {
    /// Computes the strip, and stores its values in `cells` from `used` on. Returns the step after
    /// the last, and by how much the values exceed the goals at most; `None` if more than `most`
    /// values would have to be stored.
    ///
    /// # Safety
    /// The processor has the instructions of `W`. `self.above` and, if `AFFINE`, `self.gaps` point
    /// to [`MAX_LANES`] elements, then one for each column, then [`MAX_LANES`] more, all of which
    /// may be written. `skew` is at a strip of the columns.
    #[inline(always)]
    pub(super) unsafe fn run<const AFFINE: bool>(
        self,
        skew: &mut Skew<W>,
        cells: &mut AlignedBuffer<W::Elem>,
        used: &mut usize,
        most: usize,
    ) -> Option<(usize, W)> {
        let StripSweep { at, starts, start, nowhere, gain, goal, floor, steps, quiet, above, gaps } = self;
        let (arrays, count) = (if AFFINE { 3 } else { 1 }, W::COUNT);
        // SAFETY: the caller's; `cells` has what was asked for.
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
                if *used + size > most {
                    return None;
                }
                let mut out = cells.at_least(*used + size).as_mut_ptr().add(*used);
                *used += size;
                while t < to {
                    if starts > 0 && t < at.ends[1] + starts {
                        diagonal = diagonal.max(starting(start, starts, t, at.ends[1], nowhere));
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

/// What the lanes of a strip start from; the last lane has the first row.
pub(super) struct StripLanes<E> {
    pub codes: [Code; MAX_LANES],
    pub gain: [E; MAX_LANES],
    /// Values by which an alignment with the score is told.
    pub goal: [E; MAX_LANES],
    /// Values of ends above the lanes' rows.
    pub start: [E; MAX_LANES],
}

impl<E: Element> StripLanes<E> {
    /// Sets up the lanes of these rows. Ends are above the first `starts` of them; `least` is the
    /// value of what leads nowhere.
    #[inline(always)]
    pub(super) fn new(at: &Anchor, gains: &Gains, rows: Range<usize>, starts: usize, count: usize, least: i64) -> Self {
        let mut lanes = StripLanes {
            codes: [PAD; MAX_LANES],
            gain: [E::default(); MAX_LANES],
            goal: [E::from_number(1); MAX_LANES],
            start: [E::from_number(least); MAX_LANES],
        };
        let top = rows.start;
        for row in rows {
            let lane = count - 1 - (row - top);
            lanes.codes[lane] = at.query[row];
            lanes.gain[lane] = E::from_number(gains.of[usize::from(at.query[row])]);
            // What is above 0 no cell reaches.
            lanes.goal[lane] = E::from_number((at.score - gains.query[row + 1]).min(1));
            if row - top < starts {
                lanes.start[lane] = E::from_number((-gains.query[row]).max(least));
            }
        }
        lanes
    }
}

/// Adds the cells of a step that have the score's value: alignments begin there. `vector` has the
/// step's values.
#[inline(always)]
pub(super) fn add_begins<E: Element>(
    at: &Anchor,
    gains: &Gains,
    rows: Range<usize>,
    step: usize,
    vector: &[E],
    begins: &mut Vec<[usize; 2]>,
) {
    let top = rows.start;
    let in_step = |row: usize| Some([row, step.checked_sub(row - top)?]);
    let reaches = |&[row, column]: &[usize; 2]| {
        let value = vector[vector.len() - 1 - (row - top)];
        column < at.target.len() && value.number() == at.score - gains.query[row + 1]
    };
    begins.extend(rows.filter_map(in_step).filter(reaches));
}

/// Keeps of a row the values of the last row of a strip, in `columns`, that are above the limit.
/// All others that the sweep up to step `end` left there become `nowhere`.
#[inline(always)]
pub(super) fn keep_last_row<E: Element>(
    row: &mut [E],
    columns: Range<usize>,
    count: usize,
    end: usize,
    limit: E,
    nowhere: E,
) {
    if row.is_empty() {
        return;
    }
    row[MAX_LANES + 1 + columns.start - count..MAX_LANES + columns.start].fill(nowhere);
    row[MAX_LANES + columns.end..MAX_LANES + end].fill(nowhere);
    for value in &mut row[MAX_LANES + columns.start..MAX_LANES + columns.end] {
        *value = if *value > limit { *value } else { nowhere };
    }
}

/// Sets values of a row to `nowhere` before the first and after the last column from which the
/// score can still be reached. Returns that first column, and the one after the last. `rows` are
/// the cells of the row above row `bottom`, and its gaps if these are affine; `columns` are those
/// that have values.
#[inline(always)]
pub(super) fn keep_what_leads<E: Element>(
    at: &Anchor,
    gains: &Gains,
    bottom: usize,
    rows: [&mut [E]; 2],
    columns: Range<usize>,
    nowhere: E,
) -> (usize, usize) {
    let (low, done) = (columns.start, columns.end);
    let [above, gaps] = rows;
    let all_target = gains.target[at.target.len()];
    let leads = |column: usize| {
        let value = above[MAX_LANES + column].max(if gaps.is_empty() { nowhere } else { gaps[MAX_LANES + column] });
        let rest = all_target - gains.target[column + 1];
        value > nowhere && value.number() + gains.query[bottom] + rest >= at.score
    };
    let high = (low..done).rev().find(|&column| leads(column)).map_or(low, |column| column + 1);
    let first_left = (low..high).find(|&column| leads(column)).unwrap_or(high);
    for row in [above, gaps] {
        if !row.is_empty() {
            row[MAX_LANES + low..MAX_LANES + first_left].fill(nowhere);
            row[MAX_LANES + high..MAX_LANES + done].fill(nowhere);
        }
    }
    (first_left, high)
}

/// Returns the values of ends above the first `starts` rows of a strip, from which the cells of
/// `step` follow. `start` has the lanes' values.
///
/// # Safety
/// The processor has the instructions of `W`.
#[inline(always)]
unsafe fn starting<W: Lanes>(
    start: &[W::Elem; MAX_LANES],
    starts: usize,
    step: usize,
    columns: usize,
    nowhere: W::Elem,
) -> W {
    let mut lanes = [nowhere; MAX_LANES];
    for row in (step + 1).saturating_sub(columns)..starts.min(step + 1) {
        lanes[W::COUNT - 1 - row] = start[W::COUNT - 1 - row];
    }
    // SAFETY: the caller's; there is room for the most lanes.
    unsafe { W::load(lanes.as_ptr()) }
}
