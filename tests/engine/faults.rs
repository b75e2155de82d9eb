//! Engines that fail in every way. Other engines compute their work, each pair once, and there is
//! one warning. If no engine is left, the job ends with an error and does not hang.

use std::sync::Arc;
use std::time::Duration;

use pairwave::Error;
use pairwave::engine::owner::{self, Control};
use pairwave::engine::sizing::MinWork;
use pairwave::engine::{Capacity, Engine, Ticket};
use pairwave::gpu::adapter::{Device, FeignedFailure, FoundAdapter};
use pairwave::jobs::{AllPairs, Job, PairResult, Run, Summary};
use pairwave::pairs::Pairs;
use pairwave::pairs::cpu::CpuWorker;
use pairwave::pairs::mock::{Act, Gate, MockEngine, ReportFault};
use pairwave::pairs::plan::PlannedChunk;
use pairwave::pairs::{PairsBatch, PairsReport};
use pairwave::score::Scoring;
use pairwave::seq::Alphabet;
use support::*;

use super::every_job::{every_job, every_job_in_blocks, names, run_with};

const FINE: Act = Act::Compute(Duration::ZERO);
/// Patience in tests of silent devices. The first batch may take four times as long. Other tests
/// use half a minute, so that a device on a loaded machine does not count as silent.
const PATIENCE: Duration = Duration::from_millis(250);

fn all_aligned() -> AllPairs {
    let lengths: Vec<usize> = (0..40).map(|index| 5 + (index * 7) % 60).collect();
    let store = mixed_store(&mut rng(0xfa), Alphabet::Dna, &lengths);
    AllPairs { check: true, ..AllPairs::new(store, Arc::new(Scoring::truong())) }
}

/// Returns jobs that request scores, pairs above an identity, and all alignments.
fn jobs() -> [AllPairs; 3] {
    let aligned = all_aligned();
    [
        AllPairs { score_only: true, check: false, ..aligned.clone() },
        AllPairs { min_identity: Some(0.4), ..aligned.clone() },
        aligned,
    ]
}

fn capacity(cells: u64) -> Capacity {
    Capacity { cells, pairs: 64, store_bytes: u64::MAX, batches: 2 }
}

fn mock(name: &str, script: impl IntoIterator<Item = Act>) -> MockEngine {
    MockEngine::new(name, capacity(8_000), script)
}

fn run(job: &AllPairs, engines: Vec<Box<dyn Engine<Pairs>>>) -> Result<(Vec<PairResult>, Summary), Error> {
    run_for(job, engines, None)
}

fn run_for(
    job: &AllPairs,
    engines: Vec<Box<dyn Engine<Pairs>>>,
    patience: Option<Duration>,
) -> Result<(Vec<PairResult>, Summary), Error> {
    run_on(job, engines, &Run { patience, ..two_threads() })
}

fn expected(job: &AllPairs) -> Vec<PairResult> {
    run(job, vec![Box::new(mock("well", []))]).expect("the job ends well").0
}

/// An engine that waits until another one has reached the end of its script, so that it does not
/// compute all work before.
struct Meeting {
    engine: Box<dyn Engine<Pairs>>,
    gate: Gate,
    /// Number of submissions after which the gate opens; `None` for the waiting engine.
    opens_after: Option<usize>,
}

impl Meeting {
    fn opening(engine: impl Engine<Pairs> + 'static, gate: &Gate, lines: usize) -> Box<dyn Engine<Pairs>> {
        Box::new(Meeting { engine: Box::new(engine), gate: gate.clone(), opens_after: Some(lines) })
    }

    fn waiting(engine: impl Engine<Pairs> + 'static, gate: &Gate) -> Box<dyn Engine<Pairs>> {
        Box::new(Meeting { engine: Box::new(engine), gate: gate.clone(), opens_after: None })
    }
}

impl Drop for Meeting {
    fn drop(&mut self) {
        // No engine may wait for a lost engine, regardless of how it was lost.
        if self.opens_after.is_some() {
            self.gate.open();
        }
    }
}

impl Engine<Pairs> for Meeting {
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
        self.engine.capacity()
    }
    fn submit(&mut self, batch: Arc<PairsBatch>) -> pairwave::Result<Ticket> {
        match &mut self.opens_after {
            None => self.gate.wait(),
            Some(left) => {
                *left = left.saturating_sub(1);
                if *left == 0 {
                    self.gate.open();
                }
            }
        }
        self.engine.submit(batch)
    }
    fn collect(&mut self, ticket: Ticket) -> pairwave::Result<PairsReport> {
        self.engine.collect(ticket)
    }
}

