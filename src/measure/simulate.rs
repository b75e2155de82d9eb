//! Random sequences for benchmarks and self-tests: exact numbers of pairs, and families of related
//! genes.

pub(super) mod reads;
pub(super) mod states;

use std::sync::Arc;

use crate::pairs::gpu::tune::random_store;
use crate::pairs::{PairsBatch, PairsBlock, PairsChunk, ResultFilter};
use crate::score::Scoring;
use crate::seq::{Alphabet, Code, SequenceStore};

/// Seed of all random sequences.
pub(super) const SEED: u64 = 0x5eed;

/// Maximum number of targets of a query. Workgroups then have a single query, and stores stay
/// small.
const MAX_TARGETS: u32 = 1024;

/// Pairs of random sequences of one length.
pub(super) struct RandomPairs {
    chunk: Arc<PairsChunk>,
    length: u32,
    pairs: u64,
}

impl RandomPairs {
    /// Creates exactly `pairs` pairs of sequences of `length` symbols. Each of some queries is
    /// paired with up to [`MAX_TARGETS`] targets. All sequences are different.
    pub(super) fn random(scoring: &Arc<Scoring>, filter: ResultFilter, length: u32, pairs: u64) -> Self {
        let targets = pairs.min(MAX_TARGETS.into()).max(1);
        let queries = pairs.div_ceil(targets);
        let store = |count: u64, seed| Arc::new(random_store(scoring.alphabet, count as usize, length as usize, seed));
        let chunk = PairsChunk {
            queries: store(queries, SEED ^ 0x9e37_79b9_0000_0000),
            targets: store(targets, SEED),
            order: (0..targets as u32).collect(),
            scoring: Arc::clone(scoring),
            filter,
            earlier_is_query: false,
        };
        RandomPairs { chunk: Arc::new(chunk), length, pairs }
    }

    /// Returns the number of pairs.
    pub(super) fn pairs(&self) -> u64 {
        self.pairs
    }

    /// Returns the number of cells of all pairs.
    pub(super) fn cells(&self) -> u64 {
        self.pairs * u64::from(self.length).pow(2)
    }

    /// Returns all pairs in batches of `batch_pairs`. The last batch has the rest.
    pub(super) fn batches(&self, batch_pairs: u64) -> Vec<Arc<PairsBatch>> {
        let targets = self.chunk.order.len() as u64;
        let cells = u64::from(self.length).pow(2);
        let mut batches = Vec::new();
        let mut start = 0;
        while start < self.pairs {
            let end = (start + batch_pairs.max(1)).min(self.pairs);
            let mut blocks = Vec::new();
            while start < end {
                let (query, first) = (start / targets, start % targets);
                let count = (targets - first).min(end - start);
                let targets = first as u32..(first + count) as u32;
                blocks.push(PairsBlock { query: query as u32, targets, cells: count * cells });
                start += count;
            }
            batches.push(Arc::new(PairsBatch { chunk: Arc::clone(&self.chunk), blocks }));
        }
        batches
    }
}

/// Returns the first `count` sequences of a store.
pub(super) fn first(store: &Arc<SequenceStore>, count: usize) -> Arc<SequenceStore> {
    if store.len() <= count {
        return Arc::clone(store);
    }
    let mut builder = SequenceStore::builder(store.alphabet());
    (0..count as u32).for_each(|id| builder.push_valid(store.name(id), store.codes(id)));
    Arc::new(builder.build())
}

/// Returns a generator of random numbers (splitmix64, which works well even from a small seed).
pub(super) fn random(seed: u64) -> impl FnMut() -> u32 {
    let mut state = seed;
    move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) as u32
    }
}

/// Number of members of a family of [`genes`].
const FAMILY: usize = 8;

/// Returns `count` random genes in families. Lengths differ from `length` by up to a twentieth. The
/// members of a family differ from their ancestor in 0, 0.5, 1, ... 3.5 percent of symbols. Some
/// pairs of a family therefore reach 97% identity and some nearly do. Pairs of different families
/// do not.
pub(super) fn genes(count: usize, length: usize) -> Arc<SequenceStore> {
    let families = count.div_ceil(FAMILY);
    let ancestors = random_store(Alphabet::Dna, families, length + length / 20, SEED);
    let mut next = random(SEED);
    let mut builder = SequenceStore::builder(Alphabet::Dna);
    for index in 0..count {
        let (family, member) = (index / FAMILY, index % FAMILY);
        let ancestor = ancestors.codes(family as u32);
        // Families differ in length.
        let ancestor = &ancestor[..(ancestor.len() - family * 7 % (length / 10 + 1)).max(1)];
        let codes = mutate(ancestor, MutationRate { changed: 5 * member as u32, of: 1000 }, &mut next);
        builder.push_valid(format!("gene{index}"), &codes);
    }
    Arc::new(builder.build())
}

/// A fraction of symbols that are changed: `changed` out of `of`.
struct MutationRate {
    changed: u32,
    of: u32,
}

