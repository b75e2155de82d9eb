use super::*;
use crate::edit::exact::ExactSymbols;
use crate::score::Ambiguity;
use crate::seq::reverse_complement;

/// Returns the edits of an alignment of a pattern with a whole text by the definition. `None` if
/// exact rows prevent it.
fn distance(pattern: &[Code], text: &[Code], exact: &[bool], equality: &Equality) -> Option<u32> {
    let (m, n) = (pattern.len(), text.len());
    let mut cells = vec![vec![None::<u32>; n + 1]; m + 1];
    cells[0][0] = Some(0);
    for (i, j) in (0..=m).flat_map(|i| (0..=n).map(move |j| (i, j))).skip(1) {
        let mut ways = Vec::new();
        if i > 0 && j > 0 {
            let is_match = equality.is_match(pattern[i - 1], text[j - 1]);
            let edits = cells[i - 1][j - 1].map(|edits| edits + u32::from(!is_match));
            ways.push(edits.filter(|_| is_match || !exact[i - 1]));
        }
        if j > 0 && !(i > 0 && i < m && exact[i - 1] && exact[i]) {
            ways.push(cells[i][j - 1].map(|edits| edits + 1));
        }
        if i > 0 && !exact[i - 1] {
            ways.push(cells[i - 1][j].map(|edits| edits + 1));
        }
        cells[i][j] = ways.into_iter().flatten().min();
    }
    cells[m][n]
}

/// Returns the symbols that hang over the start of the text in front of an end, by the rule, and
/// the distance.
fn before(pattern: &[Code], text: &[Code], exact: &[bool], cost: OverhangCost, equality: &Equality) -> (u32, u32) {
    let edits = |symbols: usize| {
        let edits = distance(&pattern[symbols..], text, &exact[symbols..], equality);
        edits.filter(|_| !exact[..symbols].contains(&true))
    };
    let totals: Vec<Option<u32>> =
        (0..=pattern.len()).map(|symbols| Some(edits(symbols)? + cost.symbols(symbols as u32))).collect();
    let least = totals.iter().copied().flatten().min().unwrap_or(u32::MAX);
    let mut symbols = totals.iter().position(|&total| total == Some(least)).unwrap_or(0);
    while totals.get(symbols + 1) == Some(&Some(least)) && edits(symbols + 1) < edits(symbols) {
        symbols += 1;
    }
    (symbols as u32, least)
}

#[test]
fn few_symbols_hang_over_but_none_next_to_the_end_is_inserted() {
    let seed = 7;
    let mut rng = fastrand::Rng::with_seed(seed);
    let equality = Equality::dna(Ambiguity::Overlap, true);
    let (mut count, mut hanging) = (0, 0);
    for case in 0..3000 {
        let letters = rng.u8(1..=4);
        let mut bases = |most: usize| (0..rng.usize(..=most)).map(|_| 1 << rng.u8(..letters)).collect::<Vec<Code>>();
        let (pattern, mut text) = (bases(9), bases(6));
        let m = pattern.len() as u32;
        if rng.bool() {
            text.splice(..0, pattern[rng.usize(..=pattern.len())..].iter().copied());
        }
        let start = rng.u32(..=m);
        let exact = if rng.u8(..4) == 0 { start..rng.u32(start..=m) } else { 0..0 };
        let is_exact: Vec<bool> = (0..m).map(|row| exact.contains(&row)).collect();
        let rows = ExactSymbols { ranges: Vec::from([exact]), last: 0 }.rows(m);
        let cost = OverhangCost::new([0.0, 0.25, 0.5, 0.75, 1.0][rng.usize(..5)]).unwrap();
        let (expected, distance) = before(&pattern, &text, &is_exact, cost, &equality);
        if distance == u32::MAX {
            continue;
        }
        let n = text.len() as u32;
        let place = |strand, position| {
            let overhang = Overhang::default();
            OverhangPlace { strand, position, distance, overhang, cost }
        };
        let exact_pattern = ExactPattern { codes: &pattern, rows: &rows };
        let plus = place(Strand::Plus, n).overhang(exact_pattern, &text, &equality);
        let what = format!("seed {seed} case {case}: {pattern:?} {text:?} {rows:?} {cost:?}");
        assert_eq!(plus, Overhang { before: expected, after: 0 }, "{what}");
        let (pattern, text) = (reverse_complement(&pattern), reverse_complement(&text));
        let exact_pattern = ExactPattern { codes: &pattern, rows: &rows.reversed() };
        let minus = place(Strand::Minus, 0).overhang(exact_pattern, &text, &equality);
        assert_eq!(minus, Overhang { before: 0, after: expected }, "{what}");
        (count, hanging) = (count + 1, hanging + u32::from(expected > 0));
    }
    assert!(count > 2000 && hanging > 500, "{count} {hanging}");
}
