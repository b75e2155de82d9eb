//! The subjects in chunks, and the bands of pairs with them: every batch of queries meets each chunk.

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard};

use crate::error::{Error, Result};
use crate::pairs::plan::{self, PlannedBand};
use crate::seq::{Part, SequenceId, SequenceStore, SubjectChunk, Subjects};

/// Chunks of subjects, each opened when it is first met and kept: hits lie there.
#[derive(Debug)]
pub(super) struct Chunks {
    subjects: Arc<Subjects>,
    ranges: Vec<Range<u64>>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    open: Vec<Option<SubjectChunk>>,
    /// Why a chunk could not be opened.
    failure: Option<Error>,
    has_failed: bool,
}

impl Chunks {
    /// Chunks of at most so many bytes.
    pub(super) fn new(subjects: &Arc<Subjects>, at_most_bytes: u64) -> Self {
        let ranges = subjects.ranges(at_most_bytes);
        let state = State { open: vec![None; ranges.len()], failure: None, has_failed: false };
        Chunks { subjects: Arc::clone(subjects), ranges, state: Mutex::new(state) }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing under the lock panics.
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// A chunk that was opened.
    pub(super) fn opened(&self, index: u32) -> Result<SubjectChunk> {
        let chunk = self.lock().open.get(index as usize).cloned().flatten();
        chunk.ok_or_else(|| Error::Internal(format!("chunk {index} of the subjects was not opened")))
    }

    /// The chunk that is this store, and its number.
    pub(super) fn of_store(&self, store: &Arc<SequenceStore>) -> Result<(u32, SubjectChunk)> {
        let state = self.lock();
        let mut opened = (0..).zip(&state.open).filter_map(|(index, chunk)| Some((index, chunk.as_ref()?)));
        let found = opened.find(|(_, chunk)| Arc::ptr_eq(&chunk.store, store));
        let found = found.ok_or_else(|| Error::Internal("a result of subjects that nobody opened".into()))?;
        Ok((found.0, found.1.clone()))
    }

    /// Fails if a chunk could not be opened: pairs are missing then.
    pub(super) fn check(&self) -> Result<()> {
        self.lock().failure.take().map_or(Ok(()), Err)
    }

    /// Opens a chunk, unless it is open; `None` if that fails or failed before.
    fn open(&self, index: usize) -> Option<SubjectChunk> {
        {
            let state = self.lock();
            if state.has_failed {
                return None;
            }
            if let Some(chunk) = &state.open[index] {
                return Some(chunk.clone());
            }
        }
        // Not under the lock: who takes results waits for it.
        let opened = self.subjects.chunk(self.ranges[index].clone());
        let mut state = self.lock();
        match opened {
            Ok(chunk) => {
                state.open[index] = Some(chunk.clone());
                Some(chunk)
            }
            Err(error) => {
                (state.failure, state.has_failed) = (Some(error), true);
                None
            }
        }
    }

    /// Bands of `cells` cells or `pairs` pairs each: of each of these batches of queries with one chunk after the other. The next
    /// chunk is opened while engines compute with the last.
    pub(super) fn bands(
        self: &Arc<Self>,
        job: plan::Job,
        batches: Vec<Range<SequenceId>>,
        cells: u64,
        pairs: u64,
    ) -> impl Iterator<Item = PlannedBand> + Send + use<> {
        let chunks = Arc::clone(self);
        let count = chunks.ranges.len();
        let each = batches.into_iter().flat_map(move |batch| (0..count).map(move |chunk| (batch.clone(), chunk)));
        let bands = each.map_while(move |(queries, chunk)| {
            let against = Some(chunks.open(chunk)?.store);
            let parts = Some(vec![Part { queries, targets: None }].into());
            Some(plan::Job { against, parts, ..job.clone() }.bands(cells, pairs))
        });
        bands.flatten()
    }
}
