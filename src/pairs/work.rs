//! Many pairs of whole sequences as work: what a block, a batch and a report are.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use super::check;
use super::floors::Floors;
use super::lines::Settled;
use super::plan::{LengthClass, split_block};
use crate::alignment::{Cigar, packed};
use crate::engine::buffer_pool::PooledVec;
use crate::engine::{self, BatchReport, Portion, Work};
use crate::score::{IdentityFilter, Scoring};
use crate::seq::{SequenceId, SequenceStore};
use crate::trace::EndRegion;

/// Scores and alignments of pairs of whole sequences.
#[derive(Debug, Clone, Copy)]
pub struct Pairs;

impl Work for Pairs {
    type Chunk = PairsChunk;
    type Block = Block;
    type Class = LengthClass;
    type Report = Report;

    fn pairs(block: &Block) -> u64 {
        block.pairs()
    }

    fn cells(block: &Block) -> u64 {
        block.cells
    }

    fn first_cells(chunk: &PairsChunk, block: &Block) -> Option<u64> {
        let target = *chunk.order.get(block.targets.start as usize)?;
        Some(u64::from(chunk.queries.length(block.query)) * u64::from(chunk.targets.length(target)))
    }

    fn one_block(chunk: &PairsChunk, store_bytes: u64) -> bool {
        chunk.targets.packed_bytes().len() as u64 > store_bytes
    }

    fn split(chunk: &PairsChunk, block: Block, portion: Portion) -> (Block, Option<Block>) {
        split_block(chunk, block, portion)
    }

    fn check(batch: &Batch, report: &Report) -> Result<(), String> {
        check::report(batch, report, None)
    }

    fn check_on(pool: &rayon::ThreadPool, batch: &Batch, report: &Report) -> Result<(), String> {
        check::report(batch, report, Some(pool))
    }
}

impl BatchReport for Report {
    fn unfinished(&self) -> &[usize] {
        &self.unfinished
    }

    fn kernel_time(&self) -> Option<Duration> {
        self.kernel_time
    }
}

/// Blocks of pairs that are computed together.
pub type Batch = engine::Batch<Pairs>;

/// The least piece of work: one query against a run of targets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// The query, in the batch's query store.
    pub query: SequenceId,
    /// The targets: a range of [`PairsChunk::order`].
    pub targets: Range<u32>,
    /// Cells of all its pairs together.
    pub cells: u64,
}

impl Block {
    /// Pairs in the block.
    pub fn pairs(&self) -> u64 {
        self.targets.len() as u64
    }
}

/// What the blocks of a batch have in common.
#[derive(Debug)]
pub struct PairsChunk {
    /// Where queries are.
    pub queries: Arc<SequenceStore>,
    /// Where targets are; the same store in an all-against-all of one file.
    pub targets: Arc<SequenceStore>,
    /// Targets in runs by falling length: neighbours differ little in length, so that little is padded. Where pairs cannot be
    /// turned, a few are in input order.
    pub order: Arc<[SequenceId]>,
    /// The scoring scheme.
    pub scoring: Arc<Scoring>,
    /// What is to come back.
    pub want: Want,
    /// Whether of two sequences the one of the smaller number is the query of the alignment, as in an all-against-all of
    /// one store; else a block's query is.
    pub earlier_is_query: bool,
}

impl PairsChunk {
    /// Length of the longest target in a range of the order; 0 for none.
    pub fn longest(&self, range: Range<u32>) -> u32 {
        self.order[range.start as usize..range.end as usize]
            .iter()
            .map(|&id| self.targets.length(id))
            .max()
            .unwrap_or(0)
    }
}

/// What engines report of the pairs that they computed.
#[derive(Debug, Clone)]
pub enum Want {
    /// Every pair's score.
    Scores,
    /// Every pair's score and, where the engine has them, matches: a traceback follows.
    Alignments,
    /// Only the pairs that may reach an identity.
    Reaching(Arc<IdentityFilter>),
    /// Scores of all pairs that reach their query's least score ([`Floors`]). Others may come as well: an engine leaves out what
    /// it can, by what it reads there at any time.
    AtLeast(Arc<Floors>),
}

