//! Substitution matrices: the usual ones are built in, and others are read from files in NCBI's
//! format.
//!
//! In this format, lines that start with `#` are comments. The first other line names the columns,
//! one letter each. Every further line is a row: its letter, and then one integer for each column.
//! They are separated by any number of blanks. Upper and lower case are equivalent.

use std::path::Path;

use super::substitution::{MAX_SCORE, Substitution};
use crate::error::{Error, InputLocation, Result};
use crate::seq::{Alphabet, Code};

/// Number of letters that a matrix can have: A to Z and `*`.
const LETTERS: usize = 27;

/// Built-in matrices as files in NCBI's format: BLAST's own, and EMBOSS's EDNAFULL.
const FILES: [(&str, &str, Missing); 10] = [
    ("BLOSUM45", include_str!("../../assets/matrices/BLOSUM45"), Missing::Blast),
    ("BLOSUM50", include_str!("../../assets/matrices/BLOSUM50"), Missing::Blast),
    ("BLOSUM62", include_str!("../../assets/matrices/BLOSUM62"), Missing::Blast),
    ("BLOSUM80", include_str!("../../assets/matrices/BLOSUM80"), Missing::Blast),
    ("BLOSUM90", include_str!("../../assets/matrices/BLOSUM90"), Missing::Blast),
    ("PAM30", include_str!("../../assets/matrices/PAM30"), Missing::Blast),
    ("PAM70", include_str!("../../assets/matrices/PAM70"), Missing::Blast),
    ("PAM250", include_str!("../../assets/matrices/PAM250"), Missing::Blast),
    ("IDENTITY", include_str!("../../assets/matrices/IDENTITY"), Missing::Blast),
    ("EDNAFULL", include_str!("../../assets/matrices/EDNAFULL"), Missing::Zero),
];

/// The other built-in matrices, all from EMBOSS. Each has a line with its name and letters, and
/// then the rows of its lower triangle.
const TRIANGLES: &str = include_str!("matrix/emboss.txt");

/// The built-in matrices in a phrase, for messages.
pub const BUILT_IN: &str = "BLOSUM45, BLOSUM50, BLOSUM62, BLOSUM80, BLOSUM90, PAM30, PAM70, PAM250 and IDENTITY as BLAST \
    has them; EBLOSUM30 to EBLOSUM90, EBLOSUMN, EPAM10 to EPAM500, EDNAFULL, EDNAMAT and EDNASIMPLE as EMBOSS has them";

/// Rule for the score of a letter that a matrix lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Missing {
    /// BLAST's rule: U scores like C, other amino acids like X, and nucleotides like N. If the
    /// replacement is missing too, and for `*`, the least score of the matrix is used.
    Blast,
    /// EMBOSS's rule: 0 with any letter.
    Zero,
}

/// A symmetric table of scores for pairs of letters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubstitutionMatrix {
    name: String,
    /// The letters in the order of the columns, in upper case.
    letters: Vec<u8>,
    /// Line of the column letters, for errors; `None` if the matrix is not from a file.
    header_line: Option<u64>,
    /// Score of the letters with indices a and b at `a * LETTERS + b`; 0 for letters that the
    /// matrix lacks.
    scores: Vec<i32>,
    missing: Missing,
}

/// Returns the index of a letter of either case.
fn index_of(letter: u8) -> Option<usize> {
    match letter.to_ascii_uppercase() {
        letter @ b'A'..=b'Z' => Some((letter - b'A') as usize),
        b'*' => Some(LETTERS - 1),
        _ => None,
    }
}

