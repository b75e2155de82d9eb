//! The best hits of a query so far.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::seq::{SequenceId, Strand};

/// A pair that may be reported. Candidates are ordered by falling score, then by record, then plus
/// before minus strand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct HitCandidate {
    pub score: Reverse<i64>,
    /// Number of the subject in the input.
    pub record: u64,
    pub strand: Strand,
    /// Location of the subject: the number of its chunk, and its number in that chunk.
    pub chunk: u32,
    pub subject: SequenceId,
}

/// The best pairs of a query, counting each strand separately.
#[derive(Debug, Default)]
pub(super) struct BestHits {
    /// The kept pairs, with the worst on top.
    heap: BinaryHeap<HitCandidate>,
}

impl BestHits {
    /// Keeps the pair if it is among the best `most`. Returns the lowest score that can still be
    /// kept, once `most` pairs are kept.
    pub(super) fn add(&mut self, pair: HitCandidate, most: usize) -> Option<i64> {
        if self.heap.len() < most {
            self.heap.push(pair);
        } else if let Some(mut worst) = self.heap.peek_mut()
            && pair < *worst
        {
            *worst = pair;
        }
        let is_full = self.heap.len() >= most;
        self.heap.peek().filter(|_| is_full).map(|worst| worst.score.0)
    }

    /// Returns the number of kept pairs.
    pub(super) fn len(&self) -> usize {
        self.heap.len()
    }

    /// Returns the kept pairs, best first.
    pub(super) fn into_sorted(self) -> Vec<HitCandidate> {
        self.heap.into_sorted_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pair(score: i64, record: u64, strand: Strand) -> HitCandidate {
        HitCandidate { score: Reverse(score), record, strand, chunk: 0, subject: record as SequenceId }
    }

    #[test]
    fn equal_scores_are_ordered_by_record_and_strand() {
        let mut best = BestHits::default();
        let (plus, minus) = (Strand::Plus, Strand::Minus);
        let floors = [(5, 9, plus), (7, 3, minus), (5, 2, plus), (4, 0, plus), (5, 1, minus), (7, 3, plus)]
            .map(|(score, record, strand)| best.add(pair(score, record, strand), 3));
        assert_eq!(floors, [None, None, Some(5), Some(5), Some(5), Some(5)]);
        assert_eq!(best.into_sorted(), [pair(7, 3, plus), pair(7, 3, minus), pair(5, 1, minus)]);
    }

    proptest! {
        #[test]
        fn best_hits_equal_the_front_of_a_sorted_list(scores in prop::collection::vec(-3..6i64, 0..40), most in 1..12usize) {
            let pairs: Vec<HitCandidate> =
                (0..).zip(&scores).map(|(record, &score)| pair(score, record * 7 % 41, Strand::Plus)).collect();
            let (mut best, mut floor) = (BestHits::default(), i64::MIN);
            for &pair in &pairs {
                // A pair below the threshold cannot matter.
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
