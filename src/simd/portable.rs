//! Vectors as arrays, for processors without an implementation here and for 64-bit scores.

use super::{BLOCK, EightLanes, Instructions, Lanes, LanesI32, LanesU64, STEPS, Simd, array_of};
use crate::score::difference::Element;
use crate::seq::Code;

/// Number of bytes in an array, as in a register of most processors. Wider arrays multiply the code
/// size.
pub(crate) const BYTES: usize = 16;
/// Number of lanes of 64-bit scores.
pub(crate) const LONG_LANES: usize = 4;

/// A vector of N lanes in an array.
#[derive(Clone, Copy)]
pub(crate) struct Array<E, const N: usize>([E; N]);

/// The vectors that are arrays.
pub(crate) enum PortableSet {}

// SAFETY: arrays need no special instructions.
unsafe impl Simd for PortableSet {
    const INSTRUCTIONS: Instructions = Instructions::Portable;
    type I8Lanes = Array<i8, BYTES>;
    type I16Lanes = Array<i16, { BYTES / 2 }>;
    type I32Lanes = Array<i32, { BYTES / 4 }>;
    type EightLanes = Array<i32, 8>;
    type U64Lanes = Array<u64, { BYTES / 8 }>;
}

impl<E: Copy, const N: usize> Array<E, N> {
    /// Computes each lane by its index.
    #[inline(always)]
    fn each(lane: impl FnMut(usize) -> E) -> Self {
        Array(array_of(lane))
    }
}

macro_rules! lanes {
    ($($elem:ty, $unsigned:ty);*) => { $(
        // SAFETY: arrays need no special instructions; loads and stores access N elements at any
        // alignment.
        unsafe impl<const N: usize> Lanes for Array<$elem, N> {
            type Elem = $elem;
            const COUNT: usize = N;
            #[inline(always)]
            unsafe fn splat(value: $elem) -> Self {
                Array([value; N])
            }
            #[inline(always)]
            unsafe fn load(from: *const $elem) -> Self {
                // SAFETY: guaranteed by the caller.
                Array(unsafe { from.cast::<[$elem; N]>().read_unaligned() })
            }
            #[inline(always)]
            unsafe fn store(self, to: *mut $elem) {
                // SAFETY: guaranteed by the caller.
                unsafe { to.cast::<[$elem; N]>().write_unaligned(self.0) }
            }
            #[inline(always)]
            unsafe fn add(self, other: Self) -> Self {
                Self::each(|k| self.0[k].wrapping_add(other.0[k]))
            }
            #[inline(always)]
            unsafe fn sub(self, other: Self) -> Self {
                Self::each(|k| self.0[k].wrapping_sub(other.0[k]))
            }
            #[inline(always)]
            unsafe fn max(self, other: Self) -> Self {
                Self::each(|k| self.0[k].max(other.0[k]))
            }
            #[inline(always)]
            unsafe fn max_unsigned(self, other: Self) -> Self {
                Self::each(|k| (self.0[k] as $unsigned).max(other.0[k] as $unsigned) as $elem)
            }
            #[inline(always)]
            unsafe fn equal(self, other: Self) -> u64 {
                (0..N).fold(0, |bits, k| bits | u64::from(self.0[k] == other.0[k]) << k)
            }
            #[inline(always)]
            unsafe fn shift_down(self, last: $elem) -> Self {
                Self::each(|k| if k + 1 < N { self.0[k + 1] } else { last })
            }
            #[inline(always)]
            unsafe fn blend(self, other: Self, mask: Self) -> Self {
                Self::each(|k| (self.0[k] & !mask.0[k]) | (other.0[k] & mask.0[k]))
            }
            #[inline(always)]
            unsafe fn disjoint_bytes(a: *const u8, b: *const u8) -> Self {
                // SAFETY: guaranteed by the caller.
                let each = |from: *const u8| unsafe { from.cast::<[u8; N]>().read_unaligned() };
                let (a, b) = (each(a), each(b));
                Self::each(|k| -<$elem>::from(a[k] & b[k] == 0))
            }
            #[inline(always)]
            unsafe fn lookup(table: &[$elem; STEPS], codes: *const Code) -> Self {
                // SAFETY: guaranteed by the caller.
                Array(unsafe { lookup_each(table, codes) })
            }
        }
    )* };
}
lanes!(i8, u8; i16, u16; i32, u32; i64, u64);

/// Looks up every lane on its own, where the processor has no instruction for tables of such
/// elements.
///
/// # Safety
/// `codes` points to N codes.
#[inline(always)]
pub(crate) unsafe fn lookup_each<E: Element, const N: usize>(table: &[E; STEPS], codes: *const Code) -> [E; N] {
    // SAFETY: guaranteed by the caller.
    let codes = Array(unsafe { codes.cast::<[Code; N]>().read_unaligned() });
    Array::each(|k| table[codes.0[k] as usize % STEPS]).0
}

// SAFETY: arrays need no special instructions; the number of lanes divides BLOCK.
unsafe impl LanesI32 for Array<i32, { BYTES / 4 }> {
    #[inline(always)]
    unsafe fn widen(from: *const i8) -> Self {
        // SAFETY: guaranteed by the caller.
        let bytes = unsafe { from.cast::<[i8; BYTES / 4]>().read_unaligned() };
        Self::each(|k| i32::from(bytes[k]))
    }
    #[inline(always)]
    unsafe fn where_greater(self, other: Self, then: Self, or: Self) -> Self {
        Self::each(|k| if self.0[k] > other.0[k] { then.0[k] } else { or.0[k] })
    }
    #[inline(always)]
    unsafe fn transpose(rows: &[*const i8; BLOCK], to: *mut i8) {
        for (column, row) in rows.iter().enumerate() {
            // SAFETY: guaranteed by the caller: 16 bytes for each row, and 256 bytes for the
            // result.
            unsafe { (0..BLOCK).for_each(|k| *to.add(k * BLOCK + column) = *row.add(k)) }
        }
    }
}

