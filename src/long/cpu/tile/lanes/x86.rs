//! Vectors of x86-64.

use std::arch::x86_64::*;

use super::{BLOCK, Lanes};

/// [`Lanes::transpose`] with SSE2, which every x86-64 has: four rounds, each doubling what lies side by side.
#[inline(always)]
unsafe fn transpose_bytes(rows: &[*const i8; BLOCK], to: *mut i8) {
    // SAFETY: the caller's: 16 bytes a row, 256 of the result.
    unsafe {
        let mut now: [__m128i; BLOCK] = std::array::from_fn(|k| _mm_loadu_si128(rows[k].cast()));
        // A round interleaves rows k and k + 8; after four, every byte has gone round to its column's row.
        for _ in 0..4 {
            now = std::array::from_fn(|k| match k % 2 {
                0 => _mm_unpacklo_epi8(now[k / 2], now[k / 2 + 8]),
                _ => _mm_unpackhi_epi8(now[k / 2], now[k / 2 + 8]),
            });
        }
        for (k, row) in now.into_iter().enumerate() {
            _mm_storeu_si128(to.add(k * BLOCK).cast(), row);
        }
    }
}

/// One register of 128 bits with what every x86-64 has (SSE2).
#[derive(Clone, Copy)]
pub struct Sse2(__m128i);

// SAFETY: every x86-64 has SSE2; loads and stores are of COUNT elements at any alignment.
unsafe impl Lanes for Sse2 {
    const COUNT: usize = 4;
    #[inline(always)]
    unsafe fn splat(value: i32) -> Self {
        Sse2(unsafe { _mm_set1_epi32(value) })
    }
    #[inline(always)]
    unsafe fn load(from: *const i32) -> Self {
        Sse2(unsafe { _mm_loadu_si128(from.cast()) })
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut i32) {
        unsafe { _mm_storeu_si128(to.cast(), self.0) }
    }
    #[inline(always)]
    unsafe fn widen(from: *const i8) -> Self {
        // Bytes at the top of their doubles, then shifted down with their signs.
        unsafe {
            let bytes = _mm_cvtsi32_si128(from.cast::<i32>().read_unaligned());
            let zero = _mm_setzero_si128();
            Sse2(_mm_srai_epi32::<24>(_mm_unpacklo_epi16(zero, _mm_unpacklo_epi8(zero, bytes))))
        }
    }
    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        Sse2(unsafe { _mm_add_epi32(self.0, other.0) })
    }
    #[inline(always)]
    unsafe fn sub(self, other: Self) -> Self {
        Sse2(unsafe { _mm_sub_epi32(self.0, other.0) })
    }
    #[inline(always)]
    unsafe fn max(self, other: Self) -> Self {
        unsafe {
            let greater = _mm_cmpgt_epi32(self.0, other.0);
            Sse2(_mm_or_si128(_mm_and_si128(greater, self.0), _mm_andnot_si128(greater, other.0)))
        }
    }
    #[inline(always)]
    unsafe fn equal(self, other: Self) -> u64 {
        unsafe { _mm_movemask_ps(_mm_castsi128_ps(_mm_cmpeq_epi32(self.0, other.0))) as u64 }
    }
    #[inline(always)]
    unsafe fn shift_down(self, last: i32) -> Self {
        unsafe { Sse2(_mm_or_si128(_mm_srli_si128::<4>(self.0), _mm_slli_si128::<12>(_mm_cvtsi32_si128(last)))) }
    }
    #[inline(always)]
    unsafe fn transpose(rows: &[*const i8; BLOCK], to: *mut i8) {
        unsafe { transpose_bytes(rows, to) }
    }
}

/// One register of 256 bits.
#[derive(Clone, Copy)]
pub struct Avx2(__m256i);

