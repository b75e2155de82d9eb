//! Tracebacks with the most extreme schemes.

use super::*;
use pairwave::alignment::Alignment;
use pairwave::pairs::oracle;
use pairwave::trace::{self, Hint, traceback};

/// Lengths of zero and one, and around blocks of 8 cells and bands of 1 to 4 blocks.
const LENGTHS: [usize; 14] = [0, 1, 2, 7, 8, 9, 15, 16, 17, 31, 33, 63, 65, 90];

/// Returns the textbook's alignment with its matches.
fn textbook_alignment(query: &[Code], target: &[Code], scoring: &Scoring) -> (Alignment, u64) {
    match scoring.mode {
        Mode::Global => {
            let best = oracle::align(query, target, scoring);
            (Alignment::end_to_end(best.score, best.cigar), best.matches)
        }
        Mode::Local => {
            let best = smith_waterman::align(query, target, scoring);
            let (query_start, target_start) = (best.query.start as u32, best.target.start as u32);
            (Alignment { score: best.score, query_start, target_start, cigar: best.cigar }, best.matches)
        }
    }
}

/// Traces a pair with and without hints, with little and with enough memory, and with every
/// instruction set.
fn check(query: &[Code], target: &[Code], scoring: &Scoring) {
    let (expected, matches) = textbook_alignment(query, target, scoring);
    let (score, matches) = (Some(expected.score), Some(matches));
    let levels =
        InstructionSet::available().into_iter().map(|level| (trace::TracebackWorkspace::DEFAULT_BUDGET_BYTES, level));
    for (budget, level) in levels.chain([(0, InstructionSet::best())]) {
        let mut workspace = trace::TracebackWorkspace::with_budget(budget).with_instructions(level);
        for hint in [Hint::NONE, Hint { score, matches: None }, Hint { score, matches }] {
            let actual = traceback(query, target, scoring, hint, &mut workspace);
            let what = || {
                format!("{} x {}, {budget} bytes, {level:?}, {hint:?}: {}", query.len(), target.len(), name(scoring))
            };
            assert_eq!(actual.unwrap_or_else(|error| panic!("{error}: {}", what())), expected, "{}", what());
        }
    }
}

fn check_some(rng: &mut Rng, scoring: &Scoring) {
    for _ in 0..3 {
        let length = |rng: &mut Rng| LENGTHS[rng.below(LENGTHS.len() as u32) as usize];
        let (m, n) = (length(rng), length(rng));
        let query = random_codes(rng, scoring.alphabet, m);
        let target = related_sequence(rng, scoring.alphabet, &query, n);
        check(&query, &target, scoring);
    }
}

#[test]
fn extreme_matches_and_gaps_match_textbook() {
    let mut rng = rng(0x11c1);
    for scores in SCORES {
        for gaps in gap_costs() {
            for scoring in with_ends(|end_gaps| nucleotide(scores, gaps, end_gaps)) {
                check_some(&mut rng, &scoring);
            }
        }
    }
}

#[test]
fn extreme_tables_match_textbook() {
    let mut rng = rng(0x11c2);
    for sign in [None, Some(1), Some(-1)] {
        for gaps in gap_costs() {
            for scoring in with_ends(|end_gaps| extreme_table(sign, gaps, end_gaps)) {
                check_some(&mut rng, &scoring);
            }
        }
    }
}

/// Covers values that just fit in 32 bits, and values that just do not.
#[test]
fn lengths_around_32_bits_match_textbook() {
    let mut rng = rng(0x11c3);
    for scores in [(MAX_SCORE, -MAX_SCORE), (0, -MAX_SCORE)] {
        for gaps in
            [Gaps::linear(MAX_SCORE), Gaps { first: MAX_SCORE, next: MAX_SCORE - 1 }, Gaps::from_blast(999_000, 0)]
        {
            for scoring in with_ends(|end_gaps| nucleotide(scores, gaps, end_gaps)) {
                for length in 8..28 {
                    let query = random_codes(&mut rng, Alphabet::Dna, length);
                    check(&query, &related_sequence(&mut rng, Alphabet::Dna, &query, length), &scoring);
                }
            }
        }
    }
}

/// Scores in the table that no two symbols of a pair have do not affect the lane width.
#[test]
fn scores_that_do_not_occur_do_not_widen_lanes() {
    let mut rng = rng(0x11c4);
    let letters = |rng: &mut Rng, length| -> Vec<Code> {
        (0..length).map(|_| Alphabet::Protein.encode(b"ACDEFGHI"[rng.below(8) as usize]).expect("a letter")).collect()
    };
    let query = letters(&mut rng, 2_300);
    let target = mutated(&mut rng, Alphabet::Protein, &query, 3);
    let target: Vec<Code> =
        target.into_iter().map(|code| if query.contains(&code) { code } else { query[0] }).collect();
    let stop = Alphabet::Protein.encode(b'*').expect("a letter");
    for gaps in [Gaps::linear(4), Gaps::from_blast(11, 1)] {
        for plain in with_ends(|end_gaps| Scoring { gaps, end_gaps, ..Scoring::protein() }) {
            for extreme in [MAX_SCORE, -MAX_SCORE] {
                let substitution = Substitution::from_fn(Alphabet::Protein, |a, b| {
                    let score = if a == stop || b == stop { extreme } else { plain.substitution.score(a, b) };
                    (score, plain.substitution.is_match(a, b))
                });
                let scoring = Scoring { substitution, ..plain.clone() };
                let trace = |scoring: &Scoring| {
                    traceback(&query, &target, scoring, Hint::NONE, &mut trace::TracebackWorkspace::new())
                        .expect("it is traced")
                };
                assert_eq!(trace(&scoring), trace(&plain), "{}", name(&scoring));
            }
        }
    }
}
