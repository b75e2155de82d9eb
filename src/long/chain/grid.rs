//! The lines of a swept part of the matrix that are kept, and how closely they lie.

use std::collections::BTreeMap;

use super::Tuning;
use super::border::Line;
use super::edge_store::ENTRY_BYTES;
use crate::error::Result;
use crate::long::{Edge, LongPair};

/// Lines each way where memory allows: what is computed again for an alignment is about the matrix divided by this.
const LINES: u64 = 48;
/// Fewer are not worth the memory that they spare; rather are they kept in files.
const FEWEST_LINES: u64 = 16;
/// Lines are not closer than this.
const MIN_PITCH: u64 = 4096;
/// An engine that keeps columns takes about the same time for every region below such sizes, for it waits rather than
/// computes: lines are not closer.
const MIN_WIDE_PITCH: u64 = 32_768;
/// What any engine traces at once in no time.
const SMALL: u32 = 4096;
/// Rows that are swept in one go.
const BELT_ROWS: u32 = 1 << 26;

/// What the fastest engine says of a pair.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct EngineSizes {
    /// Whether it keeps columns inside panels.
    pub keeps_columns: bool,
    /// Whether it can trace through the whole matrix.
    pub traces_whole: bool,
}

/// How the matrix is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Cut {
    /// Rows between marks: a multiple of 64.
    pub mark_every: u32,
    /// Columns between columns that are kept at least, a multiple of 64; `None` if no grid is needed.
    pub pitch: Option<u32>,
    /// Columns of a panel at most.
    pub panel_columns: Option<u32>,
    /// Rows of a belt at most.
    pub belt_rows: u32,
}

impl Cut {
    /// For a pair of these lengths with so much memory, with a grid or without. Where the whole matrix can be traced at
    /// once there is none, unless a pitch is asked for.
    pub(crate) fn new(
        (query, target): (u32, u32),
        walks: bool,
        memory: u64,
        suits: EngineSizes,
        tuning: &Tuning,
    ) -> Cut {
        let is_small = query <= SMALL && target <= SMALL;
        let is_whole = suits.traces_whole && (suits.keeps_columns || is_small);
        let grid = walks && (!is_whole || tuning.grid_pitch.is_some());
        let least = if suits.keeps_columns { MIN_WIDE_PITCH } else { MIN_PITCH };
        let symbols = u64::from(query) + u64::from(target);
        let lines = (memory / 4 * 3 / (symbols * ENTRY_BYTES).max(1)).clamp(FEWEST_LINES, LINES);
        // Long ones in whole chunks, so that a device can keep both with one set of edges.
        let whole = |length: u32| {
            let unit = if length > 4096 { 512 } else { 64 };
            length.clamp(1, u32::MAX - 511).next_multiple_of(unit)
        };
        let pitch = |length: u32, lines: u64| {
            let suits = u64::from(length).div_ceil(lines).max(least) as u32;
            whole(tuning.grid_pitch.unwrap_or(suits))
        };
        Cut {
            mark_every: pitch(query, if grid { lines } else { LINES }),
            pitch: grid.then(|| pitch(target, lines)),
            panel_columns: tuning.panel_columns,
            belt_rows: whole(tuning.belt_rows.unwrap_or(BELT_ROWS)),
        }
    }

    /// A finer grid in a region that is too large to be traced at once.
    pub(crate) fn finer(rows: u32, columns: u32) -> Cut {
        let mark_every = rows.div_ceil(8).next_multiple_of(64).max(64);
        let pitch = Some(columns.div_ceil(8).next_multiple_of(64));
        Cut { mark_every, pitch, panel_columns: None, belt_rows: u32::MAX }
    }
}

/// Known edges in a part of the matrix.
#[derive(Debug, Clone, Default)]
pub(crate) struct Grid {
    /// The part's rows.
    pub rows: (u32, u32),
    /// Its columns.
    pub columns: (u32, u32),
    /// Edges along rows, over all of its columns; the first is that of `rows.0`.
    pub across: BTreeMap<u32, Line>,
    /// Edges along columns, over all of its rows; the first is that of `columns.0`.
    pub down: BTreeMap<u32, Line>,
}

/// A rectangle of the matrix with its upper and its left edge.
#[derive(Debug, Clone)]
pub(crate) struct Framed {
    /// Its rows.
    pub rows: (u32, u32),
    /// Its columns.
    pub columns: (u32, u32),
    /// The edge along `rows.0`.
    pub top: Edge,
    /// The edge along `columns.0`.
    pub left: Edge,
}

impl Framed {
    /// Its cells.
    pub(crate) fn cells(&self) -> u64 {
        u64::from(self.rows.1 - self.rows.0) * u64::from(self.columns.1 - self.columns.0)
    }
}

impl Grid {
    /// Whether a cell is in this part.
    pub(crate) fn holds(&self, i: u32, j: u32) -> bool {
        self.rows.0 < i && i <= self.rows.1 && self.columns.0 < j && j <= self.columns.1
    }

    /// What lies between a cell of the part, as the last one, and the next lines above and left of it.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io) if an edge cannot be read.
    pub(crate) fn region(&self, pair: &LongPair, i: u32, j: u32) -> Result<Framed> {
        let missing = || crate::Error::Internal(format!("no edges are known around cell ({i}, {j})"));
        let (&row, across) = self.across.range(..i).next_back().ok_or_else(missing)?;
        let (&column, down) = self.down.range(..j).next_back().ok_or_else(missing)?;
        let (top, left) = (across.slice(pair, column, j)?, down.slice(pair, row, i)?);
        Ok(Framed { rows: (row, i), columns: (column, j), top, left })
    }
}
