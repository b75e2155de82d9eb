//! The best hits of a query so far.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::seq::{SequenceId, Strand};

/// A pair that may be reported. In order: the best score first, then the earliest record, then the forward strand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Candidate {
    pub score: Reverse<i64>,
    /// Place of the subject in the input.
    pub record: u64,
    pub strand: Strand,
    /// Where the subject is: the number of its chunk, and its own there.
    pub chunk: u32,
    pub subject: SequenceId,
}

/// The best of a query's pairs, each strand by itself.
#[derive(Debug, Default)]
pub(super) struct Best {
    /// The worst on top.
    kept: BinaryHeap<Candidate>,
}

impl Best {
    /// Keeps the pair if it is among the best `most`. Gives the least score that has a chance from now on, once so many are
    /// kept.
    pub(super) fn add(&mut self, pair: Candidate, most: usize) -> Option<i64> {
        if self.kept.len() < most {
            self.kept.push(pair);
        } else if let Some(mut worst) = self.kept.peek_mut()
            && pair < *worst
        {
            *worst = pair;
        }
        let is_full = self.kept.len() >= most;
        self.kept.peek().filter(|_| is_full).map(|worst| worst.score.0)
    }

    /// All that were kept, the best first.
    pub(super) fn into_sorted(self) -> Vec<Candidate> {
        self.kept.into_sorted_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pair(score: i64, record: u64, strand: Strand) -> Candidate {
        Candidate { score: Reverse(score), record, strand, chunk: 0, subject: record as SequenceId }
    }

    #[test]
    fn equal_scores_go_by_record_and_strand() {
        let mut best = Best::default();
        let (plus, minus) = (Strand::Plus, Strand::Minus);
        let floors = [(5, 9, plus), (7, 3, minus), (5, 2, plus), (4, 0, plus), (5, 1, minus), (7, 3, plus)]
            .map(|(score, record, strand)| best.add(pair(score, record, strand), 3));
        assert_eq!(floors, [None, None, Some(5), Some(5), Some(5), Some(5)]);
        assert_eq!(best.into_sorted(), [pair(7, 3, plus), pair(7, 3, minus), pair(5, 1, minus)]);
    }

    proptest! {
        #[test]
        fn the_best_are_those_of_a_sorted_list(scores in prop::collection::vec(-3..6i64, 0..40), most in 1..12usize) {
            let pairs: Vec<Candidate> =
                (0..).zip(&scores).map(|(record, &score)| pair(score, record * 7 % 41, Strand::Plus)).collect();
            let (mut best, mut floor) = (Best::default(), i64::MIN);
            for &pair in &pairs {
                // What is below the floor cannot matter.
                if pair.score.0 >= floor {
                    floor = best.add(pair, most).unwrap_or(floor);
                }
            }
            let mut sorted = pairs;
            sorted.sort();
            sorted.truncate(most);
            prop_assert_eq!(best.into_sorted(), sorted);
        }
    }
}
