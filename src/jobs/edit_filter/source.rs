//! Filters the pairs of blocks that arrive during the computation. The selected pairs of a block
//! are passed on when the block is complete, while devices compute the next blocks.

use std::sync::Arc;

use super::qgram_filter::QgramFilter;
use super::{
    CHUNK_PAIRS, EditDistanceFilter, MAX_SELECTED, Prefiltered, Proofs, ReportedProgress, WITH_FILTER, edit_job, select,
};
use crate::edit::Edit;
use crate::edit::cpu::edit_workers;
use crate::edit::plan::{EditChunks, EditJob};
use crate::engine::ordered::Ordered;
use crate::engine::owner::{self, Control, EngineSet};
use crate::engine::queue::QueuedChunk;
use crate::engine::stats::RunStats;
use crate::error::{Error, Result};
use crate::jobs::Run;
use crate::jobs::blocks::{Block, BlockSource};
use crate::jobs::source::{BlockChunks, ChunkCutter, OpenBlocks};
use crate::pairs::plan;
use crate::seq::QueryPart;

/// Receives complete parts, each of them a block, with their selected pairs.
type SelectionReceiver<'a> = dyn FnMut(Vec<QueryPart>, Prefiltered) -> Result<()> + 'a;

impl EditDistanceFilter {
    /// Selects pairs of blocks. Passes complete blocks to `done` in their order, while engines
    /// continue. The engines stay open for the next call. Returns their statistics.
    ///
    /// # Errors
    /// [`Error::Interrupted`]; [`Error::Internal`] if an engine breaks its contract; the errors of
    /// `done`.
    pub(in crate::jobs) fn select_source(
        &mut self,
        whole: &plan::PairsSpec,
        source: &Arc<dyn BlockSource>,
        run: &Run,
        mut done: impl FnMut(Vec<QueryPart>, Prefiltered) -> Result<()>,
    ) -> Result<RunStats> {
        let mut engine_set = self.engine_set.take().unwrap_or_else(|| EngineSet::new(self.open(run, WITH_FILTER)));
        let selected = self.select_blocks(whole, source, &mut engine_set, MAX_SELECTED, run, &mut done);
        self.engine_set = Some(engine_set);
        selected
    }

    /// Selects pairs like [`EditDistanceFilter::select_source`]. A block with more than `most`
    /// selected pairs is computed as a whole.
    pub(super) fn select_blocks(
        &self,
        whole: &plan::PairsSpec,
        source: &Arc<dyn BlockSource>,
        engine_set: &mut EngineSet<Edit>,
        most: usize,
        run: &Run,
        done: &mut SelectionReceiver<'_>,
    ) -> Result<RunStats> {
        let edit = edit_job(&plan::PairsSpec { parts: None, ..whole.clone() }, self.scheme.clone());
        let open_blocks = OpenBlocks::default();
        let nothing = EditJob { parts: Some(Arc::default()), ..edit.clone() };
        let qgram_filter = QgramFilter::new(&self.pool);
        let cutter = FilterChunks {
            edit,
            chunks: nothing.chunks(CHUNK_PAIRS),
            open_blocks: open_blocks.clone(),
            pool: Arc::clone(&self.pool),
            qgram_filter: qgram_filter.clone(),
        };
        let mut chunks: Ordered<(u64, Vec<(u32, u32)>)> = Ordered::new();
        let control = Control {
            window: chunks.window(),
            pending_cells: source.pending_cells(),
            is_open_ended: true,
            ..run.control(&self.pool)
        };
        let known = source.pending_cells().load(std::sync::atomic::Ordering::Relaxed);
        let reserve = || edit_workers(self.pool.current_num_threads(), &run.interrupt);
        let is_triangle = whole.against.is_none();
        let source = BlockChunks::new(source, cutter);
        let ran = owner::run_set(engine_set, reserve, source, known, &control, |outcome| {
            let (pairs, cells) = qgram_filter.take_unreported();
            run.progress.advance(pairs + outcome.pairs, cells + outcome.cells);
            let delivered = self.pool.install(|| select(&outcome, is_triangle));
            chunks.add(
                &outcome.chunk,
                outcome.pairs,
                || (outcome.chunk.pairs, Vec::new()),
                |(_, selected)| {
                    selected.extend(delivered.into_iter().flatten());
                    Ok(size_of_val(&**selected) as u64)
                },
            )?;
            let mut complete = Vec::new();
            while let Some((_, (pairs, selected))) = chunks.complete() {
                take_complete(&open_blocks, &mut complete);
                let took = open_blocks.first(|open| open.take(pairs, selected, most)).unwrap_or(false);
                if !took {
                    return Err(Error::Internal("a chunk of edit distances is in several blocks".into()));
                }
                take_complete(&open_blocks, &mut complete);
            }
            self.pass_on(whole, complete, most, done)
        })?;
        chunks.end()?;
        let mut complete = Vec::new();
        take_complete(&open_blocks, &mut complete);
        self.pass_on(whole, complete, most, done)?;
        match open_blocks.first(|open| open.left) {
            None => Ok(self.add_proofs_to(qgram_filter.add_to(ran))),
            Some(left) => Err(Error::Internal(format!("a block lacks {left} edit distances"))),
        }
    }

