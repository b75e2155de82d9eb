//! Reads in blocks, by their numbers in the file.

use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use super::source::{Ranges, Source};
use super::{PhyloAlignment, PhyloResult, ReadSource};
use crate::engine::owner::EngineSet;
use crate::engine::{Engine, thread_pool};
use crate::error::{Error, Result};
use crate::gpu::kernels::Family;
use crate::jobs::blocks::cut::Growing;
use crate::jobs::blocks::source::Begun;
use crate::jobs::blocks::{Block, BlockSink, BlockSource, Divisible, Due, Listed, check};
use crate::jobs::{Job, Run, Summary, engines};
use crate::papara::Phylo;
use crate::papara::search::Levels;
use crate::seq::is_standard;

/// What lasts from block to block.
pub struct Session {
    pool: Arc<rayon::ThreadPool>,
    /// What engines wait for.
    feeding: Arc<rayon::ThreadPool>,
    levels: Arc<Levels>,
    /// Where the file was left.
    source: Option<Source>,
    /// `None` until devices are opened.
    engine_set: Option<EngineSet<Phylo>>,
}

impl Divisible for PhyloAlignment {
    type Session = Session;

    /// Reads the whole file.
    fn cut(&self, cells: u64) -> Result<Vec<Block>> {
        self.validate()?;
        if matches!(&self.reads, ReadSource::File(path) if is_standard(path)) {
            return Err(Error::usage_of("reads", "standard input can be read once only, but each block is read again"));
        }
        let mut source = Source::open(self)?;
        let edges = self.reference.tree.edges.len() as u64 * u64::from(self.strands().copies());
        let symbol = edges.saturating_mul(self.reference.sites().into());
        let mut growing = Growing::new(cells);
        while let Some(chunk) = source.next()? {
            for (number, &length) in chunk.numbers().zip(chunk.store.lengths()) {
                growing.add(number, edges, symbol.saturating_mul(length.into()));
            }
        }
        Ok(growing.blocks())
    }

    fn session(&self, run: &Run) -> Result<Session> {
        self.validate()?;
        run.check_kernel(Family::Phylo)?;
        let (pool, feeding) = (thread_pool(run.threads)?, thread_pool(run.threads)?);
        let levels = self.levels(&pool);
        Ok(Session { pool, feeding, levels, source: None, engine_set: None })
    }

    fn session_on(&self, engines: Vec<Box<dyn Engine<Phylo>>>, run: &Run) -> Result<Session> {
        Ok(Session { engine_set: Some(EngineSet::new(engines)), ..self.session(run)? })
    }

    fn run_blocks(
        &self,
        blocks: &[Block],
        session: &mut Session,
        run: &Run,
        sink: &mut dyn BlockSink<PhyloResult>,
    ) -> Result<Summary> {
        check(blocks, u64::MAX, 0)?;
        let listed: Arc<dyn BlockSource> = Listed::new(blocks);
        self.run_source(&listed, session, run, sink)
    }

    /// A file is read from its begin to the first block, and from there on as long as blocks come in its order.
    fn run_source(
        &self,
        blocks: &Arc<dyn BlockSource>,
        session: &mut Session,
        run: &Run,
        sink: &mut dyn BlockSink<PhyloResult>,
    ) -> Result<Summary> {
        let begin = Instant::now();
        let Session { pool, feeding, levels, source, engine_set } = session;
        let engine_set = match engine_set {
            Some(engine_set) => engine_set,
            None => engine_set.insert(EngineSet::new(engines::open_phylo(run, pool.current_num_threads())?)),
        };
        let begun = Begun::default();
        let mut reads = Ranges::new(self, (blocks, begun.clone()), source);
        let mut due = Due::new(begun, sink);
        let rows = |reads: Range<u64>, rows: &[PhyloResult]| {
            due.rows(reads.start, rows)?;
            due.reached(reads.end)
        };
        let mut summary = self.align(engine_set, levels, (pool, feeding), run, || reads.next(), rows)?;
        due.finish()?;
        summary.seconds = begin.elapsed().as_secs_f64();
        Ok(summary)
    }

    fn part_bytes(&self, block: &Block) -> u64 {
        let edges = self.reference.tree.edges.len() as u64 * u64::from(self.strands().copies());
        let symbols = block.cells / edges.saturating_mul(self.reference.sites().into()).max(1);
        // Name and numbers; letters, and a run for every five.
        (block.units.end - block.units.start).saturating_mul(50).saturating_add(symbols + symbols * 2 / 5)
    }

    fn encode(row: &PhyloResult, bytes: &mut Vec<u8>) {
        row.add_to(bytes);
    }

    fn decode(bytes: &mut &[u8]) -> Option<PhyloResult> {
        PhyloResult::take_from(bytes)
    }

    /// Reads know nothing of each other.
    fn join(&self, _rows: &mut Vec<PhyloResult>) {}
}
