//! Engines that fail or refuse work, and the reserve that takes over.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use pairwave::jobs::LongAlignment;
use pairwave::jobs::long::{LongEngines, Reserve};
use pairwave::long::mock::Textbook;
use pairwave::long::{
    LeftSource, LongEngine, Method, PanelSweep, SweepResult, SweepSink, TraceRegion, TracebackResult,
};
use pairwave::score::{EndGaps, Mode};
use pairwave::seq::Alphabet;
use pairwave::{Error, Result, Run};

use super::{GAPS, Hooked, MODES, as_inner, dna, expected, job, related, textbook};
use support::{LongResult, run_long};

fn lost_error() -> Error {
    Error::Device { device: "weak".into(), message: "lost".into() }
}

fn run(job: &LongAlignment, engines: super::Engines) -> Result<LongResult> {
    let reserve: Reserve = Box::new(|| Box::new(textbook("reserve", 1e8)));
    run_long(job, LongEngines { engines, reserve: Some(reserve), host: None }, &Run::default())
}

/// An engine that sweeps, but refuses to trace.
struct Traceless {
    inner: Textbook,
    asked: Arc<AtomicU32>,
    error: fn() -> Error,
}

impl LongEngine for Traceless {
    as_inner!();

    fn sweep(&mut self, sweep: &PanelSweep, left: &dyn LeftSource, sink: &dyn SweepSink) -> Result<SweepResult> {
        self.inner.sweep(sweep, left, sink)
    }

    fn can_trace(&self, rows: u32, columns: u32, method: Method) -> bool {
        self.inner.can_trace(rows, columns, method)
    }

    fn trace(&mut self, _region: &TraceRegion) -> Result<TracebackResult> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        Err((self.error)())
    }
}

#[test]
fn a_reserve_continues_the_sweep() {
    let (query, target) = related(30, Alphabet::Dna, 500, 400);
    for (mode, end_gaps) in MODES {
        let scoring = dna(GAPS[1], mode, end_gaps);
        let expected = expected(&query, &target, &scoring);
        let job = job(&query, &target, scoring);
        for fails_at in [1, 20] {
            let weak = |label| -> Box<dyn LongEngine> {
                Box::new(Hooked::new(
                    textbook(label, 1e8),
                    move |count| if count < fails_at { Ok(()) } else { Err(lost_error()) },
                ))
            };
            let result = run(&job, vec![weak("weak"), weak("frail")]).unwrap();
            assert_eq!(result.hits, expected, "{mode:?}, {fails_at} marks");
            let reserve = result.summary.engines.iter().find(|engine| engine.name == "reserve").unwrap();
            assert!(reserve.lost.is_none() && (fails_at == 1 || reserve.cells < 500 * 400));
        }
        let result = run(&job, Vec::new()).unwrap();
        assert_eq!(result.hits, expected, "{mode:?}, from the start");
    }
}

#[test]
fn an_engine_that_cannot_trace_still_sweeps() {
    let (query, target) = related(31, Alphabet::Dna, 300, 300);
    let scoring = dna(GAPS[1], Mode::Local, EndGaps::Charged);
    let job = LongAlignment { top: 2, ..job(&query, &target, scoring) };
    let expected = super::hits(&job, super::one_engine());
    let unsuited = || Error::Unsuited { device: "test".into(), message: "too long".into() };
    for (error, stays) in [(unsuited as fn() -> Error, true), (lost_error, false)] {
        let asked = Arc::new(AtomicU32::new(0));
        let quick = Traceless { inner: textbook("quick", 9e8), asked: Arc::clone(&asked), error };
        let result = run(&job, vec![Box::new(quick)]).unwrap();
        assert_eq!(result.hits, expected);
        let quick = result.summary.engines.iter().find(|engine| engine.name == "quick").unwrap();
        assert_eq!(quick.lost.is_none(), stays);
        assert_eq!(asked.load(Ordering::Relaxed) > 1, stays);
    }
}

/// An engine that refuses to trace. On request, it also delivers no columns although it claims to
/// keep them.
struct Useless {
    inner: Textbook,
    keeps_columns: bool,
}

impl LongEngine for Useless {
    as_inner!();

    fn keeps_columns(&self) -> bool {
        self.keeps_columns
    }

    fn sweep(&mut self, sweep: &PanelSweep, left: &dyn LeftSource, sink: &dyn SweepSink) -> Result<SweepResult> {
        self.inner.sweep(sweep, left, sink)
    }

    fn can_trace(&self, _rows: u32, _columns: u32, _method: Method) -> bool {
        false
    }

    fn trace(&mut self, _region: &TraceRegion) -> Result<TracebackResult> {
        panic!("it cannot trace")
    }
}

#[test]
fn engines_that_can_trace_no_region_are_named() {
    let (query, target) = related(32, Alphabet::Dna, 300, 700);
    for (mode, end_gaps) in MODES {
        let job = job(&query, &target, dna(GAPS[1], mode, end_gaps));
        for keeps_columns in [false, true] {
            let inner = Textbook { panel_columns: 1 << 16, ..textbook("useless", 1e8) };
            let engines: super::Engines = vec![Box::new(Useless { inner, keeps_columns })];
            let error = run_long(&job, engines, &Run::default()).unwrap_err();
            let message = error.to_string();
            assert!(matches!(error, Error::Internal(_)) && message.contains("useless: cannot trace"), "{message}");
        }
    }
}
