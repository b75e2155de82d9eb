//! The interface of all jobs. The job states the question, a [`Run`] states where and how it is computed, and rows come out in
//! order, some at a time.

use std::sync::Arc;

use serde::Serialize;

use super::block::{Block, BlockSink, Whole};
use super::run::Run;
use super::session::SessionStart;
use super::source::{BlockSource, Listed};
use crate::error::Result;

/// Blocks to compute, and where their rows go.
pub struct Feed<'a, R> {
    /// Where the blocks come from.
    pub source: &'a Arc<dyn BlockSource>,
    /// The run that the session was opened for.
    pub run: &'a Run,
    /// Takes the rows.
    pub sink: &'a mut dyn BlockSink<R>,
}

/// A question of a user. Its rows and their order do not depend on devices, threads or blocks.
///
/// A whole job is one block: [`Job::run`] opens a session and feeds it with [`Job::whole`].
pub trait Job: Sized {
    /// One result.
    type Row;
    /// Counts and times of a finished job.
    type Summary: Serialize;
    /// Engines that compute it.
    #[doc(hidden)]
    type Engines;
    /// State that is kept from block to block: engines and their speeds, threads, and preprocessed input.
    #[doc(hidden)]
    type Session;

    /// Checks that the fields of the job go together.
    ///
    /// # Errors
    /// [`Error::Usage`](crate::Error::Usage) that names the wrong field.
    fn validate(&self) -> Result<()>;

    /// Returns the whole job as one block. The block has all units. Its number of pairs may be 0 for unknown. Engines divide the
    /// work by its cells. A job that is never cut has one unit.
    #[doc(hidden)]
    fn whole(&self, _session: &Self::Session) -> Block {
        Block { units: 0..1, targets: None, pairs: 0, cells: 0 }
    }

    /// Opens a session. Validates the job and the options of `run` before it opens a device.
    ///
    /// # Errors
    /// As [`Job::run`].
    #[doc(hidden)]
    fn open(&self, start: SessionStart<Self::Engines>, run: &Run) -> Result<Self::Session>;

    /// Computes the blocks of a source and hands over their rows block by block, in the order in which the blocks were taken.
    /// Returns when the engines have finished all of these blocks and the source has no other.
    ///
    /// # Errors
    /// As [`Job::run`]; what `sink` returns.
    #[doc(hidden)]
    fn feed(&self, feed: Feed<'_, Self::Row>, session: &mut Self::Session) -> Result<Self::Summary>;

    /// Runs the job and hands over all rows in order, some at a time.
    ///
    /// # Errors
    /// [`Error::Usage`](crate::Error::Usage) for an invalid job and for options of the [`Run`] that the job does not have, before
    /// a device is opened. Errors of `rows`. [`Error::Interrupted`](crate::Error::Interrupted).
    /// [`Error::Internal`](crate::Error::Internal) if an engine breaks its contract. A failing device is not an error: other
    /// devices or the CPU take over its work.
    fn run(&self, run: &Run, rows: impl FnMut(&[Self::Row]) -> Result<()>) -> Result<Self::Summary> {
        self.run_to(run, &mut Whole(rows))
    }

    /// Runs the job on these engines instead of the devices of `run`. Threads of the CPU compute the rest. If all engines fail,
    /// CPU workers take over, one for each thread.
    ///
    /// # Errors
    /// As [`Job::run`].
    #[doc(hidden)]
    fn run_on(
        &self,
        engines: Self::Engines,
        run: &Run,
        rows: impl FnMut(&[Self::Row]) -> Result<()>,
    ) -> Result<Self::Summary> {
        self.run_on_to(engines, run, &mut Whole(rows))
    }

    /// Runs the job as [`Job::run`] does. Where the sink returns an encoder, the threads that find a row may encode it.
    ///
    /// # Errors
    /// The errors of [`Job::run`] and those of the sink.
    #[doc(hidden)]
    fn run_to(&self, run: &Run, sink: &mut dyn BlockSink<Self::Row>) -> Result<Self::Summary> {
        self.feed_whole(self.open(SessionStart::of_whole(None), run)?, run, sink)
    }

    /// Runs the job on these engines, like [`Job::run_on`], and hands over to a sink, like [`Job::run_to`].
    ///
    /// # Errors
    /// As [`Job::run_to`].
    #[doc(hidden)]
    fn run_on_to(
        &self,
        engines: Self::Engines,
        run: &Run,
        sink: &mut dyn BlockSink<Self::Row>,
    ) -> Result<Self::Summary> {
        self.feed_whole(self.open(SessionStart::of_whole(Some(engines)), run)?, run, sink)
    }

    /// Computes the whole job in a session that was opened for it.
    ///
    /// # Errors
    /// As [`Job::run_to`].
    #[doc(hidden)]
    fn feed_whole(
        &self,
        mut session: Self::Session,
        run: &Run,
        sink: &mut dyn BlockSink<Self::Row>,
    ) -> Result<Self::Summary> {
        let source: Arc<dyn BlockSource> = Listed::new(&[self.whole(&session)]);
        self.feed(Feed { source: &source, run, sink }, &mut session)
    }
}
