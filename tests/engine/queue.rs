//! The pull queue. The results are equal for all engines, in any order, with any failure.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use pairwave::Error;
use pairwave::engine::ordered::ReorderWindow;
use pairwave::engine::queue::{Pull, QueuedChunk, WorkLease, WorkQueue, wall_clock};
use pairwave::engine::sizing::MinWork;
use pairwave::engine::{Capacity, Engine, Ticket};
use pairwave::jobs::{AllPairs, Job, PairResult, Run, Summary};
use pairwave::pairs::cpu::CpuWorker;
use pairwave::pairs::mock::{Act, MockEngine};
use pairwave::pairs::{Pairs, PairsBatch, PairsReport};
use pairwave::score::Scoring;
use pairwave::seq::{Alphabet, SequenceStore};
use support::*;

fn sequences() -> Arc<SequenceStore> {
    let lengths: Vec<usize> = (0..40).map(|index| 5 + (index * 7) % 60).collect();
    mixed_store(&mut rng(0x9e0e), Alphabet::Dna, &lengths)
}

fn capacity(cells: u64, batches: usize) -> Capacity {
    Capacity { cells, pairs: 64, store_bytes: u64::MAX, batches }
}

fn mock(name: &str, cells: u64, script: impl IntoIterator<Item = Act>) -> Box<dyn Engine<Pairs>> {
    Box::new(MockEngine::new(name, capacity(cells, 2), script))
}

fn run(job: &AllPairs, engines: Vec<Box<dyn Engine<Pairs>>>) -> (Vec<PairResult>, Summary) {
    run_on(job, engines, &two_threads()).expect("the job ends well")
}

fn job() -> AllPairs {
    AllPairs { check: true, ..AllPairs::new(sequences(), Arc::new(Scoring::truong())) }
}

/// Returns the results of a single engine without faults.
fn expected() -> Vec<PairResult> {
    run(&job(), vec![mock("well", 1 << 40, [])]).0
}

/// Fails with one line at the first difference.
fn assert_same(results: &[PairResult], what: &str) {
    let expected = expected();
    if let Some((ours, theirs)) = results.iter().zip(&expected).find(|(ours, theirs)| ours != theirs) {
        panic!("{what}: {}-{} where {}-{} was expected", ours.query, ours.target, theirs.query, theirs.target);
    }
    assert_eq!(results.len(), expected.len(), "{what}: number of results");
}

#[test]
fn results_come_once_in_input_order() {
    let results = expected();
    let pairs: Vec<(u32, u32)> = results.iter().map(|result| (result.query, result.target)).collect();
    let all: Vec<(u32, u32)> = (0..40).flat_map(|query| (query + 1..40).map(move |target| (query, target))).collect();
    assert_eq!(pairs, all);
}

#[test]
fn results_do_not_depend_on_the_speeds_of_engines() {
    let delay = |ms| Act::Compute(Duration::from_millis(ms));
    let engines = vec![
        mock("fast", 20_000, []),
        mock("slow", 7_000, [delay(5), delay(20), delay(1)]),
        mock("tiny", 100, [delay(2)]),
        Box::new(CpuWorker::default()) as Box<dyn Engine<Pairs>>,
        Box::new(gpu_checked()),
    ];
    let (results, summary) = run(&job(), engines);
    assert_same(&results, "several engines");
    assert_eq!(summary.engines.iter().map(|engine| engine.pairs).sum::<u64>(), 40 * 39 / 2);
    assert_eq!(summary.engines.iter().map(|engine| engine.cells).sum::<u64>(), summary.cells);
}

#[test]
fn interrupt_ends_the_job() {
    let run = Run { interrupt: Arc::new(AtomicBool::new(true)), ..two_threads() };
    let error = run_on(&job(), vec![mock("well", 1_000, [])], &run).expect_err("it was interrupted");
    assert!(matches!(error, Error::Interrupted), "{error}");
    run.interrupt.store(false, Ordering::Relaxed);
    run_on(&job(), vec![mock("well", 1_000, [])], &run).expect("the job ends well");
}

