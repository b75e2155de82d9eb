//! Local alignments. The production traceback returns the canonical alignment (score, position and
//! columns), whatever the hint. Jobs return it for every requested pair. Every kernel for local
//! scores agrees with the oracle.

mod jobs;
mod tiles;
mod traced;

use std::sync::LazyLock;

use pairwave::alignment::Alignment;
use pairwave::pairs::oracle::smith_waterman::ReferenceLocalAlignment;
use pairwave::score::{Ambiguity, EndGaps, Gaps, Mode, Scoring, SubstitutionMatrix};
use pairwave::seq::Alphabet;

/// Schemes for DNA: common ones, many ties, free gap extensions, no positive scores, and large
/// numbers.
static DNA: LazyLock<Vec<Scoring>> = LazyLock::new(|| {
    let schemes = [
        (5, -4, Ambiguity::Overlap, Gaps::linear(10)),
        (5, -4, Ambiguity::Zero, Gaps::linear(10)),
        (5, -4, Ambiguity::Mismatch, Gaps::from_blast(8, 6)),
        (2, -3, Ambiguity::Overlap, Gaps::from_blast(5, 2)),
        (1, -2, Ambiguity::Overlap, Gaps::linear(1)),
        (2, -1, Ambiguity::Overlap, Gaps::linear(1)),
        (1, -1, Ambiguity::Overlap, Gaps::linear(0)),
        (3, -1, Ambiguity::Zero, Gaps::from_blast(4, 0)),
        (0, -2, Ambiguity::Overlap, Gaps::linear(1)),
        (1, 1, Ambiguity::Overlap, Gaps::from_blast(1, 0)),
        (3, -40, Ambiguity::Overlap, Gaps::from_blast(2, 1)),
        (1_000_000, -1_000_000, Ambiguity::Overlap, Gaps::from_blast(400_000, 600_000)),
        (2, -3, Ambiguity::Mean, Gaps::from_blast(5, 2)),
        (5, -4, Ambiguity::Mean, Gaps::linear(3)),
    ];
    let mut all: Vec<Scoring> = schemes
        .into_iter()
        .map(|(a, b, ambiguity, gaps)| Scoring::nucleotide(a, b, ambiguity, gaps, EndGaps::Charged).unwrap())
        .collect();
    let ednafull = SubstitutionMatrix::built_in("EDNAFULL").unwrap();
    // Local alignments have no end gaps, so their costs must not matter.
    all.push(Scoring::matrix(Alphabet::Dna, &ednafull, Gaps::from_emboss(10, 1), EndGaps::Free).unwrap());
    all.into_iter().map(local).collect()
});

static PROTEIN: LazyLock<Vec<Scoring>> = LazyLock::new(|| {
    let schemes = [
        ("BLOSUM62", Gaps::from_blast(11, 1)),
        ("BLOSUM62", Gaps::linear(4)),
        ("PAM30", Gaps::from_blast(9, 1)),
        ("BLOSUM45", Gaps::linear(0)),
    ];
    let scoring = |(name, gaps)| {
        let matrix = SubstitutionMatrix::built_in(name).unwrap();
        local(Scoring::matrix(Alphabet::Protein, &matrix, gaps, EndGaps::Charged).unwrap())
    };
    schemes.map(scoring).to_vec()
});

fn local(scoring: Scoring) -> Scoring {
    Scoring { mode: Mode::Local, ..scoring }
}

/// Returns an error message if an answer differs from the expected alignment.
fn judge(answer: &Alignment, expected: &ReferenceLocalAlignment) -> Result<(), String> {
    let actual = (answer.score, answer.query_range(), answer.target_range(), answer.cigar.to_string());
    let right = (expected.score, expected.query.clone(), expected.target.clone(), expected.cigar.to_string());
    if actual == right { Ok(()) } else { Err(format!("{actual:?} where {right:?} is right")) }
}

#[test]
fn the_judge_rejects_wrong_answers() {
    let expected =
        ReferenceLocalAlignment { score: 10, matches: 2, query: 3..6, target: 4..6, cigar: "1=1I1=".parse().unwrap() };
    let right = Alignment { score: 10, query_start: 3, target_start: 4, cigar: "1=1I1=".parse().unwrap() };
    judge(&right, &expected).unwrap();
    judge(&Alignment { score: 9, ..right.clone() }, &expected).unwrap_err();
    judge(&Alignment { query_start: 2, ..right.clone() }, &expected).unwrap_err();
    judge(&Alignment { target_start: 5, ..right.clone() }, &expected).unwrap_err();
    judge(&Alignment { cigar: "2=1I".parse().unwrap(), ..right }, &expected).unwrap_err();
}
