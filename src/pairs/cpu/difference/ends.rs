//! The best ends along the last column or row, where end gaps have costs of their own.

use super::{Greatest, NO_GAP};
use crate::score::DifferenceScoring;
use crate::simd::{Lanes, MAX_LANES};

/// Values of cells of the last column, or row, one after the other, each with the gap that is left from there to the end; all lanes at
/// once, which the compiler makes vectors of.
pub(super) struct Ends<W> {
    /// Of the cell.
    value: [i32; MAX_LANES],
    /// The greatest so far.
    best: [i32; MAX_LANES],
    /// The longest gap that it comes with.
    pub first: [u32; MAX_LANES],
    /// The shortest.
    least: [u32; MAX_LANES],
    lanes: std::marker::PhantomData<W>,
}

impl<W: Lanes> Ends<W> {
    /// Begins with a cell's value, the greatest one, and the shortest gap that has that.
    pub(super) fn from(lane: impl Fn(usize) -> (i64, i64, u32)) -> Self {
        let lanes: [(i64, i64, u32); MAX_LANES] = std::array::from_fn(lane);
        Ends {
            value: lanes.map(|lane| lane.0 as i32),
            best: lanes.map(|lane| lane.1 as i32),
            first: [0; MAX_LANES],
            least: lanes.map(|lane| lane.2),
            lanes: std::marker::PhantomData,
        }
    }

    /// Takes the next cell, a symbol further, after which `left` of them follow.
    #[inline(always)]
    pub(super) fn take(&mut self, form: &DifferenceScoring<W::Elem>, differences: &[W::Elem], left: usize) {
        let change = (form.edge(left) - form.edge(left + 1)) as i32;
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

    /// Raises the best ends to those of rows.
    #[inline(always)]
    pub(super) fn take_rows(&self, best: &mut [Greatest; MAX_LANES]) {
        for (lane, best) in best[..W::COUNT].iter_mut().enumerate() {
            let (value, first, least) = self.of(lane);
            if value > best.value {
                let rows = Greatest { value, rows_left: first, least_rows: least, ..Greatest::default() };
                *best = Greatest { least_columns: NO_GAP, ..rows };
            } else {
                best.least_rows = least;
            }
        }
    }

    /// The greatest value of a lane with the longest and the shortest gap.
    pub(super) fn of(&self, lane: usize) -> (i64, u32, u32) {
        (i64::from(self.best[lane]), self.first[lane], self.least[lane])
    }
}
