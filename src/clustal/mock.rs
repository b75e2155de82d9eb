//! A reference engine that computes ClustalW's identities with the textbook algorithm.

use std::sync::atomic::{AtomicBool, Ordering};

use super::{Clustal, ClustalBatch, ClustalReport, oracle};
use crate::engine::mock::{Mock, TextbookKind};
use crate::error::{Error, Result};

/// An engine that computes every pair with [`oracle::identities`].
pub type ClustalMock = Mock<Clustal>;

impl TextbookKind for Clustal {
    fn compute_textbook(batch: &ClustalBatch, interrupt: &AtomicBool) -> Result<ClustalReport> {
        let chunk = &batch.chunk;
        let mut identities = Vec::with_capacity(batch.pairs() as usize);
        for (first, second) in batch.blocks.iter().flat_map(|block| chunk.pairs(block)) {
            if interrupt.load(Ordering::Relaxed) {
                return Err(Error::Interrupted);
            }
            let [first, second] = [first, second].map(|id| chunk.sequences.codes(id));
            identities.push(oracle::identities(first, second, &chunk.costs));
        }
        Ok(ClustalReport { identities, ..ClustalReport::default() })
    }
}
