//! Probabilities of pairs on a GPU: what [`crate::gpu::engine::GpuEngine`] has to know of them. Sequences stay on the device.

mod dispatch;
mod results;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use self::dispatch::PosteriorWork;
use super::kernels::program::Variant;
use super::kernels::tasks::{Room, Tasks, table};
use super::sparse::Sparse;
use super::work::{Posterior, PosteriorBatch, PosteriorChunk, PosteriorReport};
use crate::error::Result;
use crate::gpu::adapter::FoundAdapter;
use crate::gpu::device::Gpu;
use crate::gpu::engine::{self, BatchContext, GpuKind};
use crate::gpu::kernel_set::{KernelSet, KernelSizes, has_kernel_set};
use crate::gpu::kernels::{KernelKind, PosteriorPass};
use crate::gpu::launch::{BatchResults, Buffers};
use crate::gpu::memory::{MemoryShares, memory_budget};
use crate::gpu::resident::Residents;

/// Seconds of work that the first batch should be.
const FIRST_SECONDS: f64 = 0.01;
/// Pairs of a batch at most.
const MAX_PAIRS: u64 = 1 << 15;
/// Bytes of results that a batch should have: the host makes probabilities of them while the device computes the next, and
/// memory that both reach is slow to be had. With what the next pairs may be longer a power of two.
const USUAL_RESULTS: f64 = 0.75 * (1 << 28) as f64;
/// Survivors a row that room is made for at least, and how many times as many as in the last batch: a batch that has more is
/// partly left to others, with a warning.
const MIN_DENSITY: f64 = 12.0;
const DENSITY_ROOM: f64 = 2.0;

/// A GPU that computes probabilities of pairs.
pub type PosteriorGpu = engine::GpuEngine<Posterior>;

/// Sizes of the kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PosteriorShape {
    /// Invocations a workgroup.
    pub workgroup: u32,
    /// Of these a pair; 0 for as many as suit a batch.
    pub lanes: u32,
}

impl KernelSizes for PosteriorShape {
    fn for_adapter(found: &FoundAdapter, _gpu: &Gpu) -> Self {
        // A workgroup is one subgroup on most cards: it waits for no other subgroup. Larger ones would need more workgroup
        // memory than all devices have.
        PosteriorShape { workgroup: if found.is_software() { 16 } else { 32 }, lanes: 0 }
    }
}

/// What the room has on a device, whatever batches are in flight.
pub struct PosteriorHost {
    kernels: KernelSet<Variant, PosteriorShape>,
    /// Pairs and workgroups that keep the device busy.
    fill: u64,
    groups: u64,
    /// Survivors a row that room is made for.
    density: f64,
    /// Cells of pairs like those of the last batch whose results are not too many.
    max_cells: u64,
    pool: Option<Arc<rayon::ThreadPool>>,
}

/// What lies on the device as long as the sequences do.
struct Resident {
    sequences: wgpu::Buffer,
    /// What every two codes of their alphabet weigh.
    weights: wgpu::Buffer,
}

/// How a batch is computed, and what it uses.
pub struct Chosen {
    resident: Arc<Resident>,
    tasks: Tasks,
    lanes: u32,
    /// Survivors that there is room for.
    capacity: u32,
    /// Whether no pair is finished, since one sweep alone is to be measured.
    is_partial: bool,
}

impl PosteriorGpu {
    /// Opens an adapter.
    pub fn open(found: &FoundAdapter) -> Result<Self> {
        let gpu = Gpu::open(found)?;
        let (assumed, fill, groups) =
            found.description.suited((5e10, 1 << 11, 1 << 10), (2e9, 1 << 7, 1 << 6), (2e7, 1, 1));
        let host = PosteriorHost {
            kernels: KernelSet::new(&gpu, found),
            fill,
            groups,
            density: MIN_DENSITY,
            max_cells: u64::MAX,
            pool: None,
        };
        Ok(engine::GpuEngine::new(gpu, host, memory_budget(found, None), assumed))
    }

    /// Reads results on the threads of this pool. Nobody may wait for it on a thread of the pool.
    pub fn with_pool(mut self, pool: Arc<rayon::ThreadPool>) -> Self {
        self.state.pool = Some(pool);
        self
    }
}

impl PosteriorHost {
    /// Invocations a pair: few waste few at the ends of strips, but of pairs that take much memory so many are not at work at
    /// once that the device is busy.
    fn lanes(&self, batch: &PosteriorBatch, kept_fours: u64) -> u32 {
        let PosteriorShape { workgroup, lanes } = self.kernels.shape;
        if lanes > 0 {
            return lanes;
        }
        let pairs = batch.pairs().max(1);
        let residues = (batch.cells() / pairs).isqrt() as u32;
        let is_enough = |&lanes: &u32| {
            let at_once = kept_fours / Room::kept_of(workgroup, lanes, [residues; 2]);
            at_once.min(pairs * u64::from(lanes) / u64::from(workgroup)) >= self.groups
        };
        [4, 8, 16].into_iter().filter(|&lanes| lanes < workgroup).find(is_enough).unwrap_or(workgroup)
    }

