//! The sequences that a search compares queries with. They come in chunks, from a file of sequences
//! or from a database file.
//!
//! # File format
//!
//! All numbers are little-endian. The file starts with a head of [`HEAD_BYTES`]: [`MAGIC`], the
//! version in 32 bits, and zeros. Then the sections follow, each padded with zeros to a multiple of
//! 64 bytes:
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
//! After the sections, there is XXH3 (64 bits) of each block of [`BLOCK_BYTES`] of everything
//! before. The foot contains the numbers of sequences and symbols, the alphabet, the ends of the
//! sections, XXH3 of these checksums, XXH3 of the foot, and an end mark. A truncated file lacks its
//! foot. The foot and the lengths are checked when a file is opened. All other blocks are checked
//! when they are first read.

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
