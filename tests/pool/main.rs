//! Jobs use their own threads. A caller that is itself a thread of the process-wide pool does not
//! block a job, and neither do other users of that pool.

use std::sync::{Arc, mpsc};
use std::time::Duration;

use pairwave::edit::plan::Against;
use pairwave::edit::{Candidate, Region};
use pairwave::gpu::adapter::Device;
use pairwave::jobs::{AllPairs, EditDistances, EditFilter, Job, Run};
use pairwave::score::{EditMode, EditScheme, Equality, Limit, Scoring};
use pairwave::seq::Alphabet;
use support::*;

/// Longer than any test machine needs.
const LONG: Duration = Duration::from_secs(120);

/// Runs every job and returns the number of pairs that each one reports.
fn run_all(device: Device) -> Vec<u64> {
    let lengths: Vec<usize> = (0..40).map(|index| 20 + (index * 7) % 60).collect();
    let store = mixed_store(&mut rng(0x9001), Alphabet::Dna, &lengths);
    let run = Run { devices: vec![device], threads: 2, ..Run::default() };
    let candidate = |pattern: u32| {
        let text = (pattern + 1) % store.len() as u32;
        Candidate { pattern, region: Region { text, start: 1, end: store.length(text) } }
    };
    let candidates = Arc::new((0..store.len() as u32).map(candidate).collect());
    let mut written = Vec::new();
    for against in
        [Against::Later, Against::Texts(Arc::clone(&store)), Against::Candidates(Arc::clone(&store), candidates)]
    {
        let scheme =
            EditScheme { mode: EditMode::Infix, equality: Equality::literal(Alphabet::Dna), limit: Limit::None };
        let job = EditDistances { align: true, ..EditDistances::new(Arc::clone(&store), against, Arc::new(scheme)) };
        written.push(job.run(&run, |_| Ok(())).expect("the job ends well").written);
    }
    let prefiltered = AllPairs {
        edit_filter: EditFilter::On,
        min_identity: Some(0.8),
        ..AllPairs::new(Arc::clone(&store), Arc::new(Scoring::truong()))
    };
    written.push(prefiltered.run(&run, |_| Ok(())).expect("the job ends well").written);
    written
}

/// A single test, because a process has only one such pool.
#[test]
fn jobs_do_not_use_the_process_wide_pool() {
    rayon::ThreadPoolBuilder::new().num_threads(1).build_global().expect("the pool is unused");
    let devices = || [Device::Cpu, Device::Adapter(Box::new(adapter()))];
    let expected = vec![780, 1600, 40];
    // The caller is the only thread of the pool.
    for device in devices() {
        let (sender, done) = mpsc::channel();
        rayon::spawn(move || _ = sender.send(run_all(device)));
        let written = done.recv_timeout(LONG).expect("jobs on a thread of the pool end");
        assert_eq!(written[..3], expected);
    }
    // The only thread of the pool is busy forever.
    rayon::spawn(|| {
        loop {
            std::thread::park();
        }
    });
    for device in devices() {
        let (sender, done) = mpsc::channel();
        std::thread::spawn(move || _ = sender.send(run_all(device)));
        let written = done.recv_timeout(LONG).expect("jobs next to a busy pool end");
        assert_eq!(written[..3], expected);
    }
}
