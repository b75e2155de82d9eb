//! Computes a search: the scores of all pairs that may be hits, one chunk of the subjects after the
//! other.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use super::chunks::SubjectChunkCache;
use super::cutter::{QueryBatch, SearchChunkCutter};
use super::gather::Gatherer;
use super::tracing::HitTracer;
use super::{Search, SearchHit};
use crate::engine::Engine;
use crate::engine::owner::{self, EngineSet};
use crate::error::Result;
use crate::jobs::edit_filter::{self, PlanFilter, WITH_FILTER};
use crate::jobs::session::{Execution, SessionEngines, SessionStart, Threads, cells_now};
use crate::jobs::source::{BlockChunks, OpenBlocks};
use crate::jobs::{Feed, Run, Summary, engines};
use crate::pairs::cpu::workers;
use crate::pairs::{Pairs, ScoreThresholds, plan};
use crate::score::statistics::Statistics;
use crate::seq::{Alphabet, SequenceStore};

/// Maximum packed bytes of a subject chunk. It keeps devices busy, and is small compared with the
/// memory of a computer.
const CHUNK_BYTES: u64 = 256 << 20;
/// Minimum packed bytes of a subject chunk, even for engines with little memory.
const MIN_CHUNK_BYTES: u64 = 64 << 10;
/// Minimum packed bytes of a subject chunk if memory allows. Smaller chunks do not pay off.
const BATCH_CHUNK_BYTES: u64 = 2 << 20;
/// Maximum number of pairs in a chunk of the queue. Few of these pairs are kept.
const CHUNK_PAIRS: u64 = 1 << 26;
/// Number of batches of all engines in a chunk of the queue. With several batches, the next chunk
/// starts before the last one ends.
const BATCHES_PER_CHUNK: u64 = 4;

/// State that a session keeps between blocks.
pub struct SearchSession {
    /// The strands of the queries.
    queries: Arc<SequenceStore>,
    statistics: Option<Statistics>,
    /// Lowest score that can be reported, for each strand of the queries.
    least: Vec<i64>,
    threads: Threads,
    engines: SessionEngines<Pairs>,
    /// Filter of pairs by edit distances.
    filter: Option<PlanFilter>,
    /// Chunks of the subjects; `None` until the engines are open.
    chunks: Option<Arc<SubjectChunkCache>>,
}

impl SearchSession {
    /// Opens a session and decides whether edit distances are computed before scores.
    pub(super) fn open(job: &Search, start: SessionStart<Vec<Box<dyn Engine<Pairs>>>>, run: &Run) -> Result<Self> {
        let threads = Threads::shared(run)?;
        let mut filter = None;
        if start.engines.is_none() {
            // The filter excludes few pairs of proteins, so that a warning would not help.
            if job.scoring.alphabet == Alphabet::Dna {
                edit_filter::warn_if_impossible(&job.identity_goal(), job.extent(), run)?;
            }
            filter = job.plan_filter(run)?;
        }
        let engines = SessionEngines::new(start, || job.open_engines(run, &threads, &mut filter))?;
        let (queries, statistics) = (job.strands().store(&job.queries), job.statistics());
        let floor = |&length: &u32| job.floor(length, job.subjects.lengths(), statistics.as_ref());
        let least = queries.lengths().iter().map(floor).collect();
        Ok(SearchSession { queries, statistics, least, threads, engines, filter, chunks: None })
    }
}

impl Search {
    /// Opens engines. Measurements of a device must pay off for the whole job. If no GPU could be
    /// opened, `filter` is chosen as for the CPU.
    fn open_engines(
        &self,
        run: &Run,
        threads: &Threads,
        filter: &mut Option<PlanFilter>,
    ) -> Result<Vec<Box<dyn Engine<Pairs>>>> {
        let results = self.result_filter(&Arc::new(ScoreThresholds::uniform(0, 0)));
        let sharing = if filter.is_some() { WITH_FILTER } else { 1 };
        let opened = engines::open_for(run, &threads.pool, &self.scoring, &results, self.cells(), sharing)?;
        let may_filter = filter.is_none() && self.min_identity.is_some();
        if may_filter && engines::has_lost_gpus(run, &opened, threads.count(), self.cells())? {
            *filter = self.plan_filter(&engines::without_gpus(run))?;
        }
        Ok(opened)
    }

