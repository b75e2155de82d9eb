//! Compares jobs with the definition, on pairs with few different symbols and many repeats.

use std::sync::{Arc, Mutex};

use pairwave::jobs::long::LongTuning;
use pairwave::jobs::{LongAlignment, LongWant, Strands};
use pairwave::long::cpu::CpuLong;
use pairwave::long::gpu::{GpuLong, Schedule, StripedShape};
use pairwave::long::mock::Textbook;
use pairwave::long::{LongEngine, Method};
use pairwave::score::{Ambiguity, Gaps, Scoring};
use pairwave::seq::Code;
use pairwave::simd::InstructionSet;

use super::{Engines, Lent, Rng, below, choose_one, job, local, oracle, run};

const METHODS: [Method; 3] = [Method::Striped, Method::Chunked1, Method::Chunked2];
const STRANDS: [Strands; 3] = [Strands::Plus, Strands::Minus, Strands::Both];

/// Returns a scoring whose gaps are free, cheap or expensive, and whose mismatches never pay or may
/// pay.
pub(super) fn scoring(rng: &mut Rng) -> Scoring {
    let gaps = choose_one(
        rng,
        &[(0, 0), (1, 1), (2, 1), (2, 2), (4, 4), (3, 0), (12, 1), (7, 2), (1, 0)]
            .map(|(first, next)| Gaps { first, next }),
    );
    let (match_score, other) = choose_one(rng, &[(1, -1), (5, -4), (100, -300), (2, -3), (3, -1)]);
    let ambiguity = choose_one(rng, &[Ambiguity::Overlap, Ambiguity::Zero, Ambiguity::Mismatch, Ambiguity::Mean]);
    local(match_score, other, ambiguity, gaps)
}

/// Returns a scoring with the greatest allowed costs and scores.
fn extreme(rng: &mut Rng) -> Scoring {
    let gaps = choose_one(
        rng,
        &[(1_000_000, 1_000_000), (999_000, 50_000), (1_000_000, 0), (9, 1)].map(|(first, next)| Gaps { first, next }),
    );
    local(1_000_000, choose_one(rng, &[-1, -1_000_000]), Ambiguity::Zero, gaps)
}

/// Returns a sequence of at most `most` symbols. It is random, has few different symbols, or
/// repeats a unit with some changes.
pub(super) fn sequence(rng: &mut Rng, most: usize) -> Vec<Code> {
    let length = below(rng, most + 1);
    let letters: &[Code] =
        choose_one(rng, &[&[1][..], &[1, 8], &[1, 2], &[1, 2, 4, 8], &[1, 2, 4, 8], &[1, 3, 4, 6, 9, 15]]);
    if below(rng, 2) == 0 {
        return (0..length).map(|_| choose_one(rng, letters)).collect();
    }
    let unit: Vec<Code> = (0..1 + below(rng, 7)).map(|_| choose_one(rng, letters)).collect();
    let mut codes: Vec<Code> = unit.iter().copied().cycle().take(length).collect();
    for _ in 0..below(rng, 1 + length / 6) {
        let index = below(rng, codes.len());
        match below(rng, 3) {
            0 => codes[index] = choose_one(rng, letters),
            1 => drop(codes.remove(index)),
            _ => codes.insert(index, choose_one(rng, letters)),
        }
    }
    codes
}

/// Returns two sequences. They are unrelated, or the second one consists of parts of the first one
/// and of its reverse complement.
pub(super) fn pair(rng: &mut Rng, most: usize) -> (Vec<Code>, Vec<Code>) {
    let query = sequence(rng, most);
    if query.is_empty() || below(rng, 2) == 0 {
        return (query, sequence(rng, most));
    }
    let (turned, mut target) = (oracle::reverse_complement(&query), Vec::new());
    for _ in 0..1 + below(rng, 4) {
        let from = if below(rng, 3) == 0 { &turned } else { &query };
        let begin = below(rng, from.len());
        target.extend_from_slice(&from[begin..][..below(rng, from.len() - begin + 1)]);
        target.extend(sequence(rng, 5));
    }
    target.truncate(most);
    (query, target)
}

/// Returns a job with random options and sizes.
pub(super) fn any_job(rng: &mut Rng, query: &[Code], target: &[Code], scoring: &Scoring) -> LongAlignment {
    let cuts = [None, Some(64), Some(128)];
    let tuning = LongTuning {
        grid_pitch: choose_one(rng, &cuts),
        panel_columns: choose_one(rng, &cuts),
        belt_rows: choose_one(rng, &cuts),
        section: choose_one(rng, &[None, Some(1), Some(10), Some(64), Some(100)]),
        save_every: None,
        min_empty_cells: choose_one(rng, &[None, Some(0)]),
    };
    let min_score = choose_one(rng, &[1, 1, 2, 9]) * i64::from(scoring.substitution.max_score()).max(4) / 4;
    let (top, strand) = (1 + rng.below(9), choose_one(rng, &STRANDS));
    LongAlignment { top, strand, min_score, prune: below(rng, 2) == 0, tuning, ..job(query, target, scoring) }
}

