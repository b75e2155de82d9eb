//! Evolutionary distances from the columns of an alignment.

use super::columns::aligned_ranges;
use crate::alignment::Cigar;
use crate::seq::{Alphabet, Code};

/// How far apart two aligned sequences are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Distance {
    /// 1 - identity, by whichever definition of identity is in use.
    #[default]
    Identity,
    /// DNA: Kimura's two-parameter distance (J Mol Evol 16:111, 1980, equation 10), from the fractions P of
    /// transitions and Q of transversions: -1/2 ln((1 - 2P - Q) sqrt(1 - 2Q)). Proteins: Kimura's 1983 formula (The
    /// Neutral Theory of Molecular Evolution, p. 75) from the fraction p that differs: -ln(1 - p - 0.2 p^2).
    Kimura,
    /// -b ln(1 - p/b) from the fraction p that differs, b = 3/4 for DNA and 19/20 for proteins (Jukes and Cantor 1969).
    JukesCantor,
}

/// Columns of two unambiguous residues, by what happened to them. Gaps and ambiguous letters are left out of all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Substitutions {
    /// The same residue.
    pub same: u64,
    /// DNA only: A against G or C against T.
    pub transitions: u64,
    /// Every other change; in proteins every change.
    pub transversions: u64,
}

impl Substitutions {
    /// Counts the columns of `cigar`. The residues are compared, not the CIGAR's `=` and `X`: these depend on how
    /// ambiguous letters are scored.
    pub fn count(cigar: &Cigar, query: &[Code], target: &[Code], alphabet: Alphabet) -> Self {
        let mut found = Substitutions::default();
        for (i, j) in aligned_ranges(cigar) {
            for (&a, &b) in query[i].iter().zip(&target[j]) {
                if !alphabet.is_unambiguous(a) || !alphabet.is_unambiguous(b) {
                    continue;
                }
                if a == b {
                    found.same += 1;
                } else if alphabet == Alphabet::Dna && is_transition(a, b) {
                    found.transitions += 1;
                } else {
                    found.transversions += 1;
                }
            }
        }
        found
    }

    /// The distance, or `None` where the formula has none: too many changes (saturation), or no column to compare.
    /// `identity` is what [`Distance::Identity`] takes.
    pub fn distance(&self, kind: Distance, alphabet: Alphabet, identity: f64) -> Option<f64> {
        if kind == Distance::Identity {
            return Some(1.0 - identity);
        }
        let compared = self.same + self.transitions + self.transversions;
        if compared == 0 {
            return None;
        }
        let compared = compared as f64;
        let transitions = self.transitions as f64 / compared;
        let transversions = self.transversions as f64 / compared;
        let differing = (self.transitions + self.transversions) as f64 / compared;
        match (kind, alphabet) {
            (Distance::Kimura, Alphabet::Dna) => {
                let first = minus_log(1.0 - 2.0 * transitions - transversions)?;
                let second = minus_log(1.0 - 2.0 * transversions)?;
                Some(0.5 * first + 0.25 * second)
            }
            (Distance::Kimura, Alphabet::Protein) => minus_log(1.0 - differing - 0.2 * differing * differing),
            (_, alphabet) => {
                let b = if alphabet == Alphabet::Dna { 3.0 / 4.0 } else { 19.0 / 20.0 };
                minus_log(1.0 - differing / b).map(|log| b * log)
            }
        }
    }
}

/// A = 1 and G = 4, or C = 2 and T = 8: the purines, the pyrimidines.
fn is_transition(a: Code, b: Code) -> bool {
    matches!(a | b, 0b0101 | 0b1010)
}

/// -ln(x), never negative; `None` unless x is positive. Rounding can leave 1e-17 where the exact value is 0, which is
/// saturation too.
fn minus_log(x: f64) -> Option<f64> {
    // Of 0 and -0 `max` may give either: adding 0 makes it 0.
    (x > 1e-12).then(|| (-x.ln()).max(0.0) + 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: Option<f64>, expected: f64) {
        let found = found.expect("a distance");
        assert!((found - expected).abs() < 1e-9, "{found} instead of {expected}");
    }

    fn changes(same: u64, transitions: u64, transversions: u64) -> Substitutions {
        Substitutions { same, transitions, transversions }
    }

    #[test]
    fn only_columns_of_two_plain_residues_count() {
        let codes = |letters: &str, alphabet: Alphabet| -> Vec<Code> {
            letters.bytes().map(|letter| alphabet.encode(letter).unwrap()).collect()
        };
        // A-A same, A-G and T-C transitions, A-C and G-T transversions, N and R left out, then gaps.
        let dna = |letters| codes(letters, Alphabet::Dna);
        let cigar: Cigar = "1=4X2=2I1D1=".parse().unwrap();
        let found = Substitutions::count(&cigar, &dna("AATAGNAGGC"), &dna("AGCCTARAC"), Alphabet::Dna);
        assert_eq!(found, changes(2, 2, 2));
        let protein = |letters| codes(letters, Alphabet::Protein);
        let cigar: Cigar = "1=3X".parse().unwrap();
        let found = Substitutions::count(&cigar, &protein("WAXB"), &protein("WGWW"), Alphabet::Protein);
        assert_eq!(found, changes(1, 0, 1));
    }

    #[test]
    fn values_worked_out_by_hand() {
        // P = 0.1, Q = 0.05: -1/2 ln(0.75) - 1/4 ln(0.9).
        near(changes(85, 10, 5).distance(Distance::Kimura, Alphabet::Dna, 0.0), 0.143841036 + 0.026340129);
        // p = 0.15: -3/4 ln(0.8).
        near(changes(85, 10, 5).distance(Distance::JukesCantor, Alphabet::Dna, 0.0), 0.167357663);
        // p = 0.19: -19/20 ln(0.8), and -ln(1 - 0.19 - 0.00722).
        near(changes(81, 0, 19).distance(Distance::JukesCantor, Alphabet::Protein, 0.0), 0.211986374);
        near(changes(81, 0, 19).distance(Distance::Kimura, Alphabet::Protein, 0.0), -(0.80278f64.ln()));
        near(changes(81, 0, 19).distance(Distance::Identity, Alphabet::Protein, 0.75), 0.25);
    }

    #[test]
    fn equal_sequences_are_at_exactly_zero() {
        for alphabet in [Alphabet::Dna, Alphabet::Protein] {
            for kind in [Distance::Identity, Distance::Kimura, Distance::JukesCantor] {
                let distance = changes(7, 0, 0).distance(kind, alphabet, 1.0);
                assert_eq!(distance.map(f64::to_bits), Some(0), "{kind:?} {alphabet:?}");
            }
        }
    }

    #[test]
    fn saturation_and_nothing_to_compare_have_no_distance() {
        for kind in [Distance::Kimura, Distance::JukesCantor] {
            assert_eq!(changes(0, 0, 0).distance(kind, Alphabet::Dna, 0.0), None);
            assert_eq!(changes(1, 0, 30).distance(kind, Alphabet::Dna, 0.0), None);
            assert_eq!(changes(1, 0, 30).distance(kind, Alphabet::Protein, 0.0), None);
        }
        // Exactly at the limit: p = 3/4, Q = 1/2.
        assert_eq!(changes(1, 1, 2).distance(Distance::JukesCantor, Alphabet::Dna, 0.0), None);
        assert_eq!(changes(1, 0, 1).distance(Distance::Kimura, Alphabet::Dna, 0.0), None);
    }
}
