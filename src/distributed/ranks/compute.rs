//! The compute thread of a rank.

use std::io::ErrorKind;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::Sender;

use super::block_queue::BlockQueue;
use super::message::FinishedBlock;
use crate::distributed::{FinishedPart, PartDestination, PartWriter};
use crate::error::{Error, Result};
use crate::jobs::blocks::{Block, BlockSource, Divisible, ListedBlocks, NextBlock};
use crate::jobs::{Feed, Run};

/// The input of a rank.
#[derive(Debug)]
pub struct RankWork<'a, J> {
    /// The job.
    pub job: &'a J,
    /// All blocks of the job. The index is the block's number.
    pub blocks: &'a [Block],
    /// Devices and threads of this rank. Its interrupt is set when the user cancels.
    pub run: Run,
    /// Destination of the parts. Parts in memory are sent to rank 0, which writes the files.
    pub results: PartDestination<'a>,
}

/// An event of the compute thread.
#[derive(Debug)]
pub(super) enum ComputeEvent {
    /// A block is done.
    Finished(FinishedBlock),
    /// A block could not be computed.
    Failed { block: usize, error: String },
    /// No rank can compute any further block.
    Fatal(Error),
}

/// Computes the blocks of the queue until the queue is closed.
pub(super) fn compute<J: Divisible>(work: &RankWork<'_, J>, queue: &Arc<BlockQueue>, events: &Sender<ComputeEvent>) {
    let computed = catch_unwind(AssertUnwindSafe(|| Computer { work, queue, events, session: None }.run()));
    let computed = computed.unwrap_or_else(|_| Err(Error::Internal("a compute thread has panicked".into())));
    if let Err(error) = computed {
        // If the job is over, the receiver no longer exists.
        let _ = events.send(ComputeEvent::Fatal(error));
    }
    tracing::debug!(times = queue.starts(), "engine starts");
}

struct Computer<'a, J: Divisible> {
    work: &'a RankWork<'a, J>,
    queue: &'a Arc<BlockQueue>,
    events: &'a Sender<ComputeEvent>,
    /// Running engines with their measured speeds.
    session: Option<J::Session>,
}

impl<J: Divisible> Computer<'_, J> {
    fn run(&mut self) -> Result<()> {
        while self.queue.wait_for_blocks() {
            let source: Arc<dyn BlockSource> = Arc::<BlockQueue>::clone(self.queue);
            let error = match self.compute_from(&source, |index| self.queue.taken_block(index)) {
                Ok(()) => None,
                // The blocks are no longer needed, or the job is over.
                Err(Error::Interrupted) => {
                    self.queue.put_back();
                    None
                }
                Err(error) if affects_all_blocks(&error) => return Err(error),
                Err(error) => Some(error),
            };
            let Some(error) = error else { continue };
            match self.queue.running()[..] {
                // The error occurred before any block or after all of them. The next block would
                // cause it again.
                [] => {
                    if let NextBlock::Block(_) = self.queue.next()
                        && let Some(&block) = self.queue.running().first()
                    {
                        self.failed(block, &error);
                    }
                }
                [block] => self.failed(block, &error),
                // Computing the blocks one by one shows which of them causes the error.
                _ => {
                    tracing::debug!("an error occurred, so the blocks are computed one by one: {error}");
                    self.compute_singly()?;
                }
            }
        }
        Ok(())
    }

    /// Computes blocks from `source` in one run of the engines. `numbers` maps the position of a
    /// block to its number.
    fn compute_from(&mut self, source: &Arc<dyn BlockSource>, numbers: impl Fn(usize) -> Option<usize>) -> Result<()> {
        let RankWork { job, results, .. } = self.work;
        let run = Run { interrupt: self.queue.interrupt.clone(), ..self.work.run.clone() };
        let mut session = match self.session.take() {
            Some(session) => session,
            None => job.session(&run)?,
        };
        let on_finished = |finished: FinishedPart| {
            self.queue.remove_running(finished.block);
            let FinishedPart { block, info, bytes: part } = finished;
            let _ = self.events.send(ComputeEvent::Finished(FinishedBlock {
                block,
                rows: info.rows,
                seconds: info.seconds,
                part,
            }));
            Ok(())
        };
        let mut writer = PartWriter::<J>::from_source(*results, numbers, on_finished);
        job.feed(Feed { source, run: &run, sink: &mut writer }, &mut session)?;
        // The session is reused only after a run without an error.
        self.session = Some(session);
        Ok(())
    }

    fn compute_singly(&mut self) -> Result<()> {
        while let Some(&block) = self.queue.running().first() {
            let source: Arc<dyn BlockSource> = ListedBlocks::new(&self.work.blocks[block..block + 1]);
            match self.compute_from(&source, |index| (index == 0).then_some(block)) {
                Ok(()) | Err(Error::Interrupted) => {}
                Err(error) if affects_all_blocks(&error) => return Err(error),
                Err(error) => self.failed(block, &error),
            }
            self.queue.remove_running(block);
        }
        Ok(())
    }

    fn failed(&self, block: usize, error: &Error) {
        self.queue.remove_running(block);
        let _ = self.events.send(ComputeEvent::Failed { block, error: error.to_string() });
    }
}

/// Checks whether every block would fail with this error on every rank, because results cannot be
/// stored.
fn affects_all_blocks(error: &Error) -> bool {
    let full = [ErrorKind::StorageFull, ErrorKind::QuotaExceeded, ErrorKind::ReadOnlyFilesystem];
    matches!(error, Error::Io { source, .. } if full.contains(&source.kind()))
}
