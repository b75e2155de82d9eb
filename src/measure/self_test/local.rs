//! Tests the kernels and CPU code for local scores against the oracle.

use std::collections::HashMap;
use std::sync::Arc;

use super::pairs::{PairsTest, batches, local_scorings};
use super::{KernelFilter, KernelTest, SelfTest, computed, kernels_of, test_kernels};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::gpu::adapter::FoundAdapter;
use crate::gpu::kernels::Family;
use crate::pairs::cpu::CpuWorker;
use crate::pairs::gpu::{Config, PairsGpu, tune};
use crate::pairs::plan::PairsSpec;
use crate::pairs::{PairHit, Pairs, ResultFilter, ScoreThresholds};
use crate::score::{Mode, Scoring};
use crate::seq::{Alphabet, Code, QueryStrands, SequenceId, SequenceStore};

/// Number of related sequences.
const RELATIVES: usize = 40;
/// Number of sequences in a family.
const FAMILY: usize = 8;
/// Length of a parent sequence in residues. Every kernel needs several passes for it.
const PARENT: usize = 680;
/// Minimum score for lists. Related pairs have about this score.
const MIN: i64 = 60;

/// Score of a pair of sequences by their numbers.
type ScoresByPair = HashMap<(SequenceId, SequenceId), i64>;

/// A test of all scores, or of the lists of scores that reach a minimum. The expected scores are
/// those of the CPU, which are tested against the oracle. Kernels compute columns in passes, and a
/// best score may be in any pass.
#[derive(Debug)]
pub struct LocalTest {
    store: Arc<SequenceStore>,
    right: ScoresByPair,
    cases: Vec<ScoreRequest>,
}

/// Scores that an engine must report.
#[derive(Debug)]
pub struct ScoreRequest {
    filter: ResultFilter,
    /// Minimum of the scores.
    least: i64,
}

impl LocalTest {
    /// Creates a test with the first `count` relatives.
    fn new(count: usize) -> Result<Self> {
        let store = Arc::new(relatives(count));
        let hits = scores(&mut CpuWorker::default(), &store, ResultFilter::Scores)?;
        let thresholds = || ResultFilter::AtLeast(Arc::new(ScoreThresholds::uniform(MIN, count)));
        // Lists are tested twice, because the first batch decides how the next one is computed.
        let cases = [(ResultFilter::Scores, i64::MIN), (thresholds(), MIN), (thresholds(), MIN)];
        let cases = cases.map(|(filter, least)| ScoreRequest { filter, least }).into();
        Ok(LocalTest { store, right: hits.iter().map(|hit| (pair_of(hit), hit.score)).collect(), cases })
    }
}

impl SelfTest for LocalTest {
    const NAME: &'static str = "local";
    type Engine = dyn Engine<Pairs>;
    type Case = ScoreRequest;
    type Found = Vec<PairHit>;

    fn cases(&self) -> &[ScoreRequest] {
        &self.cases
    }

    fn run(&self, request: &ScoreRequest, engine: &mut Self::Engine) -> Result<Vec<PairHit>> {
        scores(engine, &self.store, request.filter.clone())
    }

    fn compare(&self, request: &ScoreRequest, hits: &Vec<PairHit>) -> Result<u64> {
        let least = request.least;
        for hit in hits {
            let expected = self.right.get(&pair_of(hit)).copied().filter(|&score| score >= least);
            if expected != Some(hit.score) {
                let lengths = (self.store.length(hit.query), self.store.length(hit.target));
                return Err(Error::Internal(format!(
                    "relatives {:?} of {lengths:?} residues: score {}, should be {expected:?}",
                    pair_of(hit),
                    hit.score
                )));
            }
        }
        let expected = self.right.values().filter(|&&score| score >= least).count();
        if hits.len() != expected {
            return Err(Error::Internal(format!("{} relatives score {least} or more, not {expected}", hits.len())));
        }
        Ok(self.right.len() as u64)
    }
}

/// Tests every kernel for local scores on an adapter. Some scores exceed 16-bit floats and are
/// computed again.
pub(super) fn on_adapter(adapter: &FoundAdapter, is_tested: KernelFilter<'_>) -> Vec<KernelTest> {
    let alone = PairsTest::by_schemes(&local_scorings(), &ResultFilter::Alignments, false);
    let tests = LocalTest::new(RELATIVES).map(|relatives| (alone, relatives));
    test_kernels(kernels_of(Family::Local, adapter).filter(is_tested), tests, |(alone, relatives), kernel| {
        let engine = || Ok(PairsGpu::open(adapter, Config::for_adapter(adapter))?.with_kernel(Some(kernel)));
        Ok(alone.test(&mut engine()?)? + relatives.test(&mut engine()?)?)
    })
}

