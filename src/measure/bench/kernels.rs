//! Every kernel and the CPU engine, by length and number of pairs (Truong et al. 2014, sections 6.2
//! and 6.3, figures 8, 9 and 11). The paper uses 8 to 64 pairs. Here there are also enough pairs to
//! fill a device.

use std::sync::Arc;

use super::threads::AllThreads;
use super::timing::{Rates, Timing};
use super::{BenchWork, Contender, Experiment, ExperimentContext, GapKind, error_mark};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::gpu::kernels::Family;
use crate::measure::table::{ChartKind, MeasurementTable, RowStatus, TableCell, TableChart, TableColumn};
use crate::pairs::Pairs;
use crate::pairs::ResultFilter;
use crate::pairs::gpu::{Config, PairsGpu};
use crate::score::{Mode, Scoring};

const LENGTHS: [u32; 8] = [128, 256, 512, 1024, 2048, 4096, 8192, 16384];
const COUNTS: [u32; 6] = [8, 64, 512, 4096, 32768, 100_000];
const QUICK_LENGTHS: [u32; 2] = [64, 128];
const QUICK_COUNTS: [u32; 2] = [8, 64];

const COLUMNS: [TableColumn; 10] = [
    TableColumn { key: "work", name: "work", unit: "" },
    TableColumn { key: "gaps", name: "gaps", unit: "" },
    TableColumn { key: "length_symbols", name: "length", unit: "symbols" },
    TableColumn { key: "pairs", name: "pairs", unit: "" },
    TableColumn { key: "kernel", name: "kernel", unit: "" },
    TableColumn { key: "kernel_gcups", name: "in kernels", unit: "GCUPS" },
    TableColumn { key: "gcups", name: "by the clock", unit: "GCUPS" },
    TableColumn { key: "pairs_per_second", name: "by the clock", unit: "pairs/s" },
    TableColumn { key: "traced_percent", name: "traced", unit: "% of pairs" },
    TableColumn { key: "runs", name: "runs", unit: "" },
];

/// Sort key of a row: first by computation, then by engine.
type RowOrder = (usize, usize, u32, u32, usize);

/// A measured number of pairs of one length.
#[derive(Debug, Clone, Copy)]
struct WorkSize {
    work: BenchWork,
    gaps: GapKind,
    /// Number of symbols of each sequence.
    length: u32,
    pairs: u32,
}

/// Measures the kernels of one device.
pub(super) fn run(context: &ExperimentContext<'_>) -> Result<MeasurementTable> {
    let mut table = context.table(Experiment::Kernels, "speed by length and number of pairs", &COLUMNS);
    let lengths = context.sizes(&context.bench.lengths, &LENGTHS, &QUICK_LENGTHS);
    let counts = context.sizes(&context.bench.counts, &COUNTS, &QUICK_COUNTS);
    let kernels = context.kernels(Family::Pairs).chain(context.kernels(Family::Local)).map(Contender::Kernel);
    let contenders: Vec<Contender> = kernels.chain(context.has_cpu().then_some(Contender::Cpu)).collect();
    let mut rows: Vec<(RowOrder, RowStatus, Vec<TableCell>)> = Vec::new();
    for (who, contender) in contenders.iter().enumerate() {
        let mut engine: Option<Box<dyn Engine<Pairs>>> = None;
        for (which_work, work) in context.bench.work.iter().enumerate() {
            for (which_gaps, gaps) in context.bench.gaps.iter().enumerate() {
                context.report_progress(
                    Experiment::Kernels,
                    format_args!("{}, {}, {} gaps", contender.name(), name(*work), gaps.name()),
                );
                let mut rates = Rates::default();
                for (&length, &pairs) in
                    lengths.iter().flat_map(|length| counts.iter().map(move |count| (length, count)))
                {
                    let size = WorkSize { work: *work, gaps: *gaps, length, pairs };
                    let measured = match &mut engine {
                        Some(engine) => measure_kernel(context, engine.as_mut(), contender, &mut rates, &size),
                        None => open(context, contender).and_then(|opened| {
                            measure_kernel(context, engine.insert(opened).as_mut(), contender, &mut rates, &size)
                        }),
                    };
                    if let Err(Error::Device { .. }) = measured {
                        // The device may be lost. The next measurement opens it again.
                        engine = None;
                    }
                    let (status, timing) = match measured {
                        Ok(Some(timing)) => (RowStatus::Measured, Some(timing)),
                        Ok(None) => (RowStatus::Skipped, None),
                        Err(error) => (error_mark(&mut table, contender.name(), error)?, None),
                    };
                    let cells = cells(contender, &size, timing);
                    rows.push(((which_work, which_gaps, length, pairs, who), status, cells));
                }
            }
        }
    }
    rows.sort_by_key(|(order, ..)| *order);
    rows.into_iter().for_each(|(_, status, cells)| table.push(status, cells));
    describe(context, &mut table);
    Ok(table)
}

