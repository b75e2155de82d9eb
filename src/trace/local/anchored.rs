//! The alignments of known score that end in one of a few cells: from there back over the reversed prefixes, in narrow
//! lanes, over no more of the matrix than the score leaves.
//!
//! A\[p,q\] is the greatest score of a global alignment of the p query symbols and q target symbols before an end, whichever
//! end is best. Let g(a) be the greatest score that symbol a has with any other (or 0), and G\[p\] the sum of these over the p
//! query symbols. What is computed is
//!
//! ```text
//! W[p,q] = A[p,q] - G[p]
//! ```
//!
//! to which no column adds: a pair of a and b adds sub(a,b) - g(a), a gap its cost, and one in the target g(a) besides. So
//! what falls below a limit stays below it, and numbers are as narrow as the alignment is short of the best that its query
//! symbols could score. Two limits hold along the canonical alignment, of score S (its proof is in [`super::backward`]):
//! no more than the rest of G can still be gained, so that `W >= S - G[m]`, which is one number for all cells; and a part of
//! it at its end scores more than 0, `W > -G[p]`, of which a strip of rows takes what its last row leaves. The same holds of
//! what the rest of the target's symbols could score, by which a strip's last row is cut at both sides.
//!
//! Strips of rows are computed as in [`Skew`]: each from the first column that the row above leaves to the first where no
//! lane is left. All values are kept, for [`super::reach`] to follow the alignments.

use std::ops::Range;

use crate::score::Scoring;
use crate::score::difference::{Element, STEPS};
use crate::seq::{Code, PAD};
use crate::simd::{Kernel, LaneElement, Lanes, Level, Lines, MAX_LANES, Simd, Skew, SkewBuffers};

/// Steps of a strip between two looks at whether any lane is left.
const STEPS_AT_ONCE: usize = 16;

/// Where to begin: sequences turned round, so that row 0 and column 0 are the last symbols that an alignment may end with.
#[derive(Debug, Clone, Copy)]
pub(super) struct Anchor<'a> {
    pub query: &'a [Code],
    pub target: &'a [Code],
    /// An alignment ends with one of the first so many symbols of either, at least one.
    pub ends: [usize; 2],
    /// The score of the alignments that are looked for, above 0: the greatest there is.
    pub score: i64,
    pub scoring: &'a Scoring,
}

/// What can be gained by symbols.
#[derive(Debug, Default)]
pub(super) struct Gains {
    /// The most that each code scores with any other, or 0.
    pub of: Vec<i64>,
    /// Sums over the first symbols of the query, and of the target.
    pub query: Vec<i64>,
    target: Vec<i64>,
}

impl Gains {
    pub(super) fn set(&mut self, at: &Anchor) {
        let substitution = &at.scoring.substitution;
        let size = substitution.size() as Code;
        let greatest = |a: Code| (1..size).map(|b| substitution.score(a, b).into()).max().unwrap_or(0).max(0);
        self.of.clear();
        self.of.extend((0..size).map(|a| if a == PAD { 0 } else { greatest(a) }));
        let of = &self.of;
        for (sums, symbols) in [(&mut self.query, at.query), (&mut self.target, at.target)] {
            sums.clear();
            sums.push(0);
            let mut sum = 0;
            sums.extend(symbols.iter().map(|&code| {
                sum += of[usize::from(code)];
                sum
            }));
        }
    }
}

/// Rows that were computed together.
#[derive(Debug, Clone, Copy)]
pub(super) struct Strip {
    /// Where its first vector is.
    pub base: usize,
    /// Its first step, and how many there are.
    pub from: usize,
    pub steps: usize,
    /// A cell that leads nowhere has this value, and all others greater ones.
    pub dead: i64,
}

/// What a sweep leaves, in numbers of one width.
#[derive(Debug, Default)]
pub(super) struct Values<E> {
    skew: SkewBuffers<E>,
    above: Lines<E>,
    gaps: Lines<E>,
    /// W of each step's lanes, after it (with affine gaps) its I and D.
    pub cells: Lines<E>,
    pub strips: Vec<Strip>,
    /// Row and column of the first symbols of alignments with the score.
    pub begins: Vec<[usize; 2]>,
    /// Lanes of a vector, and vectors of a step.
    pub lanes: usize,
    pub arrays: usize,
}

/// How a sweep came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Swept {
    /// Everything is there.
    Done,
    /// The numbers do not hold the values.
    TooNarrow,
    /// The values do not fit in memory.
    TooMany,
}

