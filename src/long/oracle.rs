//! The textbook algorithm for one long pair. It fills the matrices of the three states (Gotoh 1982,
//! J. Mol. Biol. 162:705-708) completely, and follows the traceback rule of [`crate::long`].
//! Supports global alignment with any costs of end gaps, and local alignment.
//!
//! ```text
//! I[i,j] = max(H[i-1,j] - first, I[i-1,j] - next)       the last column is query symbol i against a gap
//! D[i,j] = max(H[i,j-1] - first, D[i,j-1] - next)       the last column is target symbol j against a gap
//! H[i,j] = max(H[i-1,j-1] + sub(query[i], target[j]), I[i,j], D[i,j]), and in local mode at least 0
//! ```
//!
//! Row 0 and column 0 of H are 0 in local mode, and otherwise the cost of an end gap. I\[0,j\] and
//! D\[i,0\] are minus infinity.

use super::{Border, NEG_INF, PathPoint, PathState};
use crate::alignment::matrix::row_and_row_above;
use crate::alignment::{Cigar, Op};
use crate::score::{Mode, Scoring};
use crate::seq::Code;

/// Minus infinity: far below every score, but far enough from overflow.
const UNREACHABLE: i64 = i64::MIN / 4;

/// The alignment of a long pair.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReferenceLongAlignment {
    /// Score. In local mode it is 0 if no cell has a greater score.
    pub score: i64,
    /// Numbers of query and target symbols before the alignment's first column.
    pub start: (usize, usize),
    /// Numbers of query and target symbols up to and including the alignment's last column.
    pub end: (usize, usize),
    /// Columns. They include the end gaps of a global alignment.
    pub cigar: Cigar,
}

/// A traceback through a part of the matrices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OraclePath {
    /// Positions, starting with the first one, each with the alignment column that leads to the
    /// next position. The column is `None` where the traceback only changes the state, and at its
    /// end.
    pub points: Vec<(PathPoint, Option<Op>)>,
    /// Whether it ended at the start of a local alignment.
    pub ended: bool,
}

impl OraclePath {
    /// Returns the last position.
    pub fn to(&self) -> PathPoint {
        self.points[self.points.len() - 1].0
    }

    /// Returns the columns between two positions, given as indices into [`OraclePath::points`].
    /// `late` is the later position in the alignment, so `late < early`.
    pub fn columns_between(&self, late: usize, early: usize) -> Cigar {
        let mut cigar = Cigar::new();
        self.points[late..early].iter().filter_map(|step| step.1).for_each(|op| cigar.push(1, op));
        cigar.reverse();
        cigar
    }

    /// Returns all columns.
    pub fn cigar(&self) -> Cigar {
        self.columns_between(0, self.points.len() - 1)
    }
}

/// Returns the canonical alignment of [`crate::long`].
pub fn align(query: &[Code], target: &[Code], scoring: &Scoring) -> ReferenceLongAlignment {
    let matrices = LongMatrices::fill(query, target, scoring);
    let (m, n) = (query.len(), target.len());
    if scoring.mode == Mode::Local {
        let Some((score, i, j)) = matrices.best(0..m, 0..n) else {
            return ReferenceLongAlignment { score: 0, start: (0, 0), end: (0, 0), cigar: Cigar::new() };
        };
        let traceback = matrices.trace_back(point(i, j, PathState::H), 0, 0);
        let to = traceback.to();
        let start = (to.i as usize, to.j as usize);
        return ReferenceLongAlignment { score, start, end: (i, j), cigar: traceback.cigar() };
    }
    let (i, j) = matrices.last_cell();
    let traceback = matrices.trace_back(point(i, j, PathState::H), 0, 0);
    let mut cigar = Cigar::new();
    cigar.push(traceback.to().i, Op::Insertion);
    cigar.push(traceback.to().j, Op::Deletion);
    traceback.cigar().iter().for_each(|(length, op)| cigar.push(length, op));
    cigar.push((m - i) as u32, Op::Insertion);
    cigar.push((n - j) as u32, Op::Deletion);
    ReferenceLongAlignment { score: matrices.end_score(i, j), start: (0, 0), end: (m, n), cigar }
}

/// The matrices, each `[i][j]` for 0 <= i <= query length, 0 <= j <= target length.
#[derive(Debug, Clone)]
pub struct LongMatrices {
    /// H.
    pub h: Vec<Vec<i64>>,
    /// I.
    pub insertion: Vec<Vec<i64>>,
    /// D.
    pub deletion: Vec<Vec<i64>>,
    query: Vec<Code>,
    target: Vec<Code>,
    scoring: Scoring,
}

