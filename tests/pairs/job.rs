//! Jobs on listed pairs against the oracle, for every mode, both alphabets and both strands, for
//! every division of the list, and on every engine.

use std::io::Write;
use std::sync::Arc;

use pairwave::alignment::Alignment;
use pairwave::engine::{Capacity, Engine};
use pairwave::gpu::adapter::Device;
use pairwave::jobs::{PairList, PairRow, PairSource};
use pairwave::pairs::Pairs;
use pairwave::pairs::mock::{Act, MockEngine};
use pairwave::pairs::oracle::{needleman_wunsch, smith_waterman};
use pairwave::score::{EndGaps, Gaps, Mode, Scoring};
use pairwave::seq::{Code, PairedChunks, ReadOptions, SequenceStore, Strand, Strands, reverse_complement};
use pairwave::{Job, Run};
use support::{Rng, rng};

/// Returns schemes for both alphabets: global, with free end gaps (semi-global or overlap), and
/// local.
fn scorings() -> Vec<Scoring> {
    let mut all = Vec::new();
    for scoring in [Scoring::dna(), Scoring::truong(), Scoring::protein()] {
        all.push(Scoring { end_gaps: EndGaps::Charged, ..scoring.clone() });
        all.push(Scoring { end_gaps: EndGaps::Free, gaps: Gaps::from_blast(8, 2), ..scoring.clone() });
        all.push(Scoring { mode: Mode::Local, end_gaps: EndGaps::Charged, ..scoring.clone() });
        all.push(scoring);
    }
    all
}

/// Creates two sets of sequences of many lengths. The second set has relatives of the first.
fn sets(rng: &mut Rng, scoring: &Scoring, count: usize) -> [Arc<SequenceStore>; 2] {
    let alphabet = scoring.alphabet;
    let (mut queries, mut targets) = (Vec::new(), Vec::new());
    for _ in 0..count {
        let (length, other) = (1 + rng.below(60usize), 1 + rng.below(40usize));
        let query = support::random_codes(rng, alphabet, length);
        let mut target: Vec<Code> = match rng.below(4u32) {
            0 => support::random_codes(rng, alphabet, other),
            1 => [support::random_codes(rng, alphabet, other), support::mutated(rng, alphabet, &query, 5)].concat(),
            _ => support::mutated(rng, alphabet, &query, 10),
        };
        target.truncate(90);
        if target.is_empty() {
            target.push(1);
        }
        queries.push(query);
        targets.push(target);
    }
    [queries, targets].map(|sequences| support::store(alphabet, &sequences))
}

/// Returns the oracle's alignment of two sequences.
fn expected(query: &[Code], target: &[Code], scoring: &Scoring) -> Alignment {
    if scoring.mode == Mode::Local {
        let best = smith_waterman::align(query, target, scoring);
        let (query_start, target_start) = (best.query.start as u32, best.target.start as u32);
        return Alignment { score: best.score, query_start, target_start, cigar: best.cigar };
    }
    let best = needleman_wunsch::align(query, target, scoring);
    Alignment::end_to_end(best.score, best.cigar)
}

/// Returns an error message if a row differs from the oracle.
fn judge(row: &PairRow, job: &PairList) -> Result<(), String> {
    let result = &row.result;
    let (query, target) = (row.queries.codes(result.query), row.targets.codes(result.target));
    let [plus, minus] = [query.to_vec(), reverse_complement(query)].map(|query| expected(&query, target, &job.scoring));
    let (best, strand) = match job.strand {
        Strands::Both if minus.score > plus.score => (minus, Strand::Minus),
        Strands::Minus => (minus, Strand::Minus),
        Strands::Both | Strands::Plus => (plus, Strand::Plus),
    };
    let actual = (result.score, result.strand, result.alignment.clone());
    let right = (best.score, strand, (!job.score_only).then(|| best.clone()));
    let (m, n) = (query.len() as u32, target.len() as u32);
    let counts = if job.score_only { Default::default() } else { best.cigar.counts() };
    let identity = if job.score_only { 0.0 } else { job.definition.identity(&counts, m, n) };
    let is_right = actual == right && result.counts == counts && result.identity == identity;
    if is_right { Ok(()) } else { Err(format!("pair {}: {actual:?} where {right:?} is right", row.number)) }
}

