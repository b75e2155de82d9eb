//! The global score of a long pair from a band of diagonals, if the pair is similar.
//!
//! A narrow band gives the score of some alignment, which the best score is not below. With this
//! score, [`ScoreRange::band`] returns a band that contains all best alignments. If it is within
//! the first band, the score is the best one, and otherwise the second band has the best one. Both
//! bands together are a small part of the matrix if the sequences are similar.

use bstr::ByteSlice;

use super::difference::Greatest;
use super::group::ProfiledSequence;
use super::pair_difference::PairInBand;
use super::skew::{PairBuffers, PairTask};
use crate::score::{DifferenceScoring, Scoring};
use crate::seq::Code;
use crate::simd::{InstructionSet, LaneElement};
use crate::trace::{Band, Hint, ScoreRange};

/// Number of words of the rows that are searched for in the columns.
const WORDS: usize = 32;
/// Number of symbols of a word.
const WORD: usize = 16;
/// Minimum number of words that similar sequences have in common.
const COMMON: usize = 4;
/// The first band is at most this fraction of the matrix. It is computed in vain if the score is
/// low.
const LEAST_SAVING: u64 = 8;

/// A pair that is computed alone.
pub(super) struct LonePair<'a, E> {
    pub scoring: &'a Scoring,
    /// The scoring as differences. Its range must hold the pair's score.
    pub form: &'a DifferenceScoring<E>,
    /// The shorter sequence.
    pub rows: &'a [Code],
    pub columns: &'a [Code],
}

impl<E: LaneElement> LonePair<'_, E> {
    /// Returns the greatest value, and the gaps at the end of the alignments that have it.
    pub(super) fn greatest(&self, instructions: InstructionSet, buffers: &mut PairBuffers<E>) -> Greatest {
        let LonePair { scoring, form, rows, columns } = *self;
        let (m, n) = (rows.len(), columns.len());
        let profiled = &ProfiledSequence::new(columns);
        let mut compute = |band| {
            let mut value = Greatest::default();
            let task = PairTask { form, rows, columns: profiled, buffers: &mut *buffers, value: &mut value };
            instructions.run(PairInBand { task, band });
            value
        };
        let first = Band::guess(m, n);
        if !form.fits_bands() || !self.is_worth_trying(first, E::lanes(instructions)) {
            return compute(Band::full(m, n));
        }
        let lower_bound = compute(first);
        let (score, _) = form.decode(lower_bound.value, m as u32, n as u32);
        let range = ScoreRange::from_codes(&scoring.substitution, rows, columns);
        let band = range.band(m, n, scoring, Hint { score: Some(score), matches: None });
        if first.contains(band) { lower_bound } else { compute(band) }
    }

    /// Returns whether a band is a small part of the matrix, and the sequences have words in common
    /// within the band.
    fn is_worth_trying(&self, band: Band, lanes: usize) -> bool {
        let (rows, columns) = (self.rows, self.columns);
        // A strip of rows has a column more for each row but the first.
        let width = (band.high - band.low) as u64 + lanes as u64;
        if rows.len() < WORDS * WORD || width * LEAST_SAVING > columns.len() as u64 {
            return false;
        }
        let is_common = |word: &usize| {
            let at = word * (rows.len() - WORD) / (WORDS - 1);
            let column = |diagonal: i64| (at as i64 - diagonal).clamp(0, columns.len() as i64) as usize;
            let within = &columns[column(band.high)..(column(band.low) + WORD).min(columns.len())];
            within.find(&rows[at..at + WORD]).is_some()
        };
        (0..WORDS).filter(is_common).nth(COMMON - 1).is_some()
    }
}

#[cfg(test)]
mod tests;
