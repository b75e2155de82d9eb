//! All pairs in blocks: cut along the queries, and a query that alone is too much along its targets.

use std::sync::Arc;

use super::finish::keep_best;
use super::{AllPairs, PairResult, row};
use crate::engine::owner::EngineSet;
use crate::engine::{Engine, thread_pool};
use crate::error::Result;
use crate::gpu::kernels::Family;
use crate::jobs::blocks::cut::Grid;
use crate::jobs::blocks::{self, Block, BlockSink, Divisible};
use crate::jobs::edit_filter::Filter;
use crate::jobs::{Job, Run, Summary, engines};
use crate::pairs::{Pairs, plan};
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

impl Divisible for AllPairs {
    type Session = Session;

    fn cut(&self, cells: u64) -> Result<Vec<Block>> {
        self.validate()?;
        Ok(self.grid().cut(self.queries.len(), cells))
    }

    /// Whether edit distances come first follows from the whole job.
    fn session(&self, run: &Run) -> Result<Session> {
        self.validate()?;
        run.check_kernel(Family::Pairs)?;
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
        let Session { whole, pool, engine_set, filter } = session;
        let copies = whole.strands.copies();
        let part = |block: &Block| {
            let query = |sequence: u64| sequence as SequenceId * copies;
            Part { queries: query(block.units.start)..query(block.units.end), targets: block.targets.clone() }
        };
        let parts = plan::Job { parts: Some(blocks.iter().map(part).collect()), ..whole.clone() };
        let prefiltered = match filter {
            Some(filter) => filter.select(&parts, run)?,
            None => None,
        };
        let engine_set = match engine_set {
            Some(engine_set) => engine_set,
            None => {
                let sharing = if filter.is_some() { WITH_FILTER } else { 1 };
                // What is measured of a device has to pay for the whole job, of which nobody knows yet what passes a filter.
                let opened = engines::open(run, pool.current_num_threads(), whole, None, sharing)?;
                engine_set.insert(EngineSet::new(opened))
            }
        };
        self.finish_on(&parts, engine_set, prefiltered, pool, run, sink)
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
