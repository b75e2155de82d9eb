//! Pairs of whole sequences on a GPU: what [`crate::gpu::engine::GpuEngine`] has to know of them.

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

use self::choice::{Choice, Prices};
use self::matrix::MatrixSlot;
use self::programs::Shader;
use self::resident::{Resident, ResidentStores};
pub use self::shape::MatrixShape;
use self::shape::{Arenas, Expected};
use self::slot::SliceSlot;
pub use self::survivors::Survivors;
pub use self::tile::{COLUMNS as TILE_COLUMNS, LANES as TILE_LANES, TileShape};
use self::tile::{ChosenTiles, TileSlot, Tiles};
use super::kernels::nw_slice;
use super::plan::cost::Speeds;
use super::{Batch, Extent, Report, Want};
use crate::error::Result;
use crate::gpu::adapter::FoundAdapter;
use crate::gpu::choosing::WorkEstimate;
use crate::gpu::device::{Gpu, GrowingBuffer};
use crate::gpu::engine::{self, BatchContext, FinishedBatch, FollowUp, GpuKind};
use crate::gpu::kernel_set::{KernelSet, has_kernel_set};
use crate::gpu::kernels::{Family, Kernel, KernelKind, ScoreType, of_kind};
use crate::gpu::launch::{BatchResults, Slot};
use crate::gpu::memory::{MIN_BYTES, MemoryShares, memory_budget};
use crate::pairs::Pairs;
use crate::score::{Mode, OffsetScoring};

/// Seconds of work that the first batch should be.
const FIRST_SECONDS: f64 = 0.02;
/// Cells per second assumed of any device before anything was measured.
const FIRST_GUESS: f64 = 2e10;
/// Pairs a batch at most: bounds the output buffers to some hundred MiB.
const MAX_PAIRS: u64 = 12 << 20;
/// Bytes of the results of a batch with alignments at most: the host has to hold them too.
const MAX_OUTPUT_BYTES: u64 = 512 << 20;
/// Words of runs expected for a symbol of a pair's shorter sequence, before anything was seen: those of unrelated pairs,
/// and where a filter lets few pairs through. What is expected is copied to the host, needed or not.
const FIRST_WORDS_A_SYMBOL: [f64; 2] = [0.55, 0.02];

/// What is chosen per adapter, by measurement ([`tune`]) or by these defaults.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Config {
    /// Columns a slice of `nw_slice`.
    pub slice: u32,
    /// Invocations a workgroup of it.
    pub workgroup: u32,
    /// Columns a slice of `nw_slice_half`.
    pub half_slice: u32,
    /// Invocations a workgroup of it.
    pub half_workgroup: u32,
    /// `nw_slice_half` is used unasked, where it can be.
    pub halves: bool,
    /// Cells per second of `nw_slice` measured, or 0.
    pub cells_per_second: f64,
    /// Speeds of all kernels, where they were measured.
    pub speeds: Option<Speeds>,
}

