//! Vectors of x86-64: SSE4.1, AVX2, AVX-512BW, and AVX-512VBMI2 with its funnel shift over two
//! 64-bit inputs.
#![allow(
    unsafe_op_in_unsafe_fn,
    reason = "the bodies are intrinsics, and the methods of the traits require what the intrinsics require"
)]

mod lanes;
mod lanes_i32;
mod lanes_u64;

use std::arch::x86_64::*;
use std::marker::PhantomData;

use super::portable::Array;
use super::{Instructions, Simd};

/// One register of 128 bits (SSE4.1).
#[derive(Clone, Copy)]
pub(crate) struct V128<E>(__m128i, PhantomData<E>);

/// One register of 256 bits (AVX2).
#[derive(Clone, Copy)]
pub(crate) struct V256<E>(__m256i, PhantomData<E>);

/// One register of 512 bits (AVX-512F and AVX-512BW).
#[derive(Clone, Copy)]
pub(crate) struct V512<E>(__m512i, PhantomData<E>);

/// One register of 512 bits (AVX-512F, AVX-512BW and AVX-512VBMI2).
#[derive(Clone, Copy)]
pub(crate) struct V512Vbmi2<E>(__m512i, PhantomData<E>);

macro_rules! instruction_sets {
    ($($(#[$doc:meta])* $name:ident, $instructions:ident, $vector:ident, $words:ident, $eight:ty, $has_eight:literal;)*) => { $(
        $(#[$doc])*
        pub(crate) enum $name {}

        // SAFETY: the vectors need no other instructions.
        unsafe impl Simd for $name {
            const INSTRUCTIONS: Instructions = Instructions::$instructions;
            const EIGHT_FIT_REGISTER: bool = $has_eight;
            type I8Lanes = $vector<i8>;
            type I16Lanes = $vector<i16>;
            type I32Lanes = $vector<i32>;
            type EightLanes = $eight;
            type U64Lanes = $words<u64>;
        }
    )* };
}

instruction_sets! {
    /// The vectors of SSE4.1.
    Sse41Set, Sse41, V128, V128, Array<i32, 8>, false;
    /// The vectors of AVX2.
    Avx2Set, Avx2, V256, V256, V256<i32>, true;
    /// The vectors of AVX-512F and AVX-512BW. Processors with these also have AVX2.
    Avx512Set, Avx512, V512, V512, V256<i32>, true;
    /// The vectors of AVX-512VBMI2, AVX-512F and AVX-512BW.
    Avx512Vbmi2Set, Avx512Vbmi2, V512, V512Vbmi2, V256<i32>, true;
}
