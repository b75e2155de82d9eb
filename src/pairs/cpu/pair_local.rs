//! The local score of one pair, rows side by side ([`super::skew`]).

use super::skew::{PairBuffers, PairTask, Skew, Strips};
use crate::score::LocalScoring;
use crate::simd::{Kernel, LaneElement, Lanes, MAX_LANES, Simd};

impl<E: LaneElement> Kernel for PairTask<'_, LocalScoring<E>, E, E> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<S: Simd>(self) {
        // SAFETY: the caller's.
        unsafe { align::<E::In<S>>(self) }
    }
}

#[inline(always)]
unsafe fn align<W: Lanes>(task: PairTask<'_, LocalScoring<W::Elem>, W::Elem, W::Elem>) {
    let PairTask { form, rows, columns, codes, buffers, value } = task;
    let n = columns.len();
    let PairBuffers { skew, above: h, gaps: f } = buffers;
    let mut skew = Skew::<W>::new(columns, form.size(), skew);
    let strips = Strips::new(rows, W::COUNT);
    // Before and behind the columns there is room for the other lanes of a vector.
    let h = h.at_least(n + 2 * MAX_LANES);
    let f = f.at_least(n + 2 * MAX_LANES);
    h[..n + 2 * MAX_LANES].fill(form.zero());
    f[..n + 2 * MAX_LANES].fill(form.zero());
    let mut lanes = [0; MAX_LANES];
    *value = form.zero();
    // SAFETY: the caller's: W's instructions are there; h and f have n columns and a vector's room on either side.
    unsafe {
        let (first, next, zero) = (W::splat(form.first()), W::splat(form.next()), W::splat(form.zero()));
        let mut best = zero;
        for strip in 0..strips.count() {
            strips.codes(strip, &mut lanes);
            skew.begin(form.table(), codes, &lanes);
            let (h, f) = (h.as_mut_ptr().add(MAX_LANES), f.as_mut_ptr().add(MAX_LANES));
            // A lane before its first column, and after its last one, meets padding, which never adds to a score.
            let (mut cell, mut e, mut gap, mut diagonal) = (zero, zero, zero, zero);
            for t in 0..n + W::COUNT - 1 {
                let above = cell.shift_down(*h.add(t));
                let down = gap.shift_down(*f.add(t));
                cell = diagonal.add(skew.step(t)).max(e).max(down);
                best = best.max(cell);
                // Not below zero, so that neither are E and F, nor H.
                let opened = cell.sub(first).max(zero);
                e = e.sub(next).max(opened);
                gap = down.sub(next).max(opened);
                cell.store(h.add(t + 1).sub(W::COUNT));
                gap.store(f.add(t + 1).sub(W::COUNT));
                diagonal = above;
            }
            let mut all = [form.zero(); MAX_LANES];
            best.store(all.as_mut_ptr());
            *value = all[..W::COUNT].iter().copied().max().unwrap_or(form.zero());
            if form.decode(*value).is_none() {
                // Wider numbers are needed, whatever the other strips hold.
                return;
            }
        }
    }
}
