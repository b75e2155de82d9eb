//! Vectors of AArch64 (NEON).
#![allow(
    unsafe_op_in_unsafe_fn,
    reason = "the bodies are intrinsics, and the methods of the traits require what the intrinsics require"
)]

use std::arch::aarch64::*;
use std::marker::PhantomData;

use super::portable::{Array, lookup_each, test_each};
use super::{BLOCK, Instructions, Lanes, LanesI32, LanesU64, STEPS, Simd, array_of};
use crate::seq::Code;

/// One register of 128 bits, stored as bytes.
#[derive(Clone, Copy)]
pub(crate) struct Neon<E>(int8x16_t, PhantomData<E>);

/// One register with two 64-bit lanes.
#[derive(Clone, Copy)]
pub(crate) struct NeonWords(uint64x2_t);

/// The vectors of NEON.
pub(crate) enum NeonSet {}

// SAFETY: the vectors need no other instructions.
unsafe impl Simd for NeonSet {
    const INSTRUCTIONS: Instructions = Instructions::Neon;
    type I8Lanes = Neon<i8>;
    type I16Lanes = Neon<i16>;
    type I32Lanes = Neon<i32>;
    type EightLanes = Array<i32, 8>;
    type U64Lanes = NeonWords;
}

macro_rules! lanes {
    ($elem:ty, $count:literal, $splat:ident, $add:ident, $sub:ident, $max:ident, $max_unsigned:ident, $to:ident,
     $to_unsigned:ident, $from:ident, $from_unsigned:ident, $size:literal) => {
        // SAFETY: the type is used only inside functions compiled for NEON. Loads and stores access
        // 16 bytes at any alignment.
        unsafe impl Lanes for Neon<$elem> {
            type Elem = $elem;
            const COUNT: usize = $count;
            #[inline(always)]
            unsafe fn splat(value: $elem) -> Self {
                Neon($from($splat(value)), PhantomData)
            }
            #[inline(always)]
            unsafe fn load(from: *const $elem) -> Self {
                Neon(vld1q_s8(from.cast()), PhantomData)
            }
            #[inline(always)]
            unsafe fn store(self, to: *mut $elem) {
                vst1q_s8(to.cast(), self.0)
            }
            #[inline(always)]
            unsafe fn add(self, other: Self) -> Self {
                Neon($from($add($to(self.0), $to(other.0))), PhantomData)
            }
            #[inline(always)]
            unsafe fn sub(self, other: Self) -> Self {
                Neon($from($sub($to(self.0), $to(other.0))), PhantomData)
            }
            #[inline(always)]
            unsafe fn max(self, other: Self) -> Self {
                Neon($from($max($to(self.0), $to(other.0))), PhantomData)
            }
            #[inline(always)]
            unsafe fn max_unsigned(self, other: Self) -> Self {
                let max = $max_unsigned($to_unsigned(self.0), $to_unsigned(other.0));
                Neon($from_unsigned(max), PhantomData)
            }
            #[inline(always)]
            unsafe fn equal(self, other: Self) -> u64 {
                self.same_lanes(other)
            }
            #[inline(always)]
            unsafe fn shift_down(self, last: $elem) -> Self {
                Neon(vextq_s8::<$size>(self.0, Self::splat(last).0), PhantomData)
            }
            #[inline(always)]
            unsafe fn blend(self, other: Self, mask: Self) -> Self {
                Neon(vbslq_s8(vreinterpretq_u8_s8(mask.0), other.0, self.0), PhantomData)
            }
            #[inline(always)]
            unsafe fn disjoint_bytes(a: *const u8, b: *const u8) -> Self {
                Self::disjoint(a, b)
            }
            #[inline(always)]
            unsafe fn lookup(table: &[$elem; STEPS], codes: *const Code) -> Self {
                Self::looked_up(table, codes)
            }
        }
    };
}

/// Returns the register unchanged, since it already contains bytes.
///
/// # Safety
/// There are no preconditions. The function is unsafe so that macros can use it in place of an
/// unsafe intrinsic.
#[inline(always)]
unsafe fn bytes(lanes: int8x16_t) -> int8x16_t {
    lanes
}

lanes!(
    i8,
    16,
    vdupq_n_s8,
    vaddq_s8,
    vsubq_s8,
    vmaxq_s8,
    vmaxq_u8,
    bytes,
    vreinterpretq_u8_s8,
    bytes,
    vreinterpretq_s8_u8,
    1
);
lanes!(
    i16,
    8,
    vdupq_n_s16,
    vaddq_s16,
    vsubq_s16,
    vmaxq_s16,
    vmaxq_u16,
    vreinterpretq_s16_s8,
    vreinterpretq_u16_s8,
    vreinterpretq_s8_s16,
    vreinterpretq_s8_u16,
    2
);
lanes!(
    i32,
    4,
    vdupq_n_s32,
    vaddq_s32,
    vsubq_s32,
    vmaxq_s32,
    vmaxq_u32,
    vreinterpretq_s32_s8,
    vreinterpretq_u32_s8,
    vreinterpretq_s8_s32,
    vreinterpretq_s8_u32,
    4
);

