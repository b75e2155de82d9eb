//! The traceback's inner loop: values and directions of a range of antidiagonals ([`super::wavefront`] has the layout).
//!
//! The recurrence is Gotoh's on packed, offset values; `a` and `b` are the codes of a cell:
//!
//! ```text
//! I[i,j] = max(H[i-1,j] - opening, I[i-1,j])
//! D[i,j] = max(H[i,j-1] - opening, D[i,j-1])
//! H[i,j] = max(H[i-1,j-1] + sub(a, b), I[i,j], D[i,j])
//! ```
//!
//! A cell's direction is the rule of preference written down where the values are at hand: H comes from the diagonal
//! if that gives its value, else from I if that does, else from D; a gap state leaves the gap if that gives its value.
//! With linear gaps (opening 0) a gap state always leaves, as H >= I and H >= D, and is not kept.

use super::band::ScoresBy;
use super::wavefront::{Cell, Costs, Directions, Geometry, LANES, Symbols, Value, Wave};
use crate::seq::Code;
use crate::simd::{Kernel, Level, Simd};

/// How a sweep finds the score of two codes: a [`ScoresBy`] as a number, which code is made for.
pub(super) const BY_TABLE: u8 = 0;
pub(super) const BY_SHARED_BITS: u8 = 1;
pub(super) const BY_EQUAL_CODES: u8 = 2;

/// Where a cell's H comes from: two bits of its direction.
pub(super) const FROM: u8 = 3;
pub(super) const FROM_DIAGONAL: u8 = 0;
pub(super) const FROM_INSERTION: u8 = 1;
/// The cell's I leaves its gap. (With linear gaps neither this nor the next bit is set.)
pub(super) const INSERTION_LEAVES: u8 = 4;
/// The cell's D leaves its gap.
pub(super) const DELETION_LEAVES: u8 = 8;

/// The best values on the last column and the last row but for their common corner, with the end gap that follows; ties go
/// to the later cell.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ends<T> {
    pub column: ScoredCell<T>,
    pub row: ScoredCell<T>,
}

/// A cell and its value.
#[derive(Debug, Clone, Copy)]
pub(super) struct ScoredCell<T> {
    pub value: T,
    pub cell: Cell,
}

/// What a sweep is over.
#[derive(Clone, Copy)]
pub(super) struct Sweep<'a, T> {
    pub symbols: &'a Symbols,
    pub costs: &'a Costs<T>,
    pub geometry: Geometry,
    /// Only cells from which this one can be reached are needed.
    pub apex: Cell,
    /// What it is computed with.
    pub level: Level,
}

/// Steps after `from` up to `to`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Steps {
    pub from: i64,
    pub to: i64,
    /// Whether to keep all directions.
    pub keep: bool,
}

