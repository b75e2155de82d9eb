//! One pair of very long sequences (Li, Ranka and Sahni 2014): strip widths and schedules of
//! `sw_striped_score` (section IV), scores of long pairs, and the time of three alignment methods
//! relative to the score (section V).
//!
//! As in the paper, sequences are random. Pruning is measured with similar sequences.

use std::sync::Arc;
use std::time::Instant;

use super::timing::{Sample, Timing, repeat};
use super::{Experiment, ExperimentContext, GapKind, error_mark};
use crate::error::{Error, Result};
use crate::gpu::kernels::Family;
use crate::jobs::{Job, LongAlignment, LongDetails, LongWant, Run, Summary};
use crate::long::chain::grid::MatrixSize;
use crate::long::cpu::CpuLong;
use crate::long::gpu::{GpuLong, Schedule, StripedShape};
use crate::long::kernels::striped::StripedVariant;
use crate::long::{LongEngine, Method};
use crate::measure::shared_engine::SharedEngine;
use crate::measure::simulate::SEED;
use crate::measure::simulate::mutated;
use crate::measure::table::{ChartKind, MeasurementTable, RowStatus, TableCell, TableChart, TableColumn};
use crate::pairs::gpu::tune::random_store;
use crate::score::{Ambiguity, EndGaps, Gaps, Mode, Scoring};
use crate::seq::{Alphabet, SequenceStore};

/// Sizes in the paper's figures on strip widths, and a tenth of them.
const STRIP_SIZES: [MatrixSize; 5] =
    [size(5103, 7168), size(10_206, 14_336), size(20_412, 28_672), size(30_618, 43_008), size(51_030, 71_680)];
const SCORE_SIZES: [MatrixSize; 12] = {
    let thousands = [10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 200, 1000];
    let mut sizes = [size(0, 0); 12];
    let mut at = 0;
    while at < sizes.len() {
        sizes[at] = size(1000 * thousands[at], 1000 * thousands[at]);
        at += 1;
    }
    sizes
};
/// Sizes in the paper's figures on alignments.
const ALIGNMENT_SIZES: [MatrixSize; 3] = [size(10_430, 14_560), size(15_533, 21_728), size(20_860, 29_120)];
const QUICK_SIZES: [MatrixSize; 1] = [size(300, 400)];
/// Columns per lane, and lanes. The strips have 64 to 2,048 columns.
const SHAPES: [(u32, u32); 7] = [(4, 16), (4, 32), (8, 32), (12, 32), (16, 32), (16, 64), (16, 128)];
const QUICK_SHAPES: [(u32, u32); 1] = [(8, 8)];
/// Percentages of changed symbols in similar sequences.
const CHANGED: [u32; 2] = [1, 10];
/// Rows of the pair that compiles the pipelines before the clock starts.
const FIRST_ROWS: usize = 256;

const COLUMNS: [TableColumn; 16] = [
    TableColumn { key: "part", name: "part", unit: "" },
    TableColumn { key: "gaps", name: "gaps", unit: "" },
    TableColumn { key: "engine", name: "engine", unit: "" },
    TableColumn { key: "query_symbols", name: "query", unit: "symbols" },
    TableColumn { key: "target_symbols", name: "target", unit: "symbols" },
    TableColumn { key: "strip_columns", name: "strip", unit: "columns" },
    TableColumn { key: "schedule", name: "schedule", unit: "" },
    TableColumn { key: "method", name: "method", unit: "" },
    TableColumn { key: "changed_percent", name: "changed", unit: "% of symbols" },
    TableColumn { key: "sweep_ms", name: "sweeps", unit: "ms" },
    TableColumn { key: "trace_ms", name: "tracebacks", unit: "ms" },
    TableColumn { key: "ms", name: "in all", unit: "ms" },
    TableColumn { key: "gcups", name: "in all", unit: "GCUPS" },
    TableColumn { key: "times_score", name: "times", unit: "the score's" },
    TableColumn { key: "pruned_percent", name: "pruned", unit: "% of cells" },
    TableColumn { key: "runs", name: "runs", unit: "" },
];

const fn size(rows: u32, columns: u32) -> MatrixSize {
    MatrixSize { rows, columns }
}

