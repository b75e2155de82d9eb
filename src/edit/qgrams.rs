//! Pairs that are not within a limit, told by the q-grams that they share (Jokinen and Ukkonen 1991): some operations a
//! pair, where a distance takes thousands.
//!
//! A chunk of many patterns and whole texts goes in, and the same chunk without most of its pairs comes out. An edit breaks at
//! most q windows of a pattern, so that this tells much where a limit is low: from about an edit in 15 symbols on it tells
//! nothing. None within the limit is lost: `needed` says why.

mod grams;
mod needed;
mod tile;

use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use self::grams::Letters;
use self::tile::{Bits, Room, TEXTS, Tile};
use super::{Edit, EditBlock, EditChunk, Places};
use crate::engine::queue::QueuedChunk;
use crate::score::Limit;
use crate::seq::SequenceId;
use crate::simd::InstructionSet;

/// Patterns from which an index of the texts pays.
const FEWEST_PATTERNS: usize = 16;
/// Patterns that one thread takes at a time.
const PATTERNS_AT_ONCE: usize = 64;
/// Bytes of the indices that are held at a time; more if one tile has more.
const INDEX_BYTES: usize = 256 << 20;
/// The longest text that an index is made for.
const LONGEST: usize = 1 << 18;

/// What was left out of a chunk.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Pairs.
    pub pairs: u64,
    /// Their cells.
    pub cells: u64,
}

/// Leaves out pairs that are not within the chunk's limit. A chunk that has pairs keeps at least one, so that whoever waits for
/// it hears of it. Runs on the threads of the pool that it is called on.
pub fn leave_out(planned: QueuedChunk<Edit>) -> (QueuedChunk<Edit>, LeftOut) {
    let (range, chunk, blocks) = planned;
    match few(&chunk, &blocks) {
        None => ((range, chunk, blocks), LeftOut::default()),
        Some((places, few)) => {
            let sums = |blocks: &[(u32, EditBlock)]| {
                blocks.iter().fold((0, 0), |sums, (_, block)| (sums.0 + block.pairs(), sums.1 + block.cells))
            };
            let (all, kept) = (sums(&blocks), sums(&few));
            let left_out = LeftOut { pairs: all.0 - kept.0, cells: all.1 - kept.1 };
            let EditChunk { patterns, texts, scheme, .. } = &*chunk;
            let (patterns, texts, scheme) = (Arc::clone(patterns), Arc::clone(texts), Arc::clone(scheme));
            let chunk = EditChunk::new(patterns, texts, scheme, Places::Texts(places.into()));
            ((range, Arc::new(chunk), few), left_out)
        }
    }
}

/// Blocks of a chunk, each with its class.
type Blocks = Vec<(u32, EditBlock)>;

/// Texts that are left, by block, and the blocks; `None` if that is most of them.
fn few(chunk: &EditChunk, blocks: &[(u32, EditBlock)]) -> Option<(Vec<SequenceId>, Blocks)> {
    let Places::Texts(order) = &chunk.places else { return None };
    if chunk.scheme.limit == Limit::None || blocks.len() < FEWEST_PATTERNS {
        return None;
    }
    let letters = Letters::new(&chunk.scheme.equality);
    let longest = |texts: &[SequenceId]| texts.iter().map(|&text| chunk.texts.length(text) as usize).max().unwrap_or(0);
    let bytes = Tile::bytes(&letters, longest(order).min(LONGEST));
    let tiles_at_once = (INDEX_BYTES / bytes).max(1);
    let mut bits: Vec<Vec<Bits>> = Vec::with_capacity(order.len().div_ceil(TEXTS));
    for (group, texts) in order.chunks(TEXTS * tiles_at_once).enumerate() {
        let new = |texts: &[SequenceId]| (longest(texts) <= LONGEST).then(|| Tile::new(chunk, texts, &letters));
        let tiles: Vec<Option<Tile<'_>>> = texts.par_chunks(TEXTS).map(new).collect();
        let tiles = tiles.into_par_iter().enumerate();
        let passed = tiles.map(|(number, tile)| passed(chunk, blocks, group * tiles_at_once + number, tile.as_ref()));
        bits.extend(passed.collect::<Vec<_>>());
    }
    let left = |(index, (class, block)): (usize, &(u32, EditBlock))| {
        let tiles = block.places.start as usize / TEXTS..(block.places.end as usize).div_ceil(TEXTS);
        let of_tile = |tile: usize| {
            let texts = bits[tile][index].texts(places_in(block, tile));
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
    let mut places = Vec::with_capacity(pairs.max(1));
    let mut few = Vec::new();
    let mut keep = |class: u32, pattern: SequenceId, texts: &[SequenceId]| {
        let start = places.len() as u32;
        places.extend_from_slice(texts);
        let symbols: u64 = texts.iter().map(|&text| u64::from(chunk.texts.length(text))).sum();
        let cells = u64::from(chunk.patterns.length(pattern)) * symbols;
        few.push((class, EditBlock { pattern, places: start..places.len() as u32, cells }));
    };
    left.iter()
        .filter(|(.., texts)| !texts.is_empty())
        .for_each(|(class, pattern, texts)| keep(*class, *pattern, texts));
    if pairs == 0 {
        let (class, first) = blocks.iter().find(|(_, block)| !block.places.is_empty())?;
        keep(*class, first.pattern, &[order[first.places.start as usize]]);
    }
    Some((places, few))
}

/// Places of a block in a tile, from the tile's first.
fn places_in(block: &EditBlock, tile: usize) -> Range<usize> {
    let within = |place: u32| (place as usize).saturating_sub(tile * TEXTS).min(TEXTS);
    within(block.places.start)..within(block.places.end)
}

/// Of each block, the texts of a tile that may be within the limit: all where there is no index.
fn passed(chunk: &EditChunk, blocks: &[(u32, EditBlock)], number: usize, tile: Option<&Tile<'_>>) -> Vec<Bits> {
    let level = InstructionSet::best();
    let of = |room: &mut Room, (_, block): &(u32, EditBlock)| match tile {
        _ if places_in(block, number).is_empty() => Bits::NONE,
        None => Bits::ALL,
        Some(tile) => tile.candidates(chunk, chunk.patterns.codes(block.pattern), level, room),
    };
    blocks.par_iter().with_min_len(PATTERNS_AT_ONCE).map_init(Room::default, of).collect()
}

#[cfg(test)]
mod tests;