// SAFETY: used only inside functions compiled for AVX2, after its detection.
unsafe impl Lanes for Avx2 {
    const COUNT: usize = 8;
    #[inline(always)]
    unsafe fn splat(value: i32) -> Self {
        Avx2(unsafe { _mm256_set1_epi32(value) })
    }
    #[inline(always)]
    unsafe fn load(from: *const i32) -> Self {
        Avx2(unsafe { _mm256_loadu_si256(from.cast()) })
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut i32) {
        unsafe { _mm256_storeu_si256(to.cast(), self.0) }
    }
    #[inline(always)]
    unsafe fn widen(from: *const i8) -> Self {
        Avx2(unsafe { _mm256_cvtepi8_epi32(_mm_loadl_epi64(from.cast())) })
    }
    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        Avx2(unsafe { _mm256_add_epi32(self.0, other.0) })
    }
    #[inline(always)]
    unsafe fn sub(self, other: Self) -> Self {
        Avx2(unsafe { _mm256_sub_epi32(self.0, other.0) })
    }
    #[inline(always)]
    unsafe fn max(self, other: Self) -> Self {
        Avx2(unsafe { _mm256_max_epi32(self.0, other.0) })
    }
    #[inline(always)]
    unsafe fn equal(self, other: Self) -> u64 {
        unsafe { _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(self.0, other.0))) as u64 }
    }
    #[inline(always)]
    unsafe fn shift_down(self, last: i32) -> Self {
        // `alignr` works within halves: the upper neighbours' half first.
        unsafe {
            let above = _mm256_permute2x128_si256::<0x21>(self.0, _mm256_set1_epi32(last));
            Avx2(_mm256_alignr_epi8::<4>(above, self.0))
        }
    }
    #[inline(always)]
    unsafe fn transpose(rows: &[*const i8; BLOCK], to: *mut i8) {
        unsafe { transpose_bytes(rows, to) }
    }
}

/// One register of 512 bits.
#[derive(Clone, Copy)]
pub struct Avx512(__m512i);

// SAFETY: used only inside functions compiled for AVX-512F and AVX-512BW, after their detection.
unsafe impl Lanes for Avx512 {
    const COUNT: usize = 16;
    #[inline(always)]
    unsafe fn splat(value: i32) -> Self {
        Avx512(unsafe { _mm512_set1_epi32(value) })
    }
    #[inline(always)]
    unsafe fn load(from: *const i32) -> Self {
        Avx512(unsafe { _mm512_loadu_si512(from.cast()) })
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut i32) {
        unsafe { _mm512_storeu_si512(to.cast(), self.0) }
    }
    #[inline(always)]
    unsafe fn widen(from: *const i8) -> Self {
        Avx512(unsafe { _mm512_cvtepi8_epi32(_mm_loadu_si128(from.cast())) })
    }
    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        Avx512(unsafe { _mm512_add_epi32(self.0, other.0) })
    }
    #[inline(always)]
    unsafe fn sub(self, other: Self) -> Self {
        Avx512(unsafe { _mm512_sub_epi32(self.0, other.0) })
    }
    #[inline(always)]
    unsafe fn max(self, other: Self) -> Self {
        Avx512(unsafe { _mm512_max_epi32(self.0, other.0) })
    }
    #[inline(always)]
    unsafe fn equal(self, other: Self) -> u64 {
        unsafe { _mm512_cmpeq_epi32_mask(self.0, other.0).into() }
    }
    #[inline(always)]
    unsafe fn shift_down(self, last: i32) -> Self {
        unsafe { Avx512(_mm512_alignr_epi32::<1>(_mm512_set1_epi32(last), self.0)) }
    }
    #[inline(always)]
    unsafe fn transpose(rows: &[*const i8; BLOCK], to: *mut i8) {
        // SAFETY: the caller's: 16 bytes a row, 256 of the result.
        unsafe {
            // Quarter q of register k is row 4 q + k.
            let four = |k: usize| {
                let quarter = |q: usize| _mm_loadu_si128(rows[4 * q + k].cast());
                let low = _mm512_inserti32x4::<1>(_mm512_castsi128_si512(quarter(0)), quarter(1));
                _mm512_inserti32x4::<3>(_mm512_inserti32x4::<2>(low, quarter(2)), quarter(3))
            };
            let rows: [__m512i; 4] = [four(0), four(1), four(2), four(3)];
            let low = (_mm512_unpacklo_epi8(rows[0], rows[1]), _mm512_unpacklo_epi8(rows[2], rows[3]));
            let high = (_mm512_unpackhi_epi8(rows[0], rows[1]), _mm512_unpackhi_epi8(rows[2], rows[3]));
            // In quarter q of register k, double c: bytes 4 k + c of rows 4 q to 4 q + 3.
            let doubles = [
                _mm512_unpacklo_epi16(low.0, low.1),
                _mm512_unpackhi_epi16(low.0, low.1),
                _mm512_unpacklo_epi16(high.0, high.1),
                _mm512_unpackhi_epi16(high.0, high.1),
            ];
            let turn = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
            for (k, doubles) in doubles.into_iter().enumerate() {
                _mm512_storeu_si512(to.add(64 * k).cast(), _mm512_permutexvar_epi32(turn, doubles));
            }
        }
    }
}
