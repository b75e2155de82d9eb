//! All pairs in blocks: cut along the queries, and a query that alone is too much along its targets.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use super::select::keep_best;
use super::{AllPairs, PairResult, row};
use crate::engine::owner::{Control, EngineSet};
use crate::engine::{Engine, thread_pool};
use crate::error::Result;
use crate::jobs::blocks::cut::Grid;
use crate::jobs::blocks::source::{Bander, Begun, BlockBands};
use crate::jobs::blocks::{self, Block, BlockSink, BlockSource, Divisible, Listed};
use crate::jobs::edit_filter::{self, Filter, Prefiltered};
use crate::jobs::{Job, Run, Summary, engines};
use crate::pairs::Pairs;
use crate::pairs::kernels::family_of;
use crate::pairs::plan::{self, Bands, PlannedBand};
use crate::seq::part::Extents;
use crate::seq::{Part, SequenceId, Strands};

/// Kinds of engines that divide the devices' memory where edit distances come first.
const WITH_FILTER: u64 = 2;

/// What lasts from block to block.
pub struct Session {
    /// Everything, with the strands of the queries, which devices know by where they are in memory.
    whole: plan::Job,
    pool: Arc<rayon::ThreadPool>,
    /// Opened with the first block.
    engine_set: Option<EngineSet<Pairs>>,
    filter: Option<Filter>,
}

impl AllPairs {
    fn ready(&self, run: &Run, whole: plan::Job, engine_set: Option<EngineSet<Pairs>>) -> Result<Session> {
        Ok(Session { whole, pool: thread_pool(run.threads)?, engine_set, filter: None })
    }

    /// Of one strand; the other has as many pairs and cells.
    fn grid(&self) -> Grid<'_> {
        let (targets, later) = (self.targets(), self.against.is_none());
        let extents = Extents::new(&self.queries, targets, Strands::default(), later);
        Grid { extents, copies: self.strands().copies(), targets: targets.lengths(), later }
    }
}

/// The queries of a block, of all strands, and the targets that they meet.
pub(in crate::jobs) fn part_of(block: &Block, copies: u32) -> Part {
    let query = |sequence: u64| sequence as SequenceId * copies;
    Part { queries: query(block.units.start)..query(block.units.end), targets: block.targets.clone() }
}

/// Bands of pairs of blocks.
struct PairBands {
    whole: plan::Job,
    bands: Bands,
    begun: Begun<u64>,
}

impl Bander<Pairs> for PairBands {
    fn begin(&mut self, block: Block) {
        let part = part_of(&block, self.whole.strands.copies());
        let (pairs, cells) = self.whole.extents().of(&part);
        // Before any of its bands.
        self.begun.add(pairs, pairs, u64::try_from(cells).unwrap_or(u64::MAX));
        self.bands.add(part);
    }

    fn next(&mut self) -> Option<PlannedBand> {
        self.bands.next()
    }
}

impl Divisible for AllPairs {
    type Session = Session;

    fn cut(&self, cells: u64) -> Result<Vec<Block>> {
        self.validate()?;
        Ok(self.grid().cut(self.queries.len(), cells))
    }

    /// Whether edit distances come first follows from the whole job.
    fn session(&self, run: &Run) -> Result<Session> {
        self.validate()?;
        run.check_kernel(family_of(self.scoring.mode))?;
        let whole = self.job();
        let filter = Filter::if_it_pays(self, &whole, run)?;
        Ok(Session { filter, ..self.ready(run, whole, None)? })
    }

    fn session_on(&self, engines: Vec<Box<dyn Engine<Pairs>>>, run: &Run) -> Result<Session> {
        self.validate()?;
        self.ready(run, self.job(), Some(EngineSet::new(engines)))
    }

