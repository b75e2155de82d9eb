//! Levenshtein distances by the textbook, as an engine.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{Edit, EditBatch, EditReport, oracle};
use crate::engine::sizing::LeastWork;
use crate::engine::{Batch, Capacity, Engine, Ticket};
use crate::error::{Error, Result};
use crate::score::Found;

/// Cells a batch: some tenths of a second.
const CELLS: u64 = 1 << 26;
/// Pairs a batch at most.
const PAIRS: u64 = 1 << 14;

/// What an [`EditMock`] does to every right report.
pub type Spoil = fn(&mut EditReport);

/// An engine that computes every pair by [`oracle::find`], on the thread that collects.
#[derive(Debug)]
pub struct EditMock {
    name: String,
    capacity: Capacity,
    spoil: Option<Spoil>,
    interrupt: Arc<AtomicBool>,
    waiting: HashMap<Ticket, Arc<EditBatch>>,
    next_ticket: u64,
}

impl EditMock {
    /// An engine of this name that takes anything.
    pub fn new(name: impl Into<String>) -> Self {
        EditMock {
            name: name.into(),
            capacity: Capacity { cells: CELLS, pairs: PAIRS, store_bytes: u64::MAX, batches: 1 },
            spoil: None,
            interrupt: Arc::default(),
            waiting: HashMap::new(),
            next_ticket: 0,
        }
    }

    /// Takes so many cells and pairs at once.
    pub fn with_capacity(mut self, cells: u64, pairs: u64) -> Self {
        (self.capacity.cells, self.capacity.pairs) = (cells, pairs);
        self
    }

    /// Ends a batch early with [`Error::Interrupted`] once the flag is set.
    pub fn with_interrupt(mut self, interrupt: Arc<AtomicBool>) -> Self {
        self.interrupt = interrupt;
        self
    }

    /// Does this to every report.
    pub fn with_spoil(mut self, spoil: Spoil) -> Self {
        self.spoil = Some(spoil);
        self
    }
}

impl Engine<Edit> for EditMock {
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

    fn submit(&mut self, batch: Arc<Batch<Edit>>) -> Result<Ticket> {
        let ticket = Ticket(self.next_ticket);
        self.next_ticket += 1;
        self.waiting.insert(ticket, batch);
        Ok(ticket)
    }

    fn collect(&mut self, ticket: Ticket) -> Result<EditReport> {
        let batch = self.waiting.remove(&ticket).ok_or_else(|| Error::Internal("an unknown ticket".into()))?;
        let band = &batch.band;
        let mut found: Vec<Found> = Vec::with_capacity(batch.pairs() as usize);
        for block in &batch.blocks {
            let pattern = band.patterns.codes(block.pattern);
            for place in block.places.clone() {
                if self.interrupt.load(Ordering::Relaxed) {
                    return Err(Error::Interrupted);
                }
                found.push(oracle::find(pattern, band.text(place), &band.scheme));
            }
        }
        let mut report = EditReport { found, ..EditReport::default() };
        if let Some(spoil) = self.spoil {
            spoil(&mut report);
        }
        Ok(report)
    }
}
