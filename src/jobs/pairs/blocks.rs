//! Listed pairs in blocks, by their numbers in the list. Files in step are read once more, up to the block that is computed.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use super::source::{Planner, Sets, sets_of};
use super::{PairList, PairRow, PairSource, row};
use crate::engine::owner::{Control, EngineSet};
use crate::engine::{Engine, thread_pool};
use crate::error::Result;
use crate::jobs::blocks::cut::Growing;
use crate::jobs::blocks::source::{Begun, BlockBands};
use crate::jobs::blocks::{Block, BlockSink, BlockSource, Divisible, Listed, check};
use crate::jobs::{Job, Run, Summary};
use crate::pairs::Pairs;
use crate::pairs::kernels::family_of;
use crate::seq::{SequenceId, SequenceStore};

/// What lasts from block to block.
pub struct Session {
    pool: Arc<rayon::ThreadPool>,
    /// Of listed pairs, which devices know by where they are in memory.
    sets: Option<Sets>,
    /// Opened with the first block.
    engine_set: Option<EngineSet<Pairs>>,
}

impl Divisible for PairList {
    type Session = Session;

    /// Reads files in step from begin to end.
    fn cut(&self, cells: u64) -> Result<Vec<Block>> {
        self.validate()?;
        let copies = u64::from(self.strands().copies());
        let mut growing = Growing::of_rows(cells);
        let mut add = |number: u64, queries: &SequenceStore, targets: &SequenceStore, (query, target)| {
            let own = u64::from(queries.length(query)) * u64::from(targets.length(target));
            growing.add(number, copies, own.saturating_mul(copies));
        };
        match &self.source {
            PairSource::Listed { queries, targets, pairs } => {
                (0..).zip(pairs.iter()).for_each(|(number, &pair)| add(number, queries, targets, pair));
            }
            PairSource::InStep(chunks) => {
                let mut chunks = chunks.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).again()?;
                while let Some(chunk) = chunks.next()? {
                    let ids = 0..chunk.queries.len() as SequenceId;
                    ids.zip(chunk.first..)
                        .for_each(|(id, number)| add(number, &chunk.queries, &chunk.targets, (id, id)));
                }
            }
        }
        Ok(growing.blocks())
    }

    fn session(&self, run: &Run) -> Result<Session> {
        self.validate()?;
        run.check_kernel(family_of(self.scoring.mode))?;
        Ok(Session { pool: thread_pool(run.threads)?, sets: sets_of(self), engine_set: None })
    }

    fn session_on(&self, engines: Vec<Box<dyn Engine<Pairs>>>, run: &Run) -> Result<Session> {
        Ok(Session { engine_set: Some(EngineSet::new(engines)), ..self.session(run)? })
    }

    fn run_blocks(
        &self,
        blocks: &[Block],
        session: &mut Session,
        run: &Run,
        sink: &mut dyn BlockSink<PairRow>,
    ) -> Result<Summary> {
        let pairs = if let PairSource::Listed { pairs, .. } = &self.source { pairs.len() as u64 } else { u64::MAX };
        check(blocks, pairs, 0)?;
        let listed: Arc<dyn BlockSource> = Listed::new(blocks);
        self.run_source(&listed, session, run, sink)
    }

    fn run_source(
        &self,
        source: &Arc<dyn BlockSource>,
        session: &mut Session,
        run: &Run,
        sink: &mut dyn BlockSink<PairRow>,
    ) -> Result<Summary> {
        let begin = Instant::now();
        let Session { pool, sets, engine_set } = session;
        let engine_set = match engine_set {
            Some(engine_set) => engine_set,
            None => engine_set.insert(EngineSet::new(self.open(run, pool)?)),
        };
        let begun = Begun::default();
        let (planner, chunks) = Planner::of_blocks(self, sets.clone(), begun.clone());
        let known = source.coming().load(Ordering::Relaxed);
        let control = Control { coming: source.coming(), ..run.control(pool) };
        let bands = (BlockBands::new(source, planner), known);
        let mut summary = self.compute(engine_set, bands, (&chunks, begun.clone()), (pool, run, control), sink)?;
        // Pairs that a list has twice are computed once, and count twice as in the plan.
        (summary.pairs, summary.cells) = begun.totals();
        summary.seconds = begin.elapsed().as_secs_f64();
        Ok(summary)
    }

    fn part_bytes(&self, block: &Block) -> u64 {
        let columns = if self.score_only { 0 } else { 20 + block.mean_length() / 5 };
        (block.units.end - block.units.start).saturating_mul(24 + columns)
    }

    fn encode(row: &PairRow, bytes: &mut Vec<u8>) {
        row::encode(row, bytes);
    }

    fn decode(bytes: &mut &[u8]) -> Option<PairRow> {
        row::decode(bytes)
    }

    fn resolve(&self, rows: &mut [PairRow]) -> Result<()> {
        row::resolve(self, rows)
    }

    /// No pair is in several blocks.
    fn join(&self, _rows: &mut Vec<PairRow>) {}
}
