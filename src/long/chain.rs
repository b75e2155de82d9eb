//! A chain of engines over one matrix.
//!
//! The engines sweep the matrix in panels of columns, from left to right (`panels`). Each engine
//! reads the left border of its panel while the engine to its left computes it. The chain keeps a
//! grid of columns and rows for the traceback (`grid`). Borders that do not fit in the host's
//! memory go to files (`border_store`). Logs record the progress of the sweep for checkpoints
//! (`logs`). The pool detects engines that do not answer (`engine_pool`).

pub(crate) mod border;
pub(crate) mod border_store;
pub(crate) mod engine_pool;
pub(crate) mod grid;
pub(crate) mod log_file;
pub(crate) mod logs;
mod pace;
pub(crate) mod panels;
mod sink;
mod spill;
pub(crate) mod table;
mod threads;

use std::time::Duration;

pub use self::engine_pool::Reserve;

/// Time between two reports of progress, and between two checks for released panels.
pub(crate) const TICK: Duration = Duration::from_millis(50);

/// Sizes of the pieces into which the work is divided. No setting changes the result. The defaults
/// suit everything except tests.
#[derive(Debug, Clone, Default)]
pub struct LongTuning {
    /// Minimum distance of the grid's rows and columns, rounded up to a multiple of 64. With
    /// `None`, it follows from the lengths and the memory.
    pub grid_pitch: Option<u32>,
    /// Maximum number of columns of a panel, rounded down to a multiple of 64, at least 64.
    pub panel_columns: Option<u32>,
    /// Maximum number of rows that are swept at once.
    pub belt_rows: Option<u32>,
    /// Maximum number of rows and of columns that are computed again at once when an alignment has
    /// changed some of their cells. With `None`, it follows from the lengths.
    pub section: Option<u32>,
    /// Minimum time between two saves; `None` stands for 30 s.
    pub save_every: Option<Duration>,
    /// Minimum number of cells of a part that is skipped because it contains no alignment; `None`
    /// stands for 2^26.
    pub min_empty_cells: Option<u64>,
}
