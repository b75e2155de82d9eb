//! Jobs in blocks: the same cut whatever engines there are, each block by itself on whatever machine, and the rows of all
//! blocks put together are those of the whole job.

pub mod bytes;
pub mod cut;
mod due;
pub(in crate::jobs) mod source;

use std::ops::Range;
use std::sync::{Arc, LazyLock};

use serde::{Deserialize, Serialize};

pub(super) use self::due::Due;
pub use self::source::{BlockSource, Listed, NextBlock};
use super::{Job, Run, Summary};
use crate::error::{Error, Result};
use crate::seq::{Alphabet, SequenceStore};

/// A part of a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    /// What is computed: queries, patterns, candidates, reads or lists of pairs, by their numbers in the input.
    pub units: Range<u64>,
    /// Of one unit that is too much for a block, the targets that it meets here; `None` for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub targets: Option<Range<u32>>,
    /// Pairs in it, of all strands.
    pub pairs: u64,
    /// Cells of their matrices: what it costs.
    pub cells: u64,
}

impl Block {
    /// Symbols of a sequence, about, by what pairs have to compute.
    pub(super) fn mean_length(&self) -> u64 {
        (self.cells / self.pairs.max(1)).isqrt()
    }
}

/// Hears what becomes of blocks.
pub trait BlockSink<R> {
    /// Rows of the block that is due, in order; never those of two blocks at once.
    ///
    /// # Errors
    /// Ends the run.
    fn rows(&mut self, rows: &[R]) -> Result<()>;

    /// The block that is due has no more rows; the next one is due.
    ///
    /// # Errors
    /// Ends the run.
    fn end(&mut self) -> Result<()>;

    /// How rows become bytes, if that may be done before their turn and on any thread. Jobs that have use for it then hand
    /// over bytes, others rows.
    fn encoder(&self) -> Option<Arc<dyn Encode<R>>> {
        None
    }

    /// As [`BlockSink::rows`], of rows in the bytes that the encoder made of them.
    ///
    /// # Errors
    /// Ends the run.
    fn bytes(&mut self, _bytes: &[u8]) -> Result<()> {
        Err(Error::Internal("bytes where rows were asked for".into()))
    }
}

/// Makes bytes of rows.
pub trait Encode<R>: Send + Sync {
    /// Appends the bytes of a row, which do not depend on any other.
    ///
    /// # Errors
    /// Ends the run.
    fn encode(&self, row: &R, bytes: &mut Vec<u8>) -> Result<()>;
}

/// Rows of a whole job, as if it were one block.
pub struct Whole<S>(pub S);

impl<R, S: FnMut(&[R]) -> Result<()>> BlockSink<R> for Whole<S> {
    fn rows(&mut self, rows: &[R]) -> Result<()> {
        self.0(rows)
    }

    fn end(&mut self) -> Result<()> {
        Ok(())
    }
}

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
pub trait Divisible: Job<Summary = Summary> + Sized {
    /// What lasts from block to block: engines, and what is known of their speed.
    type Session;

    /// Cuts the job into blocks of about so many cells, in the order of the rows. It follows from the job alone: who cuts once
    /// more finds the same. Blocks cover all units, each pair once.
    ///
    /// # Errors
    /// As [`Job::validate`]; [`Error::Io`](crate::Error::Io) where units have to be counted in a file.
    fn cut(&self, cells: u64) -> Result<Vec<Block>>;

    /// Makes ready for blocks. Devices may be opened only with the first of them.
    ///
    /// # Errors
    /// As [`Job::run`].
    fn session(&self, run: &Run) -> Result<Self::Session>;

    /// Makes ready for blocks on these engines, whatever the devices of `run`.
    ///
    /// # Errors
    /// As [`Job::run_on`].
    fn session_on(&self, engines: Self::Engines, run: &Run) -> Result<Self::Session>;

    /// Computes some blocks of a cut, each at most once, neighbours or not, and hands their rows over block by block in this order. Engines go from
    /// one to the next without a stop. `run` is that of the session.
    ///
    /// # Errors
    /// As [`Job::run`]; what `sink` returns.
    fn run_blocks(
        &self,
        blocks: &[Block],
        session: &mut Self::Session,
        run: &Run,
        sink: &mut dyn BlockSink<Self::Row>,
    ) -> Result<Summary>;

    /// As [`Divisible::run_blocks`], of blocks that come while it runs; their rows come in the order in which they were taken.
    /// Returns when engines are done with all that were taken, and there is no other.
    ///
    /// # Errors
    /// As [`Divisible::run_blocks`].
    fn run_source(
        &self,
        source: &Arc<dyn BlockSource>,
        session: &mut Self::Session,
        run: &Run,
        sink: &mut dyn BlockSink<Self::Row>,
    ) -> Result<Summary> {
        source::run_by_lists(self, source.as_ref(), session, run, sink)
    }

    /// Bytes of a block's rows, about, if no pair is left out.
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

    /// Rows of one unit whose targets were in several blocks, in the order of these, become those of the whole job: what is
    /// selected among all of them is selected here.
    fn join(&self, rows: &mut Vec<Self::Row>);
}
