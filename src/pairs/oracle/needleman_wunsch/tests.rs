//! Compares the oracle with alignments worked out by hand, and with all alignments of tiny
//! sequences.

use super::*;
use crate::alignment::verify;
use crate::score::{Ambiguity, EndGaps, Gaps};
use crate::seq::Alphabet;

fn codes(letters: &str) -> Vec<Code> {
    letters.bytes().map(|letter| Alphabet::Dna.encode(letter).unwrap()).collect()
}

fn scheme(match_score: i32, mismatch_score: i32, gaps: Gaps, end_gaps: EndGaps) -> Scoring {
    Scoring::nucleotide(match_score, mismatch_score, Ambiguity::Overlap, gaps, end_gaps).unwrap()
}

#[test]
fn alignments_equal_the_ones_worked_by_hand() {
    let linear = |a, b, g| scheme(a, b, Gaps::linear(g), EndGaps::Charged);
    let affine = |a, b, open, extend| scheme(a, b, Gaps::from_blast(open, extend), EndGaps::Charged);
    let free = |a, b, g| scheme(a, b, Gaps::linear(g), EndGaps::Free);
    let vsearch = || scheme(2, -4, Gaps::from_blast(20, 2), EndGaps::Priced(Gaps::from_blast(2, 1)));
    for (query, target, scoring, score, cigar) in [
        ("", "", linear(5, -4, 10), 0, ""),
        ("AC", "", linear(5, -4, 10), -20, "2I"),
        ("", "AC", affine(5, -4, 8, 2), -12, "2D"),
        ("ACGT", "ACGT", linear(5, -4, 10), 20, "4="),
        // A deletion of any of the three G scores the same. The traceback prefers the diagonal, so
        // the gap comes first.
        ("ACGGT", "ACGGGT", linear(5, -4, 10), 15, "2=1D3="),
        // The mismatch costs as much as two gaps: the diagonal takes precedence.
        ("A", "C", linear(1, -2, 1), -2, "1X"),
        // The mismatch costs more than two gaps. The traceback takes I first, so D precedes it in
        // the alignment.
        ("A", "C", linear(1, -3, 1), -2, "1D1I"),
        // Both alignments have the same score, but one has one more match: A against A, C against a
        // gap.
        ("AC", "A", linear(0, 0, 0), 0, "1=1I"),
        // With affine gaps, one gap of two is cheaper than two gaps of one.
        ("AACCTT", "AATT", affine(5, -4, 10, 1), 8, "2=2I2="),
        // An inner gap against mismatches at the end.
        ("CCCACGT", "ACGT", free(5, -4, 10), 20, "3I4="),
        ("ACGTCC", "GGACGT", free(5, -4, 10), 20, "2D4=2I"),
        // No symbol matches. All border cells of the last row and column tie, and the last column's
        // cell takes precedence.
        ("AA", "CCC", free(5, -4, 10), 0, "3D2I"),
        // End gaps that cost 2 + k.
        ("CCCACGT", "ACGT", vsearch(), 8 - 5, "3I4="),
        ("ACGTCC", "GGACGT", vsearch(), 8 - 4 - 4, "2D4=2I"),
        ("AACCTT", "AATT", vsearch(), 4 - 8 - 4, "2I2X2="),
        ("ACGTAACCGTAC", "ACGTCCGTAC", vsearch(), 20 - 24, "4=2I6="),
        ("", "CCC", vsearch(), -5, "3D"),
        ("AA", "CCC", vsearch(), -4 - 5, "3D2I"),
    ] {
        let answer = align(&codes(query), &codes(target), &scoring);
        assert_eq!((answer.score, answer.cigar.to_string().as_str()), (score, cigar), "{query} {target}");
        assert_eq!(score_only(&codes(query), &codes(target), &scoring), (answer.score, answer.matches));
        assert_eq!(verify(&answer.cigar, &codes(query), &codes(target), &scoring).unwrap(), score);
    }
}

