//! One column of one word of rows, after Myers (1999) in the form of Hyyrö (2003).
//!
//! `pv` and `mv` mark the rows whose distance is one more or one less than in the previous row.
//! Steps along a row enter from the word before, which contains the preceding rows, and leave at
//! the top bit. A downward step also determines the carry of the addition, so no other carry is
//! passed on.

use super::planes::Matcher;
use crate::simd::LanesU64;

/// Differences between rows.
#[derive(Clone, Copy)]
pub(super) struct VerticalDeltas<V> {
    pub pv: V,
    pub mv: V,
}

/// Differences between columns in the word before, of which only the top bits are used.
#[derive(Clone, Copy)]
pub(super) struct HorizontalDeltas<V> {
    pub hp: V,
    pub hn: V,
    /// Rows that count as matches: the lowest row, if the row before it steps down.
    pub as_matches: V,
}

impl<V: LanesU64> HorizontalDeltas<V> {
    /// Creates the differences from the steps of the word before.
    ///
    /// # Safety
    /// The processor has the instructions of V.
    #[inline(always)]
    pub(super) unsafe fn new(hp: V, hn: V) -> Self {
        // SAFETY: guaranteed by the caller.
        HorizontalDeltas { hp, hn, as_matches: unsafe { hn.top_bits() } }
    }
}

/// Advances a word by one column.
///
/// # Safety
/// The processor has the instructions of V.
#[inline(always)]
pub(super) unsafe fn step<V: LanesU64, M: Matcher>(
    state: VerticalDeltas<V>,
    below: HorizontalDeltas<V>,
    pattern: impl Fn(usize) -> V,
    text: impl Fn(usize) -> V,
) -> (VerticalDeltas<V>, HorizontalDeltas<V>) {
    let VerticalDeltas { pv, mv } = state;
    // SAFETY: guaranteed by the caller.
    unsafe {
        // A row whose distance is one less than in the previous row has a diagonal difference of 0,
        // like a match. No bit is in both pv and mv, so such a row does not take part in the
        // addition.
        let zero = M::matches::<V>(pattern, text).or3(mv, below.as_matches);
        let d0 = zero.and(pv).add(pv).xor_or(pv, zero);
        let (hp, hn) = (mv.or_nor(d0, pv), d0.and(pv));
        let (hp_before, hn_before) = (hp.shift_in(below.hp), hn.shift_in(below.hn));
        let state = VerticalDeltas { pv: hn_before.or_nor(d0, hp_before), mv: hp_before.and(d0) };
        (state, HorizontalDeltas::new(hp, hn))
    }
}