/// Runs jobs on a faulty engine alone, together with another engine, and together with the CPU.
/// Fails unless the results are correct, the engine is lost exactly if `is_lost`, and a loss causes
/// exactly one warning.
fn faulty(name: &str, is_lost: bool, script: impl Fn() -> Vec<Act>) {
    faulty_in(&["scores", "filter", "alignments"], None, name, is_lost, script);
}

fn faulty_in(which: &[&str], patience: Option<Duration>, name: &str, is_lost: bool, script: impl Fn() -> Vec<Act>) {
    warnings::record("warn");
    let jobs = jobs();
    let named = jobs.iter().zip(["scores", "filter", "alignments"]);
    for (job, what) in named.filter(|(_, what)| which.contains(what)) {
        let expected = expected(job);
        for others in ["alone", "next to another", "next to the cpu"] {
            let name = format!("{name} {what} {others}");
            let gate = Gate::default();
            let mut engines = vec![Meeting::opening(mock(&name, script()), &gate, script().len())];
            match others {
                "next to another" => engines.push(Meeting::waiting(mock("another", []), &gate)),
                "next to the cpu" => {
                    engines.extend((0..2).map(|_| Meeting::waiting(CpuWorker::default(), &gate)));
                }
                _ => {}
            }
            let (results, summary) = run_for(job, engines, patience).expect("the job ends well");
            assert!(results == expected, "{name}: other results");
            assert_eq!(summary.engines.iter().map(|engine| engine.pairs).sum::<u64>(), summary.pairs, "{name}");
            assert_eq!(summary.engines[0].lost.is_some(), is_lost, "{name}: {:?}", summary.engines);
            assert!(summary.engines[1..].iter().all(|engine| engine.lost.is_none()), "{name}");
            let lines = warnings::lines_with(&name);
            let losses = lines.iter().filter(|line| line.contains("other engines take over its work")).count();
            assert_eq!(losses, usize::from(is_lost), "{name}: {lines:?}");
            assert!(!is_lost || lines.len() == 1, "{name}: {lines:?}");
        }
    }
}

#[test]
fn engine_lost_at_submission_is_replaced() {
    faulty("lost at submission", true, || vec![Act::FailSubmit]);
    faulty("lost at submission later", true, || vec![FINE, Act::FailSubmit]);
}

#[test]
fn engine_out_of_memory_is_replaced() {
    faulty("out of memory", true, || vec![Act::OutOfMemory]);
}

#[test]
fn engine_lost_at_collection_is_replaced() {
    faulty("lost at collection", true, || vec![Act::FailCollect]);
    faulty("lost at collection later", true, || vec![FINE, Act::FailCollect]);
}

#[test]
fn panicking_engine_is_replaced() {
    faulty("panics", true, || vec![Act::Panic]);
}

#[test]
fn unfinished_blocks_and_refused_batches_go_to_the_cpu() {
    faulty("leaves all", false, || vec![Act::LeaveEvery(1)]);
    faulty("leaves some", false, || vec![FINE, Act::LeaveEvery(3)]);
    faulty("refuses", false, || vec![Act::Refuse, FINE, Act::Refuse]);
}

#[test]
fn silent_engine_is_replaced() {
    // The gate stays closed while the job runs, so the threads are left behind.
    let gate = Gate::default();
    faulty_in(&["alignments"], Some(PATIENCE), "hangs", true, || vec![Act::Hang(gate.clone())]);
    let all = ["scores", "filter", "alignments"];
    faulty_in(&all, Some(PATIENCE), "hangs later", true, || vec![FINE, Act::Hang(gate.clone())]);
    gate.open();
}

#[test]
fn engine_with_an_invalid_report_is_replaced() {
    for wrong in
        [ReportFault::Stranger, ReportFault::Twice, ReportFault::Missing, ReportFault::Alignment, ReportFault::Block]
    {
        let all = ["scores", "alignments"];
        faulty_in(&all, None, &format!("wrong {wrong:?} at once"), true, || vec![Act::Wrong(wrong)]);
        // With a filter, a batch may have no result that could be wrong, and a missing result
        // cannot be detected.
        let engine = mock("wrong with a filter", []).with_last(Act::Wrong(wrong));
        let job = &jobs()[1];
        let (results, summary) = run(job, vec![Box::new(engine)]).expect("the job ends well");
        assert_eq!(summary.engines[0].lost.is_some(), wrong != ReportFault::Missing, "{wrong:?}");
        assert!(results == expected(job) || wrong == ReportFault::Missing, "{wrong:?}");
    }
}

