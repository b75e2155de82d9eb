//! Rows of differences that the group kernel keeps as checkpoints. With them, a traceback
//! recomputes only small parts of the matrices ([`super::traceback`]).

use std::ops::Range;

use super::ROWS;
use crate::score::DifferenceScoring;
use crate::score::difference::Element;
use crate::simd::{AlignedBuffer, Lanes, MAX_LANES};

/// Number of rows between two kept rows. It is multiplied by a factor if a vector has more lanes
/// than this, or if the rows would take too much memory.
const SPACING: usize = 32;

/// The greatest factor of the spacing. The size of recomputed parts grows with its square.
const WIDEST: usize = 4;

/// Greatest number of bytes for the kept rows of a group. If they need more, no row is kept. The
/// limit is small in tests, so that the tests also cover wide spacings.
const MAX_BYTES: usize = if cfg!(test) { 1 << 19 } else { 32 << 20 };

/// Least number of kept columns on either side of the diagonal from corner to corner.
const MIN_REACH: usize = 64;

/// V and f ([`crate::score::difference`]) of all lanes, at rows whose distance from the last row is
/// a multiple of the spacing, in the columns that paths are likely to visit. A lane stores only the
/// low bits of V that fit in it. They suffice to compute differences, and to test whether a cell
/// may have a value.
#[derive(Debug, Clone, Default)]
pub(super) struct Checkpoints<E> {
    /// Number of rows between two kept rows, or 0 if no row is kept.
    spacing: usize,
    rows: usize,
    columns: usize,
    lanes: usize,
    /// Number of kept columns on either side of the diagonal in addition to [`MIN_REACH`].
    more: usize,
    /// V before each of the columns and after the last one.
    values: AlignedBuffer<E>,
    /// f of the columns, with affine gaps only.
    f: AlignedBuffer<E>,
    affine: bool,
}

impl<E: Element> Checkpoints<E> {
    /// Disables checkpoints for the next group.
    pub(super) fn disable(&mut self) {
        self.spacing = 0;
    }

    /// Prepares for a group with this many rows and columns, in vectors of `lanes` lanes. Returns
    /// false if the rows would take too much memory.
    pub(super) fn prepare(&mut self, rows: usize, columns: usize, lanes: usize, form: &DifferenceScoring<E>) -> bool {
        self.affine = form.opening() != 0;
        (self.rows, self.columns, self.lanes) = (rows, columns, lanes);
        let states = if self.affine { 2 } else { 1 };
        let numbers = |spacing: usize| rows / spacing * (self.width() + 1) * lanes;
        let mut spacings = (1..=WIDEST).map(|factor| factor * SPACING.max(lanes));
        let spacing = spacings.find(|&spacing| numbers(spacing) * states * size_of::<E>() <= MAX_BYTES);
        let numbers = spacing.map_or(0, numbers);
        self.spacing = spacing.unwrap_or(0);
        debug_assert!(self.spacing.is_multiple_of(ROWS) && self.spacing.is_multiple_of(lanes));
        self.values.at_least(numbers);
        self.f.at_least(if self.affine { numbers } else { 0 });
        self.spacing > 0
    }

    /// Returns whether a checkpoint is kept at the row that `left` rows follow.
    #[inline(always)]
    pub(super) fn keeps_row(&self, left: usize) -> bool {
        self.spacing > 0 && left.is_multiple_of(self.spacing)
    }

