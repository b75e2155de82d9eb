//! Kernels for Levenshtein distances and the CPU's threads against the textbook, and their speeds.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::{KernelSpeed, KernelTest, test_of};
use crate::edit::cpu::EditWorker;
use crate::edit::gpu::EditGpu;
use crate::edit::kernels::myers::Cooperation;
use crate::edit::plan::{Against, EditJob};
use crate::edit::{Edit, EditBatch, oracle};
use crate::engine::Engine;
use crate::engine::work::Work;
use crate::error::{Error, Result};
use crate::gpu::adapter::FoundAdapter;
use crate::gpu::kernels::{Family, Kernel, offered};
use crate::measure::bench::SEED;
use crate::measure::bench::reads::{CANDIDATES, Reads, Sample, genome, on_cpu, on_engine};
use crate::pairs::gpu::tune::random_store;
use crate::score::{Ambiguity, EditMode, EditScheme, Equality, Found, Limit, Reach};
use crate::seq::{Alphabet, Code, SequenceStore, Strands};

/// Lengths of patterns: at both ends of words, of lanes and, with [`TEST_LANES`] lanes, of strips.
const PATTERNS: [usize; 11] = [1, 2, 31, 32, 33, 63, 64, 65, 255, 256, 257];
/// Lengths of texts, shorter and longer than patterns, around the words that their symbols come in.
const TEXTS: [usize; 10] = [1, 15, 16, 17, 33, 64, 65, 250, 257, 300];
/// Lanes and words of kernels that divide a pair in the test: few, so that short patterns have several strips.
const TEST_LANES: u32 = 4;
const TEST_WORDS: u32 = 2;

/// Symbols of a read in the measurement, as short reads have.
const READ: u32 = 150;
/// Symbols of the genome.
const GENOME: usize = 1 << 24;
/// Seconds that a measurement should last, and may.
const SECONDS: (f64, f64) = (0.2, 1.0);
/// Reads at most.
const MOST_READS: u64 = 200_000;

/// Batches, and what has to come of them.
pub(super) struct Expected {
    batches: Vec<(Arc<EditBatch>, Vec<Found>)>,
}

impl Expected {
    /// All modes, with and without a limit, for symbols that take 2, 4 and 8 bits.
    pub(super) fn new() -> Self {
        let reach = Reach { shorter: 3, constant: 2, divisor: 8, rate: Reach::ANY_RATE / 2 };
        let modes = [EditMode::Global, EditMode::Infix, EditMode::Prefix, EditMode::Overlap(reach)];
        let bases = [1, 2, 4, 8];
        let letters: Vec<Code> = (1..=20).collect();
        let dna = || Equality::dna(Ambiguity::Overlap, true);
        let codings = [
            (&bases[..], dna(), &[][..]),
            (&bases[..], dna(), &[15, 5, 10][..]),
            (&letters[..], Equality::literal(Alphabet::Protein), &[][..]),
        ];
        let mut batches = Vec::new();
        for (of, equality, others) in codings {
            let (patterns, texts) = stores(equality.alphabet(), of, others);
            for mode in modes {
                for limit in [Limit::None, Limit::Rate(0.3)] {
                    let scheme = Arc::new(EditScheme { mode, equality: equality.clone(), limit });
                    let against = Against::Texts(Arc::clone(&texts));
                    let (patterns, strands) = (Arc::clone(&patterns), Strands::default());
                    let job = EditJob { patterns, against, scheme, strands, parts: None };
                    batches.extend(of_job(&job));
                }
            }
        }
        Expected { batches }
    }

