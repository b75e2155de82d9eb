//! Computes edit distances.

use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use rayon::prelude::*;

use super::collect::{Collector, by_pattern};
use super::finish::EditFinisher;
use super::indexed::PatternSearch;
use super::pieces::PieceBorders;
use super::{EditDistances, EditResult};
use crate::edit::Edit;
use crate::edit::cpu::edit_workers;
use crate::edit::plan::{Against, EditChunks, EditJob};
use crate::engine::Engine;
use crate::engine::owner::{self, EngineSet};
use crate::engine::queue::{ChunkSource, QueuedChunk};
use crate::error::Result;
use crate::jobs::block::{Block, BlockSink};
use crate::jobs::session::{Execution, SessionEngines, SessionStart, Threads, cells_now};
use crate::jobs::source::{BlockChunks, BlockSource, ChunkCutter, OpenBlocks};
use crate::jobs::{Feed, Run, Summary, engines};
use crate::seq::{QueryPart, SequenceStore};

/// Maximum number of pairs of a chunk. Their distances are kept until the chunk is complete.
const CHUNK_PAIRS: u64 = 1 << 24;
/// Maximum number of pairs of a chunk that are aligned or have all ends. Engines compute only a few
/// batches ahead.
const CHUNK_PAIRS_ALIGNED: u64 = 1 << 18;
/// Maximum number of pairs of a chunk of patterns and tiles whose places are sought. Few tiles have
/// a place, and a GPU needs many patterns at once: a part of a genome has 65,536 tiles.
const CHUNK_TILES: u64 = 1 << 20;

/// State that a session keeps between blocks.
pub struct EditSession {
    threads: Threads,
    /// The strands of the patterns.
    patterns: Arc<SequenceStore>,
    engines: SessionEngines<Edit>,
    /// The search with an index of all patterns, if it is faster than engines.
    search: Option<PatternSearch>,
    /// Borders of the current part, if the texts are read in parts.
    pub(super) pieces: Option<PieceBorders>,
}

impl EditSession {
    /// Opens a session, and its engines if the whole job is the only block.
    pub(super) fn open(
        job: &EditDistances,
        start: SessionStart<Vec<Box<dyn Engine<Edit>>>>,
        threads: Threads,
        run: &Run,
    ) -> Result<Self> {
        let patterns = job.strands().store(&job.patterns);
        let search = match &start.engines {
            None => PatternSearch::plan(job, &patterns, run, threads.count()),
            Some(_) => None,
        };
        let start = SessionStart { is_whole: start.is_whole && search.is_none(), ..start };
        let engines = SessionEngines::new(start, || job.open_engines(run, &threads))?;
        Ok(EditSession { patterns, threads, engines, search, pieces: None })
    }

    /// Returns the number of cells of the whole job; 0 for candidates, whose cells are counted when
    /// they are planned.
    pub(super) fn cells_of_all(&self, job: &EditDistances) -> u64 {
        match job.against {
            Against::Candidates(..) => 0,
            Against::Later | Against::Texts(_) | Against::Tiles(..) => job.job_of(Arc::clone(&self.patterns)).cells(),
        }
    }
}

/// Chunks to compute, and the receivers of their results.
struct ChunkRun<'a, B> {
    chunks: B,
    /// Number of cells of the chunks that are known now.
    cells: u64,
    /// Source of further blocks.
    source: Option<&'a dyn BlockSource>,
    collector: Collector,
    finisher: EditFinisher<'a>,
}

impl EditDistances {
    fn open_engines(&self, run: &Run, threads: &Threads) -> Result<Vec<Box<dyn Engine<Edit>>>> {
        engines::open_edit(run, &threads.feeding, self.cells())
    }

    /// Returns the maximum number of pairs of a chunk that engines compute.
    fn chunk_pairs(&self) -> u64 {
        match self.aligns() || self.all_ends {
            _ if self.all_places => CHUNK_TILES,
            true => CHUNK_PAIRS_ALIGNED,
            false => CHUNK_PAIRS,
        }
    }

