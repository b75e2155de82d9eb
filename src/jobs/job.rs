//! The interface of all jobs. A job describes what to compute. A [`Run`] describes where and how.
//! Rows arrive in order, in batches.

use std::sync::Arc;

use serde::Serialize;

use super::block::{Block, BlockSink, Whole};
use super::run::Run;
use super::session::SessionStart;
use super::source::{BlockSource, ListedBlocks};
use crate::error::Result;

/// The blocks to compute, and the sink of their rows.
pub struct Feed<'a, R> {
    /// Source of the blocks.
    pub source: &'a Arc<dyn BlockSource>,
    /// The run that the session was opened for.
    pub run: &'a Run,
    /// Receiver of the rows.
    pub sink: &'a mut dyn BlockSink<R>,
}

/// A computation that a user asks for. Its rows and their order do not depend on devices, threads
/// or blocks.
///
/// A whole job is a single block: [`Job::run`] opens a session and feeds it with
/// [`Job::whole_block`].
pub trait Job: Sized {
    /// One result.
    type Row;
    /// Counts and times of a finished job.
    type Summary: Serialize;
    /// Engines that compute the job.
    #[doc(hidden)]
    type Engines;
    /// State that a session keeps between blocks: engines and their speeds, threads, and
    /// preprocessed input.
    #[doc(hidden)]
    type Session;

    /// Checks that the fields of the job are valid and consistent.
    ///
    /// # Errors
    /// [`Error::Usage`](crate::Error::Usage) with the name of the invalid field.
    fn validate(&self) -> Result<()>;

    /// Returns the whole job as a single block that contains all units. Its number of pairs is 0 if
    /// unknown. Engines divide the work by its cells. A job that is never cut has one unit.
    #[doc(hidden)]
    fn whole_block(&self, _session: &Self::Session) -> Block {
        Block { units: 0..1, targets: None, pairs: 0, cells: 0 }
    }

    /// Opens a session. Validates the job and the options of `run` before it opens a device.
    ///
    /// # Errors
    /// The errors of [`Job::run`].
    #[doc(hidden)]
    fn open(&self, start: SessionStart<Self::Engines>, run: &Run) -> Result<Self::Session>;

    /// Computes the blocks of a source. Passes their rows on block by block, in the order of the
    /// blocks. Returns when the engines have finished these blocks and the source has ended.
    ///
    /// # Errors
    /// The errors of [`Job::run`] and of `sink`.
    #[doc(hidden)]
    fn feed(&self, feed: Feed<'_, Self::Row>, session: &mut Self::Session) -> Result<Self::Summary>;

    /// Runs the job and passes all rows to `rows` in order, in batches.
    ///
    /// # Errors
    /// - [`Error::Usage`](crate::Error::Usage) before a device is opened, if the job is invalid or
    ///   does not support an option of the [`Run`].
    /// - [`Error::Interrupted`](crate::Error::Interrupted) if the run was interrupted.
    /// - [`Error::Internal`](crate::Error::Internal) if an engine breaks its contract.
    /// - Every error that `rows` returns.
    ///
    /// A failing device is not an error: other devices or the CPU compute its work.
    fn run(&self, run: &Run, rows: impl FnMut(&[Self::Row]) -> Result<()>) -> Result<Self::Summary> {
        self.run_to(run, &mut Whole(rows))
    }

    /// Runs the job on these engines instead of the devices of `run`. CPU threads compute the rest.
    /// If all engines fail, one CPU worker per thread replaces them.
    ///
    /// # Errors
    /// The errors of [`Job::run`].
    #[doc(hidden)]
    fn run_on(
        &self,
        engines: Self::Engines,
        run: &Run,
        rows: impl FnMut(&[Self::Row]) -> Result<()>,
    ) -> Result<Self::Summary> {
        self.run_on_to(engines, run, &mut Whole(rows))
    }

    /// Runs the job like [`Job::run`], with a sink. If the sink returns an encoder, the threads
    /// that compute a row may encode it.
    ///
    /// # Errors
    /// The errors of [`Job::run`] and of the sink.
    #[doc(hidden)]
    fn run_to(&self, run: &Run, sink: &mut dyn BlockSink<Self::Row>) -> Result<Self::Summary> {
        self.feed_whole(self.open(SessionStart::for_whole_job(None), run)?, run, sink)
    }

    /// Runs the job on these engines, like [`Job::run_on`], with a sink, like [`Job::run_to`].
    ///
    /// # Errors
    /// The errors of [`Job::run_to`].
    #[doc(hidden)]
    fn run_on_to(
        &self,
        engines: Self::Engines,
        run: &Run,
        sink: &mut dyn BlockSink<Self::Row>,
    ) -> Result<Self::Summary> {
        self.feed_whole(self.open(SessionStart::for_whole_job(Some(engines)), run)?, run, sink)
    }

    /// Computes the whole job in a session that was opened for it.
    ///
    /// # Errors
    /// The errors of [`Job::run_to`].
    #[doc(hidden)]
    fn feed_whole(
        &self,
        mut session: Self::Session,
        run: &Run,
        sink: &mut dyn BlockSink<Self::Row>,
    ) -> Result<Self::Summary> {
        let source: Arc<dyn BlockSource> = ListedBlocks::new(&[self.whole_block(&session)]);
        self.feed(Feed { source: &source, run, sink }, &mut session)
    }
}
