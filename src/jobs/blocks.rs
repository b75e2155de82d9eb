//! Jobs in blocks: the same cut whatever engines there are, each block by itself on whatever machine, and the rows of all
//! blocks put together are those of the whole job.

pub mod bytes;
pub mod cut;

use std::ops::Range;
use std::sync::{Arc, LazyLock};

pub use super::block::{Block, BlockSink, Encode, Whole};
use super::session::SessionStart;
pub use super::source::{BlockSource, Listed, NextBlock};
use super::{Feed, Job, Run, Summary};
use crate::error::{Error, Result};
use crate::seq::{Alphabet, SequenceStore};

/// Refuses blocks that are not of a job with so many units and targets.
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
        Some(wrong) => Err(Error::usage_of("blocks", format!("{wrong:?} is not of this job"))),
        None => Ok(()),
    }
}

/// Where sequences of a row are that came from bytes, until they are found ([`Divisible::resolve`]).
pub(in crate::jobs) fn nowhere() -> Arc<SequenceStore> {
    static NOWHERE: LazyLock<Arc<SequenceStore>> =
        LazyLock::new(|| Arc::new(SequenceStore::builder(Alphabet::Bytes).build()));
    Arc::clone(&NOWHERE)
}

/// A job that can be cut.
pub trait Divisible: Job<Summary = Summary> {
    /// Cuts the job into blocks of about so many cells, in the order of the rows. It follows from the job alone: who cuts once
    /// more finds the same. Blocks cover all units, each pair once.
    ///
    /// # Errors
    /// As [`Job::validate`]; [`Error::Io`](crate::Error::Io) where units have to be counted in a file.
    fn cut(&self, cells: u64) -> Result<Vec<Block>>;

    /// Returns the number of targets if a unit may be cut along its targets, else 0.
    fn targets(&self) -> u32 {
        0
    }

    /// Estimates the bytes of the rows of a block in which every pair has a row.
    fn part_bytes(&self, block: &Block) -> u64;

    /// Adds a row in bytes.
    fn encode(row: &Self::Row, bytes: &mut Vec<u8>);

    /// Takes a row from the front; `None` if the bytes are none.
    fn decode(bytes: &mut &[u8]) -> Option<Self::Row>;

    /// Adds to rows what their bytes leave out because the job's input has it: sequences. Rows come in order.
    ///
    /// # Errors
    /// As reading the input; [`Error::Internal`] for rows that are not of this job.
    fn resolve(&self, _rows: &mut [Self::Row]) -> Result<()> {
        Ok(())
    }

    /// Selects rows of one unit whose targets were in several blocks as the whole job does. The rows are in the order of these
    /// blocks. The default keeps all rows.
    fn join(&self, _rows: &mut Vec<Self::Row>) {}

    /// Opens a session for blocks. Devices may be opened with the first block only.
    ///
    /// # Errors
    /// As [`Job::run`].
    fn session(&self, run: &Run) -> Result<Self::Session> {
        self.open(SessionStart::of_blocks(None), run)
    }

    /// Opens a session for blocks on these engines instead of the devices of `run`.
    ///
    /// # Errors
    /// As [`Job::run_on`].
    fn session_on(&self, engines: Self::Engines, run: &Run) -> Result<Self::Session> {
        self.open(SessionStart::of_blocks(Some(engines)), run)
    }

    /// Computes some blocks of a cut, each at most once, and hands over their rows block by block in this order. Engines go from
    /// one block to the next without a stop. `run` is that of the session.
    ///
    /// # Errors
    /// As [`Job::run`]; what `sink` returns; [`Error::Usage`] for blocks that are not of this job.
    fn run_blocks(
        &self,
        blocks: &[Block],
        session: &mut Self::Session,
        run: &Run,
        sink: &mut dyn BlockSink<Self::Row>,
    ) -> Result<Summary> {
        check(blocks, self.whole(session).units.end, self.targets())?;
        let listed: Arc<dyn BlockSource> = Listed::new(blocks);
        self.feed(Feed { source: &listed, run, sink }, session)
    }
}
