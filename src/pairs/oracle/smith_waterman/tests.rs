use super::*;
use crate::score::{Ambiguity, Gaps};
use crate::seq::Alphabet;

fn codes(letters: &str) -> Vec<Code> {
    letters.bytes().map(|letter| Alphabet::Dna.encode(letter).unwrap()).collect()
}

fn scheme(match_score: i32, mismatch_score: i32, gaps: Gaps) -> Scoring {
    let scheme = Scoring::nucleotide(match_score, mismatch_score, Ambiguity::Overlap, gaps, EndGaps::Charged).unwrap();
    Scoring { mode: Mode::Local, ..scheme }
}

#[test]
fn alignments_equal_the_ones_worked_by_hand() {
    let linear = || scheme(5, -4, Gaps::linear(10));
    let affine = || scheme(2, -3, Gaps::from_blast(2, 1));
    for (query, target, scoring, score, parts, cigar) in [
        ("", "", linear(), 0, (0..0, 0..0), ""),
        ("", "ACG", linear(), 0, (0..0, 0..0), ""),
        ("A", "A", linear(), 5, (0..1, 0..1), "1="),
        ("AAAA", "CCCC", linear(), 0, (0..0, 0..0), ""),
        ("TTACGTCC", "GGACGTAA", linear(), 20, (2..6, 2..6), "4="),
        // Matches on both sides of a mismatch pay for it, but not at the end of a sequence.
        ("ACGTACGT", "ACGAACGA", linear(), 26, (0..7, 0..7), "3=1X3="),
        // Among two alignments with equal scores, the rule selects the earlier end in the query,
        // then the earlier end in the target.
        ("ACGTTTACG", "ACGCCACG", linear(), 15, (0..3, 0..3), "3="),
        ("ACG", "CACGCACG", linear(), 15, (0..3, 1..4), "3="),
        // A prefix that adds nothing is dropped: the first two columns score 4 - 4 = 0.
        ("AGCC", "ATCC", scheme(4, -4, Gaps::linear(9)), 8, (2..4, 2..4), "2="),
        // A gap of two: 8 * 2 - (2 + 2 * 1).
        ("ACGTCCACGT", "ACGTACGT", affine(), 12, (0..10, 0..8), "4=2I4="),
        ("ACGTACGT", "ACGTCCACGT", affine(), 12, (0..8, 0..10), "4=2D4="),
        // N matches every symbol, and counts as a match.
        ("CCANG", "TTACG", linear(), 15, (2..5, 2..5), "3="),
    ] {
        let answer = align(&codes(query), &codes(target), &scoring);
        assert_eq!((answer.score, answer.cigar.to_string().as_str()), (score, cigar), "{query} {target}");
        assert_eq!((&answer.query, &answer.target), (&parts.0, &parts.1), "{query} {target}");
        assert_eq!(score_only(&codes(query), &codes(target), &scoring), score);
    }
}

/// Checks by the global scores of all pairs of parts whether `answer` is the canonical alignment.
fn check(answer: &ReferenceLocalAlignment, query: &[Code], target: &[Code], scoring: &Scoring) -> Result<(), String> {
    let global = Scoring { mode: Mode::Global, ..scoring.clone() };
    let parts = |length: usize| (0..=length).flat_map(move |end| (0..=end).map(move |begin| begin..end));
    let mut best = (0, 0..0, 0..0);
    // Order of the rule: by the ends, then by the lengths. The first pair of parts with the best
    // score is canonical.
    let mut order: Vec<(Range<usize>, Range<usize>)> =
        parts(query.len()).flat_map(|i| parts(target.len()).map(move |j| (i.clone(), j))).collect();
    order.sort_by_key(|(i, j)| (i.end, j.end, i.len(), j.len()));
    for (i, j) in order {
        let score = needleman_wunsch::score_only(&query[i.clone()], &target[j.clone()], &global).0;
        if score > best.0 {
            best = (score, i, j);
        }
    }
    let (score, i, j) = best;
    let between = needleman_wunsch::align(&query[i.clone()], &target[j.clone()], &global);
    let expected =
        ReferenceLocalAlignment { score, matches: between.matches, query: i, target: j, cigar: between.cigar };
    if answer == &expected { Ok(()) } else { Err(format!("{answer:?} where {expected:?} is right")) }
}

#[test]
fn all_tiny_pairs_agree_with_all_their_parts() {
    let pool =
        ["", "A", "C", "N", "AC", "CA", "AA", "ACA", "CCA", "ARA", "AAC", "ACAC", "CAAC", "AACC", "CTGAC", "ACCAAC"];
    let gaps = [Gaps::linear(10), Gaps::linear(1), Gaps::linear(2), Gaps::linear(0)];
    let affine = [Gaps::from_blast(3, 1), Gaps::from_blast(1, 0), Gaps::from_blast(2, 2)];
    let mut positive = 0;
    for gaps in gaps.into_iter().chain(affine) {
        for (match_score, mismatch_score) in [(5, -4), (1, -2), (2, -1), (4, -4), (0, -3), (1, 1)] {
            let scoring = scheme(match_score, mismatch_score, gaps);
            for query in pool.map(codes) {
                for target in pool.map(codes) {
                    let answer = align(&query, &target, &scoring);
                    check(&answer, &query, &target, &scoring).unwrap_or_else(|error| panic!("{gaps:?}: {error}"));
                    positive += u32::from(answer.score > 0);
                }
            }
        }
    }
    assert!(positive > 5_000, "{positive} alignments with a column: too few to tell anything");
}

#[test]
fn the_check_rejects_wrong_answers() {
    let scoring = scheme(5, -4, Gaps::linear(10));
    let (query, target) = (codes("TACGACG"), codes("ACGTACC"));
    let right = align(&query, &target, &scoring);
    check(&right, &query, &target, &scoring).unwrap();
    for wrong in [
        ReferenceLocalAlignment { score: right.score + 1, ..right.clone() },
        ReferenceLocalAlignment { matches: right.matches - 1, ..right.clone() },
        // Alignments with the same score that the rule does not select.
        ReferenceLocalAlignment { query: 1..4, target: 0..3, ..right.clone() },
        ReferenceLocalAlignment { target: 2..6, ..right.clone() },
        ReferenceLocalAlignment { cigar: Cigar::new(), ..right.clone() },
    ] {
        assert_ne!(wrong, right);
        check(&wrong, &query, &target, &scoring).unwrap_err();
    }
}
