//! Scores of reads against ancestral states (Alachiotis, Berger and Stamatakis 2013): by sites of
//! the reference (table 1), by number of reads (table 2), and for a CPU and a GPU that share the
//! work (table 3).
//!
//! As in the paper, reads have about 100 symbols, and each is scored against 320 vectors.

use std::sync::Arc;
use std::time::Instant;

use super::states::{on_cpu, on_engine, score_sum};
use super::timing::{Rates, Sample, Timing, repeat};
use super::{Experiment, ExperimentContext, error_mark};
use crate::engine::owner::{self, Control};
use crate::engine::{Engine, thread_pool};
use crate::error::{Error, Result};
use crate::gpu::adapter::FoundAdapter;
use crate::gpu::kernels::{Family, Kernel};
use crate::measure::simulate::SEED;
use crate::measure::simulate::states::{self, CHANGED, PhyloComparison};
use crate::measure::table::{ChartKind, MeasurementTable, RowStatus, TableCell, TableChart, TableColumn};
use crate::papara::cpu::phylo_workers;
use crate::papara::gpu::PhyloGpu;
use crate::papara::{OCTET, Phylo, PhyloBatch};
use crate::score::PhyloScheme;
use crate::seq::Alphabet;

/// Numbers of sites for table 1, which cover the range of the paper.
const SITES: [u32; 7] = [500, 1000, 5000, 10_000, 50_000, 100_000, 500_000];
const QUICK_SITES: [u32; 2] = [60, 150];
/// Number of reads of table 1, as in the paper.
const READS: u32 = 1250;
const QUICK_READS: u32 = 20;
/// Numbers of reads for table 2.
const COUNTS: [u32; 6] = [10, 50, 100, 500, 1250, 5000];
const QUICK_COUNTS: [u32; 2] = [4, 20];
/// Number of sites of table 2.
const USUAL_SITES: u32 = 5000;
const QUICK_USUAL_SITES: u32 = 100;
/// Number of vectors of both tables.
const VECTORS: u32 = 320;
const QUICK_VECTORS: u32 = 24;
/// Number of symbols of a read, up to a tenth more or less.
const SYMBOLS: u32 = 100;
/// Maximum target duration of a batch in seconds.
const BATCH_SECONDS: f64 = 0.5;
/// Factor between the numbers of reads of successive trials.
const STEP: u32 = 8;

const COLUMNS: [TableColumn; 10] = [
    TableColumn { key: "by", name: "by", unit: "" },
    TableColumn { key: "sites", name: "sites", unit: "" },
    TableColumn { key: "reads", name: "reads", unit: "" },
    TableColumn { key: "kernel", name: "kernel", unit: "" },
    TableColumn { key: "cells", name: "cells", unit: "" },
    TableColumn { key: "kernel_gcups", name: "in kernels", unit: "GCUPS" },
    TableColumn { key: "gcups", name: "by the clock", unit: "GCUPS" },
    TableColumn { key: "of_sum", name: "of the sum", unit: "" },
    TableColumn { key: "best", name: "best", unit: "" },
    TableColumn { key: "runs", name: "runs", unit: "" },
];

/// The computation of a group of rows.
struct PhyloCase {
    by: &'static str,
    sites: u32,
    reads: u32,
    scores: PhyloComparison,
}

impl PhyloCase {
    fn new(by: &'static str, sites: u32, vectors: u32, reads: u32) -> Self {
        let vectors = Arc::new(states::vectors(Alphabet::Dna, sites, vectors, SEED));
        let store = states::reads(&vectors, reads, SYMBOLS, SEED);
        PhyloCase { by, sites, reads, scores: PhyloComparison::new(&vectors, &store, PhyloScheme::papara()) }
    }

    /// Returns the number of cells of the first reads.
    fn cells(&self, reads: u32) -> u64 {
        self.scores.batch(0..reads).cells()
    }
}

/// A row: its name and duration.
struct PhyloRow {
    who: &'static str,
    is_kernel: bool,
    status: RowStatus,
    timing: Option<Timing>,
    /// Speed of all engines together, as a fraction of the sum of their speeds alone.
    of_sum: Option<f64>,
}

