//! The GPU engine: one adapter through wgpu.
//!
//! Work goes through two slots, each with buffers of its own: while the device computes one batch, the host
//! prepares the next and reads the last (the dual buffering of Truong et al. 2014, section 5.4, and figure 6a).
//! Sequence stores are uploaded once and stay.

mod choice;
mod decode;
mod dispatch;
mod matrix;
mod programs;
mod resident;
mod shape;
mod slot;
mod submit;
pub mod tune;
mod tuned;
mod upload;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use self::choice::{Choice, Chooser};
use self::matrix::MatrixSlot;
use self::programs::Shader;
use self::resident::ResidentStores;
use self::shape::Arenas;
pub use self::shape::MatrixShape;
use self::slot::Slot;
use super::kernels::nw_slice;
use super::plan::cost::{Speeds, Work};
use super::{Batch, Report, Want};
use crate::engine::{Capacity, Engine, Ticket};
use crate::error::{Error, Result};
use crate::gpu::adapter::{FoundAdapter, memory_budget};
use crate::gpu::device::{Gpu, GrowingBuffer};
use crate::gpu::kernels::{Kernel, Kind, of_kind};
use crate::gpu::memory::{LEAST_BYTES, Shares};
use crate::gpu::pipeline::Pipelines;
use crate::gpu::{BATCH_SECONDS, LLVMPIPE_LOOP_ITERATIONS};
use crate::pairs::Pairs;
use crate::score::Mode;

/// Seconds of work that the first batch should be.
const FIRST_SECONDS: f64 = 0.02;
/// Cells per second assumed of a device before anything was measured.
const FIRST_GUESS: f64 = 2e10;
/// Pairs a batch at most: bounds the output buffers to some hundred MiB.
const MAX_PAIRS: u64 = 12 << 20;
/// Bytes of the results of a batch with alignments at most: the host has to hold them too.
const MOST_OUTPUT_BYTES: u64 = 512 << 20;
/// Words of runs expected for a symbol of a pair's shorter sequence, before anything was seen: those of unrelated pairs,
/// and where a filter lets few pairs through. What is expected is copied to the host, needed or not.
const FIRST_WORDS_A_SYMBOL: [f64; 2] = [0.55, 0.02];

/// What is chosen per adapter, by measurement ([`tune`]) or by these defaults.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Config {
    /// Columns a slice.
    pub slice: u32,
    /// Invocations a workgroup.
    pub workgroup: u32,
    /// Cells per second of `nw_slice` measured, or 0.
    pub cells_per_second: f64,
    /// Speeds of all kernels, where they were measured.
    pub speeds: Option<Speeds>,
}

impl Default for Config {
    fn default() -> Self {
        // The best on an H200 at gene length: 7.1 TCUPS; 28 and 44 columns stay within 3% of it.
        Config { slice: 36, workgroup: 64, cells_per_second: 0.0, speeds: None }
    }
}

impl Config {
    /// The defaults for a kind of adapter.
    pub fn for_adapter(found: &FoundAdapter) -> Self {
        if found.is_software() { Config { slice: 12, workgroup: 16, ..Config::default() } } else { Config::default() }
    }
}

/// How batches and copies of results follow each other (Truong et al. 2014, section 5.4 and figure 10a).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Buffering {
    /// One batch at a time; results are copied out of the mapped buffer before they are used.
    Copied,
    /// One batch at a time; results are used where the device wrote them.
    InPlace,
    /// Two batches: the device computes one while the host reads the other.
    #[default]
    Double,
}

/// A GPU that computes batches.
pub struct GpuEngine {
    gpu: Gpu,
    config: Config,
    pipelines: Pipelines<Shader>,
    stores: ResidentStores,
    scratch: GrowingBuffer,
    scratch_budget: u64,
    /// Bytes that the engine may take in all.
    memory: u64,
    max_slots: u64,
    loop_budget: Option<u64>,
    shape: MatrixShape,
    arenas: Arenas,
    /// Bytes that the output of a batch with alignments may take.
    output_budget: u64,
    /// Words of runs expected for a symbol, without and with a filter.
    words_a_symbol: [f64; 2],
    slots: Vec<(Slot, MatrixSlot)>,
    free_slots: Vec<usize>,
    /// Slot and kernel of a batch in flight.
    in_flight: HashMap<Ticket, (usize, Arc<Batch>, Choice)>,
    chooser: Chooser,
    /// Cells per second assumed of `nw_slice` before anything was measured.
    assumed_speed: f64,
    next_ticket: u64,
    has_learnt: bool,
    speed: f64,
    kernel: Option<&'static Kernel>,
    buffering: Buffering,
}

