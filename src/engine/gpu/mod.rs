//! The GPU engine: one adapter through wgpu.
//!
//! Work goes through two slots, each with buffers of its own: while the device computes one batch, the host
//! prepares the next and reads the last (the dual buffering of Truong et al. 2014, section 5.4, and figure 6a).
//! Sequence stores are uploaded once and stay.

pub mod adapter;
mod decode;
pub mod device;
mod dispatch;
mod matrix;
pub mod memory;
mod pipeline;
mod readback;
mod resident;
mod shape;
mod slot;
pub mod tune;
mod upload;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use self::adapter::FoundAdapter;
use self::device::{Gpu, GrowingBuffer};
use self::matrix::{MatrixSlot, MatrixWork};
use self::memory::{LEAST_BYTES, Shares};
use self::pipeline::{Pipelines, Shader};
use self::resident::ResidentStores;
use self::shape::Arenas;
pub use self::shape::MatrixShape;
use self::slot::Slot;
use super::{Batch, Capacity, Engine, Extent, Report, Ticket, Want};
use crate::error::{Error, Result};
use crate::kernels::matrix::MatrixTasks;
use crate::kernels::nw_slice::{self, TaskList, Variant};
use crate::kernels::{Kernel, Scan};
use crate::score::{EndGaps, OffsetScoring};

/// Seconds of work that a batch should be: long enough to hide its ends, short enough for desktop watchdogs.
const BATCH_SECONDS: f64 = 0.7;
/// Cells per second assumed of a device before anything was measured.
const FIRST_GUESS: f64 = 2e10;
/// Pairs a batch at most: bounds the output buffers to some hundred MiB.
const MAX_PAIRS: u64 = 12 << 20;
/// llvmpipe ends every loop of an invocation, without an error, once it has made 65,536 iterations in all (seen with
/// Mesa 22.3; LP_MAX_TGSI_LOOP_ITERATIONS in its sources). Stay below.
const LLVMPIPE_LOOP_ITERATIONS: u64 = 60_000;

/// Bytes of the results of a batch with alignments at most: the host has to hold them too.
const MOST_OUTPUT_BYTES: u64 = 512 << 20;
/// Words of runs expected for a symbol of a pair's shorter sequence, before anything was seen: those of unrelated pairs.
const FIRST_WORDS_A_SYMBOL: f64 = 0.55;

/// What is chosen per adapter, by measurement ([`tune`]) or by these defaults.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Config {
    /// Columns a slice.
    pub slice: u32,
    /// Invocations a workgroup.
    pub workgroup: u32,
    /// Cells per second measured, or 0.
    pub cells_per_second: f64,
}

impl Default for Config {
    fn default() -> Self {
        // The best on an H200 at gene length: 7.1 TCUPS; 28 and 44 columns stay within 3% of it.
        Config { slice: 36, workgroup: 64, cells_per_second: 0.0 }
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
    pipelines: Pipelines,
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
    words_a_symbol: f64,
    slots: Vec<(Slot, MatrixSlot)>,
    free_slots: Vec<usize>,
    /// Slot of a batch in flight, and whether its kernel is one of those that can store directions.
    in_flight: HashMap<Ticket, (usize, bool)>,
    next_ticket: u64,
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
        let (budget, max_slots) = match found.description.kind {
            "discrete" | "virtual" => (2 << 30, 4096),
            "integrated" => (512 << 20, 1024),
            _ => (96 << 20, 256),
        };
        let is_llvmpipe = found.description.driver.contains("llvmpipe");
        let binding = limits.max_storage_buffer_binding_size.min(limits.max_buffer_size) & !15;
        let arenas = Arenas::new(&gpu, LEAST_BYTES, u64::MAX);
        let slots: Vec<_> = (0..2).map(|_| (Slot::new(&gpu), MatrixSlot::new(&gpu))).collect();
        Ok(GpuEngine {
            config,
            pipelines: Pipelines::new(&gpu, arenas.count()),
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
            next_ticket: 0,
            speed: if config.cells_per_second > 0.0 { config.cells_per_second } else { FIRST_GUESS },
            kernel: None,
            buffering: Buffering::default(),
            gpu,
        }
        .with_memory(adapter::memory_budget(found, None)))
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
        self.pipelines = Pipelines::new(&self.gpu, self.arenas.count()).with_runtime_checks(true);
        self
    }