/// Sets all bits in bytes that share no bit, and none in the others.
///
/// # Safety
/// The processor has NEON.
#[inline(always)]
unsafe fn disjoint_eight(a: uint8x8_t, b: uint8x8_t) -> int8x8_t {
    vreinterpret_s8_u8(vceqz_u8(vand_u8(a, b)))
}

impl Neon<i8> {
    /// Implements [`Lanes::equal`]: keeps one distinct bit for each equal lane, and adds up each
    /// half.
    ///
    /// # Safety
    /// The processor has NEON.
    #[inline(always)]
    unsafe fn same_lanes(self, other: Self) -> u64 {
        const BITS: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128];
        let bits = vandq_u8(vceqq_s8(self.0, other.0), vld1q_u8(BITS.as_ptr()));
        u64::from(vaddv_u8(vget_low_u8(bits))) | u64::from(vaddv_u8(vget_high_u8(bits))) << 8
    }
    /// Implements [`Lanes::disjoint_bytes`].
    ///
    /// # Safety
    /// The processor has NEON. `a` and `b` point to 16 bytes each.
    #[inline(always)]
    unsafe fn disjoint(a: *const u8, b: *const u8) -> Self {
        Neon(vreinterpretq_s8_u8(vceqzq_u8(vandq_u8(vld1q_u8(a), vld1q_u8(b)))), PhantomData)
    }
    /// Implements [`Lanes::lookup`].
    ///
    /// # Safety
    /// The processor has NEON. `codes` points to 16 codes.
    #[inline(always)]
    unsafe fn looked_up(table: &[i8; STEPS], codes: *const Code) -> Self {
        let halves = int8x16x2_t(vld1q_s8(table.as_ptr()), vld1q_s8(table.as_ptr().add(16)));
        Neon(vqtbl2q_s8(halves, vld1q_u8(codes)), PhantomData)
    }
}

impl Neon<i16> {
    /// Implements [`Lanes::equal`]: keeps one distinct bit for each equal lane and adds them up.
    ///
    /// # Safety
    /// The processor has NEON.
    #[inline(always)]
    unsafe fn same_lanes(self, other: Self) -> u64 {
        const BITS: [u16; 8] = [1, 2, 4, 8, 16, 32, 64, 128];
        let equal = vceqq_s16(vreinterpretq_s16_s8(self.0), vreinterpretq_s16_s8(other.0));
        vaddvq_u16(vandq_u16(equal, vld1q_u16(BITS.as_ptr()))).into()
    }
    /// Implements [`Lanes::disjoint_bytes`].
    ///
    /// # Safety
    /// The processor has NEON. `a` and `b` point to 8 bytes each.
    #[inline(always)]
    unsafe fn disjoint(a: *const u8, b: *const u8) -> Self {
        Neon(vreinterpretq_s8_s16(vmovl_s8(disjoint_eight(vld1_u8(a), vld1_u8(b)))), PhantomData)
    }
    /// Implements [`Lanes::lookup`].
    ///
    /// # Safety
    /// The processor has NEON. `codes` points to 8 codes.
    #[inline(always)]
    unsafe fn looked_up(table: &[i16; STEPS], codes: *const Code) -> Self {
        Self::load(lookup_each::<i16, 8>(table, codes).as_ptr())
    }
}

impl Neon<i32> {
    /// Implements [`Lanes::equal`]: keeps one distinct bit for each equal lane and adds them up.
    ///
    /// # Safety
    /// The processor has NEON.
    #[inline(always)]
    unsafe fn same_lanes(self, other: Self) -> u64 {
        const BITS: [u32; 4] = [1, 2, 4, 8];
        let equal = vceqq_s32(vreinterpretq_s32_s8(self.0), vreinterpretq_s32_s8(other.0));
        vaddvq_u32(vandq_u32(equal, vld1q_u32(BITS.as_ptr()))).into()
    }
    /// Implements [`Lanes::disjoint_bytes`].
    ///
    /// # Safety
    /// The processor has NEON. `a` and `b` point to 4 bytes each.
    #[inline(always)]
    unsafe fn disjoint(a: *const u8, b: *const u8) -> Self {
        let four = |from: *const u8| vcreate_u8(from.cast::<u32>().read_unaligned().into());
        let wide = vmovl_s16(vget_low_s16(vmovl_s8(disjoint_eight(four(a), four(b)))));
        Neon(vreinterpretq_s8_s32(wide), PhantomData)
    }
    /// Implements [`Lanes::lookup`].
    ///
    /// # Safety
    /// The processor has NEON. `codes` points to 4 codes.
    #[inline(always)]
    unsafe fn looked_up(table: &[i32; STEPS], codes: *const Code) -> Self {
        Self::load(lookup_each::<i32, 4>(table, codes).as_ptr())
    }
}

