//! Input and output of a job: blocks to compute, and a sink for their rows.

use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::seq::{QueryPart, SequenceId};

/// A part of a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    /// Numbers of the units in the input: queries, patterns, candidates, reads or list entries.
    pub units: Range<u64>,
    /// Targets that the only unit of this block is compared with; `None` for all targets. Set if
    /// one unit is too large for a block. The strands of a long pair count as its targets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub targets: Option<Range<u32>>,
    /// Number of pairs, counting every strand.
    pub pairs: u64,
    /// Number of matrix cells of these pairs.
    pub cells: u64,
}

impl Block {
    /// Estimates the length of a sequence in symbols from the mean number of cells per pair.
    pub(super) fn mean_length(&self) -> u64 {
        (self.cells / self.pairs.max(1)).isqrt()
    }

    /// Returns the queries of the block, with `copies` strands each, and their targets.
    pub(super) fn part(&self, copies: u32) -> QueryPart {
        let query = |sequence: u64| sequence as SequenceId * copies;
        QueryPart { queries: query(self.units.start)..query(self.units.end), targets: self.targets.clone() }
    }
}

/// Receives the rows of blocks.
pub trait BlockSink<R> {
    /// Takes the next rows of the block that is due, in order. A call never contains rows of two
    /// blocks.
    ///
    /// # Errors
    /// An error ends the run.
    fn rows(&mut self, rows: &[R]) -> Result<()>;

    /// Ends the block that is due. The next block is then due.
    ///
    /// # Errors
    /// An error ends the run.
    fn end(&mut self) -> Result<()>;

    /// Returns an encoder if any thread may encode rows before their turn. Jobs that support
    /// encoding then pass bytes to the sink. Other jobs pass rows.
    fn encoder(&self) -> Option<Arc<dyn Encode<R>>> {
        None
    }

    /// Takes rows like [`BlockSink::rows`], in the bytes that the encoder made of them.
    ///
    /// # Errors
    /// An error ends the run.
    fn bytes(&mut self, _bytes: &[u8]) -> Result<()> {
        Err(Error::Internal("a sink for rows received bytes".into()))
    }
}

/// Encodes rows.
pub trait Encode<R>: Send + Sync {
    /// Appends the bytes of a row. They do not depend on other rows.
    ///
    /// # Errors
    /// An error ends the run.
    fn encode(&self, row: &R, bytes: &mut Vec<u8>) -> Result<()>;
}

/// A sink that passes the rows of all blocks to a function, as if there were one block.
pub struct Whole<S>(pub S);

impl<R, S: FnMut(&[R]) -> Result<()>> BlockSink<R> for Whole<S> {
    fn rows(&mut self, rows: &[R]) -> Result<()> {
        self.0(rows)
    }

    fn end(&mut self) -> Result<()> {
        Ok(())
    }
}
