//! The CPU engine for long pairs gives the oracle's results, regardless of the sizes of panels and
//! tiles.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pairwave::error::{Error, Result};
use pairwave::long::cpu::CpuLong;
use pairwave::long::{
    BestCell, BestSoFar, Border, BorderSpan, KeptBorder, LeftSource, LongEngine, LongPair, Method, PanelSweep,
    PathPoint, PathState, SweepResult, SweepSink, TraceRegion, TracebackResult,
};
use pairwave::score::{Mode, Scoring};
use pairwave::seq::Alphabet;
use pairwave::simd::InstructionSet;
use support::long::{Dripping, LongCase, SweepOutput, check_sweep, check_trace, check_trace_whole};
use support::long_cases::{METHODS, case, codes, relative};
use support::random::{Rng, rng};

/// Returns an engine with tiles so small that short pairs cross their borders.
fn engine(rng: &mut Rng) -> CpuLong {
    let side = |rng: &mut Rng| rng.pick(&[1, 7, 15, 16, 17, 31, 32, 33, 64, 127, 128, 129, 500]);
    let (rows, columns) = (side(rng), side(rng));
    let level = rng.pick(&InstructionSet::available());
    CpuLong::new(1 + rng.below(3)).with_instruction_set(level).with_tile(rows, columns)
}

#[test]
fn sweeps_are_the_oracles() {
    let rng = &mut rng(1);
    let mut pruned = 0;
    for round in 0..2000 {
        let (case, mut engine) = (case(rng), engine(rng));
        let (m, n) = (case.m(), case.n());
        eprintln!("round {round}: {m} x {n}, {:?} {:?}, {engine:?}", case.pair.scoring.mode, case.pair.scoring.gaps);
        let mut cuts: Vec<u32> = (0..rng.below(4)).map(|_| rng.below(n as usize + 1) as u32).collect();
        cuts.sort_unstable();
        cuts.dedup();
        let prune = case.pair.is_local() && rng.below(2) == 0;
        pruned += check_sweep(&mut engine, &case, &cuts, 64, prune).pruned_cells;
    }
    assert!(pruned > 0, "something is pruned");
}

#[test]
fn all_methods_trace_the_oracles_path() {
    let rng = &mut rng(2);
    for round in 0..1000 {
        let (case, mut engine) = (case(rng), engine(rng));
        eprintln!("round {round}: {} x {}, {:?}, {engine:?}", case.m(), case.n(), case.pair.scoring.gaps);
        for method in METHODS {
            let side = |rng: &mut Rng| rng.pick(&[None, Some(1), Some(16), Some(17), Some(31), Some(64), Some(100)]);
            let how = (method, side(rng), side(rng));
            check_trace_whole(&mut engine, &case, how);
            // Also traces a part of the path from any of its points, through a part of the matrix.
            let Some(from) = case.from() else { continue };
            let traceback = case.matrices.trace_back(from, 0, 0);
            let from = traceback.points[rng.below(traceback.points.len())].0;
            let (top, left) = (rng.below(from.i as usize + 1) as u32, rng.below(from.j as usize + 1) as u32);
            let bottom = from.i + rng.below((case.m() - from.i) as usize + 1) as u32;
            let right = from.j + rng.below((case.n() - from.j) as usize + 1) as u32;
            check_trace(&mut engine, &case, ((top, bottom), (left, right)), from, how);
        }
    }
}

#[test]
fn similar_sequences_are_pruned_and_right() {
    let rng = &mut rng(3);
    let scoring = Scoring { mode: Mode::Local, ..Scoring::truong() };
    let query = codes(rng, Alphabet::Dna, 1200);
    let target = relative(rng, &query);
    let case = LongCase::new(&query, &target, &scoring);
    let mut engine = CpuLong::new(2).with_tile(64, 64);
    let swept = check_sweep(&mut engine, &case, &[500], 128, true);
    assert!(swept.pruned_cells * 4 > u64::from(case.m()) * u64::from(case.n()), "a quarter is pruned");
    for method in METHODS {
        check_trace_whole(&mut engine, &case, (method, Some(128), Some(64)));
        check_trace_whole(&mut engine, &case, (method, None, None));
    }
}

#[test]
fn memory_decides_what_can_be_traced() {
    let engine = CpuLong::new(1).with_memory(1 << 20);
    for method in METHODS {
        assert!(engine.can_trace(1024, 1024, method) && engine.can_trace(0, 0, method));
        assert!(!engine.can_trace(1 << 20, 1 << 20, method));
        assert!(CpuLong::new(2).can_trace(40_000, 40_000, method), "{method:?}");
    }
}

/// Returns a sweep of a pair of 100 symbols each.
fn hundred_squared<'a>(
    pair: &'a LongPair,
    top: &'a Border,
    best: &'a BestSoFar,
    interrupt: &'a AtomicBool,
) -> PanelSweep<'a> {
    let (rows, columns) = (BorderSpan::new(0, 100), BorderSpan::new(0, 100));
    let (mark_every, keep_every, is_kept, prune) = (64, None, true, false);
    PanelSweep { pair, rows, columns, top, mark_every, keep_every, is_kept, prune, best, interrupt }
}

