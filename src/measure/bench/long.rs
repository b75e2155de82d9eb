//! One pair of very long sequences (Li, Ranka and Sahni 2014): strip widths and schedules of `sw_striped_score` (section
//! IV), scores of long pairs, and what the three ways to the alignment take beside the score (section V).
//!
//! As there, sequences are random. What pruning spares is measured on sequences that are alike.

use std::sync::Arc;
use std::time::Instant;

use super::timing::{Sample, Timing, repeat};
use super::{Bed, Experiment, GapKind, mark};
use crate::error::{Error, Result};
use crate::gpu::kernels::Family;
use crate::jobs::{Job, LongAlignment, LongSummary, LongWant, Run};
use crate::long::cpu::CpuLong;
use crate::long::gpu::{GpuLong, Schedule, StripedShape};
use crate::long::kernels::striped::Variant;
use crate::long::{LongEngine, Method};
use crate::measure::shared_engine::SharedEngine;
use crate::measure::simulate::SEED;
use crate::measure::simulate::mutated;
use crate::measure::table::{Cell, Chart, ChartKind, Column, Status, Table};
use crate::pairs::gpu::tune::random_store;
use crate::score::{Ambiguity, EndGaps, Gaps, Mode, Scoring};
use crate::seq::{Alphabet, SequenceStore};

/// Rows and columns.
type Size = (u32, u32);

/// Of the paper's figures on strip widths, and a tenth of them.
const STRIP_SIZES: [Size; 5] = [(5103, 7168), (10_206, 14_336), (20_412, 28_672), (30_618, 43_008), (51_030, 71_680)];
const SCORE_SIZES: [Size; 12] = {
    let thousands = [10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 200, 1000];
    let mut sizes = [(0, 0); 12];
    let mut at = 0;
    while at < sizes.len() {
        sizes[at] = (1000 * thousands[at], 1000 * thousands[at]);
        at += 1;
    }
    sizes
};
/// Of the paper's figures on alignments.
const ALIGNMENT_SIZES: [Size; 3] = [(10_430, 14_560), (15_533, 21_728), (20_860, 29_120)];
const QUICK_SIZES: [Size; 1] = [(300, 400)];
/// Columns of a lane, and lanes: strips of 64 to 2,048 columns.
const SHAPES: [(u32, u32); 7] = [(4, 16), (4, 32), (8, 32), (12, 32), (16, 32), (16, 64), (16, 128)];
const QUICK_SHAPES: [(u32, u32); 1] = [(8, 8)];
/// Symbols in a hundred by which sequences that are alike differ.
const CHANGED: [u32; 2] = [1, 10];
/// Rows of the pair that has pipelines compiled before the clock runs.
const FIRST_ROWS: usize = 256;

const COLUMNS: [Column; 16] = [
    Column { key: "part", name: "part", unit: "" },
    Column { key: "gaps", name: "gaps", unit: "" },
    Column { key: "engine", name: "engine", unit: "" },
    Column { key: "query_symbols", name: "query", unit: "symbols" },
    Column { key: "target_symbols", name: "target", unit: "symbols" },
    Column { key: "strip_columns", name: "strip", unit: "columns" },
    Column { key: "schedule", name: "schedule", unit: "" },
    Column { key: "method", name: "method", unit: "" },
    Column { key: "changed_percent", name: "changed", unit: "% of symbols" },
    Column { key: "sweep_ms", name: "sweeps", unit: "ms" },
    Column { key: "trace_ms", name: "walks", unit: "ms" },
    Column { key: "ms", name: "in all", unit: "ms" },
    Column { key: "gcups", name: "in all", unit: "GCUPS" },
    Column { key: "times_score", name: "times", unit: "the score's" },
    Column { key: "pruned_percent", name: "pruned", unit: "% of cells" },
    Column { key: "runs", name: "runs", unit: "" },
];

/// What is asked for in a row.
#[derive(Clone, Copy)]
struct Case {
    part: &'static str,
    gaps: GapKind,
    size: Size,
    /// Columns of a strip, and how strips follow each other, where they are given.
    strip: Option<(u32, Schedule)>,
    /// `None` for the score alone.
    method: Option<Method>,
    changed: Option<u32>,
    prune: bool,
}

