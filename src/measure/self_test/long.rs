//! Tests the kernels and CPU code for long pairs against the oracle.

use std::sync::Arc;

use super::{KernelFilter, KernelTest, SelfTest};
use crate::error::{Error, Result};
use crate::gpu::adapter::FoundAdapter;
use crate::gpu::kernels::{Family, KERNELS};
use crate::jobs::long::{LongHit, LongTuning};
use crate::jobs::{Job, LongAlignment, LongWant, Run};
use crate::long::cpu::CpuLong;
use crate::long::gpu::{GpuLong, StripedShape};
use crate::long::oracle::{ReferenceLongAlignment, align};
use crate::long::{LongEngine, Method};
use crate::measure::shared_engine::SharedEngine;
use crate::pairs::gpu::tune::random_store;
use crate::score::{Gaps, Mode, Scoring};
use crate::seq::{Alphabet, Code, SequenceStore};

/// Lengths of query and target. They are not multiples of sizes that a kernel could round to, and
/// have several strips.
const SYMBOLS: [usize; 2] = [331, 583];
/// Number of columns of a strip and of rows of a chunk in tracebacks. It is small, so that there
/// are many of both.
const BLOCK: u32 = 64;

/// A computation of a long pair, and its expected alignment.
#[derive(Debug)]
pub struct LongCase {
    job: LongAlignment,
    alignment: Arc<ReferenceLongAlignment>,
}

/// Scores of long pairs, or their alignments by each method.
#[derive(Debug)]
pub struct LongTest(Vec<LongCase>);

impl LongTest {
    /// Creates a test with pairs of both alphabets, local and global, with linear and affine gaps.
    fn with_schemes(want: LongWant) -> Self {
        let methods: &[Option<Method>] = match want {
            LongWant::Score => &[None],
            LongWant::Alignment => &[Some(Method::Striped), Some(Method::Chunked1), Some(Method::Chunked2)],
        };
        let (linear, affine) = (Gaps::linear(5), Gaps::from_blast(5, 2));
        let schemes = [
            Scoring { mode: Mode::Local, gaps: affine, ..Scoring::truong() },
            Scoring { mode: Mode::Global, gaps: linear, ..Scoring::truong() },
            Scoring { mode: Mode::Local, gaps: linear, ..Scoring::protein() },
            Scoring { mode: Mode::Global, gaps: affine, ..Scoring::protein() },
        ];
        let mut cases = Vec::new();
        for scoring in schemes {
            let store = sequences(scoring.alphabet);
            let alignment = Arc::new(align(store.codes(0), store.codes(1), &scoring));
            let job = LongAlignment::new(Arc::clone(&store), 0, store, 1, Arc::new(scoring));
            let tuning = LongTuning { panel_columns: Some(256), ..LongTuning::default() };
            let job = LongAlignment { want, strip: Some(BLOCK), chunk: Some(BLOCK), tuning, ..job };
            let case = |&method: &Option<Method>| LongCase {
                job: LongAlignment { method, ..job.clone() },
                alignment: Arc::clone(&alignment),
            };
            cases.extend(methods.iter().map(case));
        }
        LongTest(cases)
    }
}

impl SelfTest for LongTest {
    const NAME: &'static str = "long pairs";
    type Engine = SharedEngine;
    type Case = LongCase;
    type Found = Vec<LongHit>;

    fn cases(&self) -> &[LongCase] {
        &self.0
    }

    fn run(&self, case: &LongCase, engine: &mut Self::Engine) -> Result<Vec<LongHit>> {
        let engines: Vec<Box<dyn LongEngine>> = vec![Box::new(engine.clone())];
        let mut hits = Vec::new();
        case.job.run_on(engines.into(), &Run::default(), |actual| {
            hits.extend_from_slice(actual);
            Ok(())
        })?;
        Ok(hits)
    }

