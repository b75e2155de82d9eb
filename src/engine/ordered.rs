//! Results of chunks in input order, and a limit on how far planning may run ahead.
//!
//! Engines finish blocks in any order. [`Ordered`] gathers the results of each chunk until all its
//! pairs are finished, and delivers the chunks in planning order. Results of later chunks wait for
//! the oldest incomplete chunk. Its engine may be a hundred times slower than the others, or about
//! to be abandoned. [`ReorderWindow`] bounds the memory of the waiting results: [`Ordered`] records
//! there how much is waiting, and the queue plans no further chunk while that is too much.
//!
//! The window cannot cause a deadlock. The work of planned chunks is always handed out. The oldest
//! chunk is planned before all chunks that wait for it, and blocks of it that return to the queue
//! are handed out first.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use super::work::ChunkInfo;
use crate::error::{Error, Result};
use crate::seq::SequenceId;

/// Largest number of bytes of results that wait for an older chunk before planning pauses. The
/// fastest devices produce this much in one second.
const MAX_BYTES: u64 = 1 << 30;
/// Largest number of chunks planned beyond the oldest incomplete one. It is needed when few pairs
/// pass a filter: then hardly a byte waits, but blocks would pile up that one engine refuses and
/// the others are too busy to take.
const MAX_CHUNKS: usize = 256;

/// Limit on how far chunks are planned beyond the oldest undelivered one. [`Ordered`] updates it
/// and the queue reads it.
#[derive(Debug)]
pub struct ReorderWindow {
    /// Index of the next chunk to deliver.
    next: AtomicUsize,
    /// Bytes of results that wait for this chunk.
    bytes: AtomicU64,
    max_bytes: u64,
    max_chunks: usize,
}

impl Default for ReorderWindow {
    /// A window without limits, for results whose order does not matter.
    fn default() -> Self {
        Self::new(u64::MAX, usize::MAX)
    }
}

impl ReorderWindow {
    fn new(max_bytes: u64, max_chunks: usize) -> Self {
        ReorderWindow { next: AtomicUsize::new(0), bytes: AtomicU64::new(0), max_bytes, max_chunks }
    }

    /// Returns a window that admits only as many chunks as [`ReorderWindow::open`] allows.
    pub fn closed() -> Self {
        Self::new(u64::MAX, 0)
    }

    /// Admits the first `chunks` chunks, but at least one.
    pub fn open(&self, chunks: usize) {
        self.next.store(chunks.max(1) - 1, Ordering::Relaxed);
    }

    /// Returns the index of the next chunk to deliver.
    pub fn next(&self) -> usize {
        self.next.load(Ordering::Relaxed)
    }

    /// Returns whether this chunk may be planned.
    pub fn admits(&self, chunk: usize) -> bool {
        let next = self.next();
        chunk <= next || chunk - next <= self.max_chunks && self.bytes.load(Ordering::Relaxed) < self.max_bytes
    }
}

/// A chunk whose results are arriving.
struct GatheringChunk<B> {
    info: Arc<ChunkInfo>,
    pairs_left: u64,
    /// Bytes that `gathered` occupies.
    bytes: u64,
    gathered: B,
}

/// Gathers the results of chunks, in a `B` for each chunk, and delivers them in order.
pub struct Ordered<B> {
    open: BTreeMap<usize, GatheringChunk<B>>,
    /// Index of the next chunk to deliver.
    next: usize,
    /// Bytes of all open chunks.
    bytes: u64,
    window: Arc<ReorderWindow>,
}

impl<B> Default for Ordered<B> {
    fn default() -> Self {
        Self::new()
    }
}

impl<B> Ordered<B> {
    /// Returns an empty collection with default limits, which fit a usual computer and keep the
    /// fastest devices busy.
    pub fn new() -> Self {
        Self::with_limits(MAX_BYTES, MAX_CHUNKS)
    }

    /// Returns an empty collection with limits. A chunk may be planned while fewer than `max_bytes`
    /// bytes of results wait for the oldest undelivered chunk, and at most `max_chunks` chunks
    /// after it.
    pub fn with_limits(max_bytes: u64, max_chunks: usize) -> Self {
        let window = Arc::new(ReorderWindow::new(max_bytes, max_chunks));
        Ordered { open: BTreeMap::new(), next: 0, bytes: 0, window }
    }

    /// Returns the window that the queue must check before it plans a chunk.
    pub fn window(&self) -> Arc<ReorderWindow> {
        Arc::clone(&self.window)
    }

    /// Adds the results of `pairs` finished pairs of a chunk. `begin` creates the gathered value
    /// with the first results. `gather` adds the results and returns the growth of the value in
    /// bytes.
    ///
    /// # Errors
    /// [`Error::Internal`] if the chunk has fewer than `pairs` pairs left; errors of `gather`.
    pub fn add(
        &mut self,
        info: &Arc<ChunkInfo>,
        pairs: u64,
        begin: impl FnOnce() -> B,
        gather: impl FnOnce(&mut B) -> Result<u64>,
    ) -> Result<()> {
        if pairs == 0 {
            // This engine finished no block. Other engines may have finished all blocks before this
            // report arrived, and the chunk may already be delivered.
            return Ok(());
        }
        let too_many = || Error::Internal(format!("chunk {} received more pairs than it has", info.index));
        if info.index < self.next {
            return Err(too_many());
        }
        let chunk = self.open.entry(info.index).or_insert_with(|| {
            let bytes = size_of::<GatheringChunk<B>>() as u64;
            self.bytes += bytes;
            GatheringChunk { info: Arc::clone(info), pairs_left: info.pairs, bytes, gathered: begin() }
        });
        chunk.pairs_left = chunk.pairs_left.checked_sub(pairs).ok_or_else(too_many)?;
        let more = gather(&mut chunk.gathered)?;
        chunk.bytes += more;
        self.bytes += more;
        self.update_window();
        Ok(())
    }

