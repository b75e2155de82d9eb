//! Rows in Clustal's format: a header, then blocks of names and letters, each with a line of signs below.

use std::collections::HashMap;

use super::{Found, Lines, word};
use crate::error::Result;

/// Whether a file begins so.
pub(super) fn is_header(line: &[u8]) -> bool {
    let holds = |text: &[u8]| line.windows(text.len()).any(|part| part.eq_ignore_ascii_case(text));
    line.get(..7).is_some_and(|begin| begin.eq_ignore_ascii_case(b"CLUSTAL")) || holds(b"multiple sequence alignment")
}

pub(super) fn read(lines: &Lines<'_>, first: usize) -> Result<Found> {
    let mut found =
        Found::without_dots("has no meaning in a row of Clustal's format: write gaps as '-' and all letters in full");
    let mut rows: HashMap<&[u8], usize> = HashMap::new();
    for (number, &line) in lines.lines.iter().enumerate().skip(first + 1) {
        // Lines of signs have nothing else; what stands before them is not there any more.
        if line.iter().all(|byte| b"*:. \t".contains(byte)) {
            continue;
        }
        let (name, mut letters) = word(line);
        // Some writers count the residues at the end of the line.
        let last = letters.iter().rposition(u8::is_ascii_whitespace);
        if let Some(at) = last.filter(|&at| letters[at + 1..].iter().all(u8::is_ascii_digit)) {
            letters = letters[..at].trim_ascii_end();
        }
        let row = found.row(&mut rows, lines, number, name)?;
        found.add(lines, number, row, letters)?;
    }
    Ok(found)
}
