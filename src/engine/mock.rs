//! A textbook as an engine, for tests.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::sizing::LeastWork;
use super::waiting::Waiting;
use super::{Batch, Capacity, Engine, Ticket, Work};
use crate::error::Result;

/// Cells a batch: some tenths of a second.
const CELLS: u64 = 1 << 26;
/// Pairs a batch at most.
const PAIRS: u64 = 1 << 14;

/// A kind of work with a textbook for whole batches.
pub trait TextbookKind: Work {
    /// Computes a batch, cell by cell.
    ///
    /// # Errors
    /// [`crate::Error::Interrupted`] if the flag is set before all is done.
    fn by_the_textbook(batch: &Batch<Self>, interrupt: &AtomicBool) -> Result<Self::Report>;
}

/// What a [`Mock`] does to every right report.
pub type Spoil<K> = fn(&mut <K as Work>::Report);

/// An engine that computes by the textbook, on the thread that collects.
#[derive(Debug)]
pub struct Mock<K: TextbookKind> {
    name: String,
    capacity: Capacity,
    spoil: Option<Spoil<K>>,
    interrupt: Arc<AtomicBool>,
    waiting: Waiting<K>,
}

impl<K: TextbookKind> Mock<K> {
    /// An engine of this name that takes anything.
    pub fn new(name: impl Into<String>) -> Self {
        Mock {
            name: name.into(),
            capacity: Capacity { cells: CELLS, pairs: PAIRS, store_bytes: u64::MAX, batches: 1 },
            spoil: None,
            interrupt: Arc::default(),
            waiting: Waiting::default(),
        }
    }

    /// Takes so many cells and pairs at once.
    pub fn with_capacity(mut self, cells: u64, pairs: u64) -> Self {
        (self.capacity.cells, self.capacity.pairs) = (cells, pairs);
        self
    }

    /// Ends a batch early with [`crate::Error::Interrupted`] once the flag is set.
    pub fn with_interrupt(mut self, interrupt: Arc<AtomicBool>) -> Self {
        self.interrupt = interrupt;
        self
    }

    /// Does this to every report.
    pub fn with_spoil(mut self, spoil: Spoil<K>) -> Self {
        self.spoil = Some(spoil);
        self
    }
}

impl<K: TextbookKind> Engine<K> for Mock<K> {
    fn name(&self) -> &str {
        &self.name
    }

    fn universal(&self) -> bool {
        true
    }

    fn capacity(&self) -> Capacity {
        self.capacity
    }

    fn least_work(&self) -> LeastWork {
        LeastWork { seconds: 0.004, pairs: 1, fill: 0 }
    }

    fn submit(&mut self, batch: Arc<Batch<K>>) -> Result<Ticket> {
        Ok(self.waiting.add(batch))
    }

    fn collect(&mut self, ticket: Ticket) -> Result<K::Report> {
        let batch = self.waiting.take(ticket)?;
        let mut report = K::by_the_textbook(&batch, &self.interrupt)?;
        if let Some(spoil) = self.spoil {
            spoil(&mut report);
        }
        Ok(report)
    }
}
