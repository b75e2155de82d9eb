//! Where a local alignment ends: Smith and Waterman's recurrence, row by row.
//!
//! ```text
//! I[i,j] = max(H[i-1,j] - first, I[i-1,j] - next)
//! D[i,j] = max(H[i,j-1] - first, D[i,j-1] - next)
//! H[i,j] = max(0, H[i-1,j-1] + sub(query[i], target[j]), I[i,j], D[i,j])
//! ```
//!
//! Only D depends on its own row. So a row is computed in two passes over short pieces of it: all but D at once, which
//! compilers turn into vectors, then D from left to right. A D that is not positive changes no H, so that a piece which
//! no positive D enters and in which none begins (no value is above `first`) needs no second pass. As D never
//! betters the cell that it came from, the greatest value of a row is known after the first pass.
//!
//! **A score that is known** is a band of diagonals. With S the score and s the greatest of two symbols, its alignment has
//! at least `P = S / s` columns of two symbols. At most min(i, j) of them lie before a cell (i, j) that it passes, and
//! min(m - i, n - j) after it, so that the cell's diagonal i - j is from `P - n` to `m - P`. Beyond the band cells count as
//! 0: no value is greater than it would be without the band, and those along the alignment are the same.

use std::ops::Range;

use super::Number;
use crate::score::Scoring;
use crate::seq::Code;
use crate::simd::{InstructionSet, Simd, SimdKernel};

/// Columns of a piece: a few vectors, and short enough for the first level of cache.
const PIECE: usize = 64;

/// Where the best score is reached first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct End {
    /// The greatest score, above 0.
    pub score: i64,
    /// Query symbols up to there.
    pub query: usize,
    /// Target symbols up to there.
    pub target: usize,
}

/// Scores of every target symbol against each code that the query has, as they are first asked for.
#[derive(Debug, Default)]
pub(super) struct Profile {
    scores: Vec<i32>,
    is_filled: Vec<bool>,
}

impl Profile {
    fn reset(&mut self, codes: usize, symbols: usize) {
        self.is_filled.clear();
        self.is_filled.resize(codes, false);
        if self.scores.len() < codes * symbols {
            self.scores.resize(codes * symbols, 0);
        }
    }

    fn row(&mut self, code: Code, target: &[Code], scoring: &Scoring) -> &[i32] {
        let place = usize::from(code);
        let row = &mut self.scores[place * target.len()..][..target.len()];
        if !self.is_filled[place] {
            self.is_filled[place] = true;
            for (score, &other) in row.iter_mut().zip(target) {
                *score = scoring.substitution.score(code, other);
            }
        }
        row
    }
}

/// Two rows of H, with column 0, and one of I, without it.
#[derive(Debug, Default)]
pub(super) struct Rows<T> {
    above: Vec<T>,
    h: Vec<T>,
    insertion: Vec<T>,
}

#[derive(Clone, Copy)]
struct Costs<T> {
    first: T,
    next: T,
}

/// The end of the canonical local alignment; none if nothing scores more than 0, or nothing as much as `enough`.
///
/// With `enough` the first row that reaches it is the last one that is computed.
pub(super) fn sweep<T: Number>(
    query: &[Code],
    target: &[Code],
    scoring: &Scoring,
    enough: Option<i64>,
    profile: &mut Profile,
    rows: &mut Rows<T>,
    level: InstructionSet,
) -> Option<End> {
    level.run(Rowwise { query, target, scoring, enough, profile, rows })
}

/// A sweep, of whose rows the compiler makes vectors.
struct Rowwise<'a, T> {
    query: &'a [Code],
    target: &'a [Code],
    scoring: &'a Scoring,
    enough: Option<i64>,
    profile: &'a mut Profile,
    rows: &'a mut Rows<T>,
}

impl<T: Number> SimdKernel for Rowwise<'_, T> {
    type Output = Option<End>;
    const USES_AVX512: bool = false;

    #[inline(always)]
    unsafe fn run<S: Simd>(self) -> Option<End> {
        sweep_rows(self.query, self.target, self.scoring, self.enough, self.profile, self.rows)
    }
}

#[inline(always)]
fn sweep_rows<T: Number>(
    query: &[Code],
    target: &[Code],
    scoring: &Scoring,
    enough: Option<i64>,
    profile: &mut Profile,
    rows: &mut Rows<T>,
) -> Option<End> {
    let n = target.len();
    profile.reset(scoring.substitution.size(), n);
    for (row, columns) in [(&mut rows.above, n + 1), (&mut rows.h, n + 1), (&mut rows.insertion, n)] {
        row.clear();
        // An I that is not positive changes no H: before the first row 0 stands for all of them.
        row.resize(columns, T::default());
    }
    let costs = Costs { first: T::from(scoring.gaps.first), next: T::from(scoring.gaps.next) };
    let pairs = least_pairs(enough, scoring);
    let (Some(above_band), Some(below_band)) = (n.checked_sub(pairs), query.len().checked_sub(pairs)) else {
        return None;
    };
    let mut best: Option<End> = None;
    for (i, &code) in query.iter().enumerate() {
        let band = i.saturating_sub(below_band)..(i + 1).saturating_add(above_band).min(n);
        let greatest = row(profile.row(code, target, scoring), rows, band.clone(), costs);
        let score: i64 = greatest.into();
        if score > enough.map_or(0, |enough| enough - 1) && best.is_none_or(|best| score > best.score) {
            let column = rows.h[band.start + 1..=band.end].iter().position(|&value| value == greatest)?;
            best = Some(End { score, query: i + 1, target: band.start + 1 + column });
            if enough.is_some() {
                break;
            }
        }
        std::mem::swap(&mut rows.above, &mut rows.h);
    }
    best
}

/// Least number of columns of two symbols in an alignment of this score.
pub(super) fn least_pairs(score: Option<i64>, scoring: &Scoring) -> usize {
    let greatest = i64::from(scoring.substitution.max_score());
    match score {
        Some(score) if score > 0 && greatest > 0 => ((score - 1) / greatest + 1) as usize,
        _ => 0,
    }
}

/// Computes the columns `band` of a row of H below `rows.above`, and gives the greatest value of these. Columns of the
/// band that the row above had not have never been written.
#[inline(always)]
fn row<T: Number>(scores: &[i32], rows: &mut Rows<T>, band: Range<usize>, costs: Costs<T>) -> T {
    let Rows { above, h, insertion } = rows;
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
                let begins = *value - costs.first;
                *value = deletion.max(*value);
                deletion = begins.max(deletion - costs.next);
            }
        } else {
            deletion = zero;
        }
        from = to;
    }
    greatest
}

/// H without D of a piece of a row, and I; gives the greatest H. `above` has one column more, before the others.
#[inline(always)]
fn first_pass<T: Number>(above: &[T], scores: &[i32], insertion: &mut [T], h: &mut [T], costs: Costs<T>) -> T {
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
