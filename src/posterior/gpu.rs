//! Probabilities of pairs of sequences on a GPU. Sequences stay on the device. The kernels report
//! survivors, which are residue pairs whose probability may reach the cutoff. The host computes the
//! exact probabilities.

mod dispatch;
mod results;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use self::dispatch::PosteriorWork;
use super::kernels::program::PosteriorVariant;
use super::kernels::tasks::{PosteriorTasks, TaskResources, weight_table};
use super::model::Model;
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

/// Seconds of work in the first batch.
const FIRST_SECONDS: f64 = 0.01;
/// Maximum number of pairs in a batch.
const MAX_PAIRS: u64 = 1 << 15;
/// Target size of a batch's results, in bytes. The host reads them while the device computes the
/// next batch. Memory that both can access is slow to allocate, so buffers are reused. With a
/// reserve for longer pairs, the size is a power of two.
const USUAL_RESULT_BYTES: f64 = 0.75 * (1 << 28) as f64;
/// Survivors per row in the memory of a model's first batch. If a batch has more survivors, other
/// engines compute the rest, with a warning.
const FIRST_DENSITY: f64 = 32.0;
/// Minimum number of survivors per row in the memory of later batches.
const MIN_DENSITY: f64 = 12.0;
/// Ratio of a batch's memory to the survivors of the model's batch before.
const DENSITY_RESERVE: f64 = 2.0;

/// A GPU that computes probabilities of pairs.
pub type PosteriorGpu = engine::GpuEngine<Posterior>;

/// Kernel parameters chosen for a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PosteriorShape {
    /// Invocations in a workgroup.
    pub workgroup: u32,
    /// Invocations for each pair. 0 selects a number that suits the batch.
    pub lanes: u32,
}

impl KernelSizes for PosteriorShape {
    fn for_adapter(adapter: &FoundAdapter, _gpu: &Gpu) -> Self {
        // On most GPUs, a workgroup of 32 is one subgroup and never waits for another. Larger
        // workgroups would need more workgroup memory than some devices have.
        PosteriorShape { workgroup: if adapter.is_software() { 16 } else { 32 }, lanes: 0 }
    }
}

/// State of this module on a device, shared by all batches in flight.
pub struct PosteriorDeviceState {
    kernels: KernelSet<PosteriorVariant, PosteriorShape>,
    /// Numbers of pairs and workgroups that keep the device busy.
    fill: u64,
    groups: u64,
    /// Number of survivors per row in the reserved memory, for each model.
    densities: Vec<(Model, f64)>,
    /// Maximum number of cells of a batch, so that its results stay small. It is estimated from the
    /// last batch.
    max_cells: u64,
    pool: Option<Arc<rayon::ThreadPool>>,
}

/// Buffers that stay on the device for all batches of a store and a model.
struct PosteriorResident {
    sequences: wgpu::Buffer,
    /// Weights of all pairs of codes.
    weights: wgpu::Buffer,
    /// Model of the weights.
    model: Model,
}

/// Plan of a batch and its resources.
pub struct PosteriorBatchPlan {
    resident: Arc<PosteriorResident>,
    tasks: PosteriorTasks,
    lanes: u32,
    /// Capacity of the reserved memory, in survivors.
    capacity: u32,
    /// Whether the batch only measures the speed of one sweep. Its pairs are then reported as
    /// unfinished.
    is_partial: bool,
}

impl PosteriorGpu {
    /// Opens an adapter.
    pub fn open(adapter: &FoundAdapter) -> Result<Self> {
        let gpu = Gpu::open(adapter)?;
        let (assumed, fill, groups) =
            adapter.description.select_by_kind((5e10, 1 << 11, 1 << 10), (2e9, 1 << 7, 1 << 6), (2e7, 1, 1));
        let host = PosteriorDeviceState {
            kernels: KernelSet::new(&gpu, adapter),
            fill,
            groups,
            densities: Vec::new(),
            max_cells: u64::MAX,
            pool: None,
        };
        Ok(engine::GpuEngine::new(gpu, host, memory_budget(adapter, None), assumed))
    }

    /// Sets the pool whose threads read results. No thread of the pool may wait for this engine.
    pub fn with_pool(mut self, pool: Arc<rayon::ThreadPool>) -> Self {
        self.state.pool = Some(pool);
        self
    }
}

impl PosteriorDeviceState {
    /// Returns the number of survivors per row in the reserved memory.
    fn density(&mut self, model: &Model) -> &mut f64 {
        let index = self.densities.iter().position(|(known, _)| known == model).unwrap_or_else(|| {
            self.densities.push((model.clone(), FIRST_DENSITY));
            self.densities.len() - 1
        });
        &mut self.densities[index].1
    }

    /// Returns the number of invocations for each pair. Fewer invocations waste less time at the
    /// ends of strips. However, if memory limits the number of pairs, more invocations per pair are
    /// needed to keep the device busy.
    fn lanes(&self, batch: &PosteriorBatch, kept_fours: u64) -> u32 {
        let PosteriorShape { workgroup, lanes } = self.kernels.shape;
        if lanes > 0 {
            return lanes;
        }
        let pairs = batch.pairs().max(1);
        let residues = (batch.cells() / pairs).isqrt() as u32;
        let is_enough = |&lanes: &u32| {
            let at_once = kept_fours / TaskResources::forward_fours(workgroup, lanes, [residues; 2]);
            at_once.min(pairs * u64::from(lanes) / u64::from(workgroup)) >= self.groups
        };
        [4, 8, 16].into_iter().filter(|&lanes| lanes < workgroup).find(is_enough).unwrap_or(workgroup)
    }