    /// Compares an engine, with overlaps or without; the number of pairs compared. It need not take every batch.
    fn compare(&self, engine: &mut dyn Engine<Edit>, overlaps: bool) -> Result<u64> {
        let (mut pairs, mut refused) = (0, None);
        let is_overlap = |batch: &EditBatch| matches!(batch.band.scheme.mode, EditMode::Overlap(_));
        for (batch, expected) in self.batches.iter().filter(|(batch, _)| overlaps || !is_overlap(batch)) {
            let ticket = match engine.submit(Arc::clone(batch)) {
                Ok(ticket) => ticket,
                Err(error @ Error::Unsuited { .. }) => {
                    refused = Some(error);
                    continue;
                }
                Err(error) => return Err(error),
            };
            let report = engine.collect(ticket)?;
            Edit::check(batch, &report).map_err(Error::Internal)?;
            same(batch, expected, &report.found.into_each())?;
            pairs += batch.pairs();
        }
        match refused {
            Some(error) if pairs == 0 => Err(error),
            _ => Ok(pairs),
        }
    }
}

/// Random texts, and patterns of which each but the shortest is like a part of some text.
fn stores(alphabet: Alphabet, of: &[Code], others: &[Code]) -> (Arc<SequenceStore>, Arc<SequenceStore>) {
    let random = random_store(Alphabet::Bytes, 1, 1 << 13, 0xd157);
    let mut next = random.codes(0).iter().map(|&code| code as usize);
    let mut next = || next.next().unwrap_or_default();
    let mut texts = SequenceStore::builder(alphabet);
    let mut longest: Vec<Code> = Vec::new();
    for length in TEXTS {
        let mut codes: Vec<Code> = (0..length).map(|_| of[next() % of.len()]).collect();
        for (place, &other) in others.iter().enumerate() {
            codes[place * 7 % length] = other;
        }
        texts.push_valid(format!("text{length}"), &codes);
        longest = codes;
    }
    let mut patterns = SequenceStore::builder(alphabet);
    for length in PATTERNS {
        // Every eleventh symbol is another one, and one in 40 is left out.
        let part = longest.iter().enumerate().filter(|(place, _)| place % 40 != 39);
        let mut codes: Vec<Code> = part.map(|(_, &code)| code).cycle().skip(length % 20).take(length).collect();
        codes.iter_mut().step_by(11).for_each(|code| *code = of[next() % of.len()]);
        patterns.push_valid(format!("pattern{length}"), &codes);
    }
    (Arc::new(patterns.build()), Arc::new(texts.build()))
}

/// The batches of a job, those of each class of patterns together, and their results by the textbook.
fn of_job(job: &EditJob) -> Vec<(Arc<EditBatch>, Vec<Found>)> {
    let mut batches = Vec::new();
    for (_, band, mut blocks) in job.bands(u64::MAX) {
        while let Some(&(class, _)) = blocks.first() {
            let own = blocks.extract_if(.., |(next, _)| *next == class).map(|(_, block)| block).collect();
            let batch = Arc::new(EditBatch { band: Arc::clone(&band), blocks: own });
            let pairs = batch.blocks.iter().flat_map(|block| block.places.clone().map(|place| (block.pattern, place)));
            let find = |(pattern, place)| oracle::find(band.patterns.codes(pattern), band.text(place), &band.scheme);
            let expected = pairs.map(find).collect();
            batches.push((batch, expected));
        }
    }
    batches
}

/// Compares distances and ends with what they have to be.
fn same(batch: &EditBatch, expected: &[Found], found: &[Found]) -> Result<()> {
    let band = &batch.band;
    let pairs = batch.blocks.iter().flat_map(|block| block.places.clone().map(|place| (block.pattern, place)));
    for (((pattern, place), expected), found) in pairs.zip(expected).zip(found) {
        if expected != found {
            let (m, n) = (band.patterns.length(pattern), band.region(place).symbols());
            let EditScheme { mode, limit, .. } = &*band.scheme;
            return Err(Error::Internal(format!(
                "distance of {m} x {n} symbols, {mode:?}, limit {limit:?}: {found:?}, should be {expected:?}"
            )));
        }
    }
    Ok(())
}

