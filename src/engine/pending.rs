//! Submitted batches of an engine that computes on the collecting thread.

use std::collections::VecDeque;
use std::sync::Arc;

use super::{Batch, Ticket, Work};
use crate::error::{Error, Result};

/// Batches that were submitted and not yet collected.
#[derive(Debug)]
pub struct PendingBatches<W: Work> {
    batches: VecDeque<(Ticket, Arc<Batch<W>>)>,
    next: u64,
}

impl<W: Work> Default for PendingBatches<W> {
    fn default() -> Self {
        PendingBatches { batches: VecDeque::new(), next: 0 }
    }
}

impl<W: Work> PendingBatches<W> {
    /// Stores a batch until it is collected, and returns its ticket.
    pub fn add(&mut self, batch: Arc<Batch<W>>) -> Ticket {
        let ticket = Ticket(self.next);
        self.next += 1;
        self.batches.push_back((ticket, batch));
        ticket
    }

    /// Removes and returns the batch of a ticket.
    ///
    /// # Errors
    /// [`Error::Internal`] for a ticket that was never issued or was already collected.
    pub fn take(&mut self, ticket: Ticket) -> Result<Arc<Batch<W>>> {
        let index = self.batches.iter().position(|(pending, _)| *pending == ticket);
        let batch = index.and_then(|index| self.batches.remove(index));
        batch.map(|(_, batch)| batch).ok_or_else(|| Error::Internal("the engine has no batch with this ticket".into()))
    }
}
