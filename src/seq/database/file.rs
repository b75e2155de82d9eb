//! A mapped database file.

use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

use rayon::prelude::*;

use super::layout::{BLOCK_BYTES, FOOT_BYTES, Foot, Section, TRUNCATED, check_head, damaged, sum, u64_of};
use crate::error::{Error, InputLocation, Result};
use crate::seq::alphabet::{Alphabet, Code, PAD};
use crate::seq::bytes::{Backing, SharedBytes};
use crate::seq::messages::input_error;
use crate::seq::store::{NameStore, SequenceStore, TextList};

/// An opened database. Everything that is read from it is checked first.
#[derive(Debug)]
pub(super) struct DatabaseFile {
    name: PathBuf,
    file: File,
    /// Size and modification time of the file when it was opened.
    opened: Stamp,
    map: Arc<Backing>,
    footer: Foot,
    /// Whether each block has been checked and is correct.
    checked: Vec<AtomicBool>,
}

/// Error message for a database that was modified while it was open.
const CHANGED: &str = "the database was changed while it was read: start again";

/// Checks the head, the foot and the list of checksums of a database, and returns the foot.
fn checked_foot(map: &[u8]) -> Result<Foot, String> {
    check_head(map)?;
    let footer = map.last_chunk::<FOOT_BYTES>().ok_or(TRUNCATED)?;
    let footer = Foot::from_bytes(footer, map.len() as u64)?;
    let sums = footer.sums();
    match sum(&map[sums.start as usize..sums.end as usize]) == footer.sum_of_sums {
        true => Ok(footer),
        false => Err(damaged("the list of its sums")),
    }
}

impl DatabaseFile {
    /// Maps a file, and checks its head and foot. Errors name it `name`. Also returns the lengths
    /// of its sequences.
    pub(super) fn open(name: &Path, file: File) -> Result<(Self, Vec<u32>)> {
        let wrong = |message: String| input_error(InputLocation::in_file(name), message);
        let failed = |source| Error::io(name, source);
        let opened = Stamp::read(&file).map_err(failed)?;
        if opened.bytes == 0 {
            return Err(wrong("the file is empty".to_owned()));
        }
        // SAFETY: the map is only read. No other process should change the file; this program
        // replaces files as a whole. If one changes it, `check_unchanged` detects this. If one
        // shortens it, the system sends a signal that ends the process.
        let map = unsafe { memmap2::Mmap::map(&file) }.map_err(failed)?;
        let footer = match checked_foot(&map) {
            Ok(footer) => footer,
            // A file that another process is writing looks damaged.
            Err(_) if Stamp::read(&file).map_err(failed)? != opened => return Err(wrong(CHANGED.to_owned())),
            Err(message) => return Err(wrong(message)),
        };
        let sums = footer.sums();
        let checked = (0..(sums.end - sums.start) / 8).map(|_| AtomicBool::new(false)).collect();
        let map = Arc::new(Backing::File(map));
        let database = DatabaseFile { name: name.to_owned(), file, opened, map, footer, checked };
        let lengths = database.lengths()?;
        Ok((database, lengths))
    }

    /// Returns an error if the file was written to since it was opened.
    pub(super) fn check_unchanged(&self) -> Result<()> {
        let now = Stamp::read(&self.file).map_err(|source| Error::io(&self.name, source))?;
        match now == self.opened {
            true => Ok(()),
            false => Err(self.wrong(CHANGED.to_owned())),
        }
    }

    pub(super) fn footer(&self) -> &Foot {
        &self.footer
    }

