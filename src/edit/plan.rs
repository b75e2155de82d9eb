//! Planning of Levenshtein distances: patterns in chunks, texts by decreasing length, candidates by
//! pattern.

use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use super::pieces::{PackedTexts, PieceFilter};
use super::tiles::TextTiles;
use super::{Candidate, Edit, EditBlock, EditChunk, TextRegions, pattern_words};
use crate::engine::queue::QueuedChunk;
use crate::score::{EditMode, EditScheme};
use crate::seq::part::{Extents, PartsLeft};
use crate::seq::{QueryPart, QueryStrands, SequenceId, SequenceStore};

/// Number of candidates that one thread processes at a time. The thread pool has a cost per task,
/// so a loop over many candidates is faster than one task for each.
pub(crate) const CANDIDATES_AT_ONCE: usize = 1 << 15;

/// The texts of a job.
#[derive(Debug, Clone)]
pub enum Against {
    /// Every pattern is compared with every later sequence of its own store, which is then the
    /// text.
    Later,
    /// Every pattern is compared with every text of a store.
    Texts(Arc<SequenceStore>),
    /// Patterns are compared with regions of texts.
    Candidates(Arc<SequenceStore>, Arc<Vec<Candidate>>),
    /// Every pattern is compared with every tile of every text of a store.
    Tiles(Arc<SequenceStore>, Arc<TextTiles>),
}

impl Against {
    /// Returns the store of the texts. `patterns` is the store of the patterns.
    pub fn texts<'a>(&'a self, patterns: &'a Arc<SequenceStore>) -> &'a Arc<SequenceStore> {
        match self {
            Against::Later => patterns,
            Against::Texts(texts) | Against::Candidates(texts, _) | Against::Tiles(texts, _) => texts,
        }
    }
}

/// A job that computes distances.
#[derive(Debug, Clone)]
pub struct EditJob {
    /// Store of the patterns.
    pub patterns: Arc<SequenceStore>,
    /// Texts that the patterns are compared with.
    pub against: Against,
    /// Mode, equality of symbols and limit.
    pub scheme: Arc<EditScheme>,
    /// Strands that the patterns represent, and whether a pattern is compared only with later
    /// texts.
    pub strands: QueryStrands,
    /// Parts of the patterns or candidates to compute, one after another; `None` for everything.
    pub parts: Option<Arc<[QueryPart]>>,
}

impl EditJob {
    /// Returns the store of the texts.
    pub fn texts(&self) -> &Arc<SequenceStore> {
        self.against.texts(&self.patterns)
    }

    /// Returns whether patterns are compared only with the texts after their own sequence.
    fn is_later(&self) -> bool {
        matches!(self.against, Against::Later) || self.strands.later_only
    }

    /// Returns the parts to compute: a single part with everything, unless parts are given.
    pub fn parts(&self) -> Vec<QueryPart> {
        let all = match &self.against {
            Against::Candidates(_, candidates) => candidates.len(),
            Against::Later | Against::Texts(_) | Against::Tiles(..) => self.patterns.len(),
        };
        self.parts.as_ref().map_or_else(|| vec![QueryPart::all(all)], |parts| parts.to_vec())
    }

    /// Returns the number of pairs and of cells of each part. Candidates are counted on the threads
    /// of the current pool.
    pub fn extents(&self, parts: &[QueryPart]) -> Vec<(u64, u128)> {
        if let Against::Candidates(_, candidates) = &self.against {
            let cells = |one: &Candidate| {
                u128::from(u64::from(self.patterns.length(one.pattern)) * u64::from(one.region.symbols()))
            };
            let extent_of = |part: &QueryPart| {
                let part_candidates = &candidates[part.queries.start as usize..part.queries.end as usize];
                let some = part_candidates
                    .par_chunks(CANDIDATES_AT_ONCE)
                    .map(|part_candidates| part_candidates.iter().map(cells).sum::<u128>());
                (part_candidates.len() as u64, some.sum())
            };
            return parts.iter().map(extent_of).collect();
        }
        let extents = Extents::new(&self.patterns, self.texts(), self.strands, self.is_later());
        parts.iter().map(|part| extents.count(part)).collect()
    }

