//! The plan of an all-against-all comparison. Identical sequences are computed once.
//!
//! A kind is a set of identical sequences. In a pair, the sequence that comes first in the store is
//! the first one, and in rare cases the order changes the result. Two kinds may therefore need both
//! orders. The first sequence of a kind represents the kind as the first sequence of a pair. Its
//! last sequence represents the kind as the second sequence of a pair.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use super::{ClustalBlock, ClustalChunk, ClustalCosts};
use crate::seq::{Code, SequenceId, SequenceStore};
use crate::tree::Distances;

/// Number of kinds that share a list of targets. For n kinds, the lists have n * n / 64 entries.
const KINDS_PER_LIST: usize = 64;

/// The blocks that cover all pairs of a store.
#[derive(Debug, Clone)]
pub struct ClustalPlan {
    /// Data that all blocks share.
    pub chunk: Arc<ClustalChunk>,
    /// Blocks. The query of a block precedes its targets in the store.
    pub blocks: Vec<ClustalBlock>,
    kinds: Arc<SequenceKinds>,
}

/// The kinds of a store: its sets of identical sequences.
#[derive(Debug, Clone)]
struct SequenceKinds {
    /// Kind of each sequence.
    kind_of: Vec<u32>,
    /// First and last sequence of each kind.
    ends: Vec<[SequenceId; 2]>,
    /// Whether two sequences of the kind always align without gaps. Their pair is then not
    /// computed.
    plain: Vec<bool>,
}

impl SequenceKinds {
    fn new(sequences: &SequenceStore, costs: &ClustalCosts) -> Self {
        let mut known: HashMap<&[Code], u32> = HashMap::new();
        let mut kinds = SequenceKinds { kind_of: Vec::new(), ends: Vec::new(), plain: Vec::new() };
        for id in 0..sequences.len() as SequenceId {
            let codes = sequences.codes(id);
            let kind = *known.entry(codes).or_insert(kinds.ends.len() as u32);
            kinds.kind_of.push(kind);
            match kinds.ends.get_mut(kind as usize) {
                Some(ends) => ends[1] = id,
                None => {
                    kinds.ends.push([id; 2]);
                    // Any other alignment has at least one residue pair less, and no pair scores
                    // higher. Therefore it scores less.
                    let best = |&code: &Code| costs.score(code, code).max(1) == costs.max_row_score(code);
                    kinds.plain.push(codes.iter().all(best));
                }
            }
        }
        kinds
    }
}

impl ClustalPlan {
    /// Plans all pairs of a store.
    pub fn new(sequences: Arc<SequenceStore>, costs: Arc<ClustalCosts>) -> Self {
        let kinds = SequenceKinds::new(&sequences, &costs);
        let (mut order, mut targets) = (Vec::new(), Vec::new());
        for start in (0..kinds.ends.len()).step_by(KINDS_PER_LIST) {
            let together = start..kinds.ends.len().min(start + KINDS_PER_LIST);
            add_targets(&sequences, &kinds, together, &mut order, &mut targets);
        }
        let chunk = ClustalChunk { sequences, costs, order: order.into() };
        let blocks = targets.into_iter().map(|(query, targets)| chunk.block(query, targets)).collect();
        ClustalPlan { chunk: Arc::new(chunk), blocks, kinds: Arc::new(kinds) }
    }

    /// Returns the first pair whose scores may exceed 32 bits (see [`ClustalCosts::holds`]), or
    /// `None`.
    pub fn too_long(&self) -> Option<(SequenceId, SequenceId)> {
        let ClustalChunk { sequences, costs, .. } = &*self.chunk;
        let longest = sequences.lengths().iter().copied().max().unwrap_or(0);
        if costs.holds(longest, longest) {
            return None;
        }
        let mut pairs = self.blocks.iter().flat_map(|block| self.chunk.pairs(block));
        pairs.find(|&(a, b)| !costs.holds(sequences.length(a), sequences.length(b)))
    }

    /// Creates a table in which all identities are 0.
    pub fn table(&self) -> IdentityTable {
        let kinds = self.kinds.ends.len();
        let (sequences, kinds_of) = (Arc::clone(&self.chunk.sequences), Arc::clone(&self.kinds));
        IdentityTable { sequences, kinds: kinds_of, identities: vec![0; kinds * kinds] }
    }
}

