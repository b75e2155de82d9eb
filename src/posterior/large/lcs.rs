//! Lengths of longest common subsequences, computed 64 symbols at once (Hyyrö 2004), and distances
//! derived from them.

use crate::seq::Code;

/// A sequence that is compared with others.
#[derive(Debug)]
pub(super) struct Pattern {
    length: usize,
    words: usize,
    /// Bit mask of the positions of each code.
    places: Vec<u64>,
}

impl Pattern {
    /// Prepares a sequence whose codes are below `codes`.
    pub(super) fn new(sequence: &[Code], codes: usize) -> Self {
        let words = sequence.len().div_ceil(64);
        let mut places = vec![0; words * codes];
        for (at, &code) in sequence.iter().enumerate() {
            places[usize::from(code) * words + at / 64] |= 1 << (at % 64);
        }
        Pattern { length: sequence.len(), words, places }
    }

    /// Returns the length of the longest common subsequence. `row` is a buffer.
    pub(super) fn common(&self, other: &[Code], row: &mut Vec<u64>) -> usize {
        // A short row stays in registers.
        match self.words {
            0 => 0,
            1 => self.within(other, [u64::MAX; 1]),
            2 => self.within(other, [u64::MAX; 2]),
            3 => self.within(other, [u64::MAX; 3]),
            4 => self.within(other, [u64::MAX; 4]),
            5 => self.within(other, [u64::MAX; 5]),
            6 => self.within(other, [u64::MAX; 6]),
            7 => self.within(other, [u64::MAX; 7]),
            8 => self.within(other, [u64::MAX; 8]),
            _ => {
                row.clear();
                row.resize(self.words, u64::MAX);
                other.iter().for_each(|&code| step(row, &self.places[usize::from(code) * self.words..]));
                zeros(row)
            }
        }
    }

    fn within<const WORDS: usize>(&self, other: &[Code], mut row: [u64; WORDS]) -> usize {
        let (places, _) = self.places.as_chunks::<WORDS>();
        for &code in other {
            step(&mut row, &places[usize::from(code)]);
        }
        zeros(&row)
    }

    /// Returns the distance of two sequences: the number of symbols outside the common subsequence,
    /// divided by its length.
    pub(super) fn distance(&self, other: &[Code], row: &mut Vec<u64>) -> f64 {
        let common = self.common(other, row);
        let apart = self.length + other.len() - 2 * common;
        apart as f64 / (common.max(1) as f64)
    }
}

/// Processes one symbol of the other sequence. `places` is the bit mask of its positions in the
/// pattern.
#[inline(always)]
fn step(row: &mut [u64], places: &[u64]) {
    let mut carry = false;
    for (word, &index) in row.iter_mut().zip(places) {
        let met = *word & index;
        let (sum, first) = word.overflowing_add(met);
        let (sum, second) = sum.overflowing_add(u64::from(carry));
        carry = first | second;
        *word = sum | (*word & !met);
    }
}

/// Returns the number of positions of the pattern in the common subsequence.
fn zeros(row: &[u64]) -> usize {
    row.iter().map(|word| word.count_zeros() as usize).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_subsequence_equals_the_textbook() {
        for seed in 0..200 {
            let mut random = fastrand::Rng::with_seed(seed);
            let letters = random.u8(1..6);
            let (m, n) = (random.usize(0..700), random.usize(0..200));
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