impl SubstitutionMatrix {
    /// Returns the names of the built-in matrices. NUC.4.4 and ENUC.4.4 are other names of
    /// EDNAFULL.
    pub fn built_in_names() -> impl Iterator<Item = &'static str> {
        FILES.iter().map(|&(name, ..)| name).chain(triangles().map(|(name, ..)| name))
    }

    /// Returns a built-in matrix by its name in either case. BLOSUM62 and other names without `E`
    /// are BLAST's version. EBLOSUM62 and other names that start with `E` are the data files of
    /// EMBOSS.
    pub fn built_in(name: &str) -> Option<Self> {
        let is_alias = ["NUC.4.4", "ENUC.4.4"].iter().any(|alias| alias.eq_ignore_ascii_case(name));
        let name = if is_alias { "EDNAFULL" } else { name };
        if let Some((name, text, missing)) = FILES.iter().find(|(other, ..)| other.eq_ignore_ascii_case(name)) {
            let matrix = Self::parse(name, text.as_bytes()).expect("built-in matrices are valid");
            return Some(SubstitutionMatrix { missing: *missing, ..matrix });
        }
        let (name, letters, rows) = triangles().find(|(other, ..)| other.eq_ignore_ascii_case(name))?;
        Some(Self::from_triangle(name, letters, rows))
    }

    /// Builds an EMBOSS matrix from its lower triangle, whose lines start at `rows`.
    fn from_triangle(name: &str, letters: &str, rows: &str) -> Self {
        let mut scores = vec![0; LETTERS * LETTERS];
        let index = |letter: u8| index_of(letter).expect("built-in matrices have letters");
        for (row, line) in letters.bytes().zip(rows.lines()) {
            for (column, entry) in letters.bytes().zip(line.split(' ')) {
                let score = entry.parse().expect("built-in matrices have integers");
                scores[index(row) * LETTERS + index(column)] = score;
                scores[index(column) * LETTERS + index(row)] = score;
            }
        }
        SubstitutionMatrix {
            name: name.into(),
            letters: letters.into(),
            header_line: None,
            scores,
            missing: Missing::Zero,
        }
    }

    /// Returns the built-in matrix of this name, or reads the file of this name.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] with a list of the built-in matrices if there is neither,
    /// [`Error::Io`] if the file cannot be read, and otherwise the errors of
    /// [`SubstitutionMatrix::parse`].
    pub fn open(name_or_path: impl AsRef<Path>) -> Result<Self> {
        let path = name_or_path.as_ref();
        if let Some(matrix) = path.to_str().and_then(Self::built_in) {
            return Ok(matrix);
        }
        let name = path.display().to_string();
        match std::fs::read(path) {
            Ok(bytes) => Self::parse(&name, &bytes),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let message = format!("no such file, and {}", Self::suggestion(&name));
                Err(Error::usage_value("matrix", name, message))
            }
            Err(error) => Err(Error::io(path, error)),
        }
    }

    /// Suggests built-in matrices for a name that is unknown.
    pub fn suggestion(name: &str) -> String {
        let emboss = format!("E{}", name.to_ascii_uppercase());
        match Self::built_in_names().find(|other| *other == emboss) {
            Some(other) => format!("the built-in matrix of this kind is {other}, EMBOSS's"),
            None => format!("the built-in matrices are {BUILT_IN}"),
        }
    }

    /// Reads a matrix in NCBI's format. Errors name it `file`.
    ///
    /// # Errors
    /// Returns [`Error::Input`] with line and column if the text is not in this format. That
    /// includes a letter that is repeated or invalid, an entry that is not an integer from
    /// -[`MAX_SCORE`] to [`MAX_SCORE`], rows and columns with different letters, and a table that
    /// is not symmetric: the pairs of an all-against-all comparison have no order, so neither can
    /// their scores.
    pub fn parse(file: &str, text: &[u8]) -> Result<Self> {
        MatrixParser { file }.parse(text)
    }

    /// Returns the name of the built-in matrix or of the file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the letters in the order of the columns, in upper case.
    pub fn letters(&self) -> &[u8] {
        &self.letters
    }

    /// Returns the score of two letters of either case, if the matrix has both.
    pub fn score(&self, a: u8, b: u8) -> Option<i32> {
        let index = |letter: u8| index_of(letter).filter(|_| self.letters.contains(&letter.to_ascii_uppercase()));
        Some(self.scores[index(a)? * LETTERS + index(b)?])
    }

    /// Returns the table for the codes of an alphabet. For a letter that the matrix lacks, BLAST's
    /// matrices and files follow BLAST's rule: U scores like C, other amino acids (J, O, ...) like
    /// X, and nucleotides like N. If these are missing too, and for `*`, the score is the least of
    /// the matrix. With EMBOSS's matrices, such a letter scores 0. T and U are the same nucleotide.
    /// Two amino acids match if they are the same letter. Two DNA codes match if their sets of
    /// bases intersect.
    ///
    /// # Errors
    /// Returns [`Error::Input`] if the matrix lacks any of the twenty amino acids or four bases, or
    /// if it has letters that are not DNA but `alphabet` is.
    pub fn substitution(&self, alphabet: Alphabet) -> Result<Substitution> {
        let (needed, wildcard, sequences): (&[u8], u8, &str) = match alphabet {
            Alphabet::Dna => (b"ACGT", b'N', "DNA"),
            Alphabet::Protein => (b"ARNDCQEGHILKMFPSTWYV", b'X', "protein"),
            Alphabet::Bytes => {
                return Err(self.unsuited("matrices do not apply to bytes: compute edit distances instead".into()));
            }
        };
        if let Some(&letter) = needed.iter().find(|&&letter| self.letter(letter, alphabet).is_none()) {
            return Err(self.unsuited(format!("not a matrix for {sequences} sequences: it lacks '{}'", letter as char)));
        }
        let foreign = |&letter: &u8| !b"X*".contains(&letter) && alphabet.encode(letter).is_none();
        if let Some(letter) = self.letters.iter().copied().find(foreign) {
            return Err(self.unsuited(format!("not a matrix for {sequences} sequences: it has '{}'", letter as char)));
        }
        let entries = || self.letters.iter().flat_map(|&a| self.letters.iter().filter_map(move |&b| self.score(a, b)));
        let least = entries().min().expect("a matrix has entries");
        let stand_in = |code: Code| {
            let letter = alphabet.decode(code);
            let other = match (letter, alphabet) {
                _ if self.missing == Missing::Zero => None,
                (b'*', _) => None,
                (b'U', Alphabet::Protein) => Some(b'C'),
                _ => Some(wildcard),
            };
            self.letter(letter, alphabet).or_else(|| self.letter(other?, alphabet))
        };
        let unknown = if self.missing == Missing::Zero { 0 } else { least };
        Ok(Substitution::from_fn(alphabet, |a, b| {
            let score = stand_in(a).zip(stand_in(b)).and_then(|(a, b)| self.score(a, b)).unwrap_or(unknown);
            let is_match = match alphabet {
                Alphabet::Dna => a & b != 0,
                Alphabet::Protein | Alphabet::Bytes => a == b,
            };
            (score, is_match)
        }))
    }

    /// Returns the matrix's letter for `letter`, if there is one. For DNA, U can represent T.
    fn letter(&self, letter: u8, alphabet: Alphabet) -> Option<u8> {
        let other = if alphabet == Alphabet::Dna && letter == b'T' { b'U' } else { letter };
        [letter, other].into_iter().find(|letter| self.letters.contains(letter))
    }

    fn unsuited(&self, message: String) -> Error {
        let location = InputLocation { file: self.name.clone(), line: self.header_line, ..InputLocation::default() };
        Error::Input { location, message }
    }
}

