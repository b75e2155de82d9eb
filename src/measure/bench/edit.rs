//! Kernels for Levenshtein distances (Chacon et al. 2014, section 4): by length of patterns
//! (figures 4 and 7), by u32 words of a pattern per lane (figures 8 and 9), and end to end.
//!
//! As in the paper, a read is compared with 20 regions of a genome, which are wide enough for an
//! error rate of 0.2.

use std::sync::Arc;

use super::reads::{BatchSeconds, ReadSpeeds, on_cpu, on_engine};
use super::timing::{Timing, repeat};
use super::{Experiment, ExperimentContext, error_mark};
use crate::edit::gpu::{EditGpu, EditShape};
use crate::edit::kernels::myers::LaneGrouping;
use crate::edit::{EditBatch, pattern_words};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::gpu::adapter::FoundAdapter;
use crate::gpu::kernels::{Family, Kernel};
use crate::measure::simulate::SEED;
use crate::measure::simulate::reads::{CANDIDATES, CHANGED, SimulatedReads, genome};
use crate::measure::table::{ChartKind, MeasurementTable, RowStatus, TableCell, TableChart, TableColumn};
use crate::score::{EditMode, Limit};
use crate::seq::SequenceStore;

/// Lengths of reads: the paper's, and long reads.
const LENGTHS: [u32; 7] = [100, 200, 400, 600, 800, 1000, 10_000];
const QUICK_LENGTHS: [u32; 2] = [40, 100];
/// Number of symbols of the genome. Packed, it exceeds the caches of a device.
const GENOME: u32 = 1 << 28;
const QUICK_GENOME: u32 = 1 << 16;
/// Maximum number of pairs in a batch.
const MAX_PAIRS: u64 = 8 << 20;
/// Target duration of a batch on a GPU in seconds.
const FULL_SECONDS: f64 = 0.1;
/// Target duration of a batch on the CPU in seconds. It is longer because threads end at different
/// times.
const FULL_CPU_SECONDS: f64 = 0.25;
/// Maximum number of lanes of a pair.
const MAX_LANES: u32 = 32;
/// Maximum number of words per lane. More would exceed the registers.
const MAX_WORDS: u32 = 24;
/// Number of batches of the end-to-end row.
const BATCHES: usize = 6;

const COLUMNS: [TableColumn; 11] = [
    TableColumn { key: "mode", name: "mode", unit: "" },
    TableColumn { key: "length_symbols", name: "length", unit: "symbols" },
    TableColumn { key: "kernel", name: "kernel", unit: "" },
    TableColumn { key: "lanes", name: "lanes", unit: "a pair" },
    TableColumn { key: "words", name: "words", unit: "a lane" },
    TableColumn { key: "pairs", name: "pairs", unit: "" },
    TableColumn { key: "kernel_tcups", name: "in kernels", unit: "TCUPS" },
    TableColumn { key: "tcups", name: "by the clock", unit: "TCUPS" },
    TableColumn { key: "pairs_per_second", name: "by the clock", unit: "pairs/s" },
    TableColumn { key: "best", name: "best", unit: "" },
    TableColumn { key: "runs", name: "runs", unit: "" },
];

/// The computation of a group of rows.
#[derive(Clone, Copy)]
struct EditCase {
    name: &'static str,
    mode: EditMode,
    limit: Limit,
}

const CASES: [EditCase; 3] = [
    EditCase { name: "infix", mode: EditMode::Infix, limit: Limit::None },
    EditCase { name: "within", mode: EditMode::Infix, limit: Limit::Rate(0.1) },
    EditCase { name: "global", mode: EditMode::Global, limit: Limit::Rate(0.1) },
];

impl EditCase {
    fn reads(&self, genome: &Arc<SequenceStore>, length: u32) -> SimulatedReads {
        SimulatedReads::new(genome, self.mode, self.limit, length)
    }

    /// Returns whether kernels are measured separately. Copying the pairs within a limit back is
    /// not part of the kernel time.
    fn has_kernels(&self) -> bool {
        self.mode == EditMode::Global || matches!(self.limit, Limit::None)
    }

