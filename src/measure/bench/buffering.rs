//! Ways to bring results back, and sizes of batches (Truong et al. 2014, sections 5.4 and 6.2, figures 6 and 10).
//!
//! The paper copies whole alignment matrices; here four bytes a pair come back. One batch at a time
//! stands for the paper's single buffer, two batches in flight stand for its dual buffering. The
//! paper's comparison of pinned with unpinned memory is left out: the engine reads results in one
//! way. Unlike in the paper, memory does not limit batches, so that each of two batches in flight
//! is as large as a single one.

use super::timing::{Sample, Timing, repeat, stream};
use super::{Bed, Experiment, GapKind, mark};
use crate::error::Result;
use crate::gpu::kernels::Family;
use crate::measure::simulate::RandomPairs;
use crate::measure::table::{Chart, ChartKind, Column, Status, Table};
use crate::pairs::Want;
use crate::pairs::gpu::{Config, GpuEngine};

/// Lengths in symbols: a gene, where results are few, and a read, where they are many.
const LENGTHS: [u32; 2] = [1536, 128];
const QUICK_LENGTHS: [u32; 1] = [64];
/// Usual batches that are computed for a row.
const BATCHES: u64 = 6;
/// Seconds that a usual batch takes.
const BATCH_SECONDS: f64 = 0.1;
/// Pairs of a usual batch at most: results of some hundred MiB.
const MAX_PAIRS: u64 = 4 << 20;
/// Pairs from which a device's speed is learnt.
const FIRST_PAIRS: u64 = 4096;
const QUICK_PAIRS: u64 = 64;
/// Parts of a usual batch that a batch is (figure 10b).
const PARTS: [u64; 4] = [1, 2, 4, 8];

const COLUMNS: [Column; 10] = [
    Column { key: "length_symbols", name: "length", unit: "symbols" },
    Column { key: "buffering", name: "results", unit: "" },
    Column { key: "batch_share", name: "batch", unit: "of usual" },
    Column { key: "batch_pairs", name: "batch", unit: "pairs" },
    Column { key: "pairs", name: "pairs", unit: "" },
    Column { key: "seconds", name: "by the clock", unit: "s" },
    Column { key: "kernel_seconds", name: "in kernels", unit: "s" },
    Column { key: "busy_percent", name: "device busy", unit: "%" },
    Column { key: "pairs_per_second", name: "by the clock", unit: "pairs/s" },
    Column { key: "runs", name: "runs", unit: "" },
];

/// Batches in flight at most, and what tables call that.
const WAYS: [(usize, &str); 2] = [(1, "single"), (2, "double")];

/// Measures the ways on one device, with `nw_slice`, or the first kernel if it was left out.
pub(super) fn run(bed: &Bed<'_>) -> Result<Table> {
    let mut table = bed.table(Experiment::Buffering, "ways to bring results back, and sizes of batches", &COLUMNS);
    let (Some(found), Some(kernel)) =
        (bed.adapter(), bed.kernel_called("nw_slice").or(bed.kernels(Family::Pairs).next()))
    else {
        table.note("nothing to measure: no graphics adapter, or no kernel");
        return Ok(table);
    };
    let lengths = if bed.quick { &QUICK_LENGTHS[..] } else { &LENGTHS[..] };
    for &length in lengths {
        let make = |pairs| RandomPairs::random(&GapKind::Linear.scoring(), Want::Alignments, length, pairs);
        let mut engine = GpuEngine::open(found, Config::for_adapter(found))?.with_kernel(Some(kernel));
        let usual = match usual_batch(bed, &mut engine, length, make) {
            Ok(usual) => usual,
            Err(error) => {
                let status = mark(&mut table, kernel.stem, error)?;
                table.push(status, vec![length.into()]);
                continue;
            }
        };
        let work = make(BATCHES * usual);
        for (in_flight, way) in WAYS {
            bed.say(Experiment::Buffering, format_args!("{length} symbols, {way}"));
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
                // Clock and kernels of one run belong together: the run that took the least by the clock.
                let mut best: Option<Sample> = None;
                let timing = repeat(bed, bed.bench.seconds, || {
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
                        Status::Measured
                    }
                    Err(error) => {
                        let status = mark(&mut table, kernel.stem, error)?;
                        engine = GpuEngine::open(found, Config::for_adapter(found))?
                            .with_kernel(Some(kernel))
                            .with_batches(in_flight);
                        status
                    }
                };
                table.push(status, cells);
            }
        }
        table.charts.push(Chart {
            title: format!("Ways to bring results back: {length} symbols"),
            kind: ChartKind::Lines { log_x: true, log_y: false },
            x: "batch_pairs",
            y: "pairs_per_second",
            series: vec!["buffering"],
            only: vec![("length_symbols", length.to_string())],
        });
    }
    table.note(format!("{}; score and matches of every pair are read; linear gaps; the best of the runs", kernel.stem));
    table.note("single: one batch at a time; double: the device computes one while the host reads another");
    table.note("in kernels: summed over batches; device busy: that share of the time by the clock");
    Ok(table)
}

/// Pairs of a batch that takes about [`BATCH_SECONDS`] in the kernel.
fn usual_batch(bed: &Bed<'_>, engine: &mut GpuEngine, length: u32, make: impl Fn(u64) -> RandomPairs) -> Result<u64> {
    // Compiled before the clock runs.
    stream(engine, &make(1).batches(1))?;
    if bed.quick {
        return Ok(QUICK_PAIRS);
    }
    let mut pairs = FIRST_PAIRS;
    loop {
        bed.check_interrupt()?;
        let batches = make(pairs).batches(pairs);
        let timing = repeat(bed, 0.0, || stream(engine, &batches))?;
        let seconds = timing.best().max(1e-5);
        if seconds >= BATCH_SECONDS / 2.0 || pairs >= MAX_PAIRS {
            tracing::debug!(length, pairs, seconds, "a usual batch");
            return Ok(((pairs as f64 * (BATCH_SECONDS / seconds).min(1.0)) as u64).max(PARTS[3]));
        }
        pairs = ((pairs as f64 * (BATCH_SECONDS / seconds).clamp(2.0, 16.0)) as u64).min(MAX_PAIRS);
    }
}
