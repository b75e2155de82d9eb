//! Vectors as arrays, for processors without vectors of their own here, and for 64-bit elements.

use super::{Lanes, STEPS};
use crate::score::difference::Element;
use crate::seq::Code;

/// Bytes of a vector: as many as the compiler can keep in the registers of most processors.
pub const BYTES: usize = 64;

/// N lanes.
#[derive(Clone, Copy)]
pub struct Array<E, const N: usize>([E; N]);

macro_rules! arrays {
    ($($elem:ty, $unsigned:ty, $count:literal);*) => { $(
        // SAFETY: needs nothing of the processor; loads and stores are of COUNT elements at any alignment.
        unsafe impl Lanes for Array<$elem, $count> {
            type Elem = $elem;
            const COUNT: usize = $count;
            #[inline(always)]
            unsafe fn splat(value: $elem) -> Self {
                Array([value; $count])
            }
            #[inline(always)]
            unsafe fn load(from: *const $elem) -> Self {
                Array(unsafe { from.cast::<[$elem; $count]>().read_unaligned() })
            }
            #[inline(always)]
            unsafe fn store(self, to: *mut $elem) {
                unsafe { to.cast::<[$elem; $count]>().write_unaligned(self.0) }
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
            unsafe fn max_unsigned(self, other: Self) -> Self {
                Array(std::array::from_fn(|k| (self.0[k] as $unsigned).max(other.0[k] as $unsigned) as $elem))
            }
            #[inline(always)]
            unsafe fn shift_down(self, last: $elem) -> Self {
                Array(std::array::from_fn(|k| if k + 1 < $count { self.0[k + 1] } else { last }))
            }
            #[inline(always)]
            unsafe fn blend(self, other: Self, mask: Self) -> Self {
                Array(std::array::from_fn(|k| (self.0[k] & !mask.0[k]) | (other.0[k] & mask.0[k])))
            }
            #[inline(always)]
            unsafe fn lookup(table: &[$elem; STEPS], codes: *const Code) -> Self {
                let codes = unsafe { codes.cast::<[Code; $count]>().read_unaligned() };
                Array(codes.map(|code| table[code as usize % STEPS]))
            }
        }
    )* };
}
arrays!(i8, u8, 64; i16, u16, 32; i32, u32, 16; i64, u64, 8);

/// Every lane looked up by itself, where a processor has no instruction for tables of such elements.
///
/// # Safety
/// `codes` points to N codes.
#[inline(always)]
pub unsafe fn lookup_each<E: Element, const N: usize>(table: &[E; STEPS], codes: *const Code) -> [E; N] {
    let codes = unsafe { codes.cast::<[Code; N]>().read_unaligned() };
    codes.map(|code| table[code as usize % STEPS])
}
