//! Additional operations of 32-bit lanes, for score tiles and the traceback.
#![allow(unsafe_op_in_unsafe_fn, reason = "see the parent module")]

use std::arch::x86_64::*;
use std::marker::PhantomData;

use super::{V128, V256, V512};
use crate::seq::Code;
use crate::simd::{BLOCK, EightLanes, LanesI32, array_of};

/// Implements [`LanesI32::transpose`] in four rounds of interleaving 128-bit registers.
///
/// # Safety
/// The processor has SSE2. Each of the rows points to [`BLOCK`] bytes, and `to` to [`BLOCK`]
/// squared bytes that may be written.
#[inline(always)]
unsafe fn transpose_bytes(rows: &[*const i8; BLOCK], to: *mut i8) {
    let mut registers: [__m128i; BLOCK] = array_of(|k| _mm_loadu_si128(rows[k].cast()));
    // Each round interleaves rows k and k + 8. After four rounds, every byte is in its column's
    // row.
    for _ in 0..4 {
        registers = array_of(|k| match k % 2 {
            0 => _mm_unpacklo_epi8(registers[k / 2], registers[k / 2 + 8]),
            _ => _mm_unpackhi_epi8(registers[k / 2], registers[k / 2 + 8]),
        });
    }
    for (k, row) in registers.into_iter().enumerate() {
        _mm_storeu_si128(to.add(k * BLOCK).cast(), row);
    }
}

// SAFETY: the type is used only inside functions compiled for SSE4.1, after its detection. Loads
// and stores access COUNT elements at any alignment; `transpose` accesses what its caller
// guarantees.
unsafe impl LanesI32 for V128<i32> {
    #[inline(always)]
    unsafe fn widen(from: *const i8) -> Self {
        V128(_mm_cvtepi8_epi32(_mm_cvtsi32_si128(from.cast::<i32>().read_unaligned())), PhantomData)
    }
    #[inline(always)]
    unsafe fn where_greater(self, other: Self, then: Self, or: Self) -> Self {
        V128(_mm_blendv_epi8(or.0, then.0, _mm_cmpgt_epi32(self.0, other.0)), PhantomData)
    }
    #[inline(always)]
    unsafe fn transpose(rows: &[*const i8; BLOCK], to: *mut i8) {
        transpose_bytes(rows, to)
    }
}

// SAFETY: as for SSE4.1, with AVX2.
unsafe impl LanesI32 for V256<i32> {
    #[inline(always)]
    unsafe fn widen(from: *const i8) -> Self {
        V256(_mm256_cvtepi8_epi32(_mm_loadl_epi64(from.cast())), PhantomData)
    }
    #[inline(always)]
    unsafe fn where_greater(self, other: Self, then: Self, or: Self) -> Self {
        V256(_mm256_blendv_epi8(or.0, then.0, _mm256_cmpgt_epi32(self.0, other.0)), PhantomData)
    }
    #[inline(always)]
    unsafe fn transpose(rows: &[*const i8; BLOCK], to: *mut i8) {
        transpose_bytes(rows, to)
    }
}

// SAFETY: as for SSE4.1, with AVX-512F and AVX-512BW.
unsafe impl LanesI32 for V512<i32> {
    #[inline(always)]
    unsafe fn widen(from: *const i8) -> Self {
        V512(_mm512_cvtepi8_epi32(_mm_loadu_si128(from.cast())), PhantomData)
    }
    #[inline(always)]
    unsafe fn where_greater(self, other: Self, then: Self, or: Self) -> Self {
        V512(_mm512_mask_mov_epi32(or.0, _mm512_cmpgt_epi32_mask(self.0, other.0), then.0), PhantomData)
    }
    #[inline(always)]
    unsafe fn transpose(rows: &[*const i8; BLOCK], to: *mut i8) {
        // Quarter q of register k contains row 4 q + k.
        let four = |k: usize| {
            let quarter = |q: usize| _mm_loadu_si128(rows[4 * q + k].cast());
            let low = _mm512_inserti32x4::<1>(_mm512_castsi128_si512(quarter(0)), quarter(1));
            _mm512_inserti32x4::<3>(_mm512_inserti32x4::<2>(low, quarter(2)), quarter(3))
        };
        let rows: [__m512i; 4] = [four(0), four(1), four(2), four(3)];
        let low = (_mm512_unpacklo_epi8(rows[0], rows[1]), _mm512_unpacklo_epi8(rows[2], rows[3]));
        let high = (_mm512_unpackhi_epi8(rows[0], rows[1]), _mm512_unpackhi_epi8(rows[2], rows[3]));
        // In quarter q of register k, the 32-bit lane c contains bytes 4 k + c of rows 4 q to 4 q +
        // 3.
        let quads = [
            _mm512_unpacklo_epi16(low.0, low.1),
            _mm512_unpackhi_epi16(low.0, low.1),
            _mm512_unpacklo_epi16(high.0, high.1),
            _mm512_unpackhi_epi16(high.0, high.1),
        ];
        let turn = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
        for (k, quads) in quads.into_iter().enumerate() {
            _mm512_storeu_si512(to.add(64 * k).cast(), _mm512_permutexvar_epi32(turn, quads));
        }
    }
}

