//! The best ends along the last column or row, for end gaps with their own costs.

use super::{Greatest, NO_GAP};
use crate::score::DifferenceScoring;
use crate::simd::{Lanes, MAX_LANES, array_of};

/// Values of successive cells of the last column or row, each with the gap from the cell to the
/// end. All lanes are computed together, and the compiler vectorizes them.
pub(super) struct LastCells<W> {
    /// Value of the current cell.
    value: [i32; MAX_LANES],
    /// The greatest value so far, including its end gap.
    best: [i32; MAX_LANES],
    /// Length of the longest end gap with the greatest value. It is the first one found.
    pub first: [u32; MAX_LANES],
    /// Length of the shortest end gap with the greatest value.
    least: [u32; MAX_LANES],
    lanes: std::marker::PhantomData<W>,
}

impl<W: Lanes> LastCells<W> {
    /// Starts with each lane's cell value, greatest value so far, and shortest gap with that value.
    pub(super) fn from(lane: impl Fn(usize) -> (i64, i64, u32)) -> Self {
        let lanes: [(i64, i64, u32); MAX_LANES] = array_of(lane);
        LastCells {
            value: lanes.map(|lane| lane.0 as i32),
            best: lanes.map(|lane| lane.1 as i32),
            first: [0; MAX_LANES],
            least: lanes.map(|lane| lane.2),
            lanes: std::marker::PhantomData,
        }
    }

    /// Adds the next cell, one symbol further, with `left` symbols after it.
    #[inline(always)]
    pub(super) fn take(&mut self, form: &DifferenceScoring<W::Elem>, differences: &[W::Elem], left: usize) {
        let change = (form.border_value(left) - form.border_value(left + 1)) as i32;
        let (left, differences) = (left as u32, &differences[..W::COUNT]);
        for (lane, &difference) in differences.iter().enumerate() {
            let value = self.value[lane].wrapping_add(form.difference(difference) as i32).wrapping_add(change);
            let (best, first, least) = (self.best[lane], self.first[lane], self.least[lane]);
            let of_best = if value > best { left } else { first.max(left) };
            self.value[lane] = value;
            self.best[lane] = best.max(value);
            self.first[lane] = if value >= best { of_best } else { first };
            self.least[lane] = if value >= best { left } else { least };
        }
    }

    /// Updates `best` with the ends that have a gap of rows.
    #[inline(always)]
    pub(super) fn take_rows(&self, best: &mut [Greatest; MAX_LANES]) {
        for (lane, best) in best[..W::COUNT].iter_mut().enumerate() {
            let (value, first, least) = self.lane_maximum(lane);
            if value > best.value {
                let rows = Greatest { value, rows_left: first, least_rows: least, ..Greatest::default() };
                *best = Greatest { least_columns: NO_GAP, ..rows };
            } else {
                best.least_rows = least;
            }
        }
    }

    /// Returns the greatest value of a lane, and the lengths of its longest and its shortest gap.
    pub(super) fn lane_maximum(&self, lane: usize) -> (i64, u32, u32) {
        (i64::from(self.best[lane]), self.first[lane], self.least[lane])
    }
}