    /// Returns the size of the file in bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.map.len() as u64
    }

    fn wrong(&self, message: String) -> Error {
        input_error(InputLocation::in_file(&self.name), message)
    }

    /// Returns the error of a damaged file. If the file was written to since it was opened, returns
    /// that error instead.
    fn damaged(&self, what: &str) -> Error {
        self.check_unchanged().err().unwrap_or_else(|| self.wrong(damaged(what)))
    }

    /// Returns all lengths, after checking that the numbers of sequences and symbols agree with the
    /// foot.
    fn lengths(&self) -> Result<Vec<u32>> {
        let bytes = self.read(Section::Lengths, 0..self.footer.sequences * 4)?;
        let lengths: Vec<u32> = bytes.as_chunks().0.iter().map(|&bytes| u32::from_le_bytes(bytes)).collect();
        let symbols: u64 = lengths.iter().map(|&length| u64::from(length)).sum();
        let packed: u64 = lengths.iter().map(|&length| u64::from(length).next_multiple_of(4)).sum();
        let codes = self.footer.section(Section::Codes);
        let is_right = symbols == self.footer.symbols
            && packed == codes.end - codes.start
            && lengths.is_sorted_by(|before, after| before >= after);
        if is_right { Ok(lengths) } else { Err(self.damaged("its list of lengths")) }
    }

    /// Checks and returns bytes of a section. The range counts from the section's start.
    fn read(&self, section: Section, range: Range<u64>) -> Result<&[u8]> {
        let range = self.position(section, range)?;
        self.check(range.start as u64..range.end as u64)?;
        Ok(&self.map[range])
    }

    /// Returns the position in the file of bytes of a section.
    fn position(&self, section: Section, range: Range<u64>) -> Result<Range<usize>> {
        let all = self.footer.section(section);
        if range.start > range.end || range.end > all.end - all.start {
            return Err(self.damaged("one of its lists of ends"));
        }
        Ok((all.start + range.start) as usize..(all.start + range.end) as usize)
    }

    /// Checks those blocks of a range that have not been checked yet, with all threads of the
    /// current pool.
    fn check(&self, range: Range<u64>) -> Result<()> {
        if range.is_empty() {
            return Ok(());
        }
        let sums = self.footer.sums();
        let blocks = range.start / BLOCK_BYTES..range.end.div_ceil(BLOCK_BYTES);
        // Reads of single sequences mostly touch blocks that are already checked. They return here
        // without waking other threads.
        if blocks.clone().all(|block| self.checked[block as usize].load(Ordering::Relaxed)) {
            return Ok(());
        }
        blocks.into_par_iter().try_for_each(|block| {
            // Relaxed ordering suffices, because the flag publishes no other data.
            let checked = &self.checked[block as usize];
            if checked.load(Ordering::Relaxed) {
                return Ok(());
            }
            let start = block * BLOCK_BYTES;
            let end = (start + BLOCK_BYTES).min(sums.start);
            let known = u64_of(&self.map[(sums.start + block * 8) as usize..]);
            if sum(&self.map[start as usize..end as usize]) != known {
                return Err(self.damaged(&format!("something in its bytes {start} to {end}")));
            }
            checked.store(true, Ordering::Relaxed);
            Ok(())
        })
    }

    /// Reads 64-bit numbers of a section.
    fn numbers(&self, section: Section, range: Range<u64>) -> Result<Vec<u64>> {
        let bytes = self.read(section, range.start * 8..range.end * 8)?;
        Ok(bytes.as_chunks().0.iter().map(|&bytes| u64::from_le_bytes(bytes)).collect())
    }

    /// Returns the record numbers of some sequences.
    pub(super) fn records(&self, range: Range<u64>) -> Result<Vec<u64>> {
        let records = self.numbers(Section::Records, range)?;
        match records.iter().all(|&record| record < self.footer.sequences) {
            true => Ok(records),
            false => Err(self.damaged("its list of records")),
        }
    }

    /// Returns the byte range of the texts of some sequences, and the end of each text relative to
    /// its start.
    fn texts(&self, ends: Section, texts: Section, range: Range<u64>) -> Result<(Range<u64>, Vec<usize>)> {
        let before = range.start.checked_sub(1);
        let numbers = self.numbers(ends, before.unwrap_or(0)..range.end)?;
        let (start, ends) = match before {
            Some(_) => numbers.split_first().map_or((0, &[][..]), |(&start, ends)| (start, ends)),
            None => (0, &numbers[..]),
        };
        let end = *ends.last().unwrap_or(&start);
        if !ends.is_sorted() || ends.first().is_some_and(|&first| first < start) {
            return Err(self.damaged("one of its lists of ends"));
        }
        self.position(texts, start..end)?;
        Ok((start..end, ends.iter().map(|end| (end - start) as usize).collect()))
    }

    /// Passes the names of some sequences to `take`, in order.
    pub(super) fn for_each_name(&self, range: Range<u64>, mut take: impl FnMut(&[u8])) -> Result<()> {
        let (names, ends) = self.texts(Section::NameEnds, Section::Names, range)?;
        let (names, mut start) = (self.read(Section::Names, names)?, 0);
        for end in ends {
            take(&names[start..end]);
            start = end;
        }
        Ok(())
    }

    /// Returns a store of some sequences, whose codes have this range in their section.
    pub(super) fn store(&self, range: Range<u64>, lengths: Vec<u32>, codes: Range<u64>) -> Result<SequenceStore> {
        self.check_unchanged()?;
        let index = self.position(Section::Codes, codes.clone())?;
        self.advise_read(index.clone());
        let codes = self.read(Section::Codes, codes)?;
        if !are_codes_right(self.footer.alphabet, codes, &lengths) {
            return Err(self.damaged("a symbol of its sequences"));
        }
        let (names, name_ends) = self.texts(Section::NameEnds, Section::Names, range.clone())?;
        let names = self.read(Section::Names, names)?;
        let (texts, mut text_ends) = self.texts(Section::DescriptionEnds, Section::Descriptions, range)?;
        if texts.is_empty() {
            text_ends = Vec::new();
        }
        self.read(Section::Descriptions, texts.clone())?;
        let texts = self.position(Section::Descriptions, texts)?;
        let part = |range: Range<usize>| SharedBytes::Part { backing: Arc::clone(&self.map), range };
        let descriptions = TextList { bytes: part(texts), ends: text_ends };
        let names = NameStore::from_bytes(names, name_ends);
        let store = SequenceStore::from_parts(self.footer.alphabet, names, lengths, part(index), descriptions);
        Ok(store.with_file(&self.name.display().to_string()))
    }

    /// Asks the system to read a part of the file ahead.
    fn advise_read(&self, index: Range<usize>) {
        #[cfg(unix)]
        if let Backing::File(map) = &*self.map {
            // A failure is ignored, because this is only a hint.
            let _ = map.advise_range(memmap2::Advice::WillNeed, index.start, index.len());
        }
        #[cfg(not(unix))]
        let _ = index;
    }
}

