//! Vectors of the processor: which it has, and what kernels are written with.
//!
//! A kernel is written once, over vectors of lanes (`Lanes` of 8, 16, 32 or 64 bits, `Doubles` and `Eight` of 32 bits
//! with more functions, `Words` of 64 bits as sets of bits), and implements `Kernel`. `InstructionSet::run` compiles it for every
//! set of instructions (`Simd`) and runs it with one. [`InstructionSet::best`] is found when the program runs.
//!
//! Functions of vectors are one instruction, or few. They may be called only where the processor has the instructions
//! and the code around is compiled for them; so they are unsafe, and inlined always.

mod instruction_set;
mod instructions;
mod lines;
#[cfg(target_arch = "aarch64")]
pub(crate) mod neon;
pub(crate) mod portable;
mod skew;
#[cfg(target_arch = "x86_64")]
pub(crate) mod x86;

pub use instruction_set::InstructionSet;
pub(crate) use instruction_set::{Kernel, LaneElement};
pub(crate) use instructions::{Instructions, Simd};
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
/// An implementation has at most [`MAX_LANES`] lanes. Its methods access no more than
/// [`Lanes::COUNT`] elements (codes, bytes) through a pointer, which may have any alignment.
pub(crate) unsafe trait Lanes: Copy {
    /// A lane.
    type Elem: Element;
    /// Number of lanes, at most [`MAX_LANES`].
    const COUNT: usize;
    /// Sets all lanes to `value`.
    ///
    /// # Safety
    /// The processor has the instructions of `Self`.
    unsafe fn splat(value: Self::Elem) -> Self;
    /// Loads the lanes from memory.
    ///
    /// # Safety
    /// The processor has the instructions of `Self`. `from` points to [`Lanes::COUNT`] elements.
    unsafe fn load(from: *const Self::Elem) -> Self;
    /// Stores the lanes to memory.
    ///
    /// # Safety
    /// The processor has the instructions of `Self`. `to` points to [`Lanes::COUNT`] elements that
    /// may be written.
    unsafe fn store(self, to: *mut Self::Elem);
    /// Adds lane by lane.
    ///
    /// # Safety
    /// The processor has the instructions of `Self`.
    unsafe fn add(self, other: Self) -> Self;
    /// Subtracts lane by lane.
    ///
    /// # Safety
    /// The processor has the instructions of `Self`.
    unsafe fn sub(self, other: Self) -> Self;
    /// Takes the greater of two lanes, with signs.
    ///
    /// # Safety
    /// The processor has the instructions of `Self`.
    unsafe fn max(self, other: Self) -> Self;
    /// Takes the greater of two lanes, without signs.
    ///
    /// # Safety
    /// The processor has the instructions of `Self`.
    unsafe fn max_unsigned(self, other: Self) -> Self;
    /// Returns whether any lane is greater than the same lane of `other`, with signs.
    ///
    /// # Safety
    /// The processor has the instructions of `Self`.
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
    /// Returns a bit for each lane, lane 0's the lowest: whether both lanes are equal.
    ///
    /// # Safety
    /// The processor has the instructions of `Self`.
    unsafe fn equal(self, other: Self) -> u64;
    /// Takes every lane from its upper neighbour; the last lane becomes `last`.
    ///
    /// # Safety
    /// The processor has the instructions of `Self`.
    unsafe fn shift_down(self, last: Self::Elem) -> Self;
    /// Takes lanes of `other` where `mask` has all bits, of `self` where it has none.
    ///
    /// # Safety
    /// The processor has the instructions of `Self`.
    unsafe fn blend(self, other: Self, mask: Self) -> Self;
    /// Sets all bits in lanes whose bytes share no bit, none in the others.
    ///
    /// # Safety
    /// The processor has the instructions of `Self`. `a` and `b` point to [`Lanes::COUNT`] bytes
    /// each.
    unsafe fn disjoint_bytes(a: *const u8, b: *const u8) -> Self;
    /// Looks up the entry of each code in a table.
    ///
    /// # Safety
    /// The processor has the instructions of `Self`. `codes` points to [`Lanes::COUNT`] codes. Each
    /// is less than [`STEPS`].
    unsafe fn lookup(table: &[Self::Elem; STEPS], codes: *const Code) -> Self;
}

/// Lanes of 32 bits, at most [`MAX_DOUBLES`], with what values of tiles need besides.
///
/// # Safety
/// An implementation has at most [`MAX_DOUBLES`] lanes, and their number divides [`BLOCK`]. Its
/// methods access no more memory through a pointer than they ask of the caller.
pub(crate) unsafe trait Doubles: Lanes<Elem = i32> {
    /// Loads bytes, with signs.
    ///
    /// # Safety
    /// The processor has the instructions of `Self`. `from` points to [`Lanes::COUNT`] bytes.
    unsafe fn widen(from: *const i8) -> Self;
    /// Takes lanes of `then` where this is greater than `other`, of `or` elsewhere.
    ///
    /// # Safety
    /// The processor has the instructions of `Self`.
    unsafe fn where_greater(self, other: Self, then: Self, or: Self) -> Self;
    /// Stores byte k of every row in row k of `to`: [`BLOCK`] rows of [`BLOCK`] bytes.
    ///
    /// # Safety
    /// The processor has the instructions of `Self`. Each of the rows points to [`BLOCK`] bytes,
    /// and `to` to [`BLOCK`] squared bytes that may be written.
    unsafe fn transpose(rows: &[*const i8; BLOCK], to: *mut i8);
}

