//! Finds the end of a local alignment with Smith and Waterman's recurrence, row by row.
//!
//! ```text
//! I[i,j] = max(H[i-1,j] - first, I[i-1,j] - next)
//! D[i,j] = max(H[i,j-1] - first, D[i,j-1] - next)
//! H[i,j] = max(0, H[i-1,j-1] + sub(query[i], target[j]), I[i,j], D[i,j])
//! ```
//!
//! Only D depends on its own row. A row is therefore computed in short pieces with two passes each.
//! The first pass computes everything except D, and compilers vectorize it. The second pass
//! computes D from left to right. A D that is not positive changes no H. The second pass is skipped
//! if no positive D enters the piece and none can start in it, because no value exceeds `first`. D
//! never exceeds the cell that it came from, so the greatest value of a row is known after the
//! first pass.
//!
//! **A known score** limits the sweep to a band of diagonals. Let S be the score and s the greatest
//! score of two symbols. The alignment has at least `P = S / s` columns of two symbols. At most
//! min(i, j) of them are before a cell (i, j) of the alignment, and at most min(m - i, n - j) after
//! it. The cell's diagonal i - j is therefore from `P - n` to `m - P`. Cells outside the band count
//! as 0. This raises no value, and it does not change the values along the alignment.
//!
//! **Forbidden cells** have an H of 0, and no gap continues in them.

use std::ops::Range;

use super::ScoreInteger;
use crate::alignment::forbidden::{ForbiddenRectangle, belts, segments};
use crate::score::Scoring;
use crate::seq::Code;
use crate::simd::{InstructionSet, Simd, SimdKernel};

/// Number of columns of a piece: a few vectors that fit in the first-level cache.
const PIECE: usize = 64;

/// The first cell that has the best score.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LocalEnd {
    /// The greatest score, above 0.
    pub score: i64,
    /// Number of query symbols up to and including this cell.
    pub query: usize,
    /// Number of target symbols up to and including this cell.
    pub target: usize,
}

/// Scores of all target symbols against the codes of the query. Each code's scores are computed on
/// first use.
#[derive(Debug, Default)]
pub(super) struct TargetProfile {
    scores: Vec<i32>,
    is_filled: Vec<bool>,
}

impl TargetProfile {
    fn reset(&mut self, codes: usize, symbols: usize) {
        self.is_filled.clear();
        self.is_filled.resize(codes, false);
        if self.scores.len() < codes * symbols {
            self.scores.resize(codes * symbols, 0);
        }
    }

    fn row(&mut self, code: Code, target: &[Code], scoring: &Scoring) -> &[i32] {
        let index = usize::from(code);
        let row = &mut self.scores[index * target.len()..][..target.len()];
        if !self.is_filled[index] {
            self.is_filled[index] = true;
            for (score, &other) in row.iter_mut().zip(target) {
                *score = scoring.substitution.score(code, other);
            }
        }
        row
    }
}

/// Two rows of H including column 0, and one row of I without it.
#[derive(Debug, Default)]
pub(super) struct ScoreRows<T> {
    above: Vec<T>,
    h: Vec<T>,
    insertion: Vec<T>,
}

#[derive(Clone, Copy)]
struct GapSteps<T> {
    first: T,
    next: T,
}

/// End that a sweep looks for.
#[derive(Debug, Clone, Copy)]
pub(super) enum EndGoal {
    /// The end of the best alignment, whatever its score above 0.
    Best,
    /// The end of an alignment with this score, which is the greatest. The sweep stops after the
    /// first row that reaches it.
    Known(i64),
    /// The end of the best alignment if it has at least this score.
    AtLeast(i64),
}

impl EndGoal {
    /// Returns the goal for a score that may be known.
    pub(super) fn of(known: Option<i64>) -> Self {
        known.map_or(EndGoal::Best, EndGoal::Known)
    }

    /// Returns the least score of the end.
    fn least(self) -> Option<i64> {
        match self {
            EndGoal::Best => None,
            EndGoal::Known(score) | EndGoal::AtLeast(score) => Some(score),
        }
    }
}

/// Returns the end of the canonical local alignment that uses no forbidden cell. Returns `None` if
/// no alignment scores more than 0, or none has the score of the goal.
#[expect(clippy::too_many_arguments, reason = "buffers are borrowed separately")]
pub(super) fn sweep<T: ScoreInteger>(
    query: &[Code],
    target: &[Code],
    scoring: &Scoring,
    goal: EndGoal,
    forbidden: &[ForbiddenRectangle],
    profile: &mut TargetProfile,
    rows: &mut ScoreRows<T>,
    instructions: InstructionSet,
) -> Option<LocalEnd> {
    instructions.run(Rowwise { query, target, scoring, goal, forbidden, profile, rows })
}

/// A sweep whose rows the compiler vectorizes.
struct Rowwise<'a, T> {
    query: &'a [Code],
    target: &'a [Code],
    scoring: &'a Scoring,
    goal: EndGoal,
    forbidden: &'a [ForbiddenRectangle],
    profile: &'a mut TargetProfile,
    rows: &'a mut ScoreRows<T>,
}