/// Splits [`TRIANGLES`] into matrices: the name, the letters, and the text from the first row on.
fn triangles() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    let mut rest = TRIANGLES;
    std::iter::from_fn(move || {
        loop {
            let (line, behind) = rest.split_once('\n')?;
            rest = behind;
            if let Some((name, letters)) = line.split_once(' ').filter(|_| line.starts_with('E')) {
                return Some((name, letters, rest));
            }
        }
    })
}

struct MatrixParser<'a> {
    file: &'a str,
}

/// Returns the words of a line, each with its column, counted from 1.
fn words(line: &[u8]) -> impl Iterator<Item = (u64, &[u8])> {
    let mut at = 0;
    std::iter::from_fn(move || {
        at += line[at..].iter().position(|byte| !byte.is_ascii_whitespace())?;
        let start = at;
        at = line[start..].iter().position(u8::is_ascii_whitespace).map_or(line.len(), |length| start + length);
        Some((start as u64 + 1, &line[start..at]))
    })
}

impl MatrixParser<'_> {
    fn error(&self, line: u64, column: u64, message: impl Into<String>) -> Error {
        let location =
            InputLocation { file: self.file.to_owned(), line: Some(line), column: Some(column), record: None };
        Error::Input { location, message: message.into() }
    }

    fn parse(&self, text: &[u8]) -> Result<SubstitutionMatrix> {
        let mut lines = text
            .split(|&byte| byte == b'\n')
            .zip(1u64..)
            .map(|(line, number)| (number, line))
            .filter(|(_, line)| words(line).next().is_some_and(|(_, word)| word[0] != b'#'));
        let Some((header_line, header)) = lines.next() else {
            let location = InputLocation::in_file(self.file);
            return Err(Error::Input { location, message: "no line of column letters: is this a matrix?".to_owned() });
        };
        let mut letters = Vec::new();
        for (column, word) in words(header) {
            let letter = self.letter(header_line, column, word, "column")?;
            if letters.contains(&letter) {
                return Err(self.error(header_line, column, format!("a second column '{}'", letter as char)));
            }
            letters.push(letter);
        }
        let mut scores = vec![0; LETTERS * LETTERS];
        let mut rows: Vec<(u8, Vec<(u64, u64)>)> = Vec::new(); // each row's letter, line and column of each entry
        for (line_number, line) in lines {
            let (letter, places) = self.row(line_number, line, &letters, &mut scores)?;
            if rows.iter().any(|row| row.0 == letter) {
                return Err(self.error(line_number, 1, format!("a second row '{}'", letter as char)));
            }
            rows.push((letter, places));
        }
        if let Some(letter) = letters.iter().find(|&&letter| rows.iter().all(|row| row.0 != letter)) {
            return Err(self.error(header_line, 1, format!("column '{0}' but no row '{0}'", *letter as char)));
        }
        for (row, places) in &rows {
            for (&column, &(line, at)) in letters.iter().zip(places) {
                let score = |a: u8, b: u8| scores[index_of(a).unwrap_or(0) * LETTERS + index_of(b).unwrap_or(0)];
                let (here, there) = (score(*row, column), score(column, *row));
                if here != there {
                    let (row, column) = (*row as char, column as char);
                    let message =
                        format!("not symmetric: {row} with {column} is {here}, {column} with {row} is {there}");
                    return Err(self.error(line, at, message));
                }
            }
        }
        Ok(SubstitutionMatrix {
            name: self.file.to_owned(),
            letters,
            header_line: Some(header_line),
            scores,
            missing: Missing::Blast,
        })
    }

    /// Reads one row into `scores`. Returns its letter, and the line and the column of each entry.
    fn row(&self, number: u64, line: &[u8], letters: &[u8], scores: &mut [i32]) -> Result<(u8, Vec<(u64, u64)>)> {
        let mut words = words(line);
        let (column, word) = words.next().expect("blank lines are skipped");
        let letter = self.letter(number, column, word, "row")?;
        let row = index_of(letter).filter(|_| letters.contains(&letter));
        let Some(row) = row else {
            return Err(self.error(number, column, format!("row '{0}' but no column '{0}'", letter as char)));
        };
        let mut places = Vec::new();
        for (column, word) in words {
            let Some(&other) = letters.get(places.len()) else {
                let message = format!("more than {} entries in row '{}'", letters.len(), letter as char);
                return Err(self.error(number, column, message));
            };
            let entry = std::str::from_utf8(word).ok().and_then(|word| word.parse::<i32>().ok());
            let Some(entry) = entry.filter(|entry| (-MAX_SCORE..=MAX_SCORE).contains(entry)) else {
                let word = String::from_utf8_lossy(word);
                let message = format!("'{word}' is not an integer from -{MAX_SCORE} to {MAX_SCORE}");
                return Err(self.error(number, column, message));
            };
            scores[row * LETTERS + index_of(other).expect("column letters are letters")] = entry;
            places.push((number, column));
        }
        if places.len() < letters.len() {
            let (entries, expected) = (places.len(), letters.len());
            let message = format!("{entries} of {expected} entries in row '{}'", letter as char);
            return Err(self.error(number, line.trim_ascii_end().len() as u64, message));
        }
        Ok((letter, places))
    }

    /// Returns the letter that a word consists of, in upper case.
    fn letter(&self, line: u64, column: u64, word: &[u8], kind: &str) -> Result<u8> {
        match word {
            [letter] if index_of(*letter).is_some() => Ok(letter.to_ascii_uppercase()),
            _ => {
                let word = String::from_utf8_lossy(&word[..word.len().min(20)]);
                Err(self.error(line, column, format!("'{word}' where a {kind}'s letter (A to Z or *) should be")))
            }
        }
    }
}
