//! The CPU engine that scores reads against vectors of states.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::compute::{PhyloWorkspace, run_until};
use crate::engine::Engine;
use crate::engine::thread_engine::{CpuKind, ThreadEngine, thread_engines};
use crate::error::{Error, Result};
use crate::papara::vectors::OCTET;
use crate::papara::work::{Phylo, PhyloBatch, PhyloReport};
use crate::simd::MAX_LANES;

/// An engine that scores reads against vectors of states on one thread.
pub type PhyloWorker = ThreadEngine<Phylo>;

/// Creates `threads` engines, at least one.
pub fn phylo_workers(threads: usize, interrupt: &Arc<AtomicBool>) -> Vec<Box<dyn Engine<Phylo>>> {
    thread_engines(threads, interrupt)
}

impl CpuKind for Phylo {
    type Scratch = PhyloWorkspace;

    const CELLS: u64 = 1 << 30;
    const PAIRS: u64 = 1 << 16;
    const GROUP_PAIRS: u64 = (MAX_LANES / OCTET) as u64;

    fn compute(batch: &PhyloBatch, workspace: &mut PhyloWorkspace, interrupt: &AtomicBool) -> Result<PhyloReport> {
        let begin = Instant::now();
        let scores = run_until(batch, workspace, || interrupt.load(Ordering::Relaxed));
        let scores = scores.ok_or(Error::Interrupted)?;
        Ok(PhyloReport { scores, unfinished: Vec::new(), kernel_time: Some(begin.elapsed()) })
    }
}
