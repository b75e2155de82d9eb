//! Sets of instructions, and the vectors that each has.

use super::{Doubles, Eight, Lanes, Words};

/// The sets of instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Instructions {
    /// Arrays; the compiler makes of them what every processor of the target has.
    Portable,
    /// 128 bits: x86-64 with SSE4.1.
    #[cfg(target_arch = "x86_64")]
    Sse41,
    /// 256 bits: x86-64 with AVX2.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// 512 bits: x86-64 with AVX-512F and AVX-512BW.
    #[cfg(target_arch = "x86_64")]
    Avx512,
    /// 512 bits: AVX-512VBMI2 besides, which shifts two words as one.
    #[cfg(target_arch = "x86_64")]
    Avx512Vbmi2,
    /// 128 bits: AArch64.
    #[cfg(target_arch = "aarch64")]
    Neon,
}

impl Instructions {
    /// Whether there are 32 registers of vectors, not 16.
    pub(crate) const fn has_32_registers(self) -> bool {
        match self {
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512 | Instructions::Avx512Vbmi2 => true,
            #[cfg(target_arch = "aarch64")]
            Instructions::Neon => true,
            _ => false,
        }
    }
}

/// The vectors of a level.
///
/// # Safety
/// The vectors need no instructions besides [`Simd::INSTRUCTIONS`].
pub(crate) unsafe trait Simd {
    /// The instructions.
    const INSTRUCTIONS: Instructions;
    /// Whether eight lanes of 32 bits are one register.
    const HAS_EIGHT: bool = false;
    /// Lanes of 8 bits.
    type Bytes: Lanes<Elem = i8>;
    /// Lanes of 16 bits.
    type Shorts: Lanes<Elem = i16>;
    /// Lanes of 32 bits.
    type Doubles: Doubles;
    /// Eight of them.
    type Eight: Eight;
    /// Lanes of 64 bits.
    type Words: Words;
}
