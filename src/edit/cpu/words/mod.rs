//! Words of 64 rows, one a lane, and the functions of three of them that bit-vectors are made of.

#[cfg(target_arch = "aarch64")]
mod neon;
mod portable;
#[cfg(target_arch = "x86_64")]
mod x86;

#[cfg(target_arch = "aarch64")]
pub use neon::Neon;
pub use portable::Array;
#[cfg(target_arch = "x86_64")]
pub use x86::{Avx2, Avx512, Avx512Vbmi2, Sse41};

use crate::pairs::cpu::simd::Isa;

/// Rows of a word, and columns of a text that are read at once.
pub const BITS: usize = 64;
/// The most lanes that a vector of words has.
pub const MAX_LANES: usize = 8;

/// Lanes of 64 bits.
///
/// # Safety
/// An implementation's methods may be called only where the processor has its instructions. Pointers are to
/// [`Words::COUNT`] words, of any alignment.
pub unsafe trait Words: Copy {
    /// How many lanes there are; at most [`MAX_LANES`].
    const COUNT: usize;
    /// All lanes the same.
    unsafe fn splat(word: u64) -> Self;
    /// From memory.
    unsafe fn load(from: *const u64) -> Self;
    /// To memory.
    unsafe fn store(self, to: *mut u64);
    /// Sums, without their carries.
    unsafe fn add(self, other: Self) -> Self;
    /// `self & other`
    unsafe fn and(self, other: Self) -> Self;
    /// `self | b | c`
    unsafe fn or3(self, b: Self, c: Self) -> Self;
    /// `self ^ b | c`
    unsafe fn xor_or(self, b: Self, c: Self) -> Self;
    /// `!(self ^ b | c)`
    unsafe fn nor_xor(self, b: Self, c: Self) -> Self;
    /// `self & b | c`
    unsafe fn and_or(self, b: Self, c: Self) -> Self;
    /// `self | !(b | c)`
    unsafe fn or_nor(self, b: Self, c: Self) -> Self;
    /// Every word moved up by a bit; its lowest bit is the top bit of `below`.
    unsafe fn shift_in(self, below: Self) -> Self;
    /// The top bit as a number.
    unsafe fn top(self) -> Self;
    /// All bits in lanes that have the bit, of the one-bit word `bit`; none in the others.
    unsafe fn test(self, bit: u64) -> Self;
    /// Every lane from its upper neighbour; the last lane from the first of `above`.
    unsafe fn shift_down(self, above: Self) -> Self;
    /// A bit for each of 64 bytes: whether it has any bit of the mask.
    unsafe fn test_bytes(bytes: *const u8, mask: u8) -> u64;
}

/// The instructions that kernels are compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Instructions {
    pub isa: Isa,
    /// Whether two words are shifted as one where the processor can (AVX-512VBMI2).
    pub joined_shifts: bool,
}

impl Instructions {
    /// All that the processor has, of a set.
    pub fn of(isa: Isa) -> Self {
        #[cfg(target_arch = "x86_64")]
        let joined_shifts = isa == Isa::Avx512 && is_x86_feature_detected!("avx512vbmi2");
        #[cfg(not(target_arch = "x86_64"))]
        let joined_shifts = false;
        Instructions { isa, joined_shifts }
    }

    /// Lanes of a vector.
    pub fn lanes(self) -> usize {
        self.isa.bytes() / size_of::<u64>()
    }
}