impl Want {
    /// Whether a traceback may follow, so that matches are worth carrying beside scores.
    pub fn has_alignments(&self) -> bool {
        matches!(self, Want::Alignments | Want::Reaching(_))
    }

    /// Whether engines may leave out pairs.
    pub fn leaves_out(&self) -> bool {
        matches!(self, Want::Reaching(_) | Want::AtLeast(_))
    }

    /// Whether a pair is to be reported: one of a query of `m` symbols and a target of `n` that has this score and, where they
    /// were carried, matches.
    pub fn keeps(&self, query: SequenceId, score: i64, matches: Option<u64>, m: u32, n: u32) -> bool {
        match self {
            Want::Scores | Want::Alignments => true,
            Want::Reaching(filter) => filter.may_reach(score, matches, m, n),
            Want::AtLeast(floors) => score >= floors.least(query),
        }
    }
}

/// Greatest lengths in a batch, which decide the number format.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Extent {
    /// Longest query in symbols.
    pub query_symbols: u32,
    /// Longest target in symbols.
    pub target_symbols: u32,
    /// Greatest `min(query, target)` of any pair.
    pub shorter: u32,
    /// Greatest `query + target` of any pair.
    pub sum: u64,
}

impl Batch {
    /// The greatest lengths.
    pub fn extent(&self) -> Extent {
        let mut extent = Extent::default();
        for block in self.blocks.iter().filter(|block| !block.targets.is_empty()) {
            let query = self.chunk.queries.length(block.query);
            let target = self.chunk.longest(block.targets.clone());
            extent.query_symbols = extent.query_symbols.max(query);
            extent.target_symbols = extent.target_symbols.max(target);
            extent.shorter = extent.shorter.max(query.min(target));
            extent.sum = extent.sum.max(query as u64 + target as u64);
        }
        extent
    }
}

/// One pair's result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hit {
    /// The query.
    pub query: SequenceId,
    /// The target.
    pub target: SequenceId,
    /// The exact score.
    pub score: i64,
    /// Matches of the best alignment, if the engine carried them.
    pub matches: Option<u64>,
}

/// What came of a batch.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// Results of finished blocks, in no particular order.
    pub hits: Vec<Hit>,
    /// Alignments of some of the hits, where the engine traced them.
    pub traced: Traced,
    /// Where the local alignments of the hits end, in their order, if the engine knows; else empty.
    pub ends: Vec<EndRegion>,
    /// Rows that were made of hits and alignments, which are then gone from here.
    pub settled: Option<Settled>,
    /// Indices of the blocks that the engine did not finish; another engine has to.
    pub unfinished: Vec<usize>,
    /// Time that the device was busy with the kernel, where it can be told.
    pub kernel_time: Option<Duration>,
}

/// Alignments as an engine leaves them: runs, packed.
#[derive(Debug, Clone, Default)]
pub struct Traced {
    /// Runs of all alignments ([`crate::alignment::packed`]).
    pub words: PooledVec<u32>,
    /// First word and number of runs of each hit, in the order of [`Report::hits`]; `None` for a hit that was not traced.
    /// Empty if none was.
    pub spans: Vec<Option<(usize, u32)>>,
}

impl Traced {
    /// The alignment of the hit at this place, if it was traced.
    pub fn cigar(&self, index: usize) -> Option<Cigar> {
        let (first, runs) = (*self.spans.get(index)?)?;
        Some(packed::unpack(&self.words[first..], runs))
    }

    /// Makes `cigar` the alignment of the hit at this place; false if it was not traced.
    pub fn read(&self, index: usize, cigar: &mut Cigar) -> bool {
        let Some((first, runs)) = self.spans.get(index).copied().flatten() else { return false };
        packed::unpack_into(&self.words[first..], runs, cigar);
        true
    }
}
