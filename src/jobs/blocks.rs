//! Jobs in blocks: the same cut whatever engines there are, each block by itself on whatever machine, and the rows of all
//! blocks put together are those of the whole job.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{Job, Run, Summary};
use crate::error::Result;

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

    /// Computes some blocks of a cut, neighbours or not, and hands their rows over block by block in this order. Engines go from
    /// one to the next without a stop.
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

    /// Adds a row in bytes.
    fn encode(row: &Self::Row, bytes: &mut Vec<u8>);

    /// Takes a row from the front; `None` if the bytes are none.
    fn decode(bytes: &mut &[u8]) -> Option<Self::Row>;

    /// Rows of one unit whose targets were in several blocks, in the order of these, become those of the whole job: what is
    /// selected among all of them is selected here.
    fn join(&self, rows: &mut Vec<Self::Row>);
}