    /// Compares the score, its end and, if requested, the alignment.
    fn compare(&self, case: &LongCase, hits: &Vec<LongHit>) -> Result<u64> {
        let [hit] = hits.as_slice() else {
            return Err(Error::Internal(format!("{} alignments of a long pair, should be one", hits.len())));
        };
        let LongCase { job: LongAlignment { want, method, scoring, .. }, alignment: expected } = case;
        let wrong = |actual: String, right: String| {
            Err(Error::Internal(format!(
                "long pair of {} x {} symbols, {:?}, {:?}, {want:?} by {method:?}: {actual}, should be {right}",
                SYMBOLS[0], SYMBOLS[1], scoring.mode, scoring.gaps
            )))
        };
        let actual = (hit.score, hit.query_end as usize, hit.target_end as usize);
        let right = (expected.score, expected.end.0, expected.end.1);
        if actual != right {
            return wrong(format!("{actual:?}"), format!("{right:?}"));
        }
        match &hit.cigar {
            None if *want == LongWant::Alignment => wrong("no alignment".into(), expected.cigar.to_string()),
            Some(cigar) if *cigar != expected.cigar => wrong(cigar.to_string(), expected.cigar.to_string()),
            _ => Ok(1),
        }
    }
}

/// Tests the kernels on an adapter. All traceback kernels are tested together.
pub(super) fn on_adapter(adapter: &FoundAdapter, is_tested: KernelFilter<'_>) -> Vec<KernelTest> {
    let mut kernels = KERNELS.iter().filter(|kernel| kernel.family() == Family::Long).filter(is_tested).peekable();
    if kernels.peek().is_none() {
        return Vec::new();
    }
    let test = |want| {
        let shape = StripedShape { cells: Some(4), ..StripedShape::default() };
        let engine = GpuLong::open(adapter)?.with_shape(shape);
        LongTest::with_schemes(want).test(&mut SharedEngine::new(Box::new(engine)))
    };
    let [scores, alignments] = [LongWant::Score, LongWant::Alignment].map(|want| KernelTest::new("", test(want)));
    let result = |follows| if follows { &alignments } else { &scores };
    kernels.map(|kernel| KernelTest { kernel: kernel.stem.into(), ..result(kernel.is_later_stage()).clone() }).collect()
}

/// Tests the CPU code: scores, then alignments.
pub(super) fn on_cpu() -> KernelTest {
    let test = |want| LongTest::with_schemes(want).test(&mut SharedEngine::new(Box::new(CpuLong::new(0))));
    let both = test(LongWant::Score).and_then(|scores| Ok(scores + test(LongWant::Alignment)?));
    KernelTest::on_cpu::<LongTest>(both)
}

/// Returns a query, and a target that contains most of the query.
fn sequences(alphabet: Alphabet) -> Arc<SequenceStore> {
    let random = random_store(alphabet, 2, SYMBOLS[1], 0x10_9a15);
    let query = &random.codes(0)[..SYMBOLS[0]];
    let mut target: Vec<Code> = random.codes(1).to_vec();
    // Every thirteenth symbol is changed, and every 40th is deleted.
    let kept = query.iter().enumerate().filter(|(index, _)| index % 40 != 39);
    for (k, (_, &code)) in kept.enumerate().filter(|(_, (index, _))| index % 13 != 12) {
        target[101 + k] = code;
    }
    let mut builder = SequenceStore::builder(alphabet);
    builder.push_valid("query", query);
    builder.push_valid("target", &target);
    Arc::new(builder.build())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::Strand;

    #[test]
    fn wrong_alignments_are_detected() {
        let test = LongTest::with_schemes(LongWant::Alignment);
        for case in test.cases() {
            let alignment = &case.alignment;
            assert!(alignment.cigar.iter().count() > 5, "{}", alignment.cigar);
            let right = LongHit {
                strand: Strand::Plus,
                score: alignment.score,
                query: None,
                target: None,
                query_end: alignment.end.0 as u32,
                target_end: alignment.end.1 as u32,
                cigar: Some(alignment.cigar.clone()),
            };
            let check = |hit: &LongHit| test.compare(case, &vec![hit.clone()]);
            check(&right).expect("it is the same");
            let mut turned = alignment.cigar.clone();
            turned.reverse();
            for wrong in [
                LongHit { score: right.score - 1, ..right.clone() },
                LongHit { query_end: right.query_end - 1, ..right.clone() },
                LongHit { cigar: Some(turned), ..right.clone() },
                LongHit { cigar: None, ..right.clone() },
            ] {
                let error = check(&wrong).expect_err("it is wrong");
                assert!(error.to_string().contains("should be"), "{error}");
            }
            test.compare(case, &Vec::new()).expect_err("there is one");
        }
    }
}
