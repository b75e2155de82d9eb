//! Searches that report several alignments of a query with a subject, compared with the textbook:
//! Smith and Waterman's matrices with forbidden cells.

use pairwave::engine::Engine;
use pairwave::pairs::Pairs;
use pairwave::seq::{Strand, Strands};

use super::jobs::{cpu, run, run_on};
use super::textbook::hits;
use super::*;

/// Returns queries, and subjects with several copies of parts of them on both strands.
fn repeats(seed: u64, scoring: &Scoring) -> (Search, SequenceStore) {
    let (rng, alphabet) = (&mut support::rng(seed), scoring.alphabet);
    let queries: Vec<Vec<Code>> = [40, 25, 0, 55].map(|length| random_codes(rng, alphabet, length)).into();
    let mut subjects = Vec::new();
    for copies in [0, 1, 2, 3, 5] {
        for query in &queries {
            let mut subject = random_codes(rng, alphabet, 5);
            for _ in 0..copies {
                let from = if query.is_empty() { 0 } else { rng.below(query.len() / 2) };
                let copy = mutated(rng, alphabet, &query[from..], [0, 5, 15][copies % 3]);
                let is_turned = alphabet == Alphabet::Dna && rng.below(3) == 0;
                subject.extend(if is_turned { pairwave::seq::reverse_complement(&copy) } else { copy });
                let between = rng.below(8);
                subject.extend(random_codes(rng, alphabet, between));
            }
            subjects.push(subject);
        }
    }
    let subjects = store(alphabet, &subjects);
    let searched = Arc::new(Subjects::from_store(subjects.clone()));
    let search = Search::new(Arc::new(store(alphabet, &queries)), searched, Arc::new(scoring.clone()));
    (Search { check: true, ..search }, subjects)
}

/// Returns searches with filters and limits of every kind.
fn searches(seed: u64) -> Vec<(Search, SequenceStore)> {
    let mut all = Vec::new();
    for scoring in [protein(), dna(), scoring_without_statistics()] {
        let (search, subjects) = repeats(seed, &scoring);
        let mut add = |search: Search| all.push((search, subjects.clone()));
        let base = Search { max_evalue: search.max_evalue.map(|_| 1.0), min_score: Some(18), ..search };
        for (max_hsps, max_hits) in [(2, 500), (3, 1), (4, 2), (usize::MAX, 500)] {
            add(Search { max_hsps, max_hits, ..base.clone() });
        }
        for (max_hits, min_identity, cover) in
            [(2, Some(0.9), None), (500, None, Some(0.6)), (3, Some(0.95), Some(0.3))]
        {
            add(Search { max_hsps: 3, max_hits, min_identity, min_query_cover: cover, ..base.clone() });
        }
        for max_hits in [1, 500] {
            add(Search { max_hsps: 5, top_hits_only: true, max_hits, ..base.clone() });
        }
        add(Search { max_hsps: 5, top_hits_only: true, min_identity: Some(0.9), ..base.clone() });
        add(Search { max_hsps: 5, max_evalue: None, min_score: Some(30), ..base.clone() });
        if scoring.alphabet == Alphabet::Dna {
            for strand in [Strands::Plus, Strands::Minus] {
                add(Search { max_hsps: 3, strand, ..base.clone() });
            }
        }
    }
    all
}

#[test]
fn several_alignments_of_a_pair_are_those_of_the_textbook() {
    let seed = 0x45b1;
    let (mut further, mut both) = (0, 0);
    for (search, subjects) in searches(seed) {
        let (actual, expected) = (run(&search), hits(&search, &subjects));
        assert_eq!(actual, expected, "seed {seed:#x}, {search:?}");
        let adjacent = actual.windows(2).filter(|two| (two[0].query, two[0].record) == (two[1].query, two[1].record));
        for two in adjacent {
            further += 1;
            both += usize::from(two[0].strand != two[1].strand);
        }
    }
    assert!(further > 50 && both > 5, "{further} further alignments, {both} on the other strand");
}

#[test]
fn several_alignments_do_not_depend_on_chunks_or_devices() {
    let seed = 0x45b2;
    for (search, subjects) in searches(seed).into_iter().step_by(3) {
        let expected = hits(&search, &subjects);
        let device = || -> Box<dyn Engine<Pairs>> { Box::new(support::gpu_checked()) };
        for chunk_bytes in [60, 1 << 20] {
            let search = Search { chunk_bytes: Some(chunk_bytes), ..search.clone() };
            assert_eq!(run_on(&search, vec![cpu()]).unwrap(), expected, "chunks of {chunk_bytes}");
            assert_eq!(run_on(&search, vec![device(), cpu()]).unwrap(), expected, "a device, {chunk_bytes}");
        }
        assert_eq!(run_on(&search, vec![device()]).unwrap(), expected, "a device alone");
    }
}

/// A query with three copies in a subject, one of them on the other strand.
#[test]
fn copies_on_both_strands_are_hits_of_one_subject() {
    let seed = 0x45b3;
    let rng = &mut support::rng(seed);
    let query = random_codes(rng, Alphabet::Dna, 60);
    let mut gap = || random_codes(rng, Alphabet::Dna, 30);
    let subject =
        [gap(), query.clone(), gap(), pairwave::seq::reverse_complement(&query), gap(), query.clone()].concat();
    let queries = Arc::new(store(Alphabet::Dna, &[query]));
    let subjects = Arc::new(Subjects::from_store(store(Alphabet::Dna, &[subject])));
    let search = Search { max_evalue: Some(1e-9), ..Search::new(queries, subjects, Arc::new(dna())) };
    let (plus, minus) = (Strand::Plus, Strand::Minus);
    let copies = [(plus, 30), (plus, 210), (minus, 120)];
    for max_hsps in 1..=4 {
        let found = run(&Search { max_hsps, ..search.clone() });
        let places: Vec<_> = found.iter().map(|hit| (hit.strand, hit.alignment.as_ref().unwrap().1)).collect();
        assert_eq!(places, copies[..max_hsps.min(3)]);
        assert!(found.iter().all(|hit| hit.score == found[0].score && hit.record == 0));
    }
}

#[test]
fn one_alignment_of_a_pair_is_the_default() {
    let (search, _) = repeats(0x1, &protein());
    assert_eq!(search.max_hsps, 1);
    let best = run(&search);
    let several = run(&Search { max_hsps: 9, ..search });
    let first =
        several.chunk_by(|one, other| (one.query, one.record) == (other.query, other.record)).map(|hits| &hits[0]);
    assert_eq!(best.iter().collect::<Vec<_>>(), first.collect::<Vec<_>>());
    assert!(several.len() > best.len());
}
