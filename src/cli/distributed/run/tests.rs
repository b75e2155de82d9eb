//! Tests of blocks that fail.

use super::*;
use pairwave::distributed::BlockManifest;
use pairwave::jobs::{Feed, Fingerprint, Job, SessionStart};
use std::sync::atomic::{AtomicU64, Ordering};

/// Job with one row per unit. Some units fail.
#[derive(Default)]
struct Units {
    failing: BTreeSet<u64>,
    computed: AtomicU64,
}

const UNITS: u64 = 12;

impl Job for Units {
    type Row = u64;
    type Summary = Summary;
    type Engines = ();
    type Session = ();

    fn validate(&self) -> Result<()> {
        Ok(())
    }

    fn whole_block(&self, (): &()) -> Block {
        Block { units: 0..UNITS, targets: None, pairs: UNITS, cells: UNITS }
    }

    fn open(&self, _start: SessionStart<()>, _run: &Run) -> Result<()> {
        Ok(())
    }

    fn feed(&self, Feed { source, run, sink }: Feed<'_, u64>, (): &mut ()) -> Result<Summary> {
        let blocks = source.take_all();
        for block in &blocks {
            let unit = block.units.start;
            if self.failing.contains(&unit) {
                return Err(Error::Device { device: "mock".into(), message: format!("unit {unit} is too much") });
            }
            self.computed.fetch_add(1, Ordering::Relaxed);
            run.progress.advance(1, 0);
            sink.rows(&[unit])?;
            sink.end()?;
        }
        Ok(Summary { pairs: blocks.len() as u64, ..Summary::default() })
    }
}

impl Divisible for Units {
    fn cut(&self, _cells: u64) -> Result<Vec<Block>> {
        let block = |unit| Block { units: unit..unit + 1, targets: None, pairs: 1, cells: 1 };
        Ok((0..UNITS).map(block).collect())
    }

    fn part_bytes(&self, _block: &Block) -> u64 {
        1
    }

    fn encode(row: &u64, bytes: &mut Vec<u8>) {
        bytes.push(*row as u8);
    }

    fn decode(bytes: &mut &[u8]) -> Option<u64> {
        let (&row, rest) = bytes.split_first()?;
        *bytes = rest;
        Some(row.into())
    }

    fn join(&self, _rows: &mut Vec<u64>) {}
}

fn directory(folder: &tempfile::TempDir) -> Directory {
    let blocks = Units::default().cut(1).unwrap();
    Directory::create(
        &folder.path().join("work"),
        BlockManifest::new(vec!["units".into()], Fingerprint::default(), 1, blocks).unwrap(),
    )
    .unwrap()
}

/// Runs the remaining blocks. Returns their order, the failed blocks and the number of computed
/// blocks.
fn run(directory: &Directory, failing: &[u64], which: &BlockSelection) -> (Vec<usize>, Vec<usize>, u64) {
    let job = Units { failing: failing.iter().copied().collect(), ..Units::default() };
    let wanted = blocks_to_compute::<Units>(directory, which).unwrap();
    let order: Vec<usize> = wanted.iter().copied().collect();
    let run = Run::default();
    let bar = BlockBar::new(Arc::clone(&run.progress));
    let mut work = BlockRun::new(directory, wanted, which, bar);
    work.run(&job, &run).unwrap();
    (order, work.failed.iter().map(|(block, _)| *block).collect(), job.computed.load(Ordering::Relaxed))
}

#[test]
fn failed_blocks_are_recorded_and_retried() {
    let folder = tempfile::tempdir().unwrap();
    let directory = directory(&folder);
    let all = BlockSelection::Several(0, UNITS as usize - 1);
    let (_, failed, computed) = run(&directory, &[3, 7], &all);
    assert_eq!((failed, computed), (vec![3, 7], 10), "the others are computed, each once");
    let noted = directory.journal().unwrap().into_iter().filter_map(|entry| match entry.event {
        JournalEvent::Failed { block, error } => Some((block, error)),
        _ => None,
    });
    let noted: Vec<(usize, String)> = noted.collect();
    assert!(noted.len() == 2 && noted[1].0 == 7 && noted[1].1.contains("unit 7 is too much"), "{noted:?}");
    assert_eq!(directory.check_done().unwrap_err().exit_code(), 2);
    // The next run succeeds.
    let (_, failed, computed) = run(&directory, &[7], &all);
    assert_eq!((failed, computed), (vec![7], 1));
    let (_, failed, computed) = run(&directory, &[], &all);
    assert_eq!((failed, computed), (vec![], 1));
    directory.check_done().unwrap();
}

#[test]
fn blocks_that_failed_here_come_last() {
    let folder = tempfile::tempdir().unwrap();
    let directory = directory(&folder);
    let (order, failed, _) = run(&directory, &[0], &BlockSelection::Next(2));
    assert_eq!((order[0], failed), (0, vec![0]));
    let (order, failed, computed) = run(&directory, &[], &BlockSelection::Next(usize::MAX));
    assert_eq!((order.last(), failed, computed), (Some(&0), vec![], 11));
}

#[test]
fn consecutive_failures_stop_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let directory = directory(&folder);
    let every: Vec<u64> = (0..UNITS).collect();
    let (_, failed, computed) = run(&directory, &every, &BlockSelection::Several(0, UNITS as usize - 1));
    assert_eq!((failed, computed), (vec![0, 1, 2], 0), "it gives up");
}

#[test]
fn empty_shares_are_not_called_done() {
    let folder = tempfile::tempdir().unwrap();
    let directory = directory(&folder);
    let shares = 400;
    let message = |which: &BlockSelection| {
        let is_over = blocks_to_compute::<Units>(&directory, which).unwrap().is_empty();
        is_over.then(|| why_nothing_is_left(which, directory.len()))
    };
    let messages: Vec<Option<String>> =
        (0..shares).map(|share| message(&BlockSelection::Share(share, shares))).collect();
    assert_eq!(messages[0].as_deref(), Some("share 0/400 is empty: the job has 12 blocks"));
    assert_eq!(messages.iter().flatten().count(), shares - UNITS as usize);
    let all = BlockSelection::Next(usize::MAX);
    assert_eq!(message(&all), None);
    run(&directory, &[], &all);
    assert_eq!(message(&all).as_deref(), Some("all blocks are already done"));
    for which in [BlockSelection::Share(0, 3), BlockSelection::Several(2, 4)] {
        assert_eq!(message(&which).as_deref(), Some("all selected blocks are already done"));
    }
    assert_eq!(message(&BlockSelection::One(3)).as_deref(), Some("the block is already done"));
    assert!(message(&BlockSelection::Share(399, 400)).is_some_and(|message| message.ends_with("done")));
}
