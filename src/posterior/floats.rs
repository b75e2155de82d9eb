//! Vectors of sixteen floats on different processors. Each lane is computed separately, and no
//! operations are fused, so that all instruction sets give the same bits.
#![allow(unsafe_op_in_unsafe_fn, reason = "bodies are instructions, and what these ask for the traits ask for")]

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

#[cfg(target_arch = "x86_64")]
use crate::simd::Instructions;
use crate::simd::{Simd, array_of};

/// Number of lanes, which is the number of pairs of sequences that are computed at once.
pub(super) const LANES: usize = 16;

/// A value for each lane, in memory.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C, align(64))]
pub(super) struct LaneArray<T>(pub [T; LANES]);

impl<T: Copy> LaneArray<T> {
    /// Returns equal lanes.
    pub(super) const fn splat(value: T) -> Self {
        LaneArray([value; LANES])
    }
}

/// Sixteen floats in registers.
///
/// # Safety
/// An implementation must have [`LANES`] lanes. Its methods may access no memory except the lanes
/// passed to them.
pub(super) unsafe trait Floats: Copy {
    /// Sets all lanes to `value`.
    ///
    /// # Safety
    /// The processor must have the instructions of `Self`.
    unsafe fn splat(value: f32) -> Self;
    /// Loads the lanes from memory.
    ///
    /// # Safety
    /// The processor must have the instructions of `Self`.
    unsafe fn load(from: &LaneArray<f32>) -> Self;
    /// Stores the lanes to memory.
    ///
    /// # Safety
    /// The processor must have the instructions of `Self`.
    unsafe fn store(self, to: &mut LaneArray<f32>);
    /// Adds lane by lane.
    ///
    /// # Safety
    /// The processor must have the instructions of `Self`.
    unsafe fn add(self, other: Self) -> Self;
    /// Multiplies lane by lane.
    ///
    /// # Safety
    /// The processor must have the instructions of `Self`.
    unsafe fn mul(self, other: Self) -> Self;
    /// Returns the maximum of each lane.
    ///
    /// # Safety
    /// The processor must have the instructions of `Self`.
    unsafe fn max(self, other: Self) -> Self;
    /// Returns a mask with a bit for each lane, which is set if the lane is at least `bound`. Lane
    /// 0 is the lowest bit.
    ///
    /// # Safety
    /// The processor must have the instructions of `Self`.
    unsafe fn at_least(self, bound: f32) -> u32;
}

/// A computation on any type of vectors.
pub(super) trait FloatKernel {
    /// Result of the computation.
    type Output;

    /// Runs the computation. Implementations, and all functions they call, are `#[inline(always)]`.
    ///
    /// # Safety
    /// The processor must have the instructions of `F`, and the caller is compiled for them.
    unsafe fn run<F: Floats>(self) -> Self::Output;
}

/// Adapter that runs a [`FloatKernel`] as a kernel for any instruction set.
pub(super) struct OnFloats<K>(pub K);

impl<K: FloatKernel> crate::simd::SimdKernel for OnFloats<K> {
    type Output = K::Output;

    #[inline(always)]
    unsafe fn run<S: Simd>(self) -> K::Output {
        match S::INSTRUCTIONS {
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512 | Instructions::Avx512Vbmi2 => self.0.run::<__m512>(),
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2 => self.0.run::<[__m256; 2]>(),
            #[cfg(target_arch = "x86_64")]
            Instructions::Sse41 => self.0.run::<[__m128; 4]>(),
            _ => self.0.run::<[f32; LANES]>(),
        }
    }
}

/// Portable implementation. The compiler turns the array into vector registers of the target.
// SAFETY: the implementation needs no special instructions, and accesses only the given lanes.
unsafe impl Floats for [f32; LANES] {
    #[inline(always)]
    unsafe fn splat(value: f32) -> Self {
        [value; LANES]
    }
    #[inline(always)]
    unsafe fn load(from: &LaneArray<f32>) -> Self {
        from.0
    }
    #[inline(always)]
    unsafe fn store(self, to: &mut LaneArray<f32>) {
        to.0 = self;
    }
    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        array_of(|lane| self[lane] + other[lane])
    }
    #[inline(always)]
    unsafe fn mul(self, other: Self) -> Self {
        array_of(|lane| self[lane] * other[lane])
    }
    #[inline(always)]
    unsafe fn max(self, other: Self) -> Self {
        array_of(|lane| if self[lane] > other[lane] { self[lane] } else { other[lane] })
    }
    #[inline(always)]
    unsafe fn at_least(self, bound: f32) -> u32 {
        (0..LANES).fold(0, |lanes, lane| lanes | u32::from(self[lane] >= bound) << lane)
    }
}

