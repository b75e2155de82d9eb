//! Slice widths and workgroup sizes of `nw_slice` and `nw_slice_half` (Truong et al. 2014, section
//! 6.3, table 4 and figure 11). In the paper, the slice width k follows from block size and shared
//! memory. Here slices are in registers, so both sizes can be chosen independently.

use super::timing::{Timing, repeat, stream};
use super::{Experiment, ExperimentContext, GapKind, error_mark};
use crate::engine::Engine;
use crate::error::Result;
use crate::gpu::adapter::FoundAdapter;
use crate::gpu::kernels::{Family, Kernel, KernelKind, ScoreType};
use crate::measure::simulate::RandomPairs;
use crate::measure::table::{ChartKind, MeasurementTable, RowStatus, TableChart, TableColumn};
use crate::pairs::ResultFilter;
use crate::pairs::gpu::tune::{HALF_SLICES, SLICES, WORKGROUPS};
use crate::pairs::gpu::{Config, PairsGpu};
use crate::pairs::kernels::layout::EndGapKind;
use crate::pairs::kernels::{nw_slice, nw_slice_half};
use crate::score::Scoring;

/// Length of the paper's 16S genes in symbols.
const LENGTH: u32 = 1536;
const QUICK_LENGTH: u32 = 64;
/// Initial and maximum number of pairs.
const PAIRS: [u64; 2] = [4096, 1 << 20];
const QUICK_PAIRS: [u64; 2] = [64, 64];
/// Target duration in seconds. At the end of a batch, the device is partly idle for some tens of
/// milliseconds, which hardly matters over this duration.
const FULL_SECONDS: f64 = 0.2;

const COLUMNS: [TableColumn; 10] = [
    TableColumn { key: "kernel", name: "kernel", unit: "" },
    TableColumn { key: "gaps", name: "gaps", unit: "" },
    TableColumn { key: "workgroup_invocations", name: "workgroup", unit: "invocations" },
    TableColumn { key: "slice_columns", name: "slice", unit: "columns" },
    TableColumn { key: "workgroup_memory_bytes", name: "workgroup memory", unit: "bytes" },
    TableColumn { key: "length_symbols", name: "length", unit: "symbols" },
    TableColumn { key: "pairs", name: "pairs", unit: "" },
    TableColumn { key: "kernel_gcups", name: "in kernels", unit: "GCUPS" },
    TableColumn { key: "pairs_per_second", name: "by the clock", unit: "pairs/s" },
    TableColumn { key: "runs", name: "runs", unit: "" },
];

/// Measures the settings on one device.
pub(super) fn run(context: &ExperimentContext<'_>) -> Result<MeasurementTable> {
    let mut table = context.table(Experiment::Slices, "nw_slice by slice width and workgroup size", &COLUMNS);
    let of_kernel = |kernel: &'static Kernel| match kernel.kind {
        KernelKind::Slice(numbers) => Some((kernel, numbers)),
        _ => None,
    };
    let kernels: Vec<(&'static Kernel, ScoreType)> = context.kernels(Family::Pairs).filter_map(of_kernel).collect();
    let Some(adapter) = context.adapter().filter(|_| !kernels.is_empty()) else {
        table.note("nothing to measure: no graphics adapter, or nw_slice was not selected");
        return Ok(table);
    };
    let gaps = context.bench.gaps.iter();
    for (&(kernel, numbers), gaps) in kernels.iter().flat_map(|kernel| gaps.clone().map(move |gaps| (kernel, gaps))) {
        measure_kernel(context, adapter, &mut table, kernel, numbers, *gaps)?;
    }
    table.note("score and matches of every pair (nw_slice) or scores alone (nw_slice_half); fastest run");
    Ok(table)
}

