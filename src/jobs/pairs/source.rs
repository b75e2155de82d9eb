//! Chunks of pairs, and the bands that are made of them.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard};

use super::{PairList, PairSource};
use crate::error::{Error, Result};
use crate::jobs::AllPairs;
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

    /// Fails as the reading did.
    pub(super) fn failure(&self) -> Result<()> {
        self.lock().failure.take().map_or(Ok(()), Err)
    }
}

/// Makes bands of a list.
pub(super) struct Planner {
    job: PairList,
    /// Of listed pairs, whose sets are the same all the time.
    sets: Option<(AllPairs, plan::Job)>,
    next: u64,
    index: usize,
    chunks: Arc<Chunks>,
}

impl Planner {
    /// The bands, and where their chunks are.
    pub(super) fn new(job: &PairList) -> (Self, Arc<Chunks>) {
        let chunks = Arc::new(Chunks::default());
        let sets = match &job.source {
            PairSource::InStep(_) => None,
            PairSource::Listed { queries, targets, .. } => Some(sets(job, queries, targets)),
        };
        (Planner { job: job.clone(), sets, next: 0, index: 0, chunks: Arc::clone(&chunks) }, chunks)
    }

    fn chunk(&mut self) -> Result<Option<Chunk>> {
        let first = self.next;
        let chunk = match (&self.job.source, &self.sets) {
            (PairSource::Listed { pairs, .. }, Some((all, planned))) => {
                let range: Range<usize> = first as usize..pairs.len().min(first as usize + self.job.chunk_pairs.max(1));
                let pairs = pairs.get(range).unwrap_or_default().to_vec();
                (!pairs.is_empty()).then(|| Chunk { first, all: all.clone(), planned: planned.clone(), pairs })
            }
            (PairSource::InStep(files), _) => {
                let read = files.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).next()?;
                read.map(|read| {
                    let (all, planned) = sets(&self.job, &read.queries, &read.targets);
                    let pairs = (0..read.queries.len() as SequenceId).map(|id| (id, id)).collect();
                    Chunk { first, all, planned, pairs }
                })
            }
            (PairSource::Listed { .. }, None) => None,
        };
        self.next += chunk.as_ref().map_or(0, |chunk| chunk.pairs.len() as u64);
        Ok(chunk)
    }
}

/// How pairs of two sets are computed.
fn sets(job: &PairList, queries: &Arc<SequenceStore>, targets: &Arc<SequenceStore>) -> (AllPairs, plan::Job) {
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
