//! Scores of reads against ancestral states (Alachiotis, Berger and Stamatakis 2013): by sites of the reference (table 1), by
//! number of reads (table 2), and of the CPU and a GPU that share the work (table 3).
//!
//! As there, reads have about 100 symbols, and each is scored against 320 vectors.

use std::sync::Arc;
use std::time::Instant;

use super::states::{on_cpu, on_engine, sum_of};
use super::timing::{Rates, Sample, Timing, repeat};
use super::{Bed, Experiment, mark};
use crate::engine::owner::{self, Control};
use crate::engine::{Engine, thread_pool};
use crate::error::{Error, Result};
use crate::gpu::adapter::FoundAdapter;
use crate::gpu::kernels::{Family, Kernel};
use crate::measure::simulate::SEED;
use crate::measure::simulate::states::{self, CHANGED, Scores};
use crate::measure::table::{Cell, Chart, ChartKind, Column, Status, Table};
use crate::papara::cpu::phylo_workers;
use crate::papara::gpu::PhyloGpu;
use crate::papara::{OCTET, Phylo, PhyloBatch};
use crate::score::PhyloScheme;
use crate::seq::Alphabet;

/// Sites of table 1, in whose range the paper's are, and its number of reads.
const SITES: [u32; 7] = [500, 1000, 5000, 10_000, 50_000, 100_000, 500_000];
const QUICK_SITES: [u32; 2] = [60, 150];
const READS: u32 = 1250;
const QUICK_READS: u32 = 20;
/// Numbers of reads of table 2, and its sites.
const COUNTS: [u32; 6] = [10, 50, 100, 500, 1250, 5000];
const QUICK_COUNTS: [u32; 2] = [4, 20];
const USUAL_SITES: u32 = 5000;
const QUICK_USUAL_SITES: u32 = 100;
/// Vectors of both.
const VECTORS: u32 = 320;
const QUICK_VECTORS: u32 = 24;
/// Symbols of a read, a tenth more or less.
const SYMBOLS: u32 = 100;
/// Seconds that a batch should take at most.
const BATCH_SECONDS: f64 = 0.5;
/// Fewer reads that are tried first are so many times as few.
const STEP: u32 = 8;

const COLUMNS: [Column; 10] = [
    Column { key: "by", name: "by", unit: "" },
    Column { key: "sites", name: "sites", unit: "" },
    Column { key: "reads", name: "reads", unit: "" },
    Column { key: "kernel", name: "kernel", unit: "" },
    Column { key: "cells", name: "cells", unit: "" },
    Column { key: "kernel_gcups", name: "in kernels", unit: "GCUPS" },
    Column { key: "gcups", name: "by the clock", unit: "GCUPS" },
    Column { key: "of_sum", name: "of the sum", unit: "" },
    Column { key: "best", name: "best", unit: "" },
    Column { key: "runs", name: "runs", unit: "" },
];

/// What a row is of.
struct Case {
    by: &'static str,
    sites: u32,
    reads: u32,
    scores: Scores,
}

impl Case {
    fn new(by: &'static str, sites: u32, vectors: u32, reads: u32) -> Self {
        let vectors = Arc::new(states::vectors(Alphabet::Dna, sites, vectors, SEED));
        let store = states::reads(&vectors, reads, SYMBOLS, SEED);
        Case { by, sites, reads, scores: Scores::new(&vectors, &store, PhyloScheme::papara()) }
    }

    /// The cells of the first reads.
    fn cells(&self, reads: u32) -> u64 {
        self.scores.batch(0..reads).cells()
    }
}

/// A row: who, and how long it took.
struct Line {
    who: &'static str,
    is_kernel: bool,
    status: Status,
    timing: Option<Timing>,
    /// Of all together: cells a second, as a part of what each alone computes.
    of_sum: Option<f64>,
}

/// Who scores, and what is known of its speed.
struct Scorer<'a> {
    /// `None` for the CPU.
    gpu: Option<Gpu<'a>>,
    rates: Rates,
}

/// A kernel on an adapter, opened when it is needed: it may be lost.
struct Gpu<'a> {
    found: &'a FoundAdapter,
    kernel: &'static Kernel,
    engine: Option<PhyloGpu>,
}

