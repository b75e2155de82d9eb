//! Tests the kernels and CPU code for reads and ancestral states against the oracle.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::{KernelFilter, KernelTest, OracleCase, SelfTest, checked, kernels_of, test_kernels};
use crate::engine::mock::TextbookKind;
use crate::engine::{Engine, thread_pool};
use crate::error::{Error, Result};
use crate::gpu::adapter::FoundAdapter;
use crate::gpu::kernels::Family;
use crate::measure::simulate::SEED;
use crate::measure::simulate::states::{self, PhyloComparison};
use crate::papara::cpu::PhyloWorker;
use crate::papara::gpu::{BlockShape, PhyloGpu};
use crate::papara::{OCTET, Phylo, PhyloBatch, Vectors};
use crate::score::{Gaps, PhyloScheme};
use crate::seq::{Alphabet, Code, SequenceStore};

/// Lengths of reads, up to a tenth more or less: smaller and larger than a slice of each kernel,
/// and close to these sizes.
const LENGTHS: [u32; 6] = [1, 5, 12, 24, 47, 90];
/// Number of reads of each length.
const READS: u32 = 3;
/// Number of sites: several chunks, the last of them incomplete.
const SITES: u32 = 150;
/// Number of vectors. The last octet is not full.
const VECTORS: u32 = 19;

/// Scores of reads against ancestral states.
#[derive(Debug)]
pub struct PhyloTest(Vec<OracleCase<Phylo, Vec<[i32; OCTET]>>>);

impl PhyloTest {
    /// Creates a test of these batches, with results of the oracle.
    ///
    /// # Errors
    /// The errors of the oracle.
    pub fn new(batches: impl IntoIterator<Item = Arc<PhyloBatch>>) -> Result<Self> {
        let case = |batch: Arc<PhyloBatch>| {
            let expected = Phylo::compute_textbook(&batch, &AtomicBool::default())?.scores;
            Ok(OracleCase { batch, expected })
        };
        Ok(PhyloTest(batches.into_iter().map(case).collect::<Result<_>>()?))
    }

    /// Creates a test of both alphabets, of vectors and unions of vectors, of reads with and
    /// without ambiguous symbols, and of schemes with small and large numbers.
    fn with_all_schemes() -> Result<Self> {
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
                    batches.push(PhyloComparison::new(&vectors, &reads, scheme).batch(0..reads.len() as u32));
                }
            }
        }
        PhyloTest::new(batches)
    }
}

impl SelfTest for PhyloTest {
    const NAME: &'static str = "ancestral states";
    type Engine = dyn Engine<Phylo>;
    type Case = OracleCase<Phylo, Vec<[i32; OCTET]>>;
    type Found = Vec<[i32; OCTET]>;

    fn cases(&self) -> &[Self::Case] {
        &self.0
    }

    fn run(&self, case: &Self::Case, engine: &mut Self::Engine) -> Result<Vec<[i32; OCTET]>> {
        Ok(checked(engine, &case.batch)?.scores)
    }

    /// Compares the scores of all vectors. The scores of padding in the last octet have no meaning.
    fn compare(&self, case: &Self::Case, actual: &Vec<[i32; OCTET]>) -> Result<u64> {
        let (batch, chunk) = (&case.batch, &case.batch.chunk);
        if actual.len() != case.expected.len() {
            return Err(Error::Internal(format!("scores of {} octets, not of {}", actual.len(), case.expected.len())));
        }
        let positions =
            batch.blocks.iter().flat_map(|block| block.positions.clone().map(|position| (block.read, position)));
        let mut pairs = 0;
        for (((read, position), expected), actual) in positions.zip(&case.expected).zip(actual) {
            let first = chunk.octet(position) as usize * OCTET;
            let vectors = (chunk.vectors.len() as usize).saturating_sub(first).min(OCTET);
            for (lane, (expected, actual)) in expected.iter().zip(actual).enumerate().take(vectors) {
                if expected != actual {
                    let symbols = chunk.reads.length(read);
                    return Err(Error::Internal(format!(
                        "score of {symbols} symbols against {} sites, vector {}, {:?}, {:?}: {actual}, should be {expected}",
                        chunk.vectors.sites(),
                        first + lane,
                        chunk.vectors.alphabet(),
                        chunk.scheme
                    )));
                }
                pairs += 1;
            }
        }
        Ok(pairs)
    }
}

