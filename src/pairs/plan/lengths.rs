//! Excludes pairs whose lengths rule out the minimum coverages. No score has to be computed for them.

use std::ops::Range;

use super::{LengthClass, PlannedChunk};
use crate::engine::queue::ExcludedPairs;
use crate::pairs::{Pairs, PairsBlock, PairsChunk};
use crate::score::CoverageFilter;
use crate::seq::SequenceId;

/// Returns a chunk without the pairs that cannot reach the coverages, and the excluded pairs. The
/// remaining pairs keep their order. A chunk with pairs keeps at least one, so that its results are
/// still delivered.
pub fn exclude(planned: PlannedChunk, coverage: &CoverageFilter) -> (PlannedChunk, ExcludedPairs) {
    if !coverage.is_set() {
        return (planned, ExcludedPairs::default());
    }
    let (queries, chunk, blocks) = planned;
    let of_class = |(class, block): &(LengthClass, PairsBlock)| {
        let class = *class;
        runs(&chunk, block.clone(), coverage).map(move |run| (class, run))
    };
    let mut remaining: Vec<_> = blocks.iter().flat_map(of_class).collect();
    if let (true, Some((class, first))) = (remaining.is_empty(), blocks.first()) {
        remaining.push((*class, pair_run(&chunk, first.query, first.targets.start..first.targets.start + 1)));
    }
    let excluded = ExcludedPairs::between::<Pairs>(&blocks, &remaining);
    ((queries, chunk, remaining), excluded)
}

/// Returns the runs of adjacent targets of a block that may reach the coverages.
fn runs(chunk: &PairsChunk, block: PairsBlock, coverage: &CoverageFilter) -> impl Iterator<Item = PairsBlock> {
    let PairsBlock { query, targets, .. } = block;
    let query_length = chunk.queries.length(query);
    let target = |index: u32| chunk.order[index as usize];
    let may_pass = move |index: u32| {
        let target_length = chunk.targets.length(target(index));
        let is_swapped = chunk.earlier_is_query && target(index) < query;
        let (row, column) = if is_swapped { (target_length, query_length) } else { (query_length, target_length) };
        coverage.may_pass(row, column)
    };
    let mut next = targets.start;
    std::iter::from_fn(move || {
        let start = (next..targets.end).find(|&index| may_pass(index))?;
        let end = (start..targets.end).find(|&index| !may_pass(index)).unwrap_or(targets.end);
        next = end;
        Some(pair_run(chunk, query, start..end))
    })
}

/// Returns the block of a query and a range of targets.
fn pair_run(chunk: &PairsChunk, query: SequenceId, targets: Range<u32>) -> PairsBlock {
    let length = |index: u32| u64::from(chunk.targets.length(chunk.order[index as usize]));
    let symbols: u64 = targets.clone().map(length).sum();
    PairsBlock { query, cells: symbols * u64::from(chunk.queries.length(query)), targets }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::pairs::ResultFilter;
    use crate::pairs::plan::PairsSpec;
    use crate::score::Scoring;
    use crate::seq::{Alphabet, QueryStrands, SequenceStore, Strands};
    use proptest::prelude::*;

    fn store(lengths: &[usize]) -> Arc<SequenceStore> {
        let mut store = SequenceStore::builder(Alphabet::Dna);
        lengths.iter().for_each(|&length| store.push("s", &vec![1; length]).unwrap());
        Arc::new(store.build())
    }

    fn minimum() -> impl Strategy<Value = Option<f64>> {
        prop_oneof![Just(None), (0..=20u32).prop_map(|twentieths| Some(f64::from(twentieths) / 20.0))]
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn exactly_the_pairs_remain_whose_lengths_allow_the_coverages(
            queries in prop::collection::vec(0..60usize, 1..12),
            targets in prop::option::of(prop::collection::vec(0..60usize, 1..12)),
            both_strands in any::<bool>(),
            query in minimum(), target in minimum(), both in minimum(), shorter in minimum(),
        ) {
            let coverage = CoverageFilter { query, target, both, shorter };
            let strand = if both_strands { Strands::Both } else { Strands::Plus };
            let strands = QueryStrands { strand, later_only: both_strands && targets.is_none() };
            let (one, other) = (store(&queries), targets.as_deref().map(store));
            let against = if strands.later_only { Some(Arc::clone(&one)) } else { other };
            let is_triangle = against.is_none();
            let (scoring, filter) = (Arc::new(Scoring::truong()), ResultFilter::Scores);
            let job = PairsSpec { queries: strands.store(&one), against, scoring, filter, strands, parts: None };
            let oriented = |query: u32, target: u32| {
                if is_triangle { (query.min(target), query.max(target)) } else { (query, target) }
            };
            let listed = |chunk: &PairsChunk, block: &PairsBlock| -> Vec<(u32, u32)> {
                let targets = &chunk.order[block.targets.start as usize..block.targets.end as usize];
                targets.iter().map(|&target| (block.query, target)).collect()
            };
            for planned in job.chunks(2_000, 30) {
                let sums = |blocks: &[(LengthClass, PairsBlock)]| {
                    blocks.iter().fold((0, 0), |sums, (_, block)| (sums.0 + block.pairs(), sums.1 + block.cells))
                };
                let (_, chunk, blocks) = &planned;
                let mut expected: Vec<(u32, u32)> =
                    blocks.iter().flat_map(|(_, block)| listed(chunk, block)).collect();
                expected.retain(|&(query, target)| {
                    let (row, column) = oriented(query, target);
                    coverage.may_pass(job.queries.length(row), job.targets().length(column))
                });
                if expected.is_empty() && !blocks.is_empty() {
                    expected.push(listed(chunk, &blocks[0].1)[0]);
                }
                let all = sums(blocks);
                let ((_, chunk, kept), excluded) = exclude(planned, &coverage);
                let remaining: Vec<(u32, u32)> = kept.iter().flat_map(|(_, block)| listed(&chunk, block)).collect();
                prop_assert_eq!(remaining, expected);
                let kept = sums(&kept);
                prop_assert_eq!((kept.0 + excluded.pairs, kept.1 + excluded.cells), all);
            }
        }
    }
}