fn rows_of(job: &PairList, run: &Run) -> Vec<PairRow> {
    let mut rows = Vec::new();
    let summary = job
        .run(run, |some| {
            rows.extend_from_slice(some);
            Ok(())
        })
        .unwrap();
    assert_eq!(summary.written, rows.len() as u64);
    rows
}

fn cpu(threads: usize) -> Run {
    Run { devices: vec![Device::Cpu], threads, ..Run::default() }
}

/// Creates a list of pairs, some of them repeated, as a source of pairs.
fn listed(rng: &mut Rng, [queries, targets]: &[Arc<SequenceStore>; 2], count: usize) -> PairSource {
    let mut pairs: Vec<(u32, u32)> = Vec::new();
    for _ in 0..count {
        let pair = match rng.below(4u32) {
            0 if !pairs.is_empty() => rng.pick(&pairs),
            1 => (rng.below(3u32), rng.below(targets.len()) as u32),
            _ => (rng.below(queries.len()) as u32, rng.below(targets.len()) as u32),
        };
        pairs.push(pair);
    }
    PairSource::Listed { queries: Arc::clone(queries), targets: Arc::clone(targets), pairs: pairs.into() }
}

#[test]
fn every_listed_pair_has_the_canonical_alignment() {
    let mut rng = rng(0x11577);
    for scoring in scorings() {
        let sets = sets(&mut rng, &scoring, 30);
        let is_dna = scoring.alphabet == pairwave::Alphabet::Dna;
        let strands = if is_dna { &[Strands::Plus, Strands::Minus, Strands::Both][..] } else { &[Strands::Plus] };
        for &strand in strands {
            let source = listed(&mut rng, &sets, 70);
            let PairSource::Listed { pairs, .. } = source.clone() else { unreachable!("it was listed") };
            let job = PairList { strand, check: true, ..PairList::new(source, Arc::new(scoring.clone())) };
            let rows = rows_of(&job, &cpu(2));
            assert_eq!(rows.iter().map(|row| (row.result.query, row.result.target)).collect::<Vec<_>>(), *pairs);
            assert!(rows.iter().enumerate().all(|(number, row)| row.number == number as u64));
            rows.iter().for_each(|row| judge(row, &job).unwrap());
            for (chunk_pairs, threads) in [(1, 1), (7, 2), (69, 1), (1000, 3)] {
                let other = PairList { chunk_pairs, check: false, ..job.clone() };
                assert_eq!(rows_of(&other, &cpu(threads)), rows, "{chunk_pairs} {threads}");
            }
            let scored = PairList { score_only: true, check: false, ..job };
            rows_of(&scored, &cpu(1)).iter().for_each(|row| judge(row, &scored).unwrap());
        }
    }
}

#[test]
fn the_judge_rejects_wrong_rows() {
    let scoring = Scoring { mode: Mode::Local, ..Scoring::truong() };
    let sets = sets(&mut rng(7), &scoring, 3);
    let pairs = vec![(0, 0), (1, 1)].into();
    let [queries, targets] = sets;
    let job = PairList::new(PairSource::Listed { queries, targets, pairs }, Arc::new(scoring));
    let rows = rows_of(&job, &cpu(1));
    judge(&rows[0], &job).unwrap();
    let mut wrong = rows[0].clone();
    wrong.result.score += 1;
    judge(&wrong, &job).unwrap_err();
    let mut wrong = rows[0].clone();
    wrong.result.strand = Strand::Minus;
    judge(&wrong, &job).unwrap_err();
    judge(&PairRow { result: rows[1].result.clone(), ..rows[0].clone() }, &job).unwrap();
    judge(&PairRow { targets: Arc::clone(&rows[0].queries), ..rows[0].clone() }, &job).unwrap_err();
}

/// Writes the sequences of a store to a temporary file.
fn file(store: &SequenceStore) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file can be made");
    for id in 0..store.len() as u32 {
        writeln!(file, ">{}\n{}", store.name(id), store.letters(id)).expect("it can be written");
    }
    file
}

