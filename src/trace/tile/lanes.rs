//! Vectors of 32-bit values for [`super`]: AVX-512, AVX2, and arrays of which the compiler makes what the target has.

/// The most lanes that a vector has.
pub(super) const MAX_LANES: usize = 16;
/// Steps, and bytes of a step, that [`Lanes::transpose`] makes at once.
pub(super) const BLOCK: usize = 16;

/// The vectors that tiles are computed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Vectors {
    /// Arrays of 8.
    Portable,
    /// 8 lanes: x86-64 with AVX2.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// 16 lanes: x86-64 with AVX-512F and AVX-512BW.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Vectors {
    /// Those that this processor has, the best first.
    pub fn available() -> Vec<Vectors> {
        let mut all = Vec::new();
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw") {
                all.push(Vectors::Avx512);
            }
            if is_x86_feature_detected!("avx2") {
                all.push(Vectors::Avx2);
            }
        }
        all.push(Vectors::Portable);
        all
    }
}

/// Lanes of 32 bits. Sums and differences wrap.
///
/// # Safety
/// An implementation's methods may be called only where the processor has its instructions. Pointers are to
/// [`Lanes::COUNT`] elements, of any alignment.
pub(super) unsafe trait Lanes: Copy {
    /// How many there are; divides [`BLOCK`].
    const COUNT: usize;
    unsafe fn splat(value: i32) -> Self;
    unsafe fn load(from: *const i32) -> Self;
    unsafe fn store(self, to: *mut i32);
    /// Bytes, with signs.
    unsafe fn widen(from: *const i8) -> Self;
    unsafe fn add(self, other: Self) -> Self;
    unsafe fn sub(self, other: Self) -> Self;
    unsafe fn max(self, other: Self) -> Self;
    /// A bit for each lane, lane 0's the lowest: whether they are the same.
    unsafe fn equal(self, other: Self) -> u64;
    /// Every lane from its upper neighbour; the last lane is `last`.
    unsafe fn shift_down(self, last: i32) -> Self;
    /// Byte k of each of the rows becomes row k of `to`: 16 rows of 16 bytes.
    unsafe fn transpose(rows: &[*const i8; BLOCK], to: *mut i8);
}

/// Lanes of an array.
#[derive(Clone, Copy)]
pub(super) struct Array([i32; 8]);

// SAFETY: needs nothing of the processor; loads and stores are of COUNT elements at any alignment.
unsafe impl Lanes for Array {
    const COUNT: usize = 8;
    #[inline(always)]
    unsafe fn splat(value: i32) -> Self {
        Array([value; 8])
    }
    #[inline(always)]
    unsafe fn load(from: *const i32) -> Self {
        Array(unsafe { from.cast::<[i32; 8]>().read_unaligned() })
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut i32) {
        unsafe { to.cast::<[i32; 8]>().write_unaligned(self.0) }
    }
    #[inline(always)]
    unsafe fn widen(from: *const i8) -> Self {
        Array(unsafe { from.cast::<[i8; 8]>().read_unaligned() }.map(i32::from))
    }
    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        Array(std::array::from_fn(|k| self.0[k].wrapping_add(other.0[k])))
    }
    #[inline(always)]
    unsafe fn sub(self, other: Self) -> Self {
        Array(std::array::from_fn(|k| self.0[k].wrapping_sub(other.0[k])))
    }
    #[inline(always)]
    unsafe fn max(self, other: Self) -> Self {
        Array(std::array::from_fn(|k| self.0[k].max(other.0[k])))
    }
    #[inline(always)]
    unsafe fn equal(self, other: Self) -> u64 {
        (0..8).fold(0, |bits, k| bits | u64::from(self.0[k] == other.0[k]) << k)
    }
    #[inline(always)]
    unsafe fn shift_down(self, last: i32) -> Self {
        Array(std::array::from_fn(|k| if k < 7 { self.0[k + 1] } else { last }))
    }
    #[inline(always)]
    unsafe fn transpose(rows: &[*const i8; BLOCK], to: *mut i8) {
        unsafe { transpose_bytes(rows, to) }
    }
}

/// [`Lanes::transpose`] byte by byte.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
unsafe fn transpose_bytes(rows: &[*const i8; BLOCK], to: *mut i8) {
    for (place, row) in rows.iter().enumerate() {
        // SAFETY: the caller's: 16 bytes a row, 256 of the result.
        unsafe { (0..BLOCK).for_each(|k| *to.add(k * BLOCK + place) = *row.add(k)) }
    }
}

#[cfg(target_arch = "x86_64")]
use x86::transpose_bytes;
#[cfg(target_arch = "x86_64")]
pub(super) use x86::{Avx2, Avx512};

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::{BLOCK, Lanes};

    /// [`Lanes::transpose`] with SSE2, which every x86-64 has: four rounds, each doubling what lies side by side.
    #[inline(always)]
    pub unsafe fn transpose_bytes(rows: &[*const i8; BLOCK], to: *mut i8) {
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
}
