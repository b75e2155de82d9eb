use super::*;
use crate::edit::gpu::{MIN_MEASURED_SECONDS, TRIALS};
use crate::gpu::adapter::enumerate;
use crate::gpu::choosing::Chooser;
use crate::score::{Equality, OverlapReach};
use crate::seq::{Alphabet, SequenceStore};

/// Pattern lengths around every threshold of the choice.
const LENGTHS: [u32; 34] = [
    0, 1, 32, 33, 64, 100, 128, 129, 150, 250, 300, 400, 512, 513, 544, 545, 600, 768, 800, 1000, 1024, 1025, 1500,
    2000, 3000, 6144, 6145, 12_288, 12_289, 16_385, 20_000, 32_768, 100_000, 1_000_000,
];
/// The reach of overlaps.
const REACH: OverlapReach = OverlapReach { shorter: 6, constant: 0, divisor: 100, rate: OverlapReach::ANY_RATE };

/// Returns the sizes of a card with or without subgroup operations.
fn shape(subgroup_size: u32, workgroup_bytes: u32) -> EditShape {
    EditShape {
        thread_workgroup: 32,
        thread_words: 16,
        lanes_workgroup: 64,
        subgroup_words: 12,
        workgroup_words: 8,
        lanes: None,
        subgroup_size,
        dispatch_columns: u32::MAX,
        workgroup_bytes,
        list_room: None,
        head_words: None,
    }
}

fn gpu() -> Gpu {
    let Some(distances) = enumerate().into_iter().next() else {
        panic!("no adapter runs compute shaders here: install software Vulkan (Debian: mesa-vulkan-drivers)");
    };
    Gpu::open(&distances).unwrap()
}

fn coding(alphabet: Alphabet) -> Coding {
    let mut store = SequenceStore::builder(alphabet);
    store.push("all", &[1, 2, 4, 8]).unwrap();
    Coding::for_texts(&store.build(), &Equality::literal(alphabet))
}

/// Describes a variant in short: kernel, lanes x words, invocations per workgroup, words of a row,
/// strips.
fn describe_briefly(variant: &EditVariant) -> String {
    let EditVariant { words, workgroup, lanes, row_words, code_lanes, .. } = *variant;
    let strips = if variant.strips { "s" } else { "" };
    match variant.grouping {
        LaneGrouping::Thread => format!("T{words}/{workgroup}{strips}"),
        LaneGrouping::Subgroup => format!("S{lanes}x{words}/{workgroup}{strips}"),
        LaneGrouping::Workgroup => format!("W{lanes}x{words}/{workgroup}{strips}"),
        LaneGrouping::Band => format!("B{words}r{row_words}/{workgroup}{strips}"),
        LaneGrouping::ScanSubgroup => format!("C{words}x{code_lanes}/{workgroup}{strips}"),
        LaneGrouping::ScanWorkgroup => format!("D{words}/{workgroup}{strips}"),
    }
}

/// Describes the choice for every length in [`LENGTHS`]; `-` if no kernel suits.
fn row(gpu: &Gpu, name: &str, chosen: impl Fn(&Gpu, u32) -> Option<EditVariant>) -> String {
    let all = LENGTHS.map(|length| chosen(gpu, length).map_or("-".into(), |variant| describe_briefly(&variant)));
    // Join runs of the same choice.
    let runs = all.chunk_by(|one, other| one == other).map(|run| match run.len() {
        1 => run[0].clone(),
        length => format!("{}*{length}", run[0]),
    });
    format!("{name}: {}\n", runs.collect::<Vec<_>>().join(" "))
}

