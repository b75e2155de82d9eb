//! Texts with two bits per symbol.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use rayon::prelude::*;

use crate::seq::{Code, SequenceId, SequenceStore};

/// The texts of a store with two bits per symbol. Each text is packed when it is first needed.
#[derive(Debug)]
pub struct PackedTexts {
    store: Arc<SequenceStore>,
    packed: Vec<OnceLock<PackedText>>,
}

impl PackedTexts {
    /// Creates the collection for the texts of a store.
    pub fn new(store: Arc<SequenceStore>) -> PackedTexts {
        let packed = (0..store.len()).map(|_| OnceLock::new()).collect();
        PackedTexts { store, packed }
    }

    /// Packs the long texts among these, each on all threads of the current pool. Meanwhile, no
    /// thread of the pool may call [`PackedTexts::text`], because it could wait for itself.
    pub(in crate::edit) fn pack_long(&self, texts: impl Iterator<Item = SequenceId>) {
        for text in texts.filter(|&text| self.store.length(text) as usize > SYMBOLS_AT_ONCE) {
            self.packed[text as usize].get_or_init(|| PackedText::in_parallel(self.store.codes(text)));
        }
    }

    /// Returns a packed text.
    pub(in crate::edit) fn text(&self, text: SequenceId) -> &PackedText {
        self.packed[text as usize].get_or_init(|| PackedText::new(self.store.codes(text)))
    }
}

/// A text with two bits per symbol.
#[derive(Debug)]
pub(in crate::edit) struct PackedText {
    /// Four symbols per byte, the first in the lowest bits, and eight more bytes. Codes other than
    /// A, C, G and T have arbitrary bits.
    bytes: Vec<u8>,
    /// Ranges of symbols other than A, C, G and T, in increasing order.
    ambiguous: Vec<Range<u32>>,
}

/// Number of symbols that one thread packs at a time. A multiple of four.
const SYMBOLS_AT_ONCE: usize = 1 << 20;

/// The lowest bit of each byte.
const ONES: u64 = u64::from_ne_bytes([1; 8]);

impl PackedText {
    pub(in crate::edit) fn new(codes: &[Code]) -> PackedText {
        let mut bytes = Vec::with_capacity(codes.len() / 4 + 10);
        let mut ambiguous: Vec<Range<u32>> = Vec::new();
        let (eights, rest) = codes.as_chunks::<8>();
        let mut last = [1; 8];
        last[..rest.len()].copy_from_slice(rest);
        for (index, eight) in eights.iter().chain([&last]).enumerate() {
            let word = u64::from_le_bytes(*eight);
            // No code is 0, so the subtraction never borrows from the next byte.
            if word & (word - ONES) != 0 {
                for (offset, _) in eight.iter().enumerate().filter(|(_, code)| !code.is_power_of_two()) {
                    let position = (8 * index + offset) as u32;
                    match ambiguous.last_mut() {
                        Some(run) if run.end == position => run.end += 1,
                        _ => ambiguous.push(position..position + 1),
                    }
                }
            }
            // A, C, G and T are 1, 2, 4 and 8.
            let low = (word >> 1 | word >> 3) & ONES;
            let high = (word >> 2 | word >> 3) & ONES;
            let pairs = low | high << 1;
            let fours = (pairs | pairs >> 6) & 0x000f_000f_000f_000f;
            let eights = (fours | fours >> 12) & 0x0000_00ff_0000_00ff;
            bytes.extend_from_slice(&((eights | eights >> 24) as u16).to_le_bytes());
        }
        bytes.extend_from_slice(&[0; 8]);
        PackedText { bytes, ambiguous }
    }

    /// Packs a text on the threads of the current pool.
    fn in_parallel(codes: &[Code]) -> PackedText {
        let parts: Vec<PackedText> = codes.par_chunks(SYMBOLS_AT_ONCE).map(PackedText::new).collect();
        let mut bytes = Vec::with_capacity(codes.len() / 4 + 10);
        let mut ambiguous: Vec<Range<u32>> = Vec::new();
        for (index, part) in parts.iter().enumerate() {
            bytes.truncate(index * SYMBOLS_AT_ONCE / 4);
            bytes.extend_from_slice(&part.bytes);
            let before = (index * SYMBOLS_AT_ONCE) as u32;
            for run in part.ambiguous.iter().map(|run| before + run.start..before + run.end) {
                match ambiguous.last_mut() {
                    Some(last) if last.end == run.start => last.end = run.end,
                    _ => ambiguous.push(run),
                }
            }
        }
        PackedText { bytes, ambiguous }
    }

    /// Returns at least 29 symbols from a position on, two bits per symbol, the first in the lowest
    /// bits. The position is at most the length of the text. Symbols after the end are arbitrary.
    #[inline(always)]
    pub(in crate::edit) fn read(&self, position: usize) -> u64 {
        let bytes = self.bytes[position / 4..position / 4 + 8].try_into().unwrap_or_default();
        u64::from_le_bytes(bytes) >> (2 * (position % 4))
    }

    /// Returns the ranges of codes other than A, C, G and T that overlap a part of the text.
    pub(in crate::edit) fn ambiguous(&self, part: Range<usize>) -> impl Iterator<Item = Range<usize>> {
        let first = self.ambiguous.partition_point(|run| run.end as usize <= part.start);
        let runs = self.ambiguous[first..].iter().map(|run| run.start as usize..run.end as usize);
        runs.take_while(move |run| run.start < part.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parallel_packing_changes_nothing() {
        let mut rng = fastrand::Rng::with_seed(4);
        for length in [5, SYMBOLS_AT_ONCE, 2 * SYMBOLS_AT_ONCE + 77] {
            let mut codes: Vec<Code> = (0..length).map(|_| 1 << rng.u8(..4)).collect();
            // A run of N across a border.
            let run = length.min(SYMBOLS_AT_ONCE - 3)..length.min(SYMBOLS_AT_ONCE + 5);
            codes[run].fill(15);
            let (packed, expected) = (PackedText::in_parallel(&codes), PackedText::new(&codes));
            assert_eq!((packed.bytes, packed.ambiguous), (expected.bytes, expected.ambiguous), "{length}");
        }
    }

    #[test]
    fn every_position_reads_its_symbols() {
        let mut rng = fastrand::Rng::with_seed(3);
        for length in [0, 1, 7, 8, 9, 31, 200] {
            let codes: Vec<Code> = (0..length).map(|_| if rng.u8(..9) == 0 { 15 } else { 1 << rng.u8(..4) }).collect();
            let packed = PackedText::new(&codes);
            for start in 0..=length {
                let word = packed.read(start);
                for (offset, &code) in codes[start..].iter().take(29).enumerate() {
                    assert!(code == 15 || 1 << (word >> (2 * offset) & 3) == code, "{codes:?} {start}");
                }
                for end in start..=length {
                    let runs: Vec<usize> = packed.ambiguous(start..end).flatten().collect();
                    let inside = (start..end).filter(|&at| codes[at] == 15);
                    assert!(inside.clone().all(|at| runs.contains(&at)), "{codes:?} {start}..{end}");
                    assert!(runs.iter().all(|&at| codes[at] == 15));
                }
            }
        }
    }
}
