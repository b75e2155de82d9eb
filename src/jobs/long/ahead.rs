//! Which regions of the grid a walk is likely to come through next, so that an engine can make them ready together.

use crate::error::Result;
use crate::long::LongPair;
use crate::long::chain::grid::{Framed, Grid};

/// Regions that are made ready first. A walk that ends in its first region is common among local alignments, so it begins
/// with that one alone.
const FIRST_REGIONS: usize = 8;
/// Rows and columns by which a walk may leave its diagonal: so many, and a part of the way.
const MARGIN: u32 = 1024;
const MARGIN_PART: u32 = 64;

/// What was made ready for a walk.
#[derive(Debug, Clone, Default)]
pub(super) struct Ahead {
    /// How often it came to a region that was not ready.
    misses: u32,
    /// Upper left corners and lower right ones.
    ready: Vec<[(u32, u32); 2]>,
    /// Regions are too large for the engine to make any ready.
    is_in_vain: bool,
}

impl Ahead {
    /// The regions of a grid to be made ready, up to `most`, where a walk comes to the last cell of `framed`; none, if that one
    /// is ready.
    ///
    /// # Errors
    /// As [`Grid::region`].
    pub(super) fn next(&mut self, grid: &Grid, pair: &LongPair, framed: &Framed, most: usize) -> Result<Vec<Framed>> {
        let corners = |framed: &Framed| [(framed.rows.0, framed.columns.0), (framed.rows.1, framed.columns.1)];
        let [begin, end] = corners(framed);
        let holds = |[own, last]: &[(u32, u32); 2]| *own == begin && end.0 <= last.0 && end.1 <= last.1;
        if most == 0 || self.is_in_vain || self.ready.iter().any(holds) {
            return Ok(Vec::new());
        }
        self.misses += 1;
        let count = match self.misses {
            1 => 0,
            2 => FIRST_REGIONS.min(most),
            _ => most,
        };
        let ends = along_diagonal(grid, end, count);
        let regions: Vec<Framed> = ends.into_iter().map(|(i, j)| grid.region(pair, i, j)).collect::<Result<_>>()?;
        self.ready = regions.iter().map(corners).collect();
        Ok(regions)
    }

    /// Hears how many of the last regions the engine has made ready, from the first on.
    pub(super) fn hear(&mut self, ready: usize) {
        self.is_in_vain = ready == 0;
        self.ready.truncate(ready);
    }
}

/// Lower right corners of the regions that a walk comes through if it keeps to its diagonal about, as far as it may want them. Where
/// it passes close by a corner of the grid, the regions on both sides.
fn along_diagonal(grid: &Grid, at: (u32, u32), count: usize) -> Vec<(u32, u32)> {
    let above = |i: u32| grid.across.range(..i).next_back().map(|(&row, _)| row);
    let before = |j: u32| grid.down.range(..j).next_back().map(|(&column, _)| column);
    // The line at or below a row, at or right of a column.
    let below = |i: u32| grid.across.range(i..).next().map_or(grid.rows.1, |(&row, _)| row);
    let behind = |j: u32| grid.down.range(j..).next().map_or(grid.columns.1, |(&column, _)| column);
    let (mut i, mut j) = at;
    let mut corners: Vec<(u32, u32)> = Vec::new();
    while corners.len() < count {
        let (Some(row), Some(column)) = (above(i), before(j)) else { break };
        let margin = MARGIN + (at.0 - i) / MARGIN_PART;
        corners.push((below(i).min(i.saturating_add(margin)), behind(j).min(j.saturating_add(margin))));
        let way = (i - row).min(j - column);
        (i, j) = (i - way, j - way);
        // Close by a corner it may leave by the other line instead: the region to the left of the one that it leaves, the one above.
        let is_close = (i - row).max(j - column) <= margin;
        if is_close && i == row {
            corners.push((below(row + 1).min(row + margin), column));
        }
        if is_close && j == column {
            corners.push((row, behind(column + 1).min(column + margin)));
        }
    }
    corners.retain(|&(i, j)| grid.holds(i, j));
    corners.truncate(count);
    corners
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::long::chain::border::{Line, Part};

    fn grid(lines: u32, pitch: u32) -> Grid {
        let end = lines * pitch;
        let all = || (0..=lines).map(|k| (k * pitch, Line::of(0..=end, Part::Border))).collect();
        Grid { rows: (0, end), columns: (0, end), across: all(), down: all() }
    }

    /// Upper left corner and lower right one of each region.
    fn regions(at: (u32, u32), count: usize) -> Vec<((u32, u32), (u32, u32))> {
        let corners = along_diagonal(&grid(10, 10_000), at, count);
        corners.into_iter().map(|(i, j)| (((i - 1) / 10_000, (j - 1) / 10_000), (i, j))).collect()
    }

    #[test]
    fn regions_follow_the_diagonal() {
        // Far from corners: up, to the left, up.
        let found = regions((25_000, 30_000), 4);
        assert_eq!(
            found,
            [
                ((2, 2), (26_024, 30_000)),
                ((1, 2), (20_000, 26_102)),
                ((1, 1), (16_180, 20_000)),
                ((0, 1), (10_000, 16_258)),
            ]
        );
        // All that there are.
        assert_eq!(regions((25_000, 30_000), 100).len(), 5);
    }

    #[test]
    fn both_sides_of_a_corner_are_there() {
        let found = regions((30_000, 30_000), 4);
        assert_eq!(
            found,
            [
                ((2, 2), (30_000, 30_000)),
                ((2, 1), (21_024, 20_000)),
                ((1, 2), (20_000, 21_024)),
                ((1, 1), (20_000, 20_000)),
            ]
        );
        // A little to the right of corners: by the row's line, and perhaps by the column's before.
        let found = regions((30_000, 30_100), 4);
        assert_eq!(
            found,
            [
                ((2, 3), (30_000, 31_124)),
                ((2, 2), (30_000, 30_000)),
                ((2, 1), (21_025, 20_000)),
                ((1, 2), (20_000, 21_280)),
            ]
        );
    }
}
