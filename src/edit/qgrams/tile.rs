//! Counts of shared q-grams for 512 texts at once: one bit per text, and bit-sliced sums.
//!
//! The index has one row of bits per q-gram. The rows of a pattern's windows are summed bitwise.
//! Three u64 values give a u64 of sums and a u64 of carries (carry-save adders, as in the
//! population count of Harley and Seal). A few operations per window therefore count for 64 texts.
//! Sums are stored after every segment. The count for a range of segments is a difference of two
//! sums.

use std::ops::Range;

use super::grams::{GramLetters, Grams};
use super::needed::{self, SEGMENT, SegmentTest};
use crate::edit::EditChunk;
use crate::seq::{Code, SequenceId};
use crate::simd::{InstructionSet, Simd, SimdKernel};

/// Number of u64 values in a row.
const WORDS: usize = 8;
/// Number of texts in a tile.
pub(super) const TEXTS: usize = WORDS * 64;

/// One bit for each text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C, align(64))]
pub(super) struct TextBits([u64; WORDS]);

impl TextBits {
    pub(super) const NONE: TextBits = TextBits([0; WORDS]);
    pub(super) const ALL: TextBits = TextBits([u64::MAX; WORDS]);

    fn set(&mut self, text: usize) {
        self.0[text / 64] |= 1 << (text % 64);
    }

    /// Returns the indices of the texts in the range whose bit is set.
    pub(super) fn texts(self, range: Range<usize>) -> impl Iterator<Item = usize> {
        (0..WORDS).flat_map(move |word| {
            let below = |end: usize| match end.saturating_sub(word * 64) {
                bits @ 0..64 => (1u64 << bits) - 1,
                _ => u64::MAX,
            };
            let mut left = self.0[word] & below(range.end) & !below(range.start);
            std::iter::from_fn(move || {
                let bit = (left != 0).then(|| left.trailing_zeros() as usize);
                left &= left.wrapping_sub(1);
                bit.map(|bit| word * 64 + bit)
            })
        })
    }

    #[inline(always)]
    fn map(self, other: TextBits, combine: impl Fn(u64, u64) -> u64) -> TextBits {
        TextBits(std::array::from_fn(|word| combine(self.0[word], other.0[word])))
    }
}

/// Scratch memory, reused for all patterns.
#[derive(Debug, Clone, Default)]
pub(super) struct TileScratch {
    rows: Vec<u32>,
    tests: Vec<SegmentTest>,
    sums: Vec<TextBits>,
}

/// An index of at most [`TEXTS`] texts.
pub(super) struct TextTile<'a> {
    grams: Grams<'a>,
    /// One row per q-gram, and a last row with the bits of all texts.
    index: Vec<TextBits>,
    /// Texts that may contain any q-gram, because they have a window with too many readings.
    any: TextBits,
    /// Distinct lengths of the texts.
    lengths: Vec<u32>,
}

impl<'a> TextTile<'a> {
    /// Indexes these texts.
    pub(super) fn new(chunk: &EditChunk, texts: &[SequenceId], letters: &'a GramLetters) -> Self {
        debug_assert!(texts.len() <= TEXTS);
        let mut lengths: Vec<u32> = texts.iter().map(|&text| chunk.texts.length(text)).collect();
        lengths.sort_unstable();
        lengths.dedup();
        let grams = Grams::new(letters, lengths.last().map_or(0, |&longest| longest as usize));
        let mut index = vec![TextBits::NONE; grams.rows() + 1];
        index[grams.rows()] = TextBits::ALL;
        let mut any = TextBits::NONE;
        for (number, &text) in texts.iter().enumerate() {
            if !grams.of_text(chunk.texts.codes(text), |row| index[row as usize].set(number)) {
                any.set(number);
            }
        }
        TextTile { grams, index, any, lengths }
    }

    /// Returns the bytes of a tile for texts of at most `longest` symbols.
    pub(super) fn bytes(letters: &GramLetters, longest: usize) -> usize {
        Grams::new(letters, longest).rows() * size_of::<TextBits>()
    }

    /// Returns the texts that may be within the limit.
    pub(super) fn candidates(
        &self,
        chunk: &EditChunk,
        pattern: &[Code],
        instructions: InstructionSet,
        scratch: &mut TileScratch,
    ) -> TextBits {
        let TileScratch { rows, tests, sums } = scratch;
        let q = self.grams.q;
        if !needed::tests(&chunk.scheme, pattern.len() as u32, q, &self.lengths, tests) {
            return TextBits::ALL;
        }
        self.grams.of_pattern(pattern, rows);
        let passed = instructions.run(GramCount { index: &self.index, rows, tests, sums });
        passed.map(self.any, |passed, any| passed | any)
    }
}

/// Sums rows and evaluates the tests.
struct GramCount<'a> {
    index: &'a [TextBits],
    rows: &'a [u32],
    tests: &'a [SegmentTest],
    sums: &'a mut Vec<TextBits>,
}

impl SimdKernel for GramCount<'_> {
    type Output = TextBits;

    #[inline(always)]
    unsafe fn run<S: Simd>(self) -> TextBits {
        let GramCount { index, rows, tests, sums } = self;
        // The adders below require at least four binary digits.
        let digits = (usize::BITS - rows.len().leading_zeros()).max(4) as usize;
        let segments = rows.len().div_ceil(SEGMENT);
        sums.clear();
        sums.resize((segments + 1) * digits, TextBits::NONE);
        sum(index, rows, sums, digits);
        let after = |segment: usize| &sums[segment * digits..][..digits];
        let mut passed = TextBits::NONE;
        for test in tests {
            let is_enough = match test.from {
                0 => at_least(after(test.until), test.least),
                from => is_difference_at_least(after(test.until), after(from), test.least),
            };
            passed = passed.map(is_enough, |passed, is_enough| passed | is_enough);
        }
        passed
    }
}

