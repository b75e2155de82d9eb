//! Pairs of whole sequences on a GPU: implements the parts of [`crate::gpu::engine::GpuEngine`]
//! that are specific to this kind of work.

mod choice;
mod decode;
mod dispatch;
mod matrix;
mod programs;
mod resident;
mod shape;
mod slot;
mod submit;
mod survivors;
mod tile;
pub mod tune;
mod upload;

use std::sync::Arc;
use std::time::Duration;

use self::choice::{KernelChoice, Prices};
use self::matrix::MatrixSlot;
use self::programs::Shader;
use self::resident::{ResidentSequences, ResidentStores};
pub use self::shape::MatrixKernelShape;
use self::shape::{Arenas, Expected};
use self::slot::SliceSlot;
pub use self::survivors::Survivors;
pub use self::tile::{COLUMNS as TILE_COLUMNS, LANES as TILE_LANES, TileShape};
use self::tile::{ChosenTiles, TileSlot, Tiles};
use super::kernels::nw_slice;
use super::plan::cost::PairsSpeeds;
use super::{BatchLengths, PairsBatch, PairsReport, ResultFilter};
use crate::error::Result;
use crate::gpu::adapter::FoundAdapter;
use crate::gpu::choosing::WorkEstimate;
use crate::gpu::device::{Gpu, GrowingBuffer};
use crate::gpu::engine::{self, BatchContext, FinishedBatch, FollowUp, GpuKind};
use crate::gpu::kernel_set::{KernelSet, KernelSizes, has_kernel_set};
use crate::gpu::kernels::{Family, Kernel, KernelKind, ScoreType, of_kind};
use crate::gpu::launch::{BatchResults, Slot};
use crate::gpu::memory::{MIN_BYTES, MemoryShares, memory_budget};
use crate::pairs::Pairs;
use crate::score::{Mode, OffsetScoring};

/// Seconds of work in the first batch.
const FIRST_SECONDS: f64 = 0.02;
/// Assumed speed of every device in cells per second, before any measurement.
const FIRST_GUESS: f64 = 2e10;
/// Greatest number of pairs per batch. It limits the output buffers to a few hundred MiB.
const MAX_PAIRS: u64 = 12 << 20;
/// Greatest number of bytes of the results of a batch with alignments. The host's memory contains a
/// copy of them.
const MAX_OUTPUT_BYTES: u64 = 512 << 20;
/// Expected length of packed alignments before any batch, in u32 words per symbol of a pair's
/// shorter sequence. The first value is for jobs without a filter and suits unrelated pairs. The
/// second is for a filter that few pairs pass. This many words are copied to the host even if the
/// alignments are shorter.
const FIRST_WORDS_A_SYMBOL: [f64; 2] = [0.55, 0.02];

/// Configuration of an adapter, chosen by measurement ([`tune`]) or from these defaults.
///
/// The sizes of slices are not part of [`PairsShape`], because an adapter does not determine them:
/// they differ by alphabet and gap costs, and are measured and stored together with the speeds that
/// hold only for them. [`PairsGpu::configure`] changes both together.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Config {
    /// Columns per slice of `nw_slice`.
    pub slice: u32,
    /// Invocations per workgroup of `nw_slice`.
    pub workgroup: u32,
    /// Columns per slice of `nw_slice_half`.
    pub half_slice: u32,
    /// Invocations per workgroup of `nw_slice_half`.
    pub half_workgroup: u32,
    /// Whether `nw_slice_half` may be chosen automatically for the batches that it can compute.
    pub halves: bool,
    /// Measured cells per second of `nw_slice`, or 0.
    pub cells_per_second: f64,
    /// Speeds of all kernels, if measured.
    pub speeds: Option<PairsSpeeds>,
}

impl Default for Config {
    fn default() -> Self {
        // The fastest sizes on an H200 for genes, with 7.1 * 10^12 cells per second. Slices of 28
        // and 44 columns reach at least 97% of it.
        Config {
            slice: 36,
            workgroup: 64,
            half_slice: 28,
            half_workgroup: 64,
            halves: true,
            cells_per_second: 0.0,
            speeds: None,
        }
    }
}

