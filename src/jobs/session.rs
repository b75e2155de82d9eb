//! Engines and threads of a session. A session computes one or more blocks of a job.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::run::Run;
use super::source::BlockSource;
use crate::engine::ordered::ReorderWindow;
use crate::engine::owner::{Control, EngineSet};
use crate::engine::{Engine, Work, thread_pool};
use crate::error::Result;
use crate::gpu::kernels::Family;

/// Options for opening a session.
#[derive(Debug)]
pub struct SessionStart<E> {
    /// Engines that the caller opened. `None`: the session opens the devices of its run.
    pub engines: Option<E>,
    /// Whether the whole job is the only block. The session then opens its engines before the clock
    /// starts, and closes each engine as soon as no work is left for it.
    pub is_whole: bool,
}

impl<E> SessionStart<E> {
    /// Returns the options for computing the whole job as a single block.
    pub fn for_whole_job(engines: Option<E>) -> Self {
        SessionStart { engines, is_whole: true }
    }

    /// Returns the options for computing the blocks of a cut. Engines continue from one block to
    /// the next.
    pub fn for_blocks(engines: Option<E>) -> Self {
        SessionStart { engines, is_whole: false }
    }

    /// Refuses a kernel of another kind of job. Does not check it if the caller opened the engines.
    pub(super) fn check_kernel(&self, run: &Run, family: Family) -> Result<()> {
        if self.engines.is_some() { Ok(()) } else { run.check_kernel(family) }
    }
}

/// Engines of a session, opened by the session on first use or by the caller.
pub(super) struct SessionEngines<W: Work> {
    engine_set: Option<EngineSet<W>>,
    is_whole: bool,
}

impl<W: Work> SessionEngines<W> {
    /// Takes the engines of the caller. Otherwise, opens engines if the whole job is the only
    /// block.
    pub(super) fn new(
        start: SessionStart<Vec<Box<dyn Engine<W>>>>,
        open: impl FnOnce() -> Result<Vec<Box<dyn Engine<W>>>>,
    ) -> Result<Self> {
        let SessionStart { engines, is_whole } = start;
        let engines = match engines {
            None if is_whole => Some(open()?),
            engines => engines,
        };
        let engine_set = engines.map(if is_whole { EngineSet::for_once } else { EngineSet::new });
        Ok(SessionEngines { engine_set, is_whole })
    }

    /// Returns the engines, and opens them before the first block.
    pub(super) fn get_or_open(
        &mut self,
        open: impl FnOnce() -> Result<Vec<Box<dyn Engine<W>>>>,
    ) -> Result<&mut EngineSet<W>> {
        Ok(match &mut self.engine_set {
            Some(engine_set) => engine_set,
            none => none.insert(EngineSet::new(open()?)),
        })
    }

    /// Returns whether the whole job is the only block.
    pub(super) fn is_whole(&self) -> bool {
        self.is_whole
    }
}

/// Threads of a job.
#[derive(Clone)]
pub(super) struct Threads {
    /// Threads for work that follows the engines: alignments and the ordering of results.
    pub pool: Arc<rayon::ThreadPool>,
    /// Threads for work that engines wait for: planning of chunks and checks of reports.
    pub feeding: Arc<rayon::ThreadPool>,
}

impl Threads {
    /// Starts one pool for both kinds of work.
    ///
    /// # Errors
    /// The errors of [`thread_pool`].
    pub(super) fn shared(run: &Run) -> Result<Self> {
        let pool = thread_pool(run.threads)?;
        Ok(Threads { feeding: Arc::clone(&pool), pool })
    }

    /// Starts a pool for each kind of work, so that engines do not wait for alignments.
    ///
    /// # Errors
    /// The errors of [`thread_pool`].
    pub(super) fn separate(run: &Run) -> Result<Self> {
        Ok(Threads { pool: thread_pool(run.threads)?, feeding: thread_pool(run.threads)? })
    }

    /// Returns the number of threads that compute.
    pub(super) fn count(&self) -> usize {
        self.pool.current_num_threads()
    }
}

/// The run and the threads of a job in progress.
#[derive(Clone, Copy)]
pub(super) struct Execution<'a> {
    pub run: &'a Run,
    pub threads: &'a Threads,
}

impl Execution<'_> {
    /// Returns the settings for a run of the queue whose chunks are planned as far ahead as `ahead`
    /// allows.
    pub(super) fn control(&self, window: Arc<ReorderWindow>) -> Control {
        Control { window, ..self.run.control(&self.threads.feeding) }
    }

    /// Returns the settings for a run of the queue whose blocks arrive from `source` during the
    /// computation.
    pub(super) fn control_for_source(&self, source: &dyn BlockSource, window: Arc<ReorderWindow>) -> Control {
        Control { pending_cells: source.pending_cells(), is_open_ended: true, ..self.control(window) }
    }
}

/// Returns the cells of the blocks that a source has now.
pub(super) fn cells_now(source: &dyn BlockSource) -> u64 {
    source.pending_cells().load(Ordering::Relaxed)
}
