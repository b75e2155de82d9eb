//! Scores of reads against vectors of states by the textbook, as an engine.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::vectors::{OCTET, Site, set_of};
use super::{Phylo, PhyloBatch, PhyloReport, oracle};
use crate::engine::sizing::LeastWork;
use crate::engine::{Batch, Capacity, Engine, Ticket};
use crate::error::{Error, Result};

/// Cells a batch: some tenths of a second.
const CELLS: u64 = 1 << 26;
/// Octets a batch at most.
const PAIRS: u64 = 1 << 14;

/// What a [`PhyloMock`] does to every right report.
pub type Spoil = fn(&mut PhyloReport);

/// An engine that computes every score by [`oracle::score`], on the thread that collects.
#[derive(Debug)]
pub struct PhyloMock {
    name: String,
    capacity: Capacity,
    spoil: Option<Spoil>,
    interrupt: Arc<AtomicBool>,
    waiting: HashMap<Ticket, Arc<PhyloBatch>>,
    next_ticket: u64,
}

impl PhyloMock {
    /// An engine of this name that takes anything.
    pub fn new(name: impl Into<String>) -> Self {
        PhyloMock {
            name: name.into(),
            capacity: Capacity { cells: CELLS, pairs: PAIRS, store_bytes: u64::MAX, batches: 1 },
            spoil: None,
            interrupt: Arc::default(),
            waiting: HashMap::new(),
            next_ticket: 0,
        }
    }

    /// Takes so many cells and octets at once.
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

impl Engine<Phylo> for PhyloMock {
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

    fn submit(&mut self, batch: Arc<Batch<Phylo>>) -> Result<Ticket> {
        let ticket = Ticket(self.next_ticket);
        self.next_ticket += 1;
        self.waiting.insert(ticket, batch);
        Ok(ticket)
    }

    fn collect(&mut self, ticket: Ticket) -> Result<PhyloReport> {
        let batch = self.waiting.remove(&ticket).ok_or_else(|| Error::Internal("an unknown ticket".into()))?;
        let band = &batch.band;
        let vectors = &*band.vectors;
        let mut scores = Vec::with_capacity(batch.pairs() as usize);
        for block in &batch.blocks {
            let codes = band.reads.codes(block.read);
            let read: Vec<u32> = codes.iter().map(|&code| set_of(vectors.alphabet(), code)).collect();
            for place in block.places.clone() {
                if self.interrupt.load(Ordering::Relaxed) {
                    return Err(Error::Interrupted);
                }
                let first = band.octet(place) * OCTET as u32;
                let mut own = [0; OCTET];
                for (vector, score) in (first..vectors.len()).zip(&mut own) {
                    let sites: Vec<Site> = (0..vectors.sites()).map(|site| vectors.site(vector, site)).collect();
                    *score = oracle::score(&read, &sites, &band.scheme) as i32;
                }
                scores.push(own);
            }
        }
        let mut report = PhyloReport { scores, ..PhyloReport::default() };
        if let Some(spoil) = self.spoil {
            spoil(&mut report);
        }
        Ok(report)
    }
}
