//! Sweeps a part of the matrix by a chain of engines. Each engine takes the next panel of columns,
//! and reads its left border while the engine of the previous panel computes it.
//!
//! The width of a panel is proportional to the speed of its engine, so that neighbours need the
//! same time. A CPU that is much slower than the devices takes no panels. An engine that fails leaves its panel unfinished. Another engine continues the panel
//! from its last mark, if all results above the mark are known. Values that the right neighbour has
//! already read stay valid, because every engine computes the same values. An engine that waits for
//! a column that no engine computes releases its own panel. The leftmost unfinished panel therefore
//! always gets an engine.
//!
//! Panels of an engine that does not keep columns inside a panel are as wide as the distance
//! between the grid's columns. An engine that keeps columns takes panels of its preferred width. It
//! always computes a panel from its first row, so that the kept columns cover all rows.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};

use super::border::{BorderLine, LinePart};
use super::border_store::BorderStore;
use super::engine_pool::EnginePool;
use super::grid::BorderGrid;
use super::logs::TileSaver;
use super::pace::{PacedEngine, PanelPace};
use super::table::{MatrixPart, PanelTable, RightColumn, SharedSweep, TablePanel};
use crate::error::{Error, Result};
use crate::long::BestCell;

/// Result of a sweep.
#[derive(Debug, Default)]
pub(crate) struct Swath {
    /// The kept rows and columns, which include the last row and the last column.
    pub grid: BorderGrid,
    /// The best cell of a local pair.
    pub best: Option<BestCell>,
    /// Number of cells that were pruned.
    pub pruned_cells: u64,
}

/// Interrupt and progress of a sweep.
#[derive(Clone, Copy)]
pub(crate) struct Watch<'a> {
    /// Set to end the sweep early.
    pub interrupt: &'a Arc<AtomicBool>,
    /// Receives the number of cells that were computed since the last call; `None` in tracebacks.
    pub progress: Option<&'a dyn Fn(u64)>,
}

/// Sweeps a part of the matrix.
///
/// # Errors
/// [`Error::Device`] if no engine is left, [`Error::Interrupted`], errors of files.
pub(crate) fn sweep(
    part: MatrixPart,
    engine_pool: &mut EnginePool,
    border_store: &Arc<BorderStore>,
    saver: Option<TileSaver>,
    watch: Watch,
) -> Result<Swath> {
    let restored = saver.as_ref().map(|saver| saver.restore(border_store)).transpose()?.unwrap_or_default();
    let first = part.columns.first;
    let sweep = SharedSweep {
        part,
        border_store: Arc::clone(border_store),
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
        let pace = pace(&sweep.part, engine_pool);
        let chosen = pace.ids();
        sweep.panel_table().pace = pace;
        chain(&sweep, &chosen, engine_pool, watch);
        engine_pool.remove_abandoned();
        sweep.save(true)?;
        if watch.interrupt.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        let mut panel_table = sweep.panel_table();
        if let Some(error) = panel_table.failure.take() {
            return Err(error);
        }
        if panel_table.next >= sweep.part.columns.last && panel_table.panels.iter().all(|panel| panel.state.done) {
            return join_borders(&sweep.part, std::mem::take(&mut panel_table.panels));
        }
        // If all devices are lost, the CPU computes the rest.
        let has_others = !engine_pool.members.is_empty() && !engine_pool.has_any(&chosen);
        if !has_others && (!engine_pool.members.is_empty() || !engine_pool.call_reserve()) {
            return Err(engine_pool.no_engine_left());
        }
    }
}

/// Runs the chosen engines until all panels are finished, or until none of them is left.
fn chain(sweep: &Arc<SharedSweep>, chosen: &[usize], engine_pool: &mut EnginePool, watch: Watch) {
    let of_all = Arc::clone(sweep);
    let MatrixPart { rows, columns, .. } = &sweep.part;
    let cells = u64::from(rows.length()) * u64::from(columns.length());
    let tell = || {
        if let Some(progress) = watch.progress {
            let cells = sweep.cells.swap(0, Ordering::Relaxed);
            if cells > 0 {
                progress(cells);
            }
        }
        watch.interrupt.load(Ordering::Relaxed) || sweep.stop.load(Ordering::Relaxed)
    };
    engine_pool.work(chosen, cells, move |member| of_all.work(member), |id| sweep.release(id), tell);
}

/// Returns the engines that take panels, with their speeds.
fn pace(part: &MatrixPart, engine_pool: &mut EnginePool) -> PanelPace {
    let (rows, columns) = (part.rows.length(), part.columns.length());
    let mut engines = Vec::new();
    for member in engine_pool.by_speed() {
        let (id, measured_speed) = (member.id, member.host_speed);
        engines.extend(member.query(|engine| {
            let most = part.cut.pitch.filter(|_| !engine.keeps_columns()).unwrap_or(u32::MAX);
            let columns = f64::from(engine.panel_columns(rows, columns, false).min(most));
            PacedEngine { id, speed: engine.speed(), columns, is_host: engine.is_host(), measured_speed }
        }));
    }
    engine_pool.remove_abandoned();
    PanelPace::new(columns, engines)
}

/// Joins the borders of the panels.
fn join_borders(part: &MatrixPart, panels: Vec<TablePanel>) -> Result<Swath> {
    let mut grid = BorderGrid { rows: part.rows, columns: part.columns, ..BorderGrid::default() };
    grid.down.insert(part.columns.first, part.left.clone());
    let (mut best, mut pruned_cells) = (None, 0);
    for panel in panels {
        let columns = panel.state.columns;
        best = BestCell::better(best, panel.state.best);
        pruned_cells += panel.state.pruned;
        for (row, piece) in panel.marks {
            grid.across.entry(row).or_default().push(columns.lines(), LinePart::Piece(piece));
        }
        for (column, piece) in panel.inner {
            grid.down.insert(column, BorderLine::from_part(part.rows.lines(), LinePart::Piece(piece)));
        }
        if let (true, RightColumn::Shelved(piece)) = (panel.state.kept, panel.right) {
            grid.down.insert(columns.last, BorderLine::from_part(part.rows.lines(), LinePart::Piece(piece)));
        }
    }
    // Drops marks that are missing in some panels. They served only to continue a panel.
    grid.across.retain(|_, line| line.end() == Some(part.columns.last));
    grid.across.insert(part.rows.first, part.top.clone());
    if grid.across.contains_key(&part.rows.last) && grid.down.contains_key(&part.columns.last) {
        return Ok(Swath { grid, best, pruned_cells });
    }
    Err(Error::Internal("a sweep ended without its last row or column".into()))
}
