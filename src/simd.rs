//! SIMD vectors: detection of the processor's instruction sets, and the vector types of CPU
//! kernels.
//!
//! A kernel is written once, generically over vectors of lanes, and implements `SimdKernel`. The
//! vector traits are `Lanes` (8, 16, 32 or 64 bits), `LanesI32` and `EightLanes` (32 bits, with
//! additional operations) and `LanesU64` (64 bits, used as sets of bits). `InstructionSet::run`
//! makes the compiler generate code for every instruction set (`Simd`), and runs the code for one
//! of them. [`InstructionSet::best`] detects the best instruction set at run time.
//!
//! Vector operations compile to one or a few instructions. They are unsafe because the processor
//! must have these instructions. They are always inlined because the surrounding code must be
//! compiled for them.

mod aligned_buffer;
mod instruction_set;
mod instructions;
#[cfg(target_arch = "aarch64")]
pub(crate) mod neon;
pub(crate) mod portable;
mod skew;
#[cfg(target_arch = "x86_64")]
pub(crate) mod x86;

pub(crate) use aligned_buffer::AlignedBuffer;
pub use instruction_set::InstructionSet;
pub(crate) use instruction_set::{LaneElement, SimdKernel};
pub(crate) use instructions::{Instructions, Simd};
pub(crate) use skew::{Skew, SkewBuffers};

use crate::score::difference::{Element, STEPS};
use crate::seq::Code;

/// Maximum number of lanes of any vector.
pub(crate) const MAX_LANES: usize = 64;
/// Maximum number of 32-bit lanes.
pub(crate) const MAX_I32_LANES: usize = 16;
/// Maximum number of 64-bit lanes.
pub(crate) const MAX_U64_LANES: usize = 8;
/// Number of bits in a lane of [`LanesU64`].
pub(crate) const BITS: usize = 64;
/// Side of the square byte matrix that [`LanesI32::transpose`] transposes.
pub(crate) const BLOCK: usize = 16;

/// Computes each element of an array by its index. Calls are always inlined, so that kernels use
/// their own instructions. `std::array::from_fn` and `map` of arrays rely on an optimisation
/// across units of code generation for that, and make three times the code.
#[inline(always)]
pub(crate) fn array_of<T: Copy, const N: usize>(mut element: impl FnMut(usize) -> T) -> [T; N] {
    const { assert!(N > 0) };
    let mut array = [element(0); N];
    for (index, each) in array.iter_mut().enumerate().skip(1) {
        *each = element(index);
    }
    array
}

