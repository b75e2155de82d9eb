use super::*;
use crate::alignment::verify;
use crate::edit::trace::{EditTracer, EditWorkspace};
use crate::score::{Ambiguity, EditDistance, EditMode, EditScheme, Limit};
use crate::seq::reverse_complement;

/// Returns the distance of each end, found by the definition: the least number of edits of all
/// alignments, where a gap is possible only outside of two adjacent exact rows. `None` if there is
/// no such alignment.
fn last_row(pattern: &[Code], text: &[Code], is_exact: &[bool], equality: &Equality) -> Vec<Option<u32>> {
    let (m, n) = (pattern.len(), text.len());
    let mut cells = vec![vec![None::<u32>; n + 1]; m + 1];
    for j in 0..=n {
        cells[0][j] = Some(0);
        for i in 1..=m {
            let mut ways = Vec::new();
            if j > 0 {
                let is_match = equality.is_match(pattern[i - 1], text[j - 1]);
                if is_match || !is_exact[i - 1] {
                    ways.push(cells[i - 1][j - 1].map(|edits| edits + u32::from(!is_match)));
                }
                if i == m || !(is_exact[i - 1] && is_exact[i]) {
                    ways.push(cells[i][j - 1].map(|edits| edits + 1));
                }
            }
            if !is_exact[i - 1] {
                ways.push(cells[i - 1][j].map(|edits| edits + 1));
            }
            cells[i][j] = ways.into_iter().flatten().min();
        }
    }
    cells.pop().unwrap()
}

fn bases(rng: &mut fastrand::Rng, length: usize, letters: u8) -> Vec<Code> {
    (0..length).map(|_| if rng.u8(..12) == 0 { rng.u8(1..16) } else { 1 << rng.u8(..letters) }).collect()
}

/// Returns a pattern, the exact rows, and a text.
fn example(rng: &mut fastrand::Rng) -> (Vec<Code>, ExactRows, Vec<Code>) {
    let letters = [1, 2, 4][rng.usize(..3)];
    let (symbols, length) = (rng.usize(..14), rng.usize(..40));
    let pattern = bases(rng, symbols, letters);
    let start = rng.u32(..=symbols as u32);
    let range = start..rng.u32(start..=symbols as u32);
    let exact = ExactSymbols { ranges: Vec::from([range]), last: rng.u32(..=symbols.min(3) as u32) };
    (pattern, exact.rows(symbols as u32), bases(rng, length, letters))
}

#[test]
fn ends_and_alignments_have_the_distances_of_the_definition() {
    let seed = 5;
    let mut rng = fastrand::Rng::with_seed(seed);
    let equality = Equality::dna(Ambiguity::Overlap, true);
    let mut aligned = 0;
    for case in 0..3000 {
        let (pattern, exact, text) = example(&mut rng);
        let limit = rng.u32(..=pattern.len() as u32 + 1);
        let row = last_row(&pattern, &text, &exact.is_exact, &equality);
        let within = (0..).zip(&row).filter_map(|(end, distance)| Some((end, distance.filter(|&d| d <= limit)?)));
        let expected: Vec<(u32, u32)> = within.collect();
        let mut ends = Vec::new();
        let mut columns = ExactColumns::default();
        let searched = SearchedText { codes: &text, costs: OverhangCosts::default() };
        let exact_pattern = ExactPattern { codes: &pattern, rows: &exact };
        columns.search(exact_pattern, searched, PartStart::Any, limit, &equality, |end, distance| {
            ends.push((end, distance));
        });
        assert_eq!(ends, expected, "seed {seed} case {case}: {pattern:?} {exact:?} {text:?} {limit}");
        for &(end, distance) in &ends {
            // The reverse complements have the reversed alignment problem on the minus strand.
            let n = text.len() as u32;
            let (minus_pattern, minus_text) = (reverse_complement(&pattern), reverse_complement(&text));
            for (strand, position, pattern, text) in
                [(Strand::Plus, end, &pattern, &text), (Strand::Minus, n - end, &minus_pattern, &minus_text)]
            {
                let place = PlaceToAlign { strand, position, distance };
                let rows = if strand == Strand::Minus { exact.reversed() } else { exact.clone() };
                let (part, cigar) =
                    align_place(ExactPattern { codes: pattern, rows: &rows }, text, place, &equality).unwrap();
                let symbols = &text[part.start as usize..part.end as usize];
                assert_eq!(verify(&cigar, pattern, symbols, &equality.scoring()).unwrap(), -i64::from(distance));
                assert!(rows.are_exact_in(&cigar), "case {case} {strand:?}: {cigar} {exact:?}");
                let is_at = if strand == Strand::Minus { part.start } else { part.end } == position;
                assert!(is_at, "{part:?} {position}");
                aligned += 1;
            }
        }
    }
    assert!(aligned > 10_000, "{aligned}");
}

#[test]
fn without_exact_rows_alignments_are_the_canonical_ones() {
    let mut rng = fastrand::Rng::with_seed(6);
    let equality = Equality::dna(Ambiguity::Overlap, true);
    let scheme = EditScheme { mode: EditMode::Infix, equality: equality.clone(), limit: Limit::None };
    let (tracer, workspace) = (EditTracer::new(&scheme), &mut EditWorkspace::default());
    for _ in 0..500 {
        let (pattern, _, text) = example(&mut rng);
        let exact = ExactSymbols::default().rows(pattern.len() as u32);
        for (end, distance) in (0..).zip(last_row(&pattern, &text, &exact.is_exact, &equality)) {
            let distance = distance.unwrap();
            let canonical = tracer.align(&pattern, &text, EditDistance { distance, end }, workspace).unwrap();
            let place = PlaceToAlign { strand: Strand::Plus, position: end, distance };
            let exact_pattern = ExactPattern { codes: &pattern, rows: &exact };
            let (part, cigar) = align_place(exact_pattern, &text, place, &equality).unwrap();
            assert_eq!((part, cigar), (canonical.0..end, canonical.1), "{pattern:?} {text:?}");
        }
    }
}

#[test]
fn wrong_distances_are_detected() {
    let (pattern, text) = ([1, 2, 4, 8], [8, 1, 2, 8, 8]);
    let rows = &ExactSymbols { ranges: Vec::new(), last: 1 }.rows(4);
    let pattern = ExactPattern { codes: &pattern, rows };
    let equality = Equality::dna(Ambiguity::Overlap, true);
    for distance in [0, 2] {
        let place = PlaceToAlign { strand: Strand::Plus, position: 5, distance };
        assert!(matches!(align_place(pattern, &text, place, &equality), Err(Error::Internal(_))));
    }
}