impl GpuEngine {
    /// Opens an adapter.
    pub fn open(found: &FoundAdapter, config: Config) -> Result<Self> {
        let gpu = Gpu::open(found)?;
        let limits = gpu.device.limits();
        // More than this serves no kernel; the memory that the engine may take bounds it further.
        let (budget, max_slots, assumed_speed) = match found.description.kind {
            "discrete" | "virtual" => (2 << 30, 4096, 2e12),
            "integrated" => (512 << 20, 1024, 2e11),
            _ => (96 << 20, 256, 1e9),
        };
        let is_llvmpipe = found.description.driver.contains("llvmpipe");
        let binding = limits.max_storage_buffer_binding_size.min(limits.max_buffer_size) & !15;
        let arenas = Arenas::new(&gpu, LEAST_BYTES, u64::MAX);
        let slots: Vec<_> = (0..2).map(|_| (Slot::new(&gpu), MatrixSlot::new(&gpu))).collect();
        Ok(GpuEngine {
            config,
            pipelines: Pipelines::default(),
            arenas,
            stores: ResidentStores::new(binding),
            scratch: GrowingBuffer::default(),
            scratch_budget: binding.min(budget),
            memory: u64::MAX,
            max_slots,
            loop_budget: is_llvmpipe.then_some(LLVMPIPE_LOOP_ITERATIONS),
            shape: MatrixShape::for_adapter(found),
            output_budget: binding.min(MOST_OUTPUT_BYTES),
            words_a_symbol: FIRST_WORDS_A_SYMBOL,
            free_slots: (0..slots.len()).rev().collect(),
            slots,
            in_flight: HashMap::new(),
            chooser: Chooser::new(config, assumed_speed),
            assumed_speed,
            next_ticket: 0,
            has_learnt: false,
            speed: if config.cells_per_second > 0.0 { config.cells_per_second } else { FIRST_GUESS },
            kernel: None,
            buffering: Buffering::default(),
            gpu,
        }
        .with_memory(memory_budget(found, None)))
    }

    /// Takes at most this many bytes of the device's memory, in all its buffers together.
    pub fn with_memory(mut self, bytes: u64) -> Self {
        self.memory = self.memory.min(bytes);
        let shares = Shares::of(self.memory);
        self.output_budget = self.output_budget.min(shares.output_bytes);
        self.with_scratch_budget(shares.scratch_bytes)
            .with_store_limit(shares.store_bytes)
            .with_arenas(shares.arena_bytes, u64::MAX)
    }

    /// Bytes that the engine may take in all.
    pub fn memory(&self) -> u64 {
        self.memory
    }

    /// Compiles shaders with wgpu's bounds and loop checks (slower; for tests).
    pub fn with_runtime_checks(mut self) -> Self {
        self.pipelines = self.pipelines.with_runtime_checks();
        self
    }

    /// Changes the texts of shaders before they are compiled (for tests of hardware that is not there).
    pub fn with_rewritten_shaders(mut self, rewrite: Box<dyn Fn(String) -> String + Send>) -> Self {
        self.pipelines = self.pipelines.with_rewrite(rewrite);
        self
    }

    /// Allows this much scratch memory in bytes.
    pub fn with_scratch_budget(mut self, bytes: u64) -> Self {
        self.scratch_budget = self.scratch_budget.min(bytes) & !15;
        self
    }

    /// Uses this kernel for every batch; `None` for the one that is expected to be fastest.
    pub fn with_kernel(mut self, kernel: Option<&'static Kernel>) -> Self {
        self.kernel = kernel;
        self
    }

    /// Sizes of the kernels that can store directions.
    pub fn with_matrix_shape(mut self, shape: MatrixShape) -> Self {
        self.shape = shape;
        self
    }

    /// Allows this much memory in bytes for directions, in arenas of at most `arena` bytes.
    pub fn with_arenas(mut self, all: u64, arena: u64) -> Self {
        self.arenas = Arenas::new(&self.gpu, all, arena);
        self
    }

    /// Changes how batches and copies follow each other.
    pub fn with_buffering(mut self, buffering: Buffering) -> Self {
        self.buffering = buffering;
        self
    }

    /// Holds stores of at most this many bytes whole; of larger ones each batch uploads what it needs.
    pub fn with_store_limit(mut self, bytes: u64) -> Self {
        self.stores = ResidentStores::new(self.stores.limit().min(bytes) & !3);
        self
    }

    /// [`GpuEngine::with_kernel`] for an engine in use.
    pub fn use_kernel(&mut self, kernel: Option<&'static Kernel>) {
        self.kernel = kernel;
    }

    /// If a batch like the last would now go to another kernel, the next is sized by that kernel's speed.
    fn expect_next(&mut self, batch: &Batch, last: &Choice) {
        let extent = batch.extent();
        let Some(scoring) = nw_slice::offset_scoring(batch, &extent) else { return };
        let next = self.choose(batch, extent, &scoring);
        if (next.kernel.stem, next.aligned) != (last.kernel.stem, last.aligned) {
            self.speed = self.chooser.full_rate(batch, &next);
        }
    }

    /// What a batch is for the kernel in use.
    fn work(&self, batch: &Batch) -> Result<Work> {
        let extent = batch.extent();
        let scoring = nw_slice::offset_scoring(batch, &extent);
        let scoring = scoring.ok_or_else(|| self.gpu.unsuited("scores of this length do not fit 32 bits"))?;
        Ok(self.choose(batch, extent, &scoring).work)
    }

