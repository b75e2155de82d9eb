//! The substitution matrices of ClustalW, over ClustalW's own codes.
//!
//! ClustalW uses one list of codes for proteins and nucleotides, [`LETTERS`], and two additional
//! codes for gaps. It turns a matrix into a [`ClustalTable`]: the entries are multiplied by a scale
//! and, for profiles, shifted so that none is negative.

use std::sync::OnceLock;

use super::matrix::SubstitutionMatrix;
use crate::seq::{Alphabet, Code};

/// The letters with codes. The code of a letter is its index.
pub const LETTERS: &[u8; 25] = b"ABCDEFGHIKLMNOPQRSTUVWXYZ";
/// Number of rows and of columns of a [`ClustalTable`]; at least the number of codes.
pub const CODES: usize = 32;
/// Pairs of bases that score as transitions: A and G, C and T, C and U.
const TRANSITIONS: [(u8, u8); 3] = [(b'A', b'G'), (b'C', b'T'), (b'C', b'U')];

/// Returns the code of a letter of either case, if it has one.
pub fn letter_code(letter: u8) -> Option<u8> {
    LETTERS.iter().position(|&other| other == letter.to_ascii_uppercase()).map(|index| index as u8)
}

/// Returns ClustalW's code for each code of an alphabet. Letters that ClustalW would drop from a
/// sequence (J, `*`) get the code of X.
///
/// # Panics
/// Panics for [`Alphabet::Bytes`], which has no matrix.
pub fn codes(alphabet: Alphabet) -> Vec<u8> {
    assert!(alphabet != Alphabet::Bytes, "bytes have no codes of ClustalW's");
    let unknown = LETTERS.iter().position(|&letter| letter == b'X').unwrap_or_default() as u8;
    (0..alphabet.size()).map(|code| letter_code(alphabet.decode(code as Code)).unwrap_or(unknown)).collect()
}

/// A symmetric matrix of integers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClustalMatrix {
    name: String,
    /// Code of each letter, or `None` for a letter without one.
    letters: Vec<Option<u8>>,
    /// Rows of the lower triangle, each up to and including the diagonal.
    lower: Vec<i32>,
}

/// The built-in matrices as text.
const TEXT: &str = include_str!("clustal/matrices.txt");

fn built_in() -> &'static [ClustalMatrix] {
    static ALL: OnceLock<Vec<ClustalMatrix>> = OnceLock::new();
    ALL.get_or_init(|| {
        let mut all = Vec::new();
        let mut lines = TEXT.lines().filter(|line| !line.starts_with('#'));
        while let Some((name, letters)) = lines.next().and_then(|line| line.split_once(' ')) {
            let rows = lines.by_ref().take(letters.len());
            let lower = rows.flat_map(|row| row.split(' ').filter_map(|entry| entry.parse().ok())).collect();
            all.push(ClustalMatrix { name: name.into(), letters: letters.bytes().map(letter_code).collect(), lower });
        }
        // The identity matrices score 10 on the diagonal; the one for nucleotides does so only for
        // bases.
        let letters =
            |name: &str| all.iter().find(|matrix: &&ClustalMatrix| matrix.name == name).map(|m| m.letters.clone());
        let unit = |name: &str, letters: Vec<Option<u8>>, count: &dyn Fn(u8) -> bool| {
            let entry = |a: usize, b: usize| {
                if a == b && letters[a].is_some_and(|code| count(LETTERS[code as usize])) { 10 } else { 0 }
            };
            let lower =
                (0..letters.len()).flat_map(|a| (0..=a).map(move |b| (a, b))).map(|(a, b)| entry(a, b)).collect();
            ClustalMatrix { name: name.into(), letters: letters.clone(), lower }
        };
        let (proteins, nucleotides) = (letters("gonnet250"), letters("iub"));
        all.extend(proteins.map(|letters| unit("id", letters, &|_| true)));
        all.extend(nucleotides.map(|letters| unit("clustalw", letters, &|letter| b"ACGTU".contains(&letter))));
        all
    })
}

/// Parameters of the conversion from a [`ClustalMatrix`] to a [`ClustalTable`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClustalTableOptions {
    /// Factor for all entries.
    pub scale: i32,
    /// Whether entries may be negative. If not, the least entry is subtracted from all.
    pub negative: bool,
    /// Score of a transition as a fraction of the score of A with A; `None` for proteins.
    pub transitions: Option<f32>,
}

