//! Lanes of 8, 16 and 32 bits.
#![allow(unsafe_op_in_unsafe_fn, reason = "see the parent module")]

use std::arch::x86_64::*;
use std::marker::PhantomData;

use super::{V128, V256, V512};
use crate::seq::Code;
use crate::simd::portable::lookup_each;
use crate::simd::{Lanes, STEPS};

/// Implements [`Lanes`] from the names of the intrinsics for a register and an element width.
macro_rules! lanes {
    ($vector:ident, $register:ty, $elem:ty, $count:literal, $load:ident, $store:ident, $splat:ident, $add:ident,
     $sub:ident, $max:ident, $max_unsigned:ident, $blend:ident, $shift:ident, $equal:ident, $disjoint:ident,
     $lookup:ident) => {
        // SAFETY: the type is used only inside functions compiled for the instructions, after their
        // detection. Loads and stores access one register at any alignment.
        unsafe impl Lanes for $vector<$elem> {
            type Elem = $elem;
            const COUNT: usize = $count;
            #[inline(always)]
            unsafe fn splat(value: $elem) -> Self {
                $vector($splat(value), PhantomData)
            }
            #[inline(always)]
            unsafe fn load(from: *const $elem) -> Self {
                $vector($load(from.cast()), PhantomData)
            }
            #[inline(always)]
            unsafe fn store(self, to: *mut $elem) {
                $store(to.cast(), self.0)
            }
            #[inline(always)]
            unsafe fn add(self, other: Self) -> Self {
                $vector($add(self.0, other.0), PhantomData)
            }
            #[inline(always)]
            unsafe fn sub(self, other: Self) -> Self {
                $vector($sub(self.0, other.0), PhantomData)
            }
            #[inline(always)]
            unsafe fn max(self, other: Self) -> Self {
                $vector($max(self.0, other.0), PhantomData)
            }
            #[inline(always)]
            unsafe fn max_unsigned(self, other: Self) -> Self {
                $vector($max_unsigned(self.0, other.0), PhantomData)
            }
            #[inline(always)]
            unsafe fn exceeds(self, other: Self) -> bool {
                // Some lane is greater if the lane-wise maximum differs from `other`.
                $vector::<()>::is_another($max(self.0, other.0), other.0)
            }
            #[inline(always)]
            unsafe fn equal(self, other: Self) -> u64 {
                $equal(self.0, other.0)
            }
            #[inline(always)]
            unsafe fn shift_down(self, last: $elem) -> Self {
                $vector($shift::<{ size_of::<$elem>() as i32 }>(self.0, $splat(last)), PhantomData)
            }
            #[inline(always)]
            unsafe fn blend(self, other: Self, mask: Self) -> Self {
                $vector($blend(self.0, other.0, mask.0), PhantomData)
            }
            #[inline(always)]
            unsafe fn disjoint_bytes(a: *const u8, b: *const u8) -> Self {
                $vector($disjoint(a, b), PhantomData)
            }
            #[inline(always)]
            unsafe fn lookup(table: &[$elem; STEPS], codes: *const Code) -> Self {
                $lookup(table, codes)
            }
        }
    };
}

impl V128<()> {
    /// Returns whether `a` and `b` differ in any bit.
    ///
    /// # Safety
    /// The processor has SSE2.
    #[inline(always)]
    unsafe fn is_another(a: __m128i, b: __m128i) -> bool {
        _mm_movemask_epi8(_mm_cmpeq_epi8(a, b)) != 0xffff
    }
}

impl V256<()> {
    /// Returns whether `a` and `b` differ in any bit.
    ///
    /// # Safety
    /// The processor has AVX2.
    #[inline(always)]
    unsafe fn is_another(a: __m256i, b: __m256i) -> bool {
        _mm256_movemask_epi8(_mm256_cmpeq_epi8(a, b)) != -1
    }
}

