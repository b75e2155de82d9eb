//! Vectors of AArch64.

use std::arch::aarch64::*;

use super::{BLOCK, Lanes};

/// One register of 128 bits (NEON, which every AArch64 of the targets has).
#[derive(Clone, Copy)]
pub struct Neon(int32x4_t);

// SAFETY: the targets have NEON; loads and stores are of COUNT elements at any alignment.
unsafe impl Lanes for Neon {
    const COUNT: usize = 4;
    #[inline(always)]
    unsafe fn splat(value: i32) -> Self {
        Neon(unsafe { vdupq_n_s32(value) })
    }
    #[inline(always)]
    unsafe fn load(from: *const i32) -> Self {
        Neon(unsafe { vld1q_s32(from) })
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut i32) {
        unsafe { vst1q_s32(to, self.0) }
    }
    #[inline(always)]
    unsafe fn widen(from: *const i8) -> Self {
        unsafe {
            let bytes = vcreate_s8(from.cast::<u32>().read_unaligned().into());
            Neon(vmovl_s16(vget_low_s16(vmovl_s8(bytes))))
        }
    }
    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        Neon(unsafe { vaddq_s32(self.0, other.0) })
    }
    #[inline(always)]
    unsafe fn sub(self, other: Self) -> Self {
        Neon(unsafe { vsubq_s32(self.0, other.0) })
    }
    #[inline(always)]
    unsafe fn max(self, other: Self) -> Self {
        Neon(unsafe { vmaxq_s32(self.0, other.0) })
    }
    #[inline(always)]
    unsafe fn equal(self, other: Self) -> u64 {
        // A bit of its own for each lane that is all ones, and their sum.
        const BITS: [u32; 4] = [1, 2, 4, 8];
        unsafe { vaddvq_u32(vandq_u32(vceqq_s32(self.0, other.0), vld1q_u32(BITS.as_ptr()))).into() }
    }
    #[inline(always)]
    unsafe fn shift_down(self, last: i32) -> Self {
        Neon(unsafe { vextq_s32::<1>(self.0, vdupq_n_s32(last)) })
    }
    #[inline(always)]
    unsafe fn transpose(rows: &[*const i8; BLOCK], to: *mut i8) {
        // SAFETY: the caller's: 16 bytes a row, 256 of the result.
        unsafe {
            let mut now: [int8x16_t; BLOCK] = std::array::from_fn(|k| vld1q_s8(rows[k]));
            // A round interleaves rows k and k + 8; after four, every byte has gone round to its column's row.
            for _ in 0..4 {
                now = std::array::from_fn(|k| match k % 2 {
                    0 => vzip1q_s8(now[k / 2], now[k / 2 + 8]),
                    _ => vzip2q_s8(now[k / 2], now[k / 2 + 8]),
                });
            }
            for (k, row) in now.into_iter().enumerate() {
                vst1q_s8(to.add(k * BLOCK), row);
            }
        }
    }
}
