//! Reads in the columns of a reference alignment: references and reads as one alignment, as PaPaRa writes it.
//!
//! Before each reference column, and after the last, there are as many columns for inserted characters as the widest read
//! needs, filled from the left; before the first from the right. Or inserted characters are dropped
//! ([`PlacedFormat::keep_length`]). What reads need of that is counted before the first byte is written ([`Extent`]), so reads
//! come twice, but need not stay in memory.

mod best;

use bstr::BString;
use rayon::prelude::*;

use super::Output;
use super::numbers::push_unsigned;
use crate::alignment::{Cigar, Op};
use crate::error::{Error, Result};

pub use best::{Best, BestTable};

/// Rows that a thread makes at once.
const ROWS_A_PIECE: usize = 64;

/// How an alignment is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PlacedFormat {
    /// PHYLIP, relaxed and sequential; else FASTA.
    pub is_phylip: bool,
    /// Inserted characters are dropped: all rows have the sites' columns, whatever the reads.
    pub keep_length: bool,
    /// Rows of references are left out.
    pub reads_only: bool,
}

impl PlacedFormat {
    /// Whether all reads must be counted before the first byte is written.
    pub fn needs_extent(&self) -> bool {
        self.is_phylip || !self.keep_length
    }
}

/// A reference alignment.
#[derive(Debug, Clone, Copy)]
pub struct ReferenceRows<'a> {
    /// Names of the rows.
    pub names: &'a [BString],
    /// Letters and gaps.
    pub rows: &'a [Vec<u8>],
    /// The column of each site. Others are not written.
    pub columns: &'a [u32],
}

/// A read and where it lies.
#[derive(Debug, Clone, Copy)]
pub struct PlacedRead<'a> {
    /// Its name.
    pub name: &'a [u8],
    /// Its letters, on the strand that was aligned.
    pub letters: &'a [u8],
    /// Sites before the alignment's first column.
    pub first_site: u32,
    /// The alignment, the read as the query.
    pub cigar: &'a Cigar,
}

/// What all reads together need.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Extent {
    reads: u64,
    longest_name: usize,
    /// Before each site, and after the last.
    inserted: Vec<u32>,
}

impl Extent {
    /// Of no read; `sites` is how many columns of the reference are written.
    pub fn new(sites: usize) -> Self {
        Extent { reads: 0, longest_name: 0, inserted: vec![0; sites + 1] }
    }

    /// Counts a read.
    ///
    /// # Errors
    /// [`Error::Internal`] if it goes beyond the last site.
    pub fn add(&mut self, name: &[u8], first_site: u32, cigar: &Cigar) -> Result<()> {
        self.reads += 1;
        self.longest_name = self.longest_name.max(name.len());
        let mut site = first_site as usize;
        for (length, op) in cigar.iter() {
            if op == Op::Insertion {
                let widest = self.inserted.get_mut(site).ok_or_else(|| beyond(name))?;
                *widest = length.max(*widest);
            } else {
                site += length as usize;
            }
        }
        if site < self.inserted.len() { Ok(()) } else { Err(beyond(name)) }
    }

    /// Reads that were counted.
    pub fn reads(&self) -> u64 {
        self.reads
    }
}

fn beyond(name: &[u8]) -> Error {
    Error::Internal(format!("read '{}' is not where its alignment says", String::from_utf8_lossy(name)))
}

/// Where names and columns are.
#[derive(Debug)]
struct Layout {
    /// Characters of a name and the blanks behind it; `None` in FASTA.
    name_width: Option<usize>,
    /// The column of each site, and how many there are.
    places: Vec<usize>,
    /// Columns of inserted characters before the first site.
    before: usize,
    width: usize,
    keep_length: bool,
}

impl Layout {
    fn new(sites: usize, extent: Option<&Extent>, keep_length: bool, name_width: Option<usize>) -> Self {
        let inserted = extent.map_or(&[][..], |extent| &extent.inserted);
        let inserted =
            |site: usize| if keep_length { 0 } else { inserted.get(site).map_or(0, |&width| width as usize) };
        let mut width = 0;
        let place = |site: usize| {
            let place = width + inserted(site);
            width = place + 1;
            place
        };
        let mut places: Vec<usize> = (0..sites).map(place).collect();
        let after = width;
        width += inserted(sites);
        // Where characters after the last site begin to stand: as if there were one more.
        places.push(after + inserted(sites));
        Layout { name_width, places, before: inserted(0), width, keep_length }
    }

