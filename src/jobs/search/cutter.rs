//! Cuts blocks of a search into chunks of the queue: every batch of queries is compared with every
//! chunk of subjects.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use super::best::BestHits;
use super::chunks::SubjectChunkCache;
use crate::jobs::Run;
use crate::jobs::blocks::Block;
use crate::jobs::blocks::cut::saturating_u64;
use crate::jobs::edit_filter::{FilteredPlan, PlanFilter};
use crate::jobs::source::{ChunkCutter, OpenBlocks};
use crate::pairs::Pairs;
use crate::pairs::plan::{self, PlannedChunk};
use crate::seq::{QueryPart, SequenceId, Subjects};

/// Queries that are searched together in some subjects.
pub(super) struct QueryBatch {
    /// The strands of the queries.
    pub queries: Range<SequenceId>,
    /// Numbers of the subject chunks that the queries are compared with.
    pub chunks: Arc<[u32]>,
    /// Number of pairs that are not done.
    pub left: u64,
    /// The best hits of each query.
    pub best: Vec<BestHits>,
    /// Whether the block ends with this batch.
    pub is_last: bool,
}

/// The part of a batch that is not cut into chunks yet.
pub(super) struct UncutBatch {
    /// The strands of the queries.
    queries: Range<SequenceId>,
    /// Numbers of the subject chunks that the queries are compared with.
    chunks: Arc<[u32]>,
    /// Number of these subject chunks that are cut.
    done: usize,
}

/// Cuts batches of queries into chunks of a given number of cells or pairs.
pub(super) struct SearchChunkCutter {
    /// The job, without subjects.
    pub job: plan::PairsSpec,
    pub subjects: Arc<Subjects>,
    pub chunks: Arc<SubjectChunkCache>,
    /// Filter of the pairs of a batch with a chunk of subjects.
    pub filter: Option<PlanFilter>,
    /// Options of the filter.
    pub run: Run,
    pub open_blocks: OpenBlocks<QueryBatch>,
    /// Maximum number of queries in a batch.
    pub max_batch_queries: SequenceId,
    pub cells: u64,
    pub pairs: u64,
    /// Batches that are not completely cut.
    pub left: VecDeque<UncutBatch>,
    pub open: Option<Box<dyn Iterator<Item = PlannedChunk> + Send>>,
}

impl ChunkCutter<Pairs> for SearchChunkCutter {
    fn begin(&mut self, block: Block) {
        let copies = self.job.strands.copies();
        let size = self.subjects.size();
        let (sequences, symbols) = match &block.targets {
            None => (size.sequences, size.symbols),
            Some(some) => {
                let lengths = &self.subjects.each_length()[some.start as usize..some.end as usize];
                (lengths.len() as u64, lengths.iter().map(|&length| u64::from(length)).sum())
            }
        };
        let targets = block.targets.map(|some| some.start.into()..some.end.into());
        let (mut next, end) = (block.units.start as SequenceId, block.units.end as SequenceId);
        loop {
            let batch_end = end.min(next.saturating_add(self.max_batch_queries));
            let queries = next * copies..batch_end * copies;
            let lengths = &self.job.queries.lengths()[queries.start as usize..queries.end as usize];
            let query_symbols: u64 = lengths.iter().map(|&length| u64::from(length)).sum();
            let (pairs, cells) = (queries.len() as u64 * sequences, u128::from(query_symbols) * u128::from(symbols));
            let chunks = self.chunks.acquire(targets.clone());
            // The batch must be added before its first chunk. Subject chunks are opened one after
            // the other, while engines compute with the previous one.
            let best = (next..batch_end).map(|_| BestHits::default()).collect();
            let batch = QueryBatch {
                queries: queries.clone(),
                chunks: Arc::clone(&chunks),
                left: pairs,
                best,
                is_last: batch_end >= end,
            };
            self.open_blocks.add(batch, pairs, saturating_u64(cells));
            if !queries.is_empty() {
                self.left.push_back(UncutBatch { queries, chunks, done: 0 });
            }
            next = batch_end;
            if next >= end {
                return;
            }
        }
    }

    fn next(&mut self) -> Option<PlannedChunk> {
        loop {
            if let Some(chunk) = self.open.as_mut().and_then(Iterator::next) {
                return Some(chunk);
            }
            let UncutBatch { queries, chunks, done } = self.left.front_mut()?;
            let Some(&chunk) = chunks.get(*done) else {
                self.left.pop_front();
                continue;
            };
            *done += 1;
            let parts = Some(vec![QueryPart { queries: queries.clone(), targets: None }].into());
            let against = Some(self.chunks.open(chunk)?.store);
            let planned = plan::PairsSpec { against, parts, ..self.job.clone() };
            let Some(filter) = &self.filter else {
                self.open = Some(Box::new(planned.chunks(self.cells, self.pairs)));
                continue;
            };
            let FilteredPlan { chunks: open, excluded } = filter.chunks(planned, self.cells, self.pairs, &self.run)?;
            let is_own = |batch: &QueryBatch| batch.queries == *queries && batch.chunks.contains(&chunk);
            self.open_blocks.find(is_own, |batch| batch.left -= excluded);
            self.open = Some(open);
        }
    }

    fn has_failed(&self) -> bool {
        self.chunks.has_failed() || self.filter.as_ref().is_some_and(PlanFilter::has_failed)
    }
}
