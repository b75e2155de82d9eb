//! Detection of instruction sets, and dispatch of kernels to code compiled for each of them.

use super::Lanes;
use super::instructions::{Instructions, Simd};
use super::portable::{self, Array};
use crate::score::difference::Element;

/// An instruction set that this processor has and that kernels are compiled for. Results never
/// depend on it.
///
/// Only [`InstructionSet::available`] constructs sets other than [`InstructionSet::PORTABLE`],
/// after it has detected them. So a kernel may run with any existing value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct InstructionSet(Instructions);

impl InstructionSet {
    /// Vectors as arrays, which need no special instructions.
    pub const PORTABLE: InstructionSet = InstructionSet(Instructions::Portable);

    /// Returns the instruction set of these vectors.
    ///
    /// # Safety
    /// The processor has the instructions of `S`.
    pub(crate) const unsafe fn from_simd<S: Simd>() -> InstructionSet {
        InstructionSet(S::INSTRUCTIONS)
    }

    /// Returns the instruction sets that this processor has, the best first.
    pub fn available() -> Vec<InstructionSet> {
        let mut all = Vec::new();
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw") {
                if is_x86_feature_detected!("avx512vbmi2") {
                    all.push(InstructionSet(Instructions::Avx512Vbmi2));
                }
                all.push(InstructionSet(Instructions::Avx512));
            }
            if is_x86_feature_detected!("avx2") {
                all.push(InstructionSet(Instructions::Avx2));
            }
            if is_x86_feature_detected!("sse4.1") {
                all.push(InstructionSet(Instructions::Sse41));
            }
        }
        #[cfg(target_arch = "aarch64")]
        if std::arch::is_aarch64_feature_detected!("neon") {
            all.push(InstructionSet(Instructions::Neon));
        }
        all.push(InstructionSet(Instructions::Portable));
        all
    }

    /// Returns the best instruction set that this processor has.
    pub fn best() -> InstructionSet {
        static BEST: std::sync::OnceLock<InstructionSet> = std::sync::OnceLock::new();
        *BEST.get_or_init(|| InstructionSet::available()[0])
    }

    /// Returns the name for users. AVX-512VBMI2 has the name of AVX-512BW because only edit
    /// distances use it.
    pub fn name(self) -> &'static str {
        match self.0 {
            Instructions::Portable => "portable vectors",
            #[cfg(target_arch = "x86_64")]
            Instructions::Sse41 => "SSE4.1",
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2 => "AVX2",
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512 | Instructions::Avx512Vbmi2 => "AVX-512BW",
            #[cfg(target_arch = "aarch64")]
            Instructions::Neon => "NEON",
        }
    }

    /// Returns the number of bytes in a vector.
    pub fn bytes(self) -> usize {
        match self.0 {
            Instructions::Portable => portable::BYTES,
            #[cfg(target_arch = "x86_64")]
            Instructions::Sse41 => 16,
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2 => 32,
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512 | Instructions::Avx512Vbmi2 => 64,
            #[cfg(target_arch = "aarch64")]
            Instructions::Neon => 16,
        }
    }

    /// Returns the underlying value, whose variants can be matched.
    pub(crate) fn instructions(self) -> Instructions {
        self.0
    }

    /// Returns the number of 64-bit lanes in a vector.
    pub(crate) fn u64_lanes(self) -> usize {
        self.bytes() / size_of::<u64>()
    }

    /// Returns the number of 32-bit lanes in a vector.
    pub(crate) fn i32_lanes(self) -> usize {
        self.bytes() / size_of::<i32>()
    }

    /// Runs a kernel with these instructions.
    #[inline]
    pub(crate) fn run<K: SimdKernel>(self, kernel: K) -> K::Output {
        if K::PORTABLE_ONLY {
            // SAFETY: arrays need no special instructions.
            return unsafe { kernel.run::<portable::PortableSet>() };
        }
        match self.0 {
            // SAFETY: a value of this type exists only if the processor has the instructions. Each
            // function is compiled for the instructions that it names.
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512Vbmi2 if K::USES_VBMI2 => unsafe { avx512vbmi2(kernel) },
            // SAFETY: as for AVX-512VBMI2.
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512Vbmi2 | Instructions::Avx512 if K::USES_AVX512 => unsafe { avx512(kernel) },
            // SAFETY: as for AVX-512VBMI2; every processor with AVX-512 has AVX2.
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512Vbmi2 | Instructions::Avx512 | Instructions::Avx2 => unsafe { avx2(kernel) },
            // SAFETY: as for AVX-512VBMI2.
            #[cfg(target_arch = "x86_64")]
            Instructions::Sse41 => unsafe { sse41(kernel) },
            // SAFETY: as for AVX-512VBMI2.
            #[cfg(target_arch = "aarch64")]
            Instructions::Neon => unsafe { neon(kernel) },
            // SAFETY: arrays need no special instructions.
            Instructions::Portable => unsafe { kernel.run::<portable::PortableSet>() },
        }
    }
}