    /// Sequences on the device, with the weights of their codes.
    fn resident(&self, residents: &mut Residents, memory: u64, chunk: &PosteriorChunk) -> Result<Arc<Resident>> {
        if let Some(found) = residents.find(&chunk.sequences, |_: &Resident| true) {
            return Ok(found);
        }
        let (bytes, weights) = (chunk.sequences.packed_bytes(), table(&chunk.model));
        let (size, limit) = (bytes.len() as u64, self.kernels.binding.min(memory / 16));
        if size > limit {
            return Err(self.kernels.gpu.unsuited(format!("{size} bytes of sequences exceed its limit of {limit}")));
        }
        residents.make_room(size + size_of_val(&weights[..]) as u64);
        let sequences = self.kernels.gpu.upload("sequences", bytes)?;
        let weights = self.kernels.gpu.upload("weights", bytemuck::cast_slice(&weights))?;
        Ok(residents.keep(&chunk.sequences, sequences.size() + weights.size(), Resident { sequences, weights }))
    }

    /// Bytes of forward values that a batch may have: both slots have their own.
    fn kept_bytes(&self, memory: u64) -> u64 {
        (MemoryShares::new(memory).arena_bytes / 2).min(self.kernels.binding)
    }
}

has_kernel_set!(PosteriorHost, Variant, PosteriorShape);

impl GpuKind for Posterior {
    type Choice = Chosen;
    type DeviceState = PosteriorHost;
    type Slot = Buffers;

    const FIRST_SECONDS: f64 = FIRST_SECONDS;
    const MAX_PAIRS: u64 = MAX_PAIRS;

    fn max_cells(host: &PosteriorHost) -> u64 {
        host.max_cells
    }

    fn fill(host: &PosteriorHost) -> u64 {
        host.fill
    }

    fn resident_bytes(memory: u64) -> u64 {
        memory / 16
    }

    fn choose(host: &mut PosteriorHost, site: &mut BatchContext<'_>, batch: &Arc<PosteriorBatch>) -> Result<Chosen> {
        let resident = host.resident(site.residents, site.memory, &batch.chunk)?;
        let kept = host.kept_bytes(site.memory);
        let (workgroup, lanes) = (host.kernels.shape.workgroup, host.lanes(batch, kept / 16));
        let room = Room { workgroup, lanes, kept_fours: kept / 16, scratch_words: kept / 2 / 4 };
        let tasks = Tasks::new(batch, room).map_err(|error| host.kernels.gpu.unsuited(error))?;
        let capacity = (tasks.rows as f64 * host.density).min(f64::from(u32::MAX / 4)) as u32;
        let results = 4 * tasks.result_words + 8 * u64::from(capacity);
        if results > 0 {
            host.max_cells = (batch.cells() as f64 * USUAL_RESULTS / results as f64) as u64;
        }
        let is_partial = site.kernel.is_some_and(|kernel| kernel.kind == KernelKind::Posterior(PosteriorPass::Forward));
        Ok(Chosen { resident, tasks, lanes, capacity, is_partial })
    }

    fn record(
        host: &mut PosteriorHost,
        site: &mut BatchContext<'_>,
        buffers: &mut Buffers,
        batch: &Arc<PosteriorBatch>,
        chosen: &mut Chosen,
    ) -> Result<()> {
        let (workgroup, lanes) = (host.kernels.shape.workgroup, chosen.lanes);
        let alphabet = batch.chunk.sequences.alphabet();
        let sweeps = if chosen.is_partial {
            &[PosteriorPass::Forward][..]
        } else {
            &[PosteriorPass::Forward, PosteriorPass::Backward]
        };
        let mut programs = Vec::with_capacity(sweeps.len());
        for &sweep in sweeps {
            let variant = Variant::new(sweep, alphabet, workgroup, lanes);
            programs.push((variant, host.kernels.get(variant)?));
        }
        let work = PosteriorWork {
            symbols: &chosen.resident.sequences,
            table: &chosen.resident.weights,
            model: &batch.chunk.model,
            tasks: &chosen.tasks,
            programs: &programs,
            capacity: chosen.capacity,
            loop_budget: host.kernels.loop_budget,
            binding: host.kernels.binding,
            kept_bytes: host.kept_bytes(site.memory),
        };
        dispatch::record(&host.kernels.gpu, buffers, &work)
    }

    fn decode(
        host: &mut PosteriorHost,
        _buffers: &mut Buffers,
        batch: &Arc<PosteriorBatch>,
        chosen: &Chosen,
        results: BatchResults,
    ) -> Result<PosteriorReport> {
        let BatchResults { words, kernel_time, .. } = results;
        let kernel_time = kernel_time.filter(|_| !chosen.tasks.list.is_empty());
        if chosen.is_partial {
            return Ok(PosteriorReport { kernel_time, ..Self::unfinished_report(batch) });
        }
        let read = || results::read(&words, &chosen.tasks, chosen.capacity, batch);
        let (report, used) = match &host.pool {
            Some(pool) => pool.install(read),
            None => read(),
        };
        let density = used as f64 / chosen.tasks.rows.max(1) as f64 * DENSITY_ROOM;
        // What was too little once is not tried again.
        host.density =
            if used > u64::from(chosen.capacity) { density.max(host.density) } else { density.max(MIN_DENSITY) };
        Ok(PosteriorReport { kernel_time, ..report })
    }

    fn unfinished_report(batch: &PosteriorBatch) -> PosteriorReport {
        PosteriorReport {
            probabilities: vec![Sparse::default(); batch.pairs() as usize],
            unfinished: (0..batch.blocks.len()).collect(),
            kernel_time: None,
        }
    }
}
