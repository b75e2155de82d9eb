//! Pairs of two stores: the block's query is the query of the alignment, whichever of the two ids
//! is greater.

use pairwave::pairs::plan::PairsSpec;

use super::*;

fn pairs_of_two_files_are_traced(stem: &str) {
    let mut rng = rng(0x2ec7);
    let mut engine = kernel_checked(stem);
    for scoring in scorings() {
        let queries = mixed_store(&mut rng, scoring.alphabet, &[0, 5, 17, 33, 40, 41, 39, 64]);
        let targets = mixed_store(&mut rng, scoring.alphabet, &[41, 1, 16, 32, 63, 40, 0]);
        let job = PairsSpec {
            against: Some(Arc::clone(&targets)),
            ..job(&queries, scoring.clone(), ResultFilter::Alignments)
        };
        let actual = compute_traced(&mut engine, &batches(&job, u64::MAX));
        let textbook = Textbook::for_scoring(&scoring);
        let mut seen = std::collections::BTreeSet::new();
        for (hit, cigar) in &actual {
            assert!(cigar.is_some(), "{hit:?} was not traced");
            textbook.check(queries.codes(hit.query), targets.codes(hit.target), hit, cigar.as_ref());
            assert!(seen.insert((hit.query, hit.target)), "{hit:?} came twice");
        }
        assert_eq!(seen.len(), queries.len() * targets.len());
    }
}

on_every_kernel! { pairs_of_two_files_are_traced }
