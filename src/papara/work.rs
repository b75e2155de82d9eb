//! Chunks, blocks and reports for the job kind that scores reads against vectors of ancestral
//! states.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use super::vectors::{OCTET, Vectors};
use crate::engine::{Batch, BatchReport, Portion, Work, check};
use crate::score::PhyloScheme;
use crate::seq::{SequenceId, SequenceStore};

/// Data that the blocks of a batch share.
#[derive(Debug)]
pub struct PhyloChunk {
    /// Store that contains the reads.
    pub reads: Arc<SequenceStore>,
    /// Vectors of ancestral states.
    pub vectors: Arc<Vectors>,
    /// Scores and costs.
    pub scheme: Arc<PhyloScheme>,
    /// Octets that the positions of blocks refer to. `None` means that a position is the index of
    /// an octet.
    pub octets: Option<Arc<[u32]>>,
}

impl PhyloChunk {
    /// Returns the octet at a position.
    #[inline]
    pub fn octet(&self, position: u32) -> u32 {
        self.octets.as_ref().map_or(position, |octets| octets[position as usize])
    }

    /// Returns the number of cells of a read against an octet.
    pub fn cells(&self, read: SequenceId) -> u64 {
        OCTET as u64 * u64::from(self.reads.length(read)) * u64::from(self.vectors.sites())
    }
}

/// The smallest piece of work: one read against a range of octets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PhyloBlock {
    /// The read.
    pub read: SequenceId,
    /// Positions of the octets in [`PhyloChunk::octets`].
    pub positions: Range<u32>,
    /// Number of cells of one octet.
    pub octet_cells: u64,
}

/// The job kind that scores reads against vectors.
#[derive(Debug, Clone, Copy)]
pub struct Phylo;

/// Blocks that an engine computes together.
pub type PhyloBatch = Batch<Phylo>;

/// Results of a batch.
#[derive(Debug, Clone, Default)]
pub struct PhyloReport {
    /// Eight scores per octet, ordered by block and then by position. Scores of padding vectors and
    /// of unfinished blocks are meaningless.
    pub scores: Vec<[i32; OCTET]>,
    /// Indices of the blocks that the engine did not finish.
    pub unfinished: Vec<usize>,
    /// Time that the device spent on the kernel, if it can be measured.
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

    /// Returns the number of octets, because a read against an octet counts as one pair.
    fn pairs(block: &PhyloBlock) -> u64 {
        block.positions.len() as u64
    }

    fn cells(block: &PhyloBlock) -> u64 {
        block.octet_cells * block.positions.len() as u64
    }

    fn first_cells(_chunk: &PhyloChunk, block: &PhyloBlock) -> Option<u64> {
        (!block.positions.is_empty()).then_some(block.octet_cells)
    }

    fn one_block(_chunk: &PhyloChunk, _store_bytes: u64) -> bool {
        false
    }

    fn split(_chunk: &PhyloChunk, block: PhyloBlock, portion: Portion) -> (PhyloBlock, Option<PhyloBlock>) {
        let max_octets = portion.pairs.min(portion.cells / block.octet_cells.max(1)).max(1);
        if block.positions.len() as u64 <= max_octets {
            return (block, None);
        }
        let middle = block.positions.start + max_octets as u32;
        let tail = PhyloBlock { positions: middle..block.positions.end, ..block };
        (PhyloBlock { positions: block.positions.start..middle, ..block }, Some(tail))
    }

    fn check(batch: &PhyloBatch, report: &PhyloReport) -> Result<(), String> {
        let finished = check::finished(batch.blocks.len(), &report.unfinished)?;
        if report.scores.len() as u64 != batch.pairs() {
            return Err(format!("{} results for {} octets", report.scores.len(), batch.pairs()));
        }
        let (chunk, mut rest) = (&batch.chunk, &report.scores[..]);
        for (block, is_finished) in batch.blocks.iter().zip(finished) {
            let (block_scores, others) = rest.split_at(block.positions.len());
            rest = others;
            let symbols = chunk.reads.length(block.read);
            let possible = chunk.scheme.min_best_score(symbols)..=chunk.scheme.max_score(symbols);
            let wrong =
                block_scores.iter().flatten().find(|&&score| is_finished && !possible.contains(&i64::from(score)));
            if let Some(score) = wrong {
                return Err(format!("impossible score {score} of read {} with {symbols} symbols", block.read));
            }
        }
        Ok(())
    }
}
