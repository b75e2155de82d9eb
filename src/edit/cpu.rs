//! Levenshtein distances on the CPU, with bit vectors (Myers 1999, Hyyrö 2003) in vector lanes of
//! 64 bits.
//!
//! Many pairs are computed together, with one pair per lane (`side`). A single pair, or a long one,
//! is computed alone, with its rows distributed over all lanes (`alone`). Matches are computed from
//! bit planes of the codes (`planes`). A limit restricts the computation to a band of diagonals.
//! Many patterns in long texts share an index of their pieces (`indexed`).

mod alone;
mod compute;
mod cutoff;
mod ends;
mod indexed;
mod layout;
mod least;
mod narrow;
mod planes;
mod scalar;
mod side;
mod step;
mod windows;
mod worker;

pub use compute::{DistanceWorkspace, LaneContent, distance, run};
pub use indexed::{IndexRun, indexed_distances};
pub use scalar::last_row;
pub use worker::{EditWorker, edit_workers};

use std::ops::Range;

use crate::seq::Code;
use crate::simd::BITS;

/// Two sequences to compare.
#[derive(Debug, Clone, Copy)]
struct EditPair<'a> {
    pattern: &'a [Code],
    text: &'a [Code],
    /// Distances above this are not needed exactly.
    limit: u32,
}

impl EditPair<'_> {
    /// Returns the number of rows of padding that fill the pattern up to whole words.
    fn padding(&self) -> usize {
        self.pattern.len().next_multiple_of(BITS) - self.pattern.len()
    }
}

/// The band of diagonals (column minus row) that alignments of whole sequences within a limit stay
/// in. Cells outside are assumed to differ as much as possible from their neighbours, so that no
/// computed distance is too small.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct DiagonalBand {
    least: isize,
    most: isize,
}

impl DiagonalBand {
    const ALL: DiagonalBand = DiagonalBand { least: isize::MIN / 2, most: isize::MAX / 2 };

    /// Returns the smallest band for all pairs.
    fn band_around(pairs: &[EditPair<'_>]) -> DiagonalBand {
        let mut band = DiagonalBand { least: 0, most: 0 };
        for pair in pairs {
            let difference = pair.text.len() as isize - pair.pattern.len() as isize;
            // Each step away from the diagonals between start and end requires a step back.
            let extra = (pair.limit as isize - difference.abs()).max(0) / 2;
            band.least = band.least.min(difference.min(0) - extra);
            band.most = band.most.max(difference.max(0) + extra);
        }
        band
    }

    /// Returns the words of rows in column `j` (from 1) that the band covers. `words` is the number
    /// of all words.
    #[inline(always)]
    fn words(&self, j: usize, words: usize) -> Range<usize> {
        let first = (j as isize - self.most - 1).max(0) as usize / BITS;
        let last = (j as isize - self.least - 1).max(0) as usize / BITS;
        first..(last + 1).min(words)
    }

    /// Returns the first column of row `i` (from 1).
    fn first_column(&self, i: usize) -> usize {
        (i as isize + self.least).max(1) as usize
    }

    /// Returns the last column of row `i`. It may exceed the length of the text.
    fn last_column(&self, i: usize) -> usize {
        (i as isize + self.most).max(0) as usize
    }
}