impl<T: Value> Sweep<'_, T> {
    /// Computes a range of steps, the wave standing after the step before them.
    pub(super) fn advance(&self, wave: &mut Wave<T>, steps: Steps, out: &mut Directions, ends: Option<&mut Ends<T>>) {
        match (self.costs.affine, self.costs.scores) {
            (false, ScoresBy::Table) => self.dispatch::<false, BY_TABLE>(wave, steps, out, ends),
            (false, ScoresBy::SharedBits) => self.dispatch::<false, BY_SHARED_BITS>(wave, steps, out, ends),
            (false, ScoresBy::EqualCodes) => self.dispatch::<false, BY_EQUAL_CODES>(wave, steps, out, ends),
            (true, ScoresBy::SharedBits) => self.dispatch::<true, BY_SHARED_BITS>(wave, steps, out, ends),
            (true, ScoresBy::Table | ScoresBy::EqualCodes) => self.dispatch::<true, BY_TABLE>(wave, steps, out, ends),
        }
    }

    fn dispatch<const AFFINE: bool, const SCORES: u8>(
        &self,
        wave: &mut Wave<T>,
        steps: Steps,
        out: &mut Directions,
        ends: Option<&mut Ends<T>>,
    ) {
        self.level.run(Advance::<T, AFFINE, SCORES> { sweep: self, wave, steps, out, ends });
    }

    #[inline(always)]
    fn run<K: Rows<T>, const AFFINE: bool, const SCORES: u8>(
        &self,
        wave: &mut Wave<T>,
        steps: Steps,
        out: &mut Directions,
        mut ends: Option<&mut Ends<T>>,
    ) {
        let geometry = self.geometry;
        out.restart(steps.from + 1);
        // In a narrow band, between the last border cell and the first cell that may be an end, there is nothing to look at.
        let is_narrow = geometry.lanes <= K::NARROW_LANES;
        let first = if is_narrow { geometry.last_border_step() } else { steps.to }.clamp(steps.from, steps.to);
        let last = if ends.is_some() { self.first_end_step() - 1 } else { steps.to }.clamp(first, steps.to);
        let mut from = steps.from;
        for (to, at_once) in [(first, false), (last, true), (steps.to, false)] {
            let part = Steps { from, to, ..steps };
            if from < to && at_once {
                K::narrow::<AFFINE, SCORES>(self, wave, part, out);
            } else if from < to {
                self.rows::<K, AFFINE, SCORES>(wave, part, out, ends.as_deref_mut());
            }
            from = to;
        }
    }

    /// The first step that has a cell of the last column or the last row within the band.
    fn first_end_step(&self) -> i64 {
        let Sweep { symbols: Symbols { m, n, .. }, geometry, .. } = *self;
        let high = geometry.low + 2 * geometry.lanes as i64 - 1;
        (2 * n + geometry.low).min(2 * m - high)
    }

    /// Step by step.
    #[inline(always)]
    fn rows<K: Rows<T>, const AFFINE: bool, const SCORES: u8>(
        &self,
        wave: &mut Wave<T>,
        steps: Steps,
        out: &mut Directions,
        mut ends: Option<&mut Ends<T>>,
    ) {
        let Sweep { symbols, costs, geometry, apex, .. } = *self;
        for step in steps.from + 1..=steps.to {
            let phase = geometry.phase(step);
            let (this, other) = if phase == 0 { (&mut wave.even, &wave.odd) } else { (&mut wave.odd, &wave.even) };

            let needed = geometry.lanes_of(step, apex);
            let base = *needed.start() as usize / LANES * LANES;
            let length =
                if needed.is_empty() { 0 } else { (*needed.end() as usize + 1).next_multiple_of(LANES) - base };
            let start = out.row(base, length, steps.keep);
            if length > 0 {
                let (query_at, target_at) = symbols.place(geometry, step);
                let (query_at, target_at) = ((query_at + base as i64) as usize, (target_at + base as i64) as usize);
                // A guard stands before lane 0, so lane p - 1 + phase of `other` is at p + phase.
                let above = base + phase as usize..base + phase as usize + length;
                let left = above.start + 1..above.end + 1;
                let row = Row {
                    query: blocks(&symbols.query[query_at..][..length]),
                    target: blocks(&symbols.target_reversed[target_at..][..length]),
                    h_above: blocks(&other.h[above.clone()]),
                    h_left: blocks(&other.h[left.clone()]),
                    h: blocks_mut(&mut this.h[1 + base..][..length]),
                    directions: blocks_mut(&mut out.bytes[start..start + length]),
                };
                if AFFINE {
                    let gaps = GapRow {
                        insertion_above: blocks(&other.insertion[above]),
                        deletion_left: blocks(&other.deletion[left]),
                        insertion: blocks_mut(&mut this.insertion[1 + base..][..length]),
                        deletion: blocks_mut(&mut this.deletion[1 + base..][..length]),
                    };
                    K::affine::<SCORES>(row, gaps, costs);
                } else {
                    K::linear::<SCORES>(row, costs);
                }
            }

            // Border cells: (step, 0) on diagonal `step` and (0, step) on diagonal `-step`.
            if step <= symbols.m && geometry.contains(step) {
                let lane = 1 + geometry.lane(step, step);
                this.h[lane] = costs.border(step);
                if AFFINE {
                    this.deletion[lane] = T::UNREACHABLE;
                }
            }
            if step <= symbols.n && geometry.contains(-step) {
                let lane = 1 + geometry.lane(step, -step);
                this.h[lane] = costs.border(step);
                if AFFINE {
                    this.insertion[lane] = T::UNREACHABLE;
                }
            }
            if let Some(ends) = ends.as_deref_mut() {
                let (m, n) = (symbols.m, symbols.n);
                // Taking off the offset of the whole, of which the end gap brings its part.
                let offset = T::from_wide(costs.step.to_wide() * i128::from(m + n)).minus(costs.border(m + n - step));
                let note = |best: &mut ScoredCell<T>, cell: Cell| {
                    if geometry.contains(cell.diagonal()) {
                        let value = this.h[1 + geometry.lane(step, cell.diagonal())].minus(offset);
                        *best = later_best(*best, ScoredCell { value, cell });
                    }
                };
                if (n..m + n).contains(&step) {
                    note(&mut ends.column, Cell { i: step - n, j: n });
                }
                if (m..m + n).contains(&step) {
                    note(&mut ends.row, Cell { i: m, j: step - m });
                }
            }
        }
    }
}