/// Returns an element with all bits set or none.
fn mask(is: bool) -> i32 {
    -i32::from(is)
}

// SAFETY: arrays need no special instructions; there are eight lanes.
unsafe impl EightLanes for Array<i32, 8> {
    #[inline(always)]
    unsafe fn equal_mask(self, other: Self) -> Self {
        Self::each(|k| mask(self.0[k] == other.0[k]))
    }
    #[inline(always)]
    unsafe fn and(self, other: Self) -> Self {
        Self::each(|k| self.0[k] & other.0[k])
    }
    #[inline(always)]
    unsafe fn or(self, other: Self) -> Self {
        Self::each(|k| self.0[k] | other.0[k])
    }
    #[inline(always)]
    unsafe fn and_not(self, mask: Self) -> Self {
        Self::each(|k| self.0[k] & !mask.0[k])
    }
    #[inline(always)]
    unsafe fn shift_up_from(self, below: Self) -> Self {
        Self::each(|k| if k > 0 { self.0[k - 1] } else { below.0[7] })
    }
    #[inline(always)]
    unsafe fn shift_down_from(self, above: Self) -> Self {
        Self::each(|k| if k < 7 { self.0[k + 1] } else { above.0[0] })
    }
    #[inline(always)]
    unsafe fn disjoint(a: &[Code; 8], b: &[Code; 8]) -> Self {
        Self::each(|k| mask(a[k] & b[k] == 0))
    }
    #[inline(always)]
    unsafe fn same_codes(a: &[Code; 8], b: &[Code; 8]) -> Self {
        Self::each(|k| mask(a[k] == b[k]))
    }
    #[inline(always)]
    unsafe fn to_bytes(self) -> [u8; 8] {
        array_of(|lane| self.0[lane] as u8)
    }
}

// SAFETY: arrays need no special instructions; loads and stores access COUNT elements at any
// alignment.
unsafe impl<const N: usize> LanesU64 for Array<u64, N> {
    const COUNT: usize = N;
    #[inline(always)]
    unsafe fn splat(word: u64) -> Self {
        Array([word; N])
    }
    #[inline(always)]
    unsafe fn load(from: *const u64) -> Self {
        // SAFETY: guaranteed by the caller.
        Array(unsafe { from.cast::<[u64; N]>().read_unaligned() })
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut u64) {
        // SAFETY: guaranteed by the caller.
        unsafe { to.cast::<[u64; N]>().write_unaligned(self.0) }
    }
    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        Self::each(|k| self.0[k].wrapping_add(other.0[k]))
    }
    #[inline(always)]
    unsafe fn and(self, other: Self) -> Self {
        Self::each(|k| self.0[k] & other.0[k])
    }
    #[inline(always)]
    unsafe fn or3(self, b: Self, c: Self) -> Self {
        Self::each(|k| self.0[k] | b.0[k] | c.0[k])
    }
    #[inline(always)]
    unsafe fn xor_or(self, b: Self, c: Self) -> Self {
        Self::each(|k| self.0[k] ^ b.0[k] | c.0[k])
    }
    #[inline(always)]
    unsafe fn nor_xor(self, b: Self, c: Self) -> Self {
        Self::each(|k| !(self.0[k] ^ b.0[k] | c.0[k]))
    }
    #[inline(always)]
    unsafe fn and_or(self, b: Self, c: Self) -> Self {
        Self::each(|k| self.0[k] & b.0[k] | c.0[k])
    }
    #[inline(always)]
    unsafe fn or_nor(self, b: Self, c: Self) -> Self {
        Self::each(|k| self.0[k] | !(b.0[k] | c.0[k]))
    }
    #[inline(always)]
    unsafe fn shift_in(self, below: Self) -> Self {
        Self::each(|k| self.0[k] << 1 | below.0[k] >> 63)
    }
    #[inline(always)]
    unsafe fn top_bits(self) -> Self {
        Self::each(|k| self.0[k] >> 63)
    }
    #[inline(always)]
    unsafe fn test(self, bit: u64) -> Self {
        Self::each(|k| u64::from(self.0[k] & bit != 0).wrapping_neg())
    }
    #[inline(always)]
    unsafe fn shift_down(self, above: Self) -> Self {
        Self::each(|k| if k + 1 < N { self.0[k + 1] } else { above.0[0] })
    }
    #[inline(always)]
    unsafe fn test_bytes(bytes: *const u8, mask: u8) -> u64 {
        // SAFETY: guaranteed by the caller.
        unsafe { test_each(bytes, mask) }
    }
}

/// Implements [`LanesU64::test_bytes`] without vectors, eight bytes at a time.
///
/// # Safety
/// `bytes` points to 64 bytes.
#[inline(always)]
pub(crate) unsafe fn test_each(bytes: *const u8, mask: u8) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const LOW_BITS: u64 = ONES * 127;
    let mut bits = 0;
    for k in 0..8 {
        // SAFETY: guaranteed by the caller.
        let eight = u64::from_le_bytes(unsafe { bytes.add(8 * k).cast::<[u8; 8]>().read_unaligned() });
        let masked = eight & (ONES * u64::from(mask));
        // Adding 127 to the low 7 bits sets the top bit of every byte whose low bits are not all
        // zero.
        let tops = (((masked & LOW_BITS) + LOW_BITS) | masked) & !LOW_BITS;
        bits |= ((tops >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * k);
    }
    bits
}
