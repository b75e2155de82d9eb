//! Engines of very unequal speed end at the same time. Most tests run the queue in simulated time,
//! and one runs it in real time.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use pairwave::engine::queue::{Pull, WorkLease, WorkQueue};
use pairwave::engine::sizing::MinWork;
use pairwave::engine::{Capacity, Engine};
use pairwave::jobs::{AllPairs, Job as _, Run};
use pairwave::pairs::Pairs;
use pairwave::pairs::ResultFilter;
use pairwave::pairs::mock::MockEngine;
use pairwave::pairs::plan::PairsSpec;
use pairwave::score::Scoring;
use pairwave::seq::{Alphabet, SequenceStore};
use support::*;

/// Duration of a simulated job without losses, in seconds.
const JOB_SECONDS: f64 = 20.0;

/// Properties of a simulated engine.
#[derive(Debug, Clone, Copy)]
struct SimulatedKind {
    /// Speed in cells per second.
    speed: f64,
    /// Overhead of every batch in seconds.
    launch: f64,
    /// Start-up time in seconds.
    ready: f64,
    /// Capacity in cells.
    cells: u64,
    in_flight: usize,
    min_work: f64,
    universal: bool,
}

impl SimulatedKind {
    fn cpu(speed: f64) -> Self {
        let cells = 1 << 29;
        SimulatedKind { speed, launch: 0.0001, ready: 0.0, cells, in_flight: 1, min_work: 0.004, universal: true }
    }

    /// Returns a GPU with two batches in flight, which it computes one after another.
    fn gpu(speed: f64) -> Self {
        let cells = (0.7 * speed) as u64;
        SimulatedKind { speed, launch: 0.003, ready: 0.3, cells, in_flight: 2, min_work: 0.025, universal: false }
    }
}

/// An engine in simulated time.
struct Simulated {
    kind: SimulatedKind,
    in_flight: VecDeque<(WorkLease<Pairs>, f64)>,
    /// Expected end of the work that it holds, in seconds.
    free_at: f64,
    cells: u64,
    /// End of the last batch, in seconds.
    ended: f64,
}

/// Result of a simulation.
#[derive(Debug)]
struct Ends {
    /// Share of the cells and end time of each engine.
    engines: Vec<(f64, f64)>,
    batches: usize,
}

impl Ends {
    fn last(&self) -> f64 {
        self.engines.iter().map(|end| end.1).fold(0.0, f64::max)
    }

    /// Returns the time between the ends of the first and the last engine, as a fraction of the
    /// job's time.
    fn imbalance(&self) -> f64 {
        let first = self.engines.iter().map(|end| end.1).fold(f64::MAX, f64::min);
        (self.last() - first) / self.last()
    }
}

/// Runs a job's queue like [`pairwave::engine::pump`], but in simulated time.
fn simulate(job: &PairsSpec, kinds: &[SimulatedKind]) -> Ends {
    let nanoseconds = Arc::new(AtomicU64::new(0));
    let read = Arc::clone(&nanoseconds);
    let clock = Box::new(move || read.load(Ordering::Relaxed) as f64 / 1e9);
    let at_once: u64 = kinds.iter().map(|kind| kind.cells).sum();
    let chunks = job.chunks(4 * at_once, 1 << 22);
    let queue = WorkQueue::new(Box::new(chunks), job.cells(), Arc::new(AtomicBool::new(false)), clock);
    let mut engines: Vec<Simulated> = Vec::new();
    for &kind in kinds {
        queue.join(kind.universal, MinWork { seconds: kind.min_work, pairs: 1, fill: 0, first_part: 0.0 });
        engines.push(Simulated { kind, in_flight: VecDeque::new(), free_at: kind.ready, cells: 0, ended: 0.0 });
    }
    let (mut now, mut batches) = (0.0, 0);
    loop {
        for (index, engine) in engines.iter_mut().enumerate() {
            let kind = engine.kind;
            let capacity =
                Capacity { cells: kind.cells, pairs: 1 << 20, store_bytes: u64::MAX, batches: kind.in_flight };
            while engine.in_flight.len() < kind.in_flight {
                let Pull::Work(lease) = queue.pull(index, capacity, false) else { break };
                let cells = lease.batch.cells();
                engine.cells += cells;
                engine.free_at = engine.free_at.max(now) + kind.launch + cells as f64 / kind.speed;
                engine.in_flight.push_back((lease, engine.free_at));
                batches += 1;
            }
        }
        let busy = engines.iter_mut().filter(|engine| !engine.in_flight.is_empty());
        let Some(next) = busy.min_by(|a, b| a.in_flight[0].1.total_cmp(&b.in_flight[0].1)) else { break };
        let (lease, done) = next.in_flight.pop_front().expect("it is not empty");
        (now, next.ended) = (done, done);
        nanoseconds.store((now * 1e9) as u64, Ordering::Relaxed);
        queue.finish(&lease, &[]).expect("the lease is valid");
    }
    assert_eq!(engines.iter().map(|engine| engine.cells).sum::<u64>(), job.cells());
    let share = |engine: &Simulated| engine.cells as f64 / job.cells() as f64;
    Ends { engines: engines.iter().map(|engine| (share(engine), engine.ended)).collect(), batches }
}

/// Returns log-normal lengths from 100 to 30,000 symbols around 1,500.
fn lengths(rng: &mut Rng, count: usize) -> Vec<usize> {
    let mut uniform = || (f64::from(rng.next_u32()) + 1.0) / 4_294_967_297.0;
    let mut normal = || (-2.0 * uniform().ln()).sqrt() * (std::f64::consts::TAU * uniform()).cos();
    (0..count).map(|_| ((1500.0 * (0.9 * normal()).exp()) as usize).clamp(100, 30_000)).collect()
}

