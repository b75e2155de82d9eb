//! The gap-offset transform: the form of scores in the fast kernels.
//!
//! Instead of a cell's score H\[i,j\], kernels store
//!
//! ```text
//! V[i,j] = (H[i,j] + next * (i + j)) << match_bits | matches[i,j]
//! ```
//!
//! The offset `next * (i + j)` makes every further gap symbol free: a step down or right adds
//! `next` back. Only the opening of a gap (`first - next`, or nothing under linear gaps) is
//! subtracted. A diagonal step adds `sub + 2 * next`. The low bits count matches. So the greatest V
//! has the greatest score and, among equal scores, the most matches, which is the order of
//! [`super::Scoring`].
//!
//! Kernels need no special code for borders. Sequences are padded at the *front* with
//! [`crate::seq::PAD`]. The PAD row and column of the table make padded cells repeat row and column
//! 0, as [`OffsetScoring::table`] proves. So every pair of a batch ends in the same cell, in the
//! last row and column.

use super::scoring::Scoring;

/// Bits of a device's value, without the sign.
const BITS: u32 = i32::BITS - 1;

/// Minus infinity: far below every value, and far enough from overflow.
pub const NEG_INF: i32 = -(1 << 30);

/// Returns the number of bits that a count of up to `shorter` matches takes.
fn match_bits(shorter: u64) -> u32 {
    (u64::BITS - shorter.leading_zeros()).max(1)
}

/// Returns whether every value of pairs with these lengths fits `bits` bits without the sign.
pub fn fits(scoring: &Scoring, shorter: u64, sum: u64, carry_matches: bool, bits: u32) -> bool {
    let next = scoring.gaps.next as i128;
    let substitution = &scoring.substitution;
    let ends = scoring.end_costs();
    // Greatest value: `shorter` diagonal steps with the best score, plus the amount that end
    // gaps are cheaper than inner gaps.
    let best_step = (substitution.max_score() as i128 + 2 * next).max(0);
    let greatest = best_step * shorter as i128 + (next - ends.next as i128) * sum as i128;
    // Least value: H >= -2 * opening if nothing is aligned, E and F are one opening less, and a
    // diagonal step may follow.
    let worst_step = (substitution.min_score() as i128 + 2 * next).min(0).abs();
    let least = 4 * scoring.gaps.opening().max(ends.opening()) as i128 + worst_step;
    let matches = if carry_matches { match_bits(shorter) } else { 0 };
    let Some(left) = bits.checked_sub(matches) else {
        return false;
    };
    let limit = 1i128 << left;
    greatest + 1 < limit && least < limit / 4
}

/// Returns whether engines report matches next to scores for pairs up to these lengths. They do so
/// if both fit in 32 bits. They also do so if the score alone does not fit, because no device then
/// computes it. All engines follow this rule, so the pairs that a filter keeps do not depend on the
/// engine.
pub fn carries_matches(scoring: &Scoring, shorter: u64, sum: u64) -> bool {
    let fits = |carry_matches| fits(scoring, shorter, sum, carry_matches, BITS);
    fits(true) || !fits(false)
}

/// A scoring scheme in the kernels' form, for pairs up to given lengths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OffsetScoring {
    size: usize,
    table: Vec<i32>,
    match_bits: u32,
    next: i64,
    opening: i32,
    border_opening: i32,
    border_step: i32,
    own_ends: bool,
}

