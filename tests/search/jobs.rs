//! Whole searches on every engine.

use std::sync::atomic::Ordering;
use std::time::Duration;

use pairwave::engine::{Capacity, Engine};
use pairwave::gpu::adapter::Device;
use pairwave::gpu::kernels::{self, Family};
use pairwave::jobs::EditFilter;
use pairwave::pairs::Pairs;
use pairwave::pairs::mock::{Act, MockEngine};
use pairwave::score::{CoverageFilter, IdentityDefinition};
use pairwave::seq::Strands;
use pairwave::{Error, Job, Run, SearchHit};

use super::textbook::{HitSummary, hits, summarise};
use super::*;

type Engines = Vec<Box<dyn Engine<Pairs>>>;
type MakeEngines = fn() -> Engines;

fn mock(script: impl IntoIterator<Item = Act>) -> Box<dyn Engine<Pairs>> {
    let capacity = Capacity { cells: 9_000, pairs: 7, store_bytes: u64::MAX, batches: 2 };
    Box::new(MockEngine::new("mock", capacity, script))
}

pub(crate) fn cpu() -> Box<dyn Engine<Pairs>> {
    Box::new(support::cpu())
}

pub(crate) fn run_on(search: &Search, engines: Engines) -> pairwave::Result<Vec<HitSummary>> {
    let (actual, summary) = support::run_on(search, engines, &support::two_threads())?;
    assert_eq!(summary.written, actual.len() as u64);
    let copies = if search.strand == Strands::Both { 2 } else { 1 };
    let pairs = search.queries.len() as u64 * search.subjects.size().sequences * copies;
    assert_eq!((summary.pairs, summary.cells), (pairs, search.cells()));
    assert!(search.score_only && summary.aligned == 0 || summary.aligned >= summary.written);
    Ok(actual.iter().map(summarise).collect())
}

pub(crate) fn run(search: &Search) -> Vec<HitSummary> {
    run_on(search, vec![cpu()]).expect("the search runs")
}

/// Returns searches of every kind with their subjects.
fn searches(seed: u64) -> Vec<(Search, SequenceStore)> {
    let mut all = Vec::new();
    for scoring in [protein(), dna(), scoring_without_statistics()] {
        let (search, subjects) = self::search(seed, &scoring);
        let mut add = |search: Search| all.push((search, subjects.clone()));
        for max_hits in [1, 3, 500] {
            add(Search { max_hits, ..search.clone() });
        }
        if search.max_evalue.is_some() {
            for evalue in [0.0, 1e-6, 1e-2, 1e9] {
                add(Search { max_evalue: Some(evalue), max_hits: 4, ..search.clone() });
            }
        }
        add(Search { min_score: Some(31), max_evalue: None, ..search.clone() });
        add(Search { score_only: true, check: false, ..search.clone() });
        for (identity, cover) in [(Some(0.9), None), (None, Some(0.75)), (Some(0.6), Some(0.5)), (Some(1.0), None)] {
            for max_hits in [1, 2, 500] {
                add(Search { min_identity: identity, min_query_cover: cover, max_hits, ..search.clone() });
            }
        }
        if scoring.alphabet == Alphabet::Dna {
            for strand in [Strands::Plus, Strands::Minus] {
                add(Search { strand, ..search.clone() });
            }
        }
    }
    for end_gaps in [EndGaps::Charged, EndGaps::Free] {
        let (search, subjects) = self::search(seed, &global(end_gaps));
        for (min_score, cover) in [(None, None), (Some(-20), None), (None, Some(0.5))] {
            all.push((Search { min_score, min_query_cover: cover, max_hits: 5, ..search.clone() }, subjects.clone()));
        }
    }
    for scoring in [protein(), dna(), global(EndGaps::Charged), global(EndGaps::Free)] {
        let (search, subjects) = self::search(seed, &scoring);
        let max_evalue = search.max_evalue.map(|_| 1e9);
        for (query, target, both) in
            [(None, None, None), (Some(0.8), None, None), (None, Some(0.9), None), (Some(0.5), None, Some(0.4))]
        {
            for (top_hits_only, max_hits) in [(false, 3), (true, 1), (true, 500)] {
                let coverage = CoverageFilter { query, target, both, shorter: None };
                let search = Search { coverage, top_hits_only, max_hits, max_evalue, ..search.clone() };
                all.push((search, subjects.clone()));
            }
        }
        let (score_only, check) = (true, false);
        all.push((Search { top_hits_only: true, score_only, check, max_evalue, ..search }, subjects));
    }
    all
}