/// Scores of all pairs of codes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClustalTable {
    scores: Box<[i32; CODES * CODES]>,
    average: i32,
}

impl ClustalTable {
    /// Returns the score of two codes. It is 0 if one is a gap or a code that the matrix lacks.
    pub fn score(&self, a: u8, b: u8) -> i32 {
        self.scores[a as usize * CODES + b as usize]
    }

    /// Returns all scores, row after row.
    pub fn scores(&self) -> &[i32; CODES * CODES] {
        &self.scores
    }

    /// Returns the mean score of two different letters, negated, before entries are shifted.
    pub fn average(&self) -> i32 {
        self.average
    }
}

impl ClustalMatrix {
    /// Returns the names of the built-in matrices: series and number (`gonnet250`) or `id` for
    /// proteins, and `iub` and `clustalw` for nucleotides.
    pub fn names() -> impl Iterator<Item = &'static str> {
        built_in().iter().map(|matrix| matrix.name.as_str())
    }

    /// Returns a built-in matrix by its name in either case.
    pub fn built_in(name: &str) -> Option<&'static ClustalMatrix> {
        built_in().iter().find(|matrix| matrix.name.eq_ignore_ascii_case(name))
    }

    /// Converts a user's matrix.
    pub fn from_substitution_matrix(matrix: &SubstitutionMatrix) -> ClustalMatrix {
        let letters = matrix.letters();
        let pairs = letters.iter().enumerate().flat_map(|(row, &a)| letters[..=row].iter().map(move |&b| (a, b)));
        ClustalMatrix {
            name: matrix.name().into(),
            letters: letters.iter().copied().map(letter_code).collect(),
            lower: pairs.map(|(a, b)| matrix.score(a, b).unwrap_or_default()).collect(),
        }
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the score table with these options.
    pub fn table(&self, form: ClustalTableOptions) -> ClustalTable {
        let mut scores = Box::new([0; CODES * CODES]);
        let mut entries = self.lower.iter();
        let mut diagonal = 0;
        for (row, a) in self.letters.iter().enumerate() {
            for b in &self.letters[..=row] {
                let entry = entries.next().copied().unwrap_or_default().saturating_mul(form.scale);
                if let (Some(a), Some(b)) = (*a, *b) {
                    scores[a as usize * CODES + b as usize] = entry;
                    scores[b as usize * CODES + a as usize] = entry;
                    diagonal += i32::from(a == b);
                }
            }
        }
        let average = average(&scores, diagonal - 1);
        if !form.negative {
            self.raise(&mut scores);
        }
        if let Some(share) = form.transitions {
            let score = (share * scores[0] as f32) as i32;
            for (a, b) in TRANSITIONS {
                if let (Some(a), Some(b)) = (letter_code(a), letter_code(b)) {
                    scores[a as usize * CODES + b as usize] = score;
                    scores[b as usize * CODES + a as usize] = score;
                }
            }
        }
        ClustalTable { scores, average }
    }

    /// Subtracts the least entry from all entries of the matrix. Like ClustalW, the search for the
    /// least entry skips the column of the first letter, except for its diagonal entry.
    fn raise(&self, scores: &mut [i32; CODES * CODES]) {
        let looked_at = (1..LETTERS.len()).flat_map(|a| (1..=a).map(move |b| a * CODES + b));
        let least = looked_at.map(|index| scores[index]).min().unwrap_or_default().min(scores[0]);
        if least < 0 {
            let known: Vec<usize> = self.letters.iter().flatten().map(|&code| code as usize).collect();
            for index in known.iter().flat_map(|a| known.iter().map(move |b| a * CODES + b)) {
                scores[index] = scores[index].saturating_sub(least);
            }
        }
    }
}