impl OffsetScoring {
    /// Converts a scheme for pairs whose shorter sequence has at most `shorter` symbols and whose
    /// lengths sum to at most `sum`. Matches are counted if `carry_matches`. Returns `None` if a
    /// value could overflow.
    pub fn new(scoring: &Scoring, shorter: u64, sum: u64, carry_matches: bool) -> Option<Self> {
        if !fits(scoring, shorter, sum, carry_matches, BITS) {
            return None;
        }
        let match_bits = if carry_matches { match_bits(shorter) } else { 0 };
        let (next, opening) = (scoring.gaps.next as i64, scoring.gaps.opening() as i64);
        let (ends, own_ends) = (scoring.end_costs(), scoring.has_own_ends());
        let border_step = ((next - ends.next as i64) << match_bits) as i32;
        let substitution = &scoring.substitution;
        let size = substitution.size();
        let mut table = vec![NEG_INF; size * size];
        table[0] = 0;
        for code in 1..size {
            if own_ends {
                table[code] = border_step;
                table[code * size] = border_step;
            }
            for other in 1..size {
                let score = substitution.score(code as u8, other as u8) as i64 + 2 * next;
                let is_match = carry_matches && substitution.is_match(code as u8, other as u8);
                table[code * size + other] = ((score << match_bits) + is_match as i64) as i32;
            }
        }
        Some(OffsetScoring {
            size,
            table,
            match_bits,
            next,
            opening: (opening << match_bits) as i32,
            border_opening: -((ends.opening() as i64) << match_bits) as i32,
            border_step,
            own_ends,
        })
    }

    /// Returns the number of rows and columns of [`OffsetScoring::table`].
    pub fn size(&self) -> usize {
        self.size
    }

    /// Returns the values that diagonal steps add: a symmetric table of `size` by `size`.
    ///
    /// The entries of [`crate::seq::PAD`] (code 0) make padded cells repeat the border. Let B(k) be
    /// the border's value after k real symbols: B(0) = 0, and B(k) = `border_opening + k * border_step`
    /// otherwise.
    /// - PAD against PAD adds 0: cells before both sequences keep their value.
    /// - PAD against a symbol is never taken if end gaps cost as much as inner gaps. In a padded
    ///   row, the last padded column has the value 0. A gap that opens there gives B(1) in the
    ///   first real column, and its extension gives B(k) = B(1) in all others. The same holds down
    ///   a padded column. A gap that opens in a padded cell with value B leaves a value below B in
    ///   E or F. The first real cell gets the same value from a gap that opens in the border
    ///   itself.
    /// - PAD against a symbol adds `border_step` if end gaps have costs of their own. The diagonal
    ///   step from B(k - 1) gives exactly B(k); for k = 1, the padding before both sequences must
    ///   have the value `border_opening`. No other step gives more. B does not decrease after B(1). A
    ///   gap that opens from the corner gives `-opening`, which is at most B(1), because an end
    ///   gap's first symbol costs no more than an inner one's. Only the corner itself, the last
    ///   padded cell before both sequences, must be 0. If [`OffsetScoring::border_opening`] is not 0,
    ///   kernels subtract it once, when they reach the corner.
    pub fn table(&self) -> &[i32] {
        &self.table
    }

    /// Returns the number of low bits that count the matches; 0 if they are not counted.
    pub fn match_bits(&self) -> u32 {
        self.match_bits
    }

    /// Returns whether matches are counted.
    pub fn carries_matches(&self) -> bool {
        self.match_bits > 0
    }

    /// Returns the value that is subtracted when a gap opens; 0 under linear gaps.
    pub fn opening(&self) -> i32 {
        self.opening
    }

    /// Returns the constant part of a border cell's value after one or more real symbols.
    pub fn border_opening(&self) -> i32 {
        self.border_opening
    }

    /// Returns the increase of the border's value per symbol: the amount that a further symbol
    /// of an end gap is cheaper than a symbol of an inner gap.
    pub fn border_step(&self) -> i32 {
        self.border_step
    }

    /// Returns whether end gaps cost differently from inner gaps. If so, the value of a pair is the
    /// best of the last row and column, each plus [`OffsetScoring::border_value`] of the remaining symbols.
    pub fn own_ends(&self) -> bool {
        self.own_ends
    }

    /// Returns the value of the border after `symbols` real symbols. A gap of `symbols` symbols at
    /// the end adds the same value, including its offset.
    pub fn border_value(&self, symbols: u32) -> i32 {
        if symbols == 0 {
            return 0;
        }
        (self.border_opening as i64 + self.border_step as i64 * symbols as i64) as i32
    }

