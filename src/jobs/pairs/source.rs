//! Chunks of listed pairs, from the input to the queue.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard};

use super::{PairList, PairSource};
use crate::error::{Error, Result};
use crate::jobs::AllPairs;
use crate::jobs::block::Block;
use crate::jobs::source::{ChunkCutter, OPEN_END, OpenBlocks};
use crate::pairs::Pairs;
use crate::pairs::plan::selected::chunk as selected_chunk;
use crate::pairs::plan::{self, PlannedChunk};
use crate::seq::{SequenceId, SequenceStore};

/// Pairs that are computed together.
pub(super) struct PairListChunk {
    /// Number of the first pair.
    pub first: u64,
    /// The sets of sequences and the options of alignments.
    pub all: AllPairs,
    /// The plan of these sets, with strands as queries.
    pub planned: plan::PairsSpec,
    /// The pairs in the order of the list.
    pub pairs: Vec<(SequenceId, SequenceId)>,
}

/// Chunks in progress, by their index in the queue.
#[derive(Default)]
pub(super) struct PairListChunks(Mutex<PairListChunksState>);

#[derive(Default)]
struct PairListChunksState {
    chunks: BTreeMap<usize, Arc<PairListChunk>>,
    /// The reason why no further chunk is read.
    failure: Option<Error>,
}

impl PairListChunks {
    fn lock(&self) -> MutexGuard<'_, PairListChunksState> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Returns the chunk with this index.
    pub(super) fn get(&self, index: usize) -> Result<Arc<PairListChunk>> {
        let chunk = self.lock().chunks.get(&index).cloned();
        chunk.ok_or_else(|| Error::Internal(format!("chunk {index} has no pairs")))
    }

    /// Removes and returns a complete chunk.
    pub(super) fn take(&self, index: usize) -> Result<Arc<PairListChunk>> {
        let chunk = self.lock().chunks.remove(&index);
        chunk.ok_or_else(|| Error::Internal(format!("chunk {index} is complete twice")))
    }

    /// Returns whether reading has failed.
    fn has_failed(&self) -> bool {
        self.lock().failure.is_some()
    }

    /// Returns the error of a failed read.
    pub(super) fn failure(&self) -> Result<()> {
        self.lock().failure.take().map_or(Ok(()), Err)
    }
}

/// Two sets, and the plan of their pairs.
pub(super) type PairSets = (AllPairs, plan::PairsSpec);

/// Cuts blocks of listed pairs into chunks.
pub(super) struct PairListPlanner {
    job: PairList,
    /// Numbers of the pairs that are not planned, as one range per block.
    left: VecDeque<Range<u64>>,
    /// Blocks, each with its number of pairs that are left.
    open_blocks: OpenBlocks<u64>,
    /// The sets of listed pairs. `None` for files, whose sets differ from chunk to chunk.
    sets: Option<PairSets>,
    index: usize,
    chunks: Arc<PairListChunks>,
}

impl PairListPlanner {
    /// Creates a planner for blocks that follow later, and the collection of its chunks. `sets` is
    /// the result of [`sets_of`].
    pub(super) fn new(
        job: &PairList,
        sets: Option<PairSets>,
        open_blocks: OpenBlocks<u64>,
    ) -> (Self, Arc<PairListChunks>) {
        let chunks = Arc::new(PairListChunks::default());
        let (job, left) = (job.clone(), VecDeque::new());
        (PairListPlanner { job, left, open_blocks, sets, index: 0, chunks: Arc::clone(&chunks) }, chunks)
    }

    /// Returns the next chunk; `None` at the end of the last block.
    fn chunk(&mut self) -> Result<Option<PairListChunk>> {
        while let Some(range) = self.left.front().cloned() {
            let chunk = if range.is_empty() { None } else { self.chunk_of(&range)? };
            match (chunk, self.left.front_mut()) {
                (Some(chunk), Some(range)) => {
                    range.start = chunk.first + chunk.pairs.len() as u64;
                    return Ok(Some(chunk));
                }
                _ => drop(self.left.pop_front()),
            }
            if range.end == OPEN_END {
                // The number of pairs was unknown. It is now known to end here.
                self.open_blocks.with_last(|left| *left -= OPEN_END - range.start);
            }
        }
        Ok(None)
    }

    /// Returns the first pairs of a range; `None` after the last pair of the input.
    fn chunk_of(&self, range: &Range<u64>) -> Result<Option<PairListChunk>> {
        let Range { start: first, end } = *range;
        Ok(match (&self.job.source, &self.sets) {
            (PairSource::Listed { pairs, .. }, Some((all, planned))) => {
                let end = usize::try_from(end).unwrap_or(usize::MAX).min(pairs.len());
                let range: Range<usize> = first as usize..end.min(first as usize + self.job.chunk_pairs.max(1));
                let pairs = pairs.get(range).unwrap_or_default().to_vec();
                (!pairs.is_empty()).then(|| PairListChunk { first, all: all.clone(), planned: planned.clone(), pairs })
            }
            (PairSource::InStep(files), _) => {
                let mut files = files.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                let read = match end {
                    // The whole job reads these records once, in order.
                    OPEN_END => files.next()?,
                    _ => Some(files.at(first)?.ok_or_else(|| no_pair(first))?),
                };
                read.map(|read| {
                    let (all, planned) = sets(&self.job, &read.queries, &read.targets);
                    let ids = first - read.first..(end - read.first).min(read.queries.len() as u64);
                    let pairs = ids.map(|id| (id as SequenceId, id as SequenceId)).collect();
                    PairListChunk { first, all, planned, pairs }
                })
            }
            (PairSource::Listed { .. }, None) => None,
        })
    }
}

fn no_pair(number: u64) -> Error {
    Error::usage_of("blocks", format!("there is no pair number {number}"))
}

/// Returns the sets of listed pairs; `None` for files.
pub(super) fn sets_of(job: &PairList) -> Option<PairSets> {
    match &job.source {
        PairSource::InStep(_) => None,
        PairSource::Listed { queries, targets, .. } => Some(sets(job, queries, targets)),
    }
}

/// Returns the job and the plan for pairs of two sets.
fn sets(job: &PairList, queries: &Arc<SequenceStore>, targets: &Arc<SequenceStore>) -> PairSets {
    let all = job.all(Arc::clone(queries), Arc::clone(targets));
    let planned = all.job();
    (all, planned)
}

impl ChunkCutter<Pairs> for PairListPlanner {
    fn begin(&mut self, block: Block) {
        // The block must be added before its first chunk.
        self.open_blocks.add(block.units.end - block.units.start, block.pairs, block.cells);
        self.left.push_back(block.units);
    }

    fn next(&mut self) -> Option<PlannedChunk> {
        let chunk = match self.chunk() {
            Ok(chunk) => chunk?,
            Err(error) => {
                self.chunks.lock().failure = Some(error);
                return None;
            }
        };
        let copies = chunk.planned.strands.copies();
        let strands = |&(query, target)| (query * copies..(query + 1) * copies).map(move |query| (query, target));
        let mut pairs: Vec<(SequenceId, SequenceId)> = chunk.pairs.iter().flat_map(strands).collect();
        pairs.sort_unstable();
        pairs.dedup();
        let planned = selected_chunk(&chunk.planned, 0..0, &pairs);
        self.chunks.lock().chunks.insert(self.index, Arc::new(chunk));
        self.index += 1;
        Some(planned)
    }

    fn has_failed(&self) -> bool {
        self.chunks.has_failed()
    }
}
