//! The targets after each sequence of a chunk, where pairs cannot be turned: of a query's reverse complement and a target
//! it matters which is which.

use std::ops::Range;

use super::sorted_by_length;
use crate::seq::{SequenceId, SequenceStore};

/// Sequences that share a list of targets. In a chunk of n, which has no more than 2^26 pairs, lists have n / 64 times as many
/// places as there are targets: a million at most.
const TOGETHER: usize = 64;

/// The places of the targets after a sequence, which touch.
#[derive(Debug, Clone)]
pub(super) struct Later {
    /// Those that share its list, in input order.
    pub own: Range<usize>,
    /// All others, by falling length.
    pub others: Range<usize>,
}

/// Lists of targets, and the part of one for each sequence of the chunk that holds those after it, each once.
///
/// A part has to be in one piece, or the last targets of each piece would leave lanes empty; and by length, or neighbours
/// would differ in it. Few share a list, so that few are out of order.
pub(super) fn lists(targets: &SequenceStore, chunk: Range<SequenceId>) -> (Vec<SequenceId>, Vec<Later>) {
    let (mut order, mut later) = (Vec::new(), Vec::with_capacity(chunk.len()));
    for begin in chunk.clone().step_by(TOGETHER) {
        let end = chunk.end.min(begin + TOGETHER as SequenceId);
        let first = order.len();
        order.extend(begin..end);
        let middle = order.len();
        order.extend(sorted_by_length(targets, end..targets.len() as SequenceId));
        later.extend((first + 1..=middle).map(|own| Later { own: own..middle, others: middle..order.len() }));
    }
    (order, later)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seq::Alphabet;
    use std::cmp::Reverse;

    #[test]
    fn every_later_target_is_in_its_part_once() {
        let mut store = SequenceStore::builder(Alphabet::Dna);
        for index in 0..200 {
            store.push("s", &vec![1; index * 7919 % 83]).unwrap();
        }
        let store = store.build();
        for chunk in [0..0, 0..1, 3..200, 0..200, 100..117, 50..183, 199..200] {
            let (order, later) = lists(&store, chunk.clone());
            assert_eq!(later.len(), chunk.len());
            for (sequence, Later { own, others }) in chunk.zip(later) {
                assert!(own.len() < TOGETHER && own.end == others.start);
                assert!(order[others.clone()].is_sorted_by_key(|&id| Reverse(store.length(id))));
                let mut met = order[own.start..others.end].to_vec();
                met.sort_unstable();
                assert!(met.into_iter().eq(sequence + 1..200), "{sequence}");
            }
        }
    }
}
