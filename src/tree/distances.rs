//! Distances between sequences.

use rayon::prelude::*;

use super::TreeRun;

/// Distances between all pairs of sequences, each pair stored once.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Distances {
    sequences: usize,
    lower: Vec<f64>,
}

/// Pairs whose distances are unreliable.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UnreliablePairs {
    /// Number of pairs that are too distant for the correction.
    pub far: usize,
    /// Number of pairs without a column where both have a residue. Their distance is 0, as in
    /// ClustalW, or the mean of the other distances under a model of substitution.
    pub apart: usize,
    /// The first of the pairs that `apart` counts, with the earlier row first.
    pub first_apart: Option<[usize; 2]>,
}

impl Distances {
    /// Creates a matrix of zeros for this number of sequences.
    pub fn new(sequences: usize) -> Self {
        Distances { sequences, lower: vec![0.0; sequences * sequences.saturating_sub(1) / 2] }
    }

    /// Creates a matrix from `fill`, which is called with every sequence and a slice for its
    /// distances to the sequences before it. The work is done by `threads`.
    pub fn filled(sequences: usize, threads: &rayon::ThreadPool, fill: impl Fn(usize, &mut [f64]) + Sync) -> Self {
        Self::filled_in(sequences, TreeRun::new(threads), fill)
    }

    /// Fills the rows like [`Distances::filled`]. Once `run` is stopped, rows keep the distance 0.
    pub(super) fn filled_in(sequences: usize, run: TreeRun<'_>, fill: impl Fn(usize, &mut [f64]) + Sync) -> Self {
        let mut distances = Distances::new(sequences);
        let mut rest = &mut distances.lower[..];
        let mut rows = Vec::with_capacity(sequences);
        for sequence in 0..sequences {
            let (row, after) = rest.split_at_mut(sequence);
            rows.push(row);
            rest = after;
        }
        // The longest rows are processed first, so that no thread starts a long row when the others
        // have finished.
        run.threads.install(|| {
            rows.into_par_iter().enumerate().rev().with_max_len(16).for_each(|(sequence, row)| {
                if !run.is_stopped() {
                    fill(sequence, row);
                }
            });
        });
        distances
    }

    fn index(a: usize, b: usize) -> usize {
        let (low, high) = (a.min(b), a.max(b));
        high * (high - 1) / 2 + low
    }

    /// Returns the number of sequences.
    pub fn sequences(&self) -> usize {
        self.sequences
    }

    /// Returns the number of pairs.
    pub fn pairs(&self) -> u64 {
        self.lower.len() as u64
    }

    /// Returns the distances of a sequence to the sequences before it.
    pub(super) fn to_earlier(&self, sequence: usize) -> &[f64] {
        let start = sequence * sequence.saturating_sub(1) / 2;
        &self.lower[start..start + sequence]
    }

    /// Returns the distance of two sequences. The distance of a sequence to itself is 0.
    ///
    /// # Panics
    /// Panics if there is no such sequence.
    pub fn get(&self, a: usize, b: usize) -> f64 {
        assert!(a.max(b) < self.sequences, "{a} and {b} of {}", self.sequences);
        if a == b { 0.0 } else { self.lower[Self::index(a, b)] }
    }

    /// Sets the distance of two sequences.
    ///
    /// # Panics
    /// Panics if both are the same, or if there is no such sequence.
    pub fn set(&mut self, a: usize, b: usize, distance: f64) {
        assert!(a != b && a.max(b) < self.sequences, "{a} and {b} of {}", self.sequences);
        self.lower[Self::index(a, b)] = distance;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_pair_is_stored_once() {
        let mut distances = Distances::new(4);
        let pairs = [(0, 1), (2, 0), (0, 3), (1, 2), (3, 1), (2, 3)];
        for (value, &(a, b)) in (1..).zip(&pairs) {
            distances.set(a, b, f64::from(value));
        }
        for (value, &(a, b)) in (1..).zip(&pairs) {
            assert_eq!((distances.get(a, b), distances.get(b, a)), (f64::from(value), f64::from(value)));
        }
        assert_eq!((distances.get(2, 2), distances.sequences()), (0.0, 4));
    }

    #[test]
    fn rows_are_filled_at_their_index() {
        let threads = crate::tree::tests::threads();
        let value = |a: usize, b: usize| (a * 1000 + b) as f64;
        let filled = Distances::filled(60, &threads, |a, row| (0..a).for_each(|b| row[b] = value(a, b)));
        let mut expected = Distances::new(60);
        (1..60).for_each(|a| (0..a).for_each(|b| expected.set(a, b, value(a, b))));
        assert_eq!(filled, expected);
        assert_eq!(Distances::filled(0, &threads, |_, _| panic!("no row")).sequences(), 0);
    }
}
