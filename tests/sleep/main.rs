//! Threads that wait for a device sleep. The test has its own program, because it measures the
//! processor time of the whole process. No count shows whether a thread sleeps, so real time is
//! necessary. Processor time is compared with the time that the devices certainly take, and not
//! with the duration of the job, so other programs do not influence the result.
#![cfg(target_os = "linux")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use pairwave::engine::{Capacity, Engine};
use pairwave::jobs::stats::process_cpu_seconds;
use pairwave::jobs::{AllPairs, Job};
use pairwave::pairs::Pairs;
use pairwave::pairs::mock::{Act, MockEngine};
use pairwave::score::Scoring;
use pairwave::seq::Alphabet;

/// Duration of every batch on a device.
const BATCH: Duration = Duration::from_millis(300);

/// Ensures that the measurement detects busy threads.
fn check_that_busy_threads_are_detected() {
    let busy = || process_cpu_seconds().map(|(user, system)| user + system).expect("Linux reports processor time");
    let (begin, before) = (Instant::now(), busy());
    while busy() < before + 0.2 {
        assert!(begin.elapsed() < Duration::from_secs(20), "no processor time was seen in 20 s");
    }
}

#[test]
fn threads_sleep_while_devices_compute() {
    check_that_busy_threads_are_detected();
    let store = support::mixed_store(&mut support::rng(3), Alphabet::Dna, &[9; 24]);
    let job = AllPairs::new(store, Arc::new(Scoring::truong()));
    let capacity = Capacity { cells: 9 * 9 * 100, pairs: u64::MAX, store_bytes: u64::MAX, batches: 2 };
    let slow = || Act::Compute(BATCH);
    // One engine waits for its device, the other one for work that may return.
    let engine = |name: &str| Box::new(MockEngine::new(name, capacity, []).with_last(slow())) as Box<dyn Engine<Pairs>>;
    for engines in [vec![engine("alone")], vec![engine("one"), engine("another")]] {
        let busy = || process_cpu_seconds().map(|(user, system)| user + system).expect("Linux reports processor time");
        let before = busy();
        let summary = job.run_on(engines, &support::two_threads(), |_| Ok(())).expect("the job ends well");
        let busy = busy() - before;
        assert_eq!(summary.written, 24 * 23 / 2);
        assert!(summary.engines.iter().map(|engine| engine.batches).sum::<u64>() >= 3, "{:?}", summary.engines);
        // A thread that polls its device would be busy for all of its batches.
        let batches = summary.engines.iter().map(|engine| engine.batches).max().unwrap_or(0);
        let device_seconds = batches as f64 * BATCH.as_secs_f64();
        assert!(busy < device_seconds / 3.0, "{busy:.2} s busy while a device computed for {device_seconds:.2} s");
    }
}
