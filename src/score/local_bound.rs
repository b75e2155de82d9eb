//! A lower bound on the score of a local alignment, from its identity and its coverage.
//!
//! The score of a local alignment alone does not bound its identity: a short alignment may have any
//! identity. A minimum coverage excludes short alignments, and then a high identity does imply a
//! high score.
//!
//! Take any alignment with M matches, X mismatches and G gap columns that passes these filters:
//!
//! ```text
//! M / (M + X + G) >= t,  thus  X + G <= r M  with  r = (1 - t) / t                             (1)
//! M + X >= C, the number of covered symbols                                                   (2)
//! ```
//!
//! A match uses one symbol of the query, so M matches score at least f(M), the sum of the M least
//! scores that the query's symbols have in a match. A mismatch scores at least s, and a gap column
//! costs at most `first`, the cost of the first symbol of a gap. With w = max(first, -s), all that
//! (1) allows costs at most w each, except that at least C - M of it are mismatches:
//!
//! ```text
//! score  >=  f(M) - w r M + (w + s) max(0, C - M)                                             (3)
//! ```
//!
//! The right side is convex and piecewise linear in M, so its minimum lies at a corner. M is at
//! least C / (1 + r) and at most the number of symbols. The bound holds for every alignment with
//! (1) and (2), and thus for the reported one, whose score is the score of the pair.
//!
//! The bound exceeds 0 for long sequences only if a match scores more than r w on average, so only
//! for t > w / (w + d), where d is the mean score of the matches that count in f(C). With BLOSUM62
//! and gap costs of 11 + k, w is 12 and d is 4 to 5.5, so t is at least 0.69 to 0.75. With the
//! default scheme of nucleotides, w is 25 and d is 5, so t is at least 0.84. Below this identity,
//! there are alignments whose score does not grow with their length: matches with the least score,
//! and just enough gaps to cancel them.

use super::gaps::Mode;
use super::identity::IdentityDefinition;
use super::scoring::Scoring;
use crate::seq::Code;

/// Tolerance for the rounding of identities, relative to the number of matches.
const SLACK: f64 = 1e-9;

/// Lower bounds on the scores of local alignments that reach an identity.
#[derive(Debug, Clone, PartialEq)]
pub struct LocalScoreBound {
    /// r of the module documentation, rounded up.
    others_per_match: f64,
    /// s.
    mismatch_low: f64,
    /// w.
    max_unit_cost: f64,
    /// Least score of a match of each code; `None` if it matches no code of the other sequences.
    match_low: Vec<Option<i32>>,
}

impl LocalScoreBound {
    /// Returns the bounds for a minimum identity from 0 to 1, and for other sequences with the codes
    /// in `others`. Returns `None` for global alignments, for an identity of 0, and for definitions
    /// of identity that do not divide by the number of columns.
    pub fn new(definition: IdentityDefinition, identity: f64, scoring: &Scoring, others: &[Code]) -> Option<Self> {
        let by_columns = match definition {
            IdentityDefinition::Columns | IdentityDefinition::InnerColumns | IdentityDefinition::Blast => true,
            IdentityDefinition::Shorter | IdentityDefinition::Mbl => false,
        };
        if scoring.mode != Mode::Local || !by_columns || identity <= 0.0 {
            return None;
        }
        let table = &scoring.substitution;
        let match_low = |code: usize| {
            let partners = others.iter().filter(|&&other| table.is_match(code as Code, other));
            partners.map(|&other| table.score(code as Code, other)).min()
        };
        let mismatch_low = f64::from(table.range(false).map_or(0, |(low, _)| low));
        Some(LocalScoreBound {
            others_per_match: (1.0 - identity).max(0.0) / identity * (1.0 + SLACK) + SLACK,
            mismatch_low,
            max_unit_cost: (scoring.gaps.first as f64).max(-mismatch_low),
            match_low: (0..table.size()).map(match_low).collect(),
        })
    }

    /// Returns the least score of an alignment that reaches the identity and covers at least
    /// `covered` symbols of this sequence. A negative score excludes no pair.
    pub fn least_score(&self, codes: &[Code], covered: u64) -> i64 {
        let mut counts = vec![0u64; self.match_low.len()];
        codes.iter().for_each(|&code| counts[usize::from(code)] += 1);
        let scores = self.match_low.iter().zip(counts).filter_map(|(low, count)| Some((f64::from((*low)?), count)));
        let mut scores: Vec<(f64, u64)> = scores.filter(|(_, count)| *count > 0).collect();
        scores.sort_by(|a, b| a.0.total_cmp(&b.0));
        let most: u64 = scores.iter().map(|(_, count)| count).sum();
        // If the sequence has too few symbols that match, no alignment passes, and any bound holds.
        let least = ((covered as f64 / (1.0 + self.others_per_match) - SLACK).ceil().max(0.0) as u64).min(most);
        let ends = scores.iter().scan(0, |end, (_, count)| {
            *end += count;
            Some(*end)
        });
        let corners = ends.chain([covered]).filter(|matches| (least..=most).contains(matches)).chain([least]);
        let bound = corners.map(|matches| self.bound(&scores, matches, covered)).fold(f64::INFINITY, f64::min);
        (bound - 1e-6).ceil() as i64
    }

