//! The guide tree of many sequences, their weights, and the families: subtrees that are aligned by
//! all of their pairs.

use std::sync::atomic::{AtomicBool, Ordering};

use super::lcs::Pattern;
use crate::seq::Code;
use crate::tree::{EmbeddedTreeOptions, GuideTree, embedded, regroup};
use crate::{Error, Result};

/// Approximate maximum number of compared pairs. In small sets all pairs are compared, in large
/// sets only pairs within the same part of the embedding.
const MAX_PAIRS: usize = 10_000_000;

/// Maximum size of the subtrees that the embedding defines. The tree above them is built from the
/// distances of all pairs of subtrees.
const LARGEST_SUBTREE: usize = 10;

/// Builds the guide tree from longest common subsequences of each sequence with some of the
/// sequences.
///
/// # Errors
/// Returns [`Error::Interrupted`] if `interrupt` is set.
pub(super) fn guide(
    sequences: &[&[Code]],
    codes: usize,
    pool: &rayon::ThreadPool,
    interrupt: &AtomicBool,
) -> Result<GuideTree> {
    let is_stopped = || interrupt.load(Ordering::Relaxed);
    let lengths: Vec<u32> = sequences.iter().map(|sequence| sequence.len() as u32).collect();
    let from_one = |one: usize, others: &[usize]| -> Vec<f64> {
        let pattern = Pattern::new(sequences[one], codes);
        let mut row = Vec::new();
        let distance = |&other: &usize| match is_stopped() {
            // Without further comparisons, the tree is complete soon. It is dropped then.
            true => 0.0,
            false => compress_distance(pattern.distance(sequences[other], &mut row)),
        };
        others.iter().map(distance).collect()
    };
    let bed = EmbeddedTreeOptions {
        largest: (MAX_PAIRS / sequences.len().max(1)).clamp(400, 2000),
        ..EmbeddedTreeOptions::for_sequences(sequences.len())
    };
    let mut tree = embedded(bed, &lengths, from_one, pool);
    // In smaller sets, all pairs have been compared.
    if sequences.len() > bed.largest {
        tree = regroup(&tree, LARGEST_SUBTREE, MAX_PAIRS, from_one, pool);
    }
    if is_stopped() { Err(Error::Interrupted) } else { Ok(tree) }
}

/// Compresses large distances, because distances of remote relatives differ mainly by chance.
fn compress_distance(distance: f64) -> f64 {
    distance.sqrt()
}

/// Returns the weight of each sequence: the sum of the branch lengths above it, each divided by the
/// number of sequences below the branch. The mean weight is 1.
pub(super) fn weights(tree: &GuideTree) -> Vec<f32> {
    let mut counts = vec![1u32; tree.leaves];
    for join in &tree.joins {
        counts.push(join.children.iter().map(|&child| counts[child as usize]).sum());
    }
    let mut above = vec![0.0f64; counts.len()];
    for (at, join) in tree.joins.iter().enumerate().rev() {
        for (&child, &length) in join.children.iter().zip(&join.lengths) {
            above[child as usize] = above[tree.leaves + at] + length / f64::from(counts[child as usize]);
        }
    }
    above.truncate(tree.leaves);
    let least = above.iter().fold(0.0, |a: f64, &b| a.max(b)).max(1e-9) / 100.0;
    above.iter_mut().for_each(|weight| *weight = weight.max(least));
    let sum: f64 = above.iter().sum();
    above.iter().map(|weight| (weight * tree.leaves as f64 / sum) as f32).collect()
}

/// A tree whose leaves are subtrees of another tree.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Families {
    /// Leaves of each subtree, in increasing order.
    pub members: Vec<Vec<usize>>,
    /// Children of each join. Numbers below the number of families are families, all others are
    /// joins.
    pub joins: Vec<[usize; 2]>,
}

/// Size of a subtree.
#[derive(Debug, Clone, Copy)]
pub(super) struct SubtreeSize {
    /// Number of sequences.
    pub leaves: usize,
    /// Number of cells of all pairs.
    pub cells: u64,
    /// Length of the longest sequence.
    pub longest: usize,
    residues: u64,
}

/// Returns the largest subtrees that `fits` accepts. A single leaf is always accepted.
pub(super) fn families(tree: &GuideTree, lengths: &[usize], fits: impl Fn(&SubtreeSize) -> bool) -> Families {
    let leaf = |&length: &usize| SubtreeSize { leaves: 1, cells: 0, longest: length, residues: length as u64 };
    let mut sizes: Vec<SubtreeSize> = lengths.iter().map(leaf).collect();
    let mut is_small = vec![true; tree.leaves];
    for join in &tree.joins {
        let [a, b] = join.children.map(|child| sizes[child as usize]);
        let size = SubtreeSize {
            leaves: a.leaves + b.leaves,
            cells: a.cells.saturating_add(b.cells).saturating_add(a.residues.saturating_mul(b.residues)),
            longest: a.longest.max(b.longest),
            residues: a.residues + b.residues,
        };
        is_small.push(fits(&size) && join.children.iter().all(|&child| is_small[child as usize]));
        sizes.push(size);
    }
    let mut families = Families::default();
    let mut number = vec![usize::MAX; sizes.len()];
    let mut stack: Vec<usize> = sizes.len().checked_sub(1).into_iter().collect();
    while let Some(node) = stack.pop() {
        if is_small[node] {
            number[node] = families.members.len();
            families.members.push(leaves(tree, node));
        } else {
            stack.extend(tree.joins[node - tree.leaves].children.iter().rev().map(|&child| child as usize));
        }
    }
    for (at, join) in tree.joins.iter().enumerate() {
        if !is_small[tree.leaves + at] {
            number[tree.leaves + at] = families.members.len() + families.joins.len();
            families.joins.push(join.children.map(|child| number[child as usize]));
        }
    }
    families
}

/// Returns the leaves below a node, in increasing order.
fn leaves(tree: &GuideTree, node: usize) -> Vec<usize> {
    let mut leaves: Vec<usize> = tree.leaves_below(node as u32).into_iter().map(|leaf| leaf as usize).collect();
    leaves.sort_unstable();
    leaves
}

/// Returns the joins grouped by depth. All joins of one depth can run at the same time, after the
/// joins below them.
pub(super) fn joins_by_depth(families: &Families) -> Vec<Vec<usize>> {
    let mut depths = vec![0usize; families.members.len()];
    let mut by_depth: Vec<Vec<usize>> = Vec::new();
    for (at, join) in families.joins.iter().enumerate() {
        let depth = join.iter().map(|&child| depths[child]).max().unwrap_or(0);
        depths.push(depth + 1);
        if depth == by_depth.len() {
            by_depth.push(Vec::new());
        }
        by_depth[depth].push(at);
    }
    by_depth
}
