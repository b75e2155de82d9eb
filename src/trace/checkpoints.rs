//! The traceback over the directions of a sweep, with checkpoints if the directions do not fit in
//! memory.
//!
//! If the directions would exceed the budget, the sweep only saves a checkpoint of its state every
//! few steps. The traceback then visits the checkpoints from the last to the first. At each
//! checkpoint, it sweeps again from there to its current cell. This second sweep computes only
//! cells that can lead to the current cell. It keeps directions if these fit in the budget.
//! Otherwise it saves checkpoints in turn. Values and directions do not depend on this division, so
//! the traceback is the same.
//!
//! Every depth of this recursion needs memory of about the budget, or of two checkpoints of the
//! band if these are larger. A checkpoint has two numbers for each diagonal, or six with affine
//! gaps. Every depth sweeps its steps once.

use super::rows::{BandSweep, DELETION_LEAVES, FROM, FROM_DIAGONAL, FROM_INSERTION, INSERTION_LEAVES, StepRange};
use super::sweep::{BorderEnds, RowValue};
use super::wavefront::{BandDirections, Geometry, LANES, MatrixCell, Wave, WaveCheckpoint};
use crate::alignment::{Cigar, Op};
use crate::score::Substitution;
use crate::seq::Code;

/// Greatest number of steps that are swept without checkpoints, whatever the budget.
const FEWEST_STEPS: i64 = 2;

/// A traceback from the ends of two sequences to their starts.
pub(super) struct Traceback<'a> {
    query: &'a [Code],
    target: &'a [Code],
    substitution: &'a Substitution,
    cell: MatrixCell,
    state: TracebackState,
    /// Columns found so far, from the last column to the first.
    cigar: Cigar,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TracebackState {
    H,
    Insertion,
    Deletion,
}

impl<'a> Traceback<'a> {
    /// Returns a traceback that starts from a cell of the last row or column. The symbols beyond
    /// the cell form an end gap.
    pub(super) fn new(
        query: &'a [Code],
        target: &'a [Code],
        substitution: &'a Substitution,
        start: MatrixCell,
    ) -> Self {
        let mut cigar = Cigar::new();
        cigar.push(columns(query.len() as i64 - start.i), Op::Insertion);
        cigar.push(columns(target.len() as i64 - start.j), Op::Deletion);
        Traceback { query, target, substitution, cell: start, state: TracebackState::H, cigar }
    }

    /// Returns whether the rest of the alignment is at most one end gap.
    fn is_at_border(&self) -> bool {
        self.cell.i == 0 || self.cell.j == 0
    }

    /// Follows the directions to the border, or until the cell's step is at most `from`.
    fn follow(&mut self, directions: &BandDirections, geometry: Geometry, from: i64, affine: bool) {
        let MatrixCell { mut i, mut j } = self.cell;
        while i > 0 && j > 0 && i + j > from {
            let direction = directions.direction(geometry, MatrixCell { i, j });
            if self.state == TracebackState::H {
                if direction & FROM == FROM_DIAGONAL {
                    let is_match = self.substitution.is_match(self.query[i as usize - 1], self.target[j as usize - 1]);
                    self.cigar.push(1, if is_match { Op::Match } else { Op::Mismatch });
                    (i, j) = (i - 1, j - 1);
                    continue;
                }
                self.state = if direction & FROM == FROM_INSERTION {
                    TracebackState::Insertion
                } else {
                    TracebackState::Deletion
                };
            }
            let leaves;
            if self.state == TracebackState::Insertion {
                self.cigar.push(1, Op::Insertion);
                leaves = direction & INSERTION_LEAVES != 0;
                i -= 1;
            } else {
                self.cigar.push(1, Op::Deletion);
                leaves = direction & DELETION_LEAVES != 0;
                j -= 1;
            }
            if leaves || !affine {
                self.state = TracebackState::H;
            }
        }
        self.cell = MatrixCell { i, j };
    }

