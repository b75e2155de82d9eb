use std::sync::Arc;

use super::*;
use crate::edit::{EditBatch, EditBlock, EditChunk, TextRegions};
use crate::score::{Ambiguity, EditScheme, Limit};

fn batch(sizes: &[u32]) -> EditBatch {
    let mut store = SequenceStore::builder(Alphabet::Dna);
    for index in 0..sizes.len() {
        store.push("s", &vec![1; index + 1]).unwrap();
    }
    let store = Arc::new(store.build());
    let scheme = EditScheme { mode: EditMode::Global, equality: Equality::literal(Alphabet::Dna), limit: Limit::None };
    let mut blocks = Vec::new();
    let mut begin = 3;
    for (pattern, &size) in (0..).zip(sizes) {
        blocks.push(EditBlock { pattern, regions: begin..begin + size, cells: 1 });
        begin += size;
    }
    let regions = TextRegions::Texts(vec![0; begin as usize].into());
    let chunk = EditChunk::new(Arc::clone(&store), store, Arc::new(scheme), regions);
    EditBatch { chunk: Arc::new(chunk), blocks }
}

fn variant(grouping: LaneGrouping, workgroup: u32) -> EditVariant {
    let (mode, strips, selection) = (EditMode::Global, false, PairSelection::All);
    EditVariant {
        grouping,
        bits: 2,
        stride: 4,
        words: 1,
        workgroup,
        lanes: 1,
        mode,
        strips,
        row_words: 0,
        code_lanes: 0,
        selection,
    }
}

#[test]
fn every_task_is_in_a_run_of_its_workgroup() {
    // Groups end within a workgroup, blocks may be empty, and a block may need many workgroups.
    for sizes in [&[20_000, 0, 7, 1, 1, 40_000, 33, 0][..], &[1], &[0, 5, 0], &[64, 64, 32], &[]] {
        let batch = batch(sizes);
        let begins: Vec<u32> = (0..sizes.len() as u32).map(|index| 10 * index).collect();
        for per_workgroup in [1, 32, 64] {
            let list = EditTasks::new(&batch, &variant(LaneGrouping::Thread, per_workgroup), &begins);
            assert_eq!(list.tasks, sizes.iter().sum::<u32>());
            assert_eq!(list.first_runs.len() as u32, list.tasks.div_ceil(per_workgroup) + 1);
            assert_eq!(list.workgroups, list.tasks.div_ceil(per_workgroup));
            let mut task = 0;
            for (block, index) in batch.blocks.iter().zip(0u32..) {
                for region in block.regions.clone() {
                    let group = (task / per_workgroup) as usize;
                    assert!(list.first_runs[group] <= index && index <= list.first_runs[group + 1]);
                    let last = list.runs.iter().rposition(|run| run.task <= task).unwrap();
                    assert_eq!(last as u32, index);
                    assert_eq!(list.runs[last].region + task - list.runs[last].task, region - list.regions.start);
                    task += 1;
                }
            }
        }
    }
}

#[test]
fn workgroups_of_the_band_share_a_pattern() {
    let sizes = [20_000, 0, 7, 1, 1, 40_000, 33, 0];
    let list = EditTasks::new(&batch(&sizes), &variant(LaneGrouping::Band, 32), &[0; 8]);
    assert_eq!(list.workgroups as usize, sizes.iter().map(|&size| u32::div_ceil(size, 32) as usize).sum::<usize>());
    let mut seen = vec![0; list.tasks as usize];
    for group in list.first_runs.chunks(2) {
        let end = list.runs[group[0] as usize + 1].task;
        assert!(group[1] >= list.runs[group[0] as usize].task && group[1] < end);
        (group[1]..end.min(group[1] + 32)).for_each(|task| seen[task as usize] += 1);
    }
    assert!(seen.iter().all(|&times| times == 1));
}

/// A list that several threads build in parts equals the list that one thread builds block by
/// block, also when it reuses memory.
#[test]
fn lists_do_not_depend_on_threads() {
    let mut random = fastrand::Rng::with_seed(0x11_57);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    let mut list = EditTasks::default();
    // Parts have 4096 blocks, or 4096 workgroups.
    for (blocks, most) in [(9000, 3), (4096, 70), (1, 1), (4097, 1), (8192, 40), (3, 300_000), (5000, 0), (0, 0)] {
        let sizes: Vec<u32> = (0..blocks).map(|_| random.u32(0..=most)).collect();
        let batch = batch_of_one_pattern(&sizes);
        for grouping in [LaneGrouping::Thread, LaneGrouping::Band] {
            for per_workgroup in [1, 32] {
                let variant = variant(grouping, per_workgroup);
                pool.install(|| list.fill(&batch, &variant, &[7]));
                assert_eq!(list, by_turns(&batch, &variant, 7), "{blocks} blocks, {most} pairs at most");
            }
        }
    }
}

