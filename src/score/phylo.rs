//! Scores of a read against the ancestral states of an edge (Berger and Stamatakis 2011; Alachiotis, Berger and Stamatakis
//! 2013, equation 1; PaPaRa 2.5's own numbers).

use super::Gaps;
use crate::error::{Error, Result};

/// What a column of a read and a vector of states scores. The best score is the greatest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
pub struct PhyloScheme {
    /// Score of a character that the site's set holds.
    pub matching: i32,
    /// Score of a character that it does not hold; not above `matching`.
    pub mismatch: i32,
    /// What a character at a gap site costs beside; at least 0.
    pub gap_site: i32,
    /// What sites without a character of the read cost. At gap sites they cost nothing.
    pub deletion: Gaps,
    /// What characters of the read without a site cost.
    pub insertion: Gaps,
    /// Whether what hangs over of the read at either end of the reference costs nothing. What hangs over of the reference
    /// never costs anything.
    pub free_read_ends: bool,
}

/// The greatest number that a scheme may hold.
const MAX: i32 = 1 << 16;

impl PhyloScheme {
    /// What PaPaRa 2.5 computes by default.
    pub const fn papara() -> Self {
        let gaps = Gaps::from_emboss(3, 1);
        PhyloScheme { matching: 2, mismatch: 0, gap_site: 3, deletion: gaps, insertion: gaps, free_read_ends: true }
    }

    /// Equation 1 of Alachiotis, Berger and Stamatakis (2013), whose costs are scores below 0 here. A read is aligned as a
    /// whole.
    pub const fn paper() -> Self {
        PhyloScheme {
            matching: 0,
            mismatch: -3,
            gap_site: 3,
            deletion: Gaps::from_emboss(4, 1),
            insertion: Gaps::linear(3),
            free_read_ends: false,
        }
    }

    /// Whether the numbers make sense.
    ///
    /// # Errors
    /// [`Error::Usage`] that names the field.
    pub fn validate(&self) -> Result<()> {
        let beyond = |number: i32| (number.unsigned_abs() > MAX as u32).then(|| format!("{number} is beyond {MAX}"));
        if let Some(message) = beyond(self.matching) {
            return Err(Error::usage_of("matching", message));
        }
        if let Some(message) = beyond(self.mismatch) {
            return Err(Error::usage_of("mismatch", message));
        }
        if self.mismatch > self.matching {
            return Err(Error::usage_of("mismatch", "it is above the score of a match"));
        }
        let cost = |number: i32| match number {
            ..0 => Some(format!("{number} is a cost, and cannot be below 0")),
            _ => beyond(number),
        };
        if let Some(message) = cost(self.gap_site) {
            return Err(Error::usage_of("gap_site", message));
        }
        let gaps = |gaps: Gaps| match gaps.first < gaps.next {
            true => Some("opening a gap costs at least nothing".to_owned()),
            false => cost(gaps.next).or_else(|| cost(gaps.first)),
        };
        if let Some(message) = gaps(self.deletion) {
            return Err(Error::usage_of("deletion", message));
        }
        if let Some(message) = gaps(self.insertion) {
            return Err(Error::usage_of("insertion", message));
        }
        Ok(())
    }

    /// The greatest score that a read of so many symbols can have.
    pub fn most(&self, read_symbols: u32) -> i64 {
        i64::from(read_symbols) * i64::from(self.matching.max(0))
    }

    /// A score that the best alignment of such a read is never below: of the read hanging over, or inserted as a whole.
    pub fn least(&self, read_symbols: u32) -> i64 {
        if self.free_read_ends { 0 } else { -self.insertion.cost(u64::from(read_symbols)) }
    }
}
