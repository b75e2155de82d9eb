//! Messages about bytes of an input, and their locations.

use super::alphabet::{Alphabet, AlphabetChoice, Code};
use crate::error::{Error, InputLocation, Result};

/// Returns an [`Error::Input`].
pub(super) fn input_error(location: InputLocation, message: impl Into<String>) -> Error {
    Error::Input { location, message: message.into() }
}

/// Returns the number of line ends before `index`, and the column there, from 1.
pub(super) fn lines_and_column(raw: &[u8], index: usize) -> (u64, u64) {
    let before = &raw[..index];
    let lines = before.iter().filter(|&&byte| byte == b'\n').count();
    let line_start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
    (lines as u64, (index - line_start) as u64 + 1)
}

/// Returns the lines with comment lines, which start with `;`, replaced by blanks, so that every
/// byte keeps its offset. Returns `None` if there are no comment lines.
pub(super) fn blank_comments(raw: &[u8]) -> Option<Vec<u8>> {
    let mut lines = raw.to_vec();
    let mut has_lines = false;
    for line in lines.split_mut(|&byte| byte == b'\n').filter(|line| line.first() == Some(&b';')) {
        line.fill(b' ');
        has_lines = true;
    }
    has_lines.then_some(lines)
}

/// Describes the problem of a byte that the alphabet lacks, and suggests a solution.
pub(super) fn letter_error(byte: u8, choice: AlphabetChoice) -> String {
    match byte {
        b'-' | b'.' | b'~' => format!("'{}' is a gap: the file looks aligned (`degap` removes gaps)", byte as char),
        b'\r' => "a carriage return inside a line: lines have to end with LF or CR LF".to_owned(),
        b'>' => "'>' inside a sequence: is a line end missing before a header?".to_owned(),
        _ => match choice {
            AlphabetChoice::Detect => format!("{} is not a letter of DNA/RNA or of proteins", describe(byte)),
            AlphabetChoice::Fixed(Alphabet::Dna) => {
                format!("{} is not a letter of DNA/RNA (ACGTU and IUPAC's RYSWKMBDHVN)", describe(byte))
            }
            AlphabetChoice::Fixed(Alphabet::Protein) => {
                format!("{} is not a letter of proteins (A to Z and *)", describe(byte))
            }
            AlphabetChoice::Fixed(Alphabet::Bytes) => format!("{} is not a byte of a text", describe(byte)),
        },
    }
}

/// Encodes letters that are in memory. Errors have the column of the letter in this location.
///
/// # Errors
/// [`Error::Input`] for a letter that the alphabet lacks.
pub(crate) fn encode_letters(
    letters: &[u8],
    alphabet: Alphabet,
    location: impl Fn() -> InputLocation,
) -> Result<Vec<Code>> {
    let encode = |(position, &letter): (usize, &u8)| {
        alphabet.encode(letter).filter(|_| letter.is_ascii() || alphabet == Alphabet::Bytes).ok_or_else(|| {
            let location = InputLocation { column: Some(position as u64 + 1), ..location() };
            let letter = first_character(&letters[position..]);
            input_error(location, format!("{letter:?} is not a letter of {}", alphabet.letters()))
        })
    };
    letters.iter().enumerate().map(encode).collect()
}

/// Returns the first character of some bytes, or the first byte if they do not start with valid
/// UTF-8.
fn first_character(letters: &[u8]) -> char {
    let whole = letters.utf8_chunks().next().and_then(|chunk| chunk.valid().chars().next());
    whole.or_else(|| letters.first().copied().map(char::from)).unwrap_or_default()
}

/// Formats a byte for a message: as a character if it is visible.
pub(super) fn describe(byte: u8) -> String {
    if byte.is_ascii_graphic() { format!("'{}'", byte as char) } else { format!("byte 0x{byte:02X}") }
}
