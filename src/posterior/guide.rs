//! Groups and weights of sequences, derived from a guide tree.

use crate::tree::GuideTree;

/// Returns the sequences below every node, in increasing order.
pub(super) fn members(tree: &GuideTree) -> Vec<Vec<usize>> {
    let mut all: Vec<Vec<usize>> = (0..tree.leaves).map(|leaf| vec![leaf]).collect();
    for join in &tree.joins {
        let mut both: Vec<usize> = join.children.iter().flat_map(|&child| all[child as usize].clone()).collect();
        both.sort_unstable();
        all.push(both);
    }
    all
}

/// Returns the weight of each sequence: the sum of the branch lengths above it, each divided by the
/// number of sequences below the branch (Thompson, Higgins and Gibson 1994). The mean weight is 1.
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
    // A minimum weight ensures that groups of identical sequences count too.
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

    fn distances_of(leaves: usize, pairs: &[(usize, usize, f64)]) -> Distances {
        let mut distances = Distances::new(leaves);
        for &(a, b, distance) in pairs {
            distances.set(a, b, distance);
        }
        distances
    }

    #[test]
    fn nearest_sequences_join_first_and_share_branch_weights() {
        let pairs = [(0, 1, 0.8), (0, 2, 0.2), (1, 2, 0.8), (0, 3, 0.8), (1, 3, 0.4), (2, 3, 0.8)];
        let tree = average_linkage(distances_of(4, &pairs));
        let children: Vec<[u32; 2]> = tree.joins.iter().map(|join| join.children).collect();
        assert_eq!(children, [[0, 2], [1, 3], [4, 5]]);
        assert!((tree.joins[2].lengths[0] - 0.3).abs() < 1e-12, "{:?}", tree.joins);
        let weights = weights(&tree);
        assert!(weights[1] > weights[0] && weights[0] == weights[2], "{weights:?}");
        assert!((weights.iter().sum::<f32>() - 4.0).abs() < 1e-5);
        assert_eq!(members(&tree)[6], [0, 1, 2, 3]);
    }

    #[test]
    fn zero_and_one_sequence_have_no_joins() {
        for leaves in [0, 1] {
            let tree = average_linkage(Distances::new(leaves));
            assert_eq!((tree.leaves, tree.joins.len(), weights(&tree).len()), (leaves, 0, leaves));
        }
        assert_eq!(weights(&average_linkage(Distances::new(3))), [1.0; 3]);
    }
}
