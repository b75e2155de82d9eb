//! Tests the kernels and CPU code for Levenshtein distances against the oracle.

use std::sync::Arc;

use super::{KernelFilter, KernelTest, OracleCase, SelfTest, checked, kernels_of, test_kernels};
use crate::edit::cpu::EditWorker;
use crate::edit::gpu::EditGpu;
use crate::edit::kernels::myers::LaneGrouping;
use crate::edit::plan::{Against, EditJob};
use crate::edit::{Edit, EditBatch, oracle};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::gpu::adapter::FoundAdapter;
use crate::gpu::kernels::Family;
use crate::pairs::gpu::tune::random_store;
use crate::score::{Ambiguity, EditDistance, EditMode, EditScheme, Equality, Limit, OverlapReach};
use crate::seq::{Alphabet, Code, QueryStrands, SequenceStore};

/// Lengths of patterns: at the borders of u32 words, of lanes and, with [`TEST_LANES`] lanes, of
/// strips.
const PATTERNS: [usize; 11] = [1, 2, 31, 32, 33, 63, 64, 65, 255, 256, 257];
/// Lengths of texts: shorter and longer than patterns, and close to multiples of the symbols in a
/// u32.
const TEXTS: [usize; 10] = [1, 15, 16, 17, 33, 64, 65, 250, 257, 300];
/// Number of lanes of kernels that divide a pair. It is small, so that short patterns have several
/// strips.
const TEST_LANES: u32 = 4;
/// Number of words per lane of kernels that divide a pair.
const TEST_WORDS: u32 = 2;

/// Distances and ends of patterns in texts.
#[derive(Debug)]
pub struct EditTest(Vec<OracleCase<Edit, Vec<EditDistance>>>);

impl EditTest {
    /// Creates a test of these batches, with results of the oracle.
    pub fn new(batches: impl IntoIterator<Item = Arc<EditBatch>>) -> Self {
        let case = |batch: Arc<EditBatch>| {
            let chunk = &batch.chunk;
            let find =
                |(pattern, position)| oracle::find(chunk.patterns.codes(pattern), chunk.text(position), &chunk.scheme);
            OracleCase { expected: pairs(&batch).map(find).collect(), batch }
        };
        EditTest(batches.into_iter().map(case).collect())
    }

    /// Creates a test of all modes, with and without a limit, for symbols of 2, 4 and 8 bits.
    fn with_all_modes() -> Self {
        EditTest::with_classes(|_, _| true)
    }

    /// Creates a test of all modes with half of the pattern lengths, in turns. Symbol size, mode and
    /// pattern length select a variant of a kernel, and a device compiles each variant.
    fn with_half_of_the_variants() -> Self {
        EditTest::with_classes(|turn, class| (turn + class) % 2 == 0)
    }

    /// Creates a test of all modes, with and without a limit, for symbols of 2, 4 and 8 bits. For each
    /// symbol size and mode, `is_selected` receives a number that one step in either changes by one,
    /// and the index of a class of pattern lengths.
    fn with_classes(is_selected: impl Fn(usize, usize) -> bool) -> Self {
        let reach = OverlapReach { shorter: 3, constant: 2, divisor: 8, rate: OverlapReach::ANY_RATE / 2 };
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
        for (coding, (of, equality, others)) in codings.into_iter().enumerate() {
            let (patterns, texts) = stores(equality.alphabet(), of, others);
            for (turn, mode) in (coding..).zip(modes) {
                for limit in [Limit::None, Limit::Rate(0.3)] {
                    let scheme = Arc::new(EditScheme { mode, equality: equality.clone(), limit });
                    let against = Against::Texts(Arc::clone(&texts));
                    let (patterns, strands) = (Arc::clone(&patterns), QueryStrands::default());
                    let job = EditJob { patterns, against, scheme, strands, parts: None };
                    let of_job = batches_of_job(&job).into_iter().enumerate();
                    batches.extend(of_job.filter(|&(class, _)| is_selected(turn, class)).map(|(_, batch)| batch));
                }
            }
        }
        EditTest::new(batches)
    }

    /// Removes overlaps, which the CPU does not compute.
    fn without_overlaps(mut self) -> Self {
        self.0.retain(|case| !matches!(case.batch.chunk.scheme.mode, EditMode::Overlap(_)));
        self
    }
}

impl SelfTest for EditTest {
    const NAME: &'static str = "distances";
    const MAY_REFUSE: bool = true;
    type Engine = dyn Engine<Edit>;
    type Case = OracleCase<Edit, Vec<EditDistance>>;
    type Found = Vec<EditDistance>;

    fn cases(&self) -> &[Self::Case] {
        &self.0
    }

    fn run(&self, case: &Self::Case, engine: &mut Self::Engine) -> Result<Vec<EditDistance>> {
        Ok(checked(engine, &case.batch)?.distances.into_each())
    }

    fn compare(&self, case: &Self::Case, results: &Vec<EditDistance>) -> Result<u64> {
        let chunk = &case.batch.chunk;
        if results.len() != case.expected.len() {
            return Err(Error::Internal(format!("{} distances for {} pairs", results.len(), case.expected.len())));
        }
        for (((pattern, position), expected), results) in pairs(&case.batch).zip(&case.expected).zip(results) {
            if expected != results {
                let (m, n) = (chunk.patterns.length(pattern), chunk.region(position).symbols());
                let EditScheme { mode, limit, .. } = &*chunk.scheme;
                return Err(Error::Internal(format!(
                    "distance of {m} x {n} symbols, {mode:?}, limit {limit:?}: {results:?}, should be {expected:?}"
                )));
            }
        }
        Ok(case.batch.pairs())
    }
}

