//! Blocks that come while others are computed: engines go from one to the next without a stop, whoever hands them out.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::block::Block;
use crate::engine::Work;
use crate::engine::queue::{ChunkSource, QueuedChunk, Upcoming};

/// What a source of blocks has.
#[derive(Debug)]
pub enum NextBlock {
    /// The next one.
    Block(Block),
    /// None now. It is asked again while others are computed.
    Nothing,
    /// None any more.
    End,
}

/// Where blocks come from.
pub trait BlockSource: Send + Sync {
    /// Takes the next block. Does not wait for one.
    fn next(&self) -> NextBlock;

    /// Cells of blocks that are there. Who takes a block takes them off, when and as far as engines may have them.
    fn coming(&self) -> Arc<AtomicU64>;

    /// Takes all blocks that are there now.
    fn take_all(&self) -> Vec<Block> {
        let mut blocks = Vec::new();
        while let NextBlock::Block(block) = self.next() {
            take_off(&self.coming(), block.cells);
            blocks.push(block);
        }
        blocks
    }
}

/// Blocks that are there from the begin.
#[derive(Debug)]
pub struct Listed {
    blocks: Mutex<VecDeque<Block>>,
    coming: Arc<AtomicU64>,
}

impl Listed {
    /// These blocks.
    pub fn new(blocks: &[Block]) -> Arc<Self> {
        let cells = blocks.iter().fold(0, |sum: u64, block| sum.saturating_add(block.cells));
        Arc::new(Listed { blocks: Mutex::new(blocks.to_vec().into()), coming: Arc::new(cells.into()) })
    }
}

impl BlockSource for Listed {
    fn next(&self) -> NextBlock {
        lock(&self.blocks).pop_front().map_or(NextBlock::End, NextBlock::Block)
    }

    fn coming(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.coming)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing that is done under these locks panics.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Subtracts cells that engines have from those that are to come.
pub(in crate::jobs) fn take_off(coming: &AtomicU64, cells: u64) {
    let less = |coming: u64| Some(coming.saturating_sub(cells));
    // Always gives a number.
    let _ = coming.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
}

/// End of a block that goes up to the last unit, where the number of units is unknown.
pub(in crate::jobs) const TO_THE_END: u64 = u64::MAX;

/// Makes chunks of blocks.
pub(in crate::jobs) trait ChunkCutter<W: Work>: Send {
    /// This block is next, behind all before it.
    fn begin(&mut self, block: Block);

    /// The next chunk; `None` when there are none of the blocks that were begun.
    fn next(&mut self) -> Option<QueuedChunk<W>>;

    /// Whether there will be no more chunks, of no block: some input could not be read.
    fn has_failed(&self) -> bool {
        false
    }
}

/// The chunks of blocks that come from a source.
pub(in crate::jobs) struct BlockChunks<B> {
    source: Arc<dyn BlockSource>,
    coming: Arc<AtomicU64>,
    bander: B,
    /// Cells of the block that was begun last that are not in chunks.
    left: u64,
}

impl<B> BlockChunks<B> {
    pub(in crate::jobs) fn new(source: &Arc<dyn BlockSource>, bander: B) -> Self {
        BlockChunks { coming: source.coming(), source: Arc::clone(source), bander, left: 0 }
    }
}

impl<W: Work, B: ChunkCutter<W>> ChunkSource<W> for BlockChunks<B> {
    fn next_chunk(&mut self) -> Upcoming<W> {
        loop {
            if let Some(planned) = self.bander.next() {
                let cells: u64 = planned.2.iter().map(|(_, block)| W::cells(block)).sum();
                let own = cells.min(self.left);
                self.left -= own;
                take_off(&self.coming, own);
                return Upcoming::Chunk(planned);
            }
            take_off(&self.coming, std::mem::take(&mut self.left));
            if self.bander.has_failed() {
                // What was planned before is computed, and its blocks are finished.
                return Upcoming::End;
            }
            match self.source.next() {
                NextBlock::Block(block) => {
                    self.left = block.cells;
                    self.bander.begin(block);
                }
                NextBlock::Nothing => return Upcoming::Nothing,
                NextBlock::End => return Upcoming::End,
            }
        }
    }
}

/// Blocks that were begun and not ended, in their order: who makes chunks of them adds them, who hands over rows ends them.
#[derive(Debug)]
pub(in crate::jobs) struct Begun<T>(Arc<Mutex<State<T>>>);

#[derive(Debug)]
struct State<T> {
    open: VecDeque<T>,
    pairs: u64,
    cells: u64,
}

impl<T> Clone for Begun<T> {
    fn clone(&self) -> Self {
        Begun(Arc::clone(&self.0))
    }
}

impl<T> Default for Begun<T> {
    fn default() -> Self {
        Begun(Arc::new(Mutex::new(State { open: VecDeque::new(), pairs: 0, cells: 0 })))
    }
}

impl<T> Begun<T> {
    /// One more, with its pairs and cells.
    pub(in crate::jobs) fn add(&self, one: T, pairs: u64, cells: u64) {
        let mut state = lock(&self.0);
        state.open.push_back(one);
        state.pairs += pairs;
        state.cells = state.cells.saturating_add(cells);
    }

    /// Pairs and cells of all that were added.
    pub(in crate::jobs) fn totals(&self) -> (u64, u64) {
        let state = lock(&self.0);
        (state.pairs, state.cells)
    }

    /// Looks at the first that is open, and may change it.
    pub(in crate::jobs) fn first<R>(&self, look: impl FnOnce(&mut T) -> R) -> Option<R> {
        lock(&self.0).open.front_mut().map(look)
    }

    /// Looks at the first of those that are open that is so, and may change it.
    pub(in crate::jobs) fn find<R>(&self, is_so: impl Fn(&T) -> bool, look: impl FnOnce(&mut T) -> R) -> Option<R> {
        lock(&self.0).open.iter_mut().find(|one| is_so(one)).map(look)
    }

    /// Looks at the last that is open, and may change it.
    pub(in crate::jobs) fn last<R>(&self, look: impl FnOnce(&mut T) -> R) -> Option<R> {
        lock(&self.0).open.back_mut().map(look)
    }

    /// Takes the first that is open if it is so.
    pub(in crate::jobs) fn end_if(&self, is_so: impl FnOnce(&T) -> bool) -> Option<T> {
        let mut state = lock(&self.0);
        if state.open.front().is_some_and(is_so) { state.open.pop_front() } else { None }
    }
}
