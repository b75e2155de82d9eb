use std::sync::Arc;

use super::*;
use crate::edit::kernels::myers::PairSelection;
use crate::edit::{BatchDistances, Edit, EditBlock, EditChunk, EditReport, Region, TextRegions};
use crate::engine::Work;
use crate::engine::buffer_pool::BufferPool;
use crate::score::{Equality, Limit, OverlapReach};
use crate::seq::{Alphabet, SequenceStore};

const MODES: [EditMode; 4] = [
    EditMode::Global,
    EditMode::Infix,
    EditMode::Prefix,
    EditMode::Overlap(OverlapReach { shorter: 1, constant: 0, divisor: 1, rate: 20_000 }),
];
const LIMITS: [Limit; 4] = [Limit::None, Limit::Distance(3), Limit::Rate(0.2), Limit::Distance(0)];
const COOPERATIONS: [LaneGrouping; 3] = [LaneGrouping::Thread, LaneGrouping::Subgroup, LaneGrouping::Band];

fn variant(grouping: LaneGrouping, mode: EditMode) -> EditVariant {
    let (strips, selection) = (false, PairSelection::All);
    EditVariant {
        grouping,
        bits: 2,
        stride: 4,
        words: 1,
        workgroup: 32,
        lanes: 1,
        mode,
        strips,
        row_words: 0,
        code_lanes: 0,
        selection,
    }
}

/// Creates blocks of very different sizes, with patterns of 0 to 19 symbols and regions of 0 to 24
/// symbols, or of exactly 24.
fn batch(random: &mut fastrand::Rng, mode: EditMode, limit: Limit, are_equal: bool) -> EditBatch {
    let mut patterns = SequenceStore::builder(Alphabet::Dna);
    (0..20).for_each(|length| patterns.push("p", &vec![1; length]).unwrap());
    let mut text = SequenceStore::builder(Alphabet::Dna);
    text.push("t", &[1; 100]).unwrap();
    let mut regions = vec![Region { text: 0, start: 0, end: 24 }; 3];
    let mut blocks = Vec::new();
    for _ in 0..60 {
        let size = if random.u32(0..24) == 0 { random.u32(0..30_000) } else { random.u32(0..5) };
        let first = regions.len() as u32;
        regions.extend((0..size).map(|_| {
            let start = random.u32(0..70);
            Region { text: 0, start, end: start + if are_equal { 24 } else { random.u32(0..=24) } }
        }));
        blocks.push(EditBlock { pattern: random.u32(0..20), regions: first..first + size, cells: 1 });
    }
    let scheme = EditScheme { mode, equality: Equality::literal(Alphabet::Dna), limit };
    let (patterns, text, regions) =
        (Arc::new(patterns.build()), Arc::new(text.build()), TextRegions::Regions(Arc::new(regions)));
    EditBatch { chunk: Arc::new(EditChunk::new(patterns, text, Arc::new(scheme), regions)), blocks }
}

/// Returns the lengths of the pattern and the text of every pair.
fn lengths(batch: &EditBatch) -> Vec<(u32, u32)> {
    let lengths_of = |block: &EditBlock| {
        let m = batch.chunk.patterns.length(block.pattern);
        block.regions.clone().map(move |index| (m, batch.chunk.region(index).symbols())).collect::<Vec<_>>()
    };
    batch.blocks.iter().flat_map(lengths_of).collect()
}

/// Returns a possible result of a pair with these lengths, and the u32 values that a kernel writes
/// for it.
fn result(random: &mut fastrand::Rng, variant: &EditVariant, m: u32, n: u32) -> (EditDistance, Vec<u32>) {
    let (least, most) = match variant.mode {
        EditMode::Global => (m.abs_diff(n), m.max(n)),
        EditMode::Infix | EditMode::Prefix => (m.saturating_sub(n), m),
        EditMode::Overlap(_) => (0, m.min(n)),
    };
    let (distance, end) = (random.u32(least..=most), random.u32(0..=n));
    let distances = |end| EditDistance { distance, end };
    match (variant.grouping, variant.mode) {
        (LaneGrouping::Thread | LaneGrouping::Band, EditMode::Global) => (distances(n), vec![distance]),
        (LaneGrouping::Thread | LaneGrouping::Band, EditMode::Overlap(_)) => (distances(0), vec![distance]),
        (_, EditMode::Overlap(_)) => (distances(0), vec![distance, 77]),
        (LaneGrouping::Thread, _) => (distances(end), vec![distance << POSITION_BITS | end]),
        (_, EditMode::Global) => (distances(n), vec![distance, n]),
        _ => (distances(end), vec![distance, end]),
    }
}