    /// Appends what stands before a row.
    fn push_name(&self, name: &[u8], out: &mut Vec<u8>) {
        match self.name_width {
            Some(width) => {
                out.extend_from_slice(name);
                out.resize(out.len() + width - name.len().min(width - 1), b' ');
            }
            None => {
                out.push(b'>');
                out.extend_from_slice(name);
                out.push(b'\n');
            }
        }
    }

    /// Appends a read's row.
    fn push_read(&self, read: &PlacedRead<'_>, out: &mut Vec<u8>) -> Result<()> {
        let begin = out.len();
        out.resize(begin + self.width, b'-');
        let row = &mut out[begin..];
        let (mut site, mut letters) = (read.first_site as usize, read.letters);
        let sites = self.places.len() - 1;
        for (length, op) in read.cigar.iter() {
            let length = length as usize;
            let Some((own, others)) = letters.split_at_checked(if op.consumes_query() { length } else { 0 }) else {
                return Err(beyond(read.name));
            };
            letters = others;
            match op {
                Op::Insertion if self.keep_length => {}
                Op::Insertion => {
                    // From the left: after the last site. Before the first from the right.
                    let from = match site {
                        0 => self.before.checked_sub(length).ok_or_else(|| beyond(read.name))?,
                        _ => self.places[site - 1] + 1,
                    };
                    let room = self.places.get(site).and_then(|&end| row.get_mut(from..end));
                    let room = room.and_then(|room| room.get_mut(..length)).ok_or_else(|| beyond(read.name))?;
                    room.copy_from_slice(own);
                }
                Op::Match | Op::Mismatch => {
                    let places = self.places[..sites].get(site..site + length).ok_or_else(|| beyond(read.name))?;
                    match places {
                        // No column between.
                        [first, .., last] if last - first + 1 == length => row[*first..=*last].copy_from_slice(own),
                        _ => places.iter().zip(own).for_each(|(&place, &letter)| row[place] = letter),
                    }
                }
                Op::Deletion => {}
            }
            if op.consumes_target() {
                site += length;
            }
        }
        if site <= sites && letters.is_empty() { Ok(()) } else { Err(beyond(read.name)) }
    }

    /// Appends a reference's row.
    fn push_reference(&self, letters: &[u8], columns: &[u32], out: &mut Vec<u8>) {
        let begin = out.len();
        out.resize(begin + self.width, b'-');
        let row = &mut out[begin..];
        for (&place, &column) in self.places.iter().zip(columns) {
            row[place] = match letters[column as usize] {
                b'.' | b'~' => b'-',
                letter => letter,
            };
        }
    }
}

/// Writes an alignment.
#[derive(Debug)]
pub struct PlacedWriter {
    layout: Layout,
    /// Reads that are still to come, if they were counted.
    left: Option<u64>,
    output: Output,
}

impl PlacedWriter {
    /// Writes what stands before the first read. `extent` is of all reads; it can be missing where it is not needed
    /// ([`PlacedFormat::needs_extent`]).
    ///
    /// # Errors
    /// [`Error::Internal`] if it is missing, or of other sites; [`Error::Io`].
    pub fn begin(
        format: PlacedFormat,
        references: ReferenceRows<'_>,
        extent: Option<&Extent>,
        output: Output,
    ) -> Result<Self> {
        let sites = references.columns.len();
        let is_wrong = extent.map_or(format.needs_extent(), |extent| extent.inserted.len() != sites + 1);
        if is_wrong {
            return Err(Error::Internal("reads were not counted before they are written".into()));
        }
        let rows = if format.reads_only { 0 } else { references.rows.len() };
        let longest = references.names.iter().take(rows).map(|name| name.len()).max().unwrap_or(0);
        let name_width = longest.max(extent.map_or(0, |extent| extent.longest_name)) + 1;
        let layout = Layout::new(sites, extent, format.keep_length, format.is_phylip.then_some(name_width));
        let mut writer = PlacedWriter { layout, left: extent.map(Extent::reads), output };
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

    /// Writes reads, on the threads of the current pool if that pays.
    ///
    /// # Errors
    /// [`Error::Internal`] if a read is not what was counted; [`Error::Io`].
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
        let pieces: Result<Vec<Vec<u8>>> = match reads.len() > ROWS_A_PIECE {
            true => reads.par_chunks(ROWS_A_PIECE).map(push).collect(),
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

    /// Makes the output final.
    ///
    /// # Errors
    /// [`Error::Internal`] if reads are missing; [`Error::Io`].
    pub fn finish(self) -> Result<()> {
        match self.left {
            Some(left @ 1..) => Err(Error::Internal(format!("{left} reads that were counted are missing"))),
            _ => self.output.finish(),
        }
    }
}
