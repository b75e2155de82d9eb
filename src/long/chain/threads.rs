//! The thread of an engine. It takes a panel, computes it, delivers its borders, and saves the
//! progress.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, MutexGuard};
use std::time::{Duration, Instant};

use super::TICK;
use super::border::{LeftReader, LeftValues, SharedColumn};
use super::engine_pool::PoolMember;
use super::log_file::PanelState;
use super::logs::{Restored, Snapshot};
use super::sink::{PanelSink, WatchedSource};
use super::table::{MatrixPart, PanelTable, RightColumn, SharedSweep, TablePanel};
use crate::error::{Error, Result};
use crate::long::{BestCell, BorderSpan, LongEngine, PanelSweep, SLIVER};

/// The first column of a panel is a multiple of this number. GPUs read and write this number of
/// columns at once.
const COLUMNS: u32 = 64;

impl SharedSweep {
    pub(crate) fn panel_table(&self) -> MutexGuard<'_, PanelTable> {
        self.panel_table.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Returns whether all marked rows are kept for the grid. If not, only the last one is kept, as
    /// a restart row.
    pub(crate) fn keeps_all_marks(&self) -> bool {
        self.part.cut.pitch.is_some()
    }

    /// Adds panels of an earlier run to the table.
    pub(crate) fn restore(&self, restored: Vec<Restored>) -> Result<()> {
        let mut panel_table = self.panel_table();
        for Restored { state, column, marks, inner } in restored {
            panel_table.next = state.columns.last;
            if state.kept {
                panel_table.last_kept = state.columns.last;
            }
            let rows = self.part.rows.lines();
            let column = SharedColumn::with(rows, column.unwrap_or_default(), &self.border_store);
            column.set_coming(state.done);
            if let Some(best) = state.best {
                self.part.best.raise(best.score);
            }
            let rows = u64::from(if state.done { self.part.rows.last } else { state.row } - self.part.rows.first);
            self.cells.fetch_add(rows * u64::from(state.columns.length()), Ordering::Relaxed);
            panel_table.panels.push(TablePanel {
                state,
                taken: None,
                marks,
                inner,
                right: RightColumn::Flight(Arc::new(column)),
            });
        }
        (0..panel_table.panels.len()).try_for_each(|index| self.retire(&mut panel_table, index))
    }

    /// Computes panels until no work is left for this engine.
    pub(crate) fn work(&self, member: &mut PoolMember) {
        while let Some(index) = self.take(member) {
            let left_panel = match self.left_of(index) {
                Ok(column) => column,
                Err(error) => {
                    self.fail(error);
                    return self.release(member.id);
                }
            };
            let left = match &left_panel {
                Some(column) => LeftValues::Column(column),
                None => LeftValues::Line(&self.part.pair, &self.part.left),
            };
            let reader = LeftReader {
                left,
                interrupt: &self.interrupt,
                stop: &self.stop,
                abandoned: AtomicBool::new(false),
                waited: AtomicU64::new(0),
            };
            let begin = Instant::now();
            let done = self.compute(member, index, &reader);
            if member.heartbeat.is_abandoned() {
                // The engine was abandoned, and another engine has taken over the panel.
                return;
            }
            let waited = Duration::from_nanos(reader.waited.load(Ordering::Relaxed));
            let busy = begin.elapsed().saturating_sub(waited);
            member.stats.busy_seconds += busy.as_secs_f64();
            if let Ok(cells) = done
                && let Some(speed) = member.panel_speed(cells, busy)
            {
                self.panel_table().pace.record_speed(member.id, speed);
            }
            let Err(error) = done.and_then(|_| self.save(false)) else { continue };
            let abandoned = reader.abandoned.load(Ordering::Relaxed);
            let is_engine_fault = !abandoned && member.is_engine_fault(&error);
            if !abandoned && !is_engine_fault {
                self.fail(error);
            }
            self.release(member.id);
            if is_engine_fault {
                return;
            }
        }
    }

    /// Returns the last column of the panel to the left; `None` for the first panel.
    fn left_of(&self, index: usize) -> Result<Option<Arc<SharedColumn>>> {
        let Some(left) = index.checked_sub(1) else { return Ok(None) };
        match &self.panel_table().panels[left].right {
            RightColumn::Flight(column) => Ok(Some(Arc::clone(column))),
            _ => Err(Error::Internal(format!("panel {index} is computed after its left border was stored"))),
        }
    }

    /// Ends the sweep with an error, unless it has one already.
    fn fail(&self, error: Error) {
        let mut panel_table = self.panel_table();
        if !self.stop.swap(true, Ordering::Relaxed) {
            panel_table.failure = Some(error);
        }
        self.changed.notify_all();
    }