#[test]
fn results_survive_encoding_and_decoding() {
    let mut random = fastrand::Rng::with_seed(0xDEC0DE);
    let shelf = BufferPool::default();
    for (mode, limit) in MODES.into_iter().flat_map(|mode| LIMITS.map(|limit| (mode, limit))) {
        for grouping in COOPERATIONS {
            if grouping == LaneGrouping::Band && mode != EditMode::Global {
                continue;
            }
            for are_equal in [true, false] {
                let (batch, variant) = (batch(&mut random, mode, limit, are_equal), variant(grouping, mode));
                let tasks = EditTasks::new(&batch, &variant, &[0; 20]);
                let (least, most) = batch.chunk.text_symbols();
                assert_eq!(least == most, are_equal);
                let text_symbols = are_equal.then_some(most);
                let decoder = EditDecoder { batch: &batch, tasks: &tasks, variant, text_symbols };
                let (mut expected, mut words, mut list) = (Vec::new(), Vec::new(), Vec::new());
                let scheme = &batch.chunk.scheme;
                for (pair, (m, n)) in (0..).zip(lengths(&batch)) {
                    let (distances, result_words) = result(&mut random, &variant, m, n);
                    let distances = scheme.trivial(m, n).unwrap_or(distances.within(scheme.limit(m, n)));
                    if distances.is_some() && m > 0 && n > 0 {
                        list.push((pair, [&[pair][..], &result_words].concat(), distances));
                    }
                    words.extend(result_words);
                    expected.push(distances);
                }
                let each = decoder.decode_all(&words, shelf.take()).expect("all can be");
                assert!(*each == expected, "{mode:?}, {limit:?}, {grouping:?}");
                let report = EditReport { distances: BatchDistances::Each(each), ..EditReport::default() };
                Edit::check(&batch, &report).expect("what is found here is what the check looks for");
                // A list may be in any order.
                random.shuffle(&mut list);
                let mut listed: Vec<u32> = list.iter().flat_map(|(_, words, _)| words.clone()).collect();
                list.sort_unstable();
                let distances = list.iter().map(|&(pair, _, distances)| (pair, distances)).collect::<Vec<_>>();
                assert!(decoder.listed(&listed) == Some(distances), "{mode:?}, {limit:?}, {grouping:?}");
                // Add one entry twice.
                if let Some((_, words, _)) = list.first() {
                    listed.extend(words);
                    assert_eq!(decoder.listed(&listed), None);
                }
                assert_eq!(decoder.decode_all(&words[1..], shelf.take()), None, "too few words");
            }
        }
    }
}

/// Decoding detects impossible results in any pair, like [`Edit::check`].
#[test]
fn impossible_result_is_detected() {
    let mut random = fastrand::Rng::with_seed(0xBAD);
    let mut noticed = 0;
    for mode in [EditMode::Global, EditMode::Infix] {
        for are_equal in [true, false] {
            let (batch, variant) =
                (batch(&mut random, mode, Limit::None, are_equal), variant(LaneGrouping::Subgroup, mode));
            let tasks = EditTasks::new(&batch, &variant, &[0; 20]);
            let text_symbols = are_equal.then_some(24);
            let decoder = EditDecoder { batch: &batch, tasks: &tasks, variant, text_symbols };
            let lengths = lengths(&batch);
            let words: Vec<u32> = lengths.iter().flat_map(|&(m, n)| result(&mut random, &variant, m, n).1).collect();
            for _ in 0..20 {
                let pair = random.usize(0..lengths.len());
                let (m, n) = lengths[pair];
                if m == 0 || n == 0 {
                    continue;
                }
                for (word, value) in [(2 * pair, m.max(n) + 1), (2 * pair + 1, n + 1), (2 * pair, u32::MAX)] {
                    let mut wrong = words.clone();
                    wrong[word] = value;
                    assert_eq!(
                        decoder.decode_all(&wrong, PooledVec::default()),
                        None,
                        "pair {pair} of {m} and {n} symbols"
                    );
                    let entry = [pair as u32, wrong[2 * pair], wrong[2 * pair + 1]];
                    // A distance above the limit is dropped from the list.
                    let is_left_out = wrong[2 * pair] > m.max(n);
                    assert_eq!(decoder.listed(&entry), is_left_out.then(Vec::new));
                    noticed += 1;
                }
            }
        }
    }
    assert!(noticed > 100, "{noticed}");
    let (batch, variant) =
        (batch(&mut random, EditMode::Infix, Limit::None, true), variant(LaneGrouping::Thread, EditMode::Infix));
    let tasks = EditTasks::new(&batch, &variant, &[0; 20]);
    let decoder = EditDecoder { batch: &batch, tasks: &tasks, variant, text_symbols: Some(24) };
    assert_eq!(decoder.listed(&[tasks.tasks, 0]), None, "a pair that is not there");
}
