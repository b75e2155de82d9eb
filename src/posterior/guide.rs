//! What follows from a guide tree: groups and weights of sequences.

use crate::tree::GuideTree;

/// The sequences below every node, rising.
pub(super) fn members(tree: &GuideTree) -> Vec<Vec<usize>> {
    let mut all: Vec<Vec<usize>> = (0..tree.leaves).map(|leaf| vec![leaf]).collect();
    for join in &tree.joins {
        let mut both: Vec<usize> = join.children.iter().flat_map(|&child| all[child as usize].clone()).collect();
        both.sort_unstable();
        all.push(both);
    }
    all
}

/// A sequence's weight: the lengths of the branches above it, each shared by all sequences below it (Thompson, Higgins
/// and Gibson 1994). Their mean is 1.
pub(super) fn weights(tree: &GuideTree) -> Vec<f32> {
    let below = members(tree);
    let mut weights = vec![0.0f64; tree.leaves];
    for join in &tree.joins {
        for (&child, &length) in join.children.iter().zip(&join.lengths) {
            let leaves = &below[child as usize];
            for &leaf in leaves {
                weights[leaf] += length / leaves.len() as f64;
            }
        }
    }
    // Sequences that are all the same count as much as others.
    let least = weights.iter().fold(0.0, |a: f64, &b| a.max(b)).max(1e-9) / 100.0;
    for weight in &mut weights {
        *weight = weight.max(least);
    }
    let sum: f64 = weights.iter().sum();
    weights.iter().map(|weight| (weight * tree.leaves as f64 / sum) as f32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::{Distances, average_linkage};

    fn of(leaves: usize, pairs: &[(usize, usize, f64)]) -> Distances {
        let mut distances = Distances::new(leaves);
        for &(a, b, distance) in pairs {
            distances.set(a, b, distance);
        }
        distances
    }

    #[test]
    fn the_nearest_are_joined_first_and_weights_share_branches() {
        let pairs = [(0, 1, 0.8), (0, 2, 0.2), (1, 2, 0.8), (0, 3, 0.8), (1, 3, 0.4), (2, 3, 0.8)];
        let tree = average_linkage(of(4, &pairs));
        let children: Vec<[u32; 2]> = tree.joins.iter().map(|join| join.children).collect();
        assert_eq!(children, [[0, 2], [1, 3], [4, 5]]);
        assert!((tree.joins[2].lengths[0] - 0.3).abs() < 1e-12, "{:?}", tree.joins);
        let weights = weights(&tree);
        assert!(weights[1] > weights[0] && weights[0] == weights[2], "{weights:?}");
        assert!((weights.iter().sum::<f32>() - 4.0).abs() < 1e-5);
        assert_eq!(members(&tree)[6], [0, 1, 2, 3]);
    }

    #[test]
    fn no_sequence_and_one_have_no_joins() {
        for leaves in [0, 1] {
            let tree = average_linkage(Distances::new(leaves));
            assert_eq!((tree.leaves, tree.joins.len(), weights(&tree).len()), (leaves, 0, leaves));
        }
        assert_eq!(weights(&average_linkage(Distances::new(3))), [1.0; 3]);
    }
}
