//! Levenshtein distance: the parts that are compared, the codes that are equal, and the limit of
//! the distance.
//!
//! A substitution, an insertion and a deletion cost 1 each (Chacon et al. 2014, equation 1). The
//! *pattern* P has m symbols, and the *text* T has n.

use super::gaps::{EndGaps, Gaps, Mode};
use super::scoring::{Ambiguity, Scoring};
use super::substitution::Substitution;
use crate::error::{Error, Result};
use crate::seq::{ANY_BASE, Alphabet, Code};

/// The part of the text that the whole pattern is compared with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum EditMode {
    /// The whole text (edlib's NW).
    #[default]
    Global,
    /// The part with the least distance: approximate string matching (edlib's HW).
    Infix,
    /// The part with the least distance among those that start at the start of the text (edlib's
    /// SHW).
    Prefix,
    /// A part of the pattern and a part of the text. At least one of the two parts starts at the
    /// start of its sequence, and at least one ends at the end of its sequence, as in a global
    /// alignment without its end gaps. At most [`OverlapReach::unaligned`] symbols may follow the
    /// parts. The end is not computed: [`EditDistance::end`] is 0.
    Overlap(OverlapReach),
}

/// Limits on the end of an overlap. At most `(shorter * min(m, n) + constant) / divisor` symbols of
/// the shorter sequence, rounded down, may follow the part. For the longer sequence, the difference
/// in length is added. An overlap has at most `rate` / 65,536 edits for each symbol up to its end,
/// counted in the sequence that has fewer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
pub struct OverlapReach {
    /// Factor of the length of the shorter sequence.
    pub shorter: u32,
    /// Constant summand of the symbols that may follow.
    pub constant: u32,
    /// Divisor of the sum; not 0.
    pub divisor: u32,
    /// Maximum number of edits per 65,536 symbols. Values of [`OverlapReach::ANY_RATE`] and above
    /// allow any number.
    pub rate: u32,
}

impl OverlapReach {
    /// One edit per symbol, which no overlap exceeds.
    pub const ANY_RATE: u32 = 1 << 16;

    /// Returns the least rate that allows `edits` edits per symbol.
    pub fn rate_from_edits(edits: f64) -> u32 {
        // The factor is greater than the rounding error of `edits`.
        ((edits * (1.0 + 1e-9) * f64::from(Self::ANY_RATE)).ceil() as u32).min(Self::ANY_RATE)
    }

    /// Returns the maximum number of edits of an overlap that ends after `symbols` symbols of one
    /// sequence and `other` symbols of the other.
    pub fn most_edits(self, symbols: u32, other: u32) -> u32 {
        ((u64::from(self.rate.min(Self::ANY_RATE)) * u64::from(symbols.min(other))) >> 16) as u32
    }

    /// Returns the number of symbols that may follow the part of a sequence of `symbols` symbols,
    /// in an overlap with a sequence of `other` symbols.
    pub fn unaligned(self, symbols: u32, other: u32) -> u64 {
        let of_shorter = u64::from(self.shorter) * u64::from(symbols.min(other)) + u64::from(self.constant);
        of_shorter / u64::from(self.divisor) + u64::from(symbols.saturating_sub(other))
    }

    /// Returns whether no intermediate result exceeds 32 bits for sequences of at most `symbols`
    /// symbols.
    pub fn fits(self, symbols: u32) -> bool {
        let of_shorter = u64::from(self.shorter) * u64::from(symbols);
        u64::from(Self::ANY_RATE) * u64::from(symbols) <= u64::from(u32::MAX)
            && of_shorter.saturating_add(u64::from(self.constant)) <= u64::from(u32::MAX)
            && self.unaligned(symbols, symbols) + u64::from(symbols) <= u64::from(u32::MAX)
    }
}

/// The greatest distance of interest.
#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Limit {
    /// No limit.
    #[default]
    None,
    /// An absolute number of edits.
    Distance(u32),
    /// Edits per symbol, rounded down, from 0 to 1. The symbols are those of the pattern, or in
    /// global mode those of the longer sequence.
    Rate(f64),
    /// Edits per symbol of the shorter sequence, and edits per symbol by which the longer one
    /// exceeds it. The sum plus a millionth is rounded down.
    Shorter(f64, f64),
}

/// A symmetric relation that defines which codes are equal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Equality {
    alphabet: Alphabet,
    table: Vec<bool>,
}

impl Equality {
    /// Creates the relation where two codes are equal if they count as a match under a scoring
    /// scheme.
    pub fn from_scoring(scoring: &Scoring) -> Self {
        Equality::from_fn(scoring.alphabet, |a, b| scoring.substitution.is_match(a, b))
    }

    /// Creates the relation where every code equals only itself.
    pub fn literal(alphabet: Alphabet) -> Self {
        Equality::from_fn(alphabet, |a, b| a == b)
    }

    /// Creates the relation of IUPAC codes for DNA under a rule for ambiguous codes. If `n_matches`
    /// is false, N equals nothing.
    pub fn dna(rule: Ambiguity, n_matches: bool) -> Self {
        Equality::from_fn(Alphabet::Dna, |a, b| {
            let by_rule = match rule {
                Ambiguity::Overlap | Ambiguity::Zero => a & b != 0,
                Ambiguity::Mismatch => a == b && a.count_ones() == 1,
                Ambiguity::Mean => a == b,
            };
            by_rule && (n_matches || a != ANY_BASE && b != ANY_BASE)
        })
    }