    /// Returns the score and, if counted, the matches of a pair's final value.
    pub fn decode(&self, value: i32, query_symbols: u32, target_symbols: u32) -> (i64, Option<u64>) {
        let value = value as i64;
        let offset = self.next * (query_symbols as i64 + target_symbols as i64);
        let score = (value >> self.match_bits) - offset;
        let matches = value & ((1i64 << self.match_bits) - 1);
        (score, self.carries_matches().then_some(matches as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::{EndGaps, Gaps};

    fn scoring(gaps: Gaps, end_gaps: EndGaps) -> Scoring {
        Scoring { gaps, end_gaps, ..Scoring::dna() }
    }

    #[test]
    fn values_decode_to_score_and_matches() {
        let offset = OffsetScoring::new(&scoring(Gaps::linear(10), EndGaps::Charged), 100, 200, true).unwrap();
        assert_eq!(offset.match_bits(), 7);
        // A match of A with A and a mismatch of A with C: 5 - 4, plus an offset of 2 * 10 each.
        let (a, c) = (1, 2);
        let value = offset.table()[a * offset.size() + a] + offset.table()[a * offset.size() + c];
        assert_eq!(offset.decode(value, 2, 2), (1, Some(1)));
        // Negative scores work too: one symbol against none is a gap of one.
        assert_eq!(offset.decode(offset.border_value(1), 1, 0), (-10, Some(0)));
    }

    #[test]
    fn borders_cost_what_gaps_cost() {
        for (gaps, end_gaps, expected) in [
            (Gaps::linear(10), EndGaps::Charged, -70),
            (Gaps::from_blast(11, 1), EndGaps::Charged, -18),
            (Gaps::from_blast(11, 1), EndGaps::Free, 0),
            (Gaps::from_blast(20, 2), EndGaps::Priced(Gaps::from_blast(2, 1)), -9),
            (Gaps::linear(10), EndGaps::Priced(Gaps { first: 9, next: 0 }), -9),
        ] {
            for carry in [false, true] {
                let offset = OffsetScoring::new(&scoring(gaps, end_gaps), 50, 100, carry).unwrap();
                assert_eq!(offset.decode(offset.border_value(7), 7, 0), (expected, carry.then_some(0)));
                assert_eq!(offset.decode(offset.border_value(0), 0, 0), (0, carry.then_some(0)));
            }
        }
    }

    #[test]
    fn overflowing_values_are_refused() {
        let scoring = scoring(Gaps::linear(10), EndGaps::Charged);
        // A step of 25 for each of L symbols, and the bits that count L matches: L = 8191 is the
        // greatest that fits 31 bits.
        assert!(fits(&scoring, 8191, 16_382, true, 31));
        assert!(!fits(&scoring, 8192, 16_384, true, 31));
        assert!(fits(&scoring, 8192, 16_384, false, 31));
        assert!(!fits(&scoring, 1 << 27, 1 << 28, false, 31));
        assert!(fits(&scoring, u32::MAX as u64, 1 << 33, false, 63));
        assert!(OffsetScoring::new(&scoring, 8192, 16_384, true).is_none());
    }

    #[test]
    fn padding_steps_depend_on_end_gap_costs() {
        let charged = OffsetScoring::new(&scoring(Gaps::linear(10), EndGaps::Charged), 9, 18, true).unwrap();
        let free = OffsetScoring::new(&scoring(Gaps::linear(10), EndGaps::Free), 9, 18, true).unwrap();
        let ends = EndGaps::Priced(Gaps::from_blast(2, 1));
        let priced = OffsetScoring::new(&scoring(Gaps::linear(10), ends), 9, 18, true).unwrap();
        for code in 1..16 {
            assert_eq!((charged.table()[code], charged.table()[code * 16]), (NEG_INF, NEG_INF));
            for scoring in [&free, &priced] {
                assert_eq!(
                    (scoring.table()[code], scoring.table()[code * 16]),
                    (scoring.border_step(), scoring.border_step())
                );
            }
        }
        assert_eq!((charged.table()[0], free.table()[0], priced.table()[0]), (0, 0, 0));
        assert_eq!((free.border_step(), priced.border_step(), priced.border_opening()), (10 << 4, 9 << 4, -2 << 4));
    }
}
