//! The GPU engine for long pairs. The strips of a panel form a pipeline over the card's compute
//! units.

mod delivery;
pub mod fine;
mod finish;
mod inner;
mod layout;
pub mod panel;
mod prefetch;
mod probe;
mod records;
mod region;
mod resident;
mod submission;
mod sweep;
pub mod trace;
mod width;

use std::sync::Arc;

use self::delivery::{DeliveredRange, RecordPolicy};
use self::finish::finish;
use self::inner::{InnerBorders, InnerColumn};
use self::panel::{PanelExtent, PanelPlan};
use self::prefetch::PreparedRegions;
use self::region::Retained;
use self::trace::TraceKernels;
use self::width::{ANY_KINDS, NARROW_CELLS, STRIPS, any_kinds, suiting_cells, suiting_classes};
use super::kernels::striped::{BLOCK_ROWS, StripedVariant, record_bytes};
use super::{
    BestCell, BorderSpan, LeftSource, LongEngine, Method, PanelSweep, SLIVER, SweepResult, SweepSink, TraceRegion,
    TracebackResult,
};
use crate::error::Result;
use crate::gpu::adapter::FoundAdapter;
use crate::gpu::device::{Gpu, GrowingBuffer};
use crate::gpu::memory::memory_budget;
use crate::gpu::pipeline::Pipelines;
use crate::gpu::resident::Residents;
use crate::gpu::shortage;
use crate::gpu::timer::PassTimer;

/// Order in which the strips are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Schedule {
    /// One dispatch for each antidiagonal of tiles. No strip waits for another. Works on every
    /// adapter.
    Wavefront,
    /// Strips wait for their left neighbours within a dispatch (paper 2). Used only on adapters on
    /// which a trial showed that all strips make progress.
    Persistent,
}

/// Sizes of the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StripedShape {
    /// Number of columns that an invocation keeps in registers. With `None`, it depends on the
    /// panel.
    pub cells: Option<u32>,
    /// Number of invocations of a strip. `None` stands for the size of a subgroup, or 32 if that
    /// size is not fixed.
    pub lanes: Option<u32>,
    /// Number of steps between exchanges through memory.
    pub batch: u32,
    /// Number of steps of a strip in a dispatch. With `None`, it depends on the panel.
    pub steps: Option<u32>,
    /// Order of the strips; `None` for the fastest safe one.
    pub schedule: Option<Schedule>,
    /// Whether lanes may exchange values by shuffles.
    pub shuffle: bool,
}

impl Default for StripedShape {
    fn default() -> Self {
        StripedShape { cells: None, lanes: None, batch: 8, steps: None, schedule: None, shuffle: true }
    }
}

/// A GPU that sweeps and traces long pairs.
pub struct GpuLong {
    gpu: Gpu,
    pipelines: Pipelines<StripedVariant>,
    shape: StripedShape,
    subgroup: Option<u32>,
    workgroup_bytes: u32,
    memory: u64,
    binding: u64,
    loop_budget: Option<u64>,
    software: bool,
    speed: f64,
    /// Whether strips may wait for each other; `None` until a trial has shown it.
    proceeds: Option<bool>,
    residents: Residents,
    pool: Option<Arc<rayon::ThreadPool>>,
    retained: Option<Retained>,
    ahead: PreparedRegions,
    max_prepared_regions: usize,
    kernels: TraceKernels,
    buffers: PanelBuffers,
    /// Whether the user was warned that memory is short.
    has_warned: bool,
}

/// Ratio of the number of strips in a wide panel to [`STRIPS`].
const WIDE_TIMES: u32 = 4;
/// Number of borders of a wide panel that are kept as a whole, for which the device must have
/// memory. The number follows from the width of the panel and the least distance of kept columns.
const WIDE_BORDERS: u64 = 40;
/// Least and greatest number of pairs that a card computes at the same time. It computes cells of
/// some pairs while the host prepares other pairs or follows their paths.
const PAIRS_AT_ONCE: (u64, u64) = (4, 8);
/// Least memory per engine if a card computes more than four pairs, in bytes.
const PAIR_MEMORY: u64 = 1 << 30;
/// Divisor of the engine's memory that gives the bytes for resident pairs.
const RESIDENT_PART: u64 = 16;

