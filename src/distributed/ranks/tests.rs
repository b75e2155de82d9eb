//! Ranks that are threads of this process, with a job whose rows are known.

mod cubes;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use self::cubes::{Cubes, Flaws};
use super::wire::mock::threads;
use super::*;
use crate::distributed::dispatch::Rules;
use crate::distributed::{Directory, Manifest, PartState};
use crate::error::{Error, Result};
use crate::files::fingerprint::Fingerprint;
use crate::jobs::Run;
use crate::jobs::blocks::Divisible;

/// Writes what comes, and remembers what failed.
struct Written<'a> {
    directory: &'a Directory,
    finished: Vec<usize>,
    failed: Vec<(usize, usize)>,
    joined: BTreeSet<usize>,
}

impl Book for Written<'_> {
    fn joined(&mut self, rank: usize, member: &Member) {
        assert_eq!(member.host, format!("node{rank}"));
        self.joined.insert(rank);
    }

    fn finished(&mut self, _rank: usize, finished: Finished) -> Result<()> {
        self.finished.push(finished.block);
        match finished.part {
            Some(part) => self.directory.put::<Cubes>(finished.block, &part),
            None => Ok(()),
        }
    }

    fn failed(&mut self, rank: usize, block: usize, error: &str) {
        assert!(error.contains("is too much"), "{error}");
        self.failed.push((rank, block));
    }
}

/// What came of a run.
struct Ran {
    led: Result<Led>,
    finished: Vec<usize>,
    failed: Vec<(usize, usize)>,
    joined: usize,
    computed: Vec<usize>,
    runs: Vec<usize>,
}

const UNITS: u64 = 60;

fn directory(folder: &tempfile::TempDir, cells: u64) -> Directory {
    let blocks = Cubes::new(UNITS, Flaws::default()).cut(cells).unwrap();
    let manifest = Manifest::new(vec!["cubes".into()], Fingerprint::default(), cells, blocks).unwrap();
    Directory::create(&folder.path().join("work"), manifest).unwrap()
}

/// Runs what is not done with a rank for each of these.
fn run(directory: &Directory, ranks: &[Flaws], by_messages: bool) -> Ran {
    let done: Vec<bool> = directory.states().unwrap().iter().map(PartState::is_done).collect();
    let jobs: Vec<Cubes> = ranks.iter().map(|flaws| Cubes::new(UNITS, flaws.clone())).collect();
    let mut wires = threads(ranks.len());
    let work = |rank: usize| Work {
        job: &jobs[rank],
        blocks: &directory.manifest().blocks,
        run: Run { interrupt: Arc::clone(&jobs[rank].interrupt), ..Run::default() },
        results: match by_messages {
            true => Results::Messages(*directory.digest()),
            false => Results::Files(directory),
        },
    };
    let member = |rank| Member { host: format!("node{rank}"), devices: String::new() };
    let mut book = Written { directory, finished: Vec::new(), failed: Vec::new(), joined: BTreeSet::new() };
    let led = std::thread::scope(|scope| {
        for (rank, mut wire) in wires.drain(1..).enumerate() {
            let work = work(rank + 1);
            scope.spawn(move || follow(&mut wire, &work, member(rank + 1)));
        }
        // Who gets a copy at the end begins once more.
        let rules =
            Rules { lease_seconds: 0.05, ahead_seconds: 0.01, copies: ranks[0].patience == 0, ..Rules::default() };
        lead(&mut wires[0], &work(0), &Leader { done: &done, rules }, member(0), &mut book)
    });
    let count = |of: fn(&Cubes) -> &AtomicUsize| jobs.iter().map(|job| of(job).load(Ordering::SeqCst)).collect();
    let (computed, runs) = (count(|job| &job.computed), count(|job| &job.runs));
    Ran { led, finished: book.finished, failed: book.failed, joined: book.joined.len(), computed, runs }
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
fn rows_are_the_same_however_many_ranks_there_are() {
    for (ranks, cells, by_messages) in [(1, 7, false), (2, 1, true), (3, 4, false), (5, 2, true), (4, 100, false)] {
        let folder = tempfile::tempdir().unwrap();
        let directory = directory(&folder, cells);
        let ran = run(&directory, &vec![slow(); ranks], by_messages);
        let led = ran.led.unwrap();
        assert!(led.given_up.is_empty() && led.silent.is_empty());
        assert_eq!((ran.joined, led.members.len()), (ranks, ranks));
        let mut finished = ran.finished;
        finished.sort();
        assert_eq!(finished, (0..directory.len()).collect::<Vec<_>>(), "each once");
        assert_eq!(rows(&directory).unwrap(), Cubes::rows(0..UNITS), "{ranks} ranks, {cells} cells");
        if directory.len() > 10 * ranks {
            assert!(ran.computed.iter().all(|&computed| computed > 0), "{:?}", ran.computed);
        }
        let again = run(&directory, &vec![slow(); ranks], by_messages);
        assert!(again.led.is_ok() && again.finished.is_empty(), "all is done");
    }
}

/// The next lease is there before engines have begun the last block of the one before it.
#[test]
fn engines_do_not_stop_between_leases() {
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
fn a_block_that_fails_here_is_computed_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    let directory = directory(&folder, 2);
    let weak = Flaws { failing: (0..UNITS).step_by(7).collect(), ..slow() };
    let ran = run(&directory, &[weak.clone(), weak, slow()], false);
    assert!(ran.led.unwrap().given_up.is_empty());
    assert!(!ran.failed.is_empty() && ran.failed.iter().all(|(rank, _)| *rank < 2), "{:?}", ran.failed);
    assert_eq!(rows(&directory).unwrap(), Cubes::rows(0..UNITS));
}

#[test]
fn only_what_fails_everywhere_is_given_up_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let directory = directory(&folder, 2);
    let weak = Flaws { failing: BTreeSet::from([9, 40]), ..slow() };
    let ran = run(&directory, &[weak.clone(), weak.clone(), weak], true);
    let led = ran.led.unwrap();
    let blocks: Vec<usize> = led.given_up.iter().map(|(block, _)| *block).collect();
    assert_eq!(blocks, [4, 20]);
    let said = &led.given_up[0].1;
    assert!((0..3).all(|rank| said.contains(&format!("rank {rank} on node{rank}: device 'mock': unit 9"))), "{said}");
    assert_eq!(ran.finished.len(), directory.len() - 2);
    let error = rows(&directory).unwrap_err().to_string();
    assert!(error.contains("missing: 4, 20"), "{error}");
    let ran = run(&directory, &[slow(), slow()], true);
    ran.led.unwrap();
    assert_eq!(ran.finished.len(), 2, "only these two are computed again");
    assert_eq!(rows(&directory).unwrap(), Cubes::rows(0..UNITS));
}