/// A complete alignment in the order of the traceback, with the values that order equally good
/// ones.
struct ScoredAlignment {
    score: i64,
    matches: u64,
    /// Start cell of the traceback: 0 for (m, n), 1 for an end gap of I, 2 for an end gap of D.
    /// Then the length of the end gap.
    start: (u8, usize),
    /// For each step of the traceback, the rank of the chosen column in the order of preference.
    choices: Vec<u8>,
    cigar: Cigar,
}

/// Returns all alignments of two sequences by brute force: all strings of columns that consume
/// both. If end gaps have their own costs, each string counts once for every part of its last gap
/// that may be the end gap.
fn all_alignments(query: &[Code], target: &[Code], scoring: &Scoring) -> Vec<ScoredAlignment> {
    let mut strings = Vec::new();
    extend(query, target, scoring, &mut Vec::new(), &mut strings);
    let mut candidates = Vec::new();
    for columns in strings {
        let last = columns.last().copied().filter(|op| op.is_gap());
        let tail = columns.iter().rev().take_while(|&&op| Some(op) == last).count();
        for end_columns in 0..=(if scoring.has_own_ends() { tail } else { 0 }) {
            let (inner, _) = columns.split_at(columns.len() - end_columns);
            let (score, matches) = score_columns(inner, query, target, scoring);
            let score = score - scoring.end_costs().cost(end_columns as u64);
            let start = match last {
                _ if end_columns == 0 => (0, 0),
                Some(Op::Insertion) => (1, end_columns),
                _ => (2, end_columns),
            };
            let mut cigar = Cigar::new();
            columns.iter().for_each(|&op| cigar.push(1, op));
            candidates.push(ScoredAlignment { score, matches, start, choices: choices(inner, scoring), cigar });
        }
    }
    candidates
}

fn extend(query: &[Code], target: &[Code], scoring: &Scoring, columns: &mut Vec<Op>, all: &mut Vec<Vec<Op>>) {
    let i = columns.iter().filter(|op| op.consumes_query()).count();
    let j = columns.iter().filter(|op| op.consumes_target()).count();
    if (i, j) == (query.len(), target.len()) {
        all.push(columns.clone());
    }
    let mut with = |op, columns: &mut Vec<Op>| {
        columns.push(op);
        extend(query, target, scoring, columns, all);
        columns.pop();
    };
    if i < query.len() && j < target.len() {
        let is_match = scoring.substitution.is_match(query[i], target[j]);
        with(if is_match { Op::Match } else { Op::Mismatch }, columns);
    }
    if i < query.len() {
        with(Op::Insertion, columns);
    }
    if j < target.len() {
        with(Op::Deletion, columns);
    }
}

/// Returns the score and matches of columns. A gap at the start is an end gap.
fn score_columns(columns: &[Op], query: &[Code], target: &[Code], scoring: &Scoring) -> (i64, u64) {
    let (mut i, mut j, mut score, mut matches) = (0, 0, 0, 0);
    let first_run = columns.iter().take_while(|&&op| op.is_gap() && op == columns[0]).count();
    for (position, &op) in columns.iter().enumerate() {
        if op.is_gap() {
            let opens = position == 0 || columns[position - 1] != op;
            let costs = if position < first_run { scoring.end_costs() } else { scoring.gaps };
            score -= i64::from(if opens { costs.first } else { costs.next });
        } else {
            score += i64::from(scoring.substitution.score(query[i], target[j]));
            matches += u64::from(op == Op::Match);
        }
        i += usize::from(op.consumes_query());
        j += usize::from(op.consumes_target());
    }
    (score, matches)
}

/// Returns the ranks of the columns in the order of preference: diagonal, I, D. With an opening
/// cost, the traceback leaves a gap of I for a D rather than extending it.
fn choices(columns: &[Op], scoring: &Scoring) -> Vec<u8> {
    let mut after = None;
    let mut choices = Vec::new();
    for &op in columns.iter().rev() {
        let leaves_first = after == Some(Op::Insertion) && scoring.gaps.opening() > 0;
        choices.push(match op {
            Op::Match | Op::Mismatch => 0,
            Op::Insertion => 1 + u8::from(leaves_first),
            Op::Deletion => 2 - u8::from(leaves_first),
        });
        after = Some(op);
    }
    choices
}