    /// Returns the packed bytes of a subject chunk that suit these engines and blocks with this
    /// number of cells. Two chunks fit in the memory of every device. A batch of `batch_cells`
    /// cells contains all queries. Queries of equal length are then computed together. All pairs of
    /// a very long subject are also computed together, because each of them takes long.
    fn default_chunk_bytes(&self, engine_set: &EngineSet<Pairs>, batch_cells: u64, cells: u64) -> u64 {
        let room = engine_set.engines().map(|engine| engine.capacity().store_bytes / 2).min().unwrap_or(u64::MAX);
        let most = room.clamp(MIN_CHUNK_BYTES, CHUNK_BYTES);
        let query_symbols = cells / self.subjects.size().symbols.max(1);
        (batch_cells / query_symbols.max(1)).max(BATCH_CHUNK_BYTES).min(most)
    }

    /// Searches the blocks of a source.
    pub(super) fn search(
        &self,
        Feed { source, run, sink }: Feed<'_, SearchHit>,
        session: &mut SearchSession,
    ) -> Result<Summary> {
        let started = Instant::now();
        let SearchSession { queries, statistics, least, threads, engines, filter, chunks } = session;
        let execution = Execution { run, threads };
        let thresholds: Arc<ScoreThresholds> = Arc::new(least.iter().copied().collect());
        let engine_set = engines.get_or_open(|| self.open_engines(run, threads, filter))?;
        let filter = filter.clone();
        let batch_cells: u64 = engine_set.engines().fold(1, |sum, engine| engine.usual_cells().saturating_add(sum));
        let chunks = &*chunks.get_or_insert_with(|| {
            let default = || self.default_chunk_bytes(engine_set, batch_cells, cells_now(source.as_ref()));
            Arc::new(SubjectChunkCache::new(&self.subjects, self.chunk_bytes.unwrap_or_else(default)))
        });
        let open_blocks = OpenBlocks::<QueryBatch>::default();
        let cutter = SearchChunkCutter {
            job: plan::PairsSpec {
                queries: Arc::clone(queries),
                against: None,
                scoring: Arc::clone(&self.scoring),
                filter: self.result_filter(&thresholds),
                strands: self.strands(),
                parts: None,
            },
            subjects: Arc::clone(&self.subjects),
            chunks: Arc::clone(chunks),
            filter: filter.clone(),
            run: run.clone(),
            open_blocks: open_blocks.clone(),
            max_batch_queries: self.max_batch_queries(),
            cells: batch_cells.saturating_mul(BATCHES_PER_CHUNK),
            pairs: CHUNK_PAIRS,
            left: VecDeque::new(),
            open: None,
        };
        let (queries, statistics, thresholds) = (Arc::clone(queries), *statistics, &thresholds);
        let tracer = HitTracer { job: self, queries, statistics, chunks, thresholds, execution };
        let mut gatherer = Gatherer::new(tracer, open_blocks.clone(), sink);
        // An invalid choice of devices was refused before the first batch.
        let reserve = || {
            edit_filter::reserve(&self.identity_goal(), self.extent(), filter.is_some(), run, &threads.pool)
                .unwrap_or_else(|_| workers(threads.count(), &run.interrupt))
        };
        let known = cells_now(source.as_ref());
        let control = execution.control_for_source(source.as_ref(), gatherer.window());
        let ran = owner::run_set(engine_set, reserve, BlockChunks::new(source, cutter), known, &control, |outcome| {
            // A filter reports all pairs as progress.
            if filter.is_none() {
                run.progress.advance(outcome.pairs, outcome.cells);
            }
            gatherer.take(outcome)
        });
        let filtered = filter.as_ref().map_or_else(|| Ok(Vec::new()), PlanFilter::finish);
        let ended = ran.and_then(|ran| {
            gatherer.deliver()?;
            chunks.check()?;
            let filtered = filtered?;
            Ok((ran, filtered, gatherer.end()?))
        });
        // After an error, batches may still use their chunks.
        while let Some(batch) = open_blocks.end_if(|_| true) {
            chunks.release(&batch.chunks);
        }
        let (ran, filtered, summary) = ended?;
        let mut summary = Summary { seconds: started.elapsed().as_secs_f64(), ..summary.with_engines(ran) };
        summary.engines.splice(0..0, filtered);
        summary.kernel_seconds = summary.engines.iter().map(|engine| engine.kernel_seconds).sum();
        Ok(summary)
    }
}
