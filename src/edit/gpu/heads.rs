//! Prunes pairs by the heads of their patterns. A head is the first rows of a pattern. This is
//! possible in modes that allow a pattern to lie anywhere in a text.
//!
//! Most of these pairs exceed the limit. If a part of the text is within the limit of the whole
//! pattern, then some part is within the limit of the pattern's head. The heads of all pairs are
//! therefore computed first, and then only the pairs that the heads keep. This is the cut-off of
//! Ukkonen (1985), applied once per pair. Invocations that sweep over their columns together cannot
//! prune rows individually.

use super::extent::EditExtent;
use crate::edit::kernels::myers::Coding;
use crate::edit::pattern_words;

/// Expected fraction of pairs that heads keep, until a batch has been measured.
pub(super) const EXPECTED_KEPT_FRACTION: f64 = 0.05;
/// Maximum fraction of a pattern in its head.
const MAX_PART: f64 = 0.7;
/// Minimum number of codes of 8-bit symbols that are assumed to be amino acids.
const MANY_LETTERS: u32 = 16;

/// Returns the number of u32 words of the heads for a batch. Returns `None` if they would be most
/// of the patterns, or would keep most pairs.
///
/// In 49 of 50 cases, the least distance of r random symbols to a part of n others is above
/// `0.48 r - 0.65 log2 n` for four letters, and above `0.77 r - 0.65 log2 n` for twenty letters.
/// The numbers were found by simulation, with r from 32 to 512 and n from 1.4 r to 100 r.
pub(super) fn head_words(extent: &EditExtent, coding: &Coding) -> Option<u32> {
    let rate = if coding.bits == 8 && coding.stride >= MANY_LETTERS { 0.77 } else { 0.48 };
    let by_chance = 0.65 * f64::from(extent.text_symbols.max(1)).log2();
    let rows = (f64::from(extent.limit) + 1.0 + by_chance) / rate;
    let whole = pattern_words(extent.pattern_symbols);
    // Number of unused rows in the first word of the pattern. Shorter patterns of the batch may
    // have more.
    let above = extent.pattern_symbols.next_multiple_of(32) - extent.pattern_symbols;
    let head = ((rows + f64::from(above)) / 32.0).ceil();
    (head <= MAX_PART * f64::from(whole)).then_some(head as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::Equality;
    use crate::seq::{Alphabet, SequenceStore};

    #[test]
    fn head_length_follows_the_limit() {
        let coding = |alphabet: Alphabet, codes: &[u8]| {
            let mut store = SequenceStore::builder(alphabet);
            store.push("all", codes).unwrap();
            Coding::for_texts(&store.build(), &Equality::literal(alphabet))
        };
        let dna = coding(Alphabet::Dna, &[1, 2, 4, 8]);
        let protein = coding(Alphabet::Protein, &(1..=20).collect::<Vec<u8>>());
        let words = |coding: &Coding, pattern_symbols, text_symbols, limit| {
            let least_pattern_symbols = pattern_symbols;
            head_words(
                &EditExtent { pattern_symbols, least_pattern_symbols, text_symbols, limit, pairs: 1, filled: 1.0 },
                coding,
            )
        };
        assert_eq!(words(&dna, 100, 140, 5), Some(2), "four rows are in the first word, and these are too few");
        assert_eq!(words(&dna, 128, 180, 5), Some(1));
        assert_eq!(words(&dna, 100, 140, 25), None);
        assert_eq!(words(&dna, 1000, 1400, 50), Some(5));
        assert_eq!(words(&dna, 1000, 1_000_000, 50), Some(5));
        assert_eq!(words(&dna, 1000, 1400, 250), Some(18));
        assert_eq!(words(&protein, 1000, 1400, 250), Some(12));
        assert_eq!(words(&dna, 10_000, 14_000, 500), Some(34));
        assert_eq!(words(&dna, 1000, 1400, u32::MAX), None);
        assert_eq!(words(&dna, 20, 1400, 0), None);
    }
}
