//! The whole job, filtered and with every pair aligned (Truong et al. 2014, sections 6.6 and 6.7, on one device).

use std::sync::Arc;

use super::filter::{GENE, IDENTITY, QUICK_GENE, SharedEngine, source};
use super::timing::{Sample, repeat};
use super::{Bed, Experiment, mark};
use crate::error::{Error, Result};
use crate::gpu::kernels::{Family, Kernel};
use crate::jobs::{AllPairs, Summary};
use crate::measure::simulate;
use crate::measure::table::{Cell, Chart, ChartKind, Column, Status, Table};
use crate::seq::SequenceStore;

/// Random genes at most; of the 16S genes of the paper there are about as many.
const MAX_GENES: usize = 5000;
const QUICK_GENES: usize = 16;
/// Sequences of which the first look is taken.
const FIRST_LOOK: usize = 60;

const COLUMNS: [Column; 12] = [
    Column { key: "job", name: "job", unit: "" },
    Column { key: "kernel", name: "kernel", unit: "" },
    Column { key: "sequences", name: "sequences", unit: "" },
    Column { key: "pairs", name: "pairs", unit: "" },
    Column { key: "aligned", name: "aligned", unit: "pairs" },
    Column { key: "kept", name: "kept", unit: "pairs" },
    Column { key: "seconds", name: "in all", unit: "s" },
    Column { key: "tcups", name: "in all", unit: "TCUPS" },
    Column { key: "kernel_tcups", name: "in kernels", unit: "TCUPS" },
    Column { key: "kernel_percent", name: "in kernels", unit: "% of time" },
    Column { key: "pairs_per_second", name: "in all", unit: "pairs/s" },
    Column { key: "runs", name: "runs", unit: "" },
];

/// Measures the job on one device, with every kernel that was asked for.
pub(super) fn run(bed: &Bed<'_>) -> Result<Table> {
    let mut table = bed.table(Experiment::EndToEnd, format!("all pairs, {}", source(bed)), &COLUMNS);
    let store = match &bed.bench.sequences {
        Some(store) if bed.quick => simulate::first(store, QUICK_GENES),
        Some(store) => Arc::clone(store),
        None if bed.quick => simulate::genes(QUICK_GENES, QUICK_GENE),
        None => simulate::genes(MAX_GENES, GENE),
    };
    let mut contenders: Vec<Option<&'static Kernel>> = bed.kernels(Family::Pairs).map(Some).collect();
    if bed.has_cpu() {
        contenders.push(None);
    }
    for (job, identity) in [("filtered", Some(IDENTITY)), ("all aligned", None)] {
        for &kernel in &contenders {
            let who = kernel.map_or("cpu", |kernel| kernel.stem);
            bed.say(Experiment::EndToEnd, format_args!("{job}, {who}"));
            let mut cells: Vec<Cell> = vec![job.into(), who.into()];
            let status = match one(bed, &store, kernel, identity) {
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
                    Status::Measured
                }
                Err(error) => mark(&mut table, who, error)?,
            };
            table.push(status, cells);
        }
        table.charts.push(Chart {
            title: format!("All pairs, {job}"),
            kind: ChartKind::Bars,
            x: "kernel",
            y: "tcups",
            series: Vec::new(),
            only: vec![("job", job.into())],
        });
    }
    table.note("TCUPS: 10^12 cells a second; results are counted, not written; the best of the runs");
    table.note(format!("filtered: pairs of at least {:.0}% identity are aligned", 100.0 * IDENTITY));
    table.note(format!("as many of the first sequences as take about {} s", bed.bench.seconds));
    Ok(table)
}

/// Sequences, the fastest run, and the number of runs.
fn one(
    bed: &Bed<'_>,
    store: &Arc<SequenceStore>,
    kernel: Option<&'static Kernel>,
    identity: Option<f64>,
) -> Result<(usize, Summary, u32)> {
    let job = |count: usize| AllPairs {
        min_identity: identity,
        ..AllPairs::new(simulate::first(store, count), bed.bench.scoring())
    };
    let mut count = FIRST_LOOK.min(store.len());
    let engine = SharedEngine::open(bed, kernel, &job(count))?;
    // Seconds grow with the square of the number of sequences at most; few sequences say little of how they do.
    loop {
        engine.run(bed, &job(count), |_| {})?;
        let took = engine.run(bed, &job(count), |_| {})?.seconds.max(1e-6);
        let factor = (bed.bench.seconds / took).sqrt();
        let next = ((count as f64 * factor.min(8.0)) as usize).clamp(2, store.len());
        let is_last = factor <= 8.0 || next == store.len();
        count = next;
        if is_last {
            break;
        }
    }
    let job = job(count);
    let mut best: Option<Summary> = None;
    let timing = repeat(bed, 3.0 * bed.bench.seconds, || {
        let summary = engine.run(bed, &job, |_| {})?;
        let run =
            Sample { seconds: summary.seconds, kernel_seconds: Some(summary.kernel_seconds), ..Sample::default() };
        best = best.take().filter(|best| best.seconds <= summary.seconds).or(Some(summary));
        Ok(run)
    })?;
    let best = best.ok_or_else(|| Error::Internal("no run".into()))?;
    Ok((count, best, timing.runs))
}
