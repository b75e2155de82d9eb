//! Kernels for reads and ancestral states and the CPU's threads against the textbook, and their speeds.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::{KernelSpeed, KernelTest, test_of};
use crate::engine::mock::TextbookKind;
use crate::engine::{Engine, Work, thread_pool};
use crate::error::{Error, Result};
use crate::gpu::adapter::FoundAdapter;
use crate::gpu::kernels::{Family, Kernel, offered};
use crate::measure::bench::SEED;
use crate::measure::bench::reads::Sample;
use crate::measure::bench::states::{self, Scores, on_cpu, on_engine};
use crate::papara::cpu::PhyloWorker;
use crate::papara::gpu::{BlockShape, PhyloGpu};
use crate::papara::{OCTET, Phylo, PhyloBatch, Vectors};
use crate::score::{Gaps, PhyloScheme};
use crate::seq::{Alphabet, Code, SequenceStore};

/// Symbols of reads, a tenth more or less: of less and of more than one slice of every kernel, and around those.
const LENGTHS: [u32; 6] = [1, 5, 12, 24, 47, 90];
/// Reads of each length.
const READS: u32 = 3;
/// Sites: several chunks, the last one not whole.
const SITES: u32 = 150;
/// Vectors: the last octet is not full.
const VECTORS: u32 = 19;

/// Symbols of a read in the measurement, about, as in the paper.
const READ: u32 = 100;
/// Vectors there, as in the paper.
const BENCH_VECTORS: u32 = 320;
/// Sites there, as 16S rRNA has.
const BENCH_SITES: u32 = 1500;
/// Seconds that a measurement should last.
const SECONDS: f64 = 0.2;
/// Reads at most.
const MOST_READS: u32 = 40_000;

/// Batches, and what has to come of them.
pub(super) struct Expected {
    batches: Vec<(Arc<PhyloBatch>, Vec<[i32; OCTET]>)>,
}

impl Expected {
    /// Both alphabets, vectors and unions of such, reads of bases alone and others, by schemes that need few numbers and many.
    pub(super) fn new() -> Result<Self> {
        let pool = thread_pool(1)?;
        let papara = PhyloScheme::papara();
        let large = PhyloScheme { matching: 300, mismatch: -200, deletion: Gaps::from_emboss(90, 20), ..papara };
        let mut batches = Vec::new();
        for alphabet in [Alphabet::Dna, Alphabet::Protein] {
            let vectors = states::vectors(alphabet, SITES, VECTORS, SEED);
            let unions = states::vectors(alphabet, SITES, VECTORS * OCTET as u32, SEED).unions(&pool);
            for vectors in [vectors, unions].map(Arc::new) {
                let reads = reads(&vectors);
                for scheme in [papara, PhyloScheme::paper(), large] {
                    let batch = Scores::new(&vectors, &reads, scheme).batch(0..reads.len() as u32);
                    let expected = Phylo::by_the_textbook(&batch, &AtomicBool::default())?.scores;
                    batches.push((batch, expected));
                }
            }
        }
        Ok(Expected { batches })
    }

    /// Compares an engine; the number of reads and vectors compared.
    fn compare(&self, engine: &mut dyn Engine<Phylo>) -> Result<u64> {
        let mut pairs = 0;
        for (batch, expected) in &self.batches {
            let ticket = engine.submit(Arc::clone(batch))?;
            let report = engine.collect(ticket)?;
            Phylo::check(batch, &report).map_err(Error::Internal)?;
            pairs += same(batch, expected, &report.scores)?;
        }
        Ok(pairs)
    }
}

/// Reads of all lengths; one of each length has symbols that may be several characters.
fn reads(vectors: &Vectors) -> Arc<SequenceStore> {
    let alphabet = vectors.alphabet();
    let mut all = SequenceStore::builder(alphabet);
    for length in LENGTHS {
        let own = states::reads(vectors, READS, length, SEED ^ u64::from(length));
        for read in 0..READS {
            let mut codes = own.codes(read).to_vec();
            if read == 0 {
                let others = codes.iter_mut().enumerate().step_by(9);
                others.for_each(|(place, code)| *code = (1 + (place + 14) % (alphabet.size() - 1)) as Code);
            }
            all.push_valid(format!("read{length}_{read}"), &codes);
        }
    }
    Arc::new(all.build())
}

/// Compares scores with what they have to be; the number of those compared.
fn same(batch: &PhyloBatch, expected: &[[i32; OCTET]], found: &[[i32; OCTET]]) -> Result<u64> {
    let (band, mut pairs) = (&batch.band, 0);
    let places = batch.blocks.iter().flat_map(|block| block.places.clone().map(|place| (block.read, place)));
    for (((read, place), expected), found) in places.zip(expected).zip(found) {
        for (lane, (expected, found)) in expected.iter().zip(found).enumerate() {
            let vector = band.octet(place) as usize * OCTET + lane;
            if vector >= band.vectors.len() as usize {
                continue;
            }
            if expected != found {
                let symbols = band.reads.length(read);
                return Err(Error::Internal(format!(
                    "score of {symbols} symbols against {} sites, vector {vector}, {:?}, {:?}: {found}, should be {expected}",
                    band.vectors.sites(),
                    band.vectors.alphabet(),
                    band.scheme
                )));
            }
            pairs += 1;
        }
    }
    Ok(pairs)
}

