//! An engine for long pairs that several jobs use one after the other.

use std::sync::{Arc, Mutex};

use crate::error::Result;
use crate::long::{LongEngine, Method, Region, Sink, Source, Sweep, Swept, Traced};

/// An engine that outlives the jobs that it is lent to, with what it has compiled.
#[derive(Clone)]
pub(crate) struct SharedEngine {
    label: String,
    engine: Arc<Mutex<Box<dyn LongEngine>>>,
}

impl SharedEngine {
    /// Takes an engine to be lent.
    pub(crate) fn new(engine: Box<dyn LongEngine>) -> Self {
        SharedEngine { label: engine.label().to_owned(), engine: Arc::new(Mutex::new(engine)) }
    }

    fn with<T>(&self, ask: impl FnOnce(&mut dyn LongEngine) -> T) -> T {
        ask(self.engine.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).as_mut())
    }
}

impl LongEngine for SharedEngine {
    fn label(&self) -> &str {
        &self.label
    }

    fn speed(&self) -> f64 {
        self.with(|engine| engine.speed())
    }

    fn panel_columns(&self, rows: u32, columns: u32) -> u32 {
        self.with(|engine| engine.panel_columns(rows, columns))
    }

    fn keeps_columns(&self) -> bool {
        self.with(|engine| engine.keeps_columns())
    }

    fn is_host(&self) -> bool {
        self.with(|engine| engine.is_host())
    }

    fn sweep(&mut self, sweep: &Sweep, left: &dyn Source, sink: &dyn Sink) -> Result<Swept> {
        self.with(|engine| engine.sweep(sweep, left, sink))
    }

    fn can_trace(&self, rows: u32, columns: u32, method: Method) -> bool {
        self.with(|engine| engine.can_trace(rows, columns, method))
    }

    fn trace(&mut self, region: &Region) -> Result<Traced> {
        self.with(|engine| engine.trace(region))
    }
}