/// Appends the targets of consecutive kinds to `order`. Appends the query and target ranges of each
/// kind to `targets`.
fn add_targets(
    sequences: &SequenceStore,
    kinds: &SequenceKinds,
    together: Range<usize>,
    order: &mut Vec<SequenceId>,
    targets: &mut Vec<(SequenceId, Range<u32>)>,
) {
    let [first, last] = [together.start, together.end - 1].map(|kind| kinds.ends[kind][0]);
    let after = |id: SequenceId| kinds.ends.iter().map(|ends| ends[1]).filter(move |&other| other > id);
    // `partial` contains the targets that follow only some of the queries in the store. `common`
    // contains those that follow all queries.
    let mut partial: Vec<SequenceId> = after(first).filter(|&other| other <= last).collect();
    partial.sort_unstable();
    let mut common: Vec<SequenceId> = after(last).collect();
    common.sort_by_key(|&other| (Reverse(sequences.length(other)), other));
    let (start, partial_end) = (order.len(), order.len() + partial.len());
    order.extend(partial.iter().chain(&common));
    let end = order.len() as u32;
    for kind in together {
        let [query, itself] = kinds.ends[kind];
        let from = (start + partial.partition_point(|&other| other <= query)) as u32;
        debug_assert!(from as usize <= partial_end);
        let index = (from..end).find(|&index| kinds.plain[kind] && order[index as usize] == itself);
        let ranges = match index {
            Some(index) => [from..index, index + 1..end],
            None => [from..end, end..end],
        };
        targets.extend(ranges.into_iter().filter(|range| !range.is_empty()).map(|range| (query, range)));
    }
}

/// Number of identities of each pair of sequences.
#[derive(Debug, Clone)]
pub struct IdentityTable {
    sequences: Arc<SequenceStore>,
    kinds: Arc<SequenceKinds>,
    /// Identities of each kind as the first sequence, with each kind as the second.
    identities: Vec<u32>,
}

impl IdentityTable {
    fn entry_index(&self, first: SequenceId, second: SequenceId) -> usize {
        let [first, second] = [first, second].map(|id| self.kinds.kind_of[id as usize] as usize);
        first * self.kinds.ends.len() + second
    }

    /// Stores the identities of a planned pair. They apply to all pairs of the same kinds in this
    /// order.
    pub fn set(&mut self, first: SequenceId, second: SequenceId, identities: u32) {
        let index = self.entry_index(first, second);
        self.identities[index] = identities;
    }

    /// Returns the identities of two sequences in either order.
    pub fn get(&self, a: SequenceId, b: SequenceId) -> u32 {
        let (first, second) = (a.min(b), a.max(b));
        let [kind, other] = [first, second].map(|id| self.kinds.kind_of[id as usize]);
        if kind == other && self.kinds.plain[kind as usize] {
            return self.sequences.length(first);
        }
        self.identities[self.entry_index(first, second)]
    }

    /// Returns the percentage of identities relative to the shorter sequence, computed with
    /// ClustalW's `f32` arithmetic. ClustalW prints it truncated.
    pub fn percent(&self, a: SequenceId, b: SequenceId) -> f32 {
        let shorter = self.sequences.length(a).min(self.sequences.length(b));
        if shorter == 0 { 0.0 } else { (100.0 * f64::from(self.get(a, b))) as f32 / shorter as f32 }
    }

