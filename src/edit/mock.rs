//! Levenshtein distances by the textbook, as an engine.

use std::sync::atomic::{AtomicBool, Ordering};

use super::{Distances, Edit, EditBatch, EditReport, oracle};
use crate::engine::mock::{Mock, TextbookKind};
use crate::error::{Error, Result};
use crate::score::EditDistance;

/// An engine that computes every pair by [`oracle::find`].
pub type EditMock = Mock<Edit>;

impl TextbookKind for Edit {
    fn compute_textbook(batch: &EditBatch, interrupt: &AtomicBool) -> Result<EditReport> {
        let chunk = &batch.chunk;
        let mut found: Vec<EditDistance> = Vec::with_capacity(batch.pairs() as usize);
        for block in &batch.blocks {
            let pattern = chunk.patterns.codes(block.pattern);
            for place in block.places.clone() {
                if interrupt.load(Ordering::Relaxed) {
                    return Err(Error::Interrupted);
                }
                found.push(oracle::find(pattern, chunk.text(place), &chunk.scheme));
            }
        }
        Ok(EditReport { found: Distances::Each(found.into()), ..EditReport::default() })
    }
}
