//! PHYLIP with names of ten characters or of any length, row by row or in blocks.

use super::{Output, Page};
use crate::error::Result;
use crate::output::numbers::push_unsigned;

/// Number of characters in a strict name.
const STRICT_WIDTH: usize = 10;
/// Number of columns in a block.
const COLUMNS: usize = 60;

pub(super) fn write_sequential(page: &Page<'_>, is_strict: bool, output: &mut Output) -> Result<()> {
    let width = begin(page, is_strict, output);
    for at in 0..page.names.len() {
        let out = output.buffer();
        page.push_name(out, at, width);
        page.rows.push(out, at, b'-');
        out.push(b'\n');
        output.pass_on()?;
    }
    Ok(())
}

/// Writes names in the first block only. Rows of later blocks start with a blank, because FastTree
/// reads any other line as a name.
pub(super) fn write_interleaved(page: &Page<'_>, is_strict: bool, output: &mut Output) -> Result<()> {
    let width = begin(page, is_strict, output);
    let mut blocks = page.blocks(COLUMNS);
    let mut is_first = true;
    while !blocks.is_done() {
        if !is_first {
            output.buffer().push(b'\n');
        }
        for at in 0..page.names.len() {
            let out = output.buffer();
            match is_first {
                true => page.push_name(out, at, width),
                false => out.push(b' '),
            }
            blocks.push(out, at, b'-');
            out.push(b'\n');
            output.pass_on()?;
        }
        blocks.advance();
        is_first = false;
    }
    Ok(())
}

/// Writes the first line and returns the width of names.
fn begin(page: &Page<'_>, is_strict: bool, output: &mut Output) -> usize {
    let out = output.buffer();
    push_unsigned(out, page.names.len() as u64);
    out.push(b' ');
    push_unsigned(out, page.rows.columns() as u64);
    out.push(b'\n');
    if is_strict { STRICT_WIDTH } else { page.longest_name() + 2 }
}