#[test]
fn hits_match_the_textbook() {
    let (mut some, mut minus, mut ties) = (0, 0, 0);
    for seed in [0x5ea, 0x5eb] {
        for (search, subjects) in searches(seed) {
            let (actual, expected) = (run(&search), hits(&search, &subjects));
            assert_eq!(actual, expected, "seed {seed:#x}, {search:?}");
            some += usize::from(!actual.is_empty());
            minus += actual.iter().filter(|row| row.strand == pairwave::seq::Strand::Minus).count();
            ties +=
                actual.windows(2).filter(|two| two[0].query == two[1].query && two[0].score == two[1].score).count();
        }
    }
    assert!(
        some > 50 && minus > 50 && ties > 50,
        "{some} searches with hits, {minus} on the other strand, {ties} ties"
    );
}

#[test]
fn hits_do_not_depend_on_chunks_or_engines() {
    for (search, subjects) in searches(0x5ec).into_iter().step_by(2) {
        let expected = hits(&search, &subjects);
        for chunk_bytes in [1, 60, 1 << 20] {
            let search = Search { chunk_bytes: Some(chunk_bytes), ..search.clone() };
            let leaves = || mock([Act::LeaveEvery(2), Act::Refuse]);
            let engines: [(&str, MakeEngines); 3] = [
                ("one thread", || vec![cpu()]),
                ("a thread and a mock device", || vec![mock([]), cpu()]),
                ("a device that fails", || vec![mock([Act::Compute(Duration::ZERO), Act::FailCollect])]),
            ];
            for (name, engines) in engines {
                assert_eq!(run_on(&search, engines()).unwrap(), expected, "{name}, chunks of {chunk_bytes}");
            }
            assert_eq!(run_on(&search, vec![leaves(), cpu()]).unwrap(), expected, "chunks of {chunk_bytes}");
        }
    }
}

/// Runs a search that opens its devices. Returns the hits, and whether edit distances were computed.
fn run_with_devices(search: &Search, device: Device) -> (Vec<HitSummary>, bool) {
    let mut found = Vec::new();
    let run = Run { devices: vec![device], ..support::two_threads() };
    let summary = search.run(&run, |some: &[SearchHit]| {
        found.extend(some.iter().map(summarise));
        Ok(())
    });
    let summary = summary.expect("the search runs");
    let copies = if search.strand == Strands::Both { 2 } else { 1 };
    let pairs = search.queries.len() as u64 * search.subjects.size().sequences * copies;
    assert_eq!((summary.pairs, summary.written), (pairs, found.len() as u64));
    (found, summary.engines.iter().any(|engine| engine.name.ends_with("(edit distances)")))
}

/// For global alignments, scores and edit distances exclude pairs below a minimum identity.
#[test]
fn filters_of_global_searches_do_not_change_hits() {
    let vsearch =
        NamedScheme::find("vsearch").expect("a scheme").scoring(Alphabet::Dna).expect("it is for nucleotides");
    let schemes = [global(EndGaps::Charged), global(EndGaps::Free), Scoring::dna(), vsearch];
    let (mut some, mut filtered) = (0, 0);
    for (seed, scoring) in (0xf117..).zip(schemes) {
        let (search, subjects) = self::search(seed, &scoring);
        for definition in IdentityDefinition::ALL {
            for (identity, max_hits, min_score) in [(0.6, 500, None), (0.9, 1, None), (0.75, 3, Some(0))] {
                let min_identity = Some(identity);
                let search =
                    Search { definition, min_identity, max_hits, min_score, chunk_bytes: Some(90), ..search.clone() };
                let expected = hits(&search, &subjects);
                let case = format!("seed {seed:#x}, {definition:?}, {identity}");
                some += usize::from(!expected.is_empty());
                assert_eq!(run(&search), expected, "{case}");
                let may_filter = pairwave::score::edit_filter::edit_limit(definition, identity, &scoring).is_ok();
                for (edit_filter, is_on) in [(EditFilter::Off, false), (EditFilter::On, may_filter)] {
                    let search = Search { edit_filter, ..search.clone() };
                    assert_eq!(run_with_devices(&search, Device::Cpu), (expected.clone(), is_on), "{case}");
                }
                if may_filter && max_hits == 3 {
                    let search = Search { edit_filter: EditFilter::On, ..search };
                    let gpu = Device::Adapter(Box::new(support::adapter()));
                    assert_eq!(run_with_devices(&search, gpu), (expected, true), "{case} on the GPU");
                    filtered += 1;
                }
            }
        }
    }
    assert!(some > 40 && filtered > 10, "{some} searches with hits, {filtered} with edit distances on a GPU");
}

