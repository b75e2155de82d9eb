//! Results of chunks, back in input order; and how far they may run ahead of the oldest chunk that is not complete.
//!
//! Engines finish blocks in any order. [`Ordered`] gathers what came of each chunk until all of its pairs are there, and
//! gives chunks out in the order in which they were planned. What is gathered of later chunks waits for the oldest one, which
//! an engine may hold that is a hundred times slower than the others, or that is about to be given up. [`Ahead`] bounds that:
//! [`Ordered`] writes there how much waits, and the queue plans no further chunk while that is too much.
//!
//! Nobody waits in vain for that. Work of planned chunks is always handed out, the oldest chunk is planned before all that
//! wait for it, and what an engine gives back of it is the next to be taken.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use super::work::ChunkInfo;
use crate::error::{Error, Result};
use crate::seq::SequenceId;

/// Bytes of results that wait for an older chunk, beyond which no chunk is planned. Results of a second on the fastest devices.
const MAX_BYTES: u64 = 1 << 30;
/// Chunks that are planned at most beyond the oldest that is not complete: where few pairs pass a filter, hardly a byte waits,
/// but blocks that one engine refuses and the other has no time for would pile up.
const MAX_CHUNKS: usize = 256;

/// How far chunks may be planned ahead of the oldest that was not given out. [`Ordered`] writes where it stands, the queue
/// looks.
#[derive(Debug)]
pub struct Ahead {
    /// The chunk whose turn it is.
    next: AtomicUsize,
    /// Bytes that wait for it.
    bytes: AtomicU64,
    most_bytes: u64,
    most_chunks: usize,
}

impl Default for Ahead {
    /// As far as they like, where nothing waits for its turn.
    fn default() -> Self {
        Self::new(u64::MAX, usize::MAX)
    }
}

impl Ahead {
    fn new(most_bytes: u64, most_chunks: usize) -> Self {
        Ahead { next: AtomicUsize::new(0), bytes: AtomicU64::new(0), most_bytes, most_chunks }
    }

    /// As far as [`Ahead::open`] says.
    pub fn closed() -> Self {
        Self::new(u64::MAX, 0)
    }

    /// The first so many chunks may be planned; at least one.
    pub fn open(&self, chunks: usize) {
        self.next.store(chunks.max(1) - 1, Ordering::Relaxed);
    }

    /// The chunk whose turn it is: chunks before it were given out.
    pub fn next(&self) -> usize {
        self.next.load(Ordering::Relaxed)
    }

    /// Whether this chunk may be planned.
    pub fn admits(&self, chunk: usize) -> bool {
        let next = self.next();
        chunk <= next || chunk - next <= self.most_chunks && self.bytes.load(Ordering::Relaxed) < self.most_bytes
    }
}

/// A chunk whose results are coming in.
struct Open<B> {
    info: Arc<ChunkInfo>,
    pairs_left: u64,
    /// What `gathered` takes.
    bytes: u64,
    gathered: B,
}

/// Gathers results of chunks, a `B` for each, and gives them out in order.
pub struct Ordered<B> {
    open: BTreeMap<usize, Open<B>>,
    /// The chunk whose turn it is.
    next: usize,
    /// Of all open chunks.
    bytes: u64,
    ahead: Arc<Ahead>,
}

impl<B> Default for Ordered<B> {
    fn default() -> Self {
        Self::new()
    }
}

impl<B> Ordered<B> {
    /// Nothing gathered yet. Chunks may be planned as far ahead as fits a usual computer and keeps the fastest devices busy.
    pub fn new() -> Self {
        Self::with_limits(MAX_BYTES, MAX_CHUNKS)
    }

    /// The same; a chunk may be planned while less than `most_bytes` of results wait for the oldest that was not given out, and
    /// at most so many chunks after it.
    pub fn with_limits(most_bytes: u64, most_chunks: usize) -> Self {
        let ahead = Arc::new(Ahead::new(most_bytes, most_chunks));
        Ordered { open: BTreeMap::new(), next: 0, bytes: 0, ahead }
    }

    /// What the queue has to look at before it plans.
    pub fn ahead(&self) -> Arc<Ahead> {
        Arc::clone(&self.ahead)
    }

    /// `pairs` pairs of a chunk are finished: `gather` adds their results to what is there of the chunk, which `begin` makes
    /// for the first, and says how many bytes more that takes.
    ///
    /// # Errors
    /// [`Error::Internal`] if the chunk has not so many pairs left; what `gather` returns.
    pub fn add(
        &mut self,
        info: &Arc<ChunkInfo>,
        pairs: u64,
        begin: impl FnOnce() -> B,
        gather: impl FnOnce(&mut B) -> Result<u64>,
    ) -> Result<()> {
        if pairs == 0 {
            // An engine left all blocks; others may have finished them, and the chunk, before it could say so.
            return Ok(());
        }
        let too_many = || Error::Internal(format!("chunk {} has more pairs than it began with", info.index));
        if info.index < self.next {
            return Err(too_many());
        }
        let chunk = self.open.entry(info.index).or_insert_with(|| {
            let bytes = size_of::<Open<B>>() as u64;
            self.bytes += bytes;
            Open { info: Arc::clone(info), pairs_left: info.pairs, bytes, gathered: begin() }
        });
        chunk.pairs_left = chunk.pairs_left.checked_sub(pairs).ok_or_else(too_many)?;
        let more = gather(&mut chunk.gathered)?;
        chunk.bytes += more;
        self.bytes += more;
        self.tell();
        Ok(())
    }

