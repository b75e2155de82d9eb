//! The work types of Levenshtein distances: chunk, block, batch and report.

use std::ops::Range;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use rayon::prelude::*;

use super::distances::BatchDistances;
use super::pieces::{PackedTexts, RecentFilters};
use crate::engine::{Batch, BatchReport};
use crate::score::EditScheme;
use crate::seq::{Code, SequenceId, SequenceStore};

/// A part of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Region {
    /// The text.
    pub text: SequenceId,
    /// First symbol, from 0.
    pub start: u32,
    /// End (exclusive); at least `start` and within the text.
    pub end: u32,
}

impl Region {
    /// Returns the number of symbols.
    pub fn symbols(&self) -> u32 {
        self.end - self.start
    }
}

/// A pattern, and a region of a text where it may occur.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Candidate {
    /// The pattern.
    pub pattern: SequenceId,
    /// The region.
    pub region: Region,
}

/// The regions that patterns are compared with. Blocks refer to them by index.
#[derive(Debug, Clone)]
pub enum TextRegions {
    /// Whole texts, in this order.
    Texts(Arc<[SequenceId]>),
    /// Parts of texts.
    Regions(Arc<Vec<Region>>),
    /// The regions of a range of candidates. They are not copied, because there may be many
    /// millions.
    Candidates(Arc<Vec<Candidate>>, Range<u32>),
    /// A range of the tiles of texts.
    Tiles(Arc<Vec<Region>>, Range<u32>),
}

/// Data that the blocks of a batch share.
#[derive(Debug)]
pub struct EditChunk {
    /// Store of the patterns.
    pub patterns: Arc<SequenceStore>,
    /// Store of the texts; the same store in an all-against-all of one file.
    pub texts: Arc<SequenceStore>,
    /// Mode, equality of symbols and limit.
    pub scheme: Arc<EditScheme>,
    /// Regions that the patterns are compared with.
    pub regions: TextRegions,
    /// Texts for a filter by pieces ([`crate::edit::pieces`]), if it can exclude regions.
    pub packed: Option<Arc<PackedTexts>>,
    /// Filters of the patterns that are computed now.
    pub filters: RecentFilters,
    /// Number of symbols of all regions, once it is known.
    all_symbols: OnceLock<u64>,
    /// Cached result of [`EditChunk::text_symbols`].
    text_symbols: OnceLock<(u32, u32)>,
}

impl EditChunk {
    /// Creates a chunk.
    pub fn new(
        patterns: Arc<SequenceStore>,
        texts: Arc<SequenceStore>,
        scheme: Arc<EditScheme>,
        regions: TextRegions,
    ) -> Self {
        EditChunk {
            patterns,
            texts,
            scheme,
            regions,
            packed: None,
            filters: RecentFilters::default(),
            all_symbols: OnceLock::new(),
            text_symbols: OnceLock::new(),
        }
    }

    /// Sets the texts for a filter by pieces.
    pub fn with_packed(self, packed: Option<Arc<PackedTexts>>) -> Self {
        EditChunk { packed, ..self }
    }

    /// Returns the number of symbols of the shortest and of the longest region, or `(0, 0)` if
    /// there is no region. The first call reads all regions on the threads of the current pool.
    pub fn text_symbols(&self) -> (u32, u32) {
        if let Some(known) = self.text_symbols.get() {
            return *known;
        }
        // This must be computed without holding the lock. Otherwise a thread of the pool could wait
        // for the lock while it is needed for a part of the work.
        let both = |a: (u32, u32), b: (u32, u32)| (a.0.min(b.0), a.1.max(b.1));
        let parts = (0..self.len()).into_par_iter().step_by(GROUP_PAIRS).map(|first| {
            let regions = first..(first + GROUP_PAIRS).min(self.len());
            let lengths = regions.map(|index| self.region(index as u32).symbols());
            lengths.fold((u32::MAX, 0), |all, n| both(all, (n, n)))
        });
        let extremes = parts.reduce_with(both).unwrap_or((0, 0));
        *self.text_symbols.get_or_init(|| extremes)
    }

