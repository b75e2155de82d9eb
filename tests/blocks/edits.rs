//! Tests of Levenshtein distances in blocks. Every division into blocks must give the rows of the
//! whole job.

use std::sync::Arc;

use pairwave::edit::cpu::edit_workers;
use pairwave::edit::gpu::EditGpu;
use pairwave::edit::mock::EditMock;
use pairwave::edit::plan::Against;
use pairwave::edit::{Candidate, Edit, Region};
use pairwave::engine::Engine;
use pairwave::jobs::blocks::{Block, BlockSink, Divisible};
use pairwave::jobs::{EditDistances, EditResult};
use pairwave::score::{Ambiguity, EditMode, EditScheme, Equality, Limit};
use pairwave::seq::{Alphabet, SequenceStore, Strands};

use support::blocks::check_blocks;
use support::codec::check_codec;
use support::{Rng, rng, run_on, two_threads};

/// Creates two engines with small batches, so that the results of a block arrive in pieces.
fn mocks() -> Vec<Box<dyn Engine<Edit>>> {
    vec![Box::new(EditMock::new("one").with_capacity(2_000, 3)), Box::new(EditMock::new("two").with_capacity(500, 7))]
}

/// Creates related sequences of random lengths, including an empty sequence.
fn store(random: &mut Rng, count: usize) -> Arc<SequenceStore> {
    let root = support::random_codes(random, Alphabet::Dna, 60);
    let mut sequences = vec![Vec::new()];
    for _ in 1..count {
        let length = 1 + random.below(60usize);
        sequences.push(support::mutated(random, Alphabet::Dna, &root[..length], 9));
    }
    support::store(Alphabet::Dna, &sequences)
}

fn job(patterns: &Arc<SequenceStore>, against: Against, mode: EditMode, limit: Limit) -> EditDistances {
    let scheme = EditScheme { mode, equality: Equality::dna(Ambiguity::Overlap, true), limit };
    EditDistances::new(Arc::clone(patterns), against, Arc::new(scheme))
}

/// Checks blocks of several sizes. Returns the smallest blocks.
fn check(job: &EditDistances, random: &mut Rng) -> Vec<Block> {
    let (expected, summary) = run_on(job, mocks(), &two_threads()).expect("the job ends");
    let session = || job.session_on(mocks(), &two_threads()).expect("it begins");
    for cells in [u64::MAX, summary.cells / 3 + 1, summary.cells / 10 + 1] {
        let blocks = check_blocks(job, &expected, cells, &two_threads(), random, session);
        let sum = blocks.iter().fold((0, 0), |sum, block| (sum.0 + block.pairs, sum.1 + block.cells));
        assert_eq!(sum, (summary.pairs, summary.cells));
    }
    check_blocks(job, &expected, 1, &two_threads(), random, session)
}

#[test]
fn blocks_of_patterns_and_texts_equal_the_job() {
    let mut random = rng(1);
    let (patterns, texts) = (store(&mut random, 9), store(&mut random, 12));
    for mode in [EditMode::Global, EditMode::Infix, EditMode::Prefix] {
        for against in [Against::Later, Against::Texts(Arc::clone(&texts))] {
            for strand in [Strands::Plus, Strands::Minus, Strands::Both] {
                for (max_hits, limit) in [(None, Limit::None), (Some(2), Limit::Rate(0.4))] {
                    let job = EditDistances { strand, max_hits, ..job(&patterns, against.clone(), mode, limit) };
                    let blocks = check(&job, &mut random);
                    assert!(blocks.iter().any(|block| block.targets.is_some()), "{blocks:?}");
                }
            }
        }
    }
}

#[test]
fn blocks_return_alignments_and_ends() {
    let mut random = rng(2);
    let (patterns, texts) = (store(&mut random, 6), store(&mut random, 7));
    let limit = Limit::Distance(9);
    let job = job(&patterns, Against::Texts(texts), EditMode::Infix, limit);
    let job = EditDistances { strand: Strands::Both, align: true, all_ends: true, check: true, ..job };
    check(&job, &mut random);
    let rows = run_on(&job, mocks(), &two_threads()).expect("the job ends").0;
    assert!(rows.iter().any(|row| row.ends.len() > 1));
    check_codec(&job, &rows, &mut random);
    let plain = EditDistances { align: false, all_ends: false, check: false, ..job };
    let rows = run_on(&plain, mocks(), &two_threads()).expect("the job ends").0;
    check_codec(&plain, &rows, &mut random);
}

