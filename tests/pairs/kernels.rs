//! Every kernel on every engine against the oracle. Each test body is instantiated for each engine.
//! The tests in `tests/directions` cover alignments that devices trace.

use std::sync::Arc;

use pairwave::engine::{Capacity, Engine};
use pairwave::pairs::Pairs;
use pairwave::pairs::mock::MockEngine;
use pairwave::pairs::{ResultFilter, ScoreThresholds};
use pairwave::score::{EndGaps, Gaps, IdentityDefinition, IdentityFilter, Scoring};
use pairwave::seq::Alphabet;
use support::check::*;
use support::*;

fn lengths_around_tile_borders_match_the_oracle(engine: &mut dyn Engine<Pairs>, schemes: &[Scoring], seed: u64) {
    let mut rng = rng(seed);
    for scoring in schemes {
        let store = mixed_store(&mut rng, scoring.alphabet, EDGES);
        let job = job(&store, scoring.clone(), ResultFilter::Alignments);
        let hits = compute(engine, &batches(&job, u64::MAX));
        check_hits(&store, scoring, &hits, true);
    }
}

fn numbers_of_pairs_around_workgroups_match_the_oracle(engine: &mut dyn Engine<Pairs>, seed: u64) {
    let mut rng = rng(seed);
    let scoring = Scoring::truong();
    for count in [1, 2, 15, 16, 17, 18, 33, 65, 66] {
        let lengths: Vec<usize> = (0..count).map(|index| 5 + index % 9).collect();
        let store = mixed_store(&mut rng, Alphabet::Dna, &lengths);
        let job = job(&store, scoring.clone(), ResultFilter::Alignments);
        // Small chunks give several batches. Two are in flight at the same time.
        let hits = compute(engine, &batches(&job, 400));
        check_hits(&store, &scoring, &hits, true);
    }
}

fn equal_and_different_sequences_match_the_oracle(engine: &mut dyn Engine<Pairs>) {
    for (scoring, letters) in [(Scoring::truong(), *b"ACN"), (Scoring::protein(), *b"WPX")] {
        let code = |letter| scoring.alphabet.encode(letter).expect("a letter of the alphabet");
        let sequences: Vec<Vec<u8>> =
            letters.iter().flat_map(|&letter| [7, 12, 40].map(|length| vec![code(letter); length])).collect();
        let store = store(scoring.alphabet, &sequences);
        let hits = compute(engine, &batches(&job(&store, scoring.clone(), ResultFilter::Alignments), u64::MAX));
        check_hits(&store, &scoring, &hits, true);
    }
}

fn scores_alone_match_the_oracle(engine: &mut dyn Engine<Pairs>, schemes: &[Scoring], seed: u64) {
    let mut rng = rng(seed);
    for scoring in schemes {
        let store = mixed_store(&mut rng, scoring.alphabet, &[1, 9, 24, 30, 41, 50]);
        let hits = compute(engine, &batches(&job(&store, scoring.clone(), ResultFilter::Scores), u64::MAX));
        check_hits(&store, scoring, &hits, false);
    }
}

/// Scores so large that 32 bits do not hold the matches as well. The kernel must return the score
/// without matches, or the engine must refuse the batch. It must never return a wrong number.
fn scores_beyond_32_bits_are_never_wrong(engine: &mut dyn Engine<Pairs>, seed: u64) {
    let mut rng = rng(seed);
    let (mut refused, mut alone) = (0, 0);
    for factor in [1, 1_000, 100_000, 1_000_000, 10_000_000] {
        let base = Scoring::truong();
        let substitution = pairwave::score::Substitution::from_fn(Alphabet::Dna, |a, b| {
            (base.substitution.score(a, b).signum() * factor, base.substitution.is_match(a, b))
        });
        let scoring = Scoring { substitution, gaps: Gaps::linear(factor), ..base };
        let store = mixed_store(&mut rng, Alphabet::Dna, &[3, 30, 61, 120, 121]);
        let job = job(&store, scoring.clone(), ResultFilter::Alignments);
        for batch in batches(&job, 1) {
            match engine.submit(Arc::clone(&batch)) {
                Ok(ticket) => {
                    for hit in engine.collect(ticket).expect("the batch is computed").hits {
                        let (score, matches) = oracle(&store, &scoring, &hit);
                        assert_eq!(hit.score, score, "factor {factor}");
                        assert!(hit.matches.is_none_or(|there| there == matches), "factor {factor}");
                        alone += hit.matches.is_none() as u32;
                    }
                }
                Err(pairwave::Error::Unsuited { .. }) => refused += 1,
                Err(error) => panic!("{error}"),
            }
        }
    }
    if engine.universal() {
        assert!(
            refused == 0 && alone > 0,
            "{refused} refused, {alone} without matches: there are 64 bits to fall back on"
        );
    } else {
        assert!(
            refused > 0 && alone > 0,
            "the test must reach both limits: {refused} refused, {alone} without matches"
        );
    }
}

