//! Rows of differences that the kernel for groups keeps, so that alignments need only small parts of the matrices again
//! ([`super::retrace`]).

use std::ops::Range;

use super::ROWS;
use crate::score::DifferenceScoring;
use crate::score::difference::Element;
use crate::simd::{AlignedBuffer, Lanes, MAX_LANES};

/// Rows between two that are kept; more, by a factor, where there are more lanes of a vector or too many columns.
const SPACING: usize = 32;

/// The greatest factor: the parts that are computed again grow by its square.
const WIDEST: usize = 4;

/// Bytes that rows of a group may take; of more, none is kept. Little in tests, so that these meet the wide spacings too.
const MAX_BYTES: usize = if cfg!(test) { 1 << 19 } else { 32 << 20 };

/// The fewest columns on either side of the straight line between the corners that are kept.
const MIN_REACH: usize = 64;

/// V and f of the columns that paths are likely to come through, of all lanes, at rows that are a multiple of the
/// spacing before the last one. Of V only as many low bits as a lane has: differences are told by them, and whether a cell may
/// have a value.
#[derive(Debug, Clone, Default)]
pub(super) struct Checkpoints<E> {
    /// Rows between two; 0 if none is kept.
    spacing: usize,
    rows: usize,
    columns: usize,
    lanes: usize,
    /// Columns on either side of the line beyond the fewest.
    more: usize,
    /// Before each of the columns, and behind the last one.
    values: AlignedBuffer<E>,
    /// Under affine gaps only.
    f: AlignedBuffer<E>,
    affine: bool,
}

impl<E: Element> Checkpoints<E> {
    /// Keeps nothing of the next group.
    pub(super) fn none(&mut self) {
        self.spacing = 0;
    }

    /// Gets ready for a group of so many rows and columns in vectors of `lanes`; false if that would take too much memory.
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

    /// Whether a row is one of those: `left` rows follow.
    #[inline(always)]
    pub(super) fn keeps(&self, left: usize) -> bool {
        self.spacing > 0 && left.is_multiple_of(self.spacing)
    }

    /// Keeps a row that `left` rows follow. `edge` is V before the first column, lane by lane.
    ///
    /// # Safety
    /// The processor has the instructions of the vectors.
    #[inline(always)]
    pub(super) unsafe fn keep<W: Lanes<Elem = E>>(&mut self, left: usize, edge: &[E; MAX_LANES], dh: &[E], f: &[E]) {
        let place = left / self.spacing - 1;
        let (kept, numbers) = (self.kept(place), self.numbers(place));
        let to = &mut self.values.at_least(numbers.end)[numbers.clone()];
        // SAFETY: the caller's; all are of whole vectors.
        unsafe {
            let mut value = W::load(edge.as_ptr());
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

    /// Rows between two that are kept.
    pub(super) fn spacing(&self) -> usize {
        self.spacing
    }

    /// The first column that is kept of the row that `place + 1` spacings follow; `None` if it and those up to `end` are not all.
    pub(super) fn first_column(&self, place: usize, end: usize) -> Option<usize> {
        let kept = self.kept(place);
        (kept.start < end && end <= kept.end).then_some(kept.start)
    }

    /// dh and f of some of a row's columns that are kept, in a lane.
    pub(super) fn read(&mut self, place: usize, lane: usize, columns: Range<usize>, dh: &mut [E], f: &mut [E]) {
        let (kept, numbers, lanes) = (self.kept(place), self.numbers(place), self.lanes);
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

    /// V, in its low bits, of a lane of the row that `place + 1` spacings follow, behind so many columns; `None` if it was not kept.
    #[inline(always)]
    pub(super) fn value(&mut self, place: usize, lane: usize, columns: usize) -> Option<E> {
        let (kept, numbers) = (self.kept(place), self.numbers(place));
        let place = columns.checked_sub(kept.start).filter(|_| columns <= kept.end)?;
        Some(self.values.at_least(numbers.end)[numbers.start + place * self.lanes + lane])
    }

    /// Learns how many of the group's alignments left the columns that were kept: more are kept next time if these are many,
    /// and fewer, little by little, if there are none.
    pub(super) fn learn(&mut self, lost: usize, all: usize) {
        if 8 * lost > all {
            self.more = (self.more + self.reach()).min(self.columns);
        } else if lost == 0 {
            self.more -= self.more.div_ceil(64);
        }
    }

    /// Columns on either side of the line.
    fn reach(&self) -> usize {
        MIN_REACH + self.more
    }

    /// Columns of a row that are kept: one less than there is room for values, of which one lies before the first.
    fn width(&self) -> usize {
        self.columns.min(2 * self.reach() - 1)
    }

    /// Which.
    fn kept(&self, place: usize) -> Range<usize> {
        let left = (place + 1) * self.spacing;
        let line = (self.rows - left) * self.columns / self.rows;
        let start = line.saturating_sub(self.reach()).min(self.columns - self.width());
        start..start + self.width()
    }

    /// Where what is kept of them is.
    fn numbers(&self, place: usize) -> Range<usize> {
        let each = (self.width() + 1) * self.lanes;
        place * each..(place + 1) * each
    }
}