/// Size and modification time of a file, to detect changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    bytes: u64,
    /// Modification time; `None` if the system does not store it.
    modified: Option<SystemTime>,
}

impl Stamp {
    fn read(file: &File) -> std::io::Result<Self> {
        let metadata = file.metadata()?;
        Ok(Stamp { bytes: metadata.len(), modified: metadata.modified().ok() })
    }
}

/// Returns whether codes are valid for the engines: every symbol is in the alphabet, and [`PAD`]
/// occurs in the padding only.
fn are_codes_right(alphabet: Alphabet, codes: &[Code], lengths: &[u32]) -> bool {
    let (mut largest, mut pads) = (0, 0_usize);
    // The pieces are so short that their counts fit 8-bit lanes.
    for piece in codes.chunks(128) {
        largest = piece.iter().fold(largest, |most, &code| most.max(code));
        pads += usize::from(piece.iter().fold(0_u8, |count, &code| count + u8::from(code == PAD)));
    }
    let (mut at, mut filled) = (0, 0);
    let all_filled = lengths.iter().all(|&length| {
        let padding = (length as usize).next_multiple_of(4) - length as usize;
        let is_filled = codes[at..at + padding].iter().all(|&code| code == PAD);
        at += (length as usize).next_multiple_of(4);
        filled += padding;
        is_filled
    });
    usize::from(largest) < alphabet.size() && all_filled && pads == filled
}
