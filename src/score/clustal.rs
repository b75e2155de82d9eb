//! The substitution matrices of ClustalW, over its own codes.
//!
//! ClustalW has one list of codes for proteins and nucleotides, [`LETTERS`], and two codes for gaps besides. Of a matrix it
//! makes a [`Table`]: the entries times a scale, and, where profiles are aligned, moved up so that none is negative.

use std::sync::OnceLock;

use super::matrix::SubstitutionMatrix;
use crate::seq::{Alphabet, Code};

/// The letters that have codes: a letter's code is its place.
pub const LETTERS: &[u8; 25] = b"ABCDEFGHIKLMNOPQRSTUVWXYZ";
/// How many codes a [`Table`] has room for.
pub const CODES: usize = 32;
/// Bases that score as a transition: A and G, C and T, C and U.
const TRANSITIONS: [(u8, u8); 3] = [(b'A', b'G'), (b'C', b'T'), (b'C', b'U')];

/// The code of a letter, if it has one.
pub fn letter_code(letter: u8) -> Option<u8> {
    LETTERS.iter().position(|&own| own == letter.to_ascii_uppercase()).map(|place| place as u8)
}

/// ClustalW's codes of an alphabet's. What ClustalW would drop from a sequence (J, `*`) counts as X.
///
/// # Panics
/// For [`Alphabet::Bytes`], which no matrix is for.
pub fn codes(alphabet: Alphabet) -> Vec<u8> {
    assert!(alphabet != Alphabet::Bytes, "bytes have no codes of ClustalW's");
    let unknown = LETTERS.iter().position(|&letter| letter == b'X').unwrap_or_default() as u8;
    (0..alphabet.size()).map(|code| letter_code(alphabet.decode(code as Code)).unwrap_or(unknown)).collect()
}

/// A symmetric matrix of whole numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Matrix {
    name: String,
    /// Codes of its letters; `None` of one that has none.
    letters: Vec<Option<u8>>,
    /// Row after row, each up to the diagonal.
    lower: Vec<i32>,
}

/// Those that the program brings along.
const TEXT: &str = include_str!("clustal/matrices.txt");

fn built_in() -> &'static [Matrix] {
    static ALL: OnceLock<Vec<Matrix>> = OnceLock::new();
    ALL.get_or_init(|| {
        let mut all = Vec::new();
        let mut lines = TEXT.lines().filter(|line| !line.starts_with('#'));
        while let Some((name, letters)) = lines.next().and_then(|line| line.split_once(' ')) {
            let rows = lines.by_ref().take(letters.len());
            let lower = rows.flat_map(|row| row.split(' ').filter_map(|entry| entry.parse().ok())).collect();
            all.push(Matrix { name: name.into(), letters: letters.bytes().map(letter_code).collect(), lower });
        }
        // Ten for letters with themselves, of nucleotides for the bases only.
        let letters = |name: &str| all.iter().find(|matrix: &&Matrix| matrix.name == name).map(|m| m.letters.clone());
        let unit = |name: &str, letters: Vec<Option<u8>>, count: &dyn Fn(u8) -> bool| {
            let entry = |a: usize, b: usize| {
                if a == b && letters[a].is_some_and(|code| count(LETTERS[code as usize])) { 10 } else { 0 }
            };
            let lower =
                (0..letters.len()).flat_map(|a| (0..=a).map(move |b| (a, b))).map(|(a, b)| entry(a, b)).collect();
            Matrix { name: name.into(), letters: letters.clone(), lower }
        };
        let (proteins, nucleotides) = (letters("gonnet250"), letters("iub"));
        all.extend(proteins.map(|letters| unit("id", letters, &|_| true)));
        all.extend(nucleotides.map(|letters| unit("clustalw", letters, &|letter| b"ACGTU".contains(&letter))));
        all
    })
}

/// What a [`Table`] is made with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Form {
    /// Entries are so many times as great.
    pub scale: i32,
    /// Whether entries may be negative: if not, the least is taken from all.
    pub negative: bool,
    /// What a transition scores, as a share of A with A; `None` for proteins.
    pub transitions: Option<f32>,
}

/// Scores of any two codes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    scores: Box<[i32; CODES * CODES]>,
    average: i32,
}

impl Table {
    /// The score of two codes; of gaps, and of codes that the matrix lacks, that of nothing.
    pub fn score(&self, a: u8, b: u8) -> i32 {
        self.scores[a as usize * CODES + b as usize]
    }

    /// All scores, row after row.
    pub fn scores(&self) -> &[i32; CODES * CODES] {
        &self.scores
    }

    /// What two different letters lose on average, before entries are moved.
    pub fn average(&self) -> i32 {
        self.average
    }
}

