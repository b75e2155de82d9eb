//! Engines that panic in any call, and engines that become silent.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use pairwave::jobs::long::{LongEngines, Reserve};
use pairwave::jobs::{LongAlignment, LongWant};
use pairwave::long::mock::Textbook;
use pairwave::long::{
    LeftSource, LongEngine, Method, PanelSweep, SweepResult, SweepSink, TraceRegion, TracebackResult,
};
use pairwave::pairs::mock::Gate;
use pairwave::score::{EndGaps, Mode};
use pairwave::seq::Alphabet;
use pairwave::{Error, Result, Run};

use super::{Engines, GAPS, Hooked, MODES, dna, expected, job, related, textbook};
use support::{LongResult, run_long};

/// A method of an engine.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Asked {
    Speed,
    PanelColumns,
    KeepsColumns,
    CanTrace,
    Trace,
    Drop,
}

/// An engine that fails in the n-th call of a method.
struct Faulty {
    inner: Textbook,
    asked: Asked,
    left: AtomicU32,
    happens: Box<dyn Fn() + Send + Sync>,
}

impl Faulty {
    fn boxed(asked: Asked, nth: u32, happens: impl Fn() + Send + Sync + 'static) -> Box<dyn LongEngine> {
        let inner = textbook("faulty", 2e8);
        Box::new(Faulty { inner, asked, left: AtomicU32::new(nth), happens: Box::new(happens) })
    }

    fn count_call(&self, what: Asked) {
        if what == self.asked && self.left.fetch_sub(1, Ordering::Relaxed) == 1 {
            (self.happens)();
        }
    }
}

impl Drop for Faulty {
    fn drop(&mut self) {
        self.count_call(Asked::Drop);
    }
}

impl LongEngine for Faulty {
    fn label(&self) -> &str {
        &self.inner.label
    }

    fn speed(&self) -> f64 {
        self.count_call(Asked::Speed);
        self.inner.speed()
    }

    fn panel_columns(&self, rows: u32, columns: u32, alone: bool) -> u32 {
        self.count_call(Asked::PanelColumns);
        self.inner.panel_columns(rows, columns, alone)
    }

    fn keeps_columns(&self) -> bool {
        self.count_call(Asked::KeepsColumns);
        self.inner.keeps_columns()
    }

    fn sweep(&mut self, sweep: &PanelSweep, left: &dyn LeftSource, sink: &dyn SweepSink) -> Result<SweepResult> {
        if self.asked == Asked::Drop {
            return Err(Error::Device { device: "faulty".into(), message: "lost".into() });
        }
        self.inner.sweep(sweep, left, sink)
    }

    fn can_trace(&self, rows: u32, columns: u32, method: Method) -> bool {
        self.count_call(Asked::CanTrace);
        self.inner.can_trace(rows, columns, method)
    }

    fn trace(&mut self, region: &TraceRegion) -> Result<TracebackResult> {
        self.count_call(Asked::Trace);
        self.inner.trace(region)
    }
}

/// Runs a job with little patience.
fn run(job: &LongAlignment, engines: Engines) -> Result<LongResult> {
    let reserve: Reserve = Box::new(|| Box::new(textbook("reserve", 1e8)));
    let run = Run { patience: Some(Duration::from_millis(50)), ..Run::default() };
    run_long(job, LongEngines { engines, reserve: Some(reserve), host: None }, &run)
}

fn why_lost(result: &LongResult, name: &str) -> Option<String> {
    result.summary.engines.iter().find(|engine| engine.name == name).and_then(|engine| engine.lost.clone())
}

