//! Sweeps a whole matrix in parts that contain no forbidden cells.
//!
//! If several alignments are wanted, the matrix is divided into sections. Each alignment forbids the
//! cells of its rectangle to the next ones, which changes few other cells. The next sweep computes
//! the sections that contain forbidden cells, and then those below and to the right of a section
//! whose last row or column has changed. All other sections keep their values.
//!
//! The rows of a section are divided into belts. A belt starts or ends where a forbidden rectangle starts or ends,
//! and where it would otherwise exceed the maximum height. In each belt, the forbidden columns
//! separate parts, which are called tiles here. The lower border of a belt is the upper border of
//! the next one. In forbidden columns, and along the right side of a forbidden rectangle, H is 0
//! and no gap continues.

use std::ops::RangeInclusive;
use std::sync::Arc;

use super::checkpoint::Checkpoint;
use crate::alignment::forbidden::{ColumnSegment, ForbiddenRectangle, belts, segments};
use crate::error::Result;
use crate::long::chain::border::{BorderLine, LinePart};
use crate::long::chain::border_store::BorderStore;
use crate::long::chain::engine_pool::EnginePool;
use crate::long::chain::grid::{BorderGrid, MatrixCut, MatrixPosition, MatrixSize};
use crate::long::chain::panels::{Swath, Watch, sweep};
use crate::long::chain::table::MatrixPart;
use crate::long::{BestCell, BestSoFar, BorderSpan, LongPair, NEG_INF, PathPoint, PathState};

