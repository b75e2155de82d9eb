//! Tiles, sweeps and paths of long pairs, with the most extreme schemes that 32 bits hold.

use std::sync::atomic::AtomicBool;

use super::*;
use pairwave::long::cpu::CpuLong;
use pairwave::long::{BorderSpan, LongEngine, LongPair, PathPoint, PathState, TraceRegion};
use support::long::{LongCase, check_sweep, check_trace_whole};
use support::long_cases::METHODS;

/// Lengths of zero and one, and around vectors, strips of 4 and 8 vectors, and tiles.
const LENGTHS: [usize; 18] = [0, 1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 127, 128, 129, 140];
/// Side lengths of tiles.
const SIDES: [u32; 6] = [1, 16, 31, 32, 33, 128];

fn choose<T: Copy>(rng: &mut Rng, all: &[T]) -> T {
    all[rng.below(all.len() as u32) as usize]
}

/// Sweeps and traces some pairs with every instruction set. Returns the number of pairs whose
/// values fit in 32 bits.
fn check(rng: &mut Rng, scoring: &Scoring) -> usize {
    let mut checked = 0;
    for _ in 0..3 {
        let (m, n) = (choose(rng, &LENGTHS), choose(rng, &LENGTHS));
        let query = random_codes(rng, scoring.alphabet, m);
        let target = related_sequence(rng, scoring.alphabet, &query, n);
        let pair = LongPair {
            query: query.as_slice().into(),
            target: target.as_slice().into(),
            scoring: Arc::new(scoring.clone()),
        };
        if !pair.fits() {
            continue;
        }
        checked += 1;
        let case = LongCase::new(&query, &target, scoring);
        for level in InstructionSet::available() {
            let (rows, columns) = (choose(rng, &SIDES), choose(rng, &SIDES));
            let mut engine = CpuLong::new(1).with_instruction_set(level).with_tile(rows, columns);
            eprintln!("{m} x {n}, {engine:?}: {}", name(scoring));
            check_sweep(&mut engine, &case, &[n as u32 / 2], 64, false);
            check_sweep(&mut engine, &case, &[], 64, case.pair.is_local());
            for method in METHODS {
                let side = [Some(1), Some(16), Some(100), None];
                check_trace_whole(&mut engine, &case, (method, choose(rng, &side), choose(rng, &side)));
            }
        }
    }
    checked
}

#[test]
fn extreme_matches_and_gaps_match_textbook() {
    let (mut rng, mut checked) = (rng(0x11e1), 0);
    // Include the values of tiles, whose i8 lanes hold scores from -127 to 127.
    for scores in SCORES.into_iter().chain([(127, -127), (128, -127), (127, 127), (-127, -127)]) {
        for gaps in gap_costs() {
            for scoring in with_ends(|end_gaps| nucleotide(scores, gaps, end_gaps)) {
                checked += check(&mut rng, &scoring);
            }
        }
    }
    assert!(checked > 1_000, "{checked}");
}

#[test]
fn extreme_tables_match_textbook() {
    let (mut rng, mut checked) = (rng(0x11e2), 0);
    for sign in [None, Some(1), Some(-1)] {
        for gaps in gap_costs() {
            for scoring in with_ends(|end_gaps| extreme_table(sign, gaps, end_gaps)) {
                checked += check(&mut rng, &scoring);
            }
        }
    }
    assert!(checked > 200, "{checked}");
}

/// The longest pairs whose values fit in 32 bits are computed. Pairs with one more symbol are
/// refused.
#[test]
fn lengths_beyond_32_bits_are_refused() {
    let mut rng = rng(0x11e3);
    for gaps in [Gaps::linear(999_000), Gaps::from_blast(50_000, 950_000)] {
        for scoring in with_ends(|end_gaps| nucleotide((MAX_SCORE, -MAX_SCORE), gaps, end_gaps)) {
            let fits = |length: usize| {
                let codes: Arc<[Code]> = vec![1; length].into();
                LongPair { query: Arc::clone(&codes), target: codes, scoring: Arc::new(scoring.clone()) }.fits()
            };
            let longest = (1..3_000).take_while(|&length| fits(length)).last().expect("one symbol is held");
            assert!(!fits(longest + 1) && longest > 500, "{longest}");
            let query = random_codes(&mut rng, Alphabet::Dna, longest);
            let mut target = query.clone();
            target[longest / 3..].rotate_left(1);
            target[longest / 2] = 15;
            let case = LongCase::new(&query, &target, &scoring);
            let mut engine = CpuLong::new(1).with_tile(1_000, 700);
            check_sweep(&mut engine, &case, &[longest as u32 / 2], 512, false);
            for method in METHODS {
                for side in [None, Some(700), Some(3_000)] {
                    check_trace_whole(&mut engine, &case, (method, side, side));
                }
            }
        }
    }
}

/// Gaps whose costs exceed 32 bits are allowed if the values of a local path still fit.
#[test]
fn local_paths_allow_gap_costs_beyond_32_bits() {
    let mut rng = rng(0x11e4);
    let query = random_codes(&mut rng, Alphabet::Dna, 2_400);
    for (matching, gaps) in
        [(5, Gaps::linear(999_000)), (850_000, Gaps::linear(MAX_SCORE)), (5, Gaps { first: MAX_SCORE, next: 999_000 })]
    {
        let scoring = Scoring { mode: Mode::Local, ..nucleotide((matching, -MAX_SCORE), gaps, EndGaps::Charged) };
        let codes: Arc<[Code]> = query.as_slice().into();
        let pair = LongPair { query: Arc::clone(&codes), target: codes, scoring: Arc::new(scoring) };
        assert!(pair.fits());
        let (rows, interrupt) = (BorderSpan::new(0, 2_400), AtomicBool::new(false));
        let (top, left) = (pair.top_border(0..2_400), pair.left_border(0..2_400));
        for level in InstructionSet::available() {
            let mut engine = CpuLong::new(1).with_instruction_set(level);
            for method in METHODS {
                let strip = Some(3_000);
                let from = PathPoint { i: 2_400, j: 2_400, state: PathState::H };
                let region = TraceRegion {
                    pair: &pair,
                    rows,
                    columns: rows,
                    top: &top,
                    left: &left,
                    from,
                    method,
                    strip,
                    chunk: strip,
                    interrupt: &interrupt,
                };
                let traced = engine.trace(&region).expect("the region is traced");
                let what = format!("{level:?} {method:?} {strip:?}: {}", name(&pair.scoring));
                assert_eq!(traced.cigar.to_string(), "2400=", "{what}");
            }
        }
    }
}