#[test]
fn files_in_step_are_the_list_of_their_numbers() {
    let mut rng = rng(0x57e9);
    for (scoring, count) in scorings().into_iter().zip([1, 12, 40, 33].into_iter().cycle()) {
        let [queries, targets] = sets(&mut rng, &scoring, count);
        let files = [file(&queries), file(&targets)];
        let paths = files.each_ref().map(|file| file.path().to_str().expect("temporary paths are text"));
        let whole = PairSource::by_equal_index(Arc::clone(&queries), Arc::clone(&targets)).unwrap();
        let job = PairList::new(whole, Arc::new(scoring.clone()));
        let expected = rows_of(&job, &cpu(1));
        expected.iter().for_each(|row| judge(row, &job).unwrap());
        let alphabet = pairwave::seq::AlphabetChoice::Fixed(scoring.alphabet);
        for (most_pairs, most_symbols, threads) in
            [(1, u64::MAX, 2), (5, u64::MAX, 1), (100, 150, 2), (1000, 1 << 20, 1)]
        {
            let options = ReadOptions { alphabet, ..ReadOptions::default() };
            let chunks = PairedChunks::open(paths, &options, most_pairs, most_symbols).unwrap();
            let rows = rows_of(&PairList { source: PairSource::in_step(chunks), ..job.clone() }, &cpu(threads));
            assert_eq!(rows.len(), expected.len());
            for (row, expected) in rows.iter().zip(&expected) {
                let same = (&row.result.alignment, row.result.score, row.number);
                assert_eq!(same, (&expected.result.alignment, expected.result.score, expected.number));
                let names = (row.queries.name(row.result.query), row.targets.name(row.result.target));
                assert_eq!(names, (queries.name(expected.result.query), targets.name(expected.result.target)));
            }
        }
    }
}

/// Engines that fail or leave work unfinished change no row, and neither does a GPU. The mock
/// engine does not support local alignments.
#[test]
fn sets_of_unequal_size_are_refused() {
    let [queries, targets] = sets(&mut rng(0x517e), &scorings()[0], 3);
    let mut fewer = SequenceStore::builder(queries.alphabet());
    fewer.push_letters("a", "ACGT").unwrap();
    let fewer = Arc::new(fewer.build());
    for (queries, targets, expected) in [
        (&queries, &fewer, "there are 3 queries but 1 targets"),
        (&fewer, &targets, "there are 1 queries but 3 targets"),
    ] {
        let error = PairSource::by_equal_index(Arc::clone(queries), Arc::clone(targets)).unwrap_err();
        assert!(matches!(error, pairwave::Error::Usage(_)));
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn every_engine_gives_the_same_rows() {
    let mut rng = rng(0xe9e);
    for scoring in [Scoring::dna(), Scoring { mode: Mode::Local, ..Scoring::dna() }, Scoring::protein()] {
        let sets = sets(&mut rng, &scoring, 20);
        let job = PairList { chunk_pairs: 16, ..PairList::new(listed(&mut rng, &sets, 50), Arc::new(scoring)) };
        let rows = rows_of(&job, &cpu(1));
        let gpu = Run { devices: vec![Device::Adapter(Box::new(support::adapter()))], threads: 2, ..Run::default() };
        assert_eq!(rows_of(&job, &gpu), rows);
        if job.scoring.mode == Mode::Local {
            continue;
        }
        let capacity = Capacity { cells: 1 << 20, pairs: 1 << 10, store_bytes: u64::MAX, batches: 2 };
        for script in [vec![Act::LeaveEvery(2), Act::FailCollect], vec![Act::FailSubmit]] {
            let mock: Box<dyn Engine<Pairs>> = Box::new(MockEngine::new("mock", capacity, script.clone()));
            let engines = vec![mock, Box::new(support::cpu())];
            assert_eq!(support::run_on(&job, engines, &support::two_threads()).unwrap().0, rows, "{script:?}");
        }
    }
}

/// An unreadable record ends the job with the reader's error, after the rows for the records before
/// it.
#[test]
fn a_truncated_file_ends_the_job() {
    let scoring = Scoring::truong();
    let [queries, targets] = sets(&mut rng(5), &scoring, 9);
    let mut files = [file(&queries), file(&targets)];
    writeln!(files[0], ">tenth\nACGT").unwrap();
    let paths = files.each_ref().map(|file| file.path().to_str().unwrap());
    let chunks = PairedChunks::open(paths, &ReadOptions::default(), 2, u64::MAX).unwrap();
    let job = PairList::new(PairSource::in_step(chunks), Arc::new(scoring));
    let mut count = 0;
    let error = job.run(&cpu(1), |rows| {
        count += rows.len();
        Ok(())
    });
    let error = error.unwrap_err();
    assert_eq!((error.exit_code(), count), (2, 8));
    assert!(error.to_string().contains("record 'tenth': it has no partner: this is record 10 of 10, and"), "{error}");
}
