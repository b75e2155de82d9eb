//! Which pairs are computed: of sequences that are the same, one stands for all.
//!
//! In a pair the sequence that comes first in the store is the first one, and in rare cases it matters which is. So of two
//! kinds of sequences there may be pairs both ways round. A kind's first sequence is the first of all its pairs, and its
//! last one the second.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use super::{ClustalBlock, ClustalChunk, ClustalCosts};
use crate::seq::{Code, SequenceId, SequenceStore};
use crate::tree::Distances;

/// Kinds that share a list of targets. Of n kinds, lists have n / 64 times as many places as there are kinds.
const TOGETHER: usize = 64;

/// All pairs of a store.
#[derive(Debug, Clone)]
pub struct Plan {
    /// What all blocks share.
    pub chunk: Arc<ClustalChunk>,
    /// The blocks: every query comes before its targets in the store.
    pub blocks: Vec<ClustalBlock>,
    kinds: Arc<Kinds>,
}

/// Sequences that are the same.
#[derive(Debug, Clone)]
struct Kinds {
    /// The kind of each sequence.
    of: Vec<u32>,
    /// The first sequence of each kind and the last.
    ends: Vec<[SequenceId; 2]>,
    /// Whether a sequence of the kind is aligned with itself residue by residue, and nothing has to be computed.
    plain: Vec<bool>,
}

impl Kinds {
    fn new(sequences: &SequenceStore, costs: &ClustalCosts) -> Self {
        let mut known: HashMap<&[Code], u32> = HashMap::new();
        let mut kinds = Kinds { of: Vec::new(), ends: Vec::new(), plain: Vec::new() };
        for id in 0..sequences.len() as SequenceId {
            let codes = sequences.codes(id);
            let kind = *known.entry(codes).or_insert(kinds.ends.len() as u32);
            kinds.of.push(kind);
            match kinds.ends.get_mut(kind as usize) {
                Some(ends) => ends[1] = id,
                None => {
                    kinds.ends.push([id; 2]);
                    // No other alignment scores as much: it has a pair less, and no pair that scores more.
                    let best = |&code: &Code| costs.score(code, code).max(1) == costs.row_most(code);
                    kinds.plain.push(codes.iter().all(best));
                }
            }
        }
        kinds
    }
}

impl Plan {
    /// Of all sequences.
    pub fn new(sequences: Arc<SequenceStore>, costs: Arc<ClustalCosts>) -> Self {
        let kinds = Kinds::new(&sequences, &costs);
        let (mut order, mut targets) = (Vec::new(), Vec::new());
        for begin in (0..kinds.ends.len()).step_by(TOGETHER) {
            let together = begin..kinds.ends.len().min(begin + TOGETHER);
            add_targets(&sequences, &kinds, together, &mut order, &mut targets);
        }
        let chunk = ClustalChunk { sequences, costs, order: order.into() };
        let blocks = targets.into_iter().map(|(query, targets)| chunk.block(query, targets)).collect();
        Plan { chunk: Arc::new(chunk), blocks, kinds: Arc::new(kinds) }
    }

    /// A pair of which 32 bits do not hold the scores, if there is one ([`ClustalCosts::holds`]).
    pub fn too_long(&self) -> Option<(SequenceId, SequenceId)> {
        let ClustalChunk { sequences, costs, .. } = &*self.chunk;
        let longest = sequences.lengths().iter().copied().max().unwrap_or(0);
        if costs.holds(longest, longest) {
            return None;
        }
        let mut pairs = self.blocks.iter().flat_map(|block| self.chunk.pairs(block));
        pairs.find(|&(a, b)| !costs.holds(sequences.length(a), sequences.length(b)))
    }

    /// A table without identities yet.
    pub fn table(&self) -> Table {
        let kinds = self.kinds.ends.len();
        let (sequences, kinds_of) = (Arc::clone(&self.chunk.sequences), Arc::clone(&self.kinds));
        Table { sequences, kinds: kinds_of, identities: vec![0; kinds * kinds] }
    }
}

/// Lists the targets of some kinds that follow each other, and where each kind's are.
fn add_targets(
    sequences: &SequenceStore,
    kinds: &Kinds,
    together: Range<usize>,
    order: &mut Vec<SequenceId>,
    targets: &mut Vec<(SequenceId, Range<u32>)>,
) {
    let [first, last] = [together.start, together.end - 1].map(|kind| kinds.ends[kind][0]);
    let after = |id: SequenceId| kinds.ends.iter().map(|ends| ends[1]).filter(move |&other| other > id);
    // Those after some of them only, and those after all.
    let mut own: Vec<SequenceId> = after(first).filter(|&other| other <= last).collect();
    own.sort_unstable();
    let mut common: Vec<SequenceId> = after(last).collect();
    common.sort_by_key(|&other| (Reverse(sequences.length(other)), other));
    let (begin, own_end) = (order.len(), order.len() + own.len());
    order.extend(own.iter().chain(&common));
    let end = order.len() as u32;
    for kind in together {
        let [query, itself] = kinds.ends[kind];
        let from = (begin + own.partition_point(|&other| other <= query)) as u32;
        debug_assert!(from as usize <= own_end);
        let place = (from..end).find(|&place| kinds.plain[kind] && order[place as usize] == itself);
        let ranges = match place {
            Some(place) => [from..place, place + 1..end],
            None => [from..end, end..end],
        };
        targets.extend(ranges.into_iter().filter(|range| !range.is_empty()).map(|range| (query, range)));
    }
}

