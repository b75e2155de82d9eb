//! From scores to alignments: CIGARs, traceback, and verification by rescoring.

pub mod cigar;
pub mod traceback;
pub mod verify;

pub use cigar::{Cigar, Op};

/// An alignment of query and target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alignment {
    /// Its score.
    pub score: i64,
    /// Its columns.
    pub cigar: Cigar,
}
