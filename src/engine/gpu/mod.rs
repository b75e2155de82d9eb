//! The GPU engine: one adapter through wgpu.
//!
//! Work goes through two slots, each with buffers of its own: while the device computes one batch, the host
//! prepares the next and reads the last (the dual buffering of Truong et al. 2014, section 5.4, and figure 6a).
//! Sequence stores are uploaded once and stay.

pub mod adapter;
mod decode;
pub mod device;
mod dispatch;
pub mod memory;
mod readback;
mod resident;
mod slot;
pub mod tune;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use self::adapter::FoundAdapter;
use self::device::{Gpu, GrowingBuffer};
use self::memory::Shares;
use self::resident::ResidentStores;
use self::slot::Slot;
use super::{Batch, Capacity, Engine, Report, Ticket};
use crate::error::Result;
use crate::kernels::Kernel;
use crate::kernels::nw_slice::{self, TaskList, Variant};
use crate::score::EndGaps;

/// Seconds of work that a batch should be: long enough to hide its ends, short enough for desktop watchdogs.
const BATCH_SECONDS: f64 = 0.7;
/// Cells per second assumed of a device before anything was measured.
const FIRST_GUESS: f64 = 2e10;
/// Pairs a batch at most: bounds the output buffers to some hundred MiB.
const MAX_PAIRS: u64 = 12 << 20;
/// llvmpipe ends every loop of an invocation, without an error, once it has made 65,536 iterations in all (seen with
/// Mesa 22.3; LP_MAX_TGSI_LOOP_ITERATIONS in its sources). Stay below.
const LLVMPIPE_LOOP_ITERATIONS: u64 = 60_000;

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
    runtime_checks: bool,
    layout: wgpu::BindGroupLayout,
    pipelines: HashMap<Variant, wgpu::ComputePipeline>,
    stores: ResidentStores,
    scratch: GrowingBuffer,
    scratch_budget: u64,
    /// Bytes that the engine may take in all.
    memory: u64,
    max_slots: u64,
    loop_budget: Option<u64>,
    slots: Vec<Slot>,
    free_slots: Vec<usize>,
    in_flight: HashMap<Ticket, usize>,
    next_ticket: u64,
    speed: f64,
    kernel: Option<&'static Kernel>,
    buffering: Buffering,
}

