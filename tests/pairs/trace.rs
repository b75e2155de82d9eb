//! The production traceback returns the canonical alignment, whatever the hint and the memory
//! budget.

use std::sync::LazyLock;

use pairwave::alignment::{Alignment, verify};
use pairwave::pairs::oracle::{self, ReferenceAlignment};
use pairwave::score::{Ambiguity, EndGaps, Gaps, Scoring, SubstitutionMatrix};
use pairwave::seq::{Alphabet, Code};
use pairwave::trace::{Hint, TracebackWorkspace, traceback};
use proptest::prelude::*;

/// Schemes for DNA: the default, affine gaps, many ties (a mismatch costs two gaps), free gap
/// extensions, and unusual ones.
static DNA: LazyLock<Vec<Scoring>> = LazyLock::new(|| {
    let mut schemes = Vec::new();
    for end_gaps in [EndGaps::Charged, EndGaps::Free] {
        for (match_score, mismatch_score, ambiguity, gaps) in [
            (5, -4, Ambiguity::Overlap, Gaps::linear(10)),
            (5, -4, Ambiguity::Zero, Gaps::linear(10)),
            (5, -4, Ambiguity::Mismatch, Gaps::from_blast(8, 6)),
            (2, -3, Ambiguity::Overlap, Gaps::from_blast(5, 2)),
            (2, -3, Ambiguity::Mean, Gaps::from_blast(5, 2)),
            (5, -4, Ambiguity::Mean, Gaps::linear(3)),
            (1, -2, Ambiguity::Overlap, Gaps::linear(1)),
            (0, -2, Ambiguity::Overlap, Gaps::linear(1)),
            (0, -1, Ambiguity::Overlap, Gaps::linear(1)),
            (1, -1, Ambiguity::Overlap, Gaps::linear(0)),
            (0, 0, Ambiguity::Overlap, Gaps::linear(0)),
            (1, 1, Ambiguity::Zero, Gaps::from_blast(1, 0)),
            (3, -40, Ambiguity::Overlap, Gaps::from_blast(2, 1)),
            (-1, -3, Ambiguity::Overlap, Gaps::from_blast(3, 1)),
            (1_000_000, -1_000_000, Ambiguity::Overlap, Gaps::from_blast(400_000, 600_000)),
        ] {
            schemes.push(Scoring::nucleotide(match_score, mismatch_score, ambiguity, gaps, end_gaps).unwrap());
        }
        let ednafull = SubstitutionMatrix::built_in("EDNAFULL").unwrap();
        schemes.push(Scoring::matrix(Alphabet::Dna, &ednafull, Gaps::from_emboss(10, 1), end_gaps).unwrap());
    }
    // End gaps with their own costs: the costs of vsearch, costs that are equal for all symbols,
    // and costs of which only one differs from inner gaps.
    for (match_score, mismatch_score, ambiguity, gaps, first, next) in [
        (2, -4, Ambiguity::Zero, Gaps::from_blast(20, 2), 3, 1),
        (2, -4, Ambiguity::Zero, Gaps::from_blast(20, 2), 2, 2),
        (5, -4, Ambiguity::Mean, Gaps::from_blast(20, 2), 3, 1),
        (2, -4, Ambiguity::Overlap, Gaps::from_blast(20, 2), 22, 1),
        (2, -4, Ambiguity::Overlap, Gaps::from_blast(20, 2), 22, 0),
        (5, -4, Ambiguity::Overlap, Gaps::linear(10), 10, 0),
        (5, -4, Ambiguity::Overlap, Gaps::linear(10), 3, 3),
        (1, -2, Ambiguity::Overlap, Gaps::linear(1), 1, 0),
        (1, -1, Ambiguity::Overlap, Gaps::from_blast(1, 1), 1, 1),
        (-1, -3, Ambiguity::Overlap, Gaps::from_blast(3, 1), 2, 1),
        (1_000_000, -1_000_000, Ambiguity::Overlap, Gaps::from_blast(400_000, 600_000), 600_001, 599_999),
    ] {
        let ends = EndGaps::Priced(Gaps { first, next });
        schemes.push(Scoring::nucleotide(match_score, mismatch_score, ambiguity, gaps, ends).unwrap());
    }
    schemes
});

