//! A chain of engines over one matrix.
//!
//! The matrix is swept in panels of columns that the engines take from left to right (`panels`). Each engine reads its
//! left edge while its neighbour computes it. A grid of columns and rows is kept for the traceback (`grid`). Edges that do
//! not fit in the host's memory go to files (`edge_store`), and logs record how far the sweep is (`logs`). The pool of
//! engines watches them (`engine_pool`).

pub(crate) mod border;
pub(crate) mod edge_store;
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

use serde::Serialize;

pub use self::engine_pool::Reserve;

/// How often the caller hears of progress, and engines look for work that was given back.
pub(crate) const TICK: Duration = Duration::from_millis(50);

/// How finely the work is cut. None of it changes the result; the defaults suit all but tests.
#[derive(Debug, Clone, Default)]
pub struct Tuning {
    /// Rows and columns between lines of the grid at least, rounded up to a multiple of 64; `None` for what the lengths
    /// and the memory suggest.
    pub grid_pitch: Option<u32>,
    /// Columns of a panel at most, rounded down to a multiple of 64; at least that many.
    pub panel_columns: Option<u32>,
    /// Rows that are swept in one go at most.
    pub belt_rows: Option<u32>,
    /// Time between two saves at least; `None` for 30 s.
    pub save_every: Option<Duration>,
}

/// What an engine did.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct LongEngineStats {
    /// Its name.
    pub name: String,
    /// Cells that it computed in sweeps.
    pub cells: u64,
    /// Seconds in which it computed, waiting for its neighbour not included.
    pub seconds: f64,
    /// Why it was given up, if it was.
    pub lost: Option<String>,
}
