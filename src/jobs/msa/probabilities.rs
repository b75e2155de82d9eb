//! Computes the posterior probabilities of pairs of sequences on engines.

use std::sync::Arc;
use std::time::Instant;

use super::super::{Run, Summary, engines};
use super::cells_of;
use crate::engine::owner::{self, EngineSet};
use crate::engine::stats::RunStats;
use crate::engine::thread_engine::thread_engines;
use crate::engine::thread_pool;
use crate::error::Result;
use crate::posterior::{GatheredProbabilities, Posterior, PosteriorPlan};
use crate::seq::{SequenceId, SequenceStore};

/// Number of sequences with which each sequence of a large set is compared, as a rough estimate.
const LARGE_SET_PAIRS: u64 = 24;

/// Engines that compute several plans.
pub(super) struct PairEngines<'a> {
    set: EngineSet<Posterior>,
    /// Threads that read and check results.
    pool: Arc<rayon::ThreadPool>,
    run: &'a Run,
}

impl<'a> PairEngines<'a> {
    /// Opens the engines for a job of a number of cells.
    fn open(pool: Arc<rayon::ThreadPool>, run: &'a Run, cells: u64) -> Result<Self> {
        Ok(PairEngines { set: EngineSet::new(engines::open_posterior(run, &pool, cells)?), pool, run })
    }

    /// Opens the engines for a large set. Returns `None` if no GPU is used. Results are read by
    /// additional threads, because the job's threads are busy at the same time.
    pub(super) fn for_large_set(sequences: &SequenceStore, run: &'a Run) -> Result<Option<Self>> {
        let squares = sequences.lengths().iter().map(|&length| u64::from(length).pow(2)).sum::<u64>();
        let engines = PairEngines::open(thread_pool(run.threads)?, run, squares.saturating_mul(LARGE_SET_PAIRS))?;
        let has_gpu = engines.set.engines().any(|engine| !engine.universal());
        Ok(has_gpu.then_some(engines))
    }

    /// Computes the pairs of plans that differ in their models only.
    pub(super) fn compute(&mut self, plans: &[PosteriorPlan]) -> Result<(GatheredProbabilities, RunStats)> {
        let PairEngines { set, pool, run } = self;
        let control = run.control(pool);
        let reserve = || thread_engines(pool.current_num_threads(), &run.interrupt);
        let chunks: Vec<_> = PosteriorPlan::in_order_of_pairs(plans)
            .into_iter()
            .map(|(chunk, blocks)| {
                let blocks = blocks.iter().map(|block| ((), block.clone())).collect();
                (0..chunk.sequences.len() as SequenceId, Arc::clone(chunk), blocks)
            })
            .collect();
        let cells = plans.iter().map(PosteriorPlan::cells).sum();
        let mut gathered = GatheredProbabilities::of_plans(plans);
        let ran = owner::run_set(set, reserve, chunks.into_iter(), cells, &control, |outcome| {
            run.progress.advance(outcome.pairs, outcome.cells);
            pool.install(|| gathered.add(&outcome.batch, outcome.report))
        })?;
        Ok((gathered, ran))
    }
}

/// Computes the mean probabilities of all pairs under all models, on the engines that the run selects.
pub(super) fn compute(
    sequences: &Arc<SequenceStore>,
    pool: &Arc<rayon::ThreadPool>,
    run: &Run,
) -> Result<(GatheredProbabilities, Summary)> {
    let started = Instant::now();
    let plans = PosteriorPlan::of_all_models(sequences)?;
    let cells = cells_of(sequences) * plans.len() as u64;
    let (gathered, ran) = PairEngines::open(Arc::clone(pool), run, cells)?.compute(&plans)?;
    let (seconds, computed) = (started.elapsed().as_secs_f64(), gathered.len() as u64);
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
