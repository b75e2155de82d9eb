//! Search for many patterns with an index of their pieces ([`crate::edit::pieces`]), on the CPU
//! threads.

use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use super::EditDistances;
use super::collect::CompleteResults;
use super::finish::EditFinisher;
use crate::edit::cpu::{IndexRun, indexed_distances};
use crate::edit::pieces::{PieceFilter, PieceIndex, PieceIndexPlan};
use crate::edit::plan::Against;
use crate::edit::{BatchDistances, Edit, EditChunk};
use crate::engine::queue::{ChunkSource, Upcoming};
use crate::engine::stats::{EngineStats, RunStats};
use crate::error::Result;
use crate::gpu::adapter::Device;
use crate::jobs::engines::{GPU_START_SECONDS, is_measured};
use crate::jobs::session::Execution;
use crate::jobs::{Run, Summary};
use crate::seq::{SequenceId, SequenceStore};

/// Maximum number of pairs of patterns and tiles in a chunk whose places are sought. Only pairs
/// within the limit take memory.
const CHUNK_TILES: u64 = 1 << 31;
/// Maximum number of pairs in a chunk whose best ends are sought. Every pair of a pattern and a text
/// takes memory.
const CHUNK_PAIRS: u64 = 1 << 26;

/// Clock cycles of a thread per second, for an estimate of times.
const CLOCK: f64 = 3e9;
/// The index is used if the expected time is at most this part of the time without it.
const WORTHWHILE: f64 = 0.8;
/// Seconds that a card needs for a column of a pattern with at most 32 symbols. The time grows with
/// the square root of the length. (An H200: 0.9e-12 for 23 symbols, 1.8e-12 for 100, and 4.8e-12 for
/// 1,000.)
const CARD_COLUMN: f64 = 0.9e-12;
/// Name of the threads in statistics.
const ENGINE_NAME: &str = "cpu (index of patterns)";
/// Maximum number of indexes that are kept for the next part of the texts.
const MAX_KEPT: usize = 4;

/// A search with an index.
pub(super) struct PatternSearch {
    plan: PieceIndexPlan,
    /// Indexes that the next part of the texts may need again.
    kept: Vec<Arc<PieceIndex>>,
}

impl PatternSearch {
    /// Plans the search, given the strands of the patterns. Returns `None` if engines are expected to
    /// be faster, if the devices of the run do not include the CPU, or if the job does not seek parts
    /// of long texts within a limit.
    pub(super) fn plan(job: &EditDistances, patterns: &SequenceStore, run: &Run, threads: usize) -> Option<Self> {
        let is_cpu = |device: &Device| matches!(device, Device::Cpu);
        let has_cpu = run.devices.is_empty() || run.devices.iter().any(is_cpu);
        let Against::Texts(texts) = &job.against else { return None };
        if !has_cpu || is_measured(run) || !PieceFilter::supports(&job.scheme) || !job.has_tiles(texts) {
            return None;
        }
        let symbols: u64 = texts.lengths().iter().map(|&length| u64::from(length)).sum();
        let plan = PieceIndexPlan::new(patterns, &job.scheme, symbols)?;
        let seconds = |cycles: f64| cycles * symbols as f64 / (CLOCK * threads as f64);
        let (with, without) = (seconds(plan.cycles()), seconds(plan.cycles_without()));
        let may_use_card = !run.devices.iter().all(is_cpu) || run.devices.is_empty();
        let with_card = if may_use_card { seconds_of_card(patterns, symbols) } else { f64::INFINITY };
        let is_used = with < WORTHWHILE * without && with < with_card;
        tracing::debug!(with, without, with_card, is_used, "expected seconds with and without an index of patterns");
        is_used.then_some(PatternSearch { plan, kept: Vec::new() })
    }

    /// Returns the distances of consecutive patterns in all regions of a chunk.
    fn distances(
        &mut self,
        job: &EditDistances,
        patterns: &SequenceStore,
        queries: Range<SequenceId>,
        chunk: &Arc<EditChunk>,
        execution: Execution<'_>,
    ) -> Result<BatchDistances> {
        let Execution { run, threads } = execution;
        let progress = |pairs, cells| run.progress.advance(pairs, cells);
        let run = IndexRun { interrupt: &run.interrupt, progress: &progress };
        let groups = self.plan.groups(patterns, &job.scheme, queries.clone());
        let (mut pairs, mut list) = (0, Vec::new());
        for group in groups {
            let index = self.index(job, patterns, group, &threads.pool);
            let found = threads.pool.install(|| indexed_distances(chunk, &index, &run))?;
            let before = pairs as u32;
            pairs += found.pairs();
            list.extend(found.into_listed().into_iter().map(|(pair, result)| (before + pair, result)));
        }
        Ok(BatchDistances::Listed { pairs, list })
    }

    /// Returns the index of a group of patterns.
    fn index(
        &mut self,
        job: &EditDistances,
        patterns: &SequenceStore,
        group: Range<SequenceId>,
        pool: &rayon::ThreadPool,
    ) -> Arc<PieceIndex> {
        if let Some(index) = self.kept.iter().find(|index| index.queries() == group) {
            return Arc::clone(index);
        }
        let index = Arc::new(pool.install(|| self.plan.index(patterns, &job.scheme, group)));
        if self.kept.len() < MAX_KEPT {
            self.kept.push(Arc::clone(&index));
        }
        index
    }
}

/// Returns the time that a card is expected to need, with its start.
fn seconds_of_card(patterns: &SequenceStore, text_symbols: u64) -> f64 {
    let rows = patterns.lengths().iter().map(|&symbols| (f64::from(symbols) / 32.0).max(1.0).sqrt());
    GPU_START_SECONDS + rows.sum::<f64>() * CARD_COLUMN * text_symbols as f64
}

impl EditDistances {
    /// Returns the maximum number of pairs of a chunk that is searched with an index.
    pub(super) fn indexed_chunk_pairs(&self) -> u64 {
        if self.all_places { CHUNK_TILES } else { CHUNK_PAIRS }
    }

    /// Computes all chunks of a source with an index, and passes their results to `finisher`.
    pub(super) fn compute_with_index(
        &self,
        mut chunks: impl ChunkSource<Edit>,
        search: &mut PatternSearch,
        mut finisher: EditFinisher<'_>,
    ) -> Result<Summary> {
        let (patterns, execution) = (finisher.patterns(), finisher.execution());
        let started = Instant::now();
        let threads = execution.threads.count();
        let mut row = EngineStats { name: ENGINE_NAME.into(), threads: threads as u64, ..EngineStats::default() };
        while let Upcoming::Chunk((range, chunk, blocks)) = chunks.next_chunk() {
            execution.run.check_interrupt()?;
            let begin = Instant::now();
            let distances = search.distances(self, patterns, range.clone(), &chunk, execution)?;
            row.batches += 1;
            row.pairs += blocks.iter().map(|(_, block)| block.pairs()).sum::<u64>();
            row.cells += blocks.iter().map(|(_, block)| block.cells).sum::<u64>();
            row.busy_seconds += begin.elapsed().as_secs_f64() * threads as f64;
            row.kernel_seconds = row.busy_seconds;
            row.finished_at = started.elapsed().as_secs_f64();
            finisher.take(CompleteResults { range, distances, is_part: false, order: None })?;
        }
        let ran = RunStats::from_engines([row], started.elapsed().as_secs_f64());
        Ok(finisher.end()?.with_engines(ran))
    }
}
