//! The guide tree of many sequences, their weights, and the subtrees that are aligned by all pairs.

use super::lcs::Pattern;
use crate::seq::Code;
use crate::tree::{EmbeddedTreeOptions, GuideTree, embedded};

/// Pairs that are compared, about: of few sequences all, of many those of the parts that they are put in.
const MAX_PAIRS: usize = 10_000_000;

/// The tree of sequences by their longest common subsequences with some of them.
pub(super) fn guide(sequences: &[&[Code]], codes: usize, pool: &rayon::ThreadPool) -> GuideTree {
    let lengths: Vec<u32> = sequences.iter().map(|sequence| sequence.len() as u32).collect();
    let from_one = |one: usize, others: &[usize]| -> Vec<f64> {
        let pattern = Pattern::new(sequences[one], codes);
        let mut row = Vec::new();
        others.iter().map(|&other| squeezed(pattern.distance(sequences[other], &mut row))).collect()
    };
    let bed = EmbeddedTreeOptions {
        largest: (MAX_PAIRS / sequences.len().max(1)).clamp(400, 2000),
        ..EmbeddedTreeOptions::for_sequences(sequences.len())
    };
    embedded(bed, &lengths, from_one, pool)
}

/// Distances of far relatives differ by chance more than by kinship.
fn squeezed(distance: f64) -> f64 {
    distance.sqrt()
}

/// How much each sequence counts: the lengths of the branches above it, each shared by all below it. Their mean is 1.
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

/// A tree whose leaves are subtrees of another.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Families {
    /// The leaves of each subtree, rising.
    pub members: Vec<Vec<usize>>,
    /// What is joined: the families by their number, then joins.
    pub joins: Vec<[usize; 2]>,
}

/// How large a subtree is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Size {
    /// Sequences.
    pub leaves: usize,
    /// Cells of all pairs of them.
    pub cells: u64,
    /// The longest sequence.
    pub longest: usize,
    residues: u64,
}

/// The largest subtrees that `fits` finds small enough. A leaf alone is always small enough.
pub(super) fn families(tree: &GuideTree, lengths: &[usize], fits: impl Fn(&Size) -> bool) -> Families {
    let leaf = |&length: &usize| Size { leaves: 1, cells: 0, longest: length, residues: length as u64 };
    let mut sizes: Vec<Size> = lengths.iter().map(leaf).collect();
    let mut is_small = vec![true; tree.leaves];
    for join in &tree.joins {
        let [a, b] = join.children.map(|child| sizes[child as usize]);
        let size = Size {
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

/// The leaves below a node, rising.
fn leaves(tree: &GuideTree, node: usize) -> Vec<usize> {
    let (mut leaves, mut stack) = (Vec::new(), vec![node]);
    while let Some(node) = stack.pop() {
        match node.checked_sub(tree.leaves) {
            None => leaves.push(node),
            Some(join) => stack.extend(tree.joins[join].children.iter().map(|&child| child as usize)),
        }
    }
    leaves.sort_unstable();
    leaves
}

/// Joins that can be done at the same time, after those before them.
pub(super) fn levels(families: &Families) -> Vec<Vec<usize>> {
    let mut level = vec![0usize; families.members.len()];
    let mut levels: Vec<Vec<usize>> = Vec::new();
    for (at, join) in families.joins.iter().enumerate() {
        let own = join.iter().map(|&child| level[child]).max().unwrap_or(0);
        level.push(own + 1);
        if own == levels.len() {
            levels.push(Vec::new());
        }
        levels[own].push(at);
    }
    levels
}