/// Loads eight codes into the low half of a register.
///
/// # Safety
/// The processor has SSE2.
#[inline(always)]
unsafe fn codes(codes: &[Code; 8]) -> __m128i {
    _mm_cvtsi64_si128(i64::from_le_bytes(*codes))
}

// SAFETY: the type is used only inside functions compiled for AVX2, after its detection. There are
// eight lanes.
unsafe impl EightLanes for V256<i32> {
    #[inline(always)]
    unsafe fn equal_mask(self, other: Self) -> Self {
        V256(_mm256_cmpeq_epi32(self.0, other.0), PhantomData)
    }
    #[inline(always)]
    unsafe fn and(self, other: Self) -> Self {
        V256(_mm256_and_si256(self.0, other.0), PhantomData)
    }
    #[inline(always)]
    unsafe fn or(self, other: Self) -> Self {
        V256(_mm256_or_si256(self.0, other.0), PhantomData)
    }
    #[inline(always)]
    unsafe fn and_not(self, mask: Self) -> Self {
        V256(_mm256_andnot_si256(mask.0, self.0), PhantomData)
    }
    #[inline(always)]
    unsafe fn shift_up_from(self, below: Self) -> Self {
        // Rotates both vectors. The rotation of `self` serves again as `below` of the next vector.
        let rotate = _mm256_setr_epi32(7, 0, 1, 2, 3, 4, 5, 6);
        let (lanes, below) =
            (_mm256_permutevar8x32_epi32(self.0, rotate), _mm256_permutevar8x32_epi32(below.0, rotate));
        V256(_mm256_blend_epi32::<1>(lanes, below), PhantomData)
    }
    #[inline(always)]
    unsafe fn shift_down_from(self, above: Self) -> Self {
        let rotate = _mm256_setr_epi32(1, 2, 3, 4, 5, 6, 7, 0);
        let (lanes, above) =
            (_mm256_permutevar8x32_epi32(self.0, rotate), _mm256_permutevar8x32_epi32(above.0, rotate));
        V256(_mm256_blend_epi32::<0x80>(lanes, above), PhantomData)
    }
    #[inline(always)]
    unsafe fn disjoint(a: &[Code; 8], b: &[Code; 8]) -> Self {
        let shared = _mm_cvtsi64_si128(i64::from_le_bytes(*a) & i64::from_le_bytes(*b));
        V256(_mm256_cvtepi8_epi32(_mm_cmpeq_epi8(shared, _mm_setzero_si128())), PhantomData)
    }
    #[inline(always)]
    unsafe fn same_codes(a: &[Code; 8], b: &[Code; 8]) -> Self {
        V256(_mm256_cvtepi8_epi32(_mm_cmpeq_epi8(codes(a), codes(b))), PhantomData)
    }
    #[inline(always)]
    unsafe fn to_bytes(self) -> [u8; 8] {
        let halves = _mm_packs_epi32(_mm256_castsi256_si128(self.0), _mm256_extracti128_si256::<1>(self.0));
        _mm_cvtsi128_si64(_mm_packus_epi16(halves, halves)).to_le_bytes()
    }
}