#[test]
fn an_engine_that_panics_in_any_call_is_lost() {
    let (query, target) = related(50, Alphabet::Dna, 300, 280);
    let scoring = dna(GAPS[1], Mode::Local, EndGaps::Charged);
    let expected = expected(&query, &target, &scoring);
    let job = job(&query, &target, scoring);
    let all = [Asked::Speed, Asked::PanelColumns, Asked::KeepsColumns, Asked::CanTrace, Asked::Trace, Asked::Drop];
    let mut lost = 0;
    for (asked, nth) in all.into_iter().flat_map(|asked| [1, 2, 3, 4, 6].map(|nth| (asked, nth))) {
        for others in [0, 1] {
            let mut engines: Engines = vec![Faulty::boxed(asked, nth, || panic!("by script"))];
            engines.extend((0..others).map(|_| Box::new(textbook("strong", 1e8)) as Box<dyn LongEngine>));
            let result = run(&job, engines).unwrap();
            assert_eq!(result.hits, expected, "{asked:?} {nth}, {others} others");
            let why = why_lost(&result, "faulty");
            lost += u32::from(why.is_some());
            // The job may call the method fewer times than that.
            let said = if asked == Asked::Drop { "lost" } else { "panicked: by script" };
            assert!(why.as_ref().is_none_or(|why| why.contains(said)), "{asked:?} {nth}, {others} others: {why:?}");
            // If another engine is faster, this engine may get no panel, so it cannot be lost.
            let is_sure = nth == 1 && (asked != Asked::Drop || others == 0);
            assert!(!is_sure || why.is_some(), "{asked:?}, {others} others");
        }
    }
    assert!(lost > 20, "{lost}");
}

#[test]
fn a_silent_engine_is_abandoned() {
    let (query, target) = related(51, Alphabet::Dna, 400, 500);
    for (mode, end_gaps) in MODES {
        let scoring = dna(GAPS[1], mode, end_gaps);
        let expected = expected(&query, &target, &scoring);
        let job = job(&query, &target, scoring);
        for (at, want, others) in [(1, LongWant::Alignment, 1), (5, LongWant::Alignment, 0), (5, LongWant::Score, 1)] {
            let gate = Gate::default();
            let waits = gate.clone();
            let hook = move |count| {
                if count == at {
                    waits.wait();
                }
                Ok(())
            };
            let mut engines: Engines = vec![Box::new(Hooked::new(textbook("silent", 2e8), hook))];
            engines.extend((0..others).map(|_| {
                let slow = |_: u64| std::thread::sleep(Duration::from_millis(1));
                Box::new(Host(Hooked::new(textbook("strong", 1e8), move |count| {
                    slow(count);
                    Ok(())
                }))) as Box<dyn LongEngine>
            }));
            let result = run(&LongAlignment { want, ..job.clone() }, engines).unwrap();
            let what = format!("{mode:?}, {end_gaps:?}, mark {at}, {want:?}, {others} others");
            assert_eq!(result.hits[0].score, expected[0].score, "{what}");
            if want == LongWant::Alignment {
                assert_eq!(result.hits, expected, "{what}");
            }
            let why = why_lost(&result, "silent");
            assert!(why.as_ref().is_some_and(|why| why.starts_with("no answer for")), "{what}: {why:?}");
            gate.open();
        }
    }
}

#[test]
fn a_slow_cpu_takes_over_from_lost_devices() {
    let (query, target) = related(55, Alphabet::Dna, 300, 280);
    let scoring = dna(GAPS[1], Mode::Local, EndGaps::Charged);
    let expected = expected(&query, &target, &scoring);
    let job = LongAlignment { want: LongWant::Score, ..job(&query, &target, scoring) };
    for (lost_at, devices) in [(None, 1), (None, 2), (Some(1), 1), (Some(5), 1), (Some(3), 2)] {
        let panels_of_cpu = Arc::new(AtomicU32::new(0));
        let counted = Arc::clone(&panels_of_cpu);
        let cpu = Hooked::new(textbook("CPU", 1e8), move |_| {
            counted.fetch_add(1, Ordering::Relaxed);
            Ok(())
        });
        let device = || {
            let hook = move |count| match lost_at {
                Some(at) if count >= at => Err(Error::Device { device: "device".into(), message: "lost".into() }),
                _ => Ok(()),
            };
            Box::new(Hooked::new(textbook("device", 1e12), hook)) as Box<dyn LongEngine>
        };
        let mut engines: Engines = (0..devices).map(|_| device()).collect();
        engines.push(Box::new(Host(cpu)));
        let result = run(&job, engines).unwrap();
        assert_eq!(result.hits[0].score, expected[0].score, "{lost_at:?}, {devices} devices");
        let lost = result.summary.engines.iter().filter(|engine| engine.lost.is_some()).count();
        assert_eq!(lost, if lost_at.is_some() { devices } else { 0 }, "{lost_at:?}");
        assert_eq!(panels_of_cpu.load(Ordering::Relaxed) > 0, lost_at.is_some(), "{lost_at:?}, {devices} devices");
    }
}