    /// Returns the number of symbols of all regions. The first call reads all regions.
    pub fn all_symbols(&self) -> u64 {
        let symbols = || (0..self.len() as u32).map(|index| u64::from(self.region(index).symbols())).sum();
        *self.all_symbols.get_or_init(symbols)
    }

    /// Returns the region at an index.
    #[inline]
    pub fn region(&self, index: u32) -> Region {
        match &self.regions {
            TextRegions::Texts(order) => {
                let text = order[index as usize];
                Region { text, start: 0, end: self.texts.length(text) }
            }
            TextRegions::Regions(regions) => regions[index as usize],
            TextRegions::Candidates(all, range) => all[(range.start + index) as usize].region,
            TextRegions::Tiles(all, range) => all[(range.start + index) as usize],
        }
    }

    /// Returns the symbols of the region at an index.
    pub fn text(&self, index: u32) -> &[Code] {
        let region = self.region(index);
        &self.texts.codes(region.text)[region.start as usize..region.end as usize]
    }

    /// Returns the number of regions.
    pub fn len(&self) -> usize {
        match &self.regions {
            TextRegions::Texts(order) => order.len(),
            TextRegions::Regions(regions) => regions.len(),
            TextRegions::Candidates(_, range) | TextRegions::Tiles(_, range) => range.len(),
        }
    }

    /// Checks whether there are no regions.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The smallest piece of work: one pattern against a range of regions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditBlock {
    /// The pattern.
    pub pattern: SequenceId,
    /// Indices of the regions in [`EditChunk::regions`].
    pub regions: Range<u32>,
    /// Number of cells of all its pairs.
    pub cells: u64,
}

impl EditBlock {
    /// Returns the number of pairs.
    pub fn pairs(&self) -> u64 {
        self.regions.len() as u64
    }
}

/// The job kind that computes Levenshtein distances.
#[derive(Debug, Clone, Copy)]
pub struct Edit;

/// Blocks that an engine computes together. All patterns have one class ([`pattern_words`]).
pub type EditBatch = Batch<Edit>;

/// Results of a batch.
#[derive(Debug, Clone, Default)]
pub struct EditReport {
    /// Results of all pairs. Results of unfinished blocks have no meaning.
    pub distances: BatchDistances,
    /// Indices of the blocks that the engine did not finish.
    pub unfinished: Vec<usize>,
    /// Time that the device spent on the kernel, if it can be measured.
    pub kernel_time: Option<Duration>,
    /// Whether the engine already made the checks of [`Work::check`](crate::engine::Work::check).
    /// They are then skipped.
    pub is_checked: bool,
}

impl BatchReport for EditReport {
    fn unfinished(&self) -> &[usize] {
        &self.unfinished
    }

    fn kernel_time(&self) -> Option<Duration> {
        self.kernel_time
    }
}

/// Consecutive blocks of a batch, and their pairs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockGroup {
    /// Indices of the blocks.
    pub blocks: Range<usize>,
    /// Range of their pairs in the batch.
    pub pairs: Range<usize>,
}

/// Splits a batch into groups of about `pairs` pairs. Blocks are not split, so a group can be
/// larger.
pub fn group_blocks(batch: &EditBatch, pairs: usize) -> Vec<BlockGroup> {
    let mut groups = Vec::new();
    let mut open = BlockGroup { blocks: 0..0, pairs: 0..0 };
    for (index, block) in batch.blocks.iter().enumerate() {
        open.blocks.end = index + 1;
        open.pairs.end += block.regions.len();
        if open.pairs.len() >= pairs {
            let next = BlockGroup { blocks: index + 1..index + 1, pairs: open.pairs.end..open.pairs.end };
            groups.push(std::mem::replace(&mut open, next));
        }
    }
    if !open.blocks.is_empty() {
        groups.push(open);
    }
    groups
}

/// Number of pairs that one thread processes at a time.
pub const GROUP_PAIRS: usize = 1 << 14;

