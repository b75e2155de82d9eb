//! Reader of GCG's MSF format: a header with the names, `//`, and then blocks of names and letters.

use std::collections::HashMap;

use bstr::ByteSlice;

use super::{AlignmentLines, ParsedRows, split_word};
use crate::error::Result;

/// Returns whether a line is the header of this format.
pub(super) fn is_header(line: &[u8]) -> bool {
    line.starts_with(b"!!") || line.starts_with(b"PileUp") || line.windows(5).any(|part| part == b" MSF:")
}

pub(super) fn read(lines: &AlignmentLines<'_>, first: usize) -> Result<ParsedRows> {
    let Some(end) = lines.lines[first..].iter().position(|&line| line == b"//").map(|at| first + at) else {
        return Err(lines.wrong(first, None, "the MSF file has no line '//' after its names"));
    };
    let mut parsed = ParsedRows::default();
    let mut rows: HashMap<&[u8], usize> = HashMap::new();
    let names = (first..end).filter_map(|number| Some((number, lines.lines[number].strip_prefix(b"Name:")?)));
    for (number, rest) in names {
        let name = split_word(rest.trim_ascii_start()).0;
        if rows.contains_key(name) {
            return Err(lines.wrong(number, Some(name.as_bstr()), "an earlier line has this name already"));
        }
        parsed.row(&mut rows, lines, number, name)?;
    }
    for (number, &line) in lines.lines.iter().enumerate().skip(end + 1) {
        // There may be column numbers between blocks.
        if line.iter().all(|byte| byte.is_ascii_digit() || byte.is_ascii_whitespace()) {
            continue;
        }
        let (name, letters) = split_word(line);
        let Some(&row) = rows.get(name) else {
            let name = String::from_utf8_lossy(name);
            return Err(lines.wrong(number, None, format!("the MSF file's header has no name '{name}'")));
        };
        parsed.add(lines, number, row, letters)?;
    }
    Ok(parsed)
}
