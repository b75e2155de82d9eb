//! Facts about a pair's canonical alignment that can be known before its traceback.

use std::ops::Range;

/// Score and matches of a pair's canonical alignment, as an engine computed them. They narrow the
/// band. The traceback returns an error if its result differs from the hint. A local traceback
/// stops at the first cell with the hinted score, so it may not detect a score that is too low.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Hint {
    /// Score of the alignment.
    pub score: Option<i64>,
    /// Number of matches. It narrows the band only together with a score.
    pub matches: Option<u64>,
}

impl Hint {
    /// The empty hint.
    pub const NONE: Hint = Hint { score: None, matches: None };
}

/// Region that contains the end of a pair's canonical alignment. The last aligned query symbol is
/// in `query`, and the last aligned target symbol is in `target`. If whole sequences are aligned
/// and end gaps have their own costs, the end is the position before the gap at the end. The region
/// then contains the ends of all alignments with the best score and the most matches.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EndRegion {
    /// Indices of query symbols, counted from 0.
    pub query: Range<u32>,
    /// Indices of target symbols, counted from 0.
    pub target: Range<u32>,
}

impl EndRegion {
    /// Returns the region for sequences of `lengths` symbols (query, target) whose gap at the end
    /// contains at most `left` symbols (query, target).
    pub(crate) fn before_gaps(lengths: [u32; 2], left: [u32; 2]) -> Self {
        let range = |symbols: u32, left: u32| symbols.saturating_sub(left + 1)..symbols;
        EndRegion { query: range(lengths[0], left[0]), target: range(lengths[1], left[1]) }
    }

    /// Returns the greatest numbers of query and target symbols that the gap at the end can
    /// contain.
    pub(crate) fn longest_end_gaps(&self) -> [u64; 2] {
        // A range that starts at 0 also represents an end before the first symbol.
        let spare = |range: &Range<u32>| range.len().saturating_sub(usize::from(range.start > 0)) as u64;
        [spare(&self.query), spare(&self.target)]
    }

    /// Returns the region of the pair with query and target exchanged.
    pub(crate) fn exchanged(self) -> Self {
        EndRegion { query: self.target, target: self.query }
    }
}
