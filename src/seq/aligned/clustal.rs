//! Reader of Clustal's format: a header, and then blocks of names and letters, each followed by a
//! line of conservation signs.

use std::collections::HashMap;

use super::{AlignmentLines, ParsedRows, split_word};
use crate::error::Result;

/// Returns whether a line is the header of this format.
pub(super) fn is_header(line: &[u8]) -> bool {
    let holds = |text: &[u8]| line.windows(text.len()).any(|part| part.eq_ignore_ascii_case(text));
    line.get(..7).is_some_and(|begin| begin.eq_ignore_ascii_case(b"CLUSTAL")) || holds(b"multiple sequence alignment")
}

pub(super) fn read(lines: &AlignmentLines<'_>, first: usize) -> Result<ParsedRows> {
    let mut parsed = ParsedRows::without_dots(
        "has no meaning in a row of Clustal's format: write gaps as '-', and write all letters",
    );
    let mut rows: HashMap<&[u8], usize> = HashMap::new();
    for (number, &line) in lines.lines.iter().enumerate().skip(first + 1) {
        // Lines of conservation signs contain nothing else. The blanks around them have been
        // removed.
        if line.iter().all(|byte| b"*:. \t".contains(byte)) {
            continue;
        }
        let (name, mut letters) = split_word(line);
        // Some writers put the number of residues at the end of the line.
        let last = letters.iter().rposition(u8::is_ascii_whitespace);
        if let Some(at) = last.filter(|&at| letters[at + 1..].iter().all(u8::is_ascii_digit)) {
            letters = letters[..at].trim_ascii_end();
        }
        let row = parsed.row(&mut rows, lines, number, name)?;
        parsed.add(lines, number, row, letters)?;
    }
    Ok(parsed)
}
