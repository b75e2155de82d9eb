//! Tests the kernels and CPU code for global alignments of pairs against the oracle.

use std::sync::Arc;

use super::{KernelFilter, KernelTest, SelfTest, available_results, computed, kernels_of, test_kernels};
use crate::alignment::Cigar;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::gpu::adapter::FoundAdapter;
use crate::gpu::kernels::Family;
use crate::pairs::cpu::CpuWorker;
use crate::pairs::gpu::{Config, PairsGpu, tune};
use crate::pairs::oracle::{needleman_wunsch, smith_waterman};
use crate::pairs::plan::{PairsSpec, PlannedChunk};
use crate::pairs::{PairHit, Pairs, PairsBatch, PairsChunk, PairsReport, ResultFilter};
use crate::score::{EndGaps, Gaps, Mode, Scoring};
use crate::seq::{Alphabet, Code, QueryStrands, SequenceStore};
use crate::trace::{self, Hint};

/// A test of scores, matches and alignments of pairs.
#[derive(Debug)]
pub struct PairsTest {
    batches: Vec<Arc<PairsBatch>>,
    traces: bool,
}

impl PairsTest {
    /// Creates a test of these batches. If `traces`, an engine must align every pair.
    pub fn new(batches: Vec<Arc<PairsBatch>>, traces: bool) -> Self {
        PairsTest { batches, traces }
    }

    /// Creates a test of all pairs of some sequences with each scoring scheme.
    pub(super) fn by_schemes(scorings: &[Scoring], filter: &ResultFilter, traces: bool) -> Self {
        let batches = scorings.iter().flat_map(|scoring| {
            let queries = Arc::new(test_store(scoring.alphabet));
            let (scoring, filter) = (Arc::new(scoring.clone()), filter.clone());
            batches(&PairsSpec {
                queries,
                against: None,
                scoring,
                filter,
                strands: QueryStrands::default(),
                parts: None,
            })
        });
        PairsTest::new(batches.collect(), traces)
    }
}

impl SelfTest for PairsTest {
    const NAME: &'static str = "pairs";
    type Engine = dyn Engine<Pairs>;
    type Case = Arc<PairsBatch>;
    type Found = PairsReport;

    fn cases(&self) -> &[Arc<PairsBatch>] {
        &self.batches
    }

    fn run(&self, batch: &Arc<PairsBatch>, engine: &mut Self::Engine) -> Result<PairsReport> {
        computed(engine, batch)
    }

    fn compare(&self, batch: &Arc<PairsBatch>, report: &PairsReport) -> Result<u64> {
        if report.hits.len() as u64 != batch.pairs() {
            return Err(Error::Internal(format!("{} results for {} pairs", report.hits.len(), batch.pairs())));
        }
        for (index, hit) in report.hits.iter().enumerate() {
            let cigar = report.traced.cigar(index);
            if self.traces && cigar.is_none() {
                return Err(Error::Internal(format!("no alignment of {hit:?}")));
            }
            compare(&batch.chunk, hit, cigar)?;
        }
        Ok(batch.pairs())
    }
}

/// Tests every kernel for global alignments that an adapter can run.
pub(super) fn on_adapter(adapter: &FoundAdapter, is_tested: KernelFilter<'_>) -> Vec<KernelTest> {
    test_kernels(kernels_of(Family::Pairs, adapter).filter(is_tested), Ok(scorings()), |scorings, kernel| {
        let mut engine = PairsGpu::open(adapter, Config::for_adapter(adapter))?.with_kernel(Some(kernel));
        PairsTest::by_schemes(scorings, &available_results(kernel), kernel.scan().is_some()).test(&mut engine)
    })
}

/// Tests the CPU code.
pub(super) fn on_cpu() -> KernelTest {
    let test = PairsTest::by_schemes(&scorings(), &ResultFilter::Alignments, true);
    KernelTest::new("cpu", test.test(&mut CpuWorker::default()))
}

/// Returns the batches of a job, one for each chunk.
pub(super) fn batches(job: &PairsSpec) -> Vec<Arc<PairsBatch>> {
    let batch = |(_, chunk, blocks): PlannedChunk| {
        let blocks = blocks.into_iter().map(|(_, block)| block).collect();
        Arc::new(PairsBatch { chunk, blocks })
    };
    job.chunks(u64::MAX, u64::MAX).map(batch).collect()
}

/// Returns scoring schemes that together execute every path of a kernel. Each is a variant of the
/// shader, which is compiled. Only the size of its tables depends on the alphabet.
fn scorings() -> Vec<Scoring> {
    let [linear, affine] = gap_costs();
    let priced = EndGaps::Priced(Gaps { first: 3, next: 1 });
    vec![
        Scoring { gaps: linear, end_gaps: EndGaps::Charged, ..Scoring::truong() },
        Scoring { gaps: affine, end_gaps: EndGaps::Charged, ..Scoring::protein() },
        Scoring { gaps: linear, end_gaps: EndGaps::Free, ..Scoring::protein() },
        Scoring { gaps: affine, end_gaps: EndGaps::Free, ..Scoring::truong() },
        Scoring { gaps: linear, end_gaps: priced, ..Scoring::truong() },
        Scoring { gaps: affine, end_gaps: priced, ..Scoring::protein() },
    ]
}

