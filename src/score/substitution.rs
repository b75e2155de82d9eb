//! Scores of pairs of symbols.

use crate::seq::{Alphabet, Code};

/// Greatest absolute score of a pair of symbols, and greatest cost of a gap symbol. No scheme in
/// use exceeds it, and sums over sequences of any length that fits in memory stay within 64 bits.
pub const MAX_SCORE: i32 = 1_000_000;

/// Number of rows and columns of the engines' tables; at least the number of codes of every
/// alphabet with scores.
pub const STEPS: usize = 32;

/// Scores and matches of every pair of codes. The table is symmetric.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Substitution {
    size: usize,
    scores: Vec<i32>,
    matches: Vec<bool>,
}

impl Substitution {
    /// Creates a table of `alphabet.size()` squared entries. `f` returns the score of two codes,
    /// and whether they match. It is not called for [`crate::seq::PAD`], whose row and column are 0
    /// and no match.
    pub fn from_fn(alphabet: Alphabet, mut f: impl FnMut(Code, Code) -> (i32, bool)) -> Self {
        let size = alphabet.size();
        let mut scores = vec![0; size * size];
        let mut matches = vec![false; size * size];
        for a in 1..size {
            for b in 1..size {
                let (score, is_match) = f(a as Code, b as Code);
                scores[a * size + b] = score;
                matches[a * size + b] = is_match;
            }
        }
        Substitution { size, scores, matches }
    }

    /// Returns the number of codes, including [`crate::seq::PAD`].
    pub fn size(&self) -> usize {
        self.size
    }

    /// Returns the score of two codes.
    #[inline]
    pub fn score(&self, a: Code, b: Code) -> i32 {
        self.scores[a as usize * self.size + b as usize]
    }

    /// Returns whether two codes count as a match (`=` in CIGAR).
    #[inline]
    pub fn is_match(&self, a: Code, b: Code) -> bool {
        self.matches[a as usize * self.size + b as usize]
    }

    /// Returns the score and the match flag of all pairs of codes, except [`crate::seq::PAD`].
    fn pairs(&self) -> impl Iterator<Item = (i32, bool)> + '_ {
        (1..self.size).flat_map(move |a| {
            (1..self.size).map(move |b| (self.scores[a * self.size + b], self.matches[a * self.size + b]))
        })
    }

    /// Returns the greatest score of any two codes.
    pub fn max_score(&self) -> i32 {
        self.pairs().map(|(score, _)| score).max().unwrap_or(0)
    }

    /// Returns the least score of any two codes.
    pub fn min_score(&self) -> i32 {
        self.pairs().map(|(score, _)| score).min().unwrap_or(0)
    }

    /// Returns the least and the greatest score of the pairs that match (`true`) or do not match
    /// (`false`).
    pub fn range(&self, matching: bool) -> Option<(i32, i32)> {
        self.pairs().filter(|&(_, is_match)| is_match == matching).fold(None, |range, (score, _)| {
            let (low, high) = range.unwrap_or((score, score));
            Some((low.min(score), high.max(score)))
        })
    }
}
