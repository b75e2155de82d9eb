//! Reader of the matrix in a NEXUS file, sequential or interleaved, with each row of a block on its
//! own line. This module also quotes names for the format.

use std::collections::HashMap;

use bstr::{BString, ByteSlice};

use super::{AlignmentLines, ParsedRows, split_word};
use crate::error::Result;
use crate::seq::names::has_blank;

/// Punctuation as defined by the format (Maddison et al. 1997). Names that contain it are quoted.
const PUNCTUATION: &[u8] = b" ()[]{}/\\,;:=*'\"`+-<>";

/// Formats a name for a NEXUS file: in single quotes if it contains blanks or punctuation, with
/// single quotes doubled.
pub(crate) fn quoted(name: &[u8]) -> Vec<u8> {
    if !name.is_empty() && !has_blank(name) && !name.iter().any(|byte| PUNCTUATION.contains(byte)) {
        return name.to_vec();
    }
    [b"'", &*name.replace("'", "''"), b"'"].concat()
}

/// Returns whether a line is the header of this format.
pub(super) fn is_header(line: &[u8]) -> bool {
    line.len() >= 6 && line[..6].eq_ignore_ascii_case(b"#NEXUS")
}

pub(super) fn read(lines: &AlignmentLines<'_>, first: usize) -> Result<ParsedRows> {
    let text = without_comments(lines, first)?;
    let mut body = text.iter().map(|line| line.trim_ascii()).enumerate().skip(first + 1);
    let format = Declared::read(&mut body).ok_or_else(|| lines.wrong(first, None, "the NEXUS file has no matrix"))?;
    let mut parsed = match format.gap {
        Some(b'.') => ParsedRows::default(),
        _ if format.match_sign == Some(b'.') => ParsedRows::default(),
        _ => ParsedRows::without_dots("is neither the gap nor the matchchar that FORMAT declares"),
    };
    let mut rows: HashMap<BString, usize> = HashMap::new();
    for (number, line) in body {
        let (line, is_last) = match end_of_command(line) {
            Some(end) => (line[..end].trim_ascii_end(), true),
            None => (line, false),
        };
        if !line.is_empty() {
            let open = parsed.rows.len().checked_sub(1).filter(|&row| Some(parsed.rows[row].len()) < format.columns);
            let (name, letters) = name(line);
            // A line without a name continues the row of the line before it.
            match open {
                Some(row) if letters.is_empty() && !rows.contains_key(&name) => {
                    add(&mut parsed, lines, number, row, line, format)?;
                }
                _ => {
                    let row = match rows.get(&name) {
                        Some(&row) => row,
                        None => {
                            parsed.start_row(lines, number, &name)?;
                            rows.insert(name, parsed.rows.len() - 1);
                            parsed.rows.len() - 1
                        }
                    };
                    add(&mut parsed, lines, number, row, letters, format)?;
                }
            }
        }
        if is_last {
            return Ok(parsed);
        }
    }
    Err(lines.wrong(lines.lines.len() - 1, None, "the matrix does not end with ';': is the file truncated?"))
}

/// Adds letters to a row. A match sign becomes the letter of the first row in the same column.
fn add(
    parsed: &mut ParsedRows,
    lines: &AlignmentLines<'_>,
    line: usize,
    row: usize,
    letters: &[u8],
    format: Declared,
) -> Result<()> {
    let Some(sign) = format.match_sign.filter(|sign| letters.contains(sign)) else {
        return parsed.add(lines, line, row, letters);
    };
    let mut full = Vec::with_capacity(letters.len());
    let letters = letters.iter().filter(|letter| !letter.is_ascii_whitespace());
    for (column, &letter) in (parsed.rows[row].len()..).zip(letters) {
        let letter = if letter == sign && row > 0 { parsed.rows[0].get(column).copied() } else { Some(letter) };
        let Some(letter) = letter.filter(|_| row > 0 || letter != Some(sign)) else {
            let message = format!("column {}: the first row has no letter for '{}'", column + 1, char::from(sign));
            return Err(lines.wrong(line, Some(parsed.names[row].as_bstr()), message));
        };
        full.push(letter);
    }
    parsed.add(lines, line, row, &full)
}

/// Declarations that precede a matrix and define its format.
#[derive(Debug, Clone, Copy, Default)]
struct Declared {
    columns: Option<usize>,
    gap: Option<u8>,
    match_sign: Option<u8>,
}

impl Declared {
    /// Reads lines up to `matrix`. Returns `None` if there is no such line.
    fn read<'a>(body: &mut impl Iterator<Item = (usize, &'a [u8])>) -> Option<Declared> {
        let mut declared = Declared::default();
        for (_, line) in body {
            if let Some(value) = setting(line, b"nchar") {
                let digits = value.iter().take_while(|byte| byte.is_ascii_digit());
                declared.columns = digits.fold(None, |sum: Option<usize>, byte| {
                    sum.unwrap_or(0).checked_mul(10)?.checked_add(usize::from(byte - b'0'))
                });
            }
            declared.gap = setting(line, b"gap").and_then(|value| value.first().copied()).or(declared.gap);
            let sign = setting(line, b"matchchar").and_then(|value| value.first().copied());
            declared.match_sign = sign.or(declared.match_sign);
            if line.get(..6).is_some_and(|start| start.eq_ignore_ascii_case(b"matrix")) {
                return Some(declared);
            }
        }
        None
    }
}

/// Returns the rest of a line after `key` and `=`.
fn setting<'a>(line: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    (0..line.len()).find_map(|at| {
        let is_start = at == 0 || !line[at - 1].is_ascii_alphanumeric();
        let rest = line[at..].split_at_checked(key.len()).filter(|(word, _)| word.eq_ignore_ascii_case(key))?.1;
        rest.trim_ascii_start().strip_prefix(b"=").map(<[u8]>::trim_ascii_start).filter(|_| is_start)
    })
}

/// Returns the lines of the file without comments. Comments are in brackets, may be nested, and may
/// span several lines. Brackets in quoted names do not start comments.
fn without_comments(lines: &AlignmentLines<'_>, first: usize) -> Result<Vec<Vec<u8>>> {
    let (mut depth, mut start) = (0usize, first);
    let mut text = Vec::with_capacity(lines.lines.len());
    for (number, line) in lines.lines.iter().enumerate() {
        let (mut kept, mut is_quoted) = (Vec::with_capacity(line.len()), false);
        for &byte in *line {
            match byte {
                b'\'' if depth == 0 => is_quoted = !is_quoted,
                b'[' if !is_quoted => {
                    if depth == 0 {
                        start = number;
                    }
                    depth += 1;
                    continue;
                }
                b']' if !is_quoted && depth > 0 => {
                    depth -= 1;
                    continue;
                }
                _ => {}
            }
            if depth == 0 {
                kept.push(byte);
            }
        }
        text.push(kept);
    }
    if depth > 0 { Err(lines.wrong(start, None, "the comment does not end with ']'")) } else { Ok(text) }
}

/// Returns the position of the `;` that ends a command, outside of quotes.
fn end_of_command(line: &[u8]) -> Option<usize> {
    let mut is_quoted = false;
    line.iter().position(|&byte| {
        is_quoted ^= byte == b'\'';
        byte == b';' && !is_quoted
    })
}

/// Splits a line into the name, which may be quoted, and the rest.
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
    let (name, letters) = split_word(line);
    (name.into(), letters)
}