    /// Returns the queries and the gathered results of the next chunk, if it is complete.
    pub fn complete(&mut self) -> Option<(Range<SequenceId>, B)> {
        let entry = self.open.first_entry()?;
        if *entry.key() != self.next || entry.get().pairs_left > 0 {
            return None;
        }
        let chunk = entry.remove();
        self.next += 1;
        self.bytes -= chunk.bytes;
        self.update_window();
        Some((chunk.info.queries.clone(), chunk.gathered))
    }

    /// Returns the number of chunks that have results and are not delivered.
    pub fn open(&self) -> usize {
        self.open.len()
    }

    /// Ends the collection.
    ///
    /// # Errors
    /// [`Error::Internal`] if a chunk is incomplete.
    pub fn end(self) -> Result<()> {
        match self.open.first_key_value() {
            None => Ok(()),
            Some((index, chunk)) => Err(Error::Internal(format!("chunk {index} lacks {} pairs", chunk.pairs_left))),
        }
    }

    /// Updates the window. The chunk to deliver next waits for no other chunk, so its bytes do not
    /// count.
    fn update_window(&self) {
        let next_bytes = self.open.get(&self.next).map_or(0, |chunk| chunk.bytes);
        self.window.bytes.store(self.bytes - next_bytes, Ordering::Relaxed);
        self.window.next.store(self.next, Ordering::Relaxed);
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
    fn complete_chunks_are_delivered_in_order() {
        let mut ordered = Ordered::new();
        add(&mut ordered, 1, 4, 0).unwrap();
        add(&mut ordered, 0, 3, 0).unwrap();
        assert_eq!((ordered.complete(), ordered.open()), (None, 2));
        add(&mut ordered, 0, 1, 0).unwrap();
        assert_eq!(ordered.complete(), Some((0..1, vec![3, 1])));
        assert_eq!(ordered.complete(), Some((1..2, vec![4])));
        assert_eq!((ordered.complete(), ordered.open()), (None, 0));
        // A report without finished blocks may arrive after other engines finished them.
        add(&mut ordered, 0, 0, 0).unwrap();
        assert_eq!(ordered.open(), 0);
        ordered.end().unwrap();
    }

    #[test]
    fn wrong_numbers_of_pairs_are_errors() {
        let message = |result: Result<()>| result.unwrap_err().to_string();
        let mut ordered = Ordered::new();
        let more = "internal error: chunk 0 received more pairs than it has";
        add(&mut ordered, 0, 3, 0).unwrap();
        assert_eq!(message(add(&mut ordered, 0, 2, 0)), more);
        add(&mut ordered, 0, 1, 0).unwrap();
        assert_eq!(ordered.complete(), Some((0..1, vec![3, 1])));
        assert_eq!(message(add(&mut ordered, 0, 1, 0)), more, "it was delivered");
        add(&mut ordered, 2, 3, 0).unwrap();
        assert_eq!(message(ordered.end()), "internal error: chunk 2 lacks 1 pairs");
    }

    #[test]
    fn results_that_wait_for_an_older_chunk_count() {
        let empty_chunk = size_of::<GatheringChunk<Vec<u64>>>() as u64;
        let mut ordered = Ordered::with_limits(empty_chunk + 100, 3);
        let window = ordered.window();
        // The bytes of the chunk to deliver next are not limited.
        add(&mut ordered, 0, 1, 1_000_000).unwrap();
        assert!(window.admits(3) && !window.admits(4));
        add(&mut ordered, 1, 1, 99).unwrap();
        assert!(window.admits(3));
        add(&mut ordered, 1, 1, 1).unwrap();
        assert!(!window.admits(2) && window.admits(0), "the chunk that others wait for is always admitted");
        add(&mut ordered, 0, 3, 0).unwrap();
        assert!(!window.admits(2));
        ordered.complete().unwrap();
        assert!(window.admits(4) && !window.admits(5), "chunk 1 is next, and its bytes do not count");
        assert!(ReorderWindow::default().admits(usize::MAX));
    }
    #[test]
    fn closed_window_admits_the_opened_chunks() {
        let window = ReorderWindow::closed();
        assert!(window.admits(0) && !window.admits(1), "the first is always admitted");
        for chunks in [0, 1, 2, 3, 300, 299, 1, usize::MAX - 1, usize::MAX] {
            window.open(chunks);
            let most = chunks.max(1);
            let near = (most.saturating_sub(3)..most.saturating_add(3)).chain([0, 1, usize::MAX - 1]);
            for chunk in near {
                assert_eq!(window.admits(chunk), chunk < most, "chunk {chunk} of {chunks}");
            }
        }
    }
}
