//! Trees of aligned sequences, and how often columns drawn anew make the same groups: as ClustalW 2.1 does both.

use std::collections::HashMap;

use rayon::prelude::*;

use super::{Distances, UnrootedTree, neighbour_joining};
use crate::seq::{Alphabet, Code, PAD};

/// How trees of an alignment are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bootstrap {
    /// How often columns are drawn.
    pub trials: u32,
    /// What the random numbers begin with.
    pub seed: u32,
    /// Leave out every column in which any sequence has a gap.
    pub without_gaps: bool,
}

impl Default for Bootstrap {
    fn default() -> Self {
        Bootstrap { trials: 1000, seed: 111, without_gaps: false }
    }
}

/// Numbers as ClustalW draws them: each is the sum of the one before it and the 24th one of the last 55, to eight digits.
struct Random {
    last: [u64; 55],
    at: usize,
}

/// Eight digits and four.
const EIGHT: u64 = 100_000_000;
const FOUR: u64 = 10_000;

impl Random {
    fn new(seed: u32) -> Self {
        let mut last = [u64::from(seed); 55];
        for at in 1..55 {
            last[at] = (31 * last[at - 1] % EIGHT + 1) % EIGHT;
        }
        Random { last, at: 54 }
    }

    /// A number less than `limit`, which is less than 2^32.
    fn below(&mut self, limit: usize) -> usize {
        self.at = (self.at + 1) % 55;
        let place = |steps: usize| (self.at + steps) % 55;
        self.last[self.at] = (self.last[place(23)] + self.last[place(54)]) % EIGHT;
        (self.last[self.at] / FOUR * limit as u64 / FOUR) as usize
    }
}

/// Rows of an alignment: residues of which nothing is compared are gaps.
struct Columns<'a> {
    rows: Vec<Vec<Code>>,
    /// Columns that count at all.
    whole: Vec<bool>,
    threads: &'a rayon::ThreadPool,
}

impl<'a> Columns<'a> {
    fn new(alphabet: Alphabet, rows: &[Vec<Code>], without_gaps: bool, threads: &'a rayon::ThreadPool) -> Self {
        let width = rows.first().map_or(0, Vec::len);
        assert!(rows.iter().all(|row| row.len() == width), "rows of different lengths");
        let is_whole = |column: usize| !without_gaps || rows.iter().all(|row| row[column] != PAD);
        let whole = (0..width).map(is_whole).collect();
        // A base that may be several counts as none.
        let clear = |&code: &Code| if alphabet == Alphabet::Dna && code.count_ones() != 1 { PAD } else { code };
        Columns { rows: rows.iter().map(|row| row.iter().map(clear).collect()).collect(), whole, threads }
    }

    /// The tree of some columns.
    fn tree(&self, columns: &[usize]) -> UnrootedTree {
        let columns: Vec<usize> = columns.iter().copied().filter(|&column| self.whole[column]).collect();
        let rows: Vec<Vec<Code>> =
            self.rows.iter().map(|row| columns.iter().map(|&column| row[column]).collect()).collect();
        let mut distances = Distances::new(rows.len());
        for (a, first) in rows.iter().enumerate() {
            (0..a).for_each(|b| distances.set(a, b, differing(first, &rows[b])));
        }
        neighbour_joining(distances, self.threads)
    }
}

/// The part of columns in which two rows differ, of those in which both have a residue; 0 if there are none.
fn differing(a: &[Code], b: &[Code]) -> f64 {
    let (mut differ, mut both) = (0u64, 0u64);
    // Few enough that a byte holds each count.
    for (a, b) in a.chunks(255).zip(b.chunks(255)) {
        let (mut differ_here, mut both_here) = (0u8, 0u8);
        for (&a, &b) in a.iter().zip(b) {
            let is_pair = u8::from(a != PAD) & u8::from(b != PAD);
            both_here += is_pair;
            differ_here += is_pair & u8::from(a != b);
        }
        differ += u64::from(differ_here);
        both += u64::from(both_here);
    }
    if differ == 0 { 0.0 } else { differ as f64 / both as f64 }
}

impl UnrootedTree {
    /// The tree of aligned sequences: neighbour joining of the parts in which they differ. Rows have codes, and [`PAD`] where a
    /// gap is; `threads` do the work.
    ///
    /// # Panics
    /// If rows have different lengths.
    pub fn of_rows(alphabet: Alphabet, rows: &[Vec<Code>], without_gaps: bool, threads: &rayon::ThreadPool) -> Self {
        let columns = Columns::new(alphabet, rows, without_gaps, threads);
        columns.tree(&(0..columns.whole.len()).collect::<Vec<usize>>())
    }

    /// How many trees of columns drawn anew part the sequences as each join does: of every join, in their order.
    ///
    /// # Panics
    /// If rows have different lengths, or are not those of the tree's leaves.
    pub fn support(
        &self,
        alphabet: Alphabet,
        rows: &[Vec<Code>],
        bootstrap: Bootstrap,
        threads: &rayon::ThreadPool,
    ) -> Vec<u32> {
        assert_eq!(rows.len(), self.leaves, "rows of other sequences");
        let columns = Columns::new(alphabet, rows, bootstrap.without_gaps, threads);
        let width = columns.whole.len();
        let own: HashMap<Vec<u64>, usize> = self.splits().into_iter().zip(0..).collect();
        let mut random = Random::new(bootstrap.seed);
        let mut counts = vec![0; self.joins.len()];
        let mut left = bootstrap.trials;
        while left > 0 {
            // The numbers follow one another; what is made of them does not.
            let some = left.min(64);
            left -= some;
            let drawn: Vec<Vec<usize>> = (0..some).map(|_| (0..width).map(|_| random.below(width)).collect()).collect();
            let found: Vec<Vec<usize>> = threads.install(|| {
                let same =
                    |tree: UnrootedTree| tree.splits().iter().filter_map(|split| own.get(split)).copied().collect();
                drawn.par_iter().map(|drawn| same(columns.tree(drawn))).collect()
            });
            found.iter().flatten().for_each(|&join| counts[join] += 1);
        }
        counts
    }

    /// The leaves on one side of the branch above each join: of both sides that without the first leaf.
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
