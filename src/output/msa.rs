//! Multiple alignments: rows in the formats of other programs, distances, and an HTML page.
//!
//! Letters are written as they are given, and gaps as the format requires. A name that a format
//! cannot contain, or that another row has, is changed by one rule ([`Renamed`]), so that no two
//! rows of a file have the same name. The changed names are returned.

mod clustal;
mod conservation;
mod distances;
mod msf;
mod nexus;
mod phylip;
mod plain;
pub(in crate::output) mod report;

use std::ops::Range;

use super::Output;
use crate::alignment::{Confidence, MultipleAlignment, confidence_sign};
use crate::error::{Error, Result};
use crate::seq::{Alphabet, NameRules};

pub use crate::seq::names::{Renamed, Why};
pub use distances::{DistanceFormat, write_distances};
pub use report::write_report;

/// An alignment with its names and letters.
#[derive(Debug, Clone, Copy)]
pub struct MsaRows<'a> {
    /// Column of every residue.
    pub alignment: &'a MultipleAlignment,
    /// Names of the sequences, in the alignment's order.
    pub names: &'a [&'a [u8]],
    /// Letters of the sequences, without gaps.
    pub letters: &'a [&'a [u8]],
    /// Rows to write, in this order.
    pub order: &'a [u32],
    /// Alphabet of the letters.
    pub alphabet: Alphabet,
    /// Confidence of residues and columns, if it is known. Stockholm and the page contain it.
    pub confidence: Option<&'a Confidence>,
}

/// A format of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MsaFormat {
    /// Blocks of 60 columns above a line of marks. Except for the first line, ClustalW 2.1 writes
    /// the same. Names have at most 30 characters.
    Clustal,
    /// FASTA with 60 letters per line.
    Fasta,
    /// PHYLIP.
    Phylip {
        /// Whether there are blocks of 60 columns of all rows. If not, each row is one line.
        is_interleaved: bool,
        /// Whether names have at most ten bytes and are padded to ten characters. If not, names
        /// have their own length and are followed by two blanks, which PAML requires.
        is_strict: bool,
    },
    /// Stockholm 1.0 with one line for each row. If the confidence is known, each row is followed by
    /// a line `#=GR name PP`, and the last line is `#=GC PP_cons`.
    Stockholm,
    /// GCG's MSF with its checksums. All weights are 1.
    Msf,
    /// NEXUS: a data block with one line for each row.
    Nexus,
}

impl MsaFormat {
    /// Returns the rules for names in this format.
    pub fn name_rules(self) -> NameRules {
        match self {
            MsaFormat::Clustal => NameRules::CLUSTAL,
            MsaFormat::Fasta => NameRules::FASTA,
            MsaFormat::Phylip { is_strict: false, .. } => NameRules::PHYLIP,
            MsaFormat::Phylip { is_strict: true, .. } => NameRules::PHYLIP_STRICT,
            MsaFormat::Stockholm => NameRules::STOCKHOLM,
            MsaFormat::Msf => NameRules::MSF,
            MsaFormat::Nexus => NameRules::NEXUS,
        }
    }
}

/// Writes an alignment, and returns the changed names.
///
/// # Errors
/// Returns [`Error::Internal`] if names, letters or order do not match the alignment, and
/// [`Error::Io`] if writing fails.
pub fn write(format: MsaFormat, rows: &MsaRows<'_>, mut output: Output) -> Result<Vec<Renamed>> {
    rows.check()?;
    let (names, renamed) = format.name_rules().apply(rows.names, rows.order);
    let page = Page { rows: *rows, names };
    match format {
        MsaFormat::Clustal => clustal::write(&page, &mut output)?,
        MsaFormat::Fasta => plain::write_fasta(&page, &mut output)?,
        MsaFormat::Phylip { is_interleaved: true, is_strict } => {
            phylip::write_interleaved(&page, is_strict, &mut output)?;
        }
        MsaFormat::Phylip { is_interleaved: false, is_strict } => {
            phylip::write_sequential(&page, is_strict, &mut output)?;
        }
        MsaFormat::Stockholm => plain::write_stockholm(&page, &mut output)?,
        MsaFormat::Msf => msf::write(&page, &mut output)?,
        MsaFormat::Nexus => nexus::write(&page, &mut output)?,
    }
    output.finish()?;
    Ok(renamed)
}

