//! The whole matrix, swept in parts that are free of forbidden cells.
//!
//! Rows are cut into belts: where a forbidden rectangle begins or ends, and where a belt would be too long. In a belt,
//! what lies between the forbidden columns are the tiles. The bottom of a belt is the top of the next; where it is
//! forbidden, and along the right side of a forbidden rectangle, H is 0 and no gap goes on.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use super::checkpoint::Checkpoint;
use crate::error::Result;
use crate::long::chain::border::{Line, Part};
use crate::long::chain::edge_store::EdgeStore;
use crate::long::chain::engine_pool::EnginePool;
use crate::long::chain::grid::{Cut, Grid};
use crate::long::chain::panels::{Swath, Watch, sweep};
use crate::long::chain::table::MatrixPart;
use crate::long::{Best, BestSoFar, LongPair, NEVER, Point, State};

/// Symbols of query and target that no alignment may pair or pass by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Forbidden {
    /// Of the query, on the strand that is aligned.
    pub query: Range<u32>,
    /// Of the target.
    pub target: Range<u32>,
}

/// The swept matrix.
#[derive(Debug, Default)]
pub(super) struct Pass {
    /// Its tiles, if alignments are walked back.
    pub tiles: Vec<Grid>,
    /// The best cell of a local pair.
    pub best: Option<Best>,
    /// Its cells, without those that are forbidden.
    pub cells: u64,
    /// Cells that were not computed.
    pub pruned_cells: u64,
    /// The last row.
    bottom: Line,
    /// The last column, if there is one that is not forbidden.
    right: Line,
}

/// What all sweeps of a job share.
pub(super) struct JobShared<'a> {
    /// The engines.
    pub engine_pool: &'a mut EnginePool,
    /// Where edges are kept.
    pub edge_store: Arc<EdgeStore>,
    /// Where it is written down how far the job is.
    pub checkpoint: Option<Checkpoint>,
    /// How parts are cut.
    pub cut: Cut,
    /// Whether alignments are walked back, so that tiles are needed.
    pub walks: bool,
    /// Whether hopeless cells may be left out.
    pub prune: bool,
    /// The best score yet.
    pub best: Arc<BestSoFar>,
    /// Who is told, and who may stop it.
    pub watch: Watch<'a>,
}

/// Columns of a belt from left to right, and whether they are free.
fn segments(forbidden: &[Forbidden], belt: (u32, u32), columns: u32) -> Vec<(u32, u32, bool)> {
    let mut masked: Vec<(u32, u32)> = forbidden
        .iter()
        .filter(|part| part.query.start <= belt.0 && belt.1 <= part.query.end && !part.target.is_empty())
        .map(|part| (part.target.start, part.target.end))
        .collect();
    masked.sort_unstable();
    let mut segments: Vec<(u32, u32, bool)> = Vec::new();
    let mut at = 0;
    for (start, end) in masked {
        if start > at {
            segments.push((at, start, true));
        }
        match segments.last_mut() {
            Some(last) if !last.2 && start <= last.1 => last.1 = last.1.max(end),
            _ => segments.push((start, end, false)),
        }
        at = at.max(end);
    }
    if at < columns {
        segments.push((at, columns, true));
    }
    segments
}

impl Pass {
    /// Sweeps the matrix of a pair. `name` is where it is written down how far that is.
    ///
    /// # Errors
    /// As [`sweep`].
    pub(super) fn run(pair: &LongPair, forbidden: &[Forbidden], name: &str, shared: &mut JobShared) -> Result<Pass> {
        let (m, n) = (pair.query.len() as u32, pair.target.len() as u32);
        let mut pass = Pass { bottom: Line::of(0..=n, Part::Border), ..Pass::default() };
        let mut cuts: BTreeSet<u32> = (0..m).step_by(shared.cut.belt_rows as usize).chain([m]).collect();
        cuts.extend(forbidden.iter().flat_map(|part| [part.query.start, part.query.end]));
        let cuts: Vec<u32> = cuts.into_iter().collect();
        let mut number = 0;
        for belt in cuts.windows(2).map(|pair| (pair[0], pair[1])) {
            let top = std::mem::take(&mut pass.bottom);
            for (first, last, free) in segments(forbidden, belt, n) {
                if !free {
                    pass.bottom.push(first..=last, Part::Masked(0));
                    continue;
                }
                let left = match first {
                    0 => Part::Border,
                    _ => Part::Masked(top.slice(pair, first, first)?.h[0]),
                };
                let left = Line::of(belt.0..=belt.1, left);
                let swath = tile(pair, belt, (first, last), &top, &left, (name, number), shared)?;
                number += 1;
                pass.add(swath, n, shared.walks);
            }
        }
        Ok(pass)
    }

