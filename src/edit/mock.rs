//! A reference engine that computes Levenshtein distances with the textbook algorithm.

use std::sync::atomic::{AtomicBool, Ordering};

use super::{BatchDistances, Edit, EditBatch, EditReport, oracle};
use crate::engine::mock::{Mock, TextbookKind};
use crate::error::{Error, Result};
use crate::score::EditDistance;

/// An engine that computes every pair with [`oracle::find`].
pub type EditMock = Mock<Edit>;

impl TextbookKind for Edit {
    fn compute_textbook(batch: &EditBatch, interrupt: &AtomicBool) -> Result<EditReport> {
        let chunk = &batch.chunk;
        let mut distances: Vec<EditDistance> = Vec::with_capacity(batch.pairs() as usize);
        for block in &batch.blocks {
            let pattern = chunk.patterns.codes(block.pattern);
            for index in block.regions.clone() {
                if interrupt.load(Ordering::Relaxed) {
                    return Err(Error::Interrupted);
                }
                distances.push(oracle::find(pattern, chunk.text(index), &chunk.scheme));
            }
        }
        Ok(EditReport { distances: BatchDistances::Each(distances.into()), ..EditReport::default() })
    }
}