impl MsaRows<'_> {
    /// Checks that all parts belong to one alignment.
    fn check(&self) -> Result<()> {
        let count = self.alignment.rows();
        let fits = |row: usize| self.alignment.residue_columns(row).len() == self.letters[row].len();
        let is_whole = self.names.len() == count
            && self.letters.len() == count
            && self.order.iter().all(|&row| (row as usize) < count)
            && (0..count).all(fits)
            && self.confidence.is_none_or(|confidence| confidence.belongs_to(self.alignment));
        if is_whole { Ok(()) } else { Err(Error::Internal("rows of another alignment".into())) }
    }

    fn columns(&self) -> usize {
        self.alignment.columns()
    }

    /// Returns the columns and letters of the row with this index in the output.
    fn residues(&self, at: usize) -> impl Iterator<Item = (usize, u8)> + '_ {
        let row = self.order[at] as usize;
        let places = self.alignment.residue_columns(row).iter();
        places.zip(self.letters[row]).map(|(&column, &letter)| (column as usize, letter))
    }

    /// Appends the signs of the confidence of a row's residues, and `.` for gaps.
    fn push_confidence(&self, out: &mut Vec<u8>, at: usize, confidence: &Confidence) {
        let row = self.order[at] as usize;
        let start = out.len();
        out.resize(start + self.columns(), b'.');
        let text = &mut out[start..];
        for (&column, &value) in self.alignment.residue_columns(row).iter().zip(confidence.residues(row)) {
            text[column as usize] = confidence_sign(value);
        }
    }

    /// Appends a row.
    fn push(&self, out: &mut Vec<u8>, at: usize, gap: u8) {
        let start = out.len();
        out.resize(start + self.columns(), gap);
        let text = &mut out[start..];
        for (column, letter) in self.residues(at) {
            text[column] = letter;
        }
    }
}

/// Rows with their names in the output.
struct Page<'a> {
    rows: MsaRows<'a>,
    /// Names in the order of the output.
    names: Vec<Vec<u8>>,
}

impl Page<'_> {
    fn longest_name(&self) -> usize {
        self.names.iter().map(|name| characters(name)).max().unwrap_or(0)
    }

    /// Appends a name, padded with blanks to a width.
    fn push_name(&self, out: &mut Vec<u8>, at: usize, width: usize) {
        push_padded(out, &self.names[at], width);
    }

    /// Returns the blocks of `width` columns, starting at the first.
    fn blocks(&self, width: usize) -> MsaBlocks<'_> {
        let columns = self.rows.columns();
        MsaBlocks { rows: self.rows, width, columns: 0..width.min(columns), next: vec![0; self.rows.order.len()] }
    }
}

/// A position in consecutive blocks of columns. For every row, it stores the first letter that has
/// not been written yet.
struct MsaBlocks<'a> {
    rows: MsaRows<'a>,
    width: usize,
    /// Columns of the current block.
    columns: Range<usize>,
    next: Vec<u32>,
}

impl MsaBlocks<'_> {
    /// Appends a row's part of the current block. It must be called exactly once for each row of
    /// each block.
    fn push(&mut self, out: &mut Vec<u8>, at: usize, gap: u8) {
        let row = self.rows.order[at] as usize;
        let (places, letters) = (self.rows.alignment.residue_columns(row), self.rows.letters[row]);
        let start = out.len();
        out.resize(start + self.columns.len(), gap);
        let text = &mut out[start..];
        let mut next = self.next[at] as usize;
        while let Some(&column) = places.get(next).filter(|&&column| (column as usize) < self.columns.end) {
            text[column as usize - self.columns.start] = letters[next];
            next += 1;
        }
        self.next[at] = next as u32;
    }

    fn is_done(&self) -> bool {
        self.columns.is_empty()
    }

    fn advance(&mut self) {
        let start = self.columns.end;
        self.columns = start..(start + self.width).min(self.rows.columns());
    }
}

/// Returns the number of characters in a name.
pub(super) fn characters(name: &[u8]) -> usize {
    std::str::from_utf8(name).map_or(name.len(), |name| name.chars().count())
}

/// Appends a name, padded with blanks to a number of characters.
pub(super) fn push_padded(out: &mut Vec<u8>, name: &[u8], width: usize) {
    out.extend_from_slice(name);
    out.extend(std::iter::repeat_n(b' ', width.saturating_sub(characters(name))));
}

/// Formats a number.
fn digits(number: usize) -> Vec<u8> {
    let mut text = Vec::new();
    super::numbers::push_unsigned(&mut text, number as u64);
    text
}

#[cfg(test)]
mod tests;