/// Returns the class of a pattern: the number of u32 words that kernels store for its rows, with 32
/// rows per word. Patterns of one class can share a batch. Up to 8 words, the class is the exact
/// number. Above, it is rounded up by at most a seventh.
pub fn pattern_words(pattern_symbols: u32) -> u32 {
    let words = pattern_symbols.div_ceil(32).max(1);
    if words <= 8 {
        return words;
    }
    // Steps are an eighth of the next lower power of two.
    let step = (1 << (31 - (words - 1).leading_zeros())) / 8;
    words.next_multiple_of(step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_hold_every_block_and_pair_once() {
        let mut store = SequenceStore::builder(crate::seq::Alphabet::Dna);
        store.push("s", &[1, 2, 4]).unwrap();
        let store = Arc::new(store.build());
        let scheme = EditScheme {
            mode: crate::score::EditMode::Global,
            equality: crate::score::Equality::literal(crate::seq::Alphabet::Dna),
            limit: crate::score::Limit::None,
        };
        let regions = TextRegions::Texts([0; 40].into());
        let chunk = EditChunk::new(Arc::clone(&store), store, Arc::new(scheme), regions);
        let block = |regions: Range<u32>| EditBlock { pattern: 0, regions, cells: 1 };
        let blocks = vec![block(0..3), block(0..0), block(3..4), block(0..40), block(5..5), block(7..9)];
        let batch = EditBatch { chunk: Arc::new(chunk), blocks };
        let cut = |pairs| {
            group_blocks(&batch, pairs).into_iter().map(|group| (group.blocks, group.pairs)).collect::<Vec<_>>()
        };
        assert_eq!(cut(4), [(0..3, 0..4), (3..4, 4..44), (4..6, 44..46)]);
        assert_eq!(cut(100), [(0..6, 0..46)]);
        assert_eq!(cut(46), [(0..6, 0..46)]);
    }

    #[test]
    fn chunk_reports_shortest_and_longest_region() {
        let mut store = SequenceStore::builder(crate::seq::Alphabet::Dna);
        [3, 9, 5].into_iter().for_each(|length| store.push("s", &vec![1; length]).unwrap());
        let store = Arc::new(store.build());
        let scheme = Arc::new(EditScheme {
            mode: crate::score::EditMode::Infix,
            equality: crate::score::Equality::literal(crate::seq::Alphabet::Dna),
            limit: crate::score::Limit::None,
        });
        let chunk_with = |regions| EditChunk::new(Arc::clone(&store), Arc::clone(&store), Arc::clone(&scheme), regions);
        let regions: Vec<Region> = [(0, 7), (1, 3), (4, 9)].map(|(start, end)| Region { text: 1, start, end }).into();
        let candidates = regions.iter().map(|&region| Candidate { pattern: 0, region });
        let candidates: Arc<Vec<Candidate>> = Arc::new(candidates.collect());
        let all = [
            (TextRegions::Texts([0, 2, 2].into()), (3, 5)),
            (TextRegions::Texts([].into()), (0, 0)),
            (TextRegions::Regions(Arc::new(regions)), (2, 7)),
            (TextRegions::Candidates(Arc::clone(&candidates), 0..2), (2, 7)),
            (TextRegions::Candidates(candidates, 2..3), (5, 5)),
        ];
        for (regions, expected) in all {
            let chunk = chunk_with(regions);
            assert_eq!([chunk.text_symbols(), chunk.text_symbols()], [expected; 2]);
        }
    }

    #[test]
    fn classes_round_up_by_at_most_a_seventh() {
        assert_eq!([0, 1, 32, 33, 256, 257, 500, 512, 513].map(pattern_words), [1, 1, 1, 2, 8, 9, 16, 16, 18]);
        let mut last = 0;
        for symbols in 1..1_000_000u32 {
            let exact = symbols.div_ceil(32);
            let class = pattern_words(symbols);
            assert!(class >= exact && class >= last && f64::from(class) <= f64::from(exact) * 8.0 / 7.0, "{symbols}");
            last = class;
        }
    }
}