    /// Changes the configuration; only between batches.
    pub fn configure(&mut self, config: Config) {
        self.config = config;
        self.has_learnt = false;
        self.chooser = Chooser::new(config, self.assumed_speed);
        if config.cells_per_second > 0.0 {
            self.speed = config.cells_per_second;
        }
    }

    /// The configuration.
    pub fn config(&self) -> Config {
        self.config
    }

    /// The opened device.
    pub fn gpu(&self) -> &Gpu {
        &self.gpu
    }
}

impl Engine<Pairs> for GpuEngine {
    fn name(&self) -> &str {
        self.gpu.label()
    }

    fn capacity(&self) -> Capacity {
        Capacity {
            // The first batch teaches how fast the kernels are here, and how many pairs a filter leaves open.
            cells: (self.speed * if self.has_learnt { BATCH_SECONDS } else { FIRST_SECONDS }) as u64,
            pairs: MAX_PAIRS.min(Shares::of(self.memory).pairs),
            store_bytes: self.stores.limit(),
            batches: if self.buffering == Buffering::Double && self.has_learnt { 2 } else { 1 },
        }
    }

    fn usual_cells(&self) -> u64 {
        (self.speed * BATCH_SECONDS) as u64
    }

    fn submit(&mut self, batch: Arc<Batch>) -> Result<Ticket> {
        self.gpu.check()?;
        if batch.band.scoring.mode == Mode::Local {
            return Err(self.gpu.unsuited("local alignments are computed on the CPU"));
        }
        let extent = batch.extent();
        let Some(scoring) = nw_slice::offset_scoring(&batch, &extent) else {
            return Err(self.gpu.unsuited("scores of this length do not fit 32 bits"));
        };
        let Some(index) = self.free_slots.pop() else {
            return Err(self.gpu.error("more batches than slots"));
        };
        let mut choice = self.choose(&batch, extent, &scoring);
        tracing::trace!(kernel = choice.kernel.stem, pairs = batch.pairs(), cells = batch.cells(), "batch");
        let mut started = match choice.kernel.kind {
            Kind::Slice => self.start_slice(index, &batch, scoring.clone()),
            Kind::Scan(scan) => self.start_matrix(index, choice.kernel, scan, (&batch, extent), scoring.clone()),
            _ => Err(self.gpu.unsuited(format!("{} computes no pairs", choice.kernel.stem))),
        };
        if self.kernel.is_none() && choice.kernel.scan().is_some() && matches!(started, Err(Error::Unsuited { .. })) {
            choice = Choice { kernel: of_kind(Kind::Slice), aligned: false, ..choice };
            started = self.start_slice(index, &batch, scoring);
        }
        if let Err(error) = started {
            self.free_slots.push(index);
            return Err(error);
        }
        let ticket = Ticket(self.next_ticket);
        self.next_ticket += 1;
        self.in_flight.insert(ticket, (index, batch, choice));
        Ok(ticket)
    }

    fn collect(&mut self, ticket: Ticket) -> Result<Report> {
        let Some((index, batch, choice)) = self.in_flight.remove(&ticket) else {
            return Err(self.gpu.error("a ticket that was never given"));
        };
        self.free_slots.push(index);
        self.has_learnt = true;
        let (slice, matrix) = &mut self.slots[index];
        let is_matrix = choice.kernel.scan().is_some();
        let cells = batch.cells();
        let limit = Duration::from_secs(60) + Duration::from_secs_f64(cells as f64 / self.speed) * 50;
        let report = if is_matrix {
            let (report, taken) = matrix.finish(&self.gpu, limit)?;
            if let Some(taken) = taken {
                // A little more than the last batch took: the next is of the same job.
                let words = &mut self.words_a_symbol[is_filtered(&batch) as usize];
                *words = (1.3 * taken + 0.01).max(0.3 * *words);
            }
            report
        } else {
            slice.finish(&self.gpu, limit, self.buffering == Buffering::InPlace)?
        };
        if !is_matrix && is_filtered(&batch) {
            self.chooser.observe_open(report.hits.len() as u64, batch.pairs());
        }
        if let Some(seconds) = report.kernel_time.map(|time| time.as_secs_f64()) {
            let shown = cells as f64 / seconds.max(1e-4);
            if seconds > 0.2 * BATCH_SECONDS {
                self.speed = shown;
            } else {
                // Too short to say more than what the device can do at least.
                self.speed = self.speed.max(shown);
            }
            if seconds > 0.02 {
                self.chooser.observe(&batch, &choice, seconds);
            }
        }
        if self.kernel.is_none() {
            self.expect_next(&batch, &choice);
        }
        Ok(report)
    }
}

/// Whether only some of a batch's pairs are wanted.
fn is_filtered(batch: &Batch) -> bool {
    matches!(batch.band.want, Want::Reaching(_))
}
