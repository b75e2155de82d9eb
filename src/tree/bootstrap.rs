//! Bootstrap support of trees of aligned sequences, computed as ClustalW 2.1 does.

use std::collections::HashMap;

use rayon::prelude::*;

use super::columns::{ComparedColumns, RowComparison};
use super::{UnrootedTree, neighbour_joining};
use crate::seq::{Alphabet, Code};

/// Parameters of a bootstrap analysis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bootstrap {
    /// Number of resampled alignments.
    pub trials: u32,
    /// Seed of the random numbers.
    pub seed: u32,
    /// Comparison of the alignment's rows.
    pub comparison: RowComparison,
}

impl Default for Bootstrap {
    fn default() -> Self {
        Bootstrap { trials: 1000, seed: 111, comparison: RowComparison::default() }
    }
}

/// ClustalW's random number generator: each number is the sum of two of the last 55 numbers, modulo
/// 10^8.
struct ClustalRandom {
    last: [u64; 55],
    at: usize,
}

/// Powers of ten with eight and four zeros.
const TEN_TO_8: u64 = 100_000_000;
const TEN_TO_4: u64 = 10_000;

impl ClustalRandom {
    fn new(seed: u32) -> Self {
        let mut last = [u64::from(seed); 55];
        for at in 1..55 {
            last[at] = (31 * last[at - 1] % TEN_TO_8 + 1) % TEN_TO_8;
        }
        ClustalRandom { last, at: 54 }
    }

    /// Returns a number less than `limit`, which is less than 2^32.
    fn below(&mut self, limit: usize) -> usize {
        self.at = (self.at + 1) % 55;
        let index = |steps: usize| (self.at + steps) % 55;
        self.last[self.at] = (self.last[index(23)] + self.last[index(54)]) % TEN_TO_8;
        (self.last[self.at] / TEN_TO_4 * limit as u64 / TEN_TO_4) as usize
    }
}

impl UnrootedTree {
    /// Returns, for each join, the number of trees of resampled alignments that contain the same
    /// split of the sequences.
    ///
    /// # Panics
    /// Panics if the rows have different lengths, or if their number is not `leaves`.
    pub fn support(
        &self,
        alphabet: Alphabet,
        rows: &[Vec<Code>],
        bootstrap: Bootstrap,
        threads: &rayon::ThreadPool,
    ) -> Vec<u32> {
        assert_eq!(rows.len(), self.leaves, "rows of other sequences");
        let columns = ComparedColumns::new(alphabet, rows, bootstrap.comparison);
        let width = columns.width();
        let own_joins: HashMap<Vec<u64>, usize> = self.splits().into_iter().zip(0..).collect();
        let mut random = ClustalRandom::new(bootstrap.seed);
        let mut counts = vec![0; self.joins.len()];
        let mut left = bootstrap.trials;
        while left > 0 {
            // Random numbers are drawn in sequence. The trees are built in parallel.
            let some = left.min(64);
            left -= some;
            let drawn: Vec<Vec<usize>> = (0..some).map(|_| (0..width).map(|_| random.below(width)).collect()).collect();
            let matching_joins: Vec<Vec<usize>> = threads.install(|| {
                let same = |tree: UnrootedTree| {
                    tree.splits().iter().filter_map(|split| own_joins.get(split)).copied().collect()
                };
                drawn
                    .par_iter()
                    .map(|drawn| same(neighbour_joining(columns.drawn(drawn).distances(threads).0, threads)))
                    .collect()
            });
            matching_joins.iter().flatten().for_each(|&join| counts[join] += 1);
        }
        counts
    }

    /// Returns the leaves on one side of the branch above each join, as bit sets. It is the side
    /// without the first leaf.
    fn splits(&self) -> Vec<Vec<u64>> {
        let words = self.leaves.div_ceil(64);
        let mut sets: Vec<Vec<u64>> = Vec::with_capacity(self.joins.len());
        for join in &self.joins {
            let mut set = vec![0; words];
            for child in join.children.map(|child| child as usize) {
                match child.checked_sub(self.leaves) {
                    None => set[child / 64] |= 1 << (child % 64),
                    Some(below) => set.iter_mut().zip(&sets[below]).for_each(|(word, below)| *word |= below),
                }
            }
            sets.push(set);
        }
        for set in sets.iter_mut().filter(|set| set[0] & 1 == 1) {
            set.iter_mut().for_each(|word| *word = !*word);
            let rest = self.leaves % 64;
            if let (Some(last), 1..) = (set.last_mut(), rest) {
                *last &= (1 << rest) - 1;
            }
        }
        sets
    }
}

#[cfg(test)]
mod tests;