    /// Computes blocks of patterns as they arrive.
    pub(super) fn compute_patterns(
        &self,
        Feed { source, run, sink }: Feed<'_, EditResult>,
        session: &mut EditSession,
    ) -> Result<Summary> {
        let started = Instant::now();
        let EditSession { threads, patterns, engines, search, pieces } = session;
        let execution = Execution { run, threads };
        let whole = self.job_of(Arc::clone(patterns));
        let tiles = match &whole.against {
            Against::Tiles(_, tiles) => Some(Arc::clone(tiles)),
            Against::Later | Against::Texts(_) | Against::Candidates(..) => None,
        };
        let open_blocks = OpenBlocks::default();
        let nothing = EditJob { parts: Some(Arc::default()), ..whole.clone() };
        let pairs = if search.is_some() { self.indexed_chunk_pairs() } else { self.chunk_pairs() };
        let chunks = nothing.chunks(pairs);
        let cutter =
            PatternChunks { whole, chunks, open_blocks: open_blocks.clone(), pool: Arc::clone(&threads.feeding) };
        let chunks = BlockChunks::new(source, cutter);
        let finisher = EditFinisher::new(self, patterns, open_blocks.clone(), execution, sink)
            .with_tiles(tiles)
            .with_pieces(pieces.as_mut());
        let summary = match search {
            Some(search) => self.compute_with_index(chunks, search, finisher)?,
            None => {
                let is_whole = engines.is_whole();
                let engine_set = engines.get_or_open(|| self.open_engines(run, threads))?;
                let chunks = ChunkRun {
                    chunks,
                    cells: cells_now(source.as_ref()),
                    // All cells of a whole job are known.
                    source: (!is_whole).then_some(source.as_ref()),
                    collector: Collector::new(self, &[], Vec::new()),
                    finisher,
                };
                self.compute_chunks(chunks, engine_set, execution)?
            }
        };
        let (pairs, cells) = open_blocks.totals();
        Ok(Summary { pairs, cells, seconds: started.elapsed().as_secs_f64(), ..summary })
    }

    /// Computes blocks of candidates as they arrive. Reorders the candidates of all available
    /// blocks, computes them, and then asks for more.
    pub(super) fn compute_candidates(
        &self,
        Feed { source, run, sink }: Feed<'_, EditResult>,
        session: &mut EditSession,
    ) -> Result<Summary> {
        let mut total: Option<Summary> = None;
        loop {
            let blocks = source.take_all();
            if blocks.is_empty() {
                return Ok(total.unwrap_or_default());
            }
            let summary = self.compute_some_candidates(&blocks, session, run, sink)?;
            match &mut total {
                Some(total) => total.add(summary),
                None => total = Some(summary),
            }
        }
    }

    fn compute_some_candidates(
        &self,
        blocks: &[Block],
        session: &mut EditSession,
        run: &Run,
        sink: &mut dyn BlockSink<EditResult>,
    ) -> Result<Summary> {
        let started = Instant::now();
        let EditSession { threads, patterns, engines, .. } = session;
        let execution = Execution { run, threads };
        let engine_set = engines.get_or_open(|| self.open_engines(run, threads))?;
        let (some, ranges) = self.with_candidates_of(blocks);
        let copies = self.strands().copies();
        let part = |range: Range<u32>| QueryPart { queries: range.start * copies..range.end * copies, targets: None };
        let parts: Vec<QueryPart> = ranges.into_iter().map(part).collect();
        let mut job = EditJob { parts: Some(parts.clone().into()), ..some.job_of(Arc::clone(patterns)) };
        let open_blocks = OpenBlocks::default();
        for (part, (pairs, cells)) in parts.iter().zip(threads.pool.install(|| job.extents(&parts))) {
            open_blocks.add(part.clone(), pairs, u64::try_from(cells).unwrap_or(u64::MAX));
        }
        let (pairs, cells) = open_blocks.totals();
        let orders = group_by_pattern(&mut job, &parts, &threads.pool);
        let (mut chunks, planning) = (job.chunks(self.chunk_pairs()), Arc::clone(&threads.feeding));
        let chunks = ChunkRun {
            chunks: std::iter::from_fn(move || planning.install(|| chunks.next())),
            cells,
            source: None,
            collector: Collector::new(&some, &parts, orders),
            finisher: EditFinisher::new(&some, patterns, open_blocks, execution, sink),
        };
        let summary = self.compute_chunks(chunks, engine_set, execution)?;
        Ok(Summary { pairs, cells, seconds: started.elapsed().as_secs_f64(), ..summary })
    }

