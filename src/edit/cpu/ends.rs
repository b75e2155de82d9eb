//! The least distance of the ends that an overlap may have, from the steps between cells of the last row or column.

use super::least::{Steps, block};

/// Of L pairs: distances up to some cell, and the least one where an overlap may end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ends<const L: usize> {
    distance: [i64; L],
    least: [i64; L],
}

impl<const L: usize> Ends<L> {
    /// Before the first cell, at no cost.
    pub(super) fn new() -> Self {
        Ends { distance: [0; L], least: [i64::MAX; L] }
    }

    /// Sets the distances at the cell.
    pub(super) fn set_distance(&mut self, distance: [i64; L]) {
        self.distance = distance;
    }

    /// The least distances, or [`u32::MAX`] without an end.
    pub(super) fn least(&self) -> [u32; L] {
        self.least.map(|least| u32::try_from(least).unwrap_or(u32::MAX))
    }

    /// Goes over as many cells as `cells` says, at most 64, steps beyond which do not matter. None of the first `skipped`
    /// is an end; of the others one is if its distance is at most `most`, of lane and number of the cell from 1, which never
    /// falls.
    #[inline(always)]
    pub(super) fn advance(
        &mut self,
        steps: Steps<L>,
        skipped: [usize; L],
        cells: [usize; L],
        most: impl Fn(usize, usize) -> u32,
    ) {
        let (own, low, sum) = block(steps, cells);
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
                distance += (own.up[lane] >> bit & 1) as i64 - (own.down[lane] >> bit & 1) as i64;
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
    fn cells_that_are_no_ends_do_not_count() {
        // 2 1 2 3 2 after one at 1.
        let steps = Steps { up: [0b10110 << 59; 4], down: [0b01001 << 59; 4] };
        let mut ends = Ends::new();
        ends.set_distance([1; 4]);
        let most = |lane: usize, cell: usize| [9, 9, 9, cell as u32 / 2][lane];
        ends.advance(steps, [0, 2, 5, 0], [5; 4], most);
        assert_eq!(ends.least(), [1, 2, u32::MAX, 1]);
        ends.advance(Steps { up: [0; 4], down: [1 << 63; 4] }, [0; 4], [1, 0, 1, 1], most);
        assert_eq!(ends.least(), [1, 2, 1, 1]);
    }
}
