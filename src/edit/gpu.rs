//! Levenshtein distances on a GPU: what [`crate::gpu::engine::GpuEngine`] has to know of them. Texts and query profiles
//! stay on the device.

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
use self::choice::{Situation, Way};
use self::dispatch::EditWork;
use self::extent::{BLOCKS_AT_ONCE, Extent};
use self::pieces::Pieces;
use self::resident::{ResidentProfiles, ResidentTexts};
use self::slot::EditSlot;
use super::distances::may_leave_out;
use super::kernels::myers::Variant;
use super::{Distances, Edit, EditBatch, EditChunk, EditReport};
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

/// Seconds of work that the first batch should be.
const FIRST_SECONDS: f64 = 0.01;
/// Pairs a batch at most: their lists and results take 64 MiB, and are made while the device computes the batch before.
const MAX_PAIRS: u64 = 4 << 20;

/// Pairs to one within the limit, from which on a list of these is kept again.
const FEW_SHARE: u64 = 16;

/// Seconds that a batch has to take for its speed to tell anything.
const TELLING_SECONDS: f64 = 0.005;
/// When other words a lane and lanes a pair are tried while a job goes on.
const TRIALS: Trials = Trials { seconds: 0.05, overhead_seconds: 0.2, doubt: 1.5 };

/// A GPU that computes Levenshtein distances.
pub type EditGpu = engine::GpuEngine<Edit>;

/// What edit distances have on a device, whatever batches are in flight.
pub struct EditHost {
    kernels: KernelSet<Variant, EditShape>,
    chooser: Chooser<Way>,
    /// Whether the list of the last batch was too short, or would have been: then none is kept, until few pairs are within the
    /// limit again.
    is_crowded: bool,
    /// The part of the pairs that heads kept in the last batch that had some.
    kept: f64,
    /// Threads that share the work on the host; `None` until it is needed or was given.
    pool: Option<Arc<rayon::ThreadPool>>,
    /// For results of all pairs.
    found: BufferPool<EditDistance>,
}

/// How a batch is computed, and what it uses.
pub struct Chosen {
    texts: Arc<ResidentTexts>,
    profiles: Arc<ResidentProfiles>,
    /// If the batch was cut.
    pieces: Option<Pieces>,
    /// Whether a list of pairs within the limit may stand for all.
    may_list: bool,
    extent: Extent,
    /// The way that is taken.
    way: CandidateKernel<Way>,
    /// The part of the pairs that heads should keep.
    kept: f64,
}

impl EditGpu {
    /// Opens an adapter.
    pub fn open(found: &FoundAdapter) -> Result<Self> {
        let gpu = Gpu::open(found)?;
        let assumed_speed = found.description.suited(2e12, 2e11, 2e9);
        let host = EditHost {
            kernels: KernelSet::new(&gpu, found),
            chooser: Chooser::new(TELLING_SECONDS, Some(TRIALS)),
            is_crowded: false,
            kept: heads::KEPT,
            pool: None,
            found: BufferPool::default(),
        };
        Ok(engine::GpuEngine::new(gpu, host, memory_budget(found, None), assumed_speed))
    }

    /// Shares its work on the host, lists and results of batches, among the threads of this pool; else it has as many of its
    /// own as there are processors. Nobody may wait for it on a thread of the pool.
    pub fn with_pool(mut self, pool: Arc<rayon::ThreadPool>) -> Self {
        self.state.pool = Some(pool);
        self
    }
}

impl EditHost {
    /// Texts and profiles of a batch on the device.
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
        let profiles = match residents.find(&chunk.patterns, |own: &ResidentProfiles| own.is_for(coding, mode)) {
            Some(profiles) => profiles,
            None => ResidentProfiles::new(gpu, &pool, residents, &chunk.patterns, coding, &chunk.scheme, limit)?,
        };
        Ok((texts, profiles))
    }

    /// The threads that share the work on the host.
    fn pool(&mut self) -> Result<Arc<rayon::ThreadPool>> {
        let pool = match self.pool.take() {
            Some(pool) => pool,
            None => thread_pool(0)?,
        };
        Ok(Arc::clone(self.pool.insert(pool)))
    }
}

/// Symbols of every text of a chunk, if all have as many.
fn one_length(chunk: &EditChunk) -> Option<u32> {
    let (least, most) = chunk.text_symbols();
    (least == most).then_some(most)
}

has_kernel_set!(EditHost, Variant, EditShape);

