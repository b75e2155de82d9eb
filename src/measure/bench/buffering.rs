//! Ways to copy results back, and sizes of batches (Truong et al. 2014, sections 5.4 and 6.2,
//! figures 6 and 10).
//!
//! The paper copies whole alignment matrices. Here only four bytes per pair are copied. One batch
//! at a time corresponds to the paper's single buffer, and two batches in flight correspond to its
//! dual buffering. The comparison of pinned with unpinned memory is omitted, because the engine
//! reads results in a single way. Memory does not limit batches here. Each of two batches in flight
//! is therefore as large as a single batch.

use super::timing::{Sample, Timing, repeat, stream};
use super::{Experiment, ExperimentContext, GapKind, error_mark};
use crate::error::Result;
use crate::gpu::kernels::Family;
use crate::measure::simulate::RandomPairs;
use crate::measure::table::{ChartKind, MeasurementTable, RowStatus, TableChart, TableColumn};
use crate::pairs::ResultFilter;
use crate::pairs::gpu::{Config, PairsGpu};

/// Lengths in symbols: a gene with few results, and a read with many results.
const LENGTHS: [u32; 2] = [1536, 128];
const QUICK_LENGTHS: [u32; 1] = [64];
/// Number of usual batches that are computed for a row.
const BATCHES: u64 = 6;
/// Duration of a usual batch in seconds.
const BATCH_SECONDS: f64 = 0.1;
/// Maximum number of pairs of a usual batch. Results then take some hundred MiB.
const MAX_PAIRS: u64 = 4 << 20;
/// Number of pairs of the first measurement of the device's speed.
const FIRST_PAIRS: u64 = 4096;
const QUICK_PAIRS: u64 = 64;
/// Numbers of parts that a usual batch is divided into (figure 10b).
const PARTS: [u64; 4] = [1, 2, 4, 8];

const COLUMNS: [TableColumn; 10] = [
    TableColumn { key: "length_symbols", name: "length", unit: "symbols" },
    TableColumn { key: "buffering", name: "results", unit: "" },
    TableColumn { key: "batch_share", name: "batch", unit: "of usual" },
    TableColumn { key: "batch_pairs", name: "batch", unit: "pairs" },
    TableColumn { key: "pairs", name: "pairs", unit: "" },
    TableColumn { key: "seconds", name: "by the clock", unit: "s" },
    TableColumn { key: "kernel_seconds", name: "in kernels", unit: "s" },
    TableColumn { key: "busy_percent", name: "device busy", unit: "%" },
    TableColumn { key: "pairs_per_second", name: "by the clock", unit: "pairs/s" },
    TableColumn { key: "runs", name: "runs", unit: "" },
];

/// Maximum number of batches in flight, and its name in tables.
const BATCHES_IN_FLIGHT: [(usize, &str); 2] = [(1, "single"), (2, "double")];

/// Measures the ways on one device, with `nw_slice` or the first selected kernel.
pub(super) fn run(context: &ExperimentContext<'_>) -> Result<MeasurementTable> {
    let mut table = context.table(Experiment::Buffering, "ways to bring results back, and sizes of batches", &COLUMNS);
    let (Some(adapter), Some(kernel)) =
        (context.adapter(), context.kernel_called("nw_slice").or(context.kernels(Family::Pairs).next()))
    else {
        table.note("nothing to measure: no graphics adapter, or no kernel");
        return Ok(table);
    };
    let lengths = if context.quick { &QUICK_LENGTHS[..] } else { &LENGTHS[..] };
    for &length in lengths {
        let make = |pairs| RandomPairs::random(&GapKind::Linear.scoring(), ResultFilter::Alignments, length, pairs);
        let mut engine = PairsGpu::open(adapter, Config::for_adapter(adapter))?.with_kernel(Some(kernel));
        let usual = match usual_batch(context, &mut engine, length, make) {
            Ok(usual) => usual,
            Err(error) => {
                let status = error_mark(&mut table, kernel.stem, error)?;
                table.push(status, vec![length.into()]);
                continue;
            }
        };
        let work = make(BATCHES * usual);
        for (in_flight, way) in BATCHES_IN_FLIGHT {
            context.report_progress(Experiment::Buffering, format_args!("{length} symbols, {way}"));
            engine = engine.with_batches(in_flight);
            for parts in PARTS {
                let batch_pairs = usual.div_ceil(parts);
                let batches = work.batches(batch_pairs);
                let share = match parts {
                    1 => "1".to_owned(),
                    parts => format!("1/{parts}"),
                };
                let mut cells =
                    vec![length.into(), way.into(), share.as_str().into(), batch_pairs.into(), work.pairs().into()];
                // Clock and kernel time must come from the same run: the run with the lowest clock
                // time.
                let mut best: Option<Sample> = None;
                let timing = repeat(context, context.bench.seconds, || {
                    let run = stream(&mut engine, &batches)?;
                    best = Some(best.filter(|best| best.seconds <= run.seconds).unwrap_or(run));
                    Ok(run)
                });
                let status = match timing {
                    Ok(Timing { runs, .. }) => {
                        let Sample { seconds, kernel_seconds: kernel, .. } = best.unwrap_or_default();
                        cells.extend([
                            seconds.into(),
                            kernel.into(),
                            kernel.map(|kernel| 100.0 * kernel / seconds.max(1e-9)).into(),
                            (work.pairs() as f64 / seconds.max(1e-9)).into(),
                            runs.into(),
                        ]);
                        RowStatus::Measured
                    }
                    Err(error) => {
                        let status = error_mark(&mut table, kernel.stem, error)?;
                        engine = PairsGpu::open(adapter, Config::for_adapter(adapter))?
                            .with_kernel(Some(kernel))
                            .with_batches(in_flight);
                        status
                    }
                };
                table.push(status, cells);
            }
        }
        table.charts.push(TableChart {
            title: format!("Ways to bring results back: {length} symbols"),
            kind: ChartKind::Lines { log_x: true, log_y: false },
            x: "batch_pairs",
            y: "pairs_per_second",
            series: vec!["buffering"],
            only: vec![("length_symbols", length.to_string())],
        });
    }
    table.note(format!("{}; score and matches of every pair are read; linear gaps; fastest run", kernel.stem));
    table.note("single: one batch at a time; double: the device computes one batch while the host reads another");
    table.note("in kernels: sum of all batches; device busy: this sum as a share of the time by the clock");
    Ok(table)
}

/// Returns the number of pairs of a batch that takes about [`BATCH_SECONDS`] in the kernel.
fn usual_batch(
    context: &ExperimentContext<'_>,
    engine: &mut PairsGpu,
    length: u32,
    make: impl Fn(u64) -> RandomPairs,
) -> Result<u64> {
    // Compiles the kernel before the clock starts.
    stream(engine, &make(1).batches(1))?;
    if context.quick {
        return Ok(QUICK_PAIRS);
    }
    let mut pairs = FIRST_PAIRS;
    loop {
        context.check_interrupt()?;
        let batches = make(pairs).batches(pairs);
        let timing = repeat(context, 0.0, || stream(engine, &batches))?;
        let seconds = timing.best().max(1e-5);
        if seconds >= BATCH_SECONDS / 2.0 || pairs >= MAX_PAIRS {
            tracing::debug!(length, pairs, seconds, "a usual batch");
            return Ok(((pairs as f64 * (BATCH_SECONDS / seconds).min(1.0)) as u64).max(PARTS[3]));
        }
        pairs = ((pairs as f64 * (BATCH_SECONDS / seconds).clamp(2.0, 16.0)) as u64).min(MAX_PAIRS);
    }
}
