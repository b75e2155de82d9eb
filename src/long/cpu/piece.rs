//! Tracebacks of pieces of a path: through a region with known borders, or between two points of
//! the path.
//!
//! # Between two points
//!
//! [`PieceTracer::path_columns`] does not need values of the matrices. It computes *anchored*
//! values: the start has value 0 in its state, every path starts there, and H is not clamped at 0.
//! They give the same path, for the following reason.
//!
//! Let V be the true values, A the anchored values, s the start and e the end, and let the true
//! traceback from e pass through s. An anchored path to a cell c continues every path to s, so
//! V(c) >= V(s) + A(c) in each state. At a cell c of the traceback, the part of the traceback
//! between s and c is an anchored path, so V(c) = V(s) + A(c). At such a cell, a step that gives the true
//! value from a cell of the traceback also gives the anchored value. The true traceback rejected
//! all other steps because their values were too small. Their anchored values are no greater, so
//! they are rejected again. Therefore the steps from e to s are the same.
//!
//! The argument requires that true values follow from V(s) by the recurrences. In the first row and
//! the first column of a region they do not: their values are given, and H is 0 next to forbidden
//! cells. A traceback that reaches them has left the region, so no path continues along them. If
//! the start is in such a row or column, no anchored path may continue along it either
//! ([`StartWalls`]).

use std::ops::Range;

use super::tile::{DirectionStep, TileBuffers, TileDirections, TileScoring};
use crate::alignment::{Cigar, Op};
use crate::long::{Border, NEG_INF, PathPoint, PathState};
use crate::score::{Gaps, Mode, Scoring};
use crate::seq::Code;
use crate::simd::InstructionSet;

/// Traces pieces. The buffers are reused from piece to piece.
#[derive(Debug)]
pub struct PieceTracer {
    scoring: Scoring,
    /// The scoring in two forms: H is clamped at 0 if the pair is local, and H is never clamped.
    schemes: [TileScoring; 2],
    buffers: TileBuffers,
    directions: TileDirections,
}

/// A rectangle of the matrices with rows `top..=top + query.len()` and columns `left..=left +
/// target.len()`.
#[derive(Debug, Clone, Copy)]
pub struct MatrixRectangle<'a> {
    /// First row: the number of query symbols before the rectangle.
    pub top: u32,
    /// First column: the number of target symbols before the rectangle.
    pub left: u32,
    /// Symbols of the rows below the first row.
    pub query: &'a [Code],
    /// Symbols of the columns right of the first column.
    pub target: &'a [Code],
}

impl<'a> MatrixRectangle<'a> {
    /// Returns the rectangle of these rows and columns of a pair. The first row and the first
    /// column are the borders of the rectangle.
    ///
    /// # Panics
    /// If a range ends before it starts, or beyond the pair's end.
    pub fn new(query: &'a [Code], target: &'a [Code], rows: Range<u32>, columns: Range<u32>) -> Self {
        let query = &query[rows.start as usize..rows.end as usize];
        let target = &target[columns.start as usize..columns.end as usize];
        MatrixRectangle { top: rows.start, left: columns.start, query, target }
    }
}

/// States whether the start of a part is in the first row or column of the region. Anchored paths
/// must not continue along such a row or column.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StartWalls {
    /// Whether the start is in the region's first row.
    pub row: bool,
    /// Whether the start is in the region's first column.
    pub column: bool,
}

/// Returns whether anchored values of a rectangle of these rows and columns fit in 32 bits. If not,
/// a path must be traced from known borders.
pub fn anchors_fit(scoring: &Scoring, rows: u32, columns: u32) -> bool {
    let substitution = &scoring.substitution;
    let step = i64::from(scoring.gaps.first.max(scoring.gaps.next))
        .max(i64::from(substitution.max_score()))
        .max(-i64::from(substitution.min_score()));
    // The value of a cell that no path reaches must stay below the worst value of gaps, even after
    // all additions.
    step * (i64::from(rows) + i64::from(columns) + 2) < i64::from(-NEG_INF) / 2
}

impl PieceTracer {
    /// Creates buffers for pairs under this scoring.
    pub fn new(scoring: &Scoring, instruction_set: InstructionSet) -> Self {
        let scheme = |clamp| TileScoring::new(scoring, clamp, instruction_set);
        PieceTracer {
            scoring: scoring.clone(),
            schemes: [scheme(scoring.mode == Mode::Local), scheme(false)],
            buffers: TileBuffers::default(),
            directions: TileDirections::default(),
        }
    }

    /// Returns the bytes of the directions of the last piece.
    pub fn bytes(&self) -> usize {
        self.directions.bytes()
    }

    /// Estimates the bytes of the directions of a piece with this number of rows and columns.
    pub fn bytes_for(instruction_set: InstructionSet, rows: u64, columns: u64) -> u64 {
        let lanes = instruction_set.i32_lanes() as u64;
        // One u64 for each step, including the idle lanes at both ends, and for the last rows,
        // which are computed one by one.
        8 * rows.div_ceil(lanes) * (columns + lanes) + 8 * columns
    }

