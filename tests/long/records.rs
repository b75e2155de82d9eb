//! Many records: the rows equal the rows of each pair alone, on all engines.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pairwave::jobs::long::{LongEngines, LongRecordHit, LongRecordPairs, LongWant, Strands, TopPer};
use pairwave::jobs::{LongAlignment, Summary};
use pairwave::long::LongEngine;
use pairwave::long::cpu::CpuLong;
use pairwave::long::gpu::GpuLong;
use pairwave::long::mock::Textbook;
use pairwave::score::{Ambiguity, DatabaseSize, EndGaps, Gaps, MaxEvalue, Mode, Scoring, Statistics};
use pairwave::seq::{Alphabet, Code, SequenceStore, reverse_complement};
use pairwave::{Error, Job, LongDetails, Run};

use support::{rng, run_long, run_on, two_threads};

fn cpu(threads: usize) -> LongEngines {
    vec![Box::new(CpuLong::new(threads)) as Box<dyn LongEngine>].into()
}

fn gpu() -> LongEngines {
    let engine = GpuLong::open(&support::adapter()).expect("the adapter opens");
    vec![Box::new(engine) as Box<dyn LongEngine>].into()
}

/// Adds threads of the CPU that compute small pairs at the same time as devices.
fn with_threads(devices: LongEngines, threads: usize) -> LongEngines {
    LongEngines { host: Some(Box::new(CpuLong::new(threads))), ..devices }
}

/// Returns a GPU and the CPU, which compute large pairs together.
fn both() -> LongEngines {
    let engines = [gpu(), cpu(2)].into_iter().flat_map(|engines| engines.engines);
    engines.collect::<Vec<_>>().into()
}

fn textbooks() -> LongEngines {
    let engine = |label: &str, speed| {
        let label = label.into();
        Box::new(Textbook { label, speed, panel_columns: 40, trace_cells: 1 << 14, keeps_columns: false })
            as Box<dyn LongEngine>
    };
    vec![engine("quick", 2e8), engine("slow", 1e8)].into()
}

fn scoring(mode: Mode, end_gaps: EndGaps) -> Arc<Scoring> {
    let scoring = Scoring::nucleotide(2, -3, Ambiguity::Overlap, Gaps::from_blast(5, 2), end_gaps);
    Arc::new(Scoring { mode, ..scoring.expect("a valid scheme") })
}

/// Returns queries and targets with common parts on both strands, sequences that have nothing in
/// common, and an empty one.
fn stores() -> [Arc<SequenceStore>; 2] {
    let random = &mut rng(5);
    let genome = support::random_codes(random, Alphabet::Dna, 700);
    let relative = |random: &mut _, part: &[Code]| support::mutated(random, Alphabet::Dna, part, 15);
    let middle = relative(random, &genome[200..450]);
    let turned = reverse_complement(&relative(random, &genome[400..600]));
    let other = support::random_codes(random, Alphabet::Dna, 90);
    let queries = [relative(random, &genome[20..300]), other.clone(), middle.clone(), Vec::new(), turned.clone()];
    let targets = [[&turned[..150], &other[..], &middle[..200]].concat(), genome, other[10..60].to_vec()];
    [&queries[..], &targets[..]].map(|sequences| support::store(Alphabet::Dna, sequences))
}

/// Returns the job for all records except the second query.
fn job(settings: impl FnOnce(LongAlignment) -> LongAlignment, scoring: Arc<Scoring>) -> LongRecordPairs {
    let [queries, targets] = stores();
    let all = LongAlignment { strand: Strands::Both, ..LongAlignment::new(queries, 0, targets, 0, scoring) };
    LongRecordPairs {
        settings: settings(all),
        queries: vec![0, 2, 3, 4],
        targets: vec![0, 1, 2],
        top_per: TopPer::Pair,
        max_evalue: None,
    }
}

/// Returns the alignments of each pair, computed alone.
fn of_each_pair(job: &LongRecordPairs, top: u32) -> Vec<LongRecordHit> {
    let mut rows = Vec::new();
    for &query in &job.queries {
        for &target in &job.targets {
            let pair = LongAlignment { query_id: query, target_id: target, top, ..job.settings.clone() };
            let hits = run_long(&pair, cpu(1), &two_threads()).expect("the pair is aligned").hits;
            rows.extend(hits.into_iter().map(|hit| LongRecordHit { query, target, hit }));
        }
    }
    rows
}

fn computed(job: &LongRecordPairs, engines: LongEngines) -> (Vec<LongRecordHit>, Summary<LongDetails>) {
    run_on(job, engines, &two_threads()).expect("the job ends")
}

