//! Local alignments: the production traceback gives the canonical one (score, place and columns) whatever it is told;
//! jobs give it for every pair that they are to give; and a GPU, which has no kernel for it, hands the work on.

mod support;

use std::sync::{Arc, LazyLock};

use pairwave::engine::cpu::thread_pool;
use pairwave::engine::{Batch, Capacity, Engine, Report, Ticket, Want};
use pairwave::reference::smith_waterman::{self, ReferenceLocalAlignment};
use pairwave::score::{
    Ambiguity, EndGaps, Gaps, IdentityDefinition, IdentityFilter, Mode, Scoring, SubstitutionMatrix,
};
use pairwave::seq::{Alphabet, Code, SequenceStore};
use pairwave::trace::{Alignment, Hint, Workspace, traceback, verify_alignment};
use pairwave::{AllPairs, Error, PairResult, RunOptions, Summary};
use proptest::prelude::*;

/// Schemes for DNA: usual ones, heavily tied ones, with free gap symbols, with nothing above 0, with large numbers.
static DNA: LazyLock<Vec<Scoring>> = LazyLock::new(|| {
    let schemes = [
        (5, -4, Ambiguity::Overlap, Gaps::linear(10)),
        (5, -4, Ambiguity::Zero, Gaps::linear(10)),
        (5, -4, Ambiguity::Mismatch, Gaps::from_blast(8, 6)),
        (2, -3, Ambiguity::Overlap, Gaps::from_blast(5, 2)),
        (1, -2, Ambiguity::Overlap, Gaps::linear(1)),
        (2, -1, Ambiguity::Overlap, Gaps::linear(1)),
        (1, -1, Ambiguity::Overlap, Gaps::linear(0)),
        (3, -1, Ambiguity::Zero, Gaps::from_blast(4, 0)),
        (0, -2, Ambiguity::Overlap, Gaps::linear(1)),
        (1, 1, Ambiguity::Overlap, Gaps::from_blast(1, 0)),
        (3, -40, Ambiguity::Overlap, Gaps::from_blast(2, 1)),
        (1_000_000, -1_000_000, Ambiguity::Overlap, Gaps::from_blast(400_000, 600_000)),
    ];
    let mut all: Vec<Scoring> = schemes
        .into_iter()
        .map(|(a, b, ambiguity, gaps)| Scoring::nucleotide(a, b, ambiguity, gaps, EndGaps::Charged).unwrap())
        .collect();
    let ednafull = SubstitutionMatrix::built_in("EDNAFULL").unwrap();
    // End gaps are of no account.
    all.push(Scoring::matrix(Alphabet::Dna, &ednafull, Gaps::from_emboss(10, 1), EndGaps::Free).unwrap());
    all.into_iter().map(local).collect()
});

static PROTEIN: LazyLock<Vec<Scoring>> = LazyLock::new(|| {
    let schemes = [
        ("BLOSUM62", Gaps::from_blast(11, 1)),
        ("BLOSUM62", Gaps::linear(4)),
        ("PAM30", Gaps::from_blast(9, 1)),
        ("BLOSUM45", Gaps::linear(0)),
    ];
    let scoring = |(name, gaps)| {
        let matrix = SubstitutionMatrix::built_in(name).unwrap();
        local(Scoring::matrix(Alphabet::Protein, &matrix, gaps, EndGaps::Charged).unwrap())
    };
    schemes.map(scoring).to_vec()
});

fn local(scoring: Scoring) -> Scoring {
    Scoring { mode: Mode::Local, ..scoring }
}

/// What is wrong with an answer, if anything.
fn judge(answer: &Alignment, expected: &ReferenceLocalAlignment) -> Result<(), String> {
    let found = (answer.score, answer.query_range(), answer.target_range(), answer.cigar.to_string());
    let right = (expected.score, expected.query.clone(), expected.target.clone(), expected.cigar.to_string());
    if found == right { Ok(()) } else { Err(format!("{found:?} where {right:?} is right")) }
}

/// Traces a pair in every way there is.
fn check(query: &[Code], target: &[Code], scoring: &Scoring) -> Result<(), String> {
    let expected = smith_waterman::align(query, target, scoring);
    let (score, matches) = (Some(expected.score), Some(expected.matches));
    let mut workspace = Workspace::new();
    for hint in [Hint::NONE, Hint { score, matches: None }, Hint { score, matches }, Hint { score: None, matches }] {
        let context = |error: String| format!("{hint:?}: {error}");
        let answer = traceback(query, target, scoring, hint, &mut workspace).map_err(|e| context(e.to_string()))?;
        judge(&answer, &expected).map_err(context)?;
        let rescored = verify_alignment(&answer, query, target, scoring).map_err(|e| context(e.to_string()))?;
        if rescored != answer.score {
            return Err(context(format!("rescored {rescored}")));
        }
    }
    Ok(())
}