impl Config {
    /// Returns the default configuration for a kind of adapter.
    pub fn for_adapter(adapter: &FoundAdapter) -> Self {
        if !adapter.is_software() {
            return Config::default();
        }
        // Software adapters emulate f16.
        let (slice, workgroup) = (12, 16);
        let (half_slice, half_workgroup, halves) = (slice, workgroup, false);
        Config { slice, workgroup, half_slice, half_workgroup, halves, ..Config::default() }
    }

    /// Returns the columns per slice and the invocations per workgroup of the kernel with this
    /// score type.
    pub fn sizes(&self, numbers: ScoreType) -> (u32, u32) {
        match numbers {
            ScoreType::I32 => (self.slice, self.workgroup),
            ScoreType::F16 => (self.half_slice, self.half_workgroup),
        }
    }

    /// Returns the configuration with other sizes of one kernel. Its speeds are then unknown.
    pub fn with_sizes(self, numbers: ScoreType, slice: u32, workgroup: u32) -> Self {
        match numbers {
            ScoreType::I32 => Config { slice, workgroup, cells_per_second: 0.0, speeds: None, ..self },
            ScoreType::F16 => Config { half_slice: slice, half_workgroup: workgroup, speeds: None, ..self },
        }
    }
}

/// Sizes of the kernels, except the slices of [`Config`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PairsShape {
    /// Sizes of the kernels that can store directions.
    pub matrix: MatrixKernelShape,
    /// Sizes of the kernels for local scores.
    pub tile: TileShape,
}

impl KernelSizes for PairsShape {
    fn for_adapter(adapter: &FoundAdapter, _gpu: &Gpu) -> Self {
        PairsShape { matrix: MatrixKernelShape::for_adapter(adapter), tile: TileShape::for_adapter(adapter) }
    }
}

/// A GPU that computes pairs of whole sequences.
pub type PairsGpu = engine::GpuEngine<Pairs>;

/// State of a device for pairs that is shared by all batches.
pub struct PairsDeviceState {
    config: Config,
    kernels: KernelSet<Shader, PairsShape>,
    stores: ResidentStores,
    scratch: GrowingBuffer,
    scratch_budget: u64,
    max_slots: u64,
    arenas: Arenas,
    /// Number of devices of the job.
    devices: u32,
    tiles: Tiles,
    /// Threads that share the host's computations.
    pool: Option<Arc<rayon::ThreadPool>>,
    /// Whether the pool's threads also compute pairs of their own.
    is_host_busy: bool,
    /// Greatest number of bytes of the output of a batch with alignments.
    output_budget: u64,
    /// Expected words of packed alignments per symbol, without and with a filter.
    words_a_symbol: [f64; 2],
    prices: Prices,
    /// Cells per second of `nw_slice` that are assumed before any measurement.
    assumed_speed: f64,
    /// Selects the device or the host to align the pairs that a filter keeps.
    survivors: Survivors,
}

/// The kernel of a batch, with the resources that it uses.
pub enum PairsChoice {
    /// A kernel for global alignments.
    Global(ChosenKernel),
    /// Kernels for local scores.
    Local(ChosenTiles),
}

/// A kernel for global alignments, with the resources that a batch uses.
pub struct ChosenKernel {
    choice: KernelChoice,
    extent: BatchLengths,
    scoring: OffsetScoring,
    /// The batch's queries and targets on the device, once the batch is recorded.
    stores: Option<[Arc<ResidentSequences>; 2]>,
}