/// The filter on the device keeps every pair that reaches the identity. With linear gaps, it keeps
/// hardly any other pair.
fn the_filter_keeps_every_pair_with_the_identity(engine: &mut dyn Engine<Pairs>, schemes: &[Scoring], seed: u64) {
    let mut rng = rng(seed);
    let mut turn = 0;
    for scoring in schemes {
        let mut sequences = Vec::new();
        for length in [20, 47, 90] {
            let ancestor = random_codes(&mut rng, scoring.alphabet, length);
            for percent in [1, 3, 8, 20] {
                sequences.push(mutated(&mut rng, scoring.alphabet, &ancestor, percent));
            }
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
            let kept: std::collections::BTreeSet<(u32, u32)> = compute(engine, &batches(&wanted, u64::MAX))
                .iter()
                .map(|hit| {
                    let best = textbook.align(store.codes(hit.query), store.codes(hit.target));
                    assert_eq!(hit.score, best.score);
                    (hit.query.min(hit.target), hit.query.max(hit.target))
                })
                .collect();
            for query in 0..store.len() as u32 {
                for target in query + 1..store.len() as u32 {
                    let best = textbook.align(store.codes(query), store.codes(target));
                    let identity = definition.identity(&best.cigar.counts(), store.length(query), store.length(target));
                    assert!(
                        !filter.passes(identity) || kept.contains(&(query, target)),
                        "pair {query},{target} of identity {identity} was lost at {threshold}, {definition:?}, {:?} {:?}",
                        scoring.gaps,
                        scoring.end_gaps
                    );
                }
            }
        }
    }
}

/// Every pair that reaches its query's threshold is reported with its score, and hardly any other
/// pair is.
fn every_pair_above_its_threshold_is_reported(engine: &mut dyn Engine<Pairs>, schemes: &[Scoring], seed: u64) {
    let mut rng = rng(seed);
    for scoring in schemes {
        let store = mixed_store(&mut rng, scoring.alphabet, &[1, 9, 24, 30, 41, 50]);
        let all = compute(&mut cpu(), &batches(&job(&store, scoring.clone(), ResultFilter::Scores), u64::MAX));
        let mut sorted: Vec<i64> = all.iter().map(|hit| hit.score).collect();
        sorted.sort_unstable();
        let median = sorted[sorted.len() / 2];
        let floors = Arc::new(ScoreThresholds::uniform(median, store.len() - 1));
        floors.raise(2, i64::MAX);
        let wanted = job(&store, scoring.clone(), ResultFilter::AtLeast(Arc::clone(&floors)));
        let kept: Vec<_> = compute(engine, &batches(&wanted, u64::MAX));
        let expected: Vec<_> = all.iter().filter(|hit| hit.score >= floors.threshold(hit.query)).collect();
        let pair = |hit: &pairwave::pairs::PairHit| (hit.query, hit.target, hit.score);
        let mut actual: Vec<_> = kept.iter().map(pair).collect();
        actual.sort_unstable();
        let mut expected: Vec<_> = expected.into_iter().map(pair).collect();
        expected.sort_unstable();
        assert_eq!(actual, expected, "floor {median}, {:?} {:?}", scoring.gaps, scoring.end_gaps);
        assert!(kept.len() < all.len());
    }
}

macro_rules! on_every_engine {
    ($($engine:ident: $make:expr, $schemes:expr),* $(,)?) => {$(
        mod $engine {
            use super::*;

            #[test]
            fn lengths_around_tile_borders_match_the_oracle() {
                super::lengths_around_tile_borders_match_the_oracle(&mut $make, &$schemes, 0xed6e);
            }
            #[test]
            fn numbers_of_pairs_around_workgroups_match_the_oracle() {
                super::numbers_of_pairs_around_workgroups_match_the_oracle(&mut $make, 0x3099);
            }
            #[test]
            fn equal_and_different_sequences_match_the_oracle() {
                super::equal_and_different_sequences_match_the_oracle(&mut $make);
            }
            #[test]
            fn scores_alone_match_the_oracle() {
                super::scores_alone_match_the_oracle(&mut $make, &$schemes, 0x5c07e);
            }
            #[test]
            fn scores_beyond_32_bits_are_never_wrong() {
                super::scores_beyond_32_bits_are_never_wrong(&mut $make, 0x0f10);
            }
            #[test]
            fn the_filter_keeps_every_pair_with_the_identity() {
                super::the_filter_keeps_every_pair_with_the_identity(&mut $make, &$schemes, 0xf117);
            }
            #[test]
            fn every_pair_above_its_threshold_is_reported() {
                super::every_pair_above_its_threshold_is_reported(&mut $make, &$schemes, 0xf1005);
            }
        }
    )*};
}

