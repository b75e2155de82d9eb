//! One column of one word of rows, after Myers (1999) in Hyyrö's form (2003).
//!
//! `pv` and `mv` have the rows whose distance is one above, or one below, that of the row before. Steps along a row
//! come in from the word below (which holds the rows before these) and leave at the top; a step down by one is also what the
//! carry of the addition says, so that no other carry is handed on.

use super::planes::Matcher;
use crate::simd::LanesU64;

/// Differences between rows.
#[derive(Clone, Copy)]
pub(super) struct Vertical<V> {
    pub pv: V,
    pub mv: V,
}

/// Differences between columns: those of the word below, of which the top bits count.
#[derive(Clone, Copy)]
pub(super) struct Horizontal<V> {
    pub hp: V,
    pub hn: V,
    /// Rows that are as good as matches: the lowest, if the row before it steps down.
    pub as_matches: V,
}

impl<V: LanesU64> Horizontal<V> {
    /// From the steps of the word below.
    ///
    /// # Safety
    /// The processor has the instructions of V.
    #[inline(always)]
    pub(super) unsafe fn new(hp: V, hn: V) -> Self {
        // SAFETY: the caller's.
        Horizontal { hp, hn, as_matches: unsafe { hn.top() } }
    }
}

/// Goes one column on.
///
/// # Safety
/// The processor has the instructions of V.
#[inline(always)]
pub(super) unsafe fn step<V: LanesU64, M: Matcher>(
    state: Vertical<V>,
    below: Horizontal<V>,
    pattern: impl Fn(usize) -> V,
    text: impl Fn(usize) -> V,
) -> (Vertical<V>, Horizontal<V>) {
    let Vertical { pv, mv } = state;
    // SAFETY: the caller's.
    unsafe {
        // A row that is one below the row before has a diagonal difference of 0 as a match has; and as no bit is in
        // both pv and mv, it takes no part in the addition.
        let zero = M::matches::<V>(pattern, text).or3(mv, below.as_matches);
        let d0 = zero.and(pv).add(pv).xor_or(pv, zero);
        let (hp, hn) = (mv.or_nor(d0, pv), d0.and(pv));
        let (hp_before, hn_before) = (hp.shift_in(below.hp), hn.shift_in(below.hn));
        let state = Vertical { pv: hn_before.or_nor(d0, hp_before), mv: hp_before.and(d0) };
        (state, Horizontal::new(hp, hn))
    }
}
