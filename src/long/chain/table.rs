//! The panels of a sweep, which the threads of its engines share.

use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Condvar, Mutex};

use super::border::{Column, Line};
use super::edge_store::{EdgeStore, Piece};
use super::grid::Cut;
use super::log_file::PanelState;
use super::logs::TileSaver;
use super::pace::Pace;
use crate::error::Error;
use crate::long::{BestSoFar, LongPair};

/// A part of the matrix to sweep.
#[derive(Debug, Clone)]
pub(crate) struct MatrixPart {
    /// The pair.
    pub pair: LongPair,
    /// First and last row edge.
    pub rows: (u32, u32),
    /// First and last column edge.
    pub columns: (u32, u32),
    /// The edge along `rows.0`.
    pub top: Line,
    /// The edge along `columns.0`.
    pub left: Line,
    /// How it is cut.
    pub cut: Cut,
    /// Whether alignments are walked back through it.
    pub walks: bool,
    /// See [`Sweep::prune`].
    pub prune: bool,
    /// The best score yet.
    pub best: Arc<BestSoFar>,
}

/// What is known of a panel's last column.
pub(crate) enum Known {
    Flight(Arc<Column>),
    Shelved(Piece),
    Dropped,
}

pub(crate) struct Panel {
    pub state: PanelState,
    /// The engine that computes it, or has.
    pub taken: Option<usize>,
    pub marks: Vec<(u32, Piece)>,
    /// Columns inside that are kept, each over all rows.
    pub inner: Vec<(u32, Piece)>,
    pub right: Known,
}

#[derive(Default)]
pub(crate) struct PanelTable {
    pub panels: Vec<Panel>,
    /// The first column that nobody has taken.
    pub next: u32,
    /// The last column of the grid.
    pub last_kept: u32,
    pub failure: Option<Error>,
    /// How wide panels are so that all take the same time.
    pub pace: Pace,
}

/// A sweep. Nothing in it is borrowed, for an engine that hangs keeps it.
pub(crate) struct SharedSweep {
    pub part: MatrixPart,
    pub edge_store: Arc<EdgeStore>,
    pub saver: Option<TileSaver>,
    pub interrupt: Arc<AtomicBool>,
    pub panel_table: Mutex<PanelTable>,
    pub changed: Condvar,
    pub stop: AtomicBool,
    pub cells: AtomicU64,
}
