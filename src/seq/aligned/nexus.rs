//! Rows in the matrix of a NEXUS file, one after another or interleaved, a row of a block on a line of its own; and names as the format
//! quotes them.

use std::collections::HashMap;

use bstr::{BString, ByteSlice};

use super::{Found, Lines, word};
use crate::error::Result;
use crate::seq::names::has_blank;

/// Punctuation by the format's definition (Maddison et al. 1997). A name with any of it is quoted.
const PUNCTUATION: &[u8] = b" ()[]{}/\\,;:=*'\"`+-<>";

/// Returns a name as a NEXUS file holds it: in single quotes if it has blanks or punctuation, a single quote doubled.
pub(crate) fn quoted(name: &[u8]) -> Vec<u8> {
    if !name.is_empty() && !has_blank(name) && !name.iter().any(|byte| PUNCTUATION.contains(byte)) {
        return name.to_vec();
    }
    [b"'", &*name.replace("'", "''"), b"'"].concat()
}

/// Whether a file starts like this format.
pub(super) fn is_header(line: &[u8]) -> bool {
    line.len() >= 6 && line[..6].eq_ignore_ascii_case(b"#NEXUS")
}

/// Reads lines without the comments in brackets, which may stand in each other and extend over lines.
#[derive(Default)]
struct Uncommented {
    /// Comments that are open.
    depth: usize,
}

impl Uncommented {
    /// Returns a line without its comments, and whether `;` outside of quotes ends it.
    fn line(&mut self, line: &[u8]) -> (Vec<u8>, bool) {
        let mut text = Vec::with_capacity(line.len());
        let mut is_quoted = false;
        for &byte in line {
            match byte {
                b'[' if !is_quoted => self.depth += 1,
                b']' if !is_quoted && self.depth > 0 => self.depth -= 1,
                _ if self.depth > 0 => {}
                b';' if !is_quoted => return (text, true),
                _ => {
                    // A doubled quote closes and opens.
                    is_quoted ^= byte == b'\'';
                    text.push(byte);
                }
            }
        }
        (text, false)
    }
}

pub(super) fn read(lines: &Lines<'_>, first: usize) -> Result<Found> {
    let begins = |line: &[u8], with: &[u8]| line.len() >= with.len() && line[..with.len()].eq_ignore_ascii_case(with);
    let holds = |line: &[u8], text: &[u8]| line.windows(text.len()).any(|part| part.eq_ignore_ascii_case(text));
    let mut uncommented = Uncommented::default();
    let mut body = (first + 1..lines.lines.len()).map(|number| {
        let (line, is_last) = uncommented.line(lines.lines[number]);
        (number, line.trim_ascii().to_vec(), is_last)
    });
    let mut columns = None;
    loop {
        let Some((number, line, _)) = body.next() else {
            return Err(lines.wrong(first, None, "the NEXUS file has no matrix"));
        };
        if holds(&line, b"matchchar") {
            return Err(lines.wrong(number, None, "a NEXUS file with matchchar: rows have to be written in full"));
        }
        if let Some(at) = line.windows(6).position(|part| part.eq_ignore_ascii_case(b"nchar=")) {
            let digits = line[at + 6..].iter().take_while(|byte| byte.is_ascii_digit());
            columns = digits.fold(None, |sum: Option<usize>, byte| {
                sum.unwrap_or(0).checked_mul(10)?.checked_add(usize::from(byte - b'0'))
            });
        }
        if begins(&line, b"matrix") {
            break;
        }
    }
    let mut found = Found::default();
    let mut rows: HashMap<BString, usize> = HashMap::new();
    for (number, line, is_last) in body {
        if !line.is_empty() {
            let open = found.rows.len().checked_sub(1).filter(|&row| Some(found.rows[row].len()) < columns);
            let (name, letters) = name(&line);
            // Letters of a row go on in the next line, if it has no name.
            match open {
                Some(row) if letters.is_empty() && !rows.contains_key(&name) => found.add(lines, number, row, &line)?,
                _ => {
                    let row = match rows.get(&name) {
                        Some(&row) => row,
                        None => {
                            found.begin(lines, number, &name)?;
                            rows.insert(name, found.rows.len() - 1);
                            found.rows.len() - 1
                        }
                    };
                    found.add(lines, number, row, letters)?;
                }
            }
        }
        if is_last {
            return Ok(found);
        }
    }
    Err(lines.wrong(lines.lines.len() - 1, None, "the matrix does not end with ';': is the file truncated?"))
}

/// Splits a line into the name, which may be quoted, and what follows it.
fn name(line: &[u8]) -> (BString, &[u8]) {
    if line.first() == Some(&b'\'') {
        let mut at = 1;
        while let Some(end) = line[at..].iter().position(|&byte| byte == b'\'').map(|end| at + end) {
            if line.get(end + 1) != Some(&b'\'') {
                return (line[1..end].replace("''", "'").into(), line[end + 1..].trim_ascii_start());
            }
            at = end + 2;
        }
    }
    let (name, letters) = word(line);
    (name.into(), letters)
}
