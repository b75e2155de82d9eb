//! Rows that threads format before it is their turn in the output. The bytes must equal those of
//! rows that are passed to a writer in order, for any engines, number of threads, and sizes of
//! pieces.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use pairwave::engine::{Capacity, Engine};
use pairwave::jobs::blocks::{BlockSink, Encode, Whole};
use pairwave::jobs::{AllPairs, Job, PairResult, Run, Summary};
use pairwave::output::Output;
use pairwave::pairs::Pairs;
use pairwave::pairs::cpu::workers;
use pairwave::pairs::mock::{Act, MockEngine};
use pairwave::score::{CoverageFilter, Mode, Scoring};
use pairwave::seq::{Alphabet, SequenceStore, Strands};
use pairwave::{Error, Result};
use support::*;

/// An encoder that appends everything that a row contains. For some rows, it appends nothing.
struct Told;

impl Encode<PairResult> for Told {
    fn encode(&self, row: &PairResult, bytes: &mut Vec<u8>) -> Result<()> {
        if row.target % 7 != 3 {
            bytes.extend_from_slice(format!("{row:?}\n").as_bytes());
        }
        Ok(())
    }
}

/// A sink that accepts bytes from an encoder, but no rows. It stores the bytes, and fails if it is
/// full.
struct Bytes {
    encoder: Arc<dyn Encode<PairResult>>,
    is_full: bool,
    taken: Vec<u8>,
}

impl Bytes {
    fn from_encoder(encoder: impl Encode<PairResult> + 'static) -> Self {
        Bytes { encoder: Arc::new(encoder), is_full: false, taken: Vec::new() }
    }
}

impl Default for Bytes {
    fn default() -> Self {
        Bytes::from_encoder(Told)
    }
}

impl BlockSink<PairResult> for Bytes {
    fn rows(&mut self, _rows: &[PairResult]) -> Result<()> {
        panic!("rows where bytes were offered");
    }

    fn end(&mut self) -> Result<()> {
        Ok(())
    }

    fn encoder(&self) -> Option<Arc<dyn Encode<PairResult>>> {
        Some(Arc::clone(&self.encoder))
    }

    fn bytes(&mut self, bytes: &[u8]) -> Result<()> {
        self.taken.extend_from_slice(bytes);
        if self.is_full { Err(Error::OutputClosed) } else { Ok(()) }
    }
}

/// Returns the part of a run's result that does not depend on the engines.
fn counts(summary: &Summary) -> [u64; 4] {
    [summary.pairs, summary.cells, summary.aligned, summary.written]
}

/// Returns the bytes of rows that are passed to a writer.
fn of_rows(job: &AllPairs) -> (Vec<u8>, [u64; 4]) {
    let mut bytes = Vec::new();
    let rows = |rows: &[PairResult]| rows.iter().try_for_each(|row| Told.encode(row, &mut bytes));
    let summary = job.run_on_to(workers(1, &Arc::default()), &Run::default(), &mut Whole(rows)).unwrap();
    (bytes, counts(&summary))
}

fn store(seed: u64, count: usize) -> Arc<SequenceStore> {
    let mut random = rng(seed);
    let lengths: Vec<usize> = (0..count).map(|_| random.next_u32() as usize % 40).collect();
    mixed_store(&mut random, Alphabet::Dna, &lengths)
}

fn capacity(pairs: u64, batches: usize) -> Capacity {
    Capacity { cells: u64::MAX, pairs, store_bytes: u64::MAX, batches }
}

/// Returns a simulated device, whose alignments the job computes itself.
fn mock(pairs: u64, script: impl IntoIterator<Item = Act>) -> Box<dyn Engine<Pairs>> {
    Box::new(MockEngine::new("mock", capacity(pairs, 2), script))
}

