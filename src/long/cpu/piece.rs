//! Pieces of a long pair's path: through a region with known edges, or between two of its points.
//!
//! # Between two points
//!
//! [`Pieces::between`] needs no values of the matrices. It computes them *anchored*: the start has value 0 in its state, nothing
//! but the start is where a path begins, and H is not cut off at 0. Let V be the true values, A the anchored ones, s the
//! start and e the end, and let the true walk from e come by s. Every anchored path to a cell c goes on from s, so
//! V(c) >= V(s) + A(c) in each state; and the part of the walk between s and a cell of it is an anchored path, so with
//! V(c) = V(s) + A(c) for the walk's cells. At such a cell, a step that gives the true value from a cell of the walk
//! gives the anchored one as well. A step that the true walk refused, because its value was too small, has an anchored
//! value no greater: it is refused again. So the steps are the same, from e to s.
//!
//! All of this asks that true values follow from V(s) by the recurrence. Along the first row and the first column of a region
//! they do not: there they are given, and beside what is forbidden H is 0. No path goes on along them within the region, for it
//! has left it there; so where the start is on one of them, no anchored path does either ([`Walls`]).

use std::ops::Range;

use super::tile::{Directions, Scheme, Step, TileBuffers};
use crate::alignment::{Cigar, Op};
use crate::long::{Edge, NEVER, Point, State};
use crate::score::{Gaps, Mode, Scoring};
use crate::seq::Code;
use crate::simd::InstructionSet;

/// What walks back: a scheme and buffers that live from piece to piece.
#[derive(Debug)]
pub struct Pieces {
    scoring: Scoring,
    /// With H cut off at 0 if the pair is local; and never.
    schemes: [Scheme; 2],
    room: TileBuffers,
    directions: Directions,
}

/// A rectangle of the matrices: rows `top..=top + query.len()`, likewise columns.
#[derive(Debug, Clone, Copy)]
pub struct Rectangle<'a> {
    /// Its first row: the query's symbols before it.
    pub top: u32,
    /// Its first column.
    pub left: u32,
    /// The symbols of the rows below the first.
    pub query: &'a [Code],
    /// The symbols of the columns behind the first.
    pub target: &'a [Code],
}

impl<'a> Rectangle<'a> {
    /// Returns the rectangle of these rows and columns of a pair. The first of each is the
    /// rectangle's edge.
    ///
    /// # Panics
    /// If a range ends before it starts, or beyond the pair's end.
    pub fn new(query: &'a [Code], target: &'a [Code], rows: Range<u32>, columns: Range<u32>) -> Self {
        let query = &query[rows.start as usize..rows.end as usize];
        let target = &target[columns.start as usize..columns.end as usize];
        Rectangle { top: rows.start, left: columns.start, query, target }
    }
}

/// Along which of its row and column a part's start has nothing: those that are the region's first ones.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Walls {
    /// The start is in the region's first row.
    pub row: bool,
    /// The start is in the region's first column.
    pub column: bool,
}

/// Whether anchored values of a rectangle of so many rows and columns suffice, even where no path goes: else a path is to be
/// traced from known edges.
pub fn anchors_fit(scoring: &Scoring, rows: u32, columns: u32) -> bool {
    let substitution = &scoring.substitution;
    let step = i64::from(scoring.gaps.first.max(scoring.gaps.next))
        .max(i64::from(substitution.max_score()))
        .max(-i64::from(substitution.min_score()));
    // Below what is reached by gaps alone, what no path has must stay whatever it gains.
    step * (i64::from(rows) + i64::from(columns) + 2) < i64::from(-NEVER) / 2
}

impl Pieces {
    /// For pairs under this scoring.
    pub fn new(scoring: &Scoring, level: InstructionSet) -> Self {
        let scheme = |clamp| Scheme::new(scoring, clamp, level);
        Pieces {
            scoring: scoring.clone(),
            schemes: [scheme(scoring.mode == Mode::Local), scheme(false)],
            room: TileBuffers::default(),
            directions: Directions::default(),
        }
    }

    /// Bytes of the directions that the last piece was walked by.
    pub fn bytes(&self) -> usize {
        self.directions.bytes()
    }

    /// Bytes that directions of so many rows and columns take with these instructions, about.
    pub fn bytes_for(level: InstructionSet, rows: u64, columns: u64) -> u64 {
        let lanes = level.i32_lanes() as u64;
        // A word for each step, some lanes idle at either end; and for the last rows, computed one by one.
        8 * rows.div_ceil(lanes) * (columns + lanes) + 8 * columns
    }

