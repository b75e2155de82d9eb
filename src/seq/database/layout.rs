//! The head and the foot of a database file, and the positions of its sections.

use std::ops::Range;

use twox_hash::XxHash3_64;

use crate::seq::alphabet::Alphabet;
use crate::seq::input::{DATABASE_MAGIC as MAGIC, is_database};

/// Last bytes of a file.
const END: [u8; 8] = *b"PWDBend\n";
/// Version of the format. No other version is read.
pub const VERSION: u32 = 1;
/// Number of bytes before the first section.
pub const HEAD_BYTES: u64 = 64;
/// Size in bytes of a block, which has one checksum.
pub const BLOCK_BYTES: u64 = 4 << 20;
/// Sections start at multiples of this.
pub(super) const ALIGNMENT: u64 = 64;
/// Size of [`Foot`] in bytes.
pub(super) const FOOT_BYTES: usize = 3 * 8 + 8 * SECTIONS + 8 + 8 + END.len();

/// Number of sections.
pub(super) const SECTIONS: usize = 7;

/// The sections of a file.
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
    /// All sections in the order of the file.
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

/// Returns the bytes before the first section.
pub(super) fn head() -> [u8; HEAD_BYTES as usize] {
    let mut head = [0; HEAD_BYTES as usize];
    head[..8].copy_from_slice(&MAGIC);
    head[8..12].copy_from_slice(&VERSION.to_le_bytes());
    head
}

/// Checks the first bytes of a file, and describes the problem if they are wrong.
pub(super) fn check_head(start: &[u8]) -> Result<(), String> {
    if !is_database(start) {
        return Err("this is not a pairwave database".to_owned());
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
            "the database is of version {version}, and this pairwave reads only version {VERSION}: create it again with 'pairwave makedb'"
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

/// Formats the error message for a part of the file that does not match its checksum.
pub(super) fn damaged(what: &str) -> String {
    format!("the database is damaged: {what} is not what was written")
}

/// The foot of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Foot {
    pub(super) sequences: u64,
    pub(super) symbols: u64,
    pub(super) alphabet: Alphabet,
    /// End of each section, without its padding.
    pub(super) ends: [u64; SECTIONS],
    /// Checksum of the checksums of blocks.
    pub(super) sum_of_sums: u64,
}

impl Foot {
    /// Encodes the foot.
    pub(super) fn to_bytes(self) -> [u8; FOOT_BYTES] {
        let alphabet = ALPHABETS.iter().position(|&alphabet| alphabet == self.alphabet).unwrap_or_default() as u64;
        let mut bytes = [0; FOOT_BYTES];
        let numbers = [self.sequences, self.symbols, alphabet].into_iter().chain(self.ends).chain([self.sum_of_sums]);
        for (index, number) in bytes.chunks_exact_mut(8).zip(numbers) {
            index.copy_from_slice(&number.to_le_bytes());
        }
        let (content, rest) = bytes.split_at_mut(FOOT_BYTES - 16);
        rest[..8].copy_from_slice(&sum(content).to_le_bytes());
        rest[8..].copy_from_slice(&END);
        bytes
    }

    /// Decodes the foot of a file of this size, or describes the problem.
    pub(super) fn from_bytes(bytes: &[u8; FOOT_BYTES], file_bytes: u64) -> Result<Self, String> {
        let (content, rest) = bytes.split_at(FOOT_BYTES - 16);
        if rest[8..] != END {
            return Err(TRUNCATED.to_owned());
        }
        let wrong = || damaged("its foot");
        if u64_of(&rest[..8]) != sum(content) {
            return Err(wrong());
        }
        let mut numbers = content.chunks_exact(8).map(u64_of);
        let mut next = || numbers.next().unwrap_or_default();
        let (sequences, symbols) = (next(), next());
        let alphabet = *ALPHABETS.get(next() as usize).ok_or_else(wrong)?;
        let mut ends = [0; SECTIONS];
        ends.fill_with(&mut next);
        let footer = Foot { sequences, symbols, alphabet, ends, sum_of_sums: next() };
        if footer.are_sections_right(file_bytes) { Ok(footer) } else { Err(wrong()) }
    }

    /// Returns whether the sections follow each other, have the right sizes for the number of
    /// sequences, and fill the file.
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

    /// Returns the byte range of a section in the file.
    pub(super) fn section(&self, section: Section) -> Range<u64> {
        let index = section as usize;
        let start = if index == 0 { HEAD_BYTES } else { self.ends[index - 1].next_multiple_of(ALIGNMENT) };
        start..self.ends[index]
    }

    /// Returns the byte range of the checksums of blocks. They cover everything before them.
    pub(super) fn sums(&self) -> Range<u64> {
        let start = self.ends[SECTIONS - 1].next_multiple_of(ALIGNMENT);
        start..start + start.div_ceil(BLOCK_BYTES) * 8
    }
}

/// Alphabets, by their numbers in files.
const ALPHABETS: [Alphabet; 3] = [Alphabet::Dna, Alphabet::Protein, Alphabet::Bytes];

/// Returns the checksum of bytes.
pub(super) fn sum(bytes: &[u8]) -> u64 {
    XxHash3_64::oneshot(bytes)
}

/// Decodes the 64-bit number at the start of `bytes`.
pub(super) fn u64_of(bytes: &[u8]) -> u64 {
    bytes.first_chunk().map_or(0, |&bytes| u64::from_le_bytes(bytes))
}

/// Decodes the 32-bit number at the start of `bytes`.
pub(super) fn u32_of(bytes: &[u8]) -> u32 {
    bytes.first_chunk().map_or(0, |&bytes| u32::from_le_bytes(bytes))
}
