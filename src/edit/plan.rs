//! Planning of Levenshtein distances: patterns in chunks, texts by falling length, candidates by pattern.

use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use super::{Edit, EditBlock, EditChunk, Places, Region, words};
use crate::engine::queue::QueuedChunk;
use crate::score::{EditMode, EditScheme};
use crate::seq::part::{Extents, PartsLeft};
use crate::seq::{QueryPart, QueryStrands, SequenceId, SequenceStore};

/// Candidates that one thread looks at at a time: rather a loop over many than a step of the pool for each.
pub(crate) const CANDIDATES_AT_ONCE: usize = 1 << 15;

/// What is compared with what.
#[derive(Debug, Clone)]
pub enum Against {
    /// Every pattern with every later one, which is the text.
    Later,
    /// Every pattern with every text of a store.
    Texts(Arc<SequenceStore>),
    /// Patterns with regions of texts.
    Candidates(Arc<SequenceStore>, Arc<Vec<Candidate>>),
}

impl Against {
    /// Where texts are, given where patterns are.
    pub fn texts<'a>(&'a self, patterns: &'a Arc<SequenceStore>) -> &'a Arc<SequenceStore> {
        match self {
            Against::Later => patterns,
            Against::Texts(texts) | Against::Candidates(texts, _) => texts,
        }
    }
}

/// A pattern and a region of a text where it may be found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Candidate {
    /// The pattern.
    pub pattern: SequenceId,
    /// The region.
    pub region: Region,
}

/// Distances to compute.
#[derive(Debug, Clone)]
pub struct EditJob {
    /// The patterns.
    pub patterns: Arc<SequenceStore>,
    /// What they are compared with.
    pub against: Against,
    /// How.
    pub scheme: Arc<EditScheme>,
    /// What the patterns are strands of, and which texts they meet.
    pub strands: QueryStrands,
    /// The parts to compute, one after the other, of patterns or of candidates; `None` for everything.
    pub parts: Option<Arc<[QueryPart]>>,
}

impl EditJob {
    /// Where texts are.
    pub fn texts(&self) -> &Arc<SequenceStore> {
        self.against.texts(&self.patterns)
    }

    /// Whether patterns meet only the texts after their own sequence.
    fn is_later(&self) -> bool {
        matches!(self.against, Against::Later) || self.strands.later_only
    }

    /// The parts to compute: one that is everything, unless there are some.
    pub fn parts(&self) -> Vec<QueryPart> {
        let all = match &self.against {
            Against::Candidates(_, candidates) => candidates.len(),
            Against::Later | Against::Texts(_) => self.patterns.len(),
        };
        self.parts.as_ref().map_or_else(|| vec![QueryPart::all(all)], |parts| parts.to_vec())
    }

    /// Pairs of each of these parts, and their cells; of candidates counted by the threads of the pool that this runs in.
    pub fn extents(&self, parts: &[QueryPart]) -> Vec<(u64, u128)> {
        if let Against::Candidates(_, candidates) = &self.against {
            let cells = |one: &Candidate| {
                u128::from(u64::from(self.patterns.length(one.pattern)) * u64::from(one.region.symbols()))
            };
            let of = |part: &QueryPart| {
                let own = &candidates[part.queries.start as usize..part.queries.end as usize];
                let some = own.par_chunks(CANDIDATES_AT_ONCE).map(|own| own.iter().map(cells).sum::<u128>());
                (own.len() as u64, some.sum())
            };
            return parts.iter().map(of).collect();
        }
        let extents = Extents::new(&self.patterns, self.texts(), self.strands, self.is_later());
        parts.iter().map(|part| extents.count(part)).collect()
    }

    /// Number of pairs, of each strand.
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
        }
    }

    /// Cells of all pairs; the greatest number if there are more than 2^64.
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
        };
        u64::try_from(cells).unwrap_or(u64::MAX)
    }

    /// The chunks, each of `pairs` pairs or a little more: of all strands of consecutive patterns, or of consecutive
    /// candidates. None goes beyond the end of a part; with its texts named, a part has a chunk for each sequence.
    pub fn chunks(&self, pairs: u64) -> EditChunks {
        EditChunks { job: self.clone(), left: PartsLeft::new(self.parts()), pairs: pairs.max(1), by_length: None }
    }
}

/// Iterator over chunks. The range of a chunk counts patterns, or candidates where these are given.
#[derive(Debug)]
pub struct EditChunks {
    job: EditJob,
    left: PartsLeft,
    pairs: u64,
    /// All texts, the same for every chunk of a rectangle.
    by_length: Option<ByLength>,
}

/// Texts in the order in which a chunk has them.
#[derive(Debug, Clone)]
struct ByLength {
    order: Arc<[SequenceId]>,
    /// Symbols of the texts from each place on.
    symbols: Arc<[u64]>,
}

impl ByLength {
    fn new(texts: &SequenceStore, order: Vec<SequenceId>) -> Self {
        let mut symbols = vec![0u64; order.len() + 1];
        for (place, &text) in order.iter().enumerate().rev() {
            symbols[place] = symbols[place + 1] + u64::from(texts.length(text));
        }
        ByLength { order: order.into(), symbols: symbols.into() }
    }
}

impl Iterator for EditChunks {
    type Item = QueuedChunk<Edit>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.job.against.clone() {
            Against::Candidates(_, candidates) => self.next_candidates(&candidates),
            Against::Texts(_) => self.next_patterns(false),
            Against::Later => self.next_patterns(true),
        }
    }
}