/// An engine that scores, and its known speed.
struct Scorer<'a> {
    /// The kernel on an adapter; `None` for the CPU.
    gpu: Option<PhyloAdapter<'a>>,
    rates: Rates,
}

/// A kernel on an adapter that is opened on demand, because it may be lost.
struct PhyloAdapter<'a> {
    adapter: &'a FoundAdapter,
    kernel: &'static Kernel,
    engine: Option<PhyloGpu>,
}

impl Scorer<'_> {
    fn name(&self) -> &'static str {
        self.gpu.as_ref().map_or("cpu", |gpu| gpu.kernel.stem)
    }

    fn compute(&mut self, context: &ExperimentContext<'_>, batches: &[Arc<PhyloBatch>]) -> Result<Sample> {
        let Some(gpu) = &mut self.gpu else { return on_cpu(&context.pool, &context.bench.interrupt, batches) };
        let mut engine = match gpu.engine.take() {
            Some(engine) => engine,
            None => PhyloGpu::open(gpu.adapter)?.with_kernel(Some(gpu.kernel)),
        };
        let outcome = context.pool.install(|| on_engine(&mut engine, batches));
        // An engine that fails is not used again.
        if !matches!(outcome, Err(Error::Device { .. })) {
            gpu.engine = Some(engine);
        }
        outcome
    }

    /// Returns the number of reads of a batch that takes [`BATCH_SECONDS`] and fits.
    fn batch_reads(&self, case: &PhyloCase, reads: u32) -> u32 {
        let octets = case.scores.batch(0..1).pairs().max(1);
        let most = match self.gpu.as_ref().and_then(|gpu| gpu.engine.as_ref()) {
            Some(engine) => engine.capacity().pairs / octets,
            None => u64::MAX,
        };
        let rate = self.rates.expected(case.sites, reads.into());
        let by_rate = rate.map_or(u64::from(reads), |rate| (rate * BATCH_SECONDS / case.cells(1) as f64) as u64);
        by_rate.min(most).clamp(1, reads.into()) as u32
    }

    /// Measures a case. Returns `None` if it would exceed the time of a row. If similar numbers of
    /// reads were not measured yet, measures smaller numbers first.
    fn measure(&mut self, context: &ExperimentContext<'_>, case: &PhyloCase) -> Result<Option<Timing>> {
        let most = context.bench.seconds;
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
        // Compiles the kernel and uploads the vectors before the clock starts.
        self.compute(context, &case.scores.batches(1, 1))?;
        for reads in steps {
            context.check_interrupt()?;
            if is_long(&self.rates, reads, reads) {
                return Ok(None);
            }
            let batches = case.scores.batches(reads, self.batch_reads(case, reads));
            let seconds = self.compute(context, &batches)?.best().max(1e-9);
            self.rates.add(case.sites, reads.into(), case.cells(reads) as f64 / seconds, reads.into());
        }
        if is_long(&self.rates, case.reads, case.reads) {
            return Ok(None);
        }
        let batches = case.scores.batches(case.reads, self.batch_reads(case, case.reads));
        let timing = repeat(context, most, || self.compute(context, &batches))?;
        let rate = case.cells(case.reads) as f64 / timing.best().max(1e-9);
        self.rates.add(case.sites, case.reads.into(), rate, case.reads.into());
        Ok(Some(timing))
    }
}