    /// The next chunk, if it is complete: its queries and what was gathered.
    pub fn complete(&mut self) -> Option<(Range<SequenceId>, B)> {
        let entry = self.open.first_entry()?;
        if *entry.key() != self.next || entry.get().pairs_left > 0 {
            return None;
        }
        let chunk = entry.remove();
        self.next += 1;
        self.bytes -= chunk.bytes;
        self.tell();
        Some((chunk.info.queries.clone(), chunk.gathered))
    }

    /// Chunks that are open: begun and not given out.
    pub fn open(&self) -> usize {
        self.open.len()
    }

    /// There is nothing more to come.
    ///
    /// # Errors
    /// [`Error::Internal`] if a chunk is not complete.
    pub fn end(self) -> Result<()> {
        match self.open.first_key_value() {
            None => Ok(()),
            Some((index, chunk)) => {
                Err(Error::Internal(format!("chunk {index} is short of {} pairs", chunk.pairs_left)))
            }
        }
    }

    /// Says where it stands. The chunk whose turn it is waits for none.
    fn tell(&self) {
        let own = self.open.get(&self.next).map_or(0, |chunk| chunk.bytes);
        self.ahead.bytes.store(self.bytes - own, Ordering::Relaxed);
        self.ahead.next.store(self.next, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(index: usize, pairs: u64) -> Arc<ChunkInfo> {
        let first = index as SequenceId;
        Arc::new(ChunkInfo { index, queries: first..first + 1, pairs })
    }

    fn add(ordered: &mut Ordered<Vec<u64>>, index: usize, pairs: u64, bytes: u64) -> Result<()> {
        ordered.add(&info(index, 4), pairs, Vec::new, |all| {
            all.push(pairs);
            Ok(bytes)
        })
    }

    #[test]
    fn bands_come_out_in_order_when_they_are_complete() {
        let mut ordered = Ordered::new();
        add(&mut ordered, 1, 4, 0).unwrap();
        add(&mut ordered, 0, 3, 0).unwrap();
        assert_eq!((ordered.complete(), ordered.open()), (None, 2));
        add(&mut ordered, 0, 1, 0).unwrap();
        assert_eq!(ordered.complete(), Some((0..1, vec![3, 1])));
        assert_eq!(ordered.complete(), Some((1..2, vec![4])));
        assert_eq!((ordered.complete(), ordered.open()), (None, 0));
        // An engine that finished nothing may say so when others have done its work.
        add(&mut ordered, 0, 0, 0).unwrap();
        assert_eq!(ordered.open(), 0);
        ordered.end().unwrap();
    }

    #[test]
    fn pairs_too_many_or_too_few_are_errors() {
        let message = |result: Result<()>| result.unwrap_err().to_string();
        let mut ordered = Ordered::new();
        let more = "internal error: chunk 0 has more pairs than it began with";
        add(&mut ordered, 0, 3, 0).unwrap();
        assert_eq!(message(add(&mut ordered, 0, 2, 0)), more);
        add(&mut ordered, 0, 1, 0).unwrap();
        assert_eq!(ordered.complete(), Some((0..1, vec![3, 1])));
        assert_eq!(message(add(&mut ordered, 0, 1, 0)), more, "it was given out");
        add(&mut ordered, 2, 3, 0).unwrap();
        assert_eq!(message(ordered.end()), "internal error: chunk 2 is short of 1 pairs");
    }

    #[test]
    fn what_waits_for_an_older_band_counts() {
        let own = size_of::<Open<Vec<u64>>>() as u64;
        let mut ordered = Ordered::with_limits(own + 100, 3);
        let ahead = ordered.ahead();
        // The chunk whose turn it is may have as much as it likes.
        add(&mut ordered, 0, 1, 1_000_000).unwrap();
        assert!(ahead.admits(3) && !ahead.admits(4));
        add(&mut ordered, 1, 1, 99).unwrap();
        assert!(ahead.admits(3));
        add(&mut ordered, 1, 1, 1).unwrap();
        assert!(!ahead.admits(2) && ahead.admits(0), "what others wait for is planned in any case");
        add(&mut ordered, 0, 3, 0).unwrap();
        assert!(!ahead.admits(2));
        ordered.complete().unwrap();
        assert!(ahead.admits(4) && !ahead.admits(5), "it is the next chunk's turn, which waits for none");
        assert!(Ahead::default().admits(usize::MAX));
    }
    #[test]
    fn what_is_closed_is_planned_as_far_as_it_was_opened() {
        let ahead = Ahead::closed();
        assert!(ahead.admits(0) && !ahead.admits(1), "the first is planned in any case");
        for chunks in [0, 1, 2, 3, 300, 299, 1, usize::MAX - 1, usize::MAX] {
            ahead.open(chunks);
            let most = chunks.max(1);
            let near = (most.saturating_sub(3)..most.saturating_add(3)).chain([0, 1, usize::MAX - 1]);
            for chunk in near {
                assert_eq!(ahead.admits(chunk), chunk < most, "chunk {chunk} of {chunks}");
            }
        }
    }
}
