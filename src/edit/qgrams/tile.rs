//! Counts of shared q-grams for 512 texts at once: one bit per text, and bit-sliced sums.
//!
//! The index has one row of bits per q-gram. The rows of a pattern's windows are summed bitwise.
//! Three u64 values give a u64 of sums and a u64 of carries (carry-save adders, as in the
//! population count of Harley and Seal). A few operations per window therefore count for 64 texts.
//! Sums are stored after every segment. The count for a range of segments is a difference of two
//! sums.
//!
//! Related sequences often share a conserved region at the same place. It looks like a short overlap
//! of the start of one sequence with the end of the other. In overlap mode, a tile therefore has an
//! index of the starts and one of the ends of its texts. They are used only if a short overlap is
//! possible by the index of the whole texts.

use std::ops::Range;

use super::grams::{GramLetters, Grams};
use super::needed::{self, SEGMENT, SegmentTest, TextPart};
use crate::edit::EditChunk;
use crate::score::EditMode;
use crate::seq::{Code, SequenceId};
use crate::simd::{InstructionSet, Simd, SimdKernel, array_of};

/// Number of u64 values in a row.
const WORDS: usize = 8;
/// Length of the longest text of a tile per symbol of the starts and ends of texts.
const TEXT_PER_PART: usize = 2;
/// Length of the longest text of a tile per symbol of the shortest text that is tested.
const LONGEST_PER_TESTED: u32 = 3;
/// The parts of texts that have their own index.
const PARTS: [TextPart; 2] = [TextPart::Start, TextPart::End];
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
    fn union(self, other: TextBits) -> TextBits {
        self.map(other, |one, other| one | other)
    }

    #[inline(always)]
    fn map(self, other: TextBits, combine: impl Fn(u64, u64) -> u64) -> TextBits {
        TextBits(array_of(|word| combine(self.0[word], other.0[word])))
    }
}

/// Scratch memory, reused for all patterns.
#[derive(Debug, Clone, Default)]
pub(super) struct TileScratch {
    rows: Vec<u32>,
    tests: Vec<SegmentTest>,
    sums: Vec<TextBits>,
}

/// Indices of at most [`TEXTS`] texts.
pub(super) struct TextTile<'a> {
    grams: Grams<'a>,
    whole: Index,
    /// Indices of [`PARTS`], in overlap mode.
    parts: Option<[Index; PARTS.len()]>,
    /// Number of symbols of a start or an end.
    part_symbols: usize,
    /// Texts that always pass. Some may contain any q-gram, because they have a window with too many
    /// readings. Others are much shorter than the longest text: a short overlap with such a text would
    /// weaken the tests of all texts.
    untested: TextBits,
    /// Distinct lengths of the tested texts.
    lengths: Vec<u32>,
}

/// One row per q-gram, and a last row with the bits of all texts.
struct Index(Vec<TextBits>);

impl Index {
    /// Indexes texts. Returns the texts that may contain any q-gram, too.
    fn new<'a>(grams: Grams<'_>, texts: impl Iterator<Item = &'a [Code]>) -> (Self, TextBits) {
        let mut rows = vec![TextBits::NONE; grams.rows() + 1];
        rows[grams.rows()] = TextBits::ALL;
        let mut any = TextBits::NONE;
        for (number, text) in texts.enumerate() {
            if !grams.of_text(text, |row| rows[row as usize].set(number)) {
                any.set(number);
            }
        }
        (Index(rows), any)
    }
}

impl<'a> TextTile<'a> {
    /// Indexes these texts.
    pub(super) fn new(chunk: &EditChunk, texts: &[SequenceId], letters: &'a GramLetters) -> Self {
        debug_assert!(texts.len() <= TEXTS);
        let mut lengths: Vec<u32> = texts.iter().map(|&text| chunk.texts.length(text)).collect();
        let longest = lengths.iter().copied().max().unwrap_or(0);
        let is_short = |length: u32| length < longest / LONGEST_PER_TESTED;
        let mut untested = TextBits::NONE;
        (0..).zip(&lengths).filter(|&(_, &length)| is_short(length)).for_each(|(number, _)| untested.set(number));
        lengths.retain(|&length| !is_short(length));
        lengths.sort_unstable();
        lengths.dedup();
        let longest = longest as usize;
        let grams = Grams::new(letters, longest);
        let codes = texts.iter().map(|&text| chunk.texts.codes(text));
        let (whole, any) = Index::new(grams, codes.clone());
        let part_symbols = longest / TEXT_PER_PART;
        let parts = matches!(chunk.scheme.mode, EditMode::Overlap(_)).then(|| {
            let starts = codes.clone().map(|text| &text[..text.len().min(part_symbols)]);
            let ends = codes.map(|text| &text[text.len().saturating_sub(part_symbols)..]);
            [Index::new(grams, starts).0, Index::new(grams, ends).0]
        });
        TextTile { grams, whole, parts, part_symbols, untested: untested.union(any), lengths }
    }

    /// Returns the maximum number of bytes of a tile for texts of at most `longest` symbols.
    pub(super) fn bytes(letters: &GramLetters, longest: usize) -> usize {
        (1 + PARTS.len()) * Grams::new(letters, longest).rows() * size_of::<TextBits>()
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
        let (q, m) = (self.grams.q, pattern.len() as u32);
        if !needed::tests(&chunk.scheme, m, q, &self.lengths, self.part_symbols, tests) {
            return TextBits::ALL;
        }
        self.grams.of_pattern(pattern, rows);
        let parts = self.parts.as_ref().map(|parts| parts.each_ref().map(|index| &index.0[..]));
        let passed = instructions.run(GramCount { whole: &self.whole.0, parts, rows, tests, sums });
        passed.union(self.untested)
    }
}

