//! From scores to alignments: CIGARs, traceback, and verification by rescoring.
//!
//! # The canonical alignment
//!
//! A pair often has many alignments with the best score. Pairwave always gives the same one:
//!
//! 1. It has the best score, and among all alignments with this score the most matches (`=` columns).
//! 2. Among these it is the one that the walk back through the matrices finds, from the ends of both sequences to their
//!    beginnings. Where several steps lead to the same score and number of matches, two symbols are aligned before a
//!    query symbol is set against a gap (I), and this before a target symbol (D). Inside a gap, leaving it (so that the
//!    symbol at hand is the gap's first) is preferred to extending it. At the border, the rest is one end gap.
//! 3. With free end gaps the walk starts from the best cell of the last row and the last column: from the corner if
//!    this is among the best, else from the last column's best cell with the longest part of the query, else from the
//!    last row's with the longest part of the target. What lies beyond is one end gap.
//!
//! Every engine gives the same alignment, so output never depends on who computed it.

#[cfg(target_arch = "x86_64")]
mod avx2;
mod band;
pub mod cigar;
pub mod packed;
mod sweep;
pub mod traceback;
pub mod verify;
mod walk;
mod wavefront;

pub use cigar::{Cigar, Op, ParseCigarError};
pub use traceback::{Hint, Workspace, traceback};
pub use verify::verify;

/// An alignment of query and target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alignment {
    /// Its score.
    pub score: i64,
    /// Its columns.
    pub cigar: Cigar,
}
