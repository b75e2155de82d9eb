//! Every kernel for Levenshtein distances against the textbook: all modes, alphabets and encodings,
//! lengths around every word, lane, subgroup and strip boundary, limits, and regions of texts.

use std::sync::Arc;

use pairwave::edit::gpu::{EditGpu, EditShape};
use pairwave::edit::plan::{Against, EditJob};
use pairwave::edit::{BatchDistances, Candidate, Edit, EditBatch, EditBlock, EditChunk, Region, TextRegions};
use pairwave::engine::{Engine, Work};
use pairwave::gpu::kernels::{Kernel, LaneGrouping, find};
use pairwave::measure::self_test::edit::EditTest;
use pairwave::score::{Ambiguity, EditMode, EditScheme, Equality, Limit, OverlapReach};
use pairwave::seq::{Alphabet, Code, QueryStrands, SequenceStore};
use support::check::{assert_passes, assert_right};

const MODES: [EditMode; 3] = [EditMode::Global, EditMode::Infix, EditMode::Prefix];

/// A source of random sequences.
struct Random(support::Rng);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        u64::from(self.0.below(bound as u32))
    }

    fn codes(&mut self, length: usize, letters: &[Code]) -> Vec<Code> {
        (0..length).map(|_| letters[self.below(letters.len() as u64) as usize]).collect()
    }

    /// Returns a copy with an edit at about one position in `apart`.
    fn mutated(&mut self, from: &[Code], letters: &[Code], apart: u64) -> Vec<Code> {
        let mut copy = Vec::new();
        for &code in from {
            match self.below(3 * apart) {
                0 => {}
                1 => copy.extend([code, letters[self.below(letters.len() as u64) as usize]]),
                2 => copy.push(letters[self.below(letters.len() as u64) as usize]),
                _ => copy.push(code),
            }
        }
        copy
    }
}

/// Returns the kernel with this stem.
fn kernel_named(stem: &str) -> &'static Kernel {
    find(stem).expect("a kernel letters the list")
}

/// Returns the kernels that divide a pair among lanes.
fn dividing() -> [&'static Kernel; 2] {
    ["myers_subgroup", "myers_workgroup"].map(kernel_named)
}

/// Returns the kernels that compute whole matrices.
fn whole_matrix_kernels() -> [&'static Kernel; 3] {
    ["myers_thread", "myers_subgroup", "myers_workgroup"].map(kernel_named)
}

/// Returns the kernels that search one pattern per workgroup.
fn scan_kernels() -> [&'static Kernel; 2] {
    ["myers_scan", "myers_scan_workgroup"].map(kernel_named)
}

/// Opens an engine with small sizes and wgpu's checks, so that short sequences reach every
/// boundary.
fn engine(kernel: &'static Kernel, change: impl FnOnce(&mut EditShape)) -> EditGpu {
    let adapter = support::adapter();
    let engine = EditGpu::open(&adapter).expect("the adapter opens").with_runtime_checks().with_kernel(Some(kernel));
    let mut shape = engine.shape();
    change(&mut shape);
    engine.with_shape(shape)
}

fn store(alphabet: Alphabet, sequences: &[Vec<Code>]) -> Arc<SequenceStore> {
    let mut store = SequenceStore::builder(alphabet);
    for (index, codes) in sequences.iter().enumerate() {
        store.push(format!("s{index}"), codes).unwrap();
    }
    Arc::new(store.build())
}

fn report(engine: &mut dyn Engine<Edit>, batch: &Arc<EditBatch>) -> BatchDistances {
    let ticket = engine.submit(Arc::clone(batch)).expect("the batch suits");
    let report = engine.collect(ticket).expect("the device answers");
    Edit::check(batch, &report).expect("the report can be right");
    report.distances
}

/// Compares an engine with the textbook for all patterns against all texts, one batch after
/// another.
fn check(engine: &mut EditGpu, patterns: &Arc<SequenceStore>, texts: &Arc<SequenceStore>, scheme: &EditScheme) {
    let what = engine.name().to_owned();
    for batch in batches(patterns, texts, scheme) {
        assert_passes(&EditTest::new([batch]), engine, &what);
    }
}

