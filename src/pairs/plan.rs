//! Planning: divides the pairs of a job into chunks and blocks, and orders them. It does not depend
//! on devices.
//!
//! An all-against-all is divided into *chunks* of consecutive queries in input order. The pairs of
//! a chunk are computed in any order and written when the chunk is complete. Output therefore
//! follows the input order while memory stays bounded. Within a chunk, targets are ordered by
//! decreasing length, so that neighbours, which share a workgroup or a vector, have similar
//! lengths.
//!
//! If strands of queries are compared, all strands of a sequence are in one chunk.

pub mod cost;
mod later;
pub mod lengths;
pub mod selected;

use std::ops::Range;
use std::sync::Arc;

use self::later::LaterTargets;
use super::{Pairs, PairsBlock, PairsChunk, ResultFilter};
use crate::engine::Portion;
use crate::engine::queue::QueuedChunk;
use crate::score::offset::fits;
use crate::score::{Mode, Scoring};
use crate::seq::part::{Extents, PartsLeft};
use crate::seq::{QueryPart, QueryStrands, SequenceId, SequenceStore};

/// Pairs of whole sequences with more cells than this are long. A single invocation would occupy a
/// device for at least a second, and desktop drivers reset the device then. Engines split long
/// pairs over several dispatches. Local scores are exempt because many invocations share each pair.
pub const LONG_PAIR_CELLS: u64 = 20_000_000;

/// Class of pairs that can share a batch: they need the same number format, and either all or none
/// of them are long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct LengthClass {
    /// Number format. 0: 32 bits hold score and matches. 1: 32 bits hold the score. 2: 32 bits hold
    /// neither.
    pub format: u8,
    /// Whether the pairs have more than [`LONG_PAIR_CELLS`] cells and whole sequences are aligned.
    pub long: bool,
}

impl LengthClass {
    /// Returns the class of pairs of these lengths. The class never falls as either length grows.
    pub fn for_lengths(scoring: &Scoring, query_symbols: u32, target_symbols: u32) -> Self {
        let (shorter, sum) = (query_symbols.min(target_symbols) as u64, query_symbols as u64 + target_symbols as u64);
        let format = if fits(scoring, shorter, sum, true, 31) {
            0
        } else if fits(scoring, shorter, sum, false, 31) {
            1
        } else {
            2
        };
        let is_long = query_symbols as u64 * target_symbols as u64 > LONG_PAIR_CELLS;
        LengthClass { format, long: is_long && scoring.mode == Mode::Global }
    }
}

/// The pairs to compute: all pairs of one store, or all pairs of two stores.
#[derive(Debug, Clone)]
pub struct PairsSpec {
    /// Store of the queries.
    pub queries: Arc<SequenceStore>,
    /// Store of the targets. `None` for all pairs of the queries.
    pub against: Option<Arc<SequenceStore>>,
    /// The scoring scheme.
    pub scoring: Arc<Scoring>,
    /// Results that engines report.
    pub filter: ResultFilter,
    /// Strands of the queries, and the targets that each query is compared with.
    pub strands: QueryStrands,
    /// Parts to compute, one after another. `None` for all pairs.
    pub parts: Option<Arc<[QueryPart]>>,
}

impl PairsSpec {
    /// Returns the store of the targets, which is the store of the queries in an all-against-all.
    pub fn targets(&self) -> &Arc<SequenceStore> {
        self.against.as_ref().unwrap_or(&self.queries)
    }

    /// Returns whether a query is compared only with the targets after its own sequence.
    fn is_later(&self) -> bool {
        self.against.is_none() || self.strands.later_only
    }

    /// Returns a counter of the pairs and cells of parts.
    pub fn extents(&self) -> Extents<'_> {
        Extents::new(&self.queries, self.targets(), self.strands, self.is_later())
    }

    /// Returns the parts to compute. Without a list of parts, this is a single part with all
    /// queries.
    pub fn parts(&self) -> Vec<QueryPart> {
        self.parts.as_ref().map_or_else(|| vec![QueryPart::all(self.queries.len())], |parts| parts.to_vec())
    }

    /// Returns the number of pairs. Each strand of a query counts as a query of its own.
    pub fn pairs(&self) -> u64 {
        if let Some(parts) = &self.parts {
            let extents = self.extents();
            return parts.iter().map(|part| extents.count(part).0).sum();
        }
        let queries = self.queries.len() as u64;
        match &self.against {
            Some(targets) if self.strands.later_only => queries * (targets.len() as u64).saturating_sub(1) / 2,
            Some(targets) => queries * targets.len() as u64,
            None => queries * queries.saturating_sub(1) / 2,
        }
    }

    /// Returns the number of cells of all pairs, or `u64::MAX` if it exceeds 64 bits.
    pub fn cells(&self) -> u64 {
        let sum = |store: &SequenceStore| store.lengths().iter().map(|&length| length as u128).sum::<u128>();
        let cells = match &self.against {
            _ if self.parts.is_some() => {
                let extents = self.extents();
                self.parts().iter().map(|part| extents.count(part).1).sum()
            }
            Some(targets) if !self.strands.later_only => sum(&self.queries) * sum(targets),
            _ => {
                let all = sum(self.targets());
                let squares: u128 = self.targets().lengths().iter().map(|&length| (length as u128).pow(2)).sum();
                (all * all - squares) / 2 * u128::from(self.strands.copies())
            }
        };
        u64::try_from(cells).unwrap_or(u64::MAX)
    }

    /// Returns the chunks. Each has consecutive queries whose pairs have `cells` cells or `pairs`
    /// pairs together, whichever is reached first. No chunk extends beyond the end of a part. A
    /// part with a range of targets has one chunk for each sequence.
    pub fn chunks(&self, cells: u64, pairs: u64) -> PlannedChunks {
        let left = PartsLeft::new(self.parts());
        PlannedChunks { job: self.clone(), left, cells: cells.max(1), pairs: pairs.max(1), by_length: None }
    }
}