/// Computes all cells that alignments with the score may visit, if no more than so many bytes hold them. From a single end it
/// stops with the strip in which one begins: of those that begin further on none is canonical.
pub(super) fn sweep<E: LaneElement>(
    at: &Anchor,
    gains: &Gains,
    values: &mut Values<E>,
    most_bytes: usize,
    level: Level,
) -> Swept {
    let Some(form) = Form::<E>::new(at, gains) else { return Swept::TooNarrow };
    values.strips.clear();
    values.begins.clear();
    values.lanes = E::lanes(level);
    values.arrays = if at.scoring.gaps.is_linear() { 1 } else { 3 };
    level.run(Sweep { at, gains, form: &form, values, most: most_bytes / size_of::<E>() })
}

/// Steps in numbers of one width.
struct Form<E> {
    /// What each pair of codes (target, query) adds to W.
    table: Vec<[E; STEPS]>,
    /// Below it are only numbers that a cell which leads nowhere may pass through.
    least: i64,
}

impl<E: Element> Form<E> {
    fn new(at: &Anchor, gains: &Gains) -> Option<Self> {
        let (substitution, gaps) = (&at.scoring.substitution, at.scoring.gaps);
        let worst = i64::from(substitution.min_score()).min(0);
        let best = gains.of.iter().copied().max().unwrap_or(0);
        let margin = 4 * (i64::from(gaps.first) + best - worst);
        if margin > E::GREATEST / 2 {
            return None;
        }
        let size = substitution.size();
        let mut table = vec![[E::of(worst - best); STEPS]; size];
        for (b, row) in table.iter_mut().enumerate().skip(1) {
            for (a, entry) in row[..size].iter_mut().enumerate().skip(1) {
                *entry = E::of(i64::from(substitution.score(a as Code, b as Code)) - gains.of[a]);
            }
        }
        Some(Form { table, least: E::LEAST + margin })
    }
}

struct Sweep<'a, E> {
    at: &'a Anchor<'a>,
    gains: &'a Gains,
    form: &'a Form<E>,
    values: &'a mut Values<E>,
    /// Elements that may be kept.
    most: usize,
}

impl<E: LaneElement> Kernel for Sweep<'_, E> {
    type Output = Swept;
    const ARRAYS: bool = E::ARRAYS;

    #[inline(always)]
    unsafe fn run<S: Simd>(self) -> Swept {
        // SAFETY: the caller's.
        unsafe {
            if self.at.scoring.gaps.is_linear() {
                strips::<E::In<S>, false>(self)
            } else {
                strips::<E::In<S>, true>(self)
            }
        }
    }
}

