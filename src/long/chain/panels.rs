//! A sweep over a part of the matrix by a chain of engines: each takes the next panel of columns, and reads its left edge
//! while the engine before it computes it.
//!
//! A panel's width is in proportion to its engine's speed, so that neighbours keep pace. An engine that fails leaves its
//! panel open; another one takes it, from its last mark if all before that is known. What its right neighbour has read
//! stays valid, for whoever computes a column finds the same. Who waits for a column that nobody computes gives up its own
//! panel, so that there is always somebody for the leftmost open one.
//!
//! An engine that keeps no columns inside a panel gets panels that are as wide as the grid's columns are apart. One that
//! does gets them as wide as suits it, and begins each at its first row, so that what it keeps inside covers all rows.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};

use super::border::{Line, Part};
use super::edge_store::EdgeStore;
use super::engine_pool::EnginePool;
use super::grid::Grid;
use super::logs::TileSaver;
use super::pace::{Pace, Suited};
use super::table::{Known, MatrixPart, Panel, PanelTable, SharedSweep};
use crate::error::{Error, Result};
use crate::long::Best;

/// What came of it.
#[derive(Debug, Default)]
pub(crate) struct Swath {
    /// The lines that were kept: always the last row and the last column.
    pub grid: Grid,
    /// The best cell of a local pair.
    pub best: Option<Best>,
    /// Cells that were not computed.
    pub pruned_cells: u64,
}

/// Who is told, and who may stop it.
#[derive(Clone, Copy)]
pub(crate) struct Watch<'a> {
    /// Set to end early.
    pub interrupt: &'a Arc<AtomicBool>,
    /// Hears of the cells that were computed since the last call; `None` in tracebacks.
    pub progress: Option<&'a dyn Fn(u64)>,
}

/// Sweeps a part of the matrix.
///
/// # Errors
/// [`Error::Device`] if no engine is left, [`Error::Interrupted`], errors of files.
pub(crate) fn sweep(
    part: MatrixPart,
    engine_pool: &mut EnginePool,
    edge_store: &Arc<EdgeStore>,
    saver: Option<TileSaver>,
    watch: Watch,
) -> Result<Swath> {
    let restored = saver.as_ref().map(|saver| saver.restore(edge_store)).transpose()?.unwrap_or_default();
    let first = part.columns.0;
    let sweep = SharedSweep {
        part,
        edge_store: Arc::clone(edge_store),
        saver,
        interrupt: Arc::clone(watch.interrupt),
        panel_table: Mutex::new(PanelTable { next: first, last_kept: first, ..PanelTable::default() }),
        changed: Condvar::new(),
        stop: AtomicBool::new(false),
        cells: AtomicU64::new(0),
    };
    sweep.restore(restored)?;
    let sweep = Arc::new(sweep);
    loop {
        sweep.panel_table().pace = pace(&sweep.part, engine_pool);
        chain(&sweep, engine_pool, watch);
        engine_pool.dismiss_lost();
        sweep.save(true)?;
        if watch.interrupt.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        let mut panel_table = sweep.panel_table();
        if let Some(error) = panel_table.failure.take() {
            return Err(error);
        }
        if panel_table.next >= sweep.part.columns.1 && panel_table.panels.iter().all(|panel| panel.state.done) {
            return gather(&sweep.part, std::mem::take(&mut panel_table.panels));
        }
        if !engine_pool.members.is_empty() || !engine_pool.call_reserve() {
            return Err(engine_pool.nobody());
        }
    }
}

/// Has all engines work until there is nothing left to do, or nobody who could.
fn chain(sweep: &Arc<SharedSweep>, engine_pool: &mut EnginePool, watch: Watch) {
    let all: Vec<usize> = engine_pool.members.iter().map(|member| member.id).collect();
    let of_all = Arc::clone(sweep);
    let tell = || {
        if let Some(progress) = watch.progress {
            let cells = sweep.cells.swap(0, Ordering::Relaxed);
            if cells > 0 {
                progress(cells);
            }
        }
        watch.interrupt.load(Ordering::Relaxed) || sweep.stop.load(Ordering::Relaxed)
    };
    engine_pool.work(&all, move |member| of_all.work(member), |id| sweep.release(id), tell);
}

/// Who takes panels, and how wide ones.
fn pace(part: &MatrixPart, engine_pool: &mut EnginePool) -> Pace {
    let (rows, columns) = (part.rows.1 - part.rows.0, part.columns.1 - part.columns.0);
    let mut engines = Vec::new();
    for member in engine_pool.by_speed() {
        let id = member.id;
        engines.extend(member.ask(|engine| {
            let most = part.cut.pitch.filter(|_| !engine.keeps_columns()).unwrap_or(u32::MAX);
            let columns = f64::from(engine.panel_columns(rows, columns, false).min(most));
            Suited { id, speed: engine.speed(), columns, shown: None }
        }));
    }
    engine_pool.dismiss_lost();
    Pace::new(columns, engines)
}

/// Puts the panels' edges together.
fn gather(part: &MatrixPart, panels: Vec<Panel>) -> Result<Swath> {
    let mut grid = Grid { rows: part.rows, columns: part.columns, ..Grid::default() };
    grid.down.insert(part.columns.0, part.left.clone());
    let (mut best, mut pruned_cells) = (None, 0);
    for panel in panels {
        let columns = panel.state.columns;
        best = Best::better(best, panel.state.best);
        pruned_cells += panel.state.pruned;
        for (row, piece) in panel.marks {
            grid.across.entry(row).or_default().push(columns.0..=columns.1, Part::Piece(piece));
        }
        for (column, piece) in panel.inner {
            grid.down.insert(column, Line::of(part.rows.0..=part.rows.1, Part::Piece(piece)));
        }
        if let (true, Known::Shelved(piece)) = (panel.state.kept, panel.right) {
            grid.down.insert(columns.1, Line::of(part.rows.0..=part.rows.1, Part::Piece(piece)));
        }
    }
    // Marks that only helped to begin a panel again are not those of all panels.
    grid.across.retain(|_, line| line.end() == Some(part.columns.1));
    grid.across.insert(part.rows.0, part.top.clone());
    if grid.across.contains_key(&part.rows.1) && grid.down.contains_key(&part.columns.1) {
        return Ok(Swath { grid, best, pruned_cells });
    }
    Err(Error::Internal("a sweep ended without its last row or column".into()))
}