    /// Passes on complete blocks. Adjacent blocks with selections are joined.
    fn pass_on(
        &self,
        whole: &plan::PairsSpec,
        mut complete: Vec<OpenFilterBlock>,
        most: usize,
        done: &mut SelectionReceiver<'_>,
    ) -> Result<()> {
        let needs_proofs = matches!(self.proofs, Proofs::Available(_));
        for open in complete.iter_mut().filter(|_| needs_proofs) {
            if let Some(selected) = &mut open.selected {
                self.pool.install(|| rayon::slice::ParallelSliceMut::par_sort_unstable(selected.as_mut_slice()));
            }
            let planned = plan::PairsSpec { parts: Some([open.part.clone()].into()), ..whole.clone() };
            self.add_unproven(&planned, &mut open.selected, most);
        }
        for group in complete.chunk_by(|one, other| one.selected.is_some() && other.selected.is_some()) {
            let parts = group.iter().map(|open| open.part.clone()).collect();
            let mut reported = ReportedProgress::default();
            group.iter().for_each(|open| reported += open.all);
            let mut selection: Option<Vec<(u32, u32)>> = Some(Vec::new());
            for open in group {
                match (&mut selection, &open.selected) {
                    (Some(all), Some(part_pairs)) => all.extend_from_slice(part_pairs),
                    _ => selection = None,
                }
            }
            if let Some(all) = &mut selection {
                self.pool.install(|| rayon::slice::ParallelSliceMut::par_sort_unstable(all.as_mut_slice()));
                tracing::debug!(pairs = all.len(), blocks = group.len(), "selected by edit distance");
            }
            done(
                parts,
                Prefiltered { selection: selection.map(Arc::new), ran: RunStats::default(), seconds: 0.0, reported },
            )?;
        }
        Ok(())
    }
}

/// A block in progress.
struct OpenFilterBlock {
    part: QueryPart,
    /// All of its pairs and cells. They have been reported as progress when the block is complete.
    all: ReportedProgress,
    /// Number of pairs without a result.
    left: u64,
    /// The selected pairs; `None` if they are too many.
    selected: Option<Vec<(u32, u32)>>,
}

impl OpenFilterBlock {
    /// Subtracts `pairs` computed pairs and adds `more` selected pairs. Returns false if the block
    /// has fewer pairs without a result.
    fn take(&mut self, pairs: u64, more: Vec<(u32, u32)>, most: usize) -> bool {
        if let Some(selected) = &mut self.selected {
            selected.extend(more);
            if selected.len() > most {
                self.selected = None;
            }
        }
        let left = self.left.checked_sub(pairs);
        self.left = left.unwrap_or_default();
        left.is_some()
    }
}

/// Moves complete blocks to `complete`.
fn take_complete(open_blocks: &OpenBlocks<OpenFilterBlock>, complete: &mut Vec<OpenFilterBlock>) {
    while let Some(open) = open_blocks.end_if(|open| open.left == 0) {
        complete.push(open);
    }
}

/// Cuts blocks into chunks of edit distances.
struct FilterChunks {
    edit: EditJob,
    chunks: EditChunks,
    open_blocks: OpenBlocks<OpenFilterBlock>,
    pool: Arc<rayon::ThreadPool>,
    qgram_filter: QgramFilter,
}

impl ChunkCutter<Edit> for FilterChunks {
    fn begin(&mut self, block: Block) {
        let part = block.part(self.edit.strands.copies());
        let parts = [part.clone()];
        let (pairs, cells) = self.edit.extents(&parts)[0];
        let all = ReportedProgress { pairs, cells: u64::try_from(cells).unwrap_or(u64::MAX) };
        self.open_blocks.add(
            OpenFilterBlock { part: part.clone(), all, left: pairs, selected: Some(Vec::new()) },
            all.pairs,
            all.cells,
        );
        self.chunks.add(part);
    }

