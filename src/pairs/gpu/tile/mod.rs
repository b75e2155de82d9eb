//! Local scores on a GPU: batches for the `sw_tile` kernels.
//!
//! A batch is cut into runs, each of a query alone, or of queries that are computed side by side in halves, for which the sizes of
//! the kernel are chosen that suit them. Pairs whose scores halves do not hold are computed again in words; of targets so long that
//! everything would wait for them the passes are computed side by side.

mod plan;
mod shape;
mod slot;

use std::sync::Arc;
use std::time::Duration;

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
use crate::gpu::engine::Site;
use crate::gpu::kernels::Packing;
use crate::pairs::kernels::sw_tile::{self, SATURATED};
use crate::pairs::kernels::tile_tasks::{self, Run};
use crate::pairs::{Band, Batch, Hit, Report, Want};
use crate::seq::SequenceId;

/// Scratch that a batch goes on with at least when memory is short.
const LEAST_SCRATCH_BYTES: u64 = 1 << 20;

/// Buffers of a slot: for a batch, and for those of its pairs that are computed again.
pub struct TileSlot {
    first: Flight,
    again: Flight,
}

impl TileSlot {
    /// An empty slot.
    pub fn new(gpu: &Gpu) -> Self {
        TileSlot { first: Flight::new(gpu), again: Flight::new(gpu) }
    }

    /// Gives the memory of its buffers back; it holds no batch.
    pub fn release(&mut self) {
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
    pub(super) fn choose_tiles(&mut self, site: &Site<'_>, batch: &Batch) -> Result<ChosenTiles> {
        let shorter = batch.extent().shorter;
        if !sw_tile::words_hold(&batch.band.scoring, shorter) {
            return Err(self.gpu.unsuited("scores of this length do not fit 32 bits"));
        }
        let ways = self.tiles.ways(&self.gpu, site.kernel, batch, shorter);
        let ways = ways.ok_or_else(|| match site.kernel {
            Some(kernel) => self.gpu.unsuited(format!("{} does not run here, or has no local scores", kernel.stem)),
            None => self.gpu.unsuited("no kernel for local scores runs here"),
        })?;
        tracing::trace!(?ways, pairs = batch.pairs(), cells = batch.cells(), "batch");
        Ok(ChosenTiles { ways, stores: None })
    }

    /// Hands a batch to the kernels.
    pub(super) fn start_tiles(
        &mut self,
        site: &mut Site<'_>,
        slot: &mut TileSlot,
        batch: &Arc<Batch>,
        chosen: &mut ChosenTiles,
    ) -> Result<()> {
        let stores = self.stores.of_batch(&self.gpu, site.residents, batch)?;
        let lists = matches!(batch.band.want, Want::AtLeast(_));
        let runs = tile_tasks::single_runs(batch);
        let problem = Problem { band: &batch.band, runs, pairs: batch.pairs(), lists };
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
        let Problem { band, runs, pairs, lists } = problem;
        let (plan, scratch) = loop {
            let limits = Limits { scratch_bytes: self.scratch_budget, slots: self.max_slots, loops: self.loop_budget };
            let problem = Problem { band, runs: runs.clone(), pairs, lists };
            let end_word = |id| queries.end_word(&band.queries, id);
            let plan = Plan::new(&self.gpu, &self.tiles, ways, problem, limits, end_word)?;
            match self.scratch.reserve(&self.gpu, "scratch", plan.scratch_bytes, wgpu::BufferUsages::STORAGE) {
                Ok(buffer) => break (plan, buffer.clone()),
                Err(error) if !sparing || plan.scratch_bytes <= LEAST_SCRATCH_BYTES => return Err(error),
                Err(error) => {
                    self.scratch_budget = plan.scratch_bytes / 2;
                    tracing::warn!("{error}; going on with {} MiB of scratch memory", self.scratch_budget >> 20);
                }
            }
        };
        let programs: Vec<Shader> = plan.launches.iter().map(|launch| Shader::Tile(launch.variant)).collect();
        let programs = self.pipelines.get_all(&self.gpu, &programs)?;
        flight.start(&self.gpu, Work { band, plan, programs, pairs, lists, queries, targets, scratch: &scratch })
    }

    /// Waits for a batch, has those of its pairs computed again that halves did not hold, and gives its hits.
    pub(super) fn finish_tiles(
        &mut self,
        slot: &mut TileSlot,
        batch: &Batch,
        chosen: &ChosenTiles,
        limit: Duration,
    ) -> Result<Report> {
        let band = &batch.band;
        let outcome = slot.first.finish(&self.gpu, limit)?;
        let unfinished = || Report { unfinished: (0..batch.blocks.len()).collect(), ..Report::default() };
        let Some(mut scores) = outcome.scores else { return Ok(unfinished()) };
        let mut kernel_time = outcome.kernel_time;
        if outcome.halved > 0 {
            // Of words too a few may be just that score.
            let saturated: Vec<usize> = (0..scores.len()).filter(|&at| scores[at].1 == SATURATED).collect();
            self.tiles.observe_saturated(saturated.len(), outcome.halved);
            if let (false, Some(stores)) = (saturated.is_empty(), &chosen.stores) {
                let pairs: Vec<u32> = saturated.iter().map(|&at| scores[at].0).collect();
                tracing::trace!(pairs = pairs.len(), "computed again in words");
                let (again, runs, order) = some_pairs(batch, &pairs);
                let ways = Ways { halves: false, alone: Packing::One, ..chosen.ways };
                let problem = Problem { band: &again, runs, pairs: pairs.len() as u64, lists: false };
                self.launch_tiles(&mut slot.again, ways, problem, stores, true)?;
                let outcome = slot.again.finish(&self.gpu, limit)?;
                let Some(right) = outcome.scores else { return Ok(unfinished()) };
                for (place, score) in right {
                    scores[saturated[order[place as usize]]].1 = score;
                }
                kernel_time = kernel_time.zip(outcome.kernel_time).map(|(one, other)| one + other);
            }
        }
        let mut places = Places::new(batch);
        let hits = scores.into_iter().map(|(pair, score)| {
            let (query, target) = places.find(pair);
            Hit { query, target, score: score.into(), matches: None }
        });
        let is_wanted = |hit: &Hit| {
            let lengths = (band.queries.length(hit.query), band.targets.length(hit.target));
            band.want.keeps(hit.query, hit.score, None, lengths)
        };
        Ok(Report { hits: hits.filter(is_wanted).collect(), kernel_time, ..Report::default() })
    }
}

/// Finds the queries and targets of pairs.
struct Places<'a> {
    batch: &'a Batch,
    /// Pairs before each block.
    begins: Vec<u64>,
    /// The block of the last pair, which the next one mostly is of.
    last: usize,
}

