use proptest::prelude::*;

use super::*;
use crate::alignment::verify;
use crate::pairs::oracle::{needleman_wunsch, smith_waterman};
use crate::score::{Ambiguity, EndGaps, Gaps};
use crate::seq::Alphabet;

fn codes(letters: &str) -> Vec<Code> {
    letters.bytes().map(|letter| Alphabet::Dna.encode(letter).unwrap()).collect()
}

fn scheme(mode: Mode, end_gaps: EndGaps, gaps: Gaps) -> Scoring {
    Scoring { mode, ..Scoring::nucleotide(2, -3, Ambiguity::Overlap, gaps, end_gaps).unwrap() }
}

#[test]
fn alignments_by_hand() {
    use EndGaps::{Charged, Free};
    use Mode::{Global, Local};
    let affine = Gaps::from_blast(2, 1);
    for (query, target, mode, end_gaps, gaps, score, start, end, cigar) in [
        ("", "", Local, Charged, affine, 0, (0, 0), (0, 0), ""),
        ("", "ACG", Global, Charged, affine, -5, (0, 0), (0, 3), "3D"),
        ("AC", "", Global, Free, affine, 0, (0, 0), (2, 0), "2I"),
        ("AAAA", "CCCC", Local, Charged, affine, 0, (0, 0), (0, 0), ""),
        ("TTACGTCC", "GGACGTAA", Local, Charged, affine, 8, (2, 2), (6, 6), "4="),
        ("ACGTCCACGT", "ACGTACGT", Local, Charged, affine, 12, (0, 0), (10, 8), "4=2I4="),
        // Two alignments have the best score. The one that ends first in the query is chosen, or
        // else the one that ends first in the target.
        ("ACGTTTACG", "ACGCCACG", Local, Charged, affine, 6, (0, 0), (3, 3), "3="),
        ("ACG", "CACGCACG", Local, Charged, affine, 6, (0, 1), (3, 4), "3="),
        // Aligning two symbols is preferred to a gap, so that the gap is as early as possible.
        ("AAA", "AA", Global, Charged, Gaps::linear(1), 3, (0, 0), (3, 2), "1I2="),
        // The traceback prefers insertions to deletions.
        ("A", "C", Global, Charged, Gaps::linear(1), -2, (0, 0), (1, 1), "1D1I"),
        ("TTACG", "ACGCC", Global, Free, affine, 6, (0, 0), (5, 5), "2I3=2D"),
    ] {
        let alignment = align(&codes(query), &codes(target), &scheme(mode, end_gaps, gaps));
        assert_eq!((alignment.score, alignment.cigar.to_string().as_str()), (score, cigar), "{query} {target}");
        assert_eq!((alignment.start, alignment.end), (start, end), "{query} {target}");
    }
}

fn sequence() -> impl Strategy<Value = Vec<Code>> {
    prop::collection::vec(prop::sample::select(vec![1, 2, 4, 8, 8, 1, 15, 5]), 0..40)
}

proptest! {
    #[test]
    fn scores_match_the_other_oracles(
        query in sequence(), target in sequence(), next in 0..4, opening in 0..4,
        mode in prop::sample::select(vec![Mode::Global, Mode::Local]),
        end_gaps in prop::sample::select(vec![EndGaps::Charged, EndGaps::Free, EndGaps::Priced(Gaps::linear(0))]),
        end_part in 0i32..4, end_opening_part in 0i32..4,
    ) {
        let gaps = Gaps { first: next + opening, next };
        let end_gaps = match end_gaps {
            EndGaps::Priced(_) => {
                let end_next = next.min(end_part);
                EndGaps::Priced(Gaps { first: (end_next + end_opening_part).min(gaps.first), next: end_next })
            }
            other => other,
        };
        let scoring = scheme(mode, end_gaps, gaps);
        let alignment = align(&query, &target, &scoring);
        let expected = match mode {
            Mode::Global => needleman_wunsch::score_only(&query, &target, &scoring).0,
            Mode::Local => smith_waterman::score_only(&query, &target, &scoring),
        };
        prop_assert_eq!(alignment.score, expected);
        let parts = (&query[alignment.start.0..alignment.end.0], &target[alignment.start.1..alignment.end.1]);
        prop_assert_eq!(verify(&alignment.cigar, parts.0, parts.1, &scoring).unwrap(), expected);
    }

    #[test]
    fn borders_contain_the_entering_gaps(query in sequence(), target in sequence(), next in 0..4, opening in 0..4) {
        let scoring = scheme(Mode::Local, EndGaps::Charged, Gaps { first: next + opening, next });
        let matrices = LongMatrices::fill(&query, &target, &scoring);
        let (m, n) = (query.len(), target.len());
        for i in 0..m {
            let border = matrices.row_border(i, 0..n);
            for j in 1..=n {
                prop_assert_eq!(i64::from(border.h[j]), matrices.h[i][j]);
                prop_assert_eq!(i64::from(border.gap[j]), matrices.insertion[i + 1][j]);
            }
        }
        for j in 0..n {
            let border = matrices.column_border(j, 0..m);
            for i in 1..=m {
                prop_assert_eq!(i64::from(border.gap[i]), matrices.deletion[i][j + 1]);
            }
        }
    }
}
