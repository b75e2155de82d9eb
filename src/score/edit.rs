//! Levenshtein distance: what is compared, what counts as equal, and how far apart two sequences may be.
//!
//! A substitution, an insertion and a deletion cost 1 each (Chacon et al. 2014, equation 1). The *pattern* is P of m
//! symbols, the *text* T of n.

use super::gaps::{EndGaps, Gaps, Mode};
use super::scoring::{Ambiguity, Scoring};
use super::substitution::Substitution;
use crate::error::{Error, Result};
use crate::seq::{Alphabet, Code};

/// Which part of the text the whole pattern is compared with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum EditMode {
    /// All of it (edlib's NW).
    #[default]
    Global,
    /// Any part, the one of least distance: approximate string matching (edlib's HW).
    Infix,
    /// Any part that begins where the text does (edlib's SHW).
    Prefix,
    /// A part of the pattern with a part of the text, such that one of them begins its sequence and one ends it: what is
    /// left of an alignment of wholes without its end gaps. No more than [`Reach::unaligned`] symbols may follow the parts.
    /// It has no end: [`Found::end`] is 0.
    Overlap(Reach),
}

/// Where an overlap may end. Of the shorter sequence `(shorter * min(m, n) + constant) / divisor` symbols may follow, rounded
/// down, of the longer one as many more as it is longer; and at its end there are at most `rate` / 65,536 edits for each symbol
/// up to there, of the sequence that has fewer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
pub struct Reach {
    /// For each symbol of the shorter sequence.
    pub shorter: u32,
    /// For every pair.
    pub constant: u32,
    /// Divides them; not 0.
    pub divisor: u32,
    /// Edits for each 65,536 symbols up to the end; [`Reach::ANY_RATE`] or more for any number.
    pub rate: u32,
}

impl Reach {
    /// An edit a symbol, which no overlap is above.
    pub const ANY_RATE: u32 = 1 << 16;

    /// The least rate that allows so many edits a symbol.
    pub fn rate_of(edits: f64) -> u32 {
        // Beyond the rounding of the number itself.
        ((edits * (1.0 + 1e-9) * f64::from(Self::ANY_RATE)).ceil() as u32).min(Self::ANY_RATE)
    }

    /// The most edits of an overlap that ends after so many symbols of one sequence and of the other.
    pub fn most_edits(self, own: u32, other: u32) -> u32 {
        ((u64::from(self.rate.min(Self::ANY_RATE)) * u64::from(own.min(other))) >> 16) as u32
    }

    /// Symbols of a sequence of `own` that may follow its part that overlaps one of `other` symbols.
    pub fn unaligned(self, own: u32, other: u32) -> u64 {
        let of_shorter = u64::from(self.shorter) * u64::from(own.min(other)) + u64::from(self.constant);
        of_shorter / u64::from(self.divisor) + u64::from(own.saturating_sub(other))
    }

    /// Whether no step of this sum passes 32 bits for sequences of at most so many symbols.
    pub fn fits(self, symbols: u32) -> bool {
        let of_shorter = u64::from(self.shorter) * u64::from(symbols);
        u64::from(Self::ANY_RATE) * u64::from(symbols) <= u64::from(u32::MAX)
            && of_shorter.saturating_add(u64::from(self.constant)) <= u64::from(u32::MAX)
            && self.unaligned(symbols, symbols) + u64::from(symbols) <= u64::from(u32::MAX)
    }
}

/// The greatest distance that is of interest.
#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Limit {
    /// Any.
    #[default]
    None,
    /// So many edits.
    Distance(u32),
    /// So many edits a symbol of the pattern, in global mode of the longer of the two, rounded down; from 0 to 1.
    Rate(f64),
    /// So many edits a symbol of the shorter of the two, and so many a symbol that the longer one has more; rounded down
    /// from a millionth more.
    Shorter(f64, f64),
}

/// Which codes are equal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Equality {
    alphabet: Alphabet,
    table: Vec<bool>,
}

impl Equality {
    /// Codes are equal that count as a match under a scoring scheme.
    pub fn of_matches(scoring: &Scoring) -> Self {
        Equality::from_fn(scoring.alphabet, |a, b| scoring.substitution.is_match(a, b))
    }

