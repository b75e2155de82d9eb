//! Threads that wait for a device sleep. The test has its own program, because it measures the
//! processor time of the whole process.
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
    let slow = || Act::Compute(Duration::from_millis(300));
    // One engine waits for its device, the other one for work that may return.
    let engine = |name: &str| Box::new(MockEngine::new(name, capacity, []).with_last(slow())) as Box<dyn Engine<Pairs>>;
    for engines in [vec![engine("alone")], vec![engine("one"), engine("another")]] {
        let busy = || process_cpu_seconds().map(|(user, system)| user + system).expect("Linux reports processor time");
        let (begin, before) = (Instant::now(), busy());
        let summary = job.run_on(engines, &support::two_threads(), |_| Ok(())).expect("the job ends well");
        let (wall, busy) = (begin.elapsed().as_secs_f64(), busy() - before);
        assert_eq!(summary.written, 24 * 23 / 2);
        assert!(wall > 0.6, "{wall:.2} s");
        assert!(busy < 0.2 * wall, "{busy:.2} s busy in {wall:.2} s");
    }
}