impl<'a> Places<'a> {
    fn new(batch: &'a Batch) -> Self {
        Places { batch, begins: tile_tasks::block_begins(batch), last: 0 }
    }

    /// The query and the target of a pair.
    fn find(&mut self, pair: u32) -> (SequenceId, SequenceId) {
        let pair = u64::from(pair);
        let blocks = &self.batch.blocks;
        let is_there = (self.begins[self.last]..self.begins[self.last] + blocks[self.last].pairs()).contains(&pair);
        if !is_there {
            self.last = self.begins.partition_point(|&begin| begin <= pair) - 1;
        }
        let block = &blocks[self.last];
        let place = block.targets.start + (pair - self.begins[self.last]) as u32;
        (block.query, self.batch.band.order[place as usize])
    }
}

/// Some pairs of a batch: a band of their targets, their runs, and for each index of a pair there which one it is.
fn some_pairs(batch: &Batch, pairs: &[u32]) -> (Band, Vec<Run>, Vec<usize>) {
    let mut places = Places::new(batch);
    let band = &batch.band;
    let mut all: Vec<(u32, u32, usize)> = pairs
        .iter()
        .enumerate()
        .map(|(which, &pair)| {
            let (query, target) = places.find(pair);
            (query, target, which)
        })
        .collect();
    all.sort_by_key(|&(query, target, which)| (query, std::cmp::Reverse(band.targets.length(target)), which));
    let mut runs = Vec::new();
    let mut end = 0u32;
    for of_query in all.chunk_by(|one, other| one.0 == other.0) {
        let begin = end;
        end += of_query.len() as u32;
        runs.push(Run::alone(of_query[0].0, begin, begin..end));
    }
    let band = Band {
        queries: Arc::clone(&band.queries),
        targets: Arc::clone(&band.targets),
        order: all.iter().map(|pair| pair.1).collect(),
        scoring: Arc::clone(&band.scoring),
        want: Want::Scores,
        earlier_is_query: band.earlier_is_query,
    };
    (band, runs, all.into_iter().map(|pair| pair.2).collect())
}
