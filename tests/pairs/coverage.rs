//! Minimum coverages and best hits: jobs with them against selected rows of jobs without them.

use std::cmp::Reverse;
use std::sync::Arc;

use pairwave::engine::Engine;
use pairwave::jobs::EditFilter;
use pairwave::pairs::Pairs;
use pairwave::pairs::cpu::CpuWorker;
use pairwave::score::{CoverageFilter, EndGaps, IdentityDefinition, Mode, Scoring};
use pairwave::seq::{Alphabet, Code, SequenceId, SequenceStore, Strand, Strands, reverse_complement};
use pairwave::{AllPairs, Job, PairList, PairResult, PairRow, PairSource};
use support::{Rng, rng, two_threads};

use super::strands::small_engines;

/// Creates sequences of many lengths. Many are parts of relatives of an earlier one on either
/// strand, and some are empty.
fn sequences(rng: &mut Rng, count: usize) -> Arc<SequenceStore> {
    let mut all: Vec<Vec<Code>> = Vec::new();
    for _ in 0..count {
        let length = rng.below(80usize);
        let relative = (rng.below(4u32) > 0 && !all.is_empty()).then(|| rng.below(all.len()));
        let codes = match relative {
            Some(of) => {
                let codes = support::mutated(rng, Alphabet::Dna, &all[of], 5);
                let part = codes[rng.below(codes.len() / 2 + 1)..].to_vec();
                if rng.below(2u32) == 0 { reverse_complement(&part) } else { part }
            }
            None => support::random_codes(rng, Alphabet::Dna, length),
        };
        all.push(codes);
    }
    support::store(Alphabet::Dna, &all)
}

/// Returns default, global, semi-global and local scores.
fn scorings() -> [Scoring; 4] {
    [
        Scoring::dna(),
        Scoring::truong(),
        Scoring { end_gaps: EndGaps::Free, ..Scoring::truong() },
        Scoring { mode: Mode::Local, ..Scoring::truong() },
    ]
}

/// Returns minimum coverages, most of them with few digits.
fn coverages(rng: &mut Rng) -> CoverageFilter {
    let mut minimum = || rng.pick(&[None, None, Some(0.3), Some(0.8), Some(0.875), Some(1.0)]);
    CoverageFilter { query: minimum(), target: minimum(), both: minimum(), shorter: minimum() }
}

/// Returns whether a result reaches the coverages, computed in whole numbers from thousandths.
fn is_covered(filter: &CoverageFilter, result: &PairResult, [m, n]: [u32; 2]) -> bool {
    let covered = result.counts.matches + result.counts.mismatches;
    let reaches = |minimum: Option<f64>, length: u32| {
        let thousandths = (1000.0 * minimum.unwrap_or_default()).round() as u64;
        1000 * covered >= thousandths * u64::from(length.max(1))
    };
    let both = [reaches(filter.query, m), reaches(filter.target, n), reaches(filter.both, m), reaches(filter.both, n)];
    both.iter().all(|reached| *reached) && reaches(filter.shorter, m.min(n))
}

fn cpu() -> Vec<Box<dyn Engine<Pairs>>> {
    vec![Box::new(support::cpu())]
}

/// Returns the compared strands, one by one.
fn each_strand(strand: Strands) -> Vec<Strands> {
    match strand {
        Strands::Both => vec![Strands::Plus, Strands::Minus],
        one => vec![one],
    }
}

