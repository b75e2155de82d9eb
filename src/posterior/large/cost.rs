//! Predicted work of an alignment.

use super::FamilyLimits;
use super::join::pair_limit;
use super::tree;
use super::tuning::ProfileTuning;
use crate::tree::GuideTree;

/// Returns the number of cells that a set takes along a guide tree: those of the pairs within
/// families, of the pairs of representatives, and of profiles without insertions.
pub fn predicted_cells(guide: &GuideTree, lengths: &[usize], limits: &FamilyLimits) -> u64 {
    let families = tree::families(guide, lengths, |size| limits.fit(size));
    let mut cells = 0;
    // Number of sequences and greatest length below each node.
    let mut nodes: Vec<(usize, usize)> = Vec::with_capacity(families.members.len() + families.joins.len());
    for members in &families.members {
        let lengths: Vec<u32> = members.iter().map(|&member| lengths[member] as u32).collect();
        cells += crate::posterior::cells(&lengths);
        nodes.push((members.len(), lengths.iter().max().map_or(0, |&length| length as usize)));
    }
    let representatives = ProfileTuning::default().representatives;
    for children in &families.joins {
        let [a, b] = children.map(|child| nodes[child]);
        let longest = a.1.max(b.1);
        let limit = pair_limit(longest).min(representatives);
        let pairs = a.0.min(limit) * b.0.min(limit) + 1;
        cells += (pairs * a.1 * b.1) as u64;
        nodes.push((a.0 + b.0, longest));
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::posterior::{AllPairsLimits, cells, memory};
    use crate::seq::Alphabet;
    use crate::tree::Join;

    /// Returns a tree whose nodes divide their leaves in the middle, or at random places.
    fn tree(leaves: usize, mut random: Option<fastrand::Rng>) -> GuideTree {
        let mut joins: Vec<Join> = Vec::new();
        // Nodes in the order of their creation, and the numbers of leaves that are not divided yet.
        let mut ready: Vec<u32> = Vec::new();
        let mut waiting: Vec<Option<usize>> = vec![Some(leaves)];
        let mut next_leaf = 0;
        while let Some(task) = waiting.pop() {
            match task {
                Some(1) => {
                    ready.push(next_leaf);
                    next_leaf += 1;
                }
                Some(leaves) => {
                    let first = random.as_mut().map_or(leaves / 2, |random| random.usize(1..leaves));
                    waiting.extend([None, Some(leaves - first), Some(first)]);
                }
                None => {
                    let [second, first] = [ready.pop(), ready.pop()].map(|node| node.expect("two nodes"));
                    ready.push((leaves + joins.len()) as u32);
                    joins.push(Join { children: [first, second], lengths: [1.0; 2] });
                }
            }
        }
        GuideTree { leaves, joins }
    }

    /// Returns the predicted cells and bytes of a set. Bytes of families are those of the largest.
    fn cost(alphabet: Alphabet, leaves: usize, length: usize, random: Option<fastrand::Rng>) -> (u64, u64) {
        let lengths = vec![length as u32; leaves];
        if AllPairsLimits::default().fit(alphabet, &lengths) {
            return (cells(&lengths), memory(alphabet, &lengths));
        }
        let (tree, lengths) = (tree(leaves, random), vec![length; leaves]);
        let limits = FamilyLimits::default();
        let families = tree::families(&tree, &lengths, |size| limits.fit(size));
        let bytes = |members: &Vec<usize>| memory(alphabet, &vec![length as u32; members.len()]);
        let bytes = families.members.iter().map(bytes).max().unwrap_or(0);
        assert!(bytes < 320 << 20, "{bytes} bytes for a family");
        (predicted_cells(&tree, &lengths, &limits), bytes)
    }

    #[test]
    fn cells_and_bytes_at_most_double_when_a_set_grows_by_a_tenth() {
        for alphabet in [Alphabet::Protein, Alphabet::Dna] {
            for length in [30, 100, 350, 1450, 5000, 8100, 8200, 20_000] {
                let mut leaves = 20;
                let mut least = cost(alphabet, leaves, length, None);
                while leaves < 30_000 {
                    leaves += leaves / 10;
                    let now = cost(alphabet, leaves, length, None);
                    let what = format!("{alphabet:?}, {leaves} sequences of {length}");
                    assert!(now.0 <= 2 * least.0, "{what}: {} cells after {}", now.0, least.0);
                    assert!(now.1 <= 2 * least.1, "{what}: {} bytes after {}", now.1, least.1);
                    least = now;
                }
            }
        }
    }

    #[test]
    fn cells_of_random_trees_are_proportional_to_the_number_of_sequences() {
        for seed in 0..5 {
            let cells = |leaves| cost(Alphabet::Protein, leaves, 350, Some(fastrand::Rng::with_seed(seed))).0;
            let (few, many) = (cells(2000), cells(20_000));
            assert!((5 * few..15 * few).contains(&many), "seed {seed}: {few} {many}");
        }
    }

    #[test]
    fn cells_at_most_double_when_sequences_grow_by_a_tenth() {
        for leaves in [50, 190, 210, 1000] {
            for length in [1000, 1250, 1280, 4090, 8190, 31_600, 44_700, 65_530] {
                let cells = |length| cost(Alphabet::Dna, leaves, length, None).0;
                let (short, long) = (cells(length), cells(length + length / 10));
                assert!(long <= 2 * short, "{leaves} sequences of {length}: {short} {long}");
            }
        }
    }
}
