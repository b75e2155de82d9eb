//! What a search is against: many sequences, handed out in chunks, from a file of sequences or from a database file.
//!
//! # The file
//!
//! All numbers are little-endian. First a head of [`HEAD_BYTES`]: [`MAGIC`], the version in 32 bits, zeros. Then the
//! sections, one after the other, each filled up with zeros to a multiple of 64 bytes:
//!
//! ```text
//! codes             as the store packs them: a byte a symbol, zeros before each sequence up to whole words of four
//! lengths           32 bits each, falling
//! records           64 bits each: places in the input, from 0; they rise where lengths are equal
//! name ends         64 bits each: where each name ends in the section of names
//! description ends  the same of descriptions
//! names             bytes
//! descriptions      bytes
//! ```
//!
//! Then XXH3 (64 bits) of each [`BLOCK_BYTES`] of all that was before, and the foot: how many sequences and symbols there
//! are, the alphabet, where the sections end, XXH3 of those sums, XXH3 of the foot, and the magic's end. A file that is cut off
//! lacks its foot. The foot and the lengths are checked when a file is opened, all other blocks when they are read first.

mod file;
mod layout;
mod make;
mod runs;
mod subjects;
#[cfg(test)]
mod tests;
mod writer;

pub use super::input::DATABASE_MAGIC as MAGIC;
pub use layout::{BLOCK_BYTES, HEAD_BYTES, VERSION};
pub use make::{Made, MakeOptions, Sorted, read_sorted};
pub use subjects::{Size, SubjectChunk, SubjectChunks, Subjects};
