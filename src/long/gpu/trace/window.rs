//! The window: the blocks around the expected path for which start states are computed.

use crate::long::kernels::striped_trace::start_words;
use crate::long::{Method, PathPoint};

/// Minimum number of blocks of a window, unless memory or the region requires fewer. A device
/// computes about this many in the fixed time of a round.
const MIN_BLOCKS: usize = 512;

/// Extent of a window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WindowReach {
    /// Number of rows above and below the expected path.
    pub margin: u32,
    /// Number of rows of the expected path per column.
    pub slope: f64,
    /// Maximum number of blocks.
    pub blocks: usize,
    /// Maximum number of u32 values of start states.
    pub start_words: u64,
    /// Maximum number of cells.
    pub cells: u64,
    /// Maximum number of rows of a block that consists of several chunks.
    pub block_rows: u32,
}

impl WindowReach {
    /// Adapts the extent after a traceback entered a window at `before` and left it at `at`. The
    /// next window has at most `blocks` blocks.
    pub fn adapt_extent(&mut self, window: &BlockWindow, before: PathPoint, at: PathPoint, chunk: u32, blocks: usize) {
        let (rows, columns) = (before.i - at.i, before.j - at.j);
        // A single gap may be the greater part of a short path, so its slope is not used.
        if rows > 4 * chunk && columns > 4 * chunk {
            self.slope = (f64::from(rows) / f64::from(columns)).clamp(0.25, 4.0);
        }
        // If the path left the window early, most of the window was unused.
        if u64::from(rows + columns) < window.path_columns / 2 {
            self.margin = self.margin.saturating_mul(2).max(chunk);
            self.blocks = (self.blocks / 2).max(MIN_BLOCKS).min(blocks);
        } else {
            self.margin = (self.margin / 2).max(self.margin.min(chunk));
            self.blocks = (self.blocks * 2).min(blocks);
        }
    }
}

/// Division of a region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Division {
    /// Columns of a strip.
    pub strip: u32,
    /// Rows of a chunk.
    pub chunk: u32,
    /// Number of columns by which the first strip is narrower than the others.
    pub lead: u32,
}

/// A window: blocks that end at the row and column of the traceback.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BlockWindow {
    /// Row of the traceback, and last row of the window.
    pub rows: u32,
    /// Column of the traceback, and last column of the window.
    pub columns: u32,
    /// The first strip.
    pub strip_begin: u32,
    /// Values for each strip: the first chunk row, the chunk row after the last one, the block of
    /// the first chunk row, and 1 if each chunk is a block.
    pub spans: Vec<[u32; 4]>,
    /// Values for each block: the strip, the row before its first row, and its last row. The last
    /// value is unused.
    pub blocks: Vec<[u32; 4]>,
    /// Rows of the tallest block.
    pub block_rows: u32,
    /// Maximum number of parts of a path through the window.
    pub parts: u32,
    /// Maximum number of columns of a path through the window.
    pub path_columns: u64,
    /// Cells of all blocks.
    pub cells: u64,
}

impl BlockWindow {
    /// Creates the window of a traceback that is at a row and a column. It has as many strips as
    /// the extent allows, but at least one.
    pub fn new(method: Method, division: Division, row: u32, column: u32, reach: &WindowReach) -> Self {
        let Division { strip, chunk, lead } = division;
        let mut window = BlockWindow { rows: row, columns: column, parts: 1, ..BlockWindow::default() };
        if row == 0 || column == 0 {
            return window;
        }
        let last_chunk = (row - 1) / chunk;
        let mut least_row = row;
        for k in (0..=(column - 1 + lead) / strip).rev() {
            let (left, right) = ((k * strip).max(lead) - lead, ((k + 1) * strip - lead).min(column));
            let at = |position: u32| f64::from(row) - reach.slope * f64::from(column - position);
            if at(right) + f64::from(reach.margin) < 0.0 && !window.spans.is_empty() {
                // The expected path leaves the region at the top.
                break;
            }
            // Casts from floats saturate.
            let chunk_of = |row: f64| (((row - 1.0).max(0.0) as u32) / chunk).min(last_chunk);
            let mut first = chunk_of(at(left) - f64::from(reach.margin));
            let mut last = if right == column { last_chunk } else { chunk_of(at(right) + f64::from(reach.margin)) };
            match method {
                Method::Striped => (first, last) = (0, last_chunk),
                Method::Chunked1 => first = first.max((last + 1).saturating_sub((reach.block_rows / chunk).max(1))),
                Method::Chunked2 => {}
            }
            let block_of = |first: u32, after: u32| [k, first * chunk, (after * chunk).min(row), 0];
            let more: Vec<[u32; 4]> = match method {
                Method::Chunked2 => {
                    // If not all chunks fit, the chunks closest to the traceback are taken.
                    first =
                        first.max((last + 1).saturating_sub(u32::try_from(reach.blocks).unwrap_or(u32::MAX).max(1)));
                    (first..=last).map(|c| block_of(c, c + 1)).collect()
                }
                _ => vec![block_of(first, last + 1)],
            };
            let tallest = more.iter().map(|block| block[2] - block[1]).max().unwrap_or(0).max(window.block_rows);
            let cells: u64 =
                more.iter().map(|block| u64::from(block[2] - block[1]) * u64::from(right - left)).sum::<u64>();
            let blocks = window.blocks.len() + more.len();
            let words = blocks as u64 * start_words(tallest, strip);
            let is_full =
                blocks > reach.blocks || words > reach.start_words || window.cells.saturating_add(cells) > reach.cells;
            if is_full && !window.spans.is_empty() {
                break;
            }
            let each = u32::from(method == Method::Chunked2);
            window.spans.push([first, last + 1, window.blocks.len() as u32, each]);
            window.blocks.extend(more);
            window.block_rows = tallest;
            window.cells += cells;
            window.strip_begin = k;
            least_row = least_row.min(first * chunk);
        }
        window.spans.reverse();
        let chunk_rows = (row - least_row).div_ceil(chunk);
        window.parts = window.spans.len() as u32 + chunk_rows + 1;
        window.path_columns =
            u64::from(row - least_row) + u64::from(column - ((window.strip_begin * strip).max(lead) - lead));
        window
    }

