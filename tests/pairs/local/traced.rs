//! The production traceback against the oracle.

use pairwave::alignment::verify_alignment;
use pairwave::pairs::cpu::{self, LaneForm, ScoredTarget};
use pairwave::pairs::oracle::smith_waterman;
use pairwave::score::{Gaps, Scoring};
use pairwave::seq::{Alphabet, Code};
use pairwave::simd::InstructionSet;
use pairwave::trace::{EndRegion, Hint, TracebackWorkspace, traceback, traceback_from};
use proptest::prelude::*;

use super::*;

/// Traces a pair with every hint.
fn check(query: &[Code], target: &[Code], scoring: &Scoring) -> Result<(), String> {
    let expected = smith_waterman::align(query, target, scoring);
    let (score, matches) = (Some(expected.score), Some(expected.matches));
    let mut workspace = TracebackWorkspace::new();
    for hint in [Hint::NONE, Hint { score, matches: None }, Hint { score, matches }, Hint { score: None, matches }] {
        let context = |error: String| format!("{hint:?}: {error}");
        let answer = traceback(query, target, scoring, hint, &mut workspace).map_err(|e| context(e.to_string()))?;
        judge(&answer, &expected).map_err(context)?;
        let rescored = verify_alignment(&answer, query, target, scoring).map_err(|e| context(e.to_string()))?;
        if rescored != answer.score {
            return Err(context(format!("rescored {rescored}")));
        }
    }
    from_regions(query, target, scoring, &expected)
}

/// Traces a pair with different regions for its end: the end cell alone, larger regions, all cells,
/// and the region from the score kernels for either sequence as the query. Uses little memory, and
/// every available instruction set.
fn from_regions(
    query: &[Code],
    target: &[Code],
    scoring: &Scoring,
    expected: &smith_waterman::ReferenceLocalAlignment,
) -> Result<(), String> {
    let hint = Hint { score: Some(expected.score), matches: None };
    let (i, j) = (expected.query.end as u32, expected.target.end as u32);
    let region = |more: u32| EndRegion {
        query: i.saturating_sub(1 + more)..(i + more / 3).min(query.len() as u32),
        target: j.saturating_sub(1 + more / 2)..(j + more).min(target.len() as u32),
    };
    let mut regions = vec![region(0), region(1), region(7), region(40), region(1000)];
    for form in [LaneForm::Targets, LaneForm::Rows] {
        for level in InstructionSet::available() {
            let mut workspace = cpu::ScoreWorkspace::with(level, form);
            // The first score is too low, and the last one correct.
            let targets = [(target, 0), (query, 0), (target, expected.score)];
            let targets = targets.map(|(codes, score)| ScoredTarget { codes, score });
            let ends = cpu::ends(query, &targets, scoring, &mut workspace).map_err(|error| error.to_string())?;
            regions.extend([ends[0].clone(), ends[2].clone()]);
            let cell = |ends: &EndRegion| ends.query.contains(&(i - 1)) && ends.target.contains(&(j - 1));
            if expected.score > 0 && !(cell(&ends[0]) && cell(&ends[2])) {
                return Err(format!("{form:?} {level:?}: an alignment that ends at {i}, {j}, not in {:?}", ends[0]));
            }
        }
    }
    let levels = InstructionSet::available();
    for (count, region) in regions.iter().enumerate() {
        let budget = [1 << 26, 3000, 200][count % 3];
        let mut workspace = TracebackWorkspace::with_budget(budget).with_instructions(levels[count % levels.len()]);
        let context = |error: String| format!("{region:?}, {budget} bytes: {error}");
        let answer = traceback_from(query, target, scoring, hint, Some(region), &mut workspace);
        judge(&answer.map_err(|error| context(error.to_string()))?, expected).map_err(context)?;
    }
    Ok(())
}

fn dna_code() -> impl Strategy<Value = Code> {
    prop_oneof![30 => prop_oneof![Just(1u8), Just(2), Just(4), Just(8)], 1 => 1u8..16]
}

fn protein_code() -> impl Strategy<Value = Code> {
    prop_oneof![20 => prop::sample::select((b'A'..=b'Z').collect::<Vec<u8>>()).prop_map(|l| l - b'A' + 1), 1 => 1u8..28]
}

