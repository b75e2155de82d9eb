//! Finds the start of a local alignment whose end and score are known: computes the best scores of
//! alignments that end there, row by row towards the starts of both sequences.
//!
//! A\[p,q\] is the greatest score of a global alignment of the last p query symbols and the last q
//! target symbols before the end. The first row p that has the score, and the least q in that row,
//! are the fewest symbols of query and target.
//!
//! **Which cells are skipped.** Let S be the score, the greatest of all, and let the end be the
//! first cell that has it.
//!
//! 1. Every suffix of the alignment scores more than 0. Otherwise the part before the suffix scored
//!    S or more and ended earlier. Values that are not positive therefore lead nowhere. This
//!    includes values of gaps, because gaps cost more as they grow.
//! 2. Let s be the greatest score of two symbols. From A\[p,q\], at most s times the number of
//!    remaining symbols can be gained, counted in the sequence with fewer symbols left. Values
//!    below `S - s min(i - p, j - q)` therefore lead nowhere.
//!
//! 3. Forbidden cells lead nowhere. An alignment may start at one, but it continues from there only
//!    towards its end.
//!
//! The remaining cells of a row lie between two columns. Only these columns are computed in the
//! next row, and the columns after them as far as a gap extends. For similar sequences they form a
//! narrow band.

use std::ops::Range;

use super::ScoreInteger;
use crate::alignment::ForbiddenRectangle;
use crate::score::Scoring;
use crate::seq::Code;

/// One row of A and of its state I, indexed by the number of target symbols.
#[derive(Debug, Default)]
pub(super) struct BackwardRow<T> {
    h: Vec<T>,
    insertion: Vec<T>,
}

/// Returns the numbers of query and target symbols before the canonical alignment, which has this
/// score, ends with the last symbols of both slices and uses no forbidden cell. Returns `None` if no
/// such alignment exists.
pub(super) fn sweep<T: ScoreInteger>(
    query: &[Code],
    target: &[Code],
    scoring: &Scoring,
    score: i64,
    forbidden: &[ForbiddenRectangle],
    row: &mut BackwardRow<T>,
) -> Option<(usize, usize)> {
    let (m, n) = (query.len(), target.len());
    let (first, next) = (T::from(scoring.gaps.first), T::from(scoring.gaps.next));
    let greatest = i64::from(scoring.substitution.max_score());
    // Value of cells that lead nowhere. It is so low that no score makes it positive, and so high
    // that no cost makes it overflow.
    let dead = T::from(i32::MIN / 2);
    let BackwardRow { h, insertion } = row;
    for values in [&mut *h, &mut *insertion] {
        values.clear();
        values.resize(n + 1, dead);
    }
    h[0] = T::default();
    // First and last column of the previous row from which the score can be reached. All other
    // columns are `dead`.
    let (mut low, mut high) = (0, 0);
    // Forbidden columns of the row, counted from the end as q.
    let mut walls: Vec<Range<usize>> = Vec::new();
    for p in 1..=m {
        let a = query[m - p];
        walls.clear();
        let in_row =
            forbidden.iter().filter(|part| part.query.start < (m - p) as u32 && (m - p) as u32 <= part.query.end);
        walls.extend(in_row.map(|part| n.saturating_sub(part.target.end as usize)..n - part.target.start as usize));
        let mut alive: Option<(usize, usize)> = None;
        // A[p-1,q-1], A[p,q-1] and D[p,q-1].
        let (mut diagonal, mut left, mut deletion) = (dead, dead, dead);
        for q in low..=n {
            let floor = (score - greatest * (m - p).min(n - q) as i64).max(1);
            let keep = |value: T| if value.into() >= floor { value } else { dead };
            let gap = keep((insertion[q] - next).max(h[q] - first));
            deletion = keep((deletion - next).max(left - first));
            let pair =
                if q > 0 { keep(diagonal + T::from(scoring.substitution.score(a, target[n - q]))) } else { dead };
            let value = pair.max(gap).max(deletion);
            if value > dead && value.into() >= score {
                // A greater value would mean that `score` is not the greatest.
                return (value.into() == score).then_some((m - p, n - q));
            }
            let is_forbidden = walls.iter().any(|wall| wall.contains(&q));
            let [value, gap] = if is_forbidden { [dead; 2] } else { [value, gap] };
            if is_forbidden {
                deletion = dead;
            }
            (diagonal, left) = (h[q], value);
            (h[q], insertion[q]) = (value, gap);
            if value > dead {
                alive = Some((alive.map_or(q, |(low, _)| low), q));
            } else if q > high {
                // Beyond column `high + 1`, only a gap could lead further, and no gap is left.
                break;
            }
        }
        (low, high) = alive?;
    }
    None
}