/// A chunk with its blocks. In an all-against-all of one store, a block's query may be either
/// member of a pair.
pub type PlannedChunk = QueuedChunk<Pairs>;

/// Iterator over the chunks of a job.
#[derive(Debug)]
pub struct PlannedChunks {
    job: PairsSpec,
    left: PartsLeft,
    cells: u64,
    pairs: u64,
    /// Order of all targets, used by every chunk of two stores.
    by_length: Option<Arc<[SequenceId]>>,
}

impl Iterator for PlannedChunks {
    type Item = PlannedChunk;

    fn next(&mut self) -> Option<Self::Item> {
        let part = self.left.front()?;
        let queries = &self.job.queries;
        let (start, total) = (part.queries.start, part.queries.end);
        let targets = self.job.targets();
        let (triangle, strands) = (self.job.against.is_none(), self.job.strands);
        let (later, copies) = (self.job.is_later(), strands.copies());
        if part.targets.is_some() {
            self.left.advance(start + copies);
            return Some(self.some_targets(start..start + copies, &part));
        }
        let target_symbols: u64 = targets.lengths().iter().map(|&length| length as u64).sum();
        let (mut end, mut cells, mut pairs) = (start, 0u64, 0u64);
        let sequence = |query: SequenceId| strands.sequence_of(query).0;
        let left = if later { sequence(start) } else { 0 };
        let mut left_symbols: u64 = targets.lengths()[left as usize..].iter().map(|&length| length as u64).sum();
        while end < total && (end == start || (cells < self.cells && pairs < self.pairs)) {
            let length = queries.length(end) as u64;
            if later {
                left_symbols -= length;
            }
            cells += u64::from(copies) * length * if later { left_symbols } else { target_symbols };
            let compared_targets = if later { targets.len() - sequence(end) as usize - 1 } else { targets.len() };
            pairs += u64::from(copies) * compared_targets as u64;
            end += copies;
        }
        self.left.advance(end);

        let mut later_of = Vec::new();
        let order: Arc<[SequenceId]> = if strands.later_only {
            let order;
            (order, later_of) = later::lists(targets, strands.sequences(start..end));
            order.into()
        } else if triangle {
            // The chunk's own queries come first. The query at index p is compared with all targets
            // after index p. Each pair within the chunk thus occurs once, and the targets of each
            // query form one range.
            let mut order = sorted_by_length(queries, start..end);
            order.extend(sorted_by_length(queries, end..queries.len() as SequenceId));
            order.into()
        } else {
            let store = Arc::clone(targets);
            let sorted = || sorted_by_length(&store, 0..store.len() as SequenceId).into();
            Arc::clone(self.by_length.get_or_insert_with(sorted))
        };
        let chunk_queries = (end - start) as usize;
        let mut blocks = Vec::new();
        for index in 0..chunk_queries {
            let (query, first) = if triangle { (order[index], index + 1) } else { (start + index as SequenceId, 0) };
            let symbols = queries.length(query);
            let mut cut = |run| cut_by_class(&self.job.scoring, symbols, targets, &order, run, query, &mut blocks);
            // For one store, a block's targets consist of two runs of decreasing length. For two
            // stores, they are one run.
            match later_of.get(index / copies as usize) {
                Some(LaterTargets { nearby, others }) => {
                    nearby.clone().for_each(|index| cut(index..index + 1));
                    cut(others.clone());
                }
                None if triangle => [first..chunk_queries, chunk_queries..order.len()].into_iter().for_each(cut),
                None => cut(0..order.len()),
            }
        }
        Some(planned(&self.job, start..end, order, blocks))
    }
}

impl PlannedChunks {
    /// Adds a part after all others.
    pub fn add(&mut self, part: QueryPart) {
        self.left.add(part);
    }