impl PairsGpu {
    /// Opens an adapter.
    pub fn open(adapter: &FoundAdapter, config: Config) -> Result<Self> {
        let gpu = Gpu::open(adapter)?;
        // Limits beyond which no kernel gets faster. The memory limit of the engine may lower them.
        let (budget, max_slots, assumed_speed) =
            adapter.description.select_by_kind((2 << 30, 4096, 2e12), (512 << 20, 1024, 2e11), (96 << 20, 256, 1e9));
        let kernels = KernelSet::new(&gpu, adapter);
        let arenas = Arenas::new(&gpu, MIN_BYTES, u64::MAX);
        let host = PairsDeviceState {
            config,
            arenas,
            devices: 1,
            stores: ResidentStores::new(kernels.binding),
            scratch: GrowingBuffer::default(),
            scratch_budget: kernels.binding.min(budget),
            max_slots,
            tiles: Tiles::default(),
            pool: None,
            is_host_busy: false,
            output_budget: kernels.binding.min(MAX_OUTPUT_BYTES),
            words_a_symbol: FIRST_WORDS_A_SYMBOL,
            prices: Prices::new(config, assumed_speed),
            assumed_speed,
            survivors: Survivors::default(),
            kernels,
        };
        let guess = (assumed_speed / 2.0).max(FIRST_GUESS);
        let speed = if config.cells_per_second > 0.0 { config.cells_per_second } else { guess };
        Ok(engine::GpuEngine::new(gpu, host, memory_budget(adapter, None), speed))
    }
    /// Shares the host's computations among the threads of this pool. By default, the engine's own
    /// thread does them. No thread of the pool may wait for the engine.
    pub fn with_pool(mut self, pool: Arc<rayon::ThreadPool>) -> Self {
        self.state.pool = Some(pool);
        self
    }

    /// Sets whether the pool's threads compute other pairs while the device works. If so, the time
    /// of tracebacks on the host is estimated for a single thread.
    pub(crate) fn with_busy_host(mut self, is_busy: bool) -> Self {
        self.state.is_host_busy = is_busy;
        self
    }

    /// Limits the scratch memory to this number of bytes.
    pub fn with_scratch_budget(mut self, bytes: u64) -> Self {
        self.state.limit_scratch(bytes);
        self
    }

    /// Limits the memory for directions to `all` bytes, in arenas of at most `arena` bytes.
    pub fn with_arenas(mut self, all: u64, arena: u64) -> Self {
        self.state.make_arenas(all, arena);
        self
    }

    /// Sets the number of devices of the job, including this one. With more devices, each takes
    /// longer to allocate memory.
    pub fn with_devices(mut self, devices: u32) -> Self {
        self.state.devices = devices;
        self
    }

    /// Limits the number of batches in flight. With two, the device computes one batch while the
    /// host reads the other (Truong et al. 2014, section 5.4 and figure 10a).
    pub fn with_batches(mut self, batches: usize) -> Self {
        self.limit_batches(batches);
        self
    }

    /// Sets whether the device or the host aligns the pairs that a filter keeps.
    pub fn with_survivors(mut self, survivors: Survivors) -> Self {
        self.state.survivors = survivors;
        self
    }

    /// Limits the size of stores that stay on the device. For larger stores, each batch uploads the
    /// sequences that it needs.
    pub fn with_store_limit(mut self, bytes: u64) -> Self {
        self.state.stores.limit_to(bytes);
        self
    }

    /// Returns the work of a batch for the current kernel.
    fn work(&self, batch: &PairsBatch) -> Result<WorkEstimate> {
        let extent = batch.extent();
        let scoring = nw_slice::offset_scoring(batch, &extent);
        let scoring =
            scoring.ok_or_else(|| self.gpu().refusal("scores of sequences of this length do not fit in 32 bits"))?;
        Ok(self.state.choose(self.kernel(), batch, extent, &scoring).work)
    }

    /// Changes the configuration. No batch may be in flight.
    pub fn configure(&mut self, config: Config) {
        self.state.config = config;
        self.state.prices = Prices::new(config, self.state.assumed_speed);
        self.forget_speed((config.cells_per_second > 0.0).then_some(config.cells_per_second));
    }

    /// Returns the configuration.
    pub fn config(&self) -> Config {
        self.state.config
    }
}

impl PairsDeviceState {
    fn limit_scratch(&mut self, bytes: u64) {
        self.scratch_budget = self.scratch_budget.min(bytes) & !15;
    }

    fn make_arenas(&mut self, all: u64, arena: u64) {
        self.arenas = Arenas::new(&self.kernels.gpu, all, arena);
    }

    /// Returns the speed of the kernel that would now compute a batch like the last one. Returns
    /// `None` if that is still the same kernel.
    fn expect_next(&self, batch: &PairsBatch, last: &KernelChoice) -> Option<f64> {
        let extent = batch.extent();
        let scoring = nw_slice::offset_scoring(batch, &extent)?;
        let next = self.choose(None, batch, extent, &scoring);
        let is_other = (next.kernel.stem, next.aligned) != (last.kernel.stem, last.aligned);
        is_other.then(|| self.prices.full_rate(batch, &next))
    }
}

