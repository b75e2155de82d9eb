//! An engine for tests that computes with the textbook algorithm.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::pending::PendingBatches;
use super::sizing::MinWork;
use super::{Batch, Capacity, Engine, Ticket, Work};
use crate::error::Result;

/// Number of cells in a batch, which takes some tenths of a second.
const CELLS: u64 = 1 << 26;
/// Largest number of pairs in a batch.
const PAIRS: u64 = 1 << 14;

/// A kind of work with a textbook algorithm for whole batches.
pub trait TextbookKind: Work {
    /// Computes a batch, cell by cell.
    ///
    /// # Errors
    /// [`crate::Error::Interrupted`] if the flag is set before the batch is finished.
    fn compute_textbook(batch: &Batch<Self>, interrupt: &AtomicBool) -> Result<Self::Report>;
}

/// A change that a [`Mock`] makes to every correct report.
pub type Corrupt<K> = fn(&mut <K as Work>::Report);

/// An engine that computes with the textbook algorithm on the collecting thread.
#[derive(Debug)]
pub struct Mock<K: TextbookKind> {
    name: String,
    capacity: Capacity,
    corrupt: Option<Corrupt<K>>,
    interrupt: Arc<AtomicBool>,
    pending: PendingBatches<K>,
}

impl<K: TextbookKind> Mock<K> {
    /// Returns an engine of this name that accepts every batch.
    pub fn new(name: impl Into<String>) -> Self {
        Mock {
            name: name.into(),
            capacity: Capacity { cells: CELLS, pairs: PAIRS, store_bytes: u64::MAX, batches: 1 },
            corrupt: None,
            interrupt: Arc::default(),
            pending: PendingBatches::default(),
        }
    }

    /// Sets the capacity in cells and pairs.
    pub fn with_capacity(mut self, cells: u64, pairs: u64) -> Self {
        (self.capacity.cells, self.capacity.pairs) = (cells, pairs);
        self
    }

    /// Ends a batch early with [`crate::Error::Interrupted`] once the flag is set.
    pub fn with_interrupt(mut self, interrupt: Arc<AtomicBool>) -> Self {
        self.interrupt = interrupt;
        self
    }

    /// Applies this change to every report.
    pub fn with_corruption(mut self, corrupt: Corrupt<K>) -> Self {
        self.corrupt = Some(corrupt);
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

    fn min_work(&self) -> MinWork {
        MinWork { seconds: 0.004, pairs: 1, fill: 0, first_part: 0.0 }
    }

    fn submit(&mut self, batch: Arc<Batch<K>>) -> Result<Ticket> {
        Ok(self.pending.add(batch))
    }

    fn collect(&mut self, ticket: Ticket) -> Result<K::Report> {
        let batch = self.pending.take(ticket)?;
        let mut report = K::compute_textbook(&batch, &self.interrupt)?;
        if let Some(corrupt) = self.corrupt {
            corrupt(&mut report);
        }
        Ok(report)
    }
}
