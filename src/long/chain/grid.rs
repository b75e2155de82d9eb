//! The rows and columns of a swept part of the matrix that are kept, and the distance between them.

use std::collections::BTreeMap;

use super::LongTuning;
use super::border::BorderLine;
use super::border_store::ENTRY_BYTES;
use crate::error::Result;
use crate::long::{Border, BorderSpan, LongPair, PathPoint};

/// Number of kept rows and of kept columns if memory allows. A traceback then computes about a 48th
/// of the matrix again.
const LINES: u64 = 48;
/// Minimum number of kept rows and columns. Fewer would save little memory, so borders that do not
/// fit go to files.
const FEWEST_LINES: u64 = 16;
/// Maximum number of kept rows and of kept columns of sequences that are shorter than `SHORT_LINES`
/// times `MAX_MIN_PITCH`. More lines would cost more than they save in the traceback.
const SHORT_LINES: u32 = 32;
/// Minimum distance of kept rows or columns along longer sequences.
const MAX_MIN_PITCH: u64 = 4096;
/// Minimum distance for an engine that keeps columns. Such an engine takes about the same time for
/// all smaller regions, because it mostly waits.
pub(crate) const MIN_WIDE_PITCH: u64 = 32_768;
/// Maximum length of the sequences of a pair that every engine traces at once.
const SMALL: u32 = 4096;
/// Approximate number of sections along a long sequence, and minimum number of symbols of a section.
const SECTIONS: (u32, u32) = (16, 16_384);
/// Both limits for an engine that keeps columns. It computes small sections more slowly.
const WIDE_SECTIONS: (u32, u32) = (8, 1 << 17);
/// Default number of rows that are swept at once.
const BELT_ROWS: u32 = 1 << 26;

/// Properties of the fastest engine for a pair.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct EngineSizes {
    /// Whether it keeps columns inside panels.
    pub keeps_columns: bool,
    /// The least number of columns of a panel that suits it.
    pub min_panel_columns: u32,
    /// Whether it can trace through the whole matrix.
    pub traces_whole: bool,
}

impl EngineSizes {
    /// Returns the minimum distance of kept rows or columns along a sequence of this length.
    fn min_pitch(&self, length: u32) -> u64 {
        match self.keeps_columns {
            true => MIN_WIDE_PITCH,
            false => u64::from((length / SHORT_LINES).max(self.min_panel_columns)).min(MAX_MIN_PITCH),
        }
    }
}

/// Use of a swept matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MatrixUse {
    /// Nothing is traced back.
    Score,
    /// One alignment is traced back.
    Alignment,
    /// Alignments are traced back, and each changes some cells for the next one.
    Alignments,
}

/// Numbers of rows and columns of a matrix, or of a part of one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct MatrixSize {
    pub rows: u32,
    pub columns: u32,
}

impl MatrixSize {
    /// Returns the number of cells.
    pub(crate) fn cells(self) -> u64 {
        u64::from(self.rows) * u64::from(self.columns)
    }
}

/// Position of a cell in a matrix. Row 0 and column 0 precede the first symbols.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MatrixPosition {
    /// Row.
    pub i: u32,
    /// Column.
    pub j: u32,
}

impl From<PathPoint> for MatrixPosition {
    fn from(PathPoint { i, j, .. }: PathPoint) -> Self {
        MatrixPosition { i, j }
    }
}

/// Sizes of the pieces into which a matrix is divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct MatrixCut {
    /// Distance of marked rows, a multiple of 64.
    pub mark_every: u32,
    /// Minimum distance of kept columns, a multiple of 64; `None` if no grid is needed.
    pub pitch: Option<u32>,
    /// Maximum number of columns of a panel; `None` lets the engine choose.
    pub panel_columns: Option<u32>,
    /// Maximum number of rows of a belt.
    pub belt_rows: u32,
    /// Maximum size of the sections, which are computed again after each alignment; `None` for the
    /// whole matrix.
    pub section: Option<MatrixSize>,
}