/// Compiles a kernel for every set of instructions: with `kernel!(fn name(Task) = body;)` and
/// `unsafe fn body<V: Words, M: Matcher>(task: Task<'_>)` there is `name::<M>(instructions, task)`.
macro_rules! kernel {
    ($(#[$doc:meta])* fn $name:ident($task:ident) = $body:ident;) => {
        $(#[$doc])*
        ///
        /// The processor must have the instructions.
        pub fn $name<M: $crate::edit::cpu::planes::Matcher>(
            instructions: $crate::edit::cpu::words::Instructions,
            task: $task<'_>,
        ) {
            use $crate::edit::cpu::words;
            use $crate::edit::cpu::planes::Matcher;
            use $crate::pairs::cpu::simd::Isa;
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2")]
            fn avx512vbmi2<M: Matcher>(task: $task<'_>) {
                // SAFETY: compiled for these instructions.
                unsafe { $body::<words::Avx512Vbmi2, M>(task) }
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx512bw")]
            fn avx512<M: Matcher>(task: $task<'_>) {
                // SAFETY: as above.
                unsafe { $body::<words::Avx512, M>(task) }
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2")]
            fn avx2<M: Matcher>(task: $task<'_>) {
                // SAFETY: as above.
                unsafe { $body::<words::Avx2, M>(task) }
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "sse4.1")]
            fn sse41<M: Matcher>(task: $task<'_>) {
                // SAFETY: as above.
                unsafe { $body::<words::Sse41, M>(task) }
            }
            #[cfg(target_arch = "aarch64")]
            #[target_feature(enable = "neon")]
            fn neon<M: Matcher>(task: $task<'_>) {
                // SAFETY: as above.
                unsafe { $body::<words::Neon, M>(task) }
            }
            match instructions.isa {
                // SAFETY: arrays need nothing of the processor; of the others the caller has made sure.
                Isa::Portable => unsafe { $body::<words::Array, M>(task) },
                #[cfg(target_arch = "x86_64")]
                Isa::Sse41 => unsafe { sse41::<M>(task) },
                #[cfg(target_arch = "x86_64")]
                Isa::Avx2 => unsafe { avx2::<M>(task) },
                #[cfg(target_arch = "x86_64")]
                Isa::Avx512 if instructions.joined_shifts => unsafe { avx512vbmi2::<M>(task) },
                #[cfg(target_arch = "x86_64")]
                Isa::Avx512 => unsafe { avx512::<M>(task) },
                #[cfg(target_arch = "aarch64")]
                Isa::Neon => unsafe { neon::<M>(task) },
            }
        }
    };
}
pub(crate) use kernel;

/// [`Words::test_bytes`] without vectors: eight bytes at a time.
///
/// # Safety
/// `bytes` points to 64 bytes.
#[inline(always)]
unsafe fn test_each(bytes: *const u8, mask: u8) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const LOW_BITS: u64 = ONES * 127;
    let mut bits = 0;
    for k in 0..8 {
        // SAFETY: the caller's.
        let eight = u64::from_le_bytes(unsafe { bytes.add(8 * k).cast::<[u8; 8]>().read_unaligned() });
        let masked = eight & (ONES * u64::from(mask));
        // A byte that is not zero reaches its top bit when 127 is added to its low bits.
        let tops = (((masked & LOW_BITS) + LOW_BITS) | masked) & !LOW_BITS;
        bits |= ((tops >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * k);
    }
    bits
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::cpu::planes::Matcher;

    /// What [`check`] is given.
    pub struct Task<'a>(&'a [u64; 24]);

    kernel! {
        /// All functions of words, lane by lane.
        fn checked(Task) = check;
    }

    unsafe fn check<V: Words, M: Matcher>(Task(words): Task<'_>) {
        // SAFETY: the instructions are there; three times eight words are as many as any vector needs.
        unsafe {
            let at = |k: usize| V::load(words.as_ptr().add(8 * k));
            let (a, b, c) = (at(0), at(1), at(2));
            let each = |f: fn(u64, u64, u64) -> u64| {
                (0..V::COUNT).map(|k| f(words[k], words[8 + k], words[16 + k])).collect::<Vec<u64>>()
            };
            let lanes = |v: V| {
                let mut out = [0; MAX_LANES];
                v.store(out.as_mut_ptr());
                out[..V::COUNT].to_vec()
            };
            assert_eq!(lanes(a.add(b)), each(|a, b, _| a.wrapping_add(b)));
            assert_eq!(lanes(a.and(b)), each(|a, b, _| a & b));
            assert_eq!(lanes(a.or3(b, c)), each(|a, b, c| a | b | c));
            assert_eq!(lanes(a.xor_or(b, c)), each(|a, b, c| a ^ b | c));
            assert_eq!(lanes(a.nor_xor(b, c)), each(|a, b, c| !(a ^ b | c)));
            assert_eq!(lanes(a.and_or(b, c)), each(|a, b, c| a & b | c));
            assert_eq!(lanes(a.or_nor(b, c)), each(|a, b, c| a | !(b | c)));
            assert_eq!(lanes(a.shift_in(b)), each(|a, b, _| a << 1 | b >> 63));
            assert_eq!(lanes(a.top()), each(|a, _, _| a >> 63));
            assert_eq!(lanes(a.test(1 << 63)), each(|a, _, _| if a >> 63 == 1 { u64::MAX } else { 0 }));
            assert_eq!(lanes(a.test(1 << 5)), each(|a, _, _| if a >> 5 & 1 == 1 { u64::MAX } else { 0 }));
            assert_eq!(lanes(V::splat(77)), each(|_, _, _| 77));
            let down = lanes(a.shift_down(b));
            assert_eq!(down[..V::COUNT - 1], words[1..V::COUNT]);
            assert_eq!(down[V::COUNT - 1], words[8]);
            let bytes: &[u8] = bytemuck::cast_slice(&words[..8]);
            for mask in [0, 1, 6, 128, 255] {
                let expected = (0..64).fold(0u64, |bits, k| bits | u64::from(bytes[k] & mask != 0) << k);
                assert_eq!(V::test_bytes(bytes.as_ptr(), mask), expected, "mask {mask}");
            }
        }
    }

    #[test]
    fn vectors_do_as_words_do() {
        let mut state = 1u64;
        let words = std::array::from_fn(|k| {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            // Some zero bytes, and some words without the low ones.
            if k % 3 == 0 { state & 0xff00_ff0f_f000_ffff } else { state }
        });
        for isa in Isa::available() {
            for joined_shifts in [false, Instructions::of(isa).joined_shifts] {
                checked::<crate::edit::cpu::planes::Same<2>>(Instructions { isa, joined_shifts }, Task(&words));
            }
        }
    }
}
