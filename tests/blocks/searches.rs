//! Tests of searches in blocks of queries, and in blocks of subjects if a single query is too large
//! for a block.

use std::sync::Arc;

use pairwave::engine::{Capacity, Engine};
use pairwave::gpu::adapter::Device;
use pairwave::jobs::blocks::{Block, Divisible, Whole};
use pairwave::jobs::{EditFilter, Run};
use pairwave::pairs::Pairs;
use pairwave::pairs::mock::{Act, MockEngine};
use pairwave::score::{CoverageFilter, EndGaps, Mode, NamedScheme, Scoring};
use pairwave::seq::database::{MakeOptions, read_sorted};
use pairwave::seq::{Alphabet, Code, ReadOptions, SequenceStore, Strands, Subjects};
use pairwave::{Error, Search, SearchHit};

use support::blocks::check_blocks;
use support::codec::check_codec;
use support::{Rng, gpu_checked, mutated, random_codes, rng, run_on, store, two_threads};

fn local(alphabet: Alphabet) -> Scoring {
    let of_dna = || NamedScheme::find("blastn").expect("a scheme").scoring(Alphabet::Dna).expect("of nucleotides");
    let scoring = if alphabet == Alphabet::Dna { of_dna() } else { Scoring::protein() };
    Scoring { mode: Mode::Local, ..scoring }
}

/// Creates queries and subjects. One query is empty, and one is as long as all others together.
/// Subjects are related to queries on either strand, and each is repeated, so that many hits have
/// equal scores.
fn sequences(rng: &mut Rng, alphabet: Alphabet) -> [Arc<SequenceStore>; 2] {
    let queries: Vec<Vec<Code>> = [40, 0, 25, 33, 200].map(|length| random_codes(rng, alphabet, length)).into();
    let mut subjects = Vec::new();
    for query in &queries {
        for percent in [0, 5, 20] {
            let mut relative = mutated(rng, alphabet, query, percent);
            if alphabet == Alphabet::Dna && percent == 5 {
                relative = pairwave::seq::reverse_complement(&relative);
            }
            let around = random_codes(rng, alphabet, 7);
            subjects.extend([[around.clone(), relative.clone()].concat(), relative.clone(), relative]);
        }
        subjects.push(random_codes(rng, alphabet, 30));
    }
    subjects.push(Vec::new());
    // A random order makes record numbers and sorted positions differ.
    (1..subjects.len()).for_each(|subject_index| subjects.swap(subject_index, rng.below(subject_index + 1)));
    [store(alphabet, &queries), store(alphabet, &subjects)]
}

fn search(rng: &mut Rng, scoring: Scoring) -> Search {
    let [queries, subjects] = sequences(rng, scoring.alphabet);
    let subjects = Arc::new(Subjects::from_store((*subjects).clone()));
    Search { check: true, ..Search::new(queries, subjects, Arc::new(scoring)) }
}

