//! The differences between a target and the query of one alignment, in the form that `bcftools
//! norm` gives them.
//!
//! A [`Variant`] replaces a range of target symbols by letters. All variants of an alignment
//! together turn the aligned part of the target into the aligned query. Three rules make the list
//! unique for most alignments with the same differences:
//!
//! - An insertion or deletion moves to the left as long as the target's letter before it equals its
//!   last letter.
//! - It does not move across another variant. If it could, or if it touches another insertion or
//!   deletion, both become one variant, because each of them alone would have another position.
//! - A variant has no common letters of target and query at its ends. Equal numbers of letters on
//!   both sides are separate substitutions.
//!
//! Target letters that VCF does not allow become the alphabetically first base that they stand for,
//! as the specification requires. Query letters that stand for several bases become N. A column
//! whose two letters have a base in common is no variant.

use crate::alignment::Op;
use crate::alignment::circular::Sides;
use crate::seq::alphabet::ANY_BASE;
use crate::seq::{Alphabet, Code};

/// A replacement of target symbols.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Variant {
    /// First replaced symbol of the target, from 0.
    pub(super) start: u32,
    /// Symbol after the last replaced one; equal to `start` for insertions.
    pub(super) end: u32,
    /// Letters that replace them; empty for deletions.
    pub(super) letters: Vec<u8>,
    /// Position of the first of these letters on the aligned strand of the query, from 0. After the
    /// origin of a circular query, it is at least the query's length.
    pub(super) query: u32,
}

impl Variant {
    fn is_indel(&self) -> bool {
        self.letters.is_empty() || self.start == self.end
    }

    /// Returns whether one symbol replaces one.
    fn is_substitution(&self) -> bool {
        self.letters.len() == 1 && self.end - self.start == 1
    }
}

/// Returns the letter of a target's symbol: A, C, G, T or N.
pub(super) fn target_letter(code: Code) -> u8 {
    // The lowest bit of a code is the alphabetically first base.
    let base = code & code.wrapping_neg();
    if code == ANY_BASE { b'N' } else { Alphabet::Dna.decode(base) }
}

/// Returns the letter of a query's symbol: A, C, G, T or N.
fn query_letter(code: Code) -> u8 {
    if Alphabet::Dna.is_unambiguous(code) { Alphabet::Dna.decode(code) } else { b'N' }
}

/// Collects the variants of one alignment.
pub(super) struct VariantCollector<'a> {
    target: &'a [Code],
    /// Variants in the order of the target. They do not overlap.
    variants: Vec<Variant>,
}

impl<'a> VariantCollector<'a> {
    /// Returns the variants of an alignment with these runs. It starts with symbol
    /// `from.query` of the query and symbol `from.target` of the target.
    pub(super) fn collect(
        runs: impl Iterator<Item = (u32, Op)>,
        query: &[Code],
        target: &'a [Code],
        from: Sides<u32>,
    ) -> Vec<Variant> {
        let mut collector = VariantCollector { target, variants: Vec::new() };
        let query_code = |position: u32| query[position as usize % query.len()];
        let Sides { query: mut i, target: mut j } = from;
        for (length, op) in runs {
            let (end_i, end_j) = (i + length, j + length);
            match op {
                Op::Match => (i, j) = (end_i, end_j),
                Op::Mismatch => {
                    for (at, start) in (i..end_i).zip(j..end_j) {
                        let code = query_code(at);
                        if code & target[start as usize] == 0 {
                            let letters = vec![query_letter(code)];
                            collector.push(Variant { start, end: start + 1, letters, query: at });
                        }
                    }
                    (i, j) = (end_i, end_j);
                }
                Op::Insertion => {
                    let letters = (i..end_i).map(|position| query_letter(query_code(position))).collect();
                    collector.push(Variant { start: j, end: j, letters, query: i });
                    i = end_i;
                }
                Op::Deletion => {
                    collector.push(Variant { start: j, end: end_j, letters: Vec::new(), query: i });
                    j = end_j;
                }
            }
        }
        collector.variants
    }

    /// Returns the letter of a target's symbol.
    fn letter(&self, position: u32) -> u8 {
        target_letter(self.target[position as usize])
    }

    /// Adds a variant that does not start before the end of the last one.
    fn push(&mut self, mut variant: Variant) {
        loop {
            let limit = self.variants.last().map_or(0, |last| last.end);
            if variant.is_indel() {
                self.move_left(&mut variant, limit);
            }
            let Some(last) = self.variants.pop() else { break };
            if !self.must_join(&last, &variant) {
                self.variants.push(last);
                break;
            }
            let mut letters = last.letters;
            letters.extend((last.end..variant.start).map(|position| self.letter(position)));
            letters.extend(variant.letters);
            variant = Variant { start: last.start, end: variant.end, letters, query: last.query };
            self.trim(&mut variant);
            let replaced = (variant.end - variant.start) as usize;
            match variant.letters.len() {
                0 if replaced == 0 => return,
                length if length == replaced && length > 1 => return self.push_substitutions(&variant),
                _ => {}
            }
        }
        self.variants.push(variant);
    }

    /// Adds a variant with equal numbers of letters on both sides as one variant for each
    /// different letter.
    fn push_substitutions(&mut self, block: &Variant) {
        for (offset, &letter) in (0..).zip(&block.letters) {
            let start = block.start + offset;
            if letter != self.letter(start) {
                self.push(Variant { start, end: start + 1, letters: vec![letter], query: block.query + offset });
            }
        }
    }

    /// Moves an insertion or deletion to the left, at most to `limit`.
    fn move_left(&self, variant: &mut Variant, limit: u32) {
        let (start, length) = (variant.start, variant.letters.len());
        let mut moved = 0;
        while variant.start > limit {
            // Every step moves the last inserted letter to the front.
            let last = match length {
                0 => self.letter(variant.end - 1),
                _ => variant.letters[length - 1 - moved % length],
            };
            if self.letter(variant.start - 1) != last {
                break;
            }
            (variant.start, variant.end) = (variant.start - 1, variant.end - 1);
            moved += 1;
        }
        variant.query = variant.query.saturating_sub(start - variant.start);
        if length > 0 {
            variant.letters.rotate_right(moved % length);
        }
    }

    /// Returns whether a variant and the last one before it must be one variant.
    fn must_join(&self, last: &Variant, variant: &Variant) -> bool {
        // The record of an insertion or deletion at the start of the target includes the symbol
        // after it. Other insertions and deletions include the symbol before them.
        if last.is_indel() && last.start == 0 && variant.start == last.end + u32::from(variant.is_indel()) {
            return true;
        }
        if last.end < variant.start || !variant.is_indel() {
            return false;
        }
        let ending = match variant.letters.last() {
            Some(&letter) => letter,
            None => self.letter(variant.end - 1),
        };
        let can_move = variant.start > 0 && self.letter(variant.start - 1) == ending;
        last.is_indel() || !last.is_substitution() || can_move
    }

    /// Removes letters that both sides have in common at their ends.
    fn trim(&self, variant: &mut Variant) {
        while variant.end > variant.start && variant.letters.last() == Some(&self.letter(variant.end - 1)) {
            variant.letters.pop();
            variant.end -= 1;
        }
        let replaced = variant.start..variant.end;
        let common = replaced.zip(&variant.letters).take_while(|(at, letter)| self.letter(*at) == **letter).count();
        variant.letters.drain(..common);
        variant.start += common as u32;
        variant.query += common as u32;
    }
}

#[cfg(test)]
mod tests;
