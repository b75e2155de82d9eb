//! Where a pattern may lie anywhere in a text, most pairs are above the limit, and the first rows of the pattern tell: a part
//! of the text within the limit of the whole pattern has a part within it of the pattern's head (Ukkonen's cut-off, 1985, made
//! once a pair: invocations that go together through their columns cannot each leave out rows of their own). So heads are
//! computed first, and then the pairs that they kept.

use super::extent::Extent;
use crate::edit::kernels::myers::Coding;
use crate::edit::words;

/// The part of the pairs that heads are thought to keep, until a batch tells.
pub(super) const KEPT: f64 = 0.05;
/// The part of a pattern that its head may be.
const MAX_PART: f64 = 0.7;
/// Letters from which on symbols of 8 bits are taken for those of proteins.
const MANY_LETTERS: u32 = 16;

/// Words of the heads for a batch; `None` if they would be most of the patterns, or keep most pairs.
///
/// The least distance of r random symbols to a part of n others is, but in one of 50 cases, above `0.48 r - 0.65 log2 n` for four
/// letters, and above `0.77 r - 0.65 log2 n` for twenty (found by simulation, r of 32 to 512 and n of 1.4 r to 100 r).
pub(super) fn words_of(extent: &Extent, coding: &Coding) -> Option<u32> {
    let rate = if coding.bits == 8 && coding.stride >= MANY_LETTERS { 0.77 } else { 0.48 };
    let by_chance = 0.65 * f64::from(extent.text_symbols.max(1)).log2();
    let rows = (f64::from(extent.limit) + 1.0 + by_chance) / rate;
    let whole = words(extent.pattern_symbols);
    // Rows of the pattern's first word that it does not have. (A shorter one of the batch may lack others.)
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
    fn heads_are_as_long_as_the_limit_asks_for() {
        let coding = |alphabet: Alphabet, codes: &[u8]| {
            let mut store = SequenceStore::builder(alphabet);
            store.push("all", codes).unwrap();
            Coding::of(&store.build(), &Equality::literal(alphabet))
        };
        let dna = coding(Alphabet::Dna, &[1, 2, 4, 8]);
        let protein = coding(Alphabet::Protein, &(1..=20).collect::<Vec<u8>>());
        let of = |coding: &Coding, pattern_symbols, text_symbols, limit| {
            let least_pattern_symbols = pattern_symbols;
            words_of(
                &Extent { pattern_symbols, least_pattern_symbols, text_symbols, limit, pairs: 1, filled: 1.0 },
                coding,
            )
        };
        assert_eq!(of(&dna, 100, 140, 5), Some(2), "four rows are in the first word, and these are too few");
        assert_eq!(of(&dna, 128, 180, 5), Some(1));
        assert_eq!(of(&dna, 100, 140, 25), None);
        assert_eq!(of(&dna, 1000, 1400, 50), Some(5));
        assert_eq!(of(&dna, 1000, 1_000_000, 50), Some(5));
        assert_eq!(of(&dna, 1000, 1400, 250), Some(18));
        assert_eq!(of(&protein, 1000, 1400, 250), Some(12));
        assert_eq!(of(&dna, 10_000, 14_000, 500), Some(34));
        assert_eq!(of(&dna, 1000, 1400, u32::MAX), None);
        assert_eq!(of(&dna, 20, 1400, 0), None);
    }
}