    /// Returns the chunk of one sequence's queries with the targets of a part.
    fn some_targets(&self, queries: Range<SequenceId>, part: &QueryPart) -> PlannedChunk {
        let job = &self.job;
        let targets = job.targets();
        let compared_targets =
            part.compared_targets(job.strands.sequence_of(queries.start).0, targets.len(), job.is_later());
        let order = sorted_by_length(targets, compared_targets);
        let mut blocks = Vec::new();
        for query in queries.clone() {
            let symbols = job.queries.length(query);
            cut_by_class(&job.scoring, symbols, targets, &order, 0..order.len(), query, &mut blocks);
        }
        planned(job, queries, order.into(), blocks)
    }
}

/// Returns the chunk of these queries.
fn planned(
    job: &PairsSpec,
    queries: Range<SequenceId>,
    order: Arc<[SequenceId]>,
    mut blocks: Vec<(LengthClass, PairsBlock)>,
) -> PlannedChunk {
    // Long pairs come first, then classes in order. Queries stay in order within a class.
    blocks.sort_by_key(|(class, _)| (std::cmp::Reverse(class.long), class.format));
    merge_neighbours(&mut blocks);
    let chunk = PairsChunk {
        queries: Arc::clone(&job.queries),
        targets: Arc::clone(job.targets()),
        order,
        scoring: Arc::clone(&job.scoring),
        filter: job.filter.clone(),
        earlier_is_query: job.against.is_none(),
    };
    (queries, Arc::new(chunk), blocks)
}

/// Returns the ids of a range by decreasing length. Equal lengths stay in input order.
fn sorted_by_length(store: &SequenceStore, ids: Range<SequenceId>) -> Vec<SequenceId> {
    let mut order: Vec<SequenceId> = ids.collect();
    order.sort_by_key(|&id| std::cmp::Reverse(store.length(id)));
    order
}

/// Splits a run of targets with decreasing lengths at every change of class.
fn cut_by_class(
    scoring: &Scoring,
    query_symbols: u32,
    targets: &SequenceStore,
    order: &[SequenceId],
    run: Range<usize>,
    query: SequenceId,
    blocks: &mut Vec<(LengthClass, PairsBlock)>,
) {
    let mut first = run.start;
    while first < run.end {
        let class = LengthClass::for_lengths(scoring, query_symbols, targets.length(order[first]));
        let same = order[first..run.end]
            .partition_point(|&id| LengthClass::for_lengths(scoring, query_symbols, targets.length(id)) == class);
        let last = first + same.max(1);
        let cells = order[first..last].iter().map(|&id| targets.length(id) as u64).sum::<u64>() * query_symbols as u64;
        blocks.push((class, PairsBlock { query, targets: first as u32..last as u32, cells }));
        first = last;
    }
}

/// Joins adjacent blocks of the same query and class. Such blocks come from the two runs of a
/// query's targets within one store, or from targets in input order.
fn merge_neighbours(blocks: &mut Vec<(LengthClass, PairsBlock)>) {
    blocks.dedup_by(|later, earlier| {
        let touch =
            earlier.0 == later.0 && earlier.1.query == later.1.query && earlier.1.targets.end == later.1.targets.start;
        if touch {
            earlier.1.targets.end = later.1.targets.end;
            earlier.1.cells += later.1.cells;
        }
        touch
    });
}

/// Splits off the first part of a block that fits in `portion`, with at least one pair. Returns
/// this part and the rest, if any.
pub fn split_block(chunk: &PairsChunk, block: PairsBlock, portion: Portion) -> (PairsBlock, Option<PairsBlock>) {
    let whole_store_fits = chunk.targets.packed_bytes().len() as u64 <= portion.target_bytes;
    if block.cells <= portion.cells && block.pairs() <= portion.pairs && whole_store_fits {
        return (block, None);
    }
    let query_symbols = chunk.queries.length(block.query) as u64;
    let (mut end, mut cells, mut bytes) = (block.targets.start, 0u64, 0u64);
    while end < block.targets.end {
        let symbols = chunk.targets.length(chunk.order[end as usize]) as u64;
        let (more_cells, more_bytes) = (query_symbols * symbols, symbols.next_multiple_of(4));
        let full = cells + more_cells > portion.cells
            || (end - block.targets.start) as u64 >= portion.pairs
            || bytes + more_bytes > portion.target_bytes;
        if full && end > block.targets.start {
            break;
        }
        cells += more_cells;
        bytes += more_bytes;
        end += 1;
    }
    if end == block.targets.end {
        return (block, None);
    }
    let head = PairsBlock { query: block.query, targets: block.targets.start..end, cells };
    let tail = PairsBlock { query: block.query, targets: end..block.targets.end, cells: block.cells - cells };
    (head, Some(tail))
}
