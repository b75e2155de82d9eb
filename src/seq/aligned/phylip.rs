//! Reader of PHYLIP: a line with the numbers of rows and columns, and then a name and letters for
//! each row. A relaxed name has any length and ends at a blank. A strict name has ten characters,
//! which may be blanks, or ten bytes: programs differ for characters of several bytes.
//!
//! A file does not declare whether it is sequential (all lines of a row, and then the next row) or
//! interleaved (a line of each row, and then the next line of each). The counts of the first line
//! decide.

use bstr::ByteSlice;

use super::{AlignmentLines, ParsedRows, split_word};
use crate::error::{Error, Result};

/// Counts of the first line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    rows: usize,
    columns: usize,
}

/// Reads the numbers of rows and columns.
pub(super) fn header(line: &[u8]) -> Option<Header> {
    let mut words = std::str::from_utf8(line).ok()?.split_ascii_whitespace();
    let header = Header { rows: words.next()?.parse().ok()?, columns: words.next()?.parse().ok()? };
    words.next().is_none().then_some(header)
}

/// Lines that are not empty, with their numbers from 0.
type Body<'a> = [(usize, &'a [u8])];

/// Message about a `.` in a row.
const NO_DOTS: &str = "is not allowed in PHYLIP: write gaps as '-', and repeat the letters of the first row";

/// Reads the rows after the header in line `first`.
pub(super) fn read(lines: &AlignmentLines<'_>, first: usize, header: Header) -> Result<ParsedRows> {
    if header.rows == 0 || header.columns == 0 {
        return Err(lines.wrong(first, None, "an alignment has at least one row and one column"));
    }
    let body = lines.lines.iter().copied().enumerate().skip(first + 1).filter(|(_, line)| !line.is_empty());
    let body: Vec<(usize, &[u8])> = body.collect();
    let sequential_error = match sequential(lines, &body, header, split_word) {
        Ok(parsed) => return Ok(parsed),
        Err(error) => error,
    };
    let interleaved_error = match interleaved(lines, &body, header, split_word) {
        Ok(parsed) => return Ok(parsed),
        Err(error) => error,
    };
    for split in [strict_name, strict_name_in_bytes] {
        let found = sequential(lines, &body, header, split).or_else(|_| interleaved(lines, &body, header, split));
        if found.is_ok() {
            return found;
        }
    }
    // Relaxed names are usual, so this reports an error of a relaxed form, namely the one that
    // occurs later in the file.
    Err(if line(&interleaved_error) > line(&sequential_error) { interleaved_error } else { sequential_error })
}

/// Splits a line into a name and letters.
type SplitName = fn(&[u8]) -> (&[u8], &[u8]);

/// Number of characters or bytes in a strict name.
const STRICT_LENGTH: usize = 10;

/// Splits a line after ten characters.
fn strict_name(line: &[u8]) -> (&[u8], &[u8]) {
    let end = match std::str::from_utf8(line) {
        Ok(text) => text.char_indices().nth(STRICT_LENGTH).map_or(line.len(), |(end, _)| end),
        Err(_) => line.len().min(STRICT_LENGTH),
    };
    (line[..end].trim_ascii(), &line[end..])
}

/// Splits a line after ten bytes.
fn strict_name_in_bytes(line: &[u8]) -> (&[u8], &[u8]) {
    let (name, letters) = line.split_at(line.len().min(STRICT_LENGTH));
    (name.trim_ascii(), letters)
}

/// Returns the line of an error.
fn line(error: &Error) -> Option<u64> {
    match error {
        Error::Input { location, .. } => location.line,
        _ => None,
    }
}

fn sequential(lines: &AlignmentLines<'_>, body: &Body<'_>, header: Header, split: SplitName) -> Result<ParsedRows> {
    let Header { rows, columns } = header;
    let mut parsed = ParsedRows::without_dots(NO_DOTS);
    let mut rest = body.iter();
    for row in 0..rows {
        let Some(&(number, line)) = rest.next() else { return Err(too_few(lines, row, rows)) };
        let (name, letters) = split(line);
        parsed.start_row(lines, number, name)?;
        parsed.add(lines, number, row, letters)?;
        let mut number = number;
        while parsed.rows[row].len() < columns {
            let Some(&(next, letters)) = rest.next() else {
                let message =
                    format!("the row has {} columns, but the first line says {columns}", parsed.rows[row].len());
                return Err(lines.wrong(number, Some(parsed.names[row].as_bstr()), message));
            };
            parsed.add(lines, next, row, letters)?;
            number = next;
        }
        if parsed.rows[row].len() > columns {
            let message = format!("the row has {} columns, but the first line says {columns}", parsed.rows[row].len());
            return Err(lines.wrong(number, Some(parsed.names[row].as_bstr()), message));
        }
    }
    match rest.next() {
        Some(&(number, _)) => Err(too_many(lines, number, rows)),
        None => Ok(parsed),
    }
}

fn interleaved(lines: &AlignmentLines<'_>, body: &Body<'_>, header: Header, split: SplitName) -> Result<ParsedRows> {
    let Header { rows, columns } = header;
    let mut parsed = ParsedRows::without_dots(NO_DOTS);
    if body.len() < rows {
        return Err(too_few(lines, body.len(), rows));
    }
    for (block, block_lines) in body.chunks(rows).enumerate() {
        // Later blocks may repeat the names, but only in all rows of a block.
        let is_named = |(row, &(_, line)): (usize, &(usize, &[u8]))| {
            let (name, letters) = split(line);
            block == 0 || (!letters.is_empty() && name == parsed.names[row])
        };
        let is_named = block_lines.iter().enumerate().all(is_named);
        if block_lines.len() < rows || parsed.rows.first().is_some_and(|row| row.len() >= columns) {
            let (number, _) = block_lines[0];
            return Err(too_many(lines, number, rows));
        }
        for (row, &(number, line)) in block_lines.iter().enumerate() {
            let (name, letters) = if is_named { split(line) } else { (&b""[..], line) };
            if block == 0 {
                parsed.start_row(lines, number, name)?;
            }
            parsed.add(lines, number, row, letters)?;
            let (row_columns, first) = (parsed.rows[row].len(), parsed.rows[0].len());
            if row_columns != first {
                let message =
                    format!("the row has {row_columns} columns so far, but the first, '{}', {first}", parsed.names[0]);
                return Err(lines.wrong(number, Some(parsed.names[row].as_bstr()), message));
            }
        }
    }
    let (row_columns, (number, _)) = (parsed.rows[0].len(), body[body.len() - 1]);
    if row_columns != columns {
        return Err(lines.wrong(
            number,
            None,
            format!("rows have {row_columns} columns, but the first line says {columns}"),
        ));
    }
    Ok(parsed)
}

fn too_few(lines: &AlignmentLines<'_>, parsed: usize, rows: usize) -> Error {
    let last = lines.lines.iter().rposition(|line| !line.is_empty()).unwrap_or(0);
    lines.wrong(last, None, format!("the first line says {rows} rows, but there are {parsed}"))
}

fn too_many(lines: &AlignmentLines<'_>, line: usize, rows: usize) -> Error {
    lines.wrong(line, None, format!("there are more lines after the {rows} rows that the first line announces"))
}
