//! Tests the kernels of ClustalW's pairwise stage against the oracle.

use std::sync::Arc;

use super::{KernelFilter, KernelTest, OracleCase, SelfTest, checked, test_kernels};
use crate::clustal::gpu::ClustalGpu;
use crate::clustal::{Clustal, ClustalBatch, ClustalChunk, ClustalCosts, PairIdentities, oracle};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::gpu::adapter::FoundAdapter;
use crate::gpu::kernels::{KERNELS, Kernel, KernelKind, find};
use crate::measure::simulate::family;
use crate::seq::{Alphabet, SequenceStore};

/// Lengths of test sequences in residues: smaller and larger than a slice of each kernel, and close
/// to these sizes.
const LENGTHS: [usize; 12] = [150, 90, 61, 60, 47, 40, 39, 24, 20, 12, 5, 1];

/// Identities, starts and ends of the best local alignment of pairs.
#[derive(Debug)]
pub struct ClustalTest(Vec<OracleCase<Clustal, Vec<PairIdentities>>>);

impl ClustalTest {
    /// Creates a test of these batches, with results of the oracle.
    pub fn new(batches: impl IntoIterator<Item = Arc<ClustalBatch>>) -> Self {
        let case = |batch: Arc<ClustalBatch>| {
            let chunk = &batch.chunk;
            let pairs = batch.blocks.iter().flat_map(|block| chunk.pairs(block));
            let of = |(a, b)| oracle::identities(chunk.sequences.codes(a), chunk.sequences.codes(b), &chunk.costs);
            OracleCase { expected: pairs.map(of).collect(), batch }
        };
        ClustalTest(batches.into_iter().map(case).collect())
    }

    /// Creates a test with sequence families of both alphabets.
    fn families() -> Self {
        let of = |alphabet| batch(&family(alphabet, &LENGTHS), LENGTHS.len() as u32);
        ClustalTest::new([Alphabet::Dna, Alphabet::Protein].map(of))
    }
}

impl SelfTest for ClustalTest {
    const NAME: &'static str = "identities";
    type Engine = dyn Engine<Clustal>;
    type Case = OracleCase<Clustal, Vec<PairIdentities>>;
    type Found = Vec<PairIdentities>;

    fn cases(&self) -> &[Self::Case] {
        &self.0
    }

    fn run(&self, case: &Self::Case, engine: &mut Self::Engine) -> Result<Vec<PairIdentities>> {
        Ok(checked(engine, &case.batch)?.identities)
    }

    fn compare(&self, case: &Self::Case, actual: &Vec<PairIdentities>) -> Result<u64> {
        let chunk = &case.batch.chunk;
        let pairs = case.batch.blocks.iter().flat_map(|block| chunk.pairs(block));
        for (((first, second), actual), expected) in pairs.zip(actual).zip(&case.expected) {
            if actual != expected {
                let [m, n] = [first, second].map(|id| chunk.sequences.length(id));
                let alphabet = chunk.sequences.alphabet();
                return Err(Error::Internal(format!(
                    "{actual:?} of {m} and {n} residues, {alphabet:?}, should be {expected:?}"
                )));
            }
        }
        Ok(case.batch.pairs())
    }
}

/// Tests the kernels on an adapter. Both directions of `sw_ends` are tested together with the
/// kernel that follows it.
pub(super) fn on_adapter(adapter: &FoundAdapter, is_tested: KernelFilter<'_>) -> Vec<KernelTest> {
    test_kernels(own_kernels().filter(is_tested), Ok(ClustalTest::families()), |test, kernel| {
        let last = if kernel.is_later_stage() { find("nw_forward_reverse") } else { Some(kernel) };
        test.test(&mut ClustalGpu::open(adapter)?.with_kernel(last))
    })
}

/// Returns a batch with all pairs of the first `count` sequences.
pub(in crate::measure) fn batch(store: &Arc<SequenceStore>, count: u32) -> Arc<ClustalBatch> {
    let order = (0..count).collect();
    let costs = if store.alphabet() == Alphabet::Dna { ClustalCosts::dna() } else { ClustalCosts::protein() };
    let chunk = ClustalChunk { sequences: Arc::clone(store), costs: Arc::new(costs), order };
    let blocks = (0..count).map(|query| chunk.block(query, query + 1..count)).collect();
    Arc::new(ClustalBatch { chunk: Arc::new(chunk), blocks })
}

/// Returns the kernels of ClustalW's pairwise stage.
pub(in crate::measure) fn own_kernels() -> impl Iterator<Item = &'static Kernel> {
    KERNELS.iter().filter(|kernel| matches!(kernel.kind, KernelKind::Clustal(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_identities_are_detected() {
        let test = ClustalTest::families();
        let case = &test.cases()[1];
        assert_eq!(test.compare(case, &case.expected).expect("it is the same"), case.batch.pairs());
        let wrong: [fn(&mut PairIdentities); 4] = [
            |pair| pair.identities = pair.identities.wrapping_sub(1),
            |pair| pair.identities += 1,
            |pair| pair.start[0] += 1,
            |pair| pair.end[1] += 1,
        ];
        for spoil in wrong {
            let mut actual = case.expected.clone();
            spoil(&mut actual[3]);
            let error = test.compare(case, &actual).expect_err("one is wrong");
            assert!(error.to_string().contains("should be"), "{error}");
        }
    }
}