    /// Returns a job that has only the candidates of the blocks, one block after the other, and the
    /// range of each block.
    fn with_candidates_of(&self, blocks: &[Block]) -> (Self, Vec<Range<u32>>) {
        let range = |block: &Block| match &block.targets {
            Some(some) => some.clone(),
            None => block.units.start as u32..block.units.end as u32,
        };
        let mut ranges: Vec<Range<u32>> = blocks.iter().map(range).collect();
        let mut job = self.clone();
        let Against::Candidates(texts, candidates) = &self.against else { return (job, ranges) };
        if ranges.iter().map(Range::len).ne([candidates.len()]) {
            let (mut some, mut end) = (Vec::new(), 0);
            for range in &mut ranges {
                some.extend_from_slice(&candidates[range.start as usize..range.end as usize]);
                let before = std::mem::replace(&mut end, some.len() as u32);
                *range = before..end;
            }
            job.against = Against::Candidates(Arc::clone(texts), Arc::new(some));
        }
        (job, ranges)
    }

    fn compute_chunks(
        &self,
        chunks: ChunkRun<'_, impl ChunkSource<Edit> + 'static>,
        engine_set: &mut EngineSet<Edit>,
        execution: Execution<'_>,
    ) -> Result<Summary> {
        let ChunkRun { chunks, cells, source, mut collector, mut finisher } = chunks;
        let Execution { run, threads } = execution;
        let reserve = || edit_workers(threads.count(), &run.interrupt);
        let control = match source {
            Some(source) => execution.control_for_source(source, collector.window()),
            None => execution.control(collector.window()),
        };
        let ran = owner::run_set(engine_set, reserve, chunks, cells, &control, |outcome| {
            run.progress.advance(outcome.pairs, outcome.cells);
            collector.take(&outcome)?;
            while let Some(complete) = collector.complete() {
                finisher.take(complete)?;
            }
            Ok(())
        })?;
        // Completes parts without pairs.
        while let Some(complete) = collector.complete() {
            finisher.take(complete)?;
        }
        collector.end()?;
        Ok(finisher.end()?.with_engines(ran))
    }
}

/// Reorders the candidates of each part so that the candidates of a pattern are adjacent. Returns
/// the order of each changed part.
fn group_by_pattern(job: &mut EditJob, parts: &[QueryPart], pool: &rayon::ThreadPool) -> Vec<Option<Vec<u32>>> {
    let Against::Candidates(texts, candidates) = &job.against else { return Vec::new() };
    let candidates_of = |part: &QueryPart| &candidates[part.queries.start as usize..part.queries.end as usize];
    let orders: Vec<Option<Vec<u32>>> =
        pool.install(|| parts.iter().map(|part| by_pattern(candidates_of(part), job.patterns.len())).collect());
    if orders.iter().any(Option::is_some) {
        let mut moved = Vec::with_capacity(candidates.len());
        for (order, given) in orders.iter().zip(parts.iter().map(candidates_of)) {
            match order {
                Some(order) => pool.install(|| moved.par_extend(order.par_iter().map(|&at| given[at as usize]))),
                None => moved.extend_from_slice(given),
            }
        }
        job.against = Against::Candidates(Arc::clone(texts), Arc::new(moved));
    }
    orders
}

/// Cuts blocks of patterns into chunks.
struct PatternChunks {
    whole: EditJob,
    chunks: EditChunks,
    open_blocks: OpenBlocks<QueryPart>,
    /// Threads that plan chunks.
    pool: Arc<rayon::ThreadPool>,
}

impl ChunkCutter<Edit> for PatternChunks {
    fn begin(&mut self, block: Block) {
        let part = block.part(self.whole.strands.copies());
        let parts = [part.clone()];
        let (pairs, cells) = self.whole.extents(&parts)[0];
        self.open_blocks.add(part.clone(), pairs, u64::try_from(cells).unwrap_or(u64::MAX));
        self.chunks.add(part);
    }

    fn next(&mut self) -> Option<QueuedChunk<Edit>> {
        let chunks = &mut self.chunks;
        self.pool.install(|| chunks.next())
    }
}