/// Tests the CPU code.
pub(super) fn on_cpu() -> KernelTest {
    let test = PairsTest::by_schemes(&local_scorings(), &ResultFilter::Alignments, false);
    KernelTest::on_cpu::<LocalTest>(test.test(&mut CpuWorker::default()))
}

fn pair_of(hit: &PairHit) -> (SequenceId, SequenceId) {
    (hit.query, hit.target)
}

/// Returns the hits of all pairs of a store.
fn scores(engine: &mut dyn Engine<Pairs>, store: &Arc<SequenceStore>, filter: ResultFilter) -> Result<Vec<PairHit>> {
    let scoring = Arc::new(Scoring { mode: Mode::Local, ..Scoring::protein() });
    let queries = Arc::clone(store);
    let job = PairsSpec { queries, against: None, scoring, filter, strands: QueryStrands::default(), parts: None };
    let mut hits = Vec::new();
    for batch in batches(&job) {
        hits.extend(computed(engine, &batch)?.hits);
    }
    Ok(hits)
}

/// Returns the first `count` of [`RELATIVES`] proteins of several families. Members are parts of a
/// parent of any length, with some residues replaced.
fn relatives(count: usize) -> SequenceStore {
    let random = tune::random_store(Alphabet::Protein, RELATIVES / FAMILY + 1, PARENT, 0xfa111e5);
    let mut builder = SequenceStore::builder(Alphabet::Protein);
    for index in 0..count {
        // All lengths are different.
        let length = 40 + (index * 131) % (PARENT - 40);
        let start = (index * 97) % (PARENT - length + 1);
        let parent = random.codes((index / FAMILY + 1) as SequenceId);
        let mut codes: Vec<Code> = parent[start..start + length].to_vec();
        let others = random.codes(0);
        (index % 5..length).step_by(3 + index % FAMILY).for_each(|at| codes[at] = others[at]);
        builder.push_valid(format!("relative{index}"), &codes);
    }
    builder.build()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Capacity, Ticket};
    use crate::pairs::{PairsBatch, PairsReport};

    type Spoil = fn(&mut Vec<PairHit>);

    /// The CPU engine with one wrong or missing hit.
    struct SpoiledEngine(CpuWorker, Spoil);

    impl Engine<Pairs> for SpoiledEngine {
        fn name(&self) -> &str {
            "wrong"
        }

        fn capacity(&self) -> Capacity {
            Engine::<Pairs>::capacity(&self.0)
        }

        fn submit(&mut self, batch: Arc<PairsBatch>) -> Result<Ticket> {
            self.0.submit(batch)
        }

        fn collect(&mut self, ticket: Ticket) -> Result<PairsReport> {
            let mut report = self.0.collect(ticket)?;
            self.1(&mut report.hits);
            Ok(report)
        }
    }

    #[test]
    fn wrong_scores_and_lost_pairs_are_detected() {
        // Two families contain all kinds of pairs.
        let count = 2 * FAMILY;
        let test = LocalTest::new(count).unwrap();
        let pairs = (count * (count - 1) / 2) as u64;
        assert_eq!(test.test(&mut SpoiledEngine(CpuWorker::default(), |_| ())).unwrap(), 3 * pairs);
        let lower: Spoil = |hits| hits[7].score -= 1;
        let lose: Spoil = |hits| hits.truncate(hits.len() - 1);
        for (spoil, said) in [(lower, "should be"), (lose, "or more, not")] {
            let error = test.test(&mut SpoiledEngine(CpuWorker::default(), spoil)).expect_err("it is wrong");
            assert!(error.to_string().contains(said), "{error}");
        }
    }

    #[test]
    fn some_scores_reach_the_minimum_and_some_exceed_halves() {
        let store = Arc::new(relatives(RELATIVES));
        let hits = scores(&mut CpuWorker::default(), &store, ResultFilter::Scores).unwrap();
        let count = |least| hits.iter().filter(|hit| hit.score >= least).count();
        assert!((100..hits.len() / 4).contains(&count(MIN)), "{} of {}", count(MIN), hits.len());
        assert!(count(2048) > 0, "{:?}", hits.iter().map(|hit| hit.score).max());
    }
}