    /// Changes the texts of shaders before they are compiled (for tests of hardware that is not there). To be called after
    /// what else changes pipelines.
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
        let checks = self.pipelines.runtime_checks();
        self.pipelines = Pipelines::new(&self.gpu, self.arenas.count()).with_runtime_checks(checks);
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

    /// Changes the configuration; only between batches.
    pub fn configure(&mut self, config: Config) {
        self.config = config;
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

    fn variant(&self, batch: &Batch) -> Variant {
        let scoring = &batch.band.scoring;
        Variant {
            slice: self.config.slice,
            workgroup: self.config.workgroup,
            codes: scoring.alphabet.size() as u32,
            affine: !scoring.gaps.is_linear(),
            free_ends: scoring.end_gaps == EndGaps::Free,
        }
    }

    /// The kernel that is expected to be fastest for a batch.
    fn fastest(&self, batch: &Batch, _extent: &Extent) -> &'static Kernel {
        &crate::kernels::KERNELS[matches!(batch.band.want, Want::Alignments) as usize]
    }

    /// Hands a batch to `nw_slice`.
    fn start_slice(&mut self, index: usize, batch: &Arc<Batch>, scoring: OffsetScoring) -> Result<()> {
        let variant = self.variant(batch);
        let (queries, targets) = self.stores.of_batch(&self.gpu, batch)?;
        let list = TaskList::new(batch, variant.workgroup, |id| queries.end_word(&batch.band.queries, id));
        let slot_bytes = variant.slot_bytes(list.rows_words());
        if slot_bytes > self.scratch_budget {
            return Err(self.gpu.unsuited(format!("{slot_bytes} bytes of scratch exceed {}", self.scratch_budget)));
        }
        if self.loop_budget.is_some_and(|budget| nw_slice::slices_within(budget, list.rows_words()) == 0) {
            return Err(self.gpu.unsuited("the driver ends loops as long as these sequences"));
        }
        let pipeline = self.pipelines.get(&self.gpu, Shader::Slice(variant))?;
        let (scratch, scratch_slots) = self.reserve_scratch(slot_bytes, list.tasks.len() as u64)?;
        let work = slot::Work {
            batch,
            list,
            scoring,
            variant,
            scratch_slots,
            loop_budget: self.loop_budget,
            pipeline: &pipeline,
            layout: self.pipelines.slice_layout(),
            queries: &queries,
            targets: &targets,
            scratch: &scratch,
        };
        self.slots[index].0.start(&self.gpu, work)
    }

    /// Hands a batch to a kernel that can store directions. If these do not fit, it gives values only.
    fn start_matrix(
        &mut self,
        index: usize,
        kernel: &'static Kernel,
        scan: Scan,
        batch: &Arc<Batch>,
        scoring: OffsetScoring,
    ) -> Result<()> {
        if !self.gpu.device.features().contains(kernel.features) {
            return Err(self.gpu.unsuited(format!("{} needs {:?}", kernel.stem, kernel.features)));
        }
        let (queries, targets) = self.stores.of_batch(&self.gpu, batch)?;
        let query_end = |id| queries.end_word(&batch.band.queries, id);
        let wants_walk = !matches!(batch.band.want, Want::Scores) && scoring.carries_matches();
        let of_walk = |walk| {
            let variant = self.shape.variant(scan, batch, &self.gpu.description, self.arenas.count(), walk);
            MatrixTasks::new(batch, &variant, self.arenas.quads(), query_end).map(|list| (variant, list))
        };
        let fitting = if wants_walk { of_walk(true) } else { None };
        let Some((variant, list)) = fitting.or_else(|| of_walk(false)) else {
            return Err(self
                .gpu
                .unsuited(format!("{} bytes of memory are too few for a pair", 16 * self.arenas.quads())));
        };
        let rows = list.tasks.iter().map(|task| task.rows_words as u64 * 4).max().unwrap_or(4);
        let iterations = variant.iterations_a_pass(rows).max(variant.walk_iterations(batch.extent().sum));
        if self.loop_budget.is_some_and(|budget| iterations > budget) {
            return Err(self.gpu.unsuited("the driver ends loops as long as these sequences"));
        }
        let pipeline = self.pipelines.get(&self.gpu, Shader::Matrix(kernel.shader, variant))?;
        let walk_pipeline = self.pipelines.get(&self.gpu, Shader::Walk(variant))?;
        let arenas = self.arenas.reserve(&self.gpu, &list.arena_quads)?;
        let work = MatrixWork {
            batch,
            list,
            scoring,
            variant,
            walk: variant.directions,
            words_a_symbol: self.words_a_symbol,
            output_budget: self.output_budget,
            loop_budget: self.loop_budget,
            pipeline: &pipeline,
            walk_pipeline: &walk_pipeline,
            layout: self.pipelines.matrix_layout(),
            queries: &queries,
            targets: &targets,
        };
        self.slots[index].1.start(&self.gpu, work, &arenas)
    }

