//! Both strands of the queries: `AllPairs` and `EditDistances` against the oracle, strand by
//! strand.

use std::cmp::Reverse;
use std::sync::Arc;

use pairwave::edit::mock::EditMock;
use pairwave::edit::overhang::Overhang;
use pairwave::edit::plan::Against;
use pairwave::edit::{Candidate, Edit, Region, oracle as edit_oracle};
use pairwave::engine::{Capacity, Engine};
use pairwave::gpu::adapter::Device;
use pairwave::jobs::EditFilter;
use pairwave::pairs::mock::MockEngine;
use pairwave::pairs::{Pairs, oracle};
use pairwave::score::{
    Ambiguity, EditDistance, EditMode, EditScheme, Equality, IdentityDefinition, Limit, Mode, Scoring,
};
use pairwave::seq::{Alphabet, Code, SequenceStore, Strand, Strands};
use pairwave::{AllPairs, EditDistances, EditResult, Job, PairResult, Run};
use support::{Rng, rng};

/// Returns the reverse complement, letter by letter.
fn reverse_complement(codes: &[Code]) -> Vec<Code> {
    let complement = |letter: u8| match letter {
        b'A' => b'T',
        b'C' => b'G',
        b'G' => b'C',
        b'T' => b'A',
        b'R' => b'Y',
        b'Y' => b'R',
        b'K' => b'M',
        b'M' => b'K',
        b'B' => b'V',
        b'V' => b'B',
        b'D' => b'H',
        b'H' => b'D',
        same => same,
    };
    let dna = Alphabet::Dna;
    codes.iter().rev().map(|&code| dna.encode(complement(dna.decode(code))).unwrap()).collect()
}

/// Creates random sequences. Many are relatives of an earlier one on either strand, and some are
/// empty.
fn sequences(rng: &mut Rng, count: usize, longest: u32) -> Arc<SequenceStore> {
    let mut all: Vec<Vec<Code>> = Vec::new();
    for _ in 0..count {
        let length = rng.below(longest) as usize;
        let relative = (rng.below(3u32) > 0 && !all.is_empty()).then(|| rng.below(all.len()));
        let codes = match relative {
            Some(of) => {
                let codes = support::mutated(rng, Alphabet::Dna, &all[of], 5);
                if rng.below(2u32) == 0 { reverse_complement(&codes) } else { codes }
            }
            None => support::random_codes(rng, Alphabet::Dna, length),
        };
        all.push(codes);
    }
    support::store(Alphabet::Dna, &all)
}

/// Returns the compared strands in their order of preference.
fn strands(strand: Strands) -> &'static [Strand] {
    match strand {
        Strands::Plus => &[Strand::Plus],
        Strands::Minus => &[Strand::Minus],
        Strands::Both => &[Strand::Plus, Strand::Minus],
    }
}

fn oriented(strand: Strand, codes: &[Code]) -> Vec<Code> {
    if strand == Strand::Minus { reverse_complement(codes) } else { codes.to_vec() }
}

/// Returns the pairs that a job has to return by its definition.
fn expected_pairs(job: &AllPairs) -> Vec<PairResult> {
    let mut all = Vec::new();
    for query in 0..job.queries.len() as u32 {
        let first = if job.against.is_none() { query + 1 } else { 0 };
        let mut kept: Vec<PairResult> = Vec::new();
        for target in first..job.targets().len() as u32 {
            let results = strands(job.strand).iter().map(|&strand| {
                let (a, b) = (oriented(strand, job.queries.codes(query)), job.targets().codes(target));
                let alignment = if job.scoring.mode == Mode::Local {
                    // Other tests compare this traceback with the oracle.
                    pairwave::align(letters(&a), letters(b), &job.scoring).unwrap()
                } else {
                    let best = oracle::align(&a, b, &job.scoring);
                    pairwave::Alignment::end_to_end(best.score, best.cigar)
                };
                let counts = alignment.cigar.counts();
                let identity = job.definition.identity(&counts, a.len() as u32, b.len() as u32);
                let score = alignment.score;
                PairResult { query, target, strand, score, alignment: Some(alignment), counts, identity }
            });
            let passing = results.filter(|result| {
                let enough = job.min_identity.is_none_or(|least| result.identity + 1e-12 >= least);
                enough && job.min_score.is_none_or(|least| result.score >= least)
            });
            // Among equal strands, the first one counts.
            kept.extend(passing.min_by_key(|result| Reverse(result.score)));
        }
        if let Some(most) = job.max_hits {
            let local = job.scoring.mode == Mode::Local;
            kept.sort_by(|a, b| {
                let (identity, score) = (b.identity.total_cmp(&a.identity), b.score.cmp(&a.score));
                if local { score.then(identity) } else { identity.then(score) }
            });
            kept.truncate(most);
            kept.sort_by_key(|result| result.target);
        }
        all.extend(kept);
    }
    if job.score_only {
        for result in &mut all {
            (result.alignment, result.counts, result.identity) = (None, Default::default(), 0.0);
        }
    }
    all
}

