//! A database file that is mapped.

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
use crate::seq::bytes::{Backing, Bytes};
use crate::seq::messages::input_error;
use crate::seq::store::{Names, SequenceStore, Texts};

/// An opened database. What is read of it was checked before.
#[derive(Debug)]
pub(super) struct DatabaseFile {
    name: PathBuf,
    file: File,
    /// Size and time of the file when it was opened.
    opened: Stamp,
    map: Arc<Backing>,
    foot: Foot,
    /// Which blocks are known to be right.
    checked: Vec<AtomicBool>,
}

/// The message for a file that was written to.
const CHANGED: &str = "the database was changed while it was read: start again";

/// Returns the foot of a database after a check of the head, the foot and the list of sums.
fn checked_foot(map: &[u8]) -> Result<Foot, String> {
    check_head(map)?;
    let foot = map.last_chunk::<FOOT_BYTES>().ok_or(TRUNCATED)?;
    let foot = Foot::of_bytes(foot, map.len() as u64)?;
    let sums = foot.sums();
    match sum(&map[sums.start as usize..sums.end as usize]) == foot.sum_of_sums {
        true => Ok(foot),
        false => Err(damaged("the list of its sums")),
    }
}

impl DatabaseFile {
    /// Maps a file, and checks its head and foot; `name` stands for it in errors. Returns the lengths of its sequences too.
    pub(super) fn open(name: &Path, file: File) -> Result<(Self, Vec<u32>)> {
        let wrong = |message: String| input_error(InputLocation::in_file(name), message);
        let failed = |source| Error::io(name, source);
        let opened = Stamp::of(&file).map_err(failed)?;
        if opened.bytes == 0 {
            return Err(wrong("the file is empty".to_owned()));
        }
        // SAFETY: the map is only read. If another process changes the file meanwhile, as none should (ours replace files
        // whole), `check_unchanged` finds it; if one shortens the file, a signal ends the process.
        let map = unsafe { memmap2::Mmap::map(&file) }.map_err(failed)?;
        let foot = match checked_foot(&map) {
            Ok(foot) => foot,
            // A file that is written to looks damaged.
            Err(_) if Stamp::of(&file).map_err(failed)? != opened => return Err(wrong(CHANGED.to_owned())),
            Err(message) => return Err(wrong(message)),
        };
        let sums = foot.sums();
        let checked = (0..(sums.end - sums.start) / 8).map(|_| AtomicBool::new(false)).collect();
        let map = Arc::new(Backing::File(map));
        let database = DatabaseFile { name: name.to_owned(), file, opened, map, foot, checked };
        let lengths = database.lengths()?;
        Ok((database, lengths))
    }

    /// Fails if the file was written to since it was opened.
    pub(super) fn check_unchanged(&self) -> Result<()> {
        let now = Stamp::of(&self.file).map_err(|source| Error::io(&self.name, source))?;
        match now == self.opened {
            true => Ok(()),
            false => Err(self.wrong(CHANGED.to_owned())),
        }
    }

    pub(super) fn foot(&self) -> &Foot {
        &self.foot
    }

    /// How many bytes the file has.
    pub(super) fn bytes(&self) -> u64 {
        self.map.len() as u64
    }

    fn wrong(&self, message: String) -> Error {
        input_error(InputLocation::in_file(&self.name), message)
    }

    /// Returns the error of a damaged file. If the file was written to since it was opened, returns that error instead.
    fn damaged(&self, what: &str) -> Error {
        self.check_unchanged().err().unwrap_or_else(|| self.wrong(damaged(what)))
    }

    /// All lengths, if the sequences are as many and as long as the foot says.
    fn lengths(&self) -> Result<Vec<u32>> {
        let bytes = self.read(Section::Lengths, 0..self.foot.sequences * 4)?;
        let lengths: Vec<u32> = bytes.as_chunks().0.iter().map(|&bytes| u32::from_le_bytes(bytes)).collect();
        let symbols: u64 = lengths.iter().map(|&length| u64::from(length)).sum();
        let packed: u64 = lengths.iter().map(|&length| u64::from(length).next_multiple_of(4)).sum();
        let codes = self.foot.section(Section::Codes);
        let is_right = symbols == self.foot.symbols
            && packed == codes.end - codes.start
            && lengths.is_sorted_by(|before, after| before >= after);
        if is_right { Ok(lengths) } else { Err(self.damaged("its list of lengths")) }
    }