#[test]
fn devices_compute_global_searches() {
    for end_gaps in [EndGaps::Charged, EndGaps::Free] {
        let (search, subjects) = self::search(0x6b, &global(end_gaps));
        let search = Search { max_hits: 3, chunk_bytes: Some(400), ..search };
        let actual = run_on(&search, vec![Box::new(support::gpu_checked())]).unwrap();
        assert_eq!(actual, hits(&search, &subjects));
    }
}

/// Tests every kernel for local scores, on a device alone and on a device with a CPU thread.
#[test]
fn devices_compute_local_searches() {
    for (seed, scoring) in [(0x10ca, protein()), (0x10cb, dna())] {
        println!("seed {seed:#x}");
        let (search, subjects) = self::search(seed, &scoring);
        for (max_hits, max_evalue, chunk_bytes) in [(1, None, 1 << 20), (3, search.max_evalue, 300), (500, None, 900)] {
            let search = Search { max_hits, max_evalue, chunk_bytes: Some(chunk_bytes), ..search.clone() };
            let expected = hits(&search, &subjects);
            assert!(!expected.is_empty());
            for kernel in kernels::selectable(Family::Local) {
                let device =
                    || -> Box<dyn Engine<Pairs>> { Box::new(support::gpu_checked().with_kernel(Some(kernel))) };
                let names = (kernel.stem, max_hits);
                assert_eq!(run_on(&search, vec![device()]).unwrap(), expected, "{names:?}");
                assert_eq!(run_on(&search, vec![device(), cpu()]).unwrap(), expected, "{names:?} and a thread");
            }
        }
    }
}

/// With filters, pairs are traced in rounds, best first, until enough of them pass. No pair after
/// the last round is traced.
#[test]
fn few_pairs_are_traced_beyond_reported_hits() {
    let (search, _) = self::search(0x7ace, &protein());
    let count = |search: &Search| {
        let (_, summary) = support::run_on(search, vec![cpu()], &support::two_threads()).unwrap();
        (summary.aligned, summary.written)
    };
    let (aligned, written) = count(&Search { max_hits: 2, ..search.clone() });
    assert_eq!(aligned, written);
    let (aligned, written) = count(&Search { max_hits: 1, min_identity: Some(0.1), ..search });
    assert_eq!(aligned, written, "the first of each passes");
}

#[test]
fn only_best_hits_are_traced_if_only_they_are_reported() {
    for scoring in [protein(), dna()] {
        let (search, _) = self::search(0x7ad0, &scoring);
        let top = Search { top_hits_only: true, ..search };
        let (_, summary) = support::run_on(&top, vec![cpu()], &support::two_threads()).unwrap();
        // Both strands of a pair may have the best score.
        let copies = if top.strand == Strands::Both { 2 } else { 1 };
        assert!(summary.written > 0 && summary.aligned <= copies * summary.written, "{summary:?}");
    }
}

#[test]
fn empty_sets_give_no_hits() {
    let (search, _) = self::search(1, &protein());
    let empty = Arc::new(Subjects::from_store(SequenceStore::builder(Alphabet::Protein).build()));
    assert_eq!(run(&Search { subjects: empty, ..search.clone() }), []);
    let none = Arc::new(SequenceStore::builder(Alphabet::Protein).build());
    assert_eq!(run(&Search { queries: none, ..search }), []);
}

