//! Rows in sequence: FASTA and Stockholm.

use super::{Output, Page, push_padded};
use crate::alignment::confidence_sign;
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

/// Label of the line with the confidence of the columns.
const COLUMN_CONFIDENCE: &[u8] = b"#=GC PP_cons";

pub(super) fn write_stockholm(page: &Page<'_>, output: &mut Output) -> Result<()> {
    let confidence = page.rows.confidence;
    // All columns of the file are aligned, those of labels included.
    let longest = match confidence {
        Some(_) => (page.longest_name() + b"#=GR  PP".len()).max(COLUMN_CONFIDENCE.len()),
        None => page.longest_name(),
    };
    let width = longest + 1;
    output.buffer().extend_from_slice(b"# STOCKHOLM 1.0\n\n");
    for (at, name) in page.names.iter().enumerate() {
        let out = output.buffer();
        page.push_name(out, at, width);
        page.rows.push(out, at, b'-');
        out.push(b'\n');
        if let Some(confidence) = confidence {
            push_padded(out, &[b"#=GR ", &name[..], b" PP"].concat(), width);
            page.rows.push_confidence(out, at, confidence);
            out.push(b'\n');
        }
        output.pass_on()?;
    }
    if let Some(confidence) = confidence {
        let out = output.buffer();
        push_padded(out, COLUMN_CONFIDENCE, width);
        out.extend(confidence.columns().iter().map(|&value| confidence_sign(value)));
        out.push(b'\n');
    }
    output.buffer().extend_from_slice(b"//\n");
    Ok(())
}
