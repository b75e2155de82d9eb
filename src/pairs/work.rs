//! Pairs of whole sequences as work for engines: blocks, batches and reports.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use super::formatted_rows::FormattedReport;
use super::thresholds::ScoreThresholds;
use crate::alignment::{Cigar, packed};
use crate::engine::buffer_pool::PooledVec;
use crate::engine::{self, BatchReport};
use crate::score::{IdentityFilter, Scoring};
use crate::seq::{SequenceId, SequenceStore};
use crate::trace::EndRegion;

/// The work of computing scores and alignments of pairs of whole sequences.
#[derive(Debug, Clone, Copy)]
pub struct Pairs;

impl BatchReport for PairsReport {
    fn unfinished(&self) -> &[usize] {
        &self.unfinished
    }

    fn kernel_time(&self) -> Option<Duration> {
        self.kernel_time
    }
}

/// Blocks of pairs that are computed together.
pub type PairsBatch = engine::Batch<Pairs>;

/// The smallest unit of work: one query against a run of targets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PairsBlock {
    /// Id of the query in the chunk's query store.
    pub query: SequenceId,
    /// Range of the targets in [`PairsChunk::order`].
    pub targets: Range<u32>,
    /// Number of matrix cells of all pairs of the block.
    pub cells: u64,
}

impl PairsBlock {
    /// Returns the number of pairs in the block.
    pub fn pairs(&self) -> u64 {
        self.targets.len() as u64
    }
}

/// Data that all blocks of a batch share.
#[derive(Debug)]
pub struct PairsChunk {
    /// Store of the queries.
    pub queries: Arc<SequenceStore>,
    /// Store of the targets. It is the same store in an all-against-all of one file.
    pub targets: Arc<SequenceStore>,
    /// Targets in runs of decreasing length. Neighbours differ little in length, so little padding
    /// is needed. If the members of a pair cannot be exchanged, a few targets are in input order.
    pub order: Arc<[SequenceId]>,
    /// The scoring scheme.
    pub scoring: Arc<Scoring>,
    /// Results that engines report.
    pub filter: ResultFilter,
    /// Whether the sequence with the smaller id is the query of the alignment, as in an
    /// all-against-all of one store. Otherwise the block's query is.
    pub earlier_is_query: bool,
}

impl PairsChunk {
    /// Returns the length of the longest target in a range of the order, or 0 if the range is
    /// empty.
    pub fn longest(&self, range: Range<u32>) -> u32 {
        self.order[range.start as usize..range.end as usize]
            .iter()
            .map(|&id| self.targets.length(id))
            .max()
            .unwrap_or(0)
    }
}

/// Selects the pairs that engines report, and their data.
#[derive(Debug, Clone)]
pub enum ResultFilter {
    /// The score of every pair.
    Scores,
    /// The score of every pair, and its number of matches if the engine computes it. A traceback
    /// follows.
    Alignments,
    /// Only the pairs that may reach an identity.
    Reaching(Arc<IdentityFilter>),
    /// The scores of all pairs that reach their query's threshold ([`ScoreThresholds`]). Engines
    /// may also report other pairs: each engine drops a pair by the threshold that it reads at that
    /// time.
    AtLeast(Arc<ScoreThresholds>),
}

impl ResultFilter {
    /// Returns whether a traceback may follow. Engines then report matches together with scores.
    pub fn has_alignments(&self) -> bool {
        matches!(self, ResultFilter::Alignments | ResultFilter::Reaching(_))
    }

    /// Returns whether engines may omit pairs from their reports.
    pub fn can_omit_pairs(&self) -> bool {
        matches!(self, ResultFilter::Reaching(_) | ResultFilter::AtLeast(_))
    }

    /// Returns whether an engine reports a pair with this score. The query has `m` symbols and the
    /// target `n`. `matches` is the number of matches, if the engine computed it.
    pub fn keeps(&self, query: SequenceId, score: i64, matches: Option<u64>, m: u32, n: u32) -> bool {
        match self {
            ResultFilter::Scores | ResultFilter::Alignments => true,
            ResultFilter::Reaching(filter) => filter.may_reach(score, matches, m, n),
            ResultFilter::AtLeast(thresholds) => score >= thresholds.threshold(query),
        }
    }
}

/// Greatest lengths in a batch. They determine the number format.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BatchLengths {
    /// Length of the longest query in symbols.
    pub query_symbols: u32,
    /// Length of the longest target in symbols.
    pub target_symbols: u32,
    /// Greatest `min(query, target)` of any pair.
    pub shorter: u32,
    /// Greatest `query + target` of any pair.
    pub sum: u64,
}

impl PairsBatch {
    /// Returns the greatest lengths in the batch.
    pub fn extent(&self) -> BatchLengths {
        let mut extent = BatchLengths::default();
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

/// Result of one pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct PairHit {
    /// Id of the query.
    pub query: SequenceId,
    /// Id of the target.
    pub target: SequenceId,
    /// The exact score.
    pub score: i64,
    /// Number of matches of the best alignment, if the engine computed it.
    pub matches: Option<u64>,
}

/// Results of a batch.
#[derive(Debug, Clone, Default)]
pub struct PairsReport {
    /// Results of the finished blocks, in no particular order.
    pub hits: Vec<PairHit>,
    /// Alignments of those hits that the engine traced.
    pub traced: PackedAlignments,
    /// Regions that contain the ends of the alignments of all hits, in the order of the hits. Empty
    /// if the engine does not compute them.
    pub ends: Vec<EndRegion>,
    /// Formatted rows. If present, they replace the hits and alignments.
    pub settled: Option<FormattedReport>,
    /// Indices of the blocks that the engine did not finish. Another engine has to compute them.
    pub unfinished: Vec<usize>,
    /// Time that the device spent in the kernel, if it can be measured.
    pub kernel_time: Option<Duration>,
}

/// Alignments as packed runs, as engines return them.
#[derive(Debug, Clone, Default)]
pub struct PackedAlignments {
    /// Packed runs of all alignments ([`crate::alignment::packed`]).
    pub words: PooledVec<u32>,
    /// Index of the first u32 and number of runs of each hit, in the order of
    /// [`PairsReport::hits`]. `None` for a hit that was not traced. Empty if no hit was traced.
    pub spans: Vec<Option<(usize, u32)>>,
}

impl PackedAlignments {
    /// Returns the alignment of the hit with this index, if it was traced.
    pub fn cigar(&self, index: usize) -> Option<Cigar> {
        let (first, runs) = (*self.spans.get(index)?)?;
        Some(packed::unpack(&self.words[first..], runs))
    }

    /// Reads the alignment of the hit with this index into `cigar`. Returns false if it was not
    /// traced.
    pub fn read(&self, index: usize, cigar: &mut Cigar) -> bool {
        let Some((first, runs)) = self.spans.get(index).copied().flatten() else { return false };
        packed::unpack_into(&self.words[first..], runs, cigar);
        true
    }
}
