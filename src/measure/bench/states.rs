//! Speed of engines and CPU threads on reads and ancestral states.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use super::timing::{Sample, stream_and};
use crate::engine::thread_engine::compute_together;
use crate::engine::{BatchReport, Engine};
use crate::error::Result;
use crate::papara::cpu::PhyloWorker;
use crate::papara::{Phylo, PhyloBatch, PhyloReport};

/// Computes batches on an engine.
pub(crate) fn on_engine(engine: &mut dyn Engine<Phylo>, batches: &[Arc<PhyloBatch>]) -> Result<Sample> {
    let mut sum = 0i64;
    let run = stream_and(engine, batches, |report: &PhyloReport| {
        sum = sum.wrapping_add(score_sum(report));
        report.scores.len() as u64
    })?;
    std::hint::black_box(sum);
    Ok(run)
}

/// Computes batches on all threads of a pool. The kernel time is the mean of the threads' times.
pub(crate) fn on_cpu(
    pool: &rayon::ThreadPool,
    interrupt: &Arc<AtomicBool>,
    batches: &[Arc<PhyloBatch>],
) -> Result<Sample> {
    let threads = pool.current_num_threads();
    let mut workers: Vec<PhyloWorker> = (0..threads).map(|_| PhyloWorker::new(Arc::clone(interrupt))).collect();
    let started = Instant::now();
    let (mut sum, mut busy) = (0i64, 0.0);
    for batch in batches {
        for report in compute_together(pool, &mut workers, batch)? {
            sum = sum.wrapping_add(score_sum(&report));
            busy += report.kernel_time().unwrap_or_default().as_secs_f64();
        }
    }
    std::hint::black_box(sum);
    let seconds = started.elapsed().as_secs_f64();
    Ok(Sample { seconds, kernel_seconds: Some(busy / threads as f64), traced: 0 })
}

/// Returns the sum of all scores. Computing it reads the results like a job does.
pub(crate) fn score_sum(report: &PhyloReport) -> i64 {
    report.scores.as_flattened().iter().fold(0, |sum, &score| sum.wrapping_add(score.into()))
}
