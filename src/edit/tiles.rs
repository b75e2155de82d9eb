//! Texts in tiles. A tile has a core, and the symbols before it that a part of the text with an end
//! in the core can contain. Every end of a text belongs to the core of one tile.

use std::ops::Range;
use std::sync::Arc;

use super::Region;
use crate::seq::{SequenceId, SequenceStore};

/// Minimum number of symbols of a core.
const MIN_CORE: u32 = 2048;
/// Minimum number of symbols of a core for each symbol before it.
const CORE_PER_OVERLAP: u32 = 4;

/// Minimum number of tiles of a text that is cut although whole texts could be compared.
const MIN_TILES: u64 = 4;

/// Returns the number of symbols of a core.
fn core_symbols(overlap: u32) -> u32 {
    MIN_CORE.max(overlap.saturating_mul(CORE_PER_OVERLAP))
}

/// The tiles of all texts.
#[derive(Debug, PartialEq, Eq)]
pub struct TextTiles {
    /// The tiles in the order of the texts, each with the overlap before its core.
    regions: Arc<Vec<Region>>,
    /// Index of the first tile of each text, and the number of all tiles.
    first_tiles: Vec<u32>,
    /// Number of symbols of a core, except for the last core of a text.
    core: u32,
    /// Number of symbols before a core, except for the first core of a text.
    overlap: u32,
}

impl TextTiles {
    /// Cuts texts into tiles. `overlap` is the maximum number of symbols of a part that is found.
    pub fn new(texts: &SequenceStore, overlap: u32) -> TextTiles {
        Self::with_core(texts, overlap, core_symbols(overlap))
    }

    /// Returns whether the mean text has several tiles.
    pub fn are_several(texts: &SequenceStore, overlap: u32) -> bool {
        let symbols: u64 = texts.lengths().iter().map(|&length| u64::from(length)).sum();
        symbols > MIN_TILES * u64::from(core_symbols(overlap)) * texts.len() as u64
    }

    /// Cuts texts into tiles with a core of at least `overlap` symbols.
    pub fn with_core(texts: &SequenceStore, overlap: u32, core: u32) -> TextTiles {
        assert!(core > 0 && core >= overlap, "a part is in at most two cores");
        let mut regions = Vec::new();
        let mut first_tiles = vec![0];
        for (text, &length) in (0..).zip(texts.lengths()) {
            let mut start = 0;
            loop {
                let end = length.min(start + core.min(length - start));
                regions.push(Region { text, start: start.saturating_sub(overlap), end });
                start = end;
                if end == length {
                    break;
                }
            }
            first_tiles.push(regions.len() as u32);
        }
        TextTiles { regions: Arc::new(regions), first_tiles, core, overlap }
    }

    /// Returns the tiles of all texts.
    pub fn regions(&self) -> &Arc<Vec<Region>> {
        &self.regions
    }

    /// Returns the indices of the tiles of a range of texts.
    pub fn of_texts(&self, texts: Range<SequenceId>) -> Range<u32> {
        self.first_tiles[texts.start as usize]..self.first_tiles[texts.end as usize]
    }

    /// Returns the tiles of a text whose cores contain a start or an end of a part next to an end of
    /// the text. The last core can be shorter than a part.
    pub fn at_ends(&self, text: SequenceId) -> impl Iterator<Item = u32> {
        let tiles = self.of_texts(text..text + 1);
        let last = tiles.end.saturating_sub(2).max(tiles.start + 1)..tiles.end;
        std::iter::once(tiles.start).chain(last)
    }

    /// Returns the number of symbols of a range of tiles, which are all tiles of some texts.
    pub fn symbols(&self, tiles: Range<u32>) -> u64 {
        // Tiles follow each other in a text, so every tile but the first repeats the overlap.
        let last_tiles = self.first_tiles[1..].iter().map(|&end| end - 1);
        let texts = last_tiles.zip(&self.first_tiles).filter(|(_, first)| tiles.contains(*first));
        let symbols = |(last, &first): (u32, &u32)| {
            u64::from(self.regions[last as usize].end) + u64::from(last - first) * u64::from(self.overlap)
        };
        texts.map(symbols).sum()
    }

    /// Returns the symbols of the text in the core of a tile.
    pub fn core(&self, tile: u32) -> Range<u32> {
        let Region { text, end, .. } = self.regions[tile as usize];
        (tile - self.first_tiles[text as usize]) * self.core..end
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seq::Alphabet;

    #[test]
    fn cores_cover_every_text_once() {
        let mut store = SequenceStore::builder(Alphabet::Dna);
        let lengths = [0, 1, 9, 10, 11, 20, 35, 0];
        lengths.iter().for_each(|&length| store.push("", &vec![1; length]).unwrap());
        let texts = store.build();
        let tiles = TextTiles::with_core(&texts, 4, 10);
        for (text, &length) in (0..).zip(&lengths) {
            let mut end = 0;
            for tile in tiles.of_texts(text..text + 1) {
                let (core, region) = (tiles.core(tile), tiles.regions()[tile as usize]);
                assert_eq!((core.start, region.text), (end, text));
                assert_eq!((region.start, region.end), (core.start.saturating_sub(4), core.end));
                end = core.end;
            }
            assert_eq!(end as usize, length);
            assert_eq!(tiles.of_texts(text..text + 1).len(), length.div_ceil(10).max(1));
            let at_ends = tiles.at_ends(text).map(|tile| tile - tiles.of_texts(0..text).end);
            let last = length.div_ceil(10).max(1) as u32 - 1;
            let mut expected = Vec::from([0, last.saturating_sub(1), last]);
            expected.dedup();
            assert_eq!(at_ends.collect::<Vec<_>>(), expected);
        }
        for (start, end) in [(0, 8), (2, 7), (6, 7), (3, 3), (7, 8)] {
            let range = tiles.of_texts(start..end);
            let regions = &tiles.regions()[range.start as usize..range.end as usize];
            let symbols: u32 = regions.iter().map(Region::symbols).sum();
            assert_eq!(tiles.symbols(range), u64::from(symbols));
        }
    }
}
