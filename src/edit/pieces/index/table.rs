//! The table of the q-grams of pieces, addressed by a hash value.

use std::ops::Range;

use super::super::{MAX_COMPARED, PackedBases, PackedText, PieceShape, base_runs};
use crate::seq::{Code, SequenceId};

/// Multiplier of the hash function (Knuth 1998: 2^64 divided by the golden ratio).
const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;
/// Base-2 logarithm of the number of presence bits for each entry. A lookup finds a bit of another
/// q-gram in at most 1 of 2^`PRESENCE` cases.
const PRESENCE: u32 = 5;

/// The length of the q-grams of a table, and the distance between the q-grams that are read from a
/// text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct GramLookup {
    /// Number of symbols of a q-gram.
    pub gram: usize,
    /// Distance of q-grams in the text.
    pub step: usize,
}

/// A q-gram of a variant of a piece.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct IndexEntry {
    /// Symbols of the variant that include the q-gram, two bits per symbol, the first in the lowest
    /// bits.
    symbols: u64,
    /// The pattern.
    pub query: SequenceId,
    /// Number of symbols of the pattern before these symbols.
    pub before: u32,
    /// Number of these symbols before the q-gram.
    offset: u16,
    /// Number of these symbols.
    compared: u16,
}

/// Pieces of patterns.
#[derive(Debug)]
pub(super) struct PieceTable {
    lookup: GramLookup,
    /// One bit for each value of the highest bits of a hash value: whether there is an entry.
    is_present: Vec<u64>,
    /// Number of bits of a hash value that `is_present` ignores.
    presence_shift: u32,
    /// Index of the first entry of each bucket, and the number of entries.
    starts: Vec<u32>,
    /// Number of bits of a hash value that buckets ignore.
    bucket_shift: u32,
    /// Entries in the order of their buckets.
    entries: Vec<IndexEntry>,
}

impl PieceTable {
    /// Creates the table of some entries.
    pub(super) fn new(lookup: GramLookup, unsorted: &[IndexEntry]) -> PieceTable {
        let bits = (unsorted.len().max(2) as u64).ilog2() + 1;
        let (bucket_shift, presence_shift) = (64 - bits, 64 - bits - PRESENCE);
        let mask = (1u64 << (2 * lookup.gram)) - 1;
        let hash_of = |entry: &IndexEntry| hash(entry.symbols >> (2 * entry.offset) & mask);
        let mut is_present = vec![0u64; 1 << (bits + PRESENCE - 6)];
        let mut starts = vec![0u32; (1 << bits) + 1];
        for entry in unsorted {
            let hash = hash_of(entry);
            let bit = hash >> presence_shift;
            is_present[(bit / 64) as usize] |= 1 << (bit % 64);
            starts[(hash >> bucket_shift) as usize] += 1;
        }
        // Each start becomes the end of its bucket, and decreases to its begin.
        let mut end = 0;
        for start in &mut starts {
            end += *start;
            *start = end;
        }
        let mut entries = vec![IndexEntry::default(); unsorted.len()];
        for entry in unsorted {
            let start = &mut starts[(hash_of(entry) >> bucket_shift) as usize];
            *start -= 1;
            entries[*start as usize] = *entry;
        }
        PieceTable { lookup, is_present, presence_shift, starts, bucket_shift, entries }
    }

    /// Calls `found` with each entry whose symbols occur in a part of a text, and the number of
    /// symbols of the text before them.
    #[inline(always)]
    pub(super) fn look_up(&self, packed: &PackedText, part: &Range<usize>, mut found: impl FnMut(&IndexEntry, usize)) {
        let GramLookup { gram, step } = self.lookup;
        let mask = (1u64 << (2 * gram)) - 1;
        let Some(last) = part.len().checked_sub(gram).map(|before| part.start + before) else { return };
        for position in (part.start..=last).step_by(step) {
            let hash = hash(packed.read(position) & mask);
            let bit = hash >> self.presence_shift;
            if self.is_present[(bit / 64) as usize] >> (bit % 64) & 1 == 0 {
                continue;
            }
            let bucket = (hash >> self.bucket_shift) as usize;
            for entry in &self.entries[self.starts[bucket] as usize..self.starts[bucket + 1] as usize] {
                let start = position.wrapping_sub(entry.offset as usize);
                let compared = entry.compared as usize;
                let is_inside = position >= part.start + entry.offset as usize && start + compared <= part.end;
                if is_inside && packed.read(start) & ((1u64 << (2 * compared)) - 1) == entry.symbols {
                    found(entry, start);
                }
            }
        }
    }
}

/// Appends the entries of the pieces of a pattern.
pub(super) fn add_entries(query: SequenceId, pattern: &[Code], shape: PieceShape, entries: &mut Vec<IndexEntry>) {
    let PieceShape { symbols, edits, gram, step, .. } = shape;
    for start in shape.starts(&base_runs(pattern)) {
        let mut variants = PackedBases::new(&pattern[start..start + symbols]).variants(edits);
        variants.sort_unstable();
        variants.dedup();
        for variant in variants {
            for offset in 0..step {
                // A variant with an edit is compared whole.
                let first = offset.min(variant.length.saturating_sub(MAX_COMPARED));
                let compared = (variant.length - first).min(MAX_COMPARED);
                debug_assert!(offset + gram <= first + compared);
                entries.push(IndexEntry {
                    symbols: variant.range(first, compared) as u64,
                    query,
                    before: (start + first) as u32,
                    offset: (offset - first) as u16,
                    compared: compared as u16,
                });
            }
        }
    }
}

#[inline(always)]
fn hash(gram: u64) -> u64 {
    // The highest bits depend on all bits of the q-gram.
    (gram ^ gram >> 29).wrapping_mul(MULTIPLIER)
}