    /// Returns ClustalW's distances.
    pub fn distances(&self) -> Distances {
        let mut distances = Distances::new(self.sequences.len());
        for b in 1..self.sequences.len() as SequenceId {
            for a in 0..b {
                let distance = (100.0 - self.percent(a, b)) / 100.0;
                distances.set(a as usize, b as usize, f64::from(distance));
            }
        }
        distances
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clustal::oracle;
    use crate::seq::Alphabet;

    fn store(alphabet: Alphabet, letters: &[&str]) -> Arc<SequenceStore> {
        let mut store = SequenceStore::builder(alphabet);
        letters.iter().for_each(|letters| store.push_letters("s", letters.as_bytes()).unwrap());
        Arc::new(store.build())
    }

    /// Computes all pairs of the plan with the textbook algorithm.
    fn computed(plan: &ClustalPlan) -> (IdentityTable, usize) {
        let (mut table, mut pairs) = (plan.table(), 0);
        for (first, second) in plan.blocks.iter().flat_map(|block| plan.chunk.pairs(block)) {
            let [a, b] = [first, second].map(|id| plan.chunk.sequences.codes(id));
            table.set(first, second, oracle::identities(a, b, &plan.chunk.costs).identities);
            pairs += 1;
        }
        (table, pairs)
    }

    fn check(sequences: Arc<SequenceStore>, costs: ClustalCosts) -> usize {
        let costs = Arc::new(costs);
        let plan = ClustalPlan::new(Arc::clone(&sequences), Arc::clone(&costs));
        assert!(plan.blocks.iter().all(|block| plan.chunk.targets(block).iter().all(|&target| target > block.query)));
        let (table, pairs) = computed(&plan);
        for b in 0..sequences.len() as SequenceId {
            for a in 0..b {
                let expected = oracle::identities(sequences.codes(a), sequences.codes(b), &costs).identities;
                assert_eq!((table.get(a, b), table.get(b, a)), (expected, expected), "{a} {b}");
            }
        }
        pairs
    }

    #[test]
    fn identical_sequences_are_computed_once() {
        let letters = ["ACGTACGT", "ACGAACG", "ACGTACGT", "", "ACGAACG", "TTACGAACGG", "ACGTACGT", "", "CC"];
        // Five kinds give ten pairs. The other five pairs are kinds with several sequences in the
        // opposite order.
        assert_eq!(check(store(Alphabet::Dna, &letters), ClustalCosts::dna()), 15);
        assert_eq!(check(store(Alphabet::Dna, &["ACGT"; 9]), ClustalCosts::dna()), 0);
        assert_eq!(check(store(Alphabet::Dna, &["A", "C", "G"]), ClustalCosts::dna()), 3);
        assert_eq!(check(store(Alphabet::Dna, &[]), ClustalCosts::dna()), 0);
        // X scores 0, so the local alignment of the sequence with itself ends before the X.
        assert_eq!(check(store(Alphabet::Protein, &["MKVX", "MKVX", "MKV", "MKV"]), ClustalCosts::protein()), 2);
    }

    #[test]
    fn all_pairs_of_many_kinds_are_planned() {
        let mut random = fastrand::Rng::with_seed(3);
        let kinds: Vec<String> = (0..90)
            .map(|_| (0..random.usize(1..9)).map(|_| random.choice(['A', 'C', 'G']).unwrap()).collect())
            .collect();
        let letters: Vec<&str> = (0..170).map(|_| kinds[random.usize(..kinds.len())].as_str()).collect();
        check(store(Alphabet::Dna, &letters), ClustalCosts::dna());
    }

    #[test]
    fn pairs_beyond_32_bits_are_reported() {
        let plan = |letters: &[&str]| ClustalPlan::new(store(Alphabet::Dna, letters), Arc::new(ClustalCosts::dna()));
        let [long, other] = [b"A", b"C"].map(|letter| String::from_utf8(letter.repeat(410_000)).unwrap());
        assert_eq!(plan(&["ACGT", &long, "AC", &other]).too_long(), Some((1, 3)));
        // Pairs of identical sequences are not computed, and the sums of a short sequence fit.
        assert_eq!(plan(&["ACGT", &long, "AC", &long]).too_long(), None);
        assert_eq!(plan(&["ACGT", "AC"]).too_long(), None);
    }

    #[test]
    fn distances_match_clustalw() {
        let plan = ClustalPlan::new(
            store(Alphabet::Dna, &["ACGTACG", "ACGTACG", "ACGTTCGA", ""]),
            Arc::new(ClustalCosts::dna()),
        );
        let (table, _) = computed(&plan);
        let distances = table.distances();
        let sixth = f64::from((100.0 - 100.0 * table.get(0, 2) as f32 / 7.0) / 100.0);
        assert_eq!((table.get(0, 2), distances.get(0, 2)), (6, sixth));
        assert_eq!([distances.get(0, 1), distances.get(1, 2), distances.get(2, 3)], [0.0, sixth, 1.0]);
    }
}