impl LongMatrices {
    /// Computes all matrices of a pair.
    pub fn fill(query: &[Code], target: &[Code], scoring: &Scoring) -> Self {
        let (m, n) = (query.len(), target.len());
        let (first, next) = (i64::from(scoring.gaps.first), i64::from(scoring.gaps.next));
        let is_local = scoring.mode == Mode::Local;
        let border = |length: usize| if is_local { 0 } else { -scoring.end_costs().cost(length as u64) };
        let mut h = vec![vec![0; n + 1]; m + 1];
        let mut insertion = vec![vec![UNREACHABLE; n + 1]; m + 1];
        let mut deletion = insertion.clone();
        for (i, row) in h.iter_mut().enumerate() {
            row[0] = border(i);
        }
        for (j, cell) in h[0].iter_mut().enumerate() {
            *cell = border(j);
        }
        for i in 1..=m {
            let (h_above, h) = row_and_row_above(&mut h, i);
            let (insertion_above, insertion) = row_and_row_above(&mut insertion, i);
            let deletion = &mut deletion[i][..];
            for j in 1..=n {
                insertion[j] = (h_above[j] - first).max(insertion_above[j] - next);
                deletion[j] = (h[j - 1] - first).max(deletion[j - 1] - next);
                let diagonal = h_above[j - 1] + i64::from(scoring.substitution.score(query[i - 1], target[j - 1]));
                let value = diagonal.max(insertion[j]).max(deletion[j]);
                h[j] = if is_local { value.max(0) } else { value };
            }
        }
        LongMatrices {
            h,
            insertion,
            deletion,
            query: query.to_vec(),
            target: target.to_vec(),
            scoring: scoring.clone(),
        }
    }

    /// Returns score, row and column of the best cell with `rows.start < i <= rows.end` and
    /// `columns.start < j <= columns.end`. The best cell is the first one, in row order, with the
    /// greatest score above 0.
    pub fn best(&self, rows: std::ops::Range<usize>, columns: std::ops::Range<usize>) -> Option<(i64, usize, usize)> {
        let mut best: Option<(i64, usize, usize)> = None;
        for i in rows.start + 1..=rows.end {
            let h = &self.h[i][..];
            for (j, &score) in h.iter().enumerate().take(columns.end + 1).skip(columns.start + 1) {
                if score > best.map_or(0, |best| best.0) {
                    best = Some((score, i, j));
                }
            }
        }
        best
    }

    /// Returns the first cell of a global traceback (rule 3 of [`crate::trace`]).
    pub fn last_cell(&self) -> (usize, usize) {
        let (m, n) = (self.query.len(), self.target.len());
        let mut last = (m, n);
        let column = (0..m).rev().map(|i| (i, n));
        for (i, j) in column.chain((0..n).rev().map(|j| (m, j))) {
            if self.end_score(i, j) > self.end_score(last.0, last.1) {
                last = (i, j);
            }
        }
        last
    }

    /// Returns the score of a global alignment whose path ends in a cell of the last row or column,
    /// with the end gap that follows.
    pub fn end_score(&self, i: usize, j: usize) -> i64 {
        let left = self.query.len() - i + self.target.len() - j;
        self.h[i][j] - self.scoring.end_costs().cost(left as u64)
    }

    /// Returns the border along row `i`, for columns `columns.start..=columns.end`.
    pub fn row_border(&self, i: usize, columns: std::ops::Range<usize>) -> Border {
        self.border(columns, |j| (self.h[i][j], self.insertion[i][j]))
    }

    /// Returns the border along column `j`, for rows `rows.start..=rows.end`.
    pub fn column_border(&self, j: usize, rows: std::ops::Range<usize>) -> Border {
        self.border(rows, |i| (self.h[i][j], self.deletion[i][j]))
    }

    fn border(&self, places: std::ops::Range<usize>, values: impl Fn(usize) -> (i64, i64)) -> Border {
        let gaps = self.scoring.gaps;
        let narrow = |value: i64| value.max(NEG_INF.into()) as i32;
        let (h, gap) = (places.start..=places.end)
            .map(values)
            .map(|(h, gap)| (narrow(h), narrow((h - i64::from(gaps.first)).max(gap - i64::from(gaps.next)))))
            .unzip();
        Border { h, gap }
    }

    /// Traces back from a point to row `top` or column `left`, or to the start of a local
    /// alignment.
    pub fn trace_back(&self, from: PathPoint, top: usize, left: usize) -> OraclePath {
        let first = i64::from(self.scoring.gaps.first);
        let (mut i, mut j, mut state) = (from.i as usize, from.j as usize, from.state);
        let mut points = Vec::new();
        loop {
            let here = point(i, j, state);
            let ended = self.scoring.mode == Mode::Local && state == PathState::H && self.h[i][j] == 0;
            if ended || i == top || j == left {
                points.push((here, None));
                return OraclePath { points, ended };
            }
            let op = match state {
                PathState::H => {
                    let (a, b) = (self.query[i - 1], self.target[j - 1]);
                    if self.h[i][j] == self.h[i - 1][j - 1] + i64::from(self.scoring.substitution.score(a, b)) {
                        (i, j) = (i - 1, j - 1);
                        Some(if self.scoring.substitution.is_match(a, b) { Op::Match } else { Op::Mismatch })
                    } else {
                        state = if self.h[i][j] == self.insertion[i][j] { PathState::I } else { PathState::D };
                        None
                    }
                }
                PathState::I => {
                    state = if self.insertion[i][j] == self.h[i - 1][j] - first { PathState::H } else { PathState::I };
                    i -= 1;
                    Some(Op::Insertion)
                }
                PathState::D => {
                    state = if self.deletion[i][j] == self.h[i][j - 1] - first { PathState::H } else { PathState::D };
                    j -= 1;
                    Some(Op::Deletion)
                }
            };
            points.push((here, op));
        }
    }
}

fn point(i: usize, j: usize, state: PathState) -> PathPoint {
    PathPoint { i: i as u32, j: j as u32, state }
}

#[cfg(test)]
mod tests;
