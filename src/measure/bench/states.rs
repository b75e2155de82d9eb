//! Speed of engines, and of the CPU's threads, on reads and ancestral states.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use super::timing::{Sample, stream_and};
use crate::engine::thread_engine::compute_together;
use crate::engine::{BatchReport, Engine};
use crate::error::Result;
use crate::papara::cpu::PhyloWorker;
use crate::papara::{Phylo, PhyloBatch, PhyloReport};

/// Has an engine compute batches.
pub(crate) fn on_engine(engine: &mut dyn Engine<Phylo>, batches: &[Arc<PhyloBatch>]) -> Result<Sample> {
    let mut sum = 0i64;
    let run = stream_and(engine, batches, |report: &PhyloReport| {
        sum = sum.wrapping_add(sum_of(report));
        report.scores.len() as u64
    })?;
    std::hint::black_box(sum);
    Ok(run)
}

/// Has all threads of a pool compute batches. Their time in kernels is the mean of what they took.
pub(crate) fn on_cpu(
    pool: &rayon::ThreadPool,
    interrupt: &Arc<AtomicBool>,
    batches: &[Arc<PhyloBatch>],
) -> Result<Sample> {
    let threads = pool.current_num_threads();
    let mut workers: Vec<PhyloWorker> = (0..threads).map(|_| PhyloWorker::new(Arc::clone(interrupt))).collect();
    let begin = Instant::now();
    let (mut sum, mut busy) = (0i64, 0.0);
    for batch in batches {
        for report in compute_together(pool, &mut workers, batch)? {
            sum = sum.wrapping_add(sum_of(&report));
            busy += report.kernel_time().unwrap_or_default().as_secs_f64();
        }
    }
    std::hint::black_box(sum);
    let seconds = begin.elapsed().as_secs_f64();
    Ok(Sample { seconds, kernel_seconds: Some(busy / threads as f64), traced: 0 })
}

/// The sum of all scores, for which results have to be read as a job reads them.
pub(crate) fn sum_of(report: &PhyloReport) -> i64 {
    report.scores.as_flattened().iter().fold(0, |sum, &score| sum.wrapping_add(score.into()))
}
