//! BIONJ (Gascuel 1997): neighbour joining that weights the distances of joined nodes by their
//! variances.

use rayon::prelude::*;

use super::{Distances, Join, TreeRun, UnrootedTree};
use crate::error::Result;

/// Minimum number of remaining nodes for a search on several threads.
const MIN_PARALLEL_NODES: usize = 512;

/// A symmetric matrix, stored whole.
struct Square {
    size: usize,
    values: Vec<f64>,
}

impl Square {
    fn new(distances: &Distances) -> Self {
        let size = distances.sequences();
        let mut values = vec![0.0; size * size];
        for a in 0..size {
            for (b, &distance) in distances.to_earlier(a).iter().enumerate() {
                values[a * size + b] = distance;
                values[b * size + a] = distance;
            }
        }
        Square { size, values }
    }

    fn row(&self, a: usize) -> &[f64] {
        &self.values[a * self.size..][..self.size]
    }

    fn get(&self, a: usize, b: usize) -> f64 {
        self.values[a * self.size + b]
    }

    fn set(&mut self, a: usize, b: usize, value: f64) {
        self.values[a * self.size + b] = value;
        self.values[b * self.size + a] = value;
    }
}

/// The remaining nodes. Each is stored at the index of its earliest sequence.
struct BionjNodes {
    distances: Square,
    variances: Square,
    /// Indices of the remaining nodes, in increasing order.
    left: Vec<usize>,
    /// Number in the tree of the node at each index.
    number: Vec<u32>,
}

impl BionjNodes {
    fn new(distances: &Distances) -> Self {
        let all = distances.sequences();
        BionjNodes {
            distances: Square::new(distances),
            variances: Square::new(distances),
            left: (0..all).collect(),
            number: (0..all as u32).collect(),
        }
    }

    /// Returns the sum of each remaining node's distances, by index.
    fn sums(&self) -> Vec<f64> {
        let mut sums = vec![0.0; self.distances.size];
        for &at in &self.left {
            let row = self.distances.row(at);
            sums[at] = self.left.iter().map(|&other| row[other]).sum();
        }
        sums
    }

    /// Returns the pair with the least criterion of neighbour joining, the earlier node first. If
    /// several pairs are equal, it is the first.
    fn pair(&self, sums: &[f64]) -> (usize, usize) {
        let others = self.left.len() as f64 - 2.0;
        let least_of = |place: usize| {
            let at = self.left[place];
            let row = self.distances.row(at);
            let mut best = (f64::INFINITY, at, at);
            for &other in &self.left[place + 1..] {
                let criterion = others * row[other] - sums[at] - sums[other];
                if criterion < best.0 {
                    best = (criterion, at, other);
                }
            }
            best
        };
        let places = 0..self.left.len() - 1;
        let least = |a: (f64, usize, usize), b: (f64, usize, usize)| {
            if (b.0, b.1, b.2) < (a.0, a.1, a.2) { b } else { a }
        };
        let none = (f64::INFINITY, self.left[0], self.left[1]);
        let best = match self.left.len() < MIN_PARALLEL_NODES {
            true => places.map(least_of).fold(none, least),
            false => places.into_par_iter().with_min_len(64).map(least_of).reduce(|| none, least),
        };
        (best.1, best.2)
    }

    /// Joins two nodes into one, which gets the index of the earlier one and the number `number`.
    fn join(&mut self, earlier: usize, later: usize, sums: &[f64], number: u32) -> Join {
        let others = self.left.len() as f64 - 2.0;
        let between = self.distances.get(earlier, later);
        let to_earlier = 0.5 * (between + (sums[earlier] - sums[later]) / others);
        let to_later = between - to_earlier;
        let variance = self.variances.get(earlier, later);
        self.left.retain(|&at| at != later);
        let excess: f64 = self
            .left
            .iter()
            .filter(|&&at| at != earlier)
            .map(|&at| self.variances.get(later, at) - self.variances.get(earlier, at))
            .sum();
        // Gascuel 1997, equation 9.
        let share = if variance > 0.0 { (0.5 + excess / (2.0 * others * variance)).clamp(0.0, 1.0) } else { 0.5 };
        for &at in self.left.iter().filter(|&&at| at != earlier) {
            let distance = share * (self.distances.get(earlier, at) - to_earlier)
                + (1.0 - share) * (self.distances.get(later, at) - to_later);
            self.distances.set(earlier, at, distance);
            let joined = share * self.variances.get(earlier, at) + (1.0 - share) * self.variances.get(later, at)
                - share * (1.0 - share) * variance;
            self.variances.set(earlier, at, joined);
        }
        let children = [self.number[earlier], self.number[later]];
        self.number[earlier] = number;
        Join { children, lengths: [to_earlier.max(0.0), to_later.max(0.0)] }
    }

    /// Returns the last three nodes (or fewer) and the lengths of their branches to the centre.
    fn centre(&self) -> Vec<(u32, f64)> {
        let between = |a: usize, b: usize| self.distances.get(a, b);
        match self.left[..] {
            [a, b, c] => [(a, b, c), (b, a, c), (c, a, b)]
                .map(|(a, b, c)| (self.number[a], (0.5 * (between(a, b) + between(a, c) - between(b, c))).max(0.0)))
                .to_vec(),
            [a, b] => vec![(self.number[a], between(a, b) / 2.0), (self.number[b], between(a, b) / 2.0)],
            _ => self.left.iter().map(|&at| (self.number[at], 0.0)).collect(),
        }
    }
}

/// Builds the BIONJ tree of Gascuel (1997, Molecular Biology and Evolution 14:685). Variances are
/// proportional to distances. If several pairs are equally good, the first is joined. Negative
/// lengths of branches become 0. The work is done by `threads`.
pub fn bionj(distances: &Distances, threads: &rayon::ThreadPool) -> UnrootedTree {
    build(distances, TreeRun::new(threads)).expect("nothing interrupts it")
}

/// Builds the tree of [`bionj`].
///
/// # Errors
/// [`Error::Interrupted`](crate::Error::Interrupted).
pub(super) fn build(distances: &Distances, run: TreeRun<'_>) -> Result<UnrootedTree> {
    let leaves = distances.sequences();
    run.threads.install(|| {
        let mut nodes = BionjNodes::new(distances);
        let mut joins = Vec::with_capacity(leaves.saturating_sub(3));
        while nodes.left.len() > 3 {
            run.check()?;
            let sums = nodes.sums();
            let (earlier, later) = nodes.pair(&sums);
            joins.push(nodes.join(earlier, later, &sums, (leaves + joins.len()) as u32));
        }
        Ok(UnrootedTree { leaves, joins, centre: nodes.centre() })
    })
}
