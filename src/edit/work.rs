//! Levenshtein distances as work: patterns against texts, or against regions of texts that a read mapper found.

use std::ops::Range;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use rayon::prelude::*;

use super::check;
use super::distances::Distances;
use super::plan::Candidate;
use crate::engine::{Batch, BatchReport, Portion, Work};
use crate::score::EditScheme;
use crate::seq::{Code, SequenceId, SequenceStore};

/// A part of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Region {
    /// The text.
    pub text: SequenceId,
    /// Its first symbol, from 0.
    pub start: u32,
    /// The symbol after its last; not less than `start`, not beyond the text.
    pub end: u32,
}

impl Region {
    /// Number of symbols.
    pub fn symbols(&self) -> u32 {
        self.end - self.start
    }
}

/// What patterns are compared with: places that blocks count on.
#[derive(Debug, Clone)]
pub enum Places {
    /// Whole texts, in this order.
    Texts(Arc<[SequenceId]>),
    /// Parts of texts.
    Regions(Arc<Vec<Region>>),
    /// The regions of some of these candidates, where they are: there may be very many.
    Candidates(Arc<Vec<Candidate>>, Range<u32>),
}

/// What the blocks of a batch share.
#[derive(Debug)]
pub struct EditChunk {
    /// Where patterns are.
    pub patterns: Arc<SequenceStore>,
    /// Where texts are; the same store in an all-against-all of one file.
    pub texts: Arc<SequenceStore>,
    /// What is computed.
    pub scheme: Arc<EditScheme>,
    /// What patterns are compared with.
    pub places: Places,
    /// [`EditChunk::text_symbols`], once somebody has asked.
    text_symbols: OnceLock<(u32, u32)>,
}

impl EditChunk {
    /// A chunk.
    pub fn new(
        patterns: Arc<SequenceStore>,
        texts: Arc<SequenceStore>,
        scheme: Arc<EditScheme>,
        places: Places,
    ) -> Self {
        EditChunk { patterns, texts, scheme, places, text_symbols: OnceLock::new() }
    }

    /// Symbols of the shortest and of the longest region at all places; 0 and 0 if there is none. The first who asks looks at
    /// all of them, on the threads of the pool that this runs in.
    pub fn text_symbols(&self) -> (u32, u32) {
        if let Some(known) = self.text_symbols.get() {
            return *known;
        }
        // Not within the lock: a thread of the pool that waits for it could be the one that has to do a part of the work.
        let both = |a: (u32, u32), b: (u32, u32)| (a.0.min(b.0), a.1.max(b.1));
        let parts = (0..self.len()).into_par_iter().step_by(GROUP_PAIRS).map(|first| {
            let places = first..(first + GROUP_PAIRS).min(self.len());
            let lengths = places.map(|place| self.region(place as u32).symbols());
            lengths.fold((u32::MAX, 0), |all, n| both(all, (n, n)))
        });
        let extremes = parts.reduce_with(both).unwrap_or((0, 0));
        *self.text_symbols.get_or_init(|| extremes)
    }

    /// The region at a place.
    #[inline]
    pub fn region(&self, place: u32) -> Region {
        match &self.places {
            Places::Texts(order) => {
                let text = order[place as usize];
                Region { text, start: 0, end: self.texts.length(text) }
            }
            Places::Regions(regions) => regions[place as usize],
            Places::Candidates(all, range) => all[(range.start + place) as usize].region,
        }
    }

    /// Symbols of the region at a place.
    pub fn text(&self, place: u32) -> &[Code] {
        let region = self.region(place);
        &self.texts.codes(region.text)[region.start as usize..region.end as usize]
    }

    /// Number of places.
    pub fn len(&self) -> usize {
        match &self.places {
            Places::Texts(order) => order.len(),
            Places::Regions(regions) => regions.len(),
            Places::Candidates(_, range) => range.len(),
        }
    }

    /// Whether there is no place.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The least piece of work: one pattern against a run of places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditBlock {
    /// The pattern.
    pub pattern: SequenceId,
    /// The places.
    pub places: Range<u32>,
    /// Cells of all its pairs together.
    pub cells: u64,
}

impl EditBlock {
    /// Pairs in the block.
    pub fn pairs(&self) -> u64 {
        self.places.len() as u64
    }
}

/// Levenshtein distances.
#[derive(Debug, Clone, Copy)]
pub struct Edit;

/// Blocks that are computed together, all of patterns of one [`words`] class.
pub type EditBatch = Batch<Edit>;

/// What came of a batch.
#[derive(Debug, Clone, Default)]
pub struct EditReport {
    /// Of all blocks' pairs. What stands for blocks that are not finished has no meaning.
    pub found: Distances,
    /// Indices of the blocks that the engine did not finish.
    pub unfinished: Vec<usize>,
    /// Time that the device was busy with the kernel, where it can be told.
    pub kernel_time: Option<Duration>,
    /// Whether the engine looked at all of it as [`Work::check`] does while it had it in hand: that does not do so again.
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

/// Blocks of a batch that are looked at together, and their pairs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// Indices of the blocks.
    pub blocks: Range<usize>,
    /// Where their pairs are among those of the batch.
    pub pairs: Range<usize>,
}

