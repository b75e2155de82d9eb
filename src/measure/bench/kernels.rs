//! Every kernel and the CPU engine by length and number of pairs (Truong et al. 2014, sections 6.2 and 6.3, figures 8,
//! 9 and 11: 8 to 64 pairs and more, as many as fill a device).

use std::sync::Arc;

use super::threads::AllThreads;
use super::timing::{Rates, Timing};
use super::{Bed, BenchWork, Contender, Experiment, GapKind, mark};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::gpu::kernels::Family;
use crate::measure::table::{Cell, Chart, ChartKind, Column, Status, Table};
use crate::pairs::Pairs;
use crate::pairs::Want;
use crate::pairs::gpu::{Config, GpuEngine};
use crate::score::{Mode, Scoring};

const LENGTHS: [u32; 8] = [128, 256, 512, 1024, 2048, 4096, 8192, 16384];
const COUNTS: [u32; 6] = [8, 64, 512, 4096, 32768, 100_000];
const QUICK_LENGTHS: [u32; 2] = [64, 128];
const QUICK_COUNTS: [u32; 2] = [8, 64];

const COLUMNS: [Column; 10] = [
    Column { key: "work", name: "work", unit: "" },
    Column { key: "gaps", name: "gaps", unit: "" },
    Column { key: "length_symbols", name: "length", unit: "symbols" },
    Column { key: "pairs", name: "pairs", unit: "" },
    Column { key: "kernel", name: "kernel", unit: "" },
    Column { key: "kernel_gcups", name: "in kernels", unit: "GCUPS" },
    Column { key: "gcups", name: "by the clock", unit: "GCUPS" },
    Column { key: "pairs_per_second", name: "by the clock", unit: "pairs/s" },
    Column { key: "traced_percent", name: "traced", unit: "% of pairs" },
    Column { key: "runs", name: "runs", unit: "" },
];

/// Where a row stands: by what is computed, then by who computes it.
type Place = (usize, usize, u32, u32, usize);

/// Work that is measured: so many pairs of one length.
#[derive(Debug, Clone, Copy)]
struct Point {
    work: BenchWork,
    gaps: GapKind,
    /// Symbols of each sequence.
    length: u32,
    pairs: u32,
}

/// Measures the kernels of one device.
pub(super) fn run(bed: &Bed<'_>) -> Result<Table> {
    let mut table = bed.table(Experiment::Kernels, "speed by length and number of pairs", &COLUMNS);
    let lengths = bed.sizes(&bed.bench.lengths, &LENGTHS, &QUICK_LENGTHS);
    let counts = bed.sizes(&bed.bench.counts, &COUNTS, &QUICK_COUNTS);
    let kernels = bed.kernels(Family::Pairs).chain(bed.kernels(Family::Local)).map(Contender::Kernel);
    let contenders: Vec<Contender> = kernels.chain(bed.has_cpu().then_some(Contender::Cpu)).collect();
    let mut rows: Vec<(Place, Status, Vec<Cell>)> = Vec::new();
    for (who, contender) in contenders.iter().enumerate() {
        let mut engine: Option<Box<dyn Engine<Pairs>>> = None;
        for (which_work, work) in bed.bench.work.iter().enumerate() {
            for (which_gaps, gaps) in bed.bench.gaps.iter().enumerate() {
                bed.say(
                    Experiment::Kernels,
                    format_args!("{}, {}, {} gaps", contender.name(), name(*work), gaps.name()),
                );
                let mut rates = Rates::default();
                for (&length, &pairs) in
                    lengths.iter().flat_map(|length| counts.iter().map(move |count| (length, count)))
                {
                    let point = Point { work: *work, gaps: *gaps, length, pairs };
                    let measured = match &mut engine {
                        Some(engine) => one(bed, engine.as_mut(), contender, &mut rates, &point),
                        None => open(bed, contender)
                            .and_then(|opened| one(bed, engine.insert(opened).as_mut(), contender, &mut rates, &point)),
                    };
                    if let Err(Error::Device { .. }) = measured {
                        // It may be lost: the next measurement opens it again.
                        engine = None;
                    }
                    let (status, timing) = match measured {
                        Ok(Some(timing)) => (Status::Measured, Some(timing)),
                        Ok(None) => (Status::Skipped, None),
                        Err(error) => (mark(&mut table, contender.name(), error)?, None),
                    };
                    let cells = cells(contender, &point, timing);
                    rows.push(((which_work, which_gaps, length, pairs, who), status, cells));
                }
            }
        }
    }
    rows.sort_by_key(|(place, ..)| *place);
    rows.into_iter().for_each(|(_, status, cells)| table.push(status, cells));
    describe(bed, &mut table);
    Ok(table)
}

