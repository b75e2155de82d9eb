//! Results of chunks wait for the oldest chunk, within limits. Engines that are much faster than
//! the engine with the oldest chunk do not run ahead forever. No engine waits forever, and the
//! results do not change.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use pairwave::engine::ordered::Ordered;
use pairwave::engine::owner::{self, Control};
use pairwave::engine::queue::{ChunkInfo, Pull, WorkLease, WorkQueue, wall_clock};
use pairwave::engine::sizing::MinWork;
use pairwave::engine::{Capacity, Engine, Ticket};
use pairwave::pairs::cpu::CpuWorker;
use pairwave::pairs::mock::{Act, Gate, MockEngine, compute_batch};
use pairwave::pairs::plan::PairsSpec;
use pairwave::pairs::{PairHit, Pairs, PairsBatch, PairsReport, ResultFilter};
use pairwave::score::Scoring;
use pairwave::seq::Alphabet;
use support::*;

const GRAIN: MinWork = MinWork { seconds: 0.01, pairs: 1, fill: 0, first_part: 0.0 };
/// Number of pairs that an engine takes at once.
const PAIRS: u64 = 16;
/// Limits of bytes and chunks that are never reached.
const ANY: (u64, usize) = (u64::MAX, usize::MAX);

fn scores() -> PairsSpec {
    let lengths: Vec<usize> = (0..60).map(|index| 5 + (index * 7) % 40).collect();
    job(&mixed_store(&mut rng(0x0de7), Alphabet::Dna, &lengths), Scoring::truong(), ResultFilter::Scores)
}

/// Returns the number of chunks of about 60 pairs.
fn chunks(job: &PairsSpec) -> usize {
    job.chunks(u64::MAX, 60).count()
}

fn capacity(pairs: u64) -> Capacity {
    Capacity { cells: u64::MAX, pairs, store_bytes: u64::MAX, batches: 1 }
}

fn pull(queue: &WorkQueue<Pairs>, engine: usize, pairs: u64) -> Option<WorkLease<Pairs>> {
    match queue.pull(engine, capacity(pairs), false) {
        Pull::Work(lease) => Some(lease),
        Pull::Nothing | Pull::Finished => None,
    }
}

fn queue(job: &PairsSpec, gatherer: &Gatherer) -> WorkQueue<Pairs> {
    let interrupt = Arc::new(AtomicBool::new(false));
    WorkQueue::new(Box::new(job.chunks(u64::MAX, 60)), job.cells(), interrupt, wall_clock())
        .with_window(gatherer.ordered.window())
}

/// Collects hits in input order, like jobs do.
struct Gatherer {
    ordered: Ordered<Vec<PairHit>>,
    hits: Vec<PairHit>,
    /// Largest number of chunks that were open at the same time.
    most_open: usize,
}

impl Gatherer {
    fn new((bytes, chunks): (u64, usize)) -> Self {
        Gatherer { ordered: Ordered::with_limits(bytes, chunks), hits: Vec::new(), most_open: 0 }
    }

    fn add(&mut self, info: &Arc<ChunkInfo>, pairs: u64, hits: Vec<PairHit>) {
        let added = self.ordered.add(info, pairs, Vec::new, |all| {
            // Not every engine counts matches if only scores are requested.
            all.extend(hits.iter().map(|&hit| PairHit { matches: None, ..hit }));
            Ok(size_of_val(&*hits) as u64)
        });
        added.expect("the chunk has these pairs");
        self.most_open = self.most_open.max(self.ordered.open());
        while let Some((_, mut chunk)) = self.ordered.complete() {
            chunk.sort();
            self.hits.extend(chunk);
        }
    }

    fn end(self) -> (Vec<PairHit>, usize) {
        self.ordered.end().expect("all chunks are complete");
        (self.hits, self.most_open)
    }
}

/// Returns the hits of a single engine.
fn expected(job: &PairsSpec) -> Vec<PairHit> {
    let mut gatherer = Gatherer::new(ANY);
    let queue = queue(job, &gatherer);
    let engine = queue.join(true, GRAIN);
    while let Some(lease) = pull(&queue, engine, u64::MAX) {
        queue.finish(&lease, &[]).expect("the lease is valid");
        gatherer.add(&lease.info, lease.batch.pairs(), compute_batch(&lease.batch).hits);
    }
    let (hits, most_open) = gatherer.end();
    assert_eq!((hits.len() as u64, most_open), (job.pairs(), 1));
    hits
}

