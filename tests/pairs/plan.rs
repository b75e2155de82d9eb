//! Planning: chunks contain every pair once, any division contains the same pairs, and sums are
//! correct.

use std::collections::BTreeMap;
use std::sync::Arc;

use pairwave::edit::TextRegions;
use pairwave::edit::plan::{Against, EditJob};
use pairwave::engine::Portion;
use pairwave::pairs::plan::{LONG_PAIR_CELLS, LengthClass, PairsSpec, split_block};
use pairwave::pairs::{PairsBatch, PairsBlock, ResultFilter};
use pairwave::score::{EditMode, EditScheme, EndGaps, Equality, Gaps, Limit, Mode, Scoring, Substitution};
use pairwave::seq::{Alphabet, QueryPart, QueryStrands, SequenceStore, Strands};
use proptest::prelude::*;
use proptest::sample::select;

/// Returns a store of sequences with these lengths.
fn store_of(lengths: &[usize]) -> Arc<SequenceStore> {
    let sequences: Vec<Vec<u8>> = lengths.iter().map(|&length| vec![1; length]).collect();
    support::store(Alphabet::Dna, &sequences)
}

/// Generates lengths below and above the limits for long pairs and for 32 bits.
fn lengths(count: usize) -> impl Strategy<Value = Vec<usize>> {
    let length = prop_oneof![8 => 0..60usize, 2 => 4400..4550usize, 1 => select(vec![9000, 70_000])];
    prop::collection::vec(length, 0..count)
}

/// Generates schemes whose scores exceed 32 bits at some dozens of symbols, at some thousands, or
/// never in these tests.
fn scoring() -> impl Strategy<Value = Scoring> {
    let gaps = select(vec![Gaps::linear(10), Gaps::from_blast(10, 1), Gaps::linear(0)]);
    let end_gaps = select(vec![EndGaps::Charged, EndGaps::Free, EndGaps::Priced(Gaps::linear(0))]);
    (select(vec![1, 100, 10_000, 1_000_000]), gaps, end_gaps).prop_map(|(factor, gaps, end_gaps)| {
        let dna = Scoring::truong();
        let table = |a, b| (dna.substitution.score(a, b) * factor, dna.substitution.is_match(a, b));
        Scoring { substitution: Substitution::from_fn(Alphabet::Dna, table), gaps, end_gaps, ..dna.clone() }
    })
}

fn job(queries: &[usize], against: Option<&[usize]>, scoring: Scoring) -> PairsSpec {
    let (scoring, strands, filter) = (Arc::new(scoring), QueryStrands::default(), ResultFilter::Scores);
    PairsSpec { queries: store_of(queries), against: against.map(store_of), scoring, filter, strands, parts: None }
}

/// Returns the job with other strands of the queries.
fn stranded(job: PairsSpec, strand: Strands) -> PairsSpec {
    let strands = QueryStrands { strand, later_only: job.against.is_none() && strand != Strands::Plus };
    let against = if strands.later_only { Some(Arc::clone(&job.queries)) } else { job.against };
    PairsSpec { queries: strands.store(&job.queries), against, strands, ..job }
}

/// Generates a number from 1 up to about the greatest relevant one, of any magnitude.
fn limit() -> impl Strategy<Value = u64> {
    prop_oneof![Just(u64::MAX), (0..34u32, 1..8u64).prop_map(|(magnitude, factor)| factor << magnitude)]
}

/// Content of a job's chunks: the number of times that each pair occurs.
#[derive(Debug, PartialEq, Eq)]
struct Held {
    times: BTreeMap<(u32, u32), u32>,
    pairs: u64,
    cells: u64,
}