fn letters(codes: &[Code]) -> Vec<u8> {
    codes.iter().map(|&code| Alphabet::Dna.decode(code)).collect()
}

fn gpu() -> Device {
    Device::Adapter(Box::new(support::adapter()))
}

fn run<J: Job<Row: Clone>>(job: &J, devices: Vec<Device>) -> Vec<J::Row> {
    let mut rows = Vec::new();
    let run = Run { devices, threads: 2, ..Run::default() };
    job.run(&run, |some| {
        rows.extend_from_slice(some);
        Ok(())
    })
    .expect("the job ends well");
    rows
}

/// Compares two lists. Reports the first difference in one line.
fn assert_same<T: PartialEq + std::fmt::Debug>(actual: &[T], expected: &[T], what: &str) {
    if let Some((actual, expected)) = actual.iter().zip(expected).find(|(actual, expected)| actual != expected) {
        panic!("{what}:\n{actual:?}, not\n{expected:?}");
    }
    assert_eq!(actual.len(), expected.len(), "{what}");
}

/// Creates engines with small capacities, so that several engines share a chunk and return it in
/// pieces.
pub(crate) fn small_engines(seed: usize) -> Vec<Box<dyn Engine<Pairs>>> {
    let mock = |cells, pairs| Capacity { cells, pairs, store_bytes: u64::MAX, batches: 2 };
    let capacities = [mock(3_000, 7), mock(40_000, 64), mock(500, 3)];
    let engines = (0..2).map(|index| capacities[(seed + index) % 3]);
    engines.map(|capacity| Box::new(MockEngine::new("mock", capacity, [])) as Box<dyn Engine<Pairs>>).collect()
}

#[test]
fn the_better_strand_of_each_pair_is_handed_over() {
    let scorings: Vec<Scoring> =
        support::scorings().into_iter().filter(|scoring| scoring.alphabet == Alphabet::Dna).collect();
    let mut minus = 0;
    for seed in 0..24 {
        let mut rng = rng(0x57a0d + seed);
        let mode = if rng.below(5u32) == 0 { Mode::Local } else { Mode::Global };
        let scoring = Scoring { mode, ..scorings[rng.below(scorings.len())].clone() };
        // Some sets are larger than the parts into which a chunk is divided.
        let count = [5, 12, 40][rng.below(3usize)];
        let queries = sequences(&mut rng, count, 60);
        let against = (rng.below(2u32) == 0).then(|| sequences(&mut rng, 9, 90));
        let min_identity = [None, Some(0.5), Some(0.9)][rng.below(3usize)];
        let score_only = min_identity.is_none() && rng.below(3u32) == 0;
        let job = AllPairs {
            against,
            strand: [Strands::Both, Strands::Both, Strands::Minus][rng.below(3usize)],
            definition: [IdentityDefinition::InnerColumns, IdentityDefinition::Columns][rng.below(2usize)],
            min_identity,
            min_score: [None, Some(20)][rng.below(2usize)],
            score_only,
            max_hits: if score_only { None } else { [None, Some(2)][rng.below(2usize)] },
            check: !score_only,
            edit_filter: if min_identity.is_some() { EditFilter::On } else { EditFilter::Auto },
            ..AllPairs::new(queries, Arc::new(scoring))
        };
        let expected = expected_pairs(&job);
        minus += expected.iter().filter(|result| result.strand == Strand::Minus).count();
        let what = |who: &str| format!("seed {seed}, {who}, {:?}", AllPairs { against: None, ..job.clone() });
        assert_same(&run(&job, vec![Device::Cpu]), &expected, &what("CPU"));
        // Neither the mock engines nor these GPU kernels align locally.
        if mode == Mode::Global {
            let (mocks, summary) =
                support::run_on(&job, small_engines(seed as usize), &support::two_threads()).unwrap();
            assert_same(&mocks, &expected, &what("mocks"));
            assert_eq!((summary.cells, summary.pairs), (job.cells(), job.job().pairs()));
            assert_eq!(summary.written, expected.len() as u64);
            assert_same(&run(&job, vec![gpu()]), &expected, &what("GPU"));
            let unfiltered = AllPairs { edit_filter: EditFilter::Off, ..job.clone() };
            assert_same(&run(&unfiltered, vec![gpu(), Device::Cpu]), &expected, &what("both, no filter"));
        }
    }
    assert!(minus > 300, "{minus}");
}