#[test]
fn no_room_ends_the_job_and_loses_nothing() {
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
fn who_is_interrupted_stops_all_and_the_next_run_goes_on() {
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
fn a_panic_ends_the_job() {
    let folder = tempfile::tempdir().unwrap();
    let directory = directory(&folder, 60);
    let ran = run(&directory, &vec![Flaws { panics_at: Some(31), ..slow() }; 2], false);
    let error = ran.led.unwrap_err().to_string();
    assert!(error.contains("has panicked"), "{error}");
}

#[test]
fn a_rank_that_lacks_something_is_no_loss() {
    let folder = tempfile::tempdir().unwrap();
    let directory = directory(&folder, 3);
    let job = Cubes::new(UNITS, slow());
    let mut wires = threads(2);
    let mut other = wires.pop().unwrap();
    let work = Work {
        job: &job,
        blocks: &directory.manifest().blocks,
        run: Run::default(),
        results: Results::Files(&directory),
    };
    let mut book = Written { directory: &directory, finished: Vec::new(), failed: Vec::new(), joined: BTreeSet::new() };
    let done = vec![false; directory.len()];
    std::thread::scope(|scope| {
        scope.spawn(move || stand_by(&mut other, &Error::usage("no such file")));
        let member = Member { host: "node0".into(), devices: String::new() };
        lead(&mut wires[0], &work, &Leader { done: &done, rules: Rules::default() }, member, &mut book).unwrap();
    });
    assert_eq!(book.joined.len(), 1);
    assert_eq!(rows(&directory).unwrap(), Cubes::rows(0..UNITS));
}

#[test]
fn all_hear_what_the_first_says() {
    let heard: Vec<Vec<u8>> = std::thread::scope(|scope| {
        let told = threads(3).into_iter().map(|mut wire| {
            scope.spawn(move || {
                let given = if wire.rank() == LEAD { b"begin".to_vec() } else { Vec::new() };
                assert_eq!(wire.neighbours(vec![7]), (0, vec![vec![7]]));
                wire.broadcast(given)
            })
        });
        let told: Vec<_> = told.collect();
        told.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(heard, vec![b"begin".to_vec(); 3]);
}
