//! The whole job, with a filter, with alignments of every pair, and with scores alone (Truong et
//! al. 2014, sections 6.6 and 6.7, on one device).

use std::sync::Arc;

use super::filter::{GENE, IDENTITY, QUICK_GENE, SharedPairsEngine, source};
use super::timing::{Sample, repeat};
use super::{Experiment, ExperimentContext, error_mark};
use crate::error::{Error, Result};
use crate::gpu::kernels::{Family, Kernel};
use crate::jobs::{AllPairs, Summary};
use crate::measure::simulate;
use crate::measure::table::{ChartKind, MeasurementTable, RowStatus, TableCell, TableChart, TableColumn};

/// Maximum number of random genes, similar to the number of 16S genes in the paper.
const MAX_GENES: usize = 5000;
const QUICK_GENES: usize = 16;
/// Number of sequences of the first measurement.
const FIRST_SEQUENCES: usize = 60;

const COLUMNS: [TableColumn; 12] = [
    TableColumn { key: "job", name: "job", unit: "" },
    TableColumn { key: "kernel", name: "kernel", unit: "" },
    TableColumn { key: "sequences", name: "sequences", unit: "" },
    TableColumn { key: "pairs", name: "pairs", unit: "" },
    TableColumn { key: "aligned", name: "aligned", unit: "pairs" },
    TableColumn { key: "kept", name: "kept", unit: "pairs" },
    TableColumn { key: "seconds", name: "in all", unit: "s" },
    TableColumn { key: "tcups", name: "in all", unit: "TCUPS" },
    TableColumn { key: "kernel_tcups", name: "in kernels", unit: "TCUPS" },
    TableColumn { key: "kernel_percent", name: "in kernels", unit: "% of time" },
    TableColumn { key: "pairs_per_second", name: "in all", unit: "pairs/s" },
    TableColumn { key: "runs", name: "runs", unit: "" },
];

/// Measures the job on one device with every selected kernel.
pub(super) fn run(context: &ExperimentContext<'_>) -> Result<MeasurementTable> {
    let mut table = context.table(Experiment::EndToEnd, format!("all pairs, {}", source(context)), &COLUMNS);
    let store = match &context.bench.sequences {
        Some(store) if context.quick => simulate::first(store, QUICK_GENES),
        Some(store) => Arc::clone(store),
        None if context.quick => simulate::genes(QUICK_GENES, QUICK_GENE),
        None => simulate::genes(MAX_GENES, GENE),
    };
    let mut contenders: Vec<Option<&'static Kernel>> = context.kernels(Family::Pairs).map(Some).collect();
    if context.has_cpu() {
        contenders.push(None);
    }
    for (job, min_identity, score_only) in
        [("filtered", Some(IDENTITY), false), ("all aligned", None, false), ("scores", None, true)]
    {
        let planned =
            AllPairs { min_identity, score_only, ..AllPairs::new(Arc::clone(&store), context.bench.scoring()) };
        for &kernel in &contenders {
            let who = kernel.map_or("cpu", |kernel| kernel.stem);
            context.report_progress(Experiment::EndToEnd, format_args!("{job}, {who}"));
            let mut cells: Vec<TableCell> = vec![job.into(), who.into()];
            let status = match measure_run(context, &planned, kernel) {
                Ok((sequences, best, runs)) => {
                    let tcups = |seconds: f64| best.cells as f64 / seconds.max(1e-9) / 1e12;
                    cells.extend([
                        (sequences as u64).into(),
                        best.pairs.into(),
                        best.aligned.into(),
                        best.written.into(),
                        best.seconds.into(),
                        tcups(best.seconds).into(),
                        tcups(best.kernel_seconds).into(),
                        (100.0 * best.kernel_seconds / best.seconds.max(1e-9)).into(),
                        (best.pairs as f64 / best.seconds.max(1e-9)).into(),
                        runs.into(),
                    ]);
                    RowStatus::Measured
                }
                Err(error) => error_mark(&mut table, who, error)?,
            };
            table.push(status, cells);
        }
        table.charts.push(TableChart {
            title: format!("All pairs, {job}"),
            kind: ChartKind::Bars,
            x: "kernel",
            y: "tcups",
            series: Vec::new(),
            only: vec![("job", job.into())],
        });
    }
    table.note("TCUPS: 10^12 cells per second; results are counted, not written; fastest run");
    table.note(format!("filtered: pairs of at least {:.0}% identity are aligned", 100.0 * IDENTITY));
    table.note("scores: every pair is scored, none is aligned");
    table.note(format!("the number of sequences is chosen for a run of about {} s", context.bench.seconds));
    Ok(table)
}

/// Returns the number of sequences, the fastest run and the number of runs.
fn measure_run(
    context: &ExperimentContext<'_>,
    planned: &AllPairs,
    kernel: Option<&'static Kernel>,
) -> Result<(usize, Summary, u32)> {
    let store = &planned.queries;
    let job = |count: usize| AllPairs { queries: simulate::first(store, count), ..planned.clone() };
    let mut count = FIRST_SEQUENCES.min(store.len());
    let engine = SharedPairsEngine::open(context, kernel, &job(count))?;
    // The time grows at most with the square of the number of sequences. Few sequences do not show
    // how it grows.
    loop {
        engine.run(context, &job(count), |_| {})?;
        let took = engine.run(context, &job(count), |_| {})?.seconds.max(1e-6);
        let factor = (context.bench.seconds / took).sqrt();
        let next = ((count as f64 * factor.min(8.0)) as usize).clamp(2, store.len());
        let is_last = factor <= 8.0 || next == store.len();
        count = next;
        if is_last {
            break;
        }
    }
    let job = job(count);
    let mut best: Option<Summary> = None;
    let timing = repeat(context, 3.0 * context.bench.seconds, || {
        let summary = engine.run(context, &job, |_| {})?;
        let run =
            Sample { seconds: summary.seconds, kernel_seconds: Some(summary.kernel_seconds), ..Sample::default() };
        best = best.take().filter(|best| best.seconds <= summary.seconds).or(Some(summary));
        Ok(run)
    })?;
    let best = best.ok_or_else(|| Error::Internal("no run".into()))?;
    Ok((count, best, timing.runs))
}