/// Visits all chunks, and checks each of them as far as this is possible for a single chunk.
fn hold(job: &PairsSpec, cells: u64, pairs: u64) -> Held {
    let triangle = job.against.is_none();
    let copies = job.strands.copies();
    let mut held = Held { times: BTreeMap::new(), pairs: 0, cells: 0 };
    let mut next = 0;
    for (queries, chunk, blocks) in job.chunks(cells, pairs) {
        assert!(queries.start == next && queries.end > next, "chunks {next}.. and {queries:?} are no neighbours");
        next = queries.end;
        let (mut of_last, mut in_band) = ((0, 0), (0, 0));
        for (class, block) in &blocks {
            assert!(!block.targets.is_empty(), "an empty block");
            let mut block_cells = 0;
            for &target in &chunk.order[block.targets.start as usize..block.targets.end as usize] {
                let (m, n) = (chunk.queries.length(block.query), chunk.targets.length(target));
                assert_eq!(
                    *class,
                    LengthClass::for_lengths(&job.scoring, m, n),
                    "{m} and {n} symbols in a block of {class:?}"
                );
                let pair = if triangle && target < block.query { (target, block.query) } else { (block.query, target) };
                assert!(queries.contains(&pair.0), "{pair:?} in the chunk of {queries:?}");
                assert!(!triangle || pair.0 < pair.1, "{pair:?} in a triangle");
                *held.times.entry(pair).or_insert(0) += 1;
                block_cells += m as u64 * n as u64;
                if pair.0 >= queries.end - copies {
                    of_last = (of_last.0 + m as u64 * n as u64, of_last.1 + 1);
                }
            }
            assert_eq!(block.cells, block_cells, "cells of {block:?}");
            in_band = (in_band.0 + block_cells, in_band.1 + block.pairs());
        }
        let batch: PairsBatch = PairsBatch { chunk, blocks: blocks.into_iter().map(|(_, block)| block).collect() };
        assert_eq!((batch.cells(), batch.pairs()), in_band);
        let before_last = (in_band.0 - of_last.0, in_band.1 - of_last.1);
        assert_eq!(queries.len() as u32 % copies, 0, "a chunk with one strand of a sequence");
        let one = queries.len() as u32 == copies;
        assert!(one || (before_last.0 < cells && before_last.1 < pairs), "{queries:?} goes on beyond its limits");
        let full = in_band.0 >= cells || in_band.1 >= pairs;
        assert!(full || next as usize == job.queries.len(), "{queries:?} ends early");
        held.cells += in_band.0;
        held.pairs += in_band.1;
    }
    assert_eq!(next as usize, job.queries.len(), "queries in chunks");
    held
}

/// Counts every pair of a job and its cells.
fn all_pairs(job: &PairsSpec) -> Held {
    let mut held = Held { times: BTreeMap::new(), pairs: 0, cells: 0 };
    let targets = job.against.as_ref().unwrap_or(&job.queries);
    for query in 0..job.queries.len() as u32 {
        let is_later = job.against.is_none() || job.strands.later_only;
        let first = if is_later { job.strands.sequence_of(query).0 + 1 } else { 0 };
        for target in first..targets.len() as u32 {
            held.times.insert((query, target), 1);
            held.pairs += 1;
            held.cells += job.queries.length(query) as u64 * targets.length(target) as u64;
        }
    }
    held
}

/// Returns the job that computes the edit distances of the same pairs.
fn edit_job(job: &PairsSpec) -> EditJob {
    let scheme = EditScheme { mode: EditMode::Global, equality: Equality::literal(Alphabet::Dna), limit: Limit::None };
    let against = job.against.clone().map_or(Against::Later, Against::Texts);
    EditJob { patterns: Arc::clone(&job.queries), against, scheme: Arc::new(scheme), strands: job.strands, parts: None }
}

/// Generates the positions of cuts, whether a sequence is cut along its targets as well, and the
/// rotation of the parts.
fn cuts() -> impl Strategy<Value = (Vec<(u32, bool)>, usize)> {
    (prop::collection::vec((0..30u32, any::<bool>()), 0..12), any::<usize>())
}