    /// Returns the alignment of a traceback that has reached the border.
    pub(super) fn finish(mut self) -> Cigar {
        self.cigar.push(columns(self.cell.i), Op::Insertion);
        self.cigar.push(columns(self.cell.j), Op::Deletion);
        self.cigar.reverse();
        self.cigar
    }
}

fn columns(symbols: i64) -> u32 {
    u32::try_from(symbols).expect("a sequence of fewer than 2^32 symbols")
}

/// A sweep with the memory that its traceback may use.
pub(super) struct CheckpointedSweep<'a, T> {
    pub sweep: BandSweep<'a, T>,
    pub wave: &'a mut Wave<T>,
    pub directions: &'a mut BandDirections,
    pub budget_bytes: usize,
}

impl<T: RowValue> CheckpointedSweep<'_, T> {
    /// Sweeps from step `from`, which must be the wave's current step, to `apex`. Returns the
    /// checkpoints that were saved. The vector is empty if the directions of all these steps were
    /// kept instead.
    pub(super) fn sweep_to_apex(
        &mut self,
        from: i64,
        apex: MatrixCell,
        mut ends: Option<&mut BorderEnds<T>>,
    ) -> Vec<WaveCheckpoint<T>> {
        let sweep = BandSweep { apex, ..self.sweep };
        let to = apex.step();
        let Some(spacing) = self.spacing(from, apex) else {
            sweep.advance(self.wave, StepRange { from, to, keep: true }, self.directions, ends);
            return Vec::new();
        };
        let mut kept = Vec::new();
        let mut at = from;
        while at < to {
            kept.push(self.wave.save(sweep.geometry, at, apex));
            let next = to.min(at + spacing);
            sweep.advance(
                self.wave,
                StepRange { from: at, to: next, keep: false },
                self.directions,
                ends.as_deref_mut(),
            );
            at = next;
        }
        kept
    }

    /// Follows the directions back to step `from`, given the checkpoints that
    /// [`Self::sweep_to_apex`] returned for the steps after it.
    pub(super) fn follow(&mut self, path: &mut Traceback, from: i64, mut kept: Vec<WaveCheckpoint<T>>) {
        let BandSweep { geometry, costs, .. } = self.sweep;
        if kept.is_empty() {
            return path.follow(self.directions, geometry, from, costs.affine);
        }
        while let Some(state) = kept.pop() {
            if path.is_at_border() {
                return;
            }
            // A diagonal step can pass over the step of a checkpoint.
            if state.step < path.cell.step() {
                self.wave.restore(&state);
                let inner = self.sweep_to_apex(state.step, path.cell, None);
                self.follow(path, state.step, inner);
            }
        }
    }

    /// Returns the number of steps between two checkpoints of a sweep to `apex`, or `None` if all
    /// directions fit in the budget.
    fn spacing(&self, from: i64, apex: MatrixCell) -> Option<i64> {
        let budget = i64::try_from(self.budget_bytes).unwrap_or(i64::MAX);
        let lanes = self.sweep.geometry.lanes as i64;
        let steps = apex.step() - from;
        // Directions are kept for whole blocks of lanes. Three sets of lanes bound their number:
        // the lanes of the band, the lanes that can lead to the apex (half a lane fewer per step on
        // either side), and the lanes of the matrix up to the apex.
        let per_step = 2 * LANES as i64 + size_of::<usize>() as i64;
        let within_cone = steps.saturating_mul(steps / 2 + 1);
        let cells = steps.saturating_mul(lanes).min(within_cone).min((apex.i + 1).saturating_mul(apex.j + 1));
        if steps <= FEWEST_STEPS || cells.saturating_add(steps * per_step) <= budget {
            return None;
        }
        let numbers = if self.sweep.costs.affine { 6 } else { 2 } * lanes.min(steps + 2);
        let states = (budget / (numbers * size_of::<T>() as i64)).clamp(2, steps);
        // The spacing is large enough for the next depth to fit in the budget.
        let fitting = (budget / (lanes + per_step)).max(budget.isqrt());
        Some((steps as u64).div_ceil(states as u64) as i64).map(|spacing| spacing.max(fitting).min((steps + 1) / 2))
    }
}