/// Measures the kernels of one device, and the CPU.
pub(super) fn run(context: &ExperimentContext<'_>) -> Result<MeasurementTable> {
    let mut table = context.table(Experiment::Papara, "scores of reads against ancestral states", &COLUMNS);
    let (vectors, usual_sites, usual_reads) = match context.quick {
        true => (QUICK_VECTORS, QUICK_USUAL_SITES, QUICK_READS),
        false => (VECTORS, USUAL_SITES, READS),
    };
    let mut scorers: Vec<Scorer<'_>> = Vec::new();
    if let Some(adapter) = context.adapter() {
        let gpu = |kernel| PhyloAdapter { adapter, kernel, engine: None };
        scorers.extend(
            context.kernels(Family::Phylo).map(|kernel| Scorer { gpu: Some(gpu(kernel)), rates: Rates::default() }),
        );
    }
    let has_gpu = !scorers.is_empty();
    if context.has_cpu() {
        scorers.push(Scorer { gpu: None, rates: Rates::default() });
    }
    let by_sites = context
        .sizes(&context.bench.lengths, &SITES, &QUICK_SITES)
        .into_iter()
        .map(|sites| ("sites", sites, usual_reads));
    let by_reads = context
        .sizes(&context.bench.counts, &COUNTS, &QUICK_COUNTS)
        .into_iter()
        .map(|reads| ("reads", usual_sites, reads));
    for (by, sites, reads) in by_sites.chain(by_reads) {
        context.check_interrupt()?;
        let case = PhyloCase::new(by, sites, vectors, reads);
        let mut rows = Vec::new();
        for scorer in &mut scorers {
            context
                .report_progress(Experiment::Papara, format_args!("{sites} sites, {reads} reads, {}", scorer.name()));
            let (status, timing) = match scorer.measure(context, &case) {
                Ok(Some(timing)) => (RowStatus::Measured, Some(timing)),
                Ok(None) => (RowStatus::Skipped, None),
                Err(error) => (error_mark(&mut table, scorer.name(), error)?, None),
            };
            let (who, is_kernel) = (scorer.name(), scorer.gpu.is_some());
            rows.push(PhyloRow { who, is_kernel, status, timing, of_sum: None });
        }
        if has_gpu && context.has_cpu() {
            context.report_progress(Experiment::Papara, format_args!("{sites} sites, {reads} reads, together"));
            let row = measure_together(context, &mut table, &case, &rows)?;
            rows.push(row);
        }
        push(&mut table, &case, &rows);
    }
    describe(context, &mut table, vectors, has_gpu);
    Ok(table)
}

/// Measures the GPU, with the kernel that it chooses, together with all CPU threads, as in a job.
fn measure_together(
    context: &ExperimentContext<'_>,
    table: &mut MeasurementTable,
    case: &PhyloCase,
    rows: &[PhyloRow],
) -> Result<PhyloRow> {
    let mut row =
        PhyloRow { who: "together", is_kernel: false, status: RowStatus::Skipped, timing: None, of_sum: None };
    let rate = |row: &PhyloRow| row.timing.map(|timing| 1.0 / timing.seconds.max(1e-9));
    let fastest = rows.iter().filter(|row| row.is_kernel).filter_map(rate).max_by(f64::total_cmp);
    let cpu = rows.iter().filter(|row| !row.is_kernel).find_map(rate);
    let (Some(adapter), Some(gpu), Some(cpu)) = (context.adapter(), fastest, cpu) else { return Ok(row) };
    let kernels: Vec<&'static Kernel> = context.kernels(Family::Phylo).collect();
    let kernel = if let [one] = kernels[..] { Some(one) } else { None };
    match repeat(context, context.bench.seconds, || job(context, adapter, kernel, case)) {
        Ok(timing) => {
            row.status = RowStatus::Measured;
            row.of_sum = Some(1.0 / timing.seconds.max(1e-9) / (gpu + cpu));
            row.timing = Some(timing);
        }
        Err(error) => row.status = error_mark(table, row.who, error)?,
    }
    Ok(row)
}

