//! Kernels as filters before the alignment on the CPU (Truong et al. 2014, section 6.5, table 5:
//! 200 sequences, 97%).

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;

use super::timing::{Sample, repeat};
use super::{Experiment, ExperimentContext, error_mark};
use crate::engine::{Capacity, Engine, Ticket};
use crate::error::{Error, Result};
use crate::gpu::kernels::Kernel;
use crate::jobs::blocks::Whole;
use crate::jobs::{AllPairs, Job, PairResult, Run, SessionStart, Summary};
use crate::measure::simulate;
use crate::measure::table::{ChartKind, MeasurementTable, RowStatus, TableCell, TableChart, TableColumn};
use crate::pairs::Pairs;
use crate::pairs::cpu::{CpuWorker, workers};
use crate::pairs::gpu::{PairsGpu, tune};
use crate::pairs::{PairsBatch, PairsReport};
use crate::seq::SequenceId;

/// Number of sequences of the experiment.
const SEQUENCES: usize = 200;
const QUICK_SEQUENCES: usize = 16;
/// Length of a random gene in symbols.
pub(super) const GENE: usize = 1450;
/// Length of a random gene in quick runs.
pub(super) const QUICK_GENE: usize = 100;
/// Minimum identity as a fraction.
pub(super) const IDENTITY: f64 = 0.97;

const COLUMNS: [TableColumn; 10] = [
    TableColumn { key: "method", name: "method", unit: "" },
    TableColumn { key: "sequences", name: "sequences", unit: "" },
    TableColumn { key: "pairs", name: "pairs", unit: "" },
    TableColumn { key: "aligned", name: "aligned", unit: "pairs" },
    TableColumn { key: "kept", name: "kept", unit: "pairs" },
    TableColumn { key: "kernel_seconds", name: "scores", unit: "s" },
    TableColumn { key: "seconds", name: "in all", unit: "s" },
    TableColumn { key: "pairs_per_second", name: "in all", unit: "pairs/s" },
    TableColumn { key: "times_as_fast", name: "times as fast", unit: "" },
    TableColumn { key: "runs", name: "runs", unit: "" },
];

/// Query and target of a pair.
type Ids = (SequenceId, SequenceId);

/// Measures the filters of one device.
pub(super) fn run(context: &ExperimentContext<'_>) -> Result<MeasurementTable> {
    let title = format!("pairs of at least {:.0}% identity, {}", 100.0 * IDENTITY, source(context));
    let mut table = context.table(Experiment::Filter, title, &COLUMNS);
    let count = if context.quick { QUICK_SEQUENCES } else { SEQUENCES };
    let store = match &context.bench.sequences {
        Some(store) => simulate::first(store, count),
        None => simulate::genes(count, if context.quick { QUICK_GENE } else { GENE }),
    };
    let job = AllPairs { min_identity: Some(IDENTITY), ..AllPairs::new(Arc::clone(&store), context.bench.scoring()) };
    let all = AllPairs { min_identity: None, ..job.clone() };
    let methods = [("CPU alone", None, &all), ("CPU as filter", None, &job)];
    let kernels = [("nw_diagonal as filter", "nw_diagonal"), ("nw_slice as filter", "nw_slice")];
    // The CPU has no kernels for filtering.
    let kernels = kernels.into_iter().filter(|_| context.adapter().is_some());
    let kernels = kernels.map(|(name, stem)| (name, context.kernel_called(stem), &job, false));
    let methods = methods.into_iter().map(|(name, kernel, job)| (name, kernel, job, true)).chain(kernels);
    let mut kept = None;
    let mut slowest = None;
    for (method, kernel, job, on_cpu) in methods {
        context.report_progress(Experiment::Filter, method);
        let mut cells: Vec<TableCell> = vec![method.into(), (store.len() as u64).into(), job.job().pairs().into()];
        if kernel.is_none() && !on_cpu {
            table.note("-: the device has no such kernel, or it was not selected");
            table.push(RowStatus::Unsuited, cells);
            continue;
        }
        let outcome = SharedPairsEngine::open(context, kernel, job).and_then(|engine| best_of(context, job, &engine));
        let status = match outcome {
            Ok((best, pairs, runs)) => {
                let count = pairs.len() as u64;
                same_pairs(&mut kept, method, pairs)?;
                let slowest = *slowest.get_or_insert(best.seconds);
                cells.extend([
                    best.aligned.into(),
                    count.into(),
                    best.kernel_seconds.into(),
                    best.seconds.into(),
                    (best.pairs as f64 / best.seconds.max(1e-9)).into(),
                    (slowest / best.seconds.max(1e-9)).into(),
                    runs.into(),
                ]);
                RowStatus::Measured
            }
            Err(error) => error_mark(&mut table, method, error)?,
        };
        table.push(status, cells);
    }
    table.note("CPU alone: every pair is aligned, and identities are compared afterwards");
    table.note("every method kept the same pairs; scores: time in kernels (CPU engine: in its threads)");
    table.note(
        "from sequences in memory to alignments in order, with an open device and a compiled kernel; fastest run",
    );
    table.charts.push(TableChart {
        title: table.title.clone(),
        kind: ChartKind::Bars,
        x: "method",
        y: "pairs_per_second",
        series: Vec::new(),
        only: Vec::new(),
    });
    Ok(table)
}