/// Tests every kernel on an adapter.
pub(super) fn on_adapter(adapter: &FoundAdapter, is_tested: KernelFilter<'_>) -> Vec<KernelTest> {
    let kernels = kernels_of(Family::Edit, adapter).filter(is_tested);
    test_kernels(kernels, Ok(EditTest::with_half_of_the_variants()), |test, kernel| {
        let engine = EditGpu::open(adapter)?;
        let mut shape = engine.shape();
        if kernel.lane_grouping().is_some_and(LaneGrouping::divides_pairs) {
            shape.lanes = Some(TEST_LANES);
            (shape.subgroup_words, shape.workgroup_words) = (TEST_WORDS, TEST_WORDS);
        }
        test.test(&mut engine.with_kernel(Some(kernel)).with_shape(shape))
    })
}

/// Tests the CPU code. It does not compute overlaps.
pub(super) fn on_cpu() -> KernelTest {
    KernelTest::on_cpu::<EditTest>(EditTest::with_all_modes().without_overlaps().test(&mut EditWorker::default()))
}

/// Returns patterns and random texts. Every pattern except the shortest resembles a part of a text.
fn stores(alphabet: Alphabet, of: &[Code], others: &[Code]) -> (Arc<SequenceStore>, Arc<SequenceStore>) {
    let random = random_store(Alphabet::Bytes, 1, 1 << 13, 0xd157);
    let mut next = random.codes(0).iter().map(|&code| code as usize);
    let mut next = || next.next().unwrap_or_default();
    let mut texts = SequenceStore::builder(alphabet);
    let mut longest: Vec<Code> = Vec::new();
    for length in TEXTS {
        let mut codes: Vec<Code> = (0..length).map(|_| of[next() % of.len()]).collect();
        for (index, &other) in others.iter().enumerate() {
            codes[index * 7 % length] = other;
        }
        texts.push_valid(format!("text{length}"), &codes);
        longest = codes;
    }
    let mut patterns = SequenceStore::builder(alphabet);
    for length in PATTERNS {
        // Every eleventh symbol is changed, and every 40th is deleted.
        let part = longest.iter().enumerate().filter(|(index, _)| index % 40 != 39);
        let mut codes: Vec<Code> = part.map(|(_, &code)| code).cycle().skip(length % 20).take(length).collect();
        codes.iter_mut().step_by(11).for_each(|code| *code = of[next() % of.len()]);
        patterns.push_valid(format!("pattern{length}"), &codes);
    }
    (Arc::new(patterns.build()), Arc::new(texts.build()))
}

/// Returns the batches of a job, one for each class of patterns in a chunk.
fn batches_of_job(job: &EditJob) -> Vec<Arc<EditBatch>> {
    let mut batches = Vec::new();
    for (_, chunk, mut blocks) in job.chunks(u64::MAX) {
        while let Some(&(class, _)) = blocks.first() {
            let of_class = blocks.extract_if(.., |(next, _)| *next == class).map(|(_, block)| block).collect();
            batches.push(Arc::new(EditBatch { chunk: Arc::clone(&chunk), blocks: of_class }));
        }
    }
    batches
}

/// Returns the pattern and the position of each pair.
fn pairs(batch: &EditBatch) -> impl Iterator<Item = (u32, u32)> {
    batch.blocks.iter().flat_map(|block| block.regions.clone().map(|position| (block.pattern, position)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::EditChunk;
    use std::collections::BTreeSet;

    /// Alphabet, mode and number of words of a case.
    type Variant = (String, String, u32);

    fn variants(test: &EditTest) -> BTreeSet<Variant> {
        let variant = |case: &OracleCase<Edit, Vec<EditDistance>>| {
            let EditChunk { patterns, scheme, .. } = &*case.batch.chunk;
            let words = patterns.length(case.batch.blocks[0].pattern).div_ceil(32);
            (format!("{:?}", patterns.alphabet()), format!("{:?}", scheme.mode), words)
        };
        test.cases().iter().map(variant).collect()
    }

    #[test]
    fn half_of_the_variants_have_every_length_in_every_mode_and_alphabet() {
        let (all, half) = (variants(&EditTest::with_all_modes()), variants(&EditTest::with_half_of_the_variants()));
        assert!(half.is_subset(&all));
        let by_mode = |of: &BTreeSet<Variant>| of.iter().map(|(_, mode, words)| (mode.clone(), *words)).collect();
        let by_alphabet = |of: &BTreeSet<Variant>| of.iter().map(|(code, _, words)| (code.clone(), *words)).collect();
        let lengths = |of: &BTreeSet<Variant>| -> [BTreeSet<(String, u32)>; 2] { [by_mode(of), by_alphabet(of)] };
        assert_eq!(lengths(&half), lengths(&all));
    }

    #[test]
    fn wrong_distances_are_detected() {
        let test = EditTest::with_all_modes();
        assert!(test.cases().iter().any(|case| case.expected.contains(&EditDistance::NONE)));
        let case = &test.cases()[0];
        let right = &case.expected;
        test.compare(case, right).expect("it is the same");
        test.compare(case, &right[1..].to_vec()).expect_err("one is missing");
        let changes: [fn(&mut EditDistance); 3] =
            [|actual| actual.distance ^= 1, |actual| actual.end ^= 1, |actual| *actual = EditDistance::NONE];
        for (index, change) in (0..right.len()).flat_map(|index| changes.map(|change| (index, change))) {
            let mut wrong = right.clone();
            change(&mut wrong[index]);
            if wrong != *right {
                let error = test.compare(case, &wrong).expect_err("one is wrong");
                assert!(error.to_string().contains("should be"), "{error}");
            }
        }
    }
}
