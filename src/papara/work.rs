//! Reads against vectors of ancestral states, as work.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use super::vectors::{OCTET, Vectors};
use crate::engine::{Batch, BatchReport, Portion, Work, check};
use crate::score::PhyloScheme;
use crate::seq::{SequenceId, SequenceStore};

/// What the blocks of a batch share.
#[derive(Debug)]
pub struct PhyloChunk {
    /// Where reads are.
    pub reads: Arc<SequenceStore>,
    /// Where vectors are.
    pub vectors: Arc<Vectors>,
    /// What is computed.
    pub scheme: Arc<PhyloScheme>,
    /// Octets of vectors: places that blocks count on. `None`: all of them, in their order.
    pub octets: Option<Arc<[u32]>>,
}

impl PhyloChunk {
    /// The octet at a place.
    #[inline]
    pub fn octet(&self, place: u32) -> u32 {
        self.octets.as_ref().map_or(place, |octets| octets[place as usize])
    }

    /// Cells of a read against an octet.
    pub fn cells(&self, read: SequenceId) -> u64 {
        OCTET as u64 * u64::from(self.reads.length(read)) * u64::from(self.vectors.sites())
    }
}

/// The least piece of work: one read against a run of places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PhyloBlock {
    /// The read.
    pub read: SequenceId,
    /// The places.
    pub places: Range<u32>,
    /// Cells of one of them.
    pub place_cells: u64,
}

/// Scores of reads against vectors.
#[derive(Debug, Clone, Copy)]
pub struct Phylo;

/// Blocks that are computed together.
pub type PhyloBatch = Batch<Phylo>;

/// What came of a batch.
#[derive(Debug, Clone, Default)]
pub struct PhyloReport {
    /// Eight a place: of all blocks in their order, of a block's places in theirs. Those of vectors that fill an octet up
    /// have no meaning, nor has what stands for blocks that are not finished.
    pub scores: Vec<[i32; OCTET]>,
    /// Indices of the blocks that the engine did not finish.
    pub unfinished: Vec<usize>,
    /// Time that the device was busy with the kernel, where it can be told.
    pub kernel_time: Option<Duration>,
}

impl BatchReport for PhyloReport {
    fn unfinished(&self) -> &[usize] {
        &self.unfinished
    }

    fn kernel_time(&self) -> Option<Duration> {
        self.kernel_time
    }
}

impl Work for Phylo {
    type Chunk = PhyloChunk;
    type Block = PhyloBlock;
    type Class = ();
    type Report = PhyloReport;

    /// A read against an octet counts as one.
    fn pairs(block: &PhyloBlock) -> u64 {
        block.places.len() as u64
    }

    fn cells(block: &PhyloBlock) -> u64 {
        block.place_cells * block.places.len() as u64
    }

    fn first_cells(_chunk: &PhyloChunk, block: &PhyloBlock) -> Option<u64> {
        (!block.places.is_empty()).then_some(block.place_cells)
    }

    fn one_block(_chunk: &PhyloChunk, _store_bytes: u64) -> bool {
        false
    }

    fn split(_chunk: &PhyloChunk, block: PhyloBlock, portion: Portion) -> (PhyloBlock, Option<PhyloBlock>) {
        let most = portion.pairs.min(portion.cells / block.place_cells.max(1)).max(1);
        if block.places.len() as u64 <= most {
            return (block, None);
        }
        let middle = block.places.start + most as u32;
        let tail = PhyloBlock { places: middle..block.places.end, ..block };
        (PhyloBlock { places: block.places.start..middle, ..block }, Some(tail))
    }

    fn check(batch: &PhyloBatch, report: &PhyloReport) -> Result<(), String> {
        let finished = check::finished(batch.blocks.len(), &report.unfinished)?;
        if report.scores.len() as u64 != batch.pairs() {
            return Err(format!("scores of {} octets for {}", report.scores.len(), batch.pairs()));
        }
        let (chunk, mut rest) = (&batch.chunk, &report.scores[..]);
        for (block, is_finished) in batch.blocks.iter().zip(finished) {
            let (own, others) = rest.split_at(block.places.len());
            rest = others;
            let symbols = chunk.reads.length(block.read);
            let possible = chunk.scheme.least(symbols)..=chunk.scheme.most(symbols);
            let wrong = own.iter().flatten().find(|&&score| is_finished && !possible.contains(&i64::from(score)));
            if let Some(score) = wrong {
                return Err(format!("score {score} of read {} of {symbols} symbols", block.read));
            }
        }
        Ok(())
    }
}
