//! Where a local alignment begins, its end and score being known: the best scores of the alignments that end there, row
//! by row towards the beginnings of both sequences.
//!
//! A\[p,q\] is the greatest score of a global alignment of the last p query symbols and the last q target symbols before
//! the end. The first row p that has the score, and the least q in it, are the fewest symbols of query and target.
//!
//! **Which cells are left out.** Let S be the score, the greatest of all, and let the end be the first cell that has it.
//!
//! 1. A part of the alignment at its end scores more than 0: else what is before it scored S or more and ended earlier.
//!    So values that are not positive lead nowhere. That goes for gaps too: as they grow they cost more.
//! 2. From A\[p,q\] no more can be gained than the greatest score of two symbols, s, times the symbols that are left of
//!    the shorter of what is before: values below `S - s min(i - p, j - q)` lead nowhere.
//!
//! What is left of a row lies between two columns, which are all that is computed of the next (and as far beyond the
//! last one as a gap carries). For similar sequences that is a narrow band.

use super::Number;
use crate::score::Scoring;
use crate::seq::Code;

/// One row of A and of its I, by number of target symbols.
#[derive(Debug, Default)]
pub(super) struct Row<T> {
    h: Vec<T>,
    insertion: Vec<T>,
}

/// How many symbols of `query` and `target` lie before the canonical alignment, which has this score and ends where both
/// do; none if there is no such alignment.
pub(super) fn sweep<T: Number>(
    query: &[Code],
    target: &[Code],
    scoring: &Scoring,
    score: i64,
    row: &mut Row<T>,
) -> Option<(usize, usize)> {
    let (m, n) = (query.len(), target.len());
    let (first, next) = (T::from(scoring.gaps.first), T::from(scoring.gaps.next));
    let greatest = i64::from(scoring.substitution.max_score());
    // What leads nowhere: no score or cost makes it positive, nor overflows it.
    let nowhere = T::from(i32::MIN / 2);
    let Row { h, insertion } = row;
    for values in [&mut *h, &mut *insertion] {
        values.clear();
        values.resize(n + 1, nowhere);
    }
    h[0] = T::default();
    // First and last column of the row before that lead somewhere: beyond them it is `nowhere` throughout.
    let (mut low, mut high) = (0, 0);
    for p in 1..=m {
        let a = query[m - p];
        let mut alive: Option<(usize, usize)> = None;
        // A[p-1,q-1], A[p,q-1] and D[p,q-1].
        let (mut diagonal, mut left, mut deletion) = (nowhere, nowhere, nowhere);
        for q in low..=n {
            let floor = (score - greatest * (m - p).min(n - q) as i64).max(1);
            let keep = |value: T| if value.into() >= floor { value } else { nowhere };
            let gap = keep((insertion[q] - next).max(h[q] - first));
            deletion = keep((deletion - next).max(left - first));
            let pair =
                if q > 0 { keep(diagonal + T::from(scoring.substitution.score(a, target[n - q]))) } else { nowhere };
            let value = pair.max(gap).max(deletion);
            (diagonal, left) = (h[q], value);
            (h[q], insertion[q]) = (value, gap);
            if value > nowhere {
                alive = Some((alive.map_or(q, |(low, _)| low), q));
                if value.into() >= score {
                    // A greater one would mean that `score` is not the greatest.
                    return (value.into() == score).then_some((m - p, n - q));
                }
            } else if q > high {
                // Beyond the column after the last one only a gap could go on, and none does.
                break;
            }
        }
        (low, high) = alive?;
    }
    None
}
