//! Words of AArch64 (NEON).

use std::arch::aarch64::*;

use super::{Words, test_each};

/// Two words.
#[derive(Clone, Copy)]
pub struct Neon(uint64x2_t);

// SAFETY: used only inside functions compiled for NEON; loads and stores are of 16 bytes at any alignment of words.
unsafe impl Words for Neon {
    const COUNT: usize = 2;
    #[inline(always)]
    unsafe fn splat(word: u64) -> Self {
        Neon(unsafe { vdupq_n_u64(word) })
    }
    #[inline(always)]
    unsafe fn load(from: *const u64) -> Self {
        Neon(unsafe { vld1q_u64(from) })
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut u64) {
        unsafe { vst1q_u64(to, self.0) }
    }
    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        Neon(unsafe { vaddq_u64(self.0, other.0) })
    }
    #[inline(always)]
    unsafe fn and(self, other: Self) -> Self {
        Neon(unsafe { vandq_u64(self.0, other.0) })
    }
    #[inline(always)]
    unsafe fn or3(self, b: Self, c: Self) -> Self {
        Neon(unsafe { vorrq_u64(vorrq_u64(self.0, b.0), c.0) })
    }
    #[inline(always)]
    unsafe fn xor_or(self, b: Self, c: Self) -> Self {
        Neon(unsafe { vorrq_u64(veorq_u64(self.0, b.0), c.0) })
    }
    #[inline(always)]
    unsafe fn nor_xor(self, b: Self, c: Self) -> Self {
        let or = unsafe { vorrq_u64(veorq_u64(self.0, b.0), c.0) };
        Neon(unsafe { vreinterpretq_u64_u8(vmvnq_u8(vreinterpretq_u8_u64(or))) })
    }
    #[inline(always)]
    unsafe fn and_or(self, b: Self, c: Self) -> Self {
        Neon(unsafe { vorrq_u64(vandq_u64(self.0, b.0), c.0) })
    }
    #[inline(always)]
    unsafe fn or_nor(self, b: Self, c: Self) -> Self {
        // `orn` has its second input inverted.
        Neon(unsafe { vornq_u64(self.0, vorrq_u64(b.0, c.0)) })
    }
    #[inline(always)]
    unsafe fn shift_in(self, below: Self) -> Self {
        // `sri` shifts into the bits that the other input leaves.
        Neon(unsafe { vsriq_n_u64::<63>(vshlq_n_u64::<1>(self.0), below.0) })
    }
    #[inline(always)]
    unsafe fn top(self) -> Self {
        Neon(unsafe { vshrq_n_u64::<63>(self.0) })
    }
    #[inline(always)]
    unsafe fn test(self, bit: u64) -> Self {
        Neon(unsafe { vtstq_u64(self.0, vdupq_n_u64(bit)) })
    }
    #[inline(always)]
    unsafe fn shift_down(self, above: Self) -> Self {
        Neon(unsafe { vextq_u64::<1>(self.0, above.0) })
    }
    #[inline(always)]
    unsafe fn test_bytes(bytes: *const u8, mask: u8) -> u64 {
        unsafe { test_each(bytes, mask) }
    }
}
