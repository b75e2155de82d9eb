//! What an engine hands on of a panel, and where it goes.

use std::sync::atomic::Ordering;

use super::border::Column;
use super::table::{Panel, SharedSweep};
use crate::engine::heartbeat::Heartbeat;
use crate::error::{Error, Result};
use crate::long::{Best, Edge, Sink, Source};

/// Marks that may wait to be the one from which a panel can be begun again, where no grid is kept.
const WAITING_MARKS: usize = 3;

/// Takes what an engine hands on of a panel.
pub(crate) struct PanelSink<'a> {
    /// The sweep.
    pub sweep: &'a SharedSweep,
    /// The panel.
    pub index: usize,
    /// Its columns.
    pub columns: (u32, u32),
    /// The row from which it is computed.
    pub first: u32,
    /// Its last one.
    pub column: &'a Column,
    /// Of who computes it.
    pub heartbeat: &'a Heartbeat,
}

impl PanelSink<'_> {
    /// Moves the row from which the panel can be begun again to the last mark, if all above it is known.
    fn settle(&self, panel: &mut Panel) {
        let (Some(ready), last) = (self.column.last(), self.sweep.part.rows.1) else { return };
        let row = panel.marks.iter().map(|mark| mark.0).filter(|&row| row <= ready && row < last).max();
        if let Some(row) = row.filter(|&row| row > panel.state.row) {
            panel.state.row = row;
            if !self.sweep.keeps() {
                panel.marks.retain(|mark| mark.0 >= row);
            }
        }
    }
}

impl Sink for PanelSink<'_> {
    fn right(&self, first: u32, h: &[i32], gap: &[i32]) -> Result<()> {
        self.hear(|| self.column.append(first, h, gap))
    }

    fn mark(&self, row: u32, edge: Edge) -> Result<()> {
        self.hear(|| self.add_mark(row, edge))
    }

    fn column(&self, column: u32, edge: Edge) -> Result<()> {
        self.hear(|| self.add_column(column, edge))
    }

    fn progress(&self, cells: u64, best: Option<Best>) {
        // Of an engine that was given up nobody wants to know; the next edge tells it so.
        let _ = self.hear(|| {
            self.add_progress(cells, best);
            Ok(())
        });
    }
}

impl PanelSink<'_> {
    /// The engine hands something on.
    fn hear(&self, f: impl FnOnce() -> Result<()>) -> Result<()> {
        self.heartbeat
            .call_back(true, || if self.sweep.stop.load(Ordering::Relaxed) { Err(Error::Interrupted) } else { f() })
    }

    fn add_mark(&self, row: u32, edge: Edge) -> Result<()> {
        let entries = (self.columns.1 - self.columns.0) as usize + 1;
        if edge.h.len() != entries || edge.gap.len() != entries {
            return Err(Error::Internal(format!("the edge along row {row} has not {entries} entries")));
        }
        let piece = self.sweep.edge_store.put(edge)?;
        {
            let mut panel_table = self.sweep.panel_table();
            let panel = &mut panel_table.panels[self.index];
            panel.marks.retain(|mark| mark.0 < row);
            panel.marks.push((row, piece));
            if !self.sweep.keeps() && panel.marks.len() > WAITING_MARKS {
                let begin = panel.state.row;
                let surplus = panel.marks.iter().position(|mark| mark.0 > begin);
                surplus.map(|surplus| panel.marks.remove(surplus));
            }
            // Of a local pair the best cell above the mark is to be known too.
            if !self.sweep.part.pair.is_local() {
                self.settle(panel);
            }
        }
        self.sweep.save(false)
    }

    fn add_column(&self, column: u32, edge: Edge) -> Result<()> {
        let (rows, entries) = (self.sweep.part.rows, (self.sweep.part.rows.1 - self.sweep.part.rows.0) as usize + 1);
        let is_inside = self.columns.0 < column && column < self.columns.1;
        if !is_inside || edge.h.len() != entries || edge.gap.len() != entries || self.first != rows.0 {
            let columns = self.columns;
            return Err(Error::Internal(format!("column {column} of a panel {columns:?} has not {entries} entries")));
        }
        let piece = self.sweep.edge_store.put(edge)?;
        let mut panel_table = self.sweep.panel_table();
        let inner = &mut panel_table.panels[self.index].inner;
        inner.retain(|there| there.0 != column);
        inner.push((column, piece));
        Ok(())
    }

    fn add_progress(&self, cells: u64, best: Option<Best>) {
        self.sweep.cells.fetch_add(cells, Ordering::Relaxed);
        self.heartbeat.add_cells(cells);
        if best.is_some() {
            let mut panel_table = self.sweep.panel_table();
            let panel = &mut panel_table.panels[self.index];
            panel.state.best = Best::better(panel.state.best, best);
            self.settle(panel);
        }
    }
}

/// A left edge that an engine reads under watch: while it waits there it is not silent.
pub(crate) struct WatchedSource<'a> {
    /// The edge.
    pub left: &'a dyn Source,
    /// Of the engine.
    pub heartbeat: &'a Heartbeat,
}

impl Source for WatchedSource<'_> {
    fn read(&self, first: u32, until: u32, h: &mut [i32], gap: &mut [i32]) -> Result<()> {
        self.heartbeat.call_back(false, || self.left.read(first, until, h, gap))
    }

    fn ready(&self) -> u32 {
        self.left.ready()
    }
}
