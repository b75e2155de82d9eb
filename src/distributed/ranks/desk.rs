//! What lies between the thread that carries a rank's messages and the one that computes.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::jobs::blocks::{Block, BlockSource, NextBlock};

/// Blocks that wait, and those that are computed. Engines take the next as soon as they have room for it, so that leases that come
/// in time follow each other without a stop.
#[derive(Debug)]
pub(super) struct Desk {
    /// All blocks of the job.
    blocks: Arc<[Block]>,
    state: Mutex<State>,
    changed: Condvar,
    /// Cells of those that wait, and of what is taken and not with engines.
    coming: Arc<AtomicU64>,
    /// Ends what is computed now.
    pub(super) interrupt: Arc<AtomicBool>,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<usize>,
    /// Taken since engines began, in this order.
    taken: Vec<usize>,
    /// Those of them that are not settled.
    running: Vec<usize>,
    /// Times that engines began.
    runs: u64,
    is_over: bool,
}

impl Desk {
    /// For these blocks.
    pub(super) fn new(blocks: &[Block]) -> Arc<Self> {
        Arc::new(Desk {
            blocks: blocks.into(),
            state: Mutex::default(),
            changed: Condvar::new(),
            coming: Arc::default(),
            interrupt: Arc::default(),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn cells(&self, block: usize) -> u64 {
        self.blocks.get(block).map_or(0, |block| block.cells)
    }

    /// More blocks.
    pub(super) fn put(&self, blocks: Range<usize>) {
        let mut state = self.state();
        let cells: u64 = blocks.clone().map(|block| self.cells(block)).sum();
        self.coming.fetch_add(cells, Ordering::Relaxed);
        state.waiting.extend(blocks);
        self.changed.notify_all();
    }

    /// Waits until there are blocks, which are for engines that begin now. Gives false if there will be no more.
    pub(super) fn begin(&self) -> bool {
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
        state.runs += 1;
        state.taken.clear();
        state.running.clear();
        let cells = state.waiting.iter().map(|&block| self.cells(block)).sum();
        self.coming.store(cells, Ordering::Relaxed);
        self.interrupt.store(false, Ordering::SeqCst);
        true
    }

    /// The block that was taken in this place.
    pub(super) fn taken(&self, place: usize) -> Option<usize> {
        self.state().taken.get(place).copied()
    }

    /// Those of the taken blocks that are still wanted. After an interrupt, what is computed next is not ended by it.
    pub(super) fn running(&self) -> Vec<usize> {
        let state = self.state();
        if !state.is_over {
            self.interrupt.store(false, Ordering::SeqCst);
        }
        if state.is_over { Vec::new() } else { state.running.clone() }
    }

    /// A block of those that were taken is settled.
    pub(super) fn settle(&self, block: usize) {
        self.state().running.retain(|&running| running != block);
    }

    /// Those that are still wanted wait again: engines have stopped.
    pub(super) fn put_back(&self) {
        let mut state = self.state();
        let State { waiting, running, .. } = &mut *state;
        running.drain(..).rev().for_each(|block| waiting.push_front(block));
    }

    /// A block is not wanted any more. If it is the last that there is, what is computed ends.
    pub(super) fn withdraw(&self, block: usize) {
        let mut state = self.state();
        state.waiting.retain(|&waiting| waiting != block);
        if state.running.contains(&block) {
            state.running.retain(|&running| running != block);
            if state.running.is_empty() && state.waiting.is_empty() {
                self.interrupt.store(true, Ordering::SeqCst);
            }
        }
    }

    /// Blocks that nobody has begun.
    pub(super) fn waiting(&self) -> usize {
        self.state().waiting.len()
    }

    /// Times that engines began after they had stopped, or for the first time.
    pub(super) fn runs(&self) -> u64 {
        self.state().runs
    }

    /// Nothing is wanted any more.
    pub(super) fn close(&self) {
        let mut state = self.state();
        state.is_over = true;
        self.interrupt.store(true, Ordering::SeqCst);
        self.changed.notify_all();
    }
}

impl BlockSource for Desk {
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

    fn coming(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.coming)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_that_nobody_wants_any_more_are_not_begun_or_ended() {
        let block = |cells| Block { units: 0..1, targets: None, pairs: 1, cells };
        let blocks: Vec<Block> = (0..12).map(|number| block(1 << number)).collect();
        let desk = Desk::new(&blocks);
        let is_interrupted = || desk.interrupt.load(Ordering::SeqCst);
        let coming = || desk.coming().load(Ordering::Relaxed);
        let take = || match desk.next() {
            NextBlock::Block(block) => Some(block.cells.ilog2()),
            NextBlock::Nothing | NextBlock::End => None,
        };
        desk.put(3..6);
        desk.withdraw(4);
        assert!(desk.begin());
        assert_eq!((coming(), desk.waiting(), desk.runs()), (8 + 32, 2, 1));
        assert_eq!((take(), take(), take()), (Some(3), Some(5), None));
        desk.put(8..9);
        assert_eq!(coming(), 8 + 32 + 256, "who takes a block takes its cells off");
        desk.withdraw(3);
        assert!(!is_interrupted(), "5 is computed");
        desk.withdraw(7);
        desk.settle(5);
        assert_eq!((take(), desk.taken(0), desk.taken(2), desk.taken(3)), (Some(8), Some(3), Some(8), None));
        assert!(!is_interrupted());
        desk.withdraw(8);
        assert!(is_interrupted());
        desk.put(9..11);
        assert_eq!(take(), Some(9), "it came before engines had stopped");
        desk.put_back();
        assert!(desk.begin() && desk.runs() == 2 && desk.taken(0).is_none());
        assert!(!is_interrupted(), "the next are not ended by it");
        assert_eq!((coming(), take(), take(), take()), (512 + 1024, Some(9), Some(10), None));
        assert_eq!(desk.running(), [9, 10]);
        desk.close();
        assert!(is_interrupted() && desk.running().is_empty());
        assert!(is_interrupted(), "the end stays the end");
        assert!(!desk.begin() && matches!(desk.next(), NextBlock::End));
    }
}
