//! The local score of one pair, rows side by side ([`super::skew`]).

use super::local::{Best, Places, Span};
use super::skew::{PairBuffers, PairTask, Strips};
use crate::score::LocalScoring;
use crate::score::difference::Element;
use crate::simd::{LaneElement, Lanes, MAX_LANES, Simd, SimdKernel, Skew};

/// Steps among which the best cells are told apart.
const CHUNK: usize = 64;

impl<E: LaneElement> SimdKernel for PairTask<'_, LocalScoring<E>, E, Best<E>> {
    type Output = ();
    const PORTABLE_ONLY: bool = E::PORTABLE_ONLY;

    #[inline(always)]
    unsafe fn run<S: Simd>(self) {
        // SAFETY: the caller's.
        unsafe { align::<E::In<S>>(self) }
    }
}

/// Computes the local score of a pair, and about where its best cells are.
///
/// # Safety
/// The processor has the instructions of `W`. Codes of `task.columns` are less than
/// `task.form.size()`, codes of `task.rows` less than [`STEPS`](crate::score::difference::STEPS).
#[inline(always)]
unsafe fn align<W: Lanes>(task: PairTask<'_, LocalScoring<W::Elem>, W::Elem, Best<W::Elem>>)
where
    W::Elem: LaneElement,
{
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
    // Of the first lane only.
    let mut places = Places::new(form.zero());
    // SAFETY: the caller's: W's instructions are there; h and f have n columns and a vector's room on either side.
    unsafe {
        let (first, next, zero) = (W::splat(form.first()), W::splat(form.next()), W::splat(form.zero()));
        for strip in 0..strips.count() {
            strips.codes(strip, &mut lanes);
            skew.begin(form.table(), codes, &lanes);
            let (h, f) = (h.as_mut_ptr().add(MAX_LANES), f.as_mut_ptr().add(MAX_LANES));
            // A lane before its first column, and after its last one, meets padding, which never adds to a score.
            let (mut cell, mut e, mut gap, mut diagonal) = (zero, zero, zero, zero);
            let row = (strip * W::COUNT) as u32;
            let mut from = 0;
            while from < n + W::COUNT - 1 {
                let to = (from + CHUNK).min(n + W::COUNT - 1);
                let mut best = zero;
                for t in from..to {
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
                // The value just under the best one, but not below zero, which may be the least number there is.
                let one = W::splat(W::Elem::from_number(1));
                let under = W::splat(places.value(0)).max(zero.add(one)).sub(one);
                if best.exceeds(under) {
                    let mut all = [form.zero(); MAX_LANES];
                    best.store(all.as_mut_ptr());
                    let greatest = all[..W::COUNT].iter().copied().max().unwrap_or(form.zero());
                    places.take(&[greatest], row, from as u32);
                }
                from = to;
            }
            if form.decode(places.value(0)).is_none() {
                // Wider numbers are needed, whatever the other strips hold.
                break;
            }
        }
        // The padding is before the first row, and a step's last row is that many columns behind the first.
        let [rows, columns] = places.spans(0, [W::COUNT as u32, (CHUNK + W::COUNT - 1) as u32]);
        let before = |span: Span, symbols: usize| {
            let [start, first_end, end] =
                [span.start, span.first_end, span.end].map(|at| at.saturating_sub(symbols as u32));
            Span { start, first_end, end }
        };
        *value =
            Best { value: places.value(0), rows: before(rows, strips.pad()), columns: before(columns, W::COUNT - 1) };
    }
}