impl V512<()> {
    /// Returns whether `a` and `b` differ in any bit.
    ///
    /// # Safety
    /// The processor has AVX-512F.
    #[inline(always)]
    unsafe fn is_another(a: __m512i, b: __m512i) -> bool {
        _mm512_cmpneq_epi64_mask(a, b) != 0
    }
}

lanes!(
    V128,
    __m128i,
    i8,
    16,
    _mm_loadu_si128,
    _mm_storeu_si128,
    _mm_set1_epi8,
    _mm_add_epi8,
    _mm_sub_epi8,
    _mm_max_epi8,
    _mm_max_epu8,
    _mm_blendv_epi8,
    shift_128,
    equal_i8_128,
    disjoint_i8_128,
    lookup_i8_128
);
lanes!(
    V128,
    __m128i,
    i16,
    8,
    _mm_loadu_si128,
    _mm_storeu_si128,
    _mm_set1_epi16,
    _mm_add_epi16,
    _mm_sub_epi16,
    _mm_max_epi16,
    _mm_max_epu16,
    _mm_blendv_epi8,
    shift_128,
    equal_i16_128,
    disjoint_i16_128,
    lookup_i16_128
);
lanes!(
    V128,
    __m128i,
    i32,
    4,
    _mm_loadu_si128,
    _mm_storeu_si128,
    _mm_set1_epi32,
    _mm_add_epi32,
    _mm_sub_epi32,
    _mm_max_epi32,
    _mm_max_epu32,
    _mm_blendv_epi8,
    shift_128,
    equal_i32_128,
    disjoint_i32_128,
    lookup_i32_128
);
lanes!(
    V256,
    __m256i,
    i8,
    32,
    _mm256_loadu_si256,
    _mm256_storeu_si256,
    _mm256_set1_epi8,
    _mm256_add_epi8,
    _mm256_sub_epi8,
    _mm256_max_epi8,
    _mm256_max_epu8,
    _mm256_blendv_epi8,
    shift_256,
    equal_i8_256,
    disjoint_i8_256,
    lookup_i8_256
);
lanes!(
    V256,
    __m256i,
    i16,
    16,
    _mm256_loadu_si256,
    _mm256_storeu_si256,
    _mm256_set1_epi16,
    _mm256_add_epi16,
    _mm256_sub_epi16,
    _mm256_max_epi16,
    _mm256_max_epu16,
    _mm256_blendv_epi8,
    shift_256,
    equal_i16_256,
    disjoint_i16_256,
    lookup_i16_256
);
lanes!(
    V256,
    __m256i,
    i32,
    8,
    _mm256_loadu_si256,
    _mm256_storeu_si256,
    _mm256_set1_epi32,
    _mm256_add_epi32,
    _mm256_sub_epi32,
    _mm256_max_epi32,
    _mm256_max_epu32,
    _mm256_blendv_epi8,
    shift_256,
    equal_i32_256,
    disjoint_i32_256,
    lookup_i32_256
);
lanes!(
    V512,
    __m512i,
    i8,
    64,
    _mm512_loadu_si512,
    _mm512_storeu_si512,
    _mm512_set1_epi8,
    _mm512_add_epi8,
    _mm512_sub_epi8,
    _mm512_max_epi8,
    _mm512_max_epu8,
    blend_512,
    shift_512,
    equal_i8_512,
    disjoint_i8_512,
    lookup_i8_512
);
lanes!(
    V512,
    __m512i,
    i16,
    32,
    _mm512_loadu_si512,
    _mm512_storeu_si512,
    _mm512_set1_epi16,
    _mm512_add_epi16,
    _mm512_sub_epi16,
    _mm512_max_epi16,
    _mm512_max_epu16,
    blend_512,
    shift_512,
    equal_i16_512,
    disjoint_i16_512,
    lookup_i16_512
);
lanes!(
    V512,
    __m512i,
    i32,
    16,
    _mm512_loadu_si512,
    _mm512_storeu_si512,
    _mm512_set1_epi32,
    _mm512_add_epi32,
    _mm512_sub_epi32,
    _mm512_max_epi32,
    _mm512_max_epu32,
    blend_512,
    shift_512,
    equal_i32_512,
    disjoint_i32_512,
    lookup_i32_512
);

