//! `EditDistances` against the textbook: the delivered results and their order, for every engine.

use std::sync::Arc;

use pairwave::alignment::verify;
use pairwave::edit::exact::ExactSymbols;
use pairwave::edit::mock::EditMock;
use pairwave::edit::plan::Against;
use pairwave::edit::{BatchDistances, Candidate, Edit, EditReport, Region, oracle};
use pairwave::engine::Engine;
use pairwave::jobs::{EditDistances, EditResult};
use pairwave::score::{Ambiguity, EditDistance, EditMode, EditScheme, Equality, Limit};
use pairwave::seq::{Alphabet, Code, SequenceStore, Strands};
use pairwave::{Error, Job, Run, Summary};

const MODES: [EditMode; 3] = [EditMode::Global, EditMode::Infix, EditMode::Prefix];

/// Creates two engines that take little work at once, so that they share every chunk and return it
/// in pieces.
fn two_engines() -> Vec<Box<dyn Engine<Edit>>> {
    vec![Box::new(EditMock::new("one").with_capacity(2_000, 3)), Box::new(EditMock::new("two").with_capacity(500, 7))]
}

fn run_on(job: &EditDistances, engines: Vec<Box<dyn Engine<Edit>>>) -> pairwave::Result<(Vec<EditResult>, Summary)> {
    let (all, summary) = support::run_on(job, engines, &support::two_threads())?;
    assert_eq!(summary.written, all.len() as u64);
    Ok((all, summary))
}

/// Converts a report of all pairs into a list of the pairs within the limit, as kernels do.
fn list(report: &mut EditReport) {
    let pairs = report.distances.pairs();
    let list = report.distances.within(0..pairs).map(|(pair, distances)| (pair as u32, distances)).collect();
    report.distances = BatchDistances::Listed { pairs, list };
}

/// Creates an engine that lists pairs.
fn one_that_lists() -> Vec<Box<dyn Engine<Edit>>> {
    vec![Box::new(EditMock::new("lists").with_corruption(list))]
}

fn one_of_two_that_lists() -> Vec<Box<dyn Engine<Edit>>> {
    let lists = EditMock::new("lists").with_capacity(2_000, 3).with_corruption(list);
    vec![Box::new(lists), Box::new(EditMock::new("two").with_capacity(500, 7))]
}

/// Returns the results of a job, which must be the same on one engine and on two.
fn run(job: &EditDistances) -> Vec<EditResult> {
    let (one, summary) = run_on(job, vec![Box::new(EditMock::new("one"))]).unwrap();
    assert_eq!(summary.pairs, job.job().pairs());
    assert_eq!(summary.aligned, if job.align || job.check { summary.written } else { 0 });
    let (two, _) = run_on(job, two_engines()).unwrap();
    assert_eq!(one, two);
    for engines in [one_that_lists(), one_of_two_that_lists()] {
        let (listed, summary) = run_on(job, engines).unwrap();
        assert!(summary.engines.iter().all(|engine| engine.lost.is_none()), "{:?}", summary.engines);
        assert_eq!(one, listed);
    }
    one
}

/// Creates patterns, and texts that contain related sequences. Both include short sequences and an
/// empty one.
fn stores(seed: u64, alphabet: Alphabet) -> (Arc<SequenceStore>, Arc<SequenceStore>) {
    let mut rng = support::rng(seed);
    let (mut patterns, mut texts) = (vec![Vec::new()], vec![vec![3; 2]]);
    for length in [1, 7, 31, 32, 33, 64, 70, 129] {
        let pattern = support::random_codes(&mut rng, alphabet, length);
        let before = support::random_codes(&mut rng, alphabet, length / 3);
        let after = support::random_codes(&mut rng, alphabet, 11);
        texts.push([before, support::mutated(&mut rng, alphabet, &pattern, 6), after].concat());
        patterns.push(pattern);
    }
    texts.push(Vec::new());
    (support::store(alphabet, &patterns), support::store(alphabet, &texts))
}

fn equality(alphabet: Alphabet) -> Equality {
    match alphabet {
        Alphabet::Dna => Equality::dna(Ambiguity::Overlap, true),
        alphabet => Equality::literal(alphabet),
    }
}