/// A caller that takes longer than the patience does not cause an engine to be lost.
#[test]
fn slow_caller_does_not_cause_lost_engines() {
    let engines: Vec<Box<dyn Engine<Pairs>>> =
        vec![Box::new(mock("slow caller 1", [])), Box::new(mock("slow caller 2", []))];
    let control = Control { patience: Some(PATIENCE), ..Control::default() };
    let (job, mut pairs, mut calls) = (all_aligned().job(), 0, 0);
    let ran = owner::run(engines, Vec::new, job.chunks(u64::MAX, u64::MAX), job.cells(), &control, |outcome| {
        calls += 1;
        if calls < 4 {
            std::thread::sleep(2 * PATIENCE);
        }
        pairs += outcome.pairs;
        Ok(())
    });
    let ran = ran.expect("the job ends well");
    assert_eq!((pairs, calls > 8), (job.pairs(), true));
    assert!(ran.engines.iter().all(|engine| engine.lost.is_none()), "{:?}", ran.engines);
}

/// Reports of an abandoned engine are ignored, even while the job still runs.
#[test]
fn late_answer_of_an_abandoned_engine_is_ignored() {
    let (job, begun, late) = (all_aligned(), Gate::default(), Gate::default());
    let engine = Meeting::opening(mock("late", [Act::Hang(late.clone())]), &begun, 1);
    // The first batch of this engine lasts until the other engine's answer has arrived.
    let delay = Act::Compute(8 * PATIENCE);
    let other = Meeting::waiting(mock("patient", [delay]).with_real_speed(1e9), &begun);
    let opener = std::thread::spawn({
        let late = late.clone();
        move || {
            begun.wait();
            std::thread::sleep(6 * PATIENCE);
            late.open();
        }
    });
    struct Universal(Box<dyn Engine<Pairs>>);
    impl Engine<Pairs> for Universal {
        fn name(&self) -> &str {
            self.0.name()
        }
        fn universal(&self) -> bool {
            // A universal engine is never abandoned, so it may be slow.
            true
        }
        fn capacity(&self) -> Capacity {
            self.0.capacity()
        }
        fn submit(&mut self, batch: Arc<PairsBatch>) -> pairwave::Result<Ticket> {
            self.0.submit(batch)
        }
        fn collect(&mut self, ticket: Ticket) -> pairwave::Result<PairsReport> {
            self.0.collect(ticket)
        }
    }
    let (results, summary) =
        run_for(&job, vec![engine, Box::new(Universal(other))], Some(PATIENCE)).expect("the job ends well");
    opener.join().expect("the thread ends");
    assert!(results == expected(&job));
    assert_eq!((summary.engines[0].pairs, summary.engines[1].pairs), (0, summary.pairs));
    assert!(summary.engines[0].lost.as_deref().is_some_and(|why| why.starts_with("no answer for ")));
}

#[test]
fn reserve_replaces_engines_that_all_panic() {
    let job = all_aligned();
    // One batch is the whole job.
    let whole = MockEngine::new("whole", Capacity { pairs: u64::MAX, ..capacity(u64::MAX) }, [Act::Panic]);
    let (results, summary) = run(&job, vec![Box::new(whole)]).expect("the reserve computes the job");
    assert!(results == expected(&job));
    assert_eq!((summary.engines[0].batches, summary.engines[1].name.as_str()), (0, "cpu"));

    let names = ["all 1", "all 2", "all 3"];
    let all = names.map(|name| Box::new(mock(name, []).with_last(Act::Panic)) as Box<dyn Engine<Pairs>>);
    let (results, summary) = run(&job, all.into()).expect("the reserve computes the job");
    assert!(results == expected(&job));
    assert_eq!((summary.engines[3].name.as_str(), summary.engines[3].pairs), ("cpu", summary.pairs));
    assert_eq!(summary.engines[3].threads, 2);
}

/// Runs a queue on engines and a reserve.
fn run_queue(
    engines: Vec<Box<dyn Engine<Pairs>>>,
    reserve: Vec<Box<dyn Engine<Pairs>>>,
    chunks: impl Iterator<Item = PlannedChunk> + Send + 'static,
) -> Result<u64, Error> {
    let control = Control { patience: Some(PATIENCE), ..Control::default() };
    let mut pairs = 0;
    owner::run(
        engines,
        || reserve,
        chunks,
        all_aligned().job().cells(),
        &control,
        |outcome| {
            pairs += outcome.pairs;
            Ok(())
        },
    )?;
    Ok(pairs)
}

#[test]
fn job_ends_with_an_error_if_the_reserve_fails_too() {
    let panicking = |name: &str| Box::new(mock(name, []).with_last(Act::Panic)) as Box<dyn Engine<Pairs>>;
    let chunks = || all_aligned().job().chunks(u64::MAX, u64::MAX);
    for reserve in [vec![panicking("second")], vec![panicking("second"), panicking("third")], Vec::new()] {
        let error = run_queue(vec![panicking("first")], reserve, chunks()).expect_err("no engine is left");
        assert_eq!(error.to_string(), "internal error: no engine is left: panicked: panicked by script");
    }
    // A job also ends if all its engines hang, including the reserve.
    let gate = Gate::default();
    let hanging = |name: &str| Box::new(mock(name, [Act::Hang(gate.clone())])) as Box<dyn Engine<Pairs>>;
    let error = run_queue(vec![hanging("first")], vec![hanging("second")], chunks()).expect_err("no engine is left");
    assert!(error.to_string().contains("no answer for"), "{error}");
    gate.open();
    // The work needs an engine that accepts every batch, and there is none.
    let refusing = || Box::new(mock("refusing", []).with_last(Act::Refuse)) as Box<dyn Engine<Pairs>>;
    run_queue(vec![refusing()], vec![refusing()], chunks()).expect_err("no engine accepts it");
}

