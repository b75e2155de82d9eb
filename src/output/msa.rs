//! Multiple alignments: rows in the formats that other programs read, distances, and a page for people.
//!
//! Letters stand as they are given, gaps as the format has them. A name that a format cannot hold, or that another row has
//! already, is changed by one rule ([`Renamed`]), so that no two rows of a file have one name; which names those were is handed
//! back.

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
use crate::alignment::MultipleAlignment;
use crate::error::{Error, Result};
use crate::seq::{Alphabet, NameRules};

pub use crate::seq::names::{Renamed, Why};
pub use distances::{DistanceFormat, write_distances};
pub use report::write_report;

/// An alignment and what stands in it.
#[derive(Debug, Clone, Copy)]
pub struct Rows<'a> {
    /// Where every residue stands.
    pub alignment: &'a MultipleAlignment,
    /// Names of the sequences, in the alignment's order.
    pub names: &'a [&'a [u8]],
    /// Their letters, without gaps.
    pub letters: &'a [&'a [u8]],
    /// The rows that are written, in this order.
    pub order: &'a [u32],
    /// What the letters are.
    pub alphabet: Alphabet,
}

/// A format of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MsaFormat {
    /// Blocks of 60 columns with a line of marks below, as ClustalW 2.1 writes them but for the first line. Names have 30
    /// characters at most.
    Clustal,
    /// FASTA, 60 letters a line.
    Fasta,
    /// PHYLIP.
    Phylip {
        /// Blocks of 60 columns of all rows; else each row is one line.
        is_interleaved: bool,
        /// Names have exactly ten characters. Else they are as long as they are and two blanks follow, which PAML wants.
        is_strict: bool,
    },
    /// Stockholm 1.0, one line a row.
    Stockholm,
    /// GCG's MSF with its checksums; all weights are 1.
    Msf,
    /// NEXUS: a data block, one line a row.
    Nexus,
}

impl MsaFormat {
    /// The names that this format can hold.
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

/// Writes an alignment, and says which names are not those of the input.
///
/// # Errors
/// [`Error::Internal`] if names, letters and order are not those of the alignment; [`Error::Io`].
pub fn write(format: MsaFormat, rows: &Rows<'_>, mut output: Output) -> Result<Vec<Renamed>> {
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

impl Rows<'_> {
    /// Whether all parts are of one alignment.
    fn check(&self) -> Result<()> {
        let count = self.alignment.rows();
        let fits = |row: usize| self.alignment.places(row).len() == self.letters[row].len();
        let is_whole = self.names.len() == count
            && self.letters.len() == count
            && self.order.iter().all(|&row| (row as usize) < count)
            && (0..count).all(fits);
        if is_whole { Ok(()) } else { Err(Error::Internal("rows of another alignment".into())) }
    }

    fn columns(&self) -> usize {
        self.alignment.columns()
    }

    /// Columns and letters of a row, which is counted as it is written.
    fn residues(&self, at: usize) -> impl Iterator<Item = (usize, u8)> + '_ {
        let row = self.order[at] as usize;
        let places = self.alignment.places(row).iter();
        places.zip(self.letters[row]).map(|(&place, &letter)| (place as usize, letter))
    }

    /// Appends a row.
    fn push(&self, out: &mut Vec<u8>, at: usize, gap: u8) {
        let start = out.len();
        out.resize(start + self.columns(), gap);
        let text = &mut out[start..];
        for (place, letter) in self.residues(at) {
            text[place] = letter;
        }
    }
}

/// Rows, with the names that are written.
struct Page<'a> {
    rows: Rows<'a>,
    /// In the order in which they are written.
    names: Vec<Vec<u8>>,
}

impl Page<'_> {
    fn longest_name(&self) -> usize {
        self.names.iter().map(|name| characters(name)).max().unwrap_or(0)
    }

    /// Appends a name, filled with blanks up to a width.
    fn push_name(&self, out: &mut Vec<u8>, at: usize, width: usize) {
        push_padded(out, &self.names[at], width);
    }

    /// Blocks of so many columns, at the first.
    fn blocks(&self, width: usize) -> Blocks<'_> {
        let columns = self.rows.columns();
        Blocks { rows: self.rows, width, columns: 0..width.min(columns), next: vec![0; self.rows.order.len()] }
    }
}

/// A block of columns after the other. Every row remembers its first letter that is not written yet.
struct Blocks<'a> {
    rows: Rows<'a>,
    width: usize,
    /// Of the block.
    columns: Range<usize>,
    next: Vec<u32>,
}

impl Blocks<'_> {
    /// Appends a row's part of the block, which may be done once.
    fn push(&mut self, out: &mut Vec<u8>, at: usize, gap: u8) {
        let row = self.rows.order[at] as usize;
        let (places, letters) = (self.rows.alignment.places(row), self.rows.letters[row]);
        let start = out.len();
        out.resize(start + self.columns.len(), gap);
        let text = &mut out[start..];
        let mut next = self.next[at] as usize;
        while let Some(&place) = places.get(next).filter(|&&place| (place as usize) < self.columns.end) {
            text[place as usize - self.columns.start] = letters[next];
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

/// Characters of a name, as an editor counts them.
fn characters(name: &[u8]) -> usize {
    std::str::from_utf8(name).map_or(name.len(), |name| name.chars().count())
}

fn push_padded(out: &mut Vec<u8>, name: &[u8], width: usize) {
    out.extend_from_slice(name);
    out.extend(std::iter::repeat_n(b' ', width.saturating_sub(characters(name))));
}

/// The number as text.
fn digits(number: usize) -> Vec<u8> {
    let mut text = Vec::new();
    super::numbers::push_unsigned(&mut text, number as u64);
    text
}

#[cfg(test)]
mod tests;
