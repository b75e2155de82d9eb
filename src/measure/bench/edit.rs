//! Kernels for Levenshtein distances (Chacon et al. 2014, section 4): by length of patterns (figures 4 and 7), by words
//! of a pattern that a lane keeps (figures 8 and 9), and what is left of their speed end to end.
//!
//! As there, a read is compared with 20 regions of a genome, wide enough for an error rate of 0.2.

use std::sync::Arc;

use super::reads::{BatchSeconds, Sizes, on_cpu, on_engine};
use super::timing::{Timing, repeat};
use super::{Bed, Experiment, mark};
use crate::edit::gpu::{EditGpu, EditShape};
use crate::edit::kernels::myers::LaneGrouping;
use crate::edit::{EditBatch, words};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::gpu::adapter::FoundAdapter;
use crate::gpu::kernels::{Family, Kernel};
use crate::measure::simulate::SEED;
use crate::measure::simulate::reads::{CANDIDATES, CHANGED, Reads, genome};
use crate::measure::table::{Cell, Chart, ChartKind, Column, Status, Table};
use crate::score::{EditMode, Limit};
use crate::seq::SequenceStore;

/// Lengths of reads, those of the paper and long ones.
const LENGTHS: [u32; 7] = [100, 200, 400, 600, 800, 1000, 10_000];
const QUICK_LENGTHS: [u32; 2] = [40, 100];
/// Symbols of the genome: packed, more than a device's caches hold.
const GENOME: u32 = 1 << 28;
const QUICK_GENOME: u32 = 1 << 16;
/// Pairs of a batch at most.
const MAX_PAIRS: u64 = 8 << 20;
/// Seconds that a batch should take on a GPU.
const FULL_SECONDS: f64 = 0.1;
/// The same on the CPU, whose threads end at different times.
const FULL_CPU_SECONDS: f64 = 0.25;
/// Lanes of a pair at most.
const MAX_LANES: u32 = 32;
/// Words that a lane keeps at most: beyond, registers are too few.
const MAX_WORDS: u32 = 24;
/// Batches of the row end to end.
const BATCHES: usize = 6;

const COLUMNS: [Column; 11] = [
    Column { key: "mode", name: "mode", unit: "" },
    Column { key: "length_symbols", name: "length", unit: "symbols" },
    Column { key: "kernel", name: "kernel", unit: "" },
    Column { key: "lanes", name: "lanes", unit: "a pair" },
    Column { key: "words", name: "words", unit: "a lane" },
    Column { key: "pairs", name: "pairs", unit: "" },
    Column { key: "kernel_tcups", name: "in kernels", unit: "TCUPS" },
    Column { key: "tcups", name: "by the clock", unit: "TCUPS" },
    Column { key: "pairs_per_second", name: "by the clock", unit: "pairs/s" },
    Column { key: "best", name: "best", unit: "" },
    Column { key: "runs", name: "runs", unit: "" },
];

/// What is computed.
#[derive(Clone, Copy)]
struct Case {
    name: &'static str,
    mode: EditMode,
    limit: Limit,
}

const CASES: [Case; 3] = [
    Case { name: "infix", mode: EditMode::Infix, limit: Limit::None },
    Case { name: "within", mode: EditMode::Infix, limit: Limit::Rate(0.1) },
    Case { name: "global", mode: EditMode::Global, limit: Limit::Rate(0.1) },
];

impl Case {
    fn reads(&self, genome: &Arc<SequenceStore>, length: u32) -> Reads {
        Reads::new(genome, self.mode, self.limit, length)
    }

    /// Whether kernels are measured by themselves: what a limit leaves to be sent back is not their time.
    fn has_kernels(&self) -> bool {
        self.mode == EditMode::Global || matches!(self.limit, Limit::None)
    }

    /// Whether a kernel is measured here: bands of diagonals where there are some, the others where whole matrices are
    /// computed.
    fn has(&self, kernel: &Kernel) -> bool {
        (kernel.lane_grouping() == Some(LaneGrouping::Band)) == (self.mode == EditMode::Global)
    }
}

/// A kernel with its sizes.
#[derive(Clone, Copy)]
struct Setting {
    kernel: &'static Kernel,
    lanes: u32,
    words: u32,
}

/// A row: who, lanes and words if that is a kernel, pairs and their cells, and how long they took.
struct Line {
    who: &'static str,
    setting: Option<Setting>,
    work: Option<(u64, u64)>,
    status: Status,
    timing: Option<Timing>,
}

