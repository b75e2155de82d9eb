//! Profiles against profiles on a GPU: what [`crate::gpu::engine::GpuEngine`] has to know of it. The device divides the matrix into
//! rectangles of few rows; whoever takes a report finishes these.

use std::sync::Arc;

use super::divided::Divided;
use super::kernels::layout::Node;
use super::kernels::program::{MAX_LETTERS, Variant};
pub use super::kernels::tasks::Shape;
use super::kernels::tasks::{Launch, MIN_ROWS, Tasks};
use super::work::{Merged, Profile, ProfileBatch, ProfileReport};
use crate::error::Result;
use crate::gpu::adapter::FoundAdapter;
use crate::gpu::device::Gpu;
use crate::gpu::engine::{self, BatchContext, GpuKind};
use crate::gpu::kernel_set::{KernelSet, KernelSizes, has_kernel_set};
use crate::gpu::launch::{BatchResults, Buffers};
use crate::gpu::memory::memory_budget;

/// Seconds of work that the first batch should be.
const FIRST_SECONDS: f64 = 0.02;
/// Pairs of profiles a batch at most.
const MAX_PAIRS: u64 = 1 << 8;

/// A GPU that divides the matrices of profiles.
pub type ProfileGpu = engine::GpuEngine<Profile>;

impl KernelSizes for Shape {
    fn for_adapter(_found: &FoundAdapter, _gpu: &Gpu) -> Self {
        Shape { workgroup: 32, columns: 128, cross: 64, least_rows: MIN_ROWS }
    }
}

/// What the room has on a device, whatever batches are in flight.
pub struct ProfileHost {
    kernels: KernelSet<Variant, Shape>,
    /// Pairs of profiles that keep the device busy.
    fill: u64,
}

impl ProfileGpu {
    /// Opens an adapter.
    pub fn open(found: &FoundAdapter) -> Result<Self> {
        let gpu = Gpu::open(found)?;
        let (assumed, fill) = found.description.suited((1e11, 32), (1e10, 8), (5e7, 1));
        let host = ProfileHost { kernels: KernelSet::new(&gpu, found), fill };
        Ok(engine::GpuEngine::new(gpu, host, memory_budget(found, None), assumed))
    }
}

has_kernel_set!(ProfileHost, Variant, Shape);

impl GpuKind for Profile {
    type Choice = Tasks;
    type DeviceState = ProfileHost;
    type Slot = Buffers;

    const FIRST_SECONDS: f64 = FIRST_SECONDS;
    const MAX_PAIRS: u64 = MAX_PAIRS;

    /// One pair of profiles leaves most of a large card idle.
    fn fill(host: &ProfileHost) -> u64 {
        host.fill
    }

    fn resident_bytes(_memory: u64) -> u64 {
        0
    }

    fn choose(host: &mut ProfileHost, site: &mut BatchContext<'_>, batch: &Arc<ProfileBatch>) -> Result<Tasks> {
        let tasks = Tasks::new(batch, host.kernels.shape);
        let tasks =
            tasks.ok_or_else(|| host.kernels.gpu.unsuited("scores of profiles exceed 30 bits, or their tenths 8"))?;
        let [rows, columns, corners] = tasks.borders;
        let data = size_of_val(&tasks.data[..]) as u64;
        let largest = data.max(8 * rows).max(8 * columns).max(4 * corners).max(size_of_val(&tasks.nodes[..]) as u64);
        let all = data + 8 * rows + 8 * columns + 4 * corners;
        if tasks.letters > MAX_LETTERS || largest > host.kernels.binding || all > site.memory / 4 {
            return Err(host
                .kernels
                .gpu
                .unsuited(format!("profiles of {} letters take {all} bytes of it", tasks.letters)));
        }
        Ok(tasks)
    }

    fn record(
        host: &mut ProfileHost,
        _site: &mut BatchContext<'_>,
        buffers: &mut Buffers,
        _batch: &Arc<ProfileBatch>,
        tasks: &mut Tasks,
    ) -> Result<()> {
        let Shape { workgroup, columns, cross, .. } = host.kernels.shape;
        let tile = Variant::Tile { workgroup, columns, letters: tasks.letters.max(4) };
        let (tile, cross) = (host.kernels.get(tile)?, host.kernels.get(Variant::Cross { workgroup: cross })?);
        let mut recording = buffers.record(&host.kernels.gpu);
        recording.upload("problems", &tasks.problems)?;
        recording.upload("data", &tasks.data)?;
        recording.upload("nodes", &tasks.nodes)?;
        let [rows, columns, corners] = tasks.borders;
        recording.reserve("rows", 8 * rows)?;
        recording.reserve("columns", 8 * columns)?;
        recording.reserve("corners", 4 * corners)?;
        for (launch, params, groups) in &tasks.launches {
            let program = match launch {
                Launch::Tiles => &tile,
                Launch::Crossings => &cross,
            };
            recording.dispatch(program, params, *groups);
        }
        recording.copy_back("nodes", 0..size_of_val(&tasks.nodes[..]) as u64)?;
        recording.submit("profiles")
    }

    fn decode(
        _host: &mut ProfileHost,
        _buffers: &mut Buffers,
        _batch: &Arc<ProfileBatch>,
        tasks: &Tasks,
        results: BatchResults,
    ) -> Result<ProfileReport> {
        let nodes: &[Node] = bytemuck::cast_slice(&results.words[..tasks.nodes.len() * size_of::<Node>() / 4]);
        let merged = (0..tasks.problems.len()).map(|problem| Merged::Divided(tasks.divided(problem, nodes))).collect();
        Ok(ProfileReport { merged, unfinished: Vec::new(), kernel_time: results.kernel_time })
    }

    fn unfinished_report(batch: &ProfileBatch) -> ProfileReport {
        ProfileReport {
            merged: vec![Merged::Divided(Divided::default()); batch.blocks.len()],
            unfinished: (0..batch.blocks.len()).collect(),
            kernel_time: None,
        }
    }
}
