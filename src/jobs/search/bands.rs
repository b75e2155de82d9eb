//! The bands of pairs of blocks: every batch of a block's queries meets each chunk of its subjects.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use super::best::Best;
use super::chunks::Chunks;
use crate::jobs::blocks::Block;
use crate::jobs::blocks::cut::at_most;
use crate::jobs::source::{Begun, ChunkCutter};
use crate::pairs::Pairs;
use crate::pairs::plan::{self, PlannedChunk, PlannedChunks};
use crate::seq::{Part, SequenceId, Subjects};

/// Queries that are searched together in some subjects.
pub(super) struct Batch {
    /// QueryStrands counted.
    pub queries: Range<SequenceId>,
    /// The chunks that they meet.
    pub chunks: Arc<[u32]>,
    /// Pairs that are not done.
    pub left: u64,
    /// The best of each sequence of the queries.
    pub best: Vec<Best>,
    /// The block ends with it.
    pub is_last: bool,
}

/// Bands of so many cells or pairs.
pub(super) struct SearchChunks {
    /// Without subjects.
    pub job: plan::Job,
    pub subjects: Arc<Subjects>,
    pub chunks: Arc<Chunks>,
    pub begun: Begun<Batch>,
    /// Sequences of a batch at most.
    pub at_once: SequenceId,
    pub cells: u64,
    pub pairs: u64,
    /// Queries with the chunks that they meet, and how many of these are done.
    pub left: VecDeque<(Range<SequenceId>, Arc<[u32]>, usize)>,
    pub open: Option<PlannedChunks>,
}

impl ChunkCutter<Pairs> for SearchChunks {
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
            let batch_end = end.min(next.saturating_add(self.at_once));
            let queries = next * copies..batch_end * copies;
            let lengths = &self.job.queries.lengths()[queries.start as usize..queries.end as usize];
            let own: u64 = lengths.iter().map(|&length| u64::from(length)).sum();
            let (pairs, cells) = (queries.len() as u64 * sequences, u128::from(own) * u128::from(symbols));
            let chunks = self.chunks.of(targets.clone());
            // Before any of its bands. Chunks are opened one after the other, while engines compute with the last.
            let best = (next..batch_end).map(|_| Best::default()).collect();
            let batch = Batch {
                queries: queries.clone(),
                chunks: Arc::clone(&chunks),
                left: pairs,
                best,
                is_last: batch_end >= end,
            };
            self.begun.add(batch, pairs, at_most(cells));
            if !queries.is_empty() {
                self.left.push_back((queries, chunks, 0));
            }
            next = batch_end;
            if next >= end {
                return;
            }
        }
    }

    fn next(&mut self) -> Option<PlannedChunk> {
        loop {
            if let Some(band) = self.open.as_mut().and_then(Iterator::next) {
                return Some(band);
            }
            let (queries, chunks, done) = self.left.front_mut()?;
            let Some(&chunk) = chunks.get(*done) else {
                self.left.pop_front();
                continue;
            };
            *done += 1;
            let parts = Some(vec![Part { queries: queries.clone(), targets: None }].into());
            let against = Some(self.chunks.open(chunk)?.store);
            self.open = Some(plan::Job { against, parts, ..self.job.clone() }.chunks(self.cells, self.pairs));
        }
    }

    fn has_failed(&self) -> bool {
        self.chunks.has_failed()
    }
}