/// Buffers of a batch of pairs. Each kind of kernel has its own.
pub struct PairsSlot {
    slice: SliceSlot,
    matrix: MatrixSlot,
    tile: TileSlot,
}

impl Slot for PairsSlot {
    fn new(gpu: &Gpu) -> Self {
        PairsSlot { slice: SliceSlot::new(gpu), matrix: MatrixSlot::new(gpu), tile: TileSlot::new(gpu) }
    }

    fn release(&mut self) {
        self.slice.release();
        self.matrix.release();
        self.tile.release();
    }

    fn collect(&mut self, gpu: &Gpu, limit: Duration) -> Result<BatchResults> {
        let all = [&mut self.slice.buffers, &mut self.matrix.buffers, &mut self.tile.first.buffers];
        let in_flight = all.into_iter().find(|buffers| buffers.is_in_flight());
        in_flight.ok_or_else(|| gpu.error("no batch in flight"))?.collect(gpu, limit)
    }
}

has_kernel_set!(PairsDeviceState, Shader, PairsShape);

impl GpuKind for Pairs {
    type Choice = PairsChoice;
    type DeviceState = PairsDeviceState;
    type Slot = PairsSlot;

    const FIRST_SECONDS: f64 = FIRST_SECONDS;
    const MAX_PAIRS: u64 = MAX_PAIRS;

    /// Each of two batches in flight may have its own queries and targets.
    fn resident_bytes(memory: u64) -> u64 {
        4 * MemoryShares::new(memory).store_bytes
    }

    fn store_bytes(host: &PairsDeviceState) -> u64 {
        host.stores.limit()
    }

    fn limit_memory(host: &mut PairsDeviceState, bytes: u64) {
        let shares = MemoryShares::new(bytes);
        host.output_budget = host.output_budget.min(shares.output_bytes);
        host.limit_scratch(shares.scratch_bytes);
        host.stores.limit_to(shares.store_bytes);
        host.make_arenas(shares.arena_bytes, u64::MAX);
    }

    fn release_scratch(host: &mut PairsDeviceState) {
        host.scratch = GrowingBuffer::default();
        host.arenas.release();
    }

    fn choose(
        host: &mut PairsDeviceState,
        site: &mut BatchContext<'_>,
        batch: &Arc<PairsBatch>,
    ) -> Result<PairsChoice> {
        if batch.chunk.scoring.mode == Mode::Local {
            return host.choose_tiles(site, batch).map(PairsChoice::Local);
        }
        if let Some(kernel) = site.kernel
            && kernel.family() != Family::Pairs
        {
            return Err(host.kernels.gpu.refusal(format!("{} does not compute global scores", kernel.stem)));
        }
        if let Some(kernel) = site.kernel
            && !host.kernels.gpu.device.features().contains(kernel.features)
        {
            return Err(host.kernels.gpu.refusal(format!("{} needs {:?}", kernel.stem, kernel.features)));
        }
        let extent = batch.extent();
        let Some(scoring) = nw_slice::offset_scoring(batch, &extent) else {
            return Err(host.kernels.gpu.refusal("scores of sequences of this length do not fit in 32 bits"));
        };
        if site.remaining_cells > 0 && batch.chunk.filter.has_alignments() {
            let cells = site.remaining_cells.saturating_add(batch.cells());
            let affine = !batch.chunk.scoring.gaps.is_linear();
            host.arenas.grow_arenas(Expected { cells, affine, devices: host.devices });
        }
        let choice = host.choose(site.kernel, batch, extent, &scoring);
        tracing::trace!(kernel = choice.kernel.stem, pairs = batch.pairs(), cells = batch.cells(), "batch");
        Ok(PairsChoice::Global(ChosenKernel { choice, extent, scoring, stores: None }))
    }

