//! Local scores on a GPU: batches for the `sw_tile` kernels.
//!
//! A batch is divided into runs. A run has a single query, or several queries that are computed
//! together in f16. The kernel sizes are chosen for the runs. Pairs whose scores exceed f16 are
//! computed again with i32. If only pairs above a threshold are requested, the kernels may compute
//! lower bounds of scores instead. The bounds rule out most pairs. The others are computed again, a
//! few of them by the host. If a target is so long that the device would wait for it at the end,
//! the passes over its query run in parallel.

mod again;
mod plan;
mod shape;
mod slot;

use std::sync::Arc;

use self::again::{PairLocator, RecomputedPairs};
use self::plan::{TileLimits, TilePlan, TileProblem};
pub use self::shape::{COLUMNS, LANES, TileShape};
pub(super) use self::shape::{TileKernels, Tiles};
pub(super) use self::slot::TileFlight;
use self::slot::TileWork;
use super::PairsDeviceState;
use super::programs::Shader;
use super::resident::ResidentSequences;
use crate::error::Result;
use crate::gpu::device::Gpu;
use crate::gpu::engine::BatchContext;
use crate::gpu::kernels::Packing;
use crate::gpu::launch::{BatchResults, Slot};
use crate::pairs::kernels::sw_tile::{self, SATURATED};
use crate::pairs::kernels::tile_tasks;
use crate::pairs::{PairHit, PairsBatch, PairsReport, ResultFilter};

/// Least scratch memory of a batch when memory is short.
const MIN_SCRATCH_BYTES: u64 = 1 << 20;

/// Buffers of a slot: for a batch, and for its pairs that are computed again.
pub(super) struct TileSlot {
    pub(super) first: TileFlight,
    again: TileFlight,
}

impl TileSlot {
    /// Creates an empty slot.
    pub(super) fn new(gpu: &Gpu) -> Self {
        TileSlot { first: TileFlight::new(gpu), again: TileFlight::new(gpu) }
    }

    /// Frees the buffers. No batch may be in flight in the slot.
    pub(super) fn release(&mut self) {
        self.first.release();
        self.again.release();
    }
}

/// Kernels of a batch, with the resources that they use.
pub struct ChosenTiles {
    ways: TileKernels,
    /// The batch's queries and targets on the device, once the batch is recorded.
    stores: Option<[Arc<ResidentSequences>; 2]>,
}

impl PairsDeviceState {
    /// Chooses the kernels for a batch of local scores.
    pub(super) fn choose_tiles(&mut self, site: &BatchContext<'_>, batch: &PairsBatch) -> Result<ChosenTiles> {
        let shorter = batch.extent().shorter;
        if !sw_tile::i32_holds(&batch.chunk.scoring, shorter) {
            return Err(self.kernels.gpu.refusal("scores of sequences of this length do not fit in 32 bits"));
        }
        let ways = self.tiles.choose_kernels(&self.kernels.gpu, &self.kernels.shape.tile, site.kernel, batch, shorter);
        let ways = ways.ok_or_else(|| match site.kernel {
            Some(kernel) => self
                .kernels
                .gpu
                .refusal(format!("{} does not run on this device, or does not compute local scores", kernel.stem)),
            None => self.kernels.gpu.refusal("no kernel for local scores runs on this device"),
        })?;
        tracing::trace!(?ways, pairs = batch.pairs(), cells = batch.cells(), "batch");
        Ok(ChosenTiles { ways, stores: None })
    }

    /// Records and submits a batch.
    pub(super) fn start_tiles(
        &mut self,
        site: &mut BatchContext<'_>,
        slot: &mut TileSlot,
        batch: &Arc<PairsBatch>,
        chosen: &mut ChosenTiles,
    ) -> Result<()> {
        let stores = self.stores.for_batch(&self.kernels.gpu, site.residents, batch)?;
        let lists = matches!(batch.chunk.filter, ResultFilter::AtLeast(_));
        let runs = tile_tasks::single_runs(batch);
        let problem = TileProblem { chunk: &batch.chunk, runs, pairs: batch.pairs(), lists };
        let expected_seconds = self.tiles.expected_seconds(site.batch_seconds(), site.remaining_seconds());
        self.launch_tiles(&mut slot.first, chosen.ways, problem, &stores, expected_seconds, site.saves_memory)?;
        chosen.stores = Some(stores);
        Ok(())
    }