fn open(context: &ExperimentContext<'_>, contender: &Contender) -> Result<Box<dyn Engine<Pairs>>> {
    Ok(match (contender, context.adapter()) {
        (Contender::Kernel(kernel), Some(adapter)) => {
            Box::new(PairsGpu::open(adapter, Config::for_adapter(adapter))?.with_kernel(Some(kernel)))
        }
        _ => Box::new(AllThreads::new(Arc::clone(&context.pool))),
    })
}

fn measure_kernel(
    context: &ExperimentContext<'_>,
    engine: &mut dyn Engine<Pairs>,
    contender: &Contender,
    rates: &mut Rates,
    size: &WorkSize,
) -> Result<Option<Timing>> {
    let WorkSize { work, gaps, length, pairs } = *size;
    let filter = match work {
        BenchWork::Scores => ResultFilter::Scores,
        BenchWork::Alignments => ResultFilter::Alignments,
    };
    if let (BenchWork::Alignments, Contender::Kernel(kernel)) = (work, contender)
        && kernel.has_scores_alone()
    {
        return Err(Error::Unsuited { device: kernel.stem.into(), message: "scores alone".into() });
    }
    let is_local = matches!(contender, Contender::Kernel(kernel) if kernel.family() == Family::Local);
    let mode = if is_local { Mode::Local } else { Mode::Global };
    let scoring = Arc::new(Scoring { mode, ..Scoring::clone(&gaps.scoring()) });
    rates.measure(context, engine, &scoring, &filter, length, pairs.into())
}

fn name(work: BenchWork) -> &'static str {
    match work {
        BenchWork::Scores => "scores",
        BenchWork::Alignments => "alignments",
    }
}

fn cells(contender: &Contender, size: &WorkSize, timing: Option<Timing>) -> Vec<TableCell> {
    let WorkSize { work, gaps, length, pairs } = *size;
    let all = u64::from(pairs) * u64::from(length).pow(2);
    let kernel = timing.and_then(|timing| timing.kernel_seconds).map(|seconds| Timing::gcups(all, seconds));
    vec![
        name(work).into(),
        gaps.name().into(),
        length.into(),
        pairs.into(),
        contender.name().into(),
        kernel.into(),
        timing.map(|timing| Timing::gcups(all, timing.seconds)).into(),
        timing.map(|timing| f64::from(pairs) / timing.seconds).into(),
        timing.map(|timing| 100.0 * timing.traced as f64 / f64::from(pairs)).into(),
        timing.map(|timing| timing.runs).into(),
    ]
}

fn describe(context: &ExperimentContext<'_>, table: &mut MeasurementTable) {
    table.note("GCUPS: 10^9 cells of the alignment matrix per second; fastest run; sw_ kernels compute local scores");
    table.note("by the clock: from the submission of the pairs to the last result, with sequences on the device");
    if context.bench.work.contains(&BenchWork::Alignments) {
        table.note(
            "alignments: score and matches of every pair, which a traceback needs; traced: also aligned by the device",
        );
    }
    if table.rows.iter().any(|row| row.status == RowStatus::Skipped) {
        table.note(format!(
            "skipped: expected to take more than {} s, estimated from smaller work",
            context.bench.seconds
        ));
    }
    for (work, gaps) in
        context.bench.work.iter().flat_map(|work| context.bench.gaps.iter().map(move |gaps| (work, gaps)))
    {
        table.charts.push(TableChart {
            title: format!("Kernels by length: {}, {} gaps, the best number of pairs", name(*work), gaps.name()),
            kind: ChartKind::Lines { log_x: true, log_y: true },
            x: "length_symbols",
            y: "kernel_gcups",
            series: vec!["kernel"],
            only: vec![("work", name(*work).into()), ("gaps", gaps.name().into())],
        });
        table.charts.push(TableChart {
            title: format!("Kernels by number of pairs: {}, {} gaps, the best length", name(*work), gaps.name()),
            kind: ChartKind::Lines { log_x: true, log_y: true },
            x: "pairs",
            y: "kernel_gcups",
            series: vec!["kernel"],
            only: vec![("work", name(*work).into()), ("gaps", gaps.name().into())],
        });
    }
}