#[test]
fn an_engine_that_falls_silent_in_a_traceback_is_abandoned() {
    let (query, target) = related(52, Alphabet::Dna, 300, 280);
    let scoring = dna(GAPS[1], Mode::Global, EndGaps::Charged);
    let expected = expected(&query, &target, &scoring);
    let job = job(&query, &target, scoring);
    for (nth, others) in [(1, 0), (2, 1)] {
        let gate = Gate::default();
        let waits = gate.clone();
        let mut engines: Engines = vec![Faulty::boxed(Asked::Trace, nth, move || waits.wait())];
        engines.extend((0..others).map(|_| Box::new(textbook("strong", 1e8)) as Box<dyn LongEngine>));
        let result = run(&job, engines).unwrap();
        assert_eq!(result.hits, expected, "{nth}, {others} others");
        assert!(why_lost(&result, "faulty").is_some_and(|why| why.starts_with("no answer for")));
        gate.open();
    }
}

#[test]
fn an_abandoned_engine_that_wakes_does_no_harm() {
    let (query, target) = related(53, Alphabet::Dna, 600, 300);
    for (mode, end_gaps) in MODES {
        let scoring = dna(GAPS[1], mode, end_gaps);
        let expected = expected(&query, &target, &scoring);
        let job = job(&query, &target, scoring);
        for (at, pause) in [(1, 260), (3, 120), (4, 300)] {
            let sleeper = Hooked::new(textbook("sleeper", 2e8), move |count| {
                std::thread::sleep(Duration::from_millis(if count == at { pause } else { 0 }));
                Ok(())
            });
            let slow = Hooked::new(textbook("slow", 1e8), |_| {
                std::thread::sleep(Duration::from_millis(8));
                Ok(())
            });
            let result = run(&job, vec![Box::new(sleeper), Box::new(Host(slow))]).unwrap();
            assert_eq!(result.hits, expected, "{mode:?}, {end_gaps:?}, mark {at}, {pause} ms");
        }
    }
}

#[test]
fn an_interrupt_does_not_wait_for_a_silent_engine() {
    let (query, target) = related(54, Alphabet::Dna, 300, 280);
    let job = job(&query, &target, dna(GAPS[1], Mode::Local, EndGaps::Charged));
    let gate = Gate::default();
    let interrupt = Arc::new(AtomicBool::new(false));
    let hook = {
        let (gate, interrupt) = (gate.clone(), Arc::clone(&interrupt));
        move |_| {
            interrupt.store(true, Ordering::Relaxed);
            gate.wait();
            Ok(())
        }
    };
    let run = Run { interrupt, patience: Some(Duration::from_secs(1 << 20)), ..Run::default() };
    let engines: Engines = vec![Box::new(Hooked::new(textbook("silent", 1e8), hook))];
    let error = run_long(&job, engines, &run).unwrap_err();
    assert!(matches!(error, Error::Interrupted), "{error}");
    gate.open();
}

/// An engine that may be silent for any time.
struct Host(Hooked);

impl LongEngine for Host {
    fn label(&self) -> &str {
        self.0.label()
    }

    fn speed(&self) -> f64 {
        self.0.speed()
    }

    fn panel_columns(&self, rows: u32, columns: u32, alone: bool) -> u32 {
        self.0.panel_columns(rows, columns, alone)
    }

    fn is_host(&self) -> bool {
        true
    }

    fn sweep(&mut self, sweep: &PanelSweep, left: &dyn LeftSource, sink: &dyn SweepSink) -> Result<SweepResult> {
        self.0.sweep(sweep, left, sink)
    }

    fn can_trace(&self, rows: u32, columns: u32, method: Method) -> bool {
        self.0.can_trace(rows, columns, method)
    }

    fn trace(&mut self, region: &TraceRegion) -> Result<TracebackResult> {
        self.0.trace(region)
    }
}
