//! Which vectors the processor has, and kernels compiled for each: the one place that asks.

use super::Lanes;
use super::instructions::{Instructions, Simd};
use super::portable::{self, Array};
use crate::score::difference::Element;

/// A set of instructions that this processor has and kernels are compiled for. None changes a result.
///
/// [`InstructionSet::available`] asks the processor, so a kernel may run at any level that exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct InstructionSet(Instructions);

impl InstructionSet {
    /// Arrays, which every processor can compute with.
    pub const PORTABLE: InstructionSet = InstructionSet(Instructions::Portable);

    /// The level of these vectors.
    ///
    /// # Safety
    /// The processor has the instructions of `S`.
    pub(crate) const unsafe fn of<S: Simd>() -> InstructionSet {
        InstructionSet(S::INSTRUCTIONS)
    }

    /// Those that this processor has, the best first.
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

    /// The best that this processor has.
    pub fn best() -> InstructionSet {
        static BEST: std::sync::OnceLock<InstructionSet> = std::sync::OnceLock::new();
        *BEST.get_or_init(|| InstructionSet::available()[0])
    }

    /// Its name. AVX-512VBMI2, which serves distances only, is not told apart.
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

    /// Bytes of a vector.
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

    /// Returns the set of instructions.
    pub(crate) fn instructions(self) -> Instructions {
        self.0
    }

    /// Lanes of 64 bits.
    pub(crate) fn words(self) -> usize {
        self.bytes() / size_of::<u64>()
    }

    /// Lanes of 32 bits.
    pub(crate) fn doubles(self) -> usize {
        self.bytes() / size_of::<i32>()
    }

    /// Runs a kernel with these instructions.
    #[inline]
    pub(crate) fn run<K: Kernel>(self, kernel: K) -> K::Output {
        if K::ARRAYS {
            // SAFETY: arrays need nothing of the processor.
            return unsafe { kernel.run::<portable::Arrays>() };
        }
        match self.0 {
            // SAFETY: the processor has the instructions of every level that exists. Each function is compiled for the
            // instructions that it names.
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512Vbmi2 if K::JOINS => unsafe { avx512vbmi2(kernel) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512Vbmi2 | Instructions::Avx512 if K::WIDE => unsafe { avx512(kernel) },
            // SAFETY: as above; whoever has AVX-512 has AVX2.
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512Vbmi2 | Instructions::Avx512 | Instructions::Avx2 => unsafe { avx2(kernel) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Instructions::Sse41 => unsafe { sse41(kernel) },
            // SAFETY: as above.
            #[cfg(target_arch = "aarch64")]
            Instructions::Neon => unsafe { neon(kernel) },
            // SAFETY: as for arrays above.
            Instructions::Portable => unsafe { kernel.run::<portable::Arrays>() },
        }
    }
}

/// Something to compute with whatever vectors there are.
pub(crate) trait Kernel {
    /// What comes of it.
    type Output;
    /// Whether it gains by 512 bits.
    const WIDE: bool = true;
    /// Whether it gains by AVX-512VBMI2.
    const JOINS: bool = false;
    /// Whether its lanes are arrays whatever the processor, so that it is compiled only once.
    const ARRAYS: bool = false;

    /// Computes it. An implementation is `#[inline(always)]`, and so is all that it calls: what is not inlined is not
    /// compiled for the instructions.
    ///
    /// # Safety
    /// The processor has the instructions, and the caller is compiled for them.
    unsafe fn run<S: Simd>(self) -> Self::Output;
}

/// Elements that have vectors, whatever the instructions.
pub(crate) trait LaneElement: Element {
    /// The vector of a level.
    type In<S: Simd>: Lanes<Elem = Self>;
    /// Whether that is an array whatever the level.
    const ARRAYS: bool = false;

    /// Lanes of a vector of such elements.
    fn lanes(level: InstructionSet) -> usize {
        level.bytes() / size_of::<Self>()
    }
}

impl LaneElement for i8 {
    type In<S: Simd> = S::Bytes;
}

impl LaneElement for i16 {
    type In<S: Simd> = S::Shorts;
}

impl LaneElement for i32 {
    type In<S: Simd> = S::Doubles;
}

/// Arrays serve for the rare scores beyond 32 bits, whatever the processor.
impl LaneElement for i64 {
    type In<S: Simd> = Array<i64, { portable::LONG_LANES }>;
    const ARRAYS: bool = true;

    fn lanes(_: InstructionSet) -> usize {
        portable::LONG_LANES
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2")]
fn avx512vbmi2<K: Kernel>(kernel: K) -> K::Output {
    // SAFETY: compiled for these instructions.
    unsafe { kernel.run::<super::x86::Level512Vbmi2>() }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw")]
fn avx512<K: Kernel>(kernel: K) -> K::Output {
    // SAFETY: as above.
    unsafe { kernel.run::<super::x86::Level512>() }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn avx2<K: Kernel>(kernel: K) -> K::Output {
    // SAFETY: as above.
    unsafe { kernel.run::<super::x86::Level256>() }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "sse4.1")]
fn sse41<K: Kernel>(kernel: K) -> K::Output {
    // SAFETY: as above.
    unsafe { kernel.run::<super::x86::Level128>() }
}

#[cfg(target_arch = "aarch64")]
#[target_feature(enable = "neon")]
fn neon<K: Kernel>(kernel: K) -> K::Output {
    // SAFETY: as above.
    unsafe { kernel.run::<super::neon::Level128>() }
}
