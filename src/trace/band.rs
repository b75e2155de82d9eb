//! The cells that an alignment of known score can visit, as a band of diagonals.
//!
//! A cell (i, j) lies on the diagonal `d = i - j`. A path goes from diagonal 0 to diagonal `m - n`.
//! Only gap columns change the diagonal, each by one. A path that visits diagonal d therefore has
//! at least `|d| + |d - (m - n)|` gap columns, and a limit on gap columns is a band of diagonals.
//! Two limits hold for global alignments with charged end gaps. Let an alignment have G gap columns
//! and P = (m + n - G) / 2 columns with two symbols.
//!
//! The least possible G is `|m - n|`. If G is greater, both sequences have a gap, and there are at
//! least two openings.
//!
//! 1. No column with two symbols scores more than s. Unless G is the least,
//!    `score <= s P - next G - 2 opening`, that is
//!    `G (s + 2 next) <= s (m + n) - 2 score - 4 opening`.
//! 2. If M columns match, P - M do not. Let s be the greatest score of a match and t the greatest
//!    score of a mismatch. Unless G is the least,
//!    `score <= s M + t (P - M) - next G - 2 opening`, that is
//!    `G (t + 2 next) <= 2 s M + t (m + n - 2 M) - 2 score - 4 opening`. Also
//!    `G <= m + n - 2 M` because P >= M. If all matches have one score, all mismatches have one
//!    score and gaps are linear, both sides are equal and G is known.
//!
//! A limit has no effect if its factor on the left is not positive. All limits shrink as the score
//! grows.
//!
//! With free end gaps only inner gap columns cost, and another limit applies. A path that visits
//! diagonal d >= 0 has at most j columns with two symbols before cell (j + d, j), and at most
//! `min(m - d, n) - j` after it, so `P <= min(m - d, n)`. For d < 0, `P <= min(m, n + d)` in the
//! same way. As `score <= s P` and P >= M, all diagonals of alignments with P at least
//! `max(score / s, M)` are from `P - n` to `m - P`.
//!
//! If end gaps have other costs, all limits hold, too. The last one holds because no gap increases
//! the score. The others hold if every gap is given the end gaps' costs, because no gap costs less.
//! If the length of the gap at the end is bounded, a third limit applies. A path that visits a
//! diagonal far from the last one returns to it by the end gap and by inner gaps. These cost their
//! columns and at least one opening.
//!
//! **Why a band gives the same traceback.** Let B be a set of cells that contains every cell of
//! every alignment with the best (score, matches). Let a value within B be the best over paths that
//! stay in B. Such a value is never above the true value. It equals the true value in each state of
//! each cell that some best alignment passes: the prefix of that alignment up to the cell is best
//! for that state (otherwise the whole alignment could be improved) and lies in B.
//!
//! The traceback starts at (m, n), or at an end of a best alignment if end gaps have their own
//! costs. It visits only states on best alignments. At each state it tests whether a predecessor's
//! value plus the step between them gives this state's value. If the test succeeds with true
//! values, the predecessor is also on a best alignment, which consists of the predecessor's best
//! prefix, the step, and the traceback so far. The predecessor's value within B is then true, so
//! the test succeeds within B as well. Conversely, let the test succeed within B. Then the
//! predecessor's value there cannot be below its true value, because a path through it would
//! otherwise exceed this state's true value. So the test also succeeds with true values. Every test
//! has the same result as without a band, and therefore the traceback is the same. A set larger
//! than B is safe as well, because the argument only requires that it contains those cells.

use super::hint::Hint;
use crate::score::{Gaps, Scoring, Substitution};
use crate::seq::Code;

/// Properties of the scores of the codes that occur in two sequences.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ScoreRange {
    /// Least score of a pair of codes that can occur.
    pub least: i32,
    pub greatest: i32,
    /// Greatest score of a match, if one can occur.
    pub best_match: Option<i32>,
    pub best_mismatch: Option<i32>,
    /// How to find the score of two codes.
    pub scores: ScoresBy,
}

