use std::sync::Arc;

use super::*;
use crate::edit::oracle;
use crate::score::Ambiguity;
use crate::seq::SequenceStore;

pub(super) fn scheme(limit: u32) -> EditScheme {
    let equality = Equality::dna(Ambiguity::Overlap, true);
    EditScheme { mode: EditMode::Infix, equality, limit: Limit::Distance(limit) }
}

pub(super) fn bases(rng: &mut fastrand::Rng, length: usize, letters: u8, ambiguous: u8) -> Vec<Code> {
    let mut base = |_| if rng.u8(..100) < ambiguous { rng.u8(1..16) } else { 1 << rng.u8(..letters) };
    (0..length).map(&mut base).collect()
}

/// Returns a copy with some edits.
pub(super) fn edited(rng: &mut fastrand::Rng, codes: &[Code], edits: usize) -> Vec<Code> {
    let mut codes = codes.to_vec();
    for _ in 0..edits {
        let at = rng.usize(..codes.len());
        match rng.u8(..3) {
            0 => codes[at] = 1 << rng.u8(..4),
            1 => codes.insert(at, 1 << rng.u8(..4)),
            _ => drop(codes.remove(at)),
        }
    }
    codes
}

/// Creates the filter without regard to its expected cost.
fn any_filter(rng: &mut fastrand::Rng, pattern: &[Code], limit: usize) -> Option<PieceFilter> {
    let shapes = PieceShape::all(&base_runs(pattern), pattern.len(), limit);
    (!shapes.is_empty()).then(|| PieceFilter::with_shape(pattern, limit, shapes[rng.usize(..shapes.len())]))
}

/// In every window, the distances of ends within the limit equal those in the whole part.
#[test]
fn windows_contain_every_part_within_the_limit() {
    let seed = 7;
    let mut rng = fastrand::Rng::with_seed(seed);
    let (mut ends, mut skipped) = (0, 0);
    for case in 0..400 {
        let letters = [2, 4, 4][case % 3];
        let ambiguous = [0, 0, 3][case / 3 % 3];
        let symbols = rng.usize(5..120);
        let pattern = bases(&mut rng, symbols, letters, ambiguous);
        let limit = rng.usize(0..1 + symbols / 6);
        let Some(filter) = any_filter(&mut rng, &pattern, limit) else { continue };
        let mut text = bases(&mut rng, 150, letters, ambiguous / 3);
        for _ in 0..3 {
            let copy = edited(&mut rng, &pattern, limit);
            let at = rng.usize(..=text.len());
            text.splice(at..at, copy);
        }
        let mut store = SequenceStore::builder(Alphabet::Dna);
        store.push("text", &text).unwrap();
        let packed = PackedTexts::new(Arc::new(store.build()));
        let start = rng.usize(..30);
        let part = start..text.len() - rng.usize(..30);
        let windows = filter.windows(&packed, 0, part.clone());
        assert!(windows.iter().all(|window| part.start <= window.start && window.end <= part.end));
        assert!(windows.is_sorted_by(|a, b| a.end < b.start));
        let all = oracle::last_row(&pattern, &text[part.clone()], &scheme(limit as u32));
        let mut found = vec![u32::MAX; all.len()];
        for window in &windows {
            for (end, distance) in oracle::last_row(&pattern, &text[window.clone()], &scheme(0)).into_iter().enumerate()
            {
                let at = window.start - part.start + end;
                found[at] = found[at].min(distance);
            }
        }
        for (end, (&distance, &found)) in all.iter().zip(&found).enumerate() {
            let context = || format!("seed {seed} case {case}: {pattern:?} in {text:?} at {end}");
            assert!(found >= distance, "{}", context());
            if distance <= limit as u32 {
                assert_eq!(found, distance, "{}", context());
                ends += 1;
            }
        }
        skipped += all.len() - windows.iter().map(Range::len).sum::<usize>().min(all.len());
    }
    assert!(ends > 2000 && skipped > 10_000, "{ends} {skipped}");
}

#[test]
fn only_selective_pieces_make_a_filter() {
    let mut rng = fastrand::Rng::with_seed(1);
    let mut makes = |symbols, limit| PieceFilter::new(&bases(&mut rng, symbols, 4, 0), limit, 1 << 22).is_some();
    for (symbols, limit) in [(20, 1), (24, 3), (100, 5), (150, 15), (500, 25), (1000, 50)] {
        assert!(makes(symbols, limit), "{symbols} {limit}");
    }
    for (symbols, limit) in [(20, 6), (24, 24), (8, 3), (1, 0), (0, 0), (1000, 400)] {
        assert!(!makes(symbols, limit), "{symbols} {limit}");
    }
    assert!(PieceFilter::new(&[15; 50], 1, 1 << 22).is_none());
    // The table costs more than a short text.
    assert!(PieceFilter::new(&[1; 500], 25, 600).is_none());
}