    /// Returns whether a kernel is measured in this case. Kernels for bands of diagonals are
    /// measured in global mode, and the others in modes that compute whole matrices.
    fn has(&self, kernel: &Kernel) -> bool {
        (kernel.lane_grouping() == Some(LaneGrouping::Band)) == (self.mode == EditMode::Global)
    }
}

/// A kernel with its sizes.
#[derive(Clone, Copy)]
struct EditSetting {
    kernel: &'static Kernel,
    lanes: u32,
    words: u32,
}

/// A row: its name, the setting of a kernel, numbers of pairs and cells, and the duration.
struct EditRow {
    who: &'static str,
    setting: Option<EditSetting>,
    work: Option<(u64, u64)>,
    status: RowStatus,
    timing: Option<Timing>,
}

/// Measures the kernels of one device.
pub(super) fn run(context: &ExperimentContext<'_>) -> Result<MeasurementTable> {
    let mut table = context.table(Experiment::Edit, "distances of reads to regions of a genome", &COLUMNS);
    let lengths = context.sizes(&context.bench.lengths, &LENGTHS, &QUICK_LENGTHS);
    let longest = lengths.iter().max().map_or(0, |&length| SimulatedReads::region_symbols(EditMode::Infix, length));
    let symbols = if context.quick { QUICK_GENOME } else { GENOME }.max(2 * longest);
    let genome = genome(symbols as usize, SEED);
    let mut gpu =
        context.adapter().map(|adapter| EditAdapter { adapter, pool: &context.pool, engine: None, usual: None });
    for case in CASES {
        let [mut gpu_sizes, mut cpu_sizes] = [ReadSpeeds::default(), ReadSpeeds::default()];
        for &length in &lengths {
            let reads = case.reads(&genome, length);
            let mut rows = Vec::new();
            if let Some(gpu) = &mut gpu {
                context.report_progress(Experiment::Edit, format_args!("{}, {length} symbols", case.name));
                on_gpu(context, &mut table, gpu, &mut gpu_sizes, &case, &reads, &mut rows)?;
            }
            if context.has_cpu() {
                context.report_progress(Experiment::Edit, format_args!("{}, {length} symbols, cpu", case.name));
                rows.push(cpu(context, &mut table, &mut cpu_sizes, &reads)?);
            }
            push(&mut table, &case, length, &rows);
        }
    }
    describe(context, &mut table, symbols);
    Ok(table)
}

/// An adapter that is opened on demand, because it may be lost.
struct EditAdapter<'a> {
    adapter: &'a FoundAdapter,
    pool: &'a Arc<rayon::ThreadPool>,
    engine: Option<EditGpu>,
    /// The sizes of kernels in jobs, once an engine was opened.
    usual: Option<EditShape>,
}

