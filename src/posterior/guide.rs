//! The guide tree (clusters joined by their mean distance) and the weights of sequences that follow from it.

use crate::tree::{Distances, GuideTree, Join};

/// Joins the two nearest clusters again and again; a cluster's distance is the mean of its sequences'.
pub(super) fn cluster(distances: &Distances) -> GuideTree {
    let leaves = distances.sequences();
    let mut between: Vec<Vec<f64>> = (0..leaves).map(|a| (0..leaves).map(|b| distances.get(a, b)).collect()).collect();
    let mut size = vec![1usize; leaves];
    let mut alive: Vec<usize> = (0..leaves).collect();
    // A walk to ever nearer neighbours ends at two that are each other's nearest: they can be joined at once.
    let mut walk: Vec<usize> = Vec::new();
    let mut merges: Vec<(f64, usize, usize)> = Vec::new();
    // No join is lower than those below it, whatever is lost in rounding.
    let mut lowest = vec![f64::NEG_INFINITY; leaves];
    while alive.len() > 1 {
        let here = match walk.last() {
            Some(&here) => here,
            None => {
                walk.push(alive[0]);
                alive[0]
            }
        };
        let before = walk.len().checked_sub(2).map(|at| walk[at]);
        let mut nearest = before;
        for &other in alive.iter().filter(|&&other| other != here) {
            if nearest.is_none_or(|nearest| between[here][other] < between[here][nearest]) {
                nearest = Some(other);
            }
        }
        let Some(nearest) = nearest else { break };
        if Some(nearest) != before {
            walk.push(nearest);
            continue;
        }
        walk.truncate(walk.len() - 2);
        let (low, high) = (here.min(nearest), here.max(nearest));
        lowest[low] = between[low][high].max(lowest[low]).max(lowest[high]);
        merges.push((lowest[low], low, high));
        let (of_low, of_high) = (size[low] as f64, size[high] as f64);
        alive.retain(|&id| id != high);
        for &other in alive.iter().filter(|&&other| other != low) {
            let mean = (between[low][other] * of_low + between[high][other] * of_high) / (of_low + of_high);
            between[low][other] = mean;
            between[other][low] = mean;
        }
        size[low] += size[high];
    }
    // The walk finds them in another order than that of their heights.
    merges.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut node: Vec<u32> = (0..leaves as u32).collect();
    let mut height = vec![0.0; leaves];
    let mut joins = Vec::with_capacity(merges.len());
    for (distance, low, high) in merges {
        let own = distance / 2.0;
        let children = [node[low], node[high]];
        let lengths = [own - height[low], own - height[high]].map(|length: f64| length.max(0.0));
        joins.push(Join { children, lengths });
        node[low] = (leaves + joins.len() - 1) as u32;
        height[low] = own;
    }
    GuideTree { leaves, joins }
}

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
        let tree = cluster(&of(4, &pairs));
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
            let tree = cluster(&Distances::new(leaves));
            assert_eq!((tree.leaves, tree.joins.len(), weights(&tree).len()), (leaves, 0, leaves));
        }
        assert_eq!(weights(&cluster(&Distances::new(3))), [1.0; 3]);
    }
}