/// Checks that a method selected the same pairs as the first method.
fn same_pairs(kept: &mut Option<(&'static str, Vec<Ids>)>, method: &'static str, pairs: Vec<Ids>) -> Result<()> {
    match kept {
        None => *kept = Some((method, pairs)),
        Some((first, same)) if *same != pairs => {
            let (all, count) = (same.len(), pairs.len());
            let wrong = same
                .iter()
                .zip(&pairs)
                .find(|(a, b)| a != b)
                .map_or_else(|| "one of them is longer".to_owned(), |(a, b)| format!("{a:?} and not {b:?}"));
            return Err(Error::Internal(format!(
                "'{first}' keeps {all} pairs, '{method}' keeps {count}, and not the same: {wrong}"
            )));
        }
        Some(_) => {}
    }
    Ok(())
}

/// Returns the source of the sequences for titles.
pub(super) fn source(context: &ExperimentContext<'_>) -> &'static str {
    if context.bench.sequences.is_some() { "sequences of the file" } else { "random genes" }
}

/// Returns the fastest run of a job, the selected pairs in order, and the number of runs.
fn best_of(
    context: &ExperimentContext<'_>,
    job: &AllPairs,
    engine: &SharedPairsEngine,
) -> Result<(Summary, Vec<Ids>, u32)> {
    let mut best: Option<Summary> = None;
    let mut kept = Vec::new();
    let timing = repeat(context, context.bench.seconds, || {
        kept.clear();
        let summary = engine.run(context, job, |pairs| {
            // Applies the test of the filter. Without a filter, every pair arrives here.
            let similar = pairs.iter().filter(|pair| 100.0 * pair.identity >= 100.0 * IDENTITY);
            kept.extend(similar.map(|pair| (pair.query, pair.target)));
        })?;
        let run =
            Sample { seconds: summary.seconds, kernel_seconds: Some(summary.kernel_seconds), ..Sample::default() };
        best = best.take().filter(|best| best.seconds <= summary.seconds).or(Some(summary));
        Ok(run)
    })?;
    let best = best.ok_or_else(|| Error::Internal("no run".into()))?;
    Ok((best, kept, timing.runs))
}

/// An engine that several jobs use, so that it is opened and its kernel is compiled only once.
pub(super) struct SharedPairsEngine {
    name: String,
    universal: bool,
    engine: Arc<Mutex<Box<dyn Engine<Pairs>>>>,
}

impl SharedPairsEngine {
    /// Opens the engine for a kernel, or the CPU engine, and compiles the pipeline for a job.
    pub(super) fn open(
        context: &ExperimentContext<'_>,
        kernel: Option<&'static Kernel>,
        job: &AllPairs,
    ) -> Result<Self> {
        let engine: Box<dyn Engine<Pairs>> = match (kernel, context.adapter()) {
            (Some(kernel), Some(adapter)) => {
                let engine: PairsGpu = tune::open_tuned(adapter, &job.scoring, 0, false)?;
                Box::new(engine.with_kernel(Some(kernel)))
            }
            _ => Box::<CpuWorker>::default(),
        };
        let (name, universal) = (engine.name().to_owned(), engine.universal());
        let lent = SharedPairsEngine { name, universal, engine: Arc::new(Mutex::new(engine)) };
        lent.run(context, &AllPairs { queries: simulate::first(&job.queries, 2), ..job.clone() }, |_| {})?;
        Ok(lent)
    }

    /// Runs a job on this engine alone.
    pub(super) fn run(
        &self,
        context: &ExperimentContext<'_>,
        job: &AllPairs,
        mut rows: impl FnMut(&[PairResult]),
    ) -> Result<Summary> {
        let lent =
            SharedPairsEngine { name: self.name.clone(), universal: self.universal, engine: Arc::clone(&self.engine) };
        job.validate()?;
        let threads = context.pool.current_num_threads();
        let run = Run { threads, interrupt: Arc::clone(&context.bench.interrupt), ..Run::default() };
        // The CPU computes with the threads of a usual job.
        let engines = match self.universal {
            true => workers(threads, &context.bench.interrupt),
            false => vec![Box::new(lent) as Box<dyn Engine<Pairs>>],
        };
        let mut rows = Whole(|pairs: &[PairResult]| {
            rows(pairs);
            Ok(())
        });
        let session = job.open(SessionStart::for_whole_job(Some(engines)), &run)?;
        let started = Instant::now();
        let mut summary = job.feed_whole(session, &run, &mut rows)?;
        summary.seconds = started.elapsed().as_secs_f64();
        // A job continues without an engine that fails. A measurement of that engine must not.
        let [engine, others @ ..] = &summary.engines[..] else { return Ok(summary) };
        let device = || self.name.clone();
        if let Some(message) = &engine.lost {
            return Err(Error::Device { device: device(), message: message.clone() });
        }
        let elsewhere: u64 = others.iter().map(|engine| engine.pairs).sum();
        if elsewhere > 0 {
            let message = format!("{elsewhere} of {} pairs do not suit it", summary.pairs);
            return Err(Error::Unsuited { device: device(), message });
        }
        Ok(summary)
    }

    fn lock(&self) -> MutexGuard<'_, Box<dyn Engine<Pairs>>> {
        self.engine.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl Engine<Pairs> for SharedPairsEngine {
    fn name(&self) -> &str {
        &self.name
    }

    fn universal(&self) -> bool {
        self.universal
    }

    fn capacity(&self) -> Capacity {
        self.lock().capacity()
    }

    fn submit(&mut self, batch: Arc<PairsBatch>) -> Result<Ticket> {
        self.lock().submit(batch)
    }

    fn collect(&mut self, ticket: Ticket) -> Result<PairsReport> {
        self.lock().collect(ticket)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_that_keep_different_pairs_are_an_error() {
        let mut kept = None;
        same_pairs(&mut kept, "first", vec![(0, 1), (0, 2)]).unwrap();
        same_pairs(&mut kept, "second", vec![(0, 1), (0, 2)]).unwrap();
        for wrong in [vec![], vec![(0, 1)], vec![(0, 1), (1, 2)], vec![(0, 1), (0, 2), (1, 2)]] {
            let error = same_pairs(&mut kept, "third", wrong).unwrap_err();
            assert!(matches!(error, Error::Internal(_)), "{error}");
        }
    }
}
