//! Sources of blocks. Blocks may arrive during the computation, and engines continue from one to
//! the next without a pause.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use super::block::Block;
use crate::engine::Work;
use crate::engine::guard::lock;
use crate::engine::queue::{ChunkSource, QueuedChunk, Upcoming};

/// Answer of a source that is asked for a block.
#[derive(Debug)]
pub enum NextBlock {
    /// The next block.
    Block(Block),
    /// No block at present. The source is asked again later.
    Nothing,
    /// No further blocks.
    End,
}

/// A source of blocks.
pub trait BlockSource: Send + Sync {
    /// Takes the next block. Does not wait for one.
    fn next(&self) -> NextBlock;

    /// Returns the number of cells in available blocks. The caller of [`BlockSource::next`]
    /// subtracts the cells of a block once engines have access to them.
    fn pending_cells(&self) -> Arc<AtomicU64>;

    /// Takes all blocks that are available now.
    fn take_all(&self) -> Vec<Block> {
        let mut blocks = Vec::new();
        while let NextBlock::Block(block) = self.next() {
            subtract_cells(&self.pending_cells(), block.cells);
            blocks.push(block);
        }
        blocks
    }
}

/// Blocks that are all available from the start.
#[derive(Debug)]
pub struct ListedBlocks {
    blocks: Mutex<VecDeque<Block>>,
    pending_cells: Arc<AtomicU64>,
}

impl ListedBlocks {
    /// Creates a source of these blocks.
    pub fn new(blocks: &[Block]) -> Arc<Self> {
        let cells = blocks.iter().fold(0, |sum: u64, block| sum.saturating_add(block.cells));
        Arc::new(ListedBlocks { blocks: Mutex::new(blocks.to_vec().into()), pending_cells: Arc::new(cells.into()) })
    }
}

impl BlockSource for ListedBlocks {
    fn next(&self) -> NextBlock {
        lock(&self.blocks).pop_front().map_or(NextBlock::End, NextBlock::Block)
    }

    fn pending_cells(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.pending_cells)
    }
}

/// Subtracts cells that engines have received from the cells of available blocks.
pub(in crate::jobs) fn subtract_cells(pending_cells: &AtomicU64, cells: u64) {
    let less = |pending_cells: u64| Some(pending_cells.saturating_sub(cells));
    // The closure always returns a value.
    let _ = pending_cells.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
}

/// End of a block that extends to the last unit, for jobs that do not know their number of units.
pub(in crate::jobs) const OPEN_END: u64 = u64::MAX;

/// Cuts blocks into chunks of the queue.
pub(in crate::jobs) trait ChunkCutter<W: Work>: Send {
    /// Adds a block after all earlier blocks.
    fn begin(&mut self, block: Block);

    /// Returns the next chunk; `None` if the blocks added so far have no further chunks.
    fn next(&mut self) -> Option<QueuedChunk<W>>;

    /// Returns whether an input could not be read. No block has further chunks then.
    fn has_failed(&self) -> bool {
        false
    }
}

/// Chunks of the blocks of a source.
pub(in crate::jobs) struct BlockChunks<B> {
    source: Arc<dyn BlockSource>,
    pending_cells: Arc<AtomicU64>,
    cutter: B,
    /// Cells of the last added block that are not in chunks yet.
    left: u64,
}

impl<B> BlockChunks<B> {
    pub(in crate::jobs) fn new(source: &Arc<dyn BlockSource>, cutter: B) -> Self {
        BlockChunks { pending_cells: source.pending_cells(), source: Arc::clone(source), cutter, left: 0 }
    }
}

impl<W: Work, B: ChunkCutter<W>> ChunkSource<W> for BlockChunks<B> {
    fn next_chunk(&mut self) -> Upcoming<W> {
        loop {
            if let Some(planned) = self.cutter.next() {
                let cells: u64 = planned.2.iter().map(|(_, block)| W::cells(block)).sum();
                let of_chunk = cells.min(self.left);
                self.left -= of_chunk;
                subtract_cells(&self.pending_cells, of_chunk);
                return Upcoming::Chunk(planned);
            }
            subtract_cells(&self.pending_cells, std::mem::take(&mut self.left));
            if self.cutter.has_failed() {
                // Engines compute the chunks planned so far, and their blocks are completed.
                return Upcoming::End;
            }
            match self.source.next() {
                NextBlock::Block(block) => {
                    self.left = block.cells;
                    self.cutter.begin(block);
                }
                NextBlock::Nothing => return Upcoming::Nothing,
                NextBlock::End => return Upcoming::End,
            }
        }
    }
}

/// Blocks that were started and are not complete, in order. The cutter of chunks adds blocks, and
/// the delivery of rows removes them.
#[derive(Debug)]
pub(in crate::jobs) struct OpenBlocks<T>(Arc<Mutex<OpenBlocksState<T>>>);

#[derive(Debug)]
struct OpenBlocksState<T> {
    open: VecDeque<T>,
    pairs: u64,
    cells: u64,
}

impl<T> Clone for OpenBlocks<T> {
    fn clone(&self) -> Self {
        OpenBlocks(Arc::clone(&self.0))
    }
}

impl<T> Default for OpenBlocks<T> {
    fn default() -> Self {
        OpenBlocks(Arc::new(Mutex::new(OpenBlocksState { open: VecDeque::new(), pairs: 0, cells: 0 })))
    }
}

impl<T> OpenBlocks<T> {
    /// Adds a block with its pairs and cells.
    pub(in crate::jobs) fn add(&self, one: T, pairs: u64, cells: u64) {
        let mut state = lock(&self.0);
        state.open.push_back(one);
        state.pairs += pairs;
        state.cells = state.cells.saturating_add(cells);
    }

    /// Returns the numbers of pairs and cells of all blocks added so far.
    pub(in crate::jobs) fn totals(&self) -> (u64, u64) {
        let state = lock(&self.0);
        (state.pairs, state.cells)
    }

    /// Applies a function to the first block.
    pub(in crate::jobs) fn first<R>(&self, look: impl FnOnce(&mut T) -> R) -> Option<R> {
        lock(&self.0).open.front_mut().map(look)
    }

    /// Applies a function to the first block that satisfies `is_so`.
    pub(in crate::jobs) fn find<R>(&self, is_so: impl Fn(&T) -> bool, look: impl FnOnce(&mut T) -> R) -> Option<R> {
        lock(&self.0).open.iter_mut().find(|one| is_so(one)).map(look)
    }

    /// Applies a function to the last block.
    pub(in crate::jobs) fn with_last<R>(&self, look: impl FnOnce(&mut T) -> R) -> Option<R> {
        lock(&self.0).open.back_mut().map(look)
    }

    /// Removes the first block if `is_so` holds for it.
    pub(in crate::jobs) fn end_if(&self, is_so: impl FnOnce(&T) -> bool) -> Option<T> {
        let mut state = lock(&self.0);
        if state.open.front().is_some_and(is_so) { state.open.pop_front() } else { None }
    }
}
