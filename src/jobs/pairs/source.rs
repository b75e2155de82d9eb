//! Chunks of pairs, and the bands that are made of them.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard};

use super::{PairList, PairSource};
use crate::error::{Error, Result};
use crate::jobs::AllPairs;
use crate::jobs::block::Block;
use crate::jobs::source::{Begun, ChunkCutter, TO_THE_END};
use crate::pairs::Pairs;
use crate::pairs::plan::selected::chunk as selected_chunk;
use crate::pairs::plan::{self, PlannedChunk};
use crate::seq::{SequenceId, SequenceStore};

/// Pairs that are computed together: a band.
pub(super) struct Chunk {
    /// Number of its first pair.
    pub first: u64,
    /// Its sets, and how a pair of them is aligned.
    pub all: AllPairs,
    /// The same with strands as queries.
    pub planned: plan::Job,
    /// Its pairs in their order.
    pub pairs: Vec<(SequenceId, SequenceId)>,
}

/// Chunks on their way, by the numbers of their bands.
#[derive(Default)]
pub(super) struct Chunks(Mutex<Waiting>);

#[derive(Default)]
struct Waiting {
    chunks: BTreeMap<usize, Arc<Chunk>>,
    /// Why no more chunks are read.
    failure: Option<Error>,
}

impl Chunks {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// The chunk of a band.
    pub(super) fn of(&self, index: usize) -> Result<Arc<Chunk>> {
        let chunk = self.lock().chunks.get(&index).cloned();
        chunk.ok_or_else(|| Error::Internal(format!("band {index} has no pairs")))
    }

    /// The chunk of a band that is complete, which is kept no longer.
    pub(super) fn take(&self, index: usize) -> Result<Arc<Chunk>> {
        let chunk = self.lock().chunks.remove(&index);
        chunk.ok_or_else(|| Error::Internal(format!("band {index} is complete twice")))
    }

    /// Whether something could not be read.
    fn has_failed(&self) -> bool {
        self.lock().failure.is_some()
    }

    /// Fails as the reading did.
    pub(super) fn failure(&self) -> Result<()> {
        self.lock().failure.take().map_or(Ok(()), Err)
    }
}

/// Two sets, and how pairs of them are computed.
pub(super) type Sets = (AllPairs, plan::Job);

/// Makes bands of the pairs of blocks.
pub(super) struct Planner {
    job: PairList,
    /// Numbers of pairs that are not planned, block by block.
    left: VecDeque<Range<u64>>,
    /// Blocks, each with its pairs that are left.
    begun: Begun<u64>,
    /// Of listed pairs, whose sets are the same all the time.
    sets: Option<Sets>,
    index: usize,
    chunks: Arc<Chunks>,
}

impl Planner {
    /// The bands of blocks that are begun later, and where their chunks are. `sets` are those of [`sets_of`].
    pub(super) fn new(job: &PairList, sets: Option<Sets>, begun: Begun<u64>) -> (Self, Arc<Chunks>) {
        let chunks = Arc::new(Chunks::default());
        let (job, left) = (job.clone(), VecDeque::new());
        (Planner { job, left, begun, sets, index: 0, chunks: Arc::clone(&chunks) }, chunks)
    }

    /// The pairs that come next; `None` at the end of the last block.
    fn chunk(&mut self) -> Result<Option<Chunk>> {
        while let Some(range) = self.left.front().cloned() {
            let chunk = if range.is_empty() { None } else { self.chunk_of(&range)? };
            match (chunk, self.left.front_mut()) {
                (Some(chunk), Some(range)) => {
                    range.start = chunk.first + chunk.pairs.len() as u64;
                    return Ok(Some(chunk));
                }
                _ => drop(self.left.pop_front()),
            }
            if range.end == TO_THE_END {
                // Of what nobody had counted, only the pairs up to here were there.
                self.begun.last(|left| *left -= TO_THE_END - range.start);
            }
        }
        Ok(None)
    }

    /// The first pairs of a range; `None` behind the last of all.
    fn chunk_of(&self, range: &Range<u64>) -> Result<Option<Chunk>> {
        let Range { start: first, end } = *range;
        Ok(match (&self.job.source, &self.sets) {
            (PairSource::Listed { pairs, .. }, Some((all, planned))) => {
                let end = usize::try_from(end).unwrap_or(usize::MAX).min(pairs.len());
                let range: Range<usize> = first as usize..end.min(first as usize + self.job.chunk_pairs.max(1));
                let pairs = pairs.get(range).unwrap_or_default().to_vec();
                (!pairs.is_empty()).then(|| Chunk { first, all: all.clone(), planned: planned.clone(), pairs })
            }
            (PairSource::InStep(files), _) => {
                let mut files = files.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                let read = match end {
                    // They are read for the only time.
                    TO_THE_END => files.next()?,
                    _ => Some(files.at(first)?.ok_or_else(|| no_pair(first))?),
                };
                read.map(|read| {
                    let (all, planned) = sets(&self.job, &read.queries, &read.targets);
                    let ids = first - read.first..(end - read.first).min(read.queries.len() as u64);
                    let pairs = ids.map(|id| (id as SequenceId, id as SequenceId)).collect();
                    Chunk { first, all, planned, pairs }
                })
            }
            (PairSource::Listed { .. }, None) => None,
        })
    }
}

fn no_pair(number: u64) -> Error {
    Error::usage_of("blocks", format!("there is no pair with the number {number}"))
}

/// The sets of listed pairs.
pub(super) fn sets_of(job: &PairList) -> Option<Sets> {
    match &job.source {
        PairSource::InStep(_) => None,
        PairSource::Listed { queries, targets, .. } => Some(sets(job, queries, targets)),
    }
}

/// How pairs of two sets are computed.
fn sets(job: &PairList, queries: &Arc<SequenceStore>, targets: &Arc<SequenceStore>) -> Sets {
    let all = job.all(Arc::clone(queries), Arc::clone(targets));
    let planned = all.job();
    (all, planned)
}

impl ChunkCutter<Pairs> for Planner {
    fn begin(&mut self, block: Block) {
        // Before any of its chunks.
        self.begun.add(block.units.end - block.units.start, block.pairs, block.cells);
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
