//! Formatted rows that wait for their turn in the output, with the keys that order and select them.

use crate::engine::buffer_pool::PooledVec;
use crate::seq::{SequenceId, Strand};

/// Key of a formatted row: the values that determine its order and selection, and the position of
/// its bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RowKey {
    /// Id of the query.
    pub query: SequenceId,
    /// Id of the target.
    pub target: SequenceId,
    /// The score.
    pub score: i64,
    /// Identity as a fraction, or 0 if the pair was only scored.
    pub identity: f64,
    /// Index of the row's first byte in [`FormattedRows::bytes`].
    pub first: u32,
    /// Number of bytes. 0 if the row is formatted from its key when its turn comes.
    pub length: u32,
    /// Index of the row's [`FormattedRows`] in a list of several, set by the code that joins them.
    pub piece: u32,
    /// Strand of the query.
    pub strand: Strand,
}

/// Formatted rows in no particular order.
#[derive(Debug, Clone, Default)]
pub struct FormattedRows {
    /// Key of each row.
    pub keys: PooledVec<RowKey>,
    /// Bytes of all rows.
    pub bytes: PooledVec<u8>,
}

/// Formatted rows of one report.
#[derive(Debug, Clone, Default)]
pub struct FormattedReport {
    /// The rows, in several pieces.
    pub pieces: Vec<FormattedRows>,
    /// Number of pairs that were aligned.
    pub aligned: u64,
}