impl GpuKind for Edit {
    type Choice = Chosen;
    type DeviceState = EditHost;
    type Slot = EditSlot;

    const FIRST_SECONDS: f64 = FIRST_SECONDS;
    const MAX_PAIRS: u64 = MAX_PAIRS;

    fn count_cells(host: &mut EditHost, batch: &EditBatch) -> Result<u64> {
        let cells = || batch.blocks.par_iter().with_min_len(BLOCKS_AT_ONCE).map(|block| block.cells).sum();
        Ok(host.pool()?.install(cells))
    }

    /// A batch may have a quarter each for texts and profiles.
    fn resident_bytes(memory: u64) -> u64 {
        memory / 2
    }

    fn release_scratch(host: &mut EditHost) {
        host.found = BufferPool::default();
    }

    fn choose(host: &mut EditHost, site: &mut BatchContext<'_>, batch: &Arc<EditBatch>) -> Result<Chosen> {
        let (texts, profiles) = host.resident(site.residents, site.memory, &batch.chunk)?;
        let pool = host.pool()?;
        let mut extent = pool.install(|| Extent::of(batch));
        let pieces = Pieces::cut(batch, extent.text_symbols);
        let batch = pieces.as_ref().map_or(batch, |pieces| &pieces.batch);
        if pieces.is_some() {
            extent = pool.install(|| Extent::of(batch));
        }
        let situation = Situation {
            gpu: &host.kernels.gpu,
            shape: &host.kernels.shape,
            kernel: site.kernel,
            mode: batch.chunk.scheme.mode,
            extent,
            coding: &texts.coding,
            loop_budget: host.kernels.loop_budget,
            cells: site.cells,
            may_leave_out: may_leave_out(&batch.chunk.scheme, extent.least_pattern_symbols),
            kept: host.kept,
        };
        let candidates = situation.candidates()?;
        let is_fixed =
            site.kernel.is_some() || host.kernels.shape.lanes.is_some() || host.kernels.loop_budget.is_some();
        let remaining = if is_fixed { 0 } else { site.remaining_cells };
        let place = host.chooser.pick(&candidates, site.cells, remaining);
        let way = place
            .map(|place| candidates[place])
            .ok_or_else(|| host.kernels.gpu.unsuited("no kernel suits the batch"))?;
        Ok(Chosen { texts, profiles, pieces, may_list: false, extent, way, kept: host.kept })
    }

    fn record(
        host: &mut EditHost,
        site: &mut BatchContext<'_>,
        slot: &mut EditSlot,
        batch: &Arc<EditBatch>,
        chosen: &mut Chosen,
    ) -> Result<()> {
        let Way { variant, heads, .. } = chosen.way.way;
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
        host: &mut EditHost,
        slot: &mut EditSlot,
        _batch: &Arc<EditBatch>,
        chosen: &Chosen,
        results: BatchResults,
    ) -> Result<EditReport> {
        let pool = host.pool()?;
        let (mut report, kept) = slot.decode(&host.kernels.gpu, &pool, &host.found, results)?;
        if let Some(kept) = kept {
            host.kept = f64::from(kept) / chosen.extent.pairs.max(1) as f64;
        }
        if chosen.may_list
            && let Distances::Each(found) = &report.found
        {
            let some = pool.install(|| found.par_iter().filter(|found| found.is_some()).count());
            host.is_crowded = some as u64 > found.len() as u64 / FEW_SHARE;
        }
        if let Some(pieces) = &chosen.pieces {
            report.found = pieces.join(&report.found);
            report.is_checked = false;
        }
        Ok(report)
    }

    fn learn(
        host: &mut EditHost,
        _kernel: Option<&'static Kernel>,
        batch: &EditBatch,
        chosen: &Chosen,
        report: &EditReport,
    ) -> Option<f64> {
        let mut way = chosen.way;
        if way.way.heads.is_some() {
            // What the batch was, not what it was thought to be.
            way.work.cells += batch.cells() as f64 * (host.kept - chosen.kept);
        }
        if let Some(time) = report.kernel_time {
            host.chooser.learn(&way, time.as_secs_f64());
        }
        None
    }

    fn trial_seconds(host: &EditHost) -> Option<f64> {
        host.chooser.trial_seconds()
    }

    fn unfinished_report(batch: &EditBatch) -> EditReport {
        EditReport {
            found: Distances::Each(vec![EditDistance::NONE; batch.pairs() as usize].into()),
            unfinished: (0..batch.blocks.len()).collect(),
            ..EditReport::default()
        }
    }
}
