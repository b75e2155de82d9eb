//! Random pairs for tests of engines for long pairs.
#![allow(dead_code)] // each test file uses a part

use super::long::LongCase;
use super::random::Rng;
use pairwave::long::Method;
use pairwave::score::{Ambiguity, EndGaps, Gaps, Mode, Scoring, SubstitutionMatrix};
use pairwave::seq::{Alphabet, Code};

/// Lengths close to the sizes of words, vectors and strips.
pub const LENGTHS: [usize; 16] = [0, 1, 2, 3, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 200];
pub const METHODS: [Method; 3] = [Method::Striped, Method::Chunked1, Method::Chunked2];

/// Returns a random scoring: for DNA or protein; with linear, affine or free gaps, or free
/// extensions; local, global, or with free end gaps.
pub fn scoring(rng: &mut Rng) -> Scoring {
    let gaps = rng.pick(&[
        Gaps::linear(0),
        Gaps::linear(1),
        Gaps::linear(4),
        Gaps::from_blast(3, 0),
        Gaps::from_blast(2, 1),
        Gaps::from_blast(11, 1),
    ]);
    let next = rng.below(gaps.next as usize + 1) as i32;
    let first = next + rng.below((gaps.first - next) as usize + 1) as i32;
    let priced = EndGaps::Priced(Gaps { first, next });
    let end_gaps = rng.pick(&[EndGaps::Charged, EndGaps::Free, priced, priced]);
    let scoring = match rng.below(5) {
        0 => {
            let matrix = SubstitutionMatrix::built_in(rng.pick(&["BLOSUM62", "PAM30"])).unwrap();
            Scoring::matrix(Alphabet::Protein, &matrix, gaps, end_gaps)
        }
        1 => Scoring::nucleotide(2, -3, Ambiguity::Overlap, gaps, end_gaps),
        2 => Scoring::nucleotide(300, -400, Ambiguity::Zero, gaps, end_gaps),
        3 => Scoring::nucleotide(5, -4, Ambiguity::Mean, gaps, end_gaps),
        _ => Scoring::nucleotide(1, -1, Ambiguity::Mismatch, gaps, end_gaps),
    };
    Scoring { mode: rng.pick(&[Mode::Local, Mode::Local, Mode::Global]), ..scoring.unwrap() }
}

pub fn codes(rng: &mut Rng, alphabet: Alphabet, length: usize) -> Vec<Code> {
    let letters: &[u8] = match (alphabet, rng.below(4)) {
        (_, 0) => b"A",
        (Alphabet::Dna, 1) => b"ACGTN",
        (Alphabet::Dna, _) => b"ACGT",
        _ => b"ARNDCQEGHILKMFPSTWYVBX",
    };
    (0..length).map(|_| alphabet.encode(rng.pick(letters)).unwrap()).collect()
}

/// Returns a pair of unrelated, constant, disjoint or partly equal sequences.
pub fn case(rng: &mut Rng) -> LongCase {
    let scoring = scoring(rng);
    let (m, n) = (rng.pick(&LENGTHS), rng.pick(&LENGTHS));
    let query = codes(rng, scoring.alphabet, m);
    let mut target = codes(rng, scoring.alphabet, n);
    match rng.below(4) {
        0 => {}
        1 => target.iter_mut().for_each(|code| *code = scoring.alphabet.encode(b'C').unwrap()),
        _ => {
            let (from, at) = (rng.below(m + 1), rng.below(n + 1));
            let length = (m - from).min(n - at);
            target[at..at + length].copy_from_slice(&query[from..from + length]);
            for _ in 0..length / 20 {
                let position = at + rng.below(length);
                match rng.below(3) {
                    0 => target[position] = query[0],
                    1 => target[position..].rotate_left(1),
                    _ => target[position..].rotate_right(1),
                }
            }
        }
    }
    LongCase::new(&query, &target, &scoring)
}

/// Returns a relative of a sequence: one symbol in ten is replaced, deleted, or followed by an
/// insertion.
pub fn relative(rng: &mut Rng, codes: &[Code]) -> Vec<Code> {
    let mut out = Vec::new();
    for &code in codes {
        match rng.below(30) {
            0 => {}
            1 => out.extend([code, 1]),
            2 => out.push(1 << rng.below(4)),
            _ => out.push(code),
        }
    }
    out
}