impl Default for Config {
    fn default() -> Self {
        // The best on an H200 at gene length: 7.1 TCUPS; 28 and 44 columns stay within 3% of it.
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
    /// The defaults for a kind of adapter.
    pub fn for_adapter(found: &FoundAdapter) -> Self {
        if !found.is_software() {
            return Config::default();
        }
        // Halves are emulated there.
        let (slice, workgroup) = (12, 16);
        let (half_slice, half_workgroup, halves) = (slice, workgroup, false);
        Config { slice, workgroup, half_slice, half_workgroup, halves, ..Config::default() }
    }

    /// Columns a slice and invocations a workgroup of the kernel that has such numbers.
    pub fn sizes(&self, numbers: ScoreType) -> (u32, u32) {
        match numbers {
            ScoreType::I32 => (self.slice, self.workgroup),
            ScoreType::F16 => (self.half_slice, self.half_workgroup),
        }
    }

    /// The same with other sizes of one kernel, whose speed nobody knows yet.
    pub fn with_sizes(self, numbers: ScoreType, slice: u32, workgroup: u32) -> Self {
        match numbers {
            ScoreType::I32 => Config { slice, workgroup, cells_per_second: 0.0, speeds: None, ..self },
            ScoreType::F16 => Config { half_slice: slice, half_workgroup: workgroup, speeds: None, ..self },
        }
    }
}

/// A GPU that computes pairs of whole sequences.
pub type GpuEngine = engine::GpuEngine<Pairs>;

/// What pairs have on a device, whatever batches are in flight.
pub struct PairsHost {
    config: Config,
    kernels: KernelSet<Shader, MatrixShape>,
    stores: ResidentStores,
    scratch: GrowingBuffer,
    scratch_budget: u64,
    max_slots: u64,
    arenas: Arenas,
    /// Devices that the job computes on.
    devices: u32,
    tiles: Tiles,
    /// Threads that share what the host computes.
    pool: Option<Arc<rayon::ThreadPool>>,
    /// The pool's threads compute pairs of their own.
    is_host_busy: bool,
    /// Bytes that the output of a batch with alignments may take.
    output_budget: u64,
    /// Words of runs expected for a symbol, without and with a filter.
    words_a_symbol: [f64; 2],
    prices: Prices,
    /// Cells per second assumed of `nw_slice` before anything was measured.
    assumed_speed: f64,
    /// Who aligns the pairs that a filter leaves open.
    survivors: Survivors,
}

/// The kernel of a batch, and what it uses.
pub enum Chosen {
    /// For alignments of whole sequences.
    Global(ChosenKernel),
    /// For local scores.
    Local(ChosenTiles),
}

/// A kernel for alignments of whole sequences, and what a batch uses of the device.
pub struct ChosenKernel {
    choice: Choice,
    extent: Extent,
    scoring: OffsetScoring,
    /// The batch's queries and targets, once it is recorded.
    stores: Option<[Arc<Resident>; 2]>,
}

impl GpuEngine {
    /// Opens an adapter.
    pub fn open(found: &FoundAdapter, config: Config) -> Result<Self> {
        let gpu = Gpu::open(found)?;
        // More than this serves no kernel; the memory that the engine may take bounds it further.
        let (budget, max_slots, assumed_speed) =
            found.description.suited((2 << 30, 4096, 2e12), (512 << 20, 1024, 2e11), (96 << 20, 256, 1e9));
        let kernels = KernelSet::new(&gpu, found);
        let arenas = Arenas::new(&gpu, MIN_BYTES, u64::MAX);
        let host = PairsHost {
            config,
            arenas,
            devices: 1,
            stores: ResidentStores::new(kernels.binding),
            scratch: GrowingBuffer::default(),
            scratch_budget: kernels.binding.min(budget),
            max_slots,
            tiles: Tiles::new(TileShape::for_adapter(found)),
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
        Ok(engine::GpuEngine::new(gpu, host, memory_budget(found, None), speed))
    }
    /// Shares what the host computes among the threads of this pool; else it is done by the engine's own. Nobody may wait for the
    /// engine on a thread of the pool.
    pub fn with_pool(mut self, pool: Arc<rayon::ThreadPool>) -> Self {
        self.state.pool = Some(pool);
        self
    }

    /// Sets whether the pool's threads compute other pairs meanwhile. Then tracing on the host costs as much as with one thread.
    pub(crate) fn with_busy_host(mut self, is_busy: bool) -> Self {
        self.state.is_host_busy = is_busy;
        self
    }

    /// Allows this much scratch memory in bytes.
    pub fn with_scratch_budget(mut self, bytes: u64) -> Self {
        self.state.limit_scratch(bytes);
        self
    }

    /// Sizes of the kernels for local scores.
    pub fn with_tile_shape(mut self, shape: TileShape) -> Self {
        self.state.tiles = Tiles::new(shape);
        self
    }

    /// Allows this much memory in bytes for directions, in arenas of at most `arena` bytes.
    pub fn with_arenas(mut self, all: u64, arena: u64) -> Self {
        self.state.make_arenas(all, arena);
        self
    }

    /// Says how many devices a job computes on, this one among them: the more there are, the longer each waits for its memory.
    pub fn with_devices(mut self, devices: u32) -> Self {
        self.state.devices = devices;
        self
    }

    /// Has at most so many batches in flight: with two, the device computes one while the host reads the other (Truong et al.
    /// 2014, section 5.4 and figure 10a).
    pub fn with_batches(mut self, batches: usize) -> Self {
        self.limit_batches(batches);
        self
    }

    /// Says who aligns the pairs that a filter leaves open.
    pub fn with_survivors(mut self, survivors: Survivors) -> Self {
        self.state.survivors = survivors;
        self
    }

    /// Holds stores of at most this many bytes whole; of larger ones each batch uploads what it needs.
    pub fn with_store_limit(mut self, bytes: u64) -> Self {
        self.state.stores.limit_to(bytes);
        self
    }

    /// What a batch is for the kernel in use.
    fn work(&self, batch: &Batch) -> Result<WorkEstimate> {
        let extent = batch.extent();
        let scoring = nw_slice::offset_scoring(batch, &extent);
        let scoring = scoring.ok_or_else(|| self.gpu().unsuited("scores of this length do not fit 32 bits"))?;
        Ok(self.state.choose(self.kernel(), batch, extent, &scoring).work)
    }

    /// Changes the configuration; only between batches.
    pub fn configure(&mut self, config: Config) {
        self.state.config = config;
        self.state.prices = Prices::new(config, self.state.assumed_speed);
        self.forget_speed((config.cells_per_second > 0.0).then_some(config.cells_per_second));
    }

    /// The configuration.
    pub fn config(&self) -> Config {
        self.state.config
    }
}

impl PairsHost {
    fn limit_scratch(&mut self, bytes: u64) {
        self.scratch_budget = self.scratch_budget.min(bytes) & !15;
    }

