//! The GPU engine for long pairs gives the oracle's results, with both schedules and for all sizes.

use pairwave::long::gpu::{GpuLong, Schedule, StripedShape};
use pairwave::score::{Ambiguity, EndGaps, Gaps, Mode, Scoring};
use pairwave::seq::{Alphabet, Code};
use support::adapter;
use support::long::{LongCase, check_prepared, check_pruned_sweep, check_sweep, check_trace, check_trace_whole};
use support::long_cases::{METHODS, case, codes, relative};
use support::random::rng;

/// Returns shapes that give short pairs many strips and dispatches, by both schedules and with
/// every kind of exchange.
fn shapes() -> Vec<StripedShape> {
    let usual = StripedShape::default();
    let (wavefront, persistent) = (Some(Schedule::Wavefront), Some(Schedule::Persistent));
    vec![
        StripedShape { cells: Some(4), batch: 2, steps: Some(4), schedule: wavefront, ..usual },
        StripedShape { cells: Some(4), lanes: Some(2), batch: 4, steps: Some(12), schedule: wavefront, ..usual },
        StripedShape { cells: Some(8), batch: 4, steps: Some(16), schedule: persistent, ..usual },
        StripedShape { cells: Some(4), batch: 8, schedule: persistent, ..usual },
        StripedShape { cells: Some(4), batch: 4, steps: Some(32), schedule: persistent, ..usual },
        StripedShape { cells: Some(12), lanes: Some(16), schedule: wavefront, shuffle: false, ..usual },
        usual,
    ]
}

/// Returns engines with wgpu's checks in the shaders.
fn engines() -> Vec<GpuLong> {
    let adapter = adapter();
    let open = |shape| GpuLong::open(&adapter).expect("the adapter opens").with_shape(shape).with_runtime_checks();
    shapes().into_iter().map(open).collect()
}

#[test]
fn sweeps_are_the_oracles() {
    let (rng, mut engines) = (&mut rng(11), engines());
    for round in 0..36 {
        let (case, at) = (case(rng), round % engines.len());
        let (m, n) = (case.m(), case.n());
        eprintln!("round {round}: {m} x {n}, {:?} {:?}", case.pair.scoring.mode, case.pair.scoring.gaps);
        let mut cuts: Vec<u32> = (0..rng.below(3)).map(|_| rng.below(n as usize + 1) as u32).collect();
        cuts.sort_unstable();
        cuts.dedup();
        let prune = case.pair.is_local() && rng.below(2) == 0;
        check_sweep(&mut engines[at], &case, &cuts, 64, prune);
    }
}

/// Many cells have the best score: in all lanes and strips, and in one or several blocks and rows.
#[test]
fn first_of_equal_cells_is_the_best() {
    let (rng, mut engines) = (&mut rng(16), engines());
    let scoring = |gaps| {
        let scoring = Scoring::nucleotide(2, -3, Ambiguity::Overlap, gaps, EndGaps::Charged).expect("it makes sense");
        Scoring { mode: Mode::Local, ..scoring }
    };
    for round in 0..engines.len() {
        let gaps = [Gaps::linear(0), Gaps::linear(4), Gaps::from_blast(5, 2)][round % 3];
        let unit = codes(rng, Alphabet::Dna, 8);
        let (before, after) = (rng.below(130), rng.below(130));
        // Copies of a unit are placed in unrelated symbols: in rows of the same block and of other
        // blocks, and in all columns.
        let mut query = vec![1; before];
        let mut target = Vec::new();
        for _ in 0..rng.below(3) + 1 {
            query.extend(&unit);
            query.extend(vec![1; rng.below(6)]);
        }
        query.extend(vec![1; after]);
        while target.len() < 300 {
            target.extend(&unit);
            target.extend(vec![2; 1 + rng.below(9)]);
        }
        let case = LongCase::new(&query, &target, &scoring(gaps));
        eprintln!("round {round}: {} x {}, {gaps:?}", case.m(), case.n());
        check_sweep(&mut engines[round], &case, &[], 64, false);
        check_sweep(&mut engines[round], &case, &[150], 64, true);
    }
}

#[test]
fn all_methods_trace_the_oracles_path() {
    let (rng, mut engines) = (&mut rng(12), engines());
    for round in 0..12 {
        let (case, at) = (case(rng), round % engines.len());
        let engine = &mut engines[at];
        eprintln!("round {round}: {} x {}, {:?}", case.m(), case.n(), case.pair.scoring.gaps);
        for method in METHODS {
            let how = (
                method,
                rng.pick(&[None, Some(16), Some(32), Some(64)]),
                rng.pick(&[None, Some(4), Some(16), Some(64)]),
            );
            check_trace_whole(engine, &case, how);
            let Some(from) = case.from() else { continue };
            let traceback = case.matrices.trace_back(from, 0, 0);
            let from = traceback.points[rng.below(traceback.points.len())].0;
            let (top, left) = (rng.below(from.i as usize + 1) as u32, rng.below(from.j as usize + 1) as u32);
            let bottom = from.i + rng.below((case.m() - from.i) as usize + 1) as u32;
            let right = from.j + rng.below((case.n() - from.j) as usize + 1) as u32;
            check_trace(engine, &case, ((top, bottom), (left, right)), from, how);
        }
    }
}