fn grid() -> String {
    let gpu = gpu();
    assert!(gpu.device.features().contains(wgpu::Features::SUBGROUP), "the adapter has no shuffles");
    let (dna, protein) = (coding(Alphabet::Dna), coding(Alphabet::Protein));
    let mut rows = String::new();
    let mut add = |name: String,
                   shape: EditShape,
                   mode: EditMode,
                   coding: &Coding,
                   budget: Option<u64>,
                   extent: &dyn Fn(u32) -> (u32, u32, f64)| {
        rows += &row(&gpu, &name, |gpu, pattern_symbols| {
            let (text_symbols, limit, filled) = extent(pattern_symbols);
            let extent = EditExtent {
                pattern_symbols,
                least_pattern_symbols: pattern_symbols,
                text_symbols,
                limit,
                pairs: 1,
                filled,
            };
            let context = SelectionContext {
                gpu,
                shape: &shape,
                kernel: None,
                mode,
                extent,
                coding,
                loop_budget: budget,
                cells: 1 << 40,
                can_omit: false,
                kept: heads::EXPECTED_KEPT_FRACTION,
            };
            let candidates = context.candidates().ok()?;
            let index = Chooser::new(MIN_MEASURED_SECONDS, Some(TRIALS)).cheapest(&candidates)?;
            Some(candidates[index].way.variant)
        });
    };
    for (device, size, bytes) in [("shuffles", 32, 49_152), ("none", 1, 16_384)] {
        let shape = shape(size, bytes);
        for (percent, filled) in [(3, 1.0), (3, 0.9), (3, 0.3), (10, 1.0), (10, 0.8), (30, 1.0), (60, 0.97), (200, 1.0)]
        {
            let name = format!("{device}, global, {percent}%, filled {filled}");
            add(name, shape, EditMode::Global, &dna, None, &|m| (m + m / 10, m * percent / 100, filled));
        }
        let name = format!("{device}, global, bytes, 3%");
        add(name, shape, EditMode::Global, &protein, None, &|m| (m, m * 3 / 100, 1.0));
        let name = format!("{device}, global, 3%, few iterations");
        add(name, shape, EditMode::Global, &dna, Some(60_000), &|m| (m, m * 3 / 100, 1.0));
        for (name, text) in [("infix", 14), ("infix in long texts", 20_000)] {
            add(format!("{device}, {name}"), shape, EditMode::Infix, &dna, None, &|m| {
                (m / 10 * text + 5, u32::MAX, 1.0)
            });
        }
        let name = format!("{device}, infix, few iterations");
        add(name, shape, EditMode::Infix, &dna, Some(60_000), &|m| (3 * m, u32::MAX, 1.0));
        let name = format!("{device}, prefix, bytes");
        add(name, shape, EditMode::Prefix, &protein, None, &|m| (2 * m, u32::MAX, 1.0));
        let name = format!("{device}, overlaps");
        add(name, shape, EditMode::Overlap(REACH), &dna, None, &|m| (m, u32::MAX, 1.0));
        let name = format!("{device}, 4 lanes");
        let lanes = EditShape { lanes: Some(4), ..shape };
        add(name, lanes, EditMode::Infix, &dna, None, &|m| (m, u32::MAX, 1.0));
    }
    rows
}

#[test]
fn choices_without_measurements_are_stable() {
    let (grid, expected) = (grid(), include_str!("choices.txt"));
    assert_eq!(grid.lines().count(), expected.lines().count());
    for (chosen, expected) in grid.lines().zip(expected.lines()) {
        assert_eq!(chosen, expected);
    }
}

/// Returns the candidates for reads of a length in regions of a genome. The batch has `cells`
/// cells.
fn candidates(gpu: &Gpu, length: u32, cells: u64) -> Vec<CandidateKernel<EditMethod>> {
    let (coding, shape) = (coding(Alphabet::Dna), shape(32, 49_152));
    let extent = EditExtent {
        pattern_symbols: length,
        least_pattern_symbols: length,
        text_symbols: 2 * length,
        limit: u32::MAX,
        pairs: 1,
        filled: 1.0,
    };
    let (mode, coding) = (EditMode::Infix, &coding);
    let (kernel, loop_budget, can_omit, kept) = (None, None, false, heads::EXPECTED_KEPT_FRACTION);
    let shape = &shape;
    let context = SelectionContext { gpu, shape, kernel, mode, extent, coding, loop_budget, cells, can_omit, kept };
    context.candidates().unwrap()
}

#[test]
fn trials_cover_other_divisions_of_words() {
    let gpu = gpu();
    let briefs = |length| -> Vec<String> {
        candidates(&gpu, length, 1).iter().map(|candidate| describe_briefly(&candidate.way.variant)).collect()
    };
    assert_eq!(briefs(100), ["T4/32", "C4x4/32", "D4/32"], "lanes of two words are unlikely");
    assert_eq!(briefs(600), ["T20/32", "S2x10/64", "S4x5/64", "W4x5/64"]);
    assert_eq!(briefs(2000), ["S8x8/64", "S4x16/64", "S16x4/64", "W8x8/64", "W16x4/64"]);
    assert_eq!(briefs(20_000), ["S32x10/64s"], "in strips there is one way");
}