/// Measures the kernels of one device.
pub(super) fn run(bed: &Bed<'_>) -> Result<Table> {
    let mut table = bed.table(Experiment::Edit, "distances of reads to regions of a genome", &COLUMNS);
    let lengths = bed.sizes(&bed.bench.lengths, &LENGTHS, &QUICK_LENGTHS);
    let longest = lengths.iter().max().map_or(0, |&length| Reads::region_symbols(EditMode::Infix, length));
    let symbols = if bed.quick { QUICK_GENOME } else { GENOME }.max(2 * longest);
    let genome = genome(symbols as usize, SEED);
    let mut gpu = bed.adapter().map(|found| Gpu { found, pool: &bed.pool, engine: None });
    for case in CASES {
        let [mut gpu_sizes, mut cpu_sizes] = [Sizes::default(), Sizes::default()];
        for &length in &lengths {
            let reads = case.reads(&genome, length);
            let mut lines = Vec::new();
            if let Some(gpu) = &mut gpu {
                bed.say(Experiment::Edit, format_args!("{}, {length} symbols", case.name));
                on_gpu(bed, &mut table, gpu, &mut gpu_sizes, &case, &reads, &mut lines)?;
            }
            if bed.has_cpu() {
                bed.say(Experiment::Edit, format_args!("{}, {length} symbols, cpu", case.name));
                lines.push(cpu(bed, &mut table, &mut cpu_sizes, &reads)?);
            }
            push(&mut table, &case, length, &lines);
        }
    }
    describe(bed, &mut table, symbols);
    Ok(table)
}

/// An adapter, opened when it is needed: it may be lost.
struct Gpu<'a> {
    found: &'a FoundAdapter,
    pool: &'a Arc<rayon::ThreadPool>,
    engine: Option<EditGpu>,
}

impl Gpu<'_> {
    /// Has the engine, with a kernel or the one that it chooses, do something. One that fails is not used again.
    fn with<T>(
        &mut self,
        kernel: Option<&'static Kernel>,
        setting: Option<Setting>,
        work: impl FnOnce(&mut EditGpu) -> Result<T>,
    ) -> Result<T> {
        let mut engine = match self.engine.take() {
            Some(engine) => engine,
            None => EditGpu::open(self.found)?.with_pool(Arc::clone(self.pool)),
        };
        let mut shape = engine.shape();
        if let Some(setting) = setting {
            shape.lanes = Some(setting.lanes);
            (shape.subgroup_words, shape.workgroup_words) = (setting.words, setting.words);
        }
        engine = engine.with_kernel(kernel).with_shape(shape);
        let outcome = work(&mut engine);
        if !matches!(outcome, Err(Error::Device { .. })) {
            self.engine = Some(engine);
        }
        outcome
    }
}

/// Measures every setting of the kernels, and the device end to end.
fn on_gpu(
    bed: &Bed<'_>,
    table: &mut Table,
    gpu: &mut Gpu<'_>,
    sizes: &mut Sizes,
    case: &Case,
    reads: &Reads,
    lines: &mut Vec<Line>,
) -> Result<()> {
    let kernels: Vec<&'static Kernel> = bed.kernels(Family::Edit).filter(|kernel| case.has(kernel)).collect();
    if kernels.is_empty() {
        return Ok(());
    }
    // Where one kernel alone is to be measured, so it is end to end.
    let alone = if bed.kernels(Family::Edit).count() == 1 { kernels.first().copied() } else { None };
    // So that the batches of the row end to end do not take longer than it may.
    let most = bed.bench.seconds / BATCHES as f64;
    let filled = gpu.with(alone, None, |engine| {
        let limit = MAX_PAIRS.min(engine.capacity().pairs);
        let limit = (limit / u64::from(CANDIDATES)).max(1) as u32;
        sizes.fill(bed, reads, 1..=limit, BatchSeconds { full: FULL_SECONDS, most }, |batch| {
            on_engine(&bed.pool, engine, std::slice::from_ref(batch))
        })
    });
    let (status, batch) = match filled {
        Ok(Some(batch)) => (Status::Measured, Some(batch)),
        Ok(None) => (Status::Skipped, None),
        Err(error) => (mark(table, "end to end", error)?, None),
    };
    let shape = gpu.with(alone, None, |engine| Ok(engine.shape()))?;
    let small = reads.batch(1, SEED);
    let by_themselves = kernels.into_iter().filter(|_| case.has_kernels());
    for setting in by_themselves.flat_map(|kernel| settings(kernel, reads, &shape)) {
        bed.check_interrupt()?;
        let mut line = Line { who: setting.kernel.stem, setting: Some(setting), work: None, status, timing: None };
        if let Some(batch) = &batch {
            let outcome = gpu.with(Some(setting.kernel), Some(setting), |engine| {
                // Compiled before the clock runs.
                on_engine(&bed.pool, engine, std::slice::from_ref(&small))?;
                let batch = std::slice::from_ref(batch);
                repeat(bed, bed.bench.seconds, || on_engine(&bed.pool, engine, batch))
            });
            line.work = Some((batch.pairs(), batch.cells()));
            match outcome {
                Ok(timing) => line.timing = Some(timing),
                Err(error) => line.status = mark(table, line.who, error)?,
            }
        }
        lines.push(line);
    }
    let mut line = Line { who: "end to end", setting: None, work: None, status, timing: None };
    if let Some(batch) = batch {
        // Reads that are not those of the batch before.
        let other = reads.batch(batch.blocks.len() as u32, SEED ^ 1);
        let batches: Vec<Arc<EditBatch>> = [batch, other].into_iter().cycle().take(BATCHES).collect();
        let sum = |of: fn(&EditBatch) -> u64| batches.iter().map(|batch| of(batch)).sum();
        line.work = Some((sum(EditBatch::pairs), sum(EditBatch::cells)));
        match gpu.with(alone, None, |engine| repeat(bed, bed.bench.seconds, || on_engine(&bed.pool, engine, &batches)))
        {
            Ok(timing) => line.timing = Some(timing),
            Err(error) => line.status = mark(table, line.who, error)?,
        }
    }
    lines.push(line);
    Ok(())
}

