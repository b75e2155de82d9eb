//! What engines report, against the textbook.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use pairwave::alignment::Cigar;
use pairwave::pairs::Hit;
use pairwave::pairs::oracle::needleman_wunsch;
use pairwave::score::Scoring;
use pairwave::seq::{Code, SequenceStore};

/// Lengths around words of 4, slices of 12 and 36, workgroups of 16 and 64.
pub(crate) const EDGES: &[usize] =
    &[0, 1, 2, 3, 4, 5, 11, 12, 13, 15, 16, 17, 23, 24, 25, 35, 36, 37, 48, 63, 64, 65, 71, 72, 73];

/// What the oracle says of a pair.
pub(crate) fn oracle(store: &SequenceStore, scoring: &Scoring, hit: &Hit) -> (i64, u64) {
    let best = needleman_wunsch::align(store.codes(hit.query), store.codes(hit.target), scoring);
    (best.score, best.matches)
}

/// Fails unless every pair of the store is there once and right.
pub(crate) fn check_hits(store: &Arc<SequenceStore>, scoring: &Scoring, hits: &[Hit], with_matches: bool) {
    let mut seen = BTreeSet::new();
    for hit in hits {
        let (score, matches) = oracle(store, scoring, hit);
        let lengths = (store.length(hit.query), store.length(hit.target));
        assert_eq!(
            hit.score, score,
            "score of {hit:?}, lengths {lengths:?}, {:?} {:?}",
            scoring.gaps, scoring.end_gaps
        );
        if with_matches {
            assert_eq!(hit.matches, Some(matches), "matches of {hit:?}, lengths {lengths:?}, {:?}", scoring.gaps);
        }
        assert!(seen.insert((hit.query.min(hit.target), hit.query.max(hit.target))), "{hit:?} came twice");
    }
    assert_eq!(seen.len(), store.len() * (store.len() - 1) / 2, "pairs");
}

/// Score, matches and alignment.
type Best = (i64, u64, String);

/// The oracle's alignments under one scoring, each pair of contents computed once.
#[derive(Default)]
pub(crate) struct Textbook {
    known: HashMap<(Vec<Code>, Vec<Code>), Best>,
}

impl Textbook {
    /// Fails unless the pair has the oracle's score, matches and, if it was traced, alignment.
    pub(crate) fn check(
        &mut self,
        query: &[Code],
        target: &[Code],
        scoring: &Scoring,
        hit: &Hit,
        cigar: Option<&Cigar>,
    ) {
        let (score, matches, expected) = self.known.entry((query.to_vec(), target.to_vec())).or_insert_with(|| {
            let best = needleman_wunsch::align(query, target, scoring);
            (best.score, best.matches, best.cigar.to_string())
        });
        let what = || {
            let lengths = (query.len(), target.len());
            format!("{hit:?}, lengths {lengths:?}, {:?} {:?}", scoring.gaps, scoring.end_gaps)
        };
        assert_eq!(hit.score, *score, "score of {}", what());
        assert_eq!(hit.matches, Some(*matches), "matches of {}", what());
        if let Some(cigar) = cigar {
            assert_eq!(cigar.to_string(), *expected, "alignment of {}", what());
        }
    }
}

/// Fails unless every pair of the store is there once, with its score, its matches and the canonical alignment, traced by
/// the engine.
pub(crate) fn check_traced(store: &Arc<SequenceStore>, scoring: &Scoring, found: &[(Hit, Option<Cigar>)]) {
    let count = check_some_traced(store, scoring, found);
    assert_eq!(count, store.len() * (store.len() - 1) / 2, "pairs");
    let missing = found.iter().find(|(_, cigar)| cigar.is_none());
    assert!(missing.is_none(), "{:?} was not traced", missing.map(|(hit, _)| hit));
}

/// Fails unless all that is there is right and comes once; gives its number.
pub(crate) fn check_some_traced(
    store: &Arc<SequenceStore>,
    scoring: &Scoring,
    found: &[(Hit, Option<Cigar>)],
) -> usize {
    let mut textbook = Textbook::default();
    let mut seen = BTreeSet::new();
    for (hit, cigar) in found {
        // The earlier sequence is the alignment's query, whichever was the kernel's.
        let (query, target) = (hit.query.min(hit.target), hit.query.max(hit.target));
        textbook.check(store.codes(query), store.codes(target), scoring, hit, cigar.as_ref());
        assert!(seen.insert((query, target)), "{hit:?} came twice");
    }
    seen.len()
}
