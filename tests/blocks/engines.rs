//! Tests of engines that stay open for several runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use pairwave::engine::owner::{Control, EngineSet, run_set};
use pairwave::engine::sizing::MinWork;
use pairwave::engine::{Capacity, Engine, Ticket};
use pairwave::jobs::AllPairs;
use pairwave::pairs::cpu::CpuWorker;
use pairwave::pairs::mock::{Act, MockEngine};
use pairwave::pairs::{Pairs, PairsBatch, PairsReport};
use pairwave::score::Scoring;
use pairwave::seq::Alphabet;
use pairwave::{Error, Result};

use support::{mixed_store, rng};

/// An engine that counts how many of its kind are open.
struct Counted {
    engine: MockEngine,
    open: Arc<AtomicUsize>,
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.open.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Engine<Pairs> for Counted {
    fn name(&self) -> &str {
        self.engine.name()
    }

    fn capacity(&self) -> Capacity {
        self.engine.capacity()
    }

    fn min_work(&self) -> MinWork {
        self.engine.min_work()
    }

    fn submit(&mut self, batch: Arc<PairsBatch>) -> Result<Ticket> {
        self.engine.submit(batch)
    }

    fn collect(&mut self, ticket: Ticket) -> Result<PairsReport> {
        self.engine.collect(ticket)
    }
}

fn job() -> AllPairs {
    let lengths: Vec<usize> = (0..60).map(|index| 20 + (index * 7) % 60).collect();
    let store = mixed_store(&mut rng(0xc4e3), Alphabet::Dna, &lengths);
    AllPairs { score_only: true, ..AllPairs::new(store, Arc::new(Scoring::truong())) }
}

/// Runs the whole job. Returns the number of pairs and the names of the remaining engines.
fn run(engine_set: &mut EngineSet<Pairs>, reserve: Vec<Box<dyn Engine<Pairs>>>) -> Result<(u64, Vec<String>)> {
    let job = job().job();
    let mut pairs = 0;
    run_set(
        engine_set,
        || reserve,
        job.chunks(u64::MAX, 200),
        job.cells(),
        &Control::default(),
        |outcome| {
            pairs += outcome.pairs;
            Ok(())
        },
    )?;
    Ok((pairs, names(engine_set)))
}

fn names(engine_set: &EngineSet<Pairs>) -> Vec<String> {
    engine_set.engines().map(|engine| engine.name().to_owned()).collect()
}

const ALL: u64 = 60 * 59 / 2;

#[test]
fn engines_stay_open_and_failed_ones_are_closed() {
    let open = Arc::new(AtomicUsize::new(0));
    let engine = |name: &str, script: Vec<Act>| {
        open.fetch_add(1, Ordering::Relaxed);
        let capacity = Capacity { cells: 1 << 20, pairs: 64, store_bytes: u64::MAX, batches: 2 };
        let engine = MockEngine::new(name, capacity, script);
        Box::new(Counted { engine, open: Arc::clone(&open) }) as Box<dyn Engine<Pairs>>
    };
    let mut engine_set =
        EngineSet::new(vec![engine("a", vec![]), engine("b", vec![Act::FailSubmit]), engine("c", vec![])]);
    for _ in 0..3 {
        // The job may end before the failing engine gets a batch.
        let (pairs, names) = run(&mut engine_set, Vec::new()).expect("two are well");
        assert_eq!(pairs, ALL);
        assert_eq!(names.len(), open.load(Ordering::Relaxed));
        assert!(names.starts_with(&["a".to_owned()]) && names.ends_with(&["c".to_owned()]), "{names:?}");
    }
    drop(engine_set);
    assert_eq!(open.load(Ordering::Relaxed), 0);
    // The reserve engine also stays open.
    let mut engine_set = EngineSet::new(vec![engine("lost", vec![Act::Panic])]);
    let reserve = vec![Box::new(CpuWorker::default()) as Box<dyn Engine<Pairs>>];
    assert_eq!(run(&mut engine_set, reserve).expect("the reserve is there"), (ALL, vec!["cpu".into()]));
    assert_eq!(run(&mut engine_set, Vec::new()).expect("it is there"), (ALL, vec!["cpu".into()]));
    let mut engine_set = EngineSet::for_once(vec![engine("once", vec![])]);
    assert_eq!(run(&mut engine_set, Vec::new()).expect("it is well"), (ALL, vec![]));
    assert!(engine_set.is_empty() && open.load(Ordering::Relaxed) == 0);
}

#[test]
fn error_of_the_caller_keeps_the_engines() {
    let capacity = Capacity { cells: 1 << 20, pairs: 64, store_bytes: u64::MAX, batches: 2 };
    let slow = vec![Act::Compute(Duration::from_millis(5)); 4];
    let mut engine_set =
        EngineSet::new(vec![Box::new(MockEngine::new("well", capacity, slow)) as Box<dyn Engine<Pairs>>]);
    let job = job().job();
    let chunks = job.chunks(u64::MAX, 200);
    let error = run_set(&mut engine_set, Vec::new, chunks, job.cells(), &Control::default(), |_| {
        Err(Error::Internal("enough".into()))
    });
    assert!(error.is_err_and(|error| error.to_string().contains("enough")));
    assert_eq!(run(&mut engine_set, Vec::new()).expect("it is well"), (ALL, vec!["well".into()]));
}
