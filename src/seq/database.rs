//! The sequences that a search compares queries with. They come in chunks, from a file of sequences
//! or from a database file.
//!
//! # File format
//!
//! All numbers are little-endian. The file starts with a head of [`HEAD_BYTES`] bytes: [`MAGIC`],
//! the version in 32 bits, and zeros. Then the sections follow, each padded with zeros to a
//! multiple of 64 bytes:
//!
//! ```text
//! codes             as packed by the store: one byte per symbol, and zeros in front of each sequence
//!                   that complete it to a multiple of four bytes
//! lengths           32 bits each, in decreasing order
//! records           64 bits each: positions in the input, from 0; increasing among equal lengths
//! name ends         64 bits each: the end of each name in the section of names
//! description ends  64 bits each: the end of each description in the section of descriptions
//! names             bytes
//! descriptions      bytes
//! ```
//!
//! A list of checksums follows the sections: XXH3 (64 bits) of each block of [`BLOCK_BYTES`] of all
//! bytes before the list. The foot contains the numbers of sequences and symbols, the alphabet, the
//! ends of the sections, XXH3 of the list of checksums, XXH3 of the foot itself, and an end mark. A
//! truncated file lacks its foot. The foot and the lengths are checked when a file is opened. All
//! other blocks are checked when they are first read.

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
pub use make::{DatabaseSummary, MakeOptions, Sorted, read_sorted};
pub use subjects::{SequenceTotals, SubjectChunk, SubjectChunks, Subjects};