    /// Scratch for up to `tasks` slots at once, and for how many. If memory is short, for fewer.
    fn reserve_scratch(&mut self, slot_bytes: u64, tasks: u64) -> Result<(wgpu::Buffer, u32)> {
        let mut slots = (self.scratch_budget / slot_bytes).min(self.max_slots).min(tasks).max(1);
        loop {
            match self.scratch.reserve(&self.gpu, "scratch", slot_bytes * slots, wgpu::BufferUsages::STORAGE) {
                Ok(buffer) => return Ok((buffer.clone(), slots as u32)),
                Err(error) if slots == 1 => return Err(error),
                Err(error) => {
                    slots /= 2;
                    self.scratch_budget = slot_bytes * slots;
                    tracing::warn!("{error}; going on with {} MiB of scratch memory", self.scratch_budget >> 20);
                }
            }
        }
    }
}

impl Engine for GpuEngine {
    fn name(&self) -> &str {
        self.gpu.label()
    }

    fn capacity(&self) -> Capacity {
        Capacity {
            cells: (self.speed * BATCH_SECONDS) as u64,
            pairs: MAX_PAIRS.min(Shares::of(self.memory).pairs),
            store_bytes: self.stores.limit(),
            batches: if self.buffering == Buffering::Double { 2 } else { 1 },
        }
    }

    fn submit(&mut self, batch: Arc<Batch>) -> Result<Ticket> {
        self.gpu.check()?;
        let extent = batch.extent();
        let Some(scoring) = nw_slice::offset_scoring(&batch, &extent) else {
            return Err(self.gpu.unsuited("scores of this length do not fit 32 bits"));
        };
        let Some(index) = self.free_slots.pop() else {
            return Err(self.gpu.error("more batches than slots"));
        };
        let kernel = self.kernel.unwrap_or_else(|| self.fastest(&batch, &extent));
        let mut is_matrix = kernel.scan.is_some();
        let mut started = match kernel.scan {
            None => self.start_slice(index, &batch, scoring.clone()),
            Some(scan) => self.start_matrix(index, kernel, scan, &batch, scoring.clone()),
        };
        if self.kernel.is_none() && is_matrix && matches!(started, Err(Error::Unsuited { .. })) {
            is_matrix = false;
            started = self.start_slice(index, &batch, scoring);
        }
        if let Err(error) = started {
            self.free_slots.push(index);
            return Err(error);
        }
        let ticket = Ticket(self.next_ticket);
        self.next_ticket += 1;
        self.in_flight.insert(ticket, (index, is_matrix));
        Ok(ticket)
    }

    fn collect(&mut self, ticket: Ticket) -> Result<Report> {
        let Some((index, is_matrix)) = self.in_flight.remove(&ticket) else {
            return Err(self.gpu.error("a ticket that was never given"));
        };
        self.free_slots.push(index);
        let (slice, matrix) = &mut self.slots[index];
        let cells = if is_matrix { matrix.cells() } else { slice.cells() };
        let limit = Duration::from_secs(60) + Duration::from_secs_f64(cells as f64 / self.speed) * 50;
        let report = if is_matrix {
            let (report, taken) = matrix.finish(&self.gpu, limit)?;
            if let Some(taken) = taken {
                // A quarter more than the last batch took: the next is of the same job.
                self.words_a_symbol = (1.25 * taken + 0.01).max(0.8 * self.words_a_symbol);
            }
            report
        } else {
            slice.finish(&self.gpu, limit, self.buffering == Buffering::InPlace)?
        };
        if let Some(time) = report.kernel_time
            && time > Duration::from_millis(20)
        {
            self.speed = cells as f64 / time.as_secs_f64();
        } else if report.kernel_time.is_some() && cells as f64 > 0.5 * self.speed * BATCH_SECONDS {
            // Too short to measure: the batch was too small for this device.
            self.speed *= 4.0;
        }
        Ok(report)
    }
}
