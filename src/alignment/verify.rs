//! Verification by rescoring: recomputes the score of an alignment from its columns.
//!
//! Verification does not depend on the algorithm that computed an alignment. An accepted alignment
//! is an alignment of these two sequences with this score. Whether a better one exists is tested
//! with the oracles.

use super::Alignment;
use super::cigar::{Cigar, Op};
use crate::error::{Error, Result};
use crate::score::{Mode, Scoring};
use crate::seq::{Code, PAD};

/// Checks that `cigar` aligns all of `query` with all of `target`, that each `=` and `X` agrees
/// with [`crate::score::Substitution::is_match`], and that no run is empty or of the same kind as
/// its neighbour. Returns the score. Every run of I or D counts as one gap, so neighbouring I and D
/// runs are two gaps.
///
/// # Errors
/// Returns [`Error::Internal`] with the problem. An alignment that fails here results from a bug in
/// this library.
///
/// Under [`Mode::Local`], the two sequences are the aligned parts, and no gap is an end gap.
pub fn verify(cigar: &Cigar, query: &[Code], target: &[Code], scoring: &Scoring) -> Result<i64> {
    let runs: Vec<(u32, Op)> = cigar.iter().collect();
    let end_costs = if scoring.mode == Mode::Global { scoring.end_costs() } else { scoring.gaps };
    let (mut i, mut j) = (0usize, 0usize);
    let mut score = 0i64;
    for (position, &(length, op)) in runs.iter().enumerate() {
        let number = position + 1;
        if length == 0 {
            return wrong(cigar, format!("run {number} is empty"));
        }
        if position > 0 && runs[position - 1].1 == op {
            return wrong(cigar, format!("runs {position} and {number} are of one kind"));
        }
        let columns = length as usize;
        let query_end = if op.consumes_query() { i + columns } else { i };
        let target_end = if op.consumes_target() { j + columns } else { j };
        if query_end > query.len() || target_end > target.len() {
            return wrong(cigar, format!("run {number} goes beyond the end of a sequence"));
        }
        if op.is_gap() {
            let is_end_gap = position == 0 || number == runs.len();
            let costs = if is_end_gap { end_costs } else { scoring.gaps };
            score -= costs.cost(u64::from(length));
        } else {
            for (offset, (&a, &b)) in query[i..query_end].iter().zip(&target[j..target_end]).enumerate() {
                let size = scoring.substitution.size();
                if [a, b].iter().any(|&code| code == PAD || code as usize >= size) {
                    return wrong(cigar, format!("codes {a} and {b} are not both of the alphabet"));
                }
                if scoring.substitution.is_match(a, b) != (op == Op::Match) {
                    let (at_query, at_target) = (i + offset + 1, j + offset + 1);
                    return wrong(
                        cigar,
                        format!("query symbol {at_query} and target symbol {at_target} are no '{}'", op.letter()),
                    );
                }
                score += i64::from(scoring.substitution.score(a, b));
            }
        }
        (i, j) = (query_end, target_end);
    }
    if (i, j) != (query.len(), target.len()) {
        let lengths = format!("{} and {}", query.len(), target.len());
        return wrong(cigar, format!("it spans {i} and {j} symbols of sequences of {lengths}"));
    }
    Ok(score)
}

/// Checks an alignment like [`verify`], and also its position. A global alignment must cover both
/// sequences. A local one must lie within them, and start and end with two symbols.
///
/// # Errors
/// Returns the errors of [`verify`].
pub fn verify_alignment(alignment: &Alignment, query: &[Code], target: &[Code], scoring: &Scoring) -> Result<i64> {
    let cigar = &alignment.cigar;
    let (in_query, in_target) = (alignment.query_range(), alignment.target_range());
    if scoring.mode == Mode::Global {
        if (in_query.start, in_target.start) != (0, 0) {
            return wrong(cigar, format!("it begins at {} and {}, not at 0", in_query.start, in_target.start));
        }
        return verify(cigar, query, target, scoring);
    }
    let ends = [cigar.iter().next(), cigar.iter().next_back()];
    if ends.into_iter().flatten().any(|run| run.1.is_gap()) {
        return wrong(cigar, "a local alignment begins or ends with a gap".into());
    }
    match (query.get(in_query.clone()), target.get(in_target.clone())) {
        (Some(query), Some(target)) => verify(cigar, query, target, scoring),
        _ => {
            let lengths = format!("{} and {}", query.len(), target.len());
            wrong(cigar, format!("symbols {in_query:?} and {in_target:?} are not all in sequences of {lengths}"))
        }
    }
}

