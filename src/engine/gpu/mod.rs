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
mod pipeline;
mod readback;
mod resident;
mod slot;
pub mod tune;
mod upload;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use self::adapter::FoundAdapter;
use self::device::{Gpu, GrowingBuffer};
use self::matrix::{MatrixSlot, MatrixWork};
use self::pipeline::{Pipelines, Shader};
use self::resident::ResidentStores;
use self::slot::Slot;
use super::{Batch, Capacity, Engine, Extent, Report, Ticket, Want};
use crate::error::{Error, Result};
use crate::kernels::matrix::{self as matrix_kernels, MatrixTasks};
use crate::kernels::nw_slice::{self, TaskList, Variant};
use crate::kernels::{Kernel, Scan};
use crate::score::offset::fits;
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

/// Arenas at most: more than enough to fill any device.
const MOST_ARENAS: u64 = 16;
/// Words of runs expected for a symbol of a pair's shorter sequence, before anything was seen: those of unrelated pairs.
const FIRST_WORDS_A_SYMBOL: f64 = 0.55;

/// Sizes of the kernels that can store directions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MatrixShape {
    /// `nw_rows`: invocations a workgroup.
    pub rows_workgroup: u32,
    /// `nw_rows`: words of directions that a slice has a row.
    pub rows_words: u32,
    /// `nw_diagonal`: invocations a workgroup, which share a pair.
    pub diagonal_workgroup: u32,
    /// `nw_diagonal_subgroup`: invocations a workgroup, a multiple of every subgroup size.
    pub subgroup_workgroup: u32,
    /// `nw_tiled_diagonal`: invocations a workgroup.
    pub tile_workgroup: u32,
    /// `nw_tiled_diagonal`: rows of a tile, a multiple of 4.
    pub tile_rows: u32,
    /// Columns of a lane in the diagonal scans: 4, 8 or (linear gaps) 16; `None` for what pads least.
    pub lane_columns: Option<u32>,
}

impl Default for MatrixShape {
    fn default() -> Self {
        MatrixShape {
            rows_workgroup: 64,
            rows_words: 2,
            diagonal_workgroup: 64,
            subgroup_workgroup: 128,
            tile_workgroup: 32,
            tile_rows: 256,
            lane_columns: None,
        }
    }
}

impl MatrixShape {
    /// The defaults for a kind of adapter.
    pub fn for_adapter(found: &FoundAdapter) -> Self {
        let default = MatrixShape::default();
        if found.is_software() {
            MatrixShape { rows_workgroup: 16, rows_words: 1, diagonal_workgroup: 16, tile_workgroup: 16, ..default }
        } else {
            default
        }
    }

