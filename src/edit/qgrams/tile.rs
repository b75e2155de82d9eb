//! Which of 512 texts share enough q-grams with a pattern: a bit a text, and sums of bits.
//!
//! The index has a row of bits for every q-gram. Rows of a pattern's windows are summed bit by bit: three words give a
//! word of sums and one of carries (carry-save adders, as in Harley and Seal's count of bits), so that a word of 64 texts takes
//! some operations a window. Sums are kept after every segment; what segments in between share is a difference.

use std::ops::Range;

use super::grams::{Grams, Letters};
use super::needed::{self, SEGMENT, Test};
use crate::edit::EditChunk;
use crate::seq::{Code, SequenceId};
use crate::simd::{InstructionSet, Simd, SimdKernel};

/// Words of a row.
const WORDS: usize = 8;
/// Texts of a tile.
pub(super) const TEXTS: usize = WORDS * 64;

/// A bit of every text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C, align(64))]
pub(super) struct Bits([u64; WORDS]);

impl Bits {
    pub(super) const NONE: Bits = Bits([0; WORDS]);
    pub(super) const ALL: Bits = Bits([u64::MAX; WORDS]);

    fn set(&mut self, text: usize) {
        self.0[text / 64] |= 1 << (text % 64);
    }

    /// Numbers of the texts in the range that have the bit.
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
    fn map(self, other: Bits, of: impl Fn(u64, u64) -> u64) -> Bits {
        Bits(std::array::from_fn(|word| of(self.0[word], other.0[word])))
    }
}

/// Room for one pattern after the other.
#[derive(Debug, Clone, Default)]
pub(super) struct Room {
    rows: Vec<u32>,
    tests: Vec<Test>,
    sums: Vec<Bits>,
}

/// At most [`TEXTS`] texts.
pub(super) struct Tile<'a> {
    grams: Grams<'a>,
    /// A row for each q-gram, and one behind them that is in all texts.
    index: Vec<Bits>,
    /// Texts that may have any q-gram.
    any: Bits,
    /// Their different lengths.
    lengths: Vec<u32>,
}

impl<'a> Tile<'a> {
    /// Of these texts.
    pub(super) fn new(band: &EditChunk, texts: &[SequenceId], letters: &'a Letters) -> Self {
        debug_assert!(texts.len() <= TEXTS);
        let mut lengths: Vec<u32> = texts.iter().map(|&text| band.texts.length(text)).collect();
        lengths.sort_unstable();
        lengths.dedup();
        let grams = Grams::new(letters, lengths.last().map_or(0, |&longest| longest as usize));
        let mut index = vec![Bits::NONE; grams.rows() + 1];
        index[grams.rows()] = Bits::ALL;
        let mut any = Bits::NONE;
        for (number, &text) in texts.iter().enumerate() {
            if !grams.of_text(band.texts.codes(text), |row| index[row as usize].set(number)) {
                any.set(number);
            }
        }
        Tile { grams, index, any, lengths }
    }

    /// Bytes of the tile of texts of at most so many symbols.
    pub(super) fn bytes(letters: &Letters, longest: usize) -> usize {
        Grams::new(letters, longest).rows() * size_of::<Bits>()
    }

    /// The texts that may be within the limit.
    pub(super) fn candidates(
        &self,
        band: &EditChunk,
        pattern: &[Code],
        level: InstructionSet,
        room: &mut Room,
    ) -> Bits {
        let Room { rows, tests, sums } = room;
        let q = self.grams.q;
        if !needed::tests(&band.scheme, pattern.len() as u32, q, &self.lengths, tests) {
            return Bits::ALL;
        }
        self.grams.of_pattern(pattern, rows);
        let passed = level.run(Count { index: &self.index, rows, tests, sums });
        passed.map(self.any, |passed, any| passed | any)
    }
}

/// Sums rows and makes the tests.
struct Count<'a> {
    index: &'a [Bits],
    rows: &'a [u32],
    tests: &'a [Test],
    sums: &'a mut Vec<Bits>,
}

impl SimdKernel for Count<'_> {
    type Output = Bits;

    #[inline(always)]
    unsafe fn run<S: Simd>(self) -> Bits {
        let Count { index, rows, tests, sums } = self;
        // The adders below give four digits at least.
        let digits = (usize::BITS - rows.len().leading_zeros()).max(4) as usize;
        let segments = rows.len().div_ceil(SEGMENT);
        sums.clear();
        sums.resize((segments + 1) * digits, Bits::NONE);
        sum(index, rows, sums, digits);
        let after = |segment: usize| &sums[segment * digits..][..digits];
        let mut passed = Bits::NONE;
        for test in tests {
            let is_enough = match test.from {
                0 => at_least(after(test.until), test.least),
                from => difference_at_least(after(test.until), after(from), test.least),
            };
            passed = passed.map(is_enough, |passed, is_enough| passed | is_enough);
        }
        passed
    }
}

