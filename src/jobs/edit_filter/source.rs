//! Pairs of blocks that come while others are computed: what is left of a block goes on as soon as all of it is there, and the
//! devices go on with the next.

use std::sync::Arc;

use super::by_grams::ByGrams;
use super::{CHUNK_PAIRS, Filter, MAX_SELECTED, Prefiltered, Told, edit_job, select};
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
use crate::jobs::source::{Begun, BlockChunks, ChunkCutter};
use crate::pairs::plan;
use crate::seq::Part;

/// Parts of a job that are done, each a block, with what is left of them.
type Done<'a> = dyn FnMut(Vec<Part>, Prefiltered) -> Result<()> + 'a;

impl Filter {
    /// Selects the pairs of blocks, and tells `done` of some as soon as they are through, in their order, while engines go on.
    /// The engines stay for the next call. Returns their statistics.
    ///
    /// # Errors
    /// [`Error::Interrupted`]; a broken promise of an engine as [`Error::Internal`]; what `done` returns.
    pub(in crate::jobs) fn select_source(
        &mut self,
        whole: &plan::Job,
        source: &Arc<dyn BlockSource>,
        run: &Run,
        mut done: impl FnMut(Vec<Part>, Prefiltered) -> Result<()>,
    ) -> Result<RunStats> {
        let mut engine_set = self.engine_set.take().unwrap_or_else(|| EngineSet::new(self.open(run, 2)));
        let selected = self.select_blocks(whole, source, &mut engine_set, MAX_SELECTED, run, &mut done);
        self.engine_set = Some(engine_set);
        selected
    }

    /// `most`: pairs of a block that are selected; one that has more is computed as a whole.
    pub(super) fn select_blocks(
        &self,
        whole: &plan::Job,
        source: &Arc<dyn BlockSource>,
        engine_set: &mut EngineSet<Edit>,
        most: usize,
        run: &Run,
        done: &mut Done<'_>,
    ) -> Result<RunStats> {
        let edit = edit_job(&plan::Job { parts: None, ..whole.clone() }, self.scheme.clone());
        let begun = Begun::default();
        let nothing = EditJob { parts: Some(Arc::default()), ..edit.clone() };
        let by_grams = ByGrams::new(&self.pool);
        let bander = FilterChunks {
            edit,
            chunks: nothing.chunks(CHUNK_PAIRS),
            begun: begun.clone(),
            pool: Arc::clone(&self.pool),
            by_grams: by_grams.clone(),
        };
        let mut chunks: Ordered<(u64, Vec<(u32, u32)>)> = Ordered::new();
        let control = Control {
            window: chunks.window(),
            coming: source.coming(),
            is_open_ended: true,
            ..run.control(&self.pool)
        };
        let known = source.coming().load(std::sync::atomic::Ordering::Relaxed);
        let reserve = || edit_workers(self.pool.current_num_threads(), &run.interrupt);
        let is_triangle = whole.against.is_none();
        let source = BlockChunks::new(source, bander);
        let ran = owner::run_set(engine_set, reserve, source, known, &control, |outcome| {
            let (pairs, cells) = by_grams.untold();
            run.progress.advance(pairs + outcome.pairs, cells + outcome.cells);
            let found = self.pool.install(|| select(&outcome, is_triangle));
            chunks.add(
                &outcome.chunk,
                outcome.pairs,
                || (outcome.chunk.pairs, Vec::new()),
                |(_, selected)| {
                    selected.extend(found.into_iter().flatten());
                    Ok(size_of_val(&**selected) as u64)
                },
            )?;
            let mut through = Vec::new();
            while let Some((_, (pairs, selected))) = chunks.complete() {
                take_through(&begun, &mut through);
                let took = begun.first(|open| open.take(pairs, selected, most)).unwrap_or(false);
                if !took {
                    return Err(Error::Internal("a chunk of edit distances is in several blocks".into()));
                }
                take_through(&begun, &mut through);
            }
            self.go_on(through, done)
        })?;
        chunks.end()?;
        let mut through = Vec::new();
        take_through(&begun, &mut through);
        self.go_on(through, done)?;
        match begun.first(|open| open.left) {
            None => Ok(by_grams.add_to(ran)),
            Some(left) => Err(Error::Internal(format!("a block is short of {left} edit distances"))),
        }
    }

    /// Tells of blocks that are through, as many at once as can be.
    fn go_on(&self, through: Vec<Open>, done: &mut Done<'_>) -> Result<()> {
        for group in through.chunk_by(|one, other| one.selected.is_some() && other.selected.is_some()) {
            let parts = group.iter().map(|open| open.part.clone()).collect();
            let mut told = Told::default();
            group.iter().for_each(|open| told += open.all);
            let mut selection: Option<Vec<(u32, u32)>> = Some(Vec::new());
            for open in group {
                match (&mut selection, &open.selected) {
                    (Some(all), Some(own)) => all.extend_from_slice(own),
                    _ => selection = None,
                }
            }
            if let Some(all) = &mut selection {
                self.pool.install(|| rayon::slice::ParallelSliceMut::par_sort_unstable(all.as_mut_slice()));
                tracing::debug!(pairs = all.len(), blocks = group.len(), "selected by edit distance");
            }
            done(
                parts,
                Prefiltered { selection: selection.map(Arc::new), ran: RunStats::default(), seconds: 0.0, told },
            )?;
        }
        Ok(())
    }
}

