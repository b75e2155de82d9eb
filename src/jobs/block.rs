//! Input and output of a job: blocks to compute, and a sink for their rows.

use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::seq::{Part, SequenceId};

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

    /// Returns the queries of the block, with `copies` strands each, and their targets.
    pub(super) fn part(&self, copies: u32) -> Part {
        let query = |sequence: u64| sequence as SequenceId * copies;
        Part { queries: query(self.units.start)..query(self.units.end), targets: self.targets.clone() }
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