/// Returns batches of all patterns against all texts, one for each class of patterns.
fn batches(patterns: &Arc<SequenceStore>, texts: &Arc<SequenceStore>, scheme: &EditScheme) -> Vec<Arc<EditBatch>> {
    let job = EditJob {
        patterns: Arc::clone(patterns),
        against: Against::Texts(Arc::clone(texts)),
        scheme: Arc::new(scheme.clone()),
        strands: QueryStrands::default(),
        parts: None,
    };
    let mut batches = Vec::new();
    for (_, chunk, mut blocks) in job.chunks(u64::MAX) {
        while !blocks.is_empty() {
            let class = blocks[0].0;
            let class_blocks: Vec<EditBlock> =
                blocks.extract_if(.., |(next, _)| *next == class).map(|(_, block)| block).collect();
            batches.push(Arc::new(EditBatch { chunk: Arc::clone(&chunk), blocks: class_blocks }));
        }
    }
    batches
}

fn scheme(mode: EditMode, equality: Equality) -> EditScheme {
    EditScheme { mode, equality, limit: Limit::None }
}

const BASES: [Code; 4] = [1, 2, 4, 8];

/// Returns codes and equalities that need symbols of 2, 4 and 8 bits on the device.
fn codings() -> [(Vec<Code>, Equality); 3] {
    [
        (BASES.to_vec(), Equality::dna(Ambiguity::Overlap, true)),
        ((1..16).collect(), Equality::dna(Ambiguity::Overlap, false)),
        ((1..25).collect(), Equality::literal(Alphabet::Protein)),
    ]
}

/// Creates patterns of these lengths, and texts: random ones, texts of one symbol, and copies of
/// the patterns with edits between random ends.
fn sets(random: &mut Random, letters: &[Code], lengths: &[usize]) -> (Vec<Vec<Code>>, Vec<Vec<Code>>) {
    let mut patterns: Vec<Vec<Code>> = lengths.iter().map(|&length| random.codes(length, letters)).collect();
    let mut texts: Vec<Vec<Code>> = [0, 1, 2, 15, 16, 17, 33, 100].map(|length| random.codes(length, letters)).into();
    for apart in [4, 20] {
        for pattern in &patterns {
            let mut text = random.codes(7, letters);
            text.extend(random.mutated(pattern, letters, apart));
            text.extend(random.codes(9, letters));
            texts.push(text);
        }
    }
    let longest = lengths.iter().copied().max().unwrap_or(0);
    patterns.push(vec![letters[0]; longest.min(70)]);
    texts.push(vec![letters[0]; longest + 5]);
    texts.push(vec![letters[letters.len() - 1]; 40]);
    (patterns, texts)
}

const WORD_EDGES: [usize; 12] = [0, 1, 2, 31, 32, 33, 63, 64, 65, 95, 97, 128];

#[test]
fn every_kernel_mode_and_encoding_matches_textbook() {
    let mut random = Random(support::rng(0x9E37_79B9_7F4A_7C15));
    let iupac: Vec<Code> = (1..16).collect();
    let residues: Vec<Code> = (1..25).collect();
    let dna = [
        (&BASES[..], Equality::dna(Ambiguity::Overlap, true)),
        (&iupac, Equality::dna(Ambiguity::Overlap, true)),
        (&iupac, Equality::dna(Ambiguity::Overlap, false)),
        (&iupac, Equality::dna(Ambiguity::Mismatch, true)),
        (&iupac, Equality::literal(Alphabet::Dna)),
        (&residues, Equality::literal(Alphabet::Protein)),
    ];
    for kernel in whole_matrix_kernels() {
        // Two words per lane, so that the lengths reach the boundary of every lane.
        let mut engine = engine(kernel, |shape| (shape.subgroup_words, shape.workgroup_words) = (2, 2));
        for (letters, equality) in &dna {
            let (patterns, texts) = sets(&mut random, letters, &WORD_EDGES);
            let (patterns, texts) = (store(equality.alphabet(), &patterns), store(equality.alphabet(), &texts));
            for mode in MODES {
                check(&mut engine, &patterns, &texts, &scheme(mode, equality.clone()));
            }
        }
    }
}