    /// Codes are equal if they are the same.
    pub fn literal(alphabet: Alphabet) -> Self {
        Equality::from_fn(alphabet, |a, b| a == b)
    }

    /// IUPAC codes of DNA under a rule for ambiguous ones; `n_matches`: whether N equals what the rule says, or nothing.
    pub fn dna(rule: Ambiguity, n_matches: bool) -> Self {
        const N: Code = 15;
        Equality::from_fn(Alphabet::Dna, |a, b| {
            let by_rule = match rule {
                Ambiguity::Overlap | Ambiguity::Zero => a & b != 0,
                Ambiguity::Mismatch => a == b && a.count_ones() == 1,
                Ambiguity::Mean => a == b,
            };
            by_rule && (n_matches || a != N && b != N)
        })
    }

    /// A table from a symmetric relation of codes other than [`crate::seq::PAD`].
    fn from_fn(alphabet: Alphabet, is_equal: impl Fn(Code, Code) -> bool) -> Self {
        let size = alphabet.size();
        let mut table = vec![false; size * size];
        for a in 1..size {
            for b in 1..size {
                table[a * size + b] = is_equal(a as Code, b as Code);
            }
        }
        Equality { alphabet, table }
    }

    /// The alphabet.
    pub fn alphabet(&self) -> Alphabet {
        self.alphabet
    }

    /// Whether two codes are equal. Symmetric.
    #[inline]
    pub fn is_match(&self, a: Code, b: Code) -> bool {
        self.table[a as usize * self.alphabet.size() + b as usize]
    }

    /// The distance as a score: 0 for equal codes, -1 for others, 1 off for every symbol of a gap. The score of a pair of
    /// wholes is its distance, negative.
    pub fn scoring(&self) -> Scoring {
        let substitution = Substitution::from_fn(self.alphabet, |a, b| match self.is_match(a, b) {
            true => (0, true),
            false => (-1, false),
        });
        let (gaps, end_gaps) = (Gaps::linear(1), EndGaps::Charged);
        Scoring { alphabet: self.alphabet, substitution, gaps, end_gaps, mode: Mode::Global }
    }

    /// Of DNA: the bases A, C, G, T (bits 0 to 3) that make up what a code of the text equals, if that is the union of
    /// what these bases equal.
    pub fn bases_of(&self, code: Code) -> Option<u8> {
        debug_assert_eq!(self.alphabet, Alphabet::Dna);
        (0..16u8).find(|set| {
            (1..16).all(|other: Code| {
                let of_bases = (0..4).any(|bit| set >> bit & 1 == 1 && self.is_match(other, 1 << bit));
                of_bases == self.is_match(other, code)
            })
        })
    }
}

/// What is computed of every pair.
#[derive(Debug, Clone, PartialEq)]
pub struct EditScheme {
    /// Which part of the text.
    pub mode: EditMode,
    /// What is equal.
    pub equality: Equality,
    /// The greatest distance of interest.
    pub limit: Limit,
}

impl EditScheme {
    /// Whether the limit makes sense.
    ///
    /// # Errors
    /// [`Error::Usage`] for a rate that is not from 0 to 1.
    pub fn validate(&self) -> Result<()> {
        match self.limit {
            Limit::Rate(rate) if !(0.0..=1.0).contains(&rate) => {
                Err(Error::usage_value("limit", rate, "rates are from 0 to 1"))
            }
            _ => Ok(()),
        }
    }

    /// The greatest distance of interest for a pattern of m and a text of n symbols; no distance is above `max(m, n)`.
    pub fn limit(&self, m: u32, n: u32) -> u32 {
        let most = m.max(n);
        match self.limit {
            Limit::None => most,
            Limit::Distance(distance) => distance.min(most),
            Limit::Rate(rate) => {
                let whole = if self.mode == EditMode::Global { most } else { m };
                // A rate is given in decimal: 0.2 of 15 is 3, whatever 0.2 is in binary.
                ((rate * f64::from(whole) * (1.0 + 1e-12)) as u32).min(most)
            }
            Limit::Shorter(rate, further) => {
                ((rate * f64::from(m.min(n)) + further * f64::from(m.abs_diff(n)) + 1e-6) as u32).min(most)
            }
        }
    }

