//! What a batch is for the `sw_tile` kernels: runs of queries against targets, and the tasks of these.

use std::cmp::Reverse;
use std::ops::Range;

use super::sw_tile::{Task, Variant};
use crate::pairs::{Band, Batch};
use crate::seq::SequenceId;

/// One query, or two that are computed together, against a range of a band's targets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// The queries, the longer one first.
    pub queries: [Option<SequenceId>; 2],
    /// Index of the first pair of each.
    pub pairs_begin: [u32; 2],
    /// The targets.
    pub targets: Range<u32>,
}

impl Run {
    /// Length of the longer query.
    pub fn symbols(&self, band: &Band) -> u32 {
        self.queries.iter().flatten().map(|&query| band.queries.length(query)).max().unwrap_or(0)
    }

    /// Pairs.
    pub fn pairs(&self) -> u64 {
        self.targets.len() as u64 * self.queries.iter().flatten().count() as u64
    }
}

/// Pairs before each block of a batch, in pair order.
pub fn block_begins(batch: &Batch) -> Vec<u64> {
    let before = |sum: &mut u64, pairs: u64| Some(std::mem::replace(sum, *sum + pairs));
    batch.blocks.iter().scan(0, |sum, block| before(sum, block.pairs())).collect()
}

/// The runs of a batch, each of one query.
pub fn single_runs(batch: &Batch) -> Vec<Run> {
    let begins = block_begins(batch);
    let blocks = batch.blocks.iter().zip(begins).filter(|(block, _)| !block.targets.is_empty());
    let run = |(block, begin): (&crate::pairs::Block, u64)| Run {
        queries: [Some(block.query), None],
        pairs_begin: [begin as u32, 0],
        targets: block.targets.clone(),
    };
    blocks.map(run).collect()
}

/// Puts runs of queries together that differ in length by no more than `most_padding` of the longer, as far as they have targets in
/// common. Gives those of two queries, and those that are left.
pub fn paired_runs(mut singles: Vec<Run>, band: &Band, most_padding: f64) -> (Vec<Run>, Vec<Run>) {
    singles.sort_by_key(|run| (Reverse(run.symbols(band)), run.targets.start));
    let (mut pairs, mut rest) = (Vec::new(), Vec::new());
    let mut waiting: Option<Run> = None;
    for run in singles {
        let Some(first) = waiting.take() else {
            waiting = Some(run);
            continue;
        };
        let (longer, shorter) = (first.symbols(band), run.symbols(band));
        let common = first.targets.start.max(run.targets.start)..first.targets.end.min(run.targets.end);
        let is_alike = f64::from(longer - shorter) <= most_padding * f64::from(longer);
        // What few targets they have in common is not worth that the others are computed alone.
        if !is_alike || 2 * common.len() < first.targets.len().max(run.targets.len()) {
            rest.push(first);
            waiting = Some(run);
            continue;
        }
        let begin_at = |run: &Run, place: u32| run.pairs_begin[0] + (place - run.targets.start);
        for single in [&first, &run] {
            for left in [single.targets.start..common.start, common.end..single.targets.end] {
                if !left.is_empty() {
                    let pairs_begin = [begin_at(single, left.start), 0];
                    rest.push(Run { queries: single.queries, pairs_begin, targets: left });
                }
            }
        }
        pairs.push(Run {
            queries: [first.queries[0], run.queries[0]],
            pairs_begin: [begin_at(&first, common.start), begin_at(&run, common.start)],
            targets: common,
        });
    }
    rest.extend(waiting);
    (pairs, rest)
}

