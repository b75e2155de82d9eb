//! Predicts the regions of the grid that a traceback is likely to enter next, so that an engine can
//! prepare them together.

use crate::error::Result;
use crate::long::chain::grid::{BorderGrid, FramedRegion, MatrixPosition};
use crate::long::{BorderSpan, LongPair};

/// Number of regions in the first prediction. Nothing is predicted for the first region, because
/// local alignments often end in it.
const FIRST_REGIONS: usize = 8;
/// Maximum expected deviation of a traceback from its diagonal, in rows and columns: a constant
/// plus the distance divided by `MARGIN_PART`.
const MARGIN: u32 = 1024;
const MARGIN_PART: u32 = 64;

/// Regions that an engine has prepared for a traceback.
#[derive(Debug, Clone, Default)]
pub(super) struct RegionPrefetch {
    /// Number of times that the traceback entered a region that was not prepared.
    misses: u32,
    /// Rows and columns of the prepared regions.
    ready: Vec<[BorderSpan; 2]>,
    /// Whether the engine can prepare no region, because regions are too large.
    cannot_prepare: bool,
}

impl RegionPrefetch {
    /// Returns at most `most` regions of a grid to prepare, when a traceback enters the region
    /// `framed` at its last cell. Returns none if that region is already prepared.
    ///
    /// # Errors
    /// The errors of [`BorderGrid::region`].
    pub(super) fn next(
        &mut self,
        grid: &BorderGrid,
        pair: &LongPair,
        framed: &FramedRegion,
        most: usize,
    ) -> Result<Vec<FramedRegion>> {
        let spans = |framed: &FramedRegion| [framed.rows, framed.columns];
        let holds = |ready: &[BorderSpan; 2]| {
            let mut pairs = ready.iter().zip(spans(framed));
            pairs.all(|(ready, entered)| ready.first == entered.first && entered.last <= ready.last)
        };
        if most == 0 || self.cannot_prepare || self.ready.iter().any(holds) {
            return Ok(Vec::new());
        }
        self.misses += 1;
        let count = match self.misses {
            1 => 0,
            2 => FIRST_REGIONS.min(most),
            _ => most,
        };
        let end = MatrixPosition { i: framed.rows.last, j: framed.columns.last };
        let ends = along_diagonal(grid, end, count);
        let regions: Vec<FramedRegion> = ends.into_iter().map(|end| grid.region(pair, end)).collect::<Result<_>>()?;
        self.ready = regions.iter().map(spans).collect();
        Ok(regions)
    }

    /// Records how many of the last predicted regions the engine has prepared, counted from the
    /// first one.
    pub(super) fn record_prepared(&mut self, ready: usize) {
        self.cannot_prepare = ready == 0;
        self.ready.truncate(ready);
    }
}

/// Returns the lower right corners of the regions along the diagonal of a traceback from `start`.
/// The corner of a region is limited to the part that the traceback may need. If the diagonal passes
/// close to a corner of the grid, the regions on both sides are returned.
fn along_diagonal(grid: &BorderGrid, start: MatrixPosition, count: usize) -> Vec<MatrixPosition> {
    let above = |i: u32| grid.across.range(..i).next_back().map(|(&row, _)| row);
    let before = |j: u32| grid.down.range(..j).next_back().map(|(&column, _)| column);
    // The next kept row at or below a row, and the next kept column at or to the right of a column.
    let below = |i: u32| grid.across.range(i..).next().map_or(grid.rows.last, |(&row, _)| row);
    let behind = |j: u32| grid.down.range(j..).next().map_or(grid.columns.last, |(&column, _)| column);
    let corner = |i, j| MatrixPosition { i, j };
    let MatrixPosition { mut i, mut j } = start;
    let mut corners = Vec::new();
    while corners.len() < count {
        let (Some(row), Some(column)) = (above(i), before(j)) else { break };
        let margin = MARGIN + (start.i - i) / MARGIN_PART;
        corners.push(corner(below(i).min(i.saturating_add(margin)), behind(j).min(j.saturating_add(margin))));
        let way = (i - row).min(j - column);
        (i, j) = (i - way, j - way);
        // Close to a corner, the path may cross the other line instead. Its next region is then the
        // one to the left, or the one above.
        let is_close = (i - row).max(j - column) <= margin;
        if is_close && i == row {
            corners.push(corner(below(row + 1).min(row + margin), column));
        }
        if is_close && j == column {
            corners.push(corner(row, behind(column + 1).min(column + margin)));
        }
    }
    corners.retain(|&corner| grid.holds(corner));
    corners.truncate(count);
    corners
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::long::chain::border::{BorderLine, LinePart};

    fn grid(lines: u32, pitch: u32) -> BorderGrid {
        let end = lines * pitch;
        let all = || (0..=lines).map(|k| (k * pitch, BorderLine::from_part(0..=end, LinePart::Border))).collect();
        let (rows, columns) = (BorderSpan::new(0, end), BorderSpan::new(0, end));
        BorderGrid { rows, columns, across: all(), down: all() }
    }

    /// Returns the position of each region in the grid, and its lower right corner.
    fn regions(i: u32, j: u32, count: usize) -> Vec<((u32, u32), (u32, u32))> {
        let corners = along_diagonal(&grid(10, 10_000), MatrixPosition { i, j }, count);
        corners.into_iter().map(|at| (((at.i - 1) / 10_000, (at.j - 1) / 10_000), (at.i, at.j))).collect()
    }

    #[test]
    fn regions_follow_the_diagonal() {
        // Far from corners: up, to the left, up.
        let actual = regions(25_000, 30_000, 4);
        assert_eq!(
            actual,
            [
                ((2, 2), (26_024, 30_000)),
                ((1, 2), (20_000, 26_102)),
                ((1, 1), (16_180, 20_000)),
                ((0, 1), (10_000, 16_258)),
            ]
        );
        // All regions up to the first row.
        assert_eq!(regions(25_000, 30_000, 100).len(), 5);
    }

    #[test]
    fn regions_on_both_sides_of_a_corner_are_predicted() {
        let actual = regions(30_000, 30_000, 4);
        assert_eq!(
            actual,
            [
                ((2, 2), (30_000, 30_000)),
                ((2, 1), (21_024, 20_000)),
                ((1, 2), (20_000, 21_024)),
                ((1, 1), (20_000, 20_000)),
            ]
        );
        // A little to the right of corners: across the row, and perhaps across the previous column.
        let actual = regions(30_000, 30_100, 4);
        assert_eq!(
            actual,
            [
                ((2, 3), (30_000, 31_124)),
                ((2, 2), (30_000, 30_000)),
                ((2, 1), (21_025, 20_000)),
                ((1, 2), (20_000, 21_280)),
            ]
        );
    }
}
