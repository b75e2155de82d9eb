//! Vectors of the processor, and which it has.
//!
//! Kernels are written once over [`Lanes`]; [`kernel!`](crate::pairs::cpu::simd) compiles them for every set of
//! instructions, and the best that the processor has is found when the program runs.

#[cfg(target_arch = "aarch64")]
pub mod neon;
pub mod portable;
#[cfg(target_arch = "x86_64")]
pub mod x86;

use crate::score::difference::{Element, STEPS};
use crate::seq::Code;

/// The most lanes that a vector has.
pub const MAX_LANES: usize = 64;

/// Lanes that are added, subtracted and compared side by side. Sums and differences wrap.
///
/// # Safety
/// An implementation's methods may be called only where the processor has its instructions. Pointers are to
/// [`Lanes::COUNT`] elements (codes), of any alignment.
pub unsafe trait Lanes: Copy {
    /// A lane.
    type Elem: Element;
    /// How many there are; at most [`MAX_LANES`].
    const COUNT: usize;
    /// All lanes the same.
    unsafe fn splat(value: Self::Elem) -> Self;
    /// From memory.
    unsafe fn load(from: *const Self::Elem) -> Self;
    /// To memory.
    unsafe fn store(self, to: *mut Self::Elem);
    /// Sum.
    unsafe fn add(self, other: Self) -> Self;
    /// Difference.
    unsafe fn sub(self, other: Self) -> Self;
    /// The greater, with signs.
    unsafe fn max(self, other: Self) -> Self;
    /// The greater, without signs.
    unsafe fn max_unsigned(self, other: Self) -> Self;
    /// Every lane from its upper neighbour; the last lane is `last`.
    unsafe fn shift_down(self, last: Self::Elem) -> Self;
    /// Lanes of `other` where `mask` has all bits, of `self` where it has none.
    unsafe fn blend(self, other: Self, mask: Self) -> Self;
    /// Entries of a table, by code; every code is less than [`STEPS`].
    unsafe fn lookup(table: &[Self::Elem; STEPS], codes: *const Code) -> Self;
}

/// A set of instructions that kernels are compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Isa {
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
    /// 128 bits: AArch64.
    #[cfg(target_arch = "aarch64")]
    Neon,
}

impl Isa {
    /// Those that this processor has, the best first.
    pub fn available() -> Vec<Isa> {
        let mut all = Vec::new();
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw") {
                all.push(Isa::Avx512);
            }
            if is_x86_feature_detected!("avx2") {
                all.push(Isa::Avx2);
            }
            if is_x86_feature_detected!("sse4.1") {
                all.push(Isa::Sse41);
            }
        }
        #[cfg(target_arch = "aarch64")]
        if std::arch::is_aarch64_feature_detected!("neon") {
            all.push(Isa::Neon);
        }
        all.push(Isa::Portable);
        all
    }

    /// The best that this processor has.
    pub fn best() -> Isa {
        static BEST: std::sync::OnceLock<Isa> = std::sync::OnceLock::new();
        *BEST.get_or_init(|| Isa::available()[0])
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Isa::Portable => "portable vectors",
            #[cfg(target_arch = "x86_64")]
            Isa::Sse41 => "SSE4.1",
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => "AVX2",
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => "AVX-512BW",
            #[cfg(target_arch = "aarch64")]
            Isa::Neon => "NEON",
        }
    }

    /// Bytes of a vector.
    pub fn bytes(self) -> usize {
        match self {
            Isa::Portable => portable::BYTES,
            #[cfg(target_arch = "x86_64")]
            Isa::Sse41 => 16,
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => 32,
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => 64,
            #[cfg(target_arch = "aarch64")]
            Isa::Neon => 16,
        }
    }
}

/// Elements that have vectors, whatever the instructions.
pub trait LaneElement: Element {
    /// Lanes of a vector of such elements.
    fn lanes(isa: Isa) -> usize {
        isa.bytes() / size_of::<Self>()
    }
}

impl LaneElement for i8 {}
impl LaneElement for i16 {}
impl LaneElement for i32 {}
/// Portable vectors serve for the rare scores beyond 32 bits, whatever the processor.
impl LaneElement for i64 {
    fn lanes(_: Isa) -> usize {
        portable::BYTES / size_of::<i64>()
    }
}