/// Eight lanes of 32 bits, with what directions of the traceback need besides.
///
/// # Safety
/// An implementation has eight lanes.
pub(crate) unsafe trait Eight: Lanes<Elem = i32> {
    /// Sets all bits in lanes that are the same, none in the others.
    ///
    /// # Safety
    /// The processor has the instructions of `Self`.
    unsafe fn same(self, other: Self) -> Self;
    /// Returns `self & other`.
    ///
    /// # Safety
    /// The processor has the instructions of `Self`.
    unsafe fn and(self, other: Self) -> Self;
    /// Returns `self | other`.
    ///
    /// # Safety
    /// The processor has the instructions of `Self`.
    unsafe fn or(self, other: Self) -> Self;
    /// Returns `self & !mask`.
    ///
    /// # Safety
    /// The processor has the instructions of `Self`.
    unsafe fn without(self, mask: Self) -> Self;
    /// Takes every lane from its lower neighbour; the first lane from the last of `below`.
    ///
    /// # Safety
    /// The processor has the instructions of `Self`.
    unsafe fn shift_up_from(self, below: Self) -> Self;
    /// Takes every lane from its upper neighbour; the last lane from the first of `above`.
    ///
    /// # Safety
    /// The processor has the instructions of `Self`.
    unsafe fn shift_down_from(self, above: Self) -> Self;
    /// Sets all bits in lanes whose codes share no bit, none in the others.
    ///
    /// # Safety
    /// The processor has the instructions of `Self`.
    unsafe fn disjoint(a: &[Code; 8], b: &[Code; 8]) -> Self;
    /// Sets all bits in lanes whose codes are the same, none in the others.
    ///
    /// # Safety
    /// The processor has the instructions of `Self`.
    unsafe fn same_codes(a: &[Code; 8], b: &[Code; 8]) -> Self;
    /// Returns the lanes, numbers from 0 to 127, as bytes.
    ///
    /// # Safety
    /// The processor has the instructions of `Self`.
    unsafe fn to_bytes(self) -> [u8; 8];
}

/// Lanes of [`BITS`] bits, and the functions of three of them that bit-vectors are made of.
///
/// # Safety
/// An implementation has at most [`MAX_WORDS`] lanes. Its methods access no more memory through a
/// pointer than they ask of the caller, and the pointer may have any alignment.
pub(crate) unsafe trait Words: Copy {
    /// Number of lanes, at most [`MAX_WORDS`].
    const COUNT: usize;
    /// Sets all lanes to `word`.
    ///
    /// # Safety
    /// The processor has the instructions of `Self`.
    unsafe fn splat(word: u64) -> Self;
    /// Loads the lanes from memory.
    ///
    /// # Safety
    /// The processor has the instructions of `Self`. `from` points to [`Words::COUNT`] words.
    unsafe fn load(from: *const u64) -> Self;
    /// Stores the lanes to memory.
    ///
    /// # Safety
    /// The processor has the instructions of `Self`. `to` points to [`Words::COUNT`] words that may
    /// be written.
    unsafe fn store(self, to: *mut u64);
    /// Adds lane by lane, without the carry.
    ///
    /// # Safety
    /// The processor has the instructions of `Self`.
    unsafe fn add(self, other: Self) -> Self;
    /// Returns `self & other`.
    ///
    /// # Safety
    /// The processor has the instructions of `Self`.
    unsafe fn and(self, other: Self) -> Self;
    /// Returns `self | b | c`.
    ///
    /// # Safety
    /// The processor has the instructions of `Self`.
    unsafe fn or3(self, b: Self, c: Self) -> Self;
    /// Returns `self ^ b | c`.
    ///
    /// # Safety
    /// The processor has the instructions of `Self`.
    unsafe fn xor_or(self, b: Self, c: Self) -> Self;
    /// Returns `!(self ^ b | c)`.
    ///
    /// # Safety
    /// The processor has the instructions of `Self`.
    unsafe fn nor_xor(self, b: Self, c: Self) -> Self;
    /// Returns `self & b | c`.
    ///
    /// # Safety
    /// The processor has the instructions of `Self`.
    unsafe fn and_or(self, b: Self, c: Self) -> Self;
    /// Returns `self | !(b | c)`.
    ///
    /// # Safety
    /// The processor has the instructions of `Self`.
    unsafe fn or_nor(self, b: Self, c: Self) -> Self;
    /// Moves every word up by a bit; its lowest bit becomes the top bit of `below`.
    ///
    /// # Safety
    /// The processor has the instructions of `Self`.
    unsafe fn shift_in(self, below: Self) -> Self;
    /// Returns the top bit of every word as a number.
    ///
    /// # Safety
    /// The processor has the instructions of `Self`.
    unsafe fn top(self) -> Self;
    /// Sets all bits in lanes that have the bit of the one-bit word `bit`, none in the others.
    ///
    /// # Safety
    /// The processor has the instructions of `Self`.
    unsafe fn test(self, bit: u64) -> Self;
    /// Takes every lane from its upper neighbour; the last lane from the first of `above`.
    ///
    /// # Safety
    /// The processor has the instructions of `Self`.
    unsafe fn shift_down(self, above: Self) -> Self;
    /// Returns a bit for each of 64 bytes: whether it has any bit of the mask.
    ///
    /// # Safety
    /// The processor has the instructions of `Self`. `bytes` points to 64 bytes.
    unsafe fn test_bytes(bytes: *const u8, mask: u8) -> u64;
}

#[cfg(test)]
mod tests;
