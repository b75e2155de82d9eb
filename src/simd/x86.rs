//! Vectors of x86-64: SSE4.1, AVX2 and AVX-512BW, and AVX-512VBMI2, which shifts two words as one.
#![allow(unsafe_op_in_unsafe_fn, reason = "bodies are instructions, and what these ask for the traits ask for")]

mod doubles;
mod lanes;
mod words;

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

/// The same with AVX-512VBMI2.
#[derive(Clone, Copy)]
pub(crate) struct V512Vbmi2<E>(__m512i, PhantomData<E>);

macro_rules! levels {
    ($($(#[$doc:meta])* $name:ident, $level:ident, $vector:ident, $words:ident, $eight:ty, $has_eight:literal;)*) => { $(
        $(#[$doc])*
        pub(crate) enum $name {}

        // SAFETY: the vectors need no other instructions.
        unsafe impl Simd for $name {
            const INSTRUCTIONS: Instructions = Instructions::$level;
            const HAS_EIGHT: bool = $has_eight;
            type Bytes = $vector<i8>;
            type Shorts = $vector<i16>;
            type Doubles = $vector<i32>;
            type Eight = $eight;
            type Words = $words<u64>;
        }
    )* };
}

levels! {
    /// SSE4.1.
    Level128, Sse41, V128, V128, Array<i32, 8>, false;
    /// AVX2.
    Level256, Avx2, V256, V256, V256<i32>, true;
    /// AVX-512F and AVX-512BW, and so AVX2.
    Level512, Avx512, V512, V512, V256<i32>, true;
    /// AVX-512VBMI2 besides.
    Level512Vbmi2, Avx512Vbmi2, V512, V512Vbmi2, V256<i32>, true;
}
