//! Bootstrap support of trees of aligned sequences, computed as ClustalW 2.1 does.

use std::collections::HashMap;

use rayon::prelude::*;

use super::columns::{ComparedColumns, RowComparison};
use super::{BuiltTree, Join, TreeMethod, TreeRun};
use crate::error::Result;
use crate::host;
use crate::seq::{Alphabet, Code};

/// Parameters of a bootstrap analysis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bootstrap {
    /// Number of resampled alignments.
    pub trials: u32,
    /// Seed of the random numbers.
    pub seed: u32,
    /// Comparison of the alignment's rows.
    pub comparison: RowComparison,
    /// Method that builds the trees.
    pub method: TreeMethod,
}

impl Default for Bootstrap {
    fn default() -> Self {
        Bootstrap { trials: 1000, seed: 111, comparison: RowComparison::default(), method: TreeMethod::default() }
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

impl BuiltTree {
    /// Returns, for each join, the number of trees of resampled alignments that contain the same
    /// split of the sequences, or the same group of sequences if trees have a root. The root itself
    /// has no support.
    ///
    /// # Errors
    /// [`Error::Interrupted`](crate::Error::Interrupted) if `run` is stopped.
    ///
    /// # Panics
    /// Panics if the rows have different lengths, or if their number is not that of the leaves.
    pub fn support(
        &self,
        alphabet: Alphabet,
        rows: &[Vec<Code>],
        bootstrap: Bootstrap,
        run: TreeRun<'_>,
    ) -> Result<Vec<u32>> {
        let (leaves, joins) = self.parts();
        assert_eq!(rows.len(), leaves, "rows of other sequences");
        let columns = ComparedColumns::new(alphabet, rows, bootstrap.comparison);
        let width = columns.width();
        let own_joins: HashMap<Vec<u64>, usize> = self.groups().into_iter().zip(0..).collect();
        let mut random = ClustalRandom::new(bootstrap.seed);
        let mut counts = vec![0; joins.len()];
        let mut left = bootstrap.trials;
        let fitting = host::available().unwrap_or(u64::MAX) / 2 / bootstrap.method.memory(leaves).max(1);
        let at_once = fitting.clamp(1, 64) as u32;
        while left > 0 {
            // Random numbers are drawn in sequence. The trees are built in parallel.
            let some = left.min(at_once);
            left -= some;
            let drawn: Vec<Vec<usize>> = (0..some).map(|_| (0..width).map(|_| random.below(width)).collect()).collect();
            let matching_joins: Vec<Vec<usize>> = run.threads.install(|| {
                let same = |tree: BuiltTree| -> Vec<usize> {
                    tree.groups().iter().filter_map(|group| own_joins.get(group)).copied().collect()
                };
                let count = |drawn: &Vec<usize>| {
                    let (distances, _) = columns.drawn(drawn).distances(run)?;
                    bootstrap.method.build(distances, run).map(same)
                };
                drawn.par_iter().map(count).collect::<Result<_>>()
            })?;
            matching_joins.iter().flatten().for_each(|&join| counts[join] += 1);
        }
        Ok(counts)
    }

    /// Returns the number of leaves, and the joins.
    fn parts(&self) -> (usize, &[Join]) {
        match self {
            BuiltTree::Unrooted(tree) => (tree.leaves, &tree.joins),
            BuiltTree::Rooted(tree) => (tree.leaves, &tree.joins),
        }
    }

    /// Returns sets of leaves, as bits, for the joins. If the tree has a root, they are the leaves
    /// below each join except the root. Otherwise, they are the leaves on the side of the branch
    /// above the join that does not contain the first leaf.
    fn groups(&self) -> Vec<Vec<u64>> {
        let (leaves, joins) = self.parts();
        let words = leaves.div_ceil(64);
        let mut sets: Vec<Vec<u64>> = Vec::with_capacity(joins.len());
        for join in joins {
            let mut set = vec![0; words];
            for child in join.children.map(|child| child as usize) {
                match child.checked_sub(leaves) {
                    None => set[child / 64] |= 1 << (child % 64),
                    Some(below) => set.iter_mut().zip(&sets[below]).for_each(|(word, below)| *word |= below),
                }
            }
            sets.push(set);
        }
        if matches!(self, BuiltTree::Rooted(_)) {
            sets.pop();
            return sets;
        }
        for set in sets.iter_mut().filter(|set| set[0] & 1 == 1) {
            set.iter_mut().for_each(|word| *word = !*word);
            let rest = leaves % 64;
            if let (Some(last), 1..) = (set.last_mut(), rest) {
                *last &= (1 << rest) - 1;
            }
        }
        sets
    }
}

#[cfg(test)]
mod tests;
