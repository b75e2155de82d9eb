//! Sweeps a whole matrix in parts that contain no forbidden cells.
//!
//! Rows are divided into belts. A belt starts or ends where a forbidden rectangle starts or ends,
//! and where it would otherwise exceed the maximum height. In each belt, the forbidden columns
//! separate parts, which are called tiles here. The lower border of a belt is the upper border of
//! the next one. In forbidden columns, and along the right side of a forbidden rectangle, H is 0
//! and no gap continues.

use std::sync::Arc;

use super::checkpoint::Checkpoint;
use crate::alignment::forbidden::{ColumnSegment, ForbiddenRectangle, belts, segments};
use crate::error::Result;
use crate::long::chain::border::{BorderLine, LinePart};
use crate::long::chain::border_store::BorderStore;
use crate::long::chain::engine_pool::EnginePool;
use crate::long::chain::grid::{BorderGrid, MatrixCut};
use crate::long::chain::panels::{Swath, Watch, sweep};
use crate::long::chain::table::MatrixPart;
use crate::long::{BestCell, BestSoFar, LongPair, NEG_INF, PathPoint, PathState};

/// A swept matrix.
#[derive(Debug, Default)]
pub(super) struct MatrixSweep {
    /// Swept tiles with their kept borders; empty if no alignments are traced back.
    pub tiles: Vec<BorderGrid>,
    /// The best cell of a local pair.
    pub best: Option<BestCell>,
    /// Number of cells that are not forbidden.
    pub cells: u64,
    /// Number of cells that were pruned.
    pub pruned_cells: u64,
    /// The last row.
    bottom: BorderLine,
    /// The last column, except in forbidden rows.
    right: BorderLine,
}

/// State that all sweeps of a job share.
pub(super) struct JobShared<'a> {
    /// The engines.
    pub engine_pool: &'a mut EnginePool,
    /// Store of borders.
    pub border_store: Arc<BorderStore>,
    /// The checkpoint.
    pub checkpoint: Option<Checkpoint>,
    /// Sizes of the parts.
    pub cut: MatrixCut,
    /// Whether alignments are traced back, so that tiles are needed.
    pub needs_traceback: bool,
    /// Whether cells that cannot reach the best score may be pruned.
    pub prune: bool,
    /// The best score so far.
    pub best: Arc<BestSoFar>,
    /// Interrupt and progress.
    pub watch: Watch<'a>,
}

impl MatrixSweep {
    /// Sweeps the matrix of a pair. `name` names the sweep in the checkpoint.
    ///
    /// # Errors
    /// The errors of [`sweep`].
    pub(super) fn run(
        pair: &LongPair,
        forbidden: &[ForbiddenRectangle],
        name: &str,
        shared: &mut JobShared,
    ) -> Result<MatrixSweep> {
        let (m, n) = (pair.query.len() as u32, pair.target.len() as u32);
        let mut pass = MatrixSweep { bottom: BorderLine::from_part(0..=n, LinePart::Border), ..MatrixSweep::default() };
        let mut number = 0;
        for belt in belts(forbidden, m, (0..m).step_by(shared.cut.belt_rows as usize)) {
            let top = std::mem::take(&mut pass.bottom);
            for ColumnSegment { start: first, end: last, is_free } in segments(forbidden, belt.clone(), n) {
                if !is_free {
                    pass.bottom.push(first..=last, LinePart::Masked(0));
                    continue;
                }
                let left = match first {
                    0 => LinePart::Border,
                    _ => LinePart::Masked(top.slice(pair, first, first)?.h[0]),
                };
                let left = BorderLine::from_part(belt.start..=belt.end, left);
                let swath = tile(pair, (belt.start, belt.end), (first, last), &top, &left, (name, number), shared)?;
                number += 1;
                pass.add(swath, n, shared.needs_traceback);
            }
        }
        Ok(pass)
    }

