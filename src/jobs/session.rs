//! Engines and threads of a session, which computes one block of a job or many.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::run::Run;
use super::source::BlockSource;
use crate::engine::ordered::ReorderWindow;
use crate::engine::owner::{Control, EngineSet};
use crate::engine::{Engine, Work, thread_pool};
use crate::error::Result;
use crate::gpu::kernels::Family;

/// The purpose of a session.
#[derive(Debug)]
pub struct SessionStart<E> {
    /// Engines that the caller opened. `None`: the session opens the devices of its run.
    pub engines: Option<E>,
    /// Whether the whole job is the only block. The session then opens its engines before the clock starts, and closes each
    /// engine as soon as no work is left for it.
    pub is_whole: bool,
}

impl<E> SessionStart<E> {
    /// Starts a session for the whole job as one block.
    pub fn of_whole(engines: Option<E>) -> Self {
        SessionStart { engines, is_whole: true }
    }

    /// Starts a session for blocks of a cut, whose engines go on from one to the next.
    pub fn of_blocks(engines: Option<E>) -> Self {
        SessionStart { engines, is_whole: false }
    }

    /// Refuses a kernel of another kind of job. Does not check it if the caller opened the engines.
    pub(super) fn check_kernel(&self, run: &Run, family: Family) -> Result<()> {
        if self.engines.is_some() { Ok(()) } else { run.check_kernel(family) }
    }
}

/// Engines of a session. The session opens them when it needs them, unless the caller did.
pub(super) struct SessionEngines<W: Work> {
    engine_set: Option<EngineSet<W>>,
    is_whole: bool,
}

impl<W: Work> SessionEngines<W> {
    /// Takes the caller's engines. If there are none, opens engines for a whole job.
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

    /// Returns the engines. Opens them for the first block.
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

/// The threads of a job.
#[derive(Clone)]
pub(super) struct Threads {
    /// Threads for the work that follows the engines: alignments, and ordering of results.
    pub pool: Arc<rayon::ThreadPool>,
    /// Threads for the work that engines wait for: planning of chunks, and checks of reports.
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

    /// Number of threads that compute.
    pub(super) fn count(&self) -> usize {
        self.pool.current_num_threads()
    }
}

/// A job that is being computed: its run, and its threads.
#[derive(Clone, Copy)]
pub(super) struct Execution<'a> {
    pub run: &'a Run,
    pub threads: &'a Threads,
}

impl Execution<'_> {
    /// Returns the settings for a run of the queue whose chunks are planned as far ahead as `ahead` allows.
    pub(super) fn control(&self, window: Arc<ReorderWindow>) -> Control {
        Control { window, ..self.run.control(&self.threads.feeding) }
    }

    /// Returns the settings for a run of the queue whose blocks come from `source` while others are computed.
    pub(super) fn control_of(&self, source: &dyn BlockSource, window: Arc<ReorderWindow>) -> Control {
        Control { coming: source.coming(), is_open_ended: true, ..self.control(window) }
    }
}

/// Returns the cells of the blocks that a source has now.
pub(super) fn cells_now(source: &dyn BlockSource) -> u64 {
    source.coming().load(Ordering::Relaxed)
}