/// Divides a job into parts at these cuts, and rotates their order.
fn parts(job: &PairsSpec, (cuts, turn): &(Vec<(u32, bool)>, usize)) -> Vec<QueryPart> {
    let sequences = job.queries.len() as u32 / job.strands.copies();
    let targets = job.targets().len() as u32;
    let mut places: BTreeMap<u32, bool> = cuts.iter().map(|&(cut, alone)| (cut.min(sequences), alone)).collect();
    places.extend([(0, false), (sequences, false)]);
    let places: Vec<(u32, bool)> = places.into_iter().collect();
    let mut parts = Vec::new();
    let mut add = |sequences: std::ops::Range<u32>, targets| {
        let copies = job.strands.copies();
        parts.push(QueryPart { queries: sequences.start * copies..sequences.end * copies, targets });
    };
    for ends in places.windows(2) {
        let [(mut begin, alone), (end, _)] = *ends else { unreachable!("two") };
        if alone {
            let middle = targets / 3;
            [0..middle, middle..middle, middle..targets].into_iter().for_each(|some| add(begin..begin + 1, Some(some)));
            begin += 1;
        }
        add(begin..end, None);
    }
    let turn = turn % parts.len().max(1);
    parts.rotate_left(turn);
    parts
}

fn portion() -> impl Strategy<Value = Portion> {
    (limit(), limit(), limit()).prop_map(|(cells, pairs, target_bytes)| Portion { cells, pairs, target_bytes })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(800) })]

    #[test]
    fn chunks_of_one_store_hold_every_pair_once(
        queries in lengths(30), scoring in scoring(), cells in limit(), pairs in limit()
    ) {
        let job = job(&queries, None, scoring);
        let all = all_pairs(&job);
        prop_assert_eq!((job.pairs(), job.cells()), (all.pairs, all.cells));
        prop_assert_eq!(hold(&job, cells, pairs), all);
    }

    #[test]
    fn chunks_of_two_stores_hold_every_pair_once(
        queries in lengths(16), against in lengths(16), scoring in scoring(), cells in limit(), pairs in limit()
    ) {
        let job = job(&queries, Some(&against), scoring);
        let all = all_pairs(&job);
        prop_assert_eq!((job.pairs(), job.cells()), (all.pairs, all.cells));
        prop_assert_eq!(hold(&job, cells, pairs), all);
    }

    #[test]
    fn chunks_of_strands_hold_every_pair_once(
        queries in lengths(100), against in prop::option::of(lengths(16)), both in any::<bool>(), scoring in scoring(),
        cells in limit(), pairs in limit()
    ) {
        let strand = if both { Strands::Both } else { Strands::Minus };
        let job = stranded(job(&queries, against.as_deref(), scoring), strand);
        let all = all_pairs(&job);
        prop_assert_eq!((job.pairs(), job.cells()), (all.pairs, all.cells));
        prop_assert_eq!(hold(&job, cells, pairs), all);
    }

    #[test]
    fn parts_hold_every_pair_once_in_their_order(
        queries in lengths(24), against in prop::option::of(lengths(16)), scoring in scoring(), cuts in cuts(),
        strand in select(vec![Strands::Plus, Strands::Minus, Strands::Both]), cells in limit(), pairs in limit()
    ) {
        let job = stranded(job(&queries, against.as_deref(), scoring), strand);
        let edit = edit_job(&job);
        let all = all_pairs(&job);
        let parts = parts(&job, &cuts);
        let some = PairsSpec { parts: Some(parts.clone().into()), ..job.clone() };
        let some_edit = EditJob { parts: Some(parts.clone().into()), ..edit };
        let (mut of_pairs, mut of_edit) = (BTreeMap::new(), BTreeMap::new());
        let (mut chunks, mut edit_chunks) = (some.chunks(cells, pairs).peekable(), some_edit.chunks(pairs).peekable());
        let mut sums = (0, 0);
        for part in &parts {
            let extent = some.extents().count(part);
            prop_assert_eq!(some_edit.extents(std::slice::from_ref(part)), [extent]);
            let (mut next, mut in_part) = (part.queries.start, (0, 0));
            while let Some((range, chunk, blocks)) = chunks.next_if(|_| next < part.queries.end) {
                prop_assert!(range.start == next && range.end <= part.queries.end, "{:?} of {:?}", range, part);
                next = range.end;
                for (_, block) in blocks {
                    in_part = (in_part.0 + block.pairs(), in_part.1 + u128::from(block.cells));
                    for &target in &chunk.order[block.targets.start as usize..block.targets.end as usize] {
                        let is_turned = chunk.earlier_is_query && target < block.query;
                        let pair = if is_turned { (target, block.query) } else { (block.query, target) };
                        prop_assert!(part.targets.as_ref().is_none_or(|targets| targets.contains(&pair.1)));
                        prop_assert!(range.contains(&pair.0), "{:?} in {:?}", pair, range);
                        *of_pairs.entry(pair).or_insert(0) += 1;
                    }
                }
            }
            prop_assert_eq!((next.max(part.queries.end), in_part), (next, extent), "{:?}", part);
            let mut next = part.queries.start;
            while let Some((range, chunk, blocks)) = edit_chunks.next_if(|_| next < part.queries.end) {
                prop_assert!(range.start == next && range.end <= part.queries.end, "{:?} of {:?}", range, part);
                next = range.end;
                for (_, block) in blocks {
                    for index in block.regions {
                        let (one, other) = (block.pattern, chunk.region(index).text);
                        let is_turned = job.against.is_none() && other < one;
                        let pair = if is_turned { (other, one) } else { (one, other) };
                        prop_assert!(range.contains(&pair.0), "{:?} in {:?}", pair, range);
                        *of_edit.entry(pair).or_insert(0) += 1;
                    }
                }
            }
            sums = (sums.0 + extent.0, sums.1 + extent.1 as u64);
        }
        prop_assert!(chunks.next().is_none() && edit_chunks.next().is_none());
        prop_assert_eq!((&of_pairs, &of_edit), (&all.times, &all.times));
        prop_assert_eq!(sums, (all.pairs, all.cells));
        prop_assert_eq!((some.pairs(), some.cells()), sums);
        prop_assert_eq!((some_edit.pairs(), some_edit.cells()), sums);
    }

    #[test]
    fn split_blocks_add_up_to_the_block(queries in lengths(24), scoring in scoring(), portion in portion()) {
        let job = job(&queries, None, scoring);
        for (_, chunk, blocks) in job.chunks(u64::MAX, u64::MAX) {
            for (_, whole) in blocks {
                let mut left = Some(whole.clone());
                let (mut next, mut cells) = (whole.targets.start, 0);
                while let Some(block) = left {
                    let (head, tail) = split_block(&chunk, block, portion);
                    prop_assert!(head.query == whole.query && head.targets.start == next && !head.targets.is_empty());
                    let lengths = chunk.order[head.targets.start as usize..head.targets.end as usize]
                        .iter()
                        .map(|&target| chunk.targets.length(target) as u64);
                    let symbols: u64 = lengths.clone().sum();
                    prop_assert_eq!(head.cells, symbols * chunk.queries.length(head.query) as u64);
                    let bytes: u64 = lengths.map(|length| length.next_multiple_of(4)).sum();
                    let fits = head.cells <= portion.cells && head.pairs() <= portion.pairs && bytes <= portion.target_bytes;
                    prop_assert!(fits || head.pairs() == 1, "{:?} has no portion in {:?}", head, portion);
                    next = head.targets.end;
                    cells += head.cells;
                    left = tail;
                }
                prop_assert_eq!((next, cells), (whole.targets.end, whole.cells));
            }
        }
    }

    #[test]
    fn classes_never_fall_as_a_length_grows(
        scoring in scoring(), m in 0..1u32 << 28, n in 0..1u32 << 28, more in 0..1u32 << 28, shift in 0..28u32
    ) {
        let (m, n, more) = (m >> shift, n >> shift, more >> shift);
        let class = LengthClass::for_lengths(&scoring, m, n);
        for longer in [LengthClass::for_lengths(&scoring, m + more, n), LengthClass::for_lengths(&scoring, m, n + more)] {
            prop_assert!(longer.format >= class.format && longer.long >= class.long, "{:?} after {:?}", longer, class);
        }
        prop_assert_eq!(class, LengthClass::for_lengths(&scoring, n, m));
        prop_assert_eq!(class.long, m as u64 * n as u64 > LONG_PAIR_CELLS);
    }
}

