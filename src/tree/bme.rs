//! Balanced minimum evolution: the tree with the least total length of its branches, where
//! subtrees have equal weights (Pauplin 2000; Desper and Gascuel 2002), by subtree pruning and
//! regrafting as in FastME 2 (Lefort, Desper and Gascuel 2015).
//!
//! A matrix contains the balanced mean distance of every pair of subtrees that do not overlap. A
//! pair of different edges stands for the two subtrees that lie beyond them as seen from the other
//! edge. An edge with itself stands for the subtrees on its two sides. The gain of moving a subtree
//! to any edge follows from the matrix in constant time, so that one round over all moves takes
//! quadratic time. A move changes only the entries of subtrees that contain the path of the move.

mod search;
mod topology;

use self::topology::{EdgeId, Topology};
use super::{Distances, TreeRun, UnrootedTree, bionj};
use crate::error::Result;

/// Gains below this fraction of the mean distance are considered rounding errors.
const LEAST_GAIN: f64 = 1e-11;

/// Builds a tree of balanced minimum evolution. The start is the tree of [`bionj`]. Nearest
/// neighbours are exchanged until no exchange shortens the tree. Then subtrees are pruned and
/// regrafted anywhere until no such move shortens it. In each round, the moves with the greatest
/// gains come first; among equal gains it is the move of the earlier edge. The lengths of branches
/// follow Desper and Gascuel (2002), with negative lengths set to 0. The work is done by
/// `threads`. It takes memory for about four times the square of the number of sequences in
/// floating-point numbers of 64 bits.
pub fn balanced_minimum_evolution(distances: &Distances, threads: &rayon::ThreadPool) -> UnrootedTree {
    build(distances, TreeRun::new(threads)).expect("nothing interrupts it")
}

/// Builds the tree of [`balanced_minimum_evolution`].
///
/// # Errors
/// [`Error::Interrupted`](crate::Error::Interrupted).
pub(super) fn build(distances: &Distances, run: TreeRun<'_>) -> Result<UnrootedTree> {
    let start = bionj::build(distances, run)?;
    if start.leaves < 4 {
        return Ok(start);
    }
    run.threads.install(|| {
        let mut tree = BalancedTree::new(Topology::new(&start), distances);
        tree.improve(1, run)?;
        tree.improve(usize::MAX, run)?;
        Ok(tree.topology.unrooted(|edge| tree.length(edge)))
    })
}

/// A tree and the mean distances of its subtrees.
struct BalancedTree {
    topology: Topology,
    /// Balanced mean distances of pairs of edges, as a square matrix.
    means: Vec<f64>,
    /// Gains of at most this are ignored.
    least_gain: f64,
}

impl BalancedTree {
    fn new(topology: Topology, distances: &Distances) -> Self {
        let edges = topology.edge_count();
        let mut tree = BalancedTree { means: vec![0.0; edges * edges], least_gain: 0.0, topology };
        let pairs = distances.pairs().max(1) as f64;
        let sum: f64 = (0..distances.sequences()).flat_map(|a| distances.to_earlier(a)).sum();
        tree.least_gain = LEAST_GAIN * sum / pairs;
        tree.fill(distances);
        tree
    }

    fn mean(&self, a: EdgeId, b: EdgeId) -> f64 {
        self.means[a.index() * self.topology.edge_count() + b.index()]
    }

    fn set(&mut self, a: EdgeId, b: EdgeId, mean: f64) {
        let edges = self.topology.edge_count();
        let (a, b) = (a.index(), b.index());
        self.means[a * edges + b] = mean;
        self.means[b * edges + a] = mean;
    }

    /// Computes all means from the distances of leaves.
    fn fill(&mut self, distances: &Distances) {
        // Edges below the first leaf, each with the edges of its two children, children first.
        let order = self.topology.below(0);
        for leaf in 0..self.topology.leaves() {
            let row = self.topology.edge_of_leaf(leaf);
            for step in self.topology.below(leaf) {
                let mean = match step.beyond {
                    Some([a, b]) => 0.5 * (self.mean(row, a) + self.mean(row, b)),
                    None => distances.get(leaf, step.node),
                };
                self.set(row, step.edge, mean);
            }
        }
        // Number of edges that lie strictly below each edge. They precede it in the order.
        let mut strictly_below = vec![0; self.topology.edge_count()];
        for (at, step) in order.iter().enumerate() {
            let Some([a, b]) = step.beyond else { continue };
            strictly_below[step.edge.index()] = strictly_below[a.index()] + strictly_below[b.index()] + 2;
            let below = at - strictly_below[step.edge.index()]..at;
            for (other, another) in order.iter().enumerate() {
                if !below.contains(&other) {
                    let mean = 0.5 * (self.mean(a, another.edge) + self.mean(b, another.edge));
                    self.set(step.edge, another.edge, mean);
                }
            }
        }
    }

    /// Returns the length of a branch (Desper and Gascuel 2002, equations 3 and 4).
    fn length(&self, edge: EdgeId) -> f64 {
        let ends = self.topology.ends(edge).map(|node| self.topology.others(node, edge));
        match ends {
            [Some([a, b]), Some([c, d])] => {
                let across = self.mean(a, c) + self.mean(a, d) + self.mean(b, c) + self.mean(b, d);
                0.25 * across - 0.5 * (self.mean(a, b) + self.mean(c, d))
            }
            [Some([a, b]), None] | [None, Some([a, b])] => {
                0.5 * (self.mean(edge, a) + self.mean(edge, b) - self.mean(a, b))
            }
            [None, None] => self.mean(edge, edge),
        }
    }
}

#[cfg(test)]
mod tests;