/// Tests every kernel that an adapter can run.
pub(super) fn on_adapter(adapter: &FoundAdapter, is_tested: KernelFilter<'_>) -> Vec<KernelTest> {
    test_kernels(kernels_of(Family::Phylo, adapter).filter(is_tested), PhyloTest::with_all_schemes(), |test, kernel| {
        let mut pairs = 0;
        // Tests both widths of columns, even if one of them does not suit the reads.
        for width in 0..2 {
            let engine = PhyloGpu::open(adapter)?.with_kernel(Some(kernel));
            let shape = engine.shape();
            let columns = shape.columns.map(|columns| [columns[width]; 2]);
            pairs += test.test(&mut engine.with_shape(BlockShape { columns, ..shape }))?;
        }
        Ok(pairs)
    })
}

/// Tests the CPU code.
pub(super) fn on_cpu() -> KernelTest {
    let test = || PhyloTest::with_all_schemes()?.test(&mut PhyloWorker::default());
    KernelTest::on_cpu::<PhyloTest>(test())
}

/// Returns reads of all lengths. One read of each length has ambiguous symbols.
fn reads(vectors: &Vectors) -> Arc<SequenceStore> {
    let alphabet = vectors.alphabet();
    let mut all = SequenceStore::builder(alphabet);
    for length in LENGTHS {
        let sources = states::reads(vectors, READS, length, SEED ^ u64::from(length));
        for read in 0..READS {
            let mut codes = sources.codes(read).to_vec();
            if read == 0 {
                let others = codes.iter_mut().enumerate().step_by(9);
                others.for_each(|(index, code)| *code = (1 + (index + 14) % (alphabet.size() - 1)) as Code);
            }
            all.push_valid(format!("read{length}_{read}"), &codes);
        }
    }
    Arc::new(all.build())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::papara::vectors::set_of;

    #[test]
    fn wrong_scores_are_detected() {
        let test = PhyloTest::with_all_schemes().expect("threads start");
        for case in test.cases() {
            let mut actual = case.expected.clone();
            let pairs = test.compare(case, &actual).expect("it is the same");
            assert_eq!(pairs, case.batch.blocks.len() as u64 * u64::from(VECTORS));
            // The padding of the last octet has no meaning.
            let last = actual.len() - 1;
            actual[last][OCTET - 1] += 1;
            test.compare(case, &actual).expect("it is still the same");
            actual[last][2] += 1;
            let error = test.compare(case, &actual).expect_err("one is wrong");
            assert!(error.to_string().contains("should be"), "{error}");
            test.compare(case, &actual[1..].to_vec()).expect_err("some are missing");
        }
    }

    #[test]
    fn batches_cover_all_variants_of_reads_and_number_widths() {
        use crate::papara::kernels::block::{BlockVariant, CHUNK, ScoreType, columns};
        let test = PhyloTest::with_all_schemes().expect("threads start");
        let mut seen = std::collections::HashSet::new();
        for OracleCase { batch, .. } in test.cases() {
            assert!(batch.chunk.vectors.sites() > CHUNK);
            for block in &batch.blocks {
                let codes = batch.chunk.reads.codes(block.read);
                let sets = codes.iter().map(|&code| set_of(batch.chunk.vectors.alphabet(), code));
                let is_single = sets.clone().all(u32::is_power_of_two);
                let (numbers, is_protein) = (ScoreType::F16, batch.chunk.vectors.alphabet() != Alphabet::Dna);
                let variant = BlockVariant {
                    numbers,
                    workgroup: 32,
                    columns: columns(numbers)[0],
                    chunk: CHUNK,
                    is_plain: false,
                    is_protein,
                };
                seen.insert((is_protein, is_single, variant.holds(codes.len() as u32, &batch.chunk.scheme)));
            }
        }
        assert_eq!(seen.len(), 8, "{seen:?}");
    }
}
