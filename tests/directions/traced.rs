//! Alignments of short sequences with every scheme, and the exact filter on the device.

use super::*;
use pairwave::alignment::Cigar;
use pairwave::pairs::Pairs;
use pairwave::pairs::gpu::Survivors;

fn traced_alignments_are_canonical(engine: &mut dyn Engine<Pairs>, schemes: &[Scoring], seed: u64) {
    let mut rng = rng(seed);
    for scoring in schemes {
        let store = mixed_store(&mut rng, scoring.alphabet, EDGES);
        let job = job(&store, scoring.clone(), ResultFilter::Alignments);
        let actual = compute_traced(engine, &batches(&job, 40_000));
        check_traced(&store, scoring, &actual);
    }
}

/// The device keeps exactly the pairs whose traced alignment has the identity, except for rounding
/// errors.
fn the_filter_keeps_exactly_the_pairs_with_the_identity(
    engine: &mut dyn Engine<Pairs>,
    schemes: &[Scoring],
    seed: u64,
) {
    let mut rng = rng(seed);
    let mut turn = 0;
    for scoring in schemes {
        let mut sequences = Vec::new();
        for length in [20, 47, 90] {
            let ancestor = random_codes(&mut rng, scoring.alphabet, length);
            sequences.extend([1, 3, 8, 20].map(|percent| mutated(&mut rng, scoring.alphabet, &ancestor, percent)));
            sequences.push(ancestor);
        }
        let store = store(scoring.alphabet, &sequences);
        let textbook = Textbook::for_scoring(scoring);
        for definition in IdentityDefinition::ALL {
            // Every definition has every threshold with some of the schemes.
            let threshold = [0.5, 0.9, 1.0][turn % 3];
            turn += 1;
            let filter = Arc::new(IdentityFilter::new(definition, threshold, scoring));
            let wanted = job(&store, scoring.clone(), ResultFilter::Reaching(Arc::clone(&filter)));
            let actual = compute_traced(engine, &batches(&wanted, u64::MAX));
            check_some_traced(&store, scoring, &actual);
            assert!(actual.iter().all(|(_, cigar)| cigar.is_some()), "a pair was kept and not traced");
            let kept: std::collections::BTreeSet<_> =
                actual.iter().map(|(hit, _)| (hit.query.min(hit.target), hit.query.max(hit.target))).collect();
            for query in 0..store.len() as u32 {
                for target in query + 1..store.len() as u32 {
                    let best = textbook.align(store.codes(query), store.codes(target));
                    let (m, n) = (store.length(query), store.length(target));
                    let identity = definition.identity(&best.cigar.counts(), m, n);
                    let is_kept = kept.contains(&(query, target));
                    // The device compares in single precision, and also keeps pairs within the
                    // rounding error of the threshold.
                    let nearly = identity > threshold - 1e-4 || m == 0 || n == 0;
                    assert!(
                        filter.passes(identity) <= is_kept && is_kept <= nearly,
                        "pair {query},{target} of identity {identity} at {threshold}: kept {is_kept}, {definition:?}, \
                         {:?} {:?}",
                        scoring.gaps,
                        scoring.end_gaps
                    );
                }
            }
        }
    }
}

#[test]
fn five_kernels_have_all_schemes() {
    let stems = ["nw_rows", "nw_diagonal", "nw_diagonal_subgroup", "nw_tiled_diagonal", "nw_checkpoint"];
    let covered: usize = stems.iter().map(|stem| fifth_of_scorings(stem).len()).sum();
    let turns: std::collections::BTreeSet<_> = stems.iter().map(|stem| turn_of(stem) % 5).collect();
    assert_eq!((covered, turns.len()), (scorings().len(), 5));
}

macro_rules! on_every_engine {
    ($($engine:ident: $make:ident, $stem:literal, $schemes:expr),* $(,)?) => {$(
        mod $engine {
            use super::*;

            #[test]
            fn traced_alignments_are_canonical() {
                super::traced_alignments_are_canonical(&mut $make($stem), &$schemes, 0xa119);
            }
            #[test]
            fn the_filter_keeps_exactly_the_pairs_with_the_identity() {
                super::the_filter_keeps_exactly_the_pairs_with_the_identity(&mut $make($stem), &$schemes, 0xf117);
            }
        }
    )*};
}