/// The computation of a row.
#[derive(Clone, Copy)]
struct LongPairCase {
    part: &'static str,
    gaps: GapKind,
    size: MatrixSize,
    /// Columns of a strip, and the schedule of strips, if they are fixed.
    strip: Option<(u32, Schedule)>,
    /// Method of the alignment; `None` for the score alone.
    method: Option<Method>,
    changed: Option<u32>,
    prune: bool,
}

impl LongPairCase {
    fn job(&self) -> Result<LongAlignment> {
        let MatrixSize { rows, columns } = self.size;
        let store = |length: u32, seed| Arc::new(random_store(Alphabet::Dna, 1, length as usize, seed));
        let query = store(rows, SEED);
        let target = match self.changed {
            None => store(columns, SEED ^ 0x9e37_79b9_0000_0000),
            Some(percent) => mutated(&query, percent),
        };
        let gaps = match self.gaps {
            GapKind::Linear => Gaps::from_blast(0, 5),
            GapKind::Affine => Gaps::from_blast(5, 2),
        };
        let scoring = Scoring::nucleotide(2, -3, Ambiguity::Overlap, gaps, EndGaps::Charged)?;
        let scoring = Arc::new(Scoring { mode: Mode::Local, ..scoring });
        let want = if self.method.is_some() { LongWant::Alignment } else { LongWant::Score };
        let job = LongAlignment::new(query, 0, target, 0, scoring);
        Ok(LongAlignment { want, method: self.method, prune: self.prune, ..job })
    }

    fn cells(&self, engine: &str, job: &LongAlignment) -> Vec<TableCell> {
        vec![
            self.part.into(),
            self.gaps.name().into(),
            engine.into(),
            job.query.length(0).into(),
            job.target.length(0).into(),
            or_blank(self.strip.map(|(columns, _)| columns)),
            or_blank(self.strip.map(|(_, schedule)| name_of(schedule))),
            self.method.map_or(if self.prune { "score, pruned" } else { "score" }, method_name).into(),
            or_blank(self.changed),
        ]
    }
}

/// Returns a blank cell for a value that has no meaning in a row. Such a value is not a missing
/// measurement.
fn or_blank(value: Option<impl Into<TableCell>>) -> TableCell {
    value.map_or_else(|| "".into(), Into::into)
}

fn name_of(schedule: Schedule) -> &'static str {
    match schedule {
        Schedule::Wavefront => "wavefront",
        Schedule::Persistent => "persistent",
    }
}

fn method_name(method: Method) -> &'static str {
    match method {
        Method::Striped => "striped",
        Method::Chunked1 => "chunked1",
        Method::Chunked2 => "chunked2",
    }
}

/// Returns a store with the first symbols of a record.
fn first_symbols(store: &Arc<SequenceStore>, count: usize) -> Arc<SequenceStore> {
    let codes = store.codes(0);
    let mut builder = SequenceStore::builder(store.alphabet());
    builder.push_valid(store.name(0), &codes[..count.min(codes.len())]);
    Arc::new(builder.build())
}

/// A table in progress, and the context of its measurements.
struct LongPairTable<'a> {
    context: &'a ExperimentContext<'a>,
    table: MeasurementTable,
}