/// Cuts a batch into groups of so many pairs or, where a block is larger, more.
pub fn groups(batch: &EditBatch, pairs: usize) -> Vec<Group> {
    let mut groups = Vec::new();
    let mut open = Group { blocks: 0..0, pairs: 0..0 };
    for (index, block) in batch.blocks.iter().enumerate() {
        open.blocks.end = index + 1;
        open.pairs.end += block.places.len();
        if open.pairs.len() >= pairs {
            let next = Group { blocks: index + 1..index + 1, pairs: open.pairs.end..open.pairs.end };
            groups.push(std::mem::replace(&mut open, next));
        }
    }
    if !open.blocks.is_empty() {
        groups.push(open);
    }
    groups
}

/// Pairs that one thread looks at at a time.
pub const GROUP_PAIRS: usize = 1 << 14;

/// Words of 32 rows that kernels keep for a pattern: patterns of one class can share a batch. Exact up to 8 words, then in
/// steps of at most a seventh.
pub fn words(pattern_symbols: u32) -> u32 {
    let words = pattern_symbols.div_ceil(32).max(1);
    if words <= 8 {
        return words;
    }
    // Steps of an eighth of the power of two below.
    let step = (1 << (31 - (words - 1).leading_zeros())) / 8;
    words.next_multiple_of(step)
}

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
        if block.places.is_empty() {
            return None;
        }
        Some(u64::from(chunk.patterns.length(block.pattern)) * u64::from(chunk.region(block.places.start).symbols()))
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
        let (mut end, mut cells) = (block.places.start, 0);
        while end < block.places.end {
            let more = m * u64::from(chunk.region(end).symbols());
            let full = cells + more > portion.cells || u64::from(end - block.places.start) >= portion.pairs;
            if full && end > block.places.start {
                break;
            }
            cells += more;
            end += 1;
        }
        if end == block.places.end {
            return (block, None);
        }
        let EditBlock { pattern, places, cells: all } = block;
        let tail = EditBlock { pattern, places: end..places.end, cells: all - cells };
        (EditBlock { pattern, places: places.start..end, cells }, Some(tail))
    }

    fn check(batch: &EditBatch, report: &EditReport) -> Result<(), String> {
        if report.is_checked { Ok(()) } else { check::check(batch, report) }
    }

    fn check_on(pool: &rayon::ThreadPool, batch: &EditBatch, report: &EditReport) -> Result<(), String> {
        if report.is_checked { Ok(()) } else { check::check_on(pool, batch, report) }
    }
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
        let places = Places::Texts([0; 40].into());
        let chunk = EditChunk::new(Arc::clone(&store), store, Arc::new(scheme), places);
        let block = |places: Range<u32>| EditBlock { pattern: 0, places, cells: 1 };
        let blocks = vec![block(0..3), block(0..0), block(3..4), block(0..40), block(5..5), block(7..9)];
        let batch = EditBatch { chunk: Arc::new(chunk), blocks };
        let cut =
            |pairs| groups(&batch, pairs).into_iter().map(|group| (group.blocks, group.pairs)).collect::<Vec<_>>();
        assert_eq!(cut(4), [(0..3, 0..4), (3..4, 4..44), (4..6, 44..46)]);
        assert_eq!(cut(100), [(0..6, 0..46)]);
        assert_eq!(cut(46), [(0..6, 0..46)]);
    }

    #[test]
    fn a_band_knows_its_shortest_and_its_longest_region() {
        let mut store = SequenceStore::builder(crate::seq::Alphabet::Dna);
        [3, 9, 5].into_iter().for_each(|length| store.push("s", &vec![1; length]).unwrap());
        let store = Arc::new(store.build());
        let scheme = Arc::new(EditScheme {
            mode: crate::score::EditMode::Infix,
            equality: crate::score::Equality::literal(crate::seq::Alphabet::Dna),
            limit: crate::score::Limit::None,
        });
        let of = |places| EditChunk::new(Arc::clone(&store), Arc::clone(&store), Arc::clone(&scheme), places);
        let regions: Vec<Region> = [(0, 7), (1, 3), (4, 9)].map(|(start, end)| Region { text: 1, start, end }).into();
        let candidates = regions.iter().map(|&region| Candidate { pattern: 0, region });
        let candidates: Arc<Vec<Candidate>> = Arc::new(candidates.collect());
        let all = [
            (Places::Texts([0, 2, 2].into()), (3, 5)),
            (Places::Texts([].into()), (0, 0)),
            (Places::Regions(Arc::new(regions)), (2, 7)),
            (Places::Candidates(Arc::clone(&candidates), 0..2), (2, 7)),
            (Places::Candidates(candidates, 2..3), (5, 5)),
        ];
        for (places, expected) in all {
            let chunk = of(places);
            assert_eq!([chunk.text_symbols(), chunk.text_symbols()], [expected; 2]);
        }
    }

    #[test]
    fn classes_grow_by_a_seventh_at_most() {
        assert_eq!([0, 1, 32, 33, 256, 257, 500, 512, 513].map(words), [1, 1, 1, 2, 8, 9, 16, 16, 18]);
        let mut last = 0;
        for symbols in 1..1_000_000u32 {
            let exact = symbols.div_ceil(32);
            let class = words(symbols);
            assert!(class >= exact && class >= last && f64::from(class) <= f64::from(exact) * 8.0 / 7.0, "{symbols}");
            last = class;
        }
    }
}
