//! An engine for long pairs that several jobs use one after the other.

use std::sync::{Arc, Mutex, TryLockError};

use crate::error::{Error, Result};
use crate::long::{LeftSource, LongEngine, Method, PanelSweep, SweepResult, SweepSink, TraceRegion, TracebackResult};

/// An engine that outlives the jobs that use it, and keeps its compiled kernels.
///
/// A job that abandons the engine leaves it in a thread that may never end. Other jobs do not wait
/// for that thread. They receive an error that the device is lost.
#[derive(Clone)]
pub struct SharedEngine {
    label: String,
    engine: Arc<Mutex<Box<dyn LongEngine>>>,
}

impl SharedEngine {
    /// Creates a shared engine.
    pub fn new(engine: Box<dyn LongEngine>) -> Self {
        SharedEngine { label: engine.label().to_owned(), engine: Arc::new(Mutex::new(engine)) }
    }

    /// Calls the engine. Returns `None` if an abandoned thread has it.
    fn with<T>(&self, ask: impl FnOnce(&mut dyn LongEngine) -> T) -> Option<T> {
        match self.engine.try_lock() {
            Ok(mut engine) => Some(ask(engine.as_mut())),
            Err(TryLockError::Poisoned(poisoned)) => Some(ask(poisoned.into_inner().as_mut())),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    fn abandoned(&self) -> Error {
        let message = "a job that abandoned it still uses it".into();
        Error::Device { device: self.label.clone(), message }
    }
}

impl LongEngine for SharedEngine {
    fn label(&self) -> &str {
        &self.label
    }

    fn speed(&self) -> f64 {
        self.with(|engine| engine.speed()).unwrap_or(1.0)
    }

    fn panel_columns(&self, rows: u32, columns: u32, alone: bool) -> u32 {
        self.with(|engine| engine.panel_columns(rows, columns, alone)).unwrap_or(columns)
    }

    fn min_panel_columns(&self) -> u32 {
        self.with(|engine| engine.min_panel_columns()).unwrap_or(1)
    }

    fn keeps_columns(&self) -> bool {
        self.with(|engine| engine.keeps_columns()).unwrap_or(false)
    }

    fn is_host(&self) -> bool {
        self.with(|engine| engine.is_host()).unwrap_or(false)
    }

    fn sweep(&mut self, sweep: &PanelSweep, left: &dyn LeftSource, sink: &dyn SweepSink) -> Result<SweepResult> {
        self.with(|engine| engine.sweep(sweep, left, sink)).unwrap_or_else(|| Err(self.abandoned()))
    }

    fn can_trace(&self, rows: u32, columns: u32, method: Method) -> bool {
        self.with(|engine| engine.can_trace(rows, columns, method)).unwrap_or(false)
    }

    fn max_prepared_regions(&self) -> usize {
        self.with(|engine| engine.max_prepared_regions()).unwrap_or(0)
    }

    fn prepare(&mut self, regions: &[TraceRegion]) -> Result<usize> {
        self.with(|engine| engine.prepare(regions)).unwrap_or_else(|| Err(self.abandoned()))
    }

    fn trace(&mut self, region: &TraceRegion) -> Result<TracebackResult> {
        self.with(|engine| engine.trace(region)).unwrap_or_else(|| Err(self.abandoned()))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;
    use std::sync::mpsc::{Receiver, Sender, channel};

    use super::*;
    use crate::long::mock::Textbook;
    use crate::long::{BorderSpan, LongPair, PathPoint, PathState};
    use crate::score::{Mode, Scoring};

    /// Blocks in every traceback until the test releases it.
    struct HangingEngine {
        inner: Textbook,
        entered: Sender<()>,
        resume: Receiver<()>,
    }

    impl LongEngine for HangingEngine {
        fn label(&self) -> &str {
            "hanging"
        }

        fn speed(&self) -> f64 {
            self.inner.speed()
        }

        fn panel_columns(&self, rows: u32, columns: u32, alone: bool) -> u32 {
            self.inner.panel_columns(rows, columns, alone)
        }

        fn sweep(&mut self, sweep: &PanelSweep, left: &dyn LeftSource, sink: &dyn SweepSink) -> Result<SweepResult> {
            self.inner.sweep(sweep, left, sink)
        }

        fn can_trace(&self, rows: u32, columns: u32, method: Method) -> bool {
            self.inner.can_trace(rows, columns, method)
        }

        fn trace(&mut self, region: &TraceRegion) -> Result<TracebackResult> {
            self.entered.send(()).expect("the test waits for it");
            self.resume.recv().expect("the test says when");
            self.inner.trace(region)
        }
    }

    #[test]
    fn jobs_do_not_wait_for_an_abandoned_engine() {
        fn trace(engine: &mut SharedEngine) -> Result<TracebackResult> {
            let scoring = Arc::new(Scoring { mode: Mode::Local, ..Scoring::truong() });
            let pair = &LongPair { query: [1, 2, 4].into(), target: [1, 2, 4].into(), scoring };
            let (top, left, interrupt) = (&pair.top_border(0..3), &pair.left_border(0..3), &AtomicBool::new(false));
            let from = PathPoint { i: 3, j: 3, state: PathState::H };
            let (rows, columns, method) = (BorderSpan::new(0, 3), BorderSpan::new(0, 3), Method::default());
            let (strip, chunk) = (None, None);
            engine.trace(&TraceRegion { pair, rows, columns, top, left, from, method, strip, chunk, interrupt })
        }
        let inner = Textbook {
            label: "hanging".into(),
            speed: 1e8,
            panel_columns: 40,
            trace_cells: 1 << 14,
            keeps_columns: false,
        };
        let ((entered, has_entered), (tell, resume)) = (channel(), channel());
        let mut engine = SharedEngine::new(Box::new(HangingEngine { inner, entered, resume }));
        let mut in_use = engine.clone();
        let thread = std::thread::spawn(move || trace(&mut in_use));
        has_entered.recv().expect("the call starts");
        assert_eq!(engine.label(), "hanging");
        assert!(
            engine.speed() > 0.0 && engine.panel_columns(3, 3, true) > 0 && !engine.can_trace(3, 3, Method::default())
        );
        let error = trace(&mut engine).expect_err("the engine is in use");
        assert!(matches!(error, Error::Device { .. }), "{error}");
        tell.send(()).expect("it waits");
        let cigar = thread.join().expect("it ends well").expect("it is traced").cigar;
        assert_eq!(cigar.to_string(), "3=");
        // A released engine works as before.
        tell.send(()).expect("it waits");
        assert_eq!(trace(&mut engine).expect("it is traced").cigar, cigar);
    }
}