/// Tests every kernel on an adapter.
pub(super) fn test_adapter(found: &FoundAdapter) -> Vec<KernelTest> {
    let expected = Expected::new();
    let test = |kernel: &'static Kernel| {
        let engine = EditGpu::open(found)?;
        let mut shape = engine.shape();
        if matches!(kernel.cooperation(), Some(Cooperation::Subgroup | Cooperation::Workgroup)) {
            shape.lanes = Some(TEST_LANES);
            (shape.subgroup_words, shape.workgroup_words) = (TEST_WORDS, TEST_WORDS);
        }
        expected.compare(&mut engine.with_kernel(Some(kernel)).with_shape(shape), true)
    };
    offered(Family::Edit).map(|kernel| test_of(kernel.stem, test(kernel))).collect()
}

/// Tests the CPU, which computes no overlaps.
pub(super) fn test_cpu() -> KernelTest {
    test_of("cpu, distances", Expected::new().compare(&mut EditWorker::default(), false))
}

/// Measures every kernel on an adapter.
pub(super) fn bench_adapter(found: &FoundAdapter, pool: &rayon::ThreadPool) -> Result<Vec<KernelSpeed>> {
    let genome = genome(GENOME, SEED);
    let mut speeds = Vec::new();
    for kernel in offered(Family::Edit) {
        let mut engine = EditGpu::open(found)?.with_kernel(Some(kernel));
        let limit = MOST_READS.min(engine.capacity().pairs / u64::from(CANDIDATES)).max(1) as u32;
        let is_band = kernel.cooperation() == Some(Cooperation::Band);
        let speed = speed(kernel.stem, &genome, is_band, (1, limit), |batch| {
            on_engine(pool, &mut engine, std::slice::from_ref(batch))
        });
        match speed {
            Ok(speed) => speeds.push(speed),
            Err(Error::Unsuited { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(speeds)
}

/// Measures the CPU.
pub(super) fn bench_cpu(pool: &rayon::ThreadPool) -> Result<Vec<KernelSpeed>> {
    let genome = genome(GENOME, SEED);
    let interrupt = Arc::new(AtomicBool::new(false));
    let limits = (pool.current_num_threads() as u32, MOST_READS as u32);
    let of = |is_band| speed("cpu", &genome, is_band, limits, |batch| on_cpu(pool, &interrupt, batch));
    Ok(vec![of(false)?, of(true)?])
}

fn speed(
    kernel: &str,
    genome: &Arc<SequenceStore>,
    is_band: bool,
    limits: (u32, u32),
    mut compute: impl FnMut(&Arc<EditBatch>) -> Result<Sample>,
) -> Result<KernelSpeed> {
    let (work, mode, limit) = match is_band {
        true => ("distances of short reads as wholes within a tenth", EditMode::Global, Limit::Rate(0.1)),
        false => ("distances of short reads to parts of regions", EditMode::Infix, Limit::None),
    };
    let reads = Reads::new(genome, mode, limit, READ);
    // Compiled before the clock runs.
    compute(&reads.batch(limits.0, SEED))?;
    let batch = reads.grown(limits, SECONDS, SEED, &mut compute)?;
    let seconds = compute(&batch)?.best().max(1e-9);
    Ok(KernelSpeed { kernel: kernel.into(), work, gcups: batch.cells() as f64 / seconds / 1e9 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_distance_is_seen() {
        let expected = Expected::new();
        assert!(expected.batches.iter().any(|(_, found)| found.contains(&Found::NONE)));
        let (batch, right) = &expected.batches[0];
        same(batch, right, right).expect("it is the same");
        for change in [|found: &mut Found| found.distance += 1, |found: &mut Found| found.end += 1] {
            let mut wrong = right.clone();
            change(wrong.last_mut().expect("there are pairs"));
            let error = same(batch, right, &wrong).expect_err("one is wrong");
            assert!(error.to_string().contains("should be"), "{error}");
        }
    }
}