/// Calls `alignr` with a constant shift. The shift depends on the element width, so there is one
/// arm for each width.
macro_rules! align_by {
    ($size:expr, $align:ident, $high:expr, $low:expr) => {
        match $size {
            1 => $align::<1>($high, $low),
            2 => $align::<2>($high, $low),
            _ => $align::<4>($high, $low),
        }
    };
}

/// Moves lanes of `SIZE` bytes down by one index. The last lane becomes the first lane of `last`.
///
/// # Safety
/// The processor has SSSE3.
#[inline(always)]
unsafe fn shift_128<const SIZE: i32>(lanes: __m128i, last: __m128i) -> __m128i {
    align_by!(SIZE, _mm_alignr_epi8, last, lanes)
}

/// Implements [`shift_128`] for 256 bits.
///
/// # Safety
/// The processor has AVX2.
#[inline(always)]
unsafe fn shift_256<const SIZE: i32>(lanes: __m256i, last: __m256i) -> __m256i {
    // `alignr` works within 128-bit halves, so each half needs its upper neighbour.
    let above = _mm256_permute2x128_si256::<0x21>(lanes, last);
    align_by!(SIZE, _mm256_alignr_epi8, above, lanes)
}

/// Implements [`shift_128`] for 512 bits.
///
/// # Safety
/// The processor has AVX-512F and AVX-512BW.
#[inline(always)]
unsafe fn shift_512<const SIZE: i32>(lanes: __m512i, last: __m512i) -> __m512i {
    if SIZE == 4 {
        return _mm512_alignr_epi32::<1>(last, lanes);
    }
    // `alignr` works within 128-bit quarters, so each quarter needs its upper neighbour.
    let above = _mm512_alignr_epi64::<2>(last, lanes);
    align_by!(SIZE, _mm512_alignr_epi8, above, lanes)
}

/// Selects the bits of `b` where the mask has ones, and the bits of `a` where it has zeros.
///
/// # Safety
/// The processor has AVX-512F.
#[inline(always)]
unsafe fn blend_512(a: __m512i, b: __m512i, mask: __m512i) -> __m512i {
    _mm512_ternarylogic_epi64::<0xca>(mask, b, a)
}

/// Sets all bits in bytes that share no bit, and none in the others.
///
/// # Safety
/// The processor has SSE2.
#[inline(always)]
unsafe fn disjoint_128(a: __m128i, b: __m128i) -> __m128i {
    _mm_cmpeq_epi8(_mm_and_si128(a, b), _mm_setzero_si128())
}

/// Implements [`Lanes::disjoint_bytes`] for 16 lanes of 8 bits.
///
/// # Safety
/// The processor has SSE2. `a` and `b` point to 16 bytes each.
#[inline(always)]
unsafe fn disjoint_i8_128(a: *const u8, b: *const u8) -> __m128i {
    disjoint_128(_mm_loadu_si128(a.cast()), _mm_loadu_si128(b.cast()))
}

/// Implements [`Lanes::disjoint_bytes`] for 8 lanes of 16 bits.
///
/// # Safety
/// The processor has SSE4.1. `a` and `b` point to 8 bytes each.
#[inline(always)]
unsafe fn disjoint_i16_128(a: *const u8, b: *const u8) -> __m128i {
    _mm_cvtepi8_epi16(disjoint_128(_mm_loadl_epi64(a.cast()), _mm_loadl_epi64(b.cast())))
}

/// Implements [`Lanes::disjoint_bytes`] for 4 lanes of 32 bits.
///
/// # Safety
/// The processor has SSE4.1. `a` and `b` point to 4 bytes each.
#[inline(always)]
unsafe fn disjoint_i32_128(a: *const u8, b: *const u8) -> __m128i {
    let four = |from: *const u8| _mm_cvtsi32_si128(from.cast::<i32>().read_unaligned());
    _mm_cvtepi8_epi32(disjoint_128(four(a), four(b)))
}

