//! Tests of read placement in blocks. Every division into blocks must give the rows of the whole
//! job.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use pairwave::engine::Engine;
use pairwave::jobs::Job;
use pairwave::jobs::blocks::{Block, BlockSink, Divisible};
use pairwave::jobs::papara::{PhyloAlignment, PhyloResult, ReadSource};
use pairwave::papara::cpu::phylo_workers;
use pairwave::papara::gpu::PhyloGpu;
use pairwave::papara::{Phylo, Reference};
use pairwave::seq::{AlphabetChoice, Strands};
use pairwave::{Error, Result};

use support::blocks::check_blocks;
use support::codec::check_codec;
use support::{rng, two_threads};

fn asset(set: &str, file: &str) -> String {
    let root = PathBuf::from(support::ROOT).join("assets/papara");
    root.join(set).join(file).to_str().expect("a path in UTF-8").to_owned()
}

/// Returns the reads of the set, reads without letters, and fragments of reads.
fn reads(set: &str) -> String {
    let text = fs::read_to_string(asset(set, "reads.fasta")).expect("it is there");
    let mut random = rng(8);
    let mut reads = ">none\n".to_owned();
    for (index, record) in text.split('>').skip(1).take(12).enumerate() {
        let letters: String = record.lines().skip(1).collect();
        let (begin, end) = (random.below(letters.len() / 2), letters.len() / 2 + random.below(letters.len() / 2));
        writeln!(reads, ">r{index}\n{}", &letters[begin..end.max(begin + 1)]).unwrap();
        if index % 5 == 2 {
            writeln!(reads, ">no{index}").unwrap();
        }
    }
    reads + ">last\n--\n"
}

fn job(set: &str) -> PhyloAlignment {
    let reference = Reference::read(asset(set, "ref.nwk"), asset(set, "ref.fasta"), AlphabetChoice::Detect);
    let reads = ReadSource::Bytes("some.fa".into(), reads(set).into_bytes().into());
    PhyloAlignment { check: true, ..PhyloAlignment::new(Arc::new(reference.expect("it is right")), reads) }
}

fn cpu(threads: usize) -> Vec<Box<dyn Engine<Phylo>>> {
    phylo_workers(threads, &Arc::default())
}

fn gpu() -> Box<dyn Engine<Phylo>> {
    Box::new(PhyloGpu::open(&support::adapter()).expect("the adapter opens"))
}

#[test]
fn blocks_of_reads_equal_the_job() {
    let mut random = rng(1);
    for (set, strand) in [("tiny", Strands::Plus), ("tiny", Strands::Both), ("tiny_aa", Strands::Plus)] {
        let job = PhyloAlignment { strand, ..job(set) };
        let (expected, summary) = run_on_all(&job);
        assert_eq!(expected.len(), 12);
        check_codec(&job, &expected, &mut random);
        for cells in [0, summary.cells / 9, summary.cells / 3, u64::MAX] {
            let session = || job.session_on(cpu(2), &two_threads()).expect("it begins");
            let blocks = check_blocks(&job, &expected, cells, &two_threads(), &mut random, session);
            assert_eq!((blocks[0].units.start, blocks.last().unwrap().units.end), (0, 16));
            let sum = blocks.iter().fold((0, 0), |sum, block| (sum.0 + block.pairs, sum.1 + block.cells));
            assert_eq!(sum, (summary.pairs, summary.cells));
            match cells {
                0 => assert_eq!(blocks.len(), 16),
                u64::MAX => assert_eq!(blocks.len(), 1),
                _ => assert!((3..=9).contains(&blocks.len()), "{}", blocks.len()),
            }
        }
        let session = || job.session_on(vec![gpu()], &two_threads()).expect("it begins");
        check_blocks(&job, &expected, summary.cells / 4, &two_threads(), &mut random, session);
    }
}

/// Returns the rows and the summary of the whole job.
fn run_on_all(job: &PhyloAlignment) -> (Vec<PhyloResult>, pairwave::Summary) {
    let mut rows = Vec::new();
    let summary = job.run_on(cpu(2), &two_threads(), |some| {
        rows.extend_from_slice(some);
        Ok(())
    });
    (rows, summary.expect("the job ends"))
}

#[test]
fn finished_reads_are_in_no_block() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("reads.fa");
    fs::write(&path, reads("tiny")).unwrap();
    let whole = PhyloAlignment { reads: ReadSource::File(path), ..job("tiny") };
    let expected = run_on_all(&whole).0;
    let job = PhyloAlignment { skip: 5, ..whole.clone() };
    let session = || job.session_on(cpu(1), &two_threads()).unwrap();
    let blocks = check_blocks(&job, &expected[5..], 1, &two_threads(), &mut rng(2), session);
    // The first read is empty, and one of the next five too.
    assert_eq!(blocks[0].units, 7..8);
    assert_eq!(PhyloAlignment { skip: 99, ..whole }.cut(1).unwrap(), []);
}

struct Nobody;

impl BlockSink<PhyloResult> for Nobody {
    fn rows(&mut self, _rows: &[PhyloResult]) -> Result<()> {
        Ok(())
    }

    fn end(&mut self) -> Result<()> {
        Ok(())
    }
}

#[test]
fn missing_reads_are_reported() {
    let job = job("tiny");
    let run = two_threads();
    let mut session = job.session_on(cpu(1), &run).unwrap();
    let block = Block { units: 14..18, targets: None, pairs: 0, cells: 0 };
    let error = job.run_blocks(&[block], &mut session, &run, &mut Nobody).unwrap_err();
    assert!(matches!(error, Error::Usage { .. }) && error.to_string().contains("number 16"), "{error}");
    // The session can still be used.
    let blocks = job.cut(u64::MAX).unwrap();
    assert_eq!(job.run_blocks(&blocks, &mut session, &run, &mut Nobody).unwrap().written, 12);
    let stdin = PhyloAlignment { reads: ReadSource::File("-".into()), ..job };
    let error = stdin.cut(1).unwrap_err();
    assert!(error.to_string().contains("standard input"), "{error}");
}

/// Reads without letters are aligned immediately. They must not fill the queue of results.
#[test]
fn many_empty_reads_neither_lose_rows_nor_block() {
    let letters = reads("tiny").split('>').find(|record| record.starts_with("r3")).unwrap().to_owned();
    for at in [0, 1] {
        let mut text = String::new();
        (0..at).for_each(|_| write!(text, ">{letters}").unwrap());
        (0..130_000).for_each(|index| writeln!(text, ">e{index}").unwrap());
        write!(text, ">{letters}").unwrap();
        let job =
            PhyloAlignment { reads: ReadSource::Bytes("many.fa".into(), text.into_bytes().into()), ..job("tiny") };
        let rows = run_on_all(&job).0;
        let numbers: Vec<u64> = rows.iter().map(|row| row.number).collect();
        assert_eq!(numbers, if at == 0 { vec![130_000] } else { vec![0, 130_001] });
    }
}