/// Sums of each text after every segment, one binary digit behind the other.
#[inline(always)]
fn sum(index: &[Bits], rows: &[u32], sums: &mut [Bits], digits: usize) {
    for (segment, rows) in rows.chunks(SEGMENT).enumerate() {
        let (before, own) = sums[segment * digits..][..2 * digits].split_at_mut(digits);
        own.copy_from_slice(before);
        for eight in rows.chunks(8) {
            let mut some = [Bits::NONE; 8];
            some.iter_mut().zip(eight).for_each(|(to, &row)| *to = index[row as usize]);
            let (one_a, two_a) = add(some[0], some[1], some[2]);
            let (one_b, two_b) = add(some[3], some[4], some[5]);
            let (one_c, two_c) = add(one_a, some[6], some[7]);
            let (ones, two_d) = add(own[0], one_b, one_c);
            let (two_e, four_a) = add(two_a, two_b, two_c);
            let (twos, four_b) = add(own[1], two_d, two_e);
            let (fours, eights) = add(own[2], four_a, four_b);
            (own[0], own[1], own[2]) = (ones, twos, fours);
            let mut carry = eights;
            for digit in &mut own[3..] {
                let next = digit.map(carry, |digit, carry| digit & carry);
                *digit = digit.map(carry, |digit, carry| digit ^ carry);
                carry = next;
            }
        }
    }
}

/// Sums and carries of three bits.
#[inline(always)]
fn add(a: Bits, b: Bits, c: Bits) -> (Bits, Bits) {
    let either = a.map(b, |a, b| a ^ b);
    let carry = a.map(b, |a, b| a & b).map(either.map(c, |either, c| either & c), |both, other| both | other);
    (either.map(c, |either, c| either ^ c), carry)
}

/// Where a number is at least so great.
#[inline(always)]
fn at_least(number: &[Bits], least: usize) -> Bits {
    // What is borrowed where it is taken off.
    let mut borrowed = Bits::NONE;
    for (digit, &own) in number.iter().enumerate() {
        borrowed = match least >> digit & 1 {
            0 => borrowed.map(own, |borrowed, own| borrowed & !own),
            _ => borrowed.map(own, |borrowed, own| borrowed | !own),
        };
    }
    if least >> number.len() != 0 { Bits::NONE } else { borrowed.map(borrowed, |borrowed, _| !borrowed) }
}

/// Where a number is greater than another by at least so much; it is not less.
#[inline(always)]
fn difference_at_least(number: &[Bits], less: &[Bits], least: usize) -> Bits {
    let (mut borrowed, mut short) = (Bits::NONE, Bits::NONE);
    for (digit, (&own, &other)) in number.iter().zip(less).enumerate() {
        let unlike = own.map(other, |own, other| own ^ other);
        let difference = unlike.map(borrowed, |unlike, borrowed| unlike ^ borrowed);
        let kept = borrowed.map(unlike, |borrowed, unlike| borrowed & !unlike);
        borrowed = other.map(own, |other, own| other & !own).map(kept, |new, kept| new | kept);
        short = match least >> digit & 1 {
            0 => short.map(difference, |short, difference| short & !difference),
            _ => short.map(difference, |short, difference| short | !difference),
        };
    }
    if least >> number.len() != 0 { Bits::NONE } else { short.map(short, |short, _| !short) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_bits_are_compared() {
        let seed = 0x7153;
        println!("seed {seed}");
        let mut random = fastrand::Rng::with_seed(seed);
        for level in InstructionSet::available() {
            for windows in [1usize, 7, 32, 33, 100, 545] {
                let mut row = || Bits(std::array::from_fn(|_| random.u64(..) | random.u64(..)));
                let index: Vec<Bits> = (0..40).map(|_| row()).collect();
                let rows: Vec<u32> = (0..windows).map(|_| random.u32(..40)).collect();
                let segments = windows.div_ceil(SEGMENT);
                let (from, until) = (random.usize(..segments), segments);
                let own = &rows[from * SEGMENT..];
                for least in [1, own.len() / 2 + 1, own.len() * 3 / 4 + 1, own.len()] {
                    let tests = [Test { from, until, least }];
                    let count = Count { index: &index, rows: &rows, tests: &tests, sums: &mut Vec::new() };
                    let passed = level.run(count);
                    let shared = |text: usize| {
                        own.iter().filter(|&&row| index[row as usize].0[text / 64] >> (text % 64) & 1 == 1).count()
                    };
                    let expected: Vec<usize> = (0..TEXTS).filter(|&text| shared(text) >= least).collect();
                    assert_eq!(passed.texts(0..TEXTS).collect::<Vec<_>>(), expected, "{level:?} {windows} {least}");
                }
            }
        }
    }

    #[test]
    fn texts_of_a_range() {
        let mut bits = Bits::NONE;
        [0, 5, 63, 64, 200, 511].into_iter().for_each(|text| bits.set(text));
        let texts = |range| bits.texts(range).collect::<Vec<_>>();
        assert_eq!(texts(0..512), [0, 5, 63, 64, 200, 511]);
        assert_eq!((texts(5..64), texts(64..511), texts(6..6)), (vec![5, 63], vec![64, 200], vec![]));
    }
}