/// Computes the sum of each text after every segment, as consecutive binary digits.
#[inline(always)]
fn sum(index: &[TextBits], rows: &[u32], sums: &mut [TextBits], digits: usize) {
    for (segment, rows) in rows.chunks(SEGMENT).enumerate() {
        let (before, current) = sums[segment * digits..][..2 * digits].split_at_mut(digits);
        current.copy_from_slice(before);
        for eight in rows.chunks(8) {
            let mut some = [TextBits::NONE; 8];
            some.iter_mut().zip(eight).for_each(|(to, &row)| *to = index[row as usize]);
            let (one_a, two_a) = add(some[0], some[1], some[2]);
            let (one_b, two_b) = add(some[3], some[4], some[5]);
            let (one_c, two_c) = add(one_a, some[6], some[7]);
            let (ones, two_d) = add(current[0], one_b, one_c);
            let (two_e, four_a) = add(two_a, two_b, two_c);
            let (twos, four_b) = add(current[1], two_d, two_e);
            let (fours, eights) = add(current[2], four_a, four_b);
            (current[0], current[1], current[2]) = (ones, twos, fours);
            let mut carry = eights;
            for digit in &mut current[3..] {
                let next = digit.map(carry, |digit, carry| digit & carry);
                *digit = digit.map(carry, |digit, carry| digit ^ carry);
                carry = next;
            }
        }
    }
}

/// Returns the sums and the carries of three bits.
#[inline(always)]
fn add(a: TextBits, b: TextBits, c: TextBits) -> (TextBits, TextBits) {
    let either = a.map(b, |a, b| a ^ b);
    let carry = a.map(b, |a, b| a & b).map(either.map(c, |either, c| either & c), |both, other| both | other);
    (either.map(c, |either, c| either ^ c), carry)
}

/// Returns the texts whose `number` is at least `least`.
#[inline(always)]
fn at_least(number: &[TextBits], least: usize) -> TextBits {
    // Borrows of the subtraction of `least`.
    let mut borrowed = TextBits::NONE;
    for (digit, &bit) in number.iter().enumerate() {
        borrowed = match least >> digit & 1 {
            0 => borrowed.map(bit, |borrowed, bit| borrowed & !bit),
            _ => borrowed.map(bit, |borrowed, bit| borrowed | !bit),
        };
    }
    if least >> number.len() != 0 { TextBits::NONE } else { borrowed.map(borrowed, |borrowed, _| !borrowed) }
}

/// Returns the texts whose `number - less` is at least `least`. `less` must not exceed `number`.
#[inline(always)]
fn is_difference_at_least(number: &[TextBits], less: &[TextBits], least: usize) -> TextBits {
    let (mut borrowed, mut short) = (TextBits::NONE, TextBits::NONE);
    for (digit, (&bit, &other)) in number.iter().zip(less).enumerate() {
        let unlike = bit.map(other, |bit, other| bit ^ other);
        let difference = unlike.map(borrowed, |unlike, borrowed| unlike ^ borrowed);
        let kept = borrowed.map(unlike, |borrowed, unlike| borrowed & !unlike);
        borrowed = other.map(bit, |other, bit| other & !bit).map(kept, |new, kept| new | kept);
        short = match least >> digit & 1 {
            0 => short.map(difference, |short, difference| short & !difference),
            _ => short.map(difference, |short, difference| short | !difference),
        };
    }
    if least >> number.len() != 0 { TextBits::NONE } else { short.map(short, |short, _| !short) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_grams_are_counted() {
        let seed = 0x7153;
        println!("seed {seed}");
        let mut random = fastrand::Rng::with_seed(seed);
        for instructions in InstructionSet::available() {
            for windows in [1usize, 7, 32, 33, 100, 545] {
                let mut row = || TextBits(std::array::from_fn(|_| random.u64(..) | random.u64(..)));
                let index: Vec<TextBits> = (0..40).map(|_| row()).collect();
                let rows: Vec<u32> = (0..windows).map(|_| random.u32(..40)).collect();
                let segments = windows.div_ceil(SEGMENT);
                let (from, until) = (random.usize(..segments), segments);
                let tested_rows = &rows[from * SEGMENT..];
                for least in [1, tested_rows.len() / 2 + 1, tested_rows.len() * 3 / 4 + 1, tested_rows.len()] {
                    let tests = [SegmentTest { from, until, least }];
                    let count = GramCount { index: &index, rows: &rows, tests: &tests, sums: &mut Vec::new() };
                    let passed = instructions.run(count);
                    let shared = |text: usize| {
                        tested_rows
                            .iter()
                            .filter(|&&row| index[row as usize].0[text / 64] >> (text % 64) & 1 == 1)
                            .count()
                    };
                    let expected: Vec<usize> = (0..TEXTS).filter(|&text| shared(text) >= least).collect();
                    assert_eq!(
                        passed.texts(0..TEXTS).collect::<Vec<_>>(),
                        expected,
                        "{instructions:?} {windows} {least}"
                    );
                }
            }
        }
    }

    #[test]
    fn set_bits_of_a_range_are_listed() {
        let mut bits = TextBits::NONE;
        [0, 5, 63, 64, 200, 511].into_iter().for_each(|text| bits.set(text));
        let texts = |range| bits.texts(range).collect::<Vec<_>>();
        assert_eq!(texts(0..512), [0, 5, 63, 64, 200, 511]);
        assert_eq!((texts(5..64), texts(64..511), texts(6..6)), (vec![5, 63], vec![64, 200], vec![]));
    }
}