#[test]
fn error_of_the_sink_ends_the_job() {
    let error = job()
        .run_on(vec![mock("well", 1_000, [])], &two_threads(), |_| Err(Error::OutputClosed))
        .expect_err("the sink fails");
    assert!(matches!(error, Error::OutputClosed), "{error}");
}

#[test]
fn two_stores_and_a_store_without_pairs_are_computed() {
    let (queries, targets) = (sequences(), mixed_store(&mut rng(5), Alphabet::Dna, &[9, 30, 21]));
    let against = AllPairs { against: Some(targets), queries, ..job() };
    let (results, summary) = run(&against, vec![mock("well", 5_000, []), Box::new(CpuWorker::default())]);
    let pairs: Vec<(u32, u32)> = results.iter().map(|result| (result.query, result.target)).collect();
    let all: Vec<(u32, u32)> = (0..40).flat_map(|query| (0..3).map(move |target| (query, target))).collect();
    assert_eq!((pairs, summary.pairs), (all, 120));

    let single = AllPairs::new(mixed_store(&mut rng(6), Alphabet::Dna, &[9]), Arc::new(Scoring::truong()));
    assert_eq!(run(&single, vec![mock("well", 5_000, [])]).0, []);
}

#[test]
fn max_hits_keeps_the_best_targets_of_each_query() {
    let all = expected();
    let (few, _) = run(&AllPairs { max_hits: Some(2), ..job() }, vec![mock("well", 2_000, [])]);
    for query in 0..39 {
        let mut of_query: Vec<&PairResult> = all.iter().filter(|result| result.query == query).collect();
        of_query.sort_by(|a, b| {
            b.identity.total_cmp(&a.identity).then(b.score.cmp(&a.score)).then(a.target.cmp(&b.target))
        });
        of_query.truncate(2);
        of_query.sort_by_key(|result| result.target);
        let kept: Vec<&PairResult> = few.iter().filter(|result| result.query == query).collect();
        assert_eq!(kept, of_query);
    }
}

#[test]
fn store_too_large_for_the_device_is_uploaded_in_parts() {
    // The store has about 1,600 bytes; the device may hold 300.
    let engine = gpu_default().with_store_limit(300);
    let (results, summary) = run(&job(), vec![Box::new(engine)]);
    assert_same(&results, "a store in parts");
    assert_eq!(summary.engines.len(), 1, "no other engine took part: {:?}", summary.engines);
}

#[test]
fn invalid_identities_and_gap_costs_are_refused() {
    let identity = |value| AllPairs { min_identity: Some(value), ..job() };
    let gaps = pairwave::score::Gaps { first: 1, next: 2 };
    let gaps = AllPairs { scoring: Arc::new(Scoring { gaps, ..Scoring::truong() }), ..job() };
    for wrong in [identity(f64::NAN), identity(1.01), identity(-0.1), gaps] {
        let error = run_on(&wrong, vec![mock("well", 1_000, [])], &two_threads()).expect_err("refused");
        assert!(matches!(error, Error::Usage(_)), "{error}");
    }
}

