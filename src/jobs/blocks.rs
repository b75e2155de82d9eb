//! Jobs in blocks. The cut does not depend on the engines. Each block can be computed on a
//! different machine. The rows of all blocks together are the rows of the whole job.

pub mod bytes;
pub mod cut;

use std::ops::Range;
use std::sync::{Arc, LazyLock};

pub use super::block::{Block, BlockSink, Encode, Whole};
use super::engines::CARD_SCORES;
use super::session::SessionStart;
pub use super::source::{BlockSource, ListedBlocks, NextBlock};
use super::{Feed, Job, Run, Summary};
use crate::error::{Error, Result};
use crate::seq::{Alphabet, SequenceStore};

/// Refuses blocks that do not fit a job with this number of units and targets.
///
/// # Errors
/// [`Error::Usage`].
pub fn check(blocks: &[Block], units: u64, targets: u32) -> Result<()> {
    let fits = |range: &Range<u64>, end: u64| range.start <= range.end && range.end <= end;
    let is_wrong = |block: &&Block| {
        let some = block.targets.as_ref().map(|some| u64::from(some.start)..u64::from(some.end));
        let is_one = some.is_none() || block.units.end.saturating_sub(block.units.start) == 1;
        !(fits(&block.units, units) && some.is_none_or(|some| fits(&some, u64::from(targets))) && is_one)
    };
    match blocks.iter().find(is_wrong) {
        Some(wrong) => Err(Error::usage_of("blocks", format!("{wrong:?} is not a block of this job"))),
        None => Ok(()),
    }
}

/// Returns an empty store. Decoded rows refer to it until [`Divisible::resolve`] finds their
/// sequences.
pub(in crate::jobs) fn unresolved_store() -> Arc<SequenceStore> {
    static EMPTY: LazyLock<Arc<SequenceStore>> =
        LazyLock::new(|| Arc::new(SequenceStore::builder(Alphabet::Bytes).build()));
    Arc::clone(&EMPTY)
}

/// A job that can be cut into blocks.
pub trait Divisible: Job<Summary: Into<Summary>> {
    /// Cells that a GPU with its own memory is expected to compute per second.
    const CARD_SPEED: f64 = CARD_SCORES;

    /// Cuts the job into blocks of about this number of cells, in the order of the rows. The cut
    /// depends on the job alone, so cutting again gives equal blocks. The blocks contain every pair
    /// exactly once.
    ///
    /// # Errors
    /// The errors of [`Job::validate`]; [`Error::Io`](crate::Error::Io) if units have to be counted
    /// in a file.
    fn cut(&self, cells: u64) -> Result<Vec<Block>>;

    /// Returns the number of targets if a unit may be cut along its targets, else 0.
    fn targets(&self) -> u32 {
        0
    }

    /// Estimates the bytes of the rows of a block if every pair has a row.
    fn part_bytes(&self, block: &Block) -> u64;

    /// Appends a row in bytes.
    fn encode(row: &Self::Row, bytes: &mut Vec<u8>);

    /// Removes a row from the front of `bytes`. Returns `None` if the bytes are not valid.
    fn decode(bytes: &mut &[u8]) -> Option<Self::Row>;

    /// Adds the sequences to decoded rows. Rows are encoded without sequences because the input of
    /// the job has them. Rows must be in order.
    ///
    /// # Errors
    /// The errors of reading the input; [`Error::Internal`] for rows that do not belong to this
    /// job.
    fn resolve(&self, _rows: &mut [Self::Row]) -> Result<()> {
        Ok(())
    }

    /// Selects rows of one unit whose targets were in several blocks, as the whole job does. The
    /// rows are in the order of these blocks. The default keeps all rows.
    fn join(&self, _rows: &mut Vec<Self::Row>) {}

    /// Opens a session for blocks. It may postpone opening devices until the first block.
    ///
    /// # Errors
    /// The errors of [`Job::run`].
    fn session(&self, run: &Run) -> Result<Self::Session> {
        self.open(SessionStart::for_blocks(None), run)
    }

    /// Opens a session for blocks on these engines instead of the devices of `run`.
    ///
    /// # Errors
    /// The errors of [`Job::run_on`].
    fn session_on(&self, engines: Self::Engines, run: &Run) -> Result<Self::Session> {
        self.open(SessionStart::for_blocks(Some(engines)), run)
    }

    /// Computes some blocks of a cut, each at most once, and passes on their rows block by block in
    /// this order. Engines continue from one block to the next without a pause. `run` must be the
    /// run of the session.
    ///
    /// # Errors
    /// The errors of [`Job::run`] and of `sink`; [`Error::Usage`] for blocks that do not belong to
    /// this job.
    fn run_blocks(
        &self,
        blocks: &[Block],
        session: &mut Self::Session,
        run: &Run,
        sink: &mut dyn BlockSink<Self::Row>,
    ) -> Result<Summary> {
        check(blocks, self.whole_block(session).units.end, self.targets())?;
        let listed: Arc<dyn BlockSource> = ListedBlocks::new(blocks);
        Ok(self.feed(Feed { source: &listed, run, sink }, session)?.into())
    }
}