on_every_engine! {
    cpu: cpu(), scorings(),
    nw_slice_checked: kernel_checked("nw_slice"), scorings(),
    nw_slice_default: kernel_default("nw_slice"), fifth_of_scorings("nw_slice"),
    nw_slice_half_checked: kernel_checked("nw_slice_half"), scorings(),
    nw_slice_half_default: kernel_default("nw_slice_half"), fifth_of_scorings("nw_slice_half"),
    chosen_by_cost: with_matrix(gpu_checked(), SMALL_SHAPE), scorings(),
    nw_rows_checked: kernel_checked("nw_rows"), scorings(),
    nw_rows_default: kernel_default("nw_rows"), fifth_of_scorings("nw_rows"),
    nw_diagonal_checked: kernel_checked("nw_diagonal"), scorings(),
    nw_diagonal_default: kernel_default("nw_diagonal"), fifth_of_scorings("nw_diagonal"),
    nw_diagonal_subgroup_checked: kernel_checked("nw_diagonal_subgroup"), scorings(),
    nw_diagonal_subgroup_default: kernel_default("nw_diagonal_subgroup"), fifth_of_scorings("nw_diagonal_subgroup"),
    nw_tiled_diagonal_checked: kernel_checked("nw_tiled_diagonal"), scorings(),
    nw_tiled_diagonal_default: kernel_default("nw_tiled_diagonal"), fifth_of_scorings("nw_tiled_diagonal"),
    nw_checkpoint_checked: kernel_checked("nw_checkpoint"), scorings(),
    nw_checkpoint_default: kernel_default("nw_checkpoint"), fifth_of_scorings("nw_checkpoint"),
}

/// Pairs that are too long for one dispatch are computed slice by slice. Their state is kept
/// between dispatches.
#[test]
fn nw_slice_long_pairs_equal_the_cpu() {
    let mut rng = rng(0x1046);
    for (gaps, end_gaps) in [
        (Gaps::linear(10), EndGaps::Charged),
        (Gaps::from_blast(10, 1), EndGaps::Free),
        (Gaps::from_blast(20, 2), EndGaps::Priced(Gaps::from_blast(2, 1))),
    ] {
        let scoring = Scoring { gaps, end_gaps, ..Scoring::truong() };
        let ancestor = random_codes(&mut rng, Alphabet::Dna, 4600);
        let relative = mutated(&mut rng, Alphabet::Dna, &ancestor, 3);
        let other = random_codes(&mut rng, Alphabet::Dna, 4555);
        let sequences = [ancestor, relative, other];
        // Only two slots fit, so that three pairs take several rounds. A pair has one round.
        let store = store(Alphabet::Dna, if end_gaps == EndGaps::Charged { &sequences } else { &sequences[..2] });
        let job = job(&store, scoring, ResultFilter::Alignments);
        let batches = batches(&job, u64::MAX);
        assert!(batches.iter().any(|batch| batch.cells() > pairwave::pairs::plan::LONG_PAIR_CELLS), "none is long");
        let mut narrow = kernel_default("nw_slice").with_scratch_budget(3 << 20);
        assert_eq!(compute(&mut cpu(), &batches), compute(&mut narrow, &batches));
    }
}

/// A job is refused if its targets do not fit in the scratch memory. It must not be computed
/// wrongly.
#[test]
fn nw_slice_refuses_what_does_not_fit() {
    let store = mixed_store(&mut rng(7), Alphabet::Dna, &[500, 500]);
    let batches = batches(&job(&store, Scoring::truong(), ResultFilter::Scores), u64::MAX);
    let mut tiny = kernel_default("nw_slice").with_scratch_budget(1 << 12);
    let error = tiny.submit(Arc::clone(&batches[0])).expect_err("4 KiB of scratch do not hold 500 rows");
    assert!(matches!(error, pairwave::Error::Unsuited { .. }), "{error}");
}

#[test]
#[should_panic(expected = "score of")]
fn the_harness_sees_a_wrong_score() {
    let store = mixed_store(&mut rng(3), Alphabet::Dna, &[10, 12]);
    let capacity = Capacity { cells: u64::MAX, pairs: u64::MAX, store_bytes: u64::MAX, batches: 1 };
    let mut mock = MockEngine::new("mock", capacity, []);
    let mut hits = compute(&mut mock, &batches(&job(&store, Scoring::truong(), ResultFilter::Alignments), u64::MAX));
    hits[0].score += 1;
    check_hits(&store, &Scoring::truong(), &hits, true);
}

#[test]
#[should_panic(expected = "pairs")]
fn the_harness_sees_a_missing_pair() {
    let store = mixed_store(&mut rng(4), Alphabet::Dna, &[10, 12, 14]);
    let capacity = Capacity { cells: u64::MAX, pairs: u64::MAX, store_bytes: u64::MAX, batches: 1 };
    let mut mock = MockEngine::new("mock", capacity, []);
    let hits = compute(&mut mock, &batches(&job(&store, Scoring::truong(), ResultFilter::Alignments), u64::MAX));
    check_hits(&store, &Scoring::truong(), &hits[1..], true);
}
