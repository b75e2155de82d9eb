//! A complete scoring scheme: what engines, oracles and verification all take.

use super::gaps::{EndGaps, Gaps};
use crate::seq::{Alphabet, Code};

/// How an ambiguous DNA code (N, R, ...) meets another code under match/mismatch scoring.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Ambiguity {
    /// Two codes match if their sets of bases meet: they score as a match and count as one.
    #[default]
    Overlap,
    /// Two codes match only if they are the same unambiguous base; all else scores as a mismatch and counts as one.
    Mismatch,
    /// A pair with an ambiguous code scores 0; it counts as a match if the sets meet (what vsearch does).
    Zero,
}

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

/// A scoring scheme. The order of alignments under it, everywhere in pairwave: the greater score first, among equal
/// scores the one with more matches, and among those the one that the traceback rule of [`crate::trace`] finds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scoring {
    /// The alphabet of both sequences.
    pub alphabet: Alphabet,
    /// Scores of pairs of symbols.
    pub substitution: Substitution,
    /// Costs of gaps.
    pub gaps: Gaps,
    /// Whether end gaps are charged.
    pub end_gaps: EndGaps,
}
