//! Tests with ranks that are threads of this process. The rows of the test job are known.

mod cubes;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use self::cubes::{Cubes, Flaws};
use super::wire::mock::thread_wires;
use super::*;
use crate::distributed::dispatch::Rules;
use crate::distributed::{BlockManifest, Directory, PartDestination, PartState};
use crate::error::{Error, Result};
use crate::files::fingerprint::Fingerprint;
use crate::jobs::Run;
use crate::jobs::blocks::Divisible;

/// Writes parts to the directory, and records events.
struct RecordingHandler<'a> {
    directory: &'a Directory,
    finished: Vec<usize>,
    failed: Vec<(Rank, usize)>,
    joined: BTreeSet<Rank>,
}

impl LeadHandler for RecordingHandler<'_> {
    fn rank_joined(&mut self, rank: Rank, member: &RankInfo) {
        assert_eq!(member.host, format!("node{rank}"));
        self.joined.insert(rank);
    }

    fn finished(&mut self, _rank: Rank, finished: FinishedBlock) -> Result<()> {
        self.finished.push(finished.block);
        match finished.part {
            Some(part) => self.directory.put::<Cubes>(finished.block, &part),
            None => Ok(()),
        }
    }

    fn failed(&mut self, rank: Rank, block: usize, error: &str) {
        assert!(error.contains("is too large"), "{error}");
        self.failed.push((rank, block));
    }
}

/// Result of a run.
struct RankRun {
    led: Result<LeadSummary>,
    finished: Vec<usize>,
    failed: Vec<(Rank, usize)>,
    joined: usize,
    computed: Vec<usize>,
    runs: Vec<usize>,
}

const UNITS: u64 = 60;

fn directory(folder: &tempfile::TempDir, cells: u64) -> Directory {
    let blocks = Cubes::new(UNITS, Flaws::default()).cut(cells).unwrap();
    let manifest = BlockManifest::new(vec!["cubes".into()], Fingerprint::default(), cells, blocks).unwrap();
    Directory::create(&folder.path().join("work"), manifest).unwrap()
}

/// Computes the missing blocks with one rank for each element of `ranks`.
fn run(directory: &Directory, ranks: &[Flaws], by_messages: bool) -> RankRun {
    let done: Vec<bool> = directory.states().unwrap().iter().map(PartState::is_done).collect();
    let jobs: Vec<Cubes> = ranks.iter().map(|flaws| Cubes::new(UNITS, flaws.clone())).collect();
    let mut wires = thread_wires(ranks.len());
    let work = |rank: usize| RankWork {
        job: &jobs[rank],
        blocks: &directory.manifest().blocks,
        run: Run { interrupt: Arc::clone(&jobs[rank].interrupt), ..Run::default() },
        results: match by_messages {
            true => PartDestination::Memory(*directory.digest()),
            false => PartDestination::Files(directory),
        },
    };
    let member = |rank| RankInfo { host: format!("node{rank}"), devices: String::new() };
    let mut handler = RecordingHandler { directory, finished: Vec::new(), failed: Vec::new(), joined: BTreeSet::new() };
    let led = std::thread::scope(|scope| {
        for (rank, mut wire) in wires.drain(1..).enumerate() {
            let work = work(rank + 1);
            scope.spawn(move || follow(&mut wire, &work, member(rank + 1)));
        }
        // Copies at the end would start the engines of a rank once more.
        let rules =
            Rules { lease_seconds: 0.05, ahead_seconds: 0.01, copies: ranks[0].patience == 0, ..Rules::default() };
        lead(&mut wires[0], &work(0), &LeadOptions { done: &done, rules }, member(0), &mut handler)
    });
    let count = |of: fn(&Cubes) -> &AtomicUsize| jobs.iter().map(|job| of(job).load(Ordering::SeqCst)).collect();
    let (computed, runs) = (count(|job| &job.computed), count(|job| &job.runs));
    RankRun { led, finished: handler.finished, failed: handler.failed, joined: handler.joined.len(), computed, runs }
}