/// Measures all threads of the CPU.
fn cpu(bed: &Bed<'_>, table: &mut Table, sizes: &mut Sizes, reads: &Reads) -> Result<Line> {
    let compute = |batch: &Arc<EditBatch>| on_cpu(&bed.pool, &bed.bench.interrupt, batch);
    // Reads for every thread.
    let threads = bed.pool.current_num_threads() as u32;
    let most = (MAX_PAIRS as u32 / CANDIDATES).max(threads);
    let mut line = Line { who: "cpu", setting: None, work: None, status: Status::Measured, timing: None };
    let seconds = BatchSeconds { full: FULL_CPU_SECONDS, most: bed.bench.seconds };
    let outcome = sizes.fill(bed, reads, threads..=most, seconds, compute).and_then(|batch| {
        let Some(batch) = batch else { return Ok(None) };
        let timing = repeat(bed, bed.bench.seconds, || compute(&batch))?;
        Ok(Some(((batch.pairs(), batch.cells()), timing)))
    });
    match outcome {
        Ok(Some((work, timing))) => (line.work, line.timing) = (Some(work), Some(timing)),
        Ok(None) => line.status = Status::Skipped,
        Err(error) => line.status = mark(table, line.who, error)?,
    }
    Ok(line)
}

/// What lanes and words are tried: of a kernel that divides pairs, all lanes that suit the length.
fn settings(kernel: &'static Kernel, reads: &Reads, shape: &EditShape) -> Vec<Setting> {
    let all = words(reads.length);
    let one = |lanes, words| Setting { kernel, lanes, words };
    let most_lanes = match kernel.lane_grouping() {
        Some(LaneGrouping::Thread) => return vec![one(1, all)],
        Some(LaneGrouping::Band) => {
            return vec![one(1, reads.scheme.limit(reads.length, reads.text_symbols()) / 32 + 1)];
        }
        Some(LaneGrouping::Subgroup) => shape.subgroup_size.min(shape.lanes_workgroup),
        _ => shape.lanes_workgroup,
    };
    let most_lanes = most_lanes.clamp(2, MAX_LANES).min(all.next_power_of_two().max(2));
    let lanes = (1..).map(|power| 1 << power).take_while(|&lanes| lanes <= most_lanes);
    let whole: Vec<Setting> =
        lanes.map(|lanes| one(lanes, all.div_ceil(lanes))).filter(|setting| setting.words <= MAX_WORDS).collect();
    if !whole.is_empty() {
        return whole;
    }
    // Strips of equal height.
    let lanes = 1 << most_lanes.ilog2();
    let strips = all.div_ceil(lanes * MAX_WORDS);
    vec![one(lanes, all.div_ceil(lanes * strips))]
}