impl EditAdapter<'_> {
    /// Runs `work` on the engine, with the given kernel and setting, or as the engine chooses them in
    /// jobs. An engine that fails is not used again.
    fn with<T>(
        &mut self,
        kernel: Option<&'static Kernel>,
        setting: Option<EditSetting>,
        work: impl FnOnce(&mut EditGpu) -> Result<T>,
    ) -> Result<T> {
        let mut engine = match self.engine.take() {
            Some(engine) => engine,
            None => EditGpu::open(self.adapter)?.with_pool(Arc::clone(self.pool)),
        };
        let mut shape = *self.usual.get_or_insert_with(|| engine.shape());
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
    context: &ExperimentContext<'_>,
    table: &mut MeasurementTable,
    gpu: &mut EditAdapter<'_>,
    sizes: &mut ReadSpeeds,
    case: &EditCase,
    reads: &SimulatedReads,
    rows: &mut Vec<EditRow>,
) -> Result<()> {
    let kernels: Vec<&'static Kernel> = context.kernels(Family::Edit).filter(|kernel| case.has(kernel)).collect();
    if kernels.is_empty() {
        return Ok(());
    }
    // If only one kernel is selected, it is also used end to end.
    let alone = if context.kernels(Family::Edit).count() == 1 { kernels.first().copied() } else { None };
    // Limits the duration of the end-to-end batches.
    let most = context.bench.seconds / BATCHES as f64;
    let filled = gpu.with(alone, None, |engine| {
        let limit = MAX_PAIRS.min(engine.capacity().pairs);
        let limit = (limit / u64::from(CANDIDATES)).max(1) as u32;
        sizes.fill(context, reads, 1..=limit, BatchSeconds { full: FULL_SECONDS, most }, |batch| {
            on_engine(&context.pool, engine, std::slice::from_ref(batch))
        })
    });
    let (status, batch) = match filled {
        Ok(Some(batch)) => (RowStatus::Measured, Some(batch)),
        Ok(None) => (RowStatus::Skipped, None),
        Err(error) => (error_mark(table, "end to end", error)?, None),
    };
    let shape = gpu.with(alone, None, |engine| Ok(engine.shape()))?;
    let small = reads.batch(1, SEED);
    let by_themselves = kernels.into_iter().filter(|_| case.has_kernels());
    for setting in by_themselves.flat_map(|kernel| settings(kernel, reads, &shape)) {
        context.check_interrupt()?;
        let mut row = EditRow { who: setting.kernel.stem, setting: Some(setting), work: None, status, timing: None };
        if let Some(batch) = &batch {
            let outcome = gpu.with(Some(setting.kernel), Some(setting), |engine| {
                // Compiles the kernel before the clock starts.
                on_engine(&context.pool, engine, std::slice::from_ref(&small))?;
                let batch = std::slice::from_ref(batch);
                repeat(context, context.bench.seconds, || on_engine(&context.pool, engine, batch))
            });
            row.work = Some((batch.pairs(), batch.cells()));
            match outcome {
                Ok(timing) => row.timing = Some(timing),
                Err(error) => row.status = error_mark(table, row.who, error)?,
            }
        }
        rows.push(row);
    }
    let mut row = EditRow { who: "end to end", setting: None, work: None, status, timing: None };
    if let Some(batch) = batch {
        // These reads differ from the reads of the first batch.
        let other = reads.batch(batch.blocks.len() as u32, SEED ^ 1);
        let batches: Vec<Arc<EditBatch>> = [batch, other].into_iter().cycle().take(BATCHES).collect();
        let sum = |of: fn(&EditBatch) -> u64| batches.iter().map(|batch| of(batch)).sum();
        row.work = Some((sum(EditBatch::pairs), sum(EditBatch::cells)));
        match gpu.with(alone, None, |engine| {
            repeat(context, context.bench.seconds, || on_engine(&context.pool, engine, &batches))
        }) {
            Ok(timing) => row.timing = Some(timing),
            Err(error) => row.status = error_mark(table, row.who, error)?,
        }
    }
    rows.push(row);
    Ok(())
}

/// Measures all CPU threads.
fn cpu(
    context: &ExperimentContext<'_>,
    table: &mut MeasurementTable,
    sizes: &mut ReadSpeeds,
    reads: &SimulatedReads,
) -> Result<EditRow> {
    let compute = |batch: &Arc<EditBatch>| on_cpu(&context.pool, &context.bench.interrupt, batch);
    // There is at least one read per thread.
    let threads = context.pool.current_num_threads() as u32;
    let most = (MAX_PAIRS as u32 / CANDIDATES).max(threads);
    let mut row = EditRow { who: "cpu", setting: None, work: None, status: RowStatus::Measured, timing: None };
    let seconds = BatchSeconds { full: FULL_CPU_SECONDS, most: context.bench.seconds };
    let outcome = sizes.fill(context, reads, threads..=most, seconds, compute).and_then(|batch| {
        let Some(batch) = batch else { return Ok(None) };
        let timing = repeat(context, context.bench.seconds, || compute(&batch))?;
        Ok(Some(((batch.pairs(), batch.cells()), timing)))
    });
    match outcome {
        Ok(Some((work, timing))) => (row.work, row.timing) = (Some(work), Some(timing)),
        Ok(None) => row.status = RowStatus::Skipped,
        Err(error) => row.status = error_mark(table, row.who, error)?,
    }
    Ok(row)
}