/// Divisor of the engine's memory that gives the bytes for the records of strips.
const RECORD_PART: u64 = 4;

/// Buffers that grow with the largest panel.
#[derive(Default)]
struct PanelBuffers {
    vertical: GrowingBuffer,
    horizontal: GrowingBuffer,
    state: GrowingBuffer,
    records: GrowingBuffer,
    params: GrowingBuffer,
    staging: GrowingBuffer,
    shared: GrowingBuffer,
    /// Unused staging buffers.
    spare: Vec<wgpu::Buffer>,
    /// Unused timers.
    clocks: Vec<PassTimer>,
}

impl GpuLong {
    /// Opens an adapter.
    pub fn open(adapter: &FoundAdapter) -> Result<Self> {
        let gpu = Gpu::open(adapter)?;
        let limits = gpu.device.limits();
        let [least, most] = adapter.description.subgroup_sizes;
        let has_shuffles = gpu.device.features().contains(wgpu::Features::SUBGROUP);
        let software = adapter.is_software();
        let memory = memory_budget(adapter, None);
        Ok(GpuLong {
            pipelines: Pipelines::default(),
            shape: StripedShape::default(),
            subgroup: (has_shuffles && least == most && (4..=128).contains(&least)).then_some(least),
            workgroup_bytes: limits.max_compute_workgroup_storage_size,
            memory,
            binding: gpu.binding_bytes(),
            loop_budget: adapter.description.loop_budget(),
            speed: adapter.description.select_by_kind(1e12, 1e11, 2e8),
            software,
            proceeds: None,
            residents: Residents::new(memory / RESIDENT_PART),
            pool: None,
            retained: None,
            ahead: PreparedRegions::default(),
            // On a CPU, a region that is prepared but not needed costs as much as a needed one.
            max_prepared_regions: adapter.description.select_by_kind(32, 8, 0),
            kernels: TraceKernels::new(&gpu, adapter),
            buffers: PanelBuffers::default(),
            has_warned: false,
            gpu,
        })
    }

    /// Limits the device memory of the engine in bytes.
    pub fn with_memory(mut self, bytes: u64) -> Self {
        self.memory = self.memory.min(bytes);
        self.residents.set_budget(self.memory / RESIDENT_PART);
        self.kernels = self.kernels.with_memory(self.memory / 4);
        self
    }

    /// Returns an engine on the same device with this part of the memory.
    fn sharing(&self, parts: u64) -> GpuLong {
        let memory = self.memory / parts;
        GpuLong {
            gpu: self.gpu.clone(),
            pipelines: self.pipelines.shared(),
            memory,
            residents: Residents::new(memory / RESIDENT_PART),
            pool: self.pool.clone(),
            retained: None,
            ahead: PreparedRegions::default(),
            kernels: self.kernels.shared().with_memory(memory / 4),
            buffers: PanelBuffers::default(),
            ..*self
        }
    }

    /// Returns the opened device.
    pub fn gpu(&self) -> &Gpu {
        &self.gpu
    }

    /// Returns the pairs that stay on the device from sweep to sweep.
    pub fn residents(&self) -> &Residents {
        &self.residents
    }

    /// Uses these threads to copy results. Otherwise the thread that waits for the device copies
    /// them.
    pub fn with_pool(mut self, pool: Option<Arc<rayon::ThreadPool>>) -> Self {
        self.pool = pool;
        self
    }

    /// Limits the number of regions that are prepared at once (see
    /// [`LongEngine::max_prepared_regions`]).
    pub fn with_max_prepared_regions(mut self, regions: usize) -> Self {
        self.max_prepared_regions = regions;
        self
    }

    /// Sets the sizes of the kernel.
    pub fn with_shape(mut self, shape: StripedShape) -> Self {
        self.shape = shape;
        self.proceeds = None;
        self
    }

    /// Compiles shaders with wgpu's bounds and loop checks.
    pub fn with_runtime_checks(mut self) -> Self {
        self.pipelines = self.pipelines.with_runtime_checks();
        self.kernels = self.kernels.with_runtime_checks();
        self
    }