/// A block that was begun.
struct Open {
    part: Part,
    /// Its pairs and cells, of which progress has been told when it is through.
    all: Told,
    /// Pairs that are not through.
    left: u64,
    /// Pairs that may reach the identity; `None` if these are too many.
    selected: Option<Vec<(u32, u32)>>,
}

impl Open {
    /// So many more of its pairs are through. Whether it had so many left.
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

/// Takes the blocks that are through.
fn take_through(begun: &Begun<Open>, through: &mut Vec<Open>) {
    while let Some(open) = begun.end_if(|open| open.left == 0) {
        through.push(open);
    }
}

/// Chunks of edit distances of blocks.
struct FilterChunks {
    edit: EditJob,
    chunks: EditChunks,
    begun: Begun<Open>,
    pool: Arc<rayon::ThreadPool>,
    by_grams: ByGrams,
}

impl ChunkCutter<Edit> for FilterChunks {
    fn begin(&mut self, block: Block) {
        let part = block.part(self.edit.strands.copies());
        let parts = [part.clone()];
        let (pairs, cells) = self.edit.extents(&parts)[0];
        let all = Told { pairs, cells: u64::try_from(cells).unwrap_or(u64::MAX) };
        self.begun.add(Open { part: part.clone(), all, left: pairs, selected: Some(Vec::new()) }, all.pairs, all.cells);
        self.chunks.add(part);
    }

    fn next(&mut self) -> Option<QueuedChunk<Edit>> {
        let chunks = &mut self.chunks;
        let planned = self.pool.install(|| chunks.next())?;
        let (planned, left_out) = self.by_grams.leave_out(planned);
        // Chunks are of the block that was begun last: the others have no more.
        self.begun.last(|open| open.left -= left_out.pairs);
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
    use crate::jobs::blocks::{Divisible, Listed, NextBlock, Whole};
    use crate::jobs::session::{Execution, Threads};
    use crate::jobs::{AllPairs, Job, PairResult, Progress};
    use crate::pairs::cpu::workers;
    use crate::pairs::gpu::tune::random_store;
    use crate::score::{self, Scoring};
    use crate::seq::Alphabet;

    /// An engine that begins a batch before it is done with the one before.
    struct Double(EditMock);

    impl Engine<Edit> for Double {
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

    /// Nothing for a moment behind each block.
    struct Late(Arc<Listed>, Mutex<bool>);

    impl BlockSource for Late {
        fn next(&self) -> NextBlock {
            let mut is_late = self.1.lock().unwrap();
            *is_late ^= true;
            if *is_late { self.0.next() } else { NextBlock::Nothing }
        }

        fn coming(&self) -> Arc<AtomicU64> {
            self.0.coming()
        }
    }

    #[derive(Default)]
    struct Told(AtomicU64, AtomicU64);

    impl Progress for Told {
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
    fn devices_go_on_while_what_is_left_of_blocks_is_computed() {
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
        // All, those of about half of the blocks, none.
        let mut lengths = Vec::new();
        for some in 0..3 {
            let most = [usize::MAX, median(&lengths), 0][some];
            let told = Arc::new(Told::default());
            let run = Run { progress: told.clone(), ..Run::default() };
            let scheme = score::edit_filter(job.definition, 0.5, &job.scoring).unwrap();
            let filter = Filter { scheme, devices: Vec::new(), pool: Arc::clone(&pool), engine_set: None };
            let source: Arc<dyn BlockSource> = Arc::new(Late(Listed::new(&blocks), Mutex::new(false)));
            let (mut found, mut calls, mut selections) = (Vec::new(), 0, 0);
            let mut done = |parts: Vec<Part>, left: Prefiltered| {
                calls += 1;
                selections += usize::from(left.selection.is_some());
                lengths.extend(left.selection.as_ref().map(|selection| selection.len()));
                let parts = plan::Job { parts: Some(parts.into()), ..whole.clone() };
                let rows = |some: &[PairResult]| {
                    found.extend_from_slice(some);
                    Ok(())
                };
                let threads = Threads::shared(&run)?;
                let execution = Execution { run: &run, threads: &threads };
                job.finish_prefiltered(&parts, &mut engines(), left, execution, &mut Whole(rows)).map(|_| ())
            };
            let mut engine_set = EngineSet::new(vec![Box::new(Double(EditMock::new("two"))) as Box<dyn Engine<Edit>>]);
            let ran = filter.select_blocks(&whole, &source, &mut engine_set, most, &run, &mut done).unwrap();
            assert_eq!(ran.engines[0].pairs, whole.pairs(), "one run takes all blocks");
            let is_right = [selections == calls, selections > 0 && selections < calls, selections == 0][some];
            assert!(calls > 3 && is_right, "{selections} of {calls} selections, of {} blocks", blocks.len());
            assert!(found == expected, "{most}: {} rows of {}", found.len(), expected.len());
            assert_eq!(
                (told.0.load(Ordering::Relaxed), told.1.load(Ordering::Relaxed)),
                (whole.pairs(), whole.cells())
            );
        }
    }
}
