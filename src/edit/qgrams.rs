//! Prunes pairs that exceed the limit by the q-grams that pattern and text share (Jokinen and
//! Ukkonen 1991). A q-gram is a window of q symbols. The test takes a few operations per pair,
//! while a distance takes thousands.
//!
//! The input is a chunk of many patterns and whole texts. The output is the same chunk without most
//! of its pairs. An edit destroys at most q windows of a pattern, so pruning is effective for low
//! limits. From about one edit in 15 symbols on, it prunes nothing. No pair within the limit is
//! lost (see `needed`).

mod grams;
mod needed;
mod tile;

use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use self::grams::GramLetters;
use self::tile::{TEXTS, TextBits, TextTile, TileScratch};
use super::{Edit, EditBlock, EditChunk, TextRegions};
use crate::engine::queue::{ExcludedPairs, QueuedChunk};
use crate::score::Limit;
use crate::seq::SequenceId;
use crate::simd::InstructionSet;

/// Minimum number of patterns that justifies an index of the texts.
const MIN_PATTERNS: usize = 16;
/// Number of patterns that one thread processes at a time.
const PATTERNS_AT_ONCE: usize = 64;
/// Maximum bytes of all indices in memory. A single tile may exceed it.
const INDEX_BYTES: usize = 256 << 20;
/// Maximum length of an indexed text.
const MAX_TEXT_SYMBOLS: usize = 1 << 18;

/// Prunes pairs that exceed the chunk's limit. A chunk with pairs keeps at least one, so that its
/// results are still delivered. Runs on the threads of the current pool.
pub fn prune(planned: QueuedChunk<Edit>) -> (QueuedChunk<Edit>, ExcludedPairs) {
    let (range, chunk, blocks) = planned;
    match prune_blocks(&chunk, &blocks) {
        None => ((range, chunk, blocks), ExcludedPairs::default()),
        Some((kept_texts, remaining)) => {
            let pruned = ExcludedPairs::between::<Edit>(&blocks, &remaining);
            let EditChunk { patterns, texts, scheme, .. } = &*chunk;
            let (patterns, texts, scheme) = (Arc::clone(patterns), Arc::clone(texts), Arc::clone(scheme));
            let chunk = EditChunk::new(patterns, texts, scheme, TextRegions::Texts(kept_texts.into()));
            ((range, Arc::new(chunk), remaining), pruned)
        }
    }
}

/// Blocks of a chunk, each with its class.
type ClassedBlocks = Vec<(u32, EditBlock)>;

/// Returns the remaining texts, ordered by block, and the remaining blocks. Returns `None` if most
/// pairs remain.
fn prune_blocks(chunk: &EditChunk, blocks: &[(u32, EditBlock)]) -> Option<(Vec<SequenceId>, ClassedBlocks)> {
    let TextRegions::Texts(order) = &chunk.regions else { return None };
    if chunk.scheme.limit == Limit::None || blocks.len() < MIN_PATTERNS {
        return None;
    }
    let letters = GramLetters::new(&chunk.scheme.equality);
    let longest = |texts: &[SequenceId]| texts.iter().map(|&text| chunk.texts.length(text) as usize).max().unwrap_or(0);
    let bytes = TextTile::bytes(&letters, longest(order).min(MAX_TEXT_SYMBOLS));
    let tiles_at_once = (INDEX_BYTES / bytes).max(1);
    let mut bits: Vec<Vec<TextBits>> = Vec::with_capacity(order.len().div_ceil(TEXTS));
    for (group, texts) in order.chunks(TEXTS * tiles_at_once).enumerate() {
        let new =
            |texts: &[SequenceId]| (longest(texts) <= MAX_TEXT_SYMBOLS).then(|| TextTile::new(chunk, texts, &letters));
        let tiles: Vec<Option<TextTile<'_>>> = texts.par_chunks(TEXTS).map(new).collect();
        let tiles = tiles.into_par_iter().enumerate();
        let passed =
            tiles.map(|(number, tile)| passing_texts(chunk, blocks, group * tiles_at_once + number, tile.as_ref()));
        bits.extend(passed.collect::<Vec<_>>());
    }
    let left = |(index, (class, block)): (usize, &(u32, EditBlock))| {
        let tiles = block.regions.start as usize / TEXTS..(block.regions.end as usize).div_ceil(TEXTS);
        let of_tile = |tile: usize| {
            let texts = bits[tile][index].texts(texts_in(block, tile));
            texts.map(move |text| order[tile * TEXTS + text])
        };
        let texts: Vec<SequenceId> = tiles.flat_map(of_tile).collect();
        (*class, block.pattern, texts)
    };
    let left: Vec<_> = blocks.par_iter().enumerate().map(left).collect();
    let pairs: usize = left.iter().map(|(.., texts)| texts.len()).sum();
    let all: u64 = blocks.iter().map(|(_, block)| block.pairs()).sum();
    if pairs as u64 > all / 2 {
        return None;
    }
    let mut kept_texts = Vec::with_capacity(pairs.max(1));
    let mut remaining = Vec::new();
    let mut keep = |class: u32, pattern: SequenceId, texts: &[SequenceId]| {
        let start = kept_texts.len() as u32;
        kept_texts.extend_from_slice(texts);
        let symbols: u64 = texts.iter().map(|&text| u64::from(chunk.texts.length(text))).sum();
        let cells = u64::from(chunk.patterns.length(pattern)) * symbols;
        remaining.push((class, EditBlock { pattern, regions: start..kept_texts.len() as u32, cells }));
    };
    left.iter()
        .filter(|(.., texts)| !texts.is_empty())
        .for_each(|(class, pattern, texts)| keep(*class, *pattern, texts));
    if pairs == 0 {
        let (class, first) = blocks.iter().find(|(_, block)| !block.regions.is_empty())?;
        keep(*class, first.pattern, &[order[first.regions.start as usize]]);
    }
    Some((kept_texts, remaining))
}

/// Returns the texts of a block within a tile, relative to the tile's first text.
fn texts_in(block: &EditBlock, tile: usize) -> Range<usize> {
    let within = |index: u32| (index as usize).saturating_sub(tile * TEXTS).min(TEXTS);
    within(block.regions.start)..within(block.regions.end)
}

/// Returns, for each block, the texts of a tile that may be within the limit. Without an index,
/// these are all texts.
fn passing_texts(
    chunk: &EditChunk,
    blocks: &[(u32, EditBlock)],
    number: usize,
    tile: Option<&TextTile<'_>>,
) -> Vec<TextBits> {
    let instructions = InstructionSet::best();
    let candidates_of = |scratch: &mut TileScratch, (_, block): &(u32, EditBlock)| match tile {
        _ if texts_in(block, number).is_empty() => TextBits::NONE,
        None => TextBits::ALL,
        Some(tile) => tile.candidates(chunk, chunk.patterns.codes(block.pattern), instructions, scratch),
    };
    blocks.par_iter().with_min_len(PATTERNS_AT_ONCE).map_init(TileScratch::default, candidates_of).collect()
}

#[cfg(test)]
mod tests;
