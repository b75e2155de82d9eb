//! The local score of one pair with rows in adjacent lanes ([`super::skew`]).

use super::local::{BestLocalCell, BestPlaces, Span};
use super::skew::{PairBuffers, PairTask, Strips};
use crate::score::LocalScoring;
use crate::score::difference::Element;
use crate::simd::{LaneElement, Lanes, MAX_LANES, Simd, SimdKernel, Skew};

/// Number of steps between two tests for a new best cell. The position of a best cell is known to
/// within this many steps.
const CHUNK: usize = 64;

impl<E: LaneElement> SimdKernel for PairTask<'_, LocalScoring<E>, E, BestLocalCell<E>> {
    type Output = ();
    const PORTABLE_ONLY: bool = E::PORTABLE_ONLY;

    #[inline(always)]
    unsafe fn run<S: Simd>(self) {
        // SAFETY: the caller guarantees the instructions of S.
        unsafe { align::<E::In<S>>(self) }
    }
}

/// Computes the local score of a pair, with the approximate position of its best cells.
///
/// # Safety
/// The processor has the instructions of `W`. Codes of `task.rows` are less than
/// [`STEPS`](crate::score::difference::STEPS).
#[inline(always)]
unsafe fn align<W: Lanes>(task: PairTask<'_, LocalScoring<W::Elem>, W::Elem, BestLocalCell<W::Elem>>)
where
    W::Elem: LaneElement,
{
    let PairTask { form, rows, columns, buffers, value } = task;
    let codes = columns.codes_below(form.size());
    let columns = columns.symbols();
    let n = columns.len();
    let PairBuffers { skew, above: h, gaps: f } = buffers;
    let mut skew = Skew::<W>::new(columns, form.size(), skew);
    let strips = Strips::new(rows, W::COUNT);
    // A vector extends beyond the columns on either side, because its lanes are in different
    // columns.
    let h = h.at_least(n + 2 * MAX_LANES);
    let f = f.at_least(n + 2 * MAX_LANES);
    h[..n + 2 * MAX_LANES].fill(form.zero());
    f[..n + 2 * MAX_LANES].fill(form.zero());
    let mut lanes = [0; MAX_LANES];
    // Only the first lane is used.
    let mut places = BestPlaces::new(form.zero());
    // SAFETY: the caller guarantees the instructions of W. h and f have n columns with space for a
    // vector on either side.
    unsafe {
        let (first, next, zero) = (W::splat(form.first()), W::splat(form.next()), W::splat(form.zero()));
        for strip in 0..strips.count() {
            strips.codes(strip, &mut lanes);
            skew.begin(form.table(), codes, &lanes);
            let (h, f) = (h.as_mut_ptr().add(MAX_LANES), f.as_mut_ptr().add(MAX_LANES));
            // Before its first column and after its last one, a lane reads padding, which never
            // increases a score.
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
                    // Clamping to zero keeps E, F and H from falling below zero.
                    let opened = cell.sub(first).max(zero);
                    e = e.sub(next).max(opened);
                    gap = down.sub(next).max(opened);
                    cell.store(h.add(t + 1).sub(W::COUNT));
                    gap.store(f.add(t + 1).sub(W::COUNT));
                    diagonal = above;
                }
                // One less than the best value, but at least zero. Zero can be the least number of
                // the type, so nothing may be subtracted from it.
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
                // The score needs wider integers, whatever the remaining strips contain.
                break;
            }
        }
        // Rows are counted without the padding before the first row. At each step, the last row is
        // W::COUNT - 1 columns behind the first row.
        let [rows, columns] = places.spans(0, [W::COUNT as u32, (CHUNK + W::COUNT - 1) as u32]);
        let before = |span: Span, symbols: usize| {
            let [start, first_end, end] =
                [span.start, span.first_end, span.end].map(|at| at.saturating_sub(symbols as u32));
            Span { start, first_end, end }
        };
        *value = BestLocalCell {
            value: places.value(0),
            rows: before(rows, strips.pad()),
            columns: before(columns, W::COUNT - 1),
        };
    }
}