    /// What comes of a pair without symbols in one of the two; `None` if both have some.
    pub fn trivial(&self, m: u32, n: u32) -> Option<Found> {
        let found = match self.mode {
            _ if m > 0 && n > 0 => return None,
            EditMode::Global => Found { distance: m.max(n), end: n },
            EditMode::Overlap(_) => Found { distance: 0, end: 0 },
            EditMode::Infix | EditMode::Prefix => Found { distance: m, end: 0 },
        };
        Some(found.within(self.limit(m, n)))
    }
}

/// The distance of a pair, and where it is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, bytemuck::Zeroable)]
#[repr(C)]
pub struct Found {
    /// The least distance, or [`Found::NONE`]'s if it is above the limit.
    pub distance: u32,
    /// Symbols of the text (or of its region) up to the end of the part of least distance: the least such number, at
    /// least 1 unless pattern or text is empty, as engines compute no empty part ([`Found::first_end`] adds it). In global
    /// mode the text's length, of an overlap 0.
    pub end: u32,
}

impl Found {
    /// No distance within the limit.
    pub const NONE: Found = Found { distance: u32::MAX, end: 0 };

    /// This, or [`Found::NONE`] if it is above the limit.
    pub fn within(self, limit: u32) -> Found {
        if self.distance <= limit { self } else { Found::NONE }
    }

    /// Where the first part of least distance ends, the empty part included. That is as far from a pattern of `m` symbols as it
    /// is long, and ends before all others.
    pub fn first_end(self, mode: EditMode, m: u32) -> u32 {
        let has_parts = matches!(mode, EditMode::Infix | EditMode::Prefix);
        if has_parts && self.distance == m { 0 } else { self.end }
    }

    /// Whether there is a distance within the limit.
    pub fn is_some(self) -> bool {
        self.distance != u32::MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_equal_as_the_rule_says() {
        let code = |letter| Alphabet::Dna.encode(letter).unwrap();
        let equal = |equality: &Equality, a, b| {
            assert_eq!(equality.is_match(code(a), code(b)), equality.is_match(code(b), code(a)));
            equality.is_match(code(a), code(b))
        };
        let overlap = Equality::dna(Ambiguity::Overlap, true);
        assert!(equal(&overlap, b'A', b'R') && equal(&overlap, b'N', b'C') && !equal(&overlap, b'Y', b'R'));
        let no_n = Equality::dna(Ambiguity::Overlap, false);
        assert!(equal(&no_n, b'A', b'R') && !equal(&no_n, b'N', b'C') && !equal(&no_n, b'N', b'N'));
        let strict = Equality::dna(Ambiguity::Mismatch, true);
        assert!(equal(&strict, b'A', b'A') && !equal(&strict, b'R', b'R') && !equal(&strict, b'N', b'A'));
        let literal = Equality::literal(Alphabet::Dna);
        assert_eq!(Equality::dna(Ambiguity::Mean, true), literal);
        assert!(equal(&literal, b'N', b'N') && equal(&literal, b'R', b'R') && !equal(&literal, b'A', b'R'));
        assert_eq!(overlap.bases_of(code(b'R')), Some(0b0101));
        assert_eq!(no_n.bases_of(code(b'N')), Some(0));
        assert_eq!(literal.bases_of(code(b'T')), Some(0b1000));
        assert_eq!(literal.bases_of(code(b'N')), None);
    }

    #[test]
    fn rates_are_decimal() {
        let scheme =
            |mode, rate| EditScheme { mode, equality: Equality::literal(Alphabet::Protein), limit: Limit::Rate(rate) };
        for m in 1..2000 {
            assert_eq!(scheme(EditMode::Infix, 0.2).limit(m, 5000), m / 5);
            assert_eq!(scheme(EditMode::Global, 0.1).limit(m, 3), m.max(3) / 10);
        }
        assert!(scheme(EditMode::Infix, 1.5).validate().is_err());
        assert!(scheme(EditMode::Infix, f64::NAN).validate().is_err());
    }
}