    /// Bytes of a section, counted from its start, after they were checked.
    fn read(&self, section: Section, range: Range<u64>) -> Result<&[u8]> {
        let range = self.place(section, range)?;
        self.check(range.start as u64..range.end as u64)?;
        Ok(&self.map[range])
    }

    /// Where bytes of a section are in the file.
    fn place(&self, section: Section, range: Range<u64>) -> Result<Range<usize>> {
        let all = self.foot.section(section);
        if range.start > range.end || range.end > all.end - all.start {
            return Err(self.damaged("one of its lists of ends"));
        }
        Ok((all.start + range.start) as usize..(all.start + range.end) as usize)
    }

    /// Checks the blocks of a part of the file that were not checked before, by all threads of the current pool.
    fn check(&self, range: Range<u64>) -> Result<()> {
        if range.is_empty() {
            return Ok(());
        }
        let sums = self.foot.sums();
        let blocks = range.start / BLOCK_BYTES..range.end.div_ceil(BLOCK_BYTES);
        // Single sequences are read one after the other, mostly of blocks that are known: no thread has to be woken for that.
        if blocks.clone().all(|block| self.checked[block as usize].load(Ordering::Relaxed)) {
            return Ok(());
        }
        blocks.into_par_iter().try_for_each(|block| {
            // Whoever finds it checked needs to know no more than that.
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

    /// Numbers of 64 bits of a section.
    fn numbers(&self, section: Section, range: Range<u64>) -> Result<Vec<u64>> {
        let bytes = self.read(section, range.start * 8..range.end * 8)?;
        Ok(bytes.as_chunks().0.iter().map(|&bytes| u64::from_le_bytes(bytes)).collect())
    }

    /// Records of some sequences.
    pub(super) fn records(&self, range: Range<u64>) -> Result<Vec<u64>> {
        let records = self.numbers(Section::Records, range)?;
        match records.iter().all(|&record| record < self.foot.sequences) {
            true => Ok(records),
            false => Err(self.damaged("its list of records")),
        }
    }

    /// Texts of some sequences: all bytes, and where each ends there.
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
        self.place(texts, start..end)?;
        Ok((start..end, ends.iter().map(|end| (end - start) as usize).collect()))
    }

    /// Some sequences, whose codes begin and end there in their section.
    pub(super) fn store(&self, range: Range<u64>, lengths: Vec<u32>, codes: Range<u64>) -> Result<SequenceStore> {
        self.check_unchanged()?;
        let place = self.place(Section::Codes, codes.clone())?;
        self.wanted_soon(place.clone());
        let codes = self.read(Section::Codes, codes)?;
        if !are_codes_right(self.foot.alphabet, codes, &lengths) {
            return Err(self.damaged("a symbol of its sequences"));
        }
        let (names, name_ends) = self.texts(Section::NameEnds, Section::Names, range.clone())?;
        let names = self.read(Section::Names, names)?;
        let (texts, mut text_ends) = self.texts(Section::DescriptionEnds, Section::Descriptions, range)?;
        if texts.is_empty() {
            text_ends = Vec::new();
        }
        self.read(Section::Descriptions, texts.clone())?;
        let texts = self.place(Section::Descriptions, texts)?;
        let part = |range: Range<usize>| Bytes::Part { of: Arc::clone(&self.map), range };
        let descriptions = Texts { bytes: part(texts), ends: text_ends };
        let names = Names::of_bytes(names, name_ends);
        Ok(SequenceStore::of_parts(self.foot.alphabet, names, lengths, part(place), descriptions))
    }

    /// Lets the system read ahead.
    fn wanted_soon(&self, place: Range<usize>) {
        #[cfg(unix)]
        if let Backing::File(map) = &*self.map {
            // It is only advice.
            let _ = map.advise_range(memmap2::Advice::WillNeed, place.start, place.len());
        }
        #[cfg(not(unix))]
        let _ = place;
    }
}

/// Size and time of a file, to notice a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    bytes: u64,
    /// `None` where the system does not keep it.
    modified: Option<SystemTime>,
}

impl Stamp {
    fn of(file: &File) -> std::io::Result<Self> {
        let metadata = file.metadata()?;
        Ok(Stamp { bytes: metadata.len(), modified: metadata.modified().ok() })
    }
}

/// Whether engines can have these: every symbol is of the alphabet, and all that fills words up is [`PAD`] and nothing else
/// is.
fn are_codes_right(alphabet: Alphabet, codes: &[Code], lengths: &[u32]) -> bool {
    let (mut largest, mut pads) = (0, 0_usize);
    // In pieces, so that the inner counts fit lanes of vectors.
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
