//! Identical sequences, which are aligned only once, and in large sets also similar ones.

mod similar;

use std::sync::Arc;

use crate::alignment::{Confidence, MultipleAlignment};
use crate::error::{Error, Result};
use crate::seq::{Code, SequenceId, SequenceStore};
use crate::tree::{Distances, GuideTree, Join};

/// The distinct sequences of a store, or their representatives.
///
/// They are in canonical order: by length, and sequences of one length by their codes. Therefore
/// nothing that is computed from them depends on the order of the records.
#[derive(Debug)]
pub(super) struct DistinctSequences {
    /// Number of the distinct sequence, or of its representative, for each sequence of the store.
    numbers: Vec<usize>,
    /// Each of these sequences once, in canonical order.
    pub(super) sequences: Arc<SequenceStore>,
}

impl DistinctSequences {
    /// Finds the distinct sequences of a store.
    pub(super) fn new(all: &Arc<SequenceStore>) -> Self {
        let key = |id: SequenceId| (all.length(id), all.codes(id));
        let mut ids: Vec<SequenceId> = (0..all.len() as SequenceId).collect();
        // The sort is stable, so that the first of identical sequences stays first.
        ids.sort_by(|&a, &b| key(a).cmp(&key(b)));
        let mut numbers = vec![0; all.len()];
        let mut builder = SequenceStore::builder(all.alphabet());
        let mut count = 0;
        for (at, &id) in ids.iter().enumerate() {
            if at == 0 || key(ids[at - 1]) != key(id) {
                builder.push_from(all, id);
                count += 1;
            }
            numbers[id as usize] = count - 1;
        }
        let distinct = DistinctSequences { numbers, sequences: Arc::clone(all) };
        match distinct.is_unchanged() {
            true => distinct,
            false => DistinctSequences { sequences: Arc::new(builder.build()), ..distinct },
        }
    }

    /// Replaces sequences by a similar one of the same length ([`similar::representatives`]). Their
    /// rows have the columns of that sequence. A tree of all sequences can then no longer be pruned.
    pub(super) fn with_similar(self) -> Self {
        let DistinctSequences { mut numbers, sequences } = self;
        let codes: Vec<&[Code]> = (0..sequences.len() as SequenceId).map(|id| sequences.codes(id)).collect();
        let mut copies = vec![0; codes.len()];
        numbers.iter().for_each(|&number| copies[number] += 1);
        let representatives = similar::representatives(&codes, &copies);
        let mut builder = SequenceStore::builder(sequences.alphabet());
        let mut places = vec![usize::MAX; codes.len()];
        let mut next = 0;
        for (sequence, &representative) in representatives.iter().enumerate() {
            if sequence == representative {
                places[sequence] = next;
                next += 1;
                builder.push_from(&sequences, sequence as SequenceId);
            }
        }
        numbers.iter_mut().for_each(|number| *number = places[representatives[*number]]);
        DistinctSequences { numbers, sequences: Arc::new(builder.build()) }
    }

    /// Returns whether the store contains these sequences in the same order.
    fn is_unchanged(&self) -> bool {
        self.numbers.iter().enumerate().all(|(sequence, &number)| sequence == number)
    }

    /// Returns the alignment of all sequences. Identical sequences have identical rows.
    ///
    /// # Errors
    /// [`Error::Internal`] if `alignment` is not valid.
    pub(super) fn alignment(&self, alignment: MultipleAlignment) -> Result<MultipleAlignment> {
        if self.is_unchanged() {
            return Ok(alignment);
        }
        let rows = self.numbers.iter().map(|&number| alignment.residue_columns(number).to_vec()).collect();
        let all = MultipleAlignment::new(alignment.columns(), rows);
        all.ok_or_else(|| Error::Internal("the columns of an alignment are not increasing".into()))
    }

    /// Returns the confidence of all sequences from that of the distinct sequences. `alignment` is
    /// the alignment of all sequences.
    pub(super) fn confidence(&self, distinct: &Confidence, alignment: &MultipleAlignment) -> Option<Confidence> {
        let rows = self.numbers.iter().map(|&number| distinct.residues(number).to_vec());
        Confidence::new(alignment, rows.collect())
    }

    /// Returns the tree of all sequences. Identical sequences are joined first, by branches of
    /// length 0.
    pub(super) fn tree(&self, tree: GuideTree) -> GuideTree {
        if self.is_unchanged() {
            return tree;
        }
        let leaves = self.numbers.len();
        let mut copies: Vec<Vec<u32>> = vec![Vec::new(); self.sequences.len()];
        for (sequence, &number) in (0..).zip(&self.numbers) {
            copies[number].push(sequence);
        }
        let mut joins: Vec<Join> = Vec::with_capacity(leaves - 1);
        let mut add = |join: Join| {
            joins.push(join);
            (leaves + joins.len() - 1) as u32
        };
        let join_copies = |mut nodes: Vec<u32>, add: &mut dyn FnMut(Join) -> u32| {
            while nodes.len() > 1 {
                nodes = nodes
                    .chunks(2)
                    .map(|nodes| match *nodes {
                        [first, second] => add(Join { children: [first, second], lengths: [0.0; 2] }),
                        _ => nodes[0],
                    })
                    .collect();
            }
            nodes[0]
        };
        let mut nodes: Vec<u32> = copies.into_iter().map(|nodes| join_copies(nodes, &mut add)).collect();
        for join in tree.joins {
            let children = join.children.map(|child| nodes[child as usize]);
            let node = add(Join { children, ..join });
            nodes.push(node);
        }
        GuideTree { leaves, joins }
    }