/// Creates searches for the best hit, for a few hits and for all. They cover one strand and both,
/// filters, scores only, E-values, and global alignment.
fn searches(rng: &mut Rng) -> Vec<(&'static str, Search)> {
    let (protein, dna) = (search(rng, local(Alphabet::Protein)), search(rng, local(Alphabet::Dna)));
    let whole = |end_gaps| Scoring { end_gaps, mode: Mode::Global, ..Scoring::protein() };
    let (global, free) = (search(rng, whole(EndGaps::Charged)), search(rng, whole(EndGaps::Free)));
    let coverage = CoverageFilter { both: Some(0.9), ..CoverageFilter::default() };
    assert_eq!(dna.strand, Strands::Both);
    vec![
        ("proteins", protein.clone()),
        ("the best", Search { max_hits: 1, ..protein.clone() }),
        ("the best of nucleotides", Search { max_hits: 1, ..dna.clone() }),
        ("few of both strands", Search { max_hits: 3, max_evalue: Some(1e9), ..dna.clone() }),
        ("reverse strands", Search { strand: Strands::Minus, max_hits: 2, ..dna.clone() }),
        ("alike", Search { min_identity: Some(0.9), max_hits: 4, max_evalue: Some(1e9), ..dna.clone() }),
        ("covered", Search { min_query_cover: Some(0.8), max_hits: 2, ..dna.clone() }),
        ("scores", Search { score_only: true, check: false, max_hits: 5, ..protein.clone() }),
        ("improbable", Search { max_evalue: Some(1e-6), ..protein.clone() }),
        ("by score", Search { max_evalue: None, min_score: Some(20), max_hits: 7, ..protein.clone() }),
        ("small chunks", Search { chunk_bytes: Some(90), max_evalue: Some(1e9), ..protein.clone() }),
        ("global", Search { max_hits: 3, ..global }),
        ("free ends", Search { min_score: Some(0), chunk_bytes: Some(200), ..free }),
        (
            "several of a pair",
            Search { max_hsps: 4, max_hits: 3, max_evalue: None, min_score: Some(16), ..dna.clone() },
        ),
        ("several top", Search { max_hsps: 4, top_hits_only: true, ..dna.clone() }),
        ("several alike", Search { max_hsps: 3, min_identity: Some(0.9), max_hits: 2, ..protein.clone() }),
        ("top", Search { top_hits_only: true, max_evalue: Some(1e9), ..dna.clone() }),
        ("top and covered", Search { top_hits_only: true, max_hits: 2, coverage, max_evalue: Some(1e9), ..dna }),
    ]
}

fn cpu() -> Box<dyn Engine<Pairs>> {
    Box::new(support::cpu())
}

fn mock(cells: u64, script: impl IntoIterator<Item = Act>) -> Box<dyn Engine<Pairs>> {
    let capacity = Capacity { cells, pairs: 7, store_bytes: u64::MAX, batches: 2 };
    Box::new(MockEngine::new("mock", capacity, script))
}

fn whole(search: &Search) -> Vec<SearchHit> {
    run_on(search, vec![cpu()], &two_threads()).expect("the search ends").0
}

fn is_cut(blocks: &[Block]) -> bool {
    blocks.iter().any(|block| block.targets.is_some())
}

#[test]
fn blocks_of_searches_equal_the_whole_search() {
    let mut rng = rng(0x5eab);
    let run = two_threads();
    let (mut cut, mut ties) = (0, 0);
    for (name, search) in searches(&mut rng) {
        eprintln!("{name}");
        let expected = whole(&search);
        assert!(!expected.is_empty());
        for parts in [1, 3, 9, 60] {
            let session = || search.session_on(vec![mock(9_000, []), cpu()], &run).expect("a session");
            // A query without symbols counts its pairs, so the sum slightly exceeds all cells.
            let cells = if parts == 1 { u64::MAX } else { search.cells() / parts };
            let blocks = check_blocks(&search, &expected, cells, &run, &mut rng, session);
            assert_eq!(blocks.iter().map(|block| block.cells).sum::<u64>(), search.cells());
            assert!((parts == 1) == (blocks.len() == 1), "{} of {parts}", blocks.len());
            cut += blocks.iter().filter(|block| block.targets.is_some()).count();
        }
        // Every pair is a separate block.
        let session = || search.session_on(vec![cpu()], &run).expect("a session");
        let blocks = check_blocks(&search, &expected, 1, &run, &mut rng, session);
        assert!(blocks.len() > 100, "{}", blocks.len());
        ties += expected.windows(2).filter(|two| two[0].query == two[1].query && two[0].score == two[1].score).count();
    }
    assert!(cut > 100 && ties > 50, "{cut} blocks with some of the subjects, {ties} ties");
}

