//! Clustal's format, byte for byte as ClustalW 2.1 writes it, except for the first line.

use super::{Output, Page, conservation};
use crate::error::Result;

/// Minimum width of names, and number of blanks after them.
const SHORTEST_NAME: usize = 10;
const BLANKS: usize = 6;
/// Numbers of columns in a block: the usual number, and the number if names are long. Lines have
/// about 80 characters.
const COLUMNS: usize = 60;
const COLUMNS_LONG_NAMES: usize = 50;
/// Maximum length of names in blocks of 60 columns.
const LONG_NAME: usize = 20;

pub(super) fn write(page: &Page<'_>, output: &mut Output) -> Result<()> {
    let marks = conservation::marks(&page.rows);
    let longest = page.longest_name().max(SHORTEST_NAME);
    let width = longest + BLANKS;
    let out = output.buffer();
    // Readers recognise the format by the first word.
    out.extend_from_slice(b"CLUSTAL multiple sequence alignment by pairwave ");
    out.extend_from_slice(env!("CARGO_PKG_VERSION").as_bytes());
    out.extend_from_slice(b"\n\n");
    let mut blocks = page.blocks(if longest > LONG_NAME { COLUMNS_LONG_NAMES } else { COLUMNS });
    while !blocks.is_done() {
        output.buffer().push(b'\n');
        for at in 0..page.names.len() {
            let out = output.buffer();
            page.push_name(out, at, width);
            blocks.push(out, at, b'-');
            out.push(b'\n');
            output.pass_on()?;
        }
        let out = output.buffer();
        out.extend(std::iter::repeat_n(b' ', width));
        out.extend_from_slice(&marks[blocks.columns.clone()]);
        out.push(b'\n');
        blocks.advance();
    }
    Ok(())
}
