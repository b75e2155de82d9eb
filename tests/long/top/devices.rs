//! Two strands, one after the other on one device, and at the same time on two devices.

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pairwave::Error;
use pairwave::jobs::long::LongTuning;
use pairwave::jobs::{LongAlignment, Strands};
use pairwave::long::LongEngine;
use pairwave::long::cpu::CpuLong;
use pairwave::long::gpu::{GpuLong, Schedule, StripedShape};
use pairwave::long::mock::Textbook;
use pairwave::score::{Ambiguity, Gaps, Scoring};
use pairwave::seq::{Alphabet, Code};

use super::{Lent, Rng, below, choose_one, job, local, oracle, run};

/// Returns a card whose panels have many strips and dispatches.
fn card() -> Arc<Mutex<GpuLong>> {
    let shape = StripedShape {
        cells: Some(4),
        lanes: Some(4),
        batch: 2,
        steps: Some(8),
        schedule: Some(Schedule::Wavefront),
        shuffle: false,
    };
    Arc::new(Mutex::new(GpuLong::open(&support::adapter()).unwrap().with_shape(shape)))
}

pub(super) fn processor() -> Arc<Mutex<CpuLong>> {
    Arc::new(Mutex::new(CpuLong::new(1).with_tile(32, 48)))
}

/// Returns 150 to 350 random symbols.
fn random_sequence(rng: &mut Rng) -> Vec<Code> {
    (0..150 + below(rng, 200)).map(|_| 1 << rng.below(4)).collect()
}

/// Returns a target, and a query that contains all of it on the minus strand and nearly all of it
/// on the plus strand. The score of the plus strand then prunes much of the minus strand.
fn both_strands(rng: &mut Rng) -> (Vec<Code>, Vec<Code>) {
    let target = random_sequence(rng);
    let less = 1 + below(rng, 3);
    ([oracle::reverse_complement(&target), target[..target.len() - less].to_vec()].concat(), target)
}

fn cheap_gaps(rng: &mut Rng) -> Scoring {
    let gaps = choose_one(rng, &[(7, 2), (500, 20), (500, 100), (40, 40)]);
    local(100, -300, Ambiguity::Overlap, Gaps { first: gaps.0, next: gaps.1 })
}

/// Returns settings with grid lines at a distance of 64 or 128, and with narrow panels.
pub(super) fn tuning(rng: &mut Rng) -> LongTuning {
    LongTuning {
        grid_pitch: Some(choose_one(rng, &[64, 128])),
        panel_columns: Some(choose_one(rng, &[64, 128, 192])),
        belt_rows: None,
        section: choose_one(rng, &[None, Some(50)]),
        save_every: Some(Duration::ZERO),
        min_empty_cells: choose_one(rng, &[None, Some(0)]),
    }
}

/// Values that an unpruned panel has left in a card's memory have no effect.
#[test]
fn a_strand_is_pruned_correctly_after_any_panel() {
    let rng = &mut support::rng(31);
    let (card, mut pruned_cells) = (card(), 0);
    let alike = [1; 500];
    let before = LongAlignment { prune: false, ..job(&alike, &alike, &cheap_gaps(rng)) };
    for round in 0..24 {
        let (query, target) = both_strands(rng);
        let scoring = cheap_gaps(rng);
        let tuning = tuning(rng);
        let before = LongAlignment { tuning: tuning.clone(), ..before.clone() };
        assert_eq!(run(&before, vec![Lent::boxed(&card)]).unwrap().hits[0].score, 50_000);
        let job = LongAlignment { strand: Strands::Both, tuning, ..job(&query, &target, &scoring) };
        let result = run(&job, vec![Lent::boxed(&card)]).unwrap_or_else(|error| panic!("round {round}: {error}"));
        assert_eq!(result.hits, oracle::best(&query, &target, &scoring, Strands::Both, (1, 1)), "round {round}");
        pruned_cells += result.summary.details.pruned_cells;
    }
    assert!(pruned_cells > 0);
}

/// Regions that are prepared together give the same traceback as regions that are computed one by
/// one, with every schedule.
#[test]
fn prepared_regions_change_no_result() {
    let rng = &mut support::rng(33);
    for (schedule, shuffle) in [(Schedule::Wavefront, false), (Schedule::Persistent, true)] {
        let shape = StripedShape { cells: Some(4), batch: 2, schedule: Some(schedule), shuffle, ..Default::default() };
        let engine = GpuLong::open(&support::adapter()).unwrap().with_shape(shape).with_max_prepared_regions(5);
        let card = Arc::new(Mutex::new(engine));
        for round in 0..8 {
            let query = [random_sequence(rng), random_sequence(rng)].concat();
            let target = support::mutated(rng, Alphabet::Dna, &query, 8);
            let scoring = local(5, -4, Ambiguity::Overlap, Gaps { first: 6, next: 1 });
            let tuning = LongTuning { grid_pitch: Some(64), panel_columns: Some(128), ..tuning(rng) };
            let job = LongAlignment { tuning, ..job(&query, &target, &scoring) };
            let result = run(&job, vec![Lent::boxed(&card)]).unwrap_or_else(|error| panic!("round {round}: {error}"));
            let expected = oracle::best(&query, &target, &scoring, Strands::Plus, (1, 1));
            assert_eq!(result.hits, expected, "round {round}, {schedule:?}");
        }
        let prepared = card.lock().unwrap().regions_prepared();
        assert!(prepared > 40, "{prepared} regions, {schedule:?}");
        // Once an alignment is found, regions with the same rows and columns have other borders.
        for round in 0..16 {
            let (query, target) = repeats(rng);
            let scoring = local(
                5,
                -4,
                Ambiguity::Overlap,
                choose_one(rng, &[Gaps { first: 4, next: 1 }, Gaps { first: 4, next: 4 }]),
            );
            let top = 3 + rng.below(4);
            let job = LongAlignment { top, min_score: 20, tuning: tuning(rng), ..job(&query, &target, &scoring) };
            let result = run(&job, vec![Lent::boxed(&card)]).unwrap_or_else(|error| panic!("round {round}: {error}"));
            let expected = oracle::best(&query, &target, &scoring, Strands::Plus, (top, 20));
            assert_eq!(result.hits, expected, "round {round}, top {top}, {schedule:?}");
        }
        assert!(card.lock().unwrap().regions_prepared() > prepared + 40);
    }
}