    /// Removes the leaves of repeated sequences from a tree of all sequences. The first copy in the
    /// order of the tree is kept. A branch gets the total length of the branches that it replaces.
    pub(super) fn prune(&self, tree: &GuideTree) -> GuideTree {
        if self.is_unchanged() {
            return tree.clone();
        }
        let leaves = self.sequences.len();
        // The node that replaces each node, and the length of the branch between them.
        let mut nodes: Vec<Option<(u32, f64)>> = vec![None; tree.leaves];
        let mut is_kept = vec![false; leaves];
        for leaf in tree.order() {
            let number = self.numbers[leaf as usize];
            if !std::mem::replace(&mut is_kept[number], true) {
                nodes[leaf as usize] = Some((number as u32, 0.0));
            }
        }
        let mut joins = Vec::with_capacity(leaves.saturating_sub(1));
        for join in &tree.joins {
            let [first, second] = [0, 1].map(|side| {
                let node = nodes[join.children[side] as usize];
                node.map(|(child, length)| (child, length + join.lengths[side]))
            });
            nodes.push(match (first, second) {
                (Some((a, to_a)), Some((b, to_b))) => {
                    joins.push(Join { children: [a, b], lengths: [to_a, to_b] });
                    Some(((leaves + joins.len() - 1) as u32, 0.0))
                }
                (left, None) | (None, left) => left,
            });
        }
        GuideTree { leaves, joins }
    }

    /// Returns the distances of all sequences; 0 between identical ones.
    pub(super) fn distances(&self, distances: Distances) -> Distances {
        if self.is_unchanged() {
            return distances;
        }
        let mut all = Distances::new(self.numbers.len());
        for (b, &second) in self.numbers.iter().enumerate() {
            for (a, &first) in self.numbers[..b].iter().enumerate().filter(|&(_, &first)| first != second) {
                all.set(a, b, distances.get(first, second));
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seq::{ReadOptions, read_bytes};

    #[test]
    fn duplicates_and_their_order_are_restored() {
        let text = b">a\nMKV\n>b\nMK\n>c\nMKV\n>d\nMKV\n>e\nMK\n>f\nML\n";
        let store = Arc::new(read_bytes("x.fa", text, &ReadOptions::default()).unwrap());
        let distinct = DistinctSequences::new(&store);
        assert_eq!(distinct.sequences.len(), 3);
        assert_eq!((0..3).map(|id| distinct.sequences.name(id)).collect::<Vec<_>>(), ["b", "f", "a"]);
        let alignment = MultipleAlignment::new(3, vec![vec![0, 2], vec![0, 1], vec![0, 1, 2]]).unwrap();
        let all = distinct.alignment(alignment).unwrap();
        let rows: Vec<&[u32]> = (0..6).map(|row| all.residue_columns(row)).collect();
        assert_eq!(rows, [&[0, 1, 2][..], &[0, 2], &[0, 1, 2], &[0, 1, 2], &[0, 2], &[0, 1]]);
        let join = |children, lengths| Join { children, lengths };
        let tree = GuideTree { leaves: 3, joins: vec![join([0, 1], [0.1, 0.2]), join([2, 3], [0.4, 0.3])] };
        let expected = vec![
            join([1, 4], [0.0; 2]),
            join([0, 2], [0.0; 2]),
            join([7, 3], [0.0; 2]),
            join([6, 5], [0.1, 0.2]),
            join([8, 9], [0.4, 0.3]),
        ];
        assert_eq!(distinct.tree(tree), GuideTree { leaves: 6, joins: expected });
        let mut distances = Distances::new(3);
        [(0, 2, 0.5), (1, 2, 0.25), (0, 1, 0.75)].into_iter().for_each(|(a, b, value)| distances.set(a, b, value));
        let all = distinct.distances(distances);
        let actual = [(0, 2), (2, 3), (1, 4), (0, 1), (3, 4), (5, 3), (4, 5)].map(|(a, b)| all.get(a, b));
        assert_eq!(actual, [0.0, 0.0, 0.0, 0.5, 0.5, 0.25, 0.75]);
        // ((c:1,(d:2,b:3):4):5,((a:6,e:7):8,f:9):10)
        let joins = vec![
            join([3, 1], [2.0, 3.0]),
            join([2, 6], [1.0, 4.0]),
            join([0, 4], [6.0, 7.0]),
            join([8, 5], [8.0, 9.0]),
            join([7, 9], [5.0, 10.0]),
        ];
        let joins_left = vec![join([2, 0], [1.0, 7.0]), join([3, 1], [5.0, 19.0])];
        assert_eq!(distinct.prune(&GuideTree { leaves: 6, joins }), GuideTree { leaves: 3, joins: joins_left });
    }

    #[test]
    fn a_tree_of_duplicates_is_pruned_to_one_leaf() {
        let store = Arc::new(read_bytes("x.fa", b">a\nMKV\n>b\nMKV\n>c\nMKV\n", &ReadOptions::default()).unwrap());
        let join = |children| Join { children, lengths: [1.0; 2] };
        let tree = GuideTree { leaves: 3, joins: vec![join([1, 2]), join([3, 0])] };
        assert_eq!(DistinctSequences::new(&store).prune(&tree), GuideTree { leaves: 1, joins: Vec::new() });
    }

    #[test]
    fn distinct_sequences_in_canonical_order_are_unchanged() {
        let store = Arc::new(read_bytes("x.fa", b">a\nMK\n>b\nMKV\n", &ReadOptions::default()).unwrap());
        let distinct = DistinctSequences::new(&store);
        assert!(Arc::ptr_eq(&distinct.sequences, &store));
        let alignment = MultipleAlignment::new(3, vec![vec![0, 2], vec![0, 1, 2]]).unwrap();
        assert_eq!(distinct.alignment(alignment.clone()).unwrap(), alignment);
    }
}