/// The E-values of search with the selected targets as the database decide.
#[test]
fn maximum_evalues_select_what_search_would() {
    let scoring = scoring(Mode::Local, EndGaps::Charged);
    let job = job(|all| LongAlignment { top: 4, ..all }, Arc::clone(&scoring));
    let all = computed(&job, cpu(2)).0;
    let lengths = job.targets.iter().map(|&id| u64::from(job.settings.target.length(id)));
    let size = DatabaseSize { sequences: 3, symbols: lengths.sum() };
    let statistics = Statistics::for_scheme(&scoring).expect("these are scores of BLAST");
    let evalue = |row: &LongRecordHit| {
        let (m, n) = (job.settings.query.length(row.query), job.settings.target.length(row.target));
        statistics.evalue(row.hit.score, m, n, &size)
    };
    let mut counts = BTreeSet::new();
    for limit in [1000.0, 1.0, 1e-3, 1e-20, 0.0] {
        let expected: Vec<LongRecordHit> = all.iter().filter(|row| evalue(row) <= limit).cloned().collect();
        counts.insert(expected.len());
        let max_evalue = Some(MaxEvalue::new(limit, &scoring, size).unwrap());
        // A device computes two of the limits: no row exceeds the first, and some rows exceed the second.
        let on_device = [1000.0, 1e-3].contains(&limit).then(|| with_threads(gpu(), 2));
        for engines in [cpu(1), textbooks()].into_iter().chain(on_device) {
            let limited = LongRecordPairs { max_evalue, ..job.clone() };
            assert_eq!(computed(&limited, engines).0, expected, "at most {limit}");
        }
        // The higher of both thresholds applies.
        let settings = LongAlignment { min_score: 60, ..job.settings.clone() };
        let rows = computed(&LongRecordPairs { settings, max_evalue, ..job.clone() }, cpu(1)).0;
        let expected: Vec<LongRecordHit> = expected.into_iter().filter(|row| row.hit.score >= 60).collect();
        assert_eq!(rows, expected, "at most {limit}, and at least 60");
    }
    assert!(counts.len() >= 4, "{counts:?}");
}

#[test]
fn results_are_those_of_each_pair_alone() {
    let cases = [
        (Mode::Local, EndGaps::Charged, LongWant::Alignment, 3),
        (Mode::Local, EndGaps::Charged, LongWant::Score, 1),
        (Mode::Global, EndGaps::Charged, LongWant::Alignment, 1),
        (Mode::Global, EndGaps::Free, LongWant::Alignment, 1),
    ];
    for (mode, end_gaps, want, top) in cases {
        let job = job(|all| LongAlignment { want, top, min_score: 12, ..all }, scoring(mode, end_gaps));
        let expected = of_each_pair(&job, top);
        assert!(expected.len() > 6, "{} rows", expected.len());
        // A CPU with several threads computes small pairs at the same time, if there are enough.
        let alone = [cpu(1), cpu(3), cpu(50), gpu(), textbooks()];
        for engines in
            alone.into_iter().chain([with_threads(gpu(), 2), with_threads(textbooks(), 3), with_threads(both(), 2)])
        {
            let (rows, summary) = computed(&job, engines);
            assert_eq!(rows, expected, "{mode:?} {end_gaps:?} {want:?}");
            assert_eq!((summary.pairs, summary.written), (24, expected.len() as u64));
            assert!(summary.cells >= job.cells(), "further alignments take further sweeps");
            let by_engines: u64 = summary.engines.iter().map(|engine| engine.cells).sum();
            let engines = &summary.engines;
            // An engine that cannot trace a whole matrix sweeps parts of it again.
            assert!(by_engines >= summary.cells - summary.details.pruned_cells, "{engines:?} {summary:?}");
        }
    }
}

#[test]
fn the_best_alignments_of_queries_and_of_the_job_are_selected() {
    for (mode, top) in [(Mode::Local, 1), (Mode::Local, 4), (Mode::Global, 1), (Mode::Global, 2)] {
        let of_pairs = job(|all| LongAlignment { top, ..all }, scoring(mode, EndGaps::Charged));
        let of_pair = if mode == Mode::Local { top } else { 1 };
        let all = of_each_pair(&of_pairs, of_pair);
        for top_per in [TopPer::Query, TopPer::All] {
            let job = LongRecordPairs { top_per, ..of_pairs.clone() };
            // Selects by definition: rows that fewer than `top` other rows of the list precede.
            let precedes = |(i, a): (usize, &LongRecordHit), (j, b): (usize, &LongRecordHit)| {
                let is_one_list = top_per == TopPer::All || a.query == b.query;
                is_one_list && (a.hit.score > b.hit.score || a.hit.score == b.hit.score && i < j)
            };
            let is_selected = |index: usize| {
                all.iter().enumerate().filter(|&other| precedes(other, (index, &all[index]))).count() < top as usize
            };
            let expected: Vec<_> = (0..all.len()).filter(|&index| is_selected(index)).map(|i| all[i].clone()).collect();
            // A device with or without threads, by turns.
            let device = match top_per {
                TopPer::All => gpu(),
                _ => with_threads(gpu(), 2),
            };
            for engines in [cpu(1), cpu(3), device] {
                assert_eq!(computed(&job, engines).0, expected, "{mode:?} {top_per:?} --top {top}");
            }
        }
    }
}