/// While the planning of a chunk takes long, other engines can finish work, return work, and take
/// returned work.
#[test]
fn engines_work_while_a_chunk_is_planned() {
    const LONG: Duration = Duration::from_secs(120);
    let job = job().job();
    let (began, planning) = mpsc::channel();
    let (gate, opened) = mpsc::channel::<()>();
    let mut planned = job.chunks(1, 1).enumerate();
    let chunks = std::iter::from_fn(move || {
        let (index, chunk) = planned.next()?;
        if index == 1 {
            began.send(()).unwrap();
            opened.recv().unwrap();
        }
        Some(chunk)
    });
    let queue = Arc::new(WorkQueue::<Pairs>::new(Box::new(chunks), job.cells(), Arc::default(), wall_clock()));
    let [one, two] = [(); 2].map(|()| queue.join(true, MinWork { seconds: 0.0, pairs: 1, fill: 0, first_part: 0.0 }));
    let Pull::Work(lease) = queue.pull(one, capacity(1, 2), true) else { panic!("there is work") };
    let planner = {
        let queue = Arc::clone(&queue);
        std::thread::spawn(move || while matches!(queue.pull(two, capacity(u64::MAX, 2), true), Pull::Work(_)) {})
    };
    planning.recv_timeout(LONG).expect("the second chunk is planned");
    let (done, heard) = mpsc::channel();
    let other = {
        let queue = Arc::clone(&queue);
        std::thread::spawn(move || {
            let all_blocks: Vec<usize> = (0..lease.batch.blocks.len()).collect();
            assert!(queue.finish(&lease, &all_blocks).is_some() && queue.has_work());
            let again = queue.pull(one, capacity(1, 2), false);
            done.send(matches!(again, Pull::Work(again) if again.batch.blocks == lease.batch.blocks)).unwrap();
        })
    };
    assert_eq!(heard.recv_timeout(LONG), Ok(true), "returned work is taken while a chunk is planned");
    gate.send(()).unwrap();
    other.join().unwrap();
    // The planner takes all remaining work and then waits for the unfinished lease.
    queue.stop();
    planner.join().unwrap();
}

/// For each batch: the number of remaining cells that the engine was informed of before, and the
/// number of cells in the batch.
type Heard = Arc<Mutex<Vec<(Option<u64>, u64)>>>;

/// An engine that records the numbers of [`Heard`].
struct Listener {
    mock: Box<dyn Engine<Pairs>>,
    remaining: Option<u64>,
    heard: Heard,
}

impl Engine<Pairs> for Listener {
    fn name(&self) -> &str {
        self.mock.name()
    }

    fn capacity(&self) -> Capacity {
        self.mock.capacity()
    }

    fn expect(&mut self, remaining_cells: u64) {
        self.remaining = Some(remaining_cells);
    }

    fn submit(&mut self, batch: Arc<PairsBatch>) -> pairwave::Result<Ticket> {
        self.heard.lock().unwrap().push((self.remaining.take(), batch.cells()));
        self.mock.submit(batch)
    }

    fn collect(&mut self, ticket: Ticket) -> pairwave::Result<PairsReport> {
        self.mock.collect(ticket)
    }
}

#[test]
fn engine_learns_the_remaining_cells_before_every_batch() {
    let heard = Heard::default();
    let listener = Listener { mock: mock("listener", 50_000, []), remaining: None, heard: Arc::clone(&heard) };
    assert_same(&run(&job(), vec![Box::new(listener)]).0, "a listening engine");
    let heard = heard.lock().unwrap();
    let mut remaining = job().job().cells();
    for (index, &(informed, cells)) in heard.iter().enumerate() {
        remaining -= cells;
        assert_eq!(informed, Some(remaining), "batch {index}");
    }
    assert_eq!(remaining, 0);
    assert!(heard.len() > 5, "{} batches", heard.len());
}

/// A queue whose chunks become known one after another, and a model of its expected state.
struct OpenEnded {
    queue: WorkQueue<Pairs>,
    window: Arc<ReorderWindow>,
    /// Cells in each chunk.
    chunks: Vec<u64>,
    planned: Arc<AtomicUsize>,
    /// Number of chunks that may be planned.
    opened: usize,
    engines: Vec<usize>,
    leases: Vec<WorkLease<Pairs>>,
    /// Number of finished cells.
    done: u64,
    /// Chunk, query and target index of all finished pairs.
    seen: BTreeSet<(usize, u32, u32)>,
}

