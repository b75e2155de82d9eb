//! Local alignment with affine gaps as in the textbook: Smith and Waterman 1981 (J. Mol. Biol.
//! 147:195-197) with the three states of Gotoh 1982 (J. Mol. Biol. 162:705-708). A linear gap cost
//! is an affine gap cost with `first == next`.
//!
//! ```text
//! I[i,j] = max(H[i-1,j] - first, I[i-1,j] - next)       the last column is query symbol i against a gap
//! D[i,j] = max(H[i,j-1] - first, D[i,j-1] - next)       the last column is target symbol j against a gap
//! H[i,j] = max(0, H[i-1,j-1] + sub(query[i], target[j]), I[i,j], D[i,j])
//! ```
//!
//! H\[i,j\] is the greatest score of an alignment of two parts that end at i and j. A second set of
//! matrices determines the start of the canonical alignment: the global matrices of the reversed
//! prefixes of both sequences. All matrices are stored completely.

use std::ops::Range;

use super::needleman_wunsch::{self, GotohMatrices};
use crate::alignment::matrix::row_and_row_above;
use crate::alignment::{Alignment, Cigar, ForbiddenRectangle};
use crate::score::{EndGaps, Mode, Scoring};
use crate::seq::Code;

/// The canonical local alignment of two sequences by the rule in [`crate::trace`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReferenceLocalAlignment {
    /// The greatest score of all alignments of any two parts, or 0 if none is positive.
    pub score: i64,
    /// Number of `=` columns.
    pub matches: u64,
    /// Aligned part of the query, counted from 0. `0..0` if the alignment is empty.
    pub query: Range<usize>,
    /// Aligned part of the target, counted from 0.
    pub target: Range<usize>,
    /// Columns of the alignment.
    pub cigar: Cigar,
}

/// Returns the greatest score of all alignments of any two parts.
pub fn score_only(query: &[Code], target: &[Code], scoring: &Scoring) -> i64 {
    fill(query, target, scoring, &[]).into_iter().flatten().max().unwrap_or(0)
}

/// Returns the canonical alignment. Ignores [`Scoring::mode`] and [`Scoring::end_gaps`].
pub fn align(query: &[Code], target: &[Code], scoring: &Scoring) -> ReferenceLocalAlignment {
    let none = || ReferenceLocalAlignment { score: 0, matches: 0, query: 0..0, target: 0..0, cigar: Cigar::new() };
    align_several(query, target, scoring, 1, 1).pop().unwrap_or_else(none)
}

/// Returns up to `count` alignments that score at least `least`, the best first. Each further one is
/// the canonical alignment that uses no cell of the rectangles of earlier ones.
pub fn align_several(
    query: &[Code],
    target: &[Code],
    scoring: &Scoring,
    least: i64,
    count: usize,
) -> Vec<ReferenceLocalAlignment> {
    let global = Scoring { mode: Mode::Global, end_gaps: EndGaps::Charged, ..scoring.clone() };
    let (mut found, mut forbidden) = (Vec::new(), Vec::new());
    while found.len() < count {
        let h = fill(query, target, scoring, &forbidden);
        let score = h.iter().flatten().copied().max().unwrap_or(0);
        if score < least.max(1) {
            break;
        }
        let has_score = |row: &Vec<i64>| row.iter().position(|&value| value == score);
        let (i, j) = h.iter().enumerate().find_map(|(i, row)| has_score(row).map(|j| (i, j))).expect("a cell has it");
        // Global alignments of the last p and q symbols before the end, for all p and q. An alignment
        // starts with a pair of symbols, and may start next to a forbidden cell.
        let reversed = |codes: &[Code]| codes.iter().rev().copied().collect::<Vec<Code>>();
        let (turned_query, turned_target) = (reversed(&query[..i]), reversed(&target[..j]));
        let is_forbidden = |i: usize, j: usize| {
            i > 0
                && j > 0
                && forbidden.iter().any(|part: &ForbiddenRectangle| part.contains(i as u32 - 1, j as u32 - 1))
        };
        let turned_cell = |p: usize, q: usize| is_forbidden(i - p, j - q);
        let anchored = GotohMatrices::fill(&turned_query, &turned_target, &global, turned_cell);
        let pairs = (1..=i).flat_map(|p| (1..=j).map(move |q| (p, q)));
        let is_start = |&(p, q): &(usize, usize)| {
            let pair = scoring.substitution.score(turned_query[p - 1], turned_target[q - 1]);
            anchored.h[p - 1][q - 1].0 + i64::from(pair) == score
        };
        let (p, q) = pairs.clone().find(is_start).expect("an alignment with the score starts somewhere");
        let (from, to) = (i - p, j - q);
        let inside = |x: usize, y: usize| is_forbidden(from + x, to + y);
        let best = needleman_wunsch::align_outside(&query[from..i], &target[to..j], &global, inside);
        assert_eq!(best.score, score, "two parts have no greater score than all parts");
        let (query, target) = (from..i, to..j);
        let covered = Alignment { score, query_start: from as u32, target_start: to as u32, cigar: best.cigar.clone() };
        forbidden.push(ForbiddenRectangle::covered_by(&covered));
        found.push(ReferenceLocalAlignment { score, matches: best.matches, query, target, cigar: best.cigar });
    }
    found
}

/// Returns H, indexed by `[i][j]` for 0 <= i <= query length, 0 <= j <= target length. H of
/// forbidden cells is 0, and no gap continues in them.
fn fill(query: &[Code], target: &[Code], scoring: &Scoring, forbidden: &[ForbiddenRectangle]) -> Vec<Vec<i64>> {
    let (m, n) = (query.len(), target.len());
    let (first, next) = (i64::from(scoring.gaps.first), i64::from(scoring.gaps.next));
    let unreachable = i64::MIN / 4;
    let mut h = vec![vec![0; n + 1]; m + 1];
    let mut insertion = vec![vec![unreachable; n + 1]; m + 1];
    let mut deletion = insertion.clone();
    for i in 1..=m {
        let (h_above, h) = row_and_row_above(&mut h, i);
        let (insertion_above, insertion) = row_and_row_above(&mut insertion, i);
        let deletion = &mut deletion[i][..];
        for j in 1..=n {
            insertion[j] = (h_above[j] - first).max(insertion_above[j] - next);
            deletion[j] = (h[j - 1] - first).max(deletion[j - 1] - next);
            let diagonal = h_above[j - 1] + i64::from(scoring.substitution.score(query[i - 1], target[j - 1]));
            h[j] = diagonal.max(insertion[j]).max(deletion[j]).max(0);
            if forbidden.iter().any(|part| part.contains(i as u32 - 1, j as u32 - 1)) {
                (h[j], insertion[j], deletion[j]) = (0, unreachable, unreachable);
            }
        }
    }
    h
}

#[cfg(test)]
mod tests;