    /// Releases the unfinished panels of an engine.
    pub(crate) fn release(&self, id: usize) {
        let mut panel_table = self.panel_table();
        for panel in panel_table.panels.iter_mut().filter(|panel| panel.taken == Some(id) && !panel.state.done) {
            panel.taken = None;
            if let RightColumn::Flight(column) = &panel.right {
                column.set_coming(false);
            }
        }
        self.changed.notify_all();
    }

    /// Takes the next panel for an engine: the leftmost unfinished one without an engine, or else a
    /// new one. Waits if other engines may still release a panel.
    fn take(&self, member: &mut PoolMember) -> Option<usize> {
        let mut panel_table = self.panel_table();
        loop {
            if self.stop.load(Ordering::Relaxed) || self.interrupt.load(Ordering::Relaxed) {
                return None;
            }
            if let Some(index) = panel_table.panels.iter().position(|panel| panel.taken.is_none() && !panel.state.done)
            {
                panel_table.panels[index].taken = Some(member.id);
                if let RightColumn::Flight(column) = &panel_table.panels[index].right {
                    column.set_coming(true);
                }
                return Some(index);
            }
            if panel_table.next < self.part.columns.last {
                self.open(&mut panel_table, member)?;
                continue;
            }
            if panel_table.panels.iter().all(|panel| panel.state.done) {
                return None;
            }
            let waited = self.changed.wait_timeout(panel_table, TICK);
            panel_table = waited.unwrap_or_else(|poisoned| poisoned.into_inner()).0;
        }
    }

    /// Adds a new panel whose width suits an engine. Returns `None` if the engine is lost.
    fn open(&self, panel_table: &mut PanelTable, member: &mut PoolMember) -> Option<()> {
        let MatrixPart { rows, columns, cut, .. } = self.part;
        let left = columns.last - panel_table.next;
        let alone = panel_table.pace.is_alone();
        let suits =
            |engine: &dyn LongEngine| (engine.panel_columns(rows.length(), left, alone).max(1), engine.keeps_columns());
        let (mut width, keeps_columns) = member.query(suits)?;
        if let Some(paced) = panel_table.pace.width(member.id) {
            let paced = paced as u32;
            // Rounds to the nearest multiple, because rounding down would make a narrow panel much
            // narrower.
            width = width.min(paced.saturating_add(COLUMNS / 2) / COLUMNS * COLUMNS);
        }
        let pitch = cut.pitch.filter(|_| !keeps_columns);
        for most in [pitch, cut.panel_columns].into_iter().flatten() {
            width = width.min(most);
        }
        // The last panel of an earlier run may have ended between two multiples.
        let begin = panel_table.next - columns.first;
        let width = (begin.saturating_add(width) / COLUMNS * COLUMNS).max((begin / COLUMNS + 1) * COLUMNS) - begin;
        // If few columns would remain, this panel takes them, too. A separate narrow panel would
        // cost more.
        let width = if left - width.min(left) < width / SLIVER { left } else { width };
        let end = panel_table.next + width;
        let kept = end == columns.last || cut.pitch.is_some_and(|pitch| end - panel_table.last_kept >= pitch);
        if kept {
            panel_table.last_kept = end;
        }
        let state = PanelState {
            index: panel_table.panels.len(),
            columns: BorderSpan::new(panel_table.next, end),
            kept,
            row: rows.first,
            done: false,
            best: None,
            pruned: 0,
            inner: Vec::new(),
        };
        let right = RightColumn::Flight(Arc::new(SharedColumn::new(rows.lines(), &self.border_store)));
        panel_table.panels.push(TablePanel { state, taken: None, marks: Vec::new(), inner: Vec::new(), right });
        panel_table.next = end;
        Some(())
    }

