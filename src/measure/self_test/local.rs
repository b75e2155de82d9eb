//! Kernels for local scores, and the CPU's threads, against the textbook.

use std::collections::HashMap;
use std::sync::Arc;

use super::pairs::{PairsTest, batches, local_scorings};
use super::{KernelTest, SelfTest, computed, each, kernels_of};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::gpu::adapter::FoundAdapter;
use crate::gpu::kernels::Family;
use crate::pairs::cpu::CpuWorker;
use crate::pairs::gpu::{Config, GpuEngine, tune};
use crate::pairs::plan::Job;
use crate::pairs::{Floors, Hit, Pairs, Want};
use crate::score::{Mode, Scoring};
use crate::seq::{Alphabet, Code, QueryStrands, SequenceId, SequenceStore};

/// Relatives, and those of a family.
const RELATIVES: usize = 40;
const FAMILY: usize = 8;
/// Residues of a family's parent: several passes, whatever the sizes of a kernel.
const PARENT: usize = 680;
/// About the score of a pair that is related.
const MIN: i64 = 60;

/// Score of a pair of relatives by their numbers.
type Scores = HashMap<(SequenceId, SequenceId), i64>;

/// Scores of relatives, all of them or those that reach a score, which kernels list. The CPU's
/// scores, which have an oracle, are the right ones. Columns come in passes, and scores in passes
/// before the last count, too.
#[derive(Debug)]
pub struct LocalTest {
    store: Arc<SequenceStore>,
    right: Scores,
    cases: Vec<Request>,
}

/// Scores that an engine reports.
#[derive(Debug)]
pub struct Request {
    want: Want,
    /// Least of the scores.
    least: i64,
}

impl LocalTest {
    fn new() -> Result<Self> {
        let store = Arc::new(relatives());
        let hits = scores(&mut CpuWorker::default(), &store, Want::Scores)?;
        let floors = || Want::AtLeast(Arc::new(Floors::same(MIN, RELATIVES)));
        // Lists twice, as the first batch decides how the next one is computed.
        let cases = [(Want::Scores, i64::MIN), (floors(), MIN), (floors(), MIN)];
        let cases = cases.map(|(want, least)| Request { want, least }).into();
        Ok(LocalTest { store, right: hits.iter().map(|hit| (place(hit), hit.score)).collect(), cases })
    }
}

impl SelfTest for LocalTest {
    const NAME: &'static str = "local";
    type Engine = dyn Engine<Pairs>;
    type Case = Request;
    type Found = Vec<Hit>;

    fn cases(&self) -> &[Request] {
        &self.cases
    }

    fn run(&self, request: &Request, engine: &mut Self::Engine) -> Result<Vec<Hit>> {
        scores(engine, &self.store, request.want.clone())
    }

    fn compare(&self, request: &Request, hits: &Vec<Hit>) -> Result<u64> {
        let least = request.least;
        for hit in hits {
            let expected = self.right.get(&place(hit)).copied().filter(|&score| score >= least);
            if expected != Some(hit.score) {
                let lengths = (self.store.length(hit.query), self.store.length(hit.target));
                return Err(Error::Internal(format!(
                    "relatives {:?} of {lengths:?} residues: score {}, should be {expected:?}",
                    place(hit),
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

/// Tests every kernel for local scores that an adapter can run. In halves some scores are too
/// great: these are computed again.
pub(super) fn on_adapter(found: &FoundAdapter) -> Vec<KernelTest> {
    let alone = PairsTest::by_schemes(&local_scorings(), &Want::Alignments, false);
    let tests = LocalTest::new().map(|relatives| (alone, relatives));
    each(kernels_of(Family::Local, found), tests, |(alone, relatives), kernel| {
        let engine = || Ok(GpuEngine::open(found, Config::for_adapter(found))?.with_kernel(Some(kernel)));
        Ok(alone.test(&mut engine()?)? + relatives.test(&mut engine()?)?)
    })
}

/// Tests the CPU.
pub(super) fn on_cpu() -> KernelTest {
    let test = PairsTest::by_schemes(&local_scorings(), &Want::Alignments, false);
    KernelTest::of_cpu::<LocalTest>(test.test(&mut CpuWorker::default()))
}

fn place(hit: &Hit) -> (SequenceId, SequenceId) {
    (hit.query, hit.target)
}

/// The hits of all pairs of a store.
fn scores(engine: &mut dyn Engine<Pairs>, store: &Arc<SequenceStore>, want: Want) -> Result<Vec<Hit>> {
    let scoring = Arc::new(Scoring { mode: Mode::Local, ..Scoring::protein() });
    let queries = Arc::clone(store);
    let job = Job { queries, against: None, scoring, want, strands: QueryStrands::default(), parts: None };
    let mut hits = Vec::new();
    for batch in batches(&job) {
        hits.extend(computed(engine, &batch)?.hits);
    }
    Ok(hits)
}

/// Families of proteins: parts of a parent, of any length, with some residues replaced.
fn relatives() -> SequenceStore {
    let random = tune::random_store(Alphabet::Protein, RELATIVES / FAMILY + 1, PARENT, 0xfa111e5);
    let mut builder = SequenceStore::builder(Alphabet::Protein);
    for index in 0..RELATIVES {
        // No two are of one length.
        let length = 40 + (index * 131) % (PARENT - 40);
        let begin = (index * 97) % (PARENT - length + 1);
        let parent = random.codes((index / FAMILY + 1) as SequenceId);
        let mut codes: Vec<Code> = parent[begin..begin + length].to_vec();
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
    use crate::pairs::{Batch, Report};

    type Spoil = fn(&mut Vec<Hit>);

    /// The CPU, of whose hits one is wrong or missing.
    struct Wrong(CpuWorker, Spoil);

    impl Engine<Pairs> for Wrong {
        fn name(&self) -> &str {
            "wrong"
        }

        fn capacity(&self) -> Capacity {
            Engine::<Pairs>::capacity(&self.0)
        }

        fn submit(&mut self, batch: Arc<Batch>) -> Result<Ticket> {
            self.0.submit(batch)
        }

        fn collect(&mut self, ticket: Ticket) -> Result<Report> {
            let mut report = self.0.collect(ticket)?;
            self.1(&mut report.hits);
            Ok(report)
        }
    }

    #[test]
    fn a_wrong_score_and_a_lost_pair_are_seen() {
        let test = LocalTest::new().unwrap();
        let pairs = (RELATIVES * (RELATIVES - 1) / 2) as u64;
        assert_eq!(test.test(&mut Wrong(CpuWorker::default(), |_| ())).unwrap(), 3 * pairs);
        let lower: Spoil = |hits| hits[7].score -= 1;
        let lose: Spoil = |hits| hits.truncate(hits.len() - 1);
        for (spoil, said) in [(lower, "should be"), (lose, "or more, not")] {
            let error = test.test(&mut Wrong(CpuWorker::default(), spoil)).expect_err("it is wrong");
            assert!(error.to_string().contains(said), "{error}");
        }
    }

    #[test]
    fn some_relatives_reach_the_score_and_some_outgrow_halves() {
        let store = Arc::new(relatives());
        let hits = scores(&mut CpuWorker::default(), &store, Want::Scores).unwrap();
        let count = |least| hits.iter().filter(|hit| hit.score >= least).count();
        assert!((100..hits.len() / 4).contains(&count(MIN)), "{} of {}", count(MIN), hits.len());
        assert!(count(2048) > 0, "{:?}", hits.iter().map(|hit| hit.score).max());
    }
}