impl LongPairTable<'_> {
    /// Measures a case and adds its row. Returns the duration in seconds if the case was measured.
    /// `speed` is the known speed of the engine in cells per second for this kind of case.
    fn measure(
        &mut self,
        engine: &SharedEngine,
        case: LongPairCase,
        score: Option<f64>,
        speed: &mut Option<f64>,
    ) -> Result<Option<f64>> {
        let context = self.context;
        context.check_interrupt()?;
        let job = case.job()?;
        let who = if engine.label() == "CPU" { "cpu" } else { "sw_striped_score" };
        let mut cells = case.cells(who, &job);
        let all = f64::from(job.query.length(0)) * f64::from(job.target.length(0));
        if speed.is_some_and(|speed| all / speed > context.bench.seconds) {
            self.table.push(RowStatus::Skipped, cells);
            return Ok(None);
        }
        let mut last: Summary<LongDetails> = Summary::default();
        let measured = compiled(context, engine, &job).and_then(|()| {
            repeat(context, context.bench.seconds, || {
                let started = Instant::now();
                let summary = run_on(context, engine, &job)?;
                let seconds = started.elapsed().as_secs_f64();
                // All times come from the fastest run.
                if last.seconds == 0.0 || seconds < last.seconds {
                    last = Summary { seconds, ..summary };
                }
                Ok(Sample { seconds, kernel_seconds: None, traced: 0 })
            })
        });
        match measured {
            Ok(Timing { seconds, runs, .. }) => {
                *speed = Some(all / seconds.max(1e-9));
                cells.extend([
                    (1e3 * last.details.sweep_seconds).into(),
                    or_blank(case.method.map(|_| 1e3 * last.details.trace_seconds)),
                    (1e3 * seconds).into(),
                    Timing::gcups(all as u64, seconds).into(),
                    or_blank(score.map(|score| seconds / score)),
                    or_blank(case.prune.then(|| 100.0 * last.details.pruned_cells as f64 / last.cells.max(1) as f64)),
                    runs.into(),
                ]);
                self.table.push(RowStatus::Measured, cells);
                Ok(Some(seconds))
            }
            Err(error) => {
                let status = error_mark(&mut self.table, who, error)?;
                self.table.push(status, cells);
                Ok(None)
            }
        }
    }

    /// Measures strip widths and schedules (figure 7).
    fn strips(&mut self, gaps: GapKind) -> Result<()> {
        let context = self.context;
        let Some(adapter) = context.adapter() else { return Ok(()) };
        let shapes: &[(u32, u32)] = if context.quick { &QUICK_SHAPES } else { &SHAPES };
        for &(columns, lanes) in shapes {
            for schedule in [Schedule::Wavefront, Schedule::Persistent] {
                let strip = columns * lanes;
                context.report_progress(
                    Experiment::Long,
                    format_args!("{} gaps, strips of {strip} columns, {}", gaps.name(), name_of(schedule)),
                );
                let shape = StripedShape {
                    cells: Some(columns),
                    lanes: Some(lanes),
                    schedule: Some(schedule),
                    ..StripedShape::default()
                };
                let memory = StripedVariant {
                    lanes,
                    cells: columns,
                    classes: 4,
                    codes: Alphabet::Dna.size() as u32,
                    batch: shape.batch,
                    last_cell: 0,
                    local: true,
                    linear: gaps == GapKind::Linear,
                    best: true,
                    prune: false,
                    persistent: schedule == Schedule::Persistent,
                    shuffle: false,
                }
                .workgroup_bytes();
                let engine = if memory > adapter.description.workgroup_memory_bytes {
                    Err("more memory than a workgroup has here")
                } else if schedule == Schedule::Persistent && adapter.is_software() {
                    Err("a software adapter runs few workgroups at a time, so that strips would wait for nothing")
                } else {
                    Ok(SharedEngine::new(Box::new(GpuLong::open(adapter)?.with_shape(shape))))
                };
                let mut speed = None;
                for size in self.sizes(&STRIP_SIZES) {
                    let case = LongPairCase {
                        part: "strips",
                        gaps,
                        size,
                        strip: Some((strip, schedule)),
                        method: None,
                        changed: None,
                        prune: false,
                    };
                    match &engine {
                        Ok(engine) => {
                            self.measure(engine, case, None, &mut speed)?;
                        }
                        Err(why) => {
                            self.table.note(format!("-: {why}"));
                            self.table.push(RowStatus::Unsuited, case.cells("sw_striped_score", &case.job()?));
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Measures scores by length (figure 9), alignments by every method, and the effect of pruning.
    fn pairs(&mut self, engine: &SharedEngine, gaps: GapKind) -> Result<()> {
        let report_progress = |what: &str| {
            self.context
                .report_progress(Experiment::Long, format_args!("{}, {} gaps, {what}", engine.label(), gaps.name()))
        };
        let case = LongPairCase {
            part: "scores",
            gaps,
            size: size(0, 0),
            strip: None,
            method: None,
            changed: None,
            prune: false,
        };
        report_progress("scores");
        let mut speed = None;
        for size in self.sizes(&SCORE_SIZES) {
            self.measure(engine, LongPairCase { size, ..case }, None, &mut speed)?;
        }
        report_progress("alignments");
        // Speeds of the score alone and of each method. Each is measured separately.
        let mut speeds = [speed, None, None, None];
        for size in self.sizes(&ALIGNMENT_SIZES) {
            let case = LongPairCase { part: "alignments", size, ..case };
            let score = self.measure(engine, case, None, &mut speeds[0])?;
            for (at, method) in [Method::Striped, Method::Chunked1, Method::Chunked2].into_iter().enumerate() {
                self.measure(engine, LongPairCase { method: Some(method), ..case }, score, &mut speeds[at + 1])?;
            }
        }
        report_progress("pruning");
        for percent in CHANGED {
            let mut speeds = [speed, None];
            for size in self.sizes(&ALIGNMENT_SIZES) {
                let case = LongPairCase { part: "pruning", size, changed: Some(percent), ..case };
                let score = self.measure(engine, case, None, &mut speeds[0])?;
                self.measure(engine, LongPairCase { prune: true, ..case }, score, &mut speeds[1])?;
            }
        }
        Ok(())
    }

    /// Returns sizes in ascending order: the squares of the requested lengths, or the usual sizes.
    fn sizes(&self, usual: &[MatrixSize]) -> Vec<MatrixSize> {
        match &self.context.bench.lengths {
            Some(_) => {
                let lengths = self.context.sizes(&self.context.bench.lengths, &[], &[]);
                lengths.into_iter().map(|length| size(length, length)).collect()
            }
            None => if self.context.quick { &QUICK_SIZES } else { usual }.to_vec(),
        }
    }
}

/// Compiles the pipelines for a job, with its first rows and all of its columns.
fn compiled(context: &ExperimentContext<'_>, engine: &SharedEngine, job: &LongAlignment) -> Result<()> {
    let query = first_symbols(&job.query, FIRST_ROWS);
    let small = LongAlignment { query, ..job.clone() };
    run_on(context, engine, &small).map(drop)
}

/// Runs a job on one engine alone.
fn run_on(context: &ExperimentContext<'_>, engine: &SharedEngine, job: &LongAlignment) -> Result<Summary<LongDetails>> {
    let run = Run { interrupt: Arc::clone(&context.bench.interrupt), ..Run::default() };
    let engines: Vec<Box<dyn LongEngine>> = vec![Box::new(engine.clone())];
    job.run_on(engines.into(), &run, |_| Ok(()))
}

/// Measures one device.
pub(super) fn run(context: &ExperimentContext<'_>) -> Result<MeasurementTable> {
    let table = context.table(Experiment::Long, "one pair of very long sequences", &COLUMNS);
    let mut rows = LongPairTable { context, table };
    let adapter = context.adapter().filter(|_| context.kernels(Family::Long).next().is_some());
    for &gaps in &context.bench.gaps {
        if let Some(adapter) = adapter {
            rows.strips(gaps)?;
            match GpuLong::open(adapter) {
                Ok(engine) => {
                    let engine = engine.with_pool(Some(Arc::clone(&context.pool)));
                    rows.pairs(&SharedEngine::new(Box::new(engine)), gaps)?;
                }
                Err(error @ Error::Device { .. }) => {
                    error_mark(&mut rows.table, "sw_striped_score", error)?;
                }
                Err(error) => return Err(error),
            }
        }
        if context.has_cpu() {
            rows.pairs(&SharedEngine::new(Box::new(CpuLong::new(context.bench.threads))), gaps)?;
        }
    }
    let mut table = rows.table;
    describe(context, &mut table);
    Ok(table)
}

fn describe(context: &ExperimentContext<'_>, table: &mut MeasurementTable) {
    table.note("GCUPS: 10^9 cells of the whole matrix per second; fastest run; local alignments, match 2, mismatch -3");
    table.note("gaps of k symbols: linear 5 k, affine 5 + 2 k; tracebacks: from the end of the alignment to its start");
    table.note("in all: from sequences in memory to the score or the rescored alignment");
    if table.rows.iter().any(|row| row.status == RowStatus::Skipped) {
        table.note(format!(
            "skipped: expected to take more than {} s, estimated from smaller work",
            context.bench.seconds
        ));
    }
    let lines = ChartKind::Lines { log_x: true, log_y: false };
    for gaps in &context.bench.gaps {
        for (part, what, x, y, series) in [
            ("strips", "Strip widths", "strip_columns", "gcups", vec!["schedule", "query_symbols"]),
            ("scores", "Scores of long pairs", "target_symbols", "gcups", vec!["engine"]),
            ("alignments", "Alignments of long pairs", "target_symbols", "times_score", vec!["engine", "method"]),
        ] {
            table.charts.push(TableChart {
                title: format!("{what}: {} gaps", gaps.name()),
                kind: lines,
                x,
                y,
                series,
                only: vec![("part", part.into()), ("gaps", gaps.name().into())],
            });
        }
    }
}
