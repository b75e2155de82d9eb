//! Scores that other programs printed: parasail in three modes and ssearch36 for the proteins in
//! `assets/proteins`, BLASTN for ambiguous nucleotides, and BLASTP and needle for all pairs of
//! letters with each of their matrices. `scripts/compare` compares more of them.

use std::collections::HashMap;

use pairwave::score::{Ambiguity, EndGaps, Gaps, Mode, NamedScheme, Scoring, SubstitutionMatrix};
use pairwave::seq::{Alphabet, Code, reverse_complement};
use pairwave::trace::{Hint, TracebackWorkspace, traceback};

/// Returns the codes of all sequences by the first word of their headers.
fn proteins() -> HashMap<String, Vec<Code>> {
    let mut all = HashMap::new();
    for file in ["queries", "subjects"] {
        let path = format!("{}/assets/proteins/{file}.fasta", support::ROOT);
        let text = std::fs::read_to_string(path).unwrap();
        for record in text.split('>').skip(1) {
            let (header, sequence) = record.split_once('\n').unwrap();
            let letters = sequence.bytes().filter(u8::is_ascii_alphabetic);
            let codes = letters.map(|letter| Alphabet::Protein.encode(letter).unwrap()).collect();
            all.insert(header.split_whitespace().next().unwrap().to_owned(), codes);
        }
    }
    all
}

fn rows(text: &str) -> impl Iterator<Item = Vec<&str>> {
    text.lines().filter(|line| !line.starts_with('#')).map(|line| line.split('\t').collect())
}

fn scoring(matrix: &str, open: i32, extend: i32, mode: Mode, end_gaps: EndGaps) -> Scoring {
    let matrix = SubstitutionMatrix::built_in(matrix).unwrap();
    let gaps = Gaps::from_blast(open, extend);
    Scoring { mode, ..Scoring::matrix(Alphabet::Protein, &matrix, gaps, end_gaps).unwrap() }
}

#[test]
fn scores_equal_parasail() {
    let (proteins, mut workspace, mut compared) = (proteins(), TracebackWorkspace::new(), 0);
    for row in rows(include_str!("printed/parasail.tsv")) {
        let number = |at: usize| row[at].parse::<i32>().unwrap();
        let modes = [(Mode::Local, EndGaps::Charged), (Mode::Global, EndGaps::Charged), (Mode::Global, EndGaps::Free)];
        for (at, (mode, end_gaps)) in modes.into_iter().enumerate() {
            let scoring = scoring(row[0], number(1), number(2), mode, end_gaps);
            let (query, target) = (&proteins[row[3]], &proteins[row[4]]);
            let answer = traceback(query, target, &scoring, Hint::NONE, &mut workspace).unwrap();
            // Parasail's overlaps have at least one symbol. Pairwave's may be empty, with score 0.
            let least = if end_gaps == EndGaps::Free { 0 } else { i64::MIN };
            assert_eq!(answer.score, i64::from(number(5 + at)).max(least), "{row:?} {mode:?} {end_gaps:?}");
            compared += 1;
        }
    }
    assert_eq!(compared, 3 * 375);
}

#[test]
fn scores_equal_ssearch36() {
    let (proteins, mut workspace, mut compared) = (proteins(), TracebackWorkspace::new(), 0);
    let scoring = scoring("BLOSUM62", 11, 1, Mode::Local, EndGaps::Charged);
    for row in rows(include_str!("printed/ssearch36.tsv")) {
        let (query, target) = (&proteins[row[0]], &proteins[row[1]]);
        let answer = traceback(query, target, &scoring, Hint::NONE, &mut workspace).unwrap();
        assert_eq!(answer.score, row[2].parse::<i64>().unwrap(), "{row:?}");
        compared += 1;
    }
    assert_eq!(compared, 186);
}

/// Every pair of codes on both strands. U counts as T.
#[test]
fn scores_of_two_codes_are_those_of_blastn() {
    let code = |letter: &u8| Alphabet::Dna.encode(*letter).unwrap();
    let codes: Vec<Code> = b"ACGTRYMKWSBDHVN".iter().map(code).collect();
    let megablast = NamedScheme::find("megablast").unwrap().scoring(Alphabet::Dna).unwrap().substitution;
    let mut compared = 0;
    for row in rows(include_str!("printed/blastn_codes.tsv")) {
        let [match_score, mismatch] = [0, 1].map(|at: usize| row[at].parse::<i32>().unwrap());
        let scoring = Scoring::nucleotide(match_score, mismatch, Ambiguity::Mean, Gaps::linear(9), EndGaps::Charged);
        let substitution = scoring.unwrap().substitution;
        let row_letter = code(&row[2].as_bytes()[0]);
        for (&other, printed) in codes.iter().zip(&row[3..]) {
            let printed: i32 = printed.parse().unwrap();
            let turned = reverse_complement(&[row_letter, other]);
            for (a, b) in [(row_letter, other), (turned[1], turned[0])] {
                assert_eq!(substitution.score(a, b), printed, "{row:?}");
                // The pairs that BLASTN counts as identical.
                assert_eq!(substitution.is_match(a, b), a == b, "{row:?}");
                if (match_score, mismatch) == (1, -2) {
                    assert_eq!(megablast.score(a, b), 2 * printed, "{row:?}");
                }
            }
            compared += 1;
        }
    }
    assert_eq!((compared, code(&b'U')), (10 * 15 * 15, code(&b'T')));
}

/// Compares the scores of all pairs of letters with each matrix of a table. Returns the number of
/// pairs.
fn compare_letters(table: &str) -> usize {
    let mut compared = 0;
    for row in rows(table) {
        let (alphabet, order): (_, &[u8]) = match row[0].starts_with("EDNA") {
            true => (Alphabet::Dna, b"ACGTURYSWKMBDHVN"),
            false => (Alphabet::Protein, b"ARNDCQEGHILKMFPSTWYVBJZX*UO"),
        };
        let matrix = SubstitutionMatrix::built_in(row[0]).unwrap();
        let scoring = Scoring::matrix(alphabet, &matrix, Gaps::from_blast(11, 1), EndGaps::Charged).unwrap();
        let code = |letter: u8| alphabet.encode(letter).unwrap();
        let row_letter = code(row[1].as_bytes()[0]);
        for (&other, printed) in order.iter().zip(&row[2..]) {
            let scores =
                [(row_letter, code(other)), (code(other), row_letter)].map(|(a, b)| scoring.substitution.score(a, b));
            assert_eq!(scores, [printed.parse::<i32>().unwrap(); 2], "{} {} {}", row[0], row[1], other as char);
            compared += 1;
        }
    }
    compared
}

#[test]
fn letters_score_as_in_blastp() {
    assert_eq!(compare_letters(include_str!("printed/blastp_letters.tsv")), 9 * 27 * 28 / 2);
}

#[test]
fn letters_score_as_in_needle() {
    let pairs = 13 * 27 * 28 / 2 + 3 * 16 * 17 / 2;
    assert_eq!(compare_letters(include_str!("printed/needle_letters.tsv")), pairs);
}