#[test]
fn failing_engines_change_no_hit() {
    let mut rng = rng(0x5eac);
    let run = two_threads();
    for scoring in [local(Alphabet::Protein), local(Alphabet::Dna)] {
        let search = Search { max_hits: 3, max_evalue: Some(1e9), ..search(&mut rng, scoring) };
        let expected = whole(&search);
        let devices = || search.session_on(vec![Box::new(gpu_checked()), cpu()], &run).expect("a session");
        assert!(is_cut(&check_blocks(&search, &expected, search.cells() / 12, &run, &mut rng, devices)));
        let lost = || vec![mock(500, [Act::LeaveEvery(2), Act::FailCollect]), mock(800, [Act::Refuse])];
        let session = || search.session_on(lost(), &run).expect("a session");
        check_blocks(&search, &expected, search.cells() / 12, &run, &mut rng, session);
        let opened = || search.session(&run).expect("a session");
        check_blocks(&search, &expected, search.cells() / 5, &run, &mut rng, opened);
    }
}

/// The session opens its devices. Edit distances exclude pairs of global alignments.
#[test]
fn edit_distances_of_blocks_change_no_hit() {
    let mut rng = rng(0x5ead);
    let run = Run { devices: vec![Device::Cpu], ..two_threads() };
    let search = Search { min_identity: Some(0.8), max_hits: 4, ..search(&mut rng, Scoring::dna()) };
    for search in [search.clone(), Search { chunk_bytes: Some(90), strand: Strands::Plus, ..search }] {
        let expected = whole(&search);
        assert!(!expected.is_empty());
        let search = Search { edit_filter: EditFilter::On, ..search };
        for parts in [2, 12] {
            let session = || search.session(&run).expect("a session");
            check_blocks(&search, &expected, search.cells() / parts, &run, &mut rng, session);
        }
    }
}

/// Writes the subjects of a search to a database file. Returns a search of this file, and its name.
fn in_file(search: &Search, subjects: &SequenceStore, folder: &tempfile::TempDir) -> (Search, String) {
    let [input, made] = ["subjects.fa", "subjects.pwdb"].map(|name| folder.path().join(name));
    let record = |id| format!(">{} of some kind\n{}\n", subjects.name(id), subjects.letters(id));
    std::fs::write(&input, (0..subjects.len() as u32).map(record).collect::<String>()).expect("it can be written");
    let path = made.to_str().expect("text").to_owned();
    let options =
        MakeOptions { read: ReadOptions::default(), memory: 1 << 24, scratch_directory: folder.path().to_owned() };
    let file = std::fs::File::create(&made).expect("it can be made");
    read_sorted(&[input.to_str().expect("text")], &options, |_| {})
        .and_then(|sorted| sorted.write(file, &made, |_| Ok(())))
        .expect("a database is made");
    let subjects = Arc::new(Subjects::open(&path, &ReadOptions::default()).expect("a database"));
    (Search { subjects, ..search.clone() }, path)
}

#[test]
fn encoded_hits_survive_a_round_trip() {
    let mut rng = rng(0x5ead);
    for scoring in [local(Alphabet::Protein), local(Alphabet::Dna)] {
        let search = Search { max_evalue: Some(1e9), ..search(&mut rng, scoring) };
        check_codec(&search, &whole(&search), &mut rng);
        let scored = Search { score_only: true, check: false, ..search };
        check_codec(&scored, &whole(&scored), &mut rng);
    }
    let whole_sequences = Scoring { mode: Mode::Global, ..Scoring::protein() };
    let global = Search { max_hits: 2, ..search(&mut rng, whole_sequences) };
    let mut hits = whole(&global);
    check_codec(&global, &hits, &mut rng);
    // Rows of another search are rejected.
    let subjects = global.subjects.size().sequences;
    let wrong: [fn(&mut SearchHit, u64); 3] =
        [|hit, subjects| hit.subject_index = subjects, |hit, _| hit.record += 1, |hit, _| hit.query = 99];
    for spoil in wrong {
        let mut hit = hits.remove(0);
        spoil(&mut hit, subjects);
        let error = global.resolve(&mut [hit]).expect_err("refused");
        assert!(error.to_string().contains("does not belong to this search"), "{error}");
    }
}