    /// Returns the u32 values of the start states.
    pub fn start_words(&self, strip: u32) -> u64 {
        self.blocks.len() as u64 * start_words(self.block_rows, strip)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REACH: WindowReach = WindowReach {
        margin: 20,
        slope: 1.0,
        blocks: 1000,
        start_words: u64::MAX,
        cells: u64::MAX,
        block_rows: u32::MAX,
    };

    const DIVISION: Division = Division { strip: 10, chunk: 20, lead: 0 };

    #[test]
    fn a_window_follows_the_diagonal() {
        let window = BlockWindow::new(Method::Chunked2, DIVISION, 1000, 1000, &REACH);
        assert!(window.blocks.len() <= 1000);
        assert_eq!(window.strip_begin, 0);
        assert_eq!(window.spans.len(), 100);
        for (k, span) in (0..).zip(&window.spans) {
            let (first, after) = (span[0] * 20, span[1] * 20);
            assert!(
                first <= u32::saturating_sub(10 * k, 20) && after >= (10 * (k + 1) + 20).min(1000),
                "{k}: {span:?}"
            );
            for c in span[0]..span[1] {
                let block = window.blocks[(span[2] + c - span[0]) as usize];
                assert_eq!(block, [k, 20 * c, 20 * (c + 1), 0]);
            }
        }
        assert_eq!(window.path_columns, 2000);
    }

    #[test]
    fn a_window_ends_at_the_traceback_and_at_its_limits() {
        let reach = WindowReach { blocks: 7, ..REACH };
        for method in [Method::Striped, Method::Chunked1, Method::Chunked2] {
            for at in [(1, 1), (1, 100), (100, 1), (33, 47), (20, 30), (21, 31)] {
                let window = BlockWindow::new(method, DIVISION, at.0, at.1, &reach);
                let span = window.spans.last().expect("the strip where the traceback is");
                assert_eq!(window.strip_begin + window.spans.len() as u32 - 1, (at.1 - 1) / 10);
                assert_eq!(span[1], (at.0 - 1) / 20 + 1);
                assert!(window.blocks.len() <= 7);
                assert!(window.blocks.iter().all(|block| block[2] <= at.0 && block[1] < block[2]));
                assert_eq!(window.blocks.iter().map(|block| block[2] - block[1]).max(), Some(window.block_rows));
                if method == Method::Striped {
                    assert!(window.blocks.iter().all(|block| block[1] == 0 && block[2] == at.0));
                }
            }
        }
    }

    #[test]
    fn the_next_window_depends_on_the_progress() {
        use crate::long::PathState;
        let at = |i, j| PathPoint { i, j, state: PathState::H };
        let mut reach = WindowReach { blocks: 4096, ..REACH };
        let window = BlockWindow::new(Method::Chunked2, DIVISION, 1000, 1000, &reach);
        reach.adapt_extent(&window, at(1000, 1000), at(900, 990), 20, 4096);
        assert_eq!((reach.margin, reach.blocks, reach.slope), (40, 2048, 1.0));
        reach.adapt_extent(&window, at(1000, 1000), at(200, 600), 20, 4096);
        assert_eq!((reach.margin, reach.blocks, reach.slope), (20, 4096, 2.0));
    }

    #[test]
    fn a_window_has_a_strip_except_on_a_border() {
        let reach = WindowReach { blocks: 1, start_words: 1, cells: 1, ..REACH };
        for method in [Method::Striped, Method::Chunked1, Method::Chunked2] {
            let window = BlockWindow::new(method, DIVISION, 333, 333, &reach);
            assert_eq!((window.spans.len(), window.blocks.len()), (1, 1));
            assert_eq!(BlockWindow::new(method, DIVISION, 0, 333, &reach).blocks.len(), 0);
        }
        let tall = BlockWindow::new(
            Method::Chunked1,
            DIVISION,
            333,
            333,
            &WindowReach { margin: 300, block_rows: 50, ..REACH },
        );
        assert!(tall.block_rows <= 40);
    }
}