    /// A matrix that was passed over: no alignment of the best score yet is in it.
    pub(super) fn over(cells: u64, pruned_cells: u64) -> Pass {
        Pass { cells, pruned_cells, ..Pass::default() }
    }

    fn add(&mut self, swath: Swath, columns: u32, keep: bool) {
        let Swath { grid, best, pruned_cells } = swath;
        self.best = Best::better(self.best, best);
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

    /// The score of a global pair, and the cell from which it is walked back: the corner, or where end gaps have costs of
    /// their own that which rule 3 of [`crate::trace`] names.
    ///
    /// # Errors
    /// As [`Line::slice`].
    pub(super) fn end(&self, pair: &LongPair) -> Result<(i64, Point)> {
        let (m, n) = (pair.query.len() as u32, pair.target.len() as u32);
        let at = |i, j| Point { i, j, state: State::H };
        if m == 0 || n == 0 {
            let score = -pair.scoring.end_costs().cost(u64::from(m) + u64::from(n));
            return Ok((score, at(m, n)));
        }
        let corner = self.bottom.slice(pair, n, n)?.h[0];
        if !pair.scoring.has_own_ends() {
            return Ok((corner.into(), at(m, n)));
        }
        let (row, i) = greatest(&self.right, pair, m)?;
        let (column, j) = greatest(&self.bottom, pair, n)?;
        Ok(match corner.max(row).max(column) {
            best if best == corner => (best.into(), at(m, n)),
            best if best == row => (best.into(), at(i, n)),
            best => (best.into(), at(m, j)),
        })
    }
}

/// The greatest H of a line that begins at 0, each less the end gap from there on, and the last place that has it.
fn greatest(line: &Line, pair: &LongPair, last: u32) -> Result<(i32, u32)> {
    let ends = pair.scoring.end_costs();
    let mut best = (i32::MIN, 0);
    for first in (0..=last).step_by(1 << 20) {
        let part = line.slice(pair, first, last.min(first.saturating_add((1 << 20) - 1)))?;
        for (&h, place) in part.h.iter().zip(first..) {
            // Fits: no end gap costs more than the inner gap that LongPair::fits has room for.
            let value = i64::from(h) - ends.cost(u64::from(last - place));
            best = best.max((i32::try_from(value).unwrap_or(NEVER), place));
        }
    }
    Ok(best)
}

fn tile(
    pair: &LongPair,
    rows: (u32, u32),
    columns: (u32, u32),
    top: &Line,
    left: &Line,
    (name, number): (&str, usize),
    shared: &mut JobShared,
) -> Result<Swath> {
    let JobShared { engine_pool, edge_store, checkpoint, cut, walks, prune, best, watch, .. } = shared;
    let mark_every = cut.pitch.map(|_| cut.mark_every);
    let saver = checkpoint.as_ref().map(|checkpoint| checkpoint.tile(name, number, rows, mark_every)).transpose()?;
    let (pair, top, left, best) = (pair.clone(), top.clone(), left.clone(), Arc::clone(best));
    let part = MatrixPart { pair, rows, columns, top, left, cut: *cut, walks: *walks, prune: *prune, best };
    sweep(part, engine_pool, edge_store, saver, *watch)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_between_forbidden_ones() {
        let part = |query, target| Forbidden { query, target };
        assert_eq!(segments(&[], (0, 9), 7), [(0, 7, true)]);
        let parts = [part(2..6, 3..5), part(0..4, 4..6), part(0..9, 0..1)];
        assert_eq!(segments(&parts, (2, 4), 8), [(0, 1, false), (1, 3, true), (3, 6, false), (6, 8, true)]);
        assert_eq!(segments(&parts, (4, 6), 5), [(0, 1, false), (1, 3, true), (3, 5, false)]);
        assert_eq!(segments(&parts, (6, 9), 5), [(0, 1, false), (1, 5, true)]);
    }
}