    fn next(&mut self) -> Option<QueuedChunk<Edit>> {
        let chunks = &mut self.chunks;
        let planned = self.pool.install(|| chunks.next())?;
        let (planned, left_out) = self.qgram_filter.exclude(planned);
        // Chunks belong to the last block, because earlier blocks have no chunks left.
        self.open_blocks.with_last(|open| open.left -= left_out.pairs);
        Some(planned)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;
    use crate::edit::mock::EditMock;
    use crate::edit::{EditBatch, EditReport};
    use crate::engine::{Capacity, Engine, Ticket, thread_pool};
    use crate::jobs::blocks::{Divisible, ListedBlocks, NextBlock, Whole};
    use crate::jobs::session::{Execution, Threads};
    use crate::jobs::{AllPairs, Job, PairResult, Progress};
    use crate::pairs::cpu::workers;
    use crate::pairs::gpu::tune::random_store;
    use crate::score::{self, Scoring};
    use crate::seq::Alphabet;

    /// An engine that accepts a batch before it has finished the previous one.
    struct TwoBatchEngine(EditMock);

    impl Engine<Edit> for TwoBatchEngine {
        fn name(&self) -> &str {
            self.0.name()
        }

        fn capacity(&self) -> Capacity {
            Capacity { batches: 2, ..self.0.capacity() }
        }

        fn submit(&mut self, batch: Arc<EditBatch>) -> Result<Ticket> {
            self.0.submit(batch)
        }

        fn collect(&mut self, ticket: Ticket) -> Result<EditReport> {
            self.0.collect(ticket)
        }
    }

    /// A source that has no block at every second call.
    struct PausingSource(Arc<ListedBlocks>, Mutex<bool>);

    impl BlockSource for PausingSource {
        fn next(&self) -> NextBlock {
            let mut is_late = self.1.lock().unwrap();
            *is_late ^= true;
            if *is_late { self.0.next() } else { NextBlock::Nothing }
        }

        fn pending_cells(&self) -> Arc<AtomicU64> {
            self.0.pending_cells()
        }
    }

    #[derive(Default)]
    struct FilterProgress(AtomicU64, AtomicU64);

    impl Progress for FilterProgress {
        fn advance(&self, pairs: u64, cells: u64) {
            self.0.fetch_add(pairs, Ordering::Relaxed);
            self.1.fetch_add(cells, Ordering::Relaxed);
        }
    }

    fn median(lengths: &[usize]) -> usize {
        let mut lengths = lengths.to_vec();
        lengths.sort_unstable();
        lengths.get(lengths.len() / 2).copied().unwrap_or_default()
    }

    #[test]
    fn filtering_continues_while_selected_pairs_are_computed() {
        let store = Arc::new(random_store(Alphabet::Dna, 60, 50, 7));
        let job = AllPairs { min_identity: Some(0.5), ..AllPairs::new(store, Arc::new(Scoring::dna())) };
        let (whole, pool) = (job.job(), thread_pool(2).unwrap());
        let mut expected: Vec<PairResult> = Vec::new();
        let rows = |some: &[PairResult]| {
            expected.extend_from_slice(some);
            Ok(())
        };
        let engines = || EngineSet::new(workers(2, &Arc::default()));
        job.run_on(workers(2, &Arc::default()), &Run { threads: 2, ..Run::default() }, rows).unwrap();
        let blocks = job.cut(whole.cells() / 12).unwrap();
        // Selects all pairs, the pairs of about half of the blocks, or none.
        let mut lengths = Vec::new();
        for some in 0..3 {
            let most = [usize::MAX, median(&lengths), 0][some];
            let progress = Arc::new(FilterProgress::default());
            let run = Run { progress: progress.clone(), ..Run::default() };
            let scheme = score::edit_filter(job.definition, 0.5, &job.scoring).unwrap();
            let filter = EditDistanceFilter {
                scheme,
                devices: Vec::new(),
                pool: Arc::clone(&pool),
                engine_set: None,
                proofs: Proofs::NotNeeded,
                is_forced: true,
            };
            let source: Arc<dyn BlockSource> = Arc::new(PausingSource(ListedBlocks::new(&blocks), Mutex::new(false)));
            let (mut delivered, mut calls, mut selections) = (Vec::new(), 0, 0);
            let mut done = |parts: Vec<QueryPart>, left: Prefiltered| {
                calls += 1;
                selections += usize::from(left.selection.is_some());
                lengths.extend(left.selection.as_ref().map(|selection| selection.len()));
                let parts = plan::PairsSpec { parts: Some(parts.into()), ..whole.clone() };
                let rows = |some: &[PairResult]| {
                    delivered.extend_from_slice(some);
                    Ok(())
                };
                let threads = Threads::shared(&run)?;
                let execution = Execution { run: &run, threads: &threads };
                job.finish_prefiltered(&parts, &mut engines(), left, execution, &mut Whole(rows)).map(|_| ())
            };
            let mut engine_set =
                EngineSet::new(vec![Box::new(TwoBatchEngine(EditMock::new("two"))) as Box<dyn Engine<Edit>>]);
            let ran = filter.select_blocks(&whole, &source, &mut engine_set, most, &run, &mut done).unwrap();
            assert_eq!(ran.engines[0].pairs, whole.pairs(), "one run takes all blocks");
            let is_right = [selections == calls, selections > 0 && selections < calls, selections == 0][some];
            assert!(calls > 3 && is_right, "{selections} selections in {calls} calls for {} blocks", blocks.len());
            assert!(delivered == expected, "{most}: {} rows of {}", delivered.len(), expected.len());
            assert_eq!(
                (progress.0.load(Ordering::Relaxed), progress.1.load(Ordering::Relaxed)),
                (whole.pairs(), whole.cells())
            );
        }
    }
}
