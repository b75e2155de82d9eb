//! Progress of the blocks that a process computes.

use pairwave::jobs::Progress;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Forwards cells to a bar as they are computed. If a job does not report its cells, forwards the
/// cells of finished blocks.
pub(super) struct BlockBar {
    bar: Arc<dyn Progress>,
    /// Cells that were forwarded to the bar.
    reported: AtomicU64,
    /// Cells of finished blocks.
    done: AtomicU64,
}

impl BlockBar {
    pub(super) fn new(bar: Arc<dyn Progress>) -> Arc<Self> {
        Arc::new(BlockBar { bar, reported: AtomicU64::new(0), done: AtomicU64::new(0) })
    }

    /// Records that a block of `cells` cells is finished, here or by another process.
    pub(super) fn done(&self, cells: u64) {
        let done = self.done.fetch_add(cells, Ordering::Relaxed) + cells;
        let reported = self.reported.fetch_max(done, Ordering::Relaxed);
        if reported < done {
            self.bar.advance(0, done - reported);
        }
    }
}

impl Progress for BlockBar {
    fn advance(&self, pairs: u64, cells: u64) {
        self.reported.fetch_add(cells, Ordering::Relaxed);
        self.bar.advance(pairs, cells);
    }

    fn step(&self, part: &'static str, done: u64, all: u64) {
        self.bar.step(part, done, all);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Default)]
    struct ForwardedProgress(AtomicU64, AtomicU64);

    impl Progress for ForwardedProgress {
        fn advance(&self, pairs: u64, cells: u64) {
            self.0.fetch_add(pairs, Ordering::Relaxed);
            self.1.fetch_add(cells, Ordering::Relaxed);
        }
    }

    #[test]
    fn bar_reaches_its_end_even_if_a_job_reports_no_cells() {
        for reports_cells in [false, true] {
            let reported = Arc::new(ForwardedProgress::default());
            let bar = BlockBar::new(reported.clone());
            let reached = || reported.1.load(Ordering::Relaxed);
            bar.advance(7, if reports_cells { 100 } else { 0 });
            bar.advance(2, if reports_cells { 30 } else { 0 });
            bar.done(100);
            assert_eq!(reached(), if reports_cells { 130 } else { 100 });
            bar.done(50);
            assert_eq!(reached(), 150);
            assert_eq!(reported.0.load(Ordering::Relaxed), 9);
        }
    }
}