    /// Submits a batch. `expected_seconds` are the expected seconds of work from its start. If they
    /// are few, the kernels of earlier batches are used.
    fn launch_tiles(
        &mut self,
        flight: &mut TileFlight,
        ways: TileKernels,
        problem: TileProblem<'_>,
        [queries, targets]: &[Arc<ResidentSequences>; 2],
        expected_seconds: f64,
        saves_memory: bool,
    ) -> Result<()> {
        let TileProblem { chunk, runs, pairs, lists } = problem;
        let (plan, scratch) = loop {
            let limits = TileLimits {
                scratch_bytes: self.scratch_budget,
                slots: self.max_slots,
                loops: self.kernels.loop_budget,
            };
            let problem = TileProblem { chunk, runs: runs.clone(), pairs, lists };
            let end_word = |id| queries.end_word(&chunk.queries, id);
            let compiled = self.tiles.compiled(expected_seconds);
            let (gpu, shape) = (&self.kernels.gpu, &self.kernels.shape.tile);
            let plan = TilePlan::new(gpu, shape, ways, problem, limits, compiled, end_word)?;
            match self.scratch.reserve(&self.kernels.gpu, "scratch", plan.scratch_bytes, wgpu::BufferUsages::STORAGE) {
                Ok(buffer) => break (plan, buffer.clone()),
                Err(error) if !saves_memory || plan.scratch_bytes <= MIN_SCRATCH_BYTES => return Err(error),
                Err(error) => {
                    self.scratch_budget = plan.scratch_bytes / 2;
                    tracing::warn!("{error}; continuing with {} MiB of scratch memory", self.scratch_budget >> 20);
                }
            }
        };
        let programs: Vec<Shader> = plan.launches.iter().map(|launch| Shader::Tile(launch.variant)).collect();
        let programs = self.kernels.get_all(&programs)?;
        plan.launches.iter().for_each(|launch| self.tiles.record_compiled(launch.variant));
        flight.record(
            &self.kernels.gpu,
            TileWork { chunk, plan, programs, pairs, lists, queries, targets, scratch: &scratch },
        )
    }

    /// Decodes a batch and returns its hits. Computes pairs again if their scores exceed f16, or if
    /// only bounds of their scores are known.
    pub(super) fn decode_tiles(
        &mut self,
        slot: &mut TileSlot,
        batch: &PairsBatch,
        chosen: &ChosenTiles,
        results: BatchResults,
    ) -> Result<PairsReport> {
        let (chunk, limit) = (&batch.chunk, results.limit);
        let outcome = slot.first.decode(&self.kernels.gpu, results)?;
        let unfinished = || PairsReport { unfinished: (0..batch.blocks.len()).collect(), ..PairsReport::default() };
        let Some(mut scores) = outcome.scores else { return Ok(unfinished()) };
        let mut kernel_time = outcome.kernel_time;
        let is_bounded = outcome.bounded > 0;
        if outcome.halved > 0 {
            // The score of an i32 kernel can equal `SATURATED` by chance.
            let twice: Vec<usize> = (0..scores.len()).filter(|&at| is_bounded || scores[at].1 == SATURATED).collect();
            if let (false, Some(stores)) = (twice.is_empty(), &chosen.stores) {
                let pairs: Vec<u32> = twice.iter().map(|&at| scores[at].0).collect();
                let again = RecomputedPairs::new(batch, &pairs);
                tracing::trace!(pairs = pairs.len(), cells = again.cells(), "computed again");
                let threads = self.pool.as_ref().map_or(1, |pool| pool.current_num_threads() as u64);
                let most_on_host = threads.saturating_mul(self.kernels.shape.tile.host_cells);
                let right = if self.tiles.host_recomputes(again.cells(), most_on_host) {
                    again.compute_scores_on_host(self.pool.as_deref())?
                } else {
                    let ways = TileKernels { halves: false, alone: Packing::One, slack: 0, ..chosen.ways };
                    let (chunk, runs, pairs) = (&again.chunk, again.runs(), pairs.len() as u64);
                    self.launch_tiles(
                        &mut slot.again,
                        ways,
                        TileProblem { chunk, runs, pairs, lists: false },
                        stores,
                        f64::INFINITY,
                        true,
                    )?;
                    let results = slot.again.buffers.collect(&self.kernels.gpu, limit)?;
                    let outcome = slot.again.decode(&self.kernels.gpu, results)?;
                    kernel_time = kernel_time.zip(outcome.kernel_time).map(|(one, other)| one + other);
                    let Some(right) = outcome.scores else { return Ok(unfinished()) };
                    right
                };
                for (index, score) in right {
                    scores[twice[again.named(index)]].1 = score;
                }
            }
            let saturated = twice.iter().filter(|&&at| scores[at].1 >= SATURATED).count();
            self.tiles.observe_saturated(saturated, outcome.halved);
            if is_bounded {
                self.tiles.observe_listed(twice.len(), outcome.bounded);
            }
        }
        let mut locator = PairLocator::new(batch);
        let hits = scores.into_iter().map(|(pair, score)| {
            let (query, target) = locator.find(pair);
            PairHit { query, target, score: score.into(), matches: None }
        });
        let is_wanted = |hit: &PairHit| {
            let (m, n) = (chunk.queries.length(hit.query), chunk.targets.length(hit.target));
            chunk.filter.keeps(hit.query, hit.score, None, m, n)
        };
        Ok(PairsReport { hits: hits.filter(is_wanted).collect(), kernel_time, ..PairsReport::default() })
    }
}
