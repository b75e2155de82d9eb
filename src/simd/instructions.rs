//! Identifiers of the instruction sets, and the trait that lists the vectors of each.

use super::{EightLanes, Lanes, LanesI32, LanesU64};

/// The instruction sets that kernels are compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Instructions {
    /// Arrays, which the compiler turns into the instructions that every processor of the target
    /// has.
    Portable,
    /// x86-64 with SSE4.1: vectors of 128 bits.
    #[cfg(target_arch = "x86_64")]
    Sse41,
    /// x86-64 with AVX2: vectors of 256 bits.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// x86-64 with AVX-512F and AVX-512BW: vectors of 512 bits.
    #[cfg(target_arch = "x86_64")]
    Avx512,
    /// [`Instructions::Avx512`] with AVX-512VBMI2, which has a funnel shift over two 64-bit inputs.
    #[cfg(target_arch = "x86_64")]
    Avx512Vbmi2,
    /// AArch64 with NEON: vectors of 128 bits.
    #[cfg(target_arch = "aarch64")]
    Neon,
}

impl Instructions {
    /// Returns whether there are 32 vector registers instead of 16.
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

/// The vectors of an instruction set.
///
/// # Safety
/// The vectors need only the instructions of [`Simd::INSTRUCTIONS`].
pub(crate) unsafe trait Simd {
    /// The instruction set.
    const INSTRUCTIONS: Instructions;
    /// Whether eight 32-bit lanes fit in one register.
    const EIGHT_FIT_REGISTER: bool = false;
    /// Vector of 8-bit lanes.
    type I8Lanes: Lanes<Elem = i8>;
    /// Vector of 16-bit lanes.
    type I16Lanes: Lanes<Elem = i16>;
    /// Vector of 32-bit lanes.
    type I32Lanes: LanesI32;
    /// Vector of exactly eight 32-bit lanes.
    type EightLanes: EightLanes;
    /// Vector of 64-bit lanes.
    type U64Lanes: LanesU64;
}
