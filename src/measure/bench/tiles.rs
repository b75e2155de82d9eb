//! Shapes of the kernels for local scores: lanes of a pair and columns per lane, with i32 and
//! 16-bit float scores, and with one query or two at a time.

use super::timing::{Timing, repeat, stream};
use super::{Experiment, ExperimentContext, error_mark};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::gpu::kernels::{Family, Kernel};
use crate::measure::simulate::RandomPairs;
use crate::measure::table::{ChartKind, MeasurementTable, RowStatus, TableChart, TableColumn};
use crate::pairs::gpu::{Config, PairsGpu, TILE_COLUMNS, TILE_LANES};
use crate::pairs::{Pairs, ResultFilter};
use crate::score::{Gaps, Mode, Scoring};
use std::sync::Arc;

/// Lengths of queries and targets: short, typical for a protein, and long enough for several
/// passes.
const LENGTHS: [u32; 3] = [120, 360, 1000];
const QUICK_LENGTHS: [u32; 1] = [40];
/// Numbers of columns per lane, in addition to the default ones.
const MORE_COLUMNS: [u32; 3] = [8, 16, 24];
/// Initial and maximum number of pairs.
const PAIRS: [u64; 2] = [1 << 14, 1 << 22];
const QUICK_PAIRS: [u64; 2] = [64, 64];
/// Target duration in seconds.
const FULL_SECONDS: f64 = 0.2;

const COLUMNS: [TableColumn; 9] = [
    TableColumn { key: "kernel", name: "kernel", unit: "" },
    TableColumn { key: "gaps", name: "gaps", unit: "" },
    TableColumn { key: "length_symbols", name: "length", unit: "symbols" },
    TableColumn { key: "lanes", name: "lanes", unit: "" },
    TableColumn { key: "lane_columns", name: "columns", unit: "a lane" },
    TableColumn { key: "pairs", name: "pairs", unit: "" },
    TableColumn { key: "kernel_gcups", name: "in kernels", unit: "GCUPS" },
    TableColumn { key: "pairs_per_second", name: "by the clock", unit: "pairs/s" },
    TableColumn { key: "runs", name: "runs", unit: "" },
];

/// Measures the shapes on one device.
pub(super) fn run(context: &ExperimentContext<'_>) -> Result<MeasurementTable> {
    let mut table = context.table(Experiment::Tiles, "local scores of proteins by lanes and columns", &COLUMNS);
    let kernels: Vec<&'static Kernel> = context.kernels(Family::Local).collect();
    if kernels.is_empty() {
        table.note("nothing to measure: no graphics adapter, or no kernel for local scores was selected");
        return Ok(table);
    }
    let lengths = context.sizes(&context.bench.lengths, &LENGTHS, &QUICK_LENGTHS);
    let of_quick = |all: &[u32]| if context.quick { all[..1].to_vec() } else { all.to_vec() };
    let (lanes, mut columns) = (of_quick(&TILE_LANES), of_quick(&[&TILE_COLUMNS[..], &MORE_COLUMNS].concat()));
    columns.sort_unstable();
    // The default shape comes first, because it determines the amount of work.
    let fixed = lanes.iter().flat_map(|&lanes| columns.iter().map(move |&columns| (Some(lanes), Some(columns))));
    let shapes: Vec<(Option<u32>, Option<u32>)> = [(None, None)].into_iter().chain(fixed).collect();
    for gaps in &context.bench.gaps {
        let costs = if gaps.name() == "linear" { Gaps::linear(6) } else { Gaps::from_blast(11, 1) };
        let scoring = Arc::new(Scoring { mode: Mode::Local, gaps: costs, ..Scoring::protein() });
        for kernel in &kernels {
            for &length in &lengths {
                context.report_progress(
                    Experiment::Tiles,
                    format_args!("{}, {} gaps, {length} symbols", kernel.stem, gaps.name()),
                );
                let mut work = None;
                for &(lanes, columns) in &shapes {
                    let measured = measure(context, kernel, &scoring, length, lanes, columns, &mut work);
                    let (status, timing) = match measured {
                        Ok(timing) => (RowStatus::Measured, Some(timing)),
                        Err(error) => (error_mark(&mut table, kernel.stem, error)?, None),
                    };
                    let name = |size: Option<u32>| size.map_or("any".to_owned(), |size| size.to_string());
                    let (pairs, cells) =
                        work.as_ref().map_or((0, 0), |work: &RandomPairs| (work.pairs(), work.cells()));
                    let kernel_seconds = timing.and_then(|timing| timing.kernel_seconds);
                    let row = vec![
                        kernel.stem.into(),
                        gaps.name().into(),
                        length.into(),
                        name(lanes).as_str().into(),
                        name(columns).as_str().into(),
                        pairs.into(),
                        kernel_seconds.map(|seconds| Timing::gcups(cells, seconds)).into(),
                        timing.map(|timing| pairs as f64 / timing.seconds).into(),
                        timing.map(|timing| timing.runs).into(),
                    ];
                    table.push(status, row);
                }
            }
        }
        table.charts.push(TableChart {
            title: format!("Local scores of proteins by length: {} gaps, the best shape", gaps.name()),
            kind: ChartKind::Lines { log_x: true, log_y: false },
            x: "length_symbols",
            y: "kernel_gcups",
            series: vec!["kernel"],
            only: vec![("gaps", gaps.name().into())],
        });
    }
    table.note("score of every pair; random residues; any: the best shape for the query; fastest run");
    Ok(table)
}

/// Measures one shape. The first shape determines the amount of work.
fn measure(
    context: &ExperimentContext<'_>,
    kernel: &'static Kernel,
    scoring: &Arc<Scoring>,
    length: u32,
    lanes: Option<u32>,
    columns: Option<u32>,
    work: &mut Option<RandomPairs>,
) -> Result<Timing> {
    let adapter = context.adapter().ok_or_else(|| Error::Internal("no adapter to measure".into()))?;
    let engine = PairsGpu::open(adapter, Config::for_adapter(adapter))?;
    let mut shape = engine.shape();
    shape.tile.lanes = lanes.or(shape.tile.lanes);
    shape.tile.columns = columns.or(shape.tile.columns);
    let mut engine = engine.with_kernel(Some(kernel)).with_shape(shape);
    let of = |pairs| RandomPairs::random(scoring, ResultFilter::Scores, length, pairs);
    // Compiles the kernel before the clock starts. Two queries fill both halves of a lane.
    let targets = if context.quick { 8 } else { 2048 };
    stream(&mut engine, &of(targets).batches(targets))?;
    let work = match work {
        Some(work) => work,
        None => work.insert(fill(context, &mut engine, of)?),
    };
    let batches = work.batches(work.pairs());
    repeat(context, context.bench.seconds, || stream(&mut engine, &batches))
}

/// Returns enough pairs to keep the device busy for the target duration.
fn fill(
    context: &ExperimentContext<'_>,
    engine: &mut dyn Engine<Pairs>,
    of: impl Fn(u64) -> RandomPairs,
) -> Result<RandomPairs> {
    let [mut pairs, most] = if context.quick { QUICK_PAIRS } else { PAIRS };
    loop {
        context.check_interrupt()?;
        let work = of(pairs);
        let seconds = stream(engine, &work.batches(pairs))?.best().max(1e-6);
        if seconds >= FULL_SECONDS / 2.0 || pairs >= most {
            return Ok(work);
        }
        pairs = ((pairs as f64 * (FULL_SECONDS / seconds).clamp(2.0, 32.0)) as u64).min(most);
    }
}