/// Compiles a kernel for every set of instructions and every element: with `kernel!(trait Name { fn name(Task) = body; })`
/// and `unsafe fn body<W: Lanes>(task: Task<'_, W::Elem>)`, elements get `Name::name(isa, task)`.
macro_rules! kernel {
    ($(#[$doc:meta])* trait $trait:ident { fn $name:ident($task:ident) = $body:ident; }) => {
        $(#[$doc])*
        pub trait $trait: $crate::pairs::cpu::simd::LaneElement {
            /// Runs the kernel with the instructions of `isa`, which the processor must have.
            fn $name(isa: $crate::pairs::cpu::simd::Isa, task: $task<'_, Self>);
        }
        $crate::pairs::cpu::simd::kernel!(@for i8, 64, $trait $name $task $body);
        $crate::pairs::cpu::simd::kernel!(@for i16, 32, $trait $name $task $body);
        $crate::pairs::cpu::simd::kernel!(@for i32, 16, $trait $name $task $body);
        impl $trait for i64 {
            fn $name(_: $crate::pairs::cpu::simd::Isa, task: $task<'_, i64>) {
                // SAFETY: arrays need nothing of the processor.
                unsafe { $body::<$crate::pairs::cpu::simd::portable::Array<i64, 8>>(task) }
            }
        }
    };
    (@for $elem:ty, $portable:literal, $trait:ident $name:ident $task:ident $body:ident) => {
        impl $trait for $elem {
            fn $name(isa: $crate::pairs::cpu::simd::Isa, task: $task<'_, $elem>) {
                use $crate::pairs::cpu::simd::{self, Isa};
                #[cfg(target_arch = "x86_64")]
                #[target_feature(enable = "avx512f,avx512bw")]
                fn avx512(task: $task<'_, $elem>) {
                    // SAFETY: compiled for these instructions.
                    unsafe { $body::<simd::x86::Avx512<$elem>>(task) }
                }
                #[cfg(target_arch = "x86_64")]
                #[target_feature(enable = "avx2")]
                fn avx2(task: $task<'_, $elem>) {
                    // SAFETY: as above.
                    unsafe { $body::<simd::x86::Avx2<$elem>>(task) }
                }
                #[cfg(target_arch = "x86_64")]
                #[target_feature(enable = "sse4.1")]
                fn sse41(task: $task<'_, $elem>) {
                    // SAFETY: as above.
                    unsafe { $body::<simd::x86::Sse41<$elem>>(task) }
                }
                #[cfg(target_arch = "aarch64")]
                #[target_feature(enable = "neon")]
                fn neon(task: $task<'_, $elem>) {
                    // SAFETY: as above.
                    unsafe { $body::<simd::neon::Neon<$elem>>(task) }
                }
                match isa {
                    // SAFETY: arrays need nothing of the processor; of the others the caller has made sure.
                    Isa::Portable => unsafe { $body::<simd::portable::Array<$elem, $portable>>(task) },
                    #[cfg(target_arch = "x86_64")]
                    Isa::Sse41 => unsafe { sse41(task) },
                    #[cfg(target_arch = "x86_64")]
                    Isa::Avx2 => unsafe { avx2(task) },
                    #[cfg(target_arch = "x86_64")]
                    Isa::Avx512 => unsafe { avx512(task) },
                    #[cfg(target_arch = "aarch64")]
                    Isa::Neon => unsafe { neon(task) },
                }
            }
        }
    };
}
pub(crate) use kernel;

/// Elements in memory that begins where a cache line does: a vector never straddles two.
#[derive(Debug, Clone, Default)]
pub struct Lines<E> {
    lines: Vec<Line>,
    kind: std::marker::PhantomData<E>,
}

#[derive(Debug, Clone, Copy, Default, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(64))]
struct Line([u64; 8]);

impl<E: bytemuck::Pod> Lines<E> {
    /// At least so many elements, with any values.
    pub fn at_least(&mut self, elements: usize) -> &mut [E] {
        let lines = (elements * size_of::<E>()).div_ceil(size_of::<Line>());
        if self.lines.len() < lines {
            self.lines.resize(lines, Line::default());
        }
        bytemuck::cast_slice_mut(&mut self.lines)
    }
}
