//! Tests the kernels that align profiles against the recursion of the CPU.

use std::sync::Arc;

use super::{KernelFilter, KernelTest, OracleCase, SelfTest, checked, test_kernels};
use crate::engine::{Batch, Engine, thread_pool};
use crate::error::{Error, Result};
use crate::gpu::adapter::FoundAdapter;
use crate::gpu::kernels::{KERNELS, Kernel, KernelKind};
use crate::measure::simulate::SEED;
use crate::pairs::gpu::tune::random_store;
use crate::profile::gpu::ProfileGpu;
use crate::profile::work::{ProfileBatch, ProfileBlock, ProfileChunk, ProfileMerge, ProfilePair, ProfileWork};
use crate::profile::{ColumnStep, Penalties};
use crate::seq::Alphabet;
use crate::simd::InstructionSet;

/// Numbers of columns of test profiles: smaller and larger than a tile, and close to its size.
const LENGTHS: [[usize; 2]; 8] =
    [[1, 7], [65, 40], [90, 129], [129, 128], [200, 300], [257, 130], [300, 1], [520, 460]];
/// Alignments of profiles. A device may leave them incomplete.
#[derive(Debug)]
pub struct ProfileTest(Vec<OracleCase<ProfileWork, Vec<Option<Vec<ColumnStep>>>>>);

impl ProfileTest {
    /// Creates a test of these batches, with results of the CPU's recursion.
    pub fn new(batches: impl IntoIterator<Item = Arc<ProfileBatch>>) -> Self {
        let case = |batch: Arc<ProfileBatch>| {
            let path = |block: &ProfileBlock| block.pair.path(batch.chunk.instructions, &|| false);
            OracleCase { expected: batch.blocks.iter().map(path).collect(), batch }
        };
        ProfileTest(batches.into_iter().map(case).collect())
    }

    /// Creates a test with profiles of all lengths, with few and many letters.
    fn with_lengths() -> Result<Self> {
        let pairs = LENGTHS.iter().flat_map(|&lengths| [4, 22].map(|letters| pair(lengths, letters, SEED)));
        Ok(ProfileTest::new([batch(pairs)?]))
    }
}

impl SelfTest for ProfileTest {
    const NAME: &'static str = "profiles";
    type Engine = dyn Engine<ProfileWork>;
    type Case = OracleCase<ProfileWork, Vec<Option<Vec<ColumnStep>>>>;
    type Found = Vec<ProfileMerge>;

    fn cases(&self) -> &[Self::Case] {
        &self.0
    }

    fn run(&self, case: &Self::Case, engine: &mut Self::Engine) -> Result<Vec<ProfileMerge>> {
        Ok(checked(engine, &case.batch)?.merged)
    }

    fn compare(&self, case: &Self::Case, merged: &Vec<ProfileMerge>) -> Result<u64> {
        let instructions = case.batch.chunk.instructions;
        for ((block, merged), expected) in case.batch.blocks.iter().zip(merged).zip(&case.expected) {
            let actual = match merged {
                ProfileMerge::Path(path) => Some(path.clone()),
                ProfileMerge::Divided(divided) => block.pair.complete_alignment(divided, instructions, &|| false),
            };
            if actual != *expected {
                let [first, second] = block.pair.columns();
                return Err(Error::Internal(format!("another alignment of profiles of {first} and {second} columns")));
            }
        }
        Ok(case.batch.blocks.len() as u64)
    }
}

/// Tests all kernels on an adapter together.
pub(super) fn on_adapter(adapter: &FoundAdapter, is_tested: KernelFilter<'_>) -> Vec<KernelTest> {
    test_kernels(own_kernels().filter(is_tested), ProfileTest::with_lengths(), |test, _| {
        test.test(&mut ProfileGpu::open(adapter)?)
    })
}

/// Returns profiles of random columns. Each column has two letters, and one letter is in most
/// sequences.
pub(in crate::measure) fn pair(lengths: [usize; 2], letters: usize, seed: u64) -> ProfilePair {
    let numbers = |length: usize, seed: u64| -> Vec<usize> {
        let store = random_store(Alphabet::Bytes, 1, length, seed);
        store.codes(0).iter().map(|&code| usize::from(code)).collect()
    };
    let [first, second] = [0, 1].map(|side| numbers(lengths[side], seed + side as u64));
    let costs = |columns: &[usize], greatest: usize| -> Vec<i32> {
        let last = columns.len();
        let inner = |(k, &column): (usize, &usize)| if k + 1 < last { (1 + column % greatest) as i32 } else { 0 };
        std::iter::once(0).chain(columns.iter().enumerate().map(inner)).chain([0]).collect()
    };
    let penalties = [&first, &second].map(|columns| Penalties { open: costs(columns, 91), extend: costs(columns, 7) });
    let score = |column: usize| {
        move |letter: usize| if column % letters == letter { 60 } else { -((column + letter) as i32 % 40) }
    };
    let share = |column: usize| {
        move |letter: usize| match letter {
            letter if letter == column % letters => 7,
            letter if letter == (column / 3) % letters => 3,
            _ => 0,
        }
    };
    let scored = first.iter().flat_map(|&column| (0..letters).map(score(column))).collect();
    let tenths = second.iter().flat_map(|&column| (0..letters).map(share(column))).collect();
    ProfilePair { penalties, scored, tenths, letters }
}

/// Returns a batch of pairs.
pub(in crate::measure) fn batch(pairs: impl Iterator<Item = ProfilePair>) -> Result<Arc<ProfileBatch>> {
    let blocks = pairs.enumerate().map(|(number, pair)| ProfileBlock { number, pair: Arc::new(pair) }).collect();
    Ok(Arc::new(Batch {
        chunk: Arc::new(ProfileChunk { pool: thread_pool(0)?, instructions: InstructionSet::best() }),
        blocks,
    }))
}

/// Returns the kernels for profiles.
fn own_kernels() -> impl Iterator<Item = &'static Kernel> {
    KERNELS.iter().filter(|kernel| matches!(kernel.kind, KernelKind::Profile(_)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{DividedRectangles, ProfileCrossing};

    #[test]
    fn wrong_crossings_are_detected() {
        let batch = batch([[9, 7], [65, 40]].iter().map(|&lengths| pair(lengths, 4, SEED))).expect("a pool");
        let test = ProfileTest::new([Arc::clone(&batch)]);
        let case = &test.cases()[0];
        let right = |block: &ProfileBlock| {
            ProfileMerge::Path(block.pair.path(InstructionSet::best(), &|| false).expect("it ends"))
        };
        let mut merged: Vec<ProfileMerge> = batch.blocks.iter().map(right).collect();
        assert_eq!(test.compare(case, &merged).expect("it is the same"), 2);
        merged[1] = ProfileMerge::Divided(DividedRectangles::default());
        assert_eq!(test.compare(case, &merged).expect("nothing is divided"), 2);
        merged[1] = ProfileMerge::Divided(DividedRectangles(vec![Some(ProfileCrossing { column: 3, in_gap: true })]));
        assert!(test.compare(case, &merged).is_err());
    }
}
