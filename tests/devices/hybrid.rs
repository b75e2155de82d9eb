//! CPU threads and GPUs share one queue. The results are equal for all combinations, even if a GPU
//! is lost.

use std::sync::{Arc, Barrier};

use pairwave::engine::sizing::MinWork;
use pairwave::engine::{Capacity, Engine, Ticket};
use pairwave::gpu::adapter::{Device, choose};
use pairwave::jobs::{AllPairs, Job, PairResult, Run, Summary};
use pairwave::pairs::Pairs;
use pairwave::pairs::cpu::{CpuWorker, workers};
use pairwave::pairs::gpu::{Config, PairsGpu};
use pairwave::pairs::{PairsBatch, PairsReport};
use pairwave::score::{EndGaps, Gaps, Scoring};
use pairwave::seq::Alphabet;
use support::*;

type Engines = Vec<Box<dyn Engine<Pairs>>>;

/// Returns jobs that request all alignments, scores, and pairs above an identity, with linear and
/// affine gaps.
fn jobs() -> Vec<AllPairs> {
    let lengths: Vec<usize> = (0..60).map(|index| 1 + (index * index * 7) % 190).collect();
    let dna = mixed_store(&mut rng(0x4b), Alphabet::Dna, &lengths);
    let proteins = mixed_store(&mut rng(0x4c), Alphabet::Protein, &lengths[..40]);
    let affine = Scoring { gaps: Gaps::from_blast(10, 1), end_gaps: EndGaps::Free, ..Scoring::truong() };
    let mut jobs = Vec::new();
    for (store, scoring) in [(&dna, Scoring::truong()), (&dna, affine), (&proteins, Scoring::protein())] {
        let all = AllPairs { check: true, ..AllPairs::new(Arc::clone(store), Arc::new(scoring)) };
        jobs.push(AllPairs { score_only: true, check: false, ..all.clone() });
        jobs.push(AllPairs { min_identity: Some(0.5), ..all.clone() });
        jobs.push(AllPairs { against: Some(Arc::clone(store)), ..all.clone() });
        jobs.push(all);
    }
    jobs
}

fn run(job: &AllPairs, engines: Vec<Box<dyn Engine<Pairs>>>) -> (Vec<PairResult>, Summary) {
    run_on(job, engines, &two_threads()).expect("the job ends well")
}

/// An engine with small batches. In its first submission it waits until all others have started,
/// too. A GPU can be destroyed after a submission, with work in flight.
struct SynchronizedEngine<E> {
    engine: E,
    all: Arc<Barrier>,
    submissions: usize,
    destroy: Option<(usize, wgpu::Device)>,
}

impl<E: Engine<Pairs> + 'static> SynchronizedEngine<E> {
    fn new(engine: E, all: &Arc<Barrier>) -> Box<Self> {
        Box::new(SynchronizedEngine { engine, all: Arc::clone(all), submissions: 0, destroy: None })
    }
}

impl<E: Engine<Pairs>> Engine<Pairs> for SynchronizedEngine<E> {
    fn name(&self) -> &str {
        self.engine.name()
    }
    fn universal(&self) -> bool {
        self.engine.universal()
    }
    fn min_work(&self) -> MinWork {
        self.engine.min_work()
    }
    fn capacity(&self) -> Capacity {
        Capacity { cells: 300_000, ..self.engine.capacity() }
    }
    fn submit(&mut self, batch: Arc<PairsBatch>) -> pairwave::Result<Ticket> {
        if self.submissions == 0 {
            self.all.wait();
        }
        let ticket = self.engine.submit(batch);
        match &self.destroy {
            Some((at, device)) if *at == self.submissions => device.destroy(),
            _ => {}
        }
        self.submissions += 1;
        ticket
    }
    fn collect(&mut self, ticket: Ticket) -> pairwave::Result<PairsReport> {
        self.engine.collect(ticket)
    }
}

/// Returns a GPU and CPU workers. If `destroyed_at` is given, the GPU is destroyed after the
/// submission with this number.
fn mixed(gpu: PairsGpu, cpus: usize, destroyed_at: Option<usize>) -> Vec<Box<dyn Engine<Pairs>>> {
    let all = Arc::new(Barrier::new(1 + cpus));
    let device = gpu.gpu().device.clone();
    let mut gpu = SynchronizedEngine::new(gpu, &all);
    gpu.destroy = destroyed_at.map(|at| (at, device));
    let mut engines: Vec<Box<dyn Engine<Pairs>>> = vec![gpu];
    engines.extend((0..cpus).map(|_| SynchronizedEngine::new(CpuWorker::default(), &all) as Box<dyn Engine<Pairs>>));
    engines
}

