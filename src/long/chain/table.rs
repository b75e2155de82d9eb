//! The table of a sweep's panels, which the threads of its engines share.

use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Condvar, Mutex};

use super::border::{BorderLine, SharedColumn};
use super::border_store::{BorderStore, Piece};
use super::grid::MatrixCut;
use super::log_file::PanelState;
use super::logs::TileSaver;
use super::pace::PanelPace;
use crate::error::Error;
use crate::long::{BestSoFar, BorderSpan, LongPair};

/// A part of the matrix to sweep.
#[derive(Debug, Clone)]
pub(crate) struct MatrixPart {
    /// The pair.
    pub pair: LongPair,
    /// Rows of the upper and the lower border.
    pub rows: BorderSpan,
    /// Columns of the left and the right border.
    pub columns: BorderSpan,
    /// The border along `rows.first`.
    pub top: BorderLine,
    /// The border along `columns.first`.
    pub left: BorderLine,
    /// Sizes of the pieces.
    pub cut: MatrixCut,
    /// Whether alignments are traced back through the part.
    pub needs_traceback: bool,
    /// See [`PanelSweep::prune`].
    pub prune: bool,
    /// The best score so far.
    pub best: Arc<BestSoFar>,
}

/// The last column of a panel.
pub(crate) enum RightColumn {
    Flight(Arc<SharedColumn>),
    Shelved(Piece),
    Dropped,
}

pub(crate) struct TablePanel {
    pub state: PanelState,
    /// Number of the engine that computes the panel or has computed it.
    pub taken: Option<usize>,
    pub marks: Vec<(u32, Piece)>,
    /// Kept columns inside the panel, each over all rows.
    pub inner: Vec<(u32, Piece)>,
    pub right: RightColumn,
}

#[derive(Default)]
pub(crate) struct PanelTable {
    pub panels: Vec<TablePanel>,
    /// The first column that no engine has taken.
    pub next: u32,
    /// The last kept column.
    pub last_kept: u32,
    pub failure: Option<Error>,
    /// The pace of the engines.
    pub pace: PanelPace,
}

/// A sweep. It borrows nothing, because the thread of an engine that never answers keeps it.
pub(crate) struct SharedSweep {
    pub part: MatrixPart,
    pub border_store: Arc<BorderStore>,
    pub saver: Option<TileSaver>,
    pub interrupt: Arc<AtomicBool>,
    pub panel_table: Mutex<PanelTable>,
    pub changed: Condvar,
    pub stop: AtomicBool,
    pub cells: AtomicU64,
}