/// Computes strip after strip, and stores all values and where alignments start.
///
/// # Safety
/// The processor has the instructions of `W`. `task.values.arrays` is 3 if `AFFINE`, else 1. Codes
/// of both sequences are less than the number of rows of the table in `task.form`.
#[inline(always)]
unsafe fn strips<W: Lanes, const AFFINE: bool>(task: Sweep<'_, W::Elem>) -> Swept {
    let Sweep { at, gains, form, values, most } = task;
    let Values { skew, above, gaps, cells, strips, begins, arrays, .. } = values;
    let (m, n, count) = (at.query.len(), at.target.len(), W::COUNT);
    let nowhere = W::Elem::of(form.least);
    let codes = codes_of(at.target);
    let mut skew = Skew::<W>::new(at.target, form.table.len(), skew);
    // Column c is at MAX_LANES + c: before and behind the columns there is room for the other lanes of a vector.
    let length = n + 2 * MAX_LANES;
    let above = &mut above.at_least(length)[..length];
    let gaps = &mut gaps.at_least(length)[..if AFFINE { length } else { 0 }];
    above.fill(nowhere);
    gaps.fill(nowhere);
    let all_query = gains.query[m];
    // Columns in which the row above leads somewhere.
    let (mut low, mut high) = (0, 0);
    let (mut top, mut used) = (0, 0);
    while top < m {
        let bottom = (top + count).min(m);
        // Rows above which ends are.
        let starts = at.ends[0].saturating_sub(top).min(count);
        let mut quiet = high;
        if starts > 0 {
            (low, quiet) = (0, high.max(at.ends[1] + starts));
        } else if low >= high {
            break;
        }
        let dead = (at.score - all_query).max(1 - gains.query[bottom]) - 1;
        if dead < form.least {
            return Swept::TooNarrow;
        }

        let StripLanes { codes: lanes, gain, goal, start } =
            StripLanes::<W::Elem>::new(at, gains, top..bottom, starts, count, form.least);
        // SAFETY: the caller's: W's instructions are there; `above` and `gaps` have n columns and a vector's room on
        // either side, and `cells` what was asked for.
        unsafe {
            skew.begin(&form.table, &codes, &lanes);
            let costs = at.scoring.gaps;
            let (first, next) = (W::splat(W::Elem::of(costs.first.into())), W::splat(W::Elem::of(costs.next.into())));
            let (gain, goal, floor) = (W::load(gain.as_ptr()), W::load(goal.as_ptr()), W::splat(W::Elem::of(dead)));
            let first_gain = first.add(gain);
            let below = W::splat(W::Elem::of(-1));
            let (mut cell, mut left, mut gap, mut diagonal) = (floor, floor, floor, floor);
            let mut over = below;
            let (h, f) = (above.as_mut_ptr().add(MAX_LANES), gaps.as_mut_ptr().wrapping_add(MAX_LANES));
            let (from, end) = (low, n + count - 1);
            let base = used;
            let mut t = from;
            while t < end {
                let to = (t + STEPS_AT_ONCE).min(end);
                let size = (to - t) * *arrays * count;
                if used + size > most {
                    return Swept::TooMany;
                }
                let mut out = cells.at_least(used + size).as_mut_ptr().add(used);
                used += size;
                while t < to {
                    if starts > 0 && t < at.ends[1] + starts {
                        diagonal = diagonal.max(starting(&start, starts, t, at.ends[1], nowhere));
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
            strips.push(Strip { base, from, steps: t - from, dead });
            if over.exceeds(below) {
                let kept = &cells.at_least(used)[base..];
                for step in 0..t - from {
                    let vector = &kept[step * *arrays * count..][..count];
                    if W::load(vector.as_ptr()).sub(goal).exceeds(below) {
                        add_begins(at, gains, top..bottom, from + step, vector, begins);
                    }
                }
                if at.ends == [1, 1] && !begins.is_empty() {
                    return Swept::Done;
                }
            }

            // The last row is the next one's row above, and nothing else is.
            let done = (t + 1).saturating_sub(count).clamp(low, n);
            let limit = W::Elem::of(dead.max(-gains.query[bottom]));
            for row in [&mut *above, &mut *gaps] {
                if !row.is_empty() {
                    row[MAX_LANES + 1 + low - count..MAX_LANES + low].fill(nowhere);
                    row[MAX_LANES + done..MAX_LANES + t].fill(nowhere);
                    for value in &mut row[MAX_LANES + low..MAX_LANES + done] {
                        *value = if *value > limit { *value } else { nowhere };
                    }
                }
            }
            (low, high) = keep_what_leads(at, gains, bottom, [above, gaps], low..done, nowhere);
        }
        top = bottom;
    }
    Swept::Done
}

/// What the lanes of a strip start from; the last lane has the first row.
struct StripLanes<E> {
    codes: [Code; MAX_LANES],
    gain: [E; MAX_LANES],
    /// Values by which an alignment with the score is told.
    goal: [E; MAX_LANES],
    /// Values of ends above the lanes' rows.
    start: [E; MAX_LANES],
}

impl<E: Element> StripLanes<E> {
    /// Sets up the lanes of these rows. Ends are above the first `starts` of them; `least` is the value of what leads nowhere.
    #[inline(always)]
    fn new(at: &Anchor, gains: &Gains, rows: Range<usize>, starts: usize, count: usize, least: i64) -> Self {
        let mut lanes = StripLanes {
            codes: [PAD; MAX_LANES],
            gain: [E::default(); MAX_LANES],
            goal: [E::of(1); MAX_LANES],
            start: [E::of(least); MAX_LANES],
        };
        let top = rows.start;
        for row in rows {
            let lane = count - 1 - (row - top);
            lanes.codes[lane] = at.query[row];
            lanes.gain[lane] = E::of(gains.of[usize::from(at.query[row])]);
            // What is above 0 no cell reaches.
            lanes.goal[lane] = E::of((at.score - gains.query[row + 1]).min(1));
            if row - top < starts {
                lanes.start[lane] = E::of((-gains.query[row]).max(least));
            }
        }
        lanes
    }
}

/// Adds the cells of a step that have the score's value: alignments begin there. `vector` has the step's values.
#[inline(always)]
fn add_begins<E: Element>(
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

/// Sets values of a row to `nowhere` before the first and after the last column from which the score can still be reached.
/// Returns that first column, and the one after the last. `rows` are the cells of the row above row `bottom`, and its gaps
/// if these are affine; `columns` are those that have values.
#[inline(always)]
fn keep_what_leads<E: Element>(
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

/// Codes that a sequence has.
fn codes_of(sequence: &[Code]) -> Vec<Code> {
    let present = sequence.iter().fold(0u32, |set, &code| set | 1 << code);
    (1..32).filter(|code| present >> code & 1 == 1).collect()
}
