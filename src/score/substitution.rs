//! Scores of pairs of symbols.

use crate::seq::{Alphabet, Code};

/// The greatest score of a pair of symbols and the greatest cost of a gap's symbol, up or down. Beyond any scheme in
/// use, and low enough that sums over sequences of any length that fits in memory stay within 64 bits.
pub const MAX_SCORE: i32 = 1_000_000;

/// Codes a side of the table of steps: those of every alphabet, filled up.
pub const STEPS: usize = 32;

/// Scores and matches of every pair of codes. Symmetric.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Substitution {
    size: usize,
    scores: Vec<i32>,
    matches: Vec<bool>,
}

impl Substitution {
    /// Fills a table of `alphabet.size()` squared from a function that gives score and match of two codes (neither is
    /// [`crate::seq::PAD`]; that row and column stay 0 and are no match).
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

    /// Codes a side, [`crate::seq::PAD`] included.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Score of two codes.
    #[inline]
    pub fn score(&self, a: Code, b: Code) -> i32 {
        self.scores[a as usize * self.size + b as usize]
    }

    /// Whether two codes count as a match (CIGAR `=`).
    #[inline]
    pub fn is_match(&self, a: Code, b: Code) -> bool {
        self.matches[a as usize * self.size + b as usize]
    }

    /// Scores of all pairs of real codes with their match flag.
    fn pairs(&self) -> impl Iterator<Item = (i32, bool)> + '_ {
        (1..self.size).flat_map(move |a| {
            (1..self.size).map(move |b| (self.scores[a * self.size + b], self.matches[a * self.size + b]))
        })
    }

    /// The greatest score of any two codes.
    pub fn max_score(&self) -> i32 {
        self.pairs().map(|(score, _)| score).max().unwrap_or(0)
    }

    /// The least score of any two codes.
    pub fn min_score(&self) -> i32 {
        self.pairs().map(|(score, _)| score).min().unwrap_or(0)
    }

    /// Least and greatest score of the pairs that count as a match (`true`) or do not (`false`).
    pub fn range(&self, matching: bool) -> Option<(i32, i32)> {
        self.pairs().filter(|&(_, is_match)| is_match == matching).fold(None, |range, (score, _)| {
            let (low, high) = range.unwrap_or((score, score));
            Some((low.min(score), high.max(score)))
        })
    }
}