    /// Falls back to `nw_slice`, which can compute most batches.
    fn alternative(chosen: PairsChoice) -> Option<PairsChoice> {
        let PairsChoice::Global(chosen) = chosen else { return None };
        let slice = of_kind(KernelKind::Slice(ScoreType::I32));
        if chosen.choice.kernel.kind == slice.kind {
            return None;
        }
        let choice = KernelChoice { kernel: slice, aligned: false, ..chosen.choice };
        Some(PairsChoice::Global(ChosenKernel { choice, ..chosen }))
    }

    fn record(
        host: &mut PairsDeviceState,
        site: &mut BatchContext<'_>,
        PairsSlot { slice, matrix, tile }: &mut PairsSlot,
        batch: &Arc<PairsBatch>,
        chosen: &mut PairsChoice,
    ) -> Result<()> {
        let chosen = match chosen {
            PairsChoice::Global(chosen) => chosen,
            PairsChoice::Local(chosen) => return host.start_tiles(site, tile, batch, chosen),
        };
        let ChosenKernel { choice, extent, ref scoring, .. } = *chosen;
        let stores = match choice.kernel.kind {
            KernelKind::Slice(numbers) => host.start_slice(site, slice, batch, numbers, scoring.clone())?,
            KernelKind::Scan(scan) => host.start_matrix(site, matrix, scan, batch, extent, scoring.clone())?,
            _ => return Err(host.kernels.gpu.refusal(format!("{} does not compute pairs", choice.kernel.stem))),
        };
        chosen.stores = Some(stores);
        Ok(())
    }

    fn decode(
        host: &mut PairsDeviceState,
        PairsSlot { slice, matrix, tile }: &mut PairsSlot,
        batch: &Arc<PairsBatch>,
        chosen: &PairsChoice,
        results: BatchResults,
    ) -> Result<PairsReport> {
        let chosen = match chosen {
            PairsChoice::Global(chosen) => chosen,
            PairsChoice::Local(chosen) => return host.decode_tiles(tile, batch, chosen, results),
        };
        if chosen.choice.kernel.scan().is_none() {
            return slice.decode(&host.kernels.gpu, results);
        }
        let (report, taken) = matrix.decode(&host.kernels.gpu, results)?;
        if let Some(taken) = taken {
            // Expects slightly more words than the last batch needed, because the next batch
            // belongs to the same job.
            let words = &mut host.words_a_symbol[is_filtered(batch) as usize];
            *words = (1.3 * taken + 0.01).max(0.3 * *words);
        }
        Ok(report)
    }

    /// Aligns the pairs that a filter keeps.
    fn follow_up(
        host: &mut PairsDeviceState,
        site: &mut BatchContext<'_>,
        first: FinishedBatch<'_, Pairs>,
        trace_seconds: f64,
    ) -> Result<Option<FollowUp<Pairs>>> {
        let aligning = host.align_survivors(site, first, trace_seconds);
        Ok(aligning.map(|(batch, kernel)| (batch, PairsChoice::Global(kernel))))
    }

    fn join(first: PairsReport, second: PairsReport) -> PairsReport {
        let kernel_time = first.kernel_time.map(|time| time + second.kernel_time.unwrap_or_default());
        PairsReport { unfinished: first.unfinished, kernel_time, ..second }
    }

    fn learn(
        host: &mut PairsDeviceState,
        kernel: Option<&'static Kernel>,
        batch: &PairsBatch,
        chosen: &PairsChoice,
        report: &PairsReport,
    ) -> Option<f64> {
        let PairsChoice::Global(ChosenKernel { choice, .. }) = chosen else { return None };
        if choice.kernel.scan().is_none() && is_filtered(batch) {
            host.prices.observe_open(report.hits.len() as u64, batch.pairs());
        }
        if let Some(time) = report.kernel_time {
            host.prices.observe(batch, choice, time.as_secs_f64());
        }
        // A kernel that the user selected is kept.
        if kernel.is_none() { host.expect_next(batch, choice) } else { None }
    }

    fn unfinished_report(batch: &PairsBatch) -> PairsReport {
        PairsReport { unfinished: (0..batch.blocks.len()).collect(), ..PairsReport::default() }
    }
}

/// Returns whether a filter may drop pairs of a batch.
fn is_filtered(batch: &PairsBatch) -> bool {
    matches!(batch.chunk.filter, ResultFilter::Reaching(_))
}