/// Returns the job once for each method, with random sizes of strips and chunks.
pub(super) fn methods(rng: &mut Rng, job: &LongAlignment) -> [LongAlignment; 3] {
    METHODS.map(|method| {
        let strip = choose_one(rng, &[None, Some(1), Some(3), Some(8), Some(20), Some(70)]);
        let chunk = choose_one(rng, &[None, Some(1), Some(4), Some(7), Some(64)]).filter(|_| method != Method::Striped);
        LongAlignment { method: Some(method), strip, chunk, ..job.clone() }
    })
}

/// Fails unless a job gives the oracle's alignments. If only scores are requested, it must give the
/// same list without columns.
fn check(job: &LongAlignment, engines: impl Fn() -> Engines, what: &str) {
    let (query, target) = (job.query.codes(0), job.target.codes(0));
    let expected = oracle::best(query, target, &job.scoring, job.strand, (job.top, job.min_score));
    let LongAlignment { method, strip, chunk, tuning, scoring, strand, top, min_score, .. } = job;
    let what = || {
        let letters =
            |codes: &[Code]| codes.iter().map(|&code| job.scoring.alphabet.decode(code) as char).collect::<String>();
        let (query, target) = (letters(query), letters(target));
        let scores = (scoring.substitution.max_score(), scoring.substitution.min_score());
        format!(
            "{what}: {query} {target} {scores:?} {:?} {strand:?} top {top} from {min_score}: {method:?} {strip:?} {chunk:?} {tuning:?}",
            scoring.gaps
        )
    };
    let match_score = run(job, engines()).unwrap_or_else(|error| panic!("{error}: {}", what()));
    assert_eq!(match_score.hits, expected, "{}", what());
}

pub(super) fn cpu(level: InstructionSet) -> Box<dyn LongEngine> {
    Box::new(CpuLong::new(1).with_instruction_set(level).with_tile(16, 24))
}

#[test]
fn the_oracle_respects_forbidden_cells() {
    // The second alignment may neither avoid the first one by a gap nor pass through it. The third
    // one is on the other strand.
    let encode = |text: &str| {
        text.bytes().map(|letter| pairwave::seq::Alphabet::Dna.encode(letter).unwrap()).collect::<Vec<Code>>()
    };
    let (query, target) =
        (encode("CCGTAATGCCTTTCCCTAACAGAG"), encode("CCGTAATGCCTTCCGTAATGCCTTTCCCTAACAGAGTCCCTAACAGAG"));
    let scoring = local(5, -4, Ambiguity::Zero, Gaps { first: 3, next: 1 });
    let hits = oracle::best(&query, &target, &scoring, Strands::Both, (3, 30));
    let brief: Vec<_> = hits.iter().map(|hit| (hit.score, hit.cigar.as_ref().unwrap().to_string())).collect();
    assert_eq!(brief[0], (120, "24=".into()));
    assert_eq!(brief[1].0, 60);
    assert!(brief[1].1 == "12=" && brief[2] == (60, "12=".into()));
}

#[test]
fn the_textbook_on_any_pair() {
    let rng = &mut support::rng(21);
    for round in 0..600 {
        let (query, target) = pair(rng, if round % 10 == 0 { 170 } else { 40 });
        let scoring = if round % 7 == 0 { extreme(rng) } else { scoring(rng) };
        let job = any_job(rng, &query, &target, &scoring);
        let keeps_columns = below(rng, 2) == 0;
        let engine = Textbook { panel_columns: 64, trace_cells: 1 << 14, keeps_columns, ..Textbook::default() };
        check(&job, || vec![Box::new(engine.clone())], &format!("round {round}"));
    }
}

#[test]
fn the_processor_on_any_pair() {
    let rng = &mut support::rng(22);
    for round in 0..500 {
        let (query, target) = pair(rng, if round % 10 == 0 { 170 } else { 40 });
        let scoring = if round % 7 == 0 { extreme(rng) } else { scoring(rng) };
        let job = any_job(rng, &query, &target, &scoring);
        for job in methods(rng, &job) {
            for level in InstructionSet::available() {
                check(&job, || vec![cpu(level)], &format!("round {round}, {level:?}"));
            }
        }
    }
}