#[test]
fn results_do_not_depend_on_the_engines() {
    for (index, job) in jobs().iter().enumerate() {
        let (expected, alone) = run(job, workers(1, &Arc::default()));
        assert!(!expected.is_empty());
        let ways: Vec<(&str, Engines)> = vec![
            ("two threads", workers(2, &Arc::default())),
            ("the GPU alone", vec![Box::new(gpu_default())]),
            ("both", mixed(gpu_default(), 2, None)),
            ("a GPU that is lost", mixed(gpu_default(), 0, Some(1))),
            ("a GPU that is lost next to the CPU", mixed(gpu_default(), 2, Some(0))),
        ];
        for (way, engines) in ways {
            let (results, summary) = run(job, engines);
            assert!(results == expected, "job {index}, {way}: other results");
            // The number of tracebacks depends on the engine that filters, because a GPU may
            // compare exact identities.
            let counts = |summary: &Summary| (summary.pairs, summary.cells, summary.written);
            assert_eq!(counts(&summary), counts(&alone), "job {index}, {way}");
            let cells: u64 = summary.engines.iter().map(|engine| engine.cells).sum();
            assert_eq!(cells, summary.cells, "job {index}, {way}: {:?}", summary.engines);
            if way == "both" {
                assert!(summary.engines.iter().all(|engine| engine.lost.is_none()), "{:?}", summary.engines);
            }
        }
    }
}

#[test]
fn destroyed_gpu_next_to_the_cpu_causes_one_warning() {
    warnings::record("warn");
    let job = jobs().remove(3);
    // The warnings of all tests of the process are recorded together, so the adapter needs a name
    // that no other test uses.
    let name = "destroyed next to the cpu";
    let gpu = PairsGpu::open(&adapter_called(name), Config::default()).expect("the adapter opens");
    let (results, summary) = run(&job, mixed(gpu, 2, Some(0)));
    assert_eq!(results.len() as u64, summary.pairs);
    let rows: Vec<(&str, bool)> =
        summary.engines.iter().map(|engine| (engine.name.as_str(), engine.lost.is_some())).collect();
    assert_eq!(rows, [(name, true), ("cpu", false)]);
    let lines = warnings::lines_with(name);
    assert_eq!(lines.len(), 1, "{lines:?}");
}

/// A device that writes an unknown status is abandoned.
#[test]
fn device_with_an_unknown_status_is_abandoned() {
    let broken = kernel_checked("nw_slice").with_rewritten_shaders(Box::new(|text| {
        assert!(text.contains("const TASK_DONE: u32 = 1u;"));
        text.replace("const TASK_DONE: u32 = 1u;", "const TASK_DONE: u32 = 9u;")
    }));
    let job = jobs().remove(0);
    let (results, summary) = run(&job, vec![Box::new(broken)]);
    assert!(results == run(&job, workers(1, &Arc::default())).0);
    let lost = summary.engines[0].lost.as_deref().expect("the engine is abandoned");
    assert!(lost.contains("status 9"), "{lost}");
}

#[test]
fn cpu_threads_share_a_row() {
    let job = jobs().remove(3);
    let devices = choose(&["cpu".into()]).expect("there is a CPU");
    let summary = job.run(&Run { devices, threads: 3, ..Run::default() }, |_| Ok(())).expect("the job ends well");
    let [cpu] = &summary.engines[..] else { panic!("one row: {:?}", summary.engines) };
    assert_eq!((cpu.name.as_str(), cpu.threads, cpu.pairs, cpu.share), ("cpu", 3, summary.pairs, 1.0));
    assert_eq!(cpu.cells, summary.cells);
    assert!(cpu.batches > 1 && cpu.gcups > 0.0 && cpu.finished_at > 0.0, "{cpu:?}");
    assert!((0.0..=1.0).contains(&summary.imbalance));
}

#[test]
fn all_and_cpu_in_any_order_select_each_device_once() {
    let cpus = |names: &[&str]| {
        let names: Vec<String> = names.iter().map(|name| (*name).into()).collect();
        let devices = choose(&names).expect("they are there");
        (devices.len(), devices.iter().filter(|device| matches!(device, Device::Cpu)).count())
    };
    assert_eq!(cpus(&["all", "cpu"]), cpus(&["all"]));
    assert_eq!(cpus(&["cpu", "all"]), cpus(&["all"]));
    assert_eq!((cpus(&["cpu", "0"]), cpus(&["0", "cpu"]), cpus(&["cpu", "0", "cpu"])), ((2, 1), (2, 1), (2, 1)));
}
