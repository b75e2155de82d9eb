//! Tests the kernels for posterior probabilities of pairs. Results must equal the CPU's bit by bit.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::{KernelFilter, KernelTest, OracleCase, SelfTest, checked, test_kernels};
use crate::engine::thread_engine::CpuKind;
use crate::engine::{Batch, Engine};
use crate::error::{Error, Result};
use crate::gpu::adapter::FoundAdapter;
use crate::gpu::kernels::{KERNELS, Kernel, KernelKind, find};
use crate::measure::simulate::family;
use crate::posterior::cpu::PosteriorWorkspace;
use crate::posterior::gpu::PosteriorGpu;
use crate::posterior::{Posterior, PosteriorBatch, PosteriorPlan, PosteriorReport};
use crate::seq::{Alphabet, SequenceStore};

/// Lengths of test sequences in residues, close to the sizes of blocks, groups and strips.
const LENGTHS: [usize; 12] = [150, 90, 65, 64, 63, 40, 33, 24, 16, 9, 5, 1];

/// Posterior probabilities of aligned residues of two sequences.
#[derive(Debug)]
pub struct PosteriorTest(Vec<OracleCase<Posterior, PosteriorReport>>);

impl PosteriorTest {
    /// Creates a test of these batches, with results of the CPU code.
    ///
    /// # Errors
    /// The errors of the CPU code.
    pub fn new(batches: impl IntoIterator<Item = Arc<PosteriorBatch>>) -> Result<Self> {
        let case = |batch: Arc<PosteriorBatch>| {
            let expected = Posterior::compute(&batch, &mut PosteriorWorkspace::default(), &AtomicBool::new(false))?;
            Ok(OracleCase { batch, expected })
        };
        Ok(PosteriorTest(batches.into_iter().map(case).collect::<Result<_>>()?))
    }

    /// Creates a test with sequence families of both alphabets.
    fn families() -> Result<Self> {
        let of = |alphabet| batch(&family(alphabet, &LENGTHS));
        PosteriorTest::new([of(Alphabet::Dna)?, of(Alphabet::Protein)?])
    }
}

impl SelfTest for PosteriorTest {
    const NAME: &'static str = "probabilities";
    type Engine = dyn Engine<Posterior>;
    type Case = OracleCase<Posterior, PosteriorReport>;
    type Found = PosteriorReport;

    fn cases(&self) -> &[Self::Case] {
        &self.0
    }

    fn run(&self, case: &Self::Case, engine: &mut Self::Engine) -> Result<PosteriorReport> {
        checked(engine, &case.batch)
    }

    fn compare(&self, case: &Self::Case, actual: &PosteriorReport) -> Result<u64> {
        if let Some(pair) = actual.differs(&case.expected) {
            let alphabet = case.batch.chunk.sequences.alphabet();
            return Err(Error::Internal(format!("{alphabet:?}: probabilities of pair {pair} are not the CPU's")));
        }
        Ok(case.batch.pairs())
    }
}

/// Tests the kernels on an adapter. The forward sums are tested together with the kernel that
/// follows them.
pub(super) fn on_adapter(adapter: &FoundAdapter, is_tested: KernelFilter<'_>) -> Vec<KernelTest> {
    test_kernels(own_kernels().filter(is_tested), PosteriorTest::families(), |test, kernel| {
        let last = if kernel.is_later_stage() { find("posterior_backward") } else { Some(kernel) };
        test.test(&mut PosteriorGpu::open(adapter)?.with_kernel(last))
    })
}

/// Returns a batch with all pairs of a store.
pub(in crate::measure) fn batch(store: &Arc<SequenceStore>) -> Result<Arc<PosteriorBatch>> {
    let plan = PosteriorPlan::new(Arc::clone(store))?;
    Ok(Arc::new(Batch { chunk: plan.chunk, blocks: plan.blocks }))
}

/// Returns the kernels for posterior probabilities.
pub(in crate::measure) fn own_kernels() -> impl Iterator<Item = &'static Kernel> {
    KERNELS.iter().filter(|kernel| matches!(kernel.kind, KernelKind::Posterior(_)))
}
