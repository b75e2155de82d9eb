//! Vectors of [`LANES`] values: the processor's own where it has them, arrays elsewhere.

use super::lanes::LANES;
use crate::score::offset::Value;

/// [`LANES`] values that are added, subtracted and compared lane by lane.
///
/// # Safety
/// The methods of an implementation for a processor's vectors may be called only where the processor has them.
pub unsafe trait Vector: Copy {
    /// A lane.
    type Lane: Value;
    /// All lanes the same.
    unsafe fn splat(value: Self::Lane) -> Self;
    /// From memory.
    unsafe fn load(lanes: &[Self::Lane; LANES]) -> Self;
    /// To memory.
    unsafe fn store(self, lanes: &mut [Self::Lane; LANES]);
    /// Sum.
    unsafe fn add(self, other: Self) -> Self;
    /// Difference.
    unsafe fn sub(self, other: Self) -> Self;
    /// The greater.
    unsafe fn max(self, other: Self) -> Self;
}

/// Lanes in an array; the compiler makes of it what the target has.
#[derive(Clone, Copy)]
pub struct Portable<V>([V; LANES]);

impl<V: Value> Portable<V> {
    #[inline(always)]
    fn zip(self, other: Self, f: impl Fn(V, V) -> V) -> Self {
        let mut lanes = self.0;
        for (lane, other) in lanes.iter_mut().zip(other.0) {
            *lane = f(*lane, other);
        }
        Portable(lanes)
    }
}

// SAFETY: needs nothing of the processor.
unsafe impl<V: Value> Vector for Portable<V> {
    type Lane = V;
    #[inline(always)]
    unsafe fn splat(value: V) -> Self {
        Portable([value; LANES])
    }
    #[inline(always)]
    unsafe fn load(lanes: &[V; LANES]) -> Self {
        Portable(*lanes)
    }
    #[inline(always)]
    unsafe fn store(self, lanes: &mut [V; LANES]) {
        *lanes = self.0;
    }
    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        self.zip(other, |a, b| a + b)
    }
    #[inline(always)]
    unsafe fn sub(self, other: Self) -> Self {
        self.zip(other, |a, b| a - b)
    }
    #[inline(always)]
    unsafe fn max(self, other: Self) -> Self {
        self.zip(other, |a, b| a.max(b))
    }
}

#[cfg(target_arch = "x86_64")]
pub mod x86 {
    //! AVX2 and AVX-512.
    use super::*;
    use std::arch::x86_64::*;

    /// One vector of 512 bits (AVX-512F).
    #[derive(Clone, Copy)]
    pub struct Avx512(__m512i);

    // SAFETY: used only inside functions compiled for AVX-512F, after its detection; loads and stores are unaligned and
    // as long as the arrays.
    unsafe impl Vector for Avx512 {
        type Lane = i32;
        #[inline(always)]
        unsafe fn splat(value: i32) -> Self {
            Avx512(unsafe { _mm512_set1_epi32(value) })
        }
        #[inline(always)]
        unsafe fn load(lanes: &[i32; LANES]) -> Self {
            Avx512(unsafe { _mm512_loadu_si512(lanes.as_ptr().cast()) })
        }
        #[inline(always)]
        unsafe fn store(self, lanes: &mut [i32; LANES]) {
            unsafe { _mm512_storeu_si512(lanes.as_mut_ptr().cast(), self.0) }
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
    }

    /// Two vectors of 256 bits (AVX2).
    #[derive(Clone, Copy)]
    pub struct Avx2(__m256i, __m256i);

    // SAFETY: as for Avx512, with AVX2; the second half begins 8 lanes into an array of 16.
    unsafe impl Vector for Avx2 {
        type Lane = i32;
        #[inline(always)]
        unsafe fn splat(value: i32) -> Self {
            let half = unsafe { _mm256_set1_epi32(value) };
            Avx2(half, half)
        }
        #[inline(always)]
        unsafe fn load(lanes: &[i32; LANES]) -> Self {
            let at = lanes.as_ptr();
            unsafe { Avx2(_mm256_loadu_si256(at.cast()), _mm256_loadu_si256(at.add(8).cast())) }
        }
        #[inline(always)]
        unsafe fn store(self, lanes: &mut [i32; LANES]) {
            let at = lanes.as_mut_ptr();
            unsafe {
                _mm256_storeu_si256(at.cast(), self.0);
                _mm256_storeu_si256(at.add(8).cast(), self.1);
            }
        }
        #[inline(always)]
        unsafe fn add(self, other: Self) -> Self {
            unsafe { Avx2(_mm256_add_epi32(self.0, other.0), _mm256_add_epi32(self.1, other.1)) }
        }
        #[inline(always)]
        unsafe fn sub(self, other: Self) -> Self {
            unsafe { Avx2(_mm256_sub_epi32(self.0, other.0), _mm256_sub_epi32(self.1, other.1)) }
        }
        #[inline(always)]
        unsafe fn max(self, other: Self) -> Self {
            unsafe { Avx2(_mm256_max_epi32(self.0, other.0), _mm256_max_epi32(self.1, other.1)) }
        }
    }
}
