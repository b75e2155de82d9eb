//! Results do not depend on the number of batches in flight.

use std::sync::Arc;

use pairwave::pairs::ResultFilter;
use pairwave::score::{IdentityDefinition, IdentityFilter, Scoring};
use pairwave::seq::Alphabet;

#[test]
fn results_do_not_depend_on_batches_in_flight() {
    let lengths: Vec<usize> = (0..40).map(|index| 1 + index * 5 % 90).collect();
    let store = support::mixed_store(&mut support::rng(10), Alphabet::Dna, &lengths);
    let filter = IdentityFilter::new(IdentityDefinition::default(), 0.5, &Scoring::truong());
    for filter in [ResultFilter::Scores, ResultFilter::Alignments, ResultFilter::Reaching(Arc::new(filter))] {
        let job = support::job(&store, Scoring::truong(), filter);
        let mut all = Vec::new();
        for in_flight in [1, 2] {
            let mut engine = support::kernel_checked("nw_slice").with_batches(in_flight);
            // A large batch is between small ones, so a buffer is reused after its results were
            // read.
            let sizes = [3000, u64::MAX, 3000];
            let hits: Vec<_> =
                sizes.iter().flat_map(|&cells| support::compute(&mut engine, &support::batches(&job, cells))).collect();
            all.push(hits);
        }
        assert!(!all[0].is_empty() && all.iter().all(|hits| *hits == all[0]));
    }
}
