//! Kernels for long pairs and the CPU's threads against the textbook.

use std::sync::Arc;

use super::{KernelTest, test_of};
use crate::error::{Error, Result};
use crate::gpu::adapter::FoundAdapter;
use crate::gpu::kernels::{Family, KERNELS};
use crate::jobs::long::{LongHit, Tuning};
use crate::jobs::{Job, LongAlignment, LongWant, Run};
use crate::long::cpu::CpuLong;
use crate::long::gpu::{GpuLong, StripedShape};
use crate::long::oracle::{ReferenceLongAlignment, align};
use crate::long::{LongEngine, Method};
use crate::measure::bench::shared_engine::SharedEngine;
use crate::pairs::gpu::tune::random_store;
use crate::score::{Gaps, Mode, Scoring};
use crate::seq::{Alphabet, Code, SequenceStore};

/// Symbols of the query and the target: no multiples of what a kernel could round to, and several strips.
const SYMBOLS: [usize; 2] = [331, 583];
/// Columns of a strip and rows of a chunk when paths are traced: many of both.
const BLOCK: u32 = 64;

/// A pair, and its alignment by the textbook.
pub(super) struct Expected {
    job: LongAlignment,
    alignment: ReferenceLongAlignment,
}

/// Pairs of both alphabets, local and global, with both kinds of gaps.
pub(super) fn expected() -> Vec<Expected> {
    let (linear, affine) = (Gaps::linear(5), Gaps::from_blast(5, 2));
    let schemes = [
        Scoring { mode: Mode::Local, gaps: affine, ..Scoring::truong() },
        Scoring { mode: Mode::Global, gaps: linear, ..Scoring::truong() },
        Scoring { mode: Mode::Local, gaps: linear, ..Scoring::protein() },
        Scoring { mode: Mode::Global, gaps: affine, ..Scoring::protein() },
    ];
    let of = |scoring: Scoring| {
        let store = sequences(scoring.alphabet);
        let alignment = align(store.codes(0), store.codes(1), &scoring);
        let job = LongAlignment::new(Arc::clone(&store), 0, store, 1, Arc::new(scoring));
        let tuning = Tuning { panel_columns: Some(256), ..Tuning::default() };
        Expected { job: LongAlignment { strip: Some(BLOCK), chunk: Some(BLOCK), tuning, ..job }, alignment }
    };
    schemes.into_iter().map(of).collect()
}

/// A query, and a target with most of it in its midst.
fn sequences(alphabet: Alphabet) -> Arc<SequenceStore> {
    let random = random_store(alphabet, 2, SYMBOLS[1], 0x10_9a15);
    let query = &random.codes(0)[..SYMBOLS[0]];
    let mut target: Vec<Code> = random.codes(1).to_vec();
    // Every thirteenth symbol is another one, and one in 40 is left out.
    let kept = query.iter().enumerate().filter(|(place, _)| place % 40 != 39);
    for (k, (_, &code)) in kept.enumerate().filter(|(_, (place, _))| place % 13 != 12) {
        target[101 + k] = code;
    }
    let mut builder = SequenceStore::builder(alphabet);
    builder.push_valid("query", query);
    builder.push_valid("target", &target);
    Arc::new(builder.build())
}

/// Compares what an engine finds, scores alone or alignments by each method; the number of pairs compared.
fn compare(engine: Box<dyn LongEngine>, expected: &[Expected], want: LongWant) -> Result<u64> {
    let engine = SharedEngine::new(engine);
    let methods: &[Option<Method>] = match want {
        LongWant::Score => &[None],
        LongWant::Alignment => &[Some(Method::Striped), Some(Method::Chunked1), Some(Method::Chunked2)],
    };
    let mut pairs = 0;
    for Expected { job, alignment } in expected {
        for &method in methods {
            let job = LongAlignment { want, method, ..job.clone() };
            let engines: Vec<Box<dyn LongEngine>> = vec![Box::new(engine.clone())];
            let mut hits = Vec::new();
            job.run_on(engines.into(), &Run::default(), |found| {
                hits.extend_from_slice(found);
                Ok(())
            })?;
            same(&job, alignment, &hits)?;
            pairs += 1;
        }
    }
    Ok(pairs)
}

/// Compares a score, where it is reached and, if it was asked for, the alignment with what they have to be.
fn same(job: &LongAlignment, expected: &ReferenceLongAlignment, hits: &[LongHit]) -> Result<()> {
    let [hit] = hits else {
        return Err(Error::Internal(format!("{} alignments of a long pair, should be one", hits.len())));
    };
    let LongAlignment { want, method, scoring, .. } = job;
    let wrong = |found: String, right: String| {
        Err(Error::Internal(format!(
            "long pair of {} x {} symbols, {:?}, {:?}, {want:?} by {method:?}: {found}, should be {right}",
            SYMBOLS[0], SYMBOLS[1], scoring.mode, scoring.gaps
        )))
    };
    let found = (hit.score, hit.query_end as usize, hit.target_end as usize);
    let right = (expected.score, expected.end.0, expected.end.1);
    if found != right {
        return wrong(format!("{found:?}"), format!("{right:?}"));
    }
    match &hit.cigar {
        None if *want == LongWant::Alignment => wrong("no alignment".into(), expected.cigar.to_string()),
        Some(cigar) if *cigar != expected.cigar => wrong(cigar.to_string(), expected.cigar.to_string()),
        _ => Ok(()),
    }
}

/// Tests the kernels on an adapter. Those that trace a path back do it together.
pub(super) fn test_adapter(found: &FoundAdapter) -> Vec<KernelTest> {
    let expected = expected();
    let test = |want| {
        let shape = StripedShape { cells: Some(4), ..StripedShape::default() };
        compare(Box::new(GpuLong::open(found)?.with_shape(shape)), &expected, want)
    };
    let [scores, alignments] = [LongWant::Score, LongWant::Alignment].map(|want| test_of("", test(want)));
    let own = KERNELS.iter().filter(|kernel| kernel.family() == Family::Long);
    let of = |follows| if follows { &alignments } else { &scores };
    own.map(|kernel| KernelTest { kernel: kernel.stem.into(), ..of(kernel.follows()).clone() }).collect()
}

/// Tests the CPU: scores, then alignments.
pub(super) fn test_cpu() -> KernelTest {
    let expected = expected();
    let test = |want| compare(Box::new(CpuLong::new(0)), &expected, want);
    let both = test(LongWant::Score).and_then(|scores| Ok(scores + test(LongWant::Alignment)?));
    test_of("cpu, long pairs", both)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::StrandOf;

    #[test]
    fn a_wrong_alignment_is_seen() {
        for Expected { job, alignment } in expected() {
            assert!(alignment.cigar.iter().count() > 5, "{}", alignment.cigar);
            let right = LongHit {
                strand: StrandOf::Plus,
                score: alignment.score,
                query: None,
                target: None,
                query_end: alignment.end.0 as u32,
                target_end: alignment.end.1 as u32,
                cigar: Some(alignment.cigar.clone()),
            };
            let check = |hit: &LongHit| same(&job, &alignment, std::slice::from_ref(hit));
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
            same(&job, &alignment, &[]).expect_err("there is one");
        }
    }
}