impl OpenEnded {
    fn new(chunks: Vec<QueuedChunk<Pairs>>) -> Self {
        let cells = |(_, _, blocks): &QueuedChunk<Pairs>| blocks.iter().map(|(_, block)| block.cells).sum();
        let (planned, window, time) =
            (Arc::new(AtomicUsize::new(0)), Arc::new(ReorderWindow::closed()), AtomicU64::new(0));
        let chunk_cells = chunks.iter().map(cells).collect();
        let counted = Arc::clone(&planned);
        let chunks = chunks.into_iter().inspect(move |_| _ = counted.fetch_add(1, Ordering::Relaxed));
        // Each reading of the clock advances it by a millisecond.
        let clock = move || time.fetch_add(1, Ordering::Relaxed) as f64 / 1e3;
        // The number of cells is a wrong estimate.
        let queue = WorkQueue::new(Box::new(chunks), 1 << 50, Arc::default(), Box::new(clock));
        let queue = queue.with_window(Arc::clone(&window)).with_unknown_cells();
        let engines = vec![queue.join(true, MinWork { seconds: 0.0, pairs: 1, fill: 0, first_part: 0.0 })];
        let (leases, seen) = (Vec::new(), BTreeSet::new());
        OpenEnded { queue, window, chunks: chunk_cells, planned, opened: 1, engines, leases, done: 0, seen }
    }

    fn open(&mut self, chunks: usize) {
        self.opened = chunks;
        self.window.open(chunks);
        self.queue.wake_planners();
    }

    /// Takes a lease. Returns whether there was work.
    fn pull(&mut self, engine: usize, capacity: Capacity) -> bool {
        let Pull::Work(lease) = self.queue.pull(engine, capacity, false) else { return false };
        self.leases.push(lease);
        true
    }

    /// Ends a lease, except for some of its blocks.
    fn finish(&mut self, lease: usize, unfinished: &[usize]) {
        let lease = self.leases.swap_remove(lease);
        self.queue.finish(&lease, unfinished).expect("the lease is valid");
        for (index, block) in lease.batch.blocks.iter().enumerate().filter(|(index, _)| !unfinished.contains(index)) {
            self.done += block.cells;
            for target in block.targets.clone() {
                assert!(self.seen.insert((lease.info.index, block.query, target)), "block {index} was computed twice");
            }
        }
    }

    /// Compares the state of the queue with the model.
    fn check(&self) {
        let planned = self.planned.load(Ordering::Relaxed);
        assert!(planned <= self.opened, "{planned} chunks are planned, and {} may be", self.opened);
        let held: u64 = self.leases.iter().map(|lease| lease.batch.cells()).sum();
        let waiting = self.chunks[..planned].iter().sum::<u64>() - held - self.done;
        let informed: Vec<u64> = self.engines.iter().map(|&engine| self.queue.remaining_for(engine)).collect();
        // A lone engine may expect all waiting cells. Several engines may each expect a part.
        assert!(informed.iter().all(|&expected| expected <= waiting), "{informed:?} of {waiting} cells");
        assert!(informed.len() > 1 || informed == [waiting], "{informed:?} of {waiting} cells");
    }
}