// SAFETY: as for `Lanes`; the 4 lanes divide BLOCK, and `transpose` accesses what its caller
// guarantees.
unsafe impl LanesI32 for Neon<i32> {
    #[inline(always)]
    unsafe fn widen(from: *const i8) -> Self {
        let bytes = vcreate_s8(from.cast::<u32>().read_unaligned().into());
        Neon(vreinterpretq_s8_s32(vmovl_s16(vget_low_s16(vmovl_s8(bytes)))), PhantomData)
    }
    #[inline(always)]
    unsafe fn where_greater(self, other: Self, then: Self, or: Self) -> Self {
        let greater = vcgtq_s32(vreinterpretq_s32_s8(self.0), vreinterpretq_s32_s8(other.0));
        Neon(vbslq_s8(vreinterpretq_u8_u32(greater), then.0, or.0), PhantomData)
    }
    #[inline(always)]
    unsafe fn transpose(rows: &[*const i8; BLOCK], to: *mut i8) {
        let mut registers: [int8x16_t; BLOCK] = array_of(|k| vld1q_s8(rows[k]));
        // Each round interleaves rows k and k + 8. After four rounds, every byte is in its column's
        // row.
        for _ in 0..4 {
            registers = array_of(|k| match k % 2 {
                0 => vzip1q_s8(registers[k / 2], registers[k / 2 + 8]),
                _ => vzip2q_s8(registers[k / 2], registers[k / 2 + 8]),
            });
        }
        for (k, row) in registers.into_iter().enumerate() {
            vst1q_s8(to.add(k * BLOCK), row);
        }
    }
}

// SAFETY: the type is used only inside functions compiled for NEON. Loads and stores access 16
// bytes at any alignment of u64.
unsafe impl LanesU64 for NeonWords {
    const COUNT: usize = 2;
    #[inline(always)]
    unsafe fn splat(word: u64) -> Self {
        NeonWords(vdupq_n_u64(word))
    }
    #[inline(always)]
    unsafe fn load(from: *const u64) -> Self {
        NeonWords(vld1q_u64(from))
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut u64) {
        vst1q_u64(to, self.0)
    }
    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        NeonWords(vaddq_u64(self.0, other.0))
    }
    #[inline(always)]
    unsafe fn and(self, other: Self) -> Self {
        NeonWords(vandq_u64(self.0, other.0))
    }
    #[inline(always)]
    unsafe fn or3(self, b: Self, c: Self) -> Self {
        NeonWords(vorrq_u64(vorrq_u64(self.0, b.0), c.0))
    }
    #[inline(always)]
    unsafe fn xor_or(self, b: Self, c: Self) -> Self {
        NeonWords(vorrq_u64(veorq_u64(self.0, b.0), c.0))
    }
    #[inline(always)]
    unsafe fn nor_xor(self, b: Self, c: Self) -> Self {
        let or = vorrq_u64(veorq_u64(self.0, b.0), c.0);
        NeonWords(vreinterpretq_u64_u8(vmvnq_u8(vreinterpretq_u8_u64(or))))
    }
    #[inline(always)]
    unsafe fn and_or(self, b: Self, c: Self) -> Self {
        NeonWords(vorrq_u64(vandq_u64(self.0, b.0), c.0))
    }
    #[inline(always)]
    unsafe fn or_nor(self, b: Self, c: Self) -> Self {
        // `orn` inverts its second input.
        NeonWords(vornq_u64(self.0, vorrq_u64(b.0, c.0)))
    }
    #[inline(always)]
    unsafe fn shift_in(self, below: Self) -> Self {
        // `sri` fills only the bits that the shift leaves free in its first input.
        NeonWords(vsriq_n_u64::<63>(vshlq_n_u64::<1>(self.0), below.0))
    }
    #[inline(always)]
    unsafe fn top_bits(self) -> Self {
        NeonWords(vshrq_n_u64::<63>(self.0))
    }
    #[inline(always)]
    unsafe fn test(self, bit: u64) -> Self {
        NeonWords(vtstq_u64(self.0, vdupq_n_u64(bit)))
    }
    #[inline(always)]
    unsafe fn shift_down(self, above: Self) -> Self {
        NeonWords(vextq_u64::<1>(self.0, above.0))
    }
    #[inline(always)]
    unsafe fn test_bytes(bytes: *const u8, mask: u8) -> u64 {
        test_each(bytes, mask)
    }
}
