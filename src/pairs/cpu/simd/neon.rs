//! Vectors of AArch64 (NEON).

use std::arch::aarch64::*;
use std::marker::PhantomData;

use super::portable::lookup_each;
use super::{Lanes, STEPS};
use crate::seq::Code;

/// One register of 128 bits, seen as bytes.
#[derive(Clone, Copy)]
pub struct Neon<E>(int8x16_t, PhantomData<E>);

macro_rules! lanes {
    ($elem:ty, $count:literal, $splat:ident, $add:ident, $sub:ident, $max:ident, $max_unsigned:ident, $to:ident,
     $to_unsigned:ident, $from:ident, $from_unsigned:ident, $size:literal) => {
        // SAFETY: used only inside functions compiled for NEON; loads and stores are of 16 bytes at any alignment.
        unsafe impl Lanes for Neon<$elem> {
            type Elem = $elem;
            const COUNT: usize = $count;
            #[inline(always)]
            unsafe fn splat(value: $elem) -> Self {
                Neon(unsafe { $from($splat(value)) }, PhantomData)
            }
            #[inline(always)]
            unsafe fn load(from: *const $elem) -> Self {
                Neon(unsafe { vld1q_s8(from.cast()) }, PhantomData)
            }
            #[inline(always)]
            unsafe fn store(self, to: *mut $elem) {
                unsafe { vst1q_s8(to.cast(), self.0) }
            }
            #[inline(always)]
            unsafe fn add(self, other: Self) -> Self {
                Neon(unsafe { $from($add($to(self.0), $to(other.0))) }, PhantomData)
            }
            #[inline(always)]
            unsafe fn sub(self, other: Self) -> Self {
                Neon(unsafe { $from($sub($to(self.0), $to(other.0))) }, PhantomData)
            }
            #[inline(always)]
            unsafe fn max(self, other: Self) -> Self {
                Neon(unsafe { $from($max($to(self.0), $to(other.0))) }, PhantomData)
            }
            #[inline(always)]
            unsafe fn max_unsigned(self, other: Self) -> Self {
                let max = unsafe { $max_unsigned($to_unsigned(self.0), $to_unsigned(other.0)) };
                Neon(unsafe { $from_unsigned(max) }, PhantomData)
            }
            #[inline(always)]
            unsafe fn shift_down(self, last: $elem) -> Self {
                Neon(unsafe { vextq_s8::<$size>(self.0, Self::splat(last).0) }, PhantomData)
            }
            #[inline(always)]
            unsafe fn blend(self, other: Self, mask: Self) -> Self {
                Neon(unsafe { vbslq_s8(vreinterpretq_u8_s8(mask.0), other.0, self.0) }, PhantomData)
            }
            #[inline(always)]
            unsafe fn lookup(table: &[$elem; STEPS], codes: *const Code) -> Self {
                unsafe { Self::looked_up(table, codes) }
            }
        }
    };
}

/// The register is kept as bytes already.
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

impl Neon<i8> {
    #[inline(always)]
    unsafe fn looked_up(table: &[i8; STEPS], codes: *const Code) -> Self {
        unsafe {
            let halves = int8x16x2_t(vld1q_s8(table.as_ptr()), vld1q_s8(table.as_ptr().add(16)));
            Neon(vqtbl2q_s8(halves, vld1q_u8(codes)), PhantomData)
        }
    }
}

impl Neon<i16> {
    #[inline(always)]
    unsafe fn looked_up(table: &[i16; STEPS], codes: *const Code) -> Self {
        unsafe { Self::load(lookup_each::<i16, 8>(table, codes).as_ptr()) }
    }
}

impl Neon<i32> {
    #[inline(always)]
    unsafe fn looked_up(table: &[i32; STEPS], codes: *const Code) -> Self {
        unsafe { Self::load(lookup_each::<i32, 4>(table, codes).as_ptr()) }
    }
}