fn rows(directory: &Directory) -> Result<Vec<u64>> {
    let mut rows = Vec::new();
    directory.merge(&Cubes::new(UNITS, Flaws::default()), &mut |some: &[u64]| {
        rows.extend_from_slice(some);
        Ok(())
    })?;
    Ok(rows)
}

fn slow() -> Flaws {
    Flaws { pause: Duration::from_millis(2), ..Flaws::default() }
}

#[test]
fn rows_do_not_depend_on_the_number_of_ranks() {
    for (ranks, cells, by_messages) in [(1, 7, false), (2, 1, true), (3, 4, false), (5, 2, true), (4, 100, false)] {
        let folder = tempfile::tempdir().unwrap();
        let directory = directory(&folder, cells);
        let ran = run(&directory, &vec![slow(); ranks], by_messages);
        let led = ran.led.unwrap();
        assert!(led.failed_blocks.is_empty() && led.silent.is_empty());
        assert_eq!((ran.joined, led.members.len()), (ranks, ranks));
        let mut finished = ran.finished;
        finished.sort();
        assert_eq!(finished, (0..directory.len()).collect::<Vec<_>>(), "each block once");
        assert_eq!(rows(&directory).unwrap(), Cubes::rows(0..UNITS), "{ranks} ranks, {cells} cells");
        if directory.len() > 10 * ranks {
            assert!(ran.computed.iter().all(|&computed| computed > 0), "{:?}", ran.computed);
        }
        let again = run(&directory, &vec![slow(); ranks], by_messages);
        assert!(again.led.is_ok() && again.finished.is_empty(), "all is done");
    }
}

/// A rank gets its next lease before its engines take the last block of the current one.
#[test]
fn engines_run_on_between_leases() {
    for (ranks, by_messages) in [(1, false), (2, false), (3, true)] {
        let folder = tempfile::tempdir().unwrap();
        let directory = directory(&folder, 1);
        let ran = run(&directory, &vec![Flaws { patience: 1000, ..slow() }; ranks], by_messages);
        let leases = ran.led.unwrap().tally.leases;
        assert_eq!(ran.runs, vec![1; ranks], "{leases} leases");
        assert!(leases as usize > 4 * ranks, "{leases} leases for {ranks} ranks");
        assert_eq!(rows(&directory).unwrap(), Cubes::rows(0..UNITS));
    }
}

#[test]
fn failing_block_is_computed_on_another_rank() {
    let folder = tempfile::tempdir().unwrap();
    let directory = directory(&folder, 2);
    let weak = Flaws { failing: (0..UNITS).step_by(7).collect(), ..slow() };
    let ran = run(&directory, &[weak.clone(), weak, slow()], false);
    assert!(ran.led.unwrap().failed_blocks.is_empty());
    assert!(!ran.failed.is_empty() && ran.failed.iter().all(|(rank, _)| rank.0 < 2), "{:?}", ran.failed);
    assert_eq!(rows(&directory).unwrap(), Cubes::rows(0..UNITS));
}

#[test]
fn only_blocks_that_fail_everywhere_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let directory = directory(&folder, 2);
    let weak = Flaws { failing: BTreeSet::from([9, 40]), ..slow() };
    let ran = run(&directory, &[weak.clone(), weak.clone(), weak], true);
    let led = ran.led.unwrap();
    let blocks: Vec<usize> = led.failed_blocks.iter().map(|(block, _)| *block).collect();
    assert_eq!(blocks, [4, 20]);
    let messages = &led.failed_blocks[0].1;
    assert!(
        (0..3).all(|rank| messages.contains(&format!("rank {rank} on node{rank}: device 'mock': unit 9"))),
        "{messages}"
    );
    assert_eq!(ran.finished.len(), directory.len() - 2);
    let error = rows(&directory).unwrap_err().to_string();
    assert!(error.contains("missing: 4, 20"), "{error}");
    let ran = run(&directory, &[slow(), slow()], true);
    ran.led.unwrap();
    assert_eq!(ran.finished.len(), 2, "only these two are computed again");
    assert_eq!(rows(&directory).unwrap(), Cubes::rows(0..UNITS));
}

