//! MSF, the format of GCG's PileUp: names with checksums, and then blocks of 50 columns in groups
//! of ten.

use super::{Output, Page, digits};
use crate::error::Result;
use crate::output::numbers::push_unsigned;
use crate::seq::Alphabet;

/// Number of columns in a block and in a group.
const COLUMNS: usize = 50;
const GROUP: usize = 10;
/// GCG's checksum weights letters by their position, which counts from 1 to this and then from 1
/// again.
const PERIOD: usize = 57;
/// Checksums are less than this.
const MODULUS: u64 = 10_000;

pub(super) fn write(page: &Page<'_>, output: &mut Output) -> Result<()> {
    let columns = page.rows.columns();
    let mut row = Vec::with_capacity(columns);
    let checksums: Vec<u64> = (0..page.names.len())
        .map(|at| {
            row.clear();
            page.rows.push(&mut row, at, b'.');
            checksum(&row)
        })
        .collect();
    let (kind, letter) = match page.rows.alphabet {
        Alphabet::Dna => ("NA", b'N'),
        Alphabet::Protein | Alphabet::Bytes => ("AA", b'P'),
    };
    let out = output.buffer();
    out.extend_from_slice(format!("!!{kind}_MULTIPLE_ALIGNMENT 1.0\n\n MSF: {columns}  Type: ").as_bytes());
    out.push(letter);
    out.extend_from_slice(b"  Check: ");
    push_unsigned(out, checksums.iter().sum::<u64>() % MODULUS);
    // Two dots end the header.
    out.extend_from_slice(b"  ..\n\n");
    let width = page.longest_name() + 2;
    for (at, checksum) in checksums.iter().enumerate() {
        let out = output.buffer();
        out.extend_from_slice(b" Name: ");
        page.push_name(out, at, width);
        out.extend_from_slice(b"Len: ");
        out.extend_from_slice(&digits(columns));
        let check = digits(*checksum as usize);
        out.extend_from_slice(b"  Check: ");
        out.extend(std::iter::repeat_n(b' ', 4usize.saturating_sub(check.len())));
        out.extend_from_slice(&check);
        out.extend_from_slice(b"  Weight: 1.00\n");
        output.pass_on()?;
    }
    output.buffer().extend_from_slice(b"\n//\n");
    let mut blocks = page.blocks(COLUMNS);
    let mut letters = Vec::with_capacity(COLUMNS);
    while !blocks.is_done() {
        output.buffer().push(b'\n');
        for at in 0..page.names.len() {
            letters.clear();
            blocks.push(&mut letters, at, b'.');
            let out = output.buffer();
            page.push_name(out, at, width);
            for (number, group) in letters.chunks(GROUP).enumerate() {
                if number > 0 {
                    out.push(b' ');
                }
                out.extend_from_slice(group);
            }
            out.push(b'\n');
            output.pass_on()?;
        }
        blocks.advance();
    }
    Ok(())
}

/// Returns GCG's checksum of a row with its gaps.
fn checksum(row: &[u8]) -> u64 {
    let weighted =
        |(column, letter): (usize, &u8)| (column % PERIOD + 1) as u64 * u64::from(letter.to_ascii_uppercase());
    row.iter().enumerate().map(weighted).sum::<u64>() % MODULUS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksum_weights_repeat_after_57_letters() {
        assert_eq!(checksum(b""), 0);
        assert_eq!(checksum(b"aC."), 65 + 2 * 67 + 3 * 46);
        assert_eq!(checksum(&[b'A'; 58]), (65 * (57 * 58 / 2) + 65) % MODULUS);
    }
}