/// Returns the settings of lanes and words to measure. Kernels that divide pairs are measured with
/// all numbers of lanes that suit the length.
fn settings(kernel: &'static Kernel, reads: &SimulatedReads, shape: &EditShape) -> Vec<EditSetting> {
    let all = pattern_words(reads.length);
    let one = |lanes, words| EditSetting { kernel, lanes, words };
    let most_lanes = match kernel.lane_grouping() {
        Some(LaneGrouping::Thread | LaneGrouping::ScanSubgroup | LaneGrouping::ScanWorkgroup) => {
            return vec![one(1, all)];
        }
        Some(LaneGrouping::Band) => {
            return vec![one(1, reads.scheme.limit(reads.length, reads.text_symbols()) / 32 + 1)];
        }
        Some(LaneGrouping::Subgroup) => shape.subgroup_size.min(shape.lanes_workgroup),
        _ => shape.lanes_workgroup,
    };
    let most_lanes = most_lanes.clamp(2, MAX_LANES).min(all.next_power_of_two().max(2));
    let lanes = (1..).map(|power| 1 << power).take_while(|&lanes| lanes <= most_lanes);
    let whole: Vec<EditSetting> =
        lanes.map(|lanes| one(lanes, all.div_ceil(lanes))).filter(|setting| setting.words <= MAX_WORDS).collect();
    if !whole.is_empty() {
        return whole;
    }
    // Uses strips of equal height.
    let lanes = 1 << most_lanes.ilog2();
    let strips = all.div_ceil(lanes * MAX_WORDS);
    vec![one(lanes, all.div_ceil(lanes * strips))]
}

/// Adds the rows of one length and marks the fastest kernel.
fn push(table: &mut MeasurementTable, case: &EditCase, length: u32, rows: &[EditRow]) {
    let of_kernels = rows.iter().enumerate().filter(|(_, row)| row.setting.is_some());
    let timed = of_kernels.filter_map(|(index, row)| Some((index, row.timing?.best())));
    let best = timed.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(index, _)| index);
    for (index, row) in rows.iter().enumerate() {
        let measured = row.work.zip(row.timing);
        let tcups = |of: fn(&Timing) -> Option<f64>| {
            measured.and_then(|((_, cells), timing)| Some(Timing::gcups(cells, of(&timing)?) / 1e3))
        };
        // Only kernels have lanes.
        let number = |of: fn(&EditSetting) -> u32| {
            row.setting.as_ref().map_or(TableCell::from(""), |setting| of(setting).into())
        };
        let cells = vec![
            case.name.into(),
            length.into(),
            row.who.into(),
            number(|setting| setting.lanes),
            number(|setting| setting.words),
            row.work.map(|(pairs, _)| pairs).into(),
            tcups(|timing| timing.kernel_seconds).into(),
            tcups(|timing| Some(timing.seconds)).into(),
            measured.map(|((pairs, _), timing)| pairs as f64 / timing.seconds.max(1e-9)).into(),
            if best == Some(index) { "yes" } else { "" }.into(),
            row.timing.map(|timing| timing.runs).into(),
        ];
        table.push(row.status, cells);
    }
}

fn describe(context: &ExperimentContext<'_>, table: &mut MeasurementTable, symbols: u32) {
    table.note("TCUPS: 10^12 cells of whole matrices per second; fastest run");
    table.note(format!(
        "reads of a genome of {symbols} random bases, one base in {CHANGED} changed; {CANDIDATES} regions per read"
    ));
    table.note("infix: regions of 1.4 times the length; within: also limits the distance to a tenth of the length");
    table.note("global: regions of the same length; the distance is limited to a tenth of it");
    if context.kernels(Family::Edit).next().is_some() {
        table.note("kernels: one batch, with genome and profiles on the device; best: the fastest kernel");
        table.note(format!("end to end: {BATCHES} batches, two in flight, with the kernel that the engine chooses"));
        table.note("end to end: two sets of reads alternate; the profiles of both stay on the device");
    }
    if context.has_cpu() {
        table.note("cpu: the time in kernels is the mean of its threads");
    }
    if table.rows.iter().any(|row| row.status == RowStatus::Skipped) {
        table.note(format!(
            "skipped: expected to take more than {} s, estimated from shorter reads",
            context.bench.seconds
        ));
    }
    let lines = |title: String, (x, y), (series, only)| TableChart {
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
    for kernel in context.kernels(Family::Edit) {
        if kernel.lane_grouping().is_some_and(LaneGrouping::divides_pairs) {
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
    fn settings_cover_every_word_of_a_read() {
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
        let of = |case: &EditCase, stem: &str, length| -> Vec<(u32, u32)> {
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
