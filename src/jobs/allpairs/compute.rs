//! Computes all pairs: first edit distances if they pay off, then scores.

use std::sync::Arc;
use std::time::Instant;

use super::align::PairAligner;
use super::finish::PairFinisher;
use super::{AllPairs, PairResult};
use crate::engine::Engine;
use crate::engine::owner::{self, EngineSet};
use crate::engine::queue::{ChunkSource, ExcludedPairs};
use crate::error::Result;
use crate::jobs::block::{Block, BlockSink};
use crate::jobs::edit_filter::{self, EditDistanceFilter, Prefiltered, ReportedProgress, WITH_FILTER};
use crate::jobs::session::{Execution, SessionEngines, SessionStart, Threads, cells_now};
use crate::jobs::source::{BlockChunks, BlockSource, ChunkCutter, OpenBlocks};
use crate::jobs::{Feed, Progress, Run, Summary, engines};
use crate::pairs::cpu::workers;
use crate::pairs::plan::lengths::exclude;
use crate::pairs::plan::selected::{by_parts, selected_cells, selected_chunks};
use crate::pairs::plan::{self, PlannedChunk, PlannedChunks};
use crate::pairs::{Pairs, ResultFilter};
use crate::score::CoverageFilter;
use crate::seq::QueryPart;

/// Maximum number of pairs of a chunk if every pair is reported. Results are kept until their chunk
/// is complete.
const CHUNK_PAIRS_ALIGNED: u64 = 1 << 17;
/// Maximum number of pairs of a chunk if only scores are reported.
const CHUNK_PAIRS_SCORED: u64 = 1 << 22;
/// Maximum number of pairs of a chunk if few pairs pass a filter.
const CHUNK_PAIRS_FILTERED: u64 = 1 << 26;
/// Number of batches of all engines in a chunk. With several batches, the next chunk starts before
/// the last one ends.
const BATCHES_PER_CHUNK: u64 = 4;

/// State that a session keeps between blocks.
pub struct AllPairsSession {
    /// The plan of the whole job, with the strands of the queries. Devices identify a store by its
    /// address.
    whole: plan::PairsSpec,
    threads: Threads,
    engines: SessionEngines<Pairs>,
    /// Filter of blocks by edit distances.
    filter: Option<EditDistanceFilter>,
    /// Result of the filter for the whole job.
    prefiltered: Option<Prefiltered>,
}

impl AllPairsSession {
    /// Opens a session and decides whether edit distances are computed first. For a whole job,
    /// computes them here: their engines are closed before the other engines are opened.
    pub(super) fn open(job: &AllPairs, start: SessionStart<Vec<Box<dyn Engine<Pairs>>>>, run: &Run) -> Result<Self> {
        let (threads, whole, goal) = (Threads::shared(run)?, job.job(), job.identity_goal());
        let (mut filter, mut prefiltered) = (None, None);
        if start.engines.is_none() {
            edit_filter::warn_if_impossible(&goal, &whole, run)?;
        }
        match start {
            SessionStart { engines: Some(_), .. } => {}
            SessionStart { is_whole: true, .. } => prefiltered = edit_filter::run_if_profitable(&goal, &whole, run)?,
            SessionStart { is_whole: false, .. } => filter = EditDistanceFilter::for_pairs(&goal, &whole, run)?,
        }
        let open = || {
            let selection = prefiltered.as_ref().and_then(|left| left.selection.as_ref());
            let opened = engines::open(run, &threads.pool, &whole, selection, 1)?;
            if prefiltered.is_none() && job.filters_on_cpu(run, &opened, &threads, &whole)? {
                prefiltered = edit_filter::run_if_profitable(&goal, &whole, &engines::without_gpus(run))?;
            }
            Ok(opened)
        };
        let engines = SessionEngines::new(start, open)?;
        Ok(AllPairsSession { whole, threads, engines, filter, prefiltered })
    }

    /// Returns the number of cells of the whole job.
    pub(super) fn cells(&self) -> u64 {
        self.whole.cells()
    }
}

/// Chunks to compute.
struct ChunkPlan<'a, B> {
    /// The plan that the chunks belong to.
    job: &'a plan::PairsSpec,
    /// Open blocks with their number of pairs left. A block is added before its first chunk.
    open_blocks: OpenBlocks<u64>,
    chunks: B,
    /// Number of cells of the chunks that are known now.
    cells: u64,
    /// Source of further blocks.
    source: Option<&'a dyn BlockSource>,
    /// Whether edit distances have filtered the pairs.
    is_filtered: bool,
    /// Work that was already reported as progress; `None` if all of it was.
    reported: Option<ReportedProgress>,
}