    fn make_arenas(&mut self, all: u64, arena: u64) {
        self.arenas = Arenas::new(&self.kernels.gpu, all, arena);
    }

    /// If a batch like the last would now go to another kernel, that kernel's speed.
    fn expect_next(&self, batch: &Batch, last: &Choice) -> Option<f64> {
        let extent = batch.extent();
        let scoring = nw_slice::offset_scoring(batch, &extent)?;
        let next = self.choose(None, batch, extent, &scoring);
        let is_other = (next.kernel.stem, next.aligned) != (last.kernel.stem, last.aligned);
        is_other.then(|| self.prices.full_rate(batch, &next))
    }
}

/// Buffers of a batch of pairs: each kind of kernel has its own.
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

has_kernel_set!(PairsHost, Shader, MatrixShape);

impl GpuKind for Pairs {
    type Choice = Chosen;
    type DeviceState = PairsHost;
    type Slot = PairsSlot;

    const FIRST_SECONDS: f64 = FIRST_SECONDS;
    const MAX_PAIRS: u64 = MAX_PAIRS;

    /// Two batches may each have queries and targets of their own.
    fn resident_bytes(memory: u64) -> u64 {
        4 * MemoryShares::new(memory).store_bytes
    }

    fn store_bytes(host: &PairsHost) -> u64 {
        host.stores.limit()
    }

    fn limit_memory(host: &mut PairsHost, bytes: u64) {
        let shares = MemoryShares::new(bytes);
        host.output_budget = host.output_budget.min(shares.output_bytes);
        host.limit_scratch(shares.scratch_bytes);
        host.stores.limit_to(shares.store_bytes);
        host.make_arenas(shares.arena_bytes, u64::MAX);
    }

    fn release_scratch(host: &mut PairsHost) {
        host.scratch = GrowingBuffer::default();
        host.arenas.release();
    }

    fn choose(host: &mut PairsHost, site: &mut BatchContext<'_>, batch: &Arc<Batch>) -> Result<Chosen> {
        if batch.chunk.scoring.mode == Mode::Local {
            return host.choose_tiles(site, batch).map(Chosen::Local);
        }
        if let Some(kernel) = site.kernel
            && kernel.family() != Family::Pairs
        {
            return Err(host.kernels.gpu.unsuited(format!("{} has no scores of whole sequences", kernel.stem)));
        }
        if let Some(kernel) = site.kernel
            && !host.kernels.gpu.device.features().contains(kernel.features)
        {
            return Err(host.kernels.gpu.unsuited(format!("{} needs {:?}", kernel.stem, kernel.features)));
        }
        let extent = batch.extent();
        let Some(scoring) = nw_slice::offset_scoring(batch, &extent) else {
            return Err(host.kernels.gpu.unsuited("scores of this length do not fit 32 bits"));
        };
        if site.remaining_cells > 0 && batch.chunk.want.has_alignments() {
            let cells = site.remaining_cells.saturating_add(batch.cells());
            let affine = !batch.chunk.scoring.gaps.is_linear();
            host.arenas.suit(Expected { cells, affine, devices: host.devices });
        }
        let choice = host.choose(site.kernel, batch, extent, &scoring);
        tracing::trace!(kernel = choice.kernel.stem, pairs = batch.pairs(), cells = batch.cells(), "batch");
        Ok(Chosen::Global(ChosenKernel { choice, extent, scoring, stores: None }))
    }

