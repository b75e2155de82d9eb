//! Longest common subsequences, sixty-four symbols at once (Hyyrö 2004), and distances by them.

use crate::seq::Code;

/// A sequence that others are compared with.
#[derive(Debug)]
pub(super) struct Pattern {
    length: usize,
    words: usize,
    /// Of each code the places where it stands, a bit each.
    places: Vec<u64>,
}

impl Pattern {
    /// A sequence of codes below `codes`.
    pub(super) fn new(sequence: &[Code], codes: usize) -> Self {
        let words = sequence.len().div_ceil(64);
        let mut places = vec![0; words * codes];
        for (at, &code) in sequence.iter().enumerate() {
            places[usize::from(code) * words + at / 64] |= 1 << (at % 64);
        }
        Pattern { length: sequence.len(), words, places }
    }

    /// How many symbols stand in both sequences in the same order, at most. `row` is room to work in.
    pub(super) fn common(&self, other: &[Code], row: &mut Vec<u64>) -> usize {
        row.clear();
        row.resize(self.words, u64::MAX);
        for &code in other {
            let places = &self.places[usize::from(code) * self.words..][..self.words];
            let mut carry = false;
            for (word, &place) in row.iter_mut().zip(places) {
                let met = *word & place;
                let (sum, first) = word.overflowing_add(met);
                let (sum, second) = sum.overflowing_add(u64::from(carry));
                carry = first | second;
                *word = sum | (*word & !met);
            }
        }
        let open: u32 = row.iter().map(|word| word.count_zeros()).sum();
        // Bits past the end stay set, but for those that a carry went through.
        open as usize
    }

    /// How far the sequences are from each other: symbols in one of them only, for each common one.
    pub(super) fn distance(&self, other: &[Code], row: &mut Vec<u64>) -> f64 {
        let common = self.common(other, row);
        let apart = self.length + other.len() - 2 * common;
        apart as f64 / (common.max(1) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_textbooks() {
        for seed in 0..200 {
            let mut random = fastrand::Rng::with_seed(seed);
            let letters = random.u8(1..6);
            let (m, n) = (random.usize(0..200), random.usize(0..200));
            let a: Vec<Code> = (0..m).map(|_| random.u8(0..letters)).collect();
            let b: Vec<Code> = (0..n).map(|_| random.u8(0..letters)).collect();
            let mut table = vec![vec![0; n + 1]; m + 1];
            for i in 0..m {
                for j in 0..n {
                    table[i + 1][j + 1] =
                        if a[i] == b[j] { table[i][j] + 1 } else { table[i][j + 1].max(table[i + 1][j]) };
                }
            }
            let pattern = Pattern::new(&a, 8);
            assert_eq!(pattern.common(&b, &mut Vec::new()), table[m][n], "seed {seed}");
            let expected = (m + n - 2 * table[m][n]) as f64 / table[m][n].max(1) as f64;
            assert_eq!(pattern.distance(&b, &mut vec![7; 3]), expected, "seed {seed}");
        }
    }
}
