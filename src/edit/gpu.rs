//! Levenshtein distances on a GPU, as a job kind of [`crate::gpu::engine::GpuEngine`]. Texts and
//! query profiles stay on the device.

mod choice;
mod decode;
mod dispatch;
mod extent;
mod heads;
mod pieces;
mod resident;
mod slot;
mod staging;

use std::sync::Arc;

use rayon::prelude::*;

pub use self::choice::EditShape;
use self::choice::{EditMethod, SelectionContext};
use self::dispatch::EditWork;
use self::extent::{BLOCKS_AT_ONCE, EditExtent};
use self::pieces::TextPieces;
use self::resident::{ResidentProfiles, ResidentTexts};
use self::slot::EditSlot;
use super::distances::can_omit;
use super::kernels::myers::EditVariant;
use super::{BatchDistances, Edit, EditBatch, EditChunk, EditReport};
use crate::engine::buffer_pool::BufferPool;
use crate::engine::thread_pool;
use crate::error::{Error, Result};
use crate::gpu::adapter::FoundAdapter;
use crate::gpu::choosing::{CandidateKernel, Chooser, Trials};
use crate::gpu::device::Gpu;
use crate::gpu::engine::{self, BatchContext, GpuKind};
use crate::gpu::kernel_set::{KernelSet, has_kernel_set};
use crate::gpu::kernels::Kernel;
use crate::gpu::launch::BatchResults;
use crate::gpu::memory::{MemoryShares, memory_budget};
use crate::gpu::resident::Residents;
use crate::score::EditDistance;

/// Seconds of work in the first batch.
const FIRST_SECONDS: f64 = 0.01;
/// Maximum number of pairs in a batch. Their lists and results take 64 MiB. The host writes the
/// lists while the device computes the previous batch.
const MAX_PAIRS: u64 = 4 << 20;

/// After a list was too short, lists are used again once at most one pair in this many is within
/// the limit.
const FEW_SHARE: u64 = 16;

/// Batches that take less time than this, in seconds, do not update the recorded speed.
const MIN_MEASURED_SECONDS: f64 = 0.005;
/// Settings for trials of other numbers of words per lane and lanes per pair during a job.
const TRIALS: Trials = Trials { seconds: 0.05, overhead_seconds: 0.2, max_speed_ratio: 1.5 };

/// A GPU engine that computes Levenshtein distances.
pub type EditGpu = engine::GpuEngine<Edit>;

/// State of this module on a device, shared by all batches in flight.
pub struct EditDeviceState {
    kernels: KernelSet<EditVariant, EditShape>,
    chooser: Chooser<EditMethod>,
    /// Whether the list of pairs within the limit was too short in the last batch, or would have
    /// been. If so, no list is used until few pairs are within the limit again.
    is_crowded: bool,
    /// Fraction of pairs that pruning by heads ([`heads`]) kept in the last batch that used it.
    kept: f64,
    /// Threads that share the work on the host; `None` until they are needed or set.
    pool: Option<Arc<rayon::ThreadPool>>,
    /// Pool of buffers for the results of all pairs.
    distances: BufferPool<EditDistance>,
}

/// How a batch is computed, and the data that it uses.
pub struct EditChoice {
    texts: Arc<ResidentTexts>,
    profiles: Arc<ResidentProfiles>,
    /// Pieces of the texts, if the batch was cut.
    pieces: Option<TextPieces>,
    /// Whether the list of pairs within the limit may replace the results of all pairs.
    may_list: bool,
    extent: EditExtent,
    /// The selected kernel variants.
    method: CandidateKernel<EditMethod>,
    /// Expected fraction of pairs that pruning by heads keeps.
    kept: f64,
}

impl EditGpu {
    /// Opens an adapter.
    pub fn open(adapter: &FoundAdapter) -> Result<Self> {
        let gpu = Gpu::open(adapter)?;
        let assumed_speed = adapter.description.select_by_kind(2e12, 2e11, 2e9);
        let host = EditDeviceState {
            kernels: KernelSet::new(&gpu, adapter),
            chooser: Chooser::new(MIN_MEASURED_SECONDS, Some(TRIALS)),
            is_crowded: false,
            kept: heads::EXPECTED_KEPT_FRACTION,
            pool: None,
            distances: BufferPool::default(),
        };
        Ok(engine::GpuEngine::new(gpu, host, memory_budget(adapter, None), assumed_speed))
    }

