//! Chunks of the subjects. A chunk is opened on first use, and stays open while it may be used
//! again.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard};

use crate::error::{Error, Result};
use crate::seq::{SequenceStore, SubjectChunk, Subjects};

/// Chunks of subjects by their numbers. Chunks of the whole set stay open, because devices keep
/// their sequences. Chunks of a part of the subjects are closed when their last user releases them.
#[derive(Debug)]
pub(super) struct SubjectChunkCache {
    subjects: Arc<Subjects>,
    at_most_bytes: u64,
    /// Numbers of the chunks of all subjects.
    whole: Arc<[u32]>,
    state: Mutex<SubjectChunkCacheState>,
}

#[derive(Debug, Default)]
struct SubjectChunkCacheState {
    chunks: Vec<SubjectChunkSlot>,
    /// Numbers of the chunks in use, by range and by the address of their store.
    of_range: HashMap<Range<u64>, u32>,
    of_store: HashMap<usize, u32>,
    /// Numbers that are not in use.
    free: Vec<u32>,
    /// The reason why a chunk could not be opened.
    failure: Option<Error>,
    has_failed: bool,
}

#[derive(Debug)]
struct SubjectChunkSlot {
    range: Range<u64>,
    open: Option<SubjectChunk>,
    /// Number of query batches that are compared with the chunk. A chunk of the whole set has one
    /// additional user.
    users: usize,
}

fn address(store: &Arc<SequenceStore>) -> usize {
    Arc::as_ptr(store).addr()
}

impl SubjectChunkCacheState {
    /// Returns the number of the chunk of a range, and adds a user to it.
    fn number(&mut self, range: &Range<u64>) -> u32 {
        if let Some(&number) = self.of_range.get(range) {
            self.chunks[number as usize].users += 1;
            return number;
        }
        let chunk = SubjectChunkSlot { range: range.clone(), open: None, users: 1 };
        let number = match self.free.pop() {
            Some(number) => {
                self.chunks[number as usize] = chunk;
                number
            }
            None => {
                self.chunks.push(chunk);
                self.chunks.len() as u32 - 1
            }
        };
        self.of_range.insert(range.clone(), number);
        number
    }
}

impl SubjectChunkCache {
    /// Cuts the subjects into chunks of at most this number of bytes.
    pub(super) fn new(subjects: &Arc<Subjects>, at_most_bytes: u64) -> Self {
        let mut state = SubjectChunkCacheState::default();
        let whole = subjects.ranges(at_most_bytes).iter().map(|range| state.number(range)).collect();
        SubjectChunkCache { subjects: Arc::clone(subjects), at_most_bytes, whole, state: Mutex::new(state) }
    }

    fn lock(&self) -> MutexGuard<'_, SubjectChunkCacheState> {
        // No code under the lock panics.
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Returns the numbers of the chunks of some subjects, or of all. The caller uses them until it
    /// calls [`SubjectChunkCache::release`].
    pub(super) fn acquire(&self, subjects: Option<Range<u64>>) -> Arc<[u32]> {
        let Some(range) = subjects else {
            let mut state = self.lock();
            self.whole.iter().for_each(|&number| state.chunks[number as usize].users += 1);
            return Arc::clone(&self.whole);
        };
        let ranges = self.subjects.ranges_of(range, self.at_most_bytes);
        let mut state = self.lock();
        ranges.iter().map(|range| state.number(range)).collect()
    }

    /// Removes a user from each of these chunks.
    pub(super) fn release(&self, numbers: &[u32]) {
        let mut state = self.lock();
        for &number in numbers {
            let chunk = &mut state.chunks[number as usize];
            chunk.users -= 1;
            if chunk.users > 0 {
                continue;
            }
            let (range, open) = (chunk.range.clone(), chunk.open.take());
            state.of_range.remove(&range);
            if let Some(open) = open {
                state.of_store.remove(&address(&open.store));
            }
            state.free.push(number);
        }
    }

    /// Returns an open chunk.
    pub(super) fn opened(&self, number: u32) -> Result<SubjectChunk> {
        let chunk = self.lock().chunks.get(number as usize).and_then(|chunk| chunk.open.clone());
        chunk.ok_or_else(|| Error::Internal(format!("chunk {number} of the subjects was not opened")))
    }

    /// Returns the chunk with this store, and its number.
    pub(super) fn of_store(&self, store: &Arc<SequenceStore>) -> Result<(u32, SubjectChunk)> {
        let number = self.lock().of_store.get(&address(store)).copied();
        let number = number.ok_or_else(|| Error::Internal("a result of subjects that are not open".into()))?;
        Ok((number, self.opened(number)?))
    }

    /// Returns the error of a chunk that could not be opened. Pairs are missing in that case. The
    /// next run tries to open it again.
    pub(super) fn check(&self) -> Result<()> {
        let mut state = self.lock();
        state.has_failed = false;
        state.failure.take().map_or(Ok(()), Err)
    }

    /// Returns whether a chunk could not be opened.
    pub(super) fn has_failed(&self) -> bool {
        self.lock().has_failed
    }

    /// Opens a chunk, unless it is open. Returns `None` if this fails or failed before.
    pub(super) fn open(&self, number: u32) -> Option<SubjectChunk> {
        let range = {
            let state = self.lock();
            if state.has_failed {
                return None;
            }
            let chunk = state.chunks.get(number as usize)?;
            if let Some(chunk) = &chunk.open {
                return Some(chunk.clone());
            }
            chunk.range.clone()
        };
        // The lock is not held while the chunk is read, because threads that take results need it.
        let opened = self.subjects.chunk(range);
        let mut state = self.lock();
        match opened {
            Ok(chunk) => {
                state.of_store.insert(address(&chunk.store), number);
                state.chunks[number as usize].open = Some(chunk.clone());
                Some(chunk)
            }
            Err(error) => {
                (state.failure, state.has_failed) = (Some(error), true);
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seq::ReadOptions;

    #[test]
    fn chunks_of_a_part_are_closed_after_their_last_user() {
        let text = b">a\nACGTACGT\n>b\nACGT\n>c\nACG\n>d\nAC\n";
        let subjects = Arc::new(Subjects::from_bytes("x.fa", text, &ReadOptions::default()).unwrap());
        let chunks = SubjectChunkCache::new(&subjects, 8);
        let whole = chunks.acquire(None);
        assert_eq!(whole[..], [0, 1, 2]);
        let (one, other) = (chunks.acquire(Some(2..4)), chunks.acquire(Some(1..3)));
        // The second range is also a chunk of the whole set.
        assert_eq!((&one[..], &other[..]), (&[3][..], &[1][..]));
        let again = chunks.acquire(Some(2..4));
        assert_eq!(again, one);
        let store = chunks.open(3).unwrap().store;
        assert!(Arc::ptr_eq(&chunks.open(3).unwrap().store, &store), "it is opened once");
        assert_eq!(chunks.of_store(&store).unwrap().0, 3);
        chunks.release(&one);
        chunks.opened(3).unwrap();
        chunks.release(&again);
        assert!(chunks.opened(3).is_err() && chunks.of_store(&store).is_err());
        assert_eq!(chunks.acquire(Some(1..2))[..], [3], "its number is free");
        chunks.open(0).unwrap();
        [&whole, &other].into_iter().for_each(|numbers| chunks.release(numbers));
        chunks.opened(0).unwrap();
        chunks.check().unwrap();
    }
}
