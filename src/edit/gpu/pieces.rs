//! Patterns against long texts: a text is cut into pieces that many invocations search at once.
//!
//! A part of the text at a distance of at most m from a pattern of m symbols has at most 2 m symbols. So every piece begins
//! 2 m symbols before its own columns, and each of the pattern's ends has its distance in the piece that owns it; what a
//! piece finds before its own columns is a distance to a part of the text too, if not the least one.

use std::sync::Arc;

use crate::edit::{Distances, EditBatch, EditBlock, EditChunk, Places, Region};
use crate::score::{EditDistance, EditMode};

/// Own columns of a piece at most; a text of fewer stays whole.
const MAX_COLUMNS: u64 = 1 << 16;
/// Own columns of a piece at least, in symbols of the pattern.
const MIN_PATTERNS: u64 = 8;
/// Pieces of a batch that keep a device busy.
const ENOUGH_PIECES: u64 = 1 << 18;

/// A batch of which long texts are cut.
pub(super) struct Pieces {
    /// The batch to compute: regions, in the order of the pairs.
    pub batch: Arc<EditBatch>,
    /// For every pair, where its pieces end among those of the batch.
    ends: Vec<usize>,
    /// For every piece, how far from the begin of its pair's text it begins.
    offsets: Vec<u32>,
}

impl Pieces {
    /// Cuts a batch; `None` if no text is long enough.
    pub(super) fn cut(batch: &EditBatch, text_symbols: u32) -> Option<Self> {
        let chunk = &batch.chunk;
        if chunk.scheme.mode != EditMode::Infix || u64::from(text_symbols) <= MAX_COLUMNS {
            return None;
        }
        let places = batch.blocks.iter().flat_map(|block| block.places.clone());
        let columns: u64 = places.map(|place| u64::from(chunk.region(place).symbols())).sum();
        let (mut ends, mut offsets, mut regions) = (Vec::new(), Vec::new(), Vec::new());
        let mut blocks: Vec<EditBlock> = Vec::new();
        for block in &batch.blocks {
            let m = u64::from(chunk.patterns.length(block.pattern));
            let own = (columns / ENOUGH_PIECES).min(MAX_COLUMNS).max(MIN_PATTERNS * m).max(1);
            let (first, mut cells) = (regions.len() as u32, 0);
            for place in block.places.clone() {
                let Region { text, start, end } = chunk.region(place);
                let n = u64::from(end - start);
                let mut column = 0;
                loop {
                    let begin = u64::saturating_sub(column, 2 * m);
                    let next = (column + own).min(n);
                    regions.push(Region { text, start: start + begin as u32, end: start + next as u32 });
                    offsets.push(begin as u32);
                    cells += m * (next - begin);
                    column = next;
                    if column >= n {
                        break;
                    }
                }
                ends.push(regions.len());
            }
            blocks.push(EditBlock { pattern: block.pattern, places: first..regions.len() as u32, cells });
        }
        let places = Places::Regions(Arc::new(regions));
        let [patterns, texts] = [&chunk.patterns, &chunk.texts].map(Arc::clone);
        let chunk = EditChunk::new(patterns, texts, Arc::clone(&chunk.scheme), places);
        Some(Pieces { batch: Arc::new(EditBatch { chunk: Arc::new(chunk), blocks }), ends, offsets })
    }

    /// The results of pairs, from those of their pieces.
    pub(super) fn join(&self, found: &Distances) -> Distances {
        match found {
            Distances::Each(found) => Distances::Each(self.join_each(found).into()),
            Distances::Listed { list, .. } => {
                let mut joined: Vec<(u32, EditDistance)> = Vec::new();
                for &(piece, found) in list {
                    let pair = self.ends.partition_point(|&end| end <= piece as usize) as u32;
                    let found = EditDistance { end: found.end + self.offsets[piece as usize], ..found };
                    match joined.last_mut() {
                        Some((last, least)) if *last == pair => *least = found.min(*least),
                        _ => joined.push((pair, found)),
                    }
                }
                Distances::Listed { pairs: self.ends.len(), list: joined }
            }
        }
    }

    fn join_each(&self, found: &[EditDistance]) -> Vec<EditDistance> {
        let mut first = 0;
        let joined = self.ends.iter().map(|&end| {
            let own = first..end;
            first = end;
            let pieces = own.map(|piece| match found[piece] {
                EditDistance::NONE => EditDistance::NONE,
                EditDistance { distance, end } => EditDistance { distance, end: end + self.offsets[piece] },
            });
            // The first of the least, and "none" is greater than all.
            pieces.min().unwrap_or(EditDistance::NONE)
        });
        joined.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::oracle;
    use crate::score::{EditScheme, Equality, Limit};
    use crate::seq::{Alphabet, SequenceStore};

    #[test]
    fn pieces_find_what_the_whole_text_holds() {
        let mut state = 88_172_645_463_325_252u64;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            1u8 << (state >> 30 & 3)
        };
        let mut patterns = SequenceStore::builder(Alphabet::Dna);
        for length in [1, 2, 5, 13, 40] {
            patterns.push("p", &(0..length).map(|_| next()).collect::<Vec<u8>>()).unwrap();
        }
        patterns.push("p", &[1; 30]).unwrap();
        let mut texts = SequenceStore::builder(Alphabet::Dna);
        for length in [700, 1, 66_000] {
            texts.push("t", &(0..length).map(|_| next()).collect::<Vec<u8>>()).unwrap();
        }
        let (patterns, texts) = (Arc::new(patterns.build()), Arc::new(texts.build()));
        for limit in [Limit::None, Limit::Rate(0.1)] {
            let scheme = EditScheme { mode: EditMode::Infix, equality: Equality::literal(Alphabet::Dna), limit };
            let [own, others] = [&patterns, &texts].map(Arc::clone);
            let chunk = EditChunk::new(own, others, Arc::new(scheme), Places::Texts([2, 0, 1].into()));
            let blocks = (0..patterns.len() as u32).map(|pattern| EditBlock { pattern, places: 0..3, cells: 1 });
            let batch = EditBatch { chunk: Arc::new(chunk), blocks: blocks.collect() };
            let compute = |batch: &EditBatch| {
                let pairs = batch.blocks.iter().flat_map(|block| block.places.clone().map(move |place| (block, place)));
                let find = |(block, place): (&EditBlock, u32)| {
                    let pattern = batch.chunk.patterns.codes(block.pattern);
                    oracle::find(pattern, batch.chunk.text(place), &batch.chunk.scheme)
                };
                pairs.map(find).collect::<Vec<EditDistance>>()
            };
            let pieces = Pieces::cut(&batch, 66_000).unwrap();
            assert!(pieces.batch.pairs() > 3 * batch.pairs());
            let found = compute(&pieces.batch);
            let list = (0..).zip(&found).filter(|(_, found)| found.is_some()).map(|(pair, found)| (pair, *found));
            let listed = Distances::Listed { pairs: found.len(), list: list.collect() };
            assert_eq!(pieces.join(&listed).into_each(), compute(&batch));
            assert_eq!(pieces.join(&Distances::Each(found.into())), Distances::Each(compute(&batch).into()));
        }
        assert!(EditDistance::NONE > EditDistance { distance: u32::MAX - 1, end: u32::MAX });
    }
}
