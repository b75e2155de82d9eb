//! Neighbour joining (Saitou and Nei 1987), bit by bit as ClustalW 2.1 sums and compares.
//!
//! Nodes stand at the place of their earliest sequence. Sums of distances are kept in two parts, to earlier places and to later
//! ones, and changed at each join by what goes and what comes, in this order: floating-point sums depend on it, ties on the sums.

mod search;

use rayon::prelude::*;

use self::search::Search;
use super::{Distances, Join, UnrootedTree};

/// Branches nearer to 0 than this are 0.
const SHORTEST: f64 = 0.0001;

/// The nodes that are left, and what is known of them.
struct Nodes {
    distances: Distances,
    /// Places that hold a node, rising.
    left: Vec<u32>,
    /// At each place the sum of the distances to earlier places, and to later ones.
    to_earlier: Vec<f64>,
    to_later: Vec<f64>,
    /// The node at each place, by its number in the tree.
    number: Vec<u32>,
    /// How far its sequences are below it.
    height: Vec<f64>,
}

/// What every pair of one step is measured with.
#[derive(Clone, Copy)]
struct Scale {
    /// Nodes that are left but for two.
    others: f64,
    /// Twice the sum of all distances.
    twice: f64,
}

impl Scale {
    /// The length of the whole tree if two nodes were joined, times a constant: the distance of the nodes and their sums, that
    /// of the earlier one first. Falls with no growing distance, grows with no growing sum, as every rounding keeps order.
    fn total(self, distance: f64, earlier: f64, later: f64) -> f64 {
        self.others * distance + self.twice - earlier - later
    }

    /// No total may be this or more.
    fn worst(self) -> f64 {
        99_999.0 * 2.0 * self.others
    }
}

impl Nodes {
    fn new(distances: Distances) -> Self {
        let all = distances.sequences();
        let to_earlier =
            (0..all).map(|at| distances.to_earlier(at).iter().fold(0.0, |sum, other| sum + other)).collect();
        // Every sum from the first distance to the last.
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

    /// Joins two nodes into one at the earlier place, which has this number.
    fn join(&mut self, earlier: usize, later: usize, number: u32) -> Join {
        let others = self.left.len() as f64 - 2.0;
        let between = self.distances.get(earlier, later);
        let mean = |at: usize| (self.sum(at) - between) / others;
        let (first, second) = (mean(earlier), mean(later));
        let to_earlier = (between + first - second) * 0.5;
        let to_later = between - to_earlier;
        let lengths = [branch(to_earlier - self.height[earlier]), branch(to_later - self.height[later])];
        let join = Join { children: [self.number[earlier], self.number[later]], lengths };
        // Even a node of sequences that are the same is above them.
        let between = if between <= 0.0 { 0.000_001 } else { between };
        self.height[earlier] = between * 0.5;
        self.number[earlier] = number;
        self.left.retain(|&at| at as usize != later);
        self.replace(earlier, later);
        join
    }

    /// The distances of all that are left to two places.
    fn to_both(&self, earlier: usize, later: usize) -> Vec<(f64, f64)> {
        let both = |&at: &u32| (self.distances.get(at as usize, earlier), self.distances.get(at as usize, later));
        // Most lie far apart in memory: what takes time is waiting for them.
        match self.left.len() < search::MANY {
            true => self.left.iter().map(both).collect(),
            false => self.left.par_iter().with_min_len(search::MANY / 4).map(both).collect(),
        }
    }

    /// The sums and distances after two nodes became one.
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

    /// The last three nodes, or two.
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

/// The tree that neighbour joining makes, the same in its last bit as ClustalW's. `threads` does the work.
pub fn neighbour_joining(distances: Distances, threads: &rayon::ThreadPool) -> UnrootedTree {
    let leaves = distances.sequences();
    threads.install(|| {
        let mut nodes = Nodes::new(distances);
        let mut joins = Vec::with_capacity(leaves.saturating_sub(3));
        let mut search = Search::new(&nodes);
        while nodes.left.len() > 3 {
            let (earlier, later) = search.least(&nodes);
            joins.push(nodes.join(earlier, later, (leaves + joins.len()) as u32));
            search.joined(&nodes, earlier, later);
        }
        UnrootedTree { leaves, joins, centre: nodes.centre() }
    })
}

#[cfg(test)]
mod tests;
