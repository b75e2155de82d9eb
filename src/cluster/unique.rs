//! Sets of identical sequences.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use super::UniqueId;
use crate::seq::{Code, SequenceId, SequenceStore, Strand, reverse_complement};

/// An input sequence in a [`UniqueSet`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UniqueRecord {
    /// Number of the sequence in the input.
    pub record: SequenceId,
    /// The strand of the sequence that equals the representative.
    pub strand: Strand,
}

/// The different sequences of an input, each with the input sequences that are identical to it.
///
/// Sequences are ordered by abundance (descending), then by length (descending), then by symbols.
/// This order does not depend on the order of the input. Case, and U or T, make no difference.
#[derive(Debug, Clone)]
pub struct UniqueSet {
    /// The different sequences. Each has the name and the strand of its first record.
    pub store: Arc<SequenceStore>,
    /// Abundance of each sequence: the sum over its records.
    pub sizes: Vec<u64>,
    /// Records of all sequences.
    records: Vec<UniqueRecord>,
    /// End of each sequence's records in `records`.
    ends: Vec<u32>,
}

impl UniqueSet {
    /// Groups identical sequences. `sizes` has the abundance of each input sequence. If
    /// `both_strands` is set, a sequence is identical to its reverse complement too.
    ///
    /// Records of a group are ordered by abundance (descending), then by name, then by symbols.
    pub fn new(input: &SequenceStore, sizes: &[u64], both_strands: bool) -> Self {
        let mut groups: HashMap<Cow<'_, [Code]>, Vec<SequenceId>> = HashMap::new();
        for record in 0..input.len() as SequenceId {
            let codes = input.codes(record);
            let reverse = if both_strands { reverse_complement(codes) } else { Vec::new() };
            let key = if both_strands && *reverse < *codes { Cow::Owned(reverse) } else { Cow::Borrowed(codes) };
            groups.entry(key).or_default().push(record);
        }
        let mut groups: Vec<Vec<SequenceId>> = groups.into_values().collect();
        let order = |&record: &SequenceId| {
            (std::cmp::Reverse(sizes[record as usize]), input.name_bytes(record), input.codes(record), record)
        };
        groups.iter_mut().for_each(|records| records.sort_unstable_by(|a, b| order(a).cmp(&order(b))));
        let size =
            |records: &[SequenceId]| records.iter().map(|&record| sizes[record as usize]).fold(0, u64::saturating_add);
        let mut groups: Vec<(u64, Vec<SequenceId>)> =
            groups.into_iter().map(|records| (size(&records), records)).collect();
        groups.sort_unstable_by(|(size_a, a), (size_b, b)| {
            let (codes_a, codes_b) = (input.codes(a[0]), input.codes(b[0]));
            size_b.cmp(size_a).then(codes_b.len().cmp(&codes_a.len())).then(codes_a.cmp(codes_b))
        });
        let mut store = SequenceStore::builder(input.alphabet());
        let (mut unique_sizes, mut records, mut ends) = (Vec::new(), Vec::with_capacity(input.len()), Vec::new());
        for (size, group) in groups {
            let codes = input.codes(group[0]);
            store.push_renamed(input, group[0], codes);
            unique_sizes.push(size);
            let strand = |&record: &SequenceId| if input.codes(record) == codes { Strand::Plus } else { Strand::Minus };
            records.extend(group.iter().map(|record| UniqueRecord { record: *record, strand: strand(record) }));
            ends.push(records.len() as u32);
        }
        UniqueSet { store: Arc::new(store.build()), sizes: unique_sizes, records, ends }
    }

    /// Returns the number of different sequences.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns whether there are no sequences.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the input sequences that are identical to a sequence. The first one represents them.
    pub fn records(&self, sequence: UniqueId) -> &[UniqueRecord] {
        let index = sequence as usize;
        let start = if index == 0 { 0 } else { self.ends[index - 1] as usize };
        &self.records[start..self.ends[index] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seq::{ReadOptions, read_bytes};

    fn unique(text: &str, both_strands: bool) -> Vec<(String, u64, Vec<String>)> {
        let store = read_bytes("x.fa", text.as_bytes(), &ReadOptions::default()).unwrap();
        let sizes: Vec<u64> = (0..store.len() as u32)
            .map(|id| super::super::annotations::abundance(store.name_bytes(id)).unwrap())
            .collect();
        let set = UniqueSet::new(&store, &sizes, both_strands);
        let name = |one: &UniqueRecord| {
            format!("{}{}", store.name(one.record), if one.strand == Strand::Minus { "-" } else { "" })
        };
        (0..set.len() as u32)
            .map(|id| (set.store.letters(id), set.sizes[id as usize], set.records(id).iter().map(name).collect()))
            .collect()
    }

    #[test]
    fn sequences_are_ordered_by_abundance_then_length_then_symbols() {
        let text = ">a\nAC\n>b;size=2\nGGT\n>c\nACG\n>d\nAGG\n>e\nac\n>f;size=2\nAU\n";
        let expected = [
            ("GGT", 2, vec!["b;size=2"]),
            ("AC", 2, vec!["a", "e"]),
            ("AT", 2, vec!["f;size=2"]),
            ("ACG", 1, vec!["c"]),
            ("AGG", 1, vec!["d"]),
        ];
        let expected: Vec<_> = expected
            .map(|(letters, size, names)| (letters.to_owned(), size, names.into_iter().map(str::to_owned).collect()))
            .into();
        assert_eq!(unique(text, false), expected);
    }

    #[test]
    fn reverse_complements_are_identical_only_with_both_strands() {
        let text = ">a\nAACG\n>b;size=3\nCGTT\n>c\nAACG\n>p\nACGT\n>q\nACGT\n";
        assert_eq!(unique(text, false).len(), 3);
        let both = unique(text, true);
        assert_eq!(both.len(), 2);
        assert_eq!(both[0], ("CGTT".into(), 5, vec!["b;size=3".into(), "a-".into(), "c-".into()]));
        assert_eq!(both[1], ("ACGT".into(), 2, vec!["p".into(), "q".into()]));
    }

    #[test]
    fn the_order_of_the_input_makes_no_difference() {
        let mut rng = fastrand::Rng::with_seed(7);
        let mut records: Vec<String> = (0..200)
            .map(|index| {
                let letters: String = (0..rng.usize(1..5)).map(|_| ['A', 'C', 'G', 'T'][rng.usize(..4)]).collect();
                format!(">r{index};size={}\n{letters}\n", rng.usize(1..4))
            })
            .collect();
        for both_strands in [false, true] {
            let expected = unique(&records.concat(), both_strands);
            assert_eq!(expected.iter().map(|(_, _, names)| names.len()).sum::<usize>(), 200);
            rng.shuffle(&mut records);
            assert_eq!(unique(&records.concat(), both_strands), expected, "seed 7");
        }
    }
}
