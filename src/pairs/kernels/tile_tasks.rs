//! Divides a batch into runs of queries against targets for the `sw_tile` kernels, and divides runs
//! into tasks.

use std::cmp::Reverse;
use std::ops::Range;

use super::sw_tile::{PART_BEGIN, PART_END, PART_EXISTS, PART_FIRST, TilePart, TileTask, TileVariant};
use crate::pairs::{PairsBatch, PairsChunk};
use crate::seq::SequenceId;

/// A query of a run, with the index of its first pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChainLink {
    /// Id of the query.
    pub query: SequenceId,
    /// Index of the query's pair with the run's first target.
    pub pairs_begin: u32,
}

/// Queries against a range of a chunk's targets. The queries of a chain are computed one after
/// another. The two chains of a run are computed at the same time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TileRun {
    /// The queries of the two chains. If there is a single query, the second chain is empty.
    pub chains: [Vec<ChainLink>; 2],
    /// Range of the targets in the chunk's order.
    pub targets: Range<u32>,
}

impl TileRun {
    /// Returns a run with a single query.
    pub fn single_query(query: SequenceId, pairs_begin: u32, targets: Range<u32>) -> Self {
        TileRun { chains: [vec![ChainLink { query, pairs_begin }], Vec::new()], targets }
    }

    /// Returns all queries of the run.
    pub fn links(&self) -> impl Iterator<Item = &ChainLink> {
        self.chains.iter().flatten()
    }

    /// Returns the number of pairs.
    pub fn pairs(&self) -> u64 {
        self.targets.len() as u64 * self.links().count() as u64
    }

    /// Returns the number of lanes of the longer chain over all passes.
    pub fn lanes(&self, chunk: &PairsChunk, variant: &TileVariant) -> u32 {
        let chain_lanes = |chain: &Vec<ChainLink>| -> u32 {
            chain.iter().map(|link| variant.lanes_of(chunk.queries.length(link.query))).sum()
        };
        self.chains.iter().map(chain_lanes).max().unwrap_or(0)
    }

    /// Returns the number of passes over the longer chain.
    pub fn passes(&self, chunk: &PairsChunk, variant: &TileVariant) -> u32 {
        self.lanes(chunk, variant).div_ceil(variant.lanes)
    }

    /// Returns the run restricted to a range of its targets.
    fn cut(&self, targets: Range<u32>) -> Self {
        let before = targets.start - self.targets.start;
        let link = |link: &ChainLink| ChainLink { pairs_begin: link.pairs_begin + before, ..*link };
        TileRun { chains: self.chains.each_ref().map(|chain| chain.iter().map(link).collect()), targets }
    }

    /// Divides a run whose targets have decreasing lengths into two: the targets of more than
    /// `most_rows` rows, and the others. Either may be empty.
    pub fn divided(self, chunk: &PairsChunk, most_rows: u64) -> [Self; 2] {
        let Range { start, end } = self.targets.clone();
        let ids = &chunk.order[start as usize..end as usize];
        let is_long = |target: &SequenceId| u64::from(chunk.targets.length(*target)) > most_rows;
        // If targets are in another order, the first run contains all targets up to the last long
        // one.
        let middle = start + ids.iter().rposition(is_long).map_or(0, |last| last as u32 + 1);
        [self.cut(start..middle), self.cut(middle..end)]
    }
}

/// Returns the number of pairs before each block of a batch.
pub fn block_begins(batch: &PairsBatch) -> Vec<u64> {
    let before = |sum: &mut u64, pairs: u64| Some(std::mem::replace(sum, *sum + pairs));
    batch.blocks.iter().scan(0, |sum, block| before(sum, block.pairs())).collect()
}

/// Returns the runs of a batch, each with one query.
pub fn single_runs(batch: &PairsBatch) -> Vec<TileRun> {
    let begins = block_begins(batch);
    let blocks = batch.blocks.iter().zip(begins).filter(|(block, _)| !block.targets.is_empty());
    let run = |(block, begin): (&crate::pairs::PairsBlock, u64)| {
        TileRun::single_query(block.query, begin as u32, block.targets.clone())
    };
    blocks.map(run).collect()
}

/// Greatest number of runs that are examined in the search for a run to join.
const MAX_LOOKED_AT: usize = 64;
/// Least number of passes for which chains get queries. With more passes, the empty lanes of the
/// last pass weigh less.
const CHAIN_PASSES: u32 = 16;