impl Scorer<'_> {
    fn name(&self) -> &'static str {
        self.gpu.as_ref().map_or("cpu", |gpu| gpu.kernel.stem)
    }

    fn compute(&mut self, bed: &Bed<'_>, batches: &[Arc<PhyloBatch>]) -> Result<Sample> {
        let Some(gpu) = &mut self.gpu else { return on_cpu(&bed.pool, &bed.bench.interrupt, batches) };
        let mut engine = match gpu.engine.take() {
            Some(engine) => engine,
            None => PhyloGpu::open(gpu.found)?.with_kernel(Some(gpu.kernel)),
        };
        let outcome = bed.pool.install(|| on_engine(&mut engine, batches));
        // One that fails is not used again.
        if !matches!(outcome, Err(Error::Device { .. })) {
            gpu.engine = Some(engine);
        }
        outcome
    }

    /// Reads of a batch: as many as take [`BATCH_SECONDS`], and fit.
    fn batch_reads(&self, case: &Case, reads: u32) -> u32 {
        let octets = case.scores.batch(0..1).pairs().max(1);
        let most = match self.gpu.as_ref().and_then(|gpu| gpu.engine.as_ref()) {
            Some(engine) => engine.capacity().pairs / octets,
            None => u64::MAX,
        };
        let rate = self.rates.expected(case.sites, reads.into());
        let by_rate = rate.map_or(u64::from(reads), |rate| (rate * BATCH_SECONDS / case.cells(1) as f64) as u64);
        by_rate.min(most).clamp(1, reads.into()) as u32
    }

    /// Measures a case; `None` if it would take longer than a row may. Where nothing is known of nearly as many reads, fewer
    /// are tried first.
    fn measure(&mut self, bed: &Bed<'_>, case: &Case) -> Result<Option<Timing>> {
        let most = bed.bench.seconds;
        let fewer = std::iter::successors(Some(case.reads / STEP), |reads| Some(reads / STEP));
        let mut steps: Vec<u32> = fewer.take_while(|&reads| reads > 0).collect();
        steps.reverse();
        let is_long = |rates: &Rates, reads: u32, of: u32| {
            let rate = rates.expected(case.sites, of.into());
            rate.is_some_and(|rate| case.cells(reads) as f64 / rate > most)
        };
        if is_long(&self.rates, 1, steps.first().copied().unwrap_or(case.reads)) {
            return Ok(None);
        }
        // Compiled, and vectors uploaded, before the clock runs.
        self.compute(bed, &case.scores.batches(1, 1))?;
        for reads in steps {
            bed.check_interrupt()?;
            if is_long(&self.rates, reads, reads) {
                return Ok(None);
            }
            let batches = case.scores.batches(reads, self.batch_reads(case, reads));
            let seconds = self.compute(bed, &batches)?.best().max(1e-9);
            self.rates.add(case.sites, reads.into(), case.cells(reads) as f64 / seconds, reads.into());
        }
        if is_long(&self.rates, case.reads, case.reads) {
            return Ok(None);
        }
        let batches = case.scores.batches(case.reads, self.batch_reads(case, case.reads));
        let timing = repeat(bed, most, || self.compute(bed, &batches))?;
        let rate = case.cells(case.reads) as f64 / timing.best().max(1e-9);
        self.rates.add(case.sites, case.reads.into(), rate, case.reads.into());
        Ok(Some(timing))
    }
}