    /// Returns the right side of (3). `scores` has the scores of matches in ascending order, and the
    /// number of symbols with each.
    fn bound(&self, scores: &[(f64, u64)], matches: u64, covered: u64) -> f64 {
        let (mut left, mut sum) = (matches, 0.0);
        for &(score, count) in scores {
            let taken = count.min(left);
            sum += score * taken as f64;
            left -= taken;
        }
        let forced = covered.saturating_sub(matches) as f64;
        sum - self.max_unit_cost * self.others_per_match * matches as f64
            + (self.max_unit_cost + self.mismatch_low) * forced
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::{Gaps, SubstitutionMatrix};
    use crate::seq::Alphabet;
    use proptest::prelude::*;

    fn protein(first: i32, next: i32) -> Scoring {
        let blosum62 = SubstitutionMatrix::built_in("BLOSUM62").unwrap();
        let gaps = Gaps { first, next };
        let scoring = Scoring::matrix(Alphabet::Protein, &blosum62, gaps, crate::score::EndGaps::Charged).unwrap();
        Scoring { mode: Mode::Local, ..scoring }
    }

    fn codes(letters: &[u8]) -> Vec<Code> {
        letters.iter().map(|&letter| Alphabet::Protein.encode(letter).unwrap()).collect()
    }

    #[test]
    fn bounds_begin_at_the_documented_identities() {
        let (scoring, definition) = (protein(12, 1), IdentityDefinition::default());
        let all = codes(b"ARNDCQEGHILKMFPSTVWYX");
        let least = |identity: f64, letters: &[u8]| {
            let bound = LocalScoreBound::new(definition, identity, &scoring, &all).unwrap();
            bound.least_score(&codes(&letters.repeat(100)), 100 * letters.len() as u64 * 4 / 5)
        };
        // The matches of alanine score 4, the least of all residues.
        assert!(least(0.75, b"A") <= 0 && least(0.76, b"A") > 0);
        assert_eq!(least(0.9, b"A"), 214);
        // All residues in equal parts: the cheapest four fifths score 5.1 on average.
        assert!(least(0.69, b"ARNDCQEGHILKMFPSTVWY") <= 0 && least(0.71, b"ARNDCQEGHILKMFPSTVWY") > 0);
        // A rare X, whose match scores -1, changes little.
        assert!(least(0.9, b"AAAAAAAAAAAAAAAAAAAX") > 3000);
        assert_eq!(LocalScoreBound::new(IdentityDefinition::Mbl, 0.9, &scoring, &all), None);
        assert_eq!(LocalScoreBound::new(definition, 0.0, &scoring, &all), None);
        assert_eq!(LocalScoreBound::new(definition, 0.9, &Scoring::protein(), &all), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// Compares the bound with the least score of all numbers of matches, mismatches and gaps.
        #[test]
        fn no_alignment_scores_less(
            letters in prop::collection::vec(prop::sample::select(&b"ALKDWX"[..]), 0..14),
            covered in 0..14u64,
            hundredths in 30..=100u64,
            first in 1..14i32,
            next in 0..3i32,
        ) {
            let (scoring, codes) = (protein(first, next.min(first)), codes(&letters));
            let covered = covered.min(codes.len() as u64);
            let identity = hundredths as f64 / 100.0;
            let bound = LocalScoreBound::new(IdentityDefinition::default(), identity, &scoring, &codes).unwrap();
            let bound = bound.least_score(&codes, covered);
            let mut scores: Vec<i64> =
                codes.iter().map(|&code| scoring.substitution.score(code, code).into()).collect();
            scores.sort_unstable();
            let mismatch = i64::from(scoring.substitution.range(false).unwrap().0);
            let mut least: Option<i64> = None;
            for matches in 0..=codes.len() as u64 {
                for others in (0..60).take_while(|others| 100 * matches >= hundredths * (matches + others)) {
                    for mismatches in (0..=others).filter(|mismatches| matches + mismatches >= covered) {
                        let score = scores[..matches as usize].iter().sum::<i64>() + mismatch * mismatches as i64
                            - i64::from(first) * (others - mismatches) as i64;
                        least = Some(least.map_or(score, |least| least.min(score)));
                    }
                }
            }
            if let Some(least) = least {
                prop_assert!(bound <= least, "{bound} {least}");
                // Numbers are whole, so the bound is not exact.
                prop_assert!(bound >= least - 42, "{bound} {least}");
            }
        }
    }
}