/// Returns the distances that a job has to return by its definition, without the alignments.
fn expected_distances(job: &EditDistances) -> Vec<EditResult> {
    let whole = |text: u32| Region { text, start: 0, end: job.texts().length(text) };
    let texts = job.texts().len() as u32;
    let patterns = 0..job.patterns.len() as u32;
    let pairs: Vec<(u32, Region)> = match &job.against {
        Against::Candidates(_, candidates) => candidates.iter().map(|one| (one.pattern, one.region)).collect(),
        Against::Texts(_) => patterns.clone().flat_map(|p| (0..texts).map(move |t| (p, whole(t)))).collect(),
        Against::Later => patterns.clone().flat_map(|p| (p + 1..texts).map(move |t| (p, whole(t)))).collect(),
        Against::Tiles(..) => unreachable!("a job makes tiles from texts"),
    };
    let mut all = Vec::new();
    for (pattern, region) in pairs {
        let text = &job.texts().codes(region.text)[region.start as usize..region.end as usize];
        let of = |&strand: &Strand| {
            let codes = oriented(strand, job.patterns.codes(pattern));
            let actual = edit_oracle::find(&codes, text, &job.scheme);
            let end = actual.first_end(job.scheme.mode, codes.len() as u32);
            let actual = EditDistance { end, ..actual };
            let limit = job.scheme.limit(codes.len() as u32, text.len() as u32);
            let ends = (0..).zip(edit_oracle::last_row(&codes, text, &job.scheme));
            let ends = ends.filter(|&(_, distance)| job.all_ends && distance <= limit);
            let ends = ends.map(|(end, distance)| (region.start + end, distance)).collect();
            (actual, strand, ends)
        };
        let results: Vec<(_, _, Vec<(u32, u32)>)> = strands(job.strand).iter().map(of).collect();
        let (actual, strand, ends) = results.into_iter().min_by_key(|(actual, ..)| actual.distance).unwrap();
        let end = region.start.wrapping_add(actual.end);
        let (distance, overhang) = (actual.distance, Overhang::default());
        all.push(EditResult { pattern, region, strand, distance, end, overhang, alignment: None, ends });
    }
    if let Some(most) = job.max_hits {
        for pattern in patterns {
            let mut kept: Vec<usize> = (0..all.len()).filter(|&at| all[at].pattern == pattern).collect();
            kept.sort_by_key(|&at| (all[at].distance, at));
            kept.into_iter().skip(most).for_each(|at| all[at].distance = u32::MAX);
        }
    }
    all.retain(|result| result.distance != u32::MAX);
    all
}