fn jobs() -> Vec<AllPairs> {
    let scoring = |mode| Arc::new(Scoring { mode, ..Scoring::dna() });
    let all = AllPairs::new(store(0x11e5, 60), scoring(Mode::Global));
    let against = Some(store(0x7a6, 23));
    let strand = Strands::Both;
    let coverage = CoverageFilter { both: Some(0.5), ..CoverageFilter::default() };
    vec![
        all.clone(),
        AllPairs { check: true, against: against.clone(), ..all.clone() },
        AllPairs { score_only: true, ..all.clone() },
        AllPairs { score_only: true, min_score: Some(-30), max_hits: Some(3), strand, ..all.clone() },
        AllPairs { min_identity: Some(0.4), ..all.clone() },
        AllPairs { max_hits: Some(2), ..all.clone() },
        AllPairs { coverage, top_hits_only: true, strand, ..all.clone() },
        AllPairs { strand, against, min_score: Some(-60), ..all.clone() },
        AllPairs { strand, max_hits: Some(1), scoring: scoring(Mode::Local), min_score: Some(1), ..all.clone() },
        AllPairs { min_score: Some(1 << 40), ..all },
    ]
}

#[test]
fn early_bytes_equal_bytes_of_rows() {
    for (number, job) in jobs().iter().enumerate() {
        let (expected, expected_counts) = of_rows(job);
        assert_eq!(expected.is_empty(), job.min_score == Some(1 << 40), "job {number}");
        for threads in [1, 3] {
            for pairs in [1, 40, 100_000] {
                let cpu = || workers(threads, &Arc::default());
                let mixed = || cpu().into_iter().chain([mock(pairs, [])]).collect();
                let alone = || vec![mock(pairs, [])];
                for engines in [cpu(), mixed(), alone()] {
                    let (mut bytes, run) = (Bytes::default(), Run { threads, ..Run::default() });
                    let summary = job.run_on_to(engines, &run, &mut bytes).unwrap();
                    assert_eq!(counts(&summary), expected_counts, "job {number}, {threads} threads, {pairs} pairs");
                    assert!(bytes.taken == expected, "job {number}, {threads} threads, {pairs} pairs");
                }
            }
        }
    }
}

#[test]
fn many_lines_equal_lines_of_rows() {
    // There are more pairs than the job orders, sorts and traces at once.
    for score_only in [true, false] {
        let lengths = vec![5; 260];
        let store = mixed_store(&mut rng(0x3a11), Alphabet::Dna, &lengths);
        let job = AllPairs { score_only, ..AllPairs::new(store, Arc::new(Scoring::dna())) };
        let (expected, expected_counts) = of_rows(&job);
        for threads in [1, 4] {
            let (mut bytes, run) = (Bytes::default(), Run { threads, ..Run::default() });
            let summary = job.run_on_to(vec![mock(20_000, [])], &run, &mut bytes).unwrap();
            assert_eq!(counts(&summary), expected_counts);
            assert!(bytes.taken == expected, "{threads} threads");
        }
    }
}

#[test]
fn no_row_is_lost_with_engines() {
    let job = AllPairs::new(store(0x105e, 60), Arc::new(Scoring::dna()));
    let (expected, expected_counts) = of_rows(&job);
    let compute = || Act::Compute(Duration::ZERO);
    for act in [Act::FailSubmit, Act::FailCollect, Act::Panic, Act::Refuse, Act::LeaveEvery(2)] {
        for before in 0..3 {
            let script = std::iter::repeat_with(compute).take(before).chain([act.clone()]);
            let engines = vec![mock(200, script), mock(150, [])];
            let mut bytes = Bytes::default();
            let summary = job.run_on_to(engines, &two_threads(), &mut bytes).unwrap();
            assert_eq!(counts(&summary), expected_counts, "{act:?} after {before}");
            assert!(bytes.taken == expected, "{act:?} after {before}");
        }
    }
}

/// An encoder that counts the rows that are formatted on a thread of a pool, and on other threads.
#[derive(Default, Clone)]
struct Whereabouts {
    pool: Arc<AtomicUsize>,
    elsewhere: Arc<AtomicUsize>,
}