/// A range of steps to be computed.
struct Advance<'s, 'a, T, const AFFINE: bool, const SCORES: u8> {
    sweep: &'s Sweep<'a, T>,
    wave: &'s mut Wave<T>,
    steps: Steps,
    out: &'s mut Directions,
    ends: Option<&'s mut Ends<T>>,
}

impl<T: Value, const AFFINE: bool, const SCORES: u8> Kernel for Advance<'_, '_, T, AFFINE, SCORES> {
    type Output = ();
    const WIDE: bool = false;

    #[inline(always)]
    unsafe fn run<S: Simd>(self) {
        self.sweep.run::<T::Rows<S>, AFFINE, SCORES>(self.wave, self.steps, self.out, self.ends);
    }
}

fn later_best<T: Value>(best: ScoredCell<T>, new: ScoredCell<T>) -> ScoredCell<T> {
    if new.value >= best.value { new } else { best }
}

#[inline(always)]
fn blocks<E>(row: &[E]) -> &[[E; LANES]] {
    row.as_chunks().0
}

#[inline(always)]
fn blocks_mut<E>(row: &mut [E]) -> &mut [[E; LANES]] {
    row.as_chunks_mut().0
}

/// The blocks of one step, equally many of each. `h` holds the diagonal neighbours and takes the result.
pub(super) struct Row<'a, T> {
    pub query: &'a [[Code; LANES]],
    pub target: &'a [[Code; LANES]],
    pub h_above: &'a [[T; LANES]],
    pub h_left: &'a [[T; LANES]],
    pub h: &'a mut [[T; LANES]],
    pub directions: &'a mut [[u8; LANES]],
}

/// The same for the gap states.
pub(super) struct GapRow<'a, T> {
    pub insertion_above: &'a [[T; LANES]],
    pub deletion_left: &'a [[T; LANES]],
    pub insertion: &'a mut [[T; LANES]],
    pub deletion: &'a mut [[T; LANES]],
}

/// Code for the rows of one kind of machine: called only from kernels that are run at its level.
pub(super) trait Rows<T> {
    /// The most lanes of [`Self::narrow`].
    const NARROW_LANES: usize;
    /// Steps without border cells of a band with few lanes; appends to the directions.
    fn narrow<const AFFINE: bool, const SCORES: u8>(
        sweep: &Sweep<'_, T>,
        wave: &mut Wave<T>,
        steps: Steps,
        out: &mut Directions,
    );
    /// A row with linear gaps.
    fn linear<const SCORES: u8>(row: Row<T>, costs: &Costs<T>);
    /// A row with affine gaps.
    fn affine<const SCORES: u8>(row: Row<T>, gaps: GapRow<T>, costs: &Costs<T>);
}