/// Checks all pairs of short sequences of two letters.
#[test]
fn the_processor_on_all_short_pairs() {
    let all = |length: u32| {
        (0..1u32 << length)
            .map(move |bits| (0..length).map(|k| [1, 8][(bits >> k & 1) as usize]).collect::<Vec<Code>>())
    };
    let short: Vec<Vec<Code>> = (0..=4).flat_map(all).collect();
    let schemes = [(1, -1, 1, 1), (2, -3, 0, 0), (3, -1, 2, 1)]
        .map(|(match_score, other, first, next)| local(match_score, other, Ambiguity::Zero, Gaps { first, next }));
    let level = InstructionSet::available()[0];
    for (number, (query, target)) in
        short.iter().flat_map(|query| short.iter().map(move |target| (query, target))).enumerate()
    {
        let job = LongAlignment { top: 9, strand: Strands::Both, ..job(query, target, &schemes[number % 3]) };
        let (method, strip) = (METHODS[number / 3 % 3], [None, Some(1), Some(2)][number / 9 % 3]);
        check(&LongAlignment { method: Some(method), strip, ..job }, || vec![cpu(level)], "all");
    }
}

#[test]
fn a_card_on_any_pair() {
    let rng = &mut support::rng(23);
    let shape = StripedShape {
        cells: Some(4),
        lanes: Some(4),
        batch: 2,
        steps: Some(4),
        schedule: Some(Schedule::Wavefront),
        shuffle: false,
    };
    let engine = GpuLong::open(&support::adapter()).unwrap().with_shape(shape);
    let engine = Arc::new(Mutex::new(engine));
    let (mut rounds, mut crowded) = (0, 0);
    while crowded < 40 {
        rounds += 1;
        let (query, target) = pair(rng, if rounds % 10 == 0 { 170 } else { 40 });
        // With cheap gaps, paths come close to forbidden cells.
        let (match_score, other) = choose_one(rng, &[(1, -1), (100, -300)]);
        let gaps = choose_one(rng, &[(0, 0), (1, 1), (2, 1)].map(|(first, next)| Gaps { first, next }));
        let scoring = local(match_score, other, Ambiguity::Zero, gaps);
        let job = LongAlignment { top: 6, min_score: 1, ..any_job(rng, &query, &target, &scoring) };
        let expected = oracle::best(&query, &target, &scoring, job.strand, (6, 1));
        if expected.len() < 4 {
            continue;
        }
        crowded += 1;
        for job in methods(rng, &job) {
            // There are only a few widths, so that only a few kernels are compiled.
            let job = LongAlignment { strip: job.strip.map(|_| 16), ..job };
            check(&job, || vec![Lent::boxed(&engine)], &format!("round {rounds}"));
        }
    }
}

/// A gap that is as long as a strip is high costs more than 32 bits can represent. The gaps of the
/// path cost less.
#[test]
fn strips_whose_gaps_are_beyond_32_bits() {
    let rng = &mut support::rng(25);
    let query: Vec<Code> = (0..2600).map(|_| 1 << rng.below(4)).collect();
    let more: Vec<Code> = (0..7).map(|_| 1 << rng.below(4)).collect();
    let target = [&query[..100], &more, &query[100..]].concat();
    let scoring = local(100_000, -900_000, Ambiguity::Zero, Gaps::linear(1_000_000));
    for (query, target) in [(&query, &target), (&target, &query)] {
        let job = LongAlignment { strip: Some(4096), ..job(query, target, &scoring) };
        let by = |method| {
            run(&LongAlignment { method: Some(method), ..job.clone() }, vec![cpu(InstructionSet::available()[0])])
        };
        let [striped, chunked] = [Method::Striped, Method::Chunked1].map(|method| by(method).unwrap().hits);
        assert_eq!(striped, chunked);
        assert_eq!(striped[0].score, 2600 * 100_000 - 7 * 1_000_000);
    }
}

#[test]
fn scores_alone_are_the_same() {
    let rng = &mut support::rng(24);
    for round in 0..60 {
        let (query, target) = pair(rng, 40);
        let scoring = scoring(rng);
        let job = any_job(rng, &query, &target, &scoring);
        let aligned = oracle::best(&query, &target, &scoring, job.strand, (job.top, job.min_score));
        let scores =
            run(&LongAlignment { want: LongWant::Score, ..job }, vec![cpu(InstructionSet::PORTABLE)]).unwrap().hits;
        let brief = |hits: &[pairwave::jobs::LongHit]| {
            hits.iter().map(|hit| (hit.strand, hit.score, hit.query_end, hit.target_end)).collect::<Vec<_>>()
        };
        assert_eq!(brief(&scores), brief(&aligned), "round {round}");
        assert!(scores.iter().all(|hit| hit.cigar.is_none()));
    }
}