/// A computation that is written over vectors and compiled for every instruction set.
pub(crate) trait SimdKernel {
    /// Result of the computation.
    type Output;
    /// Whether 512-bit vectors make the kernel faster. If not, AVX-512 processors run its AVX2
    /// code.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "no other processor has these instructions"))]
    const USES_AVX512: bool = true;
    /// Whether AVX-512VBMI2 makes the kernel faster.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "no other processor has these instructions"))]
    const USES_VBMI2: bool = false;
    /// Whether the lanes are arrays on every processor, so that the kernel is compiled only once.
    const PORTABLE_ONLY: bool = false;

    /// Runs the computation. An implementation and everything it calls must be `#[inline(always)]`:
    /// code that is not inlined is not compiled for the instruction set.
    ///
    /// # Safety
    /// The processor has the instructions of `S`, and the caller is compiled for them.
    unsafe fn run<S: Simd>(self) -> Self::Output;
}

/// Lane types that have a vector in every instruction set.
pub(crate) trait LaneElement: Element {
    /// The vector of this lane type in an instruction set.
    type In<S: Simd>: Lanes<Elem = Self>;
    /// Whether the vector is an array in every instruction set.
    const PORTABLE_ONLY: bool = false;

    /// Returns the number of lanes in a vector of this type.
    fn lanes(set: InstructionSet) -> usize {
        set.bytes() / size_of::<Self>()
    }
}

impl LaneElement for i8 {
    type In<S: Simd> = S::I8Lanes;
}

impl LaneElement for i16 {
    type In<S: Simd> = S::I16Lanes;
}

impl LaneElement for i32 {
    type In<S: Simd> = S::I32Lanes;
}

/// Scores beyond 32 bits are rare, so arrays are used for them on every processor.
impl LaneElement for i64 {
    type In<S: Simd> = Array<i64, { portable::LONG_LANES }>;
    const PORTABLE_ONLY: bool = true;

    fn lanes(_: InstructionSet) -> usize {
        portable::LONG_LANES
    }
}

/// Runs a kernel that is compiled for AVX-512 with VBMI2.
///
/// # Safety
/// The processor has these instructions.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2")]
fn avx512vbmi2<K: SimdKernel>(kernel: K) -> K::Output {
    // SAFETY: the caller guarantees the instructions.
    unsafe { kernel.run::<super::x86::Avx512Vbmi2Set>() }
}

/// Runs a kernel that is compiled for AVX-512.
///
/// # Safety
/// The processor has these instructions.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw")]
fn avx512<K: SimdKernel>(kernel: K) -> K::Output {
    // SAFETY: the caller guarantees the instructions.
    unsafe { kernel.run::<super::x86::Avx512Set>() }
}

/// Runs a kernel that is compiled for AVX2.
///
/// # Safety
/// The processor has these instructions.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn avx2<K: SimdKernel>(kernel: K) -> K::Output {
    // SAFETY: the caller guarantees the instructions.
    unsafe { kernel.run::<super::x86::Avx2Set>() }
}

/// Runs a kernel that is compiled for SSE4.1.
///
/// # Safety
/// The processor has these instructions.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "sse4.1")]
fn sse41<K: SimdKernel>(kernel: K) -> K::Output {
    // SAFETY: the caller guarantees the instructions.
    unsafe { kernel.run::<super::x86::Sse41Set>() }
}

/// Runs a kernel that is compiled for NEON.
///
/// # Safety
/// The processor has these instructions.
#[cfg(target_arch = "aarch64")]
#[target_feature(enable = "neon")]
fn neon<K: SimdKernel>(kernel: K) -> K::Output {
    // SAFETY: the caller guarantees the instructions.
    unsafe { kernel.run::<super::neon::NeonSet>() }
}
