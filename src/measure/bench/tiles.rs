//! Shapes of the kernels for local scores: lanes of a pair, columns of a lane, in words and in halves, one query and two at a time.

use super::timing::{Timing, repeat, stream};
use super::{Bed, Experiment, mark};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::gpu::kernels::{Family, Kernel};
use crate::measure::simulate::RandomPairs;
use crate::measure::table::{Chart, ChartKind, Column, Status, Table};
use crate::pairs::gpu::{Config, GpuEngine, TILE_COLUMNS, TILE_LANES, TileShape};
use crate::pairs::{Pairs, Want};
use crate::score::{Gaps, Mode, Scoring};
use std::sync::Arc;

/// Lengths of queries and targets: short ones, a usual protein, and one of several passes.
const LENGTHS: [u32; 3] = [120, 360, 1000];
const QUICK_LENGTHS: [u32; 1] = [40];
/// Columns of a lane beside those that are taken unasked.
const MORE_COLUMNS: [u32; 3] = [8, 16, 24];
/// Pairs at first, and at most.
const PAIRS: [u64; 2] = [1 << 14, 1 << 22];
const QUICK_PAIRS: [u64; 2] = [64, 64];
/// Seconds that the pairs should take.
const FULL_SECONDS: f64 = 0.2;

const COLUMNS: [Column; 9] = [
    Column { key: "kernel", name: "kernel", unit: "" },
    Column { key: "gaps", name: "gaps", unit: "" },
    Column { key: "length_symbols", name: "length", unit: "symbols" },
    Column { key: "lanes", name: "lanes", unit: "" },
    Column { key: "lane_columns", name: "columns", unit: "a lane" },
    Column { key: "pairs", name: "pairs", unit: "" },
    Column { key: "kernel_gcups", name: "in kernels", unit: "GCUPS" },
    Column { key: "pairs_per_second", name: "by the clock", unit: "pairs/s" },
    Column { key: "runs", name: "runs", unit: "" },
];

/// Measures the shapes on one device.
pub(super) fn run(bed: &Bed<'_>) -> Result<Table> {
    let mut table = bed.table(Experiment::Tiles, "local scores of proteins by lanes and columns", &COLUMNS);
    let kernels: Vec<&'static Kernel> = bed.kernels(Family::Local).collect();
    if kernels.is_empty() {
        table.note("nothing to measure: no graphics adapter, or all kernels for local scores were left out");
        return Ok(table);
    }
    let lengths = bed.sizes(&bed.bench.lengths, &LENGTHS, &QUICK_LENGTHS);
    let of_quick = |all: &[u32]| if bed.quick { all[..1].to_vec() } else { all.to_vec() };
    let (lanes, mut columns) = (of_quick(&TILE_LANES), of_quick(&[&TILE_COLUMNS[..], &MORE_COLUMNS].concat()));
    columns.sort_unstable();
    // First what is taken unasked: the size of the work follows from it.
    let fixed = lanes.iter().flat_map(|&lanes| columns.iter().map(move |&columns| (Some(lanes), Some(columns))));
    let shapes: Vec<(Option<u32>, Option<u32>)> = [(None, None)].into_iter().chain(fixed).collect();
    for gaps in &bed.bench.gaps {
        let costs = if gaps.name() == "linear" { Gaps::linear(6) } else { Gaps::from_blast(11, 1) };
        let scoring = Arc::new(Scoring { mode: Mode::Local, gaps: costs, ..Scoring::protein() });
        for kernel in &kernels {
            for &length in &lengths {
                bed.say(Experiment::Tiles, format_args!("{}, {} gaps, {length} symbols", kernel.stem, gaps.name()));
                let mut work = None;
                for &(lanes, columns) in &shapes {
                    let measured = measure(bed, kernel, &scoring, length, lanes, columns, &mut work);
                    let (status, timing) = match measured {
                        Ok(timing) => (Status::Measured, Some(timing)),
                        Err(error) => (mark(&mut table, kernel.stem, error)?, None),
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
        table.charts.push(Chart {
            title: format!("Local scores of proteins by length: {} gaps, the best shape", gaps.name()),
            kind: ChartKind::Lines { log_x: true, log_y: false },
            x: "length_symbols",
            y: "kernel_gcups",
            series: vec!["kernel"],
            only: vec![("gaps", gaps.name().into())],
        });
    }
    table.note("the score of every pair; random residues; any: what suits the query best; the best of the runs");
    Ok(table)
}

/// Measures one shape, with as much work as the first one found enough.
fn measure(
    bed: &Bed<'_>,
    kernel: &'static Kernel,
    scoring: &Arc<Scoring>,
    length: u32,
    lanes: Option<u32>,
    columns: Option<u32>,
    work: &mut Option<RandomPairs>,
) -> Result<Timing> {
    let found = bed.adapter().ok_or_else(|| Error::Internal("no adapter to measure".into()))?;
    let shape = TileShape::for_adapter(found);
    let shape = TileShape { lanes: lanes.or(shape.lanes), columns: columns.or(shape.columns), ..shape };
    let engine = GpuEngine::open(found, Config::for_adapter(found))?;
    let mut engine = engine.with_kernel(Some(kernel)).with_tile_shape(shape);
    let of = |pairs| RandomPairs::random(scoring, Want::Scores, length, pairs);
    // Compiled before the clock runs; with two queries, so that halves are filled.
    let targets = if bed.quick { 8 } else { 2048 };
    stream(&mut engine, &of(targets).batches(targets))?;
    let work = match work {
        Some(work) => work,
        None => work.insert(fill(bed, &mut engine, of)?),
    };
    let batches = work.batches(work.pairs());
    repeat(bed, bed.bench.seconds, || stream(&mut engine, &batches))
}

/// As many pairs as keep the device busy for a while.
fn fill(bed: &Bed<'_>, engine: &mut dyn Engine<Pairs>, of: impl Fn(u64) -> RandomPairs) -> Result<RandomPairs> {
    let [mut pairs, most] = if bed.quick { QUICK_PAIRS } else { PAIRS };
    loop {
        bed.check_interrupt()?;
        let work = of(pairs);
        let seconds = stream(engine, &work.batches(pairs))?.best().max(1e-6);
        if seconds >= FULL_SECONDS / 2.0 || pairs >= most {
            return Ok(work);
        }
        pairs = ((pairs as f64 * (FULL_SECONDS / seconds).clamp(2.0, 32.0)) as u64).min(most);
    }
}
