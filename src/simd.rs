//! Vectors of the processor: which it has, and what kernels are written with.
//!
//! A kernel is written once, over vectors of lanes (`Lanes` of 8, 16, 32 or 64 bits, `Doubles` and `Eight` of 32 bits
//! with more functions, `Words` of 64 bits as sets of bits), and implements `Kernel`. `Level::run` compiles it for every
//! set of instructions (`Simd`) and runs it with one. [`Level::best`] is found when the program runs.
//!
//! Functions of vectors are one instruction, or few. They may be called only where the processor has the instructions
//! and the code around is compiled for them; so they are unsafe, and inlined always.

mod level;
mod lines;
#[cfg(target_arch = "aarch64")]
pub(crate) mod neon;
pub(crate) mod portable;
mod skew;
#[cfg(target_arch = "x86_64")]
pub(crate) mod x86;

pub use level::Level;
pub(crate) use level::{Kernel, LaneElement, Simd};
pub(crate) use lines::Lines;
pub(crate) use skew::{Skew, SkewBuffers};

use crate::score::difference::{Element, STEPS};
use crate::seq::Code;

/// The most lanes that a vector has.
pub(crate) const MAX_LANES: usize = 64;
/// The most lanes of 32 bits.
pub(crate) const MAX_DOUBLES: usize = 16;
/// The most lanes of 64 bits.
pub(crate) const MAX_WORDS: usize = 8;
/// Bits of a lane of [`Words`].
pub(crate) const BITS: usize = 64;
/// Rows, and bytes of a row, that [`Doubles::transpose`] makes at once.
pub(crate) const BLOCK: usize = 16;

/// Lanes that are added, subtracted and compared side by side. Sums and differences wrap.
///
/// # Safety
/// An implementation's methods may be called only where the processor has its instructions. Pointers are to
/// [`Lanes::COUNT`] elements (codes, bytes), of any alignment.
pub(crate) unsafe trait Lanes: Copy {
    /// A lane.
    type Elem: Element;
    /// How many there are; at most [`MAX_LANES`].
    const COUNT: usize;
    /// All lanes the same.
    unsafe fn splat(value: Self::Elem) -> Self;
    /// From memory.
    unsafe fn load(from: *const Self::Elem) -> Self;
    /// To memory.
    unsafe fn store(self, to: *mut Self::Elem);
    /// Sum.
    unsafe fn add(self, other: Self) -> Self;
    /// Difference.
    unsafe fn sub(self, other: Self) -> Self;
    /// The greater, with signs.
    unsafe fn max(self, other: Self) -> Self;
    /// The greater, without signs.
    unsafe fn max_unsigned(self, other: Self) -> Self;
    /// Whether any lane is greater, with signs.
    #[inline(always)]
    unsafe fn exceeds(self, other: Self) -> bool {
        let mut lanes = [[Self::Elem::default(); MAX_LANES]; 2];
        // SAFETY: the caller's; there is room for the most lanes.
        unsafe {
            self.store(lanes[0].as_mut_ptr());
            other.store(lanes[1].as_mut_ptr());
        }
        let [own, others] = lanes;
        own.iter().zip(&others).fold(false, |any, (own, other)| any | (own > other))
    }
    /// A bit for each lane, lane 0's the lowest: whether they are the same.
    unsafe fn equal(self, other: Self) -> u64;
    /// Every lane from its upper neighbour; the last lane is `last`.
    unsafe fn shift_down(self, last: Self::Elem) -> Self;
    /// Lanes of `other` where `mask` has all bits, of `self` where it has none.
    unsafe fn blend(self, other: Self, mask: Self) -> Self;
    /// All bits in lanes whose bytes share no bit, none in the others.
    unsafe fn disjoint_bytes(a: *const u8, b: *const u8) -> Self;
    /// Entries of a table, by code; every code is less than [`STEPS`].
    unsafe fn lookup(table: &[Self::Elem; STEPS], codes: *const Code) -> Self;
}