/// Joins runs of one query. The queries of a chain, or of two chains that are computed at the same
/// time, fill several passes. The second chain must fill at least `least_fill` of the first. Runs
/// are joined only over their common targets. Returns the joined runs, and the runs for all
/// remaining targets.
pub fn chained_runs(
    singles: Vec<TileRun>,
    chunk: &PairsChunk,
    variant: &TileVariant,
    least_fill: f64,
) -> (Vec<TileRun>, Vec<TileRun>) {
    let chains = variant.queries();
    let mut all: Vec<(u32, TileRun)> = singles.into_iter().map(|run| (run.lanes(chunk, variant), run)).collect();
    all.sort_by_key(|(lanes, run)| (Reverse(*lanes), run.targets.start));
    // For a run that is taken, the next index to examine instead. Other entries are their own
    // index.
    let mut next: Vec<usize> = (0..=all.len()).collect();
    let (mut together, mut rest) = (Vec::new(), Vec::new());
    for first in 0..all.len() {
        if free(&mut next, first) != first {
            continue;
        }
        next[first] = first + 1;
        let (lanes, run) = &all[first];
        let most = lanes.div_ceil(variant.lanes).max(CHAIN_PASSES) * variant.lanes;
        let mut members = [vec![first], Vec::new()];
        let (mut filled, mut common) = ([*lanes, 0], run.targets.clone());
        loop {
            // Extends the shorter chain, so that both chains end at about the same time.
            let shorter = usize::from(chains == 2 && filled[1] < filled[0]);
            let gap = most - filled[shorter];
            let begin = all.partition_point(|(lanes, _)| *lanes > gap);
            let mut index = free(&mut next, begin.max(first + 1));
            let mut looked_at = 0;
            let fitting = loop {
                if index >= all.len() || looked_at == MAX_LOOKED_AT {
                    break None;
                }
                let others = &all[index].1.targets;
                let both = common.start.max(others.start)..common.end.min(others.end);
                // If the common targets are few, computing the remaining ones alone costs more than
                // joining saves.
                if both.len() * 10 >= 9 * common.len().max(others.len()) {
                    break Some((index, both));
                }
                looked_at += 1;
                index = free(&mut next, index + 1);
            };
            let Some((index, both)) = fitting else { break };
            next[index] = index + 1;
            members[shorter].push(index);
            (common, filled[shorter]) = (both, filled[shorter] + all[index].0);
        }
        if chains == 2 && f64::from(filled[1]) < least_fill * f64::from(filled[0]) {
            members.iter().flatten().skip(1).for_each(|&index| next[index] = index);
            rest.push(run.clone());
            continue;
        }
        let chain =
            |of: &Vec<usize>| of.iter().flat_map(|&index| all[index].1.cut(common.clone()).chains[0].clone()).collect();
        together.push(TileRun { chains: members.each_ref().map(chain), targets: common.clone() });
        for single in members.iter().flatten().map(|&index| &all[index].1) {
            let left = [single.targets.start..common.start, common.end..single.targets.end];
            rest.extend(left.into_iter().filter(|left| !left.is_empty()).map(|left| single.cut(left)));
        }
    }
    (together, rest)
}

/// Returns the first index from `from` on that is not taken. The entry of a taken index is a later
/// index.
fn free(next: &mut [usize], from: usize) -> usize {
    let mut end = from;
    while next[end] != end {
        end = next[end];
    }
    let mut index = from;
    while next[index] != index {
        index = std::mem::replace(&mut next[index], end);
    }
    end
}