fn open(bed: &Bed<'_>, contender: &Contender) -> Result<Box<dyn Engine<Pairs>>> {
    Ok(match (contender, bed.adapter()) {
        (Contender::Kernel(kernel), Some(found)) => {
            Box::new(GpuEngine::open(found, Config::for_adapter(found))?.with_kernel(Some(kernel)))
        }
        _ => Box::new(AllThreads::new(Arc::clone(&bed.pool))),
    })
}

fn one(
    bed: &Bed<'_>,
    engine: &mut dyn Engine<Pairs>,
    contender: &Contender,
    rates: &mut Rates,
    point: &Point,
) -> Result<Option<Timing>> {
    let Point { work, gaps, length, pairs } = *point;
    let want = match work {
        BenchWork::Scores => Want::Scores,
        BenchWork::Alignments => Want::Alignments,
    };
    if let (BenchWork::Alignments, Contender::Kernel(kernel)) = (work, contender)
        && kernel.has_scores_alone()
    {
        return Err(Error::Unsuited { device: kernel.stem.into(), message: "scores alone".into() });
    }
    let is_local = matches!(contender, Contender::Kernel(kernel) if kernel.family() == Family::Local);
    let mode = if is_local { Mode::Local } else { Mode::Global };
    let scoring = Arc::new(Scoring { mode, ..Scoring::clone(&gaps.scoring()) });
    rates.measure(bed, engine, &scoring, &want, length, pairs.into())
}

fn name(work: BenchWork) -> &'static str {
    match work {
        BenchWork::Scores => "scores",
        BenchWork::Alignments => "alignments",
    }
}

fn cells(contender: &Contender, point: &Point, timing: Option<Timing>) -> Vec<Cell> {
    let Point { work, gaps, length, pairs } = *point;
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

fn describe(bed: &Bed<'_>, table: &mut Table) {
    table.note("GCUPS: 10^9 cells of the alignment matrix a second; the best of the runs; sw_ kernels score locally");
    table
        .note("by the clock: from handing the pairs in to having every pair's result, sequences already on the device");
    if bed.bench.work.contains(&BenchWork::Alignments) {
        table.note("alignments: score and matches of every pair, which a traceback needs; traced: aligned by the device as well");
    }
    if table.rows.iter().any(|row| row.status == Status::Skipped) {
        table.note(format!("skipped: expected to take more than {} s, by what smaller work took", bed.bench.seconds));
    }
    for (work, gaps) in bed.bench.work.iter().flat_map(|work| bed.bench.gaps.iter().map(move |gaps| (work, gaps))) {
        table.charts.push(Chart {
            title: format!("Kernels by length: {}, {} gaps, the best number of pairs", name(*work), gaps.name()),
            kind: ChartKind::Lines { log_x: true, log_y: true },
            x: "length_symbols",
            y: "kernel_gcups",
            series: vec!["kernel"],
            only: vec![("work", name(*work).into()), ("gaps", gaps.name().into())],
        });
        table.charts.push(Chart {
            title: format!("Kernels by number of pairs: {}, {} gaps, the best length", name(*work), gaps.name()),
            kind: ChartKind::Lines { log_x: true, log_y: true },
            x: "pairs",
            y: "kernel_gcups",
            series: vec!["kernel"],
            only: vec![("work", name(*work).into()), ("gaps", gaps.name().into())],
        });
    }
}
