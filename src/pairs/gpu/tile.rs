//! Local scores on a GPU: batches for the `sw_tile` kernels.
//!
//! A batch is cut into runs, each of a query alone, or of queries that are computed side by side in halves, for which the sizes of
//! the kernel are chosen that suit them. Pairs whose scores halves do not hold are computed again in words; where only pairs of some
//! score are asked for, bounds leave most of them out, and the others are computed again, a few by the host; of targets so long that
//! everything would wait for them the passes are computed side by side.

mod again;
mod plan;
mod shape;
mod slot;

use std::sync::Arc;

use self::again::{Again, Places};
use self::plan::{Limits, Plan, Problem};
pub use self::shape::{COLUMNS, LANES, TileShape};
pub(super) use self::shape::{Tiles, Ways};
pub(super) use self::slot::Flight;
use self::slot::Work;
use super::PairsHost;
use super::programs::Shader;
use super::resident::Resident;
use crate::error::Result;
use crate::gpu::device::Gpu;
use crate::gpu::engine::BatchContext;
use crate::gpu::kernels::Packing;
use crate::gpu::launch::{BatchResults, Slot};
use crate::pairs::kernels::sw_tile::{self, SATURATED};
use crate::pairs::kernels::tile_tasks;
use crate::pairs::{Batch, Hit, Report, Want};

/// Scratch that a batch goes on with at least when memory is short.
const MIN_SCRATCH_BYTES: u64 = 1 << 20;

/// Buffers of a slot: for a batch, and for those of its pairs that are computed again.
pub(super) struct TileSlot {
    pub(super) first: Flight,
    again: Flight,
}

impl TileSlot {
    /// An empty slot.
    pub(super) fn new(gpu: &Gpu) -> Self {
        TileSlot { first: Flight::new(gpu), again: Flight::new(gpu) }
    }

    /// Gives the memory of its buffers back; it holds no batch.
    pub(super) fn release(&mut self) {
        self.first.release();
        self.again.release();
    }
}

/// The kernels of a batch, and what it uses.
pub struct ChosenTiles {
    ways: Ways,
    /// The batch's queries and targets, once it is recorded.
    stores: Option<[Arc<Resident>; 2]>,
}

impl PairsHost {
    /// The kernels for a batch of local scores.
    pub(super) fn choose_tiles(&mut self, site: &BatchContext<'_>, batch: &Batch) -> Result<ChosenTiles> {
        let shorter = batch.extent().shorter;
        if !sw_tile::words_hold(&batch.chunk.scoring, shorter) {
            return Err(self.kernels.gpu.unsuited("scores of this length do not fit 32 bits"));
        }
        let ways = self.tiles.ways(&self.kernels.gpu, site.kernel, batch, shorter);
        let ways = ways.ok_or_else(|| match site.kernel {
            Some(kernel) => {
                self.kernels.gpu.unsuited(format!("{} does not run here, or has no local scores", kernel.stem))
            }
            None => self.kernels.gpu.unsuited("no kernel for local scores runs here"),
        })?;
        tracing::trace!(?ways, pairs = batch.pairs(), cells = batch.cells(), "batch");
        Ok(ChosenTiles { ways, stores: None })
    }

    /// Hands a batch to the kernels.
    pub(super) fn start_tiles(
        &mut self,
        site: &mut BatchContext<'_>,
        slot: &mut TileSlot,
        batch: &Arc<Batch>,
        chosen: &mut ChosenTiles,
    ) -> Result<()> {
        let stores = self.stores.of_batch(&self.kernels.gpu, site.residents, batch)?;
        let lists = matches!(batch.chunk.want, Want::AtLeast(_));
        let runs = tile_tasks::single_runs(batch);
        let problem = Problem { chunk: &batch.chunk, runs, pairs: batch.pairs(), lists };
        self.launch_tiles(&mut slot.first, chosen.ways, problem, &stores, site.sparing)?;
        chosen.stores = Some(stores);
        Ok(())
    }