/// Returns the rows of a job by its definition: every strand of every pair is filtered, the better
/// strand of each pair is taken, and the hits of each query are selected.
fn expected_pairs(job: &AllPairs) -> Vec<PairResult> {
    let lengths = |row: &PairResult| [job.queries.length(row.query), job.targets().length(row.target)];
    let mut all: Vec<PairResult> = Vec::new();
    for strand in each_strand(job.strand) {
        let coverage = CoverageFilter::default();
        let plain = AllPairs { strand, coverage, top_hits_only: false, max_hits: None, ..job.clone() };
        let (rows, _) = support::run_on(&plain, cpu(), &two_threads()).expect("the job ends well");
        all.extend(rows.into_iter().filter(|row| is_covered(&job.coverage, row, lengths(row))));
    }
    all.sort_by_key(|row| (row.query, row.target, Reverse(row.score), row.strand));
    all.dedup_by_key(|row| (row.query, row.target));
    let is_local = job.scoring.mode == Mode::Local;
    let mut selected = Vec::new();
    for of_query in all.chunk_by(|a, b| a.query == b.query) {
        let mut hits = of_query.to_vec();
        hits.sort_by(|a, b| {
            let (by_identity, by_score) = (b.identity.total_cmp(&a.identity), b.score.cmp(&a.score));
            if is_local { by_score.then(by_identity) } else { by_identity.then(by_score) }
        });
        if job.top_hits_only {
            let best = hits[0].clone();
            hits.retain(|hit| if is_local { hit.score == best.score } else { hit.identity == best.identity });
        }
        hits.truncate(job.max_hits.unwrap_or(usize::MAX));
        hits.sort_by_key(|hit| hit.target);
        selected.extend(hits);
    }
    selected
}

/// Returns the number of strands of pairs whose lengths allow the coverages.
fn possible(job: &AllPairs) -> u64 {
    let (queries, targets) = (&job.queries, job.targets());
    let copies = each_strand(job.strand).len() as u64;
    let mut pairs = 0;
    for query in 0..queries.len() as SequenceId {
        let first = if job.against.is_none() { query + 1 } else { 0 };
        let allowed = |&target: &SequenceId| job.coverage.may_pass(queries.length(query), targets.length(target));
        pairs += (first..targets.len() as SequenceId).filter(allowed).count() as u64;
    }
    copies * pairs
}

/// All modes, one strand and both, one set and two, with and without other filters.
#[test]
fn jobs_return_the_pairs_with_sufficient_coverage_and_the_best_hits() {
    let (mut kept, mut minus, mut top, mut spared) = (0, 0, 0, 0);
    for seed in 0..40 {
        let rng = &mut rng(0xc0fe + seed);
        let scoring = scorings()[seed as usize % 4].clone();
        let is_local = scoring.mode == Mode::Local;
        let count = rng.pick(&[5, 14, 30]);
        let queries = sequences(rng, count);
        let against = (rng.below(2u32) == 0).then(|| sequences(rng, 11));
        let min_identity = rng.pick(&[None, None, Some(0.6)]);
        let job = AllPairs {
            against,
            strand: rng.pick(&[Strands::Plus, Strands::Both, Strands::Both, Strands::Minus]),
            definition: rng.pick(&[IdentityDefinition::InnerColumns, IdentityDefinition::Columns]),
            coverage: coverages(rng),
            min_identity,
            top_hits_only: rng.below(2u32) == 0,
            max_hits: rng.pick(&[None, Some(1), Some(3)]),
            check: true,
            edit_filter: EditFilter::Off,
            ..AllPairs::new(queries, Arc::new(scoring))
        };
        let expected = expected_pairs(&job);
        kept += expected.len();
        minus += expected.iter().filter(|row| row.strand == Strand::Minus).count();
        top += usize::from(job.top_hits_only && !expected.is_empty());
        let tracing: Vec<Box<dyn Engine<Pairs>>> = vec![Box::<CpuWorker>::default(), Box::new(support::cpu())];
        let mut engines = vec![("CPU", cpu()), ("two threads", tracing)];
        if !is_local {
            // Mock engines do not align locally.
            engines.push(("mocks", small_engines(seed as usize)));
        }
        if seed < 8 {
            engines.push(("GPU", vec![Box::new(support::gpu_checked())]));
        }
        for (name, engines) in engines {
            let (rows, summary) = support::run_on(&job, engines, &two_threads()).expect("the job ends well");
            assert_eq!(rows, expected, "seed {seed}, {name}, {:?}", AllPairs { against: None, ..job.clone() });
            assert_eq!((summary.cells, summary.pairs), (job.cells(), job.job().pairs()), "seed {seed}, {name}");
            assert_eq!(summary.written, expected.len() as u64);
            if min_identity.is_none() {
                assert_eq!(summary.aligned, possible(&job), "seed {seed}, {name}");
                spared += summary.pairs - summary.aligned;
            }
        }
    }
    assert!(kept > 100 && minus > 10 && top > 5, "{kept} rows, {minus} on the other strand, {top} jobs of best hits");
    assert!(spared > 1000, "{spared} pairs stay unaligned");
}