    /// Returns the number of columns per invocation, for a panel of `columns` columns and a query
    /// with `kinds` different symbols.
    fn cells(&self, columns: u32, kinds: u32) -> u32 {
        let suits = || if self.software { NARROW_CELLS } else { suiting_cells(columns, kinds, self.lanes()) };
        self.shape.cells.unwrap_or_else(suits).next_multiple_of(4)
    }

    /// Returns the largest number of strips whose records fit in their share of the memory; at
    /// least 5.
    fn most_strips(&self, cells: u32) -> u32 {
        let (lanes, batch) = (self.lanes(), self.shape.batch.next_multiple_of(2));
        let bytes = self.binding.min(self.memory / RECORD_PART);
        u32::try_from(bytes / record_bytes(lanes, cells, batch)).unwrap_or(u32::MAX).max(5)
    }

    fn lanes(&self) -> u32 {
        self.shape.lanes.or(self.subgroup).unwrap_or(32)
    }

    /// Returns the constants of the kernel for a sweep with this record policy and a query with
    /// `kinds` different symbols.
    fn variant(&self, sweep: &PanelSweep, kinds: u32, keep: RecordPolicy, schedule: Schedule) -> StripedVariant {
        let pair = sweep.pair;
        let columns = sweep.columns.length();
        let best = !keep.quiet;
        let wanted = self.lanes();
        let shuffle = self.shape.shuffle && self.subgroup == Some(wanted);
        let cells =
            keep.strip.map_or_else(|| self.cells(columns, kinds), |strip| strip.div_ceil(wanted).next_multiple_of(4));
        let mut variant = StripedVariant {
            lanes: wanted,
            cells,
            classes: suiting_classes(kinds, cells),
            codes: pair.scoring.alphabet.size() as u32,
            batch: self.shape.batch.next_multiple_of(2),
            last_cell: 0,
            local: pair.is_local(),
            linear: pair.scoring.gaps.is_linear(),
            best: best && pair.is_local(),
            prune: sweep.prune && best && pair.is_local(),
            persistent: schedule == Schedule::Persistent,
            shuffle,
        };
        while variant.workgroup_bytes() > self.workgroup_bytes && variant.cells > 4 {
            variant.cells -= 4;
        }
        variant.last_cell = (columns - 1) % variant.cells;
        variant
    }

    /// Computes a panel whose number of rows is a multiple of four. Leaves the results of `keep` on
    /// the device, or those of `least` if memory is too short.
    fn run(
        &mut self,
        sweep: &PanelSweep,
        keep: RecordPolicy,
        least: RecordPolicy,
        left: &dyn LeftSource,
        sink: &dyn SweepSink,
    ) -> Result<(PanelPlan, SweepResult, InnerBorders)> {
        let mut handed = DeliveredRange::default();
        let ran = shortage::attempt(self, |engine, saves_memory| {
            if saves_memory {
                engine.buffers = PanelBuffers::default();
            }
            engine.run_once(sweep, if saves_memory { least } else { keep }, left, sink, &mut handed)
        })?;
        ran.map_err(|error| self.gpu.refusal(format!("its memory is too small for the panel: {error}")))
    }

    /// Computes a panel. If strips wait too long for each other, computes it again with the
    /// wavefront.
    fn run_once(
        &mut self,
        sweep: &PanelSweep,
        keep: RecordPolicy,
        left: &dyn LeftSource,
        sink: &dyn SweepSink,
        handed: &mut DeliveredRange,
    ) -> Result<(PanelPlan, SweepResult, InnerBorders)> {
        let schedule = self.schedule()?;
        if let Some(ran) = self.run_panel(sweep, keep, schedule, left, sink, handed)? {
            return Ok(ran);
        }
        self.strips_waited();
        let again = self.run_panel(sweep, keep, Schedule::Wavefront, left, sink, handed)?;
        again.ok_or_else(|| self.gpu.error("strips got stuck although they do not wait for each other"))
    }

    /// Records that strips must not wait for each other on this device.
    fn strips_waited(&mut self) {
        let name = self.gpu.label();
        tracing::warn!("device '{name}': strips waited too long for each other; continuing without waiting");
        self.proceeds = Some(false);
    }

