//! Patterns against long texts: a text is cut into pieces, so that many invocations search it at
//! once.
//!
//! A part of the text with a distance of at most m from a pattern of m symbols has at most 2 m
//! symbols. Every piece has its own columns, and starts 2 m symbols before them. The piece that
//! owns a column computes the exact distance of the ends in it. The ends that a piece finds before
//! its own columns are also distances of parts of the text, but not always the least ones.

use std::sync::Arc;

use crate::edit::{BatchDistances, EditBatch, EditBlock, EditChunk, Region, TextRegions};
use crate::score::{EditDistance, EditMode};

/// Maximum number of own columns of a piece. A text with fewer columns stays whole.
const MAX_COLUMNS: u64 = 1 << 16;
/// Minimum number of own columns of a piece, as a multiple of the pattern's length.
const MIN_PATTERNS: u64 = 8;
/// Number of pieces in a batch that keeps a device busy.
const ENOUGH_PIECES: u64 = 1 << 18;

/// A batch whose long texts are cut.
pub(super) struct TextPieces {
    /// Batch to compute, whose regions are in the order of the pairs.
    pub batch: Arc<EditBatch>,
    /// For each pair, the end (exclusive) of its pieces among all pieces of the batch.
    ends: Vec<usize>,
    /// Offset of each piece from the start of its pair's region.
    offsets: Vec<u32>,
}

impl TextPieces {
    /// Cuts a batch. Returns `None` if no text is long enough.
    pub(super) fn cut(batch: &EditBatch, text_symbols: u32) -> Option<Self> {
        let chunk = &batch.chunk;
        if chunk.scheme.mode != EditMode::Infix || u64::from(text_symbols) <= MAX_COLUMNS {
            return None;
        }
        let regions = batch.blocks.iter().flat_map(|block| block.regions.clone());
        let columns: u64 = regions.map(|index| u64::from(chunk.region(index).symbols())).sum();
        let (mut ends, mut offsets, mut regions) = (Vec::new(), Vec::new(), Vec::new());
        let mut blocks: Vec<EditBlock> = Vec::new();
        for block in &batch.blocks {
            let m = u64::from(chunk.patterns.length(block.pattern));
            let own_columns = (columns / ENOUGH_PIECES).min(MAX_COLUMNS).max(MIN_PATTERNS * m).max(1);
            let (first, mut cells) = (regions.len() as u32, 0);
            for index in block.regions.clone() {
                let Region { text, start, end } = chunk.region(index);
                let n = u64::from(end - start);
                let mut column = 0;
                loop {
                    let begin = u64::saturating_sub(column, 2 * m);
                    let next = (column + own_columns).min(n);
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
            blocks.push(EditBlock { pattern: block.pattern, regions: first..regions.len() as u32, cells });
        }
        let regions = TextRegions::Regions(Arc::new(regions));
        let [patterns, texts] = [&chunk.patterns, &chunk.texts].map(Arc::clone);
        let chunk = EditChunk::new(patterns, texts, Arc::clone(&chunk.scheme), regions);
        Some(TextPieces { batch: Arc::new(EditBatch { chunk: Arc::new(chunk), blocks }), ends, offsets })
    }

    /// Combines the results of the pieces to results of pairs.
    pub(super) fn join(&self, distances: &BatchDistances) -> BatchDistances {
        match distances {
            BatchDistances::Each(distances) => BatchDistances::Each(self.join_each(distances).into()),
            BatchDistances::Listed { list, .. } => {
                let mut joined: Vec<(u32, EditDistance)> = Vec::new();
                for &(piece, distances) in list {
                    let pair = self.ends.partition_point(|&end| end <= piece as usize) as u32;
                    let distances = EditDistance { end: distances.end + self.offsets[piece as usize], ..distances };
                    match joined.last_mut() {
                        Some((last, least)) if *last == pair => *least = distances.min(*least),
                        _ => joined.push((pair, distances)),
                    }
                }
                BatchDistances::Listed { pairs: self.ends.len(), list: joined }
            }
        }
    }

    fn join_each(&self, distances: &[EditDistance]) -> Vec<EditDistance> {
        let mut first = 0;
        let joined = self.ends.iter().map(|&end| {
            let piece_range = first..end;
            first = end;
            let pieces = piece_range.map(|piece| match distances[piece] {
                EditDistance::NONE => EditDistance::NONE,
                EditDistance { distance, end } => EditDistance { distance, end: end + self.offsets[piece] },
            });
            // Takes the first of the least results. [`EditDistance::NONE`] is greater than any
            // other result.
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
    fn pieces_give_results_of_the_whole_text() {
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
            let [pattern_store, text_store] = [&patterns, &texts].map(Arc::clone);
            let chunk =
                EditChunk::new(pattern_store, text_store, Arc::new(scheme), TextRegions::Texts([2, 0, 1].into()));
            let blocks = (0..patterns.len() as u32).map(|pattern| EditBlock { pattern, regions: 0..3, cells: 1 });
            let batch = EditBatch { chunk: Arc::new(chunk), blocks: blocks.collect() };
            let compute = |batch: &EditBatch| {
                let pairs =
                    batch.blocks.iter().flat_map(|block| block.regions.clone().map(move |index| (block, index)));
                let find = |(block, index): (&EditBlock, u32)| {
                    let pattern = batch.chunk.patterns.codes(block.pattern);
                    oracle::find(pattern, batch.chunk.text(index), &batch.chunk.scheme)
                };
                pairs.map(find).collect::<Vec<EditDistance>>()
            };
            let pieces = TextPieces::cut(&batch, 66_000).unwrap();
            assert!(pieces.batch.pairs() > 3 * batch.pairs());
            let distances = compute(&pieces.batch);
            let list = (0..)
                .zip(&distances)
                .filter(|(_, distances)| distances.is_some())
                .map(|(pair, distances)| (pair, *distances));
            let listed = BatchDistances::Listed { pairs: distances.len(), list: list.collect() };
            assert_eq!(pieces.join(&listed).into_each(), compute(&batch));
            assert_eq!(
                pieces.join(&BatchDistances::Each(distances.into())),
                BatchDistances::Each(compute(&batch).into())
            );
        }
        assert!(EditDistance::NONE > EditDistance { distance: u32::MAX - 1, end: u32::MAX });
    }
}
