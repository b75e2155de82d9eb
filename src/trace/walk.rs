//! The walk back over directions, and how it is done if not all directions fit in memory.
//!
//! If the directions of a sweep would take more than the budget, the sweep only keeps its state every few steps. The
//! walk then goes from the last to the first of these states: from each, the steps up to where the walk stands are
//! swept again, and only over the cells from which that place can be reached; with directions if these fit now, else
//! by states in turn. Values and directions are the same as in one piece, and so is the walk. About the budget is
//! needed, or two states of a band where these are more (a state has two numbers for each diagonal, with affine gaps
//! six), for each level; every level sweeps its part once.

use super::rows::{DELETION_LEAVES, FROM, FROM_DIAGONAL, FROM_INSERTION, INSERTION_LEAVES, Steps, Sweep};
use super::sweep::{Ends, SweepValue};
use super::wavefront::{Cell, Directions, Geometry, LANES, Saved, Wave};
use crate::alignment::{Cigar, Op};
use crate::score::Substitution;
use crate::seq::Code;

/// Steps that are swept in one piece whatever the budget.
const FEWEST_STEPS: i64 = 2;

/// A walk from the ends of two sequences to their beginnings.
pub(super) struct Walk<'a> {
    query: &'a [Code],
    target: &'a [Code],
    substitution: &'a Substitution,
    cell: Cell,
    state: State,
    /// What was walked, last column first.
    cigar: Cigar,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    H,
    Insertion,
    Deletion,
}

impl<'a> Walk<'a> {
    /// A walk that starts from a cell of the last row or column; what lies beyond is an end gap.
    pub(super) fn new(query: &'a [Code], target: &'a [Code], substitution: &'a Substitution, start: Cell) -> Self {
        let mut cigar = Cigar::new();
        cigar.push(columns(query.len() as i64 - start.i), Op::Insertion);
        cigar.push(columns(target.len() as i64 - start.j), Op::Deletion);
        Walk { query, target, substitution, cell: start, state: State::H, cigar }
    }

    /// Whether only an end gap is left, if anything.
    fn is_at_border(&self) -> bool {
        self.cell.i == 0 || self.cell.j == 0
    }

    /// Walks to the border, or past the steps after `from`.
    fn follow(&mut self, directions: &Directions, geometry: Geometry, from: i64, affine: bool) {
        let Cell { mut i, mut j } = self.cell;
        while i > 0 && j > 0 && i + j > from {
            let direction = directions.of(geometry, Cell { i, j });
            if self.state == State::H {
                if direction & FROM == FROM_DIAGONAL {
                    let is_match = self.substitution.is_match(self.query[i as usize - 1], self.target[j as usize - 1]);
                    self.cigar.push(1, if is_match { Op::Match } else { Op::Mismatch });
                    (i, j) = (i - 1, j - 1);
                    continue;
                }
                self.state = if direction & FROM == FROM_INSERTION { State::Insertion } else { State::Deletion };
            }
            let leaves;
            if self.state == State::Insertion {
                self.cigar.push(1, Op::Insertion);
                leaves = direction & INSERTION_LEAVES != 0;
                i -= 1;
            } else {
                self.cigar.push(1, Op::Deletion);
                leaves = direction & DELETION_LEAVES != 0;
                j -= 1;
            }
            if leaves || !affine {
                self.state = State::H;
            }
        }
        self.cell = Cell { i, j };
    }

    /// The alignment of a walk that reached the border.
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

/// A sweep and the memory that it may use for its traceback.
pub(super) struct Tracer<'a, T> {
    pub sweep: Sweep<'a, T>,
    pub wave: &'a mut Wave<T>,
    pub directions: &'a mut Directions,
    pub budget_bytes: usize,
}

impl<T: SweepValue> Tracer<'_, T> {
    /// Sweeps from `from`, after which the wave stands, to `apex`. Returns the states that were kept, or none if the
    /// directions of all these steps are there.
    pub(super) fn sweep_to(&mut self, from: i64, apex: Cell, mut ends: Option<&mut Ends<T>>) -> Vec<Saved<T>> {
        let sweep = Sweep { apex, ..self.sweep };
        let to = apex.step();
        let Some(spacing) = self.spacing(from, apex) else {
            sweep.advance(self.wave, Steps { from, to, keep: true }, self.directions, ends);
            return Vec::new();
        };
        let mut kept = Vec::new();
        let mut at = from;
        while at < to {
            kept.push(self.wave.save(sweep.geometry, at, apex));
            let next = to.min(at + spacing);
            sweep.advance(self.wave, Steps { from: at, to: next, keep: false }, self.directions, ends.as_deref_mut());
            at = next;
        }
        kept
    }

    /// Walks back to `from`, given what [`Self::sweep_to`] kept after it.
    pub(super) fn follow(&mut self, walk: &mut Walk, from: i64, mut kept: Vec<Saved<T>>) {
        let Sweep { geometry, costs, .. } = self.sweep;
        if kept.is_empty() {
            return walk.follow(self.directions, geometry, from, costs.affine);
        }
        while let Some(state) = kept.pop() {
            if walk.is_at_border() {
                return;
            }
            // A diagonal step can jump over a state's step.
            if state.step < walk.cell.step() {
                self.wave.restore(&state);
                let inner = self.sweep_to(state.step, walk.cell, None);
                self.follow(walk, state.step, inner);
            }
        }
    }

    /// Steps between two states to keep in a sweep to `apex`, or `None` if all directions fit in the budget.
    fn spacing(&self, from: i64, apex: Cell) -> Option<i64> {
        let budget = i64::try_from(self.budget_bytes).unwrap_or(i64::MAX);
        let lanes = self.sweep.geometry.lanes as i64;
        let steps = apex.step() - from;
        // Directions are kept for whole blocks of lanes, of the band, of the cells from which the apex can be reached
        // (half a lane fewer a step at either side), and of the matrix up to the apex.
        let per_step = 2 * LANES as i64 + size_of::<usize>() as i64;
        let within_cone = steps.saturating_mul(steps / 2 + 1);
        let cells = steps.saturating_mul(lanes).min(within_cone).min((apex.i + 1).saturating_mul(apex.j + 1));
        if steps <= FEWEST_STEPS || cells.saturating_add(steps * per_step) <= budget {
            return None;
        }
        let numbers = if self.sweep.costs.affine { 6 } else { 2 } * lanes.min(steps + 2);
        let states = (budget / (numbers * size_of::<T>() as i64)).clamp(2, steps);
        // No closer than needed for the next level to fit.
        let fitting = (budget / (lanes + per_step)).max(budget.isqrt());
        Some((steps as u64).div_ceil(states as u64) as i64).map(|spacing| spacing.max(fitting).min((steps + 1) / 2))
    }
}