#[test]
fn an_interrupt_ends_sweep_and_trace() {
    let case = LongCase::new(&[1; 100], &[1; 100], &Scoring::truong());
    let mut engine = CpuLong::new(2).with_tile(16, 16);
    let (top, left) = (case.pair.top_border(0..100), case.pair.left_border(0..100));
    let (pair, interrupt) = (&case.pair, &AtomicBool::new(true));
    let (rows, columns, best) = (BorderSpan::new(0, 100), BorderSpan::new(0, 100), &BestSoFar::default());
    let sweep = hundred_squared(pair, &top, best, interrupt);
    let source = Dripping::new(left.clone(), 0, 1);
    assert!(matches!(engine.sweep(&sweep, &source, &SweepOutput::default()), Err(Error::Interrupted)));
    let from = PathPoint { i: 100, j: 100, state: PathState::H };
    for method in METHODS {
        let (strip, chunk) = (Some(16), Some(16));
        let region = TraceRegion { pair, rows, columns, top: &top, left: &left, from, method, strip, chunk, interrupt };
        assert!(matches!(engine.trace(&region), Err(Error::Interrupted)), "{method:?}");
    }
    interrupt.store(false, Ordering::Relaxed);
}

/// A left border that fails after some rows.
struct Broken;

impl LeftSource for Broken {
    fn read(&self, _: u32, until: u32, h: &mut [i32], gap: &mut [i32]) -> Result<()> {
        h.fill(0);
        gap.fill(-10);
        if until > 40 { Err(Error::Internal("no more".into())) } else { Ok(()) }
    }

    fn last_known_row(&self) -> u32 {
        20
    }
}

#[test]
fn a_source_that_fails_ends_the_sweep() {
    let scoring = Scoring { mode: Mode::Local, ..Scoring::truong() };
    let pair = LongPair { query: [1; 100].into(), target: [2; 100].into(), scoring: Arc::new(scoring) };
    let (top, best, interrupt) = (pair.top_border(0..100), BestSoFar::default(), AtomicBool::new(false));
    let sweep = hundred_squared(&pair, &top, &best, &interrupt);
    let mut engine = CpuLong::new(3).with_tile(16, 16);
    let error = engine.sweep(&sweep, &Broken, &SweepOutput::default()).unwrap_err();
    assert!(error.to_string().contains("no more"), "{error}");
}

/// An engine whose results are slightly wrong in one respect.
struct Wrong(CpuLong, u32);

/// Delivers the results with a fault in them.
struct Faulty<'a>(&'a dyn SweepSink, u32);

impl SweepSink for Faulty<'_> {
    fn push_right_border(&self, first: u32, h: &[i32], gap: &[i32]) -> Result<()> {
        let (mut h, mut gap) = (h.to_vec(), gap.to_vec());
        match self.1 {
            0 => h[0] += 1,
            1 => gap[h.len() - 1] -= 1,
            _ => {}
        }
        self.0.push_right_border(first, &h, &gap)
    }

    fn push_row(&self, row: u32, edge: KeptBorder) -> Result<()> {
        let mut edge = edge.into_border();
        let last = edge.h.len() - 1;
        match self.1 {
            2 => edge.h[0] += 1,
            3 => edge.gap[last] += 1,
            _ => {}
        }
        self.0.push_row(row, edge.into())
    }

    fn progress(&self, cells: u64, best: Option<BestCell>) {
        self.0.progress(cells + u64::from(self.1 == 4), best);
    }
}

impl LongEngine for Wrong {
    fn label(&self) -> &str {
        "wrong"
    }

    fn speed(&self) -> f64 {
        self.0.speed()
    }

    fn panel_columns(&self, rows: u32, columns: u32, alone: bool) -> u32 {
        self.0.panel_columns(rows, columns, alone)
    }

    fn sweep(&mut self, sweep: &PanelSweep, left: &dyn LeftSource, sink: &dyn SweepSink) -> Result<SweepResult> {
        let mut swept = self.0.sweep(sweep, left, &Faulty(sink, self.1))?;
        if let (5, Some(best)) = (self.1, &mut swept.best) {
            best.j += 1;
        }
        Ok(swept)
    }

    fn can_trace(&self, rows: u32, columns: u32, method: Method) -> bool {
        self.0.can_trace(rows, columns, method)
    }

    fn trace(&mut self, region: &TraceRegion) -> Result<TracebackResult> {
        let mut traced = self.0.trace(region)?;
        match self.1 {
            6 => traced.ended = !traced.ended,
            7 => traced.cigar.push(1, pairwave::alignment::Op::Insertion),
            8 => traced.to = None,
            _ => {}
        }
        Ok(traced)
    }
}

#[test]
fn the_harness_refuses_wrong_answers() {
    let scoring = Scoring { mode: Mode::Local, ..Scoring::truong() };
    let case = LongCase::new(&[1, 2, 4, 8, 1, 1, 2], &[4, 8, 1, 2, 4, 8, 1, 2], &scoring);
    let passes = |fault: u32| {
        let mut engine = Wrong(CpuLong::new(1), fault);
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            check_sweep(&mut engine, &case, &[4], 64, false);
            check_trace_whole(&mut engine, &case, (Method::Chunked2, Some(3), Some(3)));
        }))
        .is_ok()
    };
    assert!(passes(99), "an engine without a fault passes");
    for fault in 0..9 {
        assert!(!passes(fault), "fault {fault} is seen");
    }
}