fn wrong(cigar: &Cigar, message: String) -> Result<i64> {
    let mut text = cigar.to_string();
    if text.len() > 80 {
        text.truncate(77); // ASCII throughout
        text.push_str("...");
    }
    Err(Error::Internal(format!("alignment {text} is wrong: {message}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::{EndGaps, Gaps, Substitution};
    use crate::seq::Alphabet;

    fn scoring(gaps: Gaps, end_gaps: EndGaps) -> Scoring {
        let meets = |a: Code, b: Code| if a & b != 0 { (5, true) } else { (-4, false) };
        Scoring { substitution: Substitution::from_fn(Alphabet::Dna, meets), gaps, end_gaps, ..Scoring::truong() }
    }

    fn codes(letters: &str) -> Vec<Code> {
        letters.bytes().map(|letter| Alphabet::Dna.encode(letter).unwrap()).collect()
    }

    fn run(cigar: &str, query: &str, target: &str, scoring: &Scoring) -> Result<i64> {
        verify(&cigar.parse().unwrap(), &codes(query), &codes(target), scoring)
    }

    #[test]
    fn scores_equal_hand_computed_values() {
        let affine = scoring(Gaps::from_blast(5, 2), EndGaps::Charged);
        assert_eq!(run("", "", "", &affine).unwrap(), 0);
        assert_eq!(run("3=", "ACN", "ACG", &affine).unwrap(), 15);
        assert_eq!(run("1=1X1=", "AAC", "AGC", &affine).unwrap(), 6);
        // Two gaps, each with an opening: 10 - (5 + 2*2) - (5 + 2).
        assert_eq!(run("1=2I1D1=", "ACCA", "AGA", &affine).unwrap(), 10 - 9 - 7);
        assert_eq!(run("2I1=3D", "CCA", "AGGG", &affine).unwrap(), 5 - 9 - 11);
    }

    #[test]
    fn end_gaps_are_first_and_last_run() {
        let free = scoring(Gaps::linear(10), EndGaps::Free);
        assert_eq!(run("2I1=3D", "CCA", "AGGG", &free).unwrap(), 5);
        assert_eq!(run("2I1D1=", "CCA", "GA", &free).unwrap(), 5 - 10);
        assert_eq!(run("2I3D", "CC", "GGG", &free).unwrap(), 0);
        assert_eq!(run("3D", "", "GGG", &free).unwrap(), 0);
    }

    #[test]
    fn priced_end_gaps_use_their_own_costs() {
        let priced = scoring(Gaps::from_blast(5, 2), EndGaps::Priced(Gaps { first: 4, next: 1 }));
        assert_eq!(run("2I1=3D", "CCA", "AGGG", &priced).unwrap(), 5 - 5 - 6);
        assert_eq!(run("2I1D1=", "CCA", "GA", &priced).unwrap(), 5 - 5 - 7);
        assert_eq!(run("1=2I1=", "ACCA", "AA", &priced).unwrap(), 10 - 9);
        assert_eq!(run("2I3D", "CC", "GGG", &priced).unwrap(), -5 - 6);
        // A run that both starts and ends the alignment is a single gap.
        assert_eq!(run("3D", "", "GGG", &priced).unwrap(), -6);
        let local = Scoring { mode: Mode::Local, ..priced };
        assert_eq!(run("2I1=", "CCA", "A", &local).unwrap(), 5 - 9);
    }

    #[test]
    fn local_alignments_have_no_end_gaps() {
        let free = scoring(Gaps::linear(10), EndGaps::Free);
        let (query, target) = (codes("TTACGACC"), codes("GACGCC"));
        let run = |mode, query_start, target_start, cigar: &str| {
            let alignment = Alignment { score: 0, query_start, target_start, cigar: cigar.parse().unwrap() };
            verify_alignment(&alignment, &query, &target, &Scoring { mode, ..free.clone() })
        };
        assert_eq!(run(Mode::Local, 2, 1, "3=1I2=").unwrap(), 25 - 10);
        assert_eq!(run(Mode::Local, 2, 1, "3=").unwrap(), 15);
        assert_eq!(run(Mode::Local, 0, 0, "").unwrap(), 0);
        for (query_start, target_start, cigar, word) in [
            (2, 0, "3=", "are no '='"),
            (2, 1, "3=1I3=", "are not all in sequences of 8 and 6"),
            (9, 0, "", "are not all in sequences of 8 and 6"),
            (1, 1, "1I3=", "begins or ends with a gap"),
            (2, 1, "3=1D", "begins or ends with a gap"),
        ] {
            let error = run(Mode::Local, query_start, target_start, cigar).unwrap_err();
            assert!(error.to_string().contains(word), "{cigar}: {error}");
        }
        let moved = run(Mode::Global, 2, 1, "3=1I2=").unwrap_err();
        assert!(moved.to_string().contains("it begins at 2 and 1, not at 0"), "{moved}");
        // TT-ACGACC against --GACG-CC: the first run is a free end gap, and the second is not.
        assert_eq!(run(Mode::Global, 0, 0, "2I1D3=1I2=").unwrap(), 25 - 10 - 10);
    }

    #[test]
    fn all_kinds_of_wrong_alignments_are_refused() {
        let linear = scoring(Gaps::linear(10), EndGaps::Charged);
        for (cigar, query, target, word) in [
            ("3=", "ACG", "ACT", "are no '='"),
            ("2=1X", "ACG", "ACG", "are no 'X'"),
            ("2=", "ACG", "ACG", "spans"),
            ("4=", "ACG", "ACG", "beyond"),
            ("3=1I", "ACG", "ACG", "beyond"),
            ("3=", "ACG", "ACGT", "spans"),
            ("", "A", "", "spans"),
        ] {
            let error = run(cigar, query, target, &linear).unwrap_err();
            assert!(matches!(error, Error::Internal(_)));
            assert!(error.to_string().contains(word), "{cigar}: {error}");
        }
        let (a, raw) = (codes("AC"), Cigar::from_runs_unchecked);
        let unmerged = raw(vec![(1, Op::Match), (1, Op::Match)]);
        assert!(verify(&unmerged, &a, &a, &linear).unwrap_err().to_string().contains("of one kind"));
        let empty = raw(vec![(2, Op::Match), (0, Op::Insertion)]);
        assert!(verify(&empty, &a, &a, &linear).unwrap_err().to_string().contains("is empty"));
        let pad = verify(&"2=".parse().unwrap(), &[1, 0], &[1, 1], &linear).unwrap_err();
        assert!(pad.to_string().contains("not both of the alphabet"));
        let long = "1=1X".repeat(40).parse().unwrap();
        assert!(verify(&long, &a, &a, &linear).unwrap_err().to_string().contains("..."));
    }
}
