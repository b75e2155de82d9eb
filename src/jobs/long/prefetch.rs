//! Predicts the regions of the grid that a traceback is likely to enter next, so that an engine can
//! prepare them together.

use std::sync::Arc;

use super::bound::KmerAnchor;
use crate::error::Result;
use crate::long::chain::grid::{BorderGrid, FramedRegion, MatrixPosition};
use crate::long::{BorderSpan, LongPair};

/// Number of regions in the first prediction without an expected path. Nothing is then predicted
/// for the first region, because local alignments often end in it.
const FIRST_REGIONS: usize = 8;
/// Maximum expected deviation of a traceback from its expected way, in rows and columns: a constant
/// plus the distance divided by `MARGIN_PART`.
const MARGIN: u32 = 1024;
const MARGIN_PART: u32 = 64;

/// Regions that an engine has prepared for a traceback.
#[derive(Debug, Clone, Default)]
pub(super) struct RegionPrefetch {
    /// Points that the traceback is likely to visit, in order.
    path: Arc<[KmerAnchor]>,
    /// Number of times that the traceback entered a region that was not prepared.
    misses: u32,
    /// Rows and columns of the prepared regions.
    ready: Vec<[BorderSpan; 2]>,
    /// Whether the engine can prepare no region, because regions are too large.
    cannot_prepare: bool,
}