    /// Returns the number of pairs of all strands.
    pub fn pairs(&self) -> u64 {
        if let Some(parts) = &self.parts {
            return self.extents(parts).iter().map(|(pairs, _)| pairs).sum();
        }
        let patterns = self.patterns.len() as u64;
        match &self.against {
            Against::Later => patterns * patterns.saturating_sub(1) / 2,
            Against::Texts(texts) if self.strands.later_only => patterns * (texts.len() as u64).saturating_sub(1) / 2,
            Against::Texts(texts) => patterns * texts.len() as u64,
            Against::Candidates(_, candidates) => candidates.len() as u64,
            Against::Tiles(texts, _) => patterns * texts.len() as u64,
        }
    }

    /// Returns the number of cells of all pairs, or [`u64::MAX`] if there are more.
    pub fn cells(&self) -> u64 {
        let sum = |store: &SequenceStore| store.lengths().iter().map(|&length| u128::from(length)).sum::<u128>();
        let cells = match &self.against {
            _ if self.parts.is_some() => self.extents(&self.parts()).iter().map(|(_, cells)| cells).sum(),
            Against::Texts(texts) if !self.strands.later_only => sum(&self.patterns) * sum(texts),
            Against::Later | Against::Texts(_) => {
                let all = sum(self.texts());
                let squares: u128 = self.texts().lengths().iter().map(|&length| u128::from(length).pow(2)).sum();
                (all * all - squares) / 2 * u128::from(self.strands.copies())
            }
            Against::Candidates(..) => self.extents(&self.parts()).iter().map(|(_, cells)| cells).sum(),
            // The overlaps of tiles are computed twice.
            Against::Tiles(_, tiles) => {
                let all_tiles = tiles.of_texts(0..self.texts().len() as SequenceId);
                sum(&self.patterns) * u128::from(tiles.symbols(all_tiles))
            }
        };
        u64::try_from(cells).unwrap_or(u64::MAX)
    }

    /// Returns the chunks of the job. A chunk has all strands of consecutive patterns, or
    /// consecutive candidates, with `pairs` pairs or a few more. A chunk never extends beyond its
    /// part. A part that names its texts has one chunk per sequence.
    pub fn chunks(&self, pairs: u64) -> EditChunks {
        let has_tiles = matches!(self.against, Against::Tiles(..));
        let packed = (has_tiles && PieceFilter::supports(&self.scheme))
            .then(|| Arc::new(PackedTexts::new(Arc::clone(self.texts()))));
        let left = PartsLeft::new(self.parts());
        EditChunks { job: self.clone(), left, pairs: pairs.max(1), by_length: None, packed }
    }
}

/// An iterator over chunks. The range of a chunk counts patterns, or candidates if the job has
/// them.
#[derive(Debug)]
pub struct EditChunks {
    job: EditJob,
    left: PartsLeft,
    pairs: u64,
    /// All texts, if every pattern is compared with all of them. All chunks share this order.
    by_length: Option<TextsByLength>,
    /// Texts for a filter by pieces.
    packed: Option<Arc<PackedTexts>>,
}

/// Texts in the order of a chunk.
#[derive(Debug, Clone)]
struct TextsByLength {
    order: Arc<[SequenceId]>,
    /// `symbols[i]` is the total length of the texts from index i on.
    symbols: Arc<[u64]>,
}

impl TextsByLength {
    fn new(texts: &SequenceStore, order: Vec<SequenceId>) -> Self {
        let mut symbols = vec![0u64; order.len() + 1];
        for (index, &text) in order.iter().enumerate().rev() {
            symbols[index] = symbols[index + 1] + u64::from(texts.length(text));
        }
        TextsByLength { order: order.into(), symbols: symbols.into() }
    }
}