static PROTEIN: LazyLock<Vec<Scoring>> = LazyLock::new(|| {
    let mut schemes = Vec::new();
    for (name, gaps) in [
        ("BLOSUM62", Gaps::from_blast(11, 1)),
        ("BLOSUM62", Gaps::linear(4)),
        ("PAM30", Gaps::from_blast(9, 1)),
        ("BLOSUM45", Gaps::linear(0)),
    ] {
        let matrix = SubstitutionMatrix::built_in(name).unwrap();
        let priced = EndGaps::Priced(Gaps { first: gaps.first / 2, next: gaps.next / 2 });
        for end_gaps in [EndGaps::Charged, EndGaps::Free, priced] {
            schemes.push(Scoring::matrix(Alphabet::Protein, &matrix, gaps, end_gaps).unwrap());
        }
    }
    schemes
});

/// Returns an error message if an answer differs from the expected alignment.
fn judge(answer: &Alignment, expected: &ReferenceAlignment) -> Result<(), String> {
    let actual = (answer.score, answer.cigar.to_string());
    let right = (expected.score, expected.cigar.to_string());
    if actual == right { Ok(()) } else { Err(format!("{actual:?} where {right:?} is right")) }
}

/// Traces a pair with every hint and every budget.
fn check(query: &[Code], target: &[Code], scoring: &Scoring) -> Result<(), String> {
    let expected = oracle::align(query, target, scoring);
    let score = Some(expected.score);
    let matches = Some(expected.matches);
    for budget_bytes in [TracebackWorkspace::DEFAULT_BUDGET_BYTES, 3_000, 0] {
        let mut workspace = TracebackWorkspace::with_budget(budget_bytes);
        for hint in [Hint::NONE, Hint { score, matches: None }, Hint { score, matches }, Hint { score: None, matches }]
        {
            let context = |error: String| format!("{budget_bytes} bytes, {hint:?}: {error}");
            let answer = traceback(query, target, scoring, hint, &mut workspace).map_err(|e| context(e.to_string()))?;
            judge(&answer, &expected).map_err(context)?;
            let rescored = verify(&answer.cigar, query, target, scoring).map_err(|e| context(e.to_string()))?;
            if rescored != answer.score {
                return Err(context(format!("rescored {rescored}")));
            }
        }
    }
    Ok(())
}

fn dna_code() -> impl Strategy<Value = Code> {
    prop_oneof![30 => prop_oneof![Just(1u8), Just(2), Just(4), Just(8)], 1 => 1u8..16]
}

fn protein_code() -> impl Strategy<Value = Code> {
    prop_oneof![20 => prop::sample::select((b'A'..=b'Z').collect::<Vec<u8>>()).prop_map(|l| l - b'A' + 1), 1 => 1u8..28]
}

