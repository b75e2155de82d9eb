//! Tests of a long pair in blocks. The rows of both strands, computed separately, must equal those
//! of the whole job.

use std::path::PathBuf;
use std::sync::Arc;

use pairwave::jobs::blocks::{Block, BlockSink, Divisible};
use pairwave::jobs::long::{LongEngines, LongRecordPairs, LongWant, Strand, Strands, TopPer};
use pairwave::jobs::{LongAlignment, LongHit};
use pairwave::long::LongEngine;
use pairwave::long::cpu::CpuLong;
use pairwave::long::gpu::GpuLong;
use pairwave::score::{Ambiguity, EndGaps, Gaps, Mode, Scoring};
use pairwave::seq::{Alphabet, Code, ReadOptions, SequenceStore, read_files, reverse_complement};
use pairwave::{Error, Result};

use support::blocks::check_blocks;
use support::codec::check_codec;
use support::{LongResult, rng, run_long, run_on, two_threads};

fn cpu() -> LongEngines {
    vec![Box::new(CpuLong::new(2)) as Box<dyn LongEngine>].into()
}

fn gpu() -> LongEngines {
    let engine = GpuLong::open(&support::adapter()).expect("the adapter opens");
    vec![Box::new(engine) as Box<dyn LongEngine>].into()
}

fn scoring(mode: Mode, end_gaps: EndGaps) -> Arc<Scoring> {
    let scoring = Scoring::nucleotide(2, -3, Ambiguity::Overlap, Gaps::from_blast(5, 2), end_gaps);
    Arc::new(Scoring { mode, ..scoring.expect("a valid scheme") })
}

/// Reads two 16S genes of the repository.
fn genes() -> Arc<SequenceStore> {
    let path = PathBuf::from(support::ROOT).join("assets/16s/gold12.fasta");
    let stores = read_files(&[&path], &ReadOptions::default()).expect("the file is valid");
    Arc::new(stores.into_iter().next().expect("a store for each file"))
}

/// Creates the job of a gene against a target that contains parts of a related gene on both
/// strands.
fn job(scoring: Arc<Scoring>) -> LongAlignment {
    let genes = genes();
    let relative = genes.codes(2);
    let (first, last) = relative.split_at(relative.len() / 2);
    let turned = reverse_complement(last);
    let target: Vec<Code> = [first, &turned[..300], &last[100..600], &turned[350..]].concat();
    let target = support::store(Alphabet::Dna, &[target]);
    LongAlignment { strand: Strands::Both, ..LongAlignment::new(genes, 1, target, 0, scoring) }
}

/// Rows of each block.
#[derive(Default)]
struct Collected {
    blocks: Vec<Vec<LongHit>>,
    open: Vec<LongHit>,
}

impl BlockSink<LongHit> for Collected {
    fn rows(&mut self, rows: &[LongHit]) -> Result<()> {
        self.open.extend_from_slice(rows);
        Ok(())
    }

    fn end(&mut self) -> Result<()> {
        self.blocks.push(std::mem::take(&mut self.open));
        Ok(())
    }
}

/// Computes each strand as a block, in one session. Returns the joined rows and the rows of each
/// block.
fn joined(job: &LongAlignment, engines: LongEngines) -> (Vec<LongHit>, Vec<Vec<LongHit>>) {
    let blocks = job.cut(1).expect("it can be cut");
    let (run, mut collected) = (two_threads(), Collected::default());
    let mut session = job.session_on(engines, &run).expect("the session opens");
    for block in &blocks {
        let one = std::slice::from_ref(block);
        let summary = job.run_blocks(one, &mut session, &run, &mut collected).expect("the block is computed");
        let rows = collected.blocks.last().expect("the block ended").len() as u64;
        assert_eq!((summary.pairs, summary.written), (1, rows));
        let by_engines: u64 = summary.engines.iter().map(|engine| engine.cells).sum();
        assert_eq!(by_engines, summary.cells, "engines report the cells of this block only");
    }
    let mut rows = collected.blocks.concat();
    job.join(&mut rows);
    (rows, collected.blocks)
}

#[test]
fn blocks_of_strands_give_the_rows_of_the_job() {
    let mut random = rng(1);
    let cases = [
        (Mode::Local, EndGaps::Charged, LongWant::Alignment),
        (Mode::Local, EndGaps::Charged, LongWant::Score),
        (Mode::Global, EndGaps::Charged, LongWant::Alignment),
        (Mode::Global, EndGaps::Free, LongWant::Alignment),
        (Mode::Global, EndGaps::Free, LongWant::Score),
    ];
    for (mode, end_gaps, want) in cases {
        for strand in [Strands::Both, Strands::Plus, Strands::Minus] {
            let job = LongAlignment { want, strand, ..job(scoring(mode, end_gaps)) };
            let LongResult { hits, summary } = run_long(&job, cpu(), &two_threads()).expect("the job ends");
            assert_eq!((hits.len(), summary.cells), (1, job.cells()));
            check_codec(&job, &hits, &mut random);
            for cells in [1, u64::MAX] {
                let session = || job.session_on(cpu(), &two_threads()).expect("the session opens");
                let blocks = check_blocks(&job, &hits, cells, &two_threads(), &mut random, session);
                let is_split = strand == Strands::Both && cells == 1;
                assert_eq!(blocks.len(), if is_split { 2 } else { 1 });
            }
        }
    }
}