/// Identities of all pairs.
#[derive(Debug, Clone)]
pub struct Table {
    sequences: Arc<SequenceStore>,
    kinds: Arc<Kinds>,
    /// Of each kind as the first, with each as the second.
    identities: Vec<u32>,
}

impl Table {
    fn place(&self, first: SequenceId, second: SequenceId) -> usize {
        let [first, second] = [first, second].map(|id| self.kinds.of[id as usize] as usize);
        first * self.kinds.ends.len() + second
    }

    /// Says how many identities a pair of the plan has, and with it all pairs of the same kinds.
    pub fn set(&mut self, first: SequenceId, second: SequenceId, identities: u32) {
        let place = self.place(first, second);
        self.identities[place] = identities;
    }

    /// The identities of two sequences in either order.
    pub fn get(&self, a: SequenceId, b: SequenceId) -> u32 {
        let (first, second) = (a.min(b), a.max(b));
        let [kind, other] = [first, second].map(|id| self.kinds.of[id as usize]);
        if kind == other && self.kinds.plain[kind as usize] {
            return self.sequences.length(first);
        }
        self.identities[self.place(first, second)]
    }

    /// Percent of identities, of the residues of the shorter sequence, in ClustalW's numbers; it prints them cut off.
    pub fn percent(&self, a: SequenceId, b: SequenceId) -> f32 {
        let shorter = self.sequences.length(a).min(self.sequences.length(b));
        if shorter == 0 { 0.0 } else { (100.0 * f64::from(self.get(a, b))) as f32 / shorter as f32 }
    }

    /// ClustalW's distances.
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

    /// All pairs of the plan by the textbook.
    fn computed(plan: &Plan) -> (Table, usize) {
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
        let plan = Plan::new(Arc::clone(&sequences), Arc::clone(&costs));
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
    fn one_of_sequences_that_are_the_same_stands_for_all() {
        let letters = ["ACGTACGT", "ACGAACG", "ACGTACGT", "", "ACGAACG", "TTACGAACGG", "ACGTACGT", "", "CC"];
        // Five kinds: ten pairs, and of the five of those that come again both ways round.
        assert_eq!(check(store(Alphabet::Dna, &letters), ClustalCosts::dna()), 15);
        assert_eq!(check(store(Alphabet::Dna, &["ACGT"; 9]), ClustalCosts::dna()), 0);
        assert_eq!(check(store(Alphabet::Dna, &["A", "C", "G"]), ClustalCosts::dna()), 3);
        assert_eq!(check(store(Alphabet::Dna, &[]), ClustalCosts::dna()), 0);
        // X scores nothing, so that its sequence does not reach its end.
        assert_eq!(check(store(Alphabet::Protein, &["MKVX", "MKVX", "MKV", "MKV"]), ClustalCosts::protein()), 2);
    }

    #[test]
    fn many_kinds_are_all_met() {
        let mut random = fastrand::Rng::with_seed(3);
        let kinds: Vec<String> = (0..90)
            .map(|_| (0..random.usize(1..9)).map(|_| random.choice(['A', 'C', 'G']).unwrap()).collect())
            .collect();
        let letters: Vec<&str> = (0..170).map(|_| kinds[random.usize(..kinds.len())].as_str()).collect();
        check(store(Alphabet::Dna, &letters), ClustalCosts::dna());
    }

    #[test]
    fn pairs_beyond_32_bits_are_told() {
        let plan = |letters: &[&str]| Plan::new(store(Alphabet::Dna, letters), Arc::new(ClustalCosts::dna()));
        let [long, other] = [b"A", b"C"].map(|letter| String::from_utf8(letter.repeat(410_000)).unwrap());
        assert_eq!(plan(&["ACGT", &long, "AC", &other]).too_long(), Some((1, 3)));
        // Nothing is computed of sequences that are the same, and little of one that is short.
        assert_eq!(plan(&["ACGT", &long, "AC", &long]).too_long(), None);
        assert_eq!(plan(&["ACGT", "AC"]).too_long(), None);
    }

    #[test]
    fn distances_are_clustalws_numbers() {
        let plan =
            Plan::new(store(Alphabet::Dna, &["ACGTACG", "ACGTACG", "ACGTTCGA", ""]), Arc::new(ClustalCosts::dna()));
        let (table, _) = computed(&plan);
        let distances = table.distances();
        let sixth = f64::from((100.0 - 100.0 * table.get(0, 2) as f32 / 7.0) / 100.0);
        assert_eq!((table.get(0, 2), distances.get(0, 2)), (6, sixth));
        assert_eq!([distances.get(0, 1), distances.get(1, 2), distances.get(2, 3)], [0.0, sixth, 1.0]);
    }
}