#[test]
fn blocks_of_places_equal_the_job() {
    let mut random = rng(4);
    let (patterns, texts) = (store(&mut random, 6), store(&mut random, 7));
    let job = job(&patterns, Against::Texts(texts), EditMode::Infix, Limit::Distance(7));
    let job = EditDistances { strand: Strands::Both, all_places: true, ..job };
    let blocks = check(&job, &mut random);
    assert!(blocks.iter().any(|block| block.targets.is_some()), "{blocks:?}");
    let rows = run_on(&job, mocks(), &two_threads()).expect("the job ends").0;
    assert!(rows.len() > 30, "{}", rows.len());
    check_codec(&job, &rows, &mut random);
    let job = EditDistances { overhang: Some(0.5), ..job };
    check(&job, &mut random);
    let rows = run_on(&job, mocks(), &two_threads()).expect("the job ends").0;
    assert!(rows.iter().any(|row| row.overhang.before > 0) && rows.iter().any(|row| row.overhang.after > 0));
    check_codec(&job, &rows, &mut random);
}

fn candidates(random: &mut Rng, patterns: &SequenceStore, texts: &SequenceStore, count: usize) -> Vec<Candidate> {
    let candidate = |_| {
        let (pattern, text) = (random.below(patterns.len() as u32), random.below(texts.len() as u32));
        let end = random.below(texts.length(text) + 1);
        Candidate { pattern, region: Region { text, start: random.below(end + 1), end } }
    };
    (0..count).map(candidate).collect()
}

#[test]
fn blocks_of_candidates_equal_the_job() {
    let mut random = rng(3);
    let (patterns, texts) = (store(&mut random, 20), store(&mut random, 9));
    for strand in [Strands::Plus, Strands::Both] {
        for max_hits in [None, Some(2)] {
            let mut some = candidates(&mut random, &patterns, &texts, 150);
            let job = |some: &[Candidate]| {
                let against = Against::Candidates(Arc::clone(&texts), Arc::new(some.to_vec()));
                EditDistances { strand, max_hits, ..job(&patterns, against, EditMode::Infix, Limit::Rate(0.7)) }
            };
            let blocks = check(&job(&some), &mut random);
            // Each block selects rows, and the job selects the best rows of a pattern among these.
            let parts = blocks.iter().filter(|block| block.targets.is_some()).count();
            assert!(blocks.len() > 50 && max_hits.is_none() == (parts == 0), "{blocks:?}");
            // Patterns are grouped by tens, in mixed order within a group.
            some.sort_by_key(|candidate| candidate.pattern / 5);
            let blocks = check(&job(&some), &mut random);
            assert!(blocks.len() >= 4, "{blocks:?}");
            some.sort_by_key(|candidate| std::cmp::Reverse(candidate.pattern));
            let blocks = check(&job(&some), &mut random);
            assert!(max_hits.is_none() || blocks.len() > 15, "{blocks:?}");
            assert_eq!(job(&[]).cut(1).unwrap(), []);
        }
    }
}

#[test]
fn engines_continue_from_block_to_block() {
    let mut random = rng(4);
    let patterns = store(&mut random, 40);
    for against in [Against::Later, Against::Texts(store(&mut random, 30))] {
        let job = EditDistances { max_hits: Some(3), ..job(&patterns, against, EditMode::Global, Limit::Rate(0.6)) };
        let (expected, summary) = run_on(&job, mocks(), &two_threads()).expect("the job ends");
        let session = || {
            let mut engines = edit_workers(1, &Arc::default());
            engines.push(Box::new(EditGpu::open(&support::adapter()).expect("the adapter opens")));
            job.session_on(engines, &two_threads()).expect("it begins")
        };
        check_blocks(&job, &expected, summary.cells / 20, &two_threads(), &mut random, session);
        let opened = || job.session(&two_threads()).expect("it begins");
        check_blocks(&job, &expected, summary.cells / 4, &two_threads(), &mut random, opened);
    }
}

struct Nobody;

impl BlockSink<EditResult> for Nobody {
    fn rows(&mut self, _rows: &[EditResult]) -> pairwave::Result<()> {
        Ok(())
    }

    fn end(&mut self) -> pairwave::Result<()> {
        Ok(())
    }
}

#[test]
fn blocks_of_another_job_are_refused() {
    let patterns = store(&mut rng(5), 4);
    let job = job(&patterns, Against::Later, EditMode::Global, Limit::None);
    let mut session = job.session_on(mocks(), &two_threads()).unwrap();
    for (units, targets) in [(2..5, None), (0..2, Some(0..4)), (1..2, Some(2..5))] {
        let block = Block { units, targets, pairs: 0, cells: 0 };
        let error = job.run_blocks(&[block], &mut session, &two_threads(), &mut Nobody).unwrap_err();
        assert_eq!(error.exit_code(), 2, "{error}");
    }
}