#[test]
fn invalid_selections_are_refused() {
    let valid = job(|all| all, scoring(Mode::Local, EndGaps::Charged));
    let refused = |job: LongRecordPairs, part: &str| {
        let error = job.run(&Run::default(), |_| Ok(())).unwrap_err();
        assert!(matches!(error, Error::Usage(_)) && error.to_string().contains(part), "{error}");
    };
    refused(LongRecordPairs { queries: Vec::new(), ..valid.clone() }, "at least one record");
    refused(LongRecordPairs { targets: vec![1, 1], ..valid.clone() }, "each once");
    refused(LongRecordPairs { targets: vec![1, 3], ..valid.clone() }, "target_id 3");
    let global = job(|all| LongAlignment { top: 2, ..all }, scoring(Mode::Global, EndGaps::Charged));
    refused(global, "only local mode");
    let local = scoring(Mode::Local, EndGaps::Charged);
    let max_evalue = Some(MaxEvalue::new(1.0, &local, DatabaseSize { sequences: 1, symbols: 9 }).unwrap());
    let global = job(|all| all, scoring(Mode::Global, EndGaps::Charged));
    refused(LongRecordPairs { max_evalue, ..global }, "only local alignments");
}

/// Finished pairs are reused, and the others are computed.
#[test]
fn an_interrupted_job_is_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let with_top = |top, top_per| {
        let checkpoint = Some(folder.path().to_owned());
        let job = job(|all| LongAlignment { top, checkpoint, ..all }, scoring(Mode::Local, EndGaps::Charged));
        LongRecordPairs { top_per, ..job }
    };
    let job = with_top(2, TopPer::Query);
    let without = LongAlignment { checkpoint: None, ..job.settings.clone() };
    let expected = computed(&LongRecordPairs { settings: without, ..job.clone() }, cpu(1)).0;
    /// Interrupts the run after some pairs.
    struct Stop(Arc<std::sync::atomic::AtomicBool>, AtomicUsize);
    impl pairwave::Progress for Stop {
        fn advance(&self, pairs: u64, _cells: u64) {
            if pairs > 0 && self.1.fetch_add(1, Ordering::Relaxed) == 4 {
                self.0.store(true, Ordering::Relaxed);
            }
        }
    }
    let mut run = two_threads();
    run.progress = Arc::new(Stop(Arc::clone(&run.interrupt), AtomicUsize::new(0)));
    let error = run_on(&job, cpu(1), &run).unwrap_err();
    assert!(matches!(error, Error::Interrupted), "{error}");
    let other = run_on(&with_top(3, TopPer::Query), cpu(1), &two_threads()).unwrap_err();
    assert!(other.to_string().contains("it belongs to another job"), "{other}");
    let mut fewer = job.clone();
    fewer.targets.pop();
    let other = run_on(&fewer, cpu(1), &two_threads()).unwrap_err();
    assert!(other.to_string().contains("it belongs to another job"), "{other}");
    let (rows, summary) = computed(&job, cpu(3));
    assert_eq!(rows, expected);
    assert!(summary.details.resumed && summary.cells < job.cells(), "five pairs are not computed again");
    // Nothing is left to compute.
    let (rows, summary) = computed(&job, gpu());
    assert_eq!((rows, summary.cells), (expected, 0));
}

/// One record per side is the job of a pair, with the checkpoint of a pair.
#[test]
fn a_single_pair_has_the_checkpoint_of_a_pair() {
    let folder = tempfile::tempdir().unwrap();
    let [queries, targets] = stores();
    let pair = LongAlignment::new(queries, 2, targets, 1, scoring(Mode::Local, EndGaps::Charged));
    let pair = LongAlignment { checkpoint: Some(folder.path().into()), ..pair };
    let hits = run_long(&pair, cpu(1), &two_threads()).expect("the pair is aligned").hits;
    let job =
        LongRecordPairs { settings: pair, queries: vec![2], targets: vec![1], top_per: TopPer::Pair, max_evalue: None };
    let (rows, summary) = computed(&job, cpu(1));
    assert_eq!((rows.len(), &rows[0].hit, summary.cells), (1, &hits[0], 0));
}
