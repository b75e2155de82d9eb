//! Properties of the work of pairs that the queue needs: sizes and classes of blocks, how to split a
//! block, and the check of a report.

use super::plan::{LengthClass, split_block};
use super::{Pairs, PairsBatch, PairsBlock, PairsChunk, PairsReport, check};
use crate::engine::{Portion, Work};

impl Work for Pairs {
    type Chunk = PairsChunk;
    type Block = PairsBlock;
    type Class = LengthClass;
    type Report = PairsReport;

    fn pairs(block: &PairsBlock) -> u64 {
        block.pairs()
    }

    fn cells(block: &PairsBlock) -> u64 {
        block.cells
    }

    fn first_cells(chunk: &PairsChunk, block: &PairsBlock) -> Option<u64> {
        let target = *chunk.order.get(block.targets.start as usize)?;
        Some(u64::from(chunk.queries.length(block.query)) * u64::from(chunk.targets.length(target)))
    }

    fn one_block(chunk: &PairsChunk, store_bytes: u64) -> bool {
        chunk.targets.packed_bytes().len() as u64 > store_bytes
    }

    fn split(chunk: &PairsChunk, block: PairsBlock, portion: Portion) -> (PairsBlock, Option<PairsBlock>) {
        split_block(chunk, block, portion)
    }

    fn check(batch: &PairsBatch, report: &PairsReport) -> Result<(), String> {
        check::report(batch, report, None)
    }

    fn check_on(pool: &rayon::ThreadPool, batch: &PairsBatch, report: &PairsReport) -> Result<(), String> {
        check::report(batch, report, Some(pool))
    }
}
