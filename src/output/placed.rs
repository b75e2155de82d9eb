//! Reads in the columns of a reference alignment: references and reads as one alignment, as PaPaRa
//! writes it.
//!
//! Columns for inserted characters precede each reference column and follow the last one. Their
//! number is the greatest number of characters that any read inserts there. They are filled from
//! the left, and before the first reference column from the right. Optionally, inserted characters
//! are dropped ([`PlacedFormat::keep_length`]). The numbers of these columns must be known before
//! the first byte is written ([`PlacedExtent`]). So reads are passed twice, but need not stay in
//! memory.

mod best;
mod jplace;

use bstr::BString;
use rayon::prelude::*;

use super::Output;
use super::msa::characters;
use super::numbers::push_unsigned;
use crate::alignment::{Cigar, Op};
use crate::error::{Error, Result};

pub use best::{BestEdge, BestTable};
pub use jplace::PlacementFile;

/// Number of rows in a piece of parallel formatting.
const ROWS_PER_PIECE: usize = 64;

/// The format of the alignment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PlacedFormat {
    /// Whether the format is PHYLIP, relaxed and sequential. If not, it is FASTA.
    pub is_phylip: bool,
    /// Whether inserted characters are dropped. Rows then have one column for each site, regardless
    /// of the reads.
    pub keep_length: bool,
    /// Whether the rows of references are omitted.
    pub reads_only: bool,
}

impl PlacedFormat {
    /// Returns whether all reads must be counted before the first byte is written.
    pub fn needs_extent(&self) -> bool {
        self.is_phylip || !self.keep_length
    }
}

/// A reference alignment.
#[derive(Debug, Clone, Copy)]
pub struct ReferenceRows<'a> {
    /// Names of the rows.
    pub names: &'a [BString],
    /// Letters and gaps of the rows.
    pub rows: &'a [Vec<u8>],
    /// Column of each site. Other columns are not written.
    pub columns: &'a [u32],
}

/// A read and its alignment.
#[derive(Debug, Clone, Copy)]
pub struct PlacedRead<'a> {
    /// Name of the read.
    pub name: &'a [u8],
    /// Letters of the read, on the aligned strand.
    pub letters: &'a [u8],
    /// Number of sites before the alignment's first column.
    pub first_site: u32,
    /// The alignment, with the read as the query.
    pub cigar: &'a Cigar,
}

/// Sizes that depend on all reads and determine the layout of the rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlacedExtent {
    reads: u64,
    /// Number of characters in the longest name.
    longest_name: usize,
    /// Number of inserted columns before each site, and after the last.
    inserted: Vec<u32>,
}

impl PlacedExtent {
    /// Creates the extent of no reads. `sites` is the number of reference columns that are written.
    pub fn new(sites: usize) -> Self {
        PlacedExtent { reads: 0, longest_name: 0, inserted: vec![0; sites + 1] }
    }

    /// Counts a read.
    ///
    /// # Errors
    /// Returns [`Error::Internal`] if the read goes beyond the last site.
    pub fn add(&mut self, name: &[u8], first_site: u32, cigar: &Cigar) -> Result<()> {
        self.reads += 1;
        self.longest_name = self.longest_name.max(characters(name));
        let mut site = first_site as usize;
        for (length, op) in cigar.iter() {
            if op == Op::Insertion {
                let widest = self.inserted.get_mut(site).ok_or_else(|| position_error(name))?;
                *widest = length.max(*widest);
            } else {
                site += length as usize;
            }
        }
        if site < self.inserted.len() { Ok(()) } else { Err(position_error(name)) }
    }

    /// Returns the number of reads that were counted.
    pub fn reads(&self) -> u64 {
        self.reads
    }
}

fn position_error(name: &[u8]) -> Error {
    Error::Internal(format!("read '{}' is not where its alignment says", String::from_utf8_lossy(name)))
}

/// Positions of names and columns in a row.
#[derive(Debug)]
struct PlacedLayout {
    /// Number of characters of a name including the blanks after it; `None` in FASTA.
    name_width: Option<usize>,
    /// Output column of each site, and the column after the last insertion.
    places: Vec<usize>,
    /// Number of columns for inserted characters before the first site.
    before: usize,
    width: usize,
    keep_length: bool,
}

impl PlacedLayout {
    fn new(sites: usize, extent: Option<&PlacedExtent>, keep_length: bool, name_width: Option<usize>) -> Self {
        let inserted = extent.map_or(&[][..], |extent| &extent.inserted);
        let inserted =
            |site: usize| if keep_length { 0 } else { inserted.get(site).map_or(0, |&width| width as usize) };
        let mut width = 0;
        let site_column = |site: usize| {
            let site_column = width + inserted(site);
            width = site_column + 1;
            site_column
        };
        let mut places: Vec<usize> = (0..sites).map(site_column).collect();
        let after = width;
        width += inserted(sites);
        // Characters inserted after the last site end there, as if one more site followed.
        places.push(after + inserted(sites));
        PlacedLayout { name_width, places, before: inserted(0), width, keep_length }
    }

    /// Appends the text before a row's letters.
    fn push_name(&self, name: &[u8], out: &mut Vec<u8>) {
        match self.name_width {
            Some(width) => {
                out.extend_from_slice(name);
                out.resize(out.len() + width - characters(name).min(width - 1), b' ');
            }
            None => {
                out.push(b'>');
                out.extend_from_slice(name);
                out.push(b'\n');
            }
        }
    }

