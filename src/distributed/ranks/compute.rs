//! The thread of a rank that computes.

use std::io::ErrorKind;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::Sender;

use super::desk::Desk;
use super::message::Finished;
use crate::distributed::{Digest, Directory, Made, PartWriter};
use crate::error::{Error, Result};
use crate::jobs::blocks::{Block, BlockSource, Divisible, Listed, NextBlock};
use crate::jobs::{Feed, Run};

/// What a rank computes.
#[derive(Debug)]
pub struct Work<'a, J> {
    /// The job.
    pub job: &'a J,
    /// Its blocks, by number.
    pub blocks: &'a [Block],
    /// On what. Its interrupt is the user's.
    pub run: Run,
    /// Where parts go.
    pub results: Results<'a>,
}

/// Where the parts of blocks go.
#[derive(Debug, Clone, Copy)]
pub enum Results<'a> {
    /// Into files of a directory that all ranks have.
    Files(&'a Directory),
    /// To rank 0, which writes them; parts of the manifest with this digest.
    Messages(Digest),
}

/// What comes of it.
#[derive(Debug)]
pub(super) enum Event {
    /// A block is done.
    Finished(Finished),
    /// A block could not be computed.
    Failed { block: usize, error: String },
    /// Nothing can be computed any more, here or elsewhere.
    Fatal(Error),
}

/// Computes what lies on the desk until that is closed.
pub(super) fn compute<J: Divisible>(work: &Work<'_, J>, desk: &Arc<Desk>, events: &Sender<Event>) {
    let computed = catch_unwind(AssertUnwindSafe(|| Computer { work, desk, events, session: None }.all()));
    let computed = computed.unwrap_or_else(|_| Err(Error::Internal("a thread that computes has panicked".into())));
    if let Err(error) = computed {
        // Nobody listens if all is over.
        let _ = events.send(Event::Fatal(error));
    }
    tracing::debug!(times = desk.runs(), "engines began");
}

struct Computer<'a, J: Divisible> {
    work: &'a Work<'a, J>,
    desk: &'a Arc<Desk>,
    events: &'a Sender<Event>,
    /// Engines, and what is known of their speed.
    session: Option<J::Session>,
}

impl<J: Divisible> Computer<'_, J> {
    fn all(&mut self) -> Result<()> {
        while self.desk.begin() {
            let source: Arc<dyn BlockSource> = Arc::<Desk>::clone(self.desk);
            let error = match self.some(&source, |place| self.desk.taken(place)) {
                Ok(()) => None,
                // It was for nothing, or all is over.
                Err(Error::Interrupted) => {
                    self.desk.put_back();
                    None
                }
                Err(error) if is_of_all(&error) => return Err(error),
                Err(error) => Some(error),
            };
            let Some(error) = error else { continue };
            match self.desk.running()[..] {
                // Nothing was begun, or all that was is done: the next one would have met the same.
                [] => {
                    if let NextBlock::Block(_) = self.desk.next()
                        && let Some(&block) = self.desk.running().first()
                    {
                        self.failed(block, &error);
                    }
                }
                [block] => self.failed(block, &error),
                // Whichever of several is to blame: it shows when each is computed by itself.
                _ => {
                    tracing::debug!("blocks are tried one by one after an error: {error}");
                    self.one_by_one()?;
                }
            }
        }
        Ok(())
    }

    /// Computes blocks in one go; `numbers` gives theirs by the order in which they were taken.
    fn some(&mut self, source: &Arc<dyn BlockSource>, numbers: impl Fn(usize) -> Option<usize>) -> Result<()> {
        let Work { job, results, .. } = self.work;
        let run = Run { interrupt: self.desk.interrupt.clone(), ..self.work.run.clone() };
        let mut session = match self.session.take() {
            Some(session) => session,
            None => job.session(&run)?,
        };
        let made = |made: Made| {
            self.desk.settle(made.block);
            let Made { block, info, bytes: part } = made;
            let _ = self.events.send(Event::Finished(Finished { block, rows: info.rows, seconds: info.seconds, part }));
            Ok(())
        };
        let to = match results {
            Results::Files(directory) => Ok(*directory),
            Results::Messages(digest) => Err(*digest),
        };
        let mut writer = PartWriter::<J>::of_source(to, numbers, made);
        job.feed(Feed { source, run: &run, sink: &mut writer }, &mut session)?;
        // What an error leaves behind is not used again.
        self.session = Some(session);
        Ok(())
    }

    fn one_by_one(&mut self) -> Result<()> {
        while let Some(&block) = self.desk.running().first() {
            let source: Arc<dyn BlockSource> = Listed::new(&self.work.blocks[block..block + 1]);
            match self.some(&source, |place| (place == 0).then_some(block)) {
                Ok(()) | Err(Error::Interrupted) => {}
                Err(error) if is_of_all(&error) => return Err(error),
                Err(error) => self.failed(block, &error),
            }
            self.desk.settle(block);
        }
        Ok(())
    }

    fn failed(&self, block: usize, error: &Error) {
        self.desk.settle(block);
        let _ = self.events.send(Event::Failed { block, error: error.to_string() });
    }
}

/// Whether an error will come of every block on every rank: there is no room for results.
fn is_of_all(error: &Error) -> bool {
    let full = [ErrorKind::StorageFull, ErrorKind::QuotaExceeded, ErrorKind::ReadOnlyFilesystem];
    matches!(error, Error::Io { source, .. } if full.contains(&source.kind()))
}
