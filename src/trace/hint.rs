//! What may be known of a pair's canonical alignment before its traceback.

use std::ops::Range;

/// What an engine already found out about a pair's canonical alignment. It narrows the band, and the traceback must come
/// to the same, or ends in an error. (A local traceback looks no further than where it first finds as great a score: one
/// that is too low may pass unnoticed.)
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Hint {
    /// The score.
    pub score: Option<i64>,
    /// The number of matches. It narrows the band only beside a score.
    pub matches: Option<u64>,
}

impl Hint {
    /// Nothing is known.
    pub const NONE: Hint = Hint { score: None, matches: None };
}

/// Where a pair's canonical alignment ends: one of these symbols of the query is its last one, and one of these of the target. Where
/// whole sequences are aligned and end gaps have costs of their own, that is before the gap at the end, of every alignment with the best
/// score and the most matches.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EndRegion {
    /// Symbols of the query, counted from 0.
    pub query: Range<u32>,
    /// Symbols of the target.
    pub target: Range<u32>,
}

impl EndRegion {
    /// Returns the region of sequences of `lengths` symbols (query, target), of which the gap at
    /// the end takes in at most `left`.
    pub(crate) fn before_gaps(lengths: [u32; 2], left: [u32; 2]) -> Self {
        let range = |symbols: u32, left: u32| symbols.saturating_sub(left + 1)..symbols;
        EndRegion { query: range(lengths[0], left[0]), target: range(lengths[1], left[1]) }
    }

    /// The most symbols of query and target that the gap at the end takes in.
    pub(crate) fn left(&self) -> [u64; 2] {
        // Before the first symbol there may be none.
        let of = |range: &Range<u32>| range.len().saturating_sub(usize::from(range.start > 0)) as u64;
        [of(&self.query), of(&self.target)]
    }

    /// The same of the target with the query.
    pub(crate) fn turned(self) -> Self {
        EndRegion { query: self.target, target: self.query }
    }
}
