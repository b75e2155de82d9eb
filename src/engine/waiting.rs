//! Batches of an engine that computes on the thread that collects.

use std::collections::VecDeque;
use std::sync::Arc;

use super::{Batch, Ticket, Work};
use crate::error::{Error, Result};

/// Batches that were submitted and not collected.
#[derive(Debug)]
pub struct Waiting<W: Work> {
    batches: VecDeque<(Ticket, Arc<Batch<W>>)>,
    next: u64,
}

impl<W: Work> Default for Waiting<W> {
    fn default() -> Self {
        Waiting { batches: VecDeque::new(), next: 0 }
    }
}

impl<W: Work> Waiting<W> {
    /// Keeps a batch until it is collected.
    pub fn add(&mut self, batch: Arc<Batch<W>>) -> Ticket {
        let ticket = Ticket(self.next);
        self.next += 1;
        self.batches.push_back((ticket, batch));
        ticket
    }

    /// The batch of a ticket, which is then known no more.
    ///
    /// # Errors
    /// [`Error::Internal`] for a ticket that was not given, or was collected.
    pub fn take(&mut self, ticket: Ticket) -> Result<Arc<Batch<W>>> {
        let place = self.batches.iter().position(|(waiting, _)| *waiting == ticket);
        let batch = place.and_then(|place| self.batches.remove(place));
        batch.map(|(_, batch)| batch).ok_or_else(|| Error::Internal("a ticket that this worker never gave".into()))
    }
}