fn scheme(mode: EditMode, alphabet: Alphabet, limit: Limit) -> Arc<EditScheme> {
    Arc::new(EditScheme { mode, equality: equality(alphabet), limit })
}

/// Returns the pairs of a job in input order.
fn pairs(job: &EditDistances) -> Vec<(u32, Region)> {
    let whole = |text: u32| Region { text, start: 0, end: job.texts().length(text) };
    let (patterns, texts) = (0..job.patterns.len() as u32, 0..job.texts().len() as u32);
    match &job.against {
        Against::Candidates(_, candidates) => candidates.iter().map(|one| (one.pattern, one.region)).collect(),
        Against::Texts(_) => patterns.flat_map(|p| texts.clone().map(move |t| (p, whole(t)))).collect(),
        Against::Later => patterns.flat_map(|p| (p + 1..texts.end).map(move |t| (p, whole(t)))).collect(),
        Against::Tiles(..) => unreachable!("a job makes tiles from texts"),
    }
}

fn codes(job: &EditDistances, pattern: u32, region: Region) -> (&[Code], &[Code]) {
    let text = job.texts().codes(region.text);
    (job.patterns.codes(pattern), &text[region.start as usize..region.end as usize])
}

/// Returns an error message if the results of a job are wrong.
fn compare(job: &EditDistances, results: &[EditResult]) -> Result<(), String> {
    let mut expected: Vec<(u32, Region, EditDistance)> = Vec::new();
    for (pattern, region) in pairs(job) {
        let (p, t) = codes(job, pattern, region);
        let distances = oracle::find(p, t, &job.scheme);
        let end = distances.first_end(job.scheme.mode, p.len() as u32);
        expected.push((pattern, region, EditDistance { end, ..distances }));
    }
    if let Some(most) = job.max_hits {
        for pattern in 0..job.patterns.len() as u32 {
            let mut results: Vec<usize> = (0..expected.len()).filter(|&at| expected[at].0 == pattern).collect();
            results.sort_by_key(|&at| (expected[at].2.distance, at));
            results.into_iter().skip(most).for_each(|at| expected[at].2 = EditDistance::NONE);
        }
    }
    expected.retain(|(_, _, distances)| distances.is_some());
    let distances: Vec<(u32, Region, EditDistance)> = results
        .iter()
        .map(|result| {
            let distances = EditDistance { distance: result.distance, end: result.end - result.region.start };
            (result.pattern, result.region, distances)
        })
        .collect();
    if let Some((distances, expected)) =
        distances.iter().zip(&expected).find(|(distances, expected)| distances != expected)
    {
        return Err(format!("{distances:?}, not {expected:?}"));
    }
    if distances.len() != expected.len() {
        return Err(format!("{} results, not {}", distances.len(), expected.len()));
    }
    results.iter().try_for_each(|result| compare_one(job, result))
}

/// Checks the alignment and the ends of a result.
fn compare_one(job: &EditDistances, result: &EditResult) -> Result<(), String> {
    let (pattern, text) = codes(job, result.pattern, result.region);
    if result.alignment.is_some() != (job.align || job.check) {
        return Err("an alignment too few or too many".into());
    }
    if let Some(alignment) = &result.alignment {
        let part = &job.texts().codes(result.text())[alignment.start as usize..result.end as usize];
        let edits = verify(&alignment.cigar, pattern, part, &job.scheme.equality.scoring());
        let edits = -edits.map_err(|error| error.to_string())?;
        if edits != i64::from(result.distance) || alignment.counts != alignment.cigar.counts() {
            return Err(format!("{alignment:?} has {edits} edits, not {}", result.distance));
        }
        let columns = alignment.cigar.columns().max(1);
        if alignment.identity != alignment.counts.matches as f64 / columns as f64 {
            return Err(format!("{alignment:?} has another identity"));
        }
        if alignment.start < result.region.start
            || job.scheme.mode != EditMode::Infix && alignment.start != result.region.start
        {
            return Err(format!("{alignment:?} does not begin where it has to"));
        }
    }
    let mut ends = Vec::new();
    if job.all_ends {
        let row = oracle::last_row(pattern, text, &job.scheme);
        let limit = job.scheme.limit(pattern.len() as u32, text.len() as u32);
        let last = if pattern.is_empty() { 1 } else { row.len() };
        let within = (0..last).filter(|&end| row[end] <= limit);
        ends.extend(within.map(|end| (result.region.start + end as u32, row[end])));
    }
    if ends == result.ends { Ok(()) } else { Err(format!("ends {:?}, not {ends:?}", result.ends)) }
}

