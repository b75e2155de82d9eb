//! Smith-Waterman scores in narrow integers, stored with an offset so that subtractions cannot
//! wrap.

use super::difference::Element;
use super::scoring::Scoring;
use super::substitution::STEPS;

/// A scheme for local scores. It keeps gap costs unchanged: local scores are clamped at 0, so
/// neither the gap-offset transform nor differences apply.
///
/// A cell's H is stored as `zero + H`. No intermediate result wraps as long as no H exceeds
/// [`LocalScoring::limit`]. A pair whose best score exceeds it must be recomputed in wider
/// integers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalScoring<E> {
    size: usize,
    table: Vec<[E; STEPS]>,
    first: E,
    next: E,
    zero: E,
    limit: i64,
}

impl<E: Element> LocalScoring<E> {
    /// Converts a scheme. Returns `None` if the limit would be less than 1.
    pub fn new(scoring: &Scoring) -> Option<Self> {
        let substitution = &scoring.substitution;
        let (least, greatest) = (substitution.min_score().min(0) as i64, substitution.max_score().max(0) as i64);
        let (first, next) = (scoring.gaps.first as i64, scoring.gaps.next as i64);
        let zero = E::MIN + first.max(-least);
        let limit = i64::try_from(E::MAX as i128 - greatest as i128 - zero as i128).unwrap_or(i64::MAX);
        if limit < 1 {
            return None;
        }
        let size = substitution.size();
        // Padding never increases a score.
        let mut table = vec![[E::from_number(least); STEPS]; size];
        for (a, row) in table.iter_mut().enumerate().skip(1) {
            for (b, entry) in row[..size].iter_mut().enumerate().skip(1) {
                *entry = E::from_number(substitution.score(a as u8, b as u8) as i64);
            }
        }
        Some(LocalScoring {
            size,
            table,
            first: E::from_number(first),
            next: E::from_number(next),
            zero: E::from_number(zero),
            limit,
        })
    }

    /// Returns the number of codes, including [`crate::seq::PAD`].
    pub fn size(&self) -> usize {
        self.size
    }

    /// Returns the symmetric table of scores. Padding scores at most 0.
    pub fn table(&self) -> &[[E; STEPS]] {
        &self.table
    }

    /// Returns the cost of the first symbol of a gap.
    pub fn first(&self) -> E {
        self.first
    }

    /// Returns the cost of each further symbol of a gap.
    pub fn next(&self) -> E {
        self.next
    }

    /// Returns whether the first symbol of a gap costs as much as further ones.
    pub fn is_linear(&self) -> bool {
        self.first == self.next
    }

    /// Returns the stored value of a score of 0.
    pub fn zero(&self) -> E {
        self.zero
    }

    /// Returns the greatest score that is guaranteed to be correct.
    pub fn limit(&self) -> i64 {
        self.limit
    }

    /// Returns the score of a stored value, or `None` if it may be wrong.
    pub fn decode(&self, value: E) -> Option<i64> {
        let score = value.number() - self.zero.number();
        (0..=self.limit).contains(&score).then_some(score)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::{Gaps, Scoring};

    #[test]
    fn eight_bits_suffice_for_chance_scores_of_proteins() {
        let form = LocalScoring::<i8>::new(&Scoring::protein()).unwrap();
        // There are 256 values: 12 lie below zero for the first symbol of a gap, and 11 above the
        // limit for the best pair of codes.
        assert_eq!((form.zero(), form.limit()), (-116, 232));
        assert_eq!((form.decode(-116), form.decode(116), form.decode(117)), (Some(0), Some(232), None));
        assert!(LocalScoring::<i8>::new(&Scoring { gaps: Gaps::linear(250), ..Scoring::dna() }).is_none());
        assert!(LocalScoring::<i16>::new(&Scoring { gaps: Gaps::linear(250), ..Scoring::dna() }).is_some());
    }
}