    /// Shares the work on the host (lists and results of batches) among the threads of this pool.
    /// By default, the engine creates a pool with one thread per processor. No thread of the pool
    /// may wait for the engine.
    pub fn with_pool(mut self, pool: Arc<rayon::ThreadPool>) -> Self {
        self.state.pool = Some(pool);
        self
    }
}

impl EditDeviceState {
    /// Returns the texts and profiles of a batch on the device, and uploads them if necessary.
    fn resident(
        &mut self,
        residents: &mut Residents,
        memory: u64,
        chunk: &EditChunk,
    ) -> Result<(Arc<ResidentTexts>, Arc<ResidentProfiles>)> {
        let pool = self.pool()?;
        let (gpu, limit) = (&self.kernels.gpu, self.kernels.binding.min(memory / 4));
        let equality = &chunk.scheme.equality;
        let texts = match residents.find(&chunk.texts, |texts: &ResidentTexts| texts.is_for(equality)) {
            Some(texts) => texts,
            None => ResidentTexts::new(gpu, &pool, residents, &chunk.texts, equality, limit)?,
        };
        let (coding, mode) = (&texts.coding, chunk.scheme.mode);
        let profiles =
            match residents.find(&chunk.patterns, |profiles: &ResidentProfiles| profiles.is_for(coding, mode)) {
                Some(profiles) => profiles,
                None => ResidentProfiles::new(gpu, &pool, residents, &chunk.patterns, coding, &chunk.scheme, limit)?,
            };
        Ok((texts, profiles))
    }

    /// Returns the threads that share the work on the host.
    fn pool(&mut self) -> Result<Arc<rayon::ThreadPool>> {
        let pool = match self.pool.take() {
            Some(pool) => pool,
            None => thread_pool(0)?,
        };
        Ok(Arc::clone(self.pool.insert(pool)))
    }
}

/// Returns the number of symbols of every text of a chunk, if all have the same length.
fn one_length(chunk: &EditChunk) -> Option<u32> {
    let (least, most) = chunk.text_symbols();
    (least == most).then_some(most)
}

has_kernel_set!(EditDeviceState, EditVariant, EditShape);

impl GpuKind for Edit {
    type Choice = EditChoice;
    type DeviceState = EditDeviceState;
    type Slot = EditSlot;

    const FIRST_SECONDS: f64 = FIRST_SECONDS;
    const MAX_PAIRS: u64 = MAX_PAIRS;

    fn count_cells(host: &mut EditDeviceState, batch: &EditBatch) -> Result<u64> {
        let cells = || batch.blocks.par_iter().with_min_len(BLOCKS_AT_ONCE).map(|block| block.cells).sum();
        Ok(host.pool()?.install(cells))
    }

    /// Returns the memory for resident data: a quarter each for texts and for profiles.
    fn resident_bytes(memory: u64) -> u64 {
        memory / 2
    }

    fn release_scratch(host: &mut EditDeviceState) {
        host.distances = BufferPool::default();
    }

    fn choose(host: &mut EditDeviceState, site: &mut BatchContext<'_>, batch: &Arc<EditBatch>) -> Result<EditChoice> {
        let (texts, profiles) = host.resident(site.residents, site.memory, &batch.chunk)?;
        let pool = host.pool()?;
        let mut extent = pool.install(|| EditExtent::from_batch(batch));
        let pieces = TextPieces::cut(batch, extent.text_symbols);
        let batch = pieces.as_ref().map_or(batch, |pieces| &pieces.batch);
        if pieces.is_some() {
            extent = pool.install(|| EditExtent::from_batch(batch));
        }
        let context = SelectionContext {
            gpu: &host.kernels.gpu,
            shape: &host.kernels.shape,
            kernel: site.kernel,
            mode: batch.chunk.scheme.mode,
            extent,
            coding: &texts.coding,
            loop_budget: host.kernels.loop_budget,
            cells: site.cells,
            can_omit: can_omit(&batch.chunk.scheme, extent.least_pattern_symbols),
            kept: host.kept,
        };
        let candidates = context.candidates()?;
        let is_fixed =
            site.kernel.is_some() || host.kernels.shape.lanes.is_some() || host.kernels.loop_budget.is_some();
        let remaining = if is_fixed { 0 } else { site.remaining_cells };
        let index = host.chooser.pick(&candidates, site.cells, remaining);
        let method = index
            .map(|index| candidates[index])
            .ok_or_else(|| host.kernels.gpu.refusal("no kernel suits the batch"))?;
        Ok(EditChoice { texts, profiles, pieces, may_list: false, extent, method, kept: host.kept })
    }

