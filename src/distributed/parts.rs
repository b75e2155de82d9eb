//! Part files: the rows of one block as bytes, in a file or in memory.
//!
//! ```text
//! header   magic, digest of the manifest, number of the block, checksum
//! pieces   number of rows, length, encoded rows, checksum of this piece and all bytes before it
//! info     a piece with u32::MAX as its number of rows: [`PartInfo`] as JSON
//! footer   position of `info`, checksum of `info` alone, magic
//! ```
//!
//! Numbers are little-endian. The header, `info` and the footer suffice to decide whether a block
//! is done. Reading the rows also checks that all rows are present and unchanged.

mod read;
mod write;

use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_64;

pub use read::{PartReader, read_state};
pub use write::{FinishedPart, PartDestination, PartWriter};

const MAGIC: &[u8; 8] = b"pwblock1";
const FOOTER_MAGIC: &[u8; 8] = b"pwended1";
/// Length of the header: magic, digest, number, checksum.
const HEADER_BYTES: u64 = 8 + 32 + 8 + 8;
/// Length of a piece's row count and byte count.
const COUNTS_BYTES: usize = 8;
/// Length of a checksum.
const CHECKSUM_BYTES: usize = 8;
/// Length of the footer: position, checksum, magic.
const FOOTER_BYTES: u64 = 24;
/// Row count that marks the `info` piece.
const INFO_ROWS: u32 = u32::MAX;
/// Approximate number of encoded bytes in a piece. A reader keeps one piece in memory.
const PIECE_BYTES: usize = 1 << 18;

/// Statistics of a computed block.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PartInfo {
    /// Number of rows.
    pub rows: u64,
    /// Seconds of computation.
    pub seconds: f64,
    /// Name of the machine that computed the block.
    pub host: String,
}

/// State of a block's part file.
#[derive(Debug, Clone, PartialEq)]
pub enum PartState {
    /// The file does not exist.
    Missing,
    /// The file is not a valid part of this block, for the given reason.
    Damaged(String),
    /// The file contains all rows.
    Done(PartInfo),
}

impl PartState {
    /// Checks whether the block is complete.
    pub fn is_done(&self) -> bool {
        matches!(self, PartState::Done(_))
    }
}

/// Returns the checksum of a sequence of bytes that ends with `bytes`. `before` is the checksum of
/// the bytes before them.
fn checksum(before: u64, bytes: &[u8]) -> u64 {
    XxHash3_64::oneshot_with_seed(before, bytes)
}

fn header(digest: &super::Digest, block: u64) -> Vec<u8> {
    let mut bytes = [&MAGIC[..], digest, &block.to_le_bytes()].concat();
    bytes.extend_from_slice(&checksum(0, &bytes).to_le_bytes());
    bytes
}
