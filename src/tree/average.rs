//! Average linkage (UPGMA), which breaks ties as ClustalW 2.1 does.

use super::{Distances, GuideTree, Join};
use crate::error::{Error, Result};

/// Averages with a smaller relative difference are considered equal, because the difference may be
/// a rounding error.
const EQUALITY_TOLERANCE: f64 = 1e-14;

/// The remaining groups. Each is stored at the index of its earliest sequence.
struct Groups {
    distances: Distances,
    left: Vec<usize>,
    /// Number of sequences in the group at each index.
    size: Vec<u32>,
    /// Distance and index of the nearest earlier group, for each group.
    nearest: Vec<(f64, usize)>,
}

impl Groups {
    fn new(distances: Distances) -> Self {
        let all = distances.sequences();
        let left = (0..all).collect();
        let mut groups = Groups { distances, left, size: vec![1; all], nearest: vec![(f64::MAX, 0); all] };
        (1..all).for_each(|at| groups.update_nearest(at));
        groups
    }

    /// Recomputes the nearest earlier group. If several are equally near, it is the first.
    fn update_nearest(&mut self, at: usize) {
        let mut best = (f64::INFINITY, 0);
        for &other in self.left.iter().take_while(|&&other| other < at) {
            let distance = self.distances.get(at, other);
            if distance < best.0 {
                best = (distance, other);
            }
        }
        self.nearest[at] = best;
    }

    /// Returns the two groups that are nearest to each other, the earlier first. If several pairs
    /// are equally near, it is the one with the earliest later group.
    fn pair(&self) -> (usize, usize) {
        let mut later = self.left[1];
        for &at in &self.left[2..] {
            if self.nearest[at].0 < self.nearest[later].0 {
                later = at;
            }
        }
        (self.nearest[later].1, later)
    }

    /// Merges the later group into the earlier one.
    fn merge(&mut self, earlier: usize, later: usize) {
        let gone = self.left.binary_search(&later).expect("the group is there");
        self.left.remove(gone);
        let (first, second) = (f64::from(self.size[earlier]), f64::from(self.size[later]));
        self.size[earlier] += self.size[later];
        for index in 0..self.left.len() {
            let at = self.left[index];
            if at == earlier {
                continue;
            }
            let (to_first, to_second) = (self.distances.get(at, earlier), self.distances.get(at, later));
            let new = (to_first * first + to_second * second) / (first + second);
            self.distances.set(at, earlier, new);
            let (old, nearest) = self.nearest[at];
            if at < earlier {
                continue;
            }
            let slack = if at > later { EQUALITY_TOLERANCE } else { 0.0 };
            if new < old && (old - new) / old > slack {
                self.nearest[at] = (new, earlier);
            } else if (new > old && (new - old) / new > slack && nearest == earlier) || nearest == later {
                self.update_nearest(at);
            }
        }
        if earlier > 0 {
            self.update_nearest(earlier);
        }
    }
}

/// Builds the tree of average linkage: the two groups with the least mean distance of their members
/// are merged repeatedly until one is left. The joins are in this order. The distance from a node
/// to each leaf below it is half the mean distance of the node's two groups.
pub fn average_linkage(distances: Distances) -> GuideTree {
    build(distances, &|| false).expect("nothing interrupts it")
}

/// Builds the tree of [`average_linkage`], unless `stopped` returns true.
///
/// # Errors
/// [`Error::Interrupted`].
pub(super) fn build(distances: Distances, stopped: &dyn Fn() -> bool) -> Result<GuideTree> {
    let leaves = distances.sequences();
    let mut groups = Groups::new(distances);
    let mut nodes: Vec<(u32, f64)> = (0..leaves as u32).map(|leaf| (leaf, 0.0)).collect();
    let mut joins = Vec::with_capacity(leaves.saturating_sub(1));
    while groups.left.len() > 1 {
        if stopped() {
            return Err(Error::Interrupted);
        }
        let (earlier, later) = groups.pair();
        let height = groups.distances.get(earlier, later) / 2.0;
        let (first, second) = (nodes[earlier], nodes[later]);
        // Rounding may put a node below the previous one.
        let lengths = [first.1, second.1].map(|below| (height - below).max(0.0));
        nodes[earlier] = ((leaves + joins.len()) as u32, height);
        joins.push(Join { children: [first.0, second.0], lengths });
        groups.merge(earlier, later);
    }
    Ok(GuideTree { leaves, joins })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the order of joins, computed from all pairs of members at each step.
    fn plain(distances: &Distances) -> Vec<(f64, Vec<usize>)> {
        let mut groups: Vec<Vec<usize>> = (0..distances.sequences()).map(|leaf| vec![leaf]).collect();
        let mut made = Vec::new();
        while groups.len() > 1 {
            let mut best = (f64::INFINITY, 0, 0);
            for later in 1..groups.len() {
                for earlier in 0..later {
                    let pairs = groups[later].iter().flat_map(|&a| groups[earlier].iter().map(move |&b| (a, b)));
                    let sum: f64 = pairs.map(|(a, b)| distances.get(a, b)).sum();
                    let mean = sum / (groups[later].len() * groups[earlier].len()) as f64;
                    if mean < best.0 {
                        best = (mean, earlier, later);
                    }
                }
            }
            let later = groups.remove(best.2);
            groups[best.1].extend(later);
            groups[best.1].sort_unstable();
            made.push((best.0 / 2.0, groups[best.1].clone()));
        }
        made
    }

    #[test]
    fn average_linkage_equals_its_definition() {
        for seed in 0..100 {
            let mut random = fastrand::Rng::with_seed(seed);
            let leaves = random.usize(0..25);
            let mut distances = Distances::new(leaves);
            (1..leaves).for_each(|a| (0..a).for_each(|b| distances.set(a, b, random.f64())));
            let tree = average_linkage(distances.clone());
            let mut groups: Vec<(f64, Vec<usize>)> = (0..leaves).map(|leaf| (0.0, vec![leaf])).collect();
            for join in &tree.joins {
                let [(first, a), (second, b)] = join.children.map(|child| groups[child as usize].clone());
                let heights = [first + join.lengths[0], second + join.lengths[1]];
                assert!((heights[0] - heights[1]).abs() < 1e-9, "seed {seed}");
                let mut all = [a, b].concat();
                all.sort_unstable();
                groups.push((heights[0], all));
            }
            for (actual, (height, group)) in groups[leaves..].iter().zip(plain(&distances)) {
                assert_eq!(actual.1, group, "seed {seed}");
                assert!((actual.0 - height).abs() < 1e-9, "seed {seed}");
            }
        }
    }

    #[test]
    fn ties_join_the_first_pair() {
        let tree = {
            let mut distances = Distances::new(5);
            (1..5).for_each(|a| (0..a).for_each(|b| distances.set(a, b, 0.5)));
            average_linkage(distances)
        };
        let children: Vec<[u32; 2]> = tree.joins.iter().map(|join| join.children).collect();
        assert_eq!(children, [[0, 1], [5, 2], [6, 3], [7, 4]]);
        assert_eq!(tree.joins[1].lengths, [0.0, 0.25]);
    }
}