#[cfg(target_arch = "x86_64")]
// SAFETY: the methods use instructions of AVX-512F, and a `LaneArray` holds 16 floats.
unsafe impl Floats for __m512 {
    #[inline(always)]
    unsafe fn splat(value: f32) -> Self {
        _mm512_set1_ps(value)
    }
    #[inline(always)]
    unsafe fn load(from: &LaneArray<f32>) -> Self {
        _mm512_load_ps(from.0.as_ptr())
    }
    #[inline(always)]
    unsafe fn store(self, to: &mut LaneArray<f32>) {
        _mm512_store_ps(to.0.as_mut_ptr(), self)
    }
    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        _mm512_add_ps(self, other)
    }
    #[inline(always)]
    unsafe fn mul(self, other: Self) -> Self {
        _mm512_mul_ps(self, other)
    }
    #[inline(always)]
    unsafe fn max(self, other: Self) -> Self {
        _mm512_max_ps(self, other)
    }
    #[inline(always)]
    unsafe fn at_least(self, bound: f32) -> u32 {
        u32::from(_mm512_cmp_ps_mask::<_CMP_GE_OQ>(self, _mm512_set1_ps(bound)))
    }
}

#[cfg(target_arch = "x86_64")]
// SAFETY: the methods use instructions of AVX, and a `LaneArray` holds two vectors of 8 floats.
unsafe impl Floats for [__m256; 2] {
    #[inline(always)]
    unsafe fn splat(value: f32) -> Self {
        [_mm256_set1_ps(value); 2]
    }
    #[inline(always)]
    unsafe fn load(from: &LaneArray<f32>) -> Self {
        [_mm256_load_ps(from.0.as_ptr()), _mm256_load_ps(from.0.as_ptr().add(8))]
    }
    #[inline(always)]
    unsafe fn store(self, to: &mut LaneArray<f32>) {
        _mm256_store_ps(to.0.as_mut_ptr(), self[0]);
        _mm256_store_ps(to.0.as_mut_ptr().add(8), self[1]);
    }
    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        [_mm256_add_ps(self[0], other[0]), _mm256_add_ps(self[1], other[1])]
    }
    #[inline(always)]
    unsafe fn mul(self, other: Self) -> Self {
        [_mm256_mul_ps(self[0], other[0]), _mm256_mul_ps(self[1], other[1])]
    }
    #[inline(always)]
    unsafe fn max(self, other: Self) -> Self {
        [_mm256_max_ps(self[0], other[0]), _mm256_max_ps(self[1], other[1])]
    }
    #[inline(always)]
    unsafe fn at_least(self, bound: f32) -> u32 {
        let bound = _mm256_set1_ps(bound);
        let lanes: [u32; 2] =
            array_of(|part| _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_GE_OQ>(self[part], bound)) as u32);
        lanes[0] | lanes[1] << 8
    }
}

#[cfg(target_arch = "x86_64")]
// SAFETY: the methods use instructions of SSE, and a `LaneArray` holds four vectors of 4 floats.
unsafe impl Floats for [__m128; 4] {
    #[inline(always)]
    unsafe fn splat(value: f32) -> Self {
        [_mm_set1_ps(value); 4]
    }
    #[inline(always)]
    unsafe fn load(from: &LaneArray<f32>) -> Self {
        array_of(|part| _mm_load_ps(from.0.as_ptr().add(4 * part)))
    }
    #[inline(always)]
    unsafe fn store(self, to: &mut LaneArray<f32>) {
        for (part, value) in self.into_iter().enumerate() {
            _mm_store_ps(to.0.as_mut_ptr().add(4 * part), value)
        }
    }
    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        array_of(|part| _mm_add_ps(self[part], other[part]))
    }
    #[inline(always)]
    unsafe fn mul(self, other: Self) -> Self {
        array_of(|part| _mm_mul_ps(self[part], other[part]))
    }
    #[inline(always)]
    unsafe fn max(self, other: Self) -> Self {
        array_of(|part| _mm_max_ps(self[part], other[part]))
    }
    #[inline(always)]
    unsafe fn at_least(self, bound: f32) -> u32 {
        let bound = _mm_set1_ps(bound);
        (0..4).fold(0, |lanes, part| lanes | (_mm_movemask_ps(_mm_cmpge_ps(self[part], bound)) as u32) << (4 * part))
    }
}