/// Methods to find the score of two codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ScoresBy {
    /// In a table.
    Table,
    /// By a bitwise AND. Two codes of the pair match exactly if they share a bit. All matches have
    /// one score, and all mismatches have one score.
    SharedBits,
    /// By comparison. Two codes of the pair match exactly if they are equal. All matches have one
    /// score, and all mismatches have one score.
    EqualCodes,
}

impl ScoreRange {
    /// Computes the properties of two non-empty sequences.
    pub(crate) fn from_codes(substitution: &Substitution, query: &[Code], target: &[Code]) -> Self {
        let present = |codes: &[Code]| {
            let mut is_present = [false; 256];
            codes.iter().for_each(|&code| is_present[code as usize] = true);
            is_present
        };
        let (in_query, in_target) = (present(query), present(target));
        let members = |is_present: &[bool; 256]| {
            let is_present = *is_present;
            (0..=u8::MAX).take(substitution.size()).filter(move |&code| is_present[code as usize])
        };
        let mut range = ScoreRange {
            least: i32::MAX,
            greatest: i32::MIN,
            best_match: None,
            best_mismatch: None,
            scores: ScoresBy::Table,
        };
        let (mut by_shared_bits, mut by_equal_codes) = (true, true);
        for a in members(&in_query) {
            for b in members(&in_target) {
                let (score, is_match) = (substitution.score(a, b), substitution.is_match(a, b));
                range.least = range.least.min(score);
                range.greatest = range.greatest.max(score);
                let best = if is_match { &mut range.best_match } else { &mut range.best_mismatch };
                let is_alike = best.is_none_or(|best| best == score);
                by_shared_bits &= is_alike && is_match == (a & b != 0);
                by_equal_codes &= is_alike && is_match == (a == b);
                *best = (*best).max(Some(score));
            }
        }
        range.scores = match (by_shared_bits, by_equal_codes) {
            (true, _) => ScoresBy::SharedBits,
            (false, true) => ScoresBy::EqualCodes,
            (false, false) => ScoresBy::Table,
        };
        range
    }

    /// Returns the scores of a match and of a mismatch, if only these two scores occur.
    pub(super) fn two_scores(&self) -> (i32, i32) {
        (self.best_match.unwrap_or(0), self.best_mismatch.unwrap_or(0))
    }

    /// Returns a band that contains all canonical alignments of `m` and `n` symbols that agree with
    /// the hint.
    pub(crate) fn band(&self, m: usize, n: usize, scoring: &Scoring, hint: Hint) -> Band {
        let band = Band::for_gap_columns(m, n, self.gap_limit(m, n, scoring.end_costs(), hint));
        if !scoring.has_own_ends() {
            return band;
        }
        band.intersect(Band::for_pairs(m, n, self.min_pairs(m, n, hint)))
    }

    /// Returns a band that contains all canonical alignments of `m` and `n` symbols whose gap at
    /// the end contains at most `left` symbols (query, target). Only for end gaps with their own
    /// costs.
    pub(super) fn band_to_end(&self, m: usize, n: usize, scoring: &Scoring, hint: Hint, left: [u64; 2]) -> Band {
        let (m, n) = (m as i64, n as i64);
        let mut band = Band { low: -n, high: m };
        let (inner, ends) = (i64::from(scoring.gaps.next), i64::from(scoring.end_costs().next));
        let (total, opening) = (m + n, 2 * i64::from(scoring.gaps.opening()));
        for (factor, bound) in self.gap_limits(total, hint) {
            let columns = GapWeights { inner: factor + 2 * inner, end: factor + 2 * ends, opening };
            let reach = |ahead: i64, left: u64| columns.reach(bound, ahead, left as i64);
            if let (Some(high), Some(low)) = (reach(m - n, left[1]), reach(n - m, left[0])) {
                band = band.intersect(Band { low: -low, high });
            }
        }
        band
    }

    /// Returns those of limits 1 and 2 whose input is in the hint. A limit (f, b) states `2 cost +
    /// f G <= b`, where `cost` is the cost of all gaps, for alignments with `total` symbols in both
    /// sequences together.
    fn gap_limits(&self, total: i64, hint: Hint) -> impl Iterator<Item = (i64, i64)> + use<> {
        let s = i64::from(self.greatest);
        let by_score = hint.score.map(|score| (s, s * total - 2 * score));
        let by_matches = hint.score.zip(hint.matches).zip(self.best_mismatch).map(|((score, matches), t)| {
            let (matches, s, t) = (matches as i64, i64::from(self.best_match.unwrap_or(0)), i64::from(t));
            (t, 2 * s * matches + t * (total - 2 * matches) - 2 * score)
        });
        by_score.into_iter().chain(by_matches)
    }