#[test]
fn trials_need_enough_remaining_work() {
    // A card whose subgroup operations are four times slower than the measured ones, so that
    // workgroup memory is best. Batches take 1.6 s.
    let gpu = gpu();
    let batch = 16_000_000_000_000;
    let all = candidates(&gpu, 2000, batch);
    let seconds = |candidate: &CandidateKernel<EditMethod>| {
        let slow = if candidate.way.variant.grouping == LaneGrouping::Subgroup { 4.0 } else { 1.0 };
        slow * candidate.work.cells / candidate.assumed.full
    };
    let methods = |batches: u64| {
        let mut chooser = Chooser::new(MIN_MEASURED_SECONDS, Some(TRIALS));
        let mut methods = Vec::new();
        for index in 1..=batches {
            let small = chooser.trial_seconds().is_some();
            let batch = if small { batch / 10 } else { batch };
            let all_candidates = candidates(&gpu, 2000, batch);
            let index = chooser.pick(&all_candidates, batch, (batches - index) * batch).unwrap();
            chooser.learn(&all_candidates[index], seconds(&all_candidates[index]));
            methods.push(describe_briefly(&all_candidates[index].way.variant));
        }
        methods
    };
    assert_eq!(all.len(), 5);
    // Nothing remains after the second batch, so there is no trial, however long the first batch
    // took.
    assert_eq!(methods(2), ["S8x8/64", "S8x8/64"]);
    let long = methods(200);
    assert_eq!(long[0], "S8x8/64");
    assert!(long[10..].iter().all(|method| method == "W8x8/64"), "{long:?}");
}

/// Candidates with heads exist if a limit excludes most pairs. They are additional candidates, or
/// the only ones if the number of their words is fixed.
#[test]
fn heads_are_candidates_if_the_limit_excludes_pairs() {
    let gpu = gpu();
    let coding = coding(Alphabet::Dna);
    let choose = |mode, limit, can_omit, head_words| {
        let shape = EditShape { head_words, ..shape(32, 49_152) };
        let extent = EditExtent {
            pattern_symbols: 400,
            least_pattern_symbols: 400,
            text_symbols: 560,
            limit,
            pairs: 1,
            filled: 1.0,
        };
        let (shape, coding, cells, kept) = (&shape, &coding, 1 << 40, heads::EXPECTED_KEPT_FRACTION);
        let (kernel, loop_budget) = (None, None);
        let gpu = &gpu;
        let candidates =
            SelectionContext { gpu, shape, kernel, mode, extent, coding, loop_budget, cells, can_omit, kept }
                .candidates()
                .unwrap();
        let kept = candidates.iter().filter(|candidate| candidate.way.variant.selection == PairSelection::Kept);
        assert!(kept.clone().all(|candidate| !candidate.way.variant.grouping.shares_pattern()));
        let mut head_groupings = kept.filter_map(|candidate| Some(candidate.way.heads?.grouping));
        assert!(head_groupings.all(|head| (head == LaneGrouping::ScanSubgroup) == (mode == EditMode::Infix)));
        let cheapest = Chooser::new(MIN_MEASURED_SECONDS, Some(TRIALS)).cheapest(&candidates).unwrap();
        let heads = |method: &EditMethod| method.heads.map(|variant| (variant.selection, method.variant.selection));
        (heads(&candidates[cheapest].way), candidates.iter().filter(|candidate| candidate.way.heads.is_none()).count())
    };
    let of_words = |words| Some((PairSelection::Heads(words), PairSelection::Kept));
    let (chosen, wholes) = choose(EditMode::Infix, 40, true, None);
    assert_eq!(chosen, of_words(4));
    assert!(wholes > 1);
    assert_eq!(choose(EditMode::Prefix, 40, true, None).0, of_words(4));
    assert_eq!(choose(EditMode::Infix, 40, true, Some(2)), (of_words(2), 0));
    for (mode, limit, can_omit, head_words) in [
        (EditMode::Infix, 40, false, None),
        (EditMode::Infix, 40, false, Some(2)),
        (EditMode::Infix, 200, true, None),
        (EditMode::Infix, 40, true, Some(0)),
        (EditMode::Infix, 40, true, Some(13)),
        (EditMode::Global, 40, true, None),
        (EditMode::Overlap(REACH), 40, true, Some(2)),
    ] {
        assert_eq!(choose(mode, limit, can_omit, head_words).0, None, "{mode:?} {limit} {head_words:?}");
    }
}
