//! The letters that profiles count, and the probabilities of related letters.

use crate::posterior::model::{self, BASES, BASES_JOINT};
use crate::posterior::tables;
use crate::seq::{Alphabet, Code};

/// Number of iterations for the square root of a matrix. Each one doubles the number of correct
/// digits.
const STEPS: usize = 24;

/// The letters that profiles count: residues or bases.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CountedLetters {
    /// Number of letters.
    pub count: usize,
    /// Background frequency of each letter.
    pub background: Vec<f32>,
    /// Probability of each letter (column) in an ancestor of a letter (row), half way between two
    /// related sequences. With these, two columns with one letter each score like the pair of these
    /// letters.
    pub conditional_root: Vec<f32>,
    /// Letters of each code with their shares, which add up to 1.
    pub of_code: Vec<Vec<(u8, f32)>>,
}

impl CountedLetters {
    /// Returns the letters of an alphabet, or `None` for bytes.
    pub(super) fn new(alphabet: Alphabet) -> Option<Self> {
        let joint: Vec<Vec<f64>> = match alphabet {
            Alphabet::Protein => (0..20).map(|a| (0..20).map(|b| tables::joint(a, b)).collect()).collect(),
            Alphabet::Dna => BASES_JOINT.iter().map(|row| row.to_vec()).collect(),
            Alphabet::Bytes => return None,
        };
        let meanings = if alphabet == Alphabet::Dna { model::bases } else { model::meanings };
        let count = joint.len();
        let frequency: Vec<f64> = match alphabet {
            Alphabet::Dna => BASES.to_vec(),
            _ => joint.iter().map(|row| row.iter().sum()).collect(),
        };
        let shares = |code: usize| {
            let letters = meanings(code as Code);
            let total: f64 = letters.iter().map(|&letter| frequency[letter]).sum();
            letters.iter().map(|&letter| (letter as u8, (frequency[letter] / total) as f32)).collect()
        };
        Some(CountedLetters {
            count,
            conditional_root: conditional_root(&joint, &frequency),
            of_code: (0..alphabet.size()).map(shares).collect(),
            background: frequency.iter().map(|&frequency| frequency as f32).collect(),
        })
    }
}

fn product(a: &[Vec<f64>], b: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let count = a.len();
    let entry = |row: usize, column: usize| (0..count).map(|at| a[row][at] * b[at][column]).sum();
    (0..count).map(|row| (0..count).map(|column| entry(row, column)).collect()).collect()
}

/// Computes the square root of the matrix of conditional probabilities from a symmetric matrix, by
/// Newton's iteration without inverses.
fn conditional_root(joint: &[Vec<f64>], frequency: &[f64]) -> Vec<f32> {
    let count = joint.len();
    let entry = |a: usize, b: usize| joint[a][b] / (frequency[a] * frequency[b]).sqrt();
    let mut root: Vec<Vec<f64>> = (0..count).map(|a| (0..count).map(|b| entry(a, b)).collect()).collect();
    let mut inverse: Vec<Vec<f64>> =
        (0..count).map(|a| (0..count).map(|b| f64::from(u8::from(a == b))).collect()).collect();
    for _ in 0..STEPS {
        let mut step = product(&inverse, &root);
        for (a, row) in step.iter_mut().enumerate() {
            for (b, value) in row.iter_mut().enumerate() {
                *value = (if a == b { 3.0 } else { 0.0 } - *value) / 2.0;
            }
        }
        root = product(&root, &step);
        inverse = product(&step, &inverse);
    }
    let given = |a: usize, b: usize| (root[a][b] * (frequency[b] / frequency[a]).sqrt()).max(0.0);
    let mut conditional_root = Vec::with_capacity(count * count);
    for a in 0..count {
        let sum: f64 = (0..count).map(|b| given(a, b)).sum();
        conditional_root.extend((0..count).map(|b| (given(a, b) / sum) as f32));
    }
    conditional_root
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::posterior::model::Model;

    #[test]
    fn two_half_distances_equal_the_whole() {
        for alphabet in [Alphabet::Protein, Alphabet::Dna] {
            let (letters, model) = (CountedLetters::new(alphabet).unwrap(), Model::new(alphabet).unwrap());
            let code = |letter: u8| alphabet.encode(letter).unwrap();
            for (a, b) in [(b'A', b'A'), (b'A', b'C'), (b'G', b'T'), (b'C', b'C'), (b'N', b'G')] {
                let sum: f32 = (0..letters.count)
                    .map(|x| {
                        let half = |code: Code| -> f32 {
                            let shares = &letters.of_code[usize::from(code)];
                            shares
                                .iter()
                                .map(|&(a, s)| s * letters.conditional_root[usize::from(a) * letters.count + x])
                                .sum()
                        };
                        half(code(a)) * half(code(b)) / letters.background[x]
                    })
                    .sum();
                let odds = model.odds(code(a), code(b));
                assert!((sum / odds - 1.0).abs() < 0.05, "{} {}: {sum} {odds}", a as char, b as char);
            }
        }
        assert!(CountedLetters::new(Alphabet::Bytes).is_none());
    }
}