/// Implements [`Lanes::disjoint_bytes`] for 32 lanes of 8 bits.
///
/// # Safety
/// The processor has AVX2. `a` and `b` point to 32 bytes each.
#[inline(always)]
unsafe fn disjoint_i8_256(a: *const u8, b: *const u8) -> __m256i {
    let shared = _mm256_and_si256(_mm256_loadu_si256(a.cast()), _mm256_loadu_si256(b.cast()));
    _mm256_cmpeq_epi8(shared, _mm256_setzero_si256())
}

/// Implements [`Lanes::disjoint_bytes`] for 16 lanes of 16 bits.
///
/// # Safety
/// The processor has AVX2. `a` and `b` point to 16 bytes each.
#[inline(always)]
unsafe fn disjoint_i16_256(a: *const u8, b: *const u8) -> __m256i {
    _mm256_cvtepi8_epi16(disjoint_i8_128(a, b))
}

/// Implements [`Lanes::disjoint_bytes`] for 8 lanes of 32 bits.
///
/// # Safety
/// The processor has AVX2. `a` and `b` point to 8 bytes each.
#[inline(always)]
unsafe fn disjoint_i32_256(a: *const u8, b: *const u8) -> __m256i {
    _mm256_cvtepi8_epi32(disjoint_128(_mm_loadl_epi64(a.cast()), _mm_loadl_epi64(b.cast())))
}

/// Implements [`Lanes::disjoint_bytes`] for 64 lanes of 8 bits.
///
/// # Safety
/// The processor has AVX-512F and AVX-512BW. `a` and `b` point to 64 bytes each.
#[inline(always)]
unsafe fn disjoint_i8_512(a: *const u8, b: *const u8) -> __m512i {
    _mm512_movm_epi8(_mm512_testn_epi8_mask(_mm512_loadu_si512(a.cast()), _mm512_loadu_si512(b.cast())))
}

/// Implements [`Lanes::equal`] for 16 lanes of 8 bits.
///
/// # Safety
/// The processor has SSE2.
#[inline(always)]
unsafe fn equal_i8_128(a: __m128i, b: __m128i) -> u64 {
    _mm_movemask_epi8(_mm_cmpeq_epi8(a, b)) as u64
}

/// Implements [`Lanes::equal`] for 8 lanes of 16 bits. Each lane of the comparison is packed into a
/// byte, and the signs of the bytes are the mask.
///
/// # Safety
/// The processor has SSE2.
#[inline(always)]
unsafe fn equal_i16_128(a: __m128i, b: __m128i) -> u64 {
    _mm_movemask_epi8(_mm_packs_epi16(_mm_cmpeq_epi16(a, b), _mm_setzero_si128())) as u64
}

/// Implements [`Lanes::equal`] for 4 lanes of 32 bits.
///
/// # Safety
/// The processor has SSE2.
#[inline(always)]
unsafe fn equal_i32_128(a: __m128i, b: __m128i) -> u64 {
    _mm_movemask_ps(_mm_castsi128_ps(_mm_cmpeq_epi32(a, b))) as u64
}

/// Implements [`Lanes::equal`] for 32 lanes of 8 bits.
///
/// # Safety
/// The processor has AVX2.
#[inline(always)]
unsafe fn equal_i8_256(a: __m256i, b: __m256i) -> u64 {
    (_mm256_movemask_epi8(_mm256_cmpeq_epi8(a, b)) as u32).into()
}

/// Implements [`Lanes::equal`] for 16 lanes of 16 bits. Packing works within 128-bit halves, so
/// each half gives one byte of the mask.
///
/// # Safety
/// The processor has AVX2.
#[inline(always)]
unsafe fn equal_i16_256(a: __m256i, b: __m256i) -> u64 {
    let halves = _mm256_movemask_epi8(_mm256_packs_epi16(_mm256_cmpeq_epi16(a, b), _mm256_setzero_si256())) as u64;
    halves & 0xff | halves >> 8 & 0xff00
}