/// Kernels for global alignments cannot compute local scores, and vice versa.
#[test]
fn a_kernel_of_another_mode_is_refused() {
    let (local, whole) = (self::search(1, &protein()).0, self::search(1, &global(EndGaps::Free)).0);
    for (search, family) in [(&local, Family::Pairs), (&whole, Family::Local)] {
        for kernel in kernels::selectable(family) {
            let run = Run { kernel: Some(kernel), ..Run::default() };
            let error = search.run(&run, |_| Ok(())).unwrap_err().to_string();
            assert!(error.starts_with(&format!("kernel {}", kernel.stem)), "{error}");
        }
    }
}

#[test]
fn invalid_searches_are_refused() {
    let (of_proteins, of_dna) = (self::search(1, &protein()).0, self::search(1, &dna()).0);
    let (without, whole) =
        (self::search(1, &scoring_without_statistics()).0, self::search(1, &global(EndGaps::Free)).0);
    assert_eq!((of_dna.strand, of_proteins.strand), (Strands::Both, Strands::Plus));
    assert_eq!((of_proteins.max_evalue, without.max_evalue, whole.max_evalue), (Some(10.0), None, None));
    for search in [&of_proteins, &of_dna, &without, &whole] {
        search.validate().unwrap();
    }
    let wrong = [
        (Search { max_evalue: Some(1.0), ..without }, "max_evalue"),
        (Search { max_evalue: Some(1.0), ..whole.clone() }, "max_evalue"),
        (Search { max_evalue: Some(-1.0), ..of_proteins.clone() }, "max_evalue -1"),
        (Search { max_evalue: Some(f64::NAN), ..of_proteins.clone() }, "max_evalue NaN"),
        (Search { max_hits: 0, ..of_proteins.clone() }, "max_hits 0"),
        (Search { max_hsps: 0, ..of_proteins.clone() }, "max_hsps 0"),
        (Search { max_hsps: 2, score_only: true, check: false, ..of_proteins.clone() }, "max_hsps 2"),
        (Search { max_hsps: 2, ..whole }, "max_hsps 2"),
        (Search { min_identity: Some(90.0), ..of_proteins.clone() }, "min_identity 90"),
        (Search { min_query_cover: Some(-0.1), ..of_proteins.clone() }, "min_query_cover -0.1"),
        (Search { score_only: true, min_identity: Some(0.5), ..of_proteins.clone() }, "score_only"),
        (
            Search {
                coverage: CoverageFilter { target: Some(1.5), ..CoverageFilter::default() },
                ..of_proteins.clone()
            },
            "coverage.target 1.5",
        ),
        (
            Search {
                score_only: true,
                coverage: CoverageFilter { both: Some(0.0), ..CoverageFilter::default() },
                ..of_proteins.clone()
            },
            "score_only: scores alone have no coverage",
        ),
        (Search { strand: Strands::Both, ..of_proteins.clone() }, "strand"),
        (Search { queries: Arc::clone(&of_dna.queries), ..of_proteins.clone() }, "queries"),
        (Search { subjects: of_dna.subjects, ..of_proteins }, "subjects"),
    ];
    for (search, field) in wrong {
        let message = run_on(&search, vec![cpu()]).unwrap_err().to_string();
        assert!(message.starts_with(field), "{message}");
    }
}

#[test]
fn interrupts_and_errors_of_the_caller_end_a_search() {
    let (search, _) = self::search(2, &protein());
    let run = Run { threads: 2, ..Run::default() };
    run.interrupt.store(true, Ordering::Relaxed);
    let ended = search.run_on(vec![cpu()], &run, |_| Ok(()));
    assert!(matches!(ended, Err(Error::Interrupted)), "{ended:?}");
    let refuse = |_: &[SearchHit]| Err(Error::OutputClosed);
    assert!(matches!(search.run_on(vec![cpu()], &support::two_threads(), refuse), Err(Error::OutputClosed)));
}

#[test]
#[should_panic(expected = "left == right")]
fn comparison_detects_a_wrong_hit() {
    let (search, subjects) = self::search(3, &protein());
    let mut actual = run(&search);
    actual.swap(0, 1);
    assert_eq!(actual, hits(&search, &subjects));
}
