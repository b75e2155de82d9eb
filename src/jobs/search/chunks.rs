//! The subjects in chunks, each opened when it is first met, and kept as long as somebody may come back to it.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard};

use crate::error::{Error, Result};
use crate::seq::{SequenceStore, SubjectChunk, Subjects};

/// Chunks of subjects by their numbers. Those of all subjects stay open, as devices keep what they have seen; those of a part of
/// them are closed when nobody is left who uses them.
#[derive(Debug)]
pub(super) struct Chunks {
    subjects: Arc<Subjects>,
    at_most_bytes: u64,
    /// Those of all subjects.
    whole: Arc<[u32]>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    chunks: Vec<Chunk>,
    /// Numbers of those that are used, by their ranges, and by where their stores are in memory.
    of_range: HashMap<Range<u64>, u32>,
    of_store: HashMap<usize, u32>,
    /// Numbers that are not used.
    free: Vec<u32>,
    /// Why a chunk could not be opened.
    failure: Option<Error>,
    has_failed: bool,
}

#[derive(Debug)]
struct Chunk {
    range: Range<u64>,
    open: Option<SubjectChunk>,
    /// Batches of queries that meet it, and one more if it stays.
    users: usize,
}

fn address(store: &Arc<SequenceStore>) -> usize {
    Arc::as_ptr(store).addr()
}

impl State {
    /// The number of a chunk, which has one more user.
    fn number(&mut self, range: &Range<u64>) -> u32 {
        if let Some(&number) = self.of_range.get(range) {
            self.chunks[number as usize].users += 1;
            return number;
        }
        let chunk = Chunk { range: range.clone(), open: None, users: 1 };
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

impl Chunks {
    /// Chunks of at most so many bytes.
    pub(super) fn new(subjects: &Arc<Subjects>, at_most_bytes: u64) -> Self {
        let mut state = State::default();
        let whole = subjects.ranges(at_most_bytes).iter().map(|range| state.number(range)).collect();
        Chunks { subjects: Arc::clone(subjects), at_most_bytes, whole, state: Mutex::new(state) }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing under the lock panics.
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Numbers of the chunks of some subjects, or of all; until [`Chunks::release`] they are used.
    pub(super) fn of(&self, subjects: Option<Range<u64>>) -> Arc<[u32]> {
        let Some(range) = subjects else {
            let mut state = self.lock();
            self.whole.iter().for_each(|&number| state.chunks[number as usize].users += 1);
            return Arc::clone(&self.whole);
        };
        let ranges = self.subjects.ranges_of(range, self.at_most_bytes);
        let mut state = self.lock();
        ranges.iter().map(|range| state.number(range)).collect()
    }

    /// Somebody is done with these.
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

    /// A chunk that was opened.
    pub(super) fn opened(&self, number: u32) -> Result<SubjectChunk> {
        let chunk = self.lock().chunks.get(number as usize).and_then(|chunk| chunk.open.clone());
        chunk.ok_or_else(|| Error::Internal(format!("chunk {number} of the subjects was not opened")))
    }

    /// The chunk that is this store, and its number.
    pub(super) fn of_store(&self, store: &Arc<SequenceStore>) -> Result<(u32, SubjectChunk)> {
        let number = self.lock().of_store.get(&address(store)).copied();
        let number = number.ok_or_else(|| Error::Internal("a result of subjects that nobody opened".into()))?;
        Ok((number, self.opened(number)?))
    }

    /// Fails if a chunk could not be opened: pairs are missing then. The next run tries once more.
    pub(super) fn check(&self) -> Result<()> {
        let mut state = self.lock();
        state.has_failed = false;
        state.failure.take().map_or(Ok(()), Err)
    }

    /// Whether a chunk could not be opened.
    pub(super) fn has_failed(&self) -> bool {
        self.lock().has_failed
    }

    /// Opens a chunk, unless it is open; `None` if that fails or failed before.
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
        // Not under the lock: who takes results waits for it.
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
    fn chunks_of_a_part_are_closed_when_nobody_uses_them() {
        let text = b">a\nACGTACGT\n>b\nACGT\n>c\nACG\n>d\nAC\n";
        let subjects = Arc::new(Subjects::of_bytes("x.fa", text, &ReadOptions::default()).unwrap());
        let chunks = Chunks::new(&subjects, 8);
        let whole = chunks.of(None);
        assert_eq!(whole[..], [0, 1, 2]);
        let (one, other) = (chunks.of(Some(2..4)), chunks.of(Some(1..3)));
        // The second is a chunk of all, too.
        assert_eq!((&one[..], &other[..]), (&[3][..], &[1][..]));
        let again = chunks.of(Some(2..4));
        assert_eq!(again, one);
        let store = chunks.open(3).unwrap().store;
        assert!(Arc::ptr_eq(&chunks.open(3).unwrap().store, &store), "it is opened once");
        assert_eq!(chunks.of_store(&store).unwrap().0, 3);
        chunks.release(&one);
        chunks.opened(3).unwrap();
        chunks.release(&again);
        assert!(chunks.opened(3).is_err() && chunks.of_store(&store).is_err());
        assert_eq!(chunks.of(Some(1..2))[..], [3], "its number is free");
        chunks.open(0).unwrap();
        [&whole, &other].into_iter().for_each(|numbers| chunks.release(numbers));
        chunks.opened(0).unwrap();
        chunks.check().unwrap();
    }
}
