//! Several devices share a job. Each has separate buffers and gets a share according to its speed.
//! The results equal those of one device, even if a device is lost.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Barrier, OnceLock};

use pairwave::Error;
use pairwave::engine::{Capacity, Engine, Ticket};
use pairwave::gpu::adapter::Device;
use pairwave::gpu::memory::MIN_BYTES;
use pairwave::gpu::memory::memory_budget;
use pairwave::jobs::{AllPairs, Job, PairResult, Run, Summary};
use pairwave::pairs::Pairs;
use pairwave::pairs::gpu::{Config, PairsGpu, tune};
use pairwave::pairs::{PairsBatch, PairsReport};
use pairwave::score::Scoring;
use pairwave::seq::{Alphabet, SequenceStore};
use support::*;

/// Returns sequences of very unequal lengths.
fn sequences() -> Arc<SequenceStore> {
    let lengths: Vec<usize> = (0..70).map(|index| 3 + (index * index * 7) % 190).collect();
    mixed_store(&mut rng(0xde5), Alphabet::Dna, &lengths)
}

fn job() -> AllPairs {
    AllPairs { check: true, ..AllPairs::new(sequences(), Arc::new(Scoring::truong())) }
}

fn run_job_on(engines: Vec<Box<dyn Engine<Pairs>>>) -> (Vec<PairResult>, Summary) {
    run_on(&job(), engines, &two_threads()).expect("the job ends well")
}

/// Returns the results of a single engine.
fn expected() -> &'static [PairResult] {
    static EXPECTED: OnceLock<Vec<PairResult>> = OnceLock::new();
    EXPECTED.get_or_init(|| run_job_on(vec![Box::new(cpu())]).0)
}

/// Fails with one line at the first difference.
fn assert_same(results: &[PairResult]) {
    if let Some((ours, theirs)) = results.iter().zip(expected()).find(|(ours, theirs)| ours != theirs) {
        panic!("{}-{} where {}-{} was expected", ours.query, ours.target, theirs.query, theirs.target);
    }
    assert_eq!(results.len(), expected().len());
}

fn gpu_called(label: &str) -> PairsGpu {
    PairsGpu::open(
        &adapter_called(label),
        Config { slice: 12, workgroup: 16, halves: false, cells_per_second: 1e5, ..Config::default() },
    )
    .expect("the adapter opens")
}

/// A GPU that waits in its first submission until all others have started, too. It can be destroyed
/// at a later submission, with work in flight.
struct SynchronizedGpu {
    gpu: PairsGpu,
    all: Arc<Barrier>,
    submissions: usize,
    destroyed_at: usize,
}

impl SynchronizedGpu {
    fn new(gpu: PairsGpu, all: &Arc<Barrier>) -> Box<Self> {
        Box::new(SynchronizedGpu { gpu, all: Arc::clone(all), submissions: 0, destroyed_at: usize::MAX })
    }
}

impl Engine<Pairs> for SynchronizedGpu {
    fn name(&self) -> &str {
        self.gpu.name()
    }

    fn capacity(&self) -> Capacity {
        Capacity { cells: 400_000, ..self.gpu.capacity() }
    }

    fn submit(&mut self, batch: Arc<PairsBatch>) -> pairwave::Result<Ticket> {
        if self.submissions == 0 {
            self.all.wait();
        }
        if self.submissions == self.destroyed_at {
            self.gpu.gpu().device.destroy();
        }
        self.submissions += 1;
        self.gpu.submit(batch)
    }

    fn collect(&mut self, ticket: Ticket) -> pairwave::Result<PairsReport> {
        self.gpu.collect(ticket)
    }
}

#[test]
fn two_engines_of_one_adapter_give_the_results_of_one() {
    let engines = [gpu_called("first"), gpu_called("second")];
    assert_ne!(engines[0].gpu().device, engines[1].gpu().device, "buffers belong to a device");
    let all = Arc::new(Barrier::new(2));
    let (results, summary) =
        run_job_on(engines.into_iter().map(|gpu| SynchronizedGpu::new(gpu, &all) as Box<dyn Engine<Pairs>>).collect());
    assert_same(&results);
    let took_part: Vec<&str> =
        summary.engines.iter().filter(|engine| engine.pairs > 0).map(|engine| engine.name.as_str()).collect();
    assert_eq!(took_part, ["first", "second"]);
    assert_eq!(summary.engines.iter().map(|engine| engine.cells).sum::<u64>(), summary.cells);
}

