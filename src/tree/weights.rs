//! Sequence weights and pairwise identities that follow from a guide tree.

use super::GuideTree;

/// Approximate sum of all weights.
const SUM: i64 = 1000;

impl GuideTree {
    /// Returns the parent of every node. The root is its own parent.
    fn parents(&self) -> Vec<u32> {
        let mut parents: Vec<u32> = (0..(self.leaves + self.joins.len()) as u32).collect();
        for (parent, join) in (self.leaves as u32..).zip(&self.joins) {
            for child in join.children {
                parents[child as usize] = parent;
            }
        }
        parents
    }

    /// Returns the number of leaves below every node.
    fn counts(&self) -> Vec<u32> {
        let mut counts = vec![1; self.leaves];
        for join in &self.joins {
            counts.push(join.children.iter().map(|&child| counts[child as usize]).sum());
        }
        counts
    }

    /// Returns the length of the branch above every node; 0 for the root.
    fn lengths(&self) -> Vec<f32> {
        let mut lengths = vec![0.0; self.leaves + self.joins.len()];
        for join in &self.joins {
            for (child, length) in join.children.into_iter().zip(join.lengths) {
                lengths[child as usize] = length as f32;
            }
        }
        lengths
    }

    /// Returns ClustalW's weight of every sequence: the length of each branch is divided among the
    /// leaves below it. Weights are integers of at least 1. Their sum is about 1,000, or more if
    /// there are more sequences.
    pub fn weights(&self) -> Vec<i32> {
        if self.leaves < 2 {
            return vec![SUM as i32; self.leaves];
        }
        let shares = self.shares();
        let mut weights: Vec<i64> = shares.into_iter().map(i64::from).collect();
        let mut sum: i64 = weights.iter().sum();
        if sum == 0 {
            weights.fill(1);
            sum = self.leaves as i64;
        }
        weights.iter().map(|weight| (weight * SUM / sum).max(1) as i32).collect()
    }

    /// Returns the sum of each sequence's shares of the branches above it, in hundredths. Each
    /// branch is divided among the leaves below it.
    pub fn shares(&self) -> Vec<i32> {
        let (parents, counts, lengths) = (self.parents(), self.counts(), self.lengths());
        let share = |leaf: usize| {
            let (mut node, mut weight) = (leaf, 0.0f32);
            while parents[node] as usize != node {
                weight += lengths[node] / counts[node] as f32;
                node = parents[node] as usize;
            }
            (weight * 100.0) as i32
        };
        (0..self.leaves).map(share).collect()
    }

    /// Returns the identities of all pairs according to their distances in the tree.
    pub fn identities(&self) -> Identities {
        let mut lower = vec![0.0; self.leaves * self.leaves.saturating_sub(1) / 2];
        self.each_join(|_, first, second, up| {
            for &a in first {
                for &b in second {
                    lower[Identities::index(a, b)] = up[a as usize] + up[b as usize];
                }
            }
        });
        Identities { lower }
    }

    /// Calls `call` for every join, in order. The arguments are the join's number, the leaves below
    /// its first child and below its second child from left to right, and a slice that is indexed
    /// by leaf. The slice contains the distance of each leaf below the join to it. So the distance
    /// in the tree of two leaves below different children is the sum of their entries. Entries of
    /// other leaves have no meaning.
    pub fn each_join(&self, mut call: impl FnMut(usize, &[u32], &[u32], &[f32])) {
        let mut up = vec![0.0f32; self.leaves];
        let mut groups: Vec<Vec<u32>> = (0..self.leaves as u32).map(|leaf| vec![leaf]).collect();
        for (number, join) in self.joins.iter().enumerate() {
            let [mut first, second] = join.children.map(|child| std::mem::take(&mut groups[child as usize]));
            for (group, length) in [&first, &second].into_iter().zip(join.lengths) {
                group.iter().for_each(|&leaf| up[leaf as usize] += length as f32);
            }
            call(number, &first, &second, &up);
            first.extend(second);
            groups.push(first);
        }
    }
}

/// Identities of pairs of sequences according to a tree, in percent: 100 minus a hundred times
/// their distance in the tree, which is clamped to the range from 0.01 to 1.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Identities {
    /// Distances in the tree, as a lower triangle.
    lower: Vec<f32>,
}

impl Identities {
    fn index(a: u32, b: u32) -> usize {
        let (low, high) = (a.min(b) as usize, a.max(b) as usize);
        high * (high - 1) / 2 + low
    }

    /// Returns the distance in the tree of two different sequences.
    ///
    /// # Panics
    /// Panics if there is no such sequence.
    pub fn path_length(&self, a: usize, b: usize) -> f32 {
        assert_ne!(a, b, "a sequence has no way to itself");
        self.lower[Self::index(a as u32, b as u32)]
    }

    /// Returns the identity of two different sequences, 0 to 99 percent.
    ///
    /// # Panics
    /// Panics if there is no such sequence.
    pub fn percent(&self, a: usize, b: usize) -> f64 {
        100.0 - f64::from(self.path_length(a, b)).clamp(0.01, 1.0) * 100.0
    }
}
