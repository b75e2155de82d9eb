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

use super::avx2::InEights;
use super::band::ScoresBy;
use super::rows::{BY_EQUAL_CODES, BY_SHARED_BITS, BY_TABLE, GapRow, Portable, Row, Rows, Steps, Sweep};
use super::wavefront::{Cell, Directions, LANES, Symbols, Value, Wave};
use crate::simd::{Simd, SimdKernel};

/// A value with code for its rows.
pub(super) trait SweepValue: Value {
    /// Code for rows of such values at a level.
    type Rows<S: Simd>: Rows<Self>;
}

impl SweepValue for i32 {
    type Rows<S: Simd> = InEights<S>;
}

impl SweepValue for i64 {
    type Rows<S: Simd> = Portable;
}

impl SweepValue for i128 {
    type Rows<S: Simd> = Portable;
}

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

impl<T: SweepValue> Sweep<'_, T> {
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

impl<T: SweepValue, const AFFINE: bool, const SCORES: u8> SimdKernel for Advance<'_, '_, T, AFFINE, SCORES> {
    type Output = ();
    const USES_AVX512: bool = false;

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