#[test]
fn strips_and_column_parts_match_textbook() {
    let mut random = Random(support::rng(0xD1B5_4A32_D192_ED03));
    let letters = &BASES[..];
    // Two lanes of one word give a strip of 64 rows.
    let (patterns, texts) = sets(&mut random, letters, &[1, 63, 64, 65, 127, 128, 129, 192, 1000]);
    let (patterns, texts) = (store(Alphabet::Dna, &patterns), store(Alphabet::Dna, &texts));
    for kernel in dividing() {
        for mode in MODES {
            for columns in [32, 64, 1 << 20] {
                let mut engine = engine(kernel, |shape| {
                    (shape.lanes, shape.subgroup_words, shape.workgroup_words) = (Some(2), 1, 1);
                    shape.dispatch_columns = columns;
                });
                check(&mut engine, &patterns, &texts, &scheme(mode, Equality::literal(Alphabet::Dna)));
            }
        }
    }
}

#[test]
fn every_number_of_lanes_matches_textbook() {
    let mut random = Random(support::rng(0x2545_F491_4F6C_DD1D));
    let residues: Vec<Code> = (1..25).collect();
    let (patterns, texts) = sets(&mut random, &residues, &[1, 32, 33, 250, 256, 257, 511, 513]);
    let (patterns, texts) = (store(Alphabet::Protein, &patterns), store(Alphabet::Protein, &texts));
    for (turn, kernel) in dividing().into_iter().enumerate() {
        // The modes take turns, because every combination is compiled.
        for (turn, lanes) in (turn..).zip([1, 4, 8, 16]) {
            let mut engine = engine(kernel, |shape| shape.lanes = Some(lanes));
            let mode = MODES[turn % 3];
            check(&mut engine, &patterns, &texts, &scheme(mode, Equality::literal(Alphabet::Protein)));
        }
    }
}

#[test]
fn limits_are_exact() {
    let mut random = Random(support::rng(0x94D0_49BB_1331_11EB));
    let (patterns, texts) = sets(&mut random, &BASES, &[20, 33, 64, 150, 300]);
    let (patterns, texts) = (store(Alphabet::Dna, &patterns), store(Alphabet::Dna, &texts));
    for kernel in whole_matrix_kernels() {
        for head_words in [None, Some(1)] {
            let mut engine = engine(kernel, |shape| shape.head_words = head_words);
            let limits = [0, 1, 8, 31, 32, 33, 70].map(Limit::Distance).into_iter();
            for limit in limits.chain([0.0, 0.03, 0.2, 1.0].map(Limit::Rate)) {
                for mode in MODES {
                    let scheme = EditScheme { mode, equality: Equality::dna(Ambiguity::Overlap, true), limit };
                    check(&mut engine, &patterns, &texts, &scheme);
                }
            }
        }
    }
}

/// Texts of one workgroup differ in length, and some have fewer symbols than a u32. Workgroups have
/// 32 texts, so patterns have several workgroups, and the last is not full.
#[test]
fn scans_match_textbook_in_every_encoding() {
    let mut random = Random(support::rng(0x5CA9_5CA9_0B5E_55ED));
    let mut all = Vec::from(codings());
    all.push(((1..16).collect(), Equality::literal(Alphabet::Dna)));
    all.push(((1..=80).collect(), Equality::literal(Alphabet::Bytes)));
    for (letters, equality) in &all {
        let lengths = [0, 1, 2, 31, 32, 33, 64, 65, 97, 128, 161, 200, 256];
        let (patterns, texts) = sets(&mut random, letters, &lengths);
        let (patterns, texts) = (store(equality.alphabet(), &patterns), store(equality.alphabet(), &texts));
        for kernel in scan_kernels() {
            let mut engine = engine(kernel, |_| {});
            // The lanes of a small subgroup cannot hold the match bits of all bytes.
            let is_suited = letters.len() <= 32 || kernel.stem != "myers_scan";
            for limit in [Limit::None, Limit::Distance(9)].into_iter().filter(|_| is_suited) {
                let scheme = EditScheme { mode: EditMode::Infix, equality: equality.clone(), limit };
                check(&mut engine, &patterns, &texts, &scheme);
            }
        }
    }
}