/// The amount of work is unknown in advance. Engines are informed of planned work only. Chunks are
/// planned only after they are opened. The queue does not end while another chunk may come. Every
/// pair is computed once.
#[test]
fn chunks_that_become_known_later_are_computed_once() {
    let rng = &mut rng(0x09e7);
    let job = job().job();
    for _ in 0..60 {
        let chunks: Vec<QueuedChunk<Pairs>> = job.chunks(u64::MAX, 1 + u64::from(rng.below(90u32))).collect();
        let count = chunks.len();
        let mut all = OpenEnded::new(chunks);
        let mut steps = 0;
        while all.opened < count {
            steps += 1;
            match rng.below(8u32) {
                0 => all.open((all.opened + 1 + rng.below(3usize)).min(count)),
                1 if all.engines.len() < 3 => {
                    all.engines
                        .push(all.queue.join(true, MinWork { seconds: 0.0, pairs: 1, fill: 0, first_part: 0.0 }));
                }
                2 if all.engines.len() > 1 => {
                    let engine = all.engines.swap_remove(rng.below(all.engines.len()));
                    assert!(all.queue.retire(engine));
                    all.leases.retain(|lease| lease.engine != engine);
                }
                3 if !all.leases.is_empty() => {
                    let lease = all.leases.swap_remove(rng.below(all.leases.len()));
                    all.queue.refuse(&lease);
                }
                4 | 5 if !all.leases.is_empty() => {
                    let lease = rng.below(all.leases.len());
                    let blocks = all.leases[lease].batch.blocks.len();
                    let unfinished: Vec<usize> = (0..blocks).filter(|_| rng.below(4u32) == 0).collect();
                    all.finish(lease, &unfinished);
                }
                _ => {
                    let engine = rng.pick(&all.engines);
                    all.pull(engine, capacity(1 << rng.below(18u32), 2));
                }
            }
            all.check();
        }
        assert!(steps >= count / 3);
        // One engine computes the rest. The queue is not finished as long as another chunk may
        // come.
        while all.engines.len() > 1 {
            let engine = all.engines.swap_remove(1);
            all.queue.retire(engine);
            all.leases.retain(|lease| lease.engine != engine);
        }
        let engine = all.engines[0];
        for opened in [count, usize::MAX] {
            all.open(opened);
            while all.pull(engine, capacity(u64::MAX, 2)) || !all.leases.is_empty() {
                all.finish(0, &[]);
                all.check();
            }
            assert_eq!(all.queue.has_work(), opened == count);
        }
        assert!(matches!(all.queue.pull(engine, capacity(u64::MAX, 2), true), Pull::Finished));
        assert_eq!((all.seen.len() as u64, all.done), (job.pairs(), job.cells()));
    }
}

/// Blocks that are added while the queue runs join the waiting blocks. Engines wait for more until
/// the queue is closed.
#[test]
fn blocks_added_to_a_running_queue_are_computed() {
    let job = job().job();
    let (_, chunk, blocks) = job.chunks(u64::MAX, u64::MAX).next().expect("there are pairs");
    let queue = Arc::new(WorkQueue::<Pairs>::streaming(job.cells(), Arc::default(), wall_clock()));
    let min_work = MinWork { seconds: 0.0, pairs: 1, fill: 0, first_part: 0.0 };
    let engine = queue.join(true, min_work);
    let some = capacity(1 << 40, 1);
    assert!(matches!(queue.pull(engine, some, false), Pull::Nothing), "the queue is empty");
    let mut blocks = blocks.into_iter();
    queue.add(&chunk, Vec::new());
    queue.add(&chunk, vec![blocks.next().expect("a block")]);
    queue.add(&chunk, vec![blocks.next().expect("a block")]);
    let one = capacity(1, 1);
    let Pull::Work(first) = queue.pull(engine, one, true) else { panic!("there is work") };
    assert_eq!(first.batch.blocks.len(), 1);
    // Added blocks and the end of the queue wake a sleeping engine.
    let asleep = Arc::clone(&queue);
    let (sender, heard) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        while let Pull::Work(lease) = asleep.pull(engine, one, true) {
            asleep.finish(&lease, &[]).expect("the lease is valid");
            sender.send(lease.batch.pairs()).expect("the receiver exists");
        }
    });
    let mut pairs = first.batch.pairs();
    queue.finish(&first, &[]).expect("the lease is valid");
    blocks.for_each(|block| queue.add(&chunk, vec![block]));
    while pairs < 40 * 39 / 2 {
        pairs += heard.recv_timeout(Duration::from_secs(60)).expect("more blocks are computed");
    }
    assert!(queue.has_work(), "more blocks may be added");
    assert!(matches!(queue.pull(engine, some, false), Pull::Nothing));
    queue.close();
    thread.join().expect("the thread ends");
    assert!(matches!(queue.pull(engine, some, true), Pull::Finished) && !queue.has_work());
    assert_eq!(pairs, 40 * 39 / 2);
    // Blocks that are added after the queue is closed are ignored.
    let (_, chunk, blocks) = job.chunks(u64::MAX, u64::MAX).next().expect("there are pairs");
    queue.add(&chunk, blocks);
    assert!(!queue.has_work());
}