/// Generates two sequences that share a part with changes in it, between unrelated ends.
fn sharing_a_part<C: Strategy<Value = Code>>(
    code: impl Fn() -> C,
    shared: std::ops::RangeInclusive<usize>,
) -> impl Strategy<Value = (Vec<Code>, Vec<Code>)> {
    let end = || prop::collection::vec(code(), 0..30);
    let change = (any::<prop::sample::Index>(), 0..3u8, prop::collection::vec(code(), 1..6));
    let changes = prop::collection::vec(change, 0..6);
    (prop::collection::vec(code(), shared), changes, [end(), end(), end(), end()]).prop_map(
        |(shared, changes, [before, after, other_before, other_after])| {
            let mut changed = shared.clone();
            for (at, kind, codes) in changes {
                let at = at.index(changed.len() + 1);
                let end = (at + codes.len()).min(changed.len());
                match kind {
                    0 => drop(changed.splice(at..end, codes)),
                    1 => drop(changed.splice(at..at, codes)),
                    _ => drop(changed.drain(at..end)),
                }
            }
            ([before, shared, after].concat(), [other_before, changed, other_after].concat())
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn alignments_of_dna_with_a_shared_part_are_canonical((query, target) in sharing_a_part(dna_code, 0..=60), scheme in 0..DNA.len()) {
        check(&query, &target, &DNA[scheme]).map_err(TestCaseError::fail)?;
        check(&target, &query, &DNA[scheme]).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn alignments_of_unrelated_dna_are_canonical(
        query in prop::collection::vec(dna_code(), 0..80),
        target in prop::collection::vec(dna_code(), 0..80),
        scheme in 0..DNA.len(),
    ) {
        check(&query, &target, &DNA[scheme]).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn alignments_of_two_letters_are_canonical(
        query in prop::collection::vec(1u8..3, 0..24),
        target in prop::collection::vec(1u8..3, 0..24),
        scheme in 0..DNA.len(),
    ) {
        check(&query, &target, &DNA[scheme]).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn alignments_of_proteins_are_canonical((query, target) in sharing_a_part(protein_code, 0..=50), scheme in 0..PROTEIN.len()) {
        check(&query, &target, &PROTEIN[scheme]).map_err(TestCaseError::fail)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// Rows have several pieces, and gaps continue from one piece to the next.
    #[test]
    fn alignments_of_long_dna_are_canonical((query, target) in sharing_a_part(dna_code, 150..=260), scheme in 0..DNA.len()) {
        check(&query, &target, &DNA[scheme]).map_err(TestCaseError::fail)?;
    }
}

#[test]
fn short_pairs_of_all_lengths_agree_for_every_scheme() {
    let (query, target): (Vec<Code>, Vec<Code>) =
        ((0..10).map(|k| 1 << (k % 3)).collect(), vec![2, 1, 1, 4, 15, 8, 2, 1]);
    for scoring in DNA.iter() {
        for m in [0, 1, 2, 3, 7, 8, 9, 10] {
            for n in 0..=target.len() {
                check(&query[..m], &target[..n], scoring).unwrap();
            }
        }
    }
}

#[test]
fn equal_and_different_sequences_are_aligned_canonically() {
    for scoring in DNA.iter().chain(PROTEIN.iter()) {
        check(&[1; 40], &[1; 33], scoring).unwrap();
        check(&[1; 33], &[1; 140], scoring).unwrap();
        check(&[1; 30], &[2; 30], scoring).unwrap();
        check(&[1; 5], &[2; 90], scoring).unwrap();
    }
}

/// A gap as long as two pieces of a row, in either sequence.
#[test]
fn long_gaps_are_traced() {
    let mut rng = support::rng(0x9a9);
    for gaps in [Gaps::linear(1), Gaps::from_blast(20, 1), Gaps::from_blast(60, 0)] {
        let scoring = local(Scoring { gaps, ..Scoring::truong() });
        let shared = support::random_codes(&mut rng, Alphabet::Dna, 160);
        let between = support::random_codes(&mut rng, Alphabet::Dna, 140);
        let longer = [&shared[..80], &between, &shared[80..]].concat();
        check(&shared, &longer, &scoring).unwrap();
        check(&longer, &shared, &scoring).unwrap();
    }
}

/// Rows are computed in pieces. A gap that starts at the end of a piece, at any column, gains
/// hardly more than it costs, so that no value in the next piece shows that the gap continues. No
/// three symbols of the tail equal the head.
#[test]
fn short_gaps_are_traced_at_every_column() {
    let letters = |text: &str| -> Vec<Code> {
        text.bytes().map(|letter| Alphabet::Dna.encode(letter).expect("a letter")).collect()
    };
    let scoring = local(Scoring { gaps: Gaps::from_blast(9, 1), ..Scoring::truong() });
    let (head, tail) = (letters("ACG"), letters("GCACCGAACCGCAC"));
    for (before, gap) in (45..75).flat_map(|before| [(before, 1), (before, 3), (before, 4)]) {
        let target = [&vec![8; before][..], &head, &vec![8; gap], &tail].concat();
        let query = [&head[..], &tail].concat();
        check(&query, &target, &scoring).unwrap();
        check(&target, &query, &scoring).unwrap();
    }
}