impl Case {
    fn job(&self) -> Result<LongAlignment> {
        let (rows, columns) = self.size;
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

    fn cells(&self, engine: &str, job: &LongAlignment) -> Vec<Cell> {
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

/// What has no meaning in a row is no measurement that is missing.
fn or_blank(value: Option<impl Into<Cell>>) -> Cell {
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

/// The first symbols of a record.
fn first_symbols(store: &Arc<SequenceStore>, count: usize) -> Arc<SequenceStore> {
    let codes = store.codes(0);
    let mut builder = SequenceStore::builder(store.alphabet());
    builder.push_valid(store.name(0), &codes[..count.min(codes.len())]);
    Arc::new(builder.build())
}

/// A table, and who it is filled by.
struct Rows<'a> {
    bed: &'a Bed<'a>,
    table: Table,
}

impl Rows<'_> {
    /// Measures a case and writes its row; seconds, if it was measured. `speed` is cells a second of the engine in cases
    /// of this kind, as far as it is known.
    fn measure(
        &mut self,
        engine: &SharedEngine,
        case: Case,
        score: Option<f64>,
        speed: &mut Option<f64>,
    ) -> Result<Option<f64>> {
        let bed = self.bed;
        bed.check_interrupt()?;
        let job = case.job()?;
        let who = if engine.label() == "CPU" { "cpu" } else { "sw_striped_score" };
        let mut cells = case.cells(who, &job);
        let all = f64::from(job.query.length(0)) * f64::from(job.target.length(0));
        if speed.is_some_and(|speed| all / speed > bed.bench.seconds) {
            self.table.push(Status::Skipped, cells);
            return Ok(None);
        }
        let mut last = LongSummary::default();
        let measured = compiled(bed, engine, &job).and_then(|()| {
            repeat(bed, bed.bench.seconds, || {
                let begin = Instant::now();
                let summary = run_on(bed, engine, &job)?;
                let seconds = begin.elapsed().as_secs_f64();
                // Of the fastest run, as is the time in all.
                if last.seconds == 0.0 || seconds < last.seconds {
                    last = LongSummary { seconds, ..summary };
                }
                Ok(Sample { seconds, kernel_seconds: None, traced: 0 })
            })
        });
        match measured {
            Ok(Timing { seconds, runs, .. }) => {
                *speed = Some(all / seconds.max(1e-9));
                cells.extend([
                    (1e3 * last.sweep_seconds).into(),
                    or_blank(case.method.map(|_| 1e3 * last.trace_seconds)),
                    (1e3 * seconds).into(),
                    Timing::gcups(all as u64, seconds).into(),
                    or_blank(score.map(|score| seconds / score)),
                    or_blank(case.prune.then(|| 100.0 * last.pruned_cells as f64 / last.cells.max(1) as f64)),
                    runs.into(),
                ]);
                self.table.push(Status::Measured, cells);
                Ok(Some(seconds))
            }
            Err(error) => {
                let status = mark(&mut self.table, who, error)?;
                self.table.push(status, cells);
                Ok(None)
            }
        }
    }

    /// Strip widths and schedules (figure 7).
    fn strips(&mut self, gaps: GapKind) -> Result<()> {
        let bed = self.bed;
        let Some(found) = bed.adapter() else { return Ok(()) };
        let shapes: &[(u32, u32)] = if bed.quick { &QUICK_SHAPES } else { &SHAPES };
        for &(columns, lanes) in shapes {
            for schedule in [Schedule::Wavefront, Schedule::Persistent] {
                let strip = columns * lanes;
                bed.say(
                    Experiment::Long,
                    format_args!("{} gaps, strips of {strip} columns, {}", gaps.name(), name_of(schedule)),
                );
                let shape = StripedShape {
                    cells: Some(columns),
                    lanes: Some(lanes),
                    schedule: Some(schedule),
                    ..StripedShape::default()
                };
                let memory = Variant {
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
                let engine = if memory > found.description.workgroup_memory_bytes {
                    Err("more memory than a workgroup has here")
                } else if schedule == Schedule::Persistent && found.is_software() {
                    Err("a software adapter runs few workgroups at a time, so that strips would wait for nothing")
                } else {
                    Ok(SharedEngine::new(Box::new(GpuLong::open(found)?.with_shape(shape))))
                };
                let mut speed = None;
                for size in self.sizes(&STRIP_SIZES) {
                    let case = Case {
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
                            self.table.push(Status::Unsuited, case.cells("sw_striped_score", &case.job()?));
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Scores by length (figure 9), alignments by every method, and what pruning spares.
    fn pairs(&mut self, engine: &SharedEngine, gaps: GapKind) -> Result<()> {
        let say = |what: &str| {
            self.bed.say(Experiment::Long, format_args!("{}, {} gaps, {what}", engine.label(), gaps.name()))
        };
        let case = Case { part: "scores", gaps, size: (0, 0), strip: None, method: None, changed: None, prune: false };
        say("scores");
        let mut speed = None;
        for size in self.sizes(&SCORE_SIZES) {
            self.measure(engine, Case { size, ..case }, None, &mut speed)?;
        }
        say("alignments");
        // Alone, then with each method; each by what it took itself.
        let mut speeds = [speed, None, None, None];
        for size in self.sizes(&ALIGNMENT_SIZES) {
            let case = Case { part: "alignments", size, ..case };
            let score = self.measure(engine, case, None, &mut speeds[0])?;
            for (at, method) in [Method::Striped, Method::Chunked1, Method::Chunked2].into_iter().enumerate() {
                self.measure(engine, Case { method: Some(method), ..case }, score, &mut speeds[at + 1])?;
            }
        }
        say("pruning");
        for percent in CHANGED {
            let mut speeds = [speed, None];
            for size in self.sizes(&ALIGNMENT_SIZES) {
                let case = Case { part: "pruning", size, changed: Some(percent), ..case };
                let score = self.measure(engine, case, None, &mut speeds[0])?;
                self.measure(engine, Case { prune: true, ..case }, score, &mut speeds[1])?;
            }
        }
        Ok(())
    }

    /// From the least: squares of the lengths that were asked for, or the usual ones.
    fn sizes(&self, usual: &[Size]) -> Vec<Size> {
        match &self.bed.bench.lengths {
            Some(_) => self.bed.sizes(&self.bed.bench.lengths, &[], &[]).into_iter().map(|l| (l, l)).collect(),
            None => if self.bed.quick { &QUICK_SIZES } else { usual }.to_vec(),
        }
    }
}

/// Has the pipelines for a job compiled: by its first rows, with as many columns.
fn compiled(bed: &Bed<'_>, engine: &SharedEngine, job: &LongAlignment) -> Result<()> {
    let query = first_symbols(&job.query, FIRST_ROWS);
    let small = LongAlignment { query, ..job.clone() };
    run_on(bed, engine, &small).map(drop)
}

/// Runs a job on one engine alone.
fn run_on(bed: &Bed<'_>, engine: &SharedEngine, job: &LongAlignment) -> Result<LongSummary> {
    let run = Run { interrupt: Arc::clone(&bed.bench.interrupt), ..Run::default() };
    let engines: Vec<Box<dyn LongEngine>> = vec![Box::new(engine.clone())];
    job.run_on(engines.into(), &run, |_| Ok(()))
}

/// Measures one device.
pub(super) fn run(bed: &Bed<'_>) -> Result<Table> {
    let table = bed.table(Experiment::Long, "one pair of very long sequences", &COLUMNS);
    let mut rows = Rows { bed, table };
    let found = bed.adapter().filter(|_| bed.kernels(Family::Long).next().is_some());
    for &gaps in &bed.bench.gaps {
        if let Some(found) = found {
            rows.strips(gaps)?;
            match GpuLong::open(found) {
                Ok(engine) => {
                    let engine = engine.with_pool(Some(Arc::clone(&bed.pool)));
                    rows.pairs(&SharedEngine::new(Box::new(engine)), gaps)?;
                }
                Err(error @ Error::Device { .. }) => {
                    mark(&mut rows.table, "sw_striped_score", error)?;
                }
                Err(error) => return Err(error),
            }
        }
        if bed.has_cpu() {
            rows.pairs(&SharedEngine::new(Box::new(CpuLong::new(bed.bench.threads))), gaps)?;
        }
    }
    let mut table = rows.table;
    describe(bed, &mut table);
    Ok(table)
}

fn describe(bed: &Bed<'_>, table: &mut Table) {
    table.note("GCUPS: 10^9 cells of the whole matrix a second; the best of the runs; local alignments, 2 and -3");
    table.note("gaps of k symbols: linear 5 k, affine 5 + 2 k; walks: from the end of the alignment to its begin");
    table.note("in all: from sequences in memory to the score or the alignment, which is rescored");
    if table.rows.iter().any(|row| row.status == Status::Skipped) {
        table.note(format!("skipped: expected to take more than {} s, by what smaller work took", bed.bench.seconds));
    }
    let lines = ChartKind::Lines { log_x: true, log_y: false };
    for gaps in &bed.bench.gaps {
        for (part, what, x, y, series) in [
            ("strips", "Strip widths", "strip_columns", "gcups", vec!["schedule", "query_symbols"]),
            ("scores", "Scores of long pairs", "target_symbols", "gcups", vec!["engine"]),
            ("alignments", "Alignments of long pairs", "target_symbols", "times_score", vec!["engine", "method"]),
        ] {
            table.charts.push(Chart {
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
