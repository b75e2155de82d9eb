//! Lanes of 64 bits.
#![allow(unsafe_op_in_unsafe_fn, reason = "see the parent module")]

use std::arch::x86_64::*;
use std::marker::PhantomData;

use super::{V128, V256, V512, V512Vbmi2};
use crate::simd::LanesU64;

/// Implements [`LanesU64`] from the names of the intrinsics for registers of 128 and 256 bits.
/// These have no ternary logic.
macro_rules! words {
    ($vector:ident, $count:literal, $load:ident, $store:ident, $splat:ident, $add:ident, $and:ident, $or:ident,
     $xor:ident, $down:ident, $equal:ident, $equal_bytes:ident, $splat_byte:ident, $zero:ident, $mask:ident,
     $shift_down:ident) => {
        // SAFETY: the type is used only inside functions compiled for the instructions, after their
        // detection. Loads and stores access one register at any alignment.
        unsafe impl LanesU64 for $vector<u64> {
            const COUNT: usize = $count;
            #[inline(always)]
            unsafe fn splat(word: u64) -> Self {
                $vector($splat(word as i64), PhantomData)
            }
            #[inline(always)]
            unsafe fn load(from: *const u64) -> Self {
                $vector($load(from.cast()), PhantomData)
            }
            #[inline(always)]
            unsafe fn store(self, to: *mut u64) {
                $store(to.cast(), self.0)
            }
            #[inline(always)]
            unsafe fn add(self, other: Self) -> Self {
                $vector($add(self.0, other.0), PhantomData)
            }
            #[inline(always)]
            unsafe fn and(self, other: Self) -> Self {
                $vector($and(self.0, other.0), PhantomData)
            }
            #[inline(always)]
            unsafe fn or3(self, b: Self, c: Self) -> Self {
                $vector($or($or(self.0, b.0), c.0), PhantomData)
            }
            #[inline(always)]
            unsafe fn xor_or(self, b: Self, c: Self) -> Self {
                $vector($or($xor(self.0, b.0), c.0), PhantomData)
            }
            #[inline(always)]
            unsafe fn nor_xor(self, b: Self, c: Self) -> Self {
                $vector($xor($or($xor(self.0, b.0), c.0), $splat(-1)), PhantomData)
            }
            #[inline(always)]
            unsafe fn and_or(self, b: Self, c: Self) -> Self {
                $vector($or($and(self.0, b.0), c.0), PhantomData)
            }
            #[inline(always)]
            unsafe fn or_nor(self, b: Self, c: Self) -> Self {
                $vector($or(self.0, $xor($or(b.0, c.0), $splat(-1))), PhantomData)
            }
            #[inline(always)]
            unsafe fn shift_in(self, below: Self) -> Self {
                $vector($or($add(self.0, self.0), $down::<63>(below.0)), PhantomData)
            }
            #[inline(always)]
            unsafe fn top_bits(self) -> Self {
                $vector($down::<63>(self.0), PhantomData)
            }
            #[inline(always)]
            unsafe fn test(self, bit: u64) -> Self {
                let bit = $splat(bit as i64);
                $vector($equal($and(self.0, bit), bit), PhantomData)
            }
            #[inline(always)]
            unsafe fn shift_down(self, above: Self) -> Self {
                $vector($shift_down(self.0, above.0), PhantomData)
            }
            #[inline(always)]
            unsafe fn test_bytes(bytes: *const u8, mask: u8) -> u64 {
                const BYTES: usize = 8 * $count;
                let mut bits = 0;
                for k in 0..64 / BYTES {
                    let masked = $and($load(bytes.add(BYTES * k).cast()), $splat_byte(mask as i8));
                    let zeros = $mask($equal_bytes(masked, $zero())) as u32;
                    bits |= u64::from(!zeros & (u32::MAX >> (32 - BYTES))) << (BYTES * k);
                }
                bits
            }
        }
    };
}

words!(
    V128,
    2,
    _mm_loadu_si128,
    _mm_storeu_si128,
    _mm_set1_epi64x,
    _mm_add_epi64,
    _mm_and_si128,
    _mm_or_si128,
    _mm_xor_si128,
    _mm_srli_epi64,
    _mm_cmpeq_epi64,
    _mm_cmpeq_epi8,
    _mm_set1_epi8,
    _mm_setzero_si128,
    _mm_movemask_epi8,
    shift_down_128
);
words!(
    V256,
    4,
    _mm256_loadu_si256,
    _mm256_storeu_si256,
    _mm256_set1_epi64x,
    _mm256_add_epi64,
    _mm256_and_si256,
    _mm256_or_si256,
    _mm256_xor_si256,
    _mm256_srli_epi64,
    _mm256_cmpeq_epi64,
    _mm256_cmpeq_epi8,
    _mm256_set1_epi8,
    _mm256_setzero_si256,
    _mm256_movemask_epi8,
    shift_down_256
);

