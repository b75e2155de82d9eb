//! GPUs with little memory and long pairs. If a buffer is refused, the engine still sweeps a panel
//! and traces a region. Without memory the engine returns an error and can be used later. Pairs on
//! the device stay within their budget.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use support::warnings;

use pairwave::Error;
use pairwave::gpu::memory::MIN_BYTES;
use pairwave::long::gpu::{GpuLong, Schedule, StripedShape};
use pairwave::long::{BestSoFar, BorderSpan, LongEngine, PanelSweep, TraceRegion};
use pairwave::score::{Mode, Scoring};
use pairwave::seq::Alphabet;
use support::adapter_called;
use support::long::{Dripping, LongCase, SweepOutput, check_prepared, check_sweep, check_trace, check_trace_whole};
use support::long_cases::{METHODS, codes, relative};
use support::random::rng;

/// Opens an engine that has this name in messages.
fn open(name: &str) -> GpuLong {
    GpuLong::open(&adapter_called(name)).expect("the adapter opens")
}

fn local_case(seed: u64, rows: usize) -> LongCase {
    let rng = &mut rng(seed);
    let query = codes(rng, Alphabet::Dna, rows);
    let target = relative(rng, &query);
    LongCase::new(&query, &target, &Scoring { mode: Mode::Local, ..Scoring::truong() })
}

/// Refuses each buffer of `check` in turn, each time with a new engine. Returns the number of
/// buffers.
fn each_buffer_refused(name: &str, check: impl Fn(&mut GpuLong)) -> u64 {
    warnings::record("warn");
    for after in 0.. {
        let mut engine = open(&format!("{name} {after}"));
        engine.gpu().feign_shortage("", after, 1);
        check(&mut engine);
        let refused = engine.gpu().refused_buffers();
        let said = warnings::lines_with(&format!("'{name} {after}'"));
        assert_eq!(said.len() as u64, refused, "{said:?}");
        assert!(said.iter().all(|line| line.contains("freeing unused memory")), "{said:?}");
        if refused == 0 {
            return after;
        }
    }
    unreachable!("an engine that takes no end of buffers")
}

/// Checks that a sweep of the whole pair is refused for lack of memory.
fn check_refused(engine: &mut GpuLong, case: &LongCase, what: &str) {
    let (m, n, pair) = (case.m(), case.n(), &case.pair);
    let (top, interrupt, best) = (pair.top_border(0..n), AtomicBool::new(false), BestSoFar::default());
    let sweep = PanelSweep {
        pair,
        rows: BorderSpan::new(0, m),
        columns: BorderSpan::new(0, n),
        top: &top,
        mark_every: 64,
        keep_every: None,
        is_kept: true,
        prune: false,
        best: &best,
        interrupt: &interrupt,
    };
    let error =
        engine.sweep(&sweep, &Dripping::new(pair.left_border(0..m), 0, 7), &SweepOutput::default()).unwrap_err();
    assert!(matches!(error, Error::Unsuited { .. }) && error.to_string().contains("memory"), "{what}: {error}");
}

#[test]
fn a_pair_is_swept_and_traced_without_a_refused_buffer() {
    let case = local_case(0x10e9, 300);
    // The traceback uses the borders that the sweep of a whole pair leaves. If memory was short,
    // they are missing.
    let buffers = each_buffer_refused("whole", |engine| {
        check_sweep(engine, &case, &[], 128, false);
        check_trace_whole(engine, &case, (METHODS[2], None, None));
    });
    assert!(buffers >= 16, "{buffers} buffers only");
    // Sweeps two panels, of which the second needs more memory, and traces a region whose chunks
    // are computed again.
    let (m, n, from) = (case.m(), case.n(), case.from().expect("it is not empty"));
    let buffers = each_buffer_refused("parts", |engine| {
        check_sweep(engine, &case, &[40], 64, false);
        check_trace(engine, &case, ((2, m), (5, n)), from, (METHODS[1], None, None));
    });
    assert!(buffers >= 16, "{buffers} buffers only");
}

#[test]
fn regions_are_traced_without_a_refused_buffer_of_their_preparation() {
    let case = local_case(0x10ec, 260);
    let from = case.from().expect("it is not empty");
    let traceback = case.matrices.trace_back(from, 0, 0);
    // Each traceback starts at a cell of the path and ends at the cell a third of the path before
    // it.
    let points: Vec<_> =
        (1..=3).map(|third| traceback.points[(traceback.points.len() - 1) * (3 - third) / 3].0).collect();
    let parts: Vec<_> = points.iter().map(|&at| ((at.i / 2, at.i), (at.j / 3, at.j), at)).collect();
    let buffers = each_buffer_refused("ahead", |engine| {
        let ready = check_prepared(engine, &case, &parts);
        let refused = engine.gpu().refused_buffers() > 0;
        // A buffer that is refused later does not affect the prepared regions.
        assert!(ready == 3 || refused && ready == 0, "{ready} are ready");
    });
    assert!(buffers >= 20, "{buffers} buffers only");
}