/// Code for any machine.
pub(super) struct Portable;

impl<T: Value> Rows<T> for Portable {
    const NARROW_LANES: usize = 0;

    fn narrow<const AFFINE: bool, const SCORES: u8>(_: &Sweep<'_, T>, _: &mut Wave<T>, _: Steps, _: &mut Directions) {
        unreachable!("a band has lanes");
    }

    #[inline(always)]
    fn linear<const SCORES: u8>(row: Row<T>, costs: &Costs<T>) {
        let Row { query, target, h_above, h_left, h, directions } = row;
        let inputs = query.iter().zip(target).zip(h_above).zip(h_left);
        for ((((a, b), above), left), (h, direction)) in inputs.zip(h.iter_mut().zip(directions)) {
            let scores = costs.scores::<SCORES>(a, b);
            let diagonal: [T; LANES] = each(|lane| h[lane].plus(scores[lane]));
            let best: [T; LANES] = each(|lane| diagonal[lane].max(above[lane]).max(left[lane]));
            *direction = each(|lane| from(diagonal[lane] == best[lane], above[lane] == best[lane]));
            *h = best;
        }
    }

    #[inline(always)]
    fn affine<const SCORES: u8>(row: Row<T>, gaps: GapRow<T>, costs: &Costs<T>) {
        let Row { query, target, h_above, h_left, h, directions } = row;
        let GapRow { insertion_above, deletion_left, insertion, deletion } = gaps;
        let inputs = query.iter().zip(target).zip(h_above).zip(h_left).zip(insertion_above.iter().zip(deletion_left));
        let outputs = h.iter_mut().zip(directions).zip(insertion.iter_mut().zip(deletion));
        for (((((a, b), above), left), (insertion_above, deletion_left)), ((h, direction), (insertion, deletion))) in
            inputs.zip(outputs)
        {
            let scores = costs.scores::<SCORES>(a, b);
            let diagonal: [T; LANES] = each(|lane| h[lane].plus(scores[lane]));
            let above: [T; LANES] = each(|lane| above[lane].minus(costs.opening));
            let left: [T; LANES] = each(|lane| left[lane].minus(costs.opening));
            let insert: [T; LANES] = each(|lane| above[lane].max(insertion_above[lane]));
            let delete: [T; LANES] = each(|lane| left[lane].max(deletion_left[lane]));
            let best: [T; LANES] = each(|lane| diagonal[lane].max(insert[lane]).max(delete[lane]));
            *direction = each(|lane| {
                let leave_insertion = u8::from(above[lane] == insert[lane]) * INSERTION_LEAVES;
                let leave_deletion = u8::from(left[lane] == delete[lane]) * DELETION_LEAVES;
                from(diagonal[lane] == best[lane], insert[lane] == best[lane]) | leave_insertion | leave_deletion
            });
            (*h, *insertion, *deletion) = (best, insert, delete);
        }
    }
}

/// Where H comes from, the diagonal before I, and I before D.
#[inline(always)]
fn from(diagonal: bool, insertion: bool) -> u8 {
    if diagonal { FROM_DIAGONAL } else { FROM_INSERTION + u8::from(!insertion) }
}

/// One value for each lane. Whole arrays are read before any is written, so that the compiler makes vectors of them.
#[inline(always)]
fn each<E>(f: impl FnMut(usize) -> E) -> [E; LANES] {
    std::array::from_fn(f)
}

impl<T: Value> Costs<T> {
    #[inline(always)]
    fn scores<const SCORES: u8>(&self, a: &[Code; LANES], b: &[Code; LANES]) -> [T; LANES] {
        let (matching, mismatching) = self.two_scores;
        match SCORES {
            BY_SHARED_BITS => each(|lane| if a[lane] & b[lane] != 0 { matching } else { mismatching }),
            BY_EQUAL_CODES => each(|lane| if a[lane] == b[lane] { matching } else { mismatching }),
            _ => each(|lane| self.table[Self::table_index(a[lane], b[lane])]),
        }
    }
}