    /// The columns of the path from `start` to `end`, both on the path of a pair ([the module](self) has more). The
    /// rectangle between them is to be no larger than [`anchors_fit`] admits.
    ///
    /// # Panics
    /// If `end` is above or left of `start`.
    pub fn between(&mut self, query: &[Code], target: &[Code], start: Point, walls: Walls, end: Point) -> Cigar {
        let rectangle = Rectangle::new(query, target, start.i..end.i, start.j..end.j);
        let (m, n) = (rectangle.query.len(), rectangle.target.len());
        let gaps = self.scoring.gaps;
        let mut cigar = Cigar::new();
        let mut to = end;
        if m > 0 && n > 0 {
            let (mut row, mut column) = (
                anchored(gaps, n, start.state == State::D, walls.row),
                anchored(gaps, m, start.state == State::I, walls.column),
            );
            // What enters the first row below the start extends the gap that the start is in.
            row.gap[0] = column.h[1];
            column.gap[0] = row.h[1];
            let (top, left) = (row.clone(), column.clone());
            let Pieces { schemes, room, directions, .. } = self;
            schemes[1].directions(rectangle.query, rectangle.target, &mut row, &mut column, directions, room);
            (to, _) = self.walk(rectangle, &top, &left, end, &mut cigar);
        }
        // Along the start's row or column there is one gap.
        cigar.push(to.i - start.i, Op::Insertion);
        cigar.push(to.j - start.j, Op::Deletion);
        cigar.reverse();
        cigar
    }

    /// Walks back from `end`, within a rectangle whose upper and left edges are known or on its last row or column, until
    /// it comes to its first row or column or to where a local alignment begins: the columns, where it is then, and
    /// whether a local alignment begins there.
    ///
    /// # Panics
    /// If `end` is not in the rectangle, or edges are not as long as it is wide and high.
    pub fn trace_with_edges(
        &mut self,
        rectangle: Rectangle<'_>,
        top: &Edge,
        left: &Edge,
        end: Point,
    ) -> (Cigar, Point, bool) {
        let mut cigar = Cigar::new();
        let (m, n) = ((end.i - rectangle.top) as usize, (end.j - rectangle.left) as usize);
        if m > 0 && n > 0 {
            // Nothing below the end or behind it is needed.
            let part = |edge: &Edge, last: usize| Edge { h: edge.h[..=last].into(), gap: edge.gap[..=last].into() };
            let (mut row, mut column) = (part(top, n), part(left, m));
            let Pieces { schemes, room, directions, .. } = self;
            let (query, target) = (&rectangle.query[..m], &rectangle.target[..n]);
            schemes[0].directions(query, target, &mut row, &mut column, directions, room);
        }
        let (to, ended) = self.walk(rectangle, top, left, end, &mut cigar);
        let ended = ended || {
            let h = if to.i == rectangle.top {
                top.h[(to.j - rectangle.left) as usize]
            } else {
                left.h[(to.i - rectangle.top) as usize]
            };
            self.scoring.mode == Mode::Local && to.state == State::H && h == 0
        };
        cigar.reverse();
        (cigar, to, ended)
    }

    /// Walks by the directions, pushing columns from the last to the first.
    fn walk(&self, rectangle: Rectangle<'_>, top: &Edge, left: &Edge, end: Point, cigar: &mut Cigar) -> (Point, bool) {
        let Rectangle { top: first_row, left: first_column, query, target } = rectangle;
        let first = self.scoring.gaps.first;
        let leaves = |edge: &Edge, place: usize| edge.gap[place] == edge.h[place] - first;
        let (mut i, mut j, mut state) = ((end.i - first_row) as usize, (end.j - first_column) as usize, end.state);
        let mut ended = false;
        while i > 0 && j > 0 && !ended {
            match state {
                State::H => match self.directions.step(i - 1, j - 1) {
                    Step::Ends => ended = true,
                    Step::Two => {
                        (i, j) = (i - 1, j - 1);
                        let is_match = self.scoring.substitution.is_match(query[i], target[j]);
                        cigar.push(1, if is_match { Op::Match } else { Op::Mismatch });
                    }
                    Step::Insertion => state = State::I,
                    Step::Deletion => state = State::D,
                },
                State::I => {
                    cigar.push(1, Op::Insertion);
                    i -= 1;
                    let left = if i == 0 { leaves(top, j) } else { self.directions.insertion_leaves(i - 1, j - 1) };
                    state = if left { State::H } else { State::I };
                }
                State::D => {
                    cigar.push(1, Op::Deletion);
                    j -= 1;
                    let left = if j == 0 { leaves(left, i) } else { self.directions.deletion_leaves(i - 1, j - 1) };
                    state = if left { State::H } else { State::D };
                }
            }
        }
        (Point { i: first_row + i as u32, j: first_column + j as u32, state }, ended)
    }
}

/// Anchored values along the start's row or column: one gap, which goes on if the start `is_inside` one; nothing if there is
/// a `wall`.
fn anchored(gaps: Gaps, length: usize, is_inside: bool, wall: bool) -> Edge {
    let h: Vec<i32> = (0..=length)
        .map(|k| match (k, is_inside) {
            (0, _) => 0,
            _ if wall => NEVER,
            (_, true) => -(k as i32) * gaps.next,
            (_, false) => -(gaps.cost(k as u64) as i32),
        })
        .collect();
    let gap = h.iter().map(|h| h - gaps.first).collect();
    Edge { h, gap }
}

#[cfg(test)]
mod tests;
