//! A reference engine that scores reads with the textbook algorithm.

use std::sync::atomic::{AtomicBool, Ordering};

use super::vectors::{OCTET, Site, set_of};
use super::{Phylo, PhyloBatch, PhyloReport, oracle};
use crate::engine::mock::{Mock, TextbookKind};
use crate::error::{Error, Result};

/// An engine that computes every score with [`oracle::score`].
pub type PhyloMock = Mock<Phylo>;

impl TextbookKind for Phylo {
    fn compute_textbook(batch: &PhyloBatch, interrupt: &AtomicBool) -> Result<PhyloReport> {
        let chunk = &batch.chunk;
        let vectors = &*chunk.vectors;
        let mut scores = Vec::with_capacity(batch.pairs() as usize);
        for block in &batch.blocks {
            let codes = chunk.reads.codes(block.read);
            let read: Vec<u32> = codes.iter().map(|&code| set_of(vectors.alphabet(), code)).collect();
            for octet_position in block.positions.clone() {
                if interrupt.load(Ordering::Relaxed) {
                    return Err(Error::Interrupted);
                }
                let first = chunk.octet(octet_position) * OCTET as u32;
                let mut octet_scores = [0; OCTET];
                for (vector, score) in (first..vectors.len()).zip(&mut octet_scores) {
                    let sites: Vec<Site> = (0..vectors.sites()).map(|site| vectors.site(vector, site)).collect();
                    *score = oracle::score(&read, &sites, &chunk.scheme) as i32;
                }
                scores.push(octet_scores);
            }
        }
        Ok(PhyloReport { scores, ..PhyloReport::default() })
    }
}
