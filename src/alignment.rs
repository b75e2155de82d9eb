//! Alignments: CIGARs, the packed runs that devices write, and verification by rescoring.
//!
//! This module does not depend on the algorithm that computed an alignment.

pub mod cigar;
pub mod circular;
pub mod confidence;
pub mod forbidden;
pub mod insert;
pub(crate) mod join;
pub(crate) mod matrix;
pub mod multiple;
pub mod packed;
pub mod verify;

use std::ops::Range;

pub use cigar::{Cigar, Op, ParseCigarError};
pub use circular::CircularSides;
pub use confidence::{ColumnSelection, Confidence, confidence_sign};
pub use forbidden::ForbiddenRectangle;
pub use multiple::MultipleAlignment;
pub use verify::{verify, verify_alignment};

/// An alignment of query and target, or of a part of each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Alignment {
    /// Score of the alignment.
    pub score: i64,
    /// Number of query symbols before the first column; 0 in a global or an empty alignment.
    pub query_start: u32,
    /// Number of target symbols before the first column; 0 in a global or an empty alignment.
    pub target_start: u32,
    /// Columns of the alignment.
    pub cigar: Cigar,
}

impl Alignment {
    /// Creates an alignment that starts at the first symbol of both sequences.
    pub fn end_to_end(score: i64, cigar: Cigar) -> Self {
        Alignment { score, query_start: 0, target_start: 0, cigar }
    }

    /// Returns the aligned range of the query, counted from 0.
    pub fn query_range(&self) -> Range<usize> {
        let start = self.query_start as usize;
        start..start + self.cigar.query_span() as usize
    }

    /// Returns the aligned range of the target, counted from 0.
    pub fn target_range(&self) -> Range<usize> {
        let start = self.target_start as usize;
        start..start + self.cigar.target_span() as usize
    }
}