impl EditChunks {
    /// Goes on with a part behind all others.
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
            let mut order: Vec<SequenceId> = part.met(strands.sequence_of(begin).0, texts.len(), later).collect();
            sort_by_length(&texts, &mut order);
            return Some(
                self.patterns_with(begin..begin + copies, ByLength::new(&texts, order), |_, pattern| (pattern, 0)),
            );
        }
        let (mut end, mut pairs) = (begin, 0u64);
        while end < total && (end == begin || pairs < self.pairs) {
            let met = if later { texts.len() - strands.sequence_of(end).0 as usize - 1 } else { texts.len() };
            pairs += u64::from(copies) * met as u64;
            end += copies;
        }
        self.left.advance(end);
        let by_length = if later {
            // The chunk's own sequences first: each meets those after it. A distance between wholes is the same from both
            // sides, so that these may lie by length as well; else, and where the pattern is a reverse complement, the
            // earlier one has to be the pattern.
            let chunk = strands.sequences(begin..end);
            let mut rest: Vec<SequenceId> = (chunk.end..texts.len() as SequenceId).collect();
            sort_by_length(&texts, &mut rest);
            let mut order: Vec<SequenceId> = chunk.collect();
            if triangle && matches!(self.job.scheme.mode, EditMode::Global | EditMode::Overlap(_)) {
                sort_by_length(&patterns, &mut order);
            }
            order.extend(rest);
            ByLength::new(&texts, order)
        } else {
            let by_length = self.by_length.get_or_insert_with(|| {
                let mut order: Vec<SequenceId> = (0..texts.len() as SequenceId).collect();
                sort_by_length(&texts, &mut order);
                ByLength::new(&texts, order)
            });
            by_length.clone()
        };
        let order = Arc::clone(&by_length.order);
        Some(self.patterns_with(begin..end, by_length, |place, pattern| match later {
            true if triangle => (order[place], place + 1),
            true => (pattern, place / copies as usize + 1),
            false => (pattern, 0),
        }))
    }

    /// The chunk of these patterns, of each of which `first` says, by its place among them, which pattern is computed and from
    /// which text on.
    fn patterns_with(
        &self,
        range: Range<SequenceId>,
        ByLength { order, symbols }: ByLength,
        first: impl Fn(usize, SequenceId) -> (SequenceId, usize),
    ) -> QueuedChunk<Edit> {
        let blocks = range.clone().enumerate().map(|(place, pattern)| {
            let (pattern, first) = first(place, pattern);
            let m = self.job.patterns.length(pattern);
            let cells = u64::from(m) * symbols[first];
            (words(m), EditBlock { pattern, places: first as u32..order.len() as u32, cells })
        });
        let blocks = blocks.filter(|(_, block)| !block.places.is_empty()).collect();
        self.planned(range, Places::Texts(order), blocks)
    }

    fn next_candidates(&mut self, candidates: &Arc<Vec<Candidate>>) -> Option<QueuedChunk<Edit>> {
        let Range { start: begin, end: total } = self.left.front()?.queries;
        // Both strands of a candidate are in one chunk.
        let pairs = self.pairs.next_multiple_of(u64::from(self.job.strands.copies()));
        let end = (u64::from(begin) + pairs).min(u64::from(total)) as u32;
        self.left.advance(end);
        let own = &candidates[begin as usize..end as usize];
        let parts = own.par_chunks(CANDIDATES_AT_ONCE).enumerate().map(|(index, part)| {
            let mut place = (index * CANDIDATES_AT_ONCE) as u32;
            let of_pattern = |own: &[Candidate]| {
                let (pattern, first) = (own[0].pattern, place);
                place += own.len() as u32;
                let m = self.job.patterns.length(pattern);
                let symbols: u64 = own.iter().map(|candidate| u64::from(candidate.region.symbols())).sum();
                (words(m), EditBlock { pattern, places: first..place, cells: u64::from(m) * symbols })
            };
            part.chunk_by(|one, next| one.pattern == next.pattern).map(of_pattern).collect::<Vec<_>>()
        });
        let mut blocks = Vec::new();
        for part in parts.collect::<Vec<_>>() {
            let mut part = part.into_iter();
            part.next().into_iter().for_each(|(class, block)| add_block(&mut blocks, class, block));
            blocks.extend(part);
        }
        Some(self.planned(begin..end, Places::Candidates(Arc::clone(candidates), begin..end), blocks))
    }

    fn planned(&self, range: Range<u32>, places: Places, mut blocks: Vec<(u32, EditBlock)>) -> QueuedChunk<Edit> {
        // Long patterns first; patterns stay in order within a class.
        blocks.sort_by_key(|(class, _)| std::cmp::Reverse(*class));
        let [patterns, texts] = [&self.job.patterns, self.job.texts()].map(Arc::clone);
        let chunk = EditChunk::new(patterns, texts, Arc::clone(&self.job.scheme), places);
        (range, Arc::new(chunk), blocks)
    }
}

/// Adds a block, to the last one if that is of the same pattern.
fn add_block(blocks: &mut Vec<(u32, EditBlock)>, class: u32, block: EditBlock) {
    match blocks.last_mut() {
        Some((_, last)) if last.pattern == block.pattern && last.places.end == block.places.start => {
            last.places.end = block.places.end;
            last.cells += block.cells;
        }
        _ => blocks.push((class, block)),
    }
}

/// By falling length; equal lengths in input order.
fn sort_by_length(store: &SequenceStore, ids: &mut [SequenceId]) {
    ids.sort_by_key(|&id| std::cmp::Reverse(store.length(id)));
}