impl Matrix {
    /// The names of those that the program brings along: series and number (`gonnet250`), `id`, and of nucleotides `iub` and
    /// `clustalw`.
    pub fn names() -> impl Iterator<Item = &'static str> {
        built_in().iter().map(|matrix| matrix.name.as_str())
    }

    /// One of those, by its name in either case.
    pub fn built_in(name: &str) -> Option<&'static Matrix> {
        built_in().iter().find(|matrix| matrix.name.eq_ignore_ascii_case(name))
    }

    /// A user's matrix.
    pub fn of(matrix: &SubstitutionMatrix) -> Matrix {
        let letters = matrix.letters();
        let pairs = letters.iter().enumerate().flat_map(|(row, &a)| letters[..=row].iter().map(move |&b| (a, b)));
        Matrix {
            name: matrix.name().into(),
            letters: letters.iter().copied().map(letter_code).collect(),
            lower: pairs.map(|(a, b)| matrix.score(a, b).unwrap_or_default()).collect(),
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The table of this form.
    pub fn table(&self, form: Form) -> Table {
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
        Table { scores, average }
    }

    /// Takes the least entry from those of the matrix. ClustalW overlooks the first letter's column when it looks for the
    /// least, but for the diagonal.
    fn raise(&self, scores: &mut [i32; CODES * CODES]) {
        let looked_at = (1..LETTERS.len()).flat_map(|a| (1..=a).map(move |b| a * CODES + b));
        let least = looked_at.map(|place| scores[place]).min().unwrap_or_default().min(scores[0]);
        if least < 0 {
            let known: Vec<usize> = self.letters.iter().flatten().map(|&code| code as usize).collect();
            for place in known.iter().flat_map(|a| known.iter().map(move |b| a * CODES + b)) {
                scores[place] = scores[place].saturating_sub(least);
            }
        }
    }
}

/// What different letters lose on average. `letters` is one less than there are, as ClustalW counts them.
fn average(scores: &[i32; CODES * CODES], letters: i32) -> i32 {
    let different = (0..LETTERS.len()).flat_map(|a| (0..a).map(move |b| a * CODES + b));
    let sum: i32 = different.map(|place| scores[place]).sum();
    if letters < 2 { 0 } else { -((sum as f32 / ((letters * letters - letters) as f32 / 2.0)) as i32) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(table: &Table, a: u8, b: u8) -> i32 {
        table.score(letter_code(a).unwrap(), letter_code(b).unwrap())
    }

    #[test]
    fn every_matrix_is_whole() {
        assert_eq!(Matrix::names().count(), 18);
        for matrix in built_in() {
            let letters = matrix.letters.len();
            assert_eq!(matrix.lower.len(), letters * (letters + 1) / 2, "{}", matrix.name);
            assert!(matrix.letters.iter().all(Option::is_some), "{}", matrix.name);
        }
        let plain = Form { scale: 1, negative: true, transitions: None };
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
            let table = Matrix::built_in(name).unwrap().table(plain);
            assert_eq!((entry(&table, a, b), entry(&table, b, a)), (score, score), "{name}");
            assert_eq!(table.score(letter_code(a).unwrap(), 30), 0);
        }
        assert!(Matrix::built_in("gonnet300").is_none());
    }

    #[test]
    fn tables_are_moved_and_transitions_count_in_part() {
        let profile = Form { scale: 100, negative: false, transitions: Some(0.5) };
        let iub = Matrix::built_in("iub").unwrap().table(profile);
        let scores = |pairs: [(u8, u8); 5]| pairs.map(|(a, b)| entry(&iub, a, b));
        let pairs = [(b'A', b'A'), (b'A', b'G'), (b'T', b'C'), (b'U', b'C'), (b'A', b'C')];
        assert_eq!(scores(pairs), [1900, 950, 950, 950, 0]);
        let gonnet = Matrix::built_in("gonnet250").unwrap();
        let table = gonnet.table(Form { scale: 10, negative: false, transitions: None });
        assert_eq!((entry(&table, b'W', b'W'), entry(&table, b'W', b'D')), (1940, 0));
        assert_eq!(table.average(), gonnet.table(Form { scale: 10, negative: true, transitions: None }).average());
        // O and U are no letters of the matrix.
        assert_eq!((entry(&table, b'O', b'W'), entry(&table, b'B', b'B')), (0, 520));
    }

    #[test]
    fn users_matrices_have_letters_that_count_and_others() {
        let text = b"  A C J D *\nA 5 -1 0 0 -4\nC -1 9 0 0 -4\nJ 0 0 3 0 -4\nD 0 0 0 7 -4\n* -4 -4 -4 -4 1\n";
        let matrix = Matrix::of(&SubstitutionMatrix::parse("mine", text).unwrap());
        let table = matrix.table(Form { scale: 100, negative: true, transitions: None });
        assert_eq!((entry(&table, b'A', b'C'), entry(&table, b'C', b'C'), table.average()), (-100, 900, 100));
        assert_eq!(table.scores().iter().filter(|&&score| score != 0).count(), 5);
        assert_eq!(matrix.name(), "mine");
    }

    #[test]
    fn letters_without_a_code_count_as_unknown() {
        let proteins = codes(Alphabet::Protein);
        let of = |letter: u8| LETTERS[proteins[Alphabet::Protein.encode(letter).unwrap() as usize] as usize];
        assert_eq!([b'A', b'J', b'*', b'U', b'Z'].map(of), *b"AXXUZ");
        let bases = codes(Alphabet::Dna);
        assert_eq!(LETTERS[bases[Alphabet::Dna.encode(b'u').unwrap() as usize] as usize], b'T');
        assert_eq!(LETTERS[bases[15] as usize], b'N');
    }
}
