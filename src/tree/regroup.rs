//! A better upper part for guide trees from an embedding.

use super::{Distances, GuideTree, Join, average_linkage};

/// Maximum number of subtrees that are kept. Their distances need at most 64 MiB.
const MAX_SUBTREES: usize = 4000;

/// Maximum number of members of a subtree whose distances to other subtrees are computed.
const MAX_MEMBERS: usize = 3;

/// Cuts a tree into its largest subtrees of at most `largest` leaves, and joins these again by
/// average linkage. The distance of two subtrees is the mean distance of up to three members of
/// each. `from_one` returns the distances of one sequence to several others. If more than about
/// `pairs` pairs of sequences had to be compared, fewer members are used, and then larger subtrees.
/// The work is done by `threads`.
///
/// An embedding keeps groups of similar sequences together, but it does not keep a few sequences
/// together that differ from the rest, for example the few with a further domain.
pub fn regroup(
    tree: &GuideTree,
    largest: usize,
    pairs: usize,
    from_one: impl Fn(usize, &[usize]) -> Vec<f64> + Sync,
    threads: &rayon::ThreadPool,
) -> GuideTree {
    let nodes = SubtreeNodes::new(tree);
    let mut largest = largest.max(1);
    let mut roots = nodes.subtrees(tree, largest);
    while roots.len() > MAX_SUBTREES || roots.len() * roots.len() / 2 > pairs.max(1) {
        largest *= 2;
        roots = nodes.subtrees(tree, largest);
    }
    let per_subtree = (2 * pairs / (roots.len() * roots.len()).max(1)).isqrt().clamp(1, MAX_MEMBERS);
    let members: Vec<Vec<usize>> =
        roots.iter().map(|&root| spread(&tree.leaves_below(root as u32), per_subtree)).collect();
    let distances = Distances::filled(roots.len(), threads, |subtree, row| {
        let others = members[..subtree].concat();
        for &member in &members[subtree] {
            let mut all = from_one(member, &others).into_iter();
            for (sum, other) in row.iter_mut().zip(&members) {
                let count = (other.len() * members[subtree].len()) as f64;
                *sum += all.by_ref().take(other.len()).sum::<f64>() / count;
            }
        }
    });
    nodes.rejoin(tree, largest, &roots, &average_linkage(distances))
}

/// Sizes and heights of all nodes of a tree.
struct SubtreeNodes {
    /// Number of leaves below each node.
    leaves: Vec<usize>,
    /// Distance of each node to the leaves below it.
    heights: Vec<f64>,
}

impl SubtreeNodes {
    fn new(tree: &GuideTree) -> Self {
        let mut nodes = SubtreeNodes { leaves: vec![1; tree.leaves], heights: vec![0.0; tree.leaves] };
        for join in &tree.joins {
            let [first, second] = join.children.map(|child| child as usize);
            nodes.leaves.push(nodes.leaves[first] + nodes.leaves[second]);
            nodes.heights.push(nodes.heights[first] + join.lengths[0]);
        }
        nodes
    }

    /// Returns the roots of the largest subtrees of at most `largest` leaves, from left to right.
    fn subtrees(&self, tree: &GuideTree, largest: usize) -> Vec<usize> {
        let (mut roots, mut stack) = (Vec::new(), Vec::from_iter(self.leaves.len().checked_sub(1)));
        while let Some(node) = stack.pop() {
            match self.leaves[node] <= largest {
                true => roots.push(node),
                false => {
                    stack.extend(tree.joins[node - tree.leaves].children.iter().rev().map(|&child| child as usize))
                }
            }
        }
        roots
    }

    /// Joins the largest subtrees of at most `largest` leaves, whose roots are given, along another
    /// tree. Its leaves are the subtrees, in the order of `roots`.
    fn rejoin(&self, tree: &GuideTree, largest: usize, roots: &[usize], upper: &GuideTree) -> GuideTree {
        let mut joins: Vec<Join> = Vec::with_capacity(tree.joins.len());
        let mut numbers: Vec<u32> = (0..self.leaves.len() as u32).collect();
        for (node, join) in (tree.leaves..).zip(&tree.joins).filter(|&(node, _)| self.leaves[node] <= largest) {
            numbers[node] = (tree.leaves + joins.len()) as u32;
            joins.push(Join { children: join.children.map(|child| numbers[child as usize]), ..*join });
        }
        // Number and height of each node of the upper tree, and its height in that tree.
        let mut nodes: Vec<(u32, f64)> = roots.iter().map(|&root| (numbers[root], self.heights[root])).collect();
        let mut heights = vec![0.0; roots.len()];
        for join in &upper.joins {
            let height: f64 = heights[join.children[0] as usize] + join.lengths[0];
            let children = join.children.map(|child| nodes[child as usize]);
            heights.push(height);
            nodes.push(((tree.leaves + joins.len()) as u32, height));
            joins.push(Join {
                children: children.map(|(number, _)| number),
                lengths: children.map(|(_, below)| (height - below).max(0.0)),
            });
        }
        GuideTree { leaves: tree.leaves, joins }.in_depth()
    }
}