impl MatrixCut {
    /// Chooses the sizes for a matrix of this size and this memory. A traceback needs a grid if a
    /// pitch is given, if the matrix is too large to be traced at once, or if it has sections.
    pub(crate) fn new(
        size: MatrixSize,
        matrix_use: MatrixUse,
        memory: u64,
        suits: EngineSizes,
        tuning: &LongTuning,
    ) -> MatrixCut {
        // A long distance is a multiple of the default chunk height, so that a device can use one
        // set of borders for both rows and columns.
        let whole = |length: u32| {
            let unit = if length > 4096 { 512 } else { 64 };
            length.clamp(1, u32::MAX - 511).next_multiple_of(unit)
        };
        let (count, least) = if suits.keeps_columns { WIDE_SECTIONS } else { SECTIONS };
        let side = |length: u32| tuning.section.unwrap_or_else(|| whole((length / count).max(least))).max(1);
        let MatrixSize { rows, columns } = size;
        let section = MatrixSize { rows: side(rows), columns: side(columns) };
        let has_sections = matrix_use == MatrixUse::Alignments && (section.rows < rows || section.columns < columns);
        let is_small = rows <= SMALL && columns <= SMALL;
        let is_whole = suits.traces_whole && (suits.keeps_columns || is_small) && !has_sections;
        let grid = matrix_use != MatrixUse::Score && (!is_whole || tuning.grid_pitch.is_some());
        let symbols = u64::from(rows) + u64::from(columns);
        let lines = (memory / 4 * 3 / (symbols * ENTRY_BYTES).max(1)).clamp(FEWEST_LINES, LINES);
        let pitch = |length: u32, lines: u64| {
            let suits = u64::from(length).div_ceil(lines).max(suits.min_pitch(length)) as u32;
            whole(tuning.grid_pitch.unwrap_or(suits))
        };
        MatrixCut {
            section: has_sections.then_some(section),
            mark_every: pitch(rows, if grid { lines } else { LINES }),
            pitch: grid.then(|| pitch(columns, lines)),
            panel_columns: tuning.panel_columns,
            belt_rows: whole(tuning.belt_rows.unwrap_or(BELT_ROWS)),
        }
    }

    /// Returns a finer division of a region that is too large to be traced at once.
    pub(crate) fn finer(size: MatrixSize) -> MatrixCut {
        let mark_every = size.rows.div_ceil(8).next_multiple_of(64).max(64);
        let pitch = Some(size.columns.div_ceil(8).next_multiple_of(64));
        MatrixCut { mark_every, pitch, panel_columns: None, belt_rows: u32::MAX, section: None }
    }
}

/// Known borders in a part of the matrix.
#[derive(Debug, Clone, Default)]
pub(crate) struct BorderGrid {
    /// Rows of the part.
    pub rows: BorderSpan,
    /// Columns of the part.
    pub columns: BorderSpan,
    /// Borders along rows, over all columns of the part. The first one lies along row `rows.first`.
    pub across: BTreeMap<u32, BorderLine>,
    /// Borders along columns, over all rows of the part. The first one lies along column
    /// `columns.first`.
    pub down: BTreeMap<u32, BorderLine>,
}

/// A rectangle of the matrix with its upper and left border.
#[derive(Debug, Clone)]
pub(crate) struct FramedRegion {
    /// Rows.
    pub rows: BorderSpan,
    /// Columns.
    pub columns: BorderSpan,
    /// The border along `rows.first`.
    pub top: Border,
    /// The border along `columns.first`.
    pub left: Border,
}

impl FramedRegion {
    /// Returns the numbers of rows and columns of cells.
    pub(crate) fn size(&self) -> MatrixSize {
        MatrixSize { rows: self.rows.length(), columns: self.columns.length() }
    }

    /// Returns the number of cells.
    pub(crate) fn cells(&self) -> u64 {
        self.size().cells()
    }
}

impl BorderGrid {
    /// Returns whether a cell is in this part.
    pub(crate) fn holds(&self, cell: MatrixPosition) -> bool {
        self.rows.contains(cell.i) && self.columns.contains(cell.j)
    }

    /// Returns the rectangle whose last cell is `last`, and which ends at the next kept row
    /// above and the next kept column to the left.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io) if a border cannot be read.
    pub(crate) fn region(&self, pair: &LongPair, last: MatrixPosition) -> Result<FramedRegion> {
        let MatrixPosition { i, j } = last;
        let missing = || crate::Error::Internal(format!("no borders are known around cell ({i}, {j})"));
        let (&row, across) = self.across.range(..i).next_back().ok_or_else(missing)?;
        let (&column, down) = self.down.range(..j).next_back().ok_or_else(missing)?;
        let (top, left) = (across.slice(pair, column, j)?, down.slice(pair, row, i)?);
        Ok(FramedRegion { rows: BorderSpan::new(row, i), columns: BorderSpan::new(column, j), top, left })
    }
}
