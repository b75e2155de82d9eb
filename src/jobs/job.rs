//! The shape that all jobs have: what is asked for is the job, where and how it runs is a [`Run`], and rows come out in
//! order, some at a time.

use std::sync::Arc;

use serde::Serialize;

use super::block::{Block, BlockSink, Whole};
use super::run::Run;
use super::session::SessionStart;
use super::source::{BlockSource, Listed};
use crate::error::Result;

/// What a user asks for. Whoever computes it, and however it is cut, its rows are the same and come in the same order.
///
/// A whole job is one block: [`Job::run`] opens a session and feeds it with [`Job::whole`].
pub trait Job: Sized {
    /// What is handed over.
    type Row;
    /// What the job did.
    type Summary: Serialize;
    /// Engines that were opened for it.
    #[doc(hidden)]
    type Engines;
    /// What lasts from block to block: engines and what is known of their speed, threads, and what is made of the job's input.
    #[doc(hidden)]
    type Session;

    /// Whether the job makes sense.
    ///
    /// # Errors
    /// [`Error::Usage`](crate::Error::Usage) that names the field, if not.
    fn validate(&self) -> Result<()>;

    /// Returns everything as one block. Its units are all that there are, its pairs may be unknown, and its cells are those by
    /// which engines share it out. A job that is never cut is one unit.
    #[doc(hidden)]
    fn whole(&self, _session: &Self::Session) -> Block {
        Block { units: 0..1, targets: None, pairs: 0, cells: 0 }
    }

    /// Makes ready for blocks: validates the job and what `run` asks of it before a device is opened.
    ///
    /// # Errors
    /// As [`Job::run`].
    #[doc(hidden)]
    fn open(&self, start: SessionStart<Self::Engines>, run: &Run) -> Result<Self::Session>;

    /// Computes the blocks of a source, and hands their rows over block by block, in the order in which they were taken. Returns
    /// when engines are done with all that were taken, and there is no other. `run` is that of the session.
    ///
    /// # Errors
    /// As [`Job::run`]; what `sink` returns.
    #[doc(hidden)]
    fn feed(
        &self,
        source: &Arc<dyn BlockSource>,
        session: &mut Self::Session,
        run: &Run,
        sink: &mut dyn BlockSink<Self::Row>,
    ) -> Result<Self::Summary>;

    /// Runs the job and hands over all rows in order, some at a time.
    ///
    /// # Errors
    /// [`Error::Usage`](crate::Error::Usage) for a job that makes no sense, and for a [`Run`] that asks of it what it does not
    /// have, before a device is opened; what `rows` returns; [`Error::Interrupted`](crate::Error::Interrupted); a broken promise
    /// of an engine as [`Error::Internal`](crate::Error::Internal). A device's failure is no error: the others take over, or the
    /// CPU.
    fn run(&self, run: &Run, rows: impl FnMut(&[Self::Row]) -> Result<()>) -> Result<Self::Summary> {
        self.run_to(run, &mut Whole(rows))
    }

    /// Runs the job on these engines, whatever the devices of `run`. What they do not compute is made on threads of the CPU. If
    /// they fail, so many CPU workers take over.
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
    /// As [`Job::run`]; what the sink returns.
    #[doc(hidden)]
    fn run_to(&self, run: &Run, sink: &mut dyn BlockSink<Self::Row>) -> Result<Self::Summary> {
        self.feed_whole(self.open(SessionStart::of_whole(None), run)?, run, sink)
    }

    /// Runs the job as [`Job::run_on`] does, for a sink as that of [`Job::run_to`].
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

    /// Computes everything in a session that was opened for that.
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
        self.feed(&source, &mut session, run, sink)
    }
}