/// Returns at most `count` leaves at regular intervals.
fn spread(leaves: &[u32], count: usize) -> Vec<usize> {
    let count = count.min(leaves.len());
    (0..count).map(|at| leaves[(2 * at + 1) * leaves.len() / (2 * count)] as usize).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::tests::threads;
    use crate::tree::{EmbeddedTreeOptions, embedded};

    /// Returns the leaves below each join, sorted.
    fn groups(tree: &GuideTree) -> Vec<Vec<u32>> {
        let mut groups = Vec::new();
        tree.each_join(|_, first, second, _| {
            let mut leaves = [first, second].concat();
            leaves.sort_unstable();
            groups.push(leaves);
        });
        groups
    }

    #[test]
    fn outliers_of_all_parts_are_joined() {
        let mut random = fastrand::Rng::with_seed(3);
        // Points on a line, and a few together at one side.
        let points: Vec<[f64; 2]> = (0..400)
            .map(|leaf| match leaf % 50 {
                7 => [5.0 + random.f64(), 6.0 + random.f64()],
                _ => [10.0 * random.f64(), 0.1 * random.f64()],
            })
            .collect();
        let distance = |a: usize, b: usize| {
            let [a, b] = [points[a], points[b]];
            (a[0] - b[0]).hypot(a[1] - b[1]).min(4.0)
        };
        let from_one =
            |one: usize, others: &[usize]| others.iter().map(|&other| distance(one, other)).collect::<Vec<_>>();
        // A tree that divides the points first by their numbers.
        let mut distances = Distances::new(400);
        for a in 1..400 {
            (0..a).for_each(|b| distances.set(a, b, distance(a, b) + if a < 200 || b >= 200 { 0.0 } else { 9.0 }));
        }
        let tree = average_linkage(distances);
        let outliers: Vec<u32> = (0..400).filter(|leaf| leaf % 50 == 7).collect();
        let joins_of_outliers = |tree: &GuideTree| {
            groups(tree).iter().filter(|group| group.iter().all(|leaf| outliers.contains(leaf))).count()
        };
        assert!(joins_of_outliers(&tree) < 7);
        let single = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        for (largest, pairs) in [(10, 1 << 20), (10, 4000), (5, 1 << 20)] {
            let better = regroup(&tree, largest, pairs, from_one, &threads());
            assert_eq!(joins_of_outliers(&better), 7);
            assert_eq!(better, regroup(&tree, largest, pairs, from_one, &single));
        }
    }

    #[test]
    fn every_tree_is_complete() {
        for seed in 0..60 {
            let mut random = fastrand::Rng::with_seed(seed);
            let leaves = random.usize(0..200);
            let at: Vec<f64> = (0..leaves).map(|_| f64::from(random.u8(0..9))).collect();
            let from_one =
                |one: usize, others: &[usize]| others.iter().map(|&other| (at[one] - at[other]).abs()).collect();
            let bed = EmbeddedTreeOptions { largest: random.usize(0..40), seeds: 5 };
            let tree = match leaves {
                0 => GuideTree::default(),
                _ => embedded(bed, &vec![9; leaves], from_one, &threads()),
            };
            let (largest, pairs) = (random.usize(0..20), random.usize(0..3000));
            let better = regroup(&tree, largest, pairs, from_one, &threads());
            assert_eq!((better.leaves, better.joins.len()), (leaves, leaves.saturating_sub(1)), "seed {seed}");
            let mut order = better.order();
            order.sort_unstable();
            assert_eq!(order, (0..leaves as u32).collect::<Vec<_>>(), "seed {seed}");
            assert!(better.joins.iter().flat_map(|join| join.lengths).all(|length| length >= 0.0), "seed {seed}");
        }
    }
}