/// Lets an engine hold a part of the first chunk. Returns the number of chunks that a fast engine
/// starts in the meantime.
fn chunks_ahead(
    job: &PairsSpec,
    most: (u64, usize),
    then: impl FnOnce(&WorkQueue<Pairs>, WorkLease<Pairs>, &mut Gatherer),
) -> usize {
    let mut gatherer = Gatherer::new(most);
    let queue = queue(job, &gatherer);
    let (slow, fast) = (queue.join(true, GRAIN), queue.join(true, GRAIN));
    let held = pull(&queue, slow, PAIRS).expect("there is work");
    assert_eq!(held.info.index, 0);
    let mut begun = BTreeSet::new();
    let mut run_fast_engine = |gatherer: &mut Gatherer| {
        while let Some(lease) = pull(&queue, fast, u64::MAX) {
            begun.insert(lease.info.index);
            queue.finish(&lease, &[]).expect("the lease is valid");
            gatherer.add(&lease.info, lease.batch.pairs(), compute_batch(&lease.batch).hits);
        }
        begun.len()
    };
    let before = run_fast_engine(&mut gatherer);
    then(&queue, held, &mut gatherer);
    assert_eq!(run_fast_engine(&mut gatherer), chunks(job), "the fast engine goes on");
    assert!(!queue.has_work());
    let (hits, most_open) = gatherer.end();
    assert!(hits == expected(job), "other results");
    assert!(most_open <= before, "{most_open} chunks were open");
    before
}

fn finish(queue: &WorkQueue<Pairs>, lease: WorkLease<Pairs>, gatherer: &mut Gatherer) {
    queue.finish(&lease, &[]).expect("the lease is valid");
    gatherer.add(&lease.info, lease.batch.pairs(), compute_batch(&lease.batch).hits);
}

/// Loses an engine, and checks that its work is handed out next.
fn lose_engine(queue: &WorkQueue<Pairs>, lease: WorkLease<Pairs>, gatherer: &mut Gatherer) {
    assert!(queue.retire(lease.engine));
    assert_eq!(queue.finish(&lease, &[]), None, "the lease was revoked");
    let engine = queue.join(false, GRAIN);
    let again = pull(queue, engine, u64::MAX).expect("the work came back");
    assert_eq!((again.info.index, again.batch.pairs()), (0, lease.batch.pairs()));
    finish(queue, again, gatherer);
    queue.retire(engine);
}

#[test]
fn fast_engine_runs_ahead_of_a_slow_one_within_limits() {
    let job = scores();
    let all = chunks(&job);
    assert!(all > 20, "{all} chunks");
    assert_eq!(chunks_ahead(&job, ANY, finish), all, "without limits");
    for then in [finish, lose_engine] {
        for most in [1, 2, 5] {
            assert_eq!(chunks_ahead(&job, (u64::MAX, most), then), 1 + most);
        }
        // A chunk has 60 to 120 pairs.
        let bytes = 500 * size_of::<PairHit>() as u64;
        let begun = chunks_ahead(&job, (bytes, usize::MAX), then);
        assert!((5..=10).contains(&begun), "{begun} chunks");
    }
}

/// If work waits for the only engine that may take it, the other engine does not plan the whole job
/// in the meantime.
#[test]
fn engine_that_refuses_everything_does_not_plan_everything() {
    let job = scores();
    let mut gatherer = Gatherer::new((u64::MAX, 3));
    let queue = queue(&job, &gatherer);
    let (able, refusing) = (queue.join(true, GRAIN), queue.join(false, GRAIN));
    let mut refused = 0;
    while let Some(lease) = pull(&queue, refusing, u64::MAX) {
        refused = refused.max(lease.info.index);
        queue.refuse(&lease);
    }
    assert_eq!(refused, 3);
    let mut last = 0;
    while let Some(lease) = pull(&queue, able, PAIRS) {
        assert!(lease.info.index >= last, "the oldest chunk comes first");
        last = lease.info.index;
        finish(&queue, lease, &mut gatherer);
    }
    assert!(gatherer.end().0 == expected(&job));
}