    fn run_blocks(
        &self,
        blocks: &[Block],
        session: &mut Session,
        run: &Run,
        sink: &mut dyn BlockSink<PairResult>,
    ) -> Result<Summary> {
        blocks::check(blocks, self.queries.len() as u64, self.targets().len() as u32)?;
        let source: Arc<dyn BlockSource> = Listed::new(blocks);
        self.run_source(&source, session, run, sink)
    }

    fn run_source(
        &self,
        source: &Arc<dyn BlockSource>,
        session: &mut Session,
        run: &Run,
        sink: &mut dyn BlockSink<PairResult>,
    ) -> Result<Summary> {
        let begin = Instant::now();
        let Session { whole, pool, engine_set, filter } = session;
        let engine_set = match engine_set {
            Some(engine_set) => engine_set,
            None => {
                let sharing = if filter.is_some() { WITH_FILTER } else { 1 };
                // What is measured of a device has to pay for the whole job, of which nobody knows yet what passes a filter.
                let opened = engines::open(run, pool, whole, None, sharing)?;
                let may_filter = filter.is_none() && self.min_identity.is_some();
                let threads = pool.current_num_threads();
                if may_filter && engines::has_lost_gpus(run, &opened, threads, whole.cells())? {
                    *filter = Filter::if_it_pays(self, whole, &engines::without_gpus(run))?;
                }
                engine_set.insert(EngineSet::new(opened))
            }
        };
        let mut summary = Summary::default();
        if let Some(filter) = filter {
            let mut finished = |parts: Vec<Part>, prefiltered: Prefiltered, summary: &mut Summary| {
                let parts = plan::Job { parts: Some(parts.into()), ..whole.clone() };
                summary.add(self.finish_on(&parts, engine_set, Some(prefiltered), pool, run, sink)?);
                Ok(())
            };
            let ran = filter.select_source(whole, source, run, |parts, left| finished(parts, left, &mut summary))?;
            summary.engines.splice(0..0, edit_filter::named(ran));
            summary.kernel_seconds = summary.engines.iter().map(|engine| engine.kernel_seconds).sum();
            summary.seconds = begin.elapsed().as_secs_f64();
            return Ok(summary);
        }
        let (cells, pairs) = self.band(whole, engine_set);
        let nothing = plan::Job { parts: Some(Arc::default()), ..whole.clone() };
        let begun = Begun::default();
        let bander = PairBands { whole: whole.clone(), bands: nothing.bands(cells, pairs), begun: begun.clone() };
        let known = source.coming().load(Ordering::Relaxed);
        let control = Control { coming: source.coming(), is_open_ended: true, ..run.control(pool) };
        let bands = (BlockBands::new(source, bander), known);
        let more =
            self.finish_bands((whole, begun, false), engine_set, bands, (pool, run, control), Some((0, 0)), sink)?;
        let kernel_seconds = more.engines.iter().map(|engine| engine.kernel_seconds).sum();
        summary.add(Summary { kernel_seconds, seconds: begin.elapsed().as_secs_f64(), ..more });
        Ok(summary)
    }

    fn part_bytes(&self, block: &Block) -> u64 {
        let copies = u64::from(self.strands().copies());
        let most = self.max_hits.filter(|_| block.targets.is_none()).unwrap_or(usize::MAX) as u64;
        let rows = (block.pairs / copies).min((block.units.end - block.units.start).saturating_mul(most));
        // Numbers of a row, and of an alignment of relatives a run for every ten symbols or so, of two bytes.
        let columns = if self.score_only { 0 } else { 20 + block.mean_length() / 5 };
        rows.saturating_mul(20 + columns)
    }

    fn encode(row: &PairResult, bytes: &mut Vec<u8>) {
        row::encode(row, bytes);
    }

    fn decode(bytes: &mut &[u8]) -> Option<PairResult> {
        row::decode(bytes)
    }

    fn join(&self, rows: &mut Vec<PairResult>) {
        if let Some(most) = self.max_hits {
            keep_best(rows, most, self.is_local());
        }
    }
}
