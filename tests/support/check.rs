//! Compares the reports of engines with the textbook algorithms.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use pairwave::alignment::Cigar;
use pairwave::measure::self_test::SelfTest;
use pairwave::pairs::PairHit;
use pairwave::pairs::oracle::needleman_wunsch::{self, ReferenceAlignment};
use pairwave::score::Scoring;
use pairwave::seq::{Code, SequenceStore};

/// Lengths close to multiples of the sizes of words (4), slices (12 and 36) and workgroups (16 and
/// 64).
pub const EDGES: &[usize] =
    &[0, 1, 2, 3, 4, 5, 11, 12, 13, 15, 16, 17, 23, 24, 25, 35, 36, 37, 48, 63, 64, 65, 71, 72, 73];

/// Returns the oracle's score and matches of a pair.
pub fn oracle(store: &SequenceStore, scoring: &Scoring, hit: &PairHit) -> (i64, u64) {
    let best = Textbook::for_scoring(scoring).align(store.codes(hit.query), store.codes(hit.target));
    (best.score, best.matches)
}

/// Fails unless every pair of the store occurs once and is correct.
pub fn check_hits(store: &Arc<SequenceStore>, scoring: &Scoring, hits: &[PairHit], with_matches: bool) {
    let textbook = Textbook::for_scoring(scoring);
    let mut seen = BTreeSet::new();
    for hit in hits {
        let best = textbook.align(store.codes(hit.query), store.codes(hit.target));
        let (score, matches) = (best.score, best.matches);
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

/// Alignments by query and target.
type AlignmentsByPair = HashMap<(Vec<Code>, Vec<Code>), Arc<ReferenceAlignment>>;

/// The oracle's alignments under one scoring. Each alignment is computed once per program, because
/// a test that runs on every kernel requests the same pairs each time.
pub struct Textbook {
    scoring: Scoring,
    known: Mutex<AlignmentsByPair>,
}

impl Textbook {
    /// Returns the collection of this program for a scoring.
    pub fn for_scoring(scoring: &Scoring) -> Arc<Textbook> {
        static ALL: Mutex<Vec<Arc<Textbook>>> = Mutex::new(Vec::new());
        // A test that fails as expected leaves the collections intact.
        let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(book) = all.iter().find(|book| book.scoring == *scoring) {
            return Arc::clone(book);
        }
        let book = Arc::new(Textbook { scoring: scoring.clone(), known: Mutex::default() });
        all.push(Arc::clone(&book));
        book
    }

    /// Returns the oracle's alignment of two sequences.
    pub fn align(&self, query: &[Code], target: &[Code]) -> Arc<ReferenceAlignment> {
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let pair = (query.to_vec(), target.to_vec());
        if let Some(best) = known().get(&pair) {
            return Arc::clone(best);
        }
        let best = Arc::new(needleman_wunsch::align(query, target, &self.scoring));
        known().insert(pair, Arc::clone(&best));
        best
    }

    /// Fails unless the pair has the oracle's score and matches and, if it was traced back, the
    /// oracle's alignment.
    pub fn check(&self, query: &[Code], target: &[Code], hit: &PairHit, cigar: Option<&Cigar>) {
        let best = self.align(query, target);
        let what = || {
            let lengths = (query.len(), target.len());
            format!("{hit:?}, lengths {lengths:?}, {:?} {:?}", self.scoring.gaps, self.scoring.end_gaps)
        };
        assert_eq!(hit.score, best.score, "score of {}", what());
        assert_eq!(hit.matches, Some(best.matches), "matches of {}", what());
        if let Some(cigar) = cigar {
            assert!(*cigar == best.cigar, "alignment of {}: {cigar} instead of {}", what(), best.cigar);
        }
    }
}

/// Fails unless every pair of the store occurs once, with its score, its matches and the canonical
/// alignment, traced back by the engine.
pub fn check_traced(store: &Arc<SequenceStore>, scoring: &Scoring, actual: &[(PairHit, Option<Cigar>)]) {
    let count = check_some_traced(store, scoring, actual);
    assert_eq!(count, store.len() * (store.len() - 1) / 2, "pairs");
    let missing = actual.iter().find(|(_, cigar)| cigar.is_none());
    assert!(missing.is_none(), "{:?} was not traced", missing.map(|(hit, _)| hit));
}

/// Fails unless all results are correct and unique. Returns their number.
pub fn check_some_traced(store: &Arc<SequenceStore>, scoring: &Scoring, actual: &[(PairHit, Option<Cigar>)]) -> usize {
    let textbook = Textbook::for_scoring(scoring);
    let mut seen = BTreeSet::new();
    for (hit, cigar) in actual {
        // The alignment's query is the earlier sequence, whichever sequence is the kernel's query.
        let (query, target) = (hit.query.min(hit.target), hit.query.max(hit.target));
        textbook.check(store.codes(query), store.codes(target), hit, cigar.as_ref());
        assert!(seen.insert((query, target)), "{hit:?} came twice");
    }
    seen.len()
}

/// Fails unless an engine passes a test.
pub fn assert_passes<T: SelfTest>(test: &T, engine: &mut T::Engine, what: &str) {
    if let Err(error) = test.test(engine) {
        panic!("{}, {what}: {error}", T::NAME);
    }
}

/// Fails unless the results of a test's only case are correct.
pub fn assert_right<T: SelfTest>(test: &T, actual: &T::Found, what: &str) {
    let [case] = test.cases() else { panic!("{} cases", test.cases().len()) };
    if let Err(error) = test.compare(case, actual) {
        panic!("{}, {what}: {error}", T::NAME);
    }
}