/// Runs a job on threads. Returns its hits and the largest number of open chunks.
fn run(job: &PairsSpec, engines: Vec<Box<dyn Engine<Pairs>>>, most: (u64, usize)) -> (Vec<PairHit>, usize) {
    let mut gatherer = Gatherer::new(most);
    let control = Control { window: gatherer.ordered.window(), ..Control::default() };
    let reserve = || (0..2).map(|_| Box::<CpuWorker>::default() as Box<dyn Engine<Pairs>>).collect();
    let ran = owner::run(engines, reserve, job.chunks(u64::MAX, 60), job.cells(), &control, |outcome| {
        gatherer.add(&outcome.chunk, outcome.pairs, outcome.report.hits);
        Ok(())
    });
    ran.expect("the job ends well");
    gatherer.end()
}

/// One engine holds the first chunk until its gate opens, which happens when the other engine has
/// reached its limit.
#[test]
fn engines_continue_when_the_oldest_chunk_is_complete() {
    let (job, gate, most) = (scores(), Gate::default(), 3);
    struct Opening(MockEngine, Gate, usize);
    impl Engine<Pairs> for Opening {
        fn name(&self) -> &str {
            self.0.name()
        }
        fn capacity(&self) -> Capacity {
            self.0.capacity()
        }
        fn submit(&mut self, batch: Arc<PairsBatch>) -> pairwave::Result<Ticket> {
            // The rest of the first chunk and `most` further chunks take this number of batches.
            self.2 = self.2.saturating_sub(1);
            if self.2 == 0 {
                self.1.open();
            }
            self.0.submit(batch)
        }
        fn collect(&mut self, ticket: Ticket) -> pairwave::Result<PairsReport> {
            self.0.collect(ticket)
        }
    }
    let slow = MockEngine::new("slow", capacity(PAIRS), [Act::Hang(gate.clone())]);
    let fast = Opening(MockEngine::new("fast", capacity(PAIRS), []), gate, most * 60 / PAIRS as usize);
    let (hits, most_open) = run(&job, vec![Box::new(slow), Box::new(fast)], (u64::MAX, most));
    assert!(hits == expected(&job), "other results");
    assert!(most_open <= 1 + most, "{most_open} chunks were open");
}

/// Engines of random speed fail in random ways, with limits down to the smallest ones.
#[test]
fn job_ends_with_random_failures_and_limits() {
    let job = scores();
    let expected = expected(&job);
    let mut rng = rng(0xa4ead);
    for round in 0..60 {
        let count = 1 + rng.below(4) as usize;
        let engines = (0..count).map(|index| {
            let script: Vec<Act> = (0..rng.below(6))
                .map(|_| match rng.below(14) {
                    0 => Act::FailSubmit,
                    1 => Act::FailCollect,
                    2 => Act::Panic,
                    3 | 4 => Act::Refuse,
                    5 | 6 => Act::LeaveEvery(1 + rng.below(3) as usize),
                    _ => Act::Compute(Duration::from_micros(u64::from(rng.below(4_000u32)))),
                })
                .collect();
            let pairs = u64::from(1 + rng.below(100u32));
            let capacity = Capacity { batches: 1 + rng.below(2) as usize, ..capacity(pairs) };
            let engine = MockEngine::new(format!("round {round} engine {index}"), capacity, script);
            match rng.below(4) {
                0 => Box::<CpuWorker>::default() as Box<dyn Engine<Pairs>>,
                1 => Box::new(engine.with_last(Act::Compute(Duration::from_micros(200)))),
                _ => Box::new(engine),
            }
        });
        let engines: Vec<Box<dyn Engine<Pairs>>> = engines.collect();
        let chunks = 1 + rng.below(4) as usize;
        let bytes = if rng.below(2) == 0 { u64::MAX } else { u64::from(1 + rng.below(4_000u32)) };
        let (hits, most_open) = run(&job, engines, (bytes, chunks));
        assert!(hits == expected, "round {round}: other results");
        assert!(most_open <= 1 + chunks, "round {round}: {most_open} chunks were open");
    }
}
