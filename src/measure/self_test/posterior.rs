//! Kernels for probabilities of pairs against the CPU, bit by bit.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::{Case, KernelTest, SelfTest, checked, each};
use crate::engine::thread_engine::CpuKind;
use crate::engine::{Batch, Engine};
use crate::error::{Error, Result};
use crate::gpu::adapter::FoundAdapter;
use crate::gpu::kernels::{KERNELS, Kernel, KernelKind, find};
use crate::measure::simulate::family;
use crate::posterior::cpu::Workspace;
use crate::posterior::gpu::PosteriorGpu;
use crate::posterior::{Plan, Posterior, PosteriorBatch, PosteriorReport};
use crate::seq::{Alphabet, SequenceStore};

/// Residues of sequences in the test: around blocks, groups and strips.
const LENGTHS: [usize; 12] = [150, 90, 65, 64, 63, 40, 33, 24, 16, 9, 5, 1];

/// Probabilities that residues of two sequences belong together.
#[derive(Debug)]
pub struct PosteriorTest(Vec<Case<Posterior, PosteriorReport>>);

impl PosteriorTest {
    /// Computes on the CPU what has to come of batches.
    ///
    /// # Errors
    /// Those of the CPU's code.
    pub fn new(batches: impl IntoIterator<Item = Arc<PosteriorBatch>>) -> Result<Self> {
        let case = |batch: Arc<PosteriorBatch>| {
            let expected = Posterior::compute(&batch, &mut Workspace::default(), &AtomicBool::new(false))?;
            Ok(Case { batch, expected })
        };
        Ok(PosteriorTest(batches.into_iter().map(case).collect::<Result<_>>()?))
    }

    /// Families of both alphabets.
    fn families() -> Result<Self> {
        let of = |alphabet| batch(&family(alphabet, &LENGTHS));
        PosteriorTest::new([of(Alphabet::Dna)?, of(Alphabet::Protein)?])
    }
}

impl SelfTest for PosteriorTest {
    const NAME: &'static str = "probabilities";
    type Engine = dyn Engine<Posterior>;
    type Case = Case<Posterior, PosteriorReport>;
    type Found = PosteriorReport;

    fn cases(&self) -> &[Self::Case] {
        &self.0
    }

    fn run(&self, case: &Self::Case, engine: &mut Self::Engine) -> Result<PosteriorReport> {
        checked(engine, &case.batch)
    }

    fn compare(&self, case: &Self::Case, found: &PosteriorReport) -> Result<u64> {
        if let Some(pair) = found.differs(&case.expected) {
            let alphabet = case.batch.chunk.sequences.alphabet();
            return Err(Error::Internal(format!("{alphabet:?}: probabilities of pair {pair} are not the CPU's")));
        }
        Ok(case.batch.pairs())
    }
}

/// Tests the kernels on an adapter; the forward sums together with the kernel that follows them.
pub(super) fn on_adapter(found: &FoundAdapter) -> Vec<KernelTest> {
    each(own_kernels(), PosteriorTest::families(), |test, kernel| {
        let last = if kernel.follows() { find("posterior_backward") } else { Some(kernel) };
        test.test(&mut PosteriorGpu::open(found)?.with_kernel(last))
    })
}

/// Returns all pairs of a store.
pub(in crate::measure) fn batch(store: &Arc<SequenceStore>) -> Result<Arc<PosteriorBatch>> {
    let plan = Plan::new(Arc::clone(store))?;
    Ok(Arc::new(Batch { chunk: plan.chunk, blocks: plan.blocks }))
}

/// Returns the kernels of the module.
pub(in crate::measure) fn own_kernels() -> impl Iterator<Item = &'static Kernel> {
    KERNELS.iter().filter(|kernel| matches!(kernel.kind, KernelKind::Posterior(_)))
}
