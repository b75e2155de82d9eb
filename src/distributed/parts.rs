//! The rows of one block in bytes, in a file or on their way to one.
//!
//! ```text
//! head     magic, the manifest's digest, the block's number, a checksum
//! pieces   rows, length, that many bytes, a checksum of these and of all before
//! about    as a piece, with u32::MAX for its rows: what there is to know of the block, as JSON
//! foot     where `about` begins, a checksum of it alone, magic
//! ```
//!
//! Numbers are in little-endian order. Whoever wants to know whether a block is done reads head, about and foot; whoever takes
//! the rows sees that they are all there and as they were written.

mod read;
mod write;

use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_64;

pub use read::{Rows, read_about};
pub use write::{Made, PartWriter};

const MAGIC: &[u8; 8] = b"pwblock1";
const END: &[u8; 8] = b"pwended1";
/// Magic, digest, number, checksum.
const HEAD: u64 = 8 + 32 + 8 + 8;
/// Rows and length of a piece.
const COUNTS: usize = 8;
/// A checksum.
const SUM: usize = 8;
/// Position, checksum, magic.
const FOOT: u64 = 24;
/// Rows of the piece that has none.
const ABOUT: u32 = u32::MAX;
/// Bytes of rows in a piece, about: what a reader has in memory at once.
const PIECE: usize = 1 << 18;

/// What there is to know of a block that was computed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PartInfo {
    /// Rows that it has.
    pub rows: u64,
    /// Seconds that it took.
    pub seconds: f64,
    /// The machine that computed it.
    pub host: String,
}

/// What there is of a block.
#[derive(Debug, Clone, PartialEq)]
pub enum PartState {
    /// Nothing.
    Missing,
    /// A file that is none of this block, and why.
    Damaged(String),
    /// All rows.
    Done(PartInfo),
}

impl PartState {
    /// Whether nobody has to compute it any more.
    pub fn is_done(&self) -> bool {
        matches!(self, PartState::Done(_))
    }
}

/// Of some bytes behind others of this checksum.
fn checksum(before: u64, bytes: &[u8]) -> u64 {
    XxHash3_64::oneshot_with_seed(before, bytes)
}

fn head(digest: &super::Digest, block: u64) -> Vec<u8> {
    let mut bytes = [&MAGIC[..], digest, &block.to_le_bytes()].concat();
    bytes.extend_from_slice(&checksum(0, &bytes).to_le_bytes());
    bytes
}