impl GpuEngine {
    /// Opens an adapter.
    pub fn open(found: &FoundAdapter, config: Config) -> Result<Self> {
        let gpu = Gpu::open(found)?;
        let layout = bind_group_layout(&gpu.device);
        let limits = gpu.device.limits();
        // More than this serves no kernel; the memory that the engine may take bounds it further.
        let (budget, max_slots) = match found.description.kind {
            "discrete" | "virtual" => (2 << 30, 4096),
            "integrated" => (512 << 20, 1024),
            _ => (96 << 20, 256),
        };
        let is_llvmpipe = found.description.driver.contains("llvmpipe");
        let binding = limits.max_storage_buffer_binding_size.min(limits.max_buffer_size) & !15;
        let slots = vec![Slot::new(&gpu), Slot::new(&gpu)];
        Ok(GpuEngine {
            config,
            runtime_checks: false,
            layout,
            pipelines: HashMap::new(),
            stores: ResidentStores::new(binding),
            scratch: GrowingBuffer::default(),
            scratch_budget: binding.min(budget),
            memory: u64::MAX,
            max_slots,
            loop_budget: is_llvmpipe.then_some(LLVMPIPE_LOOP_ITERATIONS),
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
        self.with_scratch_budget(shares.scratch_bytes).with_store_limit(shares.store_bytes)
    }

    /// Bytes that the engine may take in all.
    pub fn memory(&self) -> u64 {
        self.memory
    }

    /// Compiles shaders with wgpu's bounds and loop checks (slower; for tests).
    pub fn with_runtime_checks(mut self) -> Self {
        self.runtime_checks = true;
        self.pipelines.clear();
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

    fn pipeline(&mut self, variant: Variant) -> Result<wgpu::ComputePipeline> {
        if let Some(pipeline) = self.pipelines.get(&variant) {
            return Ok(pipeline.clone());
        }
        let pipeline = build_pipeline(&self.gpu, &self.layout, &variant, self.runtime_checks)?;
        self.pipelines.insert(variant, pipeline.clone());
        Ok(pipeline)
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
        let variant = self.variant(&batch);
        let band = &batch.band;
        let query_ids = batch.blocks.iter().map(|block| block.query);
        let queries = self.stores.get(&self.gpu, &band.queries, query_ids)?;
        let ranges = batch.blocks.iter().flat_map(|block| block.targets.clone());
        let targets = self.stores.get(&self.gpu, &band.targets, ranges.map(|place| band.order[place as usize]))?;
        let list = TaskList::new(&batch, variant.workgroup, |id| queries.end_word(&band.queries, id));
        let slot_bytes = variant.slot_bytes(list.rows_words());
        if slot_bytes > self.scratch_budget {
            return Err(self.gpu.unsuited(format!("{slot_bytes} bytes of scratch exceed {}", self.scratch_budget)));
        }
        if self.loop_budget.is_some_and(|budget| nw_slice::slices_within(budget, list.rows_words()) == 0) {
            return Err(self.gpu.unsuited("the driver ends loops as long as these sequences"));
        }
        let pipeline = self.pipeline(variant)?;
        let (scratch, scratch_slots) = self.reserve_scratch(slot_bytes, list.tasks.len() as u64)?;
        let Some(index) = self.free_slots.pop() else {
            return Err(self.gpu.error("more batches than slots"));
        };
        let work = slot::Work {
            batch: &batch,
            list,
            scoring,
            variant,
            scratch_slots,
            loop_budget: self.loop_budget,
            pipeline: &pipeline,
            layout: &self.layout,
            queries: &queries,
            targets: &targets,
            scratch: &scratch,
        };
        if let Err(error) = self.slots[index].start(&self.gpu, work) {
            self.free_slots.push(index);
            return Err(error);
        }
        let ticket = Ticket(self.next_ticket);
        self.next_ticket += 1;
        self.in_flight.insert(ticket, index);
        Ok(ticket)
    }

    fn collect(&mut self, ticket: Ticket) -> Result<Report> {
        let Some(index) = self.in_flight.remove(&ticket) else {
            return Err(self.gpu.error("a ticket that was never given"));
        };
        self.free_slots.push(index);
        let cells = self.slots[index].cells();
        let expected = Duration::from_secs_f64(cells as f64 / self.speed);
        let report = self.slots[index].finish(&self.gpu, Duration::from_secs(60) + expected * 50)?;
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

/// Bindings of `nw_slice`: parameters with a dynamic offset, five read-only storage buffers, scratch and output.
fn bind_group_layout(device: &wgpu::Device) -> wgpu::BindGroupLayout {
    let entry = |binding: u32, ty: wgpu::BufferBindingType, has_dynamic_offset: bool| wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset, min_binding_size: None },
        count: None,
    };
    let read = wgpu::BufferBindingType::Storage { read_only: true };
    let write = wgpu::BufferBindingType::Storage { read_only: false };
    device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: Some("nw_slice"),
        entries: &[
            entry(0, wgpu::BufferBindingType::Uniform, true),
            entry(1, read, false),
            entry(2, read, false),
            entry(3, read, false),
            entry(4, read, false),
            entry(5, read, false),
            entry(6, write, false),
            entry(7, write, false),
        ],
    })
}

fn build_pipeline(
    gpu: &Gpu,
    layout: &wgpu::BindGroupLayout,
    variant: &Variant,
    runtime_checks: bool,
) -> Result<wgpu::ComputePipeline> {
    let device = &gpu.device;
    let validation = device.push_error_scope(wgpu::ErrorFilter::Validation);
    let descriptor = wgpu::ShaderModuleDescriptor {
        label: Some("nw_slice"),
        source: wgpu::ShaderSource::Wgsl(variant.source().into()),
    };
    let checks =
        if runtime_checks { wgpu::ShaderRuntimeChecks::checked() } else { wgpu::ShaderRuntimeChecks::unchecked() };
    // SAFETY: every index that the shader forms is below the size of what it indexes: task and target indices come from
    // lists of the sizes given, words from ranges inside the store, scratch from slot < slots and row < rows_words, codes
    // from stores of the alphabet; every loop ends. The tests run the same text with all checks on.
    let module = unsafe { device.create_shader_module_trusted(descriptor, checks) };
    let pipeline_layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: Some("nw_slice"),
        bind_group_layouts: &[Some(layout)],
        ..Default::default()
    });
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: Some("nw_slice"),
        layout: Some(&pipeline_layout),
        module: &module,
        entry_point: Some("main"),
        compilation_options: wgpu::PipelineCompilationOptions {
            constants: &[("WG", variant.workgroup as f64)],
            zero_initialize_workgroup_memory: false,
        },
        cache: None,
    });
    match pollster::block_on(validation.pop()) {
        Some(error) => Err(gpu.error(format!("shader nw_slice was refused: {error}"))),
        None => Ok(pipeline),
    }
}
