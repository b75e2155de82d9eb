//! Whole jobs and engines against the oracle.

use std::sync::Arc;

use pairwave::engine::{Capacity, Engine, Ticket};
use pairwave::pairs::Pairs;
use pairwave::pairs::oracle::smith_waterman::{self, ReferenceLocalAlignment};
use pairwave::pairs::{PairsBatch, PairsReport, ResultFilter};
use pairwave::score::{CoverageFilter, EndGaps, IdentityDefinition, IdentityFilter, Scoring};
use pairwave::seq::{Alphabet, SequenceStore};
use pairwave::{AllPairs, Error, PairResult, Summary};

use super::*;

/// Creates sequences of many lengths, some of them related, and one without any match.
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

fn run_on(job: &AllPairs, engine: Box<dyn Engine<Pairs>>) -> pairwave::Result<(Vec<PairResult>, Summary)> {
    let (results, summary) = support::run_on(job, vec![engine], &support::two_threads())?;
    assert_eq!(summary.written, results.len() as u64);
    Ok((results, summary))
}

fn run(job: &AllPairs) -> (Vec<PairResult>, Summary) {
    run_on(job, Box::new(support::cpu())).unwrap()
}

/// Returns the oracle's alignment of every pair of a job of one store, in input order.
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
        // With checks, the job aligns without the engine's score. Without checks, it uses the
        // score as a hint. The alignments are equal.
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

/// The GPU computes the scores and the job the alignments, with and without an identity threshold.
#[test]
fn a_gpu_gives_what_the_cpu_gives() {
    for scoring in [&DNA[0], &PROTEIN[0]] {
        let all = job(&sequences(3, scoring), scoring);
        for min_identity in [None, Some(0.7)] {
            let job = AllPairs { min_identity, ..all.clone() };
            let (results, summary) = run_on(&job, Box::new(support::gpu_checked())).unwrap();
            assert_eq!(results, run(&job).0);
            let cells = summary.engines.iter().map(|engine| engine.cells).sum::<u64>();
            assert!(cells == summary.cells && summary.engines[0].cells == cells, "{:?}", summary.engines);
        }
    }
}

/// A minimum identity and a minimum coverage imply a score. Engines omit pairs below it.
#[test]
fn an_identity_and_a_coverage_lose_no_pair() {
    let coverages = |c: f64| {
        let none = CoverageFilter::default();
        [
            CoverageFilter { both: Some(c), ..none },
            CoverageFilter { query: Some(c), ..none },
            CoverageFilter { target: Some(c), ..none },
            CoverageFilter { shorter: Some(c), ..none },
        ]
    };
    for (seed, scoring) in [(5, &DNA[0]), (6, &PROTEIN[0]), (7, &PROTEIN[1])] {
        let mut rng = support::rng(seed);
        let alphabet = scoring.alphabet;
        let ancestors: Vec<_> = [30, 70, 120].map(|length| support::random_codes(&mut rng, alphabet, length)).into();
        let family = |rng: &mut support::Rng, ancestor: &Vec<_>| -> Vec<Vec<_>> {
            (0..6).map(|rate| support::mutated(rng, alphabet, ancestor, rate * 4)).collect()
        };
        let relatives: Vec<Vec<_>> = ancestors.iter().flat_map(|ancestor| family(&mut rng, ancestor)).collect();
        let others: Vec<Vec<_>> = ancestors.iter().flat_map(|ancestor| family(&mut rng, ancestor)).collect();
        let (relatives, others) = (support::store(alphabet, &relatives), support::store(alphabet, &others));
        for against in [None, Some(others)] {
            let all = AllPairs { against, ..job(&relatives, scoring) };
            let (every, _) = run(&all);
            for (identity, covered) in [(0.5, 0.8), (0.72, 0.9), (0.85, 0.5), (0.9, 0.8), (1.0, 0.1)] {
                for coverage in coverages(covered) {
                    let strict = AllPairs { min_identity: Some(identity), coverage, ..all.clone() };
                    let expected: Vec<&PairResult> = every
                        .iter()
                        .filter(|row| {
                            let lengths = [strict.queries.length(row.query), strict.targets().length(row.target)];
                            row.identity >= identity && coverage.passes(&row.counts, lengths[0], lengths[1])
                        })
                        .collect();
                    let (kept, summary) = run(&strict);
                    assert_eq!(kept.iter().collect::<Vec<_>>(), expected, "{identity} {coverage:?}");
                    let unfiltered = every.iter().filter(|row| row.score > 0).count() as u64;
                    assert!(identity != 0.9 || coverage.both.is_none() || summary.aligned < unfiltered);
                }
            }
        }
    }
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

/// All modes, with alignments and without.
#[test]
fn a_score_to_reach_is_tested_before_anything_is_aligned() {
    let global = Scoring::truong();
    let free = Scoring { end_gaps: EndGaps::Free, ..Scoring::truong() };
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
        for filter in [ResultFilter::Scores, ResultFilter::Alignments] {
            let batches = support::batches(&support::job(&store, scoring.clone(), filter), u64::MAX);
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

/// The CPU engine with one wrong score in each batch.
struct Liar {
    engine: pairwave::pairs::cpu::CpuWorker,
    by: i64,
}

impl Engine<Pairs> for Liar {
    fn name(&self) -> &str {
        "liar"
    }
    fn capacity(&self) -> Capacity {
        self.engine.capacity()
    }
    fn submit(&mut self, batch: Arc<PairsBatch>) -> pairwave::Result<Ticket> {
        self.engine.submit(batch)
    }
    fn collect(&mut self, ticket: Ticket) -> pairwave::Result<PairsReport> {
        let mut report = self.engine.collect(ticket)?;
        if let Some(hit) = report.hits.iter_mut().max_by_key(|hit| hit.score) {
            hit.score += self.by;
        }
        Ok(report)
    }
}

#[test]
fn wrong_scores_of_an_engine_are_detected() {
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
    // A cell in an earlier row has this lower score. A traceback with it as a hint stops there, so
    // that only a check detects the error.
    assert_eq!(lie(-5, false).unwrap()[0].score, 20);
}