/// Creates a batch like [`batch`], but with a single pattern, so that many blocks are possible.
fn batch_of_one_pattern(sizes: &[u32]) -> EditBatch {
    let mut all = batch(&[1]);
    let mut begin = 5;
    let blocks = sizes.iter().map(|&size| {
        begin += size;
        EditBlock { pattern: 0, regions: begin - size..begin, cells: 1 }
    });
    all.blocks = blocks.collect();
    all
}

/// Builds the list of [`EditTasks::new`] block by block.
fn by_turns(batch: &EditBatch, variant: &EditVariant, profile: u32) -> EditTasks {
    let some = || batch.blocks.iter().filter(|block| !block.regions.is_empty());
    let begin = some().map(|block| block.regions.start).min().unwrap_or(0);
    let end = some().map(|block| block.regions.end).max().unwrap_or(0);
    let mut list = EditTasks { regions: begin..end, ..EditTasks::default() };
    let is_band = variant.grouping == LaneGrouping::Band;
    let mut first = 0;
    for (index, block) in (0..).zip(&batch.blocks) {
        let pattern_symbols = batch.chunk.patterns.length(block.pattern);
        let region = block.regions.start.wrapping_sub(begin);
        list.runs.push(PatternRun { task: list.tasks, region, profile, pattern_symbols });
        list.pattern_symbols = list.pattern_symbols.max(pattern_symbols);
        let end = list.tasks + block.regions.len() as u32;
        first = if is_band { list.tasks } else { first };
        while first < end {
            list.first_runs.push(index);
            list.first_runs.extend(is_band.then_some(first));
            list.workgroups += 1;
            first += variant.tasks();
        }
        list.tasks = end;
    }
    if !is_band {
        list.first_runs.push((batch.blocks.len() as u32).saturating_sub(1));
    }
    list.runs.push(PatternRun { task: list.tasks, region: 0, profile: 0, pattern_symbols: 0 });
    list
}

#[test]
fn symbols_use_the_fewest_bits() {
    let coding = |letters: &str, equality: &Equality| {
        let mut store = SequenceStore::builder(equality.alphabet());
        store.push_letters("s", letters.as_bytes()).unwrap();
        Coding::for_texts(&store.build(), equality)
    };
    let overlap = Equality::dna(Ambiguity::Overlap, true);
    assert_eq!(coding("ACGTTGCA", &overlap).bits, 2);
    let with_others = coding("ACGTNR", &overlap);
    assert_eq!((with_others.bits, with_others.stride), (4, 4));
    // R (A or G) has code 4, and N has code 5.
    assert_eq!(with_others.sets, [0b1111_0101 << 16, 0]);
    let literal = Equality::literal(Alphabet::Dna);
    assert_eq!((coding("ACGT", &literal).bits, coding("ACGTN", &literal).bits), (2, 8));
    assert_eq!(coding("ACGTN", &literal).stride, 5);
    let mut words = [0; 2];
    with_others.pack(&[1, 2, 4, 8, 15, 5, 1, 1, 8], &mut words);
    assert_eq!(words, [0x0045_3210, 3]);
}

#[test]
fn profiles_mark_matching_rows() {
    let texts = |codes: &[Code]| {
        let mut store = SequenceStore::builder(Alphabet::Dna);
        store.push("t", codes).unwrap();
        store.build()
    };
    let equality = Equality::dna(Ambiguity::Overlap, false);
    let codings = [
        (Coding::for_texts(&texts(&[1, 2, 4, 8]), &equality), vec![1, 2, 4, 8]),
        (Coding::for_texts(&texts(&[1, 2, 4, 8, 15, 5]), &equality), vec![1, 2, 4, 8]),
        // A letter that equals only itself is not a set of bases, so it needs 8 bits.
        (Coding::for_texts(&texts(&[1, 2, 15, 5]), &Equality::literal(Alphabet::Dna)), vec![1, 2, 5, 15]),
    ];
    assert_eq!(codings.each_ref().map(|(coding, _)| coding.bits), [2, 4, 8]);
    for (coding, codes) in &codings {
        for length in [1usize, 2, 15, 16, 17, 31, 32, 33, 47, 48, 49, 64, 65, 100] {
            let pattern: Vec<Code> = (0..length).map(|region| (region * 7 % 15 + 1) as Code).collect();
            let (words, pads) = (length.div_ceil(32), length.next_multiple_of(32) - length);
            for (mode, is_free) in [(EditMode::Infix, true), (EditMode::Global, false), (EditMode::Prefix, false)] {
                let mut profile = vec![0; coding.profile_words(length as u32)];
                coding.profile(&pattern, mode, &mut profile);
                for (index, &code) in codes.iter().enumerate() {
                    for row in 0..32 * words {
                        let (word, bit) = (row / 32, row % 32);
                        let at = if coding.bits == 8 { word * 4 + index } else { index * words + word };
                        let equality =
                            if coding.bits == 8 { Equality::literal(Alphabet::Dna) } else { equality.clone() };
                        let expected = if row < pads { is_free } else { equality.is_match(pattern[row - pads], code) };
                        assert_eq!(profile[at] >> bit & 1 == 1, expected, "{mode:?}, {length}, {code}, row {row}");
                    }
                }
            }
        }
    }
}