#[track_caller]
fn check(job: &EditDistances) -> Vec<EditResult> {
    let results = run(job);
    compare(job, &results).unwrap();
    results
}

/// Creates candidates in random order: parts and whole texts, with several candidates per pair.
fn candidates(seed: u64, patterns: &SequenceStore, texts: &SequenceStore, count: usize) -> Vec<Candidate> {
    let mut rng = support::rng(seed);
    let mut below = |most: u32| rng.next_u32() % most.max(1);
    let candidate = |_| {
        let (pattern, text) = (below(patterns.len() as u32), below(texts.len() as u32));
        let end = below(texts.length(text) + 1);
        let region = Region { text, start: below(end + 1), end };
        Candidate { pattern, region }
    };
    (0..count).map(candidate).collect()
}

#[test]
fn every_mode_and_alphabet_matches_textbook() {
    for alphabet in [Alphabet::Dna, Alphabet::Protein, Alphabet::Bytes] {
        let (patterns, texts) = stores(1, alphabet);
        for mode in MODES {
            let scheme = scheme(mode, alphabet, Limit::None);
            for against in [Against::Later, Against::Texts(Arc::clone(&texts))] {
                let job = EditDistances {
                    align: true,
                    check: true,
                    ..EditDistances::new(Arc::clone(&patterns), against, Arc::clone(&scheme))
                };
                let results = check(&job);
                assert_eq!(results.len() as u64, job.job().pairs(), "{alphabet:?} {mode:?}");
                check(&EditDistances { align: false, check: false, ..job });
            }
        }
    }
}

#[test]
fn limits_match_textbook() {
    let (patterns, texts) = stores(2, Alphabet::Dna);
    for mode in MODES {
        for limit in [Limit::Distance(0), Limit::Distance(5), Limit::Distance(1000), Limit::Rate(0.2), Limit::Rate(1.0)]
        {
            for against in [Against::Later, Against::Texts(Arc::clone(&texts))] {
                let scheme = scheme(mode, Alphabet::Dna, limit);
                check(&EditDistances::new(Arc::clone(&patterns), against, scheme));
            }
        }
    }
}

#[test]
fn candidates_may_be_in_any_order() {
    for alphabet in [Alphabet::Dna, Alphabet::Bytes] {
        let (patterns, texts) = stores(3, alphabet);
        let mut random = candidates(4, &patterns, &texts, 300);
        for mode in MODES {
            for limit in [Limit::None, Limit::Rate(0.5)] {
                let scheme = scheme(mode, alphabet, limit);
                let job = |candidates: &[Candidate]| {
                    let against = Against::Candidates(Arc::clone(&texts), Arc::new(candidates.to_vec()));
                    EditDistances::new(Arc::clone(&patterns), against, Arc::clone(&scheme))
                };
                check(&job(&random));
                check(&EditDistances { align: true, ..job(&random) });
                check(&EditDistances { max_hits: Some(3), ..job(&random) });
                random.sort_by_key(|candidate| std::cmp::Reverse(candidate.pattern));
                check(&job(&random));
                check(&EditDistances { max_hits: Some(3), check: true, ..job(&random) });
                random.sort_by_key(|candidate| candidate.region.start);
            }
        }
        let against = Against::Candidates(texts, Arc::default());
        assert_eq!(check(&EditDistances::new(patterns, against, scheme(EditMode::Infix, alphabet, Limit::None))), []);
    }
}

#[test]
fn best_result_of_each_pattern_is_selected() {
    let (patterns, texts) = stores(5, Alphabet::Dna);
    for mode in MODES {
        for most in [1, 2, 100] {
            for against in [Against::Later, Against::Texts(Arc::clone(&texts))] {
                let scheme = scheme(mode, Alphabet::Dna, Limit::None);
                let job = EditDistances::new(Arc::clone(&patterns), against, scheme);
                check(&EditDistances { max_hits: Some(most), ..job });
            }
        }
    }
}