    /// `nw_slice`, which takes most.
    fn alternative(chosen: Chosen) -> Option<Chosen> {
        let Chosen::Global(chosen) = chosen else { return None };
        let slice = of_kind(KernelKind::Slice(ScoreType::I32));
        if chosen.choice.kernel.kind == slice.kind {
            return None;
        }
        let choice = Choice { kernel: slice, aligned: false, ..chosen.choice };
        Some(Chosen::Global(ChosenKernel { choice, ..chosen }))
    }

    fn record(
        host: &mut PairsHost,
        site: &mut BatchContext<'_>,
        PairsSlot { slice, matrix, tile }: &mut PairsSlot,
        batch: &Arc<Batch>,
        chosen: &mut Chosen,
    ) -> Result<()> {
        let chosen = match chosen {
            Chosen::Global(chosen) => chosen,
            Chosen::Local(chosen) => return host.start_tiles(site, tile, batch, chosen),
        };
        let ChosenKernel { choice, extent, ref scoring, .. } = *chosen;
        let stores = match choice.kernel.kind {
            KernelKind::Slice(numbers) => host.start_slice(site, slice, batch, numbers, scoring.clone())?,
            KernelKind::Scan(scan) => host.start_matrix(site, matrix, scan, batch, extent, scoring.clone())?,
            _ => return Err(host.kernels.gpu.unsuited(format!("{} computes no pairs", choice.kernel.stem))),
        };
        chosen.stores = Some(stores);
        Ok(())
    }

    fn decode(
        host: &mut PairsHost,
        PairsSlot { slice, matrix, tile }: &mut PairsSlot,
        batch: &Arc<Batch>,
        chosen: &Chosen,
        results: BatchResults,
    ) -> Result<Report> {
        let chosen = match chosen {
            Chosen::Global(chosen) => chosen,
            Chosen::Local(chosen) => return host.decode_tiles(tile, batch, chosen, results),
        };
        if chosen.choice.kernel.scan().is_none() {
            return slice.decode(&host.kernels.gpu, results);
        }
        let (report, taken) = matrix.decode(&host.kernels.gpu, results)?;
        if let Some(taken) = taken {
            // A little more than the last batch took: the next is of the same job.
            let words = &mut host.words_a_symbol[is_filtered(batch) as usize];
            *words = (1.3 * taken + 0.01).max(0.3 * *words);
        }
        Ok(report)
    }

    /// Pairs that a filter leaves open are aligned.
    fn follow_up(
        host: &mut PairsHost,
        site: &mut BatchContext<'_>,
        first: FinishedBatch<'_, Pairs>,
        beside: f64,
    ) -> Result<Option<FollowUp<Pairs>>> {
        let aligning = host.align_survivors(site, first, beside);
        Ok(aligning.map(|(batch, kernel)| (batch, Chosen::Global(kernel))))
    }

    fn join(first: Report, second: Report) -> Report {
        let kernel_time = first.kernel_time.map(|time| time + second.kernel_time.unwrap_or_default());
        Report { unfinished: first.unfinished, kernel_time, ..second }
    }

    fn learn(
        host: &mut PairsHost,
        kernel: Option<&'static Kernel>,
        batch: &Batch,
        chosen: &Chosen,
        report: &Report,
    ) -> Option<f64> {
        let Chosen::Global(ChosenKernel { choice, .. }) = chosen else { return None };
        if choice.kernel.scan().is_none() && is_filtered(batch) {
            host.prices.observe_open(report.hits.len() as u64, batch.pairs());
        }
        if let Some(time) = report.kernel_time {
            host.prices.observe(batch, choice, time.as_secs_f64());
        }
        // A kernel that the user named stays.
        if kernel.is_none() { host.expect_next(batch, choice) } else { None }
    }

    fn unfinished_report(batch: &Batch) -> Report {
        Report { unfinished: (0..batch.blocks.len()).collect(), ..Report::default() }
    }
}

/// Whether only some of a batch's pairs are wanted.
fn is_filtered(batch: &Batch) -> bool {
    matches!(batch.chunk.want, Want::Reaching(_))
}