    /// The variant of a kernel for a batch.
    fn variant(
        &self,
        scan: Scan,
        batch: &Batch,
        adapter: &adapter::AdapterDescription,
        directions: bool,
        extent: &Extent,
    ) -> matrix_kernels::Variant {
        let scoring = &batch.band.scoring;
        let affine = !scoring.gaps.is_linear();
        let workgroup = match scan {
            Scan::Rows => self.rows_workgroup,
            Scan::Diagonal => self.diagonal_workgroup,
            Scan::DiagonalSubgroup => self.subgroup_workgroup,
            Scan::TiledDiagonal => self.tile_workgroup,
        };
        let of_columns = |columns: u32| matrix_kernels::Variant {
            scan,
            workgroup,
            columns,
            tile_rows: self.tile_rows,
            subgroup_sizes: adapter.subgroup_sizes.map(|size| size.clamp(4, 128)),
            codes: scoring.alphabet.size() as u32,
            affine,
            free_ends: scoring.end_gaps == EndGaps::Free,
            directions,
            tags: fits(scoring, extent.shorter as u64, extent.sum, true, 31 - if affine { 4 } else { 2 }),
        };
        if scan == Scan::Rows {
            return of_columns(self.rows_words * if affine { 8 } else { 16 });
        }
        if let Some(columns) = self.lane_columns {
            return of_columns(columns.min(if affine { 8 } else { 16 }));
        }
        // What a step costs beside its cells is about as much as four of them.
        let cost = |columns: &u32| {
            let variant = of_columns(*columns);
            let padded: u64 =
                batch.blocks.iter().map(|b| variant.padded_columns(batch.band.queries.length(b.query))).sum();
            padded * (*columns as u64 + 4) / *columns as u64
        };
        let choices: &[u32] = if affine { &[8, 4] } else { &[16, 8, 4] };
        of_columns(choices.iter().copied().min_by_key(cost).unwrap_or(4))
    }
}

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
    max_slots: u64,
    loop_budget: Option<u64>,
    shape: MatrixShape,
    arenas: Vec<GrowingBuffer>,
    /// Bytes of all arenas together, and of one.
    arena_budget: u64,
    arena_limit: u64,
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
        // No interface tells how much memory is free, so take what a card of the kind has to spare.
        let (budget, max_slots) = match found.description.kind {
            "discrete" | "virtual" => (2 << 30, 4096),
            "integrated" => (512 << 20, 1024),
            _ => (96 << 20, 256),
        };
        let is_llvmpipe = found.description.driver.contains("llvmpipe");
        let binding = limits.max_storage_buffer_binding_size.min(limits.max_buffer_size) & !15;
        let slots: Vec<_> = (0..2).map(|_| (Slot::new(&gpu), MatrixSlot::new(&gpu))).collect();
        Ok(GpuEngine {
            config,
            pipelines: Pipelines::new(&gpu),
            stores: ResidentStores::new(binding),
            scratch: GrowingBuffer::default(),
            scratch_budget: binding.min(budget),
            max_slots,
            loop_budget: is_llvmpipe.then_some(LLVMPIPE_LOOP_ITERATIONS),
            shape: MatrixShape::for_adapter(found),
            arenas: Vec::new(),
            arena_budget: if found.description.kind == "discrete" { 32 << 30 } else { budget },
            arena_limit: binding,
            words_a_symbol: FIRST_WORDS_A_SYMBOL,
            free_slots: (0..slots.len()).rev().collect(),
            slots,
            in_flight: HashMap::new(),
            next_ticket: 0,
            speed: if config.cells_per_second > 0.0 { config.cells_per_second } else { FIRST_GUESS },
            kernel: None,
            buffering: Buffering::default(),
            gpu,
        })
    }

    /// Compiles shaders with wgpu's bounds and loop checks (slower; for tests).
    pub fn with_runtime_checks(mut self) -> Self {
        self.pipelines = Pipelines::new(&self.gpu).with_runtime_checks();
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
        self.arena_budget = all & !15;
        self.arena_limit = self.arena_limit.min(arena) & !15;
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
    fn fastest(&self, _batch: &Batch, _extent: &Extent) -> &'static Kernel {
        &crate::kernels::KERNELS[0]
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
            layout: self.pipelines.layout(),
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
        let arena_words = self.arena_limit.min(self.arena_budget) / 4;
        let arenas = (self.arena_budget / (4 * arena_words)).clamp(1, MOST_ARENAS) as usize;
        let extent = batch.extent();
        let (mut variant, mut list) = (self.shape.variant(scan, batch, &self.gpu.description, false, &extent), None);
        for walk in [wants_walk, false] {
            variant = self.shape.variant(scan, batch, &self.gpu.description, walk, &extent);
            list = MatrixTasks::new(batch, &variant, arenas, arena_words, query_end);
            if list.is_some() {
                break;
            }
        }
        let Some(list) = list else {
            return Err(self.gpu.unsuited(format!("{} words of memory are too few for a pair", arena_words)));
        };
        let rows = list.tasks.iter().map(|task| task.rows_words as u64 * 4).max().unwrap_or(4);
        let symbols = extent.sum + rows;
        let iterations = variant.iterations_a_pass(rows).max(3 * symbols);
        if self.loop_budget.is_some_and(|budget| iterations > budget) {
            return Err(self.gpu.unsuited("the driver ends loops as long as these sequences"));
        }
        let pipeline = self.pipelines.get(&self.gpu, Shader::Matrix(kernel.shader, variant))?;
        let walk_pipeline = self.pipelines.get(&self.gpu, Shader::Walk(variant))?;
        let mut arenas = Vec::new();
        for (place, &words) in list.arena_words.iter().enumerate() {
            if place == self.arenas.len() {
                self.arenas.push(GrowingBuffer::default());
            }
            // Powers of two, so that a slightly larger batch does not mean a new buffer.
            let bytes = (4 * words).next_power_of_two().min(4 * arena_words);
            arenas.push(self.arenas[place].reserve(&self.gpu, "arena", bytes, wgpu::BufferUsages::STORAGE)?.clone());
        }
        let work = MatrixWork {
            batch,
            list,
            scoring,
            variant,
            walk: variant.directions,
            words_a_symbol: self.words_a_symbol,
            output_budget: self.arena_limit.min(self.arena_budget) / 2,
            loop_budget: self.loop_budget,
            pipeline: &pipeline,
            walk_pipeline: &walk_pipeline,
            layout: self.pipelines.layout(),
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
        &self.gpu.description.name
    }

    fn capacity(&self) -> Capacity {
        Capacity {
            cells: (self.speed * BATCH_SECONDS) as u64,
            pairs: MAX_PAIRS,
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
