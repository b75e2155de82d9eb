//! The targets after each sequence of a band, where pairs cannot be turned: of a query's reverse complement and a target
//! it matters which is which.

use std::ops::Range;

use super::sorted_by_length;
use crate::seq::{SequenceId, SequenceStore};

/// So many sequences are not halved further: each has a list of its own of those that follow.
const FEW: u32 = 16;

/// Targets in runs by falling length, and for each sequence of the band the runs that hold those after it, each once.
///
/// The band is halved again and again: what is in the first half meets all of the second, as one run. So a run is as long
/// as the half, few are short, and a band of n sequences needs n log2 n places beside those of the targets after it.
pub(super) fn runs(targets: &SequenceStore, band: Range<SequenceId>) -> (Vec<SequenceId>, Vec<Vec<Range<usize>>>) {
    let mut order = Vec::new();
    let mut runs = vec![Vec::new(); band.len()];
    let mut parts = vec![band.clone()];
    while let Some(part) = parts.pop() {
        if part.len() <= FEW as usize {
            for sequence in part.clone() {
                let run = add(targets, sequence + 1..part.end, &mut order);
                runs[(sequence - band.start) as usize].push(run);
            }
            continue;
        }
        let middle = part.start + part.len() as u32 / 2;
        let run = add(targets, middle..part.end, &mut order);
        for sequence in part.start..middle {
            runs[(sequence - band.start) as usize].push(run.clone());
        }
        parts.extend([middle..part.end, part.start..middle]);
    }
    let rest = add(targets, band.end..targets.len() as SequenceId, &mut order);
    runs.iter_mut().for_each(|runs| runs.push(rest.clone()));
    (order, runs)
}

/// Adds a run of these targets.
fn add(targets: &SequenceStore, ids: Range<SequenceId>, order: &mut Vec<SequenceId>) -> Range<usize> {
    let begin = order.len();
    order.extend(sorted_by_length(targets, ids));
    begin..order.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seq::Alphabet;
    use std::cmp::Reverse;

    #[test]
    fn every_later_target_is_in_one_run() {
        let mut store = SequenceStore::builder(Alphabet::Dna);
        for index in 0..200 {
            store.push("s", &vec![1; index * 7919 % 83]).unwrap();
        }
        let store = store.build();
        for band in [0..0, 0..1, 3..200, 0..200, 100..117, 50..83, 199..200] {
            let (order, runs) = runs(&store, band.clone());
            assert_eq!(runs.len(), band.len());
            for (sequence, runs) in band.zip(runs) {
                assert!(runs.iter().all(|run| order[run.clone()].is_sorted_by_key(|&id| Reverse(store.length(id)))));
                let mut met: Vec<SequenceId> = runs.into_iter().flat_map(|run| order[run].to_vec()).collect();
                met.sort_unstable();
                assert!(met.into_iter().eq(sequence + 1..200), "{sequence}");
            }
        }
    }
}
