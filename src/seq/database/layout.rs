//! The head and the foot of a database file, and where its sections are.

use std::ops::Range;

use twox_hash::XxHash3_64;

use crate::seq::alphabet::Alphabet;
use crate::seq::input::{DATABASE_MAGIC as MAGIC, is_database};

/// Last bytes.
const END: [u8; 8] = *b"PWDBend\n";
/// The form that is written, and the only one that is read.
pub const VERSION: u32 = 1;
/// Bytes before the first section.
pub const HEAD_BYTES: u64 = 64;
/// Bytes that a sum is of.
pub const BLOCK_BYTES: u64 = 4 << 20;
/// Sections begin at multiples of this.
pub(super) const ALIGNMENT: u64 = 64;
/// Bytes of [`Foot`].
pub(super) const FOOT_BYTES: usize = 3 * 8 + 8 * SECTIONS + 8 + 8 + END.len();

/// Number of sections.
pub(super) const SECTIONS: usize = 7;

/// What is in a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Section {
    Codes,
    Lengths,
    Records,
    NameEnds,
    DescriptionEnds,
    Names,
    Descriptions,
}

impl Section {
    /// All in the file's order.
    pub(super) const ALL: [Section; SECTIONS] = [
        Section::Codes,
        Section::Lengths,
        Section::Records,
        Section::NameEnds,
        Section::DescriptionEnds,
        Section::Names,
        Section::Descriptions,
    ];
}

/// The bytes before the first section.
pub(super) fn head() -> [u8; HEAD_BYTES as usize] {
    let mut head = [0; HEAD_BYTES as usize];
    head[..8].copy_from_slice(&MAGIC);
    head[8..12].copy_from_slice(&VERSION.to_le_bytes());
    head
}

/// Says what is wrong with the first bytes of a file.
pub(super) fn check_head(start: &[u8]) -> Result<(), String> {
    if !is_database(start) {
        return Err("this is no database of pairwave".to_owned());
    }
    if start.len() >= MAGIC.len() && !start.starts_with(&MAGIC) {
        return Err(damaged("its head"));
    }
    let version = match start.get(8..12) {
        Some(bytes) => u32_of(bytes),
        None => return Err(TRUNCATED.to_owned()),
    };
    if version != VERSION {
        return Err(format!(
            "the database is of version {version}, and this pairwave reads version {VERSION} only: make it anew"
        ));
    }
    if start.len() < HEAD_BYTES as usize {
        return Err(TRUNCATED.to_owned());
    }
    if start[..HEAD_BYTES as usize] != head() {
        return Err(damaged("its head"));
    }
    Ok(())
}

pub(super) const TRUNCATED: &str =
    "the database is truncated, or something was added to it: it does not end as it should";

/// The message for bytes that are not what was written.
pub(super) fn damaged(what: &str) -> String {
    format!("the database is damaged: {what} is not what was written")
}

/// What is at the end of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Foot {
    pub(super) sequences: u64,
    pub(super) symbols: u64,
    pub(super) alphabet: Alphabet,
    /// Where each section ends, without what fills it up.
    pub(super) ends: [u64; SECTIONS],
    /// Of the sums of blocks.
    pub(super) sum_of_sums: u64,
}

impl Foot {
    /// As it is written.
    pub(super) fn to_bytes(self) -> [u8; FOOT_BYTES] {
        let alphabet = ALPHABETS.iter().position(|&alphabet| alphabet == self.alphabet).unwrap_or_default() as u64;
        let mut bytes = [0; FOOT_BYTES];
        let numbers = [self.sequences, self.symbols, alphabet].into_iter().chain(self.ends).chain([self.sum_of_sums]);
        for (place, number) in bytes.chunks_exact_mut(8).zip(numbers) {
            place.copy_from_slice(&number.to_le_bytes());
        }
        let (told, rest) = bytes.split_at_mut(FOOT_BYTES - 16);
        rest[..8].copy_from_slice(&sum(told).to_le_bytes());
        rest[8..].copy_from_slice(&END);
        bytes
    }

    /// From what is written, if the file has so many bytes; or what is wrong.
    pub(super) fn of_bytes(bytes: &[u8; FOOT_BYTES], file_bytes: u64) -> Result<Self, String> {
        let (told, rest) = bytes.split_at(FOOT_BYTES - 16);
        if rest[8..] != END {
            return Err(TRUNCATED.to_owned());
        }
        let wrong = || damaged("its foot");
        if u64_of(&rest[..8]) != sum(told) {
            return Err(wrong());
        }
        let mut numbers = told.chunks_exact(8).map(u64_of);
        let mut next = || numbers.next().unwrap_or_default();
        let (sequences, symbols) = (next(), next());
        let alphabet = *ALPHABETS.get(next() as usize).ok_or_else(wrong)?;
        let mut ends = [0; SECTIONS];
        ends.fill_with(&mut next);
        let foot = Foot { sequences, symbols, alphabet, ends, sum_of_sums: next() };
        if foot.are_sections_right(file_bytes) { Ok(foot) } else { Err(wrong()) }
    }

    /// Whether sections follow each other, have room for so many sequences, and fill the file.
    fn are_sections_right(&self, file_bytes: u64) -> bool {
        let mut before = HEAD_BYTES;
        for section in Section::ALL {
            let end = self.ends[section as usize];
            let each = match section {
                Section::Lengths => Some(4),
                Section::Records | Section::NameEnds | Section::DescriptionEnds => Some(8),
                Section::Codes | Section::Names | Section::Descriptions => None,
            };
            let Some(bytes) = end.checked_sub(before) else { return false };
            if each.is_some_and(|each| self.sequences.checked_mul(each) != Some(bytes)) {
                return false;
            }
            let Some(next) = end.checked_next_multiple_of(ALIGNMENT) else { return false };
            before = next;
        }
        let sums = before.div_ceil(BLOCK_BYTES) * 8;
        before.checked_add(sums).and_then(|all| all.checked_add(FOOT_BYTES as u64)) == Some(file_bytes)
    }

    /// Where a section is in the file.
    pub(super) fn section(&self, section: Section) -> Range<u64> {
        let index = section as usize;
        let start = if index == 0 { HEAD_BYTES } else { self.ends[index - 1].next_multiple_of(ALIGNMENT) };
        start..self.ends[index]
    }

    /// Where the sums of blocks are; they are of all that is before.
    pub(super) fn sums(&self) -> Range<u64> {
        let start = self.ends[SECTIONS - 1].next_multiple_of(ALIGNMENT);
        start..start + start.div_ceil(BLOCK_BYTES) * 8
    }
}

/// Alphabets by their numbers in files.
const ALPHABETS: [Alphabet; 3] = [Alphabet::Dna, Alphabet::Protein, Alphabet::Bytes];

/// The sum of bytes.
pub(super) fn sum(bytes: &[u8]) -> u64 {
    XxHash3_64::oneshot(bytes)
}

/// The number that bytes begin with.
pub(super) fn u64_of(bytes: &[u8]) -> u64 {
    bytes.first_chunk().map_or(0, |&bytes| u64::from_le_bytes(bytes))
}

/// The same of 32 bits.
pub(super) fn u32_of(bytes: &[u8]) -> u32 {
    bytes.first_chunk().map_or(0, |&bytes| u32::from_le_bytes(bytes))
}
