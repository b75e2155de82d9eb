//! What a session of a job has from its first block to its last: engines and threads.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::run::Run;
use super::source::BlockSource;
use crate::engine::ordered::Ahead;
use crate::engine::owner::{Control, EngineSet};
use crate::engine::{Engine, Work, thread_pool};
use crate::error::Result;
use crate::gpu::kernels::Family;

/// What a session is opened for.
#[derive(Debug)]
pub struct SessionStart<E> {
    /// Engines of the caller; `None` for those that the run asks for.
    pub engines: Option<E>,
    /// Whether the only block is the whole job. Its engines are then opened before the clock starts, and each is closed as soon
    /// as it has no more to do.
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

    /// Refuses a kernel that engines of this session would not have. Engines of the caller have what they have.
    pub(super) fn check_kernel(&self, run: &Run, family: Family) -> Result<()> {
        if self.engines.is_some() { Ok(()) } else { run.check_kernel(family) }
    }
}

/// Engines of a session: those of the caller, or opened when they are needed.
pub(super) struct SessionEngines<W: Work> {
    engine_set: Option<EngineSet<W>>,
    is_whole: bool,
}

impl<W: Work> SessionEngines<W> {
    /// Takes the caller's engines. For a whole job, opens others if there are none.
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

    /// Returns the engines, which it opens for the first block.
    pub(super) fn get_or_open(
        &mut self,
        open: impl FnOnce() -> Result<Vec<Box<dyn Engine<W>>>>,
    ) -> Result<&mut EngineSet<W>> {
        Ok(match &mut self.engine_set {
            Some(engine_set) => engine_set,
            none => none.insert(EngineSet::new(open()?)),
        })
    }

    /// Whether the session is one for the whole job.
    pub(super) fn is_whole(&self) -> bool {
        self.is_whole
    }
}

/// The threads of a job.
#[derive(Clone)]
pub(super) struct Threads {
    /// Compute what engines do not: alignments, and results in order.
    pub pool: Arc<rayon::ThreadPool>,
    /// Do what engines wait for: planning, and checks of what they report.
    pub feeding: Arc<rayon::ThreadPool>,
}

impl Threads {
    /// Starts one pool for both, where engines never have to wait for alignments.
    ///
    /// # Errors
    /// As [`thread_pool`].
    pub(super) fn shared(run: &Run) -> Result<Self> {
        let pool = thread_pool(run.threads)?;
        Ok(Threads { feeding: Arc::clone(&pool), pool })
    }

    /// Starts a pool for each.
    ///
    /// # Errors
    /// As [`thread_pool`].
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
    /// Returns how engines are driven whose bands are planned as far as `ahead` says.
    pub(super) fn control(&self, ahead: Arc<Ahead>) -> Control {
        Control { ahead, ..self.run.control(&self.threads.feeding) }
    }

    /// As [`Execution::control`], for blocks that come while others are computed: there may be more cells than `source` has now.
    pub(super) fn control_of(&self, source: &dyn BlockSource, ahead: Arc<Ahead>) -> Control {
        Control { coming: source.coming(), is_open_ended: true, ..self.control(ahead) }
    }
}

/// Returns the cells of the blocks that a source has now.
pub(super) fn cells_now(source: &dyn BlockSource) -> u64 {
    source.coming().load(Ordering::Relaxed)
}
