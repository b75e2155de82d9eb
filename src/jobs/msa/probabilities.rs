//! Computes the posterior probabilities of all pairs of sequences on engines.

use std::sync::Arc;
use std::time::Instant;

use super::super::{Run, Summary, engines};
use super::cells_of;
use crate::engine::owner;
use crate::engine::thread_engine::thread_engines;
use crate::error::Result;
use crate::posterior::{GatheredProbabilities, PosteriorPlan};
use crate::seq::{SequenceId, SequenceStore};

/// Computes the probabilities on the engines that the run selects.
pub(super) fn compute(
    sequences: &Arc<SequenceStore>,
    pool: &Arc<rayon::ThreadPool>,
    run: &Run,
) -> Result<(GatheredProbabilities, Summary)> {
    let started = Instant::now();
    let plan = PosteriorPlan::new(Arc::clone(sequences))?;
    let (threads, cells) = (pool.current_num_threads(), cells_of(sequences));
    let engines = engines::open_posterior(run, pool, cells)?;
    let reserve = || thread_engines(threads, &run.interrupt);
    let control = run.control(pool);
    let mut gathered = plan.empty_collection();
    let blocks = plan.blocks.iter().map(|block| ((), block.clone())).collect();
    let chunks = std::iter::once((0..sequences.len() as SequenceId, Arc::clone(&plan.chunk), blocks));
    let mut computed = 0;
    let ran = owner::run(engines, reserve, chunks, cells, &control, |outcome| {
        run.progress.advance(outcome.pairs, outcome.cells);
        computed += outcome.pairs;
        gathered.add(&outcome.batch, outcome.report)
    })?;
    let seconds = started.elapsed().as_secs_f64();
    tracing::debug!(computed, seconds, "probabilities of pairs");
    let summary = Summary {
        pairs: computed,
        cells,
        aligned: computed,
        written: computed,
        seconds,
        kernel_seconds: ran.engines.iter().map(|engine| engine.kernel_seconds).sum(),
        engines: ran.engines,
        imbalance: ran.imbalance,
        details: (),
    };
    Ok((gathered, summary))
}
