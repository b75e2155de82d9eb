//! Receives the results of a panel from its engine.

use std::sync::atomic::Ordering;

use super::border::SharedColumn;
use super::table::{SharedSweep, TablePanel};
use crate::engine::heartbeat::Heartbeat;
use crate::error::{Error, Result};
use crate::long::{BestCell, BorderSpan, KeptBorder, LeftSource, SweepSink};

/// Maximum number of stored marks from which a panel could be continued, if no grid is kept.
const WAITING_MARKS: usize = 3;

/// Receives the results of an engine for a panel.
pub(crate) struct PanelSink<'a> {
    /// The sweep.
    pub sweep: &'a SharedSweep,
    /// Number of the panel.
    pub index: usize,
    /// Columns of the panel.
    pub columns: BorderSpan,
    /// First computed row.
    pub first: u32,
    /// Last column of the panel.
    pub column: &'a SharedColumn,
    /// Heartbeat of the engine.
    pub heartbeat: &'a Heartbeat,
}

impl PanelSink<'_> {
    /// Advances the restart row of the panel to the last mark, if all results above the mark are
    /// known.
    fn advance_restart_row(&self, panel: &mut TablePanel) {
        let (Some(ready), last) = (self.column.last_row(), self.sweep.part.rows.last) else { return };
        let row = panel.marks.iter().map(|mark| mark.0).filter(|&row| row <= ready && row < last).max();
        if let Some(row) = row.filter(|&row| row > panel.state.row) {
            panel.state.row = row;
            if !self.sweep.keeps_all_marks() {
                panel.marks.retain(|mark| mark.0 >= row);
            }
        }
    }
}

impl SweepSink for PanelSink<'_> {
    fn push_right_border(&self, first: u32, h: &[i32], gap: &[i32]) -> Result<()> {
        self.call_unless_ended(|| self.column.append(first, h, gap))
    }

    fn push_row(&self, row: u32, border: KeptBorder) -> Result<()> {
        self.call_unless_ended(|| self.add_mark(row, border))
    }

    fn push_column(&self, column: u32, border: KeptBorder) -> Result<()> {
        self.call_unless_ended(|| self.add_column(column, border))
    }

    fn progress(&self, cells: u64, best: Option<BestCell>) {
        // Progress of an abandoned engine is ignored. The engine learns of it when it delivers its
        // next border.
        let _ = self.call_unless_ended(|| {
            self.add_progress(cells, best);
            Ok(())
        });
    }
}

impl PanelSink<'_> {
    /// Records that the engine is alive, and calls `f` unless the sweep has ended.
    fn call_unless_ended(&self, f: impl FnOnce() -> Result<()>) -> Result<()> {
        self.heartbeat
            .call_back(true, || if self.sweep.stop.load(Ordering::Relaxed) { Err(Error::Interrupted) } else { f() })
    }

    fn add_mark(&self, row: u32, border: KeptBorder) -> Result<()> {
        let entries = self.columns.length() as usize + 1;
        if border.len() != entries {
            return Err(Error::Internal(format!("the border along row {row} does not have {entries} entries")));
        }
        let piece = self.sweep.border_store.put(border)?;
        {
            let mut panel_table = self.sweep.panel_table();
            let panel = &mut panel_table.panels[self.index];
            panel.marks.retain(|mark| mark.0 < row);
            panel.marks.push((row, piece));
            if !self.sweep.keeps_all_marks() && panel.marks.len() > WAITING_MARKS {
                let begin = panel.state.row;
                let surplus = panel.marks.iter().position(|mark| mark.0 > begin);
                surplus.map(|surplus| panel.marks.remove(surplus));
            }
            // In a local pair, the best cell above the mark must be known, too.
            if !self.sweep.part.pair.is_local() {
                self.advance_restart_row(panel);
            }
        }
        self.sweep.save(false)
    }

    fn add_column(&self, column: u32, border: KeptBorder) -> Result<()> {
        let (rows, entries) = (self.sweep.part.rows, self.sweep.part.rows.length() as usize + 1);
        let is_inside = self.columns.first < column && column < self.columns.last;
        if !is_inside || border.len() != entries || self.first != rows.first {
            let columns = self.columns;
            return Err(Error::Internal(format!(
                "column {column} of a panel {columns:?} does not have {entries} entries"
            )));
        }
        let piece = self.sweep.border_store.put(border)?;
        let mut panel_table = self.sweep.panel_table();
        let inner = &mut panel_table.panels[self.index].inner;
        inner.retain(|there| there.0 != column);
        inner.push((column, piece));
        Ok(())
    }

    fn add_progress(&self, cells: u64, best: Option<BestCell>) {
        self.sweep.cells.fetch_add(cells, Ordering::Relaxed);
        self.heartbeat.add_cells(cells);
        if best.is_some() {
            let mut panel_table = self.sweep.panel_table();
            let panel = &mut panel_table.panels[self.index];
            panel.state.best = BestCell::better(panel.state.best, best);
            self.advance_restart_row(panel);
        }
    }
}

/// A left border that an engine reads under the watchdog. An engine that waits for it does not
/// count as silent.
pub(crate) struct WatchedSource<'a> {
    /// The border.
    pub left: &'a dyn LeftSource,
    /// Heartbeat of the engine.
    pub heartbeat: &'a Heartbeat,
}

impl LeftSource for WatchedSource<'_> {
    fn read(&self, first: u32, until: u32, h: &mut [i32], gap: &mut [i32]) -> Result<()> {
        self.heartbeat.call_back(false, || self.left.read(first, until, h, gap))
    }

    fn last_known_row(&self) -> u32 {
        self.left.last_known_row()
    }
}
