//! The global score of one pair with rows in adjacent lanes ([`super::skew`]), from differences
//! between neighbouring cells.
//!
//! A vector of cells takes the operations of [`super::difference`] and two more that move dh (and
//! f) down a row. With 64 lanes of 8 bits, the lookup of the scores takes 7 blends.

use std::ops::Range;

use super::difference::Greatest;
use super::skew::{PairBuffers, PairTask, Strips};
use crate::score::DifferenceScoring;
use crate::score::difference::Element;
use crate::simd::{LaneElement, Lanes, MAX_LANES, Simd, SimdKernel, Skew};
use crate::trace::Band;

/// A pair whose cells are computed on some diagonals only, and a few next to them. The result is the
/// greatest value of the alignments through these cells.
pub(super) struct PairInBand<'a, E> {
    pub task: PairTask<'a, DifferenceScoring<E>, E, Greatest>,
    /// Diagonals of row minus column. The first and the last cell are on some of them. Unless the
    /// band is the whole matrix, the scoring must [fit bands](DifferenceScoring::fits_bands).
    pub band: Band,
}

impl<E: LaneElement> SimdKernel for PairInBand<'_, E> {
    type Output = ();
    const PORTABLE_ONLY: bool = E::PORTABLE_ONLY;

    #[inline(always)]
    unsafe fn run<S: Simd>(self) {
        // SAFETY: the caller guarantees the instructions of S.
        unsafe { align::<E::In<S>>(self) }
    }
}

/// Computes the global score of a pair.
///
/// # Safety
/// The processor has the instructions of `W`. Codes of `task.rows` are less than
/// [`STEPS`](crate::score::difference::STEPS).
#[inline(always)]
unsafe fn align<W: Lanes>(PairInBand { task, band }: PairInBand<'_, W::Elem>) {
    let PairTask { form, rows, columns, buffers, value } = task;
    let codes = columns.codes_below(form.size());
    let columns = columns.symbols();
    let n = columns.len();
    let PairBuffers { skew, above: dh, gaps: f } = buffers;
    let mut skew = Skew::<W>::new(columns, form.size(), skew);
    let strips = Strips::new(rows, W::COUNT);
    // A vector extends beyond the columns on either side, because its lanes are in different
    // columns.
    let dh = dh.at_least(n + 2 * MAX_LANES);
    let f = f.at_least(n + 2 * MAX_LANES);
    if rows.is_empty() || n == 0 {
        *value = Greatest::from_gaps(form.border_value(rows.len() + n), rows.len(), n);
        return;
    }
    for j in 0..n {
        let above = form.border_difference(j + 1);
        dh[MAX_LANES + j] = above;
        f[MAX_LANES + j] = W::Elem::from_number(above.number() - form.opening());
    }
    if form.own_ends() && strips.done(0, W::COUNT - 1) == 0 {
        // The first column below padding is not the first column of the matrix.
        dh[MAX_LANES] = W::Elem::from_number(form.border_step());
        f[MAX_LANES] = W::Elem::from_number(form.border_step() - form.opening());
    }
    let mut best = Greatest::from_gaps(form.border_value(n) + form.border_value(rows.len()), rows.len(), n);
    // The columns of the strip above. All columns above the first strip are known.
    let mut above = 0..n;
    // Values of the row above the strip: before its first column, and in the last column once a strip
    // has it. The last column is only followed if end gaps have their own costs.
    let (mut along, mut last) = (0, None);
    let mut lanes = [0; MAX_LANES];
    let mut borders = [W::Elem::default(); MAX_LANES];
    for strip in 0..strips.count() {
        strips.codes(strip, &mut lanes);
        let columns = strips.columns(strip, band, n);
        // Cells outside the band are reached by a gap that opens at the band.
        along += (above.start..columns.start).map(|j| form.difference(dh[MAX_LANES + j])).sum::<i64>();
        for j in above.end..columns.end {
            let opening = if j == above.end { form.opening() } else { 0 };
            dh[MAX_LANES + j] = W::Elem::from_number(-opening);
            f[MAX_LANES + j] = W::Elem::from_number(-opening - form.opening());
        }
        for (lane, border) in borders[..W::COUNT].iter_mut().enumerate() {
            *border = match strips.done(strip, lane) {
                _ if columns.start > 0 && lane == W::COUNT - 1 => W::Elem::from_number(-form.opening()),
                _ if columns.start > 0 => W::Elem::from_number(0),
                // The last row of padding. The row after it, in the lane below or in the next
                // strip, is the first row.
                0 if strips.is_corner(strip, lane) => form.corner_difference(),
                done => form.border_difference(done),
            };
        }
        if columns.end == n && form.own_ends() {
            last.get_or_insert_with(|| match strip {
                0 => form.border_value(n),
                _ => along + columns.clone().map(|j| form.difference(dh[MAX_LANES + j])).sum::<i64>(),
            });
        }
        // SAFETY: the caller guarantees the instructions of W. dh and f have n columns with space
        // for a vector on either side.
        unsafe {
            skew.begin(form.table(), codes, &lanes);
            let start = MAX_LANES + columns.start;
            let (dh, f) = (dh.as_mut_ptr().add(start), f.as_mut_ptr().add(start));
            let cells = StripOf { form, columns: columns.clone(), borders: &borders, dh, f };
            let ends = if form.opening() == 0 {
                cells.compute::<false, true>(&mut skew, &mut ())
            } else {
                cells.compute::<true, true>(&mut skew, &mut ())
            };
            if let Some(last) = &mut last {
                // The last column, from top to bottom: the end gap contains the remaining rows.
                for lane in (0..W::COUNT).rev() {
                    *last += form.difference(ends[lane]);
                    let left = rows.len() - strips.done(strip, lane);
                    best.take_rows(*last + form.border_value(left), left);
                }
            }
        }
        along = match columns.start {
            0 => form.border_value(strips.done(strip, 0)),
            _ => along + borders[..W::COUNT].iter().map(|&border| form.difference(border)).sum::<i64>(),
        };
        above = columns;
    }
    for j in above.start..=n {
        // The last row: the end gap contains the remaining columns.
        best.take_columns(along + form.border_value(n - j), n - j);
        if j < n {
            along += form.difference(dh[MAX_LANES + j]);
        }
    }
    *value = if form.own_ends() { best } else { Greatest { value: along, ..Greatest::default() } };
}

