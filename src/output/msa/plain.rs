//! Rows in sequence: FASTA and Stockholm.

use super::{Output, Page};
use crate::error::Result;

/// Number of letters in a line of FASTA.
const LINE: usize = 60;

pub(super) fn write_fasta(page: &Page<'_>, output: &mut Output) -> Result<()> {
    let mut row = Vec::with_capacity(page.rows.columns());
    for (at, name) in page.names.iter().enumerate() {
        row.clear();
        page.rows.push(&mut row, at, b'-');
        let out = output.buffer();
        out.push(b'>');
        out.extend_from_slice(name);
        out.push(b'\n');
        for line in row.chunks(LINE) {
            out.extend_from_slice(line);
            out.push(b'\n');
        }
        output.pass_on()?;
    }
    Ok(())
}

pub(super) fn write_stockholm(page: &Page<'_>, output: &mut Output) -> Result<()> {
    let width = page.longest_name() + 1;
    output.buffer().extend_from_slice(b"# STOCKHOLM 1.0\n\n");
    for at in 0..page.names.len() {
        let out = output.buffer();
        page.push_name(out, at, width);
        page.rows.push(out, at, b'-');
        out.push(b'\n');
        output.pass_on()?;
    }
    output.buffer().extend_from_slice(b"//\n");
    Ok(())
}