/// A swept matrix, divided into sections.
#[derive(Debug, Default)]
pub(super) struct MatrixSweep {
    /// Rows of sections, from top to bottom.
    rows: Vec<SectionRow>,
    /// Rectangles that became forbidden after the last sweep.
    forbidden_since: Vec<ForbiddenRectangle>,
    /// Number of cells of the sections that the last sweep computed. Forbidden cells do not count.
    pub cells: u64,
    /// Number of these cells that were pruned.
    pub pruned_cells: u64,
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
        let size = shared.cut.section.unwrap_or(MatrixSize { rows: m, columns: n });
        let row = |rows| SectionRow {
            rows,
            sections: steps(n, size.columns).map(|columns| MatrixSection::unswept(rows, columns)).collect(),
        };
        let mut pass = MatrixSweep { rows: steps(m, size.rows).map(row).collect(), ..MatrixSweep::default() };
        let whole = [ForbiddenRectangle { query: 0..m, target: 0..n }];
        pass.sweep_from(pair, forbidden, &whole, &mut Some(TileNames { pass: name, next: 0 }), shared)?;
        Ok(pass)
    }

    /// Returns the result of a matrix that was pruned as a whole, because it contains no alignment
    /// of the best score.
    pub(super) fn pruned_matrix(cells: u64, pruned_cells: u64) -> MatrixSweep {
        MatrixSweep { cells, pruned_cells, ..MatrixSweep::default() }
    }

    /// Returns whether the matrix was pruned as a whole.
    pub(super) fn is_pruned_whole(&self) -> bool {
        self.rows.is_empty() && self.cells > 0
    }

    /// Forbids more rectangles. [`MatrixSweep::update`] then computes their sections again.
    pub(super) fn forbid(&mut self, rectangles: &[ForbiddenRectangle]) {
        self.forbidden_since.extend_from_slice(rectangles);
    }

    /// Returns whether rectangles became forbidden after the last sweep.
    pub(super) fn is_outdated(&self) -> bool {
        !self.forbidden_since.is_empty()
    }

    /// Computes the sections again that contain cells with other values since more rectangles are
    /// forbidden. `forbidden` contains all forbidden rectangles.
    ///
    /// # Errors
    /// The errors of [`sweep`].
    pub(super) fn update(
        &mut self,
        pair: &LongPair,
        forbidden: &[ForbiddenRectangle],
        shared: &mut JobShared,
    ) -> Result<()> {
        let changed = std::mem::take(&mut self.forbidden_since);
        // An update takes less time than its logs would save.
        self.sweep_from(pair, forbidden, &changed, &mut None, shared)
    }

    /// Returns the best cell of a local pair (see [`BestCell::better`]).
    pub(super) fn best(&self) -> Option<BestCell> {
        let sections = self.rows.iter().flat_map(|row| &row.sections);
        sections.fold(None, |best, section| BestCell::better(best, section.best))
    }

    /// Returns the tile that contains a cell, with its kept borders.
    pub(super) fn tile_with(&self, cell: MatrixPosition) -> Option<&BorderGrid> {
        let sections = self.rows.iter().filter(|row| row.rows.contains(cell.i)).flat_map(|row| &row.sections);
        sections.flat_map(|section| &section.tiles).find(|tile| tile.holds(cell))
    }

    /// Computes the sections that `changed` touches, and the sections below and to the right of them
    /// whose upper or left border changes.
    fn sweep_from(
        &mut self,
        pair: &LongPair,
        forbidden: &[ForbiddenRectangle],
        changed: &[ForbiddenRectangle],
        names: &mut Option<TileNames>,
        shared: &mut JobShared,
    ) -> Result<()> {
        (self.cells, self.pruned_cells) = (0, 0);
        let n = pair.target.len() as u32;
        let mut top = BorderLine::from_part(0..=n, LinePart::Border);
        // The parts of `top` that have changed.
        let mut changed_top: Vec<RangeInclusive<u32>> = Vec::new();
        for row in &mut self.rows {
            let mut changed_bottom = Vec::new();
            let mut left = BorderLine::from_part(row.rows.lines(), LinePart::Border);
            let mut is_left_changed = false;
            for section in &mut row.sections {
                let BorderSpan { first, last } = section.columns;
                let is_below_change = changed_top.iter().any(|part| *part.start() <= last && first <= *part.end());
                if is_left_changed || is_below_change || changed.iter().any(|part| section.clip(part).is_some()) {
                    let borders = SectionBorders { top: &top, left: &left };
                    let swept = section.sweep(pair, forbidden, borders, names, shared)?;
                    self.cells += swept.cells;
                    self.pruned_cells += swept.pruned_cells;
                    is_left_changed = change(pair, &section.right, &swept.right, section.rows)?.is_some();
                    changed_bottom.extend(change(pair, &section.bottom, &swept.bottom, section.columns)?);
                    *section = swept;
                } else {
                    is_left_changed = false;
                }
                left = section.right.clone();
            }
            (top, changed_top) = (row.bottom(), changed_bottom);
        }
        Ok(())
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
        let bottom = self.rows.last().map(SectionRow::bottom).unwrap_or_default();
        let corner = bottom.slice(pair, n, n)?.h[0];
        if !pair.scoring.has_own_ends() {
            return Ok((corner.into(), at(m, n)));
        }
        let mut right = BorderLine::default();
        self.rows.iter().filter_map(|row| row.sections.last()).for_each(|section| right.extend(&section.right));
        let (row, i) = line_maximum(&right, pair, m)?;
        let (column, j) = line_maximum(&bottom, pair, n)?;
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

/// Divides positions `0..=length` into spans of at most `size` steps.
fn steps(length: u32, size: u32) -> impl Iterator<Item = BorderSpan> {
    let size = size.max(1);
    let last = move |first: u32| first.saturating_add(size).min(length);
    (0..length).step_by(size as usize).map(move |first| BorderSpan::new(first, last(first)))
}

/// Returns the range from the first to the last position of `span` where two lines differ. All
/// positions differ if `before` has no values.
fn change(
    pair: &LongPair,
    before: &BorderLine,
    after: &BorderLine,
    span: BorderSpan,
) -> Result<Option<RangeInclusive<u32>>> {
    let BorderSpan { first, last } = span;
    if before.end().is_none() {
        return Ok(Some(span.lines()));
    }
    let (before, after) = (before.slice(pair, first, last)?, after.slice(pair, first, last)?);
    let differs = |at: &usize| before.h[*at] != after.h[*at] || before.gap[*at] != after.gap[*at];
    let mut positions = 0..before.h.len();
    let lowest = positions.find(differs);
    let highest = positions.rfind(differs).or(lowest);
    Ok(lowest.zip(highest).map(|(lowest, highest)| first + lowest as u32..=first + highest as u32))
}

/// Names of the tiles of a sweep in a checkpoint.
struct TileNames<'a> {
    pass: &'a str,
    /// Number of the next tile.
    next: usize,
}

/// Sections side by side.
#[derive(Debug)]
struct SectionRow {
    rows: BorderSpan,
    sections: Vec<MatrixSection>,
}

impl SectionRow {
    /// Returns the last row.
    fn bottom(&self) -> BorderLine {
        let mut bottom = BorderLine::default();
        self.sections.iter().for_each(|section| bottom.extend(&section.bottom));
        bottom
    }
}

/// A rectangle of the matrix that is computed again as a whole.
#[derive(Debug)]
struct MatrixSection {
    rows: BorderSpan,
    columns: BorderSpan,
    /// The parts without forbidden cells, with their kept borders; empty if no alignments are traced
    /// back.
    tiles: Vec<BorderGrid>,
    /// The best cell of a local pair.
    best: Option<BestCell>,
    /// The last row.
    bottom: BorderLine,
    /// The last column.
    right: BorderLine,
    /// Number of cells that are not forbidden.
    cells: u64,
    /// Number of cells that were pruned.
    pruned_cells: u64,
}