    /// Returns the least number of columns with two symbols in an alignment that scores at least
    /// `hint.score` and has `hint.matches` matches, if given. It holds for all costs of end gaps.
    fn min_pairs(&self, m: usize, n: usize, hint: Hint) -> u64 {
        let Some(score) = hint.score else { return 0 };
        let greatest = i64::from(self.greatest);
        let by_score = if greatest > 0 { score.max(0).div_euclid(greatest) as u64 } else { 0 };
        by_score.max(hint.matches.unwrap_or(0)).min(m.min(n) as u64)
    }

    /// Returns the greatest number of gap columns of an alignment of `m` and `n` symbols that
    /// scores at least `hint.score`, if every gap costs at least `gaps`. If `hint.matches` is
    /// given, the alignment must have exactly this number of matches and exactly the hinted score.
    fn gap_limit(&self, m: usize, n: usize, gaps: Gaps, hint: Hint) -> u64 {
        let (total, next, opening) = ((m + n) as i64, i64::from(gaps.next), i64::from(gaps.opening()));
        let mut limit = total;
        let mut apply = |factor: i64, bound: i64| {
            if factor > 0 {
                limit = limit.min(bound.div_euclid(factor));
            }
        };
        for (factor, bound) in self.gap_limits(total, hint) {
            apply(factor + 2 * next, bound - 4 * opening);
        }
        if let (Some(_), Some(matches)) = (hint.score, hint.matches) {
            apply(1, total - 2 * matches as i64);
        }
        // No alignment has fewer gap columns than the difference of the lengths.
        limit.max(m.abs_diff(n) as i64) as u64
    }
}

/// Weights of gap columns and openings in a limit: twice the cost plus the limit's factor per
/// column (see [`ScoreRange::gap_limits`]).
#[derive(Clone, Copy)]
struct GapWeights {
    inner: i64,
    /// Weight of a column of an end gap, at most `inner`.
    end: i64,
    opening: i64,
}

impl GapWeights {
    /// Returns the greatest diagonal that an alignment can reach if the weights of its gaps add up
    /// to at most `bound`. `ahead` is the last diagonal. The gap at the end contains at most `left`
    /// symbols. Returns `None` if the weights give no limit.
    ///
    /// A path to diagonal d has d gap columns on the way there and d - ahead on the way back. The
    /// first `left` columns of the way back may be end gaps. The rest contain at least one inner
    /// gap.
    fn reach(self, bound: i64, ahead: i64, left: i64) -> Option<i64> {
        let GapWeights { inner, end, opening } = self;
        if end < 0 || inner <= 0 {
            return None;
        }
        let by_ends = if end == 0 { i64::MAX } else { (bound + end * ahead).div_euclid(2 * end) };
        let reached = if by_ends <= ahead + left {
            by_ends
        } else {
            let rest = bound - opening - end * left + inner * (ahead + left);
            rest.div_euclid(end + inner).max(ahead + left)
        };
        Some(reached.max(ahead).max(0))
    }
}

/// Diagonals from `low` to `high`, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Band {
    pub low: i64,
    pub high: i64,
}

impl Band {
    /// Returns the band of all diagonals.
    pub(crate) fn full(m: usize, n: usize) -> Self {
        Band { low: -(n as i64), high: m as i64 }
    }

    /// Returns the diagonals that alignments with at most `gap_columns` gap columns visit.
    /// `gap_columns` is at least `|m - n|`.
    pub(super) fn for_gap_columns(m: usize, n: usize, gap_columns: u64) -> Self {
        let (m, n) = (m as i64, n as i64);
        let spare = (gap_columns as i64 - (m - n).abs()) / 2;
        Band { low: ((m - n).min(0) - spare).max(-n), high: ((m - n).max(0) + spare).min(m) }
    }