fn dna_code() -> impl Strategy<Value = Code> {
    prop_oneof![30 => prop_oneof![Just(1u8), Just(2), Just(4), Just(8)], 1 => 1u8..16]
}

fn protein_code() -> impl Strategy<Value = Code> {
    prop_oneof![20 => prop::sample::select((b'A'..=b'Z').collect::<Vec<u8>>()).prop_map(|l| l - b'A' + 1), 1 => 1u8..28]
}

/// Two sequences that share a part with changes in it, each between ends of its own.
fn sharing_a_part<C: Strategy<Value = Code>>(
    code: impl Fn() -> C,
    shared: std::ops::RangeInclusive<usize>,
) -> impl Strategy<Value = (Vec<Code>, Vec<Code>)> {
    let end = || prop::collection::vec(code(), 0..30);
    let change = (any::<prop::sample::Index>(), 0..3u8, prop::collection::vec(code(), 1..6));
    let changes = prop::collection::vec(change, 0..6);
    (prop::collection::vec(code(), shared), changes, [end(), end(), end(), end()]).prop_map(
        |(shared, changes, [before, after, other_before, other_after])| {
            let mut changed = shared.clone();
            for (at, kind, codes) in changes {
                let at = at.index(changed.len() + 1);
                let end = (at + codes.len()).min(changed.len());
                match kind {
                    0 => drop(changed.splice(at..end, codes)),
                    1 => drop(changed.splice(at..at, codes)),
                    _ => drop(changed.drain(at..end)),
                }
            }
            ([before, shared, after].concat(), [other_before, changed, other_after].concat())
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn dna_that_shares_a_part((query, target) in sharing_a_part(dna_code, 0..=60), scheme in 0..DNA.len()) {
        check(&query, &target, &DNA[scheme]).map_err(TestCaseError::fail)?;
        check(&target, &query, &DNA[scheme]).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn unrelated_dna(
        query in prop::collection::vec(dna_code(), 0..80),
        target in prop::collection::vec(dna_code(), 0..80),
        scheme in 0..DNA.len(),
    ) {
        check(&query, &target, &DNA[scheme]).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn two_letters(
        query in prop::collection::vec(1u8..3, 0..24),
        target in prop::collection::vec(1u8..3, 0..24),
        scheme in 0..DNA.len(),
    ) {
        check(&query, &target, &DNA[scheme]).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn proteins((query, target) in sharing_a_part(protein_code, 0..=50), scheme in 0..PROTEIN.len()) {
        check(&query, &target, &PROTEIN[scheme]).map_err(TestCaseError::fail)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// Rows of several pieces, with gaps that go from one piece to the next.
    #[test]
    fn long_dna((query, target) in sharing_a_part(dna_code, 150..=260), scheme in 0..DNA.len()) {
        check(&query, &target, &DNA[scheme]).map_err(TestCaseError::fail)?;
    }
}

#[test]
fn every_pair_of_short_lengths_under_every_scheme() {
    let (query, target): (Vec<Code>, Vec<Code>) =
        ((0..10).map(|k| 1 << (k % 3)).collect(), vec![2, 1, 1, 4, 15, 8, 2, 1]);
    for scoring in DNA.iter() {
        for m in [0, 1, 2, 3, 7, 8, 9, 10] {
            for n in 0..=target.len() {
                check(&query[..m], &target[..n], scoring).unwrap();
            }
        }
    }
}

#[test]
fn all_equal_and_all_different() {
    for scoring in DNA.iter().chain(PROTEIN.iter()) {
        check(&[1; 40], &[1; 33], scoring).unwrap();
        check(&[1; 33], &[1; 140], scoring).unwrap();
        check(&[1; 30], &[2; 30], scoring).unwrap();
        check(&[1; 5], &[2; 90], scoring).unwrap();
    }
}

/// A gap as long as two pieces of a row, each way.
#[test]
fn long_gaps() {
    let mut rng = support::rng(0x9a9);
    for gaps in [Gaps::linear(1), Gaps::from_blast(20, 1), Gaps::from_blast(60, 0)] {
        let scoring = local(Scoring { gaps, ..Scoring::dna() });
        let shared = support::random_codes(&mut rng, Alphabet::Dna, 160);
        let between = support::random_codes(&mut rng, Alphabet::Dna, 140);
        let longer = [&shared[..80], &between, &shared[80..]].concat();
        check(&shared, &longer, &scoring).unwrap();
        check(&longer, &shared, &scoring).unwrap();
    }
}

/// Rows are computed in pieces: a gap that begins at the end of one, wherever that is, and gains hardly more than it
/// costs, so that nothing in the next piece says that it comes. (No three symbols of the tail are the head.)
#[test]
fn short_gaps_at_every_column() {
    let letters = |text: &str| -> Vec<Code> {
        text.bytes().map(|letter| Alphabet::Dna.encode(letter).expect("a letter")).collect()
    };
    let scoring = local(Scoring { gaps: Gaps::from_blast(9, 1), ..Scoring::dna() });
    let (head, tail) = (letters("ACG"), letters("GCACCGAACCGCAC"));
    for (before, gap) in (45..75).flat_map(|before| [(before, 1), (before, 3), (before, 4)]) {
        let target = [&vec![8; before][..], &head, &vec![8; gap], &tail].concat();
        let query = [&head[..], &tail].concat();
        check(&query, &target, &scoring).unwrap();
        check(&target, &query, &scoring).unwrap();
    }
}

#[test]
fn the_judge_refuses_wrong_answers() {
    let expected =
        ReferenceLocalAlignment { score: 10, matches: 2, query: 3..6, target: 4..6, cigar: "1=1I1=".parse().unwrap() };
    let right = Alignment { score: 10, query_start: 3, target_start: 4, cigar: "1=1I1=".parse().unwrap() };
    judge(&right, &expected).unwrap();
    judge(&Alignment { score: 9, ..right.clone() }, &expected).unwrap_err();
    judge(&Alignment { query_start: 2, ..right.clone() }, &expected).unwrap_err();
    judge(&Alignment { target_start: 5, ..right.clone() }, &expected).unwrap_err();
    judge(&Alignment { cigar: "2=1I".parse().unwrap(), ..right }, &expected).unwrap_err();
}

/// Sequences of many lengths, some of them related, and one that shares nothing with any.
fn sequences(seed: u64, scoring: &Scoring) -> Arc<SequenceStore> {
    let mut rng = support::rng(seed);
    let alphabet = scoring.alphabet;
    let mut all = vec![Vec::new(), support::random_codes(&mut rng, alphabet, 1)];
    for length in [2, 9, 40, 64, 65, 130, 200] {
        let ancestor = support::random_codes(&mut rng, alphabet, length);
        let relative = support::mutated(&mut rng, alphabet, &ancestor, 6);
        let before = support::random_codes(&mut rng, alphabet, length / 2);
        all.extend([ancestor, [before, relative].concat()]);
    }
    support::store(alphabet, &all)
}

fn job(store: &Arc<SequenceStore>, scoring: &Scoring) -> AllPairs {
    AllPairs { check: true, ..AllPairs::new(Arc::clone(store), Arc::new(scoring.clone())) }
}

fn run_on(job: &AllPairs, engine: Box<dyn Engine>) -> pairwave::Result<(Vec<PairResult>, Summary)> {
    let mut results = Vec::new();
    let summary = job.run_on(vec![engine], &thread_pool(2).unwrap(), &RunOptions::default(), &(), |result| {
        results.push(result.clone());
        Ok(())
    })?;
    assert_eq!(summary.written, results.len() as u64);
    Ok((results, summary))
}

fn run(job: &AllPairs) -> (Vec<PairResult>, Summary) {
    run_on(job, Box::new(support::cpu())).unwrap()
}

/// What the oracle says of every pair of a job of one store, in input order.
fn every_pair(job: &AllPairs) -> Vec<(u32, u32, ReferenceLocalAlignment)> {
    let store = &job.queries;
    let ids = 0..store.len() as u32;
    ids.clone()
        .flat_map(|query| (query + 1..ids.end).map(move |target| (query, target)))
        .map(|(query, target)| {
            let best = smith_waterman::align(store.codes(query), store.codes(target), &job.scoring);
            (query, target, best)
        })
        .collect()
}

#[test]
fn a_job_gives_the_canonical_alignment_of_every_pair() {
    for scoring in [&DNA[0], &DNA[3], &DNA[11], &PROTEIN[0], &PROTEIN[1]] {
        let job = job(&sequences(0x10ca1, scoring), scoring);
        let (results, summary) = run(&job);
        let expected = every_pair(&job);
        assert_eq!((results.len(), summary.aligned), (expected.len(), expected.len() as u64));
        for (result, (query, target, best)) in results.iter().zip(&expected) {
            assert_eq!((result.query, result.target, result.score), (*query, *target, best.score));
            judge(result.alignment.as_ref().unwrap(), best).unwrap_or_else(|error| panic!("{query} {target}: {error}"));
            assert_eq!(result.counts, best.cigar.counts());
            let columns = best.cigar.columns();
            let identity = if columns == 0 { 0.0 } else { best.matches as f64 / columns as f64 };
            assert_eq!(result.identity, identity);
        }
        assert!(expected.iter().any(|pair| pair.2.score == 0), "no pair without an alignment");
        // What checks rescore is not told the score: told it, the alignments are the same.
        assert_eq!(run(&AllPairs { check: false, ..job.clone() }).0, results);
    }
}

#[test]
fn one_file_against_another() {
    let scoring = &DNA[0];
    let (queries, targets) = (sequences(1, scoring), sequences(2, scoring));
    let (results, _) = run(&AllPairs { against: Some(Arc::clone(&targets)), ..job(&queries, scoring) });
    assert_eq!(results.len(), queries.len() * targets.len());
    for result in &results {
        let best = smith_waterman::align(queries.codes(result.query), targets.codes(result.target), scoring);
        judge(result.alignment.as_ref().unwrap(), &best).unwrap();
    }
}

/// No kernel aligns locally: a GPU refuses the batch, and the CPU computes it.
#[test]
fn a_gpu_hands_local_batches_on() {
    let job = job(&sequences(3, &DNA[0]), &DNA[0]);
    let batch = support::batches(&job.job(), u64::MAX).remove(0);
    let error = support::gpu_default().submit(batch).expect_err("there is no kernel for it");
    assert!(matches!(error, Error::Unsuited { .. }), "{error}");
    assert!(error.to_string().ends_with("local alignments are computed on the CPU"), "{error}");
    let (results, summary) = run_on(&job, Box::new(support::gpu_default())).unwrap();
    assert_eq!(results, run(&job).0);
    assert_eq!(summary.engines.iter().map(|engine| engine.cells).sum::<u64>(), summary.cells);
}

#[test]
fn an_identity_to_reach_loses_no_pair() {
    for scoring in [&DNA[0], &DNA[4], &PROTEIN[0]] {
        let store = sequences(4, scoring);
        for definition in [0, 1, 2, 4].map(|number| IdentityDefinition::from_number(number).unwrap()) {
            let all = AllPairs { definition, ..job(&store, scoring) };
            let (every, _) = run(&all);
            for least in [0.001, 0.6, 0.9, 1.0] {
                let (kept, summary) = run(&AllPairs { min_identity: Some(least), ..all.clone() });
                let expected: Vec<&PairResult> = every.iter().filter(|result| result.identity >= least).collect();
                assert_eq!(kept.iter().collect::<Vec<_>>(), expected, "{definition:?} {least}");
                assert_eq!(summary.aligned, every.iter().filter(|result| result.score > 0).count() as u64);
                assert!(!kept.is_empty() && kept.len() < every.len(), "{definition:?} {least} tells nothing");
            }
        }
        let filter = IdentityFilter::new(IdentityDefinition::default(), 1.0, scoring);
        assert!(filter.may_reach(1, None, 1_000, 1_000) && !filter.may_reach(0, None, 1_000, 1_000));
        assert!(IdentityFilter::new(IdentityDefinition::default(), 0.0, scoring).may_reach(0, None, 3, 3));
    }
}

/// In every mode, with alignments and without.
#[test]
fn a_score_to_reach_is_tested_before_anything_is_aligned() {
    let global = Scoring::dna();
    let free = Scoring { end_gaps: EndGaps::Free, ..Scoring::dna() };
    for scoring in [&DNA[0], &global, &free] {
        let all = job(&sequences(5, scoring), scoring);
        let (every, _) = run(&all);
        let mut selects = false;
        for least in [-300, 1, 25, 60] {
            let expected: Vec<&PairResult> = every.iter().filter(|result| result.score >= least).collect();
            let (kept, summary) = run(&AllPairs { min_score: Some(least), ..all.clone() });
            assert_eq!(kept.iter().collect::<Vec<_>>(), expected);
            assert_eq!((summary.pairs, summary.aligned), (every.len() as u64, expected.len() as u64));
            selects |= !expected.is_empty() && expected.len() < every.len();
            let (scored, _) = run(&AllPairs { min_score: Some(least), score_only: true, check: false, ..all.clone() });
            let scores = |results: &[PairResult]| -> Vec<(u32, u32, i64)> {
                results.iter().map(|result| (result.query, result.target, result.score)).collect()
            };
            assert_eq!(scores(&scored), scores(&kept));
        }
        assert!(selects, "no least score tells pairs apart");
    }
}

#[test]
fn the_best_hits_are_those_of_greatest_score() {
    let all = job(&sequences(6, &DNA[0]), &DNA[0]);
    let (every, _) = run(&all);
    let (kept, _) = run(&AllPairs { max_hits: Some(2), ..all });
    let mut expected = Vec::new();
    let mut differs = false;
    for hits in every.chunk_by(|a, b| a.query == b.query) {
        let mut best: Vec<&PairResult> = hits.iter().collect();
        best.sort_by(|a, b| b.identity.total_cmp(&a.identity));
        let by_identity = best.first().map(|hit| hit.score);
        best.sort_by(|a, b| {
            b.score.cmp(&a.score).then(b.identity.total_cmp(&a.identity)).then(a.target.cmp(&b.target))
        });
        differs |= by_identity != best.first().map(|hit| hit.score);
        best.truncate(2);
        best.sort_by_key(|hit| hit.target);
        expected.extend(best.into_iter().cloned());
    }
    assert_eq!(kept, expected);
    assert!(differs, "no query has a hit of greater identity and less score than another");
}

#[test]
fn the_cpu_engine_gives_scores_without_matches() {
    for scoring in [&DNA[0], &DNA[3], &DNA[11], &PROTEIN[0]] {
        let store = sequences(7, scoring);
        for want in [Want::Scores, Want::Alignments] {
            let batches = support::batches(&support::job(&store, scoring.clone(), want), u64::MAX);
            let hits = support::compute(&mut support::cpu(), &batches);
            assert_eq!(hits.len(), store.len() * (store.len() - 1) / 2);
            for hit in hits {
                let score = smith_waterman::score_only(store.codes(hit.query), store.codes(hit.target), scoring);
                assert_eq!((hit.score, hit.matches), (score, None), "{hit:?}");
            }
        }
    }
}

#[test]
fn a_definition_of_identity_for_whole_sequences_is_refused() {
    let wrong = AllPairs { definition: IdentityDefinition::Mbl, ..job(&sequences(8, &DNA[0]), &DNA[0]) };
    let error = run_on(&wrong, Box::new(support::cpu())).unwrap_err();
    assert!(matches!(error, Error::Usage(_)) && error.to_string().contains("definition 3"), "{error}");
}

/// The CPU engine with one score in each batch changed.
struct Liar {
    engine: pairwave::engine::cpu::CpuEngine,
    by: i64,
}

impl Engine for Liar {
    fn name(&self) -> &str {
        "liar"
    }
    fn capacity(&self) -> Capacity {
        self.engine.capacity()
    }
    fn submit(&mut self, batch: Arc<Batch>) -> pairwave::Result<Ticket> {
        self.engine.submit(batch)
    }
    fn collect(&mut self, ticket: Ticket) -> pairwave::Result<Report> {
        let mut report = self.engine.collect(ticket)?;
        if let Some(hit) = report.hits.iter_mut().max_by_key(|hit| hit.score) {
            hit.score += self.by;
        }
        Ok(report)
    }
}

#[test]
fn wrong_scores_of_an_engine_are_found_out() {
    let honest = job(&support::store(Alphabet::Dna, &[vec![1, 2, 4, 8, 1], vec![1, 2, 4, 8, 1]]), &DNA[0]);
    let lie = |by: i64, check: bool| {
        let job = AllPairs { check, ..honest.clone() };
        run_on(&job, Box::new(Liar { engine: support::cpu(), by })).map(|(results, _)| results)
    };
    assert_eq!(lie(0, true).unwrap(), run(&honest).0);
    for (by, check) in [(1, false), (1, true), (-1, false), (-1, true), (-5, true), (-25, true)] {
        let error = lie(by, check).unwrap_err();
        assert!(matches!(error, Error::Internal(_)), "{by} {check}: {error}");
    }
    // The score of an earlier row: who is told it looks no further, so that only a check finds it out.
    assert_eq!(lie(-5, false).unwrap()[0].score, 20);
}
