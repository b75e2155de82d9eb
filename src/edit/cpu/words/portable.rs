//! Words as an array, for processors without vectors of their own here.

use super::{Words, test_each};

const COUNT: usize = crate::pairs::cpu::simd::portable::BYTES / size_of::<u64>();

/// Eight words.
#[derive(Clone, Copy)]
pub struct Array([u64; COUNT]);

impl Array {
    #[inline(always)]
    fn each(word: impl Fn(usize) -> u64) -> Self {
        Array(std::array::from_fn(word))
    }
}

// SAFETY: needs nothing of the processor; loads and stores are of COUNT words at any alignment.
unsafe impl Words for Array {
    const COUNT: usize = COUNT;
    #[inline(always)]
    unsafe fn splat(word: u64) -> Self {
        Array([word; COUNT])
    }
    #[inline(always)]
    unsafe fn load(from: *const u64) -> Self {
        Array(unsafe { from.cast::<[u64; COUNT]>().read_unaligned() })
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut u64) {
        unsafe { to.cast::<[u64; COUNT]>().write_unaligned(self.0) }
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
    unsafe fn top(self) -> Self {
        Self::each(|k| self.0[k] >> 63)
    }
    #[inline(always)]
    unsafe fn test(self, bit: u64) -> Self {
        Self::each(|k| u64::from(self.0[k] & bit != 0).wrapping_neg())
    }
    #[inline(always)]
    unsafe fn shift_down(self, above: Self) -> Self {
        Self::each(|k| if k + 1 < COUNT { self.0[k + 1] } else { above.0[0] })
    }
    #[inline(always)]
    unsafe fn test_bytes(bytes: *const u8, mask: u8) -> u64 {
        unsafe { test_each(bytes, mask) }
    }
}
