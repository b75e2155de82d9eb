//! Chunks of pairs, and the bands that are made of them.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard};

use super::{PairList, PairSource};
use crate::error::{Error, Result};
use crate::jobs::AllPairs;
use crate::jobs::blocks::Block;
use crate::jobs::blocks::source::{Bander, Begun};
use crate::pairs::Pairs;
use crate::pairs::plan::selected::band;
use crate::pairs::plan::{self, PlannedBand};
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

/// Which pairs are planned.
enum Wanted {
    /// All, as they are read for the only time.
    All,
    /// Those of blocks.
    Blocks { left: VecDeque<Range<u64>>, begun: Begun<u64> },
}

/// Makes bands of a list.
pub(super) struct Planner {
    job: PairList,
    wanted: Wanted,
    /// Of listed pairs, whose sets are the same all the time.
    sets: Option<Sets>,
    next: u64,
    index: usize,
    chunks: Arc<Chunks>,
}

impl Planner {
    /// The bands of all pairs, and where their chunks are. `sets` are those of [`sets_of`].
    pub(super) fn new(job: &PairList, sets: Option<Sets>) -> (Self, Arc<Chunks>) {
        let chunks = Arc::new(Chunks::default());
        let wanted = Wanted::All;
        (Planner { job: job.clone(), wanted, sets, next: 0, index: 0, chunks: Arc::clone(&chunks) }, chunks)
    }

    /// The same of blocks, which are told when they begin.
    pub(super) fn of_blocks(job: &PairList, sets: Option<Sets>, begun: Begun<u64>) -> (Self, Arc<Chunks>) {
        let (planner, chunks) = Planner::new(job, sets);
        (Planner { wanted: Wanted::Blocks { left: VecDeque::new(), begun }, ..planner }, chunks)
    }

    /// The pairs that come next, of those that are wanted; `None` at the end.
    fn chunk(&mut self) -> Result<Option<Chunk>> {
        let end = match &mut self.wanted {
            Wanted::All => u64::MAX,
            Wanted::Blocks { left, .. } => loop {
                match left.front() {
                    None => return Ok(None),
                    Some(range) if range.is_empty() => drop(left.pop_front()),
                    Some(range) => {
                        self.next = range.start;
                        break range.end;
                    }
                }
            },
        };
        let chunk = self.chunk_until(end)?;
        if let (Wanted::Blocks { left, .. }, Some(chunk)) = (&mut self.wanted, &chunk)
            && let Some(range) = left.front_mut()
        {
            range.start = chunk.first + chunk.pairs.len() as u64;
        }
        Ok(chunk)
    }

    /// The next pairs before this one.
    fn chunk_until(&mut self, end: u64) -> Result<Option<Chunk>> {
        let first = self.next;
        let chunk = match (&self.job.source, &self.sets) {
            (PairSource::Listed { pairs, .. }, Some((all, planned))) => {
                let end = usize::try_from(end).unwrap_or(usize::MAX).min(pairs.len());
                let range: Range<usize> = first as usize..end.min(first as usize + self.job.chunk_pairs.max(1));
                let pairs = pairs.get(range).unwrap_or_default().to_vec();
                (!pairs.is_empty()).then(|| Chunk { first, all: all.clone(), planned: planned.clone(), pairs })
            }
            (PairSource::InStep(files), _) => {
                let mut files = files.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                let read = match &self.wanted {
                    Wanted::All => files.next()?,
                    Wanted::Blocks { .. } => Some(files.at(first)?.ok_or_else(|| no_pair(first))?),
                };
                read.map(|read| {
                    let (all, planned) = sets(&self.job, &read.queries, &read.targets);
                    let ids = first - read.first..(end - read.first).min(read.queries.len() as u64);
                    let pairs = ids.map(|id| (id as SequenceId, id as SequenceId)).collect();
                    Chunk { first, all, planned, pairs }
                })
            }
            (PairSource::Listed { .. }, None) => None,
        };
        self.next += chunk.as_ref().map_or(0, |chunk| chunk.pairs.len() as u64);
        Ok(chunk)
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

impl Iterator for Planner {
    type Item = PlannedBand;

    fn next(&mut self) -> Option<PlannedBand> {
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
        let planned = band(&chunk.planned, 0..0, &pairs);
        self.chunks.lock().chunks.insert(self.index, Arc::new(chunk));
        self.index += 1;
        Some(planned)
    }
}

impl Bander<Pairs> for Planner {
    fn begin(&mut self, block: Block) {
        if let Wanted::Blocks { left, begun } = &mut self.wanted {
            // Before any of its chunks.
            begun.add(block.units.end - block.units.start, block.pairs, block.cells);
            left.push_back(block.units);
        }
    }

    fn next(&mut self) -> Option<PlannedBand> {
        Iterator::next(self)
    }

    fn has_failed(&self) -> bool {
        self.chunks.has_failed()
    }
}
