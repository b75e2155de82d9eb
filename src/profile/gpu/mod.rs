//! Profiles against profiles on a GPU: what [`crate::gpu::engine::GpuEngine`] has to know of it. The device divides the matrix into
//! rectangles of few rows; whoever takes a report finishes these.

mod slot;

use std::sync::Arc;
use std::time::Duration;

use self::slot::{ProfileSlot, Programs};
use super::divided::Divided;
use super::kernels::program::{MOST_LETTERS, Variant};
pub use super::kernels::tasks::Shape;
use super::kernels::tasks::{LEAST_ROWS, Tasks};
use super::work::{Merged, Profile, ProfileBatch, ProfileReport};
use crate::error::Result;
use crate::gpu::adapter::{self, FoundAdapter};
use crate::gpu::device::Gpu;
use crate::gpu::engine::{self, GpuKind, Site};
use crate::gpu::kernels::Kernel;
use crate::gpu::pipeline::{Pipelines, Rewrite};

/// Seconds of work that the first batch should be.
const FIRST_SECONDS: f64 = 0.02;
/// Pairs of profiles a batch at most.
const MAX_PAIRS: u64 = 1 << 8;

/// A GPU that divides the matrices of profiles.
pub type ProfileGpu = engine::GpuEngine<Profile>;

/// What the room has on a device, whatever batches are in flight.
pub struct ProfileHost {
    gpu: Gpu,
    pipelines: Pipelines<Variant>,
    shape: Shape,
    /// Pairs of profiles that keep the device busy.
    fill: u64,
    /// Bytes of one binding at most.
    binding: u64,
}

impl ProfileGpu {
    /// Opens an adapter.
    pub fn open(found: &FoundAdapter) -> Result<Self> {
        let gpu = Gpu::open(found)?;
        let limits = gpu.device.limits();
        let (assumed, fill) = match found.description.kind {
            "discrete" | "virtual" => (1e11, 32),
            "integrated" => (1e10, 8),
            _ => (5e7, 1),
        };
        let host = ProfileHost {
            pipelines: Pipelines::default(),
            shape: Shape { workgroup: 32, columns: 128, cross: 64, least_rows: LEAST_ROWS },
            fill,
            binding: limits.max_storage_buffer_binding_size.min(limits.max_buffer_size) & !15,
            gpu: gpu.clone(),
        };
        Ok(engine::GpuEngine::new(gpu, host, adapter::memory_budget(found, None), assumed))
    }

    /// Sizes of the kernels.
    pub fn with_shape(mut self, shape: Shape) -> Self {
        self.host.shape = shape;
        self
    }

    /// Sizes of the kernels.
    pub fn shape(&self) -> Shape {
        self.host.shape
    }

    /// Compiles shaders with wgpu's bounds and loop checks (slower; for tests).
    pub fn with_runtime_checks(mut self) -> Self {
        self.host.pipelines = self.host.pipelines.with_runtime_checks();
        self
    }

    /// Changes the texts of shaders before they are compiled (for tests of hardware that is not there).
    pub fn with_rewritten_shaders(mut self, rewrite: Rewrite) -> Self {
        self.host.pipelines = self.host.pipelines.with_rewrite(rewrite);
        self
    }
}

impl GpuKind for Profile {
    type Choice = Tasks;
    type Host = ProfileHost;
    type Slot = ProfileSlot;

    const FIRST_SECONDS: f64 = FIRST_SECONDS;
    const MOST_PAIRS: u64 = MAX_PAIRS;

    /// One pair of profiles leaves most of a large card idle.
    fn fill(host: &ProfileHost) -> u64 {
        host.fill
    }

    fn slot(gpu: &Gpu) -> ProfileSlot {
        ProfileSlot::new(gpu)
    }

    fn resident_bytes(_memory: u64) -> u64 {
        0
    }

    fn store_bytes(_host: &ProfileHost) -> u64 {
        u64::MAX
    }

    fn release_slot(slot: &mut ProfileSlot) {
        slot.release();
    }

    fn choose(host: &mut ProfileHost, site: &mut Site<'_>, batch: &Arc<ProfileBatch>) -> Result<Tasks> {
        let tasks = Tasks::new(batch, host.shape);
        let tasks = tasks.ok_or_else(|| host.gpu.unsuited("scores of profiles exceed 30 bits, or their tenths 8"))?;
        let [rows, columns, corners] = tasks.borders;
        let data = size_of_val(&tasks.data[..]) as u64;
        let largest = data.max(8 * rows).max(8 * columns).max(4 * corners).max(size_of_val(&tasks.nodes[..]) as u64);
        let all = data + 8 * rows + 8 * columns + 4 * corners;
        if tasks.letters > MOST_LETTERS || largest > host.binding || all > site.memory / 4 {
            return Err(host.gpu.unsuited(format!("profiles of {} letters take {all} bytes of it", tasks.letters)));
        }
        Ok(tasks)
    }

    fn record(
        host: &mut ProfileHost,
        _site: &mut Site<'_>,
        slot: &mut ProfileSlot,
        _batch: &Arc<ProfileBatch>,
        tasks: &mut Tasks,
    ) -> Result<()> {
        let Shape { workgroup, columns, cross, .. } = host.shape;
        let tile = Variant::Tile { workgroup, columns, letters: tasks.letters.max(4) };
        let programs = Programs {
            tile: host.pipelines.get(&host.gpu, tile)?,
            cross: host.pipelines.get(&host.gpu, Variant::Cross { workgroup: cross })?,
        };
        slot.start(&host.gpu, tasks, &programs)
    }

    fn finish(
        host: &mut ProfileHost,
        slot: &mut ProfileSlot,
        _batch: &Arc<ProfileBatch>,
        tasks: &Tasks,
        limit: Duration,
    ) -> Result<ProfileReport> {
        slot.finish(&host.gpu, tasks, limit)
    }

    fn learn(
        _host: &mut ProfileHost,
        _kernel: Option<&'static Kernel>,
        _batch: &ProfileBatch,
        _tasks: &Tasks,
        _report: &ProfileReport,
    ) -> Option<f64> {
        None
    }

    fn nothing_of(batch: &ProfileBatch) -> ProfileReport {
        ProfileReport {
            merged: vec![Merged::Divided(Divided::default()); batch.blocks.len()],
            unfinished: (0..batch.blocks.len()).collect(),
            kernel_time: None,
        }
    }
}
