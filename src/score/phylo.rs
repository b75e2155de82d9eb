//! Scores of a read against the ancestral states of an edge (Berger and Stamatakis 2011;
//! Alachiotis, Berger and Stamatakis 2013, equation 1; PaPaRa 2.5's own numbers).

use super::Gaps;
use crate::error::{Error, Result};

/// Scores of a read's characters against a vector of states. Higher scores are better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
pub struct PhyloScheme {
    /// Score of a character that is in the site's set.
    pub matching: i32,
    /// Score of a character that is not in the site's set; at most `matching`.
    pub mismatch: i32,
    /// Additional cost of a character at a gap site; at least 0.
    pub gap_site: i32,
    /// Costs of sites without a character of the read. At gap sites these are free.
    pub deletion: Gaps,
    /// Costs of characters of the read without a site.
    pub insertion: Gaps,
    /// Whether overhanging ends of the read are free. Overhanging ends of the reference are always
    /// free.
    pub free_read_ends: bool,
}

/// Maximum absolute value of the numbers in a scheme.
const MAX: i32 = 1 << 16;

impl PhyloScheme {
    /// Returns the scheme that PaPaRa 2.5 uses by default.
    pub const fn papara() -> Self {
        let gaps = Gaps::from_emboss(3, 1);
        PhyloScheme { matching: 2, mismatch: 0, gap_site: 3, deletion: gaps, insertion: gaps, free_read_ends: true }
    }

    /// Returns the scheme of equation 1 of Alachiotis, Berger and Stamatakis (2013), whose costs
    /// are negative scores here. A read is aligned from end to end.
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

    /// Checks the numbers.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] that names the wrong field.
    pub fn validate(&self) -> Result<()> {
        let beyond = |number: i32| {
            (number.unsigned_abs() > MAX as u32).then(|| format!("{number} is out of range: at most {MAX} up or down"))
        };
        if let Some(message) = beyond(self.matching) {
            return Err(Error::usage_of("matching", message));
        }
        if let Some(message) = beyond(self.mismatch) {
            return Err(Error::usage_of("mismatch", message));
        }
        if self.mismatch > self.matching {
            return Err(Error::usage_of("mismatch", "a mismatch must not score more than a match"));
        }
        let cost = |number: i32| match number {
            ..0 => Some(format!("{number} is a cost, and cannot be below 0")),
            _ => beyond(number),
        };
        if let Some(message) = cost(self.gap_site) {
            return Err(Error::usage_of("gap_site", message));
        }
        let gaps = |gaps: Gaps| match gaps.first < gaps.next {
            true => Some("the first symbol of a gap must not cost less than each further one".to_owned()),
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

    /// Returns the greatest score that a read of `read_symbols` symbols can have.
    pub fn max_score(&self, read_symbols: u32) -> i64 {
        i64::from(read_symbols) * i64::from(self.matching.max(0))
    }

    /// Returns a lower bound on the best score of a read: the score of letting it overhang or
    /// inserting it completely.
    pub fn min_best_score(&self, read_symbols: u32) -> i64 {
        if self.free_read_ends { 0 } else { -self.insertion.cost(u64::from(read_symbols)) }
    }
}
