//! Evolutionary distances from the columns of an alignment.

use super::columns::aligned_ranges;
use crate::alignment::Cigar;
use crate::seq::{Alphabet, Code};

/// The kind of distance between two aligned sequences.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Distance {
    /// 1 - identity, by the chosen definition of identity.
    #[default]
    Identity,
    /// For DNA, Kimura's two-parameter distance (J Mol Evol 16:111, 1980, equation 10) from the
    /// fractions P of transitions and Q of transversions: -1/2 ln((1 - 2P - Q) sqrt(1 - 2Q)). For
    /// proteins, Kimura's 1983 formula (The Neutral Theory of Molecular Evolution, p. 75) from the
    /// fraction p of differing columns: -ln(1 - p - 0.2 p^2).
    Kimura,
    /// -b ln(1 - p/b) from the fraction p of differing columns, with b = 3/4 for DNA and 19/20 for
    /// proteins (Jukes and Cantor 1969).
    JukesCantor,
}

/// The written part of a matrix.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DistanceMatrixShape {
    /// The complete matrix.
    #[default]
    Square,
    /// The half below the diagonal.
    Lower,
}

/// Numbers of columns with two unambiguous residues, by kind of change. Gaps and ambiguous letters
/// are not counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Substitutions {
    /// Columns with the same residue.
    pub same: u64,
    /// For DNA only: columns with A and G, or C and T.
    pub transitions: u64,
    /// Columns with any other change, or in proteins with any change.
    pub transversions: u64,
}

impl Substitutions {
    /// Counts the columns of `cigar`. The residues are compared instead of using the CIGAR's `=`
    /// and `X`, because these depend on the scores of ambiguous letters.
    pub fn count(cigar: &Cigar, query: &[Code], target: &[Code], alphabet: Alphabet) -> Self {
        let mut substitutions = Substitutions::default();
        for (i, j) in aligned_ranges(cigar) {
            for (&a, &b) in query[i].iter().zip(&target[j]) {
                if !alphabet.is_unambiguous(a) || !alphabet.is_unambiguous(b) {
                    continue;
                }
                if a == b {
                    substitutions.same += 1;
                } else if alphabet == Alphabet::Dna && is_transition(a, b) {
                    substitutions.transitions += 1;
                } else {
                    substitutions.transversions += 1;
                }
            }
        }
        substitutions
    }

    /// Returns the distance, or `None` if the formula is undefined because of too many changes
    /// (saturation) or no comparable columns. `identity` is used for [`Distance::Identity`].
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

/// Returns whether the bases are A = 1 and G = 4 (purines), or C = 2 and T = 8 (pyrimidines).
fn is_transition(a: Code, b: Code) -> bool {
    matches!(a | b, 0b0101 | 0b1010)
}

/// Returns -ln(x), which is never negative, or `None` if x is not positive. Rounding may leave
/// 1e-17 where the exact value is 0, which is saturation too.
fn minus_log(x: f64) -> Option<f64> {
    // For 0 and -0, `max` may return either. Adding 0 makes it 0.
    (x > 1e-12).then(|| (-x.ln()).max(0.0) + 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_near(actual: Option<f64>, expected: f64) {
        let actual = actual.expect("a distance");
        assert!((actual - expected).abs() < 1e-9, "{actual} instead of {expected}");
    }

    fn changes(same: u64, transitions: u64, transversions: u64) -> Substitutions {
        Substitutions { same, transitions, transversions }
    }

    #[test]
    fn only_columns_of_two_unambiguous_residues_count() {
        let codes = |letters: &str, alphabet: Alphabet| -> Vec<Code> {
            letters.bytes().map(|letter| alphabet.encode(letter).unwrap()).collect()
        };
        // A-A is the same, A-G and T-C are transitions, A-C and G-T are transversions, N and R are
        // skipped, and gaps follow.
        let dna = |letters| codes(letters, Alphabet::Dna);
        let cigar: Cigar = "1=4X2=2I1D1=".parse().unwrap();
        let actual = Substitutions::count(&cigar, &dna("AATAGNAGGC"), &dna("AGCCTARAC"), Alphabet::Dna);
        assert_eq!(actual, changes(2, 2, 2));
        let protein = |letters| codes(letters, Alphabet::Protein);
        let cigar: Cigar = "1=3X".parse().unwrap();
        let actual = Substitutions::count(&cigar, &protein("WAXB"), &protein("WGWW"), Alphabet::Protein);
        assert_eq!(actual, changes(1, 0, 1));
    }

    #[test]
    fn distances_equal_hand_computed_values() {
        // P = 0.1, Q = 0.05: -1/2 ln(0.75) - 1/4 ln(0.9).
        assert_near(changes(85, 10, 5).distance(Distance::Kimura, Alphabet::Dna, 0.0), 0.143841036 + 0.026340129);
        // p = 0.15: -3/4 ln(0.8).
        assert_near(changes(85, 10, 5).distance(Distance::JukesCantor, Alphabet::Dna, 0.0), 0.167357663);
        // p = 0.19: -19/20 ln(0.8), and -ln(1 - 0.19 - 0.00722).
        assert_near(changes(81, 0, 19).distance(Distance::JukesCantor, Alphabet::Protein, 0.0), 0.211986374);
        assert_near(changes(81, 0, 19).distance(Distance::Kimura, Alphabet::Protein, 0.0), -(0.80278f64.ln()));
        assert_near(changes(81, 0, 19).distance(Distance::Identity, Alphabet::Protein, 0.75), 0.25);
    }

    #[test]
    fn equal_sequences_have_distance_zero() {
        for alphabet in [Alphabet::Dna, Alphabet::Protein] {
            for kind in [Distance::Identity, Distance::Kimura, Distance::JukesCantor] {
                let distance = changes(7, 0, 0).distance(kind, alphabet, 1.0);
                assert_eq!(distance.map(f64::to_bits), Some(0), "{kind:?} {alphabet:?}");
            }
        }
    }

    #[test]
    fn undefined_distances_are_none() {
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