/// Measures the kernels of one device, and the CPU.
pub(super) fn run(bed: &Bed<'_>) -> Result<Table> {
    let mut table = bed.table(Experiment::Papara, "scores of reads against ancestral states", &COLUMNS);
    let (vectors, usual_sites, usual_reads) = match bed.quick {
        true => (QUICK_VECTORS, QUICK_USUAL_SITES, QUICK_READS),
        false => (VECTORS, USUAL_SITES, READS),
    };
    let mut scorers: Vec<Scorer<'_>> = Vec::new();
    if let Some(found) = bed.adapter() {
        let gpu = |kernel| Gpu { found, kernel, engine: None };
        scorers.extend(
            bed.kernels(Family::Phylo).map(|kernel| Scorer { gpu: Some(gpu(kernel)), rates: Rates::default() }),
        );
    }
    let has_gpu = !scorers.is_empty();
    if bed.has_cpu() {
        scorers.push(Scorer { gpu: None, rates: Rates::default() });
    }
    let by_sites =
        bed.sizes(&bed.bench.lengths, &SITES, &QUICK_SITES).into_iter().map(|sites| ("sites", sites, usual_reads));
    let by_reads =
        bed.sizes(&bed.bench.counts, &COUNTS, &QUICK_COUNTS).into_iter().map(|reads| ("reads", usual_sites, reads));
    for (by, sites, reads) in by_sites.chain(by_reads) {
        bed.check_interrupt()?;
        let case = Case::new(by, sites, vectors, reads);
        let mut lines = Vec::new();
        for scorer in &mut scorers {
            bed.say(Experiment::Papara, format_args!("{sites} sites, {reads} reads, {}", scorer.name()));
            let (status, timing) = match scorer.measure(bed, &case) {
                Ok(Some(timing)) => (Status::Measured, Some(timing)),
                Ok(None) => (Status::Skipped, None),
                Err(error) => (mark(&mut table, scorer.name(), error)?, None),
            };
            let (who, is_kernel) = (scorer.name(), scorer.gpu.is_some());
            lines.push(Line { who, is_kernel, status, timing, of_sum: None });
        }
        if has_gpu && bed.has_cpu() {
            bed.say(Experiment::Papara, format_args!("{sites} sites, {reads} reads, together"));
            let line = together(bed, &mut table, &case, &lines)?;
            lines.push(line);
        }
        push(&mut table, &case, &lines);
    }
    describe(bed, &mut table, vectors, has_gpu);
    Ok(table)
}

/// Measures the GPU, by the kernel that it chooses, and all threads of the CPU at once, as they work in a job.
fn together(bed: &Bed<'_>, table: &mut Table, case: &Case, lines: &[Line]) -> Result<Line> {
    let mut line = Line { who: "together", is_kernel: false, status: Status::Skipped, timing: None, of_sum: None };
    let rate = |line: &Line| line.timing.map(|timing| 1.0 / timing.seconds.max(1e-9));
    let fastest = lines.iter().filter(|line| line.is_kernel).filter_map(rate).max_by(f64::total_cmp);
    let cpu = lines.iter().filter(|line| !line.is_kernel).find_map(rate);
    let (Some(found), Some(gpu), Some(cpu)) = (bed.adapter(), fastest, cpu) else { return Ok(line) };
    let kernels: Vec<&'static Kernel> = bed.kernels(Family::Phylo).collect();
    let kernel = if let [one] = kernels[..] { Some(one) } else { None };
    match repeat(bed, bed.bench.seconds, || job(bed, found, kernel, case)) {
        Ok(timing) => {
            line.status = Status::Measured;
            line.of_sum = Some(1.0 / timing.seconds.max(1e-9) / (gpu + cpu));
            line.timing = Some(timing);
        }
        Err(error) => line.status = mark(table, line.who, error)?,
    }
    Ok(line)
}