/// A panic during planning must neither hang the job nor lose pairs silently.
#[test]
fn panic_during_planning_is_an_error() {
    let engines = || ["first", "second"].map(|name| Box::new(mock(name, [])) as Box<dyn Engine<Pairs>>).into();
    let chunks = || all_aligned().job().chunks(1, u64::MAX);
    assert_eq!(run_queue(engines(), Vec::new(), chunks()).expect("the job ends well"), 40 * 39 / 2);
    let broken = chunks().enumerate().map(|(index, chunk)| if index == 3 { panic!("no plan") } else { chunk });
    let error = run_queue(engines(), vec![Box::new(CpuWorker::default())], broken).expect_err("pairs are missing");
    assert!(error.to_string().contains("no plan"), "{error}");
}

#[test]
fn interrupt_does_not_wait_for_a_hanging_engine() {
    let gate = Gate::default();
    let run = Run { patience: Some(Duration::from_secs(3600)), threads: 1, ..Run::default() };
    let engine = mock("endless", [Act::Hang(gate.clone())]);
    let interrupt = Arc::clone(&run.interrupt);
    let setter = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(100));
        interrupt.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    let error = all_aligned().run_on(vec![Box::new(engine)], &run, |_| Ok(())).expect_err("interrupted");
    assert!(matches!(error, Error::Interrupted), "{error}");
    setter.join().expect("the thread ends");
    gate.open();
}

fn failing(failure: FeignedFailure) -> Run {
    run_with(Device::Adapter(Box::new(FoundAdapter { failure: Some(failure), ..adapter() })))
}

/// A device cannot be opened, or it is lost before its first batch or later. The rows equal those
/// of the CPU. If the device cannot be opened, the list of engines, including the filter, also
/// equals that of a job on the CPU.
#[test]
fn every_job_computes_the_same_rows_without_a_failing_device() {
    for (name, job) in every_job() {
        let expected = job(&run_with(Device::Cpu));
        assert_eq!(job(&failing(FeignedFailure::AtOpen)), expected, "{name}: a device that cannot be opened");
        for checks in [0, 8] {
            let actual = job(&failing(FeignedFailure::AfterChecks(checks)));
            assert_eq!(actual.0, expected.0, "{name}: a device that is lost after {checks} checks");
        }
    }
}

/// A device fails when a session opens it, or in one of the session's blocks. The commands `plan`
/// and `run` and the ranks of a distributed job use sessions.
#[test]
fn sessions_continue_without_a_failing_device() {
    for failure in [FeignedFailure::AtOpen, FeignedFailure::AfterChecks(0), FeignedFailure::AfterChecks(12)] {
        for (name, job) in every_job_in_blocks() {
            eprintln!("{name}, {failure:?}");
            job(&failing(failure));
        }
    }
}

/// When a job loses its GPUs, it decides again whether the CPU filters pairs: at the start, and for
/// the pairs that a lost GPU leaves.
#[test]
fn cpu_filter_runs_when_a_device_fails() {
    // Enough cells for a filter on the CPU.
    let genes = mixed_store(&mut rng(3), Alphabet::Dna, &[230; 300]);
    let job = AllPairs { min_identity: Some(0.9), ..AllPairs::new(genes, Arc::new(Scoring::dna())) };
    assert!(job.cells() > 2_000_000_000);
    let run = |failure| {
        let mut rows = Vec::new();
        let summary = job.run(&failing(failure), |some| {
            rows.extend_from_slice(some);
            Ok(())
        });
        (rows, summary.unwrap_or_else(|error| panic!("{error}")))
    };
    let (rows, summary) = run(FeignedFailure::AtOpen);
    let is_filter = |name: &String| name == "cpu (edit distances)";
    assert!(names(&summary).iter().any(is_filter), "{:?}", names(&summary));
    let scored: u64 = summary.engines.iter().filter(|engine| engine.name == "cpu").map(|engine| engine.pairs).sum();
    assert!(scored < summary.pairs / 10, "{scored} of {} pairs were scored", summary.pairs);
    assert_eq!(run(FeignedFailure::AfterChecks(0)).0, rows);
}