impl<T: ScoreInteger> SimdKernel for Rowwise<'_, T> {
    type Output = Option<LocalEnd>;
    const USES_AVX512: bool = false;

    #[inline(always)]
    unsafe fn run<S: Simd>(self) -> Option<LocalEnd> {
        sweep_rows(self)
    }
}

#[inline(always)]
fn sweep_rows<T: ScoreInteger>(task: Rowwise<'_, T>) -> Option<LocalEnd> {
    let Rowwise { query, target, scoring, goal, forbidden, profile, rows } = task;
    let n = target.len();
    profile.reset(scoring.substitution.size(), n);
    for (row, columns) in [(&mut rows.above, n + 1), (&mut rows.h, n + 1), (&mut rows.insertion, n)] {
        row.clear();
        // An I that is not positive changes no H, so 0 can represent every such value before the
        // first row.
        row.resize(columns, T::default());
    }
    let costs = GapSteps { first: T::from(scoring.gaps.first), next: T::from(scoring.gaps.next) };
    let pairs = min_pairs(goal.least(), scoring);
    let (Some(above_band), Some(below_band)) = (n.checked_sub(pairs), query.len().checked_sub(pairs)) else {
        return None;
    };
    let mut best: Option<LocalEnd> = None;
    for belt in belts(forbidden, query.len() as u32, []) {
        let segments = segments(forbidden, belt.clone(), n as u32);
        let belt = belt.start as usize..belt.end as usize;
        for (i, &code) in (belt.start..).zip(&query[belt]) {
            let band = i.saturating_sub(below_band)..(i + 1).saturating_add(above_band).min(n);
            let scores = profile.row(code, target, scoring);
            let mut greatest = T::default();
            for segment in &segments {
                let (start, end) = (segment.start as usize, segment.end as usize);
                if segment.is_free {
                    let part = start.max(band.start)..end.min(band.end);
                    greatest = greatest.max(row(scores, rows, part, costs));
                } else {
                    rows.h[start + 1..=end].fill(T::default());
                    rows.insertion[start..end].fill(T::default());
                }
            }
            let score: i64 = greatest.into();
            if score >= goal.least().unwrap_or(1).max(1) && best.is_none_or(|best| score > best.score) {
                let column = rows.h[band.start + 1..=band.end].iter().position(|&value| value == greatest)?;
                best = Some(LocalEnd { score, query: i + 1, target: band.start + 1 + column });
                if matches!(goal, EndGoal::Known(_)) {
                    return best;
                }
            }
            std::mem::swap(&mut rows.above, &mut rows.h);
        }
    }
    best
}

/// Returns the least number of columns of two symbols in an alignment with this score.
pub(super) fn min_pairs(score: Option<i64>, scoring: &Scoring) -> usize {
    let greatest = i64::from(scoring.substitution.max_score());
    match score {
        Some(score) if score > 0 && greatest > 0 => ((score - 1) / greatest + 1) as usize,
        _ => 0,
    }
}

/// Computes the columns `band` of a row of H from the row `rows.above`. Returns their greatest
/// value. Columns that enter the band in this row must have their initial values.
#[inline(always)]
fn row<T: ScoreInteger>(scores: &[i32], rows: &mut ScoreRows<T>, band: Range<usize>, costs: GapSteps<T>) -> T {
    let ScoreRows { above, h, insertion } = rows;
    let zero = T::default();
    let mut greatest = zero;
    let mut deletion = zero;
    let mut from = band.start;
    while from < band.end {
        let to = (from + PIECE).min(band.end);
        let piece = &mut h[from + 1..to + 1];
        let in_piece = first_pass(&above[from..to + 1], &scores[from..to], &mut insertion[from..to], piece, costs);
        greatest = greatest.max(in_piece);
        if deletion > zero || in_piece > costs.first {
            for value in piece {
                let opened = *value - costs.first;
                *value = deletion.max(*value);
                deletion = opened.max(deletion - costs.next);
            }
        } else {
            deletion = zero;
        }
        from = to;
    }
    greatest
}

/// Computes I and H without D for a piece of a row. Returns the greatest H. `above` has one more
/// column, in front of the others.
#[inline(always)]
fn first_pass<T: ScoreInteger>(above: &[T], scores: &[i32], insertion: &mut [T], h: &mut [T], costs: GapSteps<T>) -> T {
    let columns = scores.len();
    let (diagonal, above) = (&above[..columns], &above[1..columns + 1]);
    let (insertion, h) = (&mut insertion[..columns], &mut h[..columns]);
    let mut greatest = T::default();
    for j in 0..columns {
        let gap = (insertion[j] - costs.next).max(above[j] - costs.first);
        insertion[j] = gap;
        let value = (diagonal[j] + T::from(scores[j])).max(gap).max(T::default());
        h[j] = value;
        greatest = greatest.max(value);
    }
    greatest
}