#[test]
fn all_ends_are_reported() {
    let (patterns, texts) = stores(6, Alphabet::Dna);
    let mut several = 0;
    for mode in [EditMode::Infix, EditMode::Prefix] {
        for limit in [Limit::Distance(4), Limit::Rate(0.3)] {
            let against = Against::Candidates(Arc::clone(&texts), Arc::new(candidates(7, &patterns, &texts, 100)));
            for against in [Against::Later, Against::Texts(Arc::clone(&texts)), against] {
                let job = EditDistances::new(Arc::clone(&patterns), against, scheme(mode, Alphabet::Dna, limit));
                let results = check(&EditDistances { all_ends: true, align: true, ..job });
                several += results.iter().filter(|result| result.ends.len() > 1).count();
            }
        }
    }
    assert!(several > 50, "{several}");
}

/// Uses more candidates than fit in a chunk.
#[test]
fn many_candidates_fill_several_chunks() {
    let patterns = support::store(Alphabet::Dna, &[vec![1, 2], vec![4]]);
    let texts = support::store(Alphabet::Dna, &[vec![2, 4, 8, 1, 2]]);
    let region = |start| Region { text: 0, start, end: 5 };
    let mut candidates: Vec<Candidate> = (0..600_000)
        .map(|index| Candidate { pattern: u32::from(index >= 270_000), region: region(index % 6) })
        .collect();
    for _ in 0..2 {
        let against = Against::Candidates(Arc::clone(&texts), Arc::new(candidates.clone()));
        let scheme = scheme(EditMode::Infix, Alphabet::Dna, Limit::Distance(1));
        check(&EditDistances { align: true, ..EditDistances::new(Arc::clone(&patterns), against, scheme) });
        candidates.iter_mut().step_by(3).for_each(|candidate| candidate.pattern = 0);
    }
}

