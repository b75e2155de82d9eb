use super::*;
use crate::gpu::adapter::enumerate;
use crate::score::{Equality, Reach};
use crate::seq::{Alphabet, SequenceStore};

/// Lengths of patterns around every bound of the choice.
const LENGTHS: [u32; 34] = [
    0, 1, 32, 33, 64, 100, 128, 129, 150, 250, 300, 400, 512, 513, 544, 545, 600, 768, 800, 1000, 1024, 1025, 1500,
    2000, 3000, 6144, 6145, 12_288, 12_289, 16_385, 20_000, 32_768, 100_000, 1_000_000,
];
/// What a reach takes in overlaps.
const REACH: Reach = Reach { sum: 3, shorter: 0, difference: 0, divisor: 100 };

/// An adapter's sizes, as those of a card with or without shuffles.
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
    }
}

fn gpu() -> Gpu {
    let Some(found) = enumerate().into_iter().next() else {
        panic!("no adapter runs compute shaders here: install software Vulkan (Debian: mesa-vulkan-drivers)");
    };
    Gpu::open(&found).unwrap()
}

fn coding(alphabet: Alphabet) -> Coding {
    let mut store = SequenceStore::builder(alphabet);
    store.push("all", &[1, 2, 4, 8]).unwrap();
    Coding::of(&store.build(), &Equality::literal(alphabet))
}

/// A variant in short: kernel, lanes x words, invocations a workgroup, words of a row, strips.
fn brief(variant: &Variant) -> String {
    let Variant { words, workgroup, lanes, row_words, .. } = *variant;
    let strips = if variant.strips { "s" } else { "" };
    match variant.cooperation {
        Cooperation::Thread => format!("T{words}/{workgroup}{strips}"),
        Cooperation::Subgroup => format!("S{lanes}x{words}/{workgroup}{strips}"),
        Cooperation::Workgroup => format!("W{lanes}x{words}/{workgroup}{strips}"),
        Cooperation::Band => format!("B{words}r{row_words}/{workgroup}{strips}"),
    }
}

/// A setting of the grid, the choice for every length in [`LENGTHS`]; `-` where no kernel computes it.
fn row(gpu: &Gpu, name: &str, chosen: impl Fn(&Gpu, u32) -> Option<Variant>) -> String {
    let all = LENGTHS.map(|length| chosen(gpu, length).map_or("-".into(), |variant| brief(&variant)));
    // Runs of one choice as one.
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
            let extent = Extent { pattern_symbols, text_symbols, limit, filled };
            choose(gpu, &shape, None, (mode, extent), coding, budget).ok()
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
fn choices_where_nothing_was_measured() {
    assert_eq!(grid(), include_str!("choices.txt"));
}