/// Computes a case on a GPU and CPU threads that share one queue.
fn job(
    context: &ExperimentContext<'_>,
    adapter: &FoundAdapter,
    kernel: Option<&'static Kernel>,
    case: &PhyloCase,
) -> Result<Sample> {
    let mut gpu = PhyloGpu::open(adapter)?.with_kernel(kernel);
    // Compiles the kernel and uploads the vectors before the clock starts.
    on_engine(&mut gpu, &case.scores.batches(1, 1))?;
    let interrupt = &context.bench.interrupt;
    let workers = || phylo_workers(context.pool.current_num_threads(), interrupt);
    let mut engines: Vec<Box<dyn Engine<Phylo>>> = vec![Box::new(gpu)];
    engines.extend(workers());
    let whole = case.scores.batch(0..case.reads);
    let blocks = whole.blocks.iter().map(|block| ((), block.clone())).collect();
    let chunks = std::iter::once((0..case.reads, Arc::clone(&whole.chunk), blocks));
    let pool = Some(thread_pool(context.bench.threads)?);
    let control = Control { interrupt: Arc::clone(interrupt), pool, ..Control::default() };
    let started = Instant::now();
    let (mut pairs, mut sum) = (0, 0i64);
    let ran = owner::run(engines, workers, chunks, whole.cells(), &control, |outcome| {
        pairs += outcome.pairs;
        sum = sum.wrapping_add(score_sum(&outcome.report));
        Ok(())
    })?;
    let seconds = started.elapsed().as_secs_f64();
    std::hint::black_box(sum);
    // A job continues without an engine that fails. A measurement of that engine must not.
    if let Some((name, message)) =
        ran.engines.iter().find_map(|engine| engine.lost.as_ref().map(|lost| (&engine.name, lost)))
    {
        return Err(Error::Device { device: name.clone(), message: message.clone() });
    }
    match pairs == whole.pairs() {
        true => Ok(Sample { seconds, kernel_seconds: None, traced: 0 }),
        false => Err(Error::Internal(format!("{pairs} of {} octets came back", whole.pairs()))),
    }
}

/// Adds the rows of one case and marks the fastest kernel.
fn push(table: &mut MeasurementTable, case: &PhyloCase, rows: &[PhyloRow]) {
    let of_kernels = rows.iter().enumerate().filter(|(_, row)| row.is_kernel);
    let timed = of_kernels.filter_map(|(index, row)| Some((index, row.timing?.best())));
    let best = timed.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(index, _)| index);
    let cells = case.cells(case.reads);
    for (index, row) in rows.iter().enumerate() {
        let gcups =
            |of: fn(&Timing) -> Option<f64>| row.timing.and_then(|timing| Some(Timing::gcups(cells, of(&timing)?)));
        // Only the combined row is compared with the sum of the engines' speeds. It has no kernel
        // time.
        let is_together = !row.is_kernel && row.who != "cpu";
        let in_kernels = || gcups(|timing| timing.kernel_seconds).into();
        let values = vec![
            case.by.into(),
            case.sites.into(),
            case.reads.into(),
            row.who.into(),
            cells.into(),
            if is_together { "".into() } else { in_kernels() },
            gcups(|timing| Some(timing.seconds)).into(),
            if is_together { row.of_sum.into() } else { TableCell::from("") },
            if best == Some(index) { "yes" } else { "" }.into(),
            row.timing.map(|timing| timing.runs).into(),
        ];
        table.push(row.status, values);
    }
}

fn describe(context: &ExperimentContext<'_>, table: &mut MeasurementTable, vectors: u32, has_gpu: bool) {
    table.note("GCUPS: 10^9 cells of whole matrices per second; fastest run");
    table.note(format!(
        "{vectors} random vectors; reads of {SYMBOLS} symbols, a tenth more or less, each of a vector with one symbol in {CHANGED} changed"
    ));
    if has_gpu {
        table.note("kernels: by the clock is from the submission of reads to their scores, with vectors on the device");
        table.note("best: the fastest kernel");
    }
    if context.has_cpu() {
        table.note("cpu: the time in kernels is the mean of its threads");
    }
    if has_gpu && context.has_cpu() {
        table.note(
            "together: the GPU, with the kernel that it chooses, and all threads of the CPU take reads from one queue",
        );
        table.note("of the sum: speed as a fraction of the sum of the fastest kernel and the CPU, each measured alone");
    }
    if table.rows.iter().any(|row| row.status == RowStatus::Skipped) {
        table.note(format!(
            "skipped: expected to take more than {} s, estimated from fewer cells",
            context.bench.seconds
        ));
    }
    for (by, title) in [("sites", "by sites"), ("reads", "by reads")] {
        for (y, what) in [("kernel_gcups", "in kernels"), ("gcups", "by the clock")] {
            table.charts.push(TableChart {
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
