//! Tests of listed pairs in blocks, and of files that are read together with the blocks.

use std::io::Write;
use std::sync::Arc;

use pairwave::engine::Engine;
use pairwave::jobs::blocks::{Block, Divisible, Whole};
use pairwave::jobs::{PairList, PairRow, PairSource};
use pairwave::pairs::Pairs;
use pairwave::score::{CoverageFilter, Mode, Scoring};
use pairwave::seq::{Alphabet, PairedChunks, ReadOptions, SequenceStore, Strands};

use support::blocks::check_blocks;
use support::codec::check_codec;
use support::{Rng, gpu_checked, mixed_store, rng, run_on, two_threads};

fn cpu() -> Box<dyn Engine<Pairs>> {
    Box::new(support::cpu())
}

fn sets(rng: &mut Rng, alphabet: Alphabet) -> [Arc<SequenceStore>; 2] {
    [31, 47].map(|step| {
        let lengths: Vec<usize> = (0..40).map(|index| 1 + index * step % 70).collect();
        mixed_store(rng, alphabet, &lengths)
    })
}

/// Creates pairs in random order, some of them repeated.
fn listed(rng: &mut Rng, [queries, targets]: &[Arc<SequenceStore>; 2]) -> PairSource {
    let pairs = (0..90).map(|_| (rng.below(40u32), rng.below(6u32))).collect();
    PairSource::Listed { queries: Arc::clone(queries), targets: Arc::clone(targets), pairs }
}

fn whole(job: &PairList) -> Vec<PairRow> {
    run_on(job, vec![cpu()], &two_threads()).expect("the job ends").0
}

#[test]
fn blocks_of_listed_pairs_equal_the_job() {
    let mut rng = rng(0x1157);
    let run = two_threads();
    let local = Scoring { mode: Mode::Local, ..Scoring::truong() };
    for (scoring, strand) in
        [(Scoring::truong(), Strands::Both), (local, Strands::Minus), (Scoring::protein(), Strands::Plus)]
    {
        let sets = sets(&mut rng, scoring.alphabet);
        let all = PairList { strand, check: true, ..PairList::new(listed(&mut rng, &sets), Arc::new(scoring)) };
        let scored = PairList { score_only: true, check: false, chunk_pairs: 7, ..all.clone() };
        let coverage = CoverageFilter { target: Some(0.2), ..CoverageFilter::default() };
        let covered = PairList { coverage, chunk_pairs: 7, ..all.clone() };
        for job in [all, scored, covered] {
            let expected = whole(&job);
            check_codec(&job, &expected, &mut rng);
            let cells = job.cells().expect("it makes sense").expect("it is known");
            for cells in [u64::MAX, cells / 3, cells / 20, 1] {
                let engines = || vec![cpu(), Box::new(gpu_checked())];
                let session = || job.session_on(engines(), &run).expect("a session");
                let blocks = check_blocks(&job, &expected, cells, &run, &mut rng, session);
                assert!((cells == u64::MAX) == (blocks.len() == 1), "{blocks:?}");
            }
            let opened = || job.session(&run).expect("a session");
            check_blocks(&job, &expected, cells / 4, &run, &mut rng, opened);
        }
    }
}

fn file(store: &SequenceStore) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file can be made");
    for id in 0..store.len() as u32 {
        writeln!(file, ">{}\n{}", store.name(id), store.letters(id)).expect("it can be written");
    }
    file
}

#[test]
fn paired_files_are_read_up_to_each_block() {
    let mut rng = rng(0x1158);
    let run = two_threads();
    let sets = sets(&mut rng, Alphabet::Dna);
    let files = sets.each_ref().map(|set| file(set));
    let paths = files.each_ref().map(|file| file.path().to_str().expect("text"));
    let open = |most| {
        let chunks = PairedChunks::open(paths, &ReadOptions::default(), most, u64::MAX).expect("they can be read");
        PairList::new(PairSource::in_step(chunks), Arc::new(Scoring::truong()))
    };
    for most in [1, 7, 100] {
        let expected = whole(&open(most));
        assert_eq!(expected.len(), 40);
        let job = open(most);
        for cells in [u64::MAX, 9_000, 1] {
            let session = || job.session_on(vec![cpu()], &run).expect("a session");
            let blocks = check_blocks(&job, &expected, cells, &run, &mut rng, session);
            assert_eq!(blocks.last().map(|block| block.units.end), Some(40));
        }
        check_codec(&job, &expected, &mut rng);
        // Other sessions have already read the files. A new session must still find all pairs.
        assert_eq!(whole(&job), expected);
    }
}

#[test]
fn missing_pairs_are_reported() {
    let mut rng = rng(0x1159);
    let run = two_threads();
    let sets = sets(&mut rng, Alphabet::Dna);
    let block = |units| Block { units, targets: None, pairs: 0, cells: 0 };
    let refused = |job: &PairList, units| {
        let mut session = job.session_on(vec![cpu()], &run).expect("a session");
        let mut rows = 0;
        let mut sink = Whole(|some: &[PairRow]| {
            rows += some.len();
            Ok(())
        });
        let error = job.run_blocks(&[block(0..5), block(units)], &mut session, &run, &mut sink).expect_err("refused");
        assert_eq!(error.exit_code(), 2, "{error}");
        (rows, error.to_string())
    };
    let job = PairList::new(listed(&mut rng, &sets), Arc::new(Scoring::truong()));
    assert!(refused(&job, 80..91).1.contains("is not a block of this job"));
    let files = sets.each_ref().map(|set| file(set));
    let paths = files.each_ref().map(|file| file.path().to_str().expect("text"));
    let chunks = PairedChunks::open(paths, &ReadOptions::default(), 8, u64::MAX).expect("they can be read");
    let job = PairList { source: PairSource::in_step(chunks), ..job };
    let (rows, message) = refused(&job, 38..41);
    assert!(rows >= 5 && message.contains("there is no pair number 40"), "{rows}: {message}");
}