    /// Returns the number of steps of a strip in a dispatch.
    fn steps(&self, variant: &StripedVariant, extent: PanelExtent, schedule: Schedule) -> u32 {
        let strips = f64::from(extent.columns.div_ceil(variant.strip()));
        let rows = f64::from(extent.rows);
        let wanted = self.shape.steps.unwrap_or_else(|| match schedule {
            // Each further strip waits for as many steps as a dispatch has. A dispatch costs 3
            // microseconds.
            Schedule::Wavefront => {
                let row_seconds = f64::from(variant.strip()) * strips.max(500.0) / self.speed;
                (3e-6 * rows / (strips * row_seconds)).sqrt() as u32 / 4
            }
            Schedule::Persistent => 2048,
        });
        let mut steps = wanted.clamp(variant.batch, 1 << 16).next_multiple_of(variant.batch);
        if let Some(budget) = self.loop_budget {
            while steps > variant.batch && variant.iterations(steps.into()) > budget {
                steps = (steps / 2).next_multiple_of(variant.batch);
            }
        }
        steps
    }

    /// Returns the plan of a panel; `None` if it does not fit the device. If it does not fit,
    /// reduces the number of steps per dispatch, because the rings between strips are then shorter.
    fn plan(&self, extent: PanelExtent, variant: &StripedVariant, schedule: Schedule) -> Option<PanelPlan> {
        let steps = self.steps(variant, extent, schedule);
        let fewer = |steps: &u32| Some((steps / 2).next_multiple_of(variant.batch)).filter(|less| less < steps);
        std::iter::successors(Some(steps), fewer).find_map(|steps| {
            let plan = PanelPlan::new(extent, variant, schedule, steps);
            let bytes = plan.buffers(variant);
            let fits = bytes.iter().all(|&bytes| bytes <= self.binding) && plan.bytes(variant) <= self.memory;
            (fits && plan.params.strips <= 65_535).then_some(plan)
        })
    }
}

impl shortage::MemoryHolder for GpuLong {
    fn gpu(&self) -> &Gpu {
        &self.gpu
    }

    fn has_warned(&mut self) -> &mut bool {
        &mut self.has_warned
    }

    /// Frees everything that the current panel does not need.
    fn free(&mut self) {
        let bytes = self.residents.clear();
        self.kernels.release();
        self.ahead = PreparedRegions::default();
        self.buffers.spare.clear();
        self.buffers.staging = GrowingBuffer::default();
        tracing::debug!(bytes, "pairs freed");
    }
}

impl LongEngine for GpuLong {
    fn label(&self) -> &str {
        self.gpu.label()
    }

    fn speed(&self) -> f64 {
        self.speed
    }

    fn panel_columns(&self, rows: u32, columns: u32, alone: bool) -> u32 {
        let kept = WIDE_BORDERS * u64::from(rows) * 8;
        let may_be_wide = alone && kept <= self.binding && kept <= self.memory / 2;
        // Other devices have fewer schedulers, so a dispatch of this many strips would take too
        // long there.
        let times = if may_be_wide { self.gpu.description.select_by_kind(WIDE_TIMES, 1, 1) } else { 1 };
        let strips = if self.software { 64 } else { STRIPS * times };
        let cells = self.cells(u32::MAX, ANY_KINDS);
        // A panel may also take a few remaining columns ([`SLIVER`]).
        let suits = strips.min(self.most_strips(cells) / (SLIVER + 1) * SLIVER) * self.lanes() * cells;
        columns.min(suits)
    }

    fn keeps_columns(&self) -> bool {
        true
    }

    fn engines_for_pairs(&mut self) -> Vec<Box<dyn LongEngine>> {
        // The returned engines use the whole memory.
        shortage::MemoryHolder::free(self);
        (self.buffers, self.retained) = <_>::default();
        let (least, most) = PAIRS_AT_ONCE;
        // Software Vulkan computes on the threads that would prepare further pairs.
        let pairs = if self.software { least } else { (self.memory / PAIR_MEMORY).clamp(least, most) };
        let engine = |_| Box::new(self.sharing(pairs)) as Box<dyn LongEngine>;
        (0..pairs).map(engine).collect()
    }