/// Sums rows and evaluates the tests.
struct GramCount<'a> {
    whole: &'a [TextBits],
    /// Indices of [`PARTS`].
    parts: Option<[&'a [TextBits]; PARTS.len()]>,
    rows: &'a [u32],
    tests: &'a [SegmentTest],
    sums: &'a mut Vec<TextBits>,
}

impl SimdKernel for GramCount<'_> {
    type Output = TextBits;

    #[inline(always)]
    unsafe fn run<S: Simd>(self) -> TextBits {
        let GramCount { whole, parts, rows, tests, sums } = self;
        let sums = SegmentSums::new(whole, rows, 0..rows.len().div_ceil(SEGMENT), sums);
        let mut passed = TextBits::NONE;
        // Texts that pass a test for starts or ends if it is evaluated for the whole text.
        let mut possible = [TextBits::NONE; PARTS.len()];
        for test in tests {
            let passing = PARTS.iter().position(|&part| part == test.part).map_or(&mut passed, |at| &mut possible[at]);
            *passing = passing.union(sums.passing(test));
        }
        let mut buffer = sums.sums;
        for (at, index) in parts.into_iter().flatten().enumerate() {
            if possible[at].map(passed, |possible, passed| possible & !passed) == TextBits::NONE {
                continue;
            }
            let tests = || tests.iter().filter(|test| test.part == PARTS[at]);
            let from = tests().map(|test| test.from).min().unwrap_or(0);
            let until = tests().map(|test| test.until).max().unwrap_or(0);
            let sums = SegmentSums::new(index, rows, from..until, buffer);
            passed = tests().fold(passed, |passed, test| passed.union(sums.passing(test)));
            buffer = sums.sums;
        }
        passed
    }
}

/// The sums of each text after every segment of a range, as consecutive binary digits.
struct SegmentSums<'a> {
    /// The digits of 0 before the first segment, then the digits of each sum.
    sums: &'a mut Vec<TextBits>,
    /// Number of binary digits.
    digits: usize,
    /// First segment.
    from: usize,
}

impl<'a> SegmentSums<'a> {
    /// Sums the rows of a range of segments.
    #[inline(always)]
    fn new(index: &[TextBits], rows: &[u32], segments: Range<usize>, sums: &'a mut Vec<TextBits>) -> Self {
        // The adders below require at least four binary digits.
        let digits = (usize::BITS - rows.len().leading_zeros()).max(4) as usize;
        sums.clear();
        sums.resize((segments.len() + 1) * digits, TextBits::NONE);
        let rows = &rows[(segments.start * SEGMENT).min(rows.len())..(segments.end * SEGMENT).min(rows.len())];
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
        SegmentSums { sums, digits, from: segments.start }
    }

    /// Returns the texts that pass a test of segments in the range.
    #[inline(always)]
    fn passing(&self, test: &SegmentTest) -> TextBits {
        let after = |segment: usize| &self.sums[(segment - self.from) * self.digits..][..self.digits];
        match test.from - self.from {
            0 => at_least(after(test.until), test.least),
            _ => is_difference_at_least(after(test.until), after(test.from), test.least),
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
                let mut row = || TextBits(array_of(|_| random.u64(..) | random.u64(..)));
                let whole: Vec<TextBits> = (0..40).map(|_| row()).collect();
                let mut part = || whole.iter().map(|&bits| bits.map(row(), |bit, other| bit & other)).collect();
                let parts: [Vec<TextBits>; PARTS.len()] = [part(), part()];
                let rows: Vec<u32> = (0..windows).map(|_| random.u32(..40)).collect();
                let segments = windows.div_ceil(SEGMENT);
                let (from, until) = (random.usize(..segments), random.usize(1..=segments));
                for share in [0.0, 0.5, 0.6, 0.7, 0.8, 1.0] {
                    let test = |from: usize, until: usize, part| {
                        let windows = (until * SEGMENT).min(windows) - from * SEGMENT;
                        SegmentTest { from, until, least: (windows as f64 * share) as usize + 1, part }
                    };
                    let tests = [
                        test(from, segments, TextPart::Whole),
                        test(0, until, TextPart::End),
                        test(from, segments, TextPart::Start),
                    ];
                    let count = GramCount {
                        whole: &whole,
                        parts: Some(parts.each_ref().map(|index| &index[..])),
                        rows: &rows,
                        tests: &tests,
                        sums: &mut Vec::new(),
                    };
                    let passed = instructions.run(count);
                    let passes = |text: usize, test: &SegmentTest| {
                        let index = PARTS.iter().position(|&part| part == test.part).map_or(&whole, |at| &parts[at]);
                        let tested_rows = &rows[test.from * SEGMENT..(test.until * SEGMENT).min(windows)];
                        let is_shared = |row: u32| index[row as usize].0[text / 64] >> (text % 64) & 1 == 1;
                        tested_rows.iter().filter(|&&row| is_shared(row)).count() >= test.least
                    };
                    let expected: Vec<usize> =
                        (0..TEXTS).filter(|&text| tests.iter().any(|test| passes(text, test))).collect();
                    let passed: Vec<usize> = passed.texts(0..TEXTS).collect();
                    assert_eq!(passed, expected, "{instructions:?} {windows} {share}");
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