/// The chooser selects a scan for the heads, and another kernel for the kept pairs.
#[test]
fn heads_of_scans_keep_all_pairs_within_the_limit() {
    let mut random = Random(support::rng(0x0EAD_5CA9_0000_0001));
    for (letters, equality) in &codings() {
        let (patterns, mut texts) = sets(&mut random, letters, &[65, 97, 128, 257, 300]);
        while texts.len() % 32 != 0 {
            texts.push(random.codes(200, letters));
        }
        let (patterns, texts) = (store(equality.alphabet(), &patterns), store(equality.alphabet(), &texts));
        let adapter = support::adapter();
        for (head_words, limit) in [(1, Limit::Distance(20)), (4, Limit::Rate(0.12))] {
            let engine = EditGpu::open(&adapter).expect("the adapter opens").with_runtime_checks();
            let shape = EditShape { head_words: Some(head_words), ..engine.shape() };
            let mut engine = engine.with_shape(shape);
            let scheme = EditScheme { mode: EditMode::Infix, equality: equality.clone(), limit };
            check(&mut engine, &patterns, &texts, &scheme);
        }
    }
}

/// Covers heads of several words on several lanes, in strips and parts of columns, with all
/// encodings, and with more pairs than a workgroup has.
#[test]
fn pairs_pruned_by_heads_exceed_the_limit() {
    let mut random = Random(support::rng(0x4EAD_50F1_A77E_2250));
    for (turn, (letters, equality)) in codings().iter().enumerate() {
        let (patterns, texts) = sets(&mut random, letters, &[65, 97, 128, 257, 300, 420]);
        let (patterns, texts) = (store(equality.alphabet(), &patterns), store(equality.alphabet(), &texts));
        for (turn, kernel) in (turn..).zip(whole_matrix_kernels()) {
            for (turn, (head_words, lanes, columns)) in (turn..).zip([(1, 2, 32), (4, 4, 64), (9, 2, 1 << 20)]) {
                let mut engine = engine(kernel, |shape| {
                    shape.head_words = Some(head_words);
                    if kernel.stem != "myers_thread" {
                        (shape.lanes, shape.subgroup_words, shape.workgroup_words) = (Some(lanes), 1, 1);
                        shape.dispatch_columns = columns;
                    }
                });
                // The modes take turns, because every combination is compiled.
                let mode = [EditMode::Infix, EditMode::Prefix][turn % 2];
                for limit in [Limit::Distance(20), Limit::Rate(0.12)] {
                    let scheme = EditScheme { mode, equality: equality.clone(), limit };
                    check(&mut engine, &patterns, &texts, &scheme);
                }
            }
        }
    }
}

