//! Global alignment with affine gaps as in the textbook: Needleman and Wunsch 1970 with the three
//! states of Gotoh 1982 (J. Mol. Biol. 162:705-708, equations 1 to 3). A linear gap cost is an
//! affine gap cost with `first == next`.
//!
//! ```text
//! I[i,j] = max(H[i-1,j] - first, I[i-1,j] - next)       the last column is query symbol i against a gap
//! D[i,j] = max(H[i,j-1] - first, D[i,j-1] - next)       the last column is target symbol j against a gap
//! H[i,j] = max(H[i-1,j-1] + sub(query[i], target[j]), I[i,j], D[i,j])
//! ```
//!
//! Row 0 and column 0 of H contain the negative costs of end gaps. An alignment may also end with a
//! gap: its cost is subtracted from each cell of the last row and column, and the greatest result
//! is the score. A value is a pair of a score and a number of matching columns, compared in this
//! order. All matrices are stored completely.

use crate::alignment::matrix::row_and_row_above;
use crate::alignment::{Cigar, Op};
use crate::score::{Gaps, Scoring};
use crate::seq::Code;

/// Score and matches, compared in this order.
type ScoreMatches = (i64, i64);

/// Value of cells that no path reaches. It is far below every score, and far from overflow.
const UNREACHABLE: ScoreMatches = (i64::MIN / 4, 0);

/// The canonical global alignment of two sequences by the rule in [`crate::trace`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReferenceAlignment {
    /// The greatest score of all alignments.
    pub score: i64,
    /// The greatest number of `=` columns of all alignments with that score.
    pub matches: u64,
    /// Columns of the alignment.
    pub cigar: Cigar,
}

/// Returns the best score, and the greatest number of matches of all alignments with this score.
pub fn score_only(query: &[Code], target: &[Code], scoring: &Scoring) -> (i64, u64) {
    let matrices = GotohMatrices::fill(query, target, scoring, |_, _| false);
    let ((score, matches), _) = matrices.last_cell(scoring.end_costs());
    (score, matches as u64)
}

/// Returns the canonical alignment.
pub fn align(query: &[Code], target: &[Code], scoring: &Scoring) -> ReferenceAlignment {
    align_outside(query, target, scoring, |_, _| false)
}

/// Returns the canonical alignment that uses no forbidden cell. Cells are indexed as in
/// [`GotohMatrices`].
pub(super) fn align_outside(
    query: &[Code],
    target: &[Code],
    scoring: &Scoring,
    is_forbidden: impl Fn(usize, usize) -> bool,
) -> ReferenceAlignment {
    let (m, n) = (query.len(), target.len());
    let matrices = GotohMatrices::fill(query, target, scoring, is_forbidden);
    let ((score, matches), (mut i, mut j)) = matrices.last_cell(scoring.end_costs());
    let GotohMatrices { h, insertion, deletion } = &matrices;
    let first = i64::from(scoring.gaps.first);

    let mut cigar = Cigar::new();
    cigar.push((m - i) as u32, Op::Insertion);
    cigar.push((n - j) as u32, Op::Deletion);
    let mut state = AlignmentState::H;
    while i > 0 && j > 0 {
        match state {
            AlignmentState::H => {
                let (a, b) = (query[i - 1], target[j - 1]);
                if h[i][j] == plus(h[i - 1][j - 1], substitute(scoring, a, b)) {
                    let is_match = scoring.substitution.is_match(a, b);
                    cigar.push(1, if is_match { Op::Match } else { Op::Mismatch });
                    (i, j) = (i - 1, j - 1);
                } else if h[i][j] == insertion[i][j] {
                    state = AlignmentState::Insertion;
                } else {
                    state = AlignmentState::Deletion;
                }
            }
            AlignmentState::Insertion => {
                cigar.push(1, Op::Insertion);
                if insertion[i][j] == minus(h[i - 1][j], first) {
                    state = AlignmentState::H;
                }
                i -= 1;
            }
            AlignmentState::Deletion => {
                cigar.push(1, Op::Deletion);
                if deletion[i][j] == minus(h[i][j - 1], first) {
                    state = AlignmentState::H;
                }
                j -= 1;
            }
        }
    }
    cigar.push(i as u32, Op::Insertion);
    cigar.push(j as u32, Op::Deletion);
    cigar.reverse();
    ReferenceAlignment { score, matches: matches as u64, cigar }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum AlignmentState {
    H,
    Insertion,
    Deletion,
}

/// Matrices of H, I and D, indexed by `[i][j]` for 0 <= i <= query length, 0 <= j <= target length.
pub(super) struct GotohMatrices {
    pub(super) h: Vec<Vec<ScoreMatches>>,
    insertion: Vec<Vec<ScoreMatches>>,
    deletion: Vec<Vec<ScoreMatches>>,
}

impl GotohMatrices {
    pub(super) fn fill(
        query: &[Code],
        target: &[Code],
        scoring: &Scoring,
        is_forbidden: impl Fn(usize, usize) -> bool,
    ) -> GotohMatrices {
        let (m, n) = (query.len(), target.len());
        let (first, next) = (i64::from(scoring.gaps.first), i64::from(scoring.gaps.next));
        let end_gap = |length: usize| (-scoring.end_costs().cost(length as u64), 0);
        let mut h = vec![vec![UNREACHABLE; n + 1]; m + 1];
        let mut insertion = h.clone();
        let mut deletion = h.clone();
        for (i, row) in h.iter_mut().enumerate() {
            row[0] = end_gap(i);
        }
        for (j, cell) in h[0].iter_mut().enumerate() {
            *cell = end_gap(j);
        }
        for i in 1..=m {
            let (h_above, h) = row_and_row_above(&mut h, i);
            let (insertion_above, insertion) = row_and_row_above(&mut insertion, i);
            let deletion = &mut deletion[i][..];
            for j in 1..=n {
                insertion[j] = minus(h_above[j], first).max(minus(insertion_above[j], next));
                deletion[j] = minus(h[j - 1], first).max(minus(deletion[j - 1], next));
                let diagonal = plus(h_above[j - 1], substitute(scoring, query[i - 1], target[j - 1]));
                h[j] = diagonal.max(insertion[j]).max(deletion[j]);
                if is_forbidden(i, j) {
                    (h[j], insertion[j], deletion[j]) = (UNREACHABLE, UNREACHABLE, UNREACHABLE);
                }
            }
        }
        GotohMatrices { h, insertion, deletion }
    }

    /// Returns the best value including the end gap that follows, and the cell where the traceback
    /// starts.
    fn last_cell(&self, ends: Gaps) -> (ScoreMatches, (usize, usize)) {
        let (m, n) = (self.h.len() - 1, self.h[0].len() - 1);
        let column = (0..m).rev().map(|i| (i, n));
        let row = (0..n).rev().map(|j| (m, j));
        let mut last = (self.h[m][n], (m, n));
        for (i, j) in column.chain(row) {
            let value = minus(self.h[i][j], ends.cost((m - i + n - j) as u64));
            if value > last.0 {
                last = (value, (i, j));
            }
        }
        last
    }
}

fn plus(value: ScoreMatches, step: ScoreMatches) -> ScoreMatches {
    (value.0 + step.0, value.1 + step.1)
}

fn minus(value: ScoreMatches, cost: i64) -> ScoreMatches {
    (value.0 - cost, value.1)
}

fn substitute(scoring: &Scoring, a: Code, b: Code) -> ScoreMatches {
    (i64::from(scoring.substitution.score(a, b)), i64::from(scoring.substitution.is_match(a, b)))
}

#[cfg(test)]
mod tests;
