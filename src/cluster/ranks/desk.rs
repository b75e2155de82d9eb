//! What lies between the thread that carries a rank's messages and the one that computes.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Blocks that wait, and those that are computed.
#[derive(Debug, Default)]
pub(super) struct Desk {
    state: Mutex<State>,
    changed: Condvar,
    /// Ends what is computed now.
    pub(super) interrupt: Arc<AtomicBool>,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<usize>,
    running: Vec<usize>,
    is_over: bool,
}

impl Desk {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// More blocks.
    pub(super) fn put(&self, blocks: Range<usize>) {
        self.state().waiting.extend(blocks);
        self.changed.notify_all();
    }

    /// Takes all blocks that wait, and waits until there are some; `None` if there will be no more.
    pub(super) fn take(&self) -> Option<Vec<usize>> {
        let mut state = self.state();
        state.running.clear();
        loop {
            if state.is_over {
                return None;
            }
            if !state.waiting.is_empty() {
                let blocks: Vec<usize> = state.waiting.drain(..).collect();
                state.running.clone_from(&blocks);
                self.interrupt.store(false, Ordering::SeqCst);
                return Some(blocks);
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
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

    /// A block is not wanted any more. If it is the last of those that are computed, this ends.
    pub(super) fn drop(&self, block: usize) {
        let mut state = self.state();
        state.waiting.retain(|&waiting| waiting != block);
        if state.running.contains(&block) {
            state.running.retain(|&running| running != block);
            if state.running.is_empty() {
                self.interrupt.store(true, Ordering::SeqCst);
            }
        }
    }

    /// Nothing is wanted any more.
    pub(super) fn close(&self) {
        let mut state = self.state();
        state.is_over = true;
        self.interrupt.store(true, Ordering::SeqCst);
        self.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_that_nobody_wants_any_more_are_not_begun_or_ended() {
        let desk = Desk::default();
        let is_interrupted = || desk.interrupt.load(Ordering::SeqCst);
        desk.put(3..6);
        desk.drop(4);
        assert_eq!(desk.take(), Some(vec![3, 5]));
        desk.put(8..9);
        desk.drop(3);
        assert!(!is_interrupted(), "5 is computed");
        desk.drop(7);
        desk.settle(5);
        assert!(!is_interrupted());
        assert_eq!(desk.take(), Some(vec![8]));
        desk.drop(8);
        assert!(is_interrupted());
        desk.put(9..11);
        assert_eq!(desk.take(), Some(vec![9, 10]));
        assert!(!is_interrupted(), "the next are not ended by it");
        assert_eq!(desk.running(), [9, 10]);
        desk.close();
        assert!(is_interrupted() && desk.running().is_empty());
        assert!(is_interrupted(), "the end stays the end");
        assert_eq!(desk.take(), None);
    }
}
