//! Computation of a search: scores of all pairs, chunk by chunk of the subjects.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use super::bands::{Batch, SearchChunks};
use super::chunks::Chunks;
use super::gather::Gatherer;
use super::tracing::Tracer;
use super::{Search, SearchHit};
use crate::engine::Engine;
use crate::engine::owner::{self, EngineSet};
use crate::error::Result;
use crate::jobs::session::{Execution, SessionEngines, Threads, cells_now};
use crate::jobs::source::{Begun, BlockChunks};
use crate::jobs::{Feed, Run, Summary, engines};
use crate::pairs::cpu::workers;
use crate::pairs::{Floors, Pairs, Want, plan};
use crate::score::statistics::Statistics;
use crate::seq::SequenceStore;

/// Packed bytes of a chunk at most: so many that a band keeps devices busy, and few beside the memory of a computer.
const CHUNK_BYTES: u64 = 256 << 20;
/// The same at least, however small an engine's memory is.
const MIN_CHUNK_BYTES: u64 = 64 << 10;
/// The same at least where more would do: less is not worth a band of its own.
const BATCH_CHUNK_BYTES: u64 = 2 << 20;
/// Pairs of a band: of few of them anything is kept.
const CHUNK_PAIRS: u64 = 1 << 26;
/// Batches of all engines in a band: several, so that the next band begins before the last one ends.
const BATCHES_A_BAND: u64 = 4;

/// State that is kept from block to block.
pub struct Session {
    /// The strands of the queries.
    queries: Arc<SequenceStore>,
    statistics: Option<Statistics>,
    /// The least score of each that can be reported.
    least: Vec<i64>,
    threads: Threads,
    engines: SessionEngines<Pairs>,
    /// `None` until it is known what engines there are.
    chunks: Option<Arc<Chunks>>,
}

impl Session {
    pub(super) fn new(job: &Search, threads: Threads, engines: SessionEngines<Pairs>) -> Self {
        let (queries, statistics) = (job.strands().store(&job.queries), job.statistics());
        let least = queries.lengths().iter().map(|&length| job.floor(length, statistics.as_ref())).collect();
        Session { queries, statistics, least, threads, engines, chunks: None }
    }
}

impl Search {
    /// Opens engines. What is measured of a device has to pay for the whole job.
    pub(super) fn open_engines(&self, run: &Run, threads: &Threads) -> Result<Vec<Box<dyn Engine<Pairs>>>> {
        let want = Want::AtLeast(Arc::new(Floors::same(0, 0)));
        engines::open_for(run, &threads.pool, &self.scoring, &want, self.cells())
    }

    /// Packed bytes of a chunk that suit these engines and blocks of so many cells: few enough that two chunks fit beside each other
    /// on every device, and that a batch of an engine, of `at_once` cells, has all queries together. So those of one length come
    /// together, and of very long subjects, each of which takes a while whatever is computed beside it, all pairs are computed
    /// at the same time.
    fn suiting_chunk_bytes(&self, engine_set: &EngineSet<Pairs>, at_once: u64, cells: u64) -> u64 {
        let room = engine_set.engines().map(|engine| engine.capacity().store_bytes / 2).min().unwrap_or(u64::MAX);
        let most = room.clamp(MIN_CHUNK_BYTES, CHUNK_BYTES);
        let query_symbols = cells / self.subjects.size().symbols.max(1);
        (at_once / query_symbols.max(1)).max(BATCH_CHUNK_BYTES).min(most)
    }

    /// Searches by blocks.
    pub(super) fn search(
        &self,
        Feed { source, run, sink }: Feed<'_, SearchHit>,
        session: &mut Session,
    ) -> Result<Summary> {
        let begin = Instant::now();
        let Session { queries, statistics, least, threads, engines, chunks } = session;
        let execution = Execution { run, threads };
        let floors: Arc<Floors> = Arc::new(least.iter().copied().collect());
        let engine_set = engines.get_or_open(|| self.open_engines(run, threads))?;
        let at_once: u64 = engine_set.engines().fold(1, |sum, engine| engine.usual_cells().saturating_add(sum));
        let chunks = &*chunks.get_or_insert_with(|| {
            let suiting = || self.suiting_chunk_bytes(engine_set, at_once, cells_now(source.as_ref()));
            Arc::new(Chunks::new(&self.subjects, self.chunk_bytes.unwrap_or_else(suiting)))
        });
        let begun = Begun::<Batch>::default();
        let bands = SearchChunks {
            job: plan::Job {
                queries: Arc::clone(queries),
                against: None,
                scoring: Arc::clone(&self.scoring),
                want: Want::AtLeast(Arc::clone(&floors)),
                strands: self.strands(),
                parts: None,
            },
            subjects: Arc::clone(&self.subjects),
            chunks: Arc::clone(chunks),
            begun: begun.clone(),
            at_once: self.at_once(),
            cells: at_once.saturating_mul(BATCHES_A_BAND),
            pairs: CHUNK_PAIRS,
            left: VecDeque::new(),
            open: None,
        };
        let tracer = Tracer { job: self, queries: Arc::clone(queries), statistics: *statistics, chunks, execution };
        let mut gatherer = Gatherer::new(tracer, &floors, begun.clone(), sink);
        let reserve = || workers(threads.count(), &run.interrupt);
        let known = cells_now(source.as_ref());
        let control = execution.control_of(source.as_ref(), gatherer.ahead());
        let ran = owner::run_set(engine_set, reserve, BlockChunks::new(source, bands), known, &control, |outcome| {
            run.progress.advance(outcome.pairs, outcome.cells);
            gatherer.take(outcome)
        });
        let ended = ran.and_then(|ran| {
            gatherer.hand_over()?;
            chunks.check()?;
            Ok((ran, gatherer.end()?))
        });
        // What an error left, whatever it was.
        while let Some(batch) = begun.end_if(|_| true) {
            chunks.release(&batch.chunks);
        }
        let (ran, summary) = ended?;
        Ok(Summary { seconds: begin.elapsed().as_secs_f64(), ..summary.with_engines(ran) })
    }
}
