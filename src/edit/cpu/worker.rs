//! The CPU engine for distances.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::compute::{DistanceWorkspace, run_until};
use crate::edit::{BatchDistances, Edit, EditBatch, EditReport};
use crate::engine::Engine;
use crate::engine::thread_engine::{CpuKind, ThreadEngine, thread_engines};
use crate::error::{Error, Result};

/// An engine that computes distances on one thread.
pub type EditWorker = ThreadEngine<Edit>;

/// Creates `threads` engines, at least one.
pub fn edit_workers(threads: usize, interrupt: &Arc<AtomicBool>) -> Vec<Box<dyn Engine<Edit>>> {
    thread_engines(threads, interrupt)
}

impl CpuKind for Edit {
    type Scratch = DistanceWorkspace;

    const CELLS: u64 = 1 << 32;
    const PAIRS: u64 = 1 << 16;
    const GROUP_PAIRS: u64 = super::layout::MAX_PAIRS as u64;

    fn compute(batch: &EditBatch, workspace: &mut DistanceWorkspace, interrupt: &AtomicBool) -> Result<EditReport> {
        let begin = Instant::now();
        let results = run_until(batch, workspace, || interrupt.load(Ordering::Relaxed));
        let results = results.ok_or(Error::Interrupted)?;
        let kernel_time = Some(begin.elapsed());
        Ok(EditReport { distances: BatchDistances::Each(results.into()), kernel_time, ..EditReport::default() })
    }
}