impl AllPairs {
    /// Returns whether no GPU could be opened for a job with a minimum identity. The filter is then
    /// chosen as for the CPU.
    fn filters_on_cpu(
        &self,
        run: &Run,
        opened: &[Box<dyn Engine<Pairs>>],
        threads: &Threads,
        whole: &plan::PairsSpec,
    ) -> Result<bool> {
        let may_filter = self.min_identity.is_some();
        Ok(may_filter && engines::has_lost_gpus(run, opened, threads.count(), whole.cells())?)
    }

    /// Computes blocks as they arrive.
    pub(super) fn compute_blocks(
        &self,
        Feed { source, run, sink }: Feed<'_, PairResult>,
        session: &mut AllPairsSession,
    ) -> Result<Summary> {
        let started = Instant::now();
        let AllPairsSession { whole, threads, engines, filter, prefiltered } = session;
        let execution = Execution { run, threads };
        let is_whole = engines.is_whole();
        let engine_set = engines.get_or_open(|| {
            let sharing = if filter.is_some() { WITH_FILTER } else { 1 };
            // Measurements of a device must pay off for the whole job. The number of pairs that
            // pass a filter is unknown.
            let opened = engines::open(run, &threads.pool, whole, None, sharing)?;
            if filter.is_none() && self.filters_on_cpu(run, &opened, threads, whole)? {
                *filter = EditDistanceFilter::for_pairs(&self.identity_goal(), whole, &engines::without_gpus(run))?;
            }
            Ok(opened)
        })?;
        if let Some(prefiltered) = prefiltered.take() {
            // Removes the whole job from the source: it is the only block.
            source.take_all();
            return self.finish_prefiltered(whole, engine_set, prefiltered, execution, sink);
        }
        if let Some(filter) = filter {
            let mut summary = Summary::default();
            let ran = filter.select_source(whole, source, run, |parts: Vec<QueryPart>, left| {
                let parts = plan::PairsSpec { parts: Some(parts.into()), ..whole.clone() };
                summary.add(self.finish_prefiltered(&parts, engine_set, left, execution, sink)?);
                Ok(())
            })?;
            summary.engines.splice(0..0, edit_filter::named_stats(ran));
            summary.kernel_seconds = summary.engines.iter().map(|engine| engine.kernel_seconds).sum();
            summary.seconds = started.elapsed().as_secs_f64();
            return Ok(summary);
        }
        let (cells, pairs) = self.chunk(whole, engine_set);
        let nothing = plan::PairsSpec { parts: Some(Arc::default()), ..whole.clone() };
        let open_blocks = OpenBlocks::default();
        let cutter = PairChunks {
            whole: whole.clone(),
            chunks: nothing.chunks(cells, pairs),
            open_blocks: open_blocks.clone(),
            coverage: self.coverage,
            progress: Arc::clone(&run.progress),
        };
        let plan = ChunkPlan {
            job: whole,
            open_blocks,
            chunks: BlockChunks::new(source, cutter),
            cells: cells_now(source.as_ref()),
            // All cells of a whole job are known.
            source: (!is_whole).then_some(source.as_ref()),
            is_filtered: false,
            reported: Some(ReportedProgress::default()),
        };
        let summary = self.compute_chunks(plan, engine_set, execution, sink)?;
        Ok(Summary { seconds: started.elapsed().as_secs_f64(), ..summary })
    }

    /// Computes the pairs that a filter by edit distances selected. `job` is [`AllPairs::job`] or
    /// some parts of it. Each part is a block of `sink`.
    pub(in crate::jobs) fn finish_prefiltered(
        &self,
        job: &plan::PairsSpec,
        engine_set: &mut EngineSet<Pairs>,
        prefiltered: Prefiltered,
        execution: Execution<'_>,
        sink: &mut dyn BlockSink<PairResult>,
    ) -> Result<Summary> {
        let started = Instant::now();
        let Prefiltered { selection, ran, seconds, reported } = prefiltered;
        let reported = selection.is_none().then_some(reported);
        let (chunk_cells, chunk_pairs) = self.chunk(job, engine_set);
        let open_blocks = OpenBlocks::default();
        let extents = job.extents();
        let parts: Vec<(u64, u128)> = job.parts().iter().map(|part| extents.count(part)).collect();
        let add = |left: u64, (pairs, cells): (u64, u128)| {
            open_blocks.add(left, pairs, u64::try_from(cells).unwrap_or(u64::MAX));
        };
        let (chunks, cells): (Box<dyn Iterator<Item = PlannedChunk> + Send>, u64) = match selection {
            None => {
                parts.iter().for_each(|&part| add(part.0, part));
                (Box::new(job.chunks(chunk_cells, chunk_pairs)), job.cells())
            }
            Some(selection) => {
                let cells = selected_cells(job, &selection);
                let selected = by_parts(job, selection);
                let begins = [0].iter().chain(&selected.ends);
                begins
                    .zip(&selected.ends)
                    .zip(&parts)
                    .for_each(|((begin, end), &part)| add((end - begin) as u64, part));
                (Box::new(selected_chunks(job.clone(), selected, chunk_pairs as usize)), cells)
            }
        };
        let plan = ChunkPlan { job, open_blocks, chunks, cells, source: None, is_filtered: true, reported };
        let mut summary = self.compute_chunks(plan, engine_set, execution, sink)?;
        summary.seconds = started.elapsed().as_secs_f64() + seconds;
        summary.engines.splice(0..0, edit_filter::named_stats(ran));
        summary.kernel_seconds = summary.engines.iter().map(|engine| engine.kernel_seconds).sum();
        Ok(summary)
    }

