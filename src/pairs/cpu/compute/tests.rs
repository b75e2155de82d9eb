use std::sync::Arc;

use super::*;
use crate::alignment::Op;
use crate::pairs::ResultFilter;
use crate::pairs::gpu::tune::random_store;
use crate::score::{Ambiguity, EndGaps, Gaps};
use crate::seq::{Alphabet, SequenceStore};
use crate::trace::{self, Hint, traceback, traceback_from};

/// Returns parts of three sequences and of their relatives, some of them empty.
fn parts() -> Arc<SequenceStore> {
    let parents = random_store(Alphabet::Dna, 3, 90, 0xe2d);
    let mut builder = SequenceStore::builder(Alphabet::Dna);
    for index in 0..30usize {
        let (begin, length) = (index * 13 % 50, [0, 1, 40, 33, 7, 25][index % 6]);
        let mut codes = parents.codes(0)[begin..begin + length].to_vec();
        (index % 4..length).step_by(5 + index % 7).for_each(|at| codes[at] = parents.codes(1)[at]);
        if index % 5 == 0 && length > 8 {
            codes.drain(4..8);
        }
        builder.push_valid(format!("part{index}"), &codes);
    }
    Arc::new(builder.build())
}

#[test]
fn end_gaps_are_no_longer_than_reported() {
    let store = parts();
    let all = 0..store.len() as u32;
    let workspace = &mut trace::TracebackWorkspace::default();
    let (mut checked, mut longest) = (0, 0);
    for end_gaps in [(2, 2), (7, 1), (0, 0)].map(|(first, next)| EndGaps::Priced(Gaps { first, next })) {
        for gaps in [Gaps::linear(10), Gaps::from_blast(6, 2), Gaps::from_blast(20, 5)] {
            let scoring = Scoring::nucleotide(5, -4, Ambiguity::Overlap, gaps, end_gaps).unwrap();
            let chunk = PairsChunk {
                queries: Arc::clone(&store),
                targets: Arc::clone(&store),
                order: all.clone().collect(),
                scoring: Arc::new(scoring),
                filter: ResultFilter::Alignments,
                earlier_is_query: true,
            };
            for (query, form) in all.clone().flat_map(|query| [(query, LaneForm::Targets), (query, LaneForm::Rows)]) {
                let block = PairsBlock { query, targets: all.clone(), cells: 0 };
                let computing = &mut ScoreWorkspace::with(InstructionSet::best(), form);
                let mut results = ComputedHits::default();
                compute_block(&chunk, &block, computing, &mut results).unwrap();
                let ComputedHits { hits, ends, .. } = results;
                assert_eq!((hits.len(), ends.len()), (store.len(), store.len()));
                for (hit, end) in hits.iter().zip(&ends) {
                    let (first, second) = (query.min(hit.target), query.max(hit.target));
                    let (a, b) = (store.codes(first), store.codes(second));
                    let hint = Hint { score: Some(hit.score), matches: hit.matches };
                    let expected = traceback(a, b, &chunk.scoring, hint, workspace).unwrap();
                    let results = traceback_from(a, b, &chunk.scoring, hint, Some(end), workspace).unwrap();
                    assert_eq!(results, expected, "{form:?} {first} {second} {:?}", chunk.scoring);
                    let last = expected.cigar.iter().last();
                    let [insertion, deletion] = end.longest_end_gaps();
                    let (left, most) = match last {
                        Some((length, Op::Insertion)) => (u64::from(length), insertion),
                        Some((length, Op::Deletion)) => (u64::from(length), deletion),
                        _ => continue,
                    };
                    // If both gaps meet at the end, the first of them counts as an inner gap.
                    assert!(left <= most, "{form:?} {first} {second}: {left}, told {most}");
                    (checked, longest) = (checked + 1, longest.max(left));
                }
            }
        }
    }
    assert!(checked > 1000 && longest > 20, "{checked}, {longest}");
}

#[test]
fn stated_scores_do_not_change_local_alignments() {
    let store = random_store(Alphabet::Dna, 12, 400, 0x5c0);
    let gaps = Gaps::from_blast(20, 5);
    let scoring = Scoring::nucleotide(5, -4, Ambiguity::Overlap, gaps, EndGaps::Priced(gaps)).unwrap();
    let scoring = Scoring { mode: Mode::Local, ..scoring };
    let workspace = &mut ScoreWorkspace::new();
    let query = [store.codes(0), store.codes(1)].concat();
    // The first target is a part of the query, and the last one equals it.
    let targets: Vec<&[Code]> = (1..12).map(|id| store.codes(id)).chain([&query[..]]).collect();
    let tracing = &mut trace::TracebackWorkspace::default();
    let no_hint = Hint { score: None, matches: None };
    let expected: Vec<_> =
        targets.iter().map(|target| traceback(&query, target, &scoring, no_hint, tracing).unwrap()).collect();
    assert!(expected[1..11].iter().all(|one| one.score < 225), "8 bits hold the scores of unrelated targets");
    assert_eq!(expected[11].score, 5 * query.len() as i64);
    for score in [0, 1, 225, 226, 40_000, i64::from(i32::MAX), i64::MAX] {
        let stated: Vec<ScoredTarget<'_>> = targets.iter().map(|&codes| ScoredTarget { codes, score }).collect();
        let ends = ends(&query, &stated, &scoring, workspace).unwrap();
        for ((target, end), expected) in targets.iter().zip(&ends).zip(&expected) {
            let hint = Hint { score: Some(expected.score), matches: None };
            let traced = traceback_from(&query, target, &scoring, hint, Some(end), tracing).unwrap();
            assert_eq!(traced, *expected, "stated score {score}");
        }
    }
}