/// Measures the settings of one kernel with one kind of gaps.
fn measure_kernel(
    context: &ExperimentContext<'_>,
    adapter: &FoundAdapter,
    table: &mut MeasurementTable,
    kernel: &'static Kernel,
    numbers: ScoreType,
    gaps: GapKind,
) -> Result<()> {
    let open = || Ok(PairsGpu::open(adapter, Config::for_adapter(adapter))?.with_kernel(Some(kernel)));
    let length = if context.quick { QUICK_LENGTH } else { LENGTH };
    let (widths, filter) = match numbers {
        ScoreType::I32 => (SLICES, ResultFilter::Alignments),
        ScoreType::F16 => (HALF_SLICES, ResultFilter::Scores),
    };
    let scoring = gaps.scoring();
    let mut engine: PairsGpu = open()?;
    let work = match fill(context, &mut engine, |pairs| RandomPairs::random(&scoring, filter.clone(), length, pairs)) {
        Ok(work) => work,
        Err(error) => {
            let status = error_mark(table, kernel.stem, error)?;
            table.push(status, vec![kernel.stem.into(), gaps.name().into()]);
            return Ok(());
        }
    };
    let batches = work.batches(work.pairs());
    let small = RandomPairs::random(&scoring, filter, length, 1).batches(1);
    for &workgroup in WORKGROUPS {
        context.report_progress(
            Experiment::Slices,
            format_args!("{}, {} gaps, workgroups of {workgroup}", kernel.stem, gaps.name()),
        );
        for &slice in widths {
            let workgroup_bytes = workgroup_bytes(numbers, slice, workgroup, &scoring);
            let is_allowed = workgroup <= adapter.description.max_workgroup_invocations
                && workgroup_bytes <= adapter.description.workgroup_memory_bytes;
            let mut cells = vec![
                kernel.stem.into(),
                gaps.name().into(),
                workgroup.into(),
                slice.into(),
                workgroup_bytes.into(),
                length.into(),
                work.pairs().into(),
            ];
            if !is_allowed {
                table.note("-: exceeds the invocations or the memory of a workgroup on this device");
                table.push(RowStatus::Unsuited, cells);
                continue;
            }
            engine.configure(Config::for_adapter(adapter).with_sizes(numbers, slice, workgroup));
            // Every setting has its own pipeline, which is compiled before the clock starts.
            let compiled = stream(&mut engine, &small);
            let timing =
                compiled.and_then(|_| repeat(context, context.bench.seconds, || stream(&mut engine, &batches)));
            let status = match timing {
                Ok(timing) => {
                    cells.extend([
                        timing.kernel_seconds.map(|seconds| Timing::gcups(work.cells(), seconds)).into(),
                        (work.pairs() as f64 / timing.seconds).into(),
                        timing.runs.into(),
                    ]);
                    RowStatus::Measured
                }
                Err(error) => {
                    let status = error_mark(table, kernel.stem, error)?;
                    engine = open()?;
                    status
                }
            };
            table.push(status, cells);
        }
    }
    table.charts.push(width_chart(kernel, gaps, length));
    Ok(())
}

/// Returns the chart of the rates of a kernel by the width of slices.
fn width_chart(kernel: &Kernel, gaps: GapKind, length: u32) -> TableChart {
    TableChart {
        title: format!("{} by slice width: {} gaps, {length} symbols", kernel.stem, gaps.name()),
        kind: ChartKind::Lines { log_x: false, log_y: false },
        x: "slice_columns",
        y: "kernel_gcups",
        series: vec!["workgroup_invocations"],
        only: vec![("kernel", kernel.stem.into()), ("gaps", gaps.name().into())],
    }
}

/// Returns the workgroup memory of a setting in bytes.
fn workgroup_bytes(numbers: ScoreType, slice: u32, workgroup: u32, scoring: &Scoring) -> u32 {
    let (codes, affine, ends) = (scoring.alphabet.size() as u32, !scoring.gaps.is_linear(), EndGapKind::Charged);
    match numbers {
        ScoreType::I32 => nw_slice::SliceVariant { slice, workgroup, codes, affine, ends }.workgroup_bytes(),
        ScoreType::F16 => {
            let group_words = 1;
            nw_slice_half::HalfSliceVariant { slice, workgroup, group_words, codes, affine, ends }.workgroup_bytes()
        }
    }
}

/// Returns enough pairs to keep the device busy for the target duration, in one batch.
fn fill(
    context: &ExperimentContext<'_>,
    engine: &mut PairsGpu,
    make: impl Fn(u64) -> RandomPairs,
) -> Result<RandomPairs> {
    let [mut pairs, most] = if context.quick { QUICK_PAIRS } else { PAIRS };
    // Compiles the kernel before the clock starts.
    stream(engine, &make(1).batches(1))?;
    loop {
        context.check_interrupt()?;
        let work = make(pairs);
        let batches = work.batches(pairs);
        let seconds = repeat(context, 0.0, || stream(engine, &batches))?.best();
        if pairs >= most || seconds >= FULL_SECONDS {
            tracing::debug!(pairs, seconds, capacity = engine.capacity().cells, "a full device");
            return Ok(work);
        }
        let factor = (1.2 * FULL_SECONDS / seconds.max(1e-4)).clamp(2.0, 16.0);
        pairs = ((pairs as f64 * factor) as u64).min(most);
    }
}