/// Adds the rows of one length, the fastest kernel marked.
fn push(table: &mut Table, case: &Case, length: u32, lines: &[Line]) {
    let of_kernels = lines.iter().enumerate().filter(|(_, line)| line.setting.is_some());
    let timed = of_kernels.filter_map(|(index, line)| Some((index, line.timing?.best())));
    let best = timed.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(index, _)| index);
    for (index, line) in lines.iter().enumerate() {
        let measured = line.work.zip(line.timing);
        let tcups = |of: fn(&Timing) -> Option<f64>| {
            measured.and_then(|((_, cells), timing)| Some(Timing::gcups(cells, of(&timing)?) / 1e3))
        };
        // Only kernels have lanes.
        let number =
            |of: fn(&Setting) -> u32| line.setting.as_ref().map_or(Cell::from(""), |setting| of(setting).into());
        let cells = vec![
            case.name.into(),
            length.into(),
            line.who.into(),
            number(|setting| setting.lanes),
            number(|setting| setting.words),
            line.work.map(|(pairs, _)| pairs).into(),
            tcups(|timing| timing.kernel_seconds).into(),
            tcups(|timing| Some(timing.seconds)).into(),
            measured.map(|((pairs, _), timing)| pairs as f64 / timing.seconds.max(1e-9)).into(),
            if best == Some(index) { "yes" } else { "" }.into(),
            line.timing.map(|timing| timing.runs).into(),
        ];
        table.push(line.status, cells);
    }
}

fn describe(bed: &Bed<'_>, table: &mut Table, symbols: u32) {
    table.note("TCUPS: 10^12 cells of whole matrices a second; the best of the runs");
    table.note(format!(
        "reads of a genome of {symbols} random bases, one base in {CHANGED} changed; each in {CANDIDATES} regions"
    ));
    table.note("infix: regions of 1.4 times the length; within: the same, within a tenth of it as distance");
    table.note("global: regions of the length, within a tenth of it as distance");
    if bed.kernels(Family::Edit).next().is_some() {
        table.note("kernels: one batch, genome and profiles on the device; best: the fastest of them in the kernel");
        table.note(format!("end to end: {BATCHES} batches, two in flight, by the kernel that the engine chooses"));
        table.note(
            "end to end: each batch is of other reads than the one before; the profiles of both stay on the device",
        );
    }
    if bed.has_cpu() {
        table.note("cpu: in kernels is the mean of its threads");
    }
    if table.rows.iter().any(|row| row.status == Status::Skipped) {
        table.note(format!("skipped: expected to take more than {} s, by what shorter reads took", bed.bench.seconds));
    }
    let lines = |title: String, (x, y), (series, only)| Chart {
        title,
        kind: ChartKind::Lines { log_x: true, log_y: y == "tcups" },
        x,
        y,
        series: vec![series],
        only,
    };
    for case in CASES {
        let name = case.name;
        let of_case = || ("kernel", vec![("mode", name.into())]);
        let by_length = |what: &str| format!("Distances, {name}, {what}");
        if case.has_kernels() {
            table.charts.push(lines(by_length("in kernels"), ("length_symbols", "kernel_tcups"), of_case()));
        }
        table.charts.push(lines(by_length("by the clock"), ("length_symbols", "tcups"), of_case()));
    }
    for kernel in bed.kernels(Family::Edit) {
        if matches!(kernel.lane_grouping(), Some(LaneGrouping::Subgroup | LaneGrouping::Workgroup)) {
            let only = vec![("kernel", kernel.stem.into())];
            let title = format!("{} by words a lane, each length", kernel.stem);
            table.charts.push(lines(title, ("words", "kernel_tcups"), ("length_symbols", only)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::kernels::find;

    #[test]
    fn settings_hold_every_word_of_a_read() {
        let genome = genome(100, SEED);
        let shape = EditShape {
            thread_workgroup: 32,
            thread_words: 16,
            lanes_workgroup: 64,
            subgroup_words: 12,
            workgroup_words: 8,
            lanes: None,
            subgroup_size: 16,
            dispatch_columns: u32::MAX,
            workgroup_bytes: 1 << 14,
            list_room: None,
            head_words: None,
        };
        let of = |case: &Case, stem: &str, length| -> Vec<(u32, u32)> {
            let kernel = find(stem).unwrap();
            assert_eq!(case.has(kernel), case.mode == EditMode::Global || stem != "myers_band");
            let settings = settings(kernel, &case.reads(&genome, length), &shape);
            settings.iter().map(|setting| (setting.lanes, setting.words)).collect()
        };
        let [infix, _, global] = CASES;
        assert_eq!(of(&infix, "myers_thread", 400), [(1, 13)]);
        assert_eq!(of(&infix, "myers_subgroup", 20), [(2, 1)]);
        assert_eq!(of(&infix, "myers_subgroup", 400), [(2, 7), (4, 4), (8, 2), (16, 1)]);
        assert_eq!(of(&infix, "myers_workgroup", 10_000), [(16, 20), (32, 10)]);
        assert_eq!(of(&infix, "myers_subgroup", 20_000), [(16, 20)], "two strips");
        assert_eq!(of(&global, "myers_band", 1000), [(1, 4)]);
    }
}
