//! The queue between the message thread and the compute thread of a rank.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::jobs::blocks::{Block, BlockSource, NextBlock};

/// Waiting and running blocks of a rank. Engines take the next block as soon as they have capacity
/// for it. If a lease arrives in time, they continue without stopping.
#[derive(Debug)]
pub(super) struct BlockQueue {
    /// All blocks of the job.
    blocks: Arc<[Block]>,
    state: Mutex<BlockQueueState>,
    changed: Condvar,
    /// Number of cells of the waiting blocks, and of the taken blocks that have not reached an
    /// engine.
    pending_cells: Arc<AtomicU64>,
    /// Stops the current computation.
    pub(super) interrupt: Arc<AtomicBool>,
}

#[derive(Debug, Default)]
struct BlockQueueState {
    waiting: VecDeque<usize>,
    /// Blocks taken since the engines were last started, in this order.
    taken: Vec<usize>,
    /// Taken blocks that are neither finished, failed nor dropped.
    running: Vec<usize>,
    /// Number of times that the engines were started.
    starts: u64,
    is_over: bool,
}

impl BlockQueue {
    /// Creates an empty queue for the blocks of a job.
    pub(super) fn new(blocks: &[Block]) -> Arc<Self> {
        Arc::new(BlockQueue {
            blocks: blocks.into(),
            state: Mutex::default(),
            changed: Condvar::new(),
            pending_cells: Arc::default(),
            interrupt: Arc::default(),
        })
    }

    fn state(&self) -> MutexGuard<'_, BlockQueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn cells(&self, block: usize) -> u64 {
        self.blocks.get(block).map_or(0, |block| block.cells)
    }

    /// Adds blocks at the end of the queue.
    pub(super) fn push(&self, blocks: Range<usize>) {
        let mut state = self.state();
        let cells: u64 = blocks.clone().map(|block| self.cells(block)).sum();
        self.pending_cells.fetch_add(cells, Ordering::Relaxed);
        state.waiting.extend(blocks);
        self.changed.notify_all();
    }

    /// Waits for blocks and prepares for a start of the engines. Returns `false` if the job is
    /// over.
    pub(super) fn wait_for_blocks(&self) -> bool {
        let mut state = self.state();
        loop {
            if state.is_over {
                return false;
            }
            if !state.waiting.is_empty() {
                break;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.starts += 1;
        state.taken.clear();
        state.running.clear();
        let cells = state.waiting.iter().map(|&block| self.cells(block)).sum();
        self.pending_cells.store(cells, Ordering::Relaxed);
        self.interrupt.store(false, Ordering::SeqCst);
        true
    }

    /// Returns the block that was taken at position `index`.
    pub(super) fn taken_block(&self, index: usize) -> Option<usize> {
        self.state().taken.get(index).copied()
    }

    /// Returns the taken blocks that are still needed. Clears the interrupt, so that it does not
    /// stop the next computation.
    pub(super) fn running(&self) -> Vec<usize> {
        let state = self.state();
        if !state.is_over {
            self.interrupt.store(false, Ordering::SeqCst);
        }
        if state.is_over { Vec::new() } else { state.running.clone() }
    }

    /// Marks a taken block as finished or failed.
    pub(super) fn remove_running(&self, block: usize) {
        self.state().running.retain(|&running| running != block);
    }

    /// Puts taken blocks that are still needed back to the front of the queue, after the engines
    /// have stopped.
    pub(super) fn put_back(&self) {
        let mut state = self.state();
        let BlockQueueState { waiting, running, .. } = &mut *state;
        running.drain(..).rev().for_each(|block| waiting.push_front(block));
    }

    /// Drops a block. Stops the current computation if no other block is left.
    pub(super) fn drop_block(&self, block: usize) {
        let mut state = self.state();
        state.waiting.retain(|&waiting| waiting != block);
        if state.running.contains(&block) {
            state.running.retain(|&running| running != block);
            if state.running.is_empty() && state.waiting.is_empty() {
                self.interrupt.store(true, Ordering::SeqCst);
            }
        }
    }

    /// Returns the number of waiting blocks.
    pub(super) fn waiting(&self) -> usize {
        self.state().waiting.len()
    }

    /// Returns the number of times that the engines were started.
    pub(super) fn starts(&self) -> u64 {
        self.state().starts
    }

    /// Closes the queue: stops the current computation and wakes the compute thread.
    pub(super) fn close(&self) {
        let mut state = self.state();
        state.is_over = true;
        self.interrupt.store(true, Ordering::SeqCst);
        self.changed.notify_all();
    }
}

impl BlockSource for BlockQueue {
    fn next(&self) -> NextBlock {
        let mut state = self.state();
        if state.is_over {
            return NextBlock::End;
        }
        let Some(number) = state.waiting.pop_front() else { return NextBlock::Nothing };
        let Some(block) = self.blocks.get(number) else { return NextBlock::End };
        state.taken.push(number);
        state.running.push(number);
        NextBlock::Block(block.clone())
    }

    fn pending_cells(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.pending_cells)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dropped_blocks_are_not_started_or_are_interrupted() {
        let block = |cells| Block { units: 0..1, targets: None, pairs: 1, cells };
        let blocks: Vec<Block> = (0..12).map(|number| block(1 << number)).collect();
        let queue = BlockQueue::new(&blocks);
        let is_interrupted = || queue.interrupt.load(Ordering::SeqCst);
        let pending_cells = || queue.pending_cells().load(Ordering::Relaxed);
        let take = || match queue.next() {
            NextBlock::Block(block) => Some(block.cells.ilog2()),
            NextBlock::Nothing | NextBlock::End => None,
        };
        queue.push(3..6);
        queue.drop_block(4);
        assert!(queue.wait_for_blocks());
        assert_eq!((pending_cells(), queue.waiting(), queue.starts()), (8 + 32, 2, 1));
        assert_eq!((take(), take(), take()), (Some(3), Some(5), None));
        queue.push(8..9);
        assert_eq!(pending_cells(), 8 + 32 + 256, "the taker of a block subtracts its cells");
        queue.drop_block(3);
        assert!(!is_interrupted(), "block 5 still runs");
        queue.drop_block(7);
        queue.remove_running(5);
        assert_eq!(
            (take(), queue.taken_block(0), queue.taken_block(2), queue.taken_block(3)),
            (Some(8), Some(3), Some(8), None)
        );
        assert!(!is_interrupted());
        queue.drop_block(8);
        assert!(is_interrupted());
        queue.push(9..11);
        assert_eq!(take(), Some(9), "it arrived before the engines stopped");
        queue.put_back();
        assert!(queue.wait_for_blocks() && queue.starts() == 2 && queue.taken_block(0).is_none());
        assert!(!is_interrupted(), "the next run is not interrupted");
        assert_eq!((pending_cells(), take(), take(), take()), (512 + 1024, Some(9), Some(10), None));
        assert_eq!(queue.running(), [9, 10]);
        queue.close();
        assert!(is_interrupted() && queue.running().is_empty());
        assert!(is_interrupted(), "the interrupt stays set at the end");
        assert!(!queue.wait_for_blocks() && matches!(queue.next(), NextBlock::End));
    }
}