/// The kernels that an adapter has what they need for.
fn kernels(found: &FoundAdapter) -> impl Iterator<Item = &'static Kernel> {
    let features = found.adapter.features();
    offered(Family::Phylo).filter(move |kernel| features.contains(kernel.features))
}

/// Tests every kernel that an adapter can run.
pub(super) fn test_adapter(found: &FoundAdapter) -> Vec<KernelTest> {
    let expected = Expected::new();
    let test = |kernel: &'static Kernel| {
        let expected = expected.as_ref().map_err(|error| Error::Internal(error.to_string()))?;
        let mut pairs = 0;
        // With few columns, and with many, whatever suits the reads.
        for width in 0..2 {
            let engine = PhyloGpu::open(found)?.with_kernel(Some(kernel));
            let shape = engine.shape();
            let columns = shape.columns.map(|columns| [columns[width]; 2]);
            pairs += expected.compare(&mut engine.with_shape(BlockShape { columns, ..shape }))?;
        }
        Ok(pairs)
    };
    kernels(found).map(|kernel| test_of(kernel.stem, test(kernel))).collect()
}

/// Tests the CPU.
pub(super) fn test_cpu() -> KernelTest {
    let test = || Expected::new()?.compare(&mut PhyloWorker::default());
    test_of("cpu, ancestral states", test())
}

/// Measures every kernel that an adapter can run.
pub(super) fn bench_adapter(found: &FoundAdapter) -> Result<Vec<KernelSpeed>> {
    let scores = scores();
    let of = |kernel: &'static Kernel| {
        let mut engine = PhyloGpu::open(found)?.with_kernel(Some(kernel));
        let most = engine.capacity().pairs / u64::from(BENCH_VECTORS / OCTET as u32);
        let limits = (1, u64::from(MOST_READS).min(most).max(1) as u32);
        speed(kernel.stem, &scores, limits, |batch| on_engine(&mut engine, std::slice::from_ref(batch)))
    };
    kernels(found).map(of).collect()
}

/// Measures the CPU.
pub(super) fn bench_cpu(pool: &rayon::ThreadPool) -> Result<KernelSpeed> {
    let interrupt = Arc::new(AtomicBool::new(false));
    let limits = (pool.current_num_threads() as u32, MOST_READS);
    speed("cpu", &scores(), limits, |batch| on_cpu(pool, &interrupt, std::slice::from_ref(batch)))
}

fn scores() -> Scores {
    let vectors = Arc::new(states::vectors(Alphabet::Dna, BENCH_SITES, BENCH_VECTORS, SEED));
    Scores::new(&vectors, &states::reads(&vectors, MOST_READS, READ, SEED), PhyloScheme::papara())
}

/// The speed with as many reads as take long enough.
fn speed(
    kernel: &str,
    scores: &Scores,
    (least, limit): (u32, u32),
    mut compute: impl FnMut(&Arc<PhyloBatch>) -> Result<Sample>,
) -> Result<KernelSpeed> {
    let mut count = least;
    // Compiled before the clock runs.
    compute(&scores.batch(0..count))?;
    loop {
        let batch = scores.batch(0..count);
        let seconds = compute(&batch)?.best().max(1e-6);
        if seconds >= SECONDS || count >= limit {
            let work = "scores of short reads against ancestral states";
            return Ok(KernelSpeed { kernel: kernel.into(), work, gcups: batch.cells() as f64 / seconds / 1e9 });
        }
        let factor = (1.2 * SECONDS / seconds).clamp(2.0, 16.0);
        count = ((f64::from(count) * factor) as u32).min(limit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::papara::vectors::set_of;

    #[test]
    fn a_wrong_score_is_seen() {
        let expected = Expected::new().expect("threads start");
        for (batch, right) in &expected.batches {
            let mut found = right.clone();
            let pairs = same(batch, right, &found).expect("it is the same");
            assert_eq!(pairs, batch.blocks.len() as u64 * u64::from(VECTORS));
            // What fills the last octet has no meaning.
            let last = found.len() - 1;
            found[last][OCTET - 1] += 1;
            same(batch, right, &found).expect("it is still the same");
            found[last][2] += 1;
            let error = same(batch, right, &found).expect_err("one is wrong");
            assert!(error.to_string().contains("should be"), "{error}");
        }
    }

    #[test]
    fn batches_are_plain_and_not_and_take_numbers_of_all_widths() {
        use crate::papara::kernels::block::{CHUNK, Numbers, Variant, columns};
        let expected = Expected::new().expect("threads start");
        let mut seen = std::collections::HashSet::new();
        for (batch, _) in &expected.batches {
            assert!(batch.band.vectors.sites() > CHUNK);
            for block in &batch.blocks {
                let codes = batch.band.reads.codes(block.read);
                let sets = codes.iter().map(|&code| set_of(batch.band.vectors.alphabet(), code));
                let is_single = sets.clone().all(u32::is_power_of_two);
                let (numbers, is_protein) = (Numbers::Halves, batch.band.vectors.alphabet() != Alphabet::Dna);
                let variant = Variant {
                    numbers,
                    workgroup: 32,
                    columns: columns(numbers)[0],
                    chunk: CHUNK,
                    is_plain: false,
                    is_protein,
                };
                seen.insert((is_protein, is_single, variant.holds(codes.len() as u32, &batch.band.scheme)));
            }
        }
        assert_eq!(seen.len(), 8, "{seen:?}");
    }
}
