//! Lists of the targets after each sequence of a chunk. They serve jobs in which a pair cannot be
//! exchanged: a query's reverse complement against a target differs from the target's reverse
//! complement against the query.

use std::ops::Range;

use super::sorted_by_length;
use crate::seq::{SequenceId, SequenceStore};

/// Number of sequences that share a list of targets. A chunk of n sequences has n / 64 lists of all
/// targets. As a chunk has at most 2^26 pairs, its lists have at most a million entries.
const TOGETHER: usize = 64;

/// Ranges of the targets after a sequence in a shared list. The two ranges are adjacent.
#[derive(Debug, Clone)]
pub(super) struct LaterTargets {
    /// Targets that share the list with the sequence, in input order.
    pub nearby: Range<usize>,
    /// All other targets, by decreasing length.
    pub others: Range<usize>,
}

/// Returns lists of targets, and for each sequence of the chunk the range of a list that contains
/// every target after it once.
///
/// A range is contiguous, because otherwise lanes would stay empty at the end of each piece. It is
/// ordered by length, because neighbours share a vector and should have similar lengths. Few
/// sequences share a list, so that few targets are out of order.
pub(super) fn lists(targets: &SequenceStore, chunk: Range<SequenceId>) -> (Vec<SequenceId>, Vec<LaterTargets>) {
    let (mut order, mut later) = (Vec::new(), Vec::with_capacity(chunk.len()));
    for begin in chunk.clone().step_by(TOGETHER) {
        let end = chunk.end.min(begin + TOGETHER as SequenceId);
        let first = order.len();
        order.extend(begin..end);
        let middle = order.len();
        order.extend(sorted_by_length(targets, end..targets.len() as SequenceId));
        later.extend(
            (first + 1..=middle).map(|nearby| LaterTargets { nearby: nearby..middle, others: middle..order.len() }),
        );
    }
    (order, later)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seq::Alphabet;
    use std::cmp::Reverse;

    #[test]
    fn every_later_target_is_in_its_range_once() {
        let mut store = SequenceStore::builder(Alphabet::Dna);
        for index in 0..200 {
            store.push("s", &vec![1; index * 7919 % 83]).unwrap();
        }
        let store = store.build();
        for chunk in [0..0, 0..1, 3..200, 0..200, 100..117, 50..183, 199..200] {
            let (order, later) = lists(&store, chunk.clone());
            assert_eq!(later.len(), chunk.len());
            for (sequence, LaterTargets { nearby, others }) in chunk.zip(later) {
                assert!(nearby.len() < TOGETHER && nearby.end == others.start);
                assert!(order[others.clone()].is_sorted_by_key(|&id| Reverse(store.length(id))));
                let mut compared_targets = order[nearby.start..others.end].to_vec();
                compared_targets.sort_unstable();
                assert!(compared_targets.into_iter().eq(sequence + 1..200), "{sequence}");
            }
        }
    }
}
