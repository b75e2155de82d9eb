//! Neighbour joining (Saitou and Nei 1987), with the same floating-point sums and comparisons as
//! ClustalW 2.1.
//!
//! A node is stored at the index of its earliest sequence. The sum of a node's distances is kept in
//! two parts, to earlier and to later nodes, and updated at each join: first the removed distances
//! are subtracted, then the new one is added. This order determines the rounding of the sums, and
//! the sums determine ties.

mod search;

use rayon::prelude::*;

use self::search::JoinSearch;
use super::{Distances, Join, TreeRun, UnrootedTree};
use crate::error::Result;

/// Branches with a shorter absolute length are set to 0.
const SHORTEST: f64 = 0.0001;

/// The remaining nodes, with their distances and sums.
struct Nodes {
    distances: Distances,
    /// Indices of the remaining nodes, in increasing order.
    left: Vec<u32>,
    /// Sum of the distances to earlier and to later nodes, for each index.
    to_earlier: Vec<f64>,
    to_later: Vec<f64>,
    /// Number in the tree of the node at each index.
    number: Vec<u32>,
    /// Height of the node at each index above its sequences.
    height: Vec<f64>,
}

/// Values that are the same for all pairs of one step.
#[derive(Clone, Copy)]
struct Scale {
    /// Number of remaining nodes, minus two.
    others: f64,
    /// Twice the sum of all distances.
    twice: f64,
}

impl Scale {
    /// Returns the length of the whole tree after joining two nodes, times a constant. `distance`
    /// is their distance, and `earlier` and `later` are their sums. Rounding is monotonic, so the
    /// result never decreases when the distance grows, and never increases when a sum grows.
    fn total(self, distance: f64, earlier: f64, later: f64) -> f64 {
        self.others * distance + self.twice - earlier - later
    }

    /// Returns the upper limit of totals. Only smaller totals are candidates.
    fn max_total(self) -> f64 {
        99_999.0 * 2.0 * self.others
    }
}

impl Nodes {
    fn new(distances: Distances) -> Self {
        let all = distances.sequences();
        let to_earlier =
            (0..all).map(|at| distances.to_earlier(at).iter().fold(0.0, |sum, other| sum + other)).collect();
        // Adds every sum from the first distance to the last.
        let mut to_later = vec![0.0; all];
        for at in 0..all {
            to_later.iter_mut().zip(distances.to_earlier(at)).for_each(|(sum, distance)| *sum += distance);
        }
        let left = (0..all as u32).collect();
        Nodes { to_earlier, to_later, left, number: (0..all as u32).collect(), height: vec![0.0; all], distances }
    }

    fn sum(&self, at: usize) -> f64 {
        self.to_later[at] + self.to_earlier[at]
    }

    fn scale(&self) -> Scale {
        let sum = self.left.iter().fold(0.0, |sum, &at| sum + self.to_later[at as usize]);
        Scale { others: self.left.len() as f64 - 2.0, twice: 2.0 * sum }
    }

    /// Joins two nodes into one, which gets the index of the earlier one and the number `number`.
    fn join(&mut self, earlier: usize, later: usize, number: u32) -> Join {
        let others = self.left.len() as f64 - 2.0;
        let between = self.distances.get(earlier, later);
        let mean = |at: usize| (self.sum(at) - between) / others;
        let (first, second) = (mean(earlier), mean(later));
        let to_earlier = (between + first - second) * 0.5;
        let to_later = between - to_earlier;
        let lengths = [branch(to_earlier - self.height[earlier]), branch(to_later - self.height[later])];
        let join = Join { children: [self.number[earlier], self.number[later]], lengths };
        // The height of a node is positive even if its sequences are identical.
        let between = if between <= 0.0 { 0.000_001 } else { between };
        self.height[earlier] = between * 0.5;
        self.number[earlier] = number;
        self.left.retain(|&at| at as usize != later);
        self.replace(earlier, later);
        join
    }

    /// Returns the distances of all remaining nodes to two nodes.
    fn to_both(&self, earlier: usize, later: usize) -> Vec<(f64, f64)> {
        let both = |&at: &u32| (self.distances.get(at as usize, earlier), self.distances.get(at as usize, later));
        // Most of these distances lie far apart in memory, and threads hide the latency.
        match self.left.len() < search::MIN_PARALLEL_NODES {
            true => self.left.iter().map(both).collect(),
            false => self.left.par_iter().with_min_len(search::MIN_PARALLEL_NODES / 4).map(both).collect(),
        }
    }

    /// Updates the sums and distances after two nodes became one.
    fn replace(&mut self, earlier: usize, later: usize) {
        let mut before = 0.0;
        let mut after = 0.0;
        let to_both = self.to_both(earlier, later);
        for (&at, (to_earlier, to_later)) in self.left.iter().zip(to_both) {
            let at = at as usize;
            if at == earlier {
                continue;
            }
            let new = (to_later + to_earlier) * 0.5;
            match at < later {
                true => self.to_later[at] -= to_later,
                false => self.to_earlier[at] -= to_later,
            }
            match at < earlier {
                true => {
                    self.to_later[at] = self.to_later[at] - to_earlier + new;
                    before += new;
                }
                false => {
                    self.to_earlier[at] = self.to_earlier[at] - to_earlier + new;
                    after += new;
                }
            }
            self.distances.set(at, earlier, new);
        }
        self.to_earlier[earlier] = before;
        self.to_later[earlier] = after;
    }

    /// Returns the last three nodes (or fewer) and the lengths of their branches to the centre.
    fn centre(&self) -> Vec<(u32, f64)> {
        let between = |a: u32, b: u32| self.distances.get(a as usize, b as usize);
        let end = |at: u32, length: f64| (self.number[at as usize], branch(length - self.height[at as usize]));
        match self.left[..] {
            [a, b, c] => {
                let first = (between(a, b) + between(a, c) - between(b, c)) * 0.5;
                vec![end(a, first), end(b, between(a, b) - first), end(c, between(a, c) - first)]
            }
            [a, b] => vec![(a, between(a, b) / 2.0), (b, between(a, b) / 2.0)],
            _ => self.left.iter().map(|&at| (at, 0.0)).collect(),
        }
    }
}

fn branch(length: f64) -> f64 {
    if length.abs() < SHORTEST { 0.0 } else { length }
}

/// Builds the neighbour-joining tree, with exactly the same numbers as ClustalW. The work is done
/// by `threads`.
pub fn neighbour_joining(distances: Distances, threads: &rayon::ThreadPool) -> UnrootedTree {
    build(distances, TreeRun::new(threads)).expect("nothing interrupts it")
}

/// Builds the tree of [`neighbour_joining`].
///
/// # Errors
/// [`Error::Interrupted`](crate::Error::Interrupted).
pub(super) fn build(distances: Distances, run: TreeRun<'_>) -> Result<UnrootedTree> {
    let leaves = distances.sequences();
    run.threads.install(|| {
        let mut nodes = Nodes::new(distances);
        let mut joins = Vec::with_capacity(leaves.saturating_sub(3));
        let mut search = JoinSearch::new(&nodes);
        while nodes.left.len() > 3 {
            run.check()?;
            let (earlier, later) = search.closest_pair(&nodes);
            joins.push(nodes.join(earlier, later, (leaves + joins.len()) as u32));
            search.update_after_join(&nodes, earlier, later);
        }
        Ok(UnrootedTree { leaves, joins, centre: nodes.centre() })
    })
}

#[cfg(test)]
mod tests;