    /// Returns the columns of the path from `start` to `end`, which must both be on the path of a
    /// pair (see [the module](self)). The rectangle between them must satisfy [`anchors_fit`].
    ///
    /// # Panics
    /// If `end` is above or left of `start`.
    pub fn path_columns(
        &mut self,
        query: &[Code],
        target: &[Code],
        start: PathPoint,
        walls: StartWalls,
        end: PathPoint,
    ) -> Cigar {
        let rectangle = MatrixRectangle::new(query, target, start.i..end.i, start.j..end.j);
        let (m, n) = (rectangle.query.len(), rectangle.target.len());
        let gaps = self.scoring.gaps;
        let mut cigar = Cigar::new();
        let mut to = end;
        if m > 0 && n > 0 {
            let (mut row, mut column) = (
                anchored(gaps, n, start.state == PathState::D, walls.row),
                anchored(gaps, m, start.state == PathState::I, walls.column),
            );
            // The gap that enters the first row below the start extends the gap at the start.
            row.gap[0] = column.h[1];
            column.gap[0] = row.h[1];
            let (top, left) = (row.clone(), column.clone());
            let PieceTracer { schemes, buffers, directions, .. } = self;
            schemes[1].directions(rectangle.query, rectangle.target, &mut row, &mut column, directions, buffers);
            (to, _) = self.trace_back(rectangle, &top, &left, end, &mut cigar);
        }
        // In the row or the column of the start, the path is a single gap.
        cigar.push(to.i - start.i, Op::Insertion);
        cigar.push(to.j - start.j, Op::Deletion);
        cigar.reverse();
        cigar
    }

    /// Traces back from `end`, which must be in a rectangle with known upper and left borders.
    /// Stops at the rectangle's first row or column, or at the start of a local alignment. Returns
    /// the columns, the last position, and whether a local alignment starts there.
    ///
    /// # Panics
    /// If `end` is not in the rectangle, or the borders are shorter than the rectangle.
    pub fn trace_with_borders(
        &mut self,
        rectangle: MatrixRectangle<'_>,
        top: &Border,
        left: &Border,
        end: PathPoint,
    ) -> (Cigar, PathPoint, bool) {
        let mut cigar = Cigar::new();
        let (m, n) = ((end.i - rectangle.top) as usize, (end.j - rectangle.left) as usize);
        if m > 0 && n > 0 {
            // Cells below the end or to the right of it are not needed.
            let part =
                |border: &Border, last: usize| Border { h: border.h[..=last].into(), gap: border.gap[..=last].into() };
            let (mut row, mut column) = (part(top, n), part(left, m));
            let PieceTracer { schemes, buffers, directions, .. } = self;
            let (query, target) = (&rectangle.query[..m], &rectangle.target[..n]);
            schemes[0].directions(query, target, &mut row, &mut column, directions, buffers);
        }
        let (to, ended) = self.trace_back(rectangle, top, left, end, &mut cigar);
        let ended = ended || {
            let h = if to.i == rectangle.top {
                top.h[(to.j - rectangle.left) as usize]
            } else {
                left.h[(to.i - rectangle.top) as usize]
            };
            self.scoring.mode == Mode::Local && to.state == PathState::H && h == 0
        };
        cigar.reverse();
        (cigar, to, ended)
    }

    /// Follows the directions and appends columns, from the last to the first.
    fn trace_back(
        &self,
        rectangle: MatrixRectangle<'_>,
        top: &Border,
        left: &Border,
        end: PathPoint,
        cigar: &mut Cigar,
    ) -> (PathPoint, bool) {
        let MatrixRectangle { top: first_row, left: first_column, query, target } = rectangle;
        let first = self.scoring.gaps.first;
        let leaves = |border: &Border, index: usize| border.gap[index] == border.h[index] - first;
        let (mut i, mut j, mut state) = ((end.i - first_row) as usize, (end.j - first_column) as usize, end.state);
        let mut ended = false;
        while i > 0 && j > 0 && !ended {
            match state {
                PathState::H => match self.directions.step(i - 1, j - 1) {
                    DirectionStep::Ends => ended = true,
                    DirectionStep::Two => {
                        (i, j) = (i - 1, j - 1);
                        let is_match = self.scoring.substitution.is_match(query[i], target[j]);
                        cigar.push(1, if is_match { Op::Match } else { Op::Mismatch });
                    }
                    DirectionStep::Insertion => state = PathState::I,
                    DirectionStep::Deletion => state = PathState::D,
                },
                PathState::I => {
                    cigar.push(1, Op::Insertion);
                    i -= 1;
                    let left = if i == 0 { leaves(top, j) } else { self.directions.insertion_leaves(i - 1, j - 1) };
                    state = if left { PathState::H } else { PathState::I };
                }
                PathState::D => {
                    cigar.push(1, Op::Deletion);
                    j -= 1;
                    let left = if j == 0 { leaves(left, i) } else { self.directions.deletion_leaves(i - 1, j - 1) };
                    state = if left { PathState::H } else { PathState::D };
                }
            }
        }
        (PathPoint { i: first_row + i as u32, j: first_column + j as u32, state }, ended)
    }
}

/// Returns anchored values along the row or column of the start. They are those of one gap, which
/// extends the gap of the start if `is_inside`. With a `wall`, no path continues, and H is minus
/// infinity in all cells after the start.
fn anchored(gaps: Gaps, length: usize, is_inside: bool, wall: bool) -> Border {
    let h: Vec<i32> = (0..=length)
        .map(|k| match (k, is_inside) {
            (0, _) => 0,
            _ if wall => NEG_INF,
            (_, true) => -(k as i32) * gaps.next,
            (_, false) => -(gaps.cost(k as u64) as i32),
        })
        .collect();
    let gap = h.iter().map(|h| h - gaps.first).collect();
    Border { h, gap }
}

#[cfg(test)]
mod tests;