/// Pairs of several genes: a block has one or more pairs, or one strand of a pair.
#[test]
fn blocks_of_several_pairs_give_the_rows_of_the_job() {
    let mut random = rng(4);
    let genes = genes();
    let settings =
        LongAlignment::new(Arc::clone(&genes), 0, Arc::clone(&genes), 0, scoring(Mode::Local, EndGaps::Charged));
    let settings = LongAlignment { strand: Strands::Both, top: 2, min_score: 30, ..settings };
    let job = LongRecordPairs {
        settings,
        queries: vec![1, 3, 4],
        targets: vec![0, 2],
        top_per: TopPer::Pair,
        max_evalue: None,
    };
    let (expected, summary) = run_on(&job, cpu(), &two_threads()).expect("the job ends");
    check_codec(&job, &expected, &mut random);
    assert_eq!(summary.written, expected.len() as u64);
    let job = LongRecordPairs { settings: LongAlignment { top: 1, ..job.settings }, ..job };
    let (expected, _) = run_on(&job, cpu(), &two_threads()).expect("the job ends");
    let session = || job.session_on(cpu(), &two_threads()).expect("the session opens");
    for (cells, count) in [(1, 12), (job.cells() / 3, 3), (u64::MAX, 1)] {
        let blocks = check_blocks(&job, &expected, cells, &two_threads(), &mut random, session);
        assert_eq!(blocks.len(), count, "{cells} cells");
    }
    // Lists of several pairs are selected again when the blocks are joined.
    let by_query = LongRecordPairs { top_per: TopPer::Query, ..job.clone() };
    let mut selected = expected;
    by_query.select(&mut selected);
    assert_eq!(run_on(&by_query, cpu(), &two_threads()).expect("the job ends").0, selected);
    assert_eq!(selected.len(), 3);
}

#[test]
fn the_best_alignments_of_both_strands_are_joined() {
    let whole = job(scoring(Mode::Local, EndGaps::Charged));
    for (top, min_score) in [(3, 1), (6, 1), (50, 40)] {
        let job = LongAlignment { top, min_score, ..whole.clone() };
        let expected = run_long(&job, cpu(), &two_threads()).expect("the job ends").hits;
        assert!(expected.iter().any(|hit| hit.strand == Strand::Plus));
        assert!(expected.iter().any(|hit| hit.strand == Strand::Minus));
        let (rows, blocks) = joined(&job, cpu());
        assert_eq!(rows, expected);
        assert!(blocks.iter().all(|rows| rows.len() <= top as usize));
        check_codec(&job, &rows, &mut rng(2));
    }
    let job = LongAlignment { top: 2, ..whole };
    assert_eq!(joined(&job, gpu()).0, run_long(&job, cpu(), &two_threads()).expect("the job ends").hits);
}

#[test]
fn the_plus_strand_comes_first_among_equal_scores() {
    let genes = genes();
    let query = genes.codes(1).to_vec();
    let target = [query.clone(), reverse_complement(&query)].concat();
    let target = support::store(Alphabet::Dna, &[target]);
    for (top, expected) in [(1, &[Strand::Plus][..]), (2, &[Strand::Plus, Strand::Minus])] {
        let scoring = scoring(Mode::Local, EndGaps::Charged);
        let job = LongAlignment::new(Arc::clone(&genes), 1, Arc::clone(&target), 0, scoring);
        let job = LongAlignment { strand: Strands::Both, top, ..job };
        let (rows, blocks) = joined(&job, cpu());
        assert_eq!(blocks[0][0].score, blocks[1][0].score);
        assert_eq!(rows.iter().map(|hit| hit.strand).collect::<Vec<_>>(), expected);
        assert_eq!(rows, run_long(&job, cpu(), &two_threads()).expect("the job ends").hits);
    }
}

#[test]
fn a_checkpoint_and_blocks_of_another_job_are_refused() {
    let job = job(scoring(Mode::Local, EndGaps::Charged));
    let with_checkpoint = LongAlignment { checkpoint: Some("work".into()), ..job.clone() };
    let error = with_checkpoint.cut(1).unwrap_err();
    assert!(
        matches!(error, Error::Usage(_)) && error.to_string().contains("a job in blocks has no checkpoint"),
        "{error}"
    );
    let run = two_threads();
    let plus = LongAlignment { strand: Strands::Plus, ..job };
    let mut session = plus.session_on(cpu(), &run).expect("the session opens");
    let wrong = Block { units: 0..1, targets: Some(1..2), pairs: 1, cells: 1 };
    let error = plus.run_blocks(&[wrong], &mut session, &run, &mut Collected::default()).unwrap_err();
    assert!(matches!(error, Error::Usage(_)) && error.to_string().contains("is not a block of this job"), "{error}");
}