    /// Keeps the row that `left` rows follow. `border` contains V before the first column of each
    /// lane.
    ///
    /// # Safety
    /// The processor has the instructions of the vectors.
    #[inline(always)]
    pub(super) unsafe fn keep<W: Lanes<Elem = E>>(&mut self, left: usize, border: &[E; MAX_LANES], dh: &[E], f: &[E]) {
        let index = left / self.spacing - 1;
        let (kept, numbers) = (self.kept(index), self.numbers(index));
        let to = &mut self.values.at_least(numbers.end)[numbers.clone()];
        // SAFETY: the caller guarantees the instructions, and all slices hold whole vectors.
        unsafe {
            let mut value = W::load(border.as_ptr());
            for dh in dh[..kept.start * W::COUNT].chunks_exact(W::COUNT) {
                value = value.add(W::load(dh.as_ptr()));
            }
            let kept_dh = dh[kept.start * W::COUNT..kept.end * W::COUNT].chunks_exact(W::COUNT);
            let mut to = to.chunks_exact_mut(W::COUNT);
            for (dh, to) in kept_dh.zip(&mut to) {
                value.store(to.as_mut_ptr());
                value = value.add(W::load(dh.as_ptr()));
            }
            to.for_each(|to| value.store(to.as_mut_ptr()));
        }
        if self.affine {
            let f = &f[kept.start * W::COUNT..kept.end * W::COUNT];
            self.f.at_least(numbers.end)[numbers][..f.len()].copy_from_slice(f);
        }
    }

    /// Returns the number of rows between two kept rows.
    pub(super) fn spacing(&self) -> usize {
        self.spacing
    }

    /// Returns the first kept column of the row that `index + 1` spacings follow. Returns `None`
    /// unless all columns from there up to `end` are kept.
    pub(super) fn first_column(&self, index: usize, end: usize) -> Option<usize> {
        let kept = self.kept(index);
        (kept.start < end && end <= kept.end).then_some(kept.start)
    }

    /// Reads dh and f of some kept columns of a row, in one lane.
    pub(super) fn read(&mut self, index: usize, lane: usize, columns: Range<usize>, dh: &mut [E], f: &mut [E]) {
        let (kept, numbers, lanes) = (self.kept(index), self.numbers(index), self.lanes);
        let first = numbers.start + (columns.start - kept.start) * lanes + lane;
        let mut values = self.values.at_least(numbers.end)[first..].iter().step_by(lanes);
        let mut before = values.next().map_or(0, |value| value.number());
        for (dh, value) in dh[..columns.len()].iter_mut().zip(values) {
            *dh = E::from_number(value.number().wrapping_sub(before));
            before = value.number();
        }
        if self.affine {
            let from = self.f.at_least(numbers.end)[first..].iter().step_by(lanes);
            f[..columns.len()].iter_mut().zip(from).for_each(|(to, &from)| *to = from);
        }
    }

    /// Returns the low bits of V in a lane after `columns` columns, in the row that `index + 1`
    /// spacings follow. Returns `None` if this value was not kept.
    #[inline(always)]
    pub(super) fn value(&mut self, index: usize, lane: usize, columns: usize) -> Option<E> {
        let (kept, numbers) = (self.kept(index), self.numbers(index));
        let index = columns.checked_sub(kept.start).filter(|_| columns <= kept.end)?;
        Some(self.values.at_least(numbers.end)[numbers.start + index * self.lanes + lane])
    }

    /// Adapts the number of kept columns. `lost` of `all` tracebacks of a group left the kept
    /// columns. If these are more than an eighth, the number of columns grows. If there are none,
    /// it shrinks slowly.
    pub(super) fn learn(&mut self, lost: usize, all: usize) {
        if 8 * lost > all {
            self.more = (self.more + self.side_columns()).min(self.columns);
        } else if lost == 0 {
            self.more -= self.more.div_ceil(64);
        }
    }

    /// Returns the number of kept columns on either side of the diagonal.
    fn side_columns(&self) -> usize {
        MIN_REACH + self.more
    }

    /// Returns the number of kept columns of a row. One value more than this is stored, for the
    /// position before the first column.
    fn width(&self) -> usize {
        self.columns.min(2 * self.side_columns() - 1)
    }

    /// Returns the range of kept columns of a row.
    fn kept(&self, index: usize) -> Range<usize> {
        let left = (index + 1) * self.spacing;
        let line = (self.rows - left) * self.columns / self.rows;
        let start = line.saturating_sub(self.side_columns()).min(self.columns - self.width());
        start..start + self.width()
    }

    /// Returns the range of a row's values in `values` and `f`.
    fn numbers(&self, index: usize) -> Range<usize> {
        let each = (self.width() + 1) * self.lanes;
        index * each..(index + 1) * each
    }
}