#[test]
fn the_nearer_strand_of_each_pattern_is_handed_over() {
    let mut minus = 0;
    for seed in 0..30 {
        let mut rng = rng(0xed1 + seed);
        let mode = [EditMode::Global, EditMode::Infix, EditMode::Prefix][rng.below(3usize)];
        let limit = [Limit::None, Limit::Rate(0.3), Limit::Distance(6)][rng.below(3usize)];
        let equality = [Equality::dna(Ambiguity::Overlap, true), Equality::literal(Alphabet::Dna)];
        let scheme = EditScheme { mode, equality: equality[rng.below(2usize)].clone(), limit };
        let patterns = sequences(&mut rng, 15, 70);
        let texts = sequences(&mut rng, 6, 150);
        let candidates = |rng: &mut Rng, is_grouped: bool| {
            let mut all = Vec::new();
            for index in 0..40 {
                let pattern = if is_grouped { index / 3 } else { rng.below(15u32) };
                let text = rng.below(6u32);
                let end = rng.below(texts.length(text) + 1);
                let region = Region { text, start: rng.below(end + 1), end };
                all.push(Candidate { pattern, region });
            }
            Against::Candidates(Arc::clone(&texts), Arc::new(all))
        };
        let against = match rng.below(4u32) {
            0 => Against::Later,
            1 => Against::Texts(Arc::clone(&texts)),
            kind => candidates(&mut rng, kind == 2),
        };
        let align = rng.below(2u32) == 0;
        // An empty pattern ends everywhere, and an empty text ends once. Other tests cover such
        // ends.
        let all_ends = mode != EditMode::Global && limit != Limit::None && rng.below(2u32) == 0;
        let job = EditDistances {
            strand: [Strands::Both, Strands::Both, Strands::Minus][rng.below(3usize)],
            align,
            all_ends,
            max_hits: [None, Some(2)][rng.below(2usize)],
            check: align,
            ..EditDistances::new(patterns, against, Arc::new(scheme))
        };
        let expected = expected_distances(&job);
        minus += expected.iter().filter(|result| result.strand == Strand::Minus).count();
        let compare = |actual: &[EditResult], who: &str| {
            let bare = |result: &EditResult| {
                let is_odd = job.patterns.length(result.pattern) == 0 || result.region.symbols() == 0;
                let ends = if is_odd { Vec::new() } else { result.ends.clone() };
                EditResult { alignment: None, ends, ..result.clone() }
            };
            let (bared, expected): (Vec<_>, Vec<_>) =
                (actual.iter().map(bare).collect(), expected.iter().map(bare).collect());
            assert_same(&bared, &expected, &format!("seed {seed}, {who}: {mode:?} {limit:?} {:?}", job.strand));
            for result in actual {
                assert_eq!(result.alignment.is_some(), align);
                let Some(alignment) = &result.alignment else { continue };
                let pattern = oriented(result.strand, job.patterns.codes(result.pattern));
                let part = &job.texts().codes(result.text())[alignment.start as usize..result.end as usize];
                let scoring = job.scheme.equality.scoring();
                let edits = pairwave::alignment::verify(&alignment.cigar, &pattern, part, &scoring).unwrap();
                assert_eq!(-edits, i64::from(result.distance));
            }
        };
        let mocks: Vec<Box<dyn Engine<Edit>>> = vec![
            Box::new(EditMock::new("one").with_capacity(2_000, 3)),
            Box::new(EditMock::new("two").with_capacity(500, 7)),
        ];
        let (results, summary) = support::run_on(&job, mocks, &support::two_threads()).unwrap();
        compare(&results, "mocks");
        assert_eq!((summary.cells, summary.pairs), (job.cells(), job.job().pairs()));
        compare(&run(&job, vec![Device::Cpu]), "CPU");
        compare(&run(&job, vec![gpu()]), "GPU");
    }
    assert!(minus > 300, "{minus}");
}

#[test]
fn sequences_without_a_reverse_strand_are_refused() {
    let proteins = support::store(Alphabet::Protein, &[vec![1, 2, 3], vec![1, 2]]);
    let job = AllPairs { strand: Strands::Both, ..AllPairs::new(Arc::clone(&proteins), Arc::new(Scoring::protein())) };
    let error = job.run(&support::two_threads(), |_| Ok(())).unwrap_err();
    assert_eq!((error.to_string().as_str(), error.exit_code()), ("strand: only DNA and RNA have a minus strand", 2));
    for alphabet in [Alphabet::Protein, Alphabet::Bytes] {
        let store = support::store(alphabet, &[vec![1, 2, 3], vec![1, 2]]);
        let scheme = EditScheme { mode: EditMode::Infix, equality: Equality::literal(alphabet), limit: Limit::None };
        let job =
            EditDistances { strand: Strands::Minus, ..EditDistances::new(store, Against::Later, Arc::new(scheme)) };
        let error = job.run(&support::two_threads(), |_| Ok(())).unwrap_err();
        assert_eq!(error.to_string(), "strand: only DNA and RNA have a minus strand");
    }
}