/// Implements [`LanesU64::shift_down`] for 128 bits.
///
/// # Safety
/// The processor has SSSE3.
#[inline(always)]
unsafe fn shift_down_128(words: __m128i, above: __m128i) -> __m128i {
    _mm_alignr_epi8::<8>(above, words)
}

/// Implements [`LanesU64::shift_down`] for 256 bits.
///
/// # Safety
/// The processor has AVX2.
#[inline(always)]
unsafe fn shift_down_256(words: __m256i, above: __m256i) -> __m256i {
    // Replaces the lowest lane by the first of `above`, and then rotates all lanes down by one.
    _mm256_permute4x64_epi64::<0b00_11_10_01>(_mm256_blend_epi32::<0b11>(words, above))
}

/// Implements [`LanesU64`] for 512 bits. The constants of ternary logic are truth tables: bit 4 a +
/// 2 b + c is the result for inputs a, b and c.
macro_rules! words_512 {
    ($vector:ident, $shift_in:ident) => {
        // SAFETY: the type is used only inside functions compiled for the instructions, after their
        // detection. Loads and stores access one register at any alignment.
        unsafe impl LanesU64 for $vector<u64> {
            const COUNT: usize = 8;
            #[inline(always)]
            unsafe fn splat(word: u64) -> Self {
                $vector(_mm512_set1_epi64(word as i64), PhantomData)
            }
            #[inline(always)]
            unsafe fn load(from: *const u64) -> Self {
                $vector(_mm512_loadu_si512(from.cast()), PhantomData)
            }
            #[inline(always)]
            unsafe fn store(self, to: *mut u64) {
                _mm512_storeu_si512(to.cast(), self.0)
            }
            #[inline(always)]
            unsafe fn add(self, other: Self) -> Self {
                $vector(_mm512_add_epi64(self.0, other.0), PhantomData)
            }
            #[inline(always)]
            unsafe fn and(self, other: Self) -> Self {
                $vector(_mm512_and_si512(self.0, other.0), PhantomData)
            }
            #[inline(always)]
            unsafe fn or3(self, b: Self, c: Self) -> Self {
                $vector(_mm512_ternarylogic_epi64::<0b1111_1110>(self.0, b.0, c.0), PhantomData)
            }
            #[inline(always)]
            unsafe fn xor_or(self, b: Self, c: Self) -> Self {
                $vector(_mm512_ternarylogic_epi64::<0b1011_1110>(self.0, b.0, c.0), PhantomData)
            }
            #[inline(always)]
            unsafe fn nor_xor(self, b: Self, c: Self) -> Self {
                $vector(_mm512_ternarylogic_epi64::<0b0100_0001>(self.0, b.0, c.0), PhantomData)
            }
            #[inline(always)]
            unsafe fn and_or(self, b: Self, c: Self) -> Self {
                $vector(_mm512_ternarylogic_epi64::<0b1110_1010>(self.0, b.0, c.0), PhantomData)
            }
            #[inline(always)]
            unsafe fn or_nor(self, b: Self, c: Self) -> Self {
                $vector(_mm512_ternarylogic_epi64::<0b1111_0001>(self.0, b.0, c.0), PhantomData)
            }
            #[inline(always)]
            unsafe fn shift_in(self, below: Self) -> Self {
                $vector($shift_in(self.0, below.0), PhantomData)
            }
            #[inline(always)]
            unsafe fn top_bits(self) -> Self {
                $vector(_mm512_srli_epi64::<63>(self.0), PhantomData)
            }
            #[inline(always)]
            unsafe fn test(self, bit: u64) -> Self {
                let mask = _mm512_test_epi64_mask(self.0, _mm512_set1_epi64(bit as i64));
                $vector(_mm512_maskz_set1_epi64(mask, -1), PhantomData)
            }
            #[inline(always)]
            unsafe fn shift_down(self, above: Self) -> Self {
                $vector(_mm512_alignr_epi64::<1>(above.0, self.0), PhantomData)
            }
            #[inline(always)]
            unsafe fn test_bytes(bytes: *const u8, mask: u8) -> u64 {
                _mm512_test_epi8_mask(_mm512_loadu_si512(bytes.cast()), _mm512_set1_epi8(mask as i8))
            }
        }
    };
}

words_512!(V512, shift_in_by_two);
words_512!(V512Vbmi2, shift_in_at_once);

/// Implements [`LanesU64::shift_in`] with two shifts and an OR.
///
/// # Safety
/// The processor has AVX-512F.
#[inline(always)]
unsafe fn shift_in_by_two(words: __m512i, below: __m512i) -> __m512i {
    _mm512_or_si512(_mm512_add_epi64(words, words), _mm512_srli_epi64::<63>(below))
}

/// Implements [`LanesU64::shift_in`] with one funnel shift.
///
/// # Safety
/// The processor has AVX-512F and AVX-512VBMI2.
#[inline(always)]
unsafe fn shift_in_at_once(words: __m512i, below: __m512i) -> __m512i {
    _mm512_shldi_epi64::<1>(words, below)
}
