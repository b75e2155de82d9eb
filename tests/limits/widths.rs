//! The last scheme that fits in 8, 16 and 32 bits, and the first that does not.

use super::*;
use pairwave::score::difference::Element;
use pairwave::score::{DifferenceScoring, LocalScoring};

/// Number of symbols of the sequences.
const LENGTH: usize = 17;

/// Returns the largest number up to [`MAX_SCORE`] that fulfils a condition. Returns `None` if all
/// numbers fulfil it, or if `least` does not.
fn last_valid(least: i32, holds: impl Fn(i32) -> bool) -> Option<i32> {
    if !holds(least) || holds(MAX_SCORE) {
        return None;
    }
    let (mut low, mut high) = (least, MAX_SCORE);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        *(if holds(middle) { &mut low } else { &mut high }) = middle;
    }
    Some(low)
}

/// A scheme with one number that grows.
type Growing = Box<dyn Fn(i32) -> Scoring>;

/// Returns growing schemes, each with its smallest number.
fn growing() -> Vec<(i32, Growing)> {
    let scheme = |scores, gaps| nucleotide(scores, gaps, EndGaps::Charged);
    let affine = |first, next| Gaps { first, next };
    vec![
        (0, Box::new(move |x| scheme((x, -4), Gaps::linear(10)))),
        (0, Box::new(move |x| scheme((x, -x), Gaps::linear(1)))),
        (0, Box::new(move |x| scheme((5, -4), Gaps::linear(x)))),
        (0, Box::new(move |x| scheme((x, -x), affine(7, 1)))),
        (1, Box::new(move |x| scheme((5, -4), affine(x, 1)))),
        (0, Box::new(move |x| scheme((5, -4), affine(x, 0)))),
        (0, Box::new(move |x| scheme((5, -MAX_SCORE), affine(x, 0)))),
        (0, Box::new(move |x| scheme((5, -x / 2), affine(x, 0)))),
        (1, Box::new(move |x| scheme((5, -4), affine(x, x - 1)))),
        (0, Box::new(move |x| scheme((0, -x), affine(x, x / 2)))),
        (0, Box::new(move |x| scheme((-x, -x), affine(x, 0)))),
    ]
}

/// Checks both sides of every bound of an element type. Returns the number of bounds.
fn check_bounds<E: Element>(rng: &mut Rng, carry: bool) -> usize {
    let mut bounds = 0;
    for (least, make) in growing() {
        let Some(x) = last_valid(least, |x| DifferenceScoring::<E>::new(&make(x), LENGTH as u64, carry).is_some())
        else {
            continue;
        };
        bounds += 1;
        let store = family(rng, Alphabet::Dna, &[LENGTH; 7]);
        for x in [x, x + 1] {
            let first = make(x).gaps.first;
            for end_gaps in [EndGaps::Charged, EndGaps::Free, EndGaps::Priced(Gaps { first, next: 0 })] {
                check_scores(&store, &Scoring { end_gaps, ..make(x) });
            }
        }
    }
    bounds
}

#[test]
fn differences_match_textbook_on_both_sides_of_every_bound() {
    let mut rng = rng(0x11b1);
    for carry in [false, true] {
        let bounds = (check_bounds::<i8>(&mut rng, carry), check_bounds::<i16>(&mut rng, carry));
        assert!(bounds.0 >= 6 && bounds.1 >= 8, "{bounds:?}");
    }
}

/// The score of a sequence with itself is the largest that certainly fits in a width, or one more.
#[test]
fn local_scores_match_textbook_on_both_sides_of_every_bound() {
    let (a, c) = (1, 2);
    // The match score, the number of symbols, and a first gap symbol that uses the remaining space
    // exactly: 2^w - 1 - match - first.
    for (matching, symbols, first, bits) in
        [(1, 200, 54, 8), (50, 4, 5, 8), (1_000, 10, 54_535, 16), (5_000, 13, 0, 16)]
    {
        for first in [first, first + 1] {
            let scoring = nucleotide((matching, -1), Gaps { first, next: first.min(1) }, EndGaps::Charged);
            let scoring = Scoring { mode: Mode::Local, ..scoring };
            let limit = match bits {
                8 => LocalScoring::<i8>::new(&scoring).map(|form| form.limit()),
                _ => LocalScoring::<i16>::new(&scoring).map(|form| form.limit()),
            };
            // A match score that does not divide the available range puts the bound between two
            // lengths.
            let limit = limit.expect("some scores are held") / i64::from(matching);
            assert!((limit - symbols as i64).abs() <= 1, "{limit} for {symbols}");
            let lengths = [symbols - 1, symbols, symbols + 1, symbols + 2];
            let mut sequences: Vec<Vec<Code>> = lengths.iter().map(|&length| vec![a; length]).collect();
            // If a width does not hold a score, the cells behind it must not make the result look
            // valid.
            sequences.push([vec![a; symbols + 1], vec![c; 70], vec![a; 3]].concat());
            sequences.push([vec![c; 70], vec![a; symbols + 1], vec![c; 70]].concat());
            check_scores(&store(Alphabet::Dna, &sequences), &scoring);
        }
    }
}

/// 32 bits hold local scores up to 2^32 minus the score of a symbol and a gap. The tests use
/// sequences aligned with themselves, whose scores are known.
#[test]
fn local_scores_around_32_bits_match_textbook() {
    let scoring = nucleotide((MAX_SCORE, -MAX_SCORE), Gaps::linear(MAX_SCORE), EndGaps::Charged);
    let scoring = Scoring { mode: Mode::Local, ..scoring };
    let limit = LocalScoring::<i32>::new(&scoring).expect("32 bits hold the scheme").limit() / i64::from(MAX_SCORE);
    assert_eq!(limit, 4_292);
    for length in [limit as usize, limit as usize + 1] {
        let codes: Vec<Code> = (0..length).map(|k| 1 << (k * k / 3 % 4)).collect();
        let store = store(Alphabet::Dna, &[codes.clone(), codes]);
        for level in InstructionSet::available() {
            let actual = hits(&mut ScoreWorkspace::with(level, LaneForm::Rows), &store, &scoring, ResultFilter::Scores);
            assert_eq!(actual[0].score, length as i64 * i64::from(MAX_SCORE), "{level:?} {length}");
        }
    }
}