#[test]
fn lost_device_causes_one_warning_and_the_other_continues() {
    warnings::record("warn");
    let all = Arc::new(Barrier::new(2));
    let mut doomed = SynchronizedGpu::new(gpu_called("the doomed one"), &all);
    doomed.destroyed_at = 1;
    let (results, summary) = run_job_on(vec![doomed, SynchronizedGpu::new(gpu_called("the survivor"), &all)]);
    assert_same(&results);
    let lost: Vec<bool> = summary.engines.iter().map(|engine| engine.lost.is_some()).collect();
    assert_eq!(lost, [true, false], "{:?}", summary.engines);
    assert_eq!(summary.engines[0].pairs + summary.engines[1].pairs, summary.pairs);
    let lines = warnings::lines_with("the doomed one");
    assert_eq!((lines.len(), warnings::lines_with("the survivor").len()), (1, 0), "{lines:?}");
}

/// A library call can list a device twice. It becomes two engines with half of the memory each.
#[test]
fn adapter_listed_twice_becomes_two_engines() {
    let adapter = adapter();
    let device = Device::Adapter(Box::new(adapter.clone()));
    let devices = vec![device.clone(), device, Device::Cpu];
    let run = Run { devices, memory: Some(64 << 20), ..two_threads() };
    let mut results = Vec::new();
    let take = |some: &[PairResult]| {
        results.extend_from_slice(some);
        Ok(())
    };
    let summary = job().run(&run, take).expect("the job ends well");
    assert_same(&results);
    let names: Vec<&str> = summary.engines.iter().map(|engine| engine.name.as_str()).collect();
    let name = &adapter.description.label;
    assert_eq!(names, [format!("{name} #1").as_str(), &format!("{name} #2"), "cpu"]);
}

#[test]
fn engine_stays_within_its_memory() {
    let adapter = adapter();
    let full = PairsGpu::open(&adapter, Config::default()).expect("the adapter opens");
    assert_eq!(full.memory(), memory_budget(&adapter, None));
    let small = PairsGpu::open(&adapter, Config::default()).expect("the adapter opens").with_memory(MIN_BYTES);
    assert_eq!(small.memory(), MIN_BYTES);
    assert!(small.capacity().store_bytes <= MIN_BYTES / 8 && small.capacity().pairs < full.capacity().pairs);
    // A higher limit does not raise a lower one.
    assert_eq!(small.with_memory(u64::MAX).memory(), MIN_BYTES);
    let capped = PairsGpu::open(&adapter, Config::default()).expect("the adapter opens").with_memory(MIN_BYTES);
    let (results, summary) = run_job_on(vec![Box::new(capped)]);
    assert_same(&results);
    assert_eq!(summary.engines.len(), 1, "the memory sufficed: {:?}", summary.engines);
}

#[test]
fn adapters_are_opened_with_their_names_and_memory() {
    let adapters = [(adapter_called("a"), u64::MAX), (adapter_called("b"), MIN_BYTES)];
    let opened = tune::open_all(&adapters, &Arc::new(Scoring::truong()), 0, false, &AtomicBool::new(false));
    let engines: Vec<PairsGpu> = opened.into_iter().map(|engine| engine.expect("the adapter opens")).collect();
    assert_eq!([engines[0].name(), engines[1].name()], ["a", "b"]);
    assert_eq!(engines[0].config(), engines[1].config());
    assert_eq!(engines[1].memory(), MIN_BYTES);
}

#[test]
fn interrupt_ends_a_measurement() {
    let interrupt = Arc::new(AtomicBool::new(true));
    let adapters = [(adapter(), u64::MAX), (adapter(), u64::MAX)];
    let opened = tune::open_all(&adapters, &Arc::new(Scoring::truong()), 0, true, &interrupt);
    assert_eq!(opened.len(), 2);
    assert!(opened.iter().all(|engine| matches!(engine, Err(Error::Interrupted))));
    let devices = vec![Device::Adapter(Box::new(adapter()))];
    let run = Run { devices, tune: true, interrupt, ..Run::default() };
    let error = job().run(&run, |_| Ok(())).expect_err("it was interrupted");
    assert!(matches!(error, Error::Interrupted), "{error}");
}

/// A wrong job is refused before a device is opened and measured. The interrupt flag is set, so a
/// measurement would end with another error.
#[test]
fn wrong_options_are_refused_before_devices_are_opened() {
    let devices = vec![Device::Adapter(Box::new(adapter()))];
    let interrupt = Arc::new(AtomicBool::new(true));
    let run = Run { devices, tune: true, interrupt, ..Run::default() };
    let wrong = AllPairs { min_identity: Some(97.0), ..job() };
    let error = wrong.run(&run, |_| Ok(())).expect_err("refused");
    assert!(matches!(error, Error::Usage(_)), "{error}");
}