    /// Computes a panel with an engine, from the restart row of the panel on. Returns the number of
    /// cells that were not pruned.
    fn compute(&self, member: &mut PoolMember, index: usize, left: &LeftReader) -> Result<u64> {
        let MatrixPart { ref pair, rows, cut, needs_traceback, prune, ref best, .. } = self.part;
        let keep_every = cut.pitch.filter(|_| member.engine.keeps_columns());
        let (columns, row, mark, column) = {
            let mut panel_table = self.panel_table();
            let panel = &mut panel_table.panels[index];
            panel.inner.clear();
            if keep_every.is_some() {
                // Columns inside the panel must be computed from the first row on.
                panel.state.row = rows.first;
            }
            let row = panel.state.row;
            panel.marks.retain(|mark| mark.0 <= row);
            let mark = panel.marks.iter().find(|mark| mark.0 == row).map(|mark| mark.1.clone());
            let RightColumn::Flight(column) = &panel.right else {
                return Err(Error::Internal("a panel is computed although its right border is known".into()));
            };
            (panel.state.columns, row, mark, Arc::clone(column))
        };
        let top = match mark {
            Some(piece) => piece.slice(0..piece.len())?,
            None => self.part.top.slice(pair, columns.first, columns.last)?,
        };
        let heartbeat = Arc::clone(&member.heartbeat);
        let sink = PanelSink { sweep: self, index, columns, first: row, column: &column, heartbeat: &heartbeat };
        let left = WatchedSource { left, heartbeat: &heartbeat };
        let sweep = PanelSweep {
            pair,
            rows: BorderSpan { first: row, ..rows },
            columns,
            top: &top,
            mark_every: cut.mark_every,
            keep_every,
            is_kept: needs_traceback || self.saver.is_some(),
            prune,
            best,
            interrupt: &self.interrupt,
        };
        // The engine calls back at the next mark at the latest.
        let cells = u64::from(cut.mark_every.min(rows.last - row)) * u64::from(columns.length());
        let swept = member.call(cells, |engine| engine.sweep(&sweep, &left, &sink));
        member.stats.cells = heartbeat.work_done().0;
        let swept = swept?;
        let mut panel_table = self.panel_table();
        let panel = &mut panel_table.panels[index];
        let has_end = panel.marks.last().is_some_and(|mark| mark.0 == rows.last);
        let has_all = !self.keeps_all_marks()
            || panel.marks.len() as u32 == (rows.last - self.part.rows.first).div_ceil(cut.mark_every);
        if column.last_row() != Some(rows.last) || !has_end || !has_all {
            let name = member.stats.name.clone();
            return Err(Error::Device { device: name, message: "it did not deliver all borders of a panel".into() });
        }
        panel.state.best = BestCell::better(panel.state.best, swept.best);
        panel.state.pruned += swept.pruned_cells;
        (panel.state.done, panel.state.row) = (true, rows.last);
        panel.state.inner = panel.inner.iter().map(|column| column.0).collect();
        if let Some(best_cell) = panel.state.best {
            best.raise(best_cell.score);
        }
        if !self.keeps_all_marks() {
            panel.marks.retain(|mark| mark.0 == rows.last);
        }
        for index in [index.checked_sub(1), Some(index)].into_iter().flatten() {
            self.retire(&mut panel_table, index)?;
        }
        self.changed.notify_all();
        let all = u64::from(rows.last - row) * u64::from(columns.length());
        Ok(all.saturating_sub(swept.pruned_cells))
    }

    /// Stores or drops the last column of a panel once no thread reads it.
    fn retire(&self, panel_table: &mut PanelTable, index: usize) -> Result<()> {
        let is_last = panel_table.panels[index].state.columns.last == self.part.columns.last;
        let is_read = panel_table.panels.get(index + 1).is_some_and(|next| next.state.done);
        let panel = &mut panel_table.panels[index];
        if let (true, RightColumn::Flight(column)) = (panel.state.done && (is_last || is_read), &panel.right) {
            let border = column.take();
            panel.right = match panel.state.kept {
                true => RightColumn::Shelved(self.border_store.put(border)?),
                false => RightColumn::Dropped,
            };
        }
        Ok(())
    }

    /// Saves the progress of the sweep if it is time to do so. With `now`, saves it in any case.
    pub(crate) fn save(&self, now: bool) -> Result<()> {
        let Some(mut log) = self.saver.as_ref().and_then(|saver| saver.lock_if_due(now)) else { return Ok(()) };
        let mut snapshots = Vec::new();
        let panel_table = self.panel_table();
        for (index, panel) in panel_table.panels.iter().enumerate() {
            let state = &panel.state;
            let saved = log.saved(index);
            // A panel that is computed again may have advanced less than at the last save.
            if saved.is_some_and(|saved| saved >= (state.row, state.done)) || state.row == self.part.rows.first {
                continue;
            }
            let first = saved.map_or(self.part.rows.first, |(row, _)| row + 1);
            let is_needed = state.kept || panel_table.panels.get(index + 1).is_none_or(|next| !next.state.done);
            let column = match &panel.right {
                _ if !is_needed || first > state.row => None,
                RightColumn::Flight(column) => Some(column.slice(first, state.row)),
                RightColumn::Shelved(piece) => {
                    let position = |row: u32| (row - self.part.rows.first) as usize;
                    Some(piece.slice(position(first)..position(state.row) + 1)?)
                }
                RightColumn::Dropped => None,
            };
            let marks = panel.marks.iter().filter(|mark| {
                first <= mark.0 && mark.0 <= state.row && (self.keeps_all_marks() || mark.0 == state.row)
            });
            let marks = marks.cloned().collect();
            let inner = if state.done { panel.inner.clone() } else { Vec::new() };
            snapshots.push(Snapshot { state: state.clone(), first, column, marks, inner });
        }
        drop(panel_table);
        log.write(snapshots)
    }
}

#[cfg(test)]
mod tests;