    /// Returns the maximum numbers of cells and pairs of a chunk of this job on these engines.
    fn chunk(&self, job: &plan::PairsSpec, engine_set: &EngineSet<Pairs>) -> (u64, u64) {
        let batch_cells: u64 = engine_set.engines().fold(1, |sum, engine| engine.usual_cells().saturating_add(sum));
        let pairs = match job.filter {
            ResultFilter::Scores | ResultFilter::AtLeast(_) => CHUNK_PAIRS_SCORED,
            ResultFilter::Alignments => CHUNK_PAIRS_ALIGNED,
            ResultFilter::Reaching(_) => CHUNK_PAIRS_FILTERED,
        };
        (batch_cells.saturating_mul(BATCHES_PER_CHUNK), pairs)
    }

    fn compute_chunks(
        &self,
        plan: ChunkPlan<'_, impl ChunkSource<Pairs> + 'static>,
        engine_set: &mut EngineSet<Pairs>,
        execution: Execution<'_>,
        sink: &mut dyn BlockSink<PairResult>,
    ) -> Result<Summary> {
        let ChunkPlan { job, open_blocks, chunks, cells, source, is_filtered, mut reported } = plan;
        let Execution { run, threads } = execution;
        let mut finisher =
            PairFinisher::new(PairAligner::new(self, job, &run.interrupt), &threads.pool, open_blocks, sink);
        // An invalid choice of devices was refused before the first batch.
        let reserve = || {
            edit_filter::reserve(&self.identity_goal(), job, is_filtered, run, &threads.pool)
                .unwrap_or_else(|_| workers(threads.count(), &run.interrupt))
        };
        let control = match source {
            Some(source) => execution.control_for_source(source, finisher.window()),
            None => execution.control(finisher.window()),
        };
        let postprocess = finisher.postprocess();
        let ran = owner::run_postprocessed(engine_set, reserve, chunks, cells, &control, postprocess, |outcome| {
            // Selected pairs were already reported as progress.
            if let Some(reported) = &mut reported {
                // A filter that selected too many pairs has reported some of them, and all of them
                // are computed again.
                let again = ReportedProgress {
                    pairs: reported.pairs.min(outcome.pairs),
                    cells: reported.cells.min(outcome.cells),
                };
                *reported =
                    ReportedProgress { pairs: reported.pairs - again.pairs, cells: reported.cells - again.cells };
                run.progress.advance(outcome.pairs - again.pairs, outcome.cells - again.cells);
            }
            finisher.take(outcome)
        })?;
        Ok(finisher.end()?.with_engines(ran))
    }
}

/// Cuts blocks of pairs into chunks, without the pairs whose lengths rule out the coverages.
struct PairChunks {
    whole: plan::PairsSpec,
    chunks: PlannedChunks,
    open_blocks: OpenBlocks<u64>,
    coverage: CoverageFilter,
    progress: Arc<dyn Progress>,
}

impl ChunkCutter<Pairs> for PairChunks {
    fn begin(&mut self, block: Block) {
        let part = block.part(self.whole.strands.copies());
        let (pairs, cells) = self.whole.extents().count(&part);
        // The block must be added before its first chunk.
        self.open_blocks.add(pairs, pairs, u64::try_from(cells).unwrap_or(u64::MAX));
        self.chunks.add(part);
    }

    fn next(&mut self) -> Option<PlannedChunk> {
        let (planned, ExcludedPairs { pairs, cells }) = exclude(self.chunks.next()?, &self.coverage);
        if pairs > 0 {
            // Chunks belong to the last block, because earlier blocks have no chunks left.
            self.open_blocks.with_last(|left| *left -= pairs);
            self.progress.advance(pairs, cells);
        }
        Some(planned)
    }
}