    fn sweep(&mut self, sweep: &PanelSweep, left: &dyn LeftSource, sink: &dyn SweepSink) -> Result<SweepResult> {
        if !sweep.pair.fits() {
            return Err(self.gpu.refusal("scores of this pair can exceed 32 bits"));
        }
        if sweep.rows.first == sweep.rows.last || sweep.columns.first == sweep.columns.last {
            finish::hand_empty(sweep, left, sink)?;
            return Ok(SweepResult::default());
        }
        let columns = sweep.columns.length();
        let end = sweep.rows.last - sweep.rows.length() % BLOCK_ROWS;
        if end == sweep.rows.first {
            let corner = sweep.top.h.len() - 1;
            sink.push_right_border(sweep.rows.first, &sweep.top.h[corner..], &sweep.top.gap[corner..])?;
            let last = finish(sweep, end, sweep.top.clone(), left, &[])?;
            sink.push_right_border(end + 1, &last.right.h, &last.right.gap)?;
            sink.push_row(sweep.rows.last, last.bottom.into())?;
            sink.progress(u64::from(sweep.rows.last - end) * u64::from(columns), None);
            last.best.iter().for_each(|best| sweep.best.raise(best.score));
            return Ok(SweepResult { best: last.best, pruned_cells: 0 });
        }
        let whole = PanelSweep { rows: BorderSpan { last: end, ..sweep.rows }, ..*sweep };
        let chunk = self.retained_chunk(sweep);
        let least = RecordPolicy {
            columns: sweep.keep_every,
            // The traceback needs strips of this width.
            strip: sweep.is_kept.then(|| self.lanes() * self.cells(columns, any_kinds(sweep.pair.scoring.alphabet))),
            mark_every: if sweep.is_kept { sweep.mark_every } else { u32::MAX },
            quiet: false,
        };
        let keep = chunk.map_or(least, |chunk| RecordPolicy { columns: Some(1), mark_every: chunk, ..least });
        let (plan, mut swept, InnerBorders { bottom, columns: kept, .. }) =
            self.run(&whole, keep, least, left, sink)?;
        let Some(border) = bottom else { return Err(self.gpu.error("a panel has no last row")) };
        let mut last = Vec::new();
        if end == sweep.rows.last {
            sink.push_row(end, border)?;
        } else {
            if whole.rows.length().is_multiple_of(sweep.mark_every) {
                sink.push_row(end, border.clone())?;
            }
            let all: Vec<u32> = (1..plan.whole_borders() - 1).map(|n| plan.whole_column(n)).collect();
            let finished = finish(sweep, end, border.into_border(), left, &all)?;
            sink.push_right_border(end + 1, &finished.right.h, &finished.right.gap)?;
            sink.push_row(sweep.rows.last, finished.bottom.into())?;
            sink.progress(u64::from(sweep.rows.last - end) * u64::from(columns), None);
            swept.best = BestCell::better(swept.best, finished.best);
            // The traceback may start in the last rows, so their values must be on the device.
            let vertical = self.buffers.vertical.get().expect("a panel was computed");
            let first = u64::from(plan.params.rows) + 1;
            self.write_pairs(vertical, first, &finished.left, true);
            for (n, values) in (1..).zip(&finished.inner) {
                self.write_pairs(vertical, plan.whole_begin(n) + first, values, true);
            }
            last = finished.inner;
        }
        for InnerColumn { number, column, mut border } in kept {
            last.get_mut(number as usize - 1).into_iter().for_each(|last| border.push_border(std::mem::take(last)));
            sink.push_column(sweep.columns.first + column, border)?;
        }
        if let Some(best) = swept.best {
            sweep.best.raise(best.score);
        }
        if let Some(chunk) = chunk {
            self.retain(sweep, &plan, chunk);
        }
        Ok(swept)
    }

    fn can_trace(&self, rows: u32, columns: u32, method: Method) -> bool {
        self.can_trace_by(rows, columns, method, None, None)
    }

    fn max_prepared_regions(&self) -> usize {
        self.max_prepared_regions
    }

    fn prepare(&mut self, regions: &[TraceRegion]) -> Result<usize> {
        self.prepare_regions(regions)
    }

    fn trace(&mut self, region: &TraceRegion) -> Result<TracebackResult> {
        let traced = shortage::attempt(self, |engine, saves_memory| engine.trace_region(region, saves_memory))?;
        traced.map_err(|error| self.gpu.refusal(format!("its memory is too small for the region: {error}")))
    }
}