    /// Returns the sequences and weights on the device. Uploads them if necessary.
    fn resident(
        &self,
        residents: &mut Residents,
        memory: u64,
        chunk: &PosteriorChunk,
    ) -> Result<Arc<PosteriorResident>> {
        if let Some(resident) = residents.find(&chunk.sequences, |known: &PosteriorResident| known.model == chunk.model)
        {
            return Ok(resident);
        }
        let (bytes, weights) = (chunk.sequences.packed_bytes(), weight_table(&chunk.model));
        let (size, limit) = (bytes.len() as u64, self.kernels.binding.min(memory / 16));
        if size > limit {
            return Err(self.kernels.gpu.refusal(format!("{size} bytes of sequences exceed its limit of {limit}")));
        }
        residents.make_room(size + size_of_val(&weights[..]) as u64);
        let sequences = self.kernels.gpu.upload("sequences", bytes)?;
        let weights = self.kernels.gpu.upload("weights", bytemuck::cast_slice(&weights))?;
        Ok(residents.keep(
            &chunk.sequences,
            sequences.size() + weights.size(),
            PosteriorResident { sequences, weights, model: chunk.model.clone() },
        ))
    }

    /// Returns the maximum bytes of forward values in a batch. Each of the two batches in flight
    /// has its own buffer.
    fn kept_bytes(&self, memory: u64) -> u64 {
        (MemoryShares::new(memory).arena_bytes / 2).min(self.kernels.binding)
    }
}

has_kernel_set!(PosteriorDeviceState, PosteriorVariant, PosteriorShape);

impl GpuKind for Posterior {
    type Choice = PosteriorBatchPlan;
    type DeviceState = PosteriorDeviceState;
    type Slot = Buffers;

    const FIRST_SECONDS: f64 = FIRST_SECONDS;
    const MAX_PAIRS: u64 = MAX_PAIRS;

    fn max_cells(host: &PosteriorDeviceState) -> u64 {
        host.max_cells
    }

    fn fill(host: &PosteriorDeviceState) -> u64 {
        host.fill
    }

    fn resident_bytes(memory: u64) -> u64 {
        memory / 16
    }

    fn choose(
        host: &mut PosteriorDeviceState,
        site: &mut BatchContext<'_>,
        batch: &Arc<PosteriorBatch>,
    ) -> Result<PosteriorBatchPlan> {
        let resident = host.resident(site.residents, site.memory, &batch.chunk)?;
        let kept = host.kept_bytes(site.memory);
        let (workgroup, lanes) = (host.kernels.shape.workgroup, host.lanes(batch, kept / 16));
        let resources = TaskResources { workgroup, lanes, kept_fours: kept / 16, scratch_words: kept / 2 / 4 };
        let tasks = PosteriorTasks::new(batch, resources).map_err(|error| host.kernels.gpu.refusal(error))?;
        let capacity = (tasks.rows as f64 * *host.density(&batch.chunk.model)).min(f64::from(u32::MAX / 4)) as u32;
        let results = 4 * tasks.result_words + 8 * u64::from(capacity);
        if results > 0 {
            host.max_cells = (batch.cells() as f64 * USUAL_RESULT_BYTES / results as f64) as u64;
        }
        let is_partial = site.kernel.is_some_and(|kernel| kernel.kind == KernelKind::Posterior(PosteriorPass::Forward));
        Ok(PosteriorBatchPlan { resident, tasks, lanes, capacity, is_partial })
    }

    fn record(
        host: &mut PosteriorDeviceState,
        site: &mut BatchContext<'_>,
        buffers: &mut Buffers,
        batch: &Arc<PosteriorBatch>,
        plan: &mut PosteriorBatchPlan,
    ) -> Result<()> {
        let (workgroup, lanes) = (host.kernels.shape.workgroup, plan.lanes);
        let alphabet = batch.chunk.sequences.alphabet();
        let sweeps = if plan.is_partial {
            &[PosteriorPass::Forward][..]
        } else {
            &[PosteriorPass::Forward, PosteriorPass::Backward]
        };
        let mut programs = Vec::with_capacity(sweeps.len());
        for &sweep in sweeps {
            let variant = PosteriorVariant::new(sweep, alphabet, workgroup, lanes);
            programs.push((variant, host.kernels.get(variant)?));
        }
        let work = PosteriorWork {
            symbols: &plan.resident.sequences,
            table: &plan.resident.weights,
            model: &batch.chunk.model,
            tasks: &plan.tasks,
            programs: &programs,
            capacity: plan.capacity,
            loop_budget: host.kernels.loop_budget,
            binding: host.kernels.binding,
            kept_bytes: host.kept_bytes(site.memory),
        };
        dispatch::record(&host.kernels.gpu, buffers, &work)
    }

    fn decode(
        host: &mut PosteriorDeviceState,
        _buffers: &mut Buffers,
        batch: &Arc<PosteriorBatch>,
        plan: &PosteriorBatchPlan,
        results: BatchResults,
    ) -> Result<PosteriorReport> {
        let BatchResults { words, kernel_time, .. } = results;
        let kernel_time = kernel_time.filter(|_| !plan.tasks.list.is_empty());
        if plan.is_partial {
            return Ok(PosteriorReport { kernel_time, ..Self::unfinished_report(batch) });
        }
        let read = || results::read(&words, &plan.tasks, plan.capacity, batch);
        let (report, used) = match &host.pool {
            Some(pool) => pool.install(read),
            None => read(),
        };
        let density = used as f64 / plan.tasks.rows.max(1) as f64 * DENSITY_RESERVE;
        let reserved = host.density(&batch.chunk.model);
        // A reserve that was too small must grow.
        *reserved = density.max(if used > u64::from(plan.capacity) { *reserved } else { MIN_DENSITY });
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
