//! NEXUS: a data block. A name with blanks or punctuation is put in single quotes.

use super::{Output, Page, characters};
use crate::error::Result;
use crate::seq::Alphabet;
use crate::seq::aligned::nexus_quoted;

pub(super) fn write(page: &Page<'_>, output: &mut Output) -> Result<()> {
    let rows = &page.rows;
    let kind = match rows.alphabet {
        Alphabet::Dna if has_uracil(page) => "rna",
        Alphabet::Dna => "dna",
        Alphabet::Protein => "protein",
        Alphabet::Bytes => "standard",
    };
    let head = format!(
        "#NEXUS\n\nbegin data;\n  dimensions ntax={} nchar={};\n  format datatype={kind} gap=- missing=?;\n  matrix\n",
        page.names.len(),
        rows.columns()
    );
    output.buffer().extend_from_slice(head.as_bytes());
    let names: Vec<Vec<u8>> = page.names.iter().map(|name| nexus_quoted(name)).collect();
    let width = names.iter().map(|name| characters(name)).max().unwrap_or(0) + 1;
    for (at, name) in names.iter().enumerate() {
        let out = output.buffer();
        super::push_padded(out, name, width);
        rows.push(out, at, b'-');
        out.push(b'\n');
        output.pass_on()?;
    }
    output.buffer().extend_from_slice(b"  ;\nend;\n");
    Ok(())
}

/// Returns whether there is a U and no T.
fn has_uracil(page: &Page<'_>) -> bool {
    let has = |letter: u8| {
        let of_row =
            |&row: &u32| page.rows.letters[row as usize].iter().any(|present| present.eq_ignore_ascii_case(&letter));
        page.rows.order.iter().any(of_row)
    };
    has(b'U') && !has(b'T')
}