#[test]
fn blocks_read_only_their_part_of_a_database() {
    let mut rng = rng(0x5eae);
    let scoring = local(Alphabet::Protein);
    let alphabet = scoring.alphabet;
    // The database has 12 MB, with a checksum for every 4 MiB.
    let subjects: Vec<Vec<Code>> = (0..30).map(|_| random_codes(&mut rng, alphabet, 400_000)).collect();
    let queries = store(alphabet, &[subjects[7][..8].to_vec(), subjects[23][90..98].to_vec()]);
    let subjects = store(alphabet, &subjects);
    let nothing = Subjects::from_store(SequenceStore::builder(alphabet).build());
    let search = Search::new(queries, Arc::new(nothing), Arc::new(scoring));
    let search = Search { max_evalue: None, min_score: Some(25), max_hits: 3, ..search };
    let folder = tempfile::tempdir().expect("a folder");
    let (search, path) = in_file(&search, &subjects, &folder);
    let expected = whole(&search);
    let run = two_threads();
    let session = |search: &Search| search.session_on(vec![cpu()], &run).expect("a session");
    let blocks = check_blocks(&search, &expected, search.cells() / 8, &run, &mut rng, || session(&search));
    assert!(blocks.len() == 8 && blocks.iter().all(|block| block.targets.is_some()), "{blocks:?}");
    // Change a byte in the second 4 MiB.
    let mut bytes = std::fs::read(&path).expect("it is there");
    bytes[5_000_000] ^= 1;
    std::fs::write(&path, bytes).expect("it can be written");
    let subjects = Arc::new(Subjects::open(&path, &ReadOptions::default()).expect("its head is well"));
    let search = Search { subjects, ..search };
    let mut session = session(&search);
    let mut ended = Vec::new();
    for (number, block) in blocks.iter().enumerate() {
        match search.run_blocks(std::slice::from_ref(block), &mut session, &run, &mut Whole(|_: &[SearchHit]| Ok(()))) {
            Ok(_) => ended.push(number),
            Err(error) => assert!(matches!(error, Error::Input { .. }), "{error}"),
        }
    }
    assert_eq!(ended, [0, 3, 4, 7], "those of the first subjects and the last");
}

#[test]
fn blocks_of_another_search_are_refused_and_empty_searches_work() {
    let search = search(&mut rng(6), local(Alphabet::Protein));
    let run = two_threads();
    let subjects = search.subjects.size().sequences as u32;
    let mut session = search.session_on(vec![cpu()], &run).expect("a session");
    let block = |units, targets| Block { units, targets, pairs: 0, cells: 0 };
    let mut run_blocks =
        |blocks: &[Block]| search.run_blocks(blocks, &mut session, &run, &mut Whole(|_: &[SearchHit]| Ok(())));
    for wrong in [block(0..6, None), block(1..2, Some(0..subjects + 1)), block(1..3, Some(0..2))] {
        let error = run_blocks(&[wrong]).expect_err("refused");
        assert!(error.to_string().contains("is not a block of this job"), "{error}");
    }
    assert_eq!(run_blocks(&[block(2..2, None), block(3..4, Some(5..5))]).expect("they end").pairs, 0);
    let none = |alphabet| SequenceStore::builder(alphabet).build();
    let empty = Search { subjects: Arc::new(Subjects::from_store(none(Alphabet::Protein))), ..search.clone() };
    let nobody = Search { queries: Arc::new(none(Alphabet::Protein)), ..search.clone() };
    for search in [empty, nobody] {
        let session = || search.session_on(vec![cpu()], &run).expect("a session");
        check_blocks(&search, &[], 5, &run, &mut rng(7), session);
    }
}