/// Returns a relative of a DNA sequence. Most changes are substitutions. A fifth are insertions and
/// deletions of one symbol.
fn mutate(ancestor: &[Code], rate: MutationRate, next: &mut impl FnMut() -> u32) -> Vec<Code> {
    let mut codes: Vec<Code> = Vec::with_capacity(ancestor.len() + 64);
    for &code in ancestor {
        if next() % rate.of >= rate.changed {
            codes.push(code);
            continue;
        }
        match next() % 10 {
            0 => {}
            1 => codes.extend([code, 1 << (next() % 4)]),
            _ => codes.push((code << 1 | code >> 3) & 15),
        }
    }
    if codes.is_empty() {
        codes.push(1);
    }
    codes
}

/// Returns a relative of the first record that differs in `percent` percent of symbols. Most
/// changes are substitutions. A fifth are insertions and deletions of one symbol.
pub(super) fn mutated(store: &Arc<SequenceStore>, percent: u32) -> Arc<SequenceStore> {
    let mut next = random(SEED ^ u64::from(percent));
    let codes = mutate(store.codes(0), MutationRate { changed: percent, of: 100 }, &mut next);
    let mut builder = SequenceStore::builder(store.alphabet());
    builder.push_valid(format!("changed{percent}"), &codes);
    Arc::new(builder.build())
}

/// Returns the sequences of a family. They are random except for about three quarters of symbols,
/// which come from their ancestor.
pub(super) fn family(alphabet: Alphabet, lengths: &[usize]) -> Arc<SequenceStore> {
    let longest = lengths.iter().copied().max().unwrap_or(0);
    let ancestor = random_store(alphabet, 1, longest, SEED);
    let others = random_store(alphabet, lengths.len(), longest, SEED + 1);
    let mut store = SequenceStore::builder(alphabet);
    for (number, &length) in (0..).zip(lengths) {
        // Short sequences use the end of the ancestor, so that they are not all similar.
        let both = others.codes(number)[longest - length..].iter().zip(&ancestor.codes(0)[longest - length..]);
        let codes = both.map(|(&other, &code)| if other % 4 == 0 { other } else { code });
        store.push_valid(others.name(number), &codes.collect::<Vec<Code>>());
    }
    Arc::new(store.build())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::oracle::last_row;
    use crate::jobs::{Job, Run};
    use crate::score::{EditMode, EditScheme, Equality, Limit};
    use std::collections::HashSet;

    #[test]
    fn batches_contain_the_requested_number_of_pairs_once() {
        let scoring = Arc::new(Scoring::truong());
        for (pairs, batch_pairs) in
            [(1, 1), (8, 8), (64, 3), (1024, 1024), (1025, 100), (5000, 4096), (100_000, 30_000)]
        {
            let work = RandomPairs::random(&scoring, ResultFilter::Scores, 5, pairs);
            let batches = work.batches(batch_pairs);
            assert_eq!(batches.len() as u64, pairs.div_ceil(batch_pairs));
            assert_eq!(batches.iter().map(|batch| batch.pairs()).sum::<u64>(), pairs);
            assert_eq!(batches.iter().map(|batch| batch.cells()).sum::<u64>(), work.cells());
            let mut seen = HashSet::new();
            for block in batches.iter().flat_map(|batch| &batch.blocks) {
                assert!((block.query as usize) < batches[0].chunk.queries.len());
                assert!(block.targets.clone().all(|target| seen.insert((block.query, target))), "{pairs}");
            }
        }
    }

    #[test]
    fn relatives_differ_by_the_requested_percentage() {
        let store = Arc::new(random_store(Alphabet::Dna, 1, 2000, SEED));
        let scheme =
            EditScheme { mode: EditMode::Global, equality: Equality::literal(Alphabet::Dna), limit: Limit::None };
        assert_eq!(mutated(&store, 0).codes(0), store.codes(0));
        for percent in [1, 10] {
            let relative = mutated(&store, percent);
            assert_eq!(relative, mutated(&store, percent));
            let row = last_row(store.codes(0), relative.codes(0), &scheme);
            let distance = row[row.len() - 1];
            assert!((10 * percent..25 * percent).contains(&distance), "{distance}");
        }
    }

    #[test]
    fn genes_are_reproducible_and_some_are_similar() {
        let genes_of = |count| genes(count, 300);
        assert_eq!(genes_of(20), genes_of(20));
        let store = genes_of(20);
        assert_eq!(store.len(), 20);
        let few = first(&store, 9);
        assert_eq!((few.len(), few.codes(8)), (9, store.codes(8)));
        let job = crate::AllPairs {
            min_identity: Some(0.97),
            ..crate::AllPairs::new(Arc::clone(&store), Arc::new(Scoring::truong()))
        };
        let run = Run { devices: vec![crate::gpu::adapter::Device::Cpu], threads: 1, ..Run::default() };
        let kept = job.run(&run, |_| Ok(())).unwrap().written;
        // 2 1/2 families have 28 + 28 + 6 pairs. Pairs of the most distant members are below 97%.
        assert!((10..62).contains(&kept), "{kept}");
    }
}