/// Checks by comparison with all alignments whether `answer` is the canonical one.
fn check(answer: &ReferenceAlignment, query: &[Code], target: &[Code], scoring: &Scoring) -> Result<(), String> {
    let candidates = all_alignments(query, target, scoring);
    let order = |c: &ScoredAlignment| (std::cmp::Reverse((c.score, c.matches)), c.start);
    let compare = |a: &ScoredAlignment, b: &ScoredAlignment| order(a).cmp(&order(b)).then(a.choices.cmp(&b.choices));
    let best = candidates.iter().min_by(|a, b| compare(a, b)).ok_or("no alignment")?;
    if (answer.score, answer.matches) != (best.score, best.matches) {
        return Err(format!("best is {} with {} matches", best.score, best.matches));
    }
    if answer.cigar != best.cigar {
        return Err(format!("canonical is {}, not {}", best.cigar, answer.cigar));
    }
    Ok(())
}

#[test]
fn all_tiny_pairs_agree_with_all_their_alignments() {
    let pool = ["", "A", "C", "N", "AC", "CA", "AA", "ACA", "CCA", "ARA", "AAC", "ACAC", "CAAC", "AACC", "CTGA"];
    let gaps = [Gaps::linear(10), Gaps::linear(1), Gaps::linear(2), Gaps::linear(0)].into_iter().chain([
        Gaps::from_blast(3, 1),
        Gaps::from_blast(1, 0),
        Gaps::from_blast(2, 2),
    ]);
    let mut schemes = Vec::new();
    for gaps in gaps {
        for (match_score, mismatch_score) in [(5, -4), (1, -2), (0, 0), (0, -3), (1, 1)] {
            schemes.extend(
                [EndGaps::Charged, EndGaps::Free].map(|end_gaps| scheme(match_score, mismatch_score, gaps, end_gaps)),
            );
            // All possible costs of end gaps, but only a few of them for the gap cost of 10.
            for (first, next) in
                (0..=gaps.first).flat_map(|first| (0..=gaps.next.min(first)).map(move |next| (first, next)))
            {
                if gaps.first < 10 || (first, next) == (3, 1) || (first, next) == (10, 0) {
                    let ends = EndGaps::Priced(Gaps { first, next });
                    schemes.push(scheme(match_score, mismatch_score, gaps, ends));
                }
            }
        }
    }
    for (number, query) in pool.iter().enumerate() {
        for (other, target) in pool.iter().enumerate() {
            let (query, target) = (&codes(query), &codes(target));
            // Each scheme is tested with every other pair of the longest sequences.
            let (first, step) = if query.len() + target.len() == 8 { ((number + other) % 2, 2) } else { (0, 1) };
            for scoring in schemes.iter().skip(first).step_by(step) {
                let answer = align(query, target, scoring);
                if let Err(error) = check(&answer, query, target, scoring) {
                    panic!("{query:?} {target:?} {:?}: {error}", (scoring.gaps, scoring.end_gaps));
                }
                // If gaps cost nothing, a free end gap can follow a charged inner gap of the same
                // kind. The verification then sees a single run.
                assert_eq!(verify(&answer.cigar, query, target, scoring).unwrap(), answer.score);
            }
        }
    }
}

#[test]
fn the_check_rejects_wrong_answers() {
    let scoring = scheme(5, -4, Gaps::linear(10), EndGaps::Charged);
    let (query, target) = (codes("ACGGT"), codes("ACGT"));
    let right = align(&query, &target, &scoring);
    check(&right, &query, &target, &scoring).unwrap();
    for wrong in [
        ReferenceAlignment { score: right.score + 1, ..right.clone() },
        ReferenceAlignment { matches: right.matches - 1, ..right.clone() },
        // An alignment with the same score and matches that the rule does not select.
        ReferenceAlignment { cigar: "3=1I1=".parse().unwrap(), ..right.clone() },
    ] {
        assert_ne!(wrong, right);
        check(&wrong, &query, &target, &scoring).unwrap_err();
    }
}
