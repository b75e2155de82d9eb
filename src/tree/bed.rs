//! Guide trees without the distances of all pairs (mBed: Blackshields et al. 2010).
//!
//! Each sequence becomes a point whose coordinates are its distances to a few sequences, the seeds.
//! The set of points is bisected repeatedly until each part is small. The distances of all pairs in
//! a part give the tree of the part, and the distances of the parts' centres give the tree above
//! them. The result does not depend on the number of threads, and nothing is random.

use rayon::prelude::*;

use super::{Distances, GuideTree, Join, average_linkage};

/// Maximum number of rounds of moving points between parts.
const ROUNDS: usize = 20;

/// Maximum number of distances to seeds.
const MAX_DISTANCES: usize = 1 << 27;

/// Parameters of the method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EmbeddedTreeOptions {
    /// Maximum number of sequences in a part; at least 2.
    pub largest: usize,
    /// Number of seeds; at least 1.
    pub seeds: usize,
}

impl EmbeddedTreeOptions {
    /// Returns suitable parameters for a number of sequences: the square of its binary logarithm as
    /// the number of seeds, and parts of 200. From 400,000 sequences on there are fewer seeds, so that
    /// their distances need at most 512 MiB.
    pub fn for_sequences(sequences: usize) -> EmbeddedTreeOptions {
        let log = (sequences.max(2) as f64).log2();
        let fitting = (MAX_DISTANCES / sequences.max(1)).max(1);
        EmbeddedTreeOptions { largest: 200, seeds: ((log * log) as usize).min(fitting) }
    }
}

/// Points, row after row.
struct Points {
    width: usize,
    values: Vec<f32>,
}

impl Points {
    fn point(&self, index: u32) -> &[f32] {
        &self.values[index as usize * self.width..(index as usize + 1) * self.width]
    }

    fn centre(&self, members: &[u32]) -> Vec<f32> {
        let mut sums = vec![0.0; self.width];
        for &member in members {
            sums.iter_mut().zip(self.point(member)).for_each(|(sum, &value)| *sum += f64::from(value));
        }
        sums.iter().map(|sum| (sum / members.len().max(1) as f64) as f32).collect()
    }

    /// Returns the squared distance of two points, summed in eight interleaved parts.
    fn squared(a: &[f32], b: &[f32]) -> f32 {
        let mut sums = [0.0f32; 8];
        let (a, b) = (a.chunks(8), b.chunks(8));
        for (a, b) in a.zip(b) {
            for (sum, (a, b)) in sums.iter_mut().zip(a.iter().zip(b)) {
                *sum += (a - b) * (a - b);
            }
        }
        sums.iter().sum()
    }

    /// Returns the member that is farthest from a point, or the first of several.
    fn farthest(&self, members: &[u32], from: &[f32]) -> u32 {
        let away: Vec<f32> = members.par_iter().map(|&member| Points::squared(self.point(member), from)).collect();
        let mut best = 0;
        for (index, &distance) in away.iter().enumerate() {
            if distance > away[best] {
                best = index;
            }
        }
        members[best]
    }

    /// Divides members into two parts by at most [`ROUNDS`] rounds of k-means with two centres.
    /// Neither part is empty.
    fn split_members(&self, members: &[u32]) -> [Vec<u32>; 2] {
        let one = self.farthest(members, &self.centre(members));
        let other = self.farthest(members, self.point(one));
        let mut centres = [self.point(one).to_vec(), self.point(other).to_vec()];
        let mut sides: Vec<bool> = Vec::new();
        for _ in 0..ROUNDS {
            let nearer = |&member: &u32| {
                let point = self.point(member);
                Points::squared(point, &centres[1]) < Points::squared(point, &centres[0])
            };
            let new: Vec<bool> = members.par_iter().map(nearer).collect();
            if new == sides {
                break;
            }
            let parts = split(members, &new);
            if parts.iter().any(Vec::is_empty) {
                break;
            }
            centres = [self.centre(&parts[0]), self.centre(&parts[1])];
            sides = new;
        }
        let parts = split(members, &sides);
        if sides.is_empty() || parts.iter().any(Vec::is_empty) {
            // The centres do not separate the points, for example because all points are the same.
            let (first, second) = members.split_at(members.len() / 2);
            return [first.to_vec(), second.to_vec()];
        }
        parts
    }
}

fn split(members: &[u32], sides: &[bool]) -> [Vec<u32>; 2] {
    let side = |of: bool| members.iter().zip(sides).filter(move |&(_, &side)| side == of).map(|(&member, _)| member);
    [side(false).collect(), side(true).collect()]
}

/// Returns `count` sequences (or all, if there are fewer), at regular intervals in the list of
/// sequences sorted by length.
fn seeds(lengths: &[u32], count: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..lengths.len()).collect();
    order.sort_by_key(|&sequence| (lengths[sequence], sequence));
    let count = count.clamp(1, lengths.len().max(1)).min(lengths.len());
    let mut seeds: Vec<usize> = (0..count).map(|seed| order[seed * order.len() / count]).collect();
    seeds.sort_unstable();
    seeds
}

