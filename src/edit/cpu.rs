//! Levenshtein distances on the CPU: bit-vectors (Myers 1999, Hyyrö 2003) in vector lanes of 64 bits.
//!
//! Many pairs are computed side by side, one a lane (`side`); few or long ones alone, their rows over all lanes
//! (`alone`). Matches come from bit planes of the codes (`planes`). A limit leaves a band of the matrix to compute.

mod alone;
mod compute;
mod cutoff;
mod ends;
mod layout;
mod least;
mod planes;
mod scalar;
mod side;
mod step;
mod worker;

pub use compute::{Form, Workspace, distance, run};
pub use scalar::last_row;
pub use worker::{EditWorker, edit_workers};

use std::ops::Range;

use crate::seq::Code;
use crate::simd::BITS;

/// Sequences to compare.
#[derive(Debug, Clone, Copy)]
struct Pair<'a> {
    pattern: &'a [Code],
    text: &'a [Code],
    /// The greatest distance of interest.
    limit: u32,
}

impl Pair<'_> {
    /// Rows that the pattern lacks to whole words.
    fn padding(&self) -> usize {
        self.pattern.len().next_multiple_of(BITS) - self.pattern.len()
    }
}

/// Diagonals that alignments of whole sequences within a limit keep to: column less row is in the range. Cells outside
/// are taken for as far from their neighbours as can be, so that what is computed is never too small.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Diagonals {
    least: isize,
    most: isize,
}

impl Diagonals {
    const ALL: Diagonals = Diagonals { least: isize::MIN / 2, most: isize::MAX / 2 };

    /// The least band for all of some pairs.
    fn around(pairs: &[Pair<'_>]) -> Diagonals {
        let mut band = Diagonals { least: 0, most: 0 };
        for pair in pairs {
            let difference = pair.text.len() as isize - pair.pattern.len() as isize;
            // Each step off the diagonals between begin and end has to be taken back.
            let aside = (pair.limit as isize - difference.abs()).max(0) / 2;
            band.least = band.least.min(difference.min(0) - aside);
            band.most = band.most.max(difference.max(0) + aside);
        }
        band
    }

    /// Words that column `j` (from 1) has in the band, of so many.
    #[inline(always)]
    fn words(&self, j: usize, words: usize) -> Range<usize> {
        let first = (j as isize - self.most - 1).max(0) as usize / BITS;
        let last = (j as isize - self.least - 1).max(0) as usize / BITS;
        first..(last + 1).min(words)
    }

    /// The first column of row `i` (from 1).
    fn first_column(&self, i: usize) -> usize {
        (i as isize + self.least).max(1) as usize
    }

    /// The last column of row `i`, which the text may not have.
    fn last_column(&self, i: usize) -> usize {
        (i as isize + self.most).max(0) as usize
    }
}