/// Generates two sequences. The second is the first with some runs replaced, deleted or inserted,
/// also at the ends.
fn relatives<C: Strategy<Value = Code>>(
    code: impl Fn() -> C,
    lengths: std::ops::RangeInclusive<usize>,
) -> impl Strategy<Value = (Vec<Code>, Vec<Code>)> {
    let change = (any::<prop::sample::Index>(), 0..7u8, prop::collection::vec(code(), 1..12));
    (prop::collection::vec(code(), lengths), prop::collection::vec(change, 0..12)).prop_map(|(query, changes)| {
        let mut target = query.clone();
        for (at, kind, codes) in changes {
            let at = at.index(target.len() + 1);
            let end = (at + codes.len()).min(target.len());
            match kind {
                0 => drop(target.splice(at..end, codes)),
                1 => drop(target.splice(at..at, codes)),
                2 => drop(target.drain(at..end)),
                3 => drop(target.drain(..codes.len().min(target.len()))),
                4 => target.truncate(target.len().saturating_sub(codes.len())),
                5 if at < end => target[at] = codes[0],
                _ => target.extend(codes),
            }
        }
        (query, target)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn alignments_of_related_dna_are_canonical((query, target) in relatives(dna_code, 0..=120), scheme in 0..DNA.len()) {
        check(&query, &target, &DNA[scheme]).map_err(TestCaseError::fail)?;
        check(&target, &query, &DNA[scheme]).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn alignments_of_unrelated_dna_are_canonical(
        query in prop::collection::vec(dna_code(), 0..60),
        target in prop::collection::vec(dna_code(), 0..60),
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
    fn alignments_of_proteins_are_canonical((query, target) in relatives(protein_code, 0..=100), scheme in 0..PROTEIN.len()) {
        check(&query, &target, &PROTEIN[scheme]).map_err(TestCaseError::fail)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn alignments_of_long_relatives_are_canonical((query, target) in relatives(dna_code, 250..=320), scheme in 0..DNA.len()) {
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

/// An earlier traceback returned other alignments of these pairs. The schemes of that time are
/// not known, so all are tested.
#[test]
fn pairs_with_wrong_alignments_in_the_past_agree_for_every_scheme() {
    const RELATIVES: &str = "GCTAAAGTCTAGCCTGGCCAACGCCCGTGGCAAATCCCATGTACACGCCGTGGTTCATCAAGGCTCTTGTAGTGATGATGTTTCCCCCCG\
        TAAACCTTGCACAATTAGAGTTTAGGTAATCCACGCTTATACTGGATGGCCCCGACTGACAGAACTCAACGCATACTATATCTAGGTAGVAGCAATTTGA\
        AGAYAACACCTCCCCAAGTCGGGTCAGTTACAGCATAAGSTAACTGTACTACCGACGATGTGATACTCGGGGTHGCTCCCATAAGCG";
    let pairs = [("AAAA", "AAAA"), ("GTG", "G"), (RELATIVES, &RELATIVES[4..]), ("ACACA", "C"), ("CCC", "ACAGA")];
    let codes =
        |letters: &str| letters.bytes().map(|letter| Alphabet::Dna.encode(letter).unwrap()).collect::<Vec<Code>>();
    for (query, target) in pairs {
        let (query, target) = (codes(query), codes(target));
        for scoring in DNA.iter() {
            check(&query, &target, scoring).unwrap();
            check(&target, &query, scoring).unwrap();
        }
    }
}

#[test]
fn equal_and_different_sequences_are_aligned_canonically() {
    for scoring in DNA.iter().chain(PROTEIN.iter()) {
        check(&[1; 40], &[1; 33], scoring).unwrap();
        check(&[1; 33], &[1; 40], scoring).unwrap();
        check(&[1; 30], &[2; 30], scoring).unwrap();
        check(&[1; 5], &[2; 90], scoring).unwrap();
    }
}

/// Free and charged end gaps equal priced end gaps with the same costs.
#[test]
fn end_gaps_of_either_extreme_are_free_or_charged() {
    let seed = 0xe4d5;
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    let mut differ = 0;
    for _ in 0..300 {
        let codes = |random: &mut fastrand::Rng| -> Vec<Code> {
            let length = random.usize(..30);
            (0..length).map(|_| 1 << random.u32(..3)).collect()
        };
        let (query, target) = (codes(&mut random), codes(&mut random));
        let next = random.i32(0..4);
        let gaps = Gaps { first: next + random.i32(0..4), next };
        let align = |end_gaps| {
            let scoring = Scoring::nucleotide(2, -3, Ambiguity::Overlap, gaps, end_gaps).unwrap();
            let actual = traceback(&query, &target, &scoring, Hint::NONE, &mut TracebackWorkspace::new()).unwrap();
            judge(&actual, &oracle::align(&query, &target, &scoring)).unwrap();
            actual
        };
        let (charged, free) = (align(EndGaps::Charged), align(EndGaps::Free));
        assert_eq!(align(EndGaps::Priced(gaps)), charged, "{query:?} {target:?} {gaps:?}");
        assert_eq!(align(EndGaps::Priced(Gaps::linear(0))), free, "{query:?} {target:?} {gaps:?}");
        differ += u32::from(charged != free);
    }
    assert!(differ > 100, "{differ}");
}

#[test]
fn wrong_hints_are_errors() {
    let scoring = Scoring::truong();
    let query: Vec<Code> = (0..50).map(|k| 1 << (k * k % 7 % 4)).collect();
    let mut target = query.clone();
    target.drain(10..13);
    let right = oracle::align(&query, &target, &scoring);
    let mut workspace = TracebackWorkspace::new();
    for (score, matches) in [
        (Some(right.score + 1), None),
        (Some(right.score - 1), Some(right.matches)),
        (Some(right.score), Some(right.matches - 1)),
        (None, Some(right.matches + 1)),
        (Some(i64::from(i32::MAX)), None),
    ] {
        let error = traceback(&query, &target, &scoring, Hint { score, matches }, &mut workspace).unwrap_err();
        assert!(error.to_string().contains("the traceback found"), "{error}");
    }
}

#[test]
fn the_judge_rejects_wrong_answers() {
    let expected = ReferenceAlignment { score: 10, matches: 2, cigar: "2=1I".parse().unwrap() };
    judge(&Alignment::end_to_end(10, "2=1I".parse().unwrap()), &expected).unwrap();
    judge(&Alignment::end_to_end(9, "2=1I".parse().unwrap()), &expected).unwrap_err();
    judge(&Alignment::end_to_end(10, "1=1I1=".parse().unwrap()), &expected).unwrap_err();
}