/// Builds a guide tree of many sequences from their lengths. `from_one` returns the distances of
/// one sequence to several others. The work is done by `threads`.
pub fn embedded(
    bed: EmbeddedTreeOptions,
    lengths: &[u32],
    from_one: impl Fn(usize, &[usize]) -> Vec<f64> + Sync,
    threads: &rayon::ThreadPool,
) -> GuideTree {
    let leaves = lengths.len();
    threads.install(|| {
        let pairs = |members: &[u32]| {
            let members: Vec<usize> = members.iter().map(|&member| member as usize).collect();
            let mut distances = Distances::new(members.len());
            let rows = members.par_iter().enumerate().map(|(index, &member)| from_one(member, &members[..index]));
            for (index, row) in rows.collect::<Vec<_>>().into_iter().enumerate() {
                (0..).zip(row).for_each(|(other, distance)| distances.set(index, other, distance));
            }
            distances
        };
        let all: Vec<u32> = (0..leaves as u32).collect();
        if leaves <= bed.largest.max(2) {
            return average_linkage(pairs(&all)).in_depth();
        }
        let seeds = seeds(lengths, bed.seeds);
        let everyone: Vec<usize> = (0..leaves).collect();
        let column = |&seed: &usize| from_one(seed, &everyone).into_iter().map(|distance| distance as f32).collect();
        let columns: Vec<Vec<f32>> = seeds.par_iter().map(column).collect();
        let value = |index: usize| columns[index % seeds.len()][index / seeds.len()];
        let points = Points { width: seeds.len(), values: (0..leaves * seeds.len()).map(value).collect() };
        drop(columns);
        let (mut waiting, mut parts) = (vec![all], Vec::new());
        while let Some(members) = waiting.pop() {
            match members.len() <= bed.largest.max(2) {
                true => parts.push(members),
                false => waiting.extend(points.split_members(&members)),
            }
        }
        let trees: Vec<GuideTree> = parts.par_iter().map(|members| average_linkage(pairs(members))).collect();
        let centres: Vec<Vec<f32>> = parts.par_iter().map(|members| points.centre(members)).collect();
        // The root mean square difference of the distances to the seeds.
        let between =
            |a: usize, b: usize| (f64::from(Points::squared(&centres[a], &centres[b])) / seeds.len() as f64).sqrt();
        let mut distances = Distances::new(parts.len());
        (1..parts.len()).for_each(|a| (0..a).for_each(|b| distances.set(a, b, between(a, b))));
        joint(leaves, &parts, &trees, &average_linkage(distances)).in_depth()
    })
}

/// Joins the trees of parts and the tree above them, whose leaves are the parts.
fn joint(leaves: usize, parts: &[Vec<u32>], trees: &[GuideTree], upper: &GuideTree) -> GuideTree {
    let mut joins: Vec<Join> = Vec::with_capacity(leaves.saturating_sub(1));
    let mut add = |tree: &GuideTree, tops: Vec<u32>| {
        let mut nodes = tops;
        for join in &tree.joins {
            let children = join.children.map(|child| nodes[child as usize]);
            nodes.push((leaves + joins.len()) as u32);
            joins.push(Join { children, lengths: join.lengths });
        }
        nodes.last().copied().expect("a part has members")
    };
    let tops: Vec<u32> = parts.iter().zip(trees).map(|(members, tree)| add(tree, members.clone())).collect();
    add(upper, tops);
    GuideTree { leaves, joins }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::tests::threads;

    /// Returns points on a line, in clear groups.
    fn line(leaves: usize, random: &mut fastrand::Rng) -> Vec<f64> {
        (0..leaves).map(|_| f64::from(random.u8(0..5)) + random.f64() / 10.0).collect()
    }

    #[test]
    fn embedded_trees_are_complete_for_any_thread_count() {
        let single = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        for seed in 0..60 {
            let mut random = fastrand::Rng::with_seed(seed);
            let leaves = random.usize(1..300);
            let lengths: Vec<u32> = (0..leaves).map(|_| random.u32(1..50)).collect();
            let at = if seed % 7 == 0 { vec![0.5; leaves] } else { line(leaves, &mut random) };
            let from_one =
                |one: usize, others: &[usize]| others.iter().map(|&other| (at[one] - at[other]).abs()).collect();
            let bed = EmbeddedTreeOptions { largest: random.usize(0..40), seeds: random.usize(0..30) };
            let tree = embedded(bed, &lengths, from_one, &threads());
            assert_eq!(tree, embedded(bed, &lengths, from_one, &single), "seed {seed}");
            assert_eq!((tree.leaves, tree.joins.len()), (leaves, leaves - 1), "seed {seed}");
            let mut seen = vec![0; 2 * leaves - 1];
            for (number, join) in (leaves..).zip(&tree.joins) {
                join.children.iter().for_each(|&child| {
                    assert!((child as usize) < number, "seed {seed}");
                    seen[child as usize] += 1;
                });
            }
            assert_eq!((seen.pop(), seen.iter().all(|&count| count == 1)), (Some(0), true), "seed {seed}");
        }
    }

    #[test]
    fn clear_groups_form_subtrees() {
        let mut random = fastrand::Rng::with_seed(1);
        let at = line(400, &mut random);
        let from_one = |one: usize, others: &[usize]| others.iter().map(|&other| (at[one] - at[other]).abs()).collect();
        let tree = embedded(EmbeddedTreeOptions { largest: 150, seeds: 20 }, &vec![9; 400], from_one, &threads());
        let mut groups = Vec::new();
        tree.each_join(|_, first, second, _| groups.push([first, second].concat()));
        for group in 0..5 {
            let of = |leaf: usize| at[leaf] as usize == group;
            let count = (0..400).filter(|&leaf| of(leaf)).count();
            let is_it = |leaves: &Vec<u32>| leaves.len() == count && leaves.iter().all(|&leaf| of(leaf as usize));
            assert!(groups.iter().any(is_it), "group {group}");
        }
    }

    #[test]
    fn seeds_cover_all_lengths() {
        assert_eq!(seeds(&[5, 1, 4, 2, 3, 6], 3), [0, 1, 4]);
        assert_eq!(seeds(&[5, 1], 9), [0, 1]);
        assert_eq!(seeds(&[5, 5, 5], 0), [0]);
        assert_eq!(EmbeddedTreeOptions::for_sequences(1024), EmbeddedTreeOptions { largest: 200, seeds: 100 });
    }
}
