//! Smith and Waterman's scores in narrow numbers, above a zero that leaves room below for what is subtracted.

use super::difference::Element;
use super::scoring::Scoring;
use super::substitution::STEPS;

/// A scheme for local scores, with gap costs as they are: a local score is cut off at 0, so the gap-offset transform and
/// differences do not serve.
///
/// A cell's H is stored as `zero + H`. No intermediate number wraps as long as no H is above [`LocalScoring::limit`]; a
/// pair whose best one is must be computed again in wider numbers.
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
    /// The scheme, or `None` if not even a score of 1 could be told from one too great.
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
        // Padding never adds to a score.
        let mut table = vec![[E::of(least); STEPS]; size];
        for (a, row) in table.iter_mut().enumerate().skip(1) {
            for (b, entry) in row[..size].iter_mut().enumerate().skip(1) {
                *entry = E::of(substitution.score(a as u8, b as u8) as i64);
            }
        }
        Some(LocalScoring { size, table, first: E::of(first), next: E::of(next), zero: E::of(zero), limit })
    }

    /// Codes, [`crate::seq::PAD`] included.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Score of each code against each other one, symmetric; padding scores no more than 0.
    pub fn table(&self) -> &[[E; STEPS]] {
        &self.table
    }

    /// Cost of a gap's first symbol.
    pub fn first(&self) -> E {
        self.first
    }

    /// Cost of each further one.
    pub fn next(&self) -> E {
        self.next
    }

    /// Whether both are the same.
    pub fn is_linear(&self) -> bool {
        self.first == self.next
    }

    /// What stands for a score of 0.
    pub fn zero(&self) -> E {
        self.zero
    }

    /// The greatest score that is certainly right.
    pub fn limit(&self) -> i64 {
        self.limit
    }

    /// The score that a cell's value stands for; `None` if it may be wrong.
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
    fn eight_bits_hold_what_proteins_score_by_chance() {
        let form = LocalScoring::<i8>::new(&Scoring::protein()).unwrap();
        // 256 numbers, 12 below zero for a gap's first symbol, 11 above the limit for the best pair.
        assert_eq!((form.zero(), form.limit()), (-116, 232));
        assert_eq!((form.decode(-116), form.decode(116), form.decode(117)), (Some(0), Some(232), None));
        assert!(LocalScoring::<i8>::new(&Scoring { gaps: Gaps::linear(250), ..Scoring::dna() }).is_none());
        assert!(LocalScoring::<i16>::new(&Scoring { gaps: Gaps::linear(250), ..Scoring::dna() }).is_some());
    }
}