#[test]
fn regions_are_compared_like_whole_texts() {
    let mut random = Random(support::rng(0xBF58_476D_1CE4_E5B9));
    let iupac: Vec<Code> = (1..16).collect();
    let genome: Vec<Vec<Code>> = [700, 1, 333].map(|length| random.codes(length, &iupac)).into();
    let patterns: Vec<Vec<Code>> = (0..40).map(|index| random.codes(1 + 7 * index, &iupac)).collect();
    let (patterns, genome) = (store(Alphabet::Dna, &patterns), store(Alphabet::Dna, &genome));
    let mut regions = Vec::new();
    let mut blocks = Vec::new();
    for pattern in 0..patterns.len() as u32 {
        let begin = regions.len() as u32;
        for _ in 0..random.below(50) {
            let text = random.below(3) as u32;
            let length = u64::from(genome.length(text));
            let (one, other) = (random.below(length + 1) as u32, random.below(length + 1) as u32);
            regions.push(Region { text, start: one.min(other), end: one.max(other) });
        }
        blocks.push(EditBlock { pattern, regions: begin..regions.len() as u32, cells: 1 });
    }
    for mode in MODES {
        let scheme = Arc::new(scheme(mode, Equality::dna(Ambiguity::Overlap, false)));
        let (pattern_store, text_store) = (Arc::clone(&patterns), Arc::clone(&genome));
        let chunk = Arc::new(EditChunk::new(
            pattern_store,
            text_store,
            scheme,
            TextRegions::Regions(Arc::new(regions.clone())),
        ));
        let test = EditTest::new([Arc::new(EditBatch { chunk, blocks: blocks.clone() })]);
        for kernel in whole_matrix_kernels() {
            assert_passes(&test, &mut engine(kernel, |_| {}), kernel.stem);
        }
    }
}

/// If all regions have one length, kernels receive only their starts, for every representation of
/// regions. Each case is also run with one longer region.
#[test]
fn regions_of_one_length_match_other_regions() {
    let mut random = Random(support::rng(0x0E_1E_57));
    let genome: Vec<Vec<Code>> = [300, 48, 90].map(|length| random.codes(length, &BASES)).into();
    let mut patterns: Vec<Vec<Code>> = [0, 1, 31, 33, 48].map(|length| random.codes(length, &BASES)).into();
    patterns.extend([3, 40, 200].map(|start| random.mutated(&genome[0][start..start + 48], &BASES, 12)));
    let (patterns, genome) = (store(Alphabet::Dna, &patterns), store(Alphabet::Dna, &genome));
    let texts: Vec<Vec<Code>> = (0..40).map(|_| random.codes(48, &BASES)).collect();
    let texts = store(Alphabet::Dna, &texts);
    let count = 40 * patterns.len() as u32;
    let region = |random: &mut Random, length: u32| {
        let text = random.below(3) as u32;
        let start = random.below(u64::from(genome.length(text) - length) + 1) as u32;
        Region { text, start, end: start + length }
    };
    let mut one_length: Vec<Region> = (0..count).map(|_| region(&mut random, 48)).collect();
    // The sequences that the mutated patterns derive from.
    for (index, start) in (205..).step_by(40).zip([3, 40, 200]) {
        one_length[index] = Region { text: 0, start, end: start + 48 };
    }
    let mut others = one_length.clone();
    others[7] = Region { text: 0, start: 11, end: 61 };
    let candidates = |regions: &[Region]| -> Arc<Vec<Candidate>> {
        let skipped = Candidate { pattern: 0, region: Region { text: 0, start: 0, end: 5 } };
        let selected = regions.iter().map(|&region| Candidate { pattern: 0, region });
        Arc::new([skipped; 3].into_iter().chain(selected).chain([skipped]).collect())
    };
    let order: Vec<u32> = (0..count).map(|index| index * 7 % 40).collect();
    let all = [
        (TextRegions::Regions(Arc::new(one_length.clone())), true),
        (TextRegions::Regions(Arc::new(others.clone())), false),
        (TextRegions::Candidates(candidates(&one_length), 3..3 + count), true),
        (TextRegions::Candidates(candidates(&others), 3..3 + count), false),
        (TextRegions::Texts(order.into()), true),
    ];
    let blocks = (0..patterns.len() as u32).map(|pattern| {
        // A few regions belong to no block.
        EditBlock { pattern, regions: 40 * pattern + pattern % 3..40 * (pattern + 1), cells: 1 }
    });
    let blocks: Vec<EditBlock> = blocks.collect();
    let mut near = 0;
    let kernels = whole_matrix_kernels().into_iter().chain([kernel_named("myers_band")]).chain(scan_kernels());
    let mut engines: Vec<_> = kernels.map(|kernel| (kernel, engine(kernel, |_| {}))).collect();
    for (regions, are_equal) in all {
        let held = if matches!(regions, TextRegions::Texts(_)) { &texts } else { &genome };
        for (mode, limit) in MODES.into_iter().flat_map(|mode| [(mode, Limit::None), (mode, Limit::Distance(15))]) {
            let scheme = EditScheme { limit, ..scheme(mode, Equality::literal(Alphabet::Dna)) };
            let chunk = EditChunk::new(Arc::clone(&patterns), Arc::clone(held), Arc::new(scheme), regions.clone());
            assert_eq!(chunk.text_symbols().0 == chunk.text_symbols().1, are_equal);
            // Lists are possible only without the patterns that have few symbols or none.
            for some_blocks in [&blocks[..], &blocks[2..]] {
                let chunk =
                    EditChunk::new(Arc::clone(&patterns), Arc::clone(held), chunk.scheme.clone(), regions.clone());
                let batch = Arc::new(EditBatch { chunk: Arc::new(chunk), blocks: some_blocks.to_vec() });
                let test = EditTest::new([Arc::clone(&batch)]);
                let suited = engines.iter_mut().filter(|(kernel, _)| match kernel.lane_grouping() {
                    Some(LaneGrouping::Band) => mode == EditMode::Global && limit != Limit::None,
                    Some(LaneGrouping::ScanSubgroup | LaneGrouping::ScanWorkgroup) => mode == EditMode::Infix,
                    _ => true,
                });
                for (kernel, engine) in suited {
                    let distances = report(engine, &batch).into_each();
                    assert_right(&test, &distances, kernel.stem);
                    near += distances.iter().filter(|distances| distances.distance < 10).count();
                }
            }
        }
    }
    assert!(near > 100, "{near}");
}