impl RegionPrefetch {
    /// Creates the state of a traceback before its first region. `path` are points that it is
    /// likely to visit, in order.
    pub(super) fn new(path: &Arc<[KmerAnchor]>) -> Self {
        RegionPrefetch { path: Arc::clone(path), ..RegionPrefetch::default() }
    }

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
        let end = MatrixPosition { i: framed.rows.last, j: framed.columns.last };
        let is_expected = is_close_to(&self.path, end);
        let count = match self.misses {
            1 if !is_expected => 0,
            2 if !is_expected => FIRST_REGIONS.min(most),
            _ => most,
        };
        let ends = along_path(grid, &self.path, end, count);
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

/// Returns the lower right corners of the regions that a traceback from `start` is likely to enter.
/// It is expected along a path if it starts close to it, and otherwise along its diagonal. The
/// corner of a region is limited to the part that the traceback may need. If the way passes close
/// to a corner of the grid, the regions on both sides are returned.
fn along_path(grid: &BorderGrid, path: &[KmerAnchor], start: MatrixPosition, count: usize) -> Vec<MatrixPosition> {
    let above = |i: u32| grid.across.range(..i).next_back().map(|(&row, _)| row);
    let before = |j: u32| grid.down.range(..j).next_back().map(|(&column, _)| column);
    // The next kept row at or below a row, and the next kept column at or to the right of a column.
    let below = |i: u32| grid.across.range(i..).next().map_or(grid.rows.last, |(&row, _)| row);
    let behind = |j: u32| grid.down.range(j..).next().map_or(grid.columns.last, |(&column, _)| column);
    let corner = |i, j| MatrixPosition { i, j };
    let path = if is_close_to(path, start) { path } else { &[] };
    let MatrixPosition { mut i, mut j } = start;
    // An alignment of the expected score ends with the path.
    let least = path.first().map_or(MatrixPosition { i: 0, j: 0 }, |at| corner(at.query, at.target));
    let mut corners = Vec::new();
    while corners.len() < count && (i > least.i || j > least.j) {
        let (Some(row), Some(column)) = (above(i), before(j)) else { break };
        let margin = MARGIN + (start.i - i) / MARGIN_PART;
        corners.push(corner(below(i).min(i.saturating_add(margin)), behind(j).min(j.saturating_add(margin))));
        MatrixPosition { i, j } = crossing(path, corner(i, j), corner(row, column));
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

/// Returns whether a cell is on the diagonal of the points before or after it, or between the two
/// diagonals, within [`MARGIN`].
fn is_close_to(path: &[KmerAnchor], cell: MatrixPosition) -> bool {
    let after = path.partition_point(|at| at.query < cell.i);
    let diagonal = |i: u32, j: u32| i64::from(j) - i64::from(i);
    let nearest = path[after.saturating_sub(1)..path.len().min(after + 1)].iter();
    let [least, greatest] = nearest.fold([i64::MAX, i64::MIN], |[least, greatest], at| {
        let diagonal = diagonal(at.query, at.target);
        [least.min(diagonal), greatest.max(diagonal)]
    });
    let (own, margin) = (diagonal(cell.i, cell.j), i64::from(MARGIN));
    least.saturating_sub(margin) <= own && own <= greatest.saturating_add(margin)
}

/// Returns the cell where the way back from `from` first meets the row or the column of `lines`.
/// The way leads from point to point of the path, each time along the diagonal and then along a
/// gap. From the first point on, it follows the diagonal.
fn crossing(path: &[KmerAnchor], from: MatrixPosition, lines: MatrixPosition) -> MatrixPosition {
    let MatrixPosition { mut i, mut j } = from;
    // A gap may lead to a point along its row or column.
    let before = path.partition_point(|at| at.query <= i);
    for at in path[..before].iter().rev().filter(|at| at.target <= from.j) {
        let way = (i - at.query).min(j - at.target);
        if way >= (i - lines.i).min(j - lines.j) {
            break;
        }
        (i, j) = (i - way, j - way);
        if at.query <= lines.i {
            return MatrixPosition { i: lines.i, j };
        }
        if at.target <= lines.j {
            return MatrixPosition { i, j: lines.j };
        }
        (i, j) = (at.query, at.target);
    }
    let way = (i - lines.i).min(j - lines.j);
    MatrixPosition { i: i - way, j: j - way }
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
    fn regions(path: &[KmerAnchor], i: u32, j: u32, count: usize) -> Vec<((u32, u32), (u32, u32))> {
        let corners = along_path(&grid(10, 10_000), path, MatrixPosition { i, j }, count);
        corners.into_iter().map(|at| (((at.i - 1) / 10_000, (at.j - 1) / 10_000), (at.i, at.j))).collect()
    }

    #[test]
    fn regions_follow_the_diagonal() {
        // Far from corners: up, to the left, up.
        let actual = regions(&[], 25_000, 30_000, 4);
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
        assert_eq!(regions(&[], 25_000, 30_000, 100).len(), 5);
    }

    #[test]
    fn regions_on_both_sides_of_a_corner_are_predicted() {
        let actual = regions(&[], 30_000, 30_000, 4);
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
        let actual = regions(&[], 30_000, 30_100, 4);
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

    #[test]
    fn regions_follow_the_gaps_of_a_path() {
        let at = |(query, target)| KmerAnchor { query, target };
        // From the end: one diagonal, a gap of 30,000 target symbols, and another diagonal.
        let path = [(1_000, 2_000), (15_000, 16_000), (16_000, 47_000), (24_000, 55_000)].map(at);
        let of_path = |i, j| regions(&path, i, j, 8).into_iter().map(|(region, _)| region).collect::<Vec<_>>();
        // Two corners are close. Between them, the way follows the gap.
        let along_gap = [(2, 5), (2, 4), (1, 5), (1, 4), (1, 3), (1, 2), (1, 1), (1, 0)];
        assert_eq!(of_path(25_000, 56_000), along_gap);
        // The way starts within the gap.
        assert_eq!(of_path(16_000, 35_000), [(1, 3), (1, 2), (1, 1), (1, 0), (0, 1), (0, 0)]);
        // Far from the path, the diagonal counts.
        assert_eq!(
            of_path(25_000, 95_000),
            regions(&[], 25_000, 95_000, 8).into_iter().map(|(region, _)| region).collect::<Vec<_>>()
        );
    }

    #[test]
    fn crossings_are_on_the_lines() {
        let at = |(query, target)| KmerAnchor { query, target };
        let position = |(i, j)| MatrixPosition { i, j };
        let crossing = |path: &[(u32, u32)], from, lines| {
            let path: Vec<KmerAnchor> = path.iter().copied().map(at).collect();
            let MatrixPosition { i, j } = crossing(&path, position(from), position(lines));
            (i, j)
        };
        // Along the diagonal, without points or with points on it.
        assert_eq!(crossing(&[], (50, 40), (10, 30)), (40, 30));
        assert_eq!(crossing(&[(45, 35)], (50, 40), (10, 30)), (40, 30));
        // A gap crosses the row, or the column.
        assert_eq!(crossing(&[(5, 35)], (50, 40), (10, 30)), (10, 35));
        assert_eq!(crossing(&[(45, 5)], (50, 40), (10, 30)), (45, 30));
        // The point before the last one is beyond a line.
        assert_eq!(crossing(&[(2, 33), (47, 36)], (50, 40), (10, 30)), (10, 33));
        // Points beyond the start are ignored.
        assert_eq!(crossing(&[(45, 45), (60, 60)], (50, 40), (10, 30)), (40, 30));
    }
}