#[test]
fn full_disk_ends_the_job_without_loss() {
    for full in 0..2 {
        let folder = tempfile::tempdir().unwrap();
        let directory = directory(&folder, 2);
        let mut ranks = vec![slow(); 3];
        ranks[full].full_at = Some(11);
        ranks[(full + 1) % 3].failing.insert(11);
        ranks[(full + 2) % 3].failing.insert(11);
        let ran = run(&directory, &ranks, false);
        let error = ran.led.unwrap_err();
        assert_eq!(error.exit_code(), 2);
        let text = error.to_string();
        assert!(text.starts_with(&format!("rank {full} on node{full}: blocks: ")), "{text}");
        run(&directory, &vec![slow(); 2], false).led.unwrap();
        assert_eq!(rows(&directory).unwrap(), Cubes::rows(0..UNITS));
    }
}

#[test]
fn interrupt_on_any_rank_stops_all_and_the_job_resumes() {
    for (by_messages, interrupted) in [(false, 0), (true, 0), (false, 2), (true, 1)] {
        let folder = tempfile::tempdir().unwrap();
        let directory = directory(&folder, 1);
        let mut ranks = vec![slow(); 3];
        ranks[interrupted].interrupted_after = Some(3);
        let ran = run(&directory, &ranks, by_messages);
        assert!(matches!(ran.led, Err(Error::Interrupted)));
        let done = directory.states().unwrap().iter().filter(|state| state.is_done()).count();
        assert!(done > 0 && done < directory.len() && done >= ran.finished.len(), "{done} of {:?}", ran.finished);
        let ran = run(&directory, &[slow(), slow()], by_messages);
        assert!(ran.led.is_ok() && ran.finished.len() == directory.len() - done);
        assert_eq!(rows(&directory).unwrap(), Cubes::rows(0..UNITS));
    }
}

#[test]
fn panic_ends_the_job() {
    let folder = tempfile::tempdir().unwrap();
    let directory = directory(&folder, 60);
    let ran = run(&directory, &vec![Flaws { panics_at: Some(31), ..slow() }; 2], false);
    let error = ran.led.unwrap_err().to_string();
    assert!(error.contains("has panicked"), "{error}");
}

#[test]
fn job_runs_without_a_rank_that_cannot_compute() {
    let folder = tempfile::tempdir().unwrap();
    let directory = directory(&folder, 3);
    let job = Cubes::new(UNITS, slow());
    let mut wires = thread_wires(2);
    let mut other = wires.pop().unwrap();
    let work = RankWork {
        job: &job,
        blocks: &directory.manifest().blocks,
        run: Run::default(),
        results: PartDestination::Files(&directory),
    };
    let mut handler =
        RecordingHandler { directory: &directory, finished: Vec::new(), failed: Vec::new(), joined: BTreeSet::new() };
    let done = vec![false; directory.len()];
    std::thread::scope(|scope| {
        scope.spawn(move || wait_after_error(&mut other, &Error::usage("no such file")));
        let member = RankInfo { host: "node0".into(), devices: String::new() };
        lead(&mut wires[0], &work, &LeadOptions { done: &done, rules: Rules::default() }, member, &mut handler)
            .unwrap();
    });
    assert_eq!(handler.joined.len(), 1);
    assert_eq!(rows(&directory).unwrap(), Cubes::rows(0..UNITS));
}

#[test]
fn broadcast_reaches_all_ranks() {
    let heard: Vec<Vec<u8>> = std::thread::scope(|scope| {
        let threads = thread_wires(3).into_iter().map(|mut wire| {
            scope.spawn(move || {
                let given = if wire.rank() == LEAD { b"begin".to_vec() } else { Vec::new() };
                assert_eq!(wire.neighbours(vec![7]), (0, vec![vec![7]]));
                wire.broadcast(given)
            })
        });
        let threads: Vec<_> = threads.collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(heard, vec![b"begin".to_vec(); 3]);
}
