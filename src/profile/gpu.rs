//! Alignment of profiles on a GPU.
//!
//! The device divides the matrix into rectangles of few rows. The CPU aligns these rectangles.

use std::sync::Arc;

use super::divided::DividedRectangles;
use super::kernels::layout::RectangleNode;
use super::kernels::program::{MAX_LETTERS, ProfileVariant};
pub use super::kernels::tasks::ProfileShape;
use super::kernels::tasks::{MIN_ROWS, ProfileLaunch, ProfileTasks};
use super::work::{ProfileBatch, ProfileMerge, ProfileReport, ProfileWork};
use crate::error::Result;
use crate::gpu::adapter::FoundAdapter;
use crate::gpu::device::Gpu;
use crate::gpu::engine::{self, BatchContext, GpuKind};
use crate::gpu::kernel_set::{KernelSet, KernelSizes, has_kernel_set};
use crate::gpu::launch::{BatchResults, Buffers};
use crate::gpu::memory::memory_budget;

/// Seconds of work in the first batch.
const FIRST_SECONDS: f64 = 0.02;
/// Maximum number of pairs of profiles in a batch.
const MAX_PAIRS: u64 = 1 << 8;

/// A GPU that divides the matrices of pairs of profiles.
pub type ProfileGpu = engine::GpuEngine<ProfileWork>;

impl KernelSizes for ProfileShape {
    fn for_adapter(_found: &FoundAdapter, _gpu: &Gpu) -> Self {
        ProfileShape { workgroup: 32, columns: 128, cross: 64, least_rows: MIN_ROWS }
    }
}

/// State of this module on a device, shared by all batches in flight.
pub struct ProfileDeviceState {
    kernels: KernelSet<ProfileVariant, ProfileShape>,
    /// Number of pairs of profiles that keep the device busy.
    fill: u64,
}

impl ProfileGpu {
    /// Opens an adapter.
    pub fn open(adapter: &FoundAdapter) -> Result<Self> {
        let gpu = Gpu::open(adapter)?;
        let (assumed, fill) = adapter.description.select_by_kind((1e11, 32), (1e10, 8), (5e7, 1));
        let host = ProfileDeviceState { kernels: KernelSet::new(&gpu, adapter), fill };
        Ok(engine::GpuEngine::new(gpu, host, memory_budget(adapter, None), assumed))
    }
}

has_kernel_set!(ProfileDeviceState, ProfileVariant, ProfileShape);

impl GpuKind for ProfileWork {
    type Choice = ProfileTasks;
    type DeviceState = ProfileDeviceState;
    type Slot = Buffers;

    const FIRST_SECONDS: f64 = FIRST_SECONDS;
    const MAX_PAIRS: u64 = MAX_PAIRS;

    /// Returns the number of pairs that keep the device busy, because one pair leaves most of a
    /// large GPU idle.
    fn fill(host: &ProfileDeviceState) -> u64 {
        host.fill
    }

    fn resident_bytes(_memory: u64) -> u64 {
        0
    }

    fn choose(
        host: &mut ProfileDeviceState,
        site: &mut BatchContext<'_>,
        batch: &Arc<ProfileBatch>,
    ) -> Result<ProfileTasks> {
        let tasks = ProfileTasks::new(batch, host.kernels.shape);
        let tasks = tasks.ok_or_else(|| {
            host.kernels.gpu.refusal("scores of profiles exceed 30 bits, or shares of letters exceed 8 bits")
        })?;
        let [rows, columns, corners] = tasks.borders;
        let data = size_of_val(&tasks.data[..]) as u64;
        let largest = data.max(8 * rows).max(8 * columns).max(4 * corners).max(size_of_val(&tasks.nodes[..]) as u64);
        let all = data + 8 * rows + 8 * columns + 4 * corners;
        if tasks.letters > MAX_LETTERS || largest > host.kernels.binding || all > site.memory / 4 {
            return Err(host
                .kernels
                .gpu
                .refusal(format!("profiles of {} letters need {all} bytes of its memory", tasks.letters)));
        }
        Ok(tasks)
    }

    fn record(
        host: &mut ProfileDeviceState,
        _site: &mut BatchContext<'_>,
        buffers: &mut Buffers,
        _batch: &Arc<ProfileBatch>,
        tasks: &mut ProfileTasks,
    ) -> Result<()> {
        let ProfileShape { workgroup, columns, cross, .. } = host.kernels.shape;
        let tile = ProfileVariant::Tile { workgroup, columns, letters: tasks.letters.max(4) };
        let (tile, cross) = (host.kernels.get(tile)?, host.kernels.get(ProfileVariant::Cross { workgroup: cross })?);
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
                ProfileLaunch::Tiles => &tile,
                ProfileLaunch::Crossings => &cross,
            };
            recording.dispatch(program, params, *groups);
        }
        recording.copy_back("nodes", 0..size_of_val(&tasks.nodes[..]) as u64)?;
        recording.submit("profiles")
    }

    fn decode(
        _host: &mut ProfileDeviceState,
        _buffers: &mut Buffers,
        _batch: &Arc<ProfileBatch>,
        tasks: &ProfileTasks,
        results: BatchResults,
    ) -> Result<ProfileReport> {
        let nodes: &[RectangleNode] =
            bytemuck::cast_slice(&results.words[..tasks.nodes.len() * size_of::<RectangleNode>() / 4]);
        let merged =
            (0..tasks.problems.len()).map(|problem| ProfileMerge::Divided(tasks.divided(problem, nodes))).collect();
        Ok(ProfileReport { merged, unfinished: Vec::new(), kernel_time: results.kernel_time })
    }

    fn unfinished_report(batch: &ProfileBatch) -> ProfileReport {
        ProfileReport {
            merged: vec![ProfileMerge::Divided(DividedRectangles::default()); batch.blocks.len()],
            unfinished: (0..batch.blocks.len()).collect(),
            kernel_time: None,
        }
    }
}