/// A strip of some columns that is computed in place. `dh` and `f` contain the row above before the
/// computation, and the last row of the strip after it.
pub(super) struct StripOf<'a, W: Lanes> {
    pub form: &'a DifferenceScoring<W::Elem>,
    /// Range of these columns among the columns that the steps are defined for.
    pub columns: Range<usize>,
    /// dv before the first column of each lane.
    pub borders: &'a [W::Elem; MAX_LANES],
    /// Pointer to dh of the first column. There is space for a vector's other lanes before the
    /// first column and after the last one.
    pub dh: *mut W::Elem,
    /// Pointer to f of the first column, with the same space around the columns.
    pub f: *mut W::Elem,
}

/// Source of the steps (scores of diagonal moves) between each lane's row symbol and the columns'
/// symbols.
pub(super) trait StepSource<W> {
    /// Returns the steps of all lanes at step `t`. Calls come in the order of `t`.
    ///
    /// # Safety
    /// The processor has the instructions of `W`. The implementation has step `t`.
    unsafe fn step(&mut self, t: usize) -> W;
}

impl<W: Lanes> StepSource<W> for Skew<'_, W> {
    #[inline(always)]
    unsafe fn step(&mut self, t: usize) -> W {
        // SAFETY: the caller guarantees the preconditions.
        unsafe { Skew::step(self, t) }
    }
}

/// Observer that receives a strip's cells.
pub(super) trait CellNotes<W> {
    /// Receives the cells at step `t`: the step of the two symbols, z, e, f, and z minus the
    /// opening.
    ///
    /// # Safety
    /// The processor has the instructions of the vectors.
    unsafe fn take(&mut self, t: usize, step: W, z: W, e: W, f: W, opened: W);
}

/// Observes nothing.
impl<W> CellNotes<W> for () {
    #[inline(always)]
    unsafe fn take(&mut self, _: usize, _: W, _: W, _: W, _: W, _: W) {}
}

