//! The inner loop of the traceback: values and directions of a range of antidiagonals.
//!
//! [`super::wavefront`] describes the layout. The recurrence is Gotoh's on packed values with
//! offsets. `a` and `b` are the codes of a cell:
//!
//! ```text
//! I[i,j] = max(H[i-1,j] - opening, I[i-1,j])
//! D[i,j] = max(H[i,j-1] - opening, D[i,j-1])
//! H[i,j] = max(H[i-1,j-1] + sub(a, b), I[i,j], D[i,j])
//! ```
//!
//! A cell's direction applies the rule of preference ([`crate::trace`]) while the values are
//! available. The source of H is the diagonal if the diagonal gives the value of H, otherwise I if
//! I gives it, otherwise D. A gap state leaves the gap if leaving gives its value. With linear gaps
//! (opening 0), a gap state always leaves because H >= I and H >= D. The gap states are then not
//! stored.

use super::avx2::EightLaneRows;
use super::band::ScoresBy;
use super::rows::{BY_EQUAL_CODES, BY_SHARED_BITS, BY_TABLE, BandSweep, GapRow, LaneRow, Portable, RowCode, StepRange};
use super::wavefront::{BandDirections, LANES, MatrixCell, PackedValue, Symbols, Wave};
use crate::simd::{Simd, SimdKernel};

/// A packed value with code for rows of such values.
pub(super) trait RowValue: PackedValue {
    /// Code for rows of these values on the instruction set `S`.
    type RowCode<S: Simd>: RowCode<Self>;
}

impl RowValue for i32 {
    type RowCode<S: Simd> = EightLaneRows<S>;
}

impl RowValue for i64 {
    type RowCode<S: Simd> = Portable;
}

impl RowValue for i128 {
    type RowCode<S: Simd> = Portable;
}

/// The best values in the last column and in the last row, without their common corner. Each
/// includes the end gap that follows its cell. Among equal values, the later cell counts.
#[derive(Debug, Clone, Copy)]
pub(super) struct BorderEnds<T> {
    pub column: ScoredCell<T>,
    pub row: ScoredCell<T>,
}

/// A cell and its value.
#[derive(Debug, Clone, Copy)]
pub(super) struct ScoredCell<T> {
    pub value: T,
    pub cell: MatrixCell,
}

impl<T: RowValue> BandSweep<'_, T> {
    /// Computes a range of steps. `wave` must contain the values of the step before them.
    pub(super) fn advance(
        &self,
        wave: &mut Wave<T>,
        steps: StepRange,
        out: &mut BandDirections,
        ends: Option<&mut BorderEnds<T>>,
    ) {
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
        steps: StepRange,
        out: &mut BandDirections,
        ends: Option<&mut BorderEnds<T>>,
    ) {
        self.instructions.run(Advance::<T, AFFINE, SCORES> { sweep: self, wave, steps, out, ends });
    }

    #[inline(always)]
    fn run<K: RowCode<T>, const AFFINE: bool, const SCORES: u8>(
        &self,
        wave: &mut Wave<T>,
        steps: StepRange,
        out: &mut BandDirections,
        mut ends: Option<&mut BorderEnds<T>>,
    ) {
        let geometry = self.geometry;
        out.restart(steps.from + 1);
        // The fast path is for a narrow band, for the steps after the last border cell and before
        // the first possible end.
        let is_narrow = geometry.lanes <= K::NARROW_LANES;
        let first = if is_narrow { geometry.last_border_step() } else { steps.to }.clamp(steps.from, steps.to);
        let last = if ends.is_some() { self.first_end_step() - 1 } else { steps.to }.clamp(first, steps.to);
        let mut from = steps.from;
        for (to, at_once) in [(first, false), (last, true), (steps.to, false)] {
            let part = StepRange { from, to, ..steps };
            if from < to && at_once {
                K::narrow::<AFFINE, SCORES>(self, wave, part, out);
            } else if from < to {
                self.step_by_step::<K, AFFINE, SCORES>(wave, part, out, ends.as_deref_mut());
            }
            from = to;
        }
    }

    /// Returns the first step that has a cell of the last column or the last row within the band.
    fn first_end_step(&self) -> i64 {
        let BandSweep { symbols: Symbols { m, n, .. }, geometry, .. } = *self;
        let high = geometry.low + 2 * geometry.lanes as i64 - 1;
        (2 * n + geometry.low).min(2 * m - high)
    }

    /// Computes a range of steps one by one.
    #[inline(always)]
    fn step_by_step<K: RowCode<T>, const AFFINE: bool, const SCORES: u8>(
        &self,
        wave: &mut Wave<T>,
        steps: StepRange,
        out: &mut BandDirections,
        mut ends: Option<&mut BorderEnds<T>>,
    ) {
        let BandSweep { symbols, costs, geometry, apex, .. } = *self;
        for step in steps.from + 1..=steps.to {
            let phase = geometry.phase(step);
            let (this, other) = if phase == 0 { (&mut wave.even, &wave.odd) } else { (&mut wave.odd, &wave.even) };

            let needed = geometry.lanes_of(step, apex);
            let base = *needed.start() as usize / LANES * LANES;
            let length =
                if needed.is_empty() { 0 } else { (*needed.end() as usize + 1).next_multiple_of(LANES) - base };
            let start = out.row(base, length, steps.keep);
            if length > 0 {
                let (query_at, target_at) = symbols.lane_zero_indices(geometry, step);
                let (query_at, target_at) = ((query_at + base as i64) as usize, (target_at + base as i64) as usize);
                // The arrays have a guard element before lane 0, so lane p - 1 + phase of `other`
                // is at p + phase.
                let above = base + phase as usize..base + phase as usize + length;
                let left = above.start + 1..above.end + 1;
                let row = LaneRow {
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

            // Border cells: (step, 0) on diagonal `step`, and (0, step) on diagonal `-step`.
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
                // Subtracts the offset of all symbols. The end gap already contributes its own part
                // of the offset.
                let offset = T::from_wide(costs.step.to_wide() * i128::from(m + n)).minus(costs.border(m + n - step));
                let note = |best: &mut ScoredCell<T>, cell: MatrixCell| {
                    if geometry.contains(cell.diagonal()) {
                        let value = this.h[1 + geometry.lane(step, cell.diagonal())].minus(offset);
                        *best = better_or_later(*best, ScoredCell { value, cell });
                    }
                };
                if (n..m + n).contains(&step) {
                    note(&mut ends.column, MatrixCell { i: step - n, j: n });
                }
                if (m..m + n).contains(&step) {
                    note(&mut ends.row, MatrixCell { i: m, j: step - m });
                }
            }
        }
    }
}

/// A range of steps to compute.
struct Advance<'s, 'a, T, const AFFINE: bool, const SCORES: u8> {
    sweep: &'s BandSweep<'a, T>,
    wave: &'s mut Wave<T>,
    steps: StepRange,
    out: &'s mut BandDirections,
    ends: Option<&'s mut BorderEnds<T>>,
}

impl<T: RowValue, const AFFINE: bool, const SCORES: u8> SimdKernel for Advance<'_, '_, T, AFFINE, SCORES> {
    type Output = ();
    const USES_AVX512: bool = false;

    #[inline(always)]
    unsafe fn run<S: Simd>(self) {
        self.sweep.run::<T::RowCode<S>, AFFINE, SCORES>(self.wave, self.steps, self.out, self.ends);
    }
}

fn better_or_later<T: PackedValue>(best: ScoredCell<T>, new: ScoredCell<T>) -> ScoredCell<T> {
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
