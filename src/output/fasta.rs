//! Records of FASTA with 60 letters in a line, in upper case, with T for U.

use crate::seq::{Alphabet, Code};

/// Number of letters in a line.
const LINE: usize = 60;

/// Appends the header of a record: its name, and its description if there is one.
pub fn push_fasta_header(name: &[u8], description: &[u8], out: &mut Vec<u8>) {
    out.push(b'>');
    out.extend_from_slice(name);
    if !description.is_empty() {
        out.push(b' ');
        out.extend_from_slice(description);
    }
    out.push(b'\n');
}

/// Appends the letters of a record in lines.
pub fn push_fasta_letters(alphabet: Alphabet, codes: &[Code], out: &mut Vec<u8>) {
    push_lines(alphabet, codes, LINE, out);
}

/// Appends letters in lines of a given length.
pub(super) fn push_lines(alphabet: Alphabet, codes: &[Code], length: usize, out: &mut Vec<u8>) {
    for line in codes.chunks(length) {
        out.extend(line.iter().map(|&code| alphabet.decode(code)));
        out.push(b'\n');
    }
}
