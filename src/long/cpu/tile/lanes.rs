//! Vectors of 32-bit values for [`super`]: AVX-512, AVX2, and what every processor of the target has.

#[cfg(target_arch = "aarch64")]
mod neon;
#[cfg(target_arch = "x86_64")]
mod x86;

/// The most lanes that a vector has.
pub(super) const MAX_LANES: usize = 16;
/// Steps, and bytes of a step, that [`Lanes::transpose`] makes at once.
pub(super) const BLOCK: usize = 16;

/// The vectors that tiles are computed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Vectors {
    /// 4 lanes, with what every processor of the target has: SSE2 on x86-64, NEON on AArch64, elsewhere arrays of which
    /// the compiler makes what there is.
    Portable,
    /// 8 lanes: x86-64 with AVX2.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// 16 lanes: x86-64 with AVX-512F and AVX-512BW.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Vectors {
    /// Those that this processor has, the best first.
    pub fn available() -> Vec<Vectors> {
        let mut all = Vec::new();
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw") {
                all.push(Vectors::Avx512);
            }
            if is_x86_feature_detected!("avx2") {
                all.push(Vectors::Avx2);
            }
        }
        all.push(Vectors::Portable);
        all
    }

    /// Cells that a vector holds.
    pub fn lanes(self) -> usize {
        match self {
            Vectors::Portable => Baseline::COUNT,
            #[cfg(target_arch = "x86_64")]
            Vectors::Avx2 => Avx2::COUNT,
            #[cfg(target_arch = "x86_64")]
            Vectors::Avx512 => Avx512::COUNT,
        }
    }
}

/// Lanes of 32 bits. Sums and differences wrap.
///
/// # Safety
/// An implementation's methods may be called only where the processor has its instructions. Pointers are to
/// [`Lanes::COUNT`] elements, of any alignment.
pub(super) unsafe trait Lanes: Copy {
    /// How many there are; divides [`BLOCK`].
    const COUNT: usize;
    unsafe fn splat(value: i32) -> Self;
    unsafe fn load(from: *const i32) -> Self;
    unsafe fn store(self, to: *mut i32);
    /// Bytes, with signs.
    unsafe fn widen(from: *const i8) -> Self;
    unsafe fn add(self, other: Self) -> Self;
    unsafe fn sub(self, other: Self) -> Self;
    unsafe fn max(self, other: Self) -> Self;
    /// A bit for each lane, lane 0's the lowest: whether they are the same.
    unsafe fn equal(self, other: Self) -> u64;
    /// Every lane from its upper neighbour; the last lane is `last`.
    unsafe fn shift_down(self, last: i32) -> Self;
    /// Byte k of each of the rows becomes row k of `to`: 16 rows of 16 bytes.
    unsafe fn transpose(rows: &[*const i8; BLOCK], to: *mut i8);
}

/// Lanes of an array.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
#[derive(Clone, Copy)]
pub(super) struct Array([i32; 4]);

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
// SAFETY: needs nothing of the processor; loads and stores are of COUNT elements at any alignment.
unsafe impl Lanes for Array {
    const COUNT: usize = 4;
    #[inline(always)]
    unsafe fn splat(value: i32) -> Self {
        Array([value; 4])
    }
    #[inline(always)]
    unsafe fn load(from: *const i32) -> Self {
        Array(unsafe { from.cast::<[i32; 4]>().read_unaligned() })
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut i32) {
        unsafe { to.cast::<[i32; 4]>().write_unaligned(self.0) }
    }
    #[inline(always)]
    unsafe fn widen(from: *const i8) -> Self {
        Array(unsafe { from.cast::<[i8; 4]>().read_unaligned() }.map(i32::from))
    }
    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        Array(std::array::from_fn(|k| self.0[k].wrapping_add(other.0[k])))
    }
    #[inline(always)]
    unsafe fn sub(self, other: Self) -> Self {
        Array(std::array::from_fn(|k| self.0[k].wrapping_sub(other.0[k])))
    }
    #[inline(always)]
    unsafe fn max(self, other: Self) -> Self {
        Array(std::array::from_fn(|k| self.0[k].max(other.0[k])))
    }
    #[inline(always)]
    unsafe fn equal(self, other: Self) -> u64 {
        (0..4).fold(0, |bits, k| bits | u64::from(self.0[k] == other.0[k]) << k)
    }
    #[inline(always)]
    unsafe fn shift_down(self, last: i32) -> Self {
        Array(std::array::from_fn(|k| if k < 3 { self.0[k + 1] } else { last }))
    }
    #[inline(always)]
    unsafe fn transpose(rows: &[*const i8; BLOCK], to: *mut i8) {
        unsafe { transpose_bytes(rows, to) }
    }
}

/// [`Lanes::transpose`] byte by byte.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
#[inline(always)]
unsafe fn transpose_bytes(rows: &[*const i8; BLOCK], to: *mut i8) {
    for (place, row) in rows.iter().enumerate() {
        // SAFETY: the caller's: 16 bytes a row, 256 of the result.
        unsafe { (0..BLOCK).for_each(|k| *to.add(k * BLOCK + place) = *row.add(k)) }
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(super) use Array as Baseline;
#[cfg(target_arch = "aarch64")]
pub(super) use neon::Neon as Baseline;
#[cfg(target_arch = "x86_64")]
pub(super) use x86::{Avx2, Avx512, Sse2 as Baseline};