/// The lengths of the tests above cover all classes.
#[test]
fn every_class_is_reached() {
    let scale = |factor: i32| {
        let table = |a: u8, b: u8| if a & b != 0 { (5 * factor, true) } else { (-4 * factor, false) };
        Scoring { substitution: Substitution::from_fn(Alphabet::Dna, table), ..Scoring::truong() }
    };
    let class = |factor, m, n| LengthClass::for_lengths(&scale(factor), m, n);
    assert_eq!(class(1, 59, 59), LengthClass { format: 0, long: false });
    assert_eq!(class(1, 4549, 4549), LengthClass { format: 0, long: true });
    assert_eq!(class(1, 70_000, 70_000), LengthClass { format: 1, long: true });
    let local = Scoring { mode: Mode::Local, ..scale(1) };
    assert_eq!(LengthClass::for_lengths(&local, 70_000, 70_000), LengthClass { format: 1, long: false });
    assert_eq!(class(1_000_000, 59, 59).format, 1);
    assert_eq!(class(1_000_000, 4549, 4549).format, 2);
}

#[test]
fn a_block_that_fits_is_not_cut() {
    let job = job(&[10, 20, 30], None, Scoring::truong());
    let (_, chunk, blocks) = job.chunks(u64::MAX, u64::MAX).next().expect("one chunk");
    let (_, block): (_, PairsBlock) = blocks[0].clone();
    let portion = Portion { cells: block.cells, pairs: block.pairs(), target_bytes: u64::MAX };
    assert_eq!(split_block(&chunk, block.clone(), portion), (block, None));
}