    /// Appends the row of a read.
    fn push_read(&self, read: &PlacedRead<'_>, out: &mut Vec<u8>) -> Result<()> {
        let begin = out.len();
        out.resize(begin + self.width, b'-');
        let row = &mut out[begin..];
        let (mut site, mut letters) = (read.first_site as usize, read.letters);
        let sites = self.places.len() - 1;
        for (length, op) in read.cigar.iter() {
            let length = length as usize;
            let Some((read_letters, others)) = letters.split_at_checked(if op.consumes_query() { length } else { 0 })
            else {
                return Err(position_error(read.name));
            };
            letters = others;
            match op {
                Op::Insertion if self.keep_length => {}
                Op::Insertion => {
                    // Filled from the left, starting after the previous site. Before the first
                    // site, filled from the right.
                    let from = match site {
                        0 => self.before.checked_sub(length).ok_or_else(|| position_error(read.name))?,
                        _ => self.places[site - 1] + 1,
                    };
                    let room = self.places.get(site).and_then(|&end| row.get_mut(from..end));
                    let room = room.and_then(|room| room.get_mut(..length)).ok_or_else(|| position_error(read.name))?;
                    room.copy_from_slice(read_letters);
                }
                Op::Match | Op::Mismatch => {
                    let places =
                        self.places[..sites].get(site..site + length).ok_or_else(|| position_error(read.name))?;
                    match places {
                        // The sites are in adjacent columns.
                        [first, .., last] if last - first + 1 == length => {
                            row[*first..=*last].copy_from_slice(read_letters)
                        }
                        _ => places
                            .iter()
                            .zip(read_letters)
                            .for_each(|(&site_column, &letter)| row[site_column] = letter),
                    }
                }
                Op::Deletion => {}
            }
            if op.consumes_target() {
                site += length;
            }
        }
        if site <= sites && letters.is_empty() { Ok(()) } else { Err(position_error(read.name)) }
    }

    /// Appends the row of a reference.
    fn push_reference(&self, letters: &[u8], columns: &[u32], out: &mut Vec<u8>) {
        let begin = out.len();
        out.resize(begin + self.width, b'-');
        let row = &mut out[begin..];
        for (&site_column, &column) in self.places.iter().zip(columns) {
            row[site_column] = match letters[column as usize] {
                b'.' | b'~' => b'-',
                letter => letter,
            };
        }
    }
}

/// A writer of an alignment.
#[derive(Debug)]
pub struct PlacedWriter {
    layout: PlacedLayout,
    /// Number of reads that remain to be written, if they were counted.
    left: Option<u64>,
    output: Output,
}

impl PlacedWriter {
    /// Writes everything before the first read. `extent` covers all reads. It may be `None` if it
    /// is not needed ([`PlacedFormat::needs_extent`]).
    ///
    /// # Errors
    /// Returns [`Error::Internal`] if `extent` is missing or has another number of sites, and
    /// [`Error::Io`] if writing fails.
    pub fn begin(
        format: PlacedFormat,
        references: ReferenceRows<'_>,
        extent: Option<&PlacedExtent>,
        output: Output,
    ) -> Result<Self> {
        let sites = references.columns.len();
        let is_wrong = extent.map_or(format.needs_extent(), |extent| extent.inserted.len() != sites + 1);
        if is_wrong {
            return Err(Error::Internal("reads were not counted before they are written".into()));
        }
        let rows = if format.reads_only { 0 } else { references.rows.len() };
        let longest = references.names.iter().take(rows).map(|name| characters(name)).max().unwrap_or(0);
        let name_width = longest.max(extent.map_or(0, |extent| extent.longest_name)) + 1;
        let layout = PlacedLayout::new(sites, extent, format.keep_length, format.is_phylip.then_some(name_width));
        let mut writer = PlacedWriter { layout, left: extent.map(PlacedExtent::reads), output };
        if format.is_phylip {
            let out = writer.output.buffer();
            push_unsigned(out, rows as u64 + writer.left.unwrap_or(0));
            out.push(b' ');
            push_unsigned(out, writer.layout.width as u64);
            out.push(b'\n');
        }
        for (name, letters) in references.names.iter().zip(references.rows).take(rows) {
            let out = writer.output.buffer();
            writer.layout.push_name(name, out);
            writer.layout.push_reference(letters, references.columns, out);
            out.push(b'\n');
            writer.output.pass_on()?;
        }
        Ok(writer)
    }

    /// Writes reads, on several threads of the current pool if that is faster.
    ///
    /// # Errors
    /// Returns [`Error::Internal`] if a read differs from what was counted, and [`Error::Io`] if
    /// writing fails.
    pub fn write(&mut self, reads: &[PlacedRead<'_>]) -> Result<()> {
        let layout = &self.layout;
        let push = |reads: &[PlacedRead<'_>]| {
            let mut out = Vec::with_capacity(reads.len() * (layout.width + layout.name_width.unwrap_or(0) + 2));
            for read in reads {
                layout.push_name(read.name, &mut out);
                layout.push_read(read, &mut out)?;
                out.push(b'\n');
            }
            Ok(out)
        };
        let pieces: Result<Vec<Vec<u8>>> = match reads.len() > ROWS_PER_PIECE {
            true => reads.par_chunks(ROWS_PER_PIECE).map(push).collect(),
            false => push(reads).map(|piece| vec![piece]),
        };
        if let Some(left) = &mut self.left {
            let message = || Error::Internal("there are more reads than were counted".into());
            *left = left.checked_sub(reads.len() as u64).ok_or_else(message)?;
        }
        for piece in pieces? {
            self.output.buffer().extend_from_slice(&piece);
            self.output.pass_on()?;
        }
        Ok(())
    }

    /// Completes the output.
    ///
    /// # Errors
    /// Returns [`Error::Internal`] if reads are missing, and [`Error::Io`] if writing fails.
    pub fn finish(self) -> Result<()> {
        match self.left {
            Some(left @ 1..) => Err(Error::Internal(format!("{left} reads that were counted are missing"))),
            _ => self.output.finish(),
        }
    }
}