/// Implements [`Lanes::equal`] for 8 lanes of 32 bits.
///
/// # Safety
/// The processor has AVX2.
#[inline(always)]
unsafe fn equal_i32_256(a: __m256i, b: __m256i) -> u64 {
    _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(a, b))) as u64
}

/// Implements [`Lanes::equal`] for 64 lanes of 8 bits.
///
/// # Safety
/// The processor has AVX-512F and AVX-512BW.
#[inline(always)]
unsafe fn equal_i8_512(a: __m512i, b: __m512i) -> u64 {
    _mm512_cmpeq_epi8_mask(a, b)
}

/// Implements [`Lanes::equal`] for 32 lanes of 16 bits.
///
/// # Safety
/// The processor has AVX-512F and AVX-512BW.
#[inline(always)]
unsafe fn equal_i16_512(a: __m512i, b: __m512i) -> u64 {
    _mm512_cmpeq_epi16_mask(a, b).into()
}

/// Implements [`Lanes::equal`] for 16 lanes of 32 bits.
///
/// # Safety
/// The processor has AVX-512F.
#[inline(always)]
unsafe fn equal_i32_512(a: __m512i, b: __m512i) -> u64 {
    _mm512_cmpeq_epi32_mask(a, b).into()
}

/// Implements [`Lanes::disjoint_bytes`] for 32 lanes of 16 bits.
///
/// # Safety
/// The processor has AVX-512F and AVX-512BW. `a` and `b` point to 32 bytes each.
#[inline(always)]
unsafe fn disjoint_i16_512(a: *const u8, b: *const u8) -> __m512i {
    _mm512_cvtepi8_epi16(disjoint_i8_256(a, b))
}

/// Implements [`Lanes::disjoint_bytes`] for 16 lanes of 32 bits.
///
/// # Safety
/// The processor has AVX-512F. `a` and `b` point to 16 bytes each.
#[inline(always)]
unsafe fn disjoint_i32_512(a: *const u8, b: *const u8) -> __m512i {
    _mm512_cvtepi8_epi32(disjoint_i8_128(a, b))
}

/// Implements [`Lanes::lookup`] for 16 lanes of 8 bits. The table of 32 bytes fills two registers.
/// Bit 4 of each code, shifted to the top of its byte, selects the register.
///
/// # Safety
/// The processor has SSE4.1. `codes` points to 16 codes.
#[inline(always)]
unsafe fn lookup_i8_128(table: &[i8; STEPS], codes: *const Code) -> V128<i8> {
    let (low, high) = (_mm_loadu_si128(table.as_ptr().cast()), _mm_loadu_si128(table.as_ptr().add(16).cast()));
    let codes = _mm_loadu_si128(codes.cast());
    let (low, high) = (_mm_shuffle_epi8(low, codes), _mm_shuffle_epi8(high, codes));
    V128(_mm_blendv_epi8(low, high, _mm_slli_epi16::<3>(codes)), PhantomData)
}

/// Implements [`Lanes::lookup`] for 32 lanes of 8 bits.
///
/// # Safety
/// The processor has AVX2. `codes` points to 32 codes.
#[inline(always)]
unsafe fn lookup_i8_256(table: &[i8; STEPS], codes: *const Code) -> V256<i8> {
    let half = |from: *const i8| _mm256_broadcastsi128_si256(_mm_loadu_si128(from.cast()));
    let (low, high) = (half(table.as_ptr()), half(table.as_ptr().add(16)));
    let codes = _mm256_loadu_si256(codes.cast());
    let (low, high) = (_mm256_shuffle_epi8(low, codes), _mm256_shuffle_epi8(high, codes));
    V256(_mm256_blendv_epi8(low, high, _mm256_slli_epi16::<3>(codes)), PhantomData)
}