/// Returns the mean score of two different letters, negated. `letters` is one less than the number
/// of letters, as ClustalW counts them.
fn average(scores: &[i32; CODES * CODES], letters: i32) -> i32 {
    let different = (0..LETTERS.len()).flat_map(|a| (0..a).map(move |b| a * CODES + b));
    let sum: i32 = different.map(|index| scores[index]).sum();
    if letters < 2 { 0 } else { -((sum as f32 / ((letters * letters - letters) as f32 / 2.0)) as i32) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(table: &ClustalTable, a: u8, b: u8) -> i32 {
        table.score(letter_code(a).unwrap(), letter_code(b).unwrap())
    }

    #[test]
    fn built_in_matrices_are_complete() {
        assert_eq!(ClustalMatrix::names().count(), 18);
        for matrix in built_in() {
            let letters = matrix.letters.len();
            assert_eq!(matrix.lower.len(), letters * (letters + 1) / 2, "{}", matrix.name);
            assert!(matrix.letters.iter().all(Option::is_some), "{}", matrix.name);
        }
        let plain = ClustalTableOptions { scale: 1, negative: true, transitions: None };
        for (name, a, b, score) in [
            ("gonnet250", b'W', b'W', 142),
            ("gonnet40", b'A', b'R', -61),
            ("blosum62", b'D', b'B', 8),
            ("BLOSUM80", b'Z', b'Z', 6),
            ("pam20", b'W', b'A', -16),
            ("pam350", b'Y', b'F', 11),
            ("id", b'X', b'X', 10),
            ("iub", b'N', b'X', 10),
            ("iub", b'A', b'C', -9),
            ("clustalw", b'N', b'N', 0),
            ("clustalw", b'U', b'U', 10),
        ] {
            let table = ClustalMatrix::built_in(name).unwrap().table(plain);
            assert_eq!((entry(&table, a, b), entry(&table, b, a)), (score, score), "{name}");
            assert_eq!(table.score(letter_code(a).unwrap(), 30), 0);
        }
        assert!(ClustalMatrix::built_in("gonnet300").is_none());
    }

    #[test]
    fn tables_are_shifted_and_transitions_scaled() {
        let profile = ClustalTableOptions { scale: 100, negative: false, transitions: Some(0.5) };
        let iub = ClustalMatrix::built_in("iub").unwrap().table(profile);
        let scores = |pairs: [(u8, u8); 5]| pairs.map(|(a, b)| entry(&iub, a, b));
        let pairs = [(b'A', b'A'), (b'A', b'G'), (b'T', b'C'), (b'U', b'C'), (b'A', b'C')];
        assert_eq!(scores(pairs), [1900, 950, 950, 950, 0]);
        let gonnet = ClustalMatrix::built_in("gonnet250").unwrap();
        let table = gonnet.table(ClustalTableOptions { scale: 10, negative: false, transitions: None });
        assert_eq!((entry(&table, b'W', b'W'), entry(&table, b'W', b'D')), (1940, 0));
        assert_eq!(
            table.average(),
            gonnet.table(ClustalTableOptions { scale: 10, negative: true, transitions: None }).average()
        );
        // O and U are not letters of the matrix.
        assert_eq!((entry(&table, b'O', b'W'), entry(&table, b'B', b'B')), (0, 520));
    }

    #[test]
    fn letters_without_a_code_are_ignored_in_user_matrices() {
        let text = b"  A C J D *\nA 5 -1 0 0 -4\nC -1 9 0 0 -4\nJ 0 0 3 0 -4\nD 0 0 0 7 -4\n* -4 -4 -4 -4 1\n";
        let matrix = ClustalMatrix::from_substitution_matrix(&SubstitutionMatrix::parse("mine", text).unwrap());
        let table = matrix.table(ClustalTableOptions { scale: 100, negative: true, transitions: None });
        assert_eq!((entry(&table, b'A', b'C'), entry(&table, b'C', b'C'), table.average()), (-100, 900, 100));
        assert_eq!(table.scores().iter().filter(|&&score| score != 0).count(), 5);
        assert_eq!(matrix.name(), "mine");
    }

    #[test]
    fn letters_without_a_code_score_as_x() {
        let proteins = codes(Alphabet::Protein);
        let of = |letter: u8| LETTERS[proteins[Alphabet::Protein.encode(letter).unwrap() as usize] as usize];
        assert_eq!([b'A', b'J', b'*', b'U', b'Z'].map(of), *b"AXXUZ");
        let bases = codes(Alphabet::Dna);
        assert_eq!(LETTERS[bases[Alphabet::Dna.encode(b'u').unwrap() as usize] as usize], b'T');
        assert_eq!(LETTERS[bases[15] as usize], b'N');
    }
}
