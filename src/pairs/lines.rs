//! Results as bytes that wait for their turn: a key says where the bytes of a row lie and where they belong.

use crate::engine::buffer_pool::PooledVec;
use crate::seq::{SequenceId, Strand};

/// What is left to know of a row: its place in the order, what is selected by, and its bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Key {
    /// The query.
    pub query: SequenceId,
    /// The target.
    pub target: SequenceId,
    /// The score.
    pub score: i64,
    /// The identity, a fraction; 0 of a pair that was only scored.
    pub identity: f64,
    /// First byte in [`Lines::bytes`].
    pub first: u32,
    /// Number of bytes; 0 of a row that is made of its key when its turn comes.
    pub length: u32,
    /// Which of several [`Lines`]; for whoever puts some together.
    pub piece: u32,
    /// The query's strand.
    pub strand: Strand,
}

/// Rows in no particular order.
#[derive(Debug, Clone, Default)]
pub struct Lines {
    /// A key for every row.
    pub keys: PooledVec<Key>,
    /// The rows, each by itself.
    pub bytes: PooledVec<u8>,
}

/// What came of a report whose rows were made at once.
#[derive(Debug, Clone, Default)]
pub struct Settled {
    /// Its rows, in pieces.
    pub pieces: Vec<Lines>,
    /// Pairs that were aligned for it.
    pub aligned: u64,
}
