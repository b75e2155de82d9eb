//! Progressive alignment on engines: a pair of profiles enters a queue as soon as both are ready.

use std::sync::{Arc, Mutex};

use rayon::Scope;

use super::options::{Iterate, ProfileOptions};
use super::progressive::{
    Children, Guide, JoinStates, PendingJoin, Progressive, ProgressiveAligner, ProgressiveRun, even_weights,
};
use super::work::{ProfileBlock, ProfileChunk, ProfileMerge, ProfilePair, ProfileWork};
use crate::engine::guard::lock;
use crate::engine::owner::{BatchOutcome, Control, run_queue};
use crate::engine::queue::{WorkQueue, wall_clock};
use crate::engine::stats::RunStats;
use crate::engine::thread_engine::thread_engines;
use crate::engine::{Engine, check};
use crate::error::{Error, Result};
use crate::seq::SequenceStore;

/// Engines, their controls and the minimum size of their work.
pub struct ProfileEngines {
    /// Engines that align profiles.
    pub engines: Vec<Box<dyn Engine<ProfileWork>>>,
    /// Limits and controls of the engines.
    pub control: Control,
    /// Threads of the [`ProgressiveRun`], which CPU engines use too. The calling thread must not
    /// belong to this pool.
    pub pool: Arc<rayon::ThreadPool>,
    /// Minimum number of cells of a pair that is queued for the engines. Smaller pairs are aligned
    /// immediately on the threads of `pool`.
    pub least_cells: u64,
}

/// Aligns as [`align`](super::align) does, on engines. Also returns statistics of the engines.
///
/// # Errors
/// Returns the errors of [`align`](super::align).
///
/// # Panics
/// Panics in the same cases as [`align`](super::align).
pub fn align_on(
    store: &SequenceStore,
    guide: &Guide,
    options: &ProfileOptions,
    run: &ProgressiveRun,
    engines: ProfileEngines,
) -> Result<(Progressive, RunStats)> {
    let sequences = store.len();
    assert_eq!(
        (guide.tree.leaves, guide.weights.len()),
        (sequences, sequences),
        "the guide belongs to other sequences"
    );
    // Iteration along the tree is sequential.
    if guide.tree.joins.is_empty() || options.iterate == Iterate::Tree {
        return Ok((super::align(store, guide, options, run)?, RunStats::default()));
    }
    let even = even_weights(sequences);
    let guide = &guide.counting(options, &even);
    let work = ProgressiveAligner::new(store, guide, options, run);
    let delayed = engines.pool.install(|| work.delayed());
    let joins = work.joins(&delayed);
    let ran = JoinFeed::new(&work, &joins, &engines, store).run(engines.engines, &engines.control);
    // If a join failed, its error is more specific than that of the closed queue.
    let tree = work.result(joins)?;
    let progressive = engines.pool.install(|| work.complete(&delayed, tree))?;
    Ok((progressive, ran?))
}

/// Feeds the joins of a tree to a queue.
struct JoinFeed<'a> {
    work: &'a ProgressiveAligner<'a>,
    joins: &'a JoinStates<'a>,
    queue: Arc<WorkQueue<ProfileWork>>,
    chunk: Arc<ProfileChunk>,
    least_cells: u64,
    /// Joins whose profiles are in the queue.
    waiting: Vec<Mutex<Option<QueuedJoin>>>,
}

/// Groups whose profiles are in the queue.
struct QueuedJoin {
    joining: Box<PendingJoin>,
    pair: Arc<ProfilePair>,
}

/// Guard that stops a queue if the thread panics. Without it, the queue would stay open.
struct StopIfPanicking<'a>(&'a WorkQueue<ProfileWork>);

impl Drop for StopIfPanicking<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stop();
        }
    }
}

impl<'a> JoinFeed<'a> {
    fn new(
        work: &'a ProgressiveAligner<'a>,
        joins: &'a JoinStates<'a>,
        engines: &ProfileEngines,
        store: &SequenceStore,
    ) -> Self {
        let (count, residues) =
            (store.len() as u64, store.lengths().iter().map(|&length| u64::from(length)).sum::<u64>());
        let mean = residues / count.max(1);
        let cells = mean.saturating_mul(mean).saturating_mul(count);
        JoinFeed {
            work,
            joins,
            queue: Arc::new(WorkQueue::streaming(cells, Arc::clone(&engines.control.interrupt), wall_clock())),
            chunk: Arc::new(ProfileChunk { pool: Arc::clone(&engines.pool), instructions: work.run.instructions }),
            least_cells: engines.least_cells,
            waiting: (0..count).map(|_| Mutex::default()).collect(),
        }
    }

