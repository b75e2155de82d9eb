//! Least distance of the possible ends of an overlap, computed from the steps between cells of the
//! last row or column.

use super::least::{RowSteps, block};

/// Distances of L pairs up to a cell, and the least distance of a possible end.
#[derive(Debug, Clone, Copy)]
pub(super) struct OverlapEnds<const L: usize> {
    distance: [i64; L],
    least: [i64; L],
}

impl<const L: usize> OverlapEnds<L> {
    /// Creates the state before the first cell, with distance 0.
    pub(super) fn new() -> Self {
        OverlapEnds { distance: [0; L], least: [i64::MAX; L] }
    }

    /// Sets the distances at the current cell.
    pub(super) fn set_distance(&mut self, distance: [i64; L]) {
        self.distance = distance;
    }

    /// Returns the least distances, or [`u32::MAX`] for pairs without an end.
    pub(super) fn least_distances(&self) -> [u32; L] {
        self.least.map(|least| u32::try_from(least).unwrap_or(u32::MAX))
    }

    /// Advances by `cells` cells, at most 64. Steps beyond them are ignored. The first `skipped`
    /// cells are not ends. Any other cell is an end if its distance is at most `most(lane, cell)`,
    /// with cells counted from 1. `most` must not decrease as the cell increases.
    #[inline(always)]
    pub(super) fn advance(
        &mut self,
        steps: RowSteps<L>,
        skipped: [usize; L],
        cells: [usize; L],
        most: impl Fn(usize, usize) -> u32,
    ) {
        let (kept_steps, low, sum) = block(steps, cells);
        for lane in 0..L {
            let (begin, cells, skipped) = (self.distance[lane], cells[lane], skipped[lane]);
            self.distance[lane] += sum[lane];
            let lowest = begin + low[lane];
            if skipped >= cells || lowest >= self.least[lane] || lowest > i64::from(most(lane, cells)) {
                continue;
            }
            let mut distance = begin;
            for cell in 0..cells {
                let bit = 63 - cell;
                distance += (kept_steps.up[lane] >> bit & 1) as i64 - (kept_steps.down[lane] >> bit & 1) as i64;
                if cell >= skipped && distance < self.least[lane] && distance <= i64::from(most(lane, cell + 1)) {
                    self.least[lane] = distance;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_possible_ends_count() {
        // The distances are 2 1 2 3 2, after a cell with distance 1.
        let steps = RowSteps { up: [0b10110 << 59; 4], down: [0b01001 << 59; 4] };
        let mut ends = OverlapEnds::new();
        ends.set_distance([1; 4]);
        let most = |lane: usize, cell: usize| [9, 9, 9, cell as u32 / 2][lane];
        ends.advance(steps, [0, 2, 5, 0], [5; 4], most);
        assert_eq!(ends.least_distances(), [1, 2, u32::MAX, 1]);
        ends.advance(RowSteps { up: [0; 4], down: [1 << 63; 4] }, [0; 4], [1, 0, 1, 1], most);
        assert_eq!(ends.least_distances(), [1, 2, 1, 1]);
    }
}