fn gap_costs() -> [Gaps; 2] {
    [Gaps::linear(10), Gaps::from_blast(10, 1)]
}

/// Returns the schemes for local alignments. Local alignments have no end gaps.
pub(super) fn local_scorings() -> Vec<Scoring> {
    let of_gaps =
        |gaps| [Scoring::truong(), Scoring::protein()].map(|base| Scoring { gaps, mode: Mode::Local, ..base });
    gap_costs().into_iter().flat_map(of_gaps).collect()
}

/// Returns sequences with lengths close to all sizes that a kernel could round to. Some sequences
/// are similar and some are not.
fn test_store(alphabet: Alphabet) -> SequenceStore {
    let random = tune::random_store(alphabet, 40, 160, 0xacce55);
    let mut builder = SequenceStore::builder(alphabet);
    for (index, length) in
        (0..40).zip([1, 2, 3, 4, 5, 11, 12, 13, 31, 32, 33, 35, 36, 37, 63, 64, 65, 71, 72, 73, 100].iter().cycle())
    {
        // Every third sequence is a copy of an earlier one with some changed symbols.
        let source = if index % 3 == 2 { index - 2 } else { index };
        let mut codes: Vec<Code> = random.codes(source)[..*length].to_vec();
        if index % 3 == 2 {
            codes.iter_mut().step_by(9).for_each(|code| *code = random.codes(0)[0]);
        }
        builder.push_valid(format!("test{index}"), &codes);
    }
    builder.build()
}

/// Compares the score and matches of a pair and, if the engine traced it back, its alignment.
fn compare(chunk: &PairsChunk, hit: &PairHit, traced: Option<Cigar>) -> Result<()> {
    let (a, b) = (chunk.queries.codes(hit.query), chunk.targets.codes(hit.target));
    // The query of the alignment may be the target of the kernel.
    let is_turned = chunk.earlier_is_query && hit.target < hit.query;
    let (query, target) = if is_turned { (b, a) } else { (a, b) };
    let wrong = |actual: String, right: String| {
        Err(Error::Internal(format!(
            "{} x {} symbols, {:?}, {:?}, end gaps {:?}: {actual}, should be {right}",
            a.len(),
            b.len(),
            chunk.scoring.mode,
            chunk.scoring.gaps,
            chunk.scoring.end_gaps,
        )))
    };
    let is_local = chunk.scoring.mode == Mode::Local;
    let (score, matches, start, expected) = if is_local {
        let expected = smith_waterman::align(query, target, &chunk.scoring);
        (expected.score, expected.matches, (expected.query.start, expected.target.start), expected.cigar)
    } else {
        let expected = needleman_wunsch::align(query, target, &chunk.scoring);
        (expected.score, expected.matches, (0, 0), expected.cigar)
    };
    if hit.score != score || hit.matches.is_some_and(|actual| actual != matches) {
        let actual = format!("score {} with {:?} matches", hit.score, hit.matches);
        return wrong(actual, format!("{score} with {matches}"));
    }
    let mut traced = traced;
    if is_local {
        // The job traces local alignments back, including the pairs that a CPU thread has scored.
        let hint = Hint { score: Some(hit.score), matches: hit.matches };
        let actual = trace::traceback(query, target, &chunk.scoring, hint, &mut trace::TracebackWorkspace::default())?;
        let found_start = (actual.query_start as usize, actual.target_start as usize);
        if found_start != start {
            return wrong(format!("an alignment from {found_start:?} on"), format!("{start:?}"));
        }
        traced = Some(actual.cigar);
    }
    match traced {
        Some(cigar) if cigar != expected => wrong(format!("alignment {cigar}"), expected.to_string()),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_alignments_are_detected() {
        let scoring = Arc::new(Scoring::truong());
        let store = Arc::new(test_store(scoring.alphabet));
        let (queries, filter) = (Arc::clone(&store), ResultFilter::Alignments);
        let job = PairsSpec { queries, against: None, scoring, filter, strands: QueryStrands::default(), parts: None };
        let (_, chunk, _) = job.chunks(u64::MAX, u64::MAX).next().expect("there are pairs");
        // The lengths are 3 and 13. In both orders, the earlier sequence is the query.
        let best = needleman_wunsch::align(store.codes(2), store.codes(7), &chunk.scoring);
        let (score, matches) = (best.score, Some(best.matches));
        for (query, target) in [(2, 7), (7, 2)] {
            let hit = PairHit { query, target, score, matches };
            compare(&chunk, &hit, None).expect("the numbers are right");
            compare(&chunk, &hit, Some(best.cigar.clone())).expect("the alignment is right");
            let mut wrong = best.cigar.clone();
            wrong.reverse();
            assert_ne!(wrong, best.cigar);
            let error = compare(&chunk, &hit, Some(wrong)).expect_err("it is wrong");
            assert!(error.to_string().contains("alignment"), "{error}");
            compare(&chunk, &PairHit { score: score + 1, ..hit }, None).expect_err("the score is wrong");
        }
    }
}