#[test]
fn invalid_jobs_are_refused() {
    let (patterns, texts) = stores(8, Alphabet::Dna);
    let job = |mode, limit| {
        let against = Against::Texts(Arc::clone(&texts));
        EditDistances::new(Arc::clone(&patterns), against, scheme(mode, Alphabet::Dna, limit))
    };
    let candidate = |pattern, text, start, end| {
        let one = Candidate { pattern, region: Region { text, start, end } };
        let against = Against::Candidates(Arc::clone(&texts), Arc::new(vec![one]));
        EditDistances { against, ..job(EditMode::Infix, Limit::None) }
    };
    let proteins = scheme(EditMode::Infix, Alphabet::Protein, Limit::None);
    let exact = |last| ExactSymbols { ranges: Vec::new(), last };
    let wrong = [
        job(EditMode::Global, Limit::Rate(1.5)),
        EditDistances { all_ends: true, ..job(EditMode::Global, Limit::Distance(3)) },
        EditDistances { all_ends: true, ..job(EditMode::Infix, Limit::None) },
        EditDistances { all_places: true, ..job(EditMode::Prefix, Limit::Distance(3)) },
        EditDistances { all_places: true, ..job(EditMode::Infix, Limit::None) },
        EditDistances { all_places: true, all_ends: true, ..job(EditMode::Infix, Limit::Distance(3)) },
        EditDistances { all_places: true, max_hits: Some(1), ..job(EditMode::Infix, Limit::Distance(3)) },
        EditDistances { all_places: true, against: Against::Later, ..job(EditMode::Infix, Limit::Distance(3)) },
        EditDistances { exact: exact(1), ..job(EditMode::Infix, Limit::Distance(3)) },
        EditDistances { all_places: true, exact: exact(999), ..job(EditMode::Infix, Limit::Distance(3)) },
        EditDistances { overhang: Some(0.5), ..job(EditMode::Infix, Limit::Distance(3)) },
        EditDistances { all_places: true, overhang: Some(2.0), ..job(EditMode::Infix, Limit::Distance(3)) },
        EditDistances { all_places: true, max_n_fraction: Some(2.0), ..job(EditMode::Infix, Limit::Distance(3)) },
        EditDistances { scheme: proteins, ..job(EditMode::Infix, Limit::None) },
        candidate(9, 0, 0, 1),
        candidate(0, 99, 0, 1),
        candidate(0, 0, 2, 1),
        candidate(0, 0, 0, 3),
    ];
    let messages = wrong.map(|job| {
        let error = job.run(&Run::default(), |_| panic!("nothing is handed over")).unwrap_err();
        assert!(matches!(error, Error::Usage(_)), "{error}");
        error.to_string()
    });
    insta::assert_snapshot!(messages.join("\n"), @"
    limit 1.5: rates are from 0 to 1
    all_ends: a text that is compared end to end has only one end
    all_ends: without a `limit` every symbol of a text is an end
    all_places: places are parts of texts, so the mode must be infix
    all_places: without a `limit` every part of a text is a place
    all_places: a row has one place, so `all_ends` has no effect
    all_places: `max_hits` selects pairs, not places
    all_places: places are sought in whole texts, so texts are required
    exact: only places have exact symbols, so `all_places` is required
    exact: pattern 's0' has 0 symbols, but symbol 999 must match exactly
    overhang: only places hang over, so `all_places` is required
    overhang 2: a cost per symbol is from 0 to 1
    max_n_fraction 2: a fraction is from 0 to 1
    patterns: these are Dna sequences, but the distance is for Protein
    candidates: number 0 is outside the sequences: Candidate { pattern: 9, region: Region { text: 0, start: 0, end: 1 } }
    candidates: number 0 is outside the sequences: Candidate { pattern: 0, region: Region { text: 99, start: 0, end: 1 } }
    candidates: number 0 is outside the sequences: Candidate { pattern: 0, region: Region { text: 0, start: 2, end: 1 } }
    candidates: number 0 is outside the sequences: Candidate { pattern: 0, region: Region { text: 0, start: 0, end: 3 } }
    ");
}

/// Wrong results are detected because they are impossible, by the traceback, or by the comparison
/// in this test.
#[test]
fn wrong_results_are_detected() {
    let (patterns, texts) = stores(9, Alphabet::Dna);
    let job = |mode, align| {
        let against = Against::Texts(Arc::clone(&texts));
        let job = EditDistances::new(Arc::clone(&patterns), against, scheme(mode, Alphabet::Dna, Limit::None));
        EditDistances { align, ..job }
    };
    let spoilt = |job: &EditDistances, spoil: fn(&mut EditReport)| {
        run_on(job, vec![Box::new(EditMock::new("wrong").with_corruption(spoil))])
    };
    // Reports with too few results, or with ends beyond texts, are rejected. The CPU computes these
    // blocks again.
    for spoil in [(|report| _ = report.distances.each_mut().pop()) as fn(&mut EditReport), |report| {
        report.distances.each_mut()[0].end += 1 << 20
    }] {
        let job = job(EditMode::Infix, false);
        let (results, summary) = spoilt(&job, spoil).unwrap();
        assert!(summary.engines[0].lost.is_some());
        compare(&job, &results).unwrap();
    }
    // A wrong distance that is possible.
    let shift = |report: &mut EditReport| {
        let some = report
            .distances
            .each_mut()
            .iter_mut()
            .filter(|distances| (2..10).contains(&distances.distance) && distances.end > 30);
        some.for_each(|distances| distances.distance -= 1);
    };
    let error = spoilt(&job(EditMode::Infix, true), shift).unwrap_err().to_string();
    assert!(error.contains("the engine"), "{error}");
    let unaligned = job(EditMode::Infix, false);
    let (results, _) = spoilt(&unaligned, shift).unwrap();
    assert!(compare(&unaligned, &results).is_err());
    let right = job(EditMode::Infix, true);
    let (results, _) = run_on(&right, two_engines()).unwrap();
    compare(&right, &results).unwrap();
    for spoil in [
        (|results| results.swap(3, 4)) as fn(&mut Vec<EditResult>),
        |results| _ = results.remove(5),
        |results| results[23].end -= 1,
        |results| results[23].alignment = None,
        |results| results[23].ends.push((1, 1)),
        |results| _ = results.iter_mut().find_map(|result| result.alignment.as_mut()).map(|one| one.identity += 0.5),
    ] {
        let mut wrong = results.clone();
        spoil(&mut wrong);
        assert!(compare(&right, &wrong).is_err());
    }
}

#[test]
fn distances_above_the_limit_are_dropped() {
    let patterns = support::store(Alphabet::Dna, &[vec![1; 8]]);
    let texts = support::store(Alphabet::Dna, &[vec![2; 9], vec![1; 9]]);
    for mode in [EditMode::Infix, EditMode::Prefix] {
        let scheme = scheme(mode, Alphabet::Dna, Limit::Distance(2));
        let job = EditDistances::new(Arc::clone(&patterns), Against::Texts(Arc::clone(&texts)), scheme);
        let above = |report: &mut EditReport| {
            report
                .distances
                .each_mut()
                .iter_mut()
                .filter(|distances| !distances.is_some())
                .for_each(|distances| *distances = EditDistance { distance: 8, end: 1 });
        };
        let (results, summary) = run_on(&job, vec![Box::new(EditMock::new("all").with_corruption(above))]).unwrap();
        assert!(summary.engines[0].lost.is_none());
        compare(&job, &results).unwrap();
        assert_eq!(results.len(), 1);
    }
}

/// Delivered results do not depend on whether engines list the pairs within the limit or report all
/// pairs.
#[test]
fn lists_give_the_same_results_as_reports_of_all_pairs() {
    let (patterns, texts) = stores(0x11, Alphabet::Dna);
    let some = candidates(5, &patterns, &texts, 90);
    let kinds =
        [Against::Later, Against::Texts(Arc::clone(&texts)), Against::Candidates(Arc::clone(&texts), Arc::new(some))];
    let limits = [Limit::None, Limit::Distance(0), Limit::Distance(12), Limit::Rate(0.3)];
    let mut written = 0;
    for against in kinds {
        for strand in [Strands::Plus, Strands::Minus, Strands::Both] {
            for (limit, max_hits) in limits.into_iter().flat_map(|limit| [(limit, None), (limit, Some(2))]) {
                for mode in [EditMode::Global, EditMode::Infix] {
                    let scheme = scheme(mode, Alphabet::Dna, limit);
                    let job = EditDistances::new(Arc::clone(&patterns), against.clone(), scheme);
                    let job = EditDistances { strand, max_hits, ..job };
                    written += run(&job).len();
                }
            }
        }
    }
    assert!(written > 1000, "{written}");
}

/// Impossible lists are detected, and their blocks computed again.
#[test]
fn impossible_lists_are_detected() {
    // Each of these patterns is within 3 edits of any text, so no pair may be omitted.
    let patterns = support::store(Alphabet::Dna, &[vec![], vec![1], vec![2; 2], vec![4, 8, 1]]);
    let (_, texts) = stores(0x12, Alphabet::Dna);
    let scheme = scheme(EditMode::Infix, Alphabet::Dna, Limit::Distance(3));
    let job = EditDistances::new(patterns, Against::Texts(texts), scheme);
    fn listed(report: &mut EditReport, spoil: fn(&mut usize, &mut Vec<(u32, EditDistance)>)) {
        list(report);
        if let BatchDistances::Listed { pairs, list } = &mut report.distances {
            spoil(pairs, list);
        }
    }
    let spoils: [fn(&mut EditReport); 6] = [
        |report| listed(report, |pairs, _| *pairs += 1),
        |report| listed(report, |_, list| list.swap(0, 1)),
        |report| listed(report, |_, list| list.insert(0, list[0])),
        |report| listed(report, |pairs, list| list.last_mut().expect("some").0 = *pairs as u32),
        |report| listed(report, |_, list| list[0].1 = EditDistance::NONE),
        |report| listed(report, |_, list| list.clear()),
    ];
    for spoil in spoils {
        let (results, summary) = run_on(&job, vec![Box::new(EditMock::new("wrong").with_corruption(spoil))]).unwrap();
        assert!(summary.engines[0].lost.is_some());
        compare(&job, &results).unwrap();
    }
}

#[test]
fn interrupts_and_sinks_stop_a_job() {
    let (patterns, texts) = stores(10, Alphabet::Dna);
    let against = Against::Texts(texts);
    let job = EditDistances::new(patterns, against, scheme(EditMode::Infix, Alphabet::Dna, Limit::None));
    let run = support::two_threads();
    let error = job.run(&run, |_| Err(Error::OutputClosed)).unwrap_err();
    assert!(matches!(error, Error::OutputClosed));
    run.interrupt.store(true, std::sync::atomic::Ordering::Relaxed);
    assert!(matches!(job.run(&run, |_| Ok(())).unwrap_err(), Error::Interrupted));
}