#[test]
fn borders_left_by_a_sweep_are_traced() {
    let rng = &mut rng(13);
    for (turn, (mode, rows)) in [(Mode::Local, 700), (Mode::Global, 702), (Mode::Local, 703)].into_iter().enumerate() {
        let scoring = Scoring { mode, ..Scoring::truong() };
        let query = codes(rng, Alphabet::Dna, rows);
        let target = relative(rng, &query);
        let case = LongCase::new(&query, &target, &scoring);
        // Each engine has all methods, one for each case.
        for (engine_turn, mut engine) in engines().into_iter().enumerate() {
            let swept = check_sweep(&mut engine, &case, &[], 128, mode == Mode::Local);
            assert_eq!(swept.best, case.best(0..case.n()));
            check_trace_whole(&mut engine, &case, (METHODS[(turn + engine_turn) % 3], None, None));
        }
    }
}

#[test]
fn similar_sequences_are_pruned_and_right() {
    let rng = &mut rng(14);
    let scoring = Scoring { mode: Mode::Local, ..Scoring::truong() };
    let query = codes(rng, Alphabet::Dna, 1000);
    let target = relative(rng, &query);
    let case = LongCase::new(&query, &target, &scoring);
    let mut pruned = 0;
    for mut engine in engines() {
        pruned = pruned.max(check_sweep(&mut engine, &case, &[350], 128, true).pruned_cells);
        check_trace_whole(&mut engine, &case, (METHODS[2], None, None));
    }
    assert!(pruned * 5 > u64::from(case.m()) * u64::from(case.n()), "a fifth is pruned, not {pruned}");
}

/// Strips without values are skipped before an alignment reaches them, after it has left them, and
/// before a later alignment.
#[test]
fn strips_without_values_are_skipped() {
    let rng = &mut rng(19);
    let scoring = Scoring { mode: Mode::Local, ..Scoring::truong() };
    let shapes = shapes().into_iter().filter(|shape| shape.schedule != Some(Schedule::Wavefront));
    let open = |shape| GpuLong::open(&adapter()).expect("the adapter opens").with_shape(shape).with_runtime_checks();
    let mut engines: Vec<GpuLong> = shapes.map(open).collect();
    let (mut all_pruned, mut all) = (0, 0);
    for round in 0..12 {
        let parts: Vec<Vec<Code>> = (0..3).map(|_| codes(rng, Alphabet::Dna, 300 + 60 * round)).collect();
        let alike = relative(rng, &parts[0]);
        let (query, target) = match round % 4 {
            0 => (parts[0].clone(), alike),
            1 => ([&parts[1][..], &parts[0]].concat(), [&alike[..], &parts[2]].concat()),
            2 => ([&parts[0][..], &parts[1]].concat(), [&parts[2][..], &alike].concat()),
            _ => ([&parts[0][..], &parts[1], &parts[0]].concat(), [&alike[..], &parts[2], &alike].concat()),
        };
        let case = LongCase::new(&query, &target, &scoring);
        let best = case.best(0..case.n()).expect("they are alike").score;
        let cells = u64::from(case.m()) * u64::from(case.n());
        // The known score changes from round to round, so that every engine has all three of them.
        for (turn, engine) in (round..).zip(&mut engines) {
            let known = [best, best * 3 / 4, best / 3][turn % 3];
            // If there is a cut, the second panel is clear until the alignment crosses its left
            // border.
            let (cuts, mark_every) = (vec![case.n() / 2; 1 - round % 2], rng.pick(&[64, 256]));
            let pruned = check_pruned_sweep(engine, &case, &cuts, mark_every, Some(known)).pruned_cells;
            eprintln!("round {round}: {known} of {best}, cut at {cuts:?}: {pruned} of {cells} pruned");
            (all_pruned, all) = (all_pruned + pruned, all + cells);
        }
    }
    assert!(all_pruned * 2 > all, "half of all is pruned, not {all_pruned} of {all}");
}

/// The great values of an earlier panel are never read as values of a pruned panel.
#[test]
fn a_pruned_panel_hides_values_of_the_previous_panel() {
    let rng = &mut rng(15);
    let scoring = Scoring { mode: Mode::Local, ..Scoring::truong() };
    let alike = vec![1; 500];
    let before = LongCase::new(&alike, &alike, &scoring);
    let query: Vec<_> = (0..450).map(|_| 1 << rng.below(4)).collect();
    let target = relative(rng, &query);
    let case = LongCase::new(&query, &target, &scoring);
    for shape in shapes().into_iter().step_by(4) {
        let mut engine = GpuLong::open(&adapter()).expect("the adapter opens").with_shape(shape);
        check_sweep(&mut engine, &before, &[], 64, false);
        let swept = check_sweep(&mut engine, &case, &[200], 64, true);
        assert!(swept.pruned_cells > 0);
    }
}

/// A region is traced in the same way regardless of which part of it was prepared, and of which
/// regions are traced after it.
#[test]
fn prepared_regions_are_traced_alike() {
    let rng = &mut rng(16);
    let scoring = Scoring { mode: Mode::Local, ..Scoring::truong() };
    let query = codes(rng, Alphabet::Dna, 500);
    let target = relative(rng, &query);
    let case = LongCase::new(&query, &target, &scoring);
    let from = case.from().expect("it is not empty");
    let traceback = case.matrices.trace_back(from, 0, 0);
    for mut engine in engines() {
        // Each part of the path starts at a random point and has space around it.
        let parts: Vec<_> = (0..5)
            .map(|_| {
                let at = traceback.points[rng.below(traceback.points.len())].0;
                let begin = |index: u32, rng: &mut support::Rng| index - rng.below(index.min(150) as usize + 1) as u32;
                let rows = (begin(at.i, rng), (at.i + rng.below(60) as u32).min(case.m()));
                let columns = (begin(at.j, rng), (at.j + rng.below(60) as u32).min(case.n()));
                (rows, columns, at)
            })
            .collect();
        assert_eq!(check_prepared(&mut engine, &case, &parts), 5, "there is memory for all");
        assert_eq!(engine.regions_prepared(), 5);
    }
}
