//! What a guide tree says of its sequences: how much each counts, and how alike two are.

use super::GuideTree;

/// Weights add up to about this.
const SUM: i64 = 1000;

impl GuideTree {
    /// The parent of every node; of the root itself.
    fn parents(&self) -> Vec<u32> {
        let mut parents: Vec<u32> = (0..(self.leaves + self.joins.len()) as u32).collect();
        for (parent, join) in (self.leaves as u32..).zip(&self.joins) {
            for child in join.children {
                parents[child as usize] = parent;
            }
        }
        parents
    }

    /// Leaves below every node.
    fn counts(&self) -> Vec<u32> {
        let mut counts = vec![1; self.leaves];
        for join in &self.joins {
            counts.push(join.children.iter().map(|&child| counts[child as usize]).sum());
        }
        counts
    }

    /// The length of the branch above every node; 0 at the root.
    fn lengths(&self) -> Vec<f32> {
        let mut lengths = vec![0.0; self.leaves + self.joins.len()];
        for join in &self.joins {
            for (child, length) in join.children.into_iter().zip(join.lengths) {
                lengths[child as usize] = length as f32;
            }
        }
        lengths
    }

    /// How much every sequence counts, as ClustalW has it: each branch is shared out among the leaves below it. Whole numbers
    /// of 1 or more with a sum of about 1,000, or more where there are more sequences.
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

    /// How much of all branches falls to every sequence if each is shared out among the leaves below it, in hundredths.
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

    /// How alike all pairs are by their way in the tree.
    pub fn identities(&self) -> Identities {
        let mut lower = vec![0.0; self.leaves * self.leaves.saturating_sub(1) / 2];
        self.each_join(|_, first, second, up| {
            for &a in first {
                for &b in second {
                    lower[Identities::place(a, b)] = up[a as usize] + up[b as usize];
                }
            }
        });
        Identities { lower }
    }

    /// Calls back for every join, in their order: its number, the leaves below its first child and its second, from left to
    /// right, and how far each leaf is from it (of other leaves nothing is said). Two leaves below different children are as far
    /// from each other as these two numbers add up to.
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

/// How alike pairs of sequences are by the tree's word: in percent, 100 less a hundred times the length of the way between them,
/// which counts as 0.01 at least and 1 at most.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Identities {
    /// Lengths of ways.
    lower: Vec<f32>,
}

impl Identities {
    fn place(a: u32, b: u32) -> usize {
        let (low, high) = (a.min(b) as usize, a.max(b) as usize);
        high * (high - 1) / 2 + low
    }

    /// How long the way is between two different sequences.
    ///
    /// # Panics
    /// If there is no such sequence.
    pub fn way(&self, a: usize, b: usize) -> f32 {
        assert_ne!(a, b, "a sequence has no way to itself");
        self.lower[Self::place(a as u32, b as u32)]
    }

    /// Percent of identity of two different sequences, 0 to 99.
    ///
    /// # Panics
    /// If there is no such sequence.
    pub fn percent(&self, a: usize, b: usize) -> f64 {
        100.0 - f64::from(self.way(a, b)).clamp(0.01, 1.0) * 100.0
    }
}
