use super::*;
use crate::score::{Gaps, Mode};

fn frame(query: u32, target: u32, is_query: bool, is_target: bool) -> MatrixFrame {
    MatrixFrame::new(Sides { query, target }, CircularSides { query: is_query, target: is_target })
}

fn pair(query: &[Code], target: &[Code]) -> LongPair {
    let scoring = Scoring { mode: Mode::Local, gaps: Gaps { first: 7, next: 2 }, ..Scoring::truong() };
    let unrolled = |codes: &[Code]| -> Arc<[Code]> {
        let mut codes = codes.to_vec();
        unroll(&mut codes);
        codes.into()
    };
    LongPair { query: unrolled(query), target: unrolled(target), scoring: scoring.into() }
}

fn alignment(cigar: &str, query_start: u32, target_start: u32) -> Alignment {
    Alignment { score: 0, query_start, target_start, cigar: cigar.parse().unwrap() }
}

#[test]
fn sequences_are_unrolled_up_to_the_last_start() {
    for (length, unrolled) in [(0u8, 0), (1, 1), (2, 3), (5, 9)] {
        let mut codes: Vec<Code> = (0..length).collect();
        unroll(&mut codes);
        assert_eq!((codes.len(), unrolled_length(length.into())), (unrolled, unrolled as u64));
        assert!(codes.iter().enumerate().all(|(at, &code)| at % usize::from(length) == usize::from(code)));
    }
}

#[test]
fn every_copy_of_a_part_is_forbidden() {
    let opening = CircleOpening { query: 3, target: 0, score: 1 };
    for length in 1..6u32 {
        for start in 0..length {
            for symbols in 1..=length {
                let part = start..start + symbols;
                for (first, size) in [(0, unrolled_length(length)), (opening.query.min(length - 1), length.into())] {
                    let copies = copies(&part, first, length, size as i64);
                    for line in 0..size as u32 {
                        let symbol = (line + first) % length;
                        let is_in_part = part.contains(&symbol) || part.contains(&(symbol + length));
                        let is_in_copy = copies.iter().filter(|copy| copy.contains(&line)).count();
                        assert_eq!(is_in_copy, usize::from(is_in_part), "{part:?} of {length} from {first}");
                    }
                }
            }
        }
    }
}

#[test]
fn parts_of_the_minus_strand_refer_to_the_file() {
    let frame = frame(10, 8, true, true);
    assert_eq!(frame.query_in_file(12..15, Strand::Plus), 2..5);
    assert_eq!(frame.query_in_file(12..15, Strand::Minus), 5..8);
    assert_eq!(frame.query_in_file(7..12, Strand::Minus), 8..13);
    assert_eq!((frame.query(7..12), frame.target(9..12)), (7..12, 1..4));
    let rectangles = frame.rectangles(&(8..13), &(1..4), Strand::Minus);
    let rows: Vec<_> = rectangles.iter().map(|part| (part.query.clone(), part.target.clone())).collect();
    assert_eq!(rows, [(0..2, 1..4), (0..2, 9..12), (7..12, 1..4), (7..12, 9..12), (17..19, 1..4), (17..19, 9..12)]);
}

#[test]
fn sequences_are_opened_only_if_an_alignment_goes_around_again() {
    let codes = [1, 2, 4, 8, 1, 1];
    let pair = pair(&codes, &codes);
    let both = frame(6, 6, true, true);
    assert_eq!(both.opening(&alignment("6=", 2, 2), &pair), None);
    assert_eq!(frame(6, 6, false, true).opening(&alignment("3=3I3=", 0, 2), &pair), None);
    let opening = both.opening(&alignment("9=", 2, 2), &pair).unwrap();
    assert_eq!(opening, CircleOpening { query: 2, target: 2, score: 30 });
    let opened = MatrixFrame { opening: Some(opening), ..both };
    assert_eq!(opened.opening(&alignment("9=", 2, 2), &pair), None);
}

#[test]
fn the_opening_lies_where_the_circle_scores_least() {
    // The two circles differ in symbol 3 only. The alignment passes it once, but its circle can be
    // opened behind it.
    let (query, target) = ([1, 2, 4, 8, 1, 2, 8, 8], [1, 2, 4, 1, 1, 2, 8, 8]);
    let pair = pair(&query, &target);
    let opening = frame(8, 8, true, true).opening(&alignment("3=1X7=1X2=", 0, 0), &pair).unwrap();
    assert_eq!(opening, CircleOpening { query: 4, target: 4, score: 35 });
    // Without a closed circle, only parts of the alignment itself compete.
    let opening = frame(8, 8, false, true).opening(&alignment("3=1X5=", 0, 0), &pair).unwrap();
    assert_eq!(opening, CircleOpening { query: 0, target: 0, score: 31 });
}

#[test]
fn opened_sequences_start_at_the_opening() {
    let pair = pair(&[1, 2, 4], &[8, 4, 2, 1]);
    let mut frame = frame(3, 4, true, true);
    let opened = frame.open(&pair, CircleOpening { query: 1, target: 3, score: 1 });
    assert_eq!((&*opened.query, &*opened.target), (&[2, 4, 1][..], &[1, 8, 4, 2][..]));
    assert_eq!((frame.query(1..3), frame.target(0..2)), (2..4, 3..5));
}