#[test]
fn overlaps_match_textbook() {
    let mut random = Random(support::rng(0xABCD_EF01_2345_6789));
    let iupac: Vec<Code> = (1..16).collect();
    let reaches = [
        (0, 0, 1, OverlapReach::ANY_RATE),
        (9, 0, 25, 10_000),
        (9, 40, 21, 3_000),
        (1, 0, 1, u32::MAX),
        (1, 0, 1, 20_000),
        (1, 0, 8, 0),
    ];
    for (letters, equality) in
        [(&BASES[..], Equality::dna(Ambiguity::Overlap, true)), (&iupac, Equality::dna(Ambiguity::Mismatch, true))]
    {
        let (mut patterns, mut texts) = sets(&mut random, letters, &WORD_EDGES);
        // The ends of one sequence are the starts of the other.
        for (shared_length, tail_length) in [(60, 80), (100, 31), (64, 64)] {
            let shared = random.codes(shared_length, letters);
            let tail = random.codes(tail_length, letters);
            texts.push(tail.iter().chain(&random.mutated(&shared, letters, 20)).copied().collect());
            patterns.push(shared.iter().chain(&random.codes(tail_length / 2, letters)).copied().collect());
        }
        let (patterns, texts) = (store(Alphabet::Dna, &patterns), store(Alphabet::Dna, &texts));
        for (shorter, constant, divisor, rate) in reaches {
            let mode = EditMode::Overlap(OverlapReach { shorter, constant, divisor, rate });
            for kernel in whole_matrix_kernels() {
                let mut engine = engine(kernel, |shape| (shape.subgroup_words, shape.workgroup_words) = (2, 2));
                check(&mut engine, &patterns, &texts, &scheme(mode, equality.clone()));
            }
        }
    }
}

#[test]
fn pieces_of_long_texts_match_textbook() {
    let mut random = Random(support::rng(0x0DDB_1A5E_5BAD_5EED));
    let mut genome = random.codes(150_000, &BASES);
    let patterns: Vec<Vec<Code>> = [20, 33, 100].map(|length| random.codes(length, &BASES)).into();
    for (pattern, at) in patterns.iter().zip([65_530, 100_000, 3]) {
        let copy = random.mutated(pattern, &BASES, 15);
        genome.splice(at..at + copy.len(), copy);
    }
    let (patterns, texts) = (store(Alphabet::Dna, &patterns), store(Alphabet::Dna, &[genome]));
    let scheme = scheme(EditMode::Infix, Equality::literal(Alphabet::Dna));
    for kernel in [kernel_named("myers_thread")].into_iter().chain(scan_kernels()) {
        check(&mut engine(kernel, |_| {}), &patterns, &texts, &scheme);
    }
}