/// A case by a GPU and the threads of the CPU, which take reads from one queue.
fn job(bed: &Bed<'_>, found: &FoundAdapter, kernel: Option<&'static Kernel>, case: &Case) -> Result<Sample> {
    let mut gpu = PhyloGpu::open(found)?.with_kernel(kernel);
    // Compiled, and vectors uploaded, before the clock runs.
    on_engine(&mut gpu, &case.scores.batches(1, 1))?;
    let interrupt = &bed.bench.interrupt;
    let workers = || phylo_workers(bed.pool.current_num_threads(), interrupt);
    let mut engines: Vec<Box<dyn Engine<Phylo>>> = vec![Box::new(gpu)];
    engines.extend(workers());
    let whole = case.scores.batch(0..case.reads);
    let blocks = whole.blocks.iter().map(|block| ((), block.clone())).collect();
    let chunks = std::iter::once((0..case.reads, Arc::clone(&whole.chunk), blocks));
    let pool = Some(thread_pool(bed.bench.threads)?);
    let control = Control { interrupt: Arc::clone(interrupt), pool, ..Control::default() };
    let begin = Instant::now();
    let (mut pairs, mut sum) = (0, 0i64);
    let ran = owner::run(engines, workers, chunks, whole.cells(), &control, |outcome| {
        pairs += outcome.pairs;
        sum = sum.wrapping_add(sum_of(&outcome.report));
        Ok(())
    })?;
    let seconds = begin.elapsed().as_secs_f64();
    std::hint::black_box(sum);
    // A job goes on without an engine that fails; a measurement of it does not.
    if let Some((name, message)) = ran.engines.iter().find_map(|own| own.lost.as_ref().map(|lost| (&own.name, lost))) {
        return Err(Error::Device { device: name.clone(), message: message.clone() });
    }
    match pairs == whole.pairs() {
        true => Ok(Sample { seconds, kernel_seconds: None, traced: 0 }),
        false => Err(Error::Internal(format!("{pairs} of {} octets came back", whole.pairs()))),
    }
}

/// Adds the rows of one case, the fastest kernel marked.
fn push(table: &mut Table, case: &Case, lines: &[Line]) {
    let of_kernels = lines.iter().enumerate().filter(|(_, line)| line.is_kernel);
    let timed = of_kernels.filter_map(|(index, line)| Some((index, line.timing?.best())));
    let best = timed.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(index, _)| index);
    let cells = case.cells(case.reads);
    for (index, line) in lines.iter().enumerate() {
        let gcups = |of: fn(&Timing) -> Option<f64>| line.timing.and_then(|own| Some(Timing::gcups(cells, of(&own)?)));
        // Those that work together have no time in kernels of their own, and only they are compared with a sum.
        let is_together = !line.is_kernel && line.who != "cpu";
        let in_kernels = || gcups(|timing| timing.kernel_seconds).into();
        let values = vec![
            case.by.into(),
            case.sites.into(),
            case.reads.into(),
            line.who.into(),
            cells.into(),
            if is_together { "".into() } else { in_kernels() },
            gcups(|timing| Some(timing.seconds)).into(),
            if is_together { line.of_sum.into() } else { Cell::from("") },
            if best == Some(index) { "yes" } else { "" }.into(),
            line.timing.map(|timing| timing.runs).into(),
        ];
        table.push(line.status, values);
    }
}

fn describe(bed: &Bed<'_>, table: &mut Table, vectors: u32, has_gpu: bool) {
    table.note("GCUPS: 10^9 cells of whole matrices a second; the best of the runs");
    table.note(format!(
        "{vectors} random vectors; reads of {SYMBOLS} symbols, a tenth more or less, each of a vector with one symbol in {CHANGED} changed"
    ));
    if has_gpu {
        table.note("kernels: by the clock is from handing reads in to having their scores; vectors are on the device");
        table.note("best: the fastest of them in the kernel");
    }
    if bed.has_cpu() {
        table.note("cpu: in kernels is the mean of its threads");
    }
    if has_gpu && bed.has_cpu() {
        table.note(
            "together: the GPU, by the kernel that it chooses, and all threads of the CPU take reads from one queue",
        );
        table.note(
            "of the sum: what they reach of the speeds by the clock of the fastest kernel and of the CPU, each alone",
        );
    }
    if table.rows.iter().any(|row| row.status == Status::Skipped) {
        table.note(format!("skipped: expected to take more than {} s, by what fewer cells took", bed.bench.seconds));
    }
    for (by, title) in [("sites", "by sites"), ("reads", "by reads")] {
        for (y, what) in [("kernel_gcups", "in kernels"), ("gcups", "by the clock")] {
            table.charts.push(Chart {
                title: format!("Scores of reads {title}, {what}"),
                kind: ChartKind::Lines { log_x: true, log_y: true },
                x: by,
                y,
                series: vec!["kernel"],
                only: vec![("by", by.into())],
            });
        }
    }
}

const _: () =
    assert!(VECTORS.is_multiple_of(OCTET as u32) && QUICK_VECTORS.is_multiple_of(OCTET as u32), "octets are full");
