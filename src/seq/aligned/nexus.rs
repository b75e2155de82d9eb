//! Rows in the matrix of a NEXUS file, one after another or interleaved, a row of a block on a line of its own.

use std::collections::HashMap;

use super::{Found, Lines, word};
use crate::error::Result;

/// Whether a file begins so.
pub(super) fn is_header(line: &[u8]) -> bool {
    line.len() >= 6 && line[..6].eq_ignore_ascii_case(b"#NEXUS")
}

pub(super) fn read(lines: &Lines<'_>, first: usize) -> Result<Found> {
    let begins = |line: &[u8], with: &[u8]| line.len() >= with.len() && line[..with.len()].eq_ignore_ascii_case(with);
    let holds = |line: &[u8], text: &[u8]| line.windows(text.len()).any(|part| part.eq_ignore_ascii_case(text));
    let mut body = lines.lines.iter().enumerate().skip(first + 1);
    let mut columns = None;
    loop {
        let Some((number, &line)) = body.next() else {
            return Err(lines.wrong(first, None, "the NEXUS file has no matrix"));
        };
        if holds(line, b"matchchar") {
            return Err(lines.wrong(number, None, "a NEXUS file with matchchar: rows have to be written in full"));
        }
        if let Some(at) = line.windows(6).position(|part| part.eq_ignore_ascii_case(b"nchar=")) {
            let digits = line[at + 6..].iter().take_while(|byte| byte.is_ascii_digit());
            columns = digits.fold(None, |sum: Option<usize>, byte| {
                sum.unwrap_or(0).checked_mul(10)?.checked_add(usize::from(byte - b'0'))
            });
        }
        if begins(line, b"matrix") {
            break;
        }
    }
    let mut found = Found::default();
    let mut rows: HashMap<&[u8], usize> = HashMap::new();
    for (number, &line) in body {
        let (line, is_last) = match line.iter().position(|&byte| byte == b';') {
            Some(end) => (line[..end].trim_ascii_end(), true),
            None => (line, false),
        };
        // A comment may take a line of its own.
        if !(line.is_empty() || line.starts_with(b"[") && line.ends_with(b"]")) {
            let open = found.rows.len().checked_sub(1).filter(|&row| Some(found.rows[row].len()) < columns);
            let (name, letters) = name(line);
            // Letters of a row go on in the next line, if it has no name.
            match open {
                Some(row) if letters.is_empty() && !rows.contains_key(name) => found.add(lines, number, row, line)?,
                _ => {
                    let row = found.row(&mut rows, lines, number, name)?;
                    found.names[row] = String::from_utf8_lossy(name).replace("''", "'");
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

/// A name, in quotes or not, and what stands after it. A quote in a name is written twice, and stays so here.
fn name(line: &[u8]) -> (&[u8], &[u8]) {
    if line.first() != Some(&b'\'') {
        return word(line);
    }
    let mut at = 1;
    while let Some(end) = line[at..].iter().position(|&byte| byte == b'\'').map(|end| at + end) {
        if line.get(end + 1) != Some(&b'\'') {
            return (&line[1..end], line[end + 1..].trim_ascii_start());
        }
        at = end + 2;
    }
    word(line)
}
