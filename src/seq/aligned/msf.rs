//! Rows in GCG's MSF: a header with the names, `//`, then blocks of names and letters.

use std::collections::HashMap;

use bstr::ByteSlice;

use super::{Found, Lines, word};
use crate::error::Result;

/// Whether a file begins so.
pub(super) fn is_header(line: &[u8]) -> bool {
    line.starts_with(b"!!") || line.starts_with(b"PileUp") || line.windows(5).any(|part| part == b" MSF:")
}

pub(super) fn read(lines: &Lines<'_>, first: usize) -> Result<Found> {
    let Some(end) = lines.lines[first..].iter().position(|&line| line == b"//").map(|at| first + at) else {
        return Err(lines.wrong(first, None, "the MSF file has no line '//' behind its names"));
    };
    let mut found = Found::default();
    let mut rows: HashMap<&[u8], usize> = HashMap::new();
    let names = (first..end).filter_map(|number| Some((number, lines.lines[number].strip_prefix(b"Name:")?)));
    for (number, rest) in names {
        let name = word(rest.trim_ascii_start()).0;
        if rows.contains_key(name) {
            return Err(lines.wrong(number, Some(name.as_bstr()), "an earlier line has this name already"));
        }
        found.row(&mut rows, lines, number, name)?;
    }
    for (number, &line) in lines.lines.iter().enumerate().skip(end + 1) {
        // Between blocks there may be numbers of columns.
        if line.iter().all(|byte| byte.is_ascii_digit() || byte.is_ascii_whitespace()) {
            continue;
        }
        let (name, letters) = word(line);
        let Some(&row) = rows.get(name) else {
            let name = String::from_utf8_lossy(name);
            return Err(lines.wrong(number, None, format!("the MSF file's header has no name '{name}'")));
        };
        found.add(lines, number, row, letters)?;
    }
    Ok(found)
}