/// If rings are too long for the memory, strips use shorter rings and more dispatches.
#[test]
fn dispatches_are_shorter_if_rings_are_too_long() {
    let case = local_case(0x10ed, 1500);
    let shape = StripedShape {
        cells: Some(4),
        lanes: Some(4),
        steps: Some(4096),
        schedule: Some(Schedule::Wavefront),
        ..StripedShape::default()
    };
    // Keeping all borders as a whole would take 1.1 MB.
    check_sweep(&mut open("short of rings").with_shape(shape).with_memory(700_000), &case, &[], 64, false);
    let mut engine = open("short of all").with_shape(shape).with_memory(200_000);
    check_refused(&mut engine, &case, "short of all");
}

#[test]
fn an_engine_without_memory_refuses_and_stays_usable() {
    let case = local_case(0x10ea, 130);
    let (m, n, pair) = (case.m(), case.n(), &case.pair);
    let (top, left, interrupt) = (pair.top_border(0..n), pair.left_border(0..m), AtomicBool::new(false));
    let from = case.from().expect("it is not empty");
    let (rows, columns, method) = (BorderSpan::new(0, m), BorderSpan::new(0, n), METHODS[2]);
    let (strip, chunk) = (None, None);
    let region =
        TraceRegion { pair, rows, columns, top: &top, left: &left, from, method, strip, chunk, interrupt: &interrupt };
    let mut engine = open("without memory");
    for label in ["", "vertical borders", "target of a long pair"] {
        let mut engine = open("without memory");
        engine.gpu().feign_shortage(label, 0, u64::MAX);
        check_refused(&mut engine, &case, label);
        assert_eq!(engine.gpu().refused_buffers(), 2, "it tries twice");
        engine.gpu().feign_shortage("", 0, 0);
        check_sweep(&mut engine, &case, &[50], 64, false);
    }
    check_sweep(&mut engine, &case, &[], 64, false);
    engine.gpu().feign_shortage("directions", 0, u64::MAX);
    let error = engine.trace(&region).unwrap_err();
    assert!(matches!(error, Error::Unsuited { .. }) && error.to_string().contains("memory"), "{error}");
    engine.gpu().feign_shortage("", 0, 0);
    check_trace_whole(&mut engine, &case, (method, None, None));
}

#[test]
fn pairs_on_the_device_stay_within_their_budget() {
    let (rng, scoring) = (&mut rng(0x10eb), Scoring { mode: Mode::Local, ..Scoring::truong() });
    let query = codes(rng, Alphabet::Dna, 8);
    let mut engine = open("budget").with_memory(MIN_BYTES);
    let budget = engine.residents().budget();
    let targets: Vec<_> = (0..4).map(|_| codes(rng, Alphabet::Dna, budget as usize / 3)).collect();
    let mut all: Vec<LongCase> = targets.iter().map(|target| LongCase::new(&query, target, &scoring)).collect();
    for at in [0, 1, 2, 3, 1, 0] {
        // Sweeps panels of the width that the engine prefers.
        let (m, n) = (all[at].m(), all[at].n());
        let wide = engine.panel_columns(m, n, true) as usize;
        let cuts: Vec<u32> = (wide..n as usize).step_by(wide).map(|column| column as u32).collect();
        check_sweep(&mut engine, &all[at], &cuts, 64, false);
        let bytes = engine.residents().bytes();
        assert!(bytes > 0 && bytes <= budget, "{bytes} bytes of {budget}");
    }
    // A pair that the host drops is evicted when another pair arrives.
    all.truncate(1);
    let short = LongCase::new(&query, &query, &scoring);
    check_sweep(&mut engine, &short, &[], 64, false);
    assert!(engine.residents().bytes() < budget / 2, "{} bytes", engine.residents().bytes());
    // One query against two targets is uploaded once, and again for another scoring.
    let mut engine = open("budget");
    let upload = |engine: &mut GpuLong, pair: &pairwave::long::LongPair| {
        let case = LongCase { pair: pair.clone(), ..LongCase::new(&pair.query, &pair.target, &pair.scoring) };
        let before = engine.residents().bytes();
        check_sweep(engine, &case, &[], 64, false);
        engine.residents().bytes() - before
    };
    let pair = short.pair;
    let both = upload(&mut engine, &pair);
    let other = pairwave::long::LongPair { target: pair.target[1..].into(), ..pair.clone() };
    let target = upload(&mut engine, &other);
    assert!(target > 0 && target < both / 2, "{target} of {both}");
    assert_eq!(upload(&mut engine, &pair), 0);
    let again = pairwave::long::LongPair { scoring: Arc::new(scoring), ..pair.clone() };
    assert_eq!(upload(&mut engine, &again), both - target);
}