impl Iterator for EditChunks {
    type Item = QueuedChunk<Edit>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.job.against.clone() {
            Against::Candidates(_, candidates) => self.next_candidates(&candidates),
            Against::Texts(_) => self.next_patterns(false),
            Against::Later => self.next_patterns(true),
            Against::Tiles(texts, tiles) => self.next_tiles(&texts, &tiles),
        }
    }
}

impl EditChunks {
    /// Adds a part after all others.
    pub fn add(&mut self, part: QueryPart) {
        self.left.add(part);
    }

    fn next_patterns(&mut self, triangle: bool) -> Option<QueuedChunk<Edit>> {
        let (patterns, texts) = (Arc::clone(&self.job.patterns), Arc::clone(self.job.texts()));
        let part = self.left.front()?;
        let (begin, total) = (part.queries.start, part.queries.end);
        let strands = self.job.strands;
        let (later, copies) = (triangle || strands.later_only, strands.copies());
        if part.targets.is_some() {
            self.left.advance(begin + copies);
            let mut order: Vec<SequenceId> =
                part.compared_targets(strands.sequence_of(begin).0, texts.len(), later).collect();
            sort_by_length(&texts, &mut order);
            return Some(
                self.patterns_with(begin..begin + copies, TextsByLength::new(&texts, order), |_, pattern| (pattern, 0)),
            );
        }
        let (mut end, mut pairs) = (begin, 0u64);
        while end < total && (end == begin || pairs < self.pairs) {
            let compared_targets =
                if later { texts.len() - strands.sequence_of(end).0 as usize - 1 } else { texts.len() };
            pairs += u64::from(copies) * compared_targets as u64;
            end += copies;
        }
        self.left.advance(end);
        let by_length = if later {
            // The chunk's own sequences come first, and each is compared with those after it. A
            // distance of whole sequences is symmetric, so these sequences may be sorted by length,
            // too. In other modes, and for reverse complements, the earlier sequence must be the
            // pattern.
            let chunk = strands.sequences(begin..end);
            let mut rest: Vec<SequenceId> = (chunk.end..texts.len() as SequenceId).collect();
            sort_by_length(&texts, &mut rest);
            let mut order: Vec<SequenceId> = chunk.collect();
            if triangle && matches!(self.job.scheme.mode, EditMode::Global | EditMode::Overlap(_)) {
                sort_by_length(&patterns, &mut order);
            }
            order.extend(rest);
            TextsByLength::new(&texts, order)
        } else {
            let by_length = self.by_length.get_or_insert_with(|| {
                let mut order: Vec<SequenceId> = (0..texts.len() as SequenceId).collect();
                sort_by_length(&texts, &mut order);
                TextsByLength::new(&texts, order)
            });
            by_length.clone()
        };
        let order = Arc::clone(&by_length.order);
        Some(self.patterns_with(begin..end, by_length, |index, pattern| match later {
            true if triangle => (order[index], index + 1),
            true => (pattern, index / copies as usize + 1),
            false => (pattern, 0),
        }))
    }

    /// Returns the chunk of a range of patterns. `first` takes the index and the id of a pattern,
    /// and returns the pattern to compute and the index of its first text.
    fn patterns_with(
        &self,
        range: Range<SequenceId>,
        TextsByLength { order, symbols }: TextsByLength,
        first: impl Fn(usize, SequenceId) -> (SequenceId, usize),
    ) -> QueuedChunk<Edit> {
        let blocks = range.clone().enumerate().map(|(index, pattern)| {
            let (pattern, first) = first(index, pattern);
            let m = self.job.patterns.length(pattern);
            let cells = u64::from(m) * symbols[first];
            (pattern_words(m), EditBlock { pattern, regions: first as u32..order.len() as u32, cells })
        });
        let blocks = blocks.filter(|(_, block)| !block.regions.is_empty()).collect();
        self.planned(range, TextRegions::Texts(order), blocks)
    }