#[test]
fn two_devices_prune_both_strands() {
    let rng = &mut support::rng(32);
    let (card, processor) = (card(), processor());
    for round in 0..24 {
        let (query, target) = both_strands(rng);
        let scoring = cheap_gaps(rng);
        let job = LongAlignment { strand: Strands::Both, tuning: tuning(rng), ..job(&query, &target, &scoring) };
        let engines: [Box<dyn LongEngine>; 2] = [Lent::boxed(&card), Lent::boxed(&processor)];
        let result = run(&job, engines.into()).unwrap_or_else(|error| panic!("round {round}: {error}"));
        assert_eq!(result.hits, oracle::best(&query, &target, &scoring, Strands::Both, (1, 1)), "round {round}");
    }
}

/// Returns sequences in which parts of the query and of its reverse complement are surrounded by
/// other symbols.
fn repeats(rng: &mut Rng) -> (Vec<Code>, Vec<Code>) {
    let query = random_sequence(rng);
    let (turned, mut target) = (oracle::reverse_complement(&query), random_sequence(rng));
    target.truncate(40);
    for _ in 0..3 {
        let from = if below(rng, 2) == 0 { &turned } else { &query };
        let begin = below(rng, from.len() / 2);
        let part = support::mutated(rng, Alphabet::Dna, &from[begin..begin + from.len() / 2], 6);
        target.extend_from_slice(&part);
        target.extend(random_sequence(rng).iter().take(20));
    }
    (query, target)
}

/// Runs a job repeatedly until it is done. Each run is stopped after some more marks.
pub(super) fn begun_again(
    job: &LongAlignment,
    engines: impl Fn(&Arc<AtomicU64>) -> Vec<Box<dyn LongEngine>>,
    what: &str,
) -> (u32, Vec<pairwave::jobs::LongHit>) {
    let directory = tempfile::tempdir().unwrap();
    let job = LongAlignment { checkpoint: Some(directory.path().into()), ..job.clone() };
    let mut marks = 3;
    for stops in 0.. {
        match run(&job, engines(&Arc::new(AtomicU64::new(marks)))) {
            Err(Error::Interrupted) => marks += 7,
            Err(error) => panic!("{what}, after {stops} stops: {error}"),
            Ok(result) => {
                assert!(stops == 0 || result.summary.details.resumed, "{what}");
                return (stops, result.hits);
            }
        }
    }
    unreachable!("a run has an end")
}

#[test]
fn two_devices_find_several_and_are_stopped() {
    let rng = &mut support::rng(33);
    let (card, processor) = (card(), processor());
    let textbook = Textbook { panel_columns: 64, trace_cells: 1 << 14, ..Textbook::default() };
    let textbook = Arc::new(Mutex::new(textbook));
    let mut stops = 0;
    for round in 0..12 {
        let (query, target) = repeats(rng);
        let scoring = local(
            5,
            -4,
            Ambiguity::Overlap,
            choose_one(rng, &[Gaps { first: 11, next: 1 }, Gaps { first: 4, next: 4 }]),
        );
        let (top, strand) = (2 + rng.below(4), Strands::Both);
        let job = LongAlignment { top, strand, min_score: 30, tuning: tuning(rng), ..job(&query, &target, &scoring) };
        let expected = oracle::best(&query, &target, &scoring, strand, (top, 30));
        assert!(expected.len() > 1, "round {round}");
        let what = format!("round {round}, top {top}, {:?}", job.tuning);
        let pair = |marks: &Arc<AtomicU64>| -> Vec<Box<dyn LongEngine>> {
            let other: Box<dyn LongEngine> = match round % 2 {
                0 => Lent::stopped(&card, marks),
                _ => Lent::stopped(&textbook, marks),
            };
            vec![other, Lent::stopped(&processor, marks)]
        };
        let at_once = run(&job, pair(&Arc::new(AtomicU64::new(u64::MAX))));
        assert_eq!(at_once.unwrap_or_else(|error| panic!("{what}: {error}")).hits, expected, "{what}");
        let (times, hits) = begun_again(&job, pair, &what);
        assert_eq!(hits, expected, "{what}, stopped {times} times");
        stops += times;
    }
    assert!(stops > 24, "{stops}");
}
