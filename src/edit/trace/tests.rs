use super::*;
use crate::alignment::verify;
use crate::edit::oracle;
use crate::score::{Ambiguity, Limit};
use crate::seq::Alphabet;
use proptest::prelude::*;

fn scheme(mode: EditMode, equality: Equality) -> EditScheme {
    EditScheme { mode, equality, limit: Limit::None }
}

/// Checks the alignment and the ends of a pair against the oracle in every mode.
fn check(pattern: &[Code], text: &[Code], equality: &Equality) {
    let workspace = &mut EditWorkspace::default();
    for mode in [EditMode::Global, EditMode::Infix, EditMode::Prefix] {
        let scheme = scheme(mode, equality.clone());
        let tracer = EditTracer::new(&scheme);
        let result = oracle::find(pattern, text, &scheme);
        let result = EditDistance { end: result.first_end(mode, pattern.len() as u32), ..result };
        let (start, cigar) = tracer.align(pattern, text, result, workspace).unwrap();
        let part = &text[start as usize..result.end as usize];
        assert_eq!(verify(&cigar, pattern, part, tracer.scoring()).unwrap(), -i64::from(result.distance), "{mode:?}");
        let global = self::scheme(EditMode::Global, equality.clone());
        let wholes = |start: usize| oracle::find(pattern, &text[start..result.end as usize], &global).distance;
        if mode == EditMode::Infix {
            let least = (0..=result.end as usize).find(|&start| wholes(start) == result.distance);
            assert_eq!(least, Some(start as usize), "a longer part has the distance");
        } else {
            assert_eq!(start, 0);
        }
        let row = oracle::last_row(pattern, text, &scheme);
        for limit in [0, 1, pattern.len() as u32 / 2, pattern.len() as u32] {
            let last = if pattern.is_empty() { 1 } else { row.len() };
            let within = (0..last).filter(|&end| row[end] <= limit).map(|end| (end as u32, row[end]));
            if mode != EditMode::Global {
                assert_eq!(
                    tracer.ends(pattern, text, limit, workspace),
                    within.collect::<Vec<_>>(),
                    "{mode:?} {limit}"
                );
            }
        }
    }
}

fn equalities() -> [Equality; 4] {
    [
        Equality::dna(Ambiguity::Overlap, true),
        Equality::dna(Ambiguity::Overlap, false),
        Equality::dna(Ambiguity::Mismatch, true),
        Equality::literal(Alphabet::Dna),
    ]
}

#[test]
fn lengths_around_words_match_oracle() {
    let mut state = 7u32;
    let mut code = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        if state >> 28 == 0 { 1 + (state >> 20 & 7) as Code } else { 1 << (state >> 24 & 3) }
    };
    for m in [1, 2, 31, 63, 64, 65, 127, 128, 129, 200] {
        let pattern: Vec<Code> = (0..m).map(|_| code()).collect();
        let mut text: Vec<Code> = (0..20).map(|_| code()).collect();
        text.extend(pattern.iter().copied().enumerate().filter(|(row, _)| row % 17 != 5).map(|(_, code)| code));
        text.extend((0..30).map(|_| code()));
        check(&pattern, &text, &Equality::dna(Ambiguity::Overlap, true));
    }
}

#[test]
fn empty_patterns_and_texts_are_aligned() {
    for (pattern, text) in [(&[][..], &[][..]), (&[1, 2], &[]), (&[], &[1, 2, 4]), (&[1], &[2])] {
        check(pattern, text, &Equality::literal(Alphabet::Dna));
    }
}

#[test]
fn wrong_distance_is_detected() {
    let (pattern, text) = ([1, 2, 4, 8, 1, 1], [8, 8, 1, 2, 8, 1, 1, 4]);
    for mode in [EditMode::Global, EditMode::Infix, EditMode::Prefix] {
        let scheme = scheme(mode, Equality::literal(Alphabet::Dna));
        let right = oracle::find(&pattern, &text, &scheme);
        for distance in [right.distance - 1, right.distance + 1] {
            let wrong = EditDistance { distance, ..right };
            let tracer = EditTracer::new(&scheme);
            let error = tracer.align(&pattern, &text, wrong, &mut EditWorkspace::default()).unwrap_err();
            assert!(matches!(error, Error::Internal(_)), "{mode:?} {distance}: {error}");
        }
        let beyond = EditDistance { end: 9, ..right };
        assert!(EditTracer::new(&scheme).align(&pattern, &text, beyond, &mut EditWorkspace::default()).is_err());
    }
}

proptest! {
    #[test]
    fn short_pairs_match_oracle(
        pattern in prop::collection::vec(1u8..16, 0..9),
        text in prop::collection::vec(1u8..16, 0..14),
        kind in 0usize..4,
    ) {
        check(&pattern, &text, &equalities()[kind]);
    }

    #[test]
    fn pairs_of_two_letters_match_oracle(
        pattern in prop::collection::vec(1u8..3, 1..80),
        text in prop::collection::vec(1u8..3, 0..90),
    ) {
        check(&pattern, &text, &Equality::literal(Alphabet::Dna));
    }
}