/// Lanes of 32 bits, at most [`MAX_DOUBLES`], with what values of tiles need besides.
///
/// # Safety
/// As of [`Lanes`]. The number of lanes divides [`BLOCK`].
pub(crate) unsafe trait Doubles: Lanes<Elem = i32> {
    /// Bytes, with signs.
    unsafe fn widen(from: *const i8) -> Self;
    /// Lanes of `then` where this is greater than `other`, of `or` elsewhere.
    unsafe fn where_greater(self, other: Self, then: Self, or: Self) -> Self;
    /// Byte k of each of the rows becomes row k of `to`: 16 rows of 16 bytes.
    unsafe fn transpose(rows: &[*const i8; BLOCK], to: *mut i8);
}

/// Eight lanes of 32 bits, with what directions of the traceback need besides.
///
/// # Safety
/// As of [`Lanes`]. There are eight lanes.
pub(crate) unsafe trait Eight: Lanes<Elem = i32> {
    /// All bits in lanes that are the same, none in the others.
    unsafe fn same(self, other: Self) -> Self;
    /// `self & other`
    unsafe fn and(self, other: Self) -> Self;
    /// `self | other`
    unsafe fn or(self, other: Self) -> Self;
    /// `self & !mask`
    unsafe fn without(self, mask: Self) -> Self;
    /// Every lane from its lower neighbour; the first lane from the last of `below`.
    unsafe fn shift_up_from(self, below: Self) -> Self;
    /// Every lane from its upper neighbour; the last lane from the first of `above`.
    unsafe fn shift_down_from(self, above: Self) -> Self;
    /// All bits in lanes whose codes share no bit, none in the others.
    unsafe fn disjoint(a: &[Code; 8], b: &[Code; 8]) -> Self;
    /// All bits in lanes whose codes are the same, none in the others.
    unsafe fn same_codes(a: &[Code; 8], b: &[Code; 8]) -> Self;
    /// Numbers from 0 to 127 as bytes.
    unsafe fn to_bytes(self) -> [u8; 8];
}

/// Lanes of [`BITS`] bits, and the functions of three of them that bit-vectors are made of.
///
/// # Safety
/// An implementation's methods may be called only where the processor has its instructions. Pointers are to
/// [`Words::COUNT`] words, of any alignment.
pub(crate) unsafe trait Words: Copy {
    /// How many lanes there are; at most [`MAX_WORDS`].
    const COUNT: usize;
    /// All lanes the same.
    unsafe fn splat(word: u64) -> Self;
    /// From memory.
    unsafe fn load(from: *const u64) -> Self;
    /// To memory.
    unsafe fn store(self, to: *mut u64);
    /// Sums, without their carries.
    unsafe fn add(self, other: Self) -> Self;
    /// `self & other`
    unsafe fn and(self, other: Self) -> Self;
    /// `self | b | c`
    unsafe fn or3(self, b: Self, c: Self) -> Self;
    /// `self ^ b | c`
    unsafe fn xor_or(self, b: Self, c: Self) -> Self;
    /// `!(self ^ b | c)`
    unsafe fn nor_xor(self, b: Self, c: Self) -> Self;
    /// `self & b | c`
    unsafe fn and_or(self, b: Self, c: Self) -> Self;
    /// `self | !(b | c)`
    unsafe fn or_nor(self, b: Self, c: Self) -> Self;
    /// Every word moved up by a bit; its lowest bit is the top bit of `below`.
    unsafe fn shift_in(self, below: Self) -> Self;
    /// The top bit as a number.
    unsafe fn top(self) -> Self;
    /// All bits in lanes that have the bit, of the one-bit word `bit`; none in the others.
    unsafe fn test(self, bit: u64) -> Self;
    /// Every lane from its upper neighbour; the last lane from the first of `above`.
    unsafe fn shift_down(self, above: Self) -> Self;
    /// A bit for each of 64 bytes: whether it has any bit of the mask.
    unsafe fn test_bytes(bytes: *const u8, mask: u8) -> u64;
}

#[cfg(test)]
mod tests;