    /// Returns the diagonals that alignments with at least `pairs` columns of two symbols visit.
    pub(super) fn for_pairs(m: usize, n: usize, pairs: u64) -> Self {
        Band { low: pairs as i64 - n as i64, high: m as i64 - pairs as i64 }
    }

    /// Returns a first guess for the band of similar sequences.
    pub(crate) fn guess(m: usize, n: usize) -> Self {
        Self::for_gap_columns(m, n, (m.abs_diff(n) + 32 + (m + n) / 64) as u64)
    }

    /// Returns the diagonals in both bands. Both must contain the diagonals of one path.
    pub(super) fn intersect(self, other: Band) -> Band {
        Band { low: self.low.max(other.low), high: self.high.min(other.high) }
    }

    pub(crate) fn contains(self, other: Band) -> bool {
        self.low <= other.low && other.high <= self.high
    }

    /// Returns a band that is four times as wide. Neither side grows beyond `limit`, and no side
    /// shrinks.
    pub(super) fn wider(self, limit: Band) -> Self {
        let more = self.high - self.low + 8;
        Band {
            low: (self.low - more * 3 / 2).max(limit.low.min(self.low)),
            high: (self.high + more * 3 / 2).min(limit.high.max(self.high)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::score::{EndGaps, Equality};
    use crate::seq::Alphabet;

    #[test]
    fn gap_columns_limit_the_band() {
        assert_eq!(Band::for_gap_columns(10, 10, 0), Band { low: 0, high: 0 });
        assert_eq!(Band::for_gap_columns(10, 10, 5), Band { low: -2, high: 2 });
        assert_eq!(Band::for_gap_columns(10, 7, 3), Band { low: 0, high: 3 });
        assert_eq!(Band::for_gap_columns(7, 10, 8), Band { low: -5, high: 2 });
        assert_eq!(Band::for_gap_columns(2, 3, 5), Band::full(2, 3));
    }

    #[test]
    fn pairs_limit_the_band_with_free_end_gaps() {
        assert_eq!(Band::for_pairs(10, 7, 0), Band::full(10, 7));
        assert_eq!(Band::for_pairs(10, 7, 7), Band { low: 0, high: 3 });
        assert_eq!(Band::for_pairs(7, 10, 5), Band { low: -5, high: 2 });
        let band = |score, matches| {
            let scoring = Scoring { end_gaps: EndGaps::Free, ..Scoring::truong() };
            let range = ScoreRange::from_codes(&scoring.substitution, &[1, 2], &[1, 2]);
            range.band(100, 100, &scoring, Hint { score, matches })
        };
        assert_eq!(band(None, Some(90)), Band::full(100, 100));
        assert_eq!(band(Some(-3), None), Band::full(100, 100));
        assert_eq!(band(Some(451), None), Band { low: -9, high: 9 });
        assert_eq!(band(Some(451), Some(92)), Band { low: -8, high: 8 });
    }

    #[test]
    fn a_score_limits_the_band_with_priced_end_gaps() {
        let band = |first, next, score| {
            let ends = EndGaps::Priced(Gaps { first, next });
            let scoring = Scoring { end_gaps: ends, ..Scoring::truong() };
            let range = ScoreRange::from_codes(&scoring.substitution, &[1, 2], &[1, 2]);
            range.band(100, 100, &scoring, Hint { score: Some(score), matches: None })
        };
        // 97 matches and two end gaps of three symbols.
        assert_eq!(band(3, 1, 485 - 10), Band { low: -3, high: 3 });
        assert_eq!(band(9, 0, 485 - 18), Band { low: -3, high: 3 });
        assert_eq!(band(9, 9, 485 - 54), Band { low: -3, high: 3 });
        assert_eq!(band(3, 1, -1), Band { low: -71, high: 71 });
    }

    #[test]
    fn a_short_end_gap_limits_the_band() {
        // The weight of a column is 2 in an end gap and 6 in an inner gap. An opening has a weight
        // of 40.
        let weights = GapWeights { inner: 6, end: 2, opening: 40 };
        assert_eq!(weights.reach(100, 0, 1000), Some(25));
        assert_eq!(weights.reach(100, 0, 25), Some(25));
        // 12 columns to the diagonal have a weight of 24. On the way back, an end gap of 10 has 20,
        // and an inner gap of 2 has 12 + 40.
        assert_eq!(weights.reach(96, 0, 10), Some(12));
        assert_eq!(weights.reach(95, 0, 10), Some(11));
        // An end gap alone needs no opening.
        assert_eq!(weights.reach(60, 0, 10), Some(10));
        assert_eq!(weights.reach(0, 30, 0), Some(30));
        assert_eq!((weights.reach(100, 20, 1000), weights.reach(100, -20, 1000)), (Some(35), Some(15)));
        assert_eq!(GapWeights { end: 0, ..weights }.reach(100, 0, 7), Some(17));
        assert_eq!(GapWeights { end: -1, ..weights }.reach(100, 0, 7), None);
        let ends = EndGaps::Priced(Gaps { first: 3, next: 3 });
        let scoring = Scoring { end_gaps: ends, gaps: Gaps::from_blast(20, 5), ..Scoring::truong() };
        let range = ScoreRange::from_codes(&scoring.substitution, &[1, 2], &[1, 2]);
        let band = |left| {
            let hint = Hint { score: Some(400), matches: Some(90) };
            range.band_to_end(100, 100, &scoring, hint, left)
        };
        // 90 matches score 50 more than the hint, and ten mismatches use up 40 of these. Twice the
        // remaining 10 is 20, and each column has a weight of 2.
        assert_eq!(band([100, 100]), Band { low: -5, high: 5 });
        assert_eq!(band([0, 3]), Band { low: 0, high: 3 });
    }

    #[test]
    fn bands_grow_up_to_their_limit() {
        let (mut band, limit) = (Band { low: -2, high: 3 }, Band { low: -40, high: 1 });
        band = band.wider(limit);
        assert_eq!(band, Band { low: -21, high: 3 });
        assert!(!band.contains(limit));
        band = band.wider(limit);
        assert_eq!(band, Band { low: -40, high: 3 });
        assert!(band.contains(limit));
    }

    #[test]
    fn gap_limits_equal_limits_computed_by_hand() {
        let scoring = Scoring::truong();
        let range = ScoreRange::from_codes(&scoring.substitution, &[1, 2, 4, 8], &[1, 2, 4, 8]);
        assert_eq!((range.scores, range.two_scores()), (ScoresBy::SharedBits, (5, -4)));
        let limit = |m, n, score, matches| range.gap_limit(m, n, scoring.gaps, Hint { score, matches });
        assert_eq!(limit(100, 100, None, None), 200);
        assert_eq!(limit(100, 100, Some(500), Some(100)), 0);
        // 98 matches and two mismatches, or 98 matches, one mismatch and a gap in either sequence.
        assert_eq!(limit(100, 100, Some(98 * 5 - 2 * 4), Some(98)), 0);
        assert_eq!(limit(100, 100, Some(98 * 5 - 4 - 20), Some(98)), 2);
        assert_eq!(limit(100, 100, Some(98 * 5 - 4 - 20), None), 2);
        assert_eq!(limit(100, 90, Some(90 * 5 - 100), Some(90)), 10);
        // A score that no alignment reaches still leaves the band of one path.
        assert_eq!(limit(100, 90, Some(1000), None), 10);
    }

    #[test]
    fn score_ranges_describe_the_codes_that_occur() {
        let scoring = Scoring::protein();
        let range = ScoreRange::from_codes(&scoring.substitution, &[23], &[23, 1]);
        assert_eq!((range.least, range.greatest, range.scores), (-3, 11, ScoresBy::EqualCodes));
        assert_eq!((range.best_match, range.best_mismatch), (Some(11), Some(-3)));
        assert_eq!(ScoreRange::from_codes(&scoring.substitution, &[23], &[23, 1, 4]).scores, ScoresBy::Table);
        let literal = Equality::literal(Alphabet::Bytes).scoring();
        let range = ScoreRange::from_codes(&literal.substitution, b"Bytes", b"bits");
        assert_eq!((range.scores, range.two_scores()), (ScoresBy::EqualCodes, (0, -1)));
        assert_eq!(ScoreRange::from_codes(&literal.substitution, &[1, 2], &[1, 4]).scores, ScoresBy::SharedBits);
    }
}
