//! Progressive alignment on engines: pairs of profiles go to a queue as soon as both are there.

use std::sync::{Arc, Mutex};

use rayon::Scope;

use super::options::{Iterate, Options};
use super::progressive::{Children, Guide, Joining, Joins, Progressive, Run, Work, even_weights, lock};
use super::work::{Merged, Pair, Profile, ProfileBlock, ProfileChunk};
use crate::engine::owner::{BatchOutcome, Control, run_queue};
use crate::engine::queue::{WorkQueue, wall_clock};
use crate::engine::stats::RunStats;
use crate::engine::thread_engine::thread_engines;
use crate::engine::{Engine, check};
use crate::error::{Error, Result};
use crate::seq::SequenceStore;

/// Engines, and what goes to them.
pub struct Engines {
    /// Who aligns profiles.
    pub engines: Vec<Box<dyn Engine<Profile>>>,
    /// What they are allowed.
    pub control: Control,
    /// The threads of [`Run`], which engines of the CPU share. The alignment is not to run on one of them.
    pub pool: Arc<rayon::ThreadPool>,
    /// Profiles of so many cells or more go to the engines; those threads do the others at once.
    pub least_cells: u64,
}

/// As [`align`](super::align), on engines. Gives what they did as well.
///
/// # Errors
/// As there.
///
/// # Panics
/// As there.
pub fn align_on(
    store: &SequenceStore,
    guide: &Guide,
    options: &Options,
    run: &Run,
    engines: Engines,
) -> Result<(Progressive, RunStats)> {
    let sequences = store.len();
    assert_eq!((guide.tree.leaves, guide.weights.len()), (sequences, sequences), "a guide of other sequences");
    // Iterating along the tree is one join after the other.
    if guide.tree.joins.is_empty() || options.iterate == Iterate::Tree {
        return Ok((super::align(store, guide, options, run)?, RunStats::default()));
    }
    let even = even_weights(sequences);
    let guide = &guide.counting(options, &even);
    let work = Work::new(store, guide, options, run);
    let late = engines.pool.install(|| work.late());
    let joins = work.joins(&late);
    let ran = Feed::new(&work, &joins, &engines, store).run(engines.engines, &engines.control);
    // What went wrong in a join says more than that nobody went on.
    let tree = work.ended(joins)?;
    let progressive = engines.pool.install(|| work.complete(&late, tree))?;
    Ok((progressive, ran?))
}

/// Joins that feed a queue.
struct Feed<'a> {
    work: &'a Work<'a>,
    joins: &'a Joins<'a>,
    queue: Arc<WorkQueue<Profile>>,
    chunk: Arc<ProfileChunk>,
    least_cells: u64,
    /// Joins whose profiles are in the queue.
    waiting: Vec<Mutex<Option<Waiting>>>,
}

/// Groups whose profiles are in the queue.
struct Waiting {
    joining: Box<Joining>,
    pair: Arc<Pair>,
}

/// Stops a queue if the thread panics: nobody would close it.
struct StopIfPanicking<'a>(&'a WorkQueue<Profile>);

impl Drop for StopIfPanicking<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stop();
        }
    }
}

impl<'a> Feed<'a> {
    fn new(work: &'a Work<'a>, joins: &'a Joins<'a>, engines: &Engines, store: &SequenceStore) -> Self {
        let (count, residues) =
            (store.len() as u64, store.lengths().iter().map(|&length| u64::from(length)).sum::<u64>());
        let mean = residues / count.max(1);
        let cells = mean.saturating_mul(mean).saturating_mul(count);
        Feed {
            work,
            joins,
            queue: Arc::new(WorkQueue::fed(cells, Arc::clone(&engines.control.interrupt), wall_clock())),
            chunk: Arc::new(ProfileChunk { pool: Arc::clone(&engines.pool), level: work.run.level }),
            least_cells: engines.least_cells,
            waiting: (0..count).map(|_| Mutex::default()).collect(),
        }
    }

    /// Runs the engines until the root is there, or something went wrong.
    fn run(&self, engines: Vec<Box<dyn Engine<Profile>>>, control: &Control) -> Result<RunStats> {
        let reserve = || thread_engines(1, &control.interrupt);
        self.chunk.pool.in_place_scope(|scope| {
            for number in self.work.lowest() {
                scope.spawn(move |_| self.guarded(|| self.climb(number)));
            }
            let queue = Arc::clone(&self.queue);
            run_queue(queue, engines, reserve, control, |outcome| self.hear(scope, &outcome))
        })
    }

    /// Takes what an engine found.
    fn hear<'scope>(&'scope self, scope: &Scope<'scope>, outcome: &BatchOutcome<Profile>) -> Result<()> {
        let blocks = &outcome.batch.blocks;
        let finished = check::finished(blocks.len(), &outcome.report.unfinished).map_err(Error::Internal)?;
        for ((block, merged), _) in blocks.iter().zip(&outcome.report.merged).zip(finished).filter(|(_, done)| *done) {
            let (number, merged) = (block.number, merged.clone());
            scope.spawn(move |_| self.guarded(|| self.go_on(number, merged)));
        }
        Ok(())
    }

    /// Whatever happens in it, nobody waits for more than there is.
    fn guarded(&self, task: impl FnOnce() -> Result<()>) {
        let _stop = StopIfPanicking(&self.queue);
        if let Err(error) = task() {
            lock(&self.joins.failure).get_or_insert(error);
            self.queue.stop();
        }
    }

    /// A join's alignment is there: goes on above it.
    fn go_on(&self, number: usize, merged: Merged) -> Result<()> {
        let Waiting { joining, pair } =
            lock(&self.waiting[number]).take().ok_or_else(|| Error::Internal("a join that was done twice".into()))?;
        let run = self.work.run;
        let path = match merged {
            Merged::Path(path) => path,
            Merged::Divided(divided) => pair.rest(&divided, run.level, run.stopped).ok_or(Error::Interrupted)?,
        };
        let group = self.work.joined(self.joins, number, *joining, path);
        match self.work.passed(self.joins, number, Some(group)) {
            Some(parent) => self.climb(parent),
            None => self.end(number),
        }
    }

    /// Joins, then what is above it, as far as that is ready and small.
    fn climb(&self, mut number: usize) -> Result<()> {
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
                        *lock(&self.waiting[number]) = Some(Waiting { joining, pair: Arc::clone(&pair) });
                        self.queue.add(&self.chunk, vec![((), ProfileBlock { number, pair })]);
                        return Ok(());
                    }
                    let path = pair.path(run.level, run.stopped).ok_or(Error::Interrupted)?;
                    Some(self.work.joined(self.joins, number, *joining, path))
                }
                Children::Only(group) => group,
            };
            match self.work.passed(self.joins, number, group) {
                Some(parent) => number = parent,
                None => return self.end(number),
            }
        }
    }

    /// A thread has nothing more to do: the root is done, or another goes on.
    fn end(&self, number: usize) -> Result<()> {
        if self.joins.is_root(number) {
            self.queue.close();
        }
        Ok(())
    }
}