/// Lanes that are added, subtracted and compared lane by lane. Sums and differences wrap.
///
/// # Safety
/// An implementation has at most [`MAX_LANES`] lanes. Its methods access no more than
/// [`Lanes::COUNT`] elements (codes, bytes) through a pointer, which may have any alignment.
pub(crate) unsafe trait Lanes: Copy {
    /// Type of one lane.
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
    /// Returns the greater of each two lanes, as signed integers.
    ///
    /// # Safety
    /// The processor has the instructions of `Self`.
    unsafe fn max(self, other: Self) -> Self;
    /// Returns the greater of each two lanes, as unsigned integers.
    ///
    /// # Safety
    /// The processor has the instructions of `Self`.
    unsafe fn max_unsigned(self, other: Self) -> Self;
    /// Returns whether any lane is greater than the same lane of `other`, as signed integers.
    ///
    /// # Safety
    /// The processor has the instructions of `Self`.
    #[inline(always)]
    unsafe fn exceeds(self, other: Self) -> bool {
        let mut lanes = [[Self::Elem::default(); MAX_LANES]; 2];
        // SAFETY: guaranteed by the caller; each array holds MAX_LANES elements.
        unsafe {
            self.store(lanes[0].as_mut_ptr());
            other.store(lanes[1].as_mut_ptr());
        }
        let [left, right] = lanes;
        left.iter().zip(&right).fold(false, |any, (left, right)| any | (left > right))
    }
    /// Returns a mask with one bit for each lane, lane 0 in the lowest bit. A bit is set if both
    /// lanes are equal.
    ///
    /// # Safety
    /// The processor has the instructions of `Self`.
    unsafe fn equal(self, other: Self) -> u64;
    /// Moves every lane down by one index. The last lane becomes `last`.
    ///
    /// # Safety
    /// The processor has the instructions of `Self`.
    unsafe fn shift_down(self, last: Self::Elem) -> Self;
    /// Selects the lane of `other` where all bits of `mask` are set, and the lane of `self` where
    /// none is.
    ///
    /// # Safety
    /// The processor has the instructions of `Self`.
    unsafe fn blend(self, other: Self, mask: Self) -> Self;
    /// Sets all bits in the lanes where the bytes of `a` and `b` share no bit, and none in the
    /// others.
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

/// 32-bit lanes with the additional operations that score tiles need. There are at most
/// [`MAX_I32_LANES`].
///
/// # Safety
/// An implementation has at most [`MAX_I32_LANES`] lanes, and their number divides [`BLOCK`]. Its
/// methods access only the memory whose validity their `# Safety` sections require.
pub(crate) unsafe trait LanesI32: Lanes<Elem = i32> {
    /// Loads bytes, with signs.
    ///
    /// # Safety
    /// The processor has the instructions of `Self`. `from` points to [`Lanes::COUNT`] bytes.
    unsafe fn widen(from: *const i8) -> Self;
    /// Selects the lane of `then` where `self` is greater than `other`, and the lane of `or`
    /// elsewhere.
    ///
    /// # Safety
    /// The processor has the instructions of `Self`.
    unsafe fn where_greater(self, other: Self, then: Self, or: Self) -> Self;
    /// Transposes a matrix of [`BLOCK`] by [`BLOCK`] bytes: stores byte k of every row in row k of
    /// `to`.
    ///
    /// # Safety
    /// The processor has the instructions of `Self`. Each of the rows points to [`BLOCK`] bytes,
    /// and `to` to [`BLOCK`] squared bytes that may be written.
    unsafe fn transpose(rows: &[*const i8; BLOCK], to: *mut i8);
}

/// Eight 32-bit lanes with the additional operations that traceback directions need.
///
/// # Safety
/// An implementation has eight lanes.
pub(crate) unsafe trait EightLanes: Lanes<Elem = i32> {
    /// Sets all bits in lanes that are equal, and none in the others.
    ///
    /// # Safety
    /// The processor has the instructions of `Self`.
    unsafe fn equal_mask(self, other: Self) -> Self;
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
    unsafe fn and_not(self, mask: Self) -> Self;
    /// Moves every lane up by one index. The first lane becomes the last lane of `below`.
    ///
    /// # Safety
    /// The processor has the instructions of `Self`.
    unsafe fn shift_up_from(self, below: Self) -> Self;
    /// Moves every lane down by one index. The last lane becomes the first lane of `above`.
    ///
    /// # Safety
    /// The processor has the instructions of `Self`.
    unsafe fn shift_down_from(self, above: Self) -> Self;
    /// Sets all bits in lanes whose codes share no bit, and none in the others.
    ///
    /// # Safety
    /// The processor has the instructions of `Self`.
    unsafe fn disjoint(a: &[Code; 8], b: &[Code; 8]) -> Self;
    /// Sets all bits in lanes whose codes are equal, and none in the others.
    ///
    /// # Safety
    /// The processor has the instructions of `Self`.
    unsafe fn same_codes(a: &[Code; 8], b: &[Code; 8]) -> Self;
    /// Returns the lanes as bytes. Every lane is a number from 0 to 127.
    ///
    /// # Safety
    /// The processor has the instructions of `Self`.
    unsafe fn to_bytes(self) -> [u8; 8];
}

/// Lanes of [`BITS`] bits with the operations, of up to three inputs, that bit-vector algorithms
/// need.
///
/// # Safety
/// An implementation has at most [`MAX_U64_LANES`] lanes. Its methods access only the memory whose
/// validity their `# Safety` sections require. Pointers may have any alignment.
pub(crate) unsafe trait LanesU64: Copy {
    /// Number of lanes, at most [`MAX_U64_LANES`].
    const COUNT: usize;
    /// Sets all lanes to `word`.
    ///
    /// # Safety
    /// The processor has the instructions of `Self`.
    unsafe fn splat(word: u64) -> Self;
    /// Loads the lanes from memory.
    ///
    /// # Safety
    /// The processor has the instructions of `Self`. `from` points to [`LanesU64::COUNT`] words.
    unsafe fn load(from: *const u64) -> Self;
    /// Stores the lanes to memory.
    ///
    /// # Safety
    /// The processor has the instructions of `Self`. `to` points to [`LanesU64::COUNT`] words that
    /// may be written.
    unsafe fn store(self, to: *mut u64);
    /// Adds lane by lane. No carry passes from one lane to the next.
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
    /// Shifts every lane left by one bit. The lowest bit becomes the top bit of the same lane of
    /// `below`.
    ///
    /// # Safety
    /// The processor has the instructions of `Self`.
    unsafe fn shift_in(self, below: Self) -> Self;
    /// Moves the top bit of every lane to the lowest bit and clears the others.
    ///
    /// # Safety
    /// The processor has the instructions of `Self`.
    unsafe fn top_bits(self) -> Self;
    /// Sets all bits in lanes that contain the single bit `bit`, and none in the others.
    ///
    /// # Safety
    /// The processor has the instructions of `Self`.
    unsafe fn test(self, bit: u64) -> Self;
    /// Moves every lane down by one index. The last lane becomes the first lane of `above`.
    ///
    /// # Safety
    /// The processor has the instructions of `Self`.
    unsafe fn shift_down(self, above: Self) -> Self;
    /// Returns a mask with one bit for each of 64 bytes. A bit is set if the byte shares a bit with
    /// `mask`.
    ///
    /// # Safety
    /// The processor has the instructions of `Self`. `bytes` points to 64 bytes.
    unsafe fn test_bytes(bytes: *const u8, mask: u8) -> u64;
}

#[cfg(test)]
mod tests;