on_every_engine! {
    nw_rows_checked: kernel_checked, "nw_rows", scorings(),
    nw_rows_default: kernel_default, "nw_rows", fifth_of_scorings("nw_rows"),
    nw_diagonal_checked: kernel_checked, "nw_diagonal", scorings(),
    nw_diagonal_default: kernel_default, "nw_diagonal", fifth_of_scorings("nw_diagonal"),
    nw_diagonal_subgroup_checked: kernel_checked, "nw_diagonal_subgroup", scorings(),
    nw_diagonal_subgroup_default: kernel_default, "nw_diagonal_subgroup", fifth_of_scorings("nw_diagonal_subgroup"),
    nw_tiled_diagonal_checked: kernel_checked, "nw_tiled_diagonal", scorings(),
    nw_tiled_diagonal_default: kernel_default, "nw_tiled_diagonal", fifth_of_scorings("nw_tiled_diagonal"),
    nw_checkpoint_checked: kernel_checked, "nw_checkpoint", scorings(),
    nw_checkpoint_default: kernel_default, "nw_checkpoint", fifth_of_scorings("nw_checkpoint"),
}

/// If the survivors of one batch are aligned while another batch is computed, the results equal
/// those of one batch at a time.
#[test]
fn survivors_do_not_depend_on_the_batches() {
    let mut rng = rng(0x5071);
    let ancestor = random_codes(&mut rng, Alphabet::Dna, 70);
    let sequences: Vec<_> = (0..24).map(|index| mutated(&mut rng, Alphabet::Dna, &ancestor, 1 + index % 9)).collect();
    let store = store(Alphabet::Dna, &sequences);
    let filter = Arc::new(IdentityFilter::new(IdentityDefinition::default(), 0.9, &Scoring::truong()));
    let wanted = job(&store, Scoring::truong(), ResultFilter::Reaching(filter));
    let mut engine = kernel_checked("nw_slice").with_survivors(Survivors::OnDevice);
    let mut compute = |cells| {
        let batches = batches(&wanted, cells);
        let actual = compute_traced(&mut engine, &batches);
        check_some_traced(&store, &Scoring::truong(), &actual);
        // The division into batches determines which member of a pair is the block's query. The
        // alignment does not depend on it.
        let result = |(hit, cigar): (PairHit, Option<Cigar>)| {
            (
                (hit.query.min(hit.target), hit.query.max(hit.target)),
                hit.score,
                hit.matches,
                cigar.expect("it was traced"),
            )
        };
        let mut actual: Vec<_> = actual.into_iter().map(result).collect();
        actual.sort_by_key(|&(pair, ..)| pair);
        (batches.len(), actual)
    };
    let ((one, together), (many, apart)) = (compute(u64::MAX), compute(60_000));
    assert!(one == 1 && many > 8, "{one} batch, {many} batches");
    assert!(together.len() > 20 && together == apart, "{} pairs, {} of several batches", together.len(), apart.len());
}

/// The device first computes scores, and then aligns the pairs that the filter keeps.
#[test]
fn survivors_of_the_filter_are_traced_on_the_device() {
    for (engine, schemes) in
        [(kernel_checked("nw_slice"), scorings()), (kernel_default("nw_slice"), fifth_of_scorings("nw_slice"))]
    {
        let mut engine = engine.with_survivors(Survivors::OnDevice);
        the_filter_keeps_exactly_the_pairs_with_the_identity(&mut engine, &schemes, 0xf117);
    }
}

#[test]
#[should_panic(expected = "alignment of")]
fn the_harness_sees_a_wrong_alignment() {
    let store = mixed_store(&mut rng(5), Alphabet::Dna, &[10, 12]);
    let batch = one_batch(&store, &Scoring::truong());
    let mut actual = compute_traced(&mut kernel_checked("nw_rows"), &[batch]);
    let wrong = actual[0].1.as_mut().expect("it was traced");
    wrong.reverse();
    check_traced(&store, &Scoring::truong(), &actual);
}

#[test]
#[should_panic(expected = "was not traced")]
fn the_harness_sees_a_missing_alignment() {
    let store = mixed_store(&mut rng(6), Alphabet::Dna, &[10, 12]);
    let batch = one_batch(&store, &Scoring::truong());
    let mut actual = compute_traced(&mut kernel_checked("nw_rows"), &[batch]);
    actual[0].1 = None;
    check_traced(&store, &Scoring::truong(), &actual);
}