    fn record(
        host: &mut EditDeviceState,
        site: &mut BatchContext<'_>,
        slot: &mut EditSlot,
        batch: &Arc<EditBatch>,
        chosen: &mut EditChoice,
    ) -> Result<()> {
        let EditMethod { variant, heads, .. } = chosen.method.way;
        let program = host.kernels.get(variant)?;
        let heads = heads.map(|heads| Ok::<_, Error>((host.kernels.get(heads)?, heads))).transpose()?;
        let pool = host.pool()?;
        let batch = chosen.pieces.as_ref().map_or(batch, |pieces| &pieces.batch);
        let listing =
            choice::listing(&host.kernels.shape, &batch.chunk.scheme, &chosen.extent, chosen.extent.pairs as u32);
        chosen.may_list = listing.is_some();
        let mut work = EditWork {
            texts: &chosen.texts,
            profiles: &chosen.profiles,
            program: &program,
            variant,
            heads: heads.as_ref().map(|(program, heads)| (program, *heads)),
            scratch_budget: MemoryShares::new(site.memory).scratch_bytes.min(host.kernels.binding),
            extent: chosen.extent,
            text_symbols: one_length(&batch.chunk),
            listing: listing.filter(|_| !host.is_crowded),
            pool: &pool,
            columns: host
                .kernels
                .loop_budget
                .map_or(u32::MAX, choice::columns_within)
                .min(host.kernels.shape.dispatch_columns),
        };
        slot.record(&host.kernels.gpu, batch, &mut work)
    }

    fn decode(
        host: &mut EditDeviceState,
        slot: &mut EditSlot,
        _batch: &Arc<EditBatch>,
        chosen: &EditChoice,
        results: BatchResults,
    ) -> Result<EditReport> {
        let pool = host.pool()?;
        let (mut report, kept) = slot.decode(&host.kernels.gpu, &pool, &host.distances, results)?;
        if let Some(kept) = kept {
            host.kept = f64::from(kept) / chosen.extent.pairs.max(1) as f64;
        }
        if chosen.may_list
            && let BatchDistances::Each(distances) = &report.distances
        {
            let some = pool.install(|| distances.par_iter().filter(|distances| distances.is_some()).count());
            host.is_crowded = some as u64 > distances.len() as u64 / FEW_SHARE;
        }
        if let Some(pieces) = &chosen.pieces {
            report.distances = pieces.join(&report.distances);
            report.is_checked = false;
        }
        Ok(report)
    }

    fn learn(
        host: &mut EditDeviceState,
        _kernel: Option<&'static Kernel>,
        batch: &EditBatch,
        chosen: &EditChoice,
        report: &EditReport,
    ) -> Option<f64> {
        let mut method = chosen.method;
        if method.way.heads.is_some() {
            // The work was estimated with the expected fraction of kept pairs. Corrects it with the
            // actual one.
            method.work.cells += batch.cells() as f64 * (host.kept - chosen.kept);
        }
        if let Some(time) = report.kernel_time {
            host.chooser.learn(&method, time.as_secs_f64());
        }
        None
    }

    fn trial_seconds(host: &EditDeviceState) -> Option<f64> {
        host.chooser.trial_seconds()
    }

    fn unfinished_report(batch: &EditBatch) -> EditReport {
        EditReport {
            distances: BatchDistances::Each(vec![EditDistance::NONE; batch.pairs() as usize].into()),
            unfinished: (0..batch.blocks.len()).collect(),
            ..EditReport::default()
        }
    }
}
