//! Decodes a kernel's output into hits.

use crate::pairs::kernels::tile_tasks::block_begins;
use crate::pairs::{PairHit, PairsBatch, ResultFilter};
use crate::score::OffsetScoring;

fn hit(batch: &PairsBatch, scoring: &OffsetScoring, block: usize, target_index: u32, value: u32) -> PairHit {
    let chunk = &batch.chunk;
    let query = batch.blocks[block].query;
    let target = chunk.order[target_index as usize];
    let (score, matches) = scoring.decode(value as i32, chunk.queries.length(query), chunk.targets.length(target));
    PairHit { query, target, score, matches }
}

/// Returns the hits of an output that lists (pair, value) words.
pub(super) fn decode_kept(batch: &PairsBatch, scoring: &OffsetScoring, pairs: &[u32]) -> Vec<PairHit> {
    let begins = block_begins(batch);
    pairs
        .chunks_exact(2)
        .map(|pair| {
            let block = begins.partition_point(|&begin| begin <= pair[0] as u64) - 1;
            let within = (pair[0] as u64 - begins[block]) as u32;
            hit(batch, scoring, block, batch.blocks[block].targets.start + within, pair[1])
        })
        .collect()
}

/// Returns the hits of an output with one value per pair, without pairs that score below their
/// threshold.
pub(super) fn decode_all(batch: &PairsBatch, scoring: &OffsetScoring, values: &[u32]) -> Vec<PairHit> {
    let mut values = values.iter();
    let blocks = batch.blocks.iter().enumerate();
    blocks
        .flat_map(|(index, block)| block.targets.clone().map(move |target| (index, target)))
        .zip(&mut values)
        .map(|((block, target), &value)| hit(batch, scoring, block, target, value))
        .filter(|hit| match &batch.chunk.filter {
            ResultFilter::AtLeast(thresholds) => hit.score >= thresholds.threshold(hit.query),
            _ => true,
        })
        .collect()
}

/// Drops the hits of unfinished blocks, which are computed again as a whole.
pub(super) fn drop_blocks(hits: Vec<PairHit>, batch: &PairsBatch, unfinished: &[usize]) -> Vec<PairHit> {
    if unfinished.is_empty() {
        return hits;
    }
    let mut redone: std::collections::HashSet<(u32, u32)> = Default::default();
    for &index in unfinished {
        let block = &batch.blocks[index];
        redone.extend(block.targets.clone().map(|target| (block.query, batch.chunk.order[target as usize])));
    }
    hits.into_iter().filter(|hit| !redone.contains(&(hit.query, hit.target))).collect()
}