#[test]
fn a_listed_pair_has_a_row_if_its_coverage_suffices() {
    let (mut kept, mut dropped) = (0, 0);
    for seed in 0..16 {
        let rng = &mut rng(0xc0ff + seed);
        let [queries, targets] = [sequences(rng, 12), sequences(rng, 9)];
        let pairs = (0..60).map(|_| (rng.below(12u32), rng.below(9u32))).collect();
        let scoring = Arc::new(scorings()[seed as usize % 4].clone());
        let strand = rng.pick(&[Strands::Plus, Strands::Both, Strands::Both]);
        let source = PairSource::Listed { queries: Arc::clone(&queries), targets: Arc::clone(&targets), pairs };
        let all = PairList { check: true, chunk_pairs: 7, ..PairList::new(source, scoring) };
        let coverage = coverages(rng);
        let lengths = |row: &PairRow| [queries.length(row.result.query), targets.length(row.result.target)];
        let run = |job: &PairList| support::run_on(job, cpu(), &two_threads()).expect("the job ends well").0;
        let mut expected: Vec<PairRow> = Vec::new();
        for strand in each_strand(strand) {
            let rows = run(&PairList { strand, ..all.clone() });
            assert_eq!(rows.len(), 60);
            expected.extend(rows.into_iter().filter(|row| is_covered(&coverage, &row.result, lengths(row))));
        }
        expected.sort_by_key(|row| (row.number, Reverse(row.result.score), row.result.strand));
        expected.dedup_by_key(|row| row.number);
        let found = run(&PairList { strand, coverage, ..all });
        assert_eq!(found, expected, "seed {seed}, {strand:?}, {coverage:?}");
        (kept, dropped) = (kept + found.len(), dropped + 60 - found.len());
    }
    assert!(kept > 50 && dropped > 100, "{kept} rows, {dropped} pairs without a row");
}

#[test]
fn best_scores_are_selected_without_alignments() {
    let rng = &mut rng(0xc100);
    let queries = sequences(rng, 30);
    let all = AllPairs { score_only: true, ..AllPairs::new(queries, Arc::new(Scoring::truong())) };
    let run = |job: &AllPairs| support::run_on(job, cpu(), &two_threads()).expect("the job ends well").0;
    let mut expected = run(&all);
    let best = |query: SequenceId, rows: &[PairResult]| {
        rows.iter().filter(|row| row.query == query).map(|row| row.score).max()
    };
    let rows = expected.clone();
    expected.retain(|row| Some(row.score) == best(row.query, &rows));
    assert_eq!(run(&AllPairs { top_hits_only: true, ..all }), expected);
    assert!(expected.len() >= 29 && expected.len() < rows.len());
}

#[test]
fn invalid_coverages_are_refused() {
    let queries = sequences(&mut rng(1), 3);
    let [none, half] = [None, Some(0.5)].map(|query| CoverageFilter { query, ..CoverageFilter::default() });
    let job = AllPairs::new(queries, Arc::new(Scoring::dna()));
    for (coverage, score_only, expected) in [
        (CoverageFilter { query: Some(80.0), ..none }, false, "coverage.query 80: coverages are fractions from 0 to 1"),
        (CoverageFilter { target: Some(-0.1), ..half }, false, "coverage.target -0.1: "),
        (CoverageFilter { both: Some(f64::NAN), ..half }, false, "coverage.both NaN: "),
        (half, true, "score_only: scores alone have no coverage: omit either this or `coverage.query`, "),
    ] {
        let job = AllPairs { coverage, score_only, ..job.clone() };
        let message = job.validate().expect_err("refused").to_string();
        assert!(message.starts_with(expected), "{message}");
        let pairs = vec![(0, 1)].into();
        let source = PairSource::Listed { queries: Arc::clone(&job.queries), targets: job.queries, pairs };
        let list = PairList { coverage, score_only, ..PairList::new(source, job.scoring) };
        assert_eq!(list.validate().expect_err("refused").to_string(), message);
    }
    for coverage in [none, half] {
        AllPairs { coverage, ..job.clone() }.validate().expect("it is valid");
    }
    AllPairs { score_only: true, ..job }.validate().expect("it is valid");
}
