//! Alignments: CIGARs, the runs that devices leave, and verification by rescoring.
//!
//! Nothing here knows how an alignment was found.

pub mod cigar;
pub(crate) mod join;
pub mod multiple;
pub mod packed;
pub mod verify;

use std::ops::Range;

pub use cigar::{Cigar, Op, ParseCigarError};
pub use multiple::MultipleAlignment;
pub use verify::{verify, verify_alignment};

/// An alignment of query and target, or of a part of each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Alignment {
    /// Its score.
    pub score: i64,
    /// Query symbols before its first column: 0 in a global alignment and in an empty one.
    pub query_start: u32,
    /// Target symbols before its first column.
    pub target_start: u32,
    /// Its columns.
    pub cigar: Cigar,
}

impl Alignment {
    /// An alignment that begins where both sequences do.
    pub fn whole(score: i64, cigar: Cigar) -> Self {
        Alignment { score, query_start: 0, target_start: 0, cigar }
    }

    /// The part of the query that its columns hold, counted from 0.
    pub fn query_range(&self) -> Range<usize> {
        let start = self.query_start as usize;
        start..start + self.cigar.query_span() as usize
    }

    /// The part of the target that its columns hold, counted from 0.
    pub fn target_range(&self) -> Range<usize> {
        let start = self.target_start as usize;
        start..start + self.cigar.target_span() as usize
    }
}
