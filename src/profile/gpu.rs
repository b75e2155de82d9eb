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
use crate::gpu::kit::{Kit, has_kit};

/// Seconds of work that the first batch should be.
const FIRST_SECONDS: f64 = 0.02;
/// Pairs of profiles a batch at most.
const MAX_PAIRS: u64 = 1 << 8;

/// A GPU that divides the matrices of profiles.
pub type ProfileGpu = engine::GpuEngine<Profile>;

/// What the room has on a device, whatever batches are in flight.
pub struct ProfileHost {
    kit: Kit<Variant, Shape>,
    /// Pairs of profiles that keep the device busy.
    fill: u64,
}

impl ProfileGpu {
    /// Opens an adapter.
    pub fn open(found: &FoundAdapter) -> Result<Self> {
        let gpu = Gpu::open(found)?;
        let (assumed, fill) = found.description.suited((1e11, 32), (1e10, 8), (5e7, 1));
        let host = ProfileHost {
            kit: Kit::new(&gpu, Shape { workgroup: 32, columns: 128, cross: 64, least_rows: LEAST_ROWS }),
            fill,
        };
        Ok(engine::GpuEngine::new(gpu, host, adapter::memory_budget(found, None), assumed))
    }
}

has_kit!(ProfileHost, Variant, Shape);

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

    fn release_slot(slot: &mut ProfileSlot) {
        slot.release();
    }

    fn choose(host: &mut ProfileHost, site: &mut Site<'_>, batch: &Arc<ProfileBatch>) -> Result<Tasks> {
        let tasks = Tasks::new(batch, host.kit.shape);
        let tasks =
            tasks.ok_or_else(|| host.kit.gpu.unsuited("scores of profiles exceed 30 bits, or their tenths 8"))?;
        let [rows, columns, corners] = tasks.borders;
        let data = size_of_val(&tasks.data[..]) as u64;
        let largest = data.max(8 * rows).max(8 * columns).max(4 * corners).max(size_of_val(&tasks.nodes[..]) as u64);
        let all = data + 8 * rows + 8 * columns + 4 * corners;
        if tasks.letters > MOST_LETTERS || largest > host.kit.binding || all > site.memory / 4 {
            return Err(host.kit.gpu.unsuited(format!("profiles of {} letters take {all} bytes of it", tasks.letters)));
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
        let Shape { workgroup, columns, cross, .. } = host.kit.shape;
        let tile = Variant::Tile { workgroup, columns, letters: tasks.letters.max(4) };
        let programs =
            Programs { tile: host.kit.get(tile)?, cross: host.kit.get(Variant::Cross { workgroup: cross })? };
        slot.start(&host.kit.gpu, tasks, &programs)
    }

    fn finish(
        host: &mut ProfileHost,
        slot: &mut ProfileSlot,
        _batch: &Arc<ProfileBatch>,
        tasks: &Tasks,
        limit: Duration,
    ) -> Result<ProfileReport> {
        slot.finish(&host.kit.gpu, tasks, limit)
    }

    fn nothing_of(batch: &ProfileBatch) -> ProfileReport {
        ProfileReport {
            merged: vec![Merged::Divided(Divided::default()); batch.blocks.len()],
            unfinished: (0..batch.blocks.len()).collect(),
            kernel_time: None,
        }
    }
}