#[test]
fn bands_match_textbook_up_to_the_limit() {
    let mut random = Random(support::rng(0x1234_5678_9ABC_DEF1));
    for (letters, equality) in &codings() {
        let (mut patterns, mut texts) = sets(&mut random, letters, &[0, 1, 31, 32, 33, 64, 100, 150, 321, 600]);
        // Pairs of almost equal length, so that bands lie on both sides of the corner.
        for pattern in patterns.clone() {
            for apart in [3, 8, 40] {
                texts.push(random.mutated(&pattern, letters, apart));
            }
            patterns.push(random.mutated(&pattern, letters, 10));
        }
        let (patterns, texts) = (store(equality.alphabet(), &patterns), store(equality.alphabet(), &texts));
        let mut engine = engine(kernel_named("myers_band"), |_| {});
        let limits = [0, 1, 30, 31, 32, 63, 64, 127, 300].map(Limit::Distance).into_iter();
        for limit in limits.chain([Limit::Rate(0.3)]) {
            let scheme = EditScheme { mode: EditMode::Global, equality: equality.clone(), limit };
            check(&mut engine, &patterns, &texts, &scheme);
        }
    }
}

/// With every kernel, pairs within the limit are listed as long as the list has space. Results are
/// correct in both cases.
#[test]
fn pairs_within_a_limit_are_listed_if_the_list_has_space() {
    let mut random = Random(support::rng(0xC0FF_EE00_D15E_A5E5));
    let (mut patterns, mut texts) = sets(&mut random, &BASES, &[20, 32, 33, 64, 65, 129]);
    // Lists exclude sequences without symbols.
    [&mut patterns, &mut texts].into_iter().for_each(|all| all.retain(|codes| !codes.is_empty()));
    // Exclude the longest pattern, which does not occur in any text.
    texts.extend(patterns.iter().filter(|codes| codes.len() < 129).cloned());
    let (patterns, texts) = (store(Alphabet::Dna, &patterns), store(Alphabet::Dna, &texts));
    let kernels = whole_matrix_kernels()
        .into_iter()
        .map(|kernel| (kernel, &MODES[..]))
        .chain([(kernel_named("myers_band"), &MODES[..1])]);
    // No pattern occurs in this text. After a list was too short, an engine uses lists again once few
    // pairs are within the limit.
    let other = store(Alphabet::Dna, &[vec![1; 40]]);
    // Cover lists with enough space, lists that are too short, and no pair within the limit.
    let mut seen = [0, 0, 0];
    for (kernel, modes) in kernels {
        let mut engine = engine(kernel, |_| {});
        let heads = [None, Some(0), Some(3), Some(40)].map(|room| (room, None));
        for (room, head_words) in heads.into_iter().chain([(None, Some(1)), (Some(3), Some(1))]) {
            let shape = EditShape { list_room: room, head_words, ..engine.shape() };
            engine = engine.with_shape(shape);
            for &mode in modes {
                for limit in [Limit::Distance(0), Limit::Distance(9), Limit::Rate(0.0), Limit::Rate(0.15)] {
                    let scheme = EditScheme { mode, equality: Equality::literal(Alphabet::Dna), limit };
                    for batch in batches(&patterns, &texts, &scheme) {
                        let test = EditTest::new([Arc::clone(&batch)]);
                        let least = batch.blocks.iter().map(|block| patterns.length(block.pattern)).min();
                        for without in
                            batches(&patterns, &other, &EditScheme { limit: Limit::Rate(0.0), ..scheme.clone() })
                        {
                            report(&mut engine, &without);
                        }
                        let distances = report(&mut engine, &batch);
                        let each = distances.clone().into_each();
                        assert_right(&test, &each, &format!("{}, room for {room:?}", kernel.stem));
                        let some = each.iter().filter(|distances| distances.is_some()).count();
                        let is_list = matches!(distances, BatchDistances::Listed { .. });
                        // Kernels list by the largest limit of the batch, so they may list more
                        // pairs than are within their own limits. If all pairs may be listed, there
                        // is no list.
                        if matches!(limit, Limit::Distance(most) if least > Some(most)) {
                            let room = room.map_or(1024, |room| room as usize);
                            assert_eq!(is_list, room > 0 && some <= room, "{some} pairs, room for {room}");
                        }
                        seen[0] += usize::from(is_list && some > 0);
                        seen[1] += usize::from(!is_list && room == Some(3));
                        seen[2] += usize::from(is_list && some == 0);
                    }
                }
            }
        }
    }
    assert!(seen.iter().all(|&count| count > 5), "{seen:?}");
}