#[test]
#[should_panic(expected = "times")]
fn the_harness_sees_a_pair_that_comes_twice() {
    let job = job(&[10, 20, 30], None, Scoring::truong());
    let mut held = hold(&job, 1, 1);
    *held.times.get_mut(&(0, 2)).expect("a pair") += 1;
    assert_eq!(held, all_pairs(&job), "times that pairs come");
}

#[test]
fn chunks_of_two_stores_share_their_order() {
    let job = job(&[5, 9, 7], Some(&[3, 8, 8, 1]), Scoring::truong());
    let orders: Vec<Arc<[u32]>> = job.chunks(1, 1).map(|(_, chunk, _)| Arc::clone(&chunk.order)).collect();
    assert_eq!(orders[0][..], [1, 2, 0, 3]);
    assert!(orders.len() == 3 && orders.iter().all(|order| Arc::ptr_eq(order, &orders[0])));
    let orders = edit_job(&job).chunks(1).map(|(_, chunk, _)| match &chunk.regions {
        TextRegions::Texts(order) => Arc::clone(order),
        TextRegions::Regions(_) | TextRegions::Candidates(..) | TextRegions::Tiles(..) => panic!("texts are whole"),
    });
    let orders: Vec<Arc<[u32]>> = orders.collect();
    assert_eq!(orders[0][..], [1, 2, 0, 3]);
    assert!(orders.len() == 3 && orders.iter().all(|order| Arc::ptr_eq(order, &orders[0])));
}