/// Divides runs into tasks of at most `targets` targets. Tasks with many cells come first, so that
/// all end at about the same time. Appends the parts of the tasks' passes to `parts`.
/// `query_end_word` returns the index of the word after a query's last symbol in its buffer.
/// `floor` returns the threshold from which a query's pairs are listed.
pub fn tasks(
    runs: &[TileRun],
    chunk: &PairsChunk,
    variant: &TileVariant,
    targets: u32,
    query_end_word: impl Fn(SequenceId) -> u32,
    floor: impl Fn(SequenceId) -> i32,
    parts: &mut Vec<TilePart>,
) -> Vec<TileTask> {
    let mut all = Vec::new();
    for run in runs {
        let passes = run.passes(chunk, variant);
        let parts_begin = parts.len();
        let each = variant.queries();
        parts.resize(parts_begin + (passes * variant.lanes) as usize * each, bytemuck::Zeroable::zeroed());
        for (which, chain) in run.chains[..each].iter().enumerate() {
            let mut lane = 0;
            for link in chain {
                let symbols = chunk.queries.length(link.query);
                let begin = lane;
                let end = begin + variant.lanes_of(symbols);
                while lane < end {
                    let state = |is: bool, bit: u32| if is { bit } else { 0 };
                    let is_first = lane / variant.lanes == begin / variant.lanes;
                    parts[parts_begin + lane as usize * each + which] = TilePart {
                        end_word: query_end_word(link.query),
                        words: symbols.div_ceil(4),
                        words_left: (end - lane) * variant.lane_words(),
                        pairs_begin: link.pairs_begin,
                        floor: floor(link.query),
                        state: PART_EXISTS
                            | state(lane == begin, PART_BEGIN)
                            | state(is_first, PART_FIRST)
                            | state(lane + 1 == end, PART_END),
                    };
                    lane += 1;
                }
            }
        }
        let whole = TileTask { parts_begin: parts_begin as u32, passes, ..bytemuck::Zeroable::zeroed() };
        for first in run.targets.clone().step_by(targets.max(1) as usize) {
            let count = targets.max(1).min(run.targets.end - first);
            let words = chunk.longest(first..first + count).div_ceil(4);
            all.push(TileTask { first, count, before: first - run.targets.start, words, ..whole });
        }
    }
    all.sort_by_key(|task| Reverse(u64::from(task.passes) * u64::from(task.words)));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::kernels::{LaneGrouping, Packing};
    use crate::pairs::plan::PairsSpec;
    use crate::pairs::{PairsBlock, ResultFilter};
    use crate::score::{Gaps, Scoring};
    use crate::seq::{Alphabet, QueryStrands, SequenceStore};
    use std::collections::HashMap;
    use std::sync::Arc;

    fn store(lengths: impl Iterator<Item = usize>) -> Arc<SequenceStore> {
        let mut store = SequenceStore::builder(Alphabet::Dna);
        lengths.for_each(|length| store.push("s", &vec![1; length]).unwrap());
        Arc::new(store.build())
    }

    fn batch(job: PairsSpec) -> PairsBatch {
        let (_, chunk, blocks) = job.chunks(u64::MAX, u64::MAX).next().unwrap();
        PairsBatch { chunk, blocks: blocks.into_iter().map(|(_, block)| block).collect() }
    }

    fn job(queries: Arc<SequenceStore>, against: Option<Arc<SequenceStore>>) -> PairsSpec {
        let (scoring, filter) = (Arc::new(Scoring::truong()), ResultFilter::Scores);
        PairsSpec { queries, against, scoring, filter, strands: QueryStrands::default(), parts: None }
    }

    /// Checks that every pair of the batch is in one run, at its index.
    fn check(batch: &PairsBatch, runs: &[TileRun]) {
        let begins = block_begins(batch);
        let mut expected = HashMap::new();
        for (PairsBlock { query, targets, .. }, begin) in batch.blocks.iter().zip(begins) {
            expected.extend((targets.clone()).zip(begin..).map(|(position, index)| ((*query, position), index)));
        }
        let mut seen = 0;
        for run in runs {
            for link in run.links() {
                for (position, index) in run.targets.clone().zip(link.pairs_begin..) {
                    assert_eq!(expected.get(&(link.query, position)), Some(&u64::from(index)), "{run:?}");
                    seen += 1;
                }
            }
        }
        assert_eq!(seen, expected.len());
    }

    fn variant(lanes: u32, columns: u32) -> TileVariant {
        TileVariant {
            grouping: LaneGrouping::Subgroup,
            packing: Packing::Queries,
            lanes,
            columns,
            workgroup: 16,
            codes: 16,
            gaps: Gaps::from_blast(11, 1),
            group: None,
            passes: true,
            split: false,
        }
    }

    #[test]
    fn every_pair_is_in_one_run() {
        let lengths = || (0..23).map(|index| 40 + index * 7 % 31);
        for against in [None, Some(store((0..40).map(|index| 5 + index)))] {
            let batch = batch(job(store(lengths()), against.clone()));
            let singles = single_runs(&batch);
            check(&batch, &singles);
            for columns in [4, 8, 24] {
                let (together, rest) = chained_runs(singles.clone(), &batch.chunk, &variant(4, columns), 0.4);
                check(&batch, &[&together[..], &rest[..]].concat());
                assert!(together.iter().all(|run| !run.chains[1].is_empty()));
                assert!(rest.iter().all(|run| run.links().count() == 1));
                let pairs: u64 = together.iter().map(TileRun::pairs).sum();
                assert!(against.is_none() || 10 * pairs > 9 * batch.pairs(), "{pairs} of {}", batch.pairs());
                for run in together.iter().chain(&rest) {
                    let divided = run.clone().divided(&batch.chunk, 20);
                    let lengths = |run: &TileRun| -> Vec<u32> {
                        run.targets.clone().map(|position| batch.chunk.longest(position..position + 1)).collect()
                    };
                    assert!(lengths(&divided[1]).iter().all(|&length| length <= 20));
                    assert_eq!(divided.each_ref().map(TileRun::pairs).iter().sum::<u64>(), run.pairs());
                }
                let divided: Vec<TileRun> =
                    [together, rest].concat().into_iter().flat_map(|run| run.divided(&batch.chunk, 20)).collect();
                check(&batch, &divided);
            }
        }
    }

    /// A pass has four lanes of 4 columns each, so that chains have at least 64 lanes.
    #[test]
    fn chains_are_filled_equally() {
        let of = |lengths: &[usize]| -> [Vec<[Vec<SequenceId>; 2]>; 2] {
            let batch = batch(job(store(lengths.iter().copied()), Some(store([9, 8, 7].into_iter()))));
            let queries =
                |run: &TileRun| run.chains.each_ref().map(|chain| chain.iter().map(|link| link.query).collect());
            let (together, rest) = chained_runs(single_runs(&batch), &batch.chunk, &variant(4, 4), 0.4);
            [&together, &rest].map(|runs| runs.iter().map(queries).collect())
        };
        // 20, 5, 16 and 11 lanes: 20 + 5 next to 16 + 11.
        assert_eq!(of(&[80, 20, 64, 41]), [vec![[vec![0, 1], vec![2, 3]]], vec![]]);
        // 20, 5, 8 and 11 lanes.
        assert_eq!(of(&[80, 20, 30, 41]), [vec![[vec![0], vec![3, 2, 1]]], vec![]]);
        // 65, 60, 10, 8 and 3 lanes: 17 passes have 68 lanes, which leaves no space for 10.
        assert_eq!(of(&[260, 240, 40, 30, 12]), [vec![[vec![0, 4], vec![1, 3]]], vec![[vec![2], vec![]]]]);
    }

    #[test]
    fn a_single_chain_takes_all_queries() {
        let batch = batch(job(store([80, 20, 300].into_iter()), Some(store([9, 8].into_iter()))));
        let variant = TileVariant { packing: Packing::Targets, ..variant(4, 4) };
        let (together, rest) = chained_runs(single_runs(&batch), &batch.chunk, &variant, 0.65);
        check(&batch, &together);
        let chains: Vec<Vec<u32>> =
            together.iter().map(|run| run.chains[0].iter().map(|link| link.query).collect()).collect();
        // 75 lanes in 19 passes leave one lane. The other two queries share a chain.
        assert_eq!((chains, rest.len()), (vec![vec![2], vec![0, 1]], 0));
    }

    #[test]
    fn tasks_have_the_pairs_of_their_runs() {
        let batch = batch(job(store([30, 20, 9].into_iter()), Some(store((1..50).rev()))));
        let variant = variant(4, 4);
        let singles = single_runs(&batch);
        let (together, rest) = chained_runs(singles.clone(), &batch.chunk, &variant, 0.4);
        assert_eq!((together.len(), rest.len()), (1, 0));
        let of = |runs: &[TileRun]| {
            let mut parts = vec![bytemuck::Zeroable::zeroed()];
            (tasks(runs, &batch.chunk, &variant, 8, |query| 100 + query, |query| query as i32, &mut parts), parts)
        };
        let (two, parts) = of(&together);
        assert_eq!(two.len(), 7);
        let task = |first: u32, count: u32, words: u32| TileTask {
            parts_begin: 1,
            passes: 2,
            first,
            count,
            before: first,
            words,
        };
        assert_eq!((two[0], two[6]), (task(0, 8, 13), task(48, 1, 1)));
        let part = |query: u32, words: u32, words_left: u32, state: u32| TilePart {
            end_word: 100 + query,
            words,
            words_left,
            pairs_begin: 49 * query,
            floor: query as i32,
            state,
        };
        let first = [7, 5, 5, 5, 1, 1, 1, 9].into_iter().zip((1..9).rev()).map(|(state, left)| part(0, 8, left, state));
        let second = [7, 5, 5, 5, 9].into_iter().zip((1..6).rev()).map(|(state, left)| part(1, 5, left, state));
        let third = [7, 5, 13].into_iter().zip((1..4).rev()).map(|(state, left)| part(2, 3, left, state));
        let expected: Vec<TilePart> =
            first.zip(second.chain(third)).flat_map(|(one, next_part)| [one, next_part]).collect();
        assert_eq!(parts[1..], expected);
        let (one, parts) = of(&singles[2..]);
        assert_eq!((one.len(), one[0].passes, parts.len()), (7, 1, 9));
        assert_eq!([1, 3, 5].map(|at| parts[at].state), [7, 5, 13]);
        assert!([2, 4, 6, 7, 8].iter().all(|&at| parts[at].state == 0));
    }
}