impl<W: Lanes> StripOf<'_, W> {
    /// Computes the strip like [`StripOf::compute`]. For the last strip, it does not store dh and f
    /// of the last row.
    ///
    /// # Safety
    /// The conditions of [`StripOf::compute`] hold.
    #[inline(always)]
    pub(super) unsafe fn compute_last<const AFFINE: bool>(
        self,
        is_last: bool,
        steps: &mut impl StepSource<W>,
        notes: &mut impl CellNotes<W>,
    ) -> [W::Elem; MAX_LANES] {
        // SAFETY: the caller guarantees the preconditions.
        unsafe {
            match is_last {
                true => self.compute::<AFFINE, false>(steps, notes),
                false => self.compute::<AFFINE, true>(steps, notes),
            }
        }
    }

    /// Computes the strip. Returns dv of the last column of each lane. Without `LEAVES`, dh and f
    /// still contain the row above afterwards.
    ///
    /// # Safety
    /// The processor has the instructions of `W`. `self.dh` points to an element for each of
    /// `self.columns`. These may be read and written, and so may the `W::COUNT - 1` elements before
    /// them and after them. With `AFFINE`, the same holds for `self.f`. `steps` has every step from
    /// `columns.start` to `columns.end + W::COUNT - 2`.
    #[inline(always)]
    pub(super) unsafe fn compute<const AFFINE: bool, const LEAVES: bool>(
        self,
        steps: &mut impl StepSource<W>,
        notes: &mut impl CellNotes<W>,
    ) -> [W::Elem; MAX_LANES] {
        let StripOf { form, columns, borders, dh, f } = self;
        let (first, n) = (columns.start, columns.len());
        let mut ends = *borders;
        if n == 0 {
            return ends;
        }
        // SAFETY: the caller guarantees the preconditions.
        unsafe {
            let opening = W::splat(W::Elem::from_number(form.opening()));
            let dv = W::load(borders.as_ptr());
            let mut state = LaneState { dv, e: dv.sub(opening), h: dv, f: dv, opening };
            // Lanes start one after another. A lane that has not started keeps its border values.
            let mut begun = W::splat(W::Elem::from_number(0));
            for t in 0..W::COUNT - 1 {
                begun = begun.shift_down(W::Elem::from_number(-1));
                let before = state;
                state.step::<AFFINE, LEAVES>(steps.step(first + t), dh, f, t, notes);
                state.dv = before.dv.blend(state.dv, begun);
                state.e = before.e.blend(state.e, begun);
                state.end(n, t, &mut ends);
            }
            let inner = n.max(W::COUNT - 1);
            for t in W::COUNT - 1..inner {
                state.step::<AFFINE, LEAVES>(steps.step(first + t), dh, f, t, notes);
            }
            state.end(n, inner - 1, &mut ends);
            for t in inner..n + W::COUNT - 1 {
                state.step::<AFFINE, LEAVES>(steps.step(first + t), dh, f, t, notes);
                state.end(n, t, &mut ends);
            }
            ends
        }
    }
}

/// Values that a strip's lanes keep from step to step.
#[derive(Clone, Copy)]
struct LaneState<W> {
    dv: W,
    e: W,
    h: W,
    f: W,
    opening: W,
}

impl<W: Lanes> LaneState<W> {
    /// Computes step `t`, one cell per lane. dh and f of the first row are read from memory, and
    /// the last lane's values are stored there.
    ///
    /// # Safety
    /// The processor has the instructions of `W`. Element `t` of `dh` may be read. With `LEAVES`,
    /// elements `t + 1 - W::COUNT` to `t` may be written. Some of them may be before the pointer.
    /// With `AFFINE`, the same holds for `f`.
    #[inline(always)]
    unsafe fn step<const AFFINE: bool, const LEAVES: bool>(
        &mut self,
        scores: W,
        dh: *mut W::Elem,
        f: *mut W::Elem,
        t: usize,
        notes: &mut impl CellNotes<W>,
    ) {
        // SAFETY: the caller guarantees the preconditions.
        unsafe {
            let above = self.h.shift_down(*dh.add(t));
            let z = if AFFINE {
                let gap = self.f.shift_down(*f.add(t));
                let z = scores.max(self.e).max(gap);
                let opened = z.sub(self.opening);
                notes.take(t, scores, z, self.e, gap, opened);
                self.e = opened.max(self.e).sub(above);
                self.f = opened.max(gap).sub(self.dv);
                if LEAVES {
                    self.f.store(f.add(t + 1).sub(W::COUNT));
                }
                z
            } else {
                let z = scores.max_unsigned(self.dv).max_unsigned(above);
                notes.take(t, scores, z, self.dv, above, z);
                z
            };
            self.h = z.sub(self.dv);
            self.dv = z.sub(above);
            if LEAVES {
                self.h.store(dh.add(t + 1).sub(W::COUNT));
            }
        }
    }

    /// Stores dv of the lane that computed its last column at step `t`, if any did.
    ///
    /// # Safety
    /// The processor has the instructions of `W`.
    #[inline(always)]
    unsafe fn end(&self, n: usize, t: usize, ends: &mut [W::Elem; MAX_LANES]) {
        let Some(behind) = (t + 1).checked_sub(n) else { return };
        if behind < W::COUNT {
            let mut all = [W::Elem::default(); MAX_LANES];
            // SAFETY: the caller guarantees the instructions, and `all` has MAX_LANES elements.
            unsafe { self.dv.store(all.as_mut_ptr()) };
            ends[W::COUNT - 1 - behind] = all[W::COUNT - 1 - behind];
        }
    }
}
