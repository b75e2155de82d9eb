//! Which cells an alignment of known score can visit.
//!
//! A cell (i, j) lies on the diagonal `d = i - j`; the walk goes from diagonal 0 to diagonal `m - n`, and only gap
//! columns change the diagonal, each by one. So a path that visits diagonal d has at least `|d| + |d - (m - n)|` gap
//! columns, and a limit on gap columns is a band of diagonals. Two limits hold for global alignments with charged end
//! gaps. Let an alignment have G gap columns and P = (m + n - G) / 2 columns with two symbols.
//!
//! If G is more than `|m - n|`, the least there can be, then both sequences have a gap, and there are two openings or
//! more.
//!
//! 1. No column with two symbols scores more than s, so `score <= s P - next G - 2 opening`, that is
//!    `G (s + 2 next) <= s (m + n) - 2 score - 4 opening`, unless G is the least.
//! 2. If M columns match, P - M do not; with the greatest scores s of a match and t of a mismatch
//!    `score <= s M + t (P - M) - next G - 2 opening`, that is
//!    `G (t + 2 next) <= 2 s M + t (m + n - 2 M) - 2 score - 4 opening`, unless G is the least. Also
//!    `G <= m + n - 2 M`, as P >= M. With one score for all matches, one for all mismatches and linear gaps, both sides
//!    are equal: G is known.
//!
//! A limit whose factor on the left is not positive says nothing. All shrink as the score grows.
//!
//! With free end gaps only inner gap columns cost, and another limit serves. A path that visits diagonal d >= 0 has j
//! columns with two symbols before cell (j + d, j) at most, and min(m - d, n) - j after it, so `P <= min(m - d, n)`;
//! for d < 0 likewise `P <= min(m, n + d)`. As `score <= s P` and P >= M, all diagonals of alignments with P at least
//! `max(score / s, M)` are from `P - n` to `m - P`.
//!
//! With end gaps that have other costs both limits hold: the last one, since no gap is a gain, and the others with the end
//! gaps' costs for all gaps, which is what a gap costs at least. Where it is known how long the gap at the end can be, a third one
//! does: a path that visits a diagonal far from the last one comes back to it by that gap and then by inner gaps, with what these
//! cost, an opening among it.
//!
//! **Why a band gives the same walk.** Let B be a set of cells that holds every cell of every alignment with the best
//! (score, matches), and let a value within B be the best over paths that stay in B. Such a value is never above the
//! true one. It equals the true one in each state of each cell that some best alignment passes: the part of that
//! alignment up to there is best for that state (else the whole could be bettered) and lies in B. The walk back
//! starts at (m, n), or at an end of a best alignment if end gaps have costs of their own, and keeps to states on best alignments. There it asks whether a predecessor's value and the step
//! between give this state's value. If the true values agree, the predecessor is on a best alignment too (its best
//! prefix, the step, and what was walked already), so its value within B is true and they agree within B. If the
//! values within B agree, the predecessor's cannot be below its true value, for then a path through it would beat this
//! state's true value; so the true values agree. Every answer is the same as without a band, hence the whole walk. A
//! greater set than B does no harm: the argument asks only that B hold those cells.

use super::hint::Hint;
use crate::score::{Gaps, Scoring, Substitution};
use crate::seq::Code;

/// What the scores of the codes that occur in two sequences are like.
#[derive(Debug, Clone, Copy)]
pub(super) struct ScoreRange {
    /// Least and greatest score of a pair that can occur.
    pub least: i32,
    pub greatest: i32,
    /// The greatest score of a match and of a mismatch, if there can be one.
    pub best_match: Option<i32>,
    pub best_mismatch: Option<i32>,
    /// How the score of two codes can be found.
    pub scores: ScoresBy,
}

/// How the score of two codes can be found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ScoresBy {
    /// In a table.
    Table,
    /// Every two codes that can meet match exactly if they share a bit, and all matches score alike, and all mismatches.
    SharedBits,
    /// The same, but codes match if they are equal.
    EqualCodes,
}