/// Implements [`Lanes::lookup`] for 64 lanes of 8 bits.
///
/// # Safety
/// The processor has AVX-512F and AVX-512BW. `codes` points to 64 codes.
#[inline(always)]
unsafe fn lookup_i8_512(table: &[i8; STEPS], codes: *const Code) -> V512<i8> {
    let quarter = |from: *const i8| _mm512_broadcast_i32x4(_mm_loadu_si128(from.cast()));
    let (low, high) = (quarter(table.as_ptr()), quarter(table.as_ptr().add(16)));
    let codes = _mm512_loadu_si512(codes.cast());
    let is_high = _mm512_test_epi8_mask(codes, _mm512_set1_epi8(16));
    let low = _mm512_shuffle_epi8(low, codes);
    V512(_mm512_mask_shuffle_epi8(low, is_high, high, codes), PhantomData)
}

/// Implements [`Lanes::lookup`] for 8 lanes of 16 bits.
///
/// # Safety
/// The processor has SSE2. `codes` points to 8 codes.
#[inline(always)]
unsafe fn lookup_i16_128(table: &[i16; STEPS], codes: *const Code) -> V128<i16> {
    V128::load(lookup_each::<i16, 8>(table, codes).as_ptr())
}

/// Implements [`Lanes::lookup`] for 16 lanes of 16 bits.
///
/// # Safety
/// The processor has AVX2. `codes` points to 16 codes.
#[inline(always)]
unsafe fn lookup_i16_256(table: &[i16; STEPS], codes: *const Code) -> V256<i16> {
    V256::load(lookup_each::<i16, 16>(table, codes).as_ptr())
}

/// Implements [`Lanes::lookup`] for 32 lanes of 16 bits.
///
/// # Safety
/// The processor has AVX-512F and AVX-512BW. `codes` points to 32 codes.
#[inline(always)]
unsafe fn lookup_i16_512(table: &[i16; STEPS], codes: *const Code) -> V512<i16> {
    let codes = _mm512_cvtepu8_epi16(_mm256_loadu_si256(codes.cast()));
    V512(_mm512_permutexvar_epi16(codes, _mm512_loadu_si512(table.as_ptr().cast())), PhantomData)
}

/// Implements [`Lanes::lookup`] for 4 lanes of 32 bits.
///
/// # Safety
/// The processor has SSE2. `codes` points to 4 codes.
#[inline(always)]
unsafe fn lookup_i32_128(table: &[i32; STEPS], codes: *const Code) -> V128<i32> {
    V128::load(lookup_each::<i32, 4>(table, codes).as_ptr())
}

/// Implements [`Lanes::lookup`] for 8 lanes of 32 bits.
///
/// # Safety
/// The processor has AVX2. `codes` points to 8 codes.
#[inline(always)]
unsafe fn lookup_i32_256(table: &[i32; STEPS], codes: *const Code) -> V256<i32> {
    let codes = _mm256_cvtepu8_epi32(_mm_loadl_epi64(codes.cast()));
    // The gather reads any address that an index leads to, so indices are masked to the table.
    let codes = _mm256_and_si256(codes, _mm256_set1_epi32(STEPS as i32 - 1));
    V256(_mm256_i32gather_epi32::<4>(table.as_ptr(), codes), PhantomData)
}

/// Implements [`Lanes::lookup`] for 16 lanes of 32 bits.
///
/// # Safety
/// The processor has AVX-512F. `codes` points to 16 codes.
#[inline(always)]
unsafe fn lookup_i32_512(table: &[i32; STEPS], codes: *const Code) -> V512<i32> {
    let codes = _mm512_cvtepu8_epi32(_mm_loadu_si128(codes.cast()));
    let (low, high) = (table.as_ptr().cast(), table.as_ptr().add(16).cast());
    V512(_mm512_permutex2var_epi32(_mm512_loadu_si512(low), codes, _mm512_loadu_si512(high)), PhantomData)
}