    fn launch_tiles(
        &mut self,
        flight: &mut Flight,
        ways: Ways,
        problem: Problem<'_>,
        [queries, targets]: &[Arc<Resident>; 2],
        sparing: bool,
    ) -> Result<()> {
        let Problem { chunk, runs, pairs, lists } = problem;
        let (plan, scratch) = loop {
            let limits =
                Limits { scratch_bytes: self.scratch_budget, slots: self.max_slots, loops: self.kernels.loop_budget };
            let problem = Problem { chunk, runs: runs.clone(), pairs, lists };
            let end_word = |id| queries.end_word(&chunk.queries, id);
            let plan = Plan::new(&self.kernels.gpu, &self.tiles, ways, problem, limits, end_word)?;
            match self.scratch.reserve(&self.kernels.gpu, "scratch", plan.scratch_bytes, wgpu::BufferUsages::STORAGE) {
                Ok(buffer) => break (plan, buffer.clone()),
                Err(error) if !sparing || plan.scratch_bytes <= MIN_SCRATCH_BYTES => return Err(error),
                Err(error) => {
                    self.scratch_budget = plan.scratch_bytes / 2;
                    tracing::warn!("{error}; going on with {} MiB of scratch memory", self.scratch_budget >> 20);
                }
            }
        };
        let programs: Vec<Shader> = plan.launches.iter().map(|launch| Shader::Tile(launch.variant)).collect();
        let programs = self.kernels.get_all(&programs)?;
        flight.record(
            &self.kernels.gpu,
            Work { chunk, plan, programs, pairs, lists, queries, targets, scratch: &scratch },
        )
    }

    /// Decodes a batch, computes those of its pairs again whose scores exceed half floats or of which only bounds are known, and
    /// returns its hits.
    pub(super) fn decode_tiles(
        &mut self,
        slot: &mut TileSlot,
        batch: &Batch,
        chosen: &ChosenTiles,
        results: BatchResults,
    ) -> Result<Report> {
        let (chunk, limit) = (&batch.chunk, results.limit);
        let outcome = slot.first.decode(&self.kernels.gpu, results)?;
        let unfinished = || Report { unfinished: (0..batch.blocks.len()).collect(), ..Report::default() };
        let Some(mut scores) = outcome.scores else { return Ok(unfinished()) };
        let mut kernel_time = outcome.kernel_time;
        let is_bounded = outcome.bounded > 0;
        if outcome.halved > 0 {
            // Of words too a few may be just that score.
            let twice: Vec<usize> = (0..scores.len()).filter(|&at| is_bounded || scores[at].1 == SATURATED).collect();
            if let (false, Some(stores)) = (twice.is_empty(), &chosen.stores) {
                let pairs: Vec<u32> = twice.iter().map(|&at| scores[at].0).collect();
                let again = Again::new(batch, &pairs);
                tracing::trace!(pairs = pairs.len(), cells = again.cells(), "computed again");
                let threads = self.pool.as_ref().map_or(1, |pool| pool.current_num_threads() as u64);
                let right = if again.cells() <= threads.saturating_mul(self.tiles.shape.host_cells) {
                    again.scores_here(self.pool.as_deref())?
                } else {
                    let ways = Ways { halves: false, alone: Packing::One, slack: 0, ..chosen.ways };
                    let (chunk, runs, pairs) = (&again.chunk, again.runs(), pairs.len() as u64);
                    self.launch_tiles(
                        &mut slot.again,
                        ways,
                        Problem { chunk, runs, pairs, lists: false },
                        stores,
                        true,
                    )?;
                    let results = slot.again.buffers.collect(&self.kernels.gpu, limit)?;
                    let outcome = slot.again.decode(&self.kernels.gpu, results)?;
                    kernel_time = kernel_time.zip(outcome.kernel_time).map(|(one, other)| one + other);
                    let Some(right) = outcome.scores else { return Ok(unfinished()) };
                    right
                };
                for (place, score) in right {
                    scores[twice[again.named(place)]].1 = score;
                }
            }
            let saturated = twice.iter().filter(|&&at| scores[at].1 >= SATURATED).count();
            self.tiles.observe_saturated(saturated, outcome.halved);
            if is_bounded {
                self.tiles.observe_listed(twice.len(), outcome.bounded);
            }
        }
        let mut places = Places::new(batch);
        let hits = scores.into_iter().map(|(pair, score)| {
            let (query, target) = places.find(pair);
            Hit { query, target, score: score.into(), matches: None }
        });
        let is_wanted = |hit: &Hit| {
            let (m, n) = (chunk.queries.length(hit.query), chunk.targets.length(hit.target));
            chunk.want.keeps(hit.query, hit.score, None, m, n)
        };
        Ok(Report { hits: hits.filter(is_wanted).collect(), kernel_time, ..Report::default() })
    }
}