    /// Returns the result of a matrix that was pruned as a whole, because it contains no alignment
    /// of the best score.
    pub(super) fn pruned_matrix(cells: u64, pruned_cells: u64) -> MatrixSweep {
        MatrixSweep { cells, pruned_cells, ..MatrixSweep::default() }
    }

    fn add(&mut self, swath: Swath, columns: u32, keep: bool) {
        let Swath { grid, best, pruned_cells } = swath;
        self.best = BestCell::better(self.best, best);
        self.pruned_cells += pruned_cells;
        self.cells += u64::from(grid.rows.1 - grid.rows.0) * u64::from(grid.columns.1 - grid.columns.0);
        if let Some(bottom) = grid.across.get(&grid.rows.1) {
            self.bottom.extend(bottom);
        }
        if let Some(right) = grid.down.get(&columns).filter(|_| self.right.end().is_none_or(|row| row == grid.rows.0)) {
            self.right.extend(right);
        }
        if keep {
            self.tiles.push(grid);
        }
    }

    /// Returns the score of a global pair, and the first cell of its traceback: the corner, or the
    /// cell that rule 3 of [`crate::trace`] names if end gaps have costs of their own.
    ///
    /// # Errors
    /// The errors of [`BorderLine::slice`].
    pub(super) fn end(&self, pair: &LongPair) -> Result<(i64, PathPoint)> {
        let (m, n) = (pair.query.len() as u32, pair.target.len() as u32);
        let at = |i, j| PathPoint { i, j, state: PathState::H };
        if m == 0 || n == 0 {
            let score = -pair.scoring.end_costs().cost(u64::from(m) + u64::from(n));
            return Ok((score, at(m, n)));
        }
        let corner = self.bottom.slice(pair, n, n)?.h[0];
        if !pair.scoring.has_own_ends() {
            return Ok((corner.into(), at(m, n)));
        }
        let (row, i) = line_maximum(&self.right, pair, m)?;
        let (column, j) = line_maximum(&self.bottom, pair, n)?;
        Ok(match corner.max(row).max(column) {
            best if best == corner => (best.into(), at(m, n)),
            best if best == row => (best.into(), at(i, n)),
            best => (best.into(), at(m, j)),
        })
    }
}

/// Returns the maximum of H minus the cost of the end gap that follows, along a line that starts at
/// position 0. Also returns the last position with this value.
fn line_maximum(line: &BorderLine, pair: &LongPair, last: u32) -> Result<(i32, u32)> {
    let ends = pair.scoring.end_costs();
    let mut best = (i32::MIN, 0);
    for first in (0..=last).step_by(1 << 20) {
        let part = line.slice(pair, first, last.min(first.saturating_add((1 << 20) - 1)))?;
        for (&h, position) in part.h.iter().zip(first..) {
            // The value fits in 32 bits, because `LongPair::fits` has checked an inner gap of this
            // length, and an end gap costs no more.
            let value = i64::from(h) - ends.cost(u64::from(last - position));
            best = best.max((i32::try_from(value).unwrap_or(NEG_INF), position));
        }
    }
    Ok(best)
}

fn tile(
    pair: &LongPair,
    rows: (u32, u32),
    columns: (u32, u32),
    top: &BorderLine,
    left: &BorderLine,
    (name, number): (&str, usize),
    shared: &mut JobShared,
) -> Result<Swath> {
    let JobShared { engine_pool, border_store, checkpoint, cut, needs_traceback, prune, best, watch, .. } = shared;
    let mark_every = cut.pitch.map(|_| cut.mark_every);
    let saver = checkpoint.as_ref().map(|checkpoint| checkpoint.tile(name, number, rows, mark_every)).transpose()?;
    let (pair, top, left, best) = (pair.clone(), top.clone(), left.clone(), Arc::clone(best));
    let part = MatrixPart {
        pair,
        rows,
        columns,
        top,
        left,
        cut: *cut,
        needs_traceback: *needs_traceback,
        prune: *prune,
        best,
    };
    sweep(part, engine_pool, border_store, saver, *watch)
}