impl Encode<PairResult> for Whereabouts {
    fn encode(&self, _row: &PairResult, _bytes: &mut Vec<u8>) -> Result<()> {
        let index = if rayon::current_thread_index().is_some() { &self.pool } else { &self.elsewhere };
        index.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

/// A device computes its next batch sooner if its own thread does not format lines of the last one.
#[test]
fn pool_threads_format_lines_of_a_device() {
    let job = AllPairs::new(store(0x9001, 60), Arc::new(Scoring::dna()));
    let whereabouts = Whereabouts::default();
    let summary =
        job.run_on_to(vec![mock(500, [])], &two_threads(), &mut Bytes::from_encoder(whereabouts.clone())).unwrap();
    let count = |index: &AtomicUsize| index.load(Ordering::Relaxed);
    assert_eq!(count(&whereabouts.pool) + count(&whereabouts.elsewhere), summary.written as usize);
    // The device's own thread formats a few lines itself, because waking another thread for them is
    // not worthwhile.
    assert!(count(&whereabouts.elsewhere) < 10, "{}", count(&whereabouts.elsewhere));
}

/// An encoder that fails or panics at one pair.
struct Broken {
    panics: bool,
}

impl Encode<PairResult> for Broken {
    fn encode(&self, row: &PairResult, _bytes: &mut Vec<u8>) -> Result<()> {
        if (row.query, row.target) == (7, 11) {
            assert!(!self.panics, "a fault");
            return Err(Error::OutputClosed);
        }
        Ok(())
    }
}

#[test]
fn formatting_errors_end_the_job() {
    for score_only in [true, false] {
        let job = AllPairs { score_only, ..AllPairs::new(store(0xbad, 30), Arc::new(Scoring::dna())) };
        for (engines, panics) in
            [(workers(2, &Arc::default()), false), (vec![mock(64, [])], false), (vec![mock(64, [])], true)]
        {
            let error =
                job.run_on_to(engines, &two_threads(), &mut Bytes::from_encoder(Broken { panics })).unwrap_err();
            match panics {
                false => assert!(matches!(error, Error::OutputClosed), "{error}"),
                true => assert!(error.to_string().ends_with("a line could not be made: a fault"), "{error}"),
            }
        }
    }
}

#[test]
fn closed_outputs_end_the_job() {
    for score_only in [true, false] {
        let job = AllPairs { score_only, ..AllPairs::new(store(0xf011, 60), Arc::new(Scoring::dna())) };
        let mut full = Bytes { is_full: true, ..Bytes::default() };
        let error = job.run_on_to(vec![mock(64, [])], &two_threads(), &mut full).unwrap_err();
        assert!(matches!(error, Error::OutputClosed), "{error}");
    }
}

/// The output does not depend on the sizes of the pieces in which lines arrive. This holds for
/// compressed files too.
#[test]
fn bytes_do_not_depend_on_the_path_to_the_writer() {
    let text: Vec<u8> =
        (0..60_000u32).flat_map(|line| format!("gene{}\t{}\n", line / 7, line * line).into_bytes()).collect();
    let directory = tempfile::tempdir().unwrap();
    let written = |name: &str, sizes: &[usize]| {
        let path = directory.path().join(name);
        let (mut output, mut left) = (Output::create(&path).unwrap(), &text[..]);
        for (at, &size) in sizes.iter().cycle().enumerate() {
            let (some, rest) = left.split_at(size.min(left.len()));
            if some.is_empty() {
                break;
            }
            match at % 3 {
                0 => {
                    output.buffer().extend_from_slice(some);
                    output.pass_on().unwrap();
                }
                _ => output.append(some).unwrap(),
            }
            left = rest;
        }
        output.finish().unwrap();
        std::fs::read(&path).unwrap()
    };
    for name in ["pairs.tsv", "pairs.tsv.gz"] {
        let whole = written(name, &[usize::MAX]);
        assert_eq!(whole == text, name == "pairs.tsv");
        for sizes in [&[1000][..], &[1 << 17], &[77, 300_000, 5, 131_071], &[4095, 4097, 1]] {
            assert!(written(name, sizes) == whole, "{name}, {sizes:?}");
        }
    }
}