/// The upper and the left border of a section. The lines may be longer than its sides.
#[derive(Clone, Copy)]
struct SectionBorders<'a> {
    top: &'a BorderLine,
    left: &'a BorderLine,
}

impl MatrixSection {
    /// Returns a section without values.
    fn unswept(rows: BorderSpan, columns: BorderSpan) -> MatrixSection {
        let (bottom, right) = Default::default();
        MatrixSection { rows, columns, tiles: Vec::new(), best: None, bottom, right, cells: 0, pruned_cells: 0 }
    }

    /// Returns the part of a rectangle in this section, counted from the section's corner.
    fn clip(&self, rectangle: &ForbiddenRectangle) -> Option<ForbiddenRectangle> {
        rectangle.within(self.rows.first..self.rows.last, self.columns.first..self.columns.last)
    }

    /// Computes the section.
    ///
    /// # Errors
    /// The errors of [`sweep`].
    fn sweep(
        &self,
        pair: &LongPair,
        forbidden: &[ForbiddenRectangle],
        SectionBorders { top, left }: SectionBorders,
        names: &mut Option<TileNames>,
        shared: &mut JobShared,
    ) -> Result<MatrixSection> {
        let (height, width) = (self.rows.length(), self.columns.length());
        let forbidden: Vec<ForbiddenRectangle> = forbidden.iter().filter_map(|part| self.clip(part)).collect();
        let mut swept = MatrixSection::unswept(self.rows, self.columns);
        let mut top = top.clone();
        for belt in belts(&forbidden, height, (0..height).step_by(shared.cut.belt_rows as usize)) {
            let rows = BorderSpan::new(self.rows.first + belt.start, self.rows.first + belt.end);
            let mut bottom = BorderLine::default();
            let mut right = None;
            for ColumnSegment { start, end, is_free } in segments(&forbidden, belt.clone(), width) {
                let columns = BorderSpan::new(self.columns.first + start, self.columns.first + end);
                if !is_free {
                    let corner = if start == 0 { left.slice(pair, rows.last, rows.last)?.h[0] } else { 0 };
                    bottom.push(columns.lines(), LinePart::Masked(corner));
                    right = None;
                    continue;
                }
                let left = match start {
                    0 => left.clone(),
                    _ => masked_column(pair, &top, rows, columns.first)?,
                };
                let swath = tile(pair, rows, columns, SectionBorders { top: &top, left: &left }, names, shared)?;
                let Swath { grid, best, pruned_cells } = swath;
                swept.best = BestCell::better(swept.best, best);
                swept.pruned_cells += pruned_cells;
                swept.cells += u64::from(rows.length()) * u64::from(columns.length());
                grid.across.get(&rows.last).into_iter().for_each(|line| bottom.extend(line));
                right = grid.down.get(&columns.last).cloned();
                if shared.needs_traceback {
                    swept.tiles.push(grid);
                }
            }
            let right = match right {
                Some(right) => right,
                None => masked_column(pair, &top, rows, self.columns.last)?,
            };
            swept.right.extend(&right);
            top = bottom;
        }
        swept.bottom = top;
        Ok(swept)
    }
}

/// Returns the border along the right side of forbidden cells. `top` is the border along the first
/// row.
fn masked_column(pair: &LongPair, top: &BorderLine, rows: BorderSpan, column: u32) -> Result<BorderLine> {
    let corner = top.slice(pair, column, column)?.h[0];
    Ok(BorderLine::from_part(rows.lines(), LinePart::Masked(corner)))
}

/// Sweeps a part of the matrix without forbidden cells.
fn tile(
    pair: &LongPair,
    rows: BorderSpan,
    columns: BorderSpan,
    SectionBorders { top, left }: SectionBorders,
    names: &mut Option<TileNames>,
    shared: &mut JobShared,
) -> Result<Swath> {
    let JobShared { engine_pool, border_store, checkpoint, cut, needs_traceback, prune, best, watch, .. } = shared;
    let mark_every = cut.pitch.map(|_| cut.mark_every);
    let mut saver = None;
    if let (Some(checkpoint), Some(names)) = (&checkpoint, &mut *names) {
        saver = Some(checkpoint.tile(names.pass, names.next, rows, mark_every)?);
        names.next += 1;
    }
    // Cells that are computed again are no progress.
    let watch = Watch { progress: watch.progress.filter(|_| names.is_some()), ..*watch };
    let part = MatrixPart {
        pair: pair.clone(),
        rows,
        columns,
        top: top.clone(),
        left: left.clone(),
        cut: *cut,
        needs_traceback: *needs_traceback,
        prune: *prune,
        best: Arc::clone(best),
    };
    sweep(part, engine_pool, border_store, saver, watch)
}