    /// Runs the engines until the root is aligned or an error occurs.
    fn run(&self, engines: Vec<Box<dyn Engine<ProfileWork>>>, control: &Control) -> Result<RunStats> {
        let reserve = || thread_engines(1, &control.interrupt);
        self.chunk.pool.in_place_scope(|scope| {
            for number in self.work.leaf_joins() {
                scope.spawn(move |_| self.run_guarded(|| self.join_upwards(number)));
            }
            let queue = Arc::clone(&self.queue);
            run_queue(queue, engines, reserve, control, |outcome| self.handle_outcome(scope, &outcome))
        })
    }

    /// Handles the results of an engine: continues with the joins above the finished ones.
    fn handle_outcome<'scope>(&'scope self, scope: &Scope<'scope>, outcome: &BatchOutcome<ProfileWork>) -> Result<()> {
        let blocks = &outcome.batch.blocks;
        let finished = check::finished(blocks.len(), &outcome.report.unfinished).map_err(Error::Internal)?;
        for ((block, merged), _) in blocks.iter().zip(&outcome.report.merged).zip(finished).filter(|(_, done)| *done) {
            let (number, merged) = (block.number, merged.clone());
            scope.spawn(move |_| self.run_guarded(|| self.continue_above(number, merged)));
        }
        Ok(())
    }

    /// Runs a task, and stops the queue if the task fails or panics.
    fn run_guarded(&self, task: impl FnOnce() -> Result<()>) {
        let _stop = StopIfPanicking(&self.queue);
        if let Err(error) = task() {
            lock(&self.joins.failure).get_or_insert(error);
            self.queue.stop();
        }
    }

    /// Continues above a join whose alignment is ready.
    fn continue_above(&self, number: usize, merged: ProfileMerge) -> Result<()> {
        let QueuedJoin { joining, pair } =
            lock(&self.waiting[number]).take().ok_or_else(|| Error::Internal("a join was completed twice".into()))?;
        let run = self.work.run;
        let path = match merged {
            ProfileMerge::Path(path) => path,
            ProfileMerge::Divided(divided) => {
                pair.complete_alignment(&divided, run.instructions, run.stopped).ok_or(Error::Interrupted)?
            }
        };
        let group = self.work.join_groups(self.joins, number, *joining, path);
        match self.work.complete_join(self.joins, number, Some(group)) {
            Some(parent) => self.join_upwards(parent),
            None => self.end(number),
        }
    }

    /// Performs a join and the joins above it while they are ready and small.
    fn join_upwards(&self, mut number: usize) -> Result<()> {
        let run = self.work.run;
        loop {
            if (run.stopped)() {
                return Err(Error::Interrupted);
            }
            let group = match self.work.children(self.joins, number) {
                Children::Both(joining) => {
                    let pair = self.work.pair(&joining.first, &joining.second)?;
                    if pair.cells() >= self.least_cells {
                        let pair = Arc::new(pair);
                        *lock(&self.waiting[number]) = Some(QueuedJoin { joining, pair: Arc::clone(&pair) });
                        self.queue.add(&self.chunk, vec![((), ProfileBlock { number, pair })]);
                        return Ok(());
                    }
                    let path = pair.path(run.instructions, run.stopped).ok_or(Error::Interrupted)?;
                    Some(self.work.join_groups(self.joins, number, *joining, path))
                }
                Children::Only(group) => group,
            };
            match self.work.complete_join(self.joins, number, group) {
                Some(parent) => number = parent,
                None => return self.end(number),
            }
        }
    }

    /// Closes the queue if the finished join is the root. Otherwise another thread continues.
    fn end(&self, number: usize) -> Result<()> {
        if self.joins.is_root(number) {
            self.queue.close();
        }
        Ok(())
    }
}