/// A pair that is computed in parts of columns is listed once, by the last part.
#[test]
fn pairs_in_strips_and_parts_are_listed_once() {
    let mut random = Random(support::rng(0x5EED_1157));
    let (patterns, mut texts) = sets(&mut random, &BASES, &[63, 64, 65, 128, 129, 192]);
    texts.retain(|codes| !codes.is_empty());
    // Texts that end at the end of a part.
    texts.extend([32, 64, 96, 128].map(|length| patterns[4].iter().cycle().take(length).copied().collect()));
    let (patterns, texts) = (store(Alphabet::Dna, &patterns), store(Alphabet::Dna, &texts));
    for kernel in dividing() {
        for mode in MODES {
            let mut engine = engine(kernel, |shape| {
                (shape.lanes, shape.subgroup_words, shape.workgroup_words) = (Some(2), 1, 1);
                shape.dispatch_columns = 32;
            });
            let scheme = EditScheme { mode, equality: Equality::literal(Alphabet::Dna), limit: Limit::Rate(0.4) };
            for batch in batches(&patterns, &texts, &scheme) {
                let distances = report(&mut engine, &batch);
                assert!(matches!(distances, BatchDistances::Listed { .. }));
                assert_right(&EditTest::new([batch]), &distances.into_each(), kernel.stem);
            }
        }
    }
}

/// If all pairs are within the limit, the list is too short. Then no list is used until few pairs
/// are within the limit.
#[test]
fn lists_are_disabled_and_enabled_again() {
    let near = |random: &mut Random, seed: &[Code]| -> Vec<Vec<Code>> {
        (0..40).map(|_| random.mutated(seed, &BASES, 40)).collect()
    };
    let mut random = Random(support::rng(0xAB1E));
    let seed = random.codes(60, &BASES);
    let (one, other) = (near(&mut random, &seed), (0..40).map(|_| random.codes(60, &BASES)).collect::<Vec<_>>());
    let [patterns, far] = [&one[..], &other].map(|codes| store(Alphabet::Dna, codes));
    let scheme =
        EditScheme { mode: EditMode::Infix, equality: Equality::literal(Alphabet::Dna), limit: Limit::Distance(29) };
    let all: Vec<Arc<EditBatch>> = batches(&patterns, &patterns, &scheme);
    let none: Vec<Arc<EditBatch>> = batches(&patterns, &far, &EditScheme { limit: Limit::Distance(0), ..scheme });
    let mut engine = engine(kernel_named("myers_thread"), |_| {});
    let mut is_list = |batch: &Arc<EditBatch>| {
        let distances = report(&mut engine, batch);
        let is_list = matches!(distances, BatchDistances::Listed { .. });
        assert_right(&EditTest::new([Arc::clone(batch)]), &distances.into_each(), "lists");
        is_list
    };
    // 1024 of the 1600 pairs can be listed.
    assert_eq!((all.len(), all[0].pairs()), (1, 1600));
    let turns = [&none, &all, &all, &none, &none, &all].map(|batches| is_list(&batches[0]));
    assert_eq!(turns, [true, false, false, false, true, false]);
}