    fn next_tiles(&mut self, texts: &SequenceStore, tiles: &TextTiles) -> Option<QueuedChunk<Edit>> {
        let part = self.left.front()?;
        let copies = self.job.strands.copies();
        let tile_range = tiles.of_texts(part.compared_targets(0, texts.len(), false));
        let sequences = (self.pairs / (tile_range.len() as u64 * u64::from(copies)).max(1)).max(1);
        let patterns = sequences.saturating_mul(u64::from(copies)).min(part.queries.len() as u64) as u32;
        let range = part.queries.start..part.queries.start + patterns;
        self.left.advance(range.end);
        let symbols = tiles.symbols(tile_range.clone());
        let blocks = range.clone().map(|pattern| {
            let m = self.job.patterns.length(pattern);
            let regions = 0..tile_range.len() as u32;
            (pattern_words(m), EditBlock { pattern, regions, cells: u64::from(m) * symbols })
        });
        let blocks = blocks.filter(|(_, block)| !block.regions.is_empty()).collect();
        Some(self.planned(range, TextRegions::Tiles(Arc::clone(tiles.regions()), tile_range), blocks))
    }

    fn next_candidates(&mut self, candidates: &Arc<Vec<Candidate>>) -> Option<QueuedChunk<Edit>> {
        let Range { start: begin, end: total } = self.left.front()?.queries;
        // Both strands of a candidate belong to one chunk.
        let pairs = self.pairs.next_multiple_of(u64::from(self.job.strands.copies()));
        let end = (u64::from(begin) + pairs).min(u64::from(total)) as u32;
        self.left.advance(end);
        let part_candidates = &candidates[begin as usize..end as usize];
        let parts = part_candidates.par_chunks(CANDIDATES_AT_ONCE).enumerate().map(|(index, part)| {
            let mut index = (index * CANDIDATES_AT_ONCE) as u32;
            let of_pattern = |part_candidates: &[Candidate]| {
                let (pattern, first) = (part_candidates[0].pattern, index);
                index += part_candidates.len() as u32;
                let m = self.job.patterns.length(pattern);
                let symbols: u64 = part_candidates.iter().map(|candidate| u64::from(candidate.region.symbols())).sum();
                (pattern_words(m), EditBlock { pattern, regions: first..index, cells: u64::from(m) * symbols })
            };
            part.chunk_by(|one, next| one.pattern == next.pattern).map(of_pattern).collect::<Vec<_>>()
        });
        let mut blocks = Vec::new();
        for part in parts.collect::<Vec<_>>() {
            let mut part = part.into_iter();
            part.next().into_iter().for_each(|(class, block)| add_block(&mut blocks, class, block));
            blocks.extend(part);
        }
        Some(self.planned(begin..end, TextRegions::Candidates(Arc::clone(candidates), begin..end), blocks))
    }

    fn planned(&self, range: Range<u32>, regions: TextRegions, mut blocks: Vec<(u32, EditBlock)>) -> QueuedChunk<Edit> {
        // Long patterns come first. Patterns stay in order within a class.
        blocks.sort_by_key(|(class, _)| std::cmp::Reverse(*class));
        let [patterns, texts] = [&self.job.patterns, self.job.texts()].map(Arc::clone);
        let chunk = EditChunk::new(patterns, texts, Arc::clone(&self.job.scheme), regions);
        let chunk = chunk.with_packed(self.packed.clone());
        (range, Arc::new(chunk), blocks)
    }
}

/// Appends a block, or extends the last block if it has the same pattern.
fn add_block(blocks: &mut Vec<(u32, EditBlock)>, class: u32, block: EditBlock) {
    match blocks.last_mut() {
        Some((_, last)) if last.pattern == block.pattern && last.regions.end == block.regions.start => {
            last.regions.end = block.regions.end;
            last.cells += block.cells;
        }
        _ => blocks.push((class, block)),
    }
}

/// Sorts by decreasing length, and equal lengths in input order.
fn sort_by_length(store: &SequenceStore, ids: &mut [SequenceId]) {
    ids.sort_by_key(|&id| std::cmp::Reverse(store.length(id)));
}