/// Cuts runs into tasks of at most `targets` targets, those with many cells first: they end close together.
/// `query_end_word` says where a query ends in the buffer that holds it, `floor` which of its scores are listed.
pub fn tasks(
    runs: &[Run],
    band: &Band,
    variant: &Variant,
    targets: u32,
    query_end_word: impl Fn(SequenceId) -> u32,
    floor: impl Fn(SequenceId) -> i32,
) -> Vec<Task> {
    let mut all = Vec::new();
    for run in runs {
        let each = |of: &dyn Fn(SequenceId) -> u32| run.queries.map(|query| query.map_or(0, of));
        let passes = variant.passes_of(run.symbols(band));
        let whole = Task {
            end_words: each(&query_end_word),
            symbols: each(&|query| band.queries.length(query)),
            floors: run.queries.map(|query| query.map_or(i32::MAX, &floor)),
            columns: passes * variant.pass_columns(),
            ..bytemuck::Zeroable::zeroed()
        };
        for first in run.targets.clone().step_by(targets.max(1) as usize) {
            let count = targets.max(1).min(run.targets.end - first);
            let before = first - run.targets.start;
            let words = band.longest(first..first + count).div_ceil(4);
            all.push(Task { pairs_begin: run.pairs_begin.map(|begin| begin + before), first, count, words, ..whole });
        }
    }
    all.sort_by_key(|task| Reverse(u64::from(task.columns) * u64::from(task.words)));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::kernels::{Cooperation, Numbers};
    use crate::pairs::plan::Job;
    use crate::pairs::{Block, Want};
    use crate::score::Scoring;
    use crate::seq::{Alphabet, SequenceStore, Strands};
    use std::collections::HashMap;
    use std::sync::Arc;

    fn store(lengths: impl Iterator<Item = usize>) -> Arc<SequenceStore> {
        let mut store = SequenceStore::builder(Alphabet::Dna);
        lengths.for_each(|length| store.push("s", &vec![1; length]).unwrap());
        Arc::new(store.build())
    }

    fn batch(job: Job) -> Batch {
        let (_, band, blocks) = job.bands(u64::MAX, u64::MAX).next().unwrap();
        Batch { band, blocks: blocks.into_iter().map(|(_, block)| block).collect() }
    }

    fn job(queries: Arc<SequenceStore>, against: Option<Arc<SequenceStore>>) -> Job {
        let (scoring, want) = (Arc::new(Scoring::truong()), Want::Scores);
        Job { queries, against, scoring, want, strands: Strands::default(), parts: None }
    }

    /// Every pair of the batch is in one run, at its index.
    fn check(batch: &Batch, runs: &[Run]) {
        let begins = block_begins(batch);
        let mut expected = HashMap::new();
        for (Block { query, targets, .. }, begin) in batch.blocks.iter().zip(begins) {
            expected.extend((targets.clone()).zip(begin..).map(|(place, index)| ((*query, place), index)));
        }
        let mut seen = 0;
        for run in runs {
            for (query, begin) in run.queries.iter().zip(run.pairs_begin) {
                let Some(query) = query else { continue };
                for (place, index) in run.targets.clone().zip(begin..) {
                    assert_eq!(expected.get(&(*query, place)), Some(&u64::from(index)), "{run:?}");
                    seen += 1;
                }
            }
        }
        assert_eq!(seen, expected.len());
    }

    #[test]
    fn every_pair_is_in_one_run() {
        let lengths = || (0..23).map(|index| 40 + index * 7 % 31);
        for against in [None, Some(store((0..40).map(|index| 5 + index)))] {
            let batch = batch(job(store(lengths()), against.clone()));
            let singles = single_runs(&batch);
            check(&batch, &singles);
            for most_padding in [0.0, 0.1, 1.0] {
                let (pairs, rest) = paired_runs(singles.clone(), &batch.band, most_padding);
                check(&batch, &[&pairs[..], &rest[..]].concat());
                assert!(pairs.iter().all(|run| run.queries[1].is_some()));
                assert!(rest.iter().all(|run| run.queries[1].is_none()));
                let together: u64 = pairs.iter().map(Run::pairs).sum();
                assert!(most_padding < 1.0 || 3 * together > 2 * batch.pairs(), "{together} of {}", batch.pairs());
            }
        }
    }

    #[test]
    fn tasks_have_the_pairs_of_their_runs() {
        let batch = batch(job(store([30, 33, 9].into_iter()), Some(store((1..50).rev()))));
        let variant = Variant {
            cooperation: Cooperation::Subgroup,
            numbers: Numbers::Halves,
            lanes: 4,
            columns: 4,
            workgroup: 16,
            codes: 16,
            affine: true,
            passes: true,
            split: false,
        };
        let (pairs, rest) = paired_runs(single_runs(&batch), &batch.band, 0.2);
        assert_eq!((pairs.len(), rest.len()), (1, 1));
        let of = |runs: &[Run]| tasks(runs, &batch.band, &variant, 8, |query| 100 + query, |query| query as i32);
        let (two, one) = (of(&pairs), of(&rest));
        assert_eq!((two.len(), one.len()), (7, 7));
        assert_eq!((two[0].symbols, two[0].end_words, two[0].floors), ([33, 30], [101, 100], [1, 0]));
        assert_eq!((two[0].columns, two[0].words, two[6].words, two[6].count), (48, 13, 1, 1));
        assert_eq!((one[0].symbols, one[0].columns, one[0].floors), ([9, 0], 16, [2, i32::MAX]));
        assert!(two.iter().all(|task| task.pairs_begin == [49 + task.first, task.first]));
    }
}