/// Returns sequences of one letter, because only their lengths matter.
fn uniform_store(lengths: &[usize]) -> Arc<SequenceStore> {
    store(Alphabet::Dna, &lengths.iter().map(|&length| vec![1; length]).collect::<Vec<_>>())
}

/// Returns jobs over unequal lengths: all pairs of one store, and of two.
fn jobs(seed: u64) -> Vec<PairsSpec> {
    let mut rng = rng(seed);
    let (all, some) = (uniform_store(&lengths(&mut rng, 500)), uniform_store(&lengths(&mut rng, 250)));
    let triangle = support::job(&all, Scoring::truong(), ResultFilter::Scores);
    let rectangle = PairsSpec { against: Some(some), ..triangle.clone() };
    vec![triangle, rectangle]
}

/// Returns engines with these ratios of speed. Together they need [`JOB_SECONDS`] for the job.
fn engines(job: &PairsSpec, cpus: &[f64], gpus: &[f64]) -> Vec<SimulatedKind> {
    let all: f64 = cpus.iter().chain(gpus).sum();
    let speed = |ratio: &f64| ratio / all * job.cells() as f64 / JOB_SECONDS;
    let cpus = cpus.iter().map(|ratio| SimulatedKind::cpu(speed(ratio)));
    cpus.chain(gpus.iter().map(|ratio| SimulatedKind::gpu(speed(ratio)))).collect()
}

#[test]
fn engines_end_within_two_percent_of_the_job() {
    let many = [1.0; 16];
    let mixtures: [(&str, &[f64], &[f64]); 8] = [
        ("one thread, a GPU of 3", &[1.0], &[3.0]),
        ("one thread, a GPU of 100", &[1.0], &[100.0]),
        ("a slow GPU, one thread of 3", &[3.0], &[1.0]),
        ("two threads 1:3", &[1.0, 3.0], &[]),
        ("two threads 1:100", &[1.0, 100.0], &[]),
        ("four threads, a GPU of 100", &[1.0; 4], &[100.0]),
        ("16 threads, a GPU of 30", &many, &[30.0]),
        ("16 threads", &many, &[]),
    ];
    for seed in [1, 2, 3, 4, 5] {
        for (kind, job) in ["triangle", "rectangle"].iter().zip(jobs(seed)) {
            for (name, cpus, gpus) in mixtures {
                let ends = simulate(&job, &engines(&job, cpus, gpus));
                let (percent, last) = (100.0 * ends.imbalance(), ends.last());
                eprintln!(
                    "seed {seed}, {kind}, {name}: {percent:.2}% imbalance, {last:.2} s, {} batches",
                    ends.batches
                );
                assert!(percent < 2.0, "seed {seed}, {kind}, {name}: {percent:.2}%: {ends:?}");
                // The GPU needs 0.3 s to start.
                assert!(last < JOB_SECONDS * 1.04, "seed {seed}, {kind}, {name}: {last:.2} s: {ends:?}");
            }
        }
    }
}

/// The simulation detects pieces that do not shrink. A slow engine then takes seconds of work near
/// the end of the job, and ends late.
#[test]
fn simulation_detects_pieces_that_do_not_shrink() {
    let job = jobs(1).remove(0);
    let mut kinds = engines(&job, &[1.0, 3.0], &[]);
    (kinds[0].min_work, kinds[0].cells) = (3.0, 1 << 40);
    let ends = simulate(&job, &kinds);
    assert!(ends.imbalance() > 0.02, "{ends:?}");
}

/// The guarantee is that the queue measures speeds by the clock and divides the work accordingly, so
/// the test needs real time. Both engines are then busy for the same time, whatever a busy machine
/// adds to their batches. A thread that starts late can disturb a run, so one run of five suffices.
#[test]
fn shares_follow_speeds_in_real_time() {
    let lengths: Vec<usize> = (0..60).map(|index| 20 + (index * 11) % 50).collect();
    let store = mixed_store(&mut rng(0xba1), Alphabet::Dna, &lengths);
    let job = AllPairs { score_only: true, ..AllPairs::new(store, Arc::new(Scoring::truong())) };
    // Both engines together need two thirds of a second.
    let speed = job.job().cells() as f64 / 4.0 * 1.5;
    let capacity = Capacity { cells: 1 << 30, pairs: 1 << 20, store_bytes: u64::MAX, batches: 1 };
    let engine = |name: &str, speed| Box::new(MockEngine::new(name, capacity, []).with_real_speed(speed));
    let run = Run { threads: 1, ..Run::default() };
    let mut disturbed = Vec::new();
    for _ in 0..5 {
        let both: Vec<Box<dyn Engine<Pairs>>> = vec![engine("slow", speed), engine("fast", 3.0 * speed)];
        let summary = job.run_on(both, &run, |_| Ok(())).expect("the job ends well");
        let [slow, fast] = &summary.engines[..] else { panic!("two engines: {:?}", summary.engines) };
        assert_eq!(slow.cells + fast.cells, summary.cells);
        assert!((slow.share + fast.share - 1.0).abs() < 1e-9);
        for engine in [slow, fast] {
            assert!(engine.finished_at <= summary.seconds && engine.idle_seconds < summary.seconds, "{engine:?}");
        }
        // The first ratio is 1 and the second 3 on an idle machine.
        let busy = fast.busy_seconds / slow.busy_seconds;
        let cells = fast.cells as f64 / slow.cells as f64;
        if (0.6..1.7).contains(&busy) && cells > 1.5 && slow.batches.min(fast.batches) > 2 {
            return;
        }
        disturbed.push(format!("{busy:.2} times the time, {cells:.2} times the cells: {:?}", summary.engines));
    }
    panic!("the shares do not follow the speeds:\n{}", disturbed.join("\n"));
}
