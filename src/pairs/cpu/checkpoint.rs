//! Rows of differences that the kernel for groups keeps, so that alignments need only small parts of the matrices again
//! ([`super::retrace`]).

use std::ops::Range;

use super::group::ROWS;
use crate::score::DifferenceScoring;
use crate::score::difference::Element;
use crate::simd::Lines;

/// Rows between two that are kept; more, by a factor, where there are more lanes of a vector or too many columns.
const SPACING: usize = 32;

/// The greatest factor: the parts that are computed again grow by its square.
const WIDEST: usize = 4;

/// Bytes that rows of a group may take; of more, none is kept. Little in tests, so that these meet the wide spacings too.
const MOST_BYTES: usize = if cfg!(test) { 1 << 19 } else { 32 << 20 };

/// The fewest columns on either side of the straight line between the corners that are kept.
const LEAST_REACH: usize = 64;

/// dh and f of the columns that paths are likely to come through, of all lanes, at rows that are a multiple of the
/// spacing before the last one.
#[derive(Debug, Clone, Default)]
pub(super) struct Checkpoints<E> {
    /// Rows between two; 0 if none is kept.
    spacing: usize,
    rows: usize,
    columns: usize,
    lanes: usize,
    /// Columns on either side of the line beyond the fewest.
    more: usize,
    dh: Lines<E>,
    /// Under affine gaps only.
    f: Lines<E>,
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
        let numbers = |spacing: usize| rows / spacing * self.width() * lanes;
        let mut spacings = (1..=WIDEST).map(|factor| factor * SPACING.max(lanes));
        let spacing = spacings.find(|&spacing| numbers(spacing) * states * size_of::<E>() <= MOST_BYTES);
        let numbers = spacing.map_or(0, numbers);
        self.spacing = spacing.unwrap_or(0);
        debug_assert!(self.spacing.is_multiple_of(ROWS) && self.spacing.is_multiple_of(lanes));
        self.dh.at_least(numbers);
        self.f.at_least(if self.affine { numbers } else { 0 });
        self.spacing > 0
    }

    /// Keeps a row if it is one of those: `left` rows follow.
    #[inline(always)]
    pub(super) fn keep(&mut self, left: usize, dh: &[E], f: &[E]) {
        if self.spacing > 0 && left.is_multiple_of(self.spacing) {
            self.copy(left / self.spacing - 1, dh, f);
        }
    }

    #[inline(never)]
    fn copy(&mut self, place: usize, dh: &[E], f: &[E]) {
        let (from, to) = (self.kept(place), self.numbers(place));
        let from = from.start * self.lanes..from.end * self.lanes;
        self.dh.at_least(to.end)[to.clone()].copy_from_slice(&dh[from.clone()]);
        if self.affine {
            self.f.at_least(to.end)[to].copy_from_slice(&f[from]);
        }
    }

    /// Rows between two that are kept.
    pub(super) fn spacing(&self) -> usize {
        self.spacing
    }

    /// dh and f of some columns in a lane, of the row that `place + 1` spacings follow; false if they were not kept.
    pub(super) fn read(&mut self, place: usize, lane: usize, columns: Range<usize>, dh: &mut [E], f: &mut [E]) -> bool {
        let (kept, numbers, lanes) = (self.kept(place), self.numbers(place), self.lanes);
        if columns.start < kept.start || columns.end > kept.end {
            return false;
        }
        let first = numbers.start + (columns.start - kept.start) * lanes + lane;
        let read = |from: &[E], to: &mut [E]| {
            to.iter_mut().zip(from[first..].iter().step_by(lanes)).for_each(|(to, &from)| *to = from);
        };
        read(self.dh.at_least(numbers.end), &mut dh[..columns.len()]);
        if self.affine {
            read(self.f.at_least(numbers.end), &mut f[..columns.len()]);
        }
        true
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
        LEAST_REACH + self.more
    }

    /// Columns of a row that are kept.
    fn width(&self) -> usize {
        self.columns.min(2 * self.reach())
    }

    /// Which.
    fn kept(&self, place: usize) -> Range<usize> {
        let left = (place + 1) * self.spacing;
        let line = (self.rows - left) * self.columns / self.rows;
        let start = line.saturating_sub(self.reach()).min(self.columns - self.width());
        start..start + self.width()
    }

    /// Where they are.
    fn numbers(&self, place: usize) -> Range<usize> {
        let each = self.width() * self.lanes;
        place * each..(place + 1) * each
    }
}