impl ScoreRange {
    /// `query` and `target` are not empty.
    pub(super) fn of(substitution: &Substitution, query: &[Code], target: &[Code]) -> Self {
        let present = |codes: &[Code]| {
            let mut is_there = [false; 256];
            codes.iter().for_each(|&code| is_there[code as usize] = true);
            is_there
        };
        let (in_query, in_target) = (present(query), present(target));
        let members = |is_there: &[bool; 256]| {
            let is_there = *is_there;
            (0..=u8::MAX).take(substitution.size()).filter(move |&code| is_there[code as usize])
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

    /// Scores of match and mismatch, if there are only these two.
    pub(super) fn two_scores(&self) -> (i32, i32) {
        (self.best_match.unwrap_or(0), self.best_mismatch.unwrap_or(0))
    }

    /// The diagonals of all canonical alignments of `m` and `n` symbols, as far as the hint says.
    pub(super) fn band(&self, m: usize, n: usize, scoring: &Scoring, hint: Hint) -> Band {
        let band = Band::of_gap_columns(m, n, self.gap_limit(m, n, scoring.end_costs(), hint));
        if !scoring.has_own_ends() {
            return band;
        }
        band.meet(Band::of_pairs(m, n, self.least_pairs(m, n, hint)))
    }

    /// The diagonals of all canonical alignments of `m` and `n` symbols whose gap at the end takes in at most `left` symbols of the
    /// query or of the target, where end gaps have costs of their own.
    pub(super) fn band_to_end(&self, m: usize, n: usize, scoring: &Scoring, hint: Hint, left: [u64; 2]) -> Band {
        let (m, n) = (m as i64, n as i64);
        let mut band = Band { low: -n, high: m };
        let (inner, ends) = (i64::from(scoring.gaps.next), i64::from(scoring.end_costs().next));
        let (total, opening) = (m + n, 2 * i64::from(scoring.gaps.opening()));
        for (factor, bound) in self.losses(total, hint) {
            let columns = GapWeights { inner: factor + 2 * inner, end: factor + 2 * ends, opening };
            let reach = |ahead: i64, left: u64| columns.reach(bound, ahead, left as i64);
            if let (Some(high), Some(low)) = (reach(m - n, left[1]), reach(n - m, left[0])) {
                band = band.meet(Band { low: -low, high });
            }
        }
        band
    }

    /// The limits 1 and 2 on what gaps cost, twice, as far as the hint says: with factor f and bound b, `2 cost + f G <= b` of
    /// alignments of `total` symbols together.
    fn losses(&self, total: i64, hint: Hint) -> impl Iterator<Item = (i64, i64)> + use<> {
        let s = i64::from(self.greatest);
        let by_score = hint.score.map(|score| (s, s * total - 2 * score));
        let by_matches = hint.score.zip(hint.matches).zip(self.best_mismatch).map(|((score, matches), t)| {
            let (matches, s, t) = (matches as i64, i64::from(self.best_match.unwrap_or(0)), i64::from(t));
            (t, 2 * s * matches + t * (total - 2 * matches) - 2 * score)
        });
        by_score.into_iter().chain(by_matches)
    }

    /// The least number of columns with two symbols of an alignment with any end gaps, with a score of at least
    /// `hint.score` and, if these are given, `hint.matches` matches.
    fn least_pairs(&self, m: usize, n: usize, hint: Hint) -> u64 {
        let Some(score) = hint.score else { return 0 };
        let greatest = i64::from(self.greatest);
        let by_score = if greatest > 0 { score.max(0).div_euclid(greatest) as u64 } else { 0 };
        by_score.max(hint.matches.unwrap_or(0)).min(m.min(n) as u64)
    }

    /// The most gap columns that an alignment of `m` and `n` symbols with a score of at least `hint.score` can have,
    /// and exactly `hint.matches` matches if these are given, where a gap costs `gaps` or more. (With matches the score must
    /// be exact.)
    fn gap_limit(&self, m: usize, n: usize, gaps: Gaps, hint: Hint) -> u64 {
        let (total, next, opening) = ((m + n) as i64, i64::from(gaps.next), i64::from(gaps.opening()));
        let mut limit = total;
        let mut apply = |factor: i64, bound: i64| {
            if factor > 0 {
                limit = limit.min(bound.div_euclid(factor));
            }
        };
        for (factor, bound) in self.losses(total, hint) {
            apply(factor + 2 * next, bound - 4 * opening);
        }
        if let (Some(_), Some(matches)) = (hint.score, hint.matches) {
            apply(1, total - 2 * matches as i64);
        }
        // Fewer than the difference of the lengths is impossible.
        limit.max(m.abs_diff(n) as i64) as u64
    }
}

/// By how much each gap column makes an alignment score less than its bound, twice, and each opening of an inner gap.
#[derive(Clone, Copy)]
struct GapWeights {
    inner: i64,
    /// Never above `inner`.
    end: i64,
    opening: i64,
}

impl GapWeights {
    /// The greatest diagonal that an alignment reaches which may score `bound` less, if the last one is `ahead` and the gap at the end
    /// takes at most `left` symbols back to it; `None` if that is not told.
    ///
    /// Up to diagonal d there are d gap columns, and d - ahead back from it. Of these the first `left` may be end gaps, and the rest are
    /// at least one inner gap.
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
pub(super) struct Band {
    pub low: i64,
    pub high: i64,
}

impl Band {
    /// All diagonals.
    #[cfg(test)]
    pub(super) fn full(m: usize, n: usize) -> Self {
        Band { low: -(n as i64), high: m as i64 }
    }

    /// The diagonals that alignments with at most `gap_columns` gap columns visit; at least `|m - n|` of these.
    pub(super) fn of_gap_columns(m: usize, n: usize, gap_columns: u64) -> Self {
        let (m, n) = (m as i64, n as i64);
        let spare = (gap_columns as i64 - (m - n).abs()) / 2;
        Band { low: ((m - n).min(0) - spare).max(-n), high: ((m - n).max(0) + spare).min(m) }
    }

    /// The diagonals of alignments with at least so many columns with two symbols.
    pub(super) fn of_pairs(m: usize, n: usize, pairs: u64) -> Self {
        Band { low: pairs as i64 - n as i64, high: m as i64 - pairs as i64 }
    }

    /// A guess at the band of similar sequences.
    pub(super) fn guess(m: usize, n: usize) -> Self {
        Self::of_gap_columns(m, n, (m.abs_diff(n) + 32 + (m + n) / 64) as u64)
    }

    /// The diagonals of both. Both have those of a path.
    pub(super) fn meet(self, other: Band) -> Band {
        Band { low: self.low.max(other.low), high: self.high.min(other.high) }
    }

    pub(super) fn contains(self, other: Band) -> bool {
        self.low <= other.low && other.high <= self.high
    }

    /// Four times as wide, but no wider than `limit` (on either side where this band is not already).
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
    fn bands_hold_the_diagonals_within_reach() {
        assert_eq!(Band::of_gap_columns(10, 10, 0), Band { low: 0, high: 0 });
        assert_eq!(Band::of_gap_columns(10, 10, 5), Band { low: -2, high: 2 });
        assert_eq!(Band::of_gap_columns(10, 7, 3), Band { low: 0, high: 3 });
        assert_eq!(Band::of_gap_columns(7, 10, 8), Band { low: -5, high: 2 });
        assert_eq!(Band::of_gap_columns(2, 3, 5), Band::full(2, 3));
    }

    #[test]
    fn bands_with_free_end_gaps() {
        assert_eq!(Band::of_pairs(10, 7, 0), Band::full(10, 7));
        assert_eq!(Band::of_pairs(10, 7, 7), Band { low: 0, high: 3 });
        assert_eq!(Band::of_pairs(7, 10, 5), Band { low: -5, high: 2 });
        let band = |score, matches| {
            let scoring = Scoring { end_gaps: EndGaps::Free, ..Scoring::truong() };
            let range = ScoreRange::of(&scoring.substitution, &[1, 2], &[1, 2]);
            range.band(100, 100, &scoring, Hint { score, matches })
        };
        assert_eq!(band(None, Some(90)), Band::full(100, 100));
        assert_eq!(band(Some(-3), None), Band::full(100, 100));
        assert_eq!(band(Some(451), None), Band { low: -9, high: 9 });
        assert_eq!(band(Some(451), Some(92)), Band { low: -8, high: 8 });
    }

    #[test]
    fn bands_with_costs_of_end_gaps() {
        let band = |first, next, score| {
            let ends = EndGaps::Priced(Gaps { first, next });
            let scoring = Scoring { end_gaps: ends, ..Scoring::truong() };
            let range = ScoreRange::of(&scoring.substitution, &[1, 2], &[1, 2]);
            range.band(100, 100, &scoring, Hint { score: Some(score), matches: None })
        };
        // Moved by three: 97 matches and two end gaps of three.
        assert_eq!(band(3, 1, 485 - 10), Band { low: -3, high: 3 });
        assert_eq!(band(9, 0, 485 - 18), Band { low: -3, high: 3 });
        assert_eq!(band(9, 9, 485 - 54), Band { low: -3, high: 3 });
        assert_eq!(band(3, 1, -1), Band { low: -71, high: 71 });
    }

    #[test]
    fn bands_with_a_short_gap_at_the_end() {
        // A gap column of an end takes 2 of the bound, an inner one 6, opening one 40.
        let weights = GapWeights { inner: 6, end: 2, opening: 40 };
        assert_eq!(weights.reach(100, 0, 1000), Some(25));
        assert_eq!(weights.reach(100, 0, 25), Some(25));
        // 12 forth, 12 back of which 10 are an end gap: 24 + 20 + 12 + 40.
        assert_eq!(weights.reach(96, 0, 10), Some(12));
        assert_eq!(weights.reach(95, 0, 10), Some(11));
        // The end gap alone, which needs no opening.
        assert_eq!(weights.reach(60, 0, 10), Some(10));
        assert_eq!(weights.reach(0, 30, 0), Some(30));
        assert_eq!((weights.reach(100, 20, 1000), weights.reach(100, -20, 1000)), (Some(35), Some(15)));
        assert_eq!(GapWeights { end: 0, ..weights }.reach(100, 0, 7), Some(17));
        assert_eq!(GapWeights { end: -1, ..weights }.reach(100, 0, 7), None);
        let ends = EndGaps::Priced(Gaps { first: 3, next: 3 });
        let scoring = Scoring { end_gaps: ends, gaps: Gaps::from_blast(20, 5), ..Scoring::truong() };
        let range = ScoreRange::of(&scoring.substitution, &[1, 2], &[1, 2]);
        let band = |left| {
            let hint = Hint { score: Some(400), matches: Some(90) };
            range.band_to_end(100, 100, &scoring, hint, left)
        };
        // 90 matches score 50 more than that, ten mismatches 10 more: of 20 that may be lost, twice, 2 go for a column.
        assert_eq!(band([100, 100]), Band { low: -5, high: 5 });
        assert_eq!(band([0, 3]), Band { low: 0, high: 3 });
    }

    #[test]
    fn bands_grow_to_their_limit() {
        let (mut band, limit) = (Band { low: -2, high: 3 }, Band { low: -40, high: 1 });
        band = band.wider(limit);
        assert_eq!(band, Band { low: -21, high: 3 });
        assert!(!band.contains(limit));
        band = band.wider(limit);
        assert_eq!(band, Band { low: -40, high: 3 });
        assert!(band.contains(limit));
    }

    #[test]
    fn limits_by_hand() {
        let scoring = Scoring::truong();
        let range = ScoreRange::of(&scoring.substitution, &[1, 2, 4, 8], &[1, 2, 4, 8]);
        assert_eq!((range.scores, range.two_scores()), (ScoresBy::SharedBits, (5, -4)));
        let limit = |m, n, score, matches| range.gap_limit(m, n, scoring.gaps, Hint { score, matches });
        assert_eq!(limit(100, 100, None, None), 200);
        assert_eq!(limit(100, 100, Some(500), Some(100)), 0);
        // 98 matches and two mismatches, or 98 matches, one mismatch and a gap in either sequence.
        assert_eq!(limit(100, 100, Some(98 * 5 - 2 * 4), Some(98)), 0);
        assert_eq!(limit(100, 100, Some(98 * 5 - 4 - 20), Some(98)), 2);
        assert_eq!(limit(100, 100, Some(98 * 5 - 4 - 20), None), 2);
        assert_eq!(limit(100, 90, Some(90 * 5 - 100), Some(90)), 10);
        // Even a score that is out of reach leaves the band of a path.
        assert_eq!(limit(100, 90, Some(1000), None), 10);
    }

    #[test]
    fn what_scores_are_like() {
        let scoring = Scoring::protein();
        let range = ScoreRange::of(&scoring.substitution, &[23], &[23, 1]);
        assert_eq!((range.least, range.greatest, range.scores), (-3, 11, ScoresBy::EqualCodes));
        assert_eq!((range.best_match, range.best_mismatch), (Some(11), Some(-3)));
        assert_eq!(ScoreRange::of(&scoring.substitution, &[23], &[23, 1, 4]).scores, ScoresBy::Table);
        let literal = Equality::literal(Alphabet::Bytes).scoring();
        let range = ScoreRange::of(&literal.substitution, b"Bytes", b"bits");
        assert_eq!((range.scores, range.two_scores()), (ScoresBy::EqualCodes, (0, -1)));
        assert_eq!(ScoreRange::of(&literal.substitution, &[1, 2], &[1, 4]).scores, ScoresBy::SharedBits);
    }
}