    /// Creates the table from a symmetric relation of codes other than [`crate::seq::PAD`].
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

    /// Returns the alphabet.
    pub fn alphabet(&self) -> Alphabet {
        self.alphabet
    }

    /// Returns whether two codes are equal.
    #[inline]
    pub fn is_match(&self, a: Code, b: Code) -> bool {
        self.table[a as usize * self.alphabet.size() + b as usize]
    }

    /// Returns the scoring scheme that equals the negative distance: 0 for equal codes, -1 for
    /// others, and a cost of 1 for every gap symbol. The global score of a pair is its negative
    /// distance.
    pub fn scoring(&self) -> Scoring {
        let substitution = Substitution::from_fn(self.alphabet, |a, b| match self.is_match(a, b) {
            true => (0, true),
            false => (-1, false),
        });
        let (gaps, end_gaps) = (Gaps::linear(1), EndGaps::Charged);
        Scoring { alphabet: self.alphabet, substitution, gaps, end_gaps, mode: Mode::Global }
    }

    /// Returns the set of bases A, C, G, T (bits 0 to 3) such that the codes equal to `code` are
    /// exactly the codes equal to any of these bases. Returns `None` if there is no such set. The
    /// alphabet must be DNA.
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

/// The distance problem that is solved for every pair.
#[derive(Debug, Clone, PartialEq)]
pub struct EditScheme {
    /// The part of the text that is compared.
    pub mode: EditMode,
    /// The codes that are equal.
    pub equality: Equality,
    /// The greatest distance of interest.
    pub limit: Limit,
}

impl EditScheme {
    /// Checks the limit.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] for a rate outside of 0 to 1.
    pub fn validate(&self) -> Result<()> {
        match self.limit {
            Limit::Rate(rate) if !(0.0..=1.0).contains(&rate) => {
                Err(Error::usage_value("limit", rate, "rates are from 0 to 1"))
            }
            _ => Ok(()),
        }
    }

    /// Returns the greatest distance of interest for a pattern of m symbols and a text of n
    /// symbols. It is at most `max(m, n)`.
    pub fn limit(&self, m: u32, n: u32) -> u32 {
        let most = m.max(n);
        match self.limit {
            Limit::None => most,
            Limit::Distance(distance) => distance.min(most),
            Limit::Rate(rate) => {
                let whole = if self.mode == EditMode::Global { most } else { m };
                // Users write rates in decimal. The tolerance makes 0.2 times 15 equal 3, although
                // the binary value of 0.2 is rounded.
                ((rate * f64::from(whole) * (1.0 + 1e-12)) as u32).min(most)
            }
            Limit::Shorter(rate, further) => {
                ((rate * f64::from(m.min(n)) + further * f64::from(m.abs_diff(n)) + 1e-6) as u32).min(most)
            }
        }
    }

    /// Returns the result if the pattern or the text is empty, and `None` otherwise.
    pub fn trivial(&self, m: u32, n: u32) -> Option<EditDistance> {
        let result = match self.mode {
            _ if m > 0 && n > 0 => return None,
            EditMode::Global => EditDistance { distance: m.max(n), end: n },
            EditMode::Overlap(_) => EditDistance { distance: 0, end: 0 },
            EditMode::Infix | EditMode::Prefix => EditDistance { distance: m, end: 0 },
        };
        Some(result.within(self.limit(m, n)))
    }
}

/// The distance of a pair, and the end of the best part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, bytemuck::Zeroable)]
#[repr(C)]
pub struct EditDistance {
    /// The least distance, or `u32::MAX` as in [`EditDistance::NONE`] if it is above the limit.
    pub distance: u32,
    /// Number of symbols of the text (or of its region) up to the end of the part with the least
    /// distance. If several parts have it, this is the least such number. It is at least 1 unless
    /// the pattern or the text is empty, because engines do not consider the empty part;
    /// [`EditDistance::first_end`] does. In global mode it is the length of the text, and in
    /// overlap mode 0.
    pub end: u32,
}

impl EditDistance {
    /// The result if no distance is within the limit.
    pub const NONE: EditDistance = EditDistance { distance: u32::MAX, end: 0 };

    /// Returns `self`, or [`EditDistance::NONE`] if the distance is above the limit.
    pub fn within(self, limit: u32) -> EditDistance {
        if self.distance <= limit { self } else { EditDistance::NONE }
    }

    /// Returns the end of the first part with the least distance, including the empty part. The
    /// distance of the empty part is the length of the pattern, `m`, and it ends before all others.
    pub fn first_end(self, mode: EditMode, m: u32) -> u32 {
        let has_parts = matches!(mode, EditMode::Infix | EditMode::Prefix);
        if has_parts && self.distance == m { 0 } else { self.end }
    }

    /// Returns whether the distance is within the limit.
    pub fn is_some(self) -> bool {
        self.distance != u32::MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equality_follows_the_rule_for_ambiguous_codes() {
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
