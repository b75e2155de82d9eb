//! Properties of the work of Levenshtein distances that the queue needs: sizes of blocks, how to
//! split a block, and the check of a report.

use super::{Edit, EditBatch, EditBlock, EditChunk, EditReport, check};
use crate::engine::{Portion, Work};

impl Work for Edit {
    type Chunk = EditChunk;
    type Block = EditBlock;
    type Class = u32;
    type Report = EditReport;

    fn pairs(block: &EditBlock) -> u64 {
        block.pairs()
    }

    fn cells(block: &EditBlock) -> u64 {
        block.cells
    }

    fn first_cells(chunk: &EditChunk, block: &EditBlock) -> Option<u64> {
        if block.regions.is_empty() {
            return None;
        }
        Some(u64::from(chunk.patterns.length(block.pattern)) * u64::from(chunk.region(block.regions.start).symbols()))
    }

    fn one_block(_chunk: &EditChunk, _store_bytes: u64) -> bool {
        false
    }

    #[inline]
    fn fits(block: &EditBlock, portion: Portion) -> bool {
        block.cells <= portion.cells && block.pairs() <= portion.pairs
    }

    fn split(chunk: &EditChunk, block: EditBlock, portion: Portion) -> (EditBlock, Option<EditBlock>) {
        if Self::fits(&block, portion) {
            return (block, None);
        }
        let m = u64::from(chunk.patterns.length(block.pattern));
        let (mut end, mut cells) = (block.regions.start, 0);
        while end < block.regions.end {
            let more = m * u64::from(chunk.region(end).symbols());
            let full = cells + more > portion.cells || u64::from(end - block.regions.start) >= portion.pairs;
            if full && end > block.regions.start {
                break;
            }
            cells += more;
            end += 1;
        }
        if end == block.regions.end {
            return (block, None);
        }
        let EditBlock { pattern, regions, cells: all } = block;
        let tail = EditBlock { pattern, regions: end..regions.end, cells: all - cells };
        (EditBlock { pattern, regions: regions.start..end, cells }, Some(tail))
    }

    fn check(batch: &EditBatch, report: &EditReport) -> Result<(), String> {
        if report.is_checked { Ok(()) } else { check::check(batch, report) }
    }

    fn check_on(pool: &rayon::ThreadPool, batch: &EditBatch, report: &EditReport) -> Result<(), String> {
        if report.is_checked { Ok(()) } else { check::check_on(pool, batch, report) }
    }
}
