//! The logs of a part of the matrix: the progress of its panels, and their borders.
//!
//! Each log contains the changes since the last one. `N.keep` contains the progress of panels and
//! the borders that are needed until the end. `N.flight` contains borders that are needed only for
//! a time. It is removed once the right neighbours of its panels are done.

use std::fs;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use super::border_store::{BorderStore, Piece};
use super::log_file::{BorderKind, LogEntry, PanelState, read_border, read_index, write_log};
use crate::error::Result;
use crate::long::Border;

/// Minimum ratio of the time between two saves to the duration of a save.
const SHARE: u32 = 10;

/// A panel that has advanced since the last save.
#[derive(Debug)]
pub(crate) struct Snapshot {
    /// Its progress.
    pub state: PanelState,
    /// First row of `column`.
    pub first: u32,
    /// Its last column from row `first` to `state.row`, if it is needed.
    pub column: Option<Border>,
    /// Its marks from row `first` on.
    pub marks: Vec<(u32, Piece)>,
    /// Kept columns inside it, once it is done.
    pub inner: Vec<(u32, Piece)>,
}

/// A panel that an earlier run has saved.
#[derive(Debug)]
pub(crate) struct Restored {
    /// Its progress.
    pub state: PanelState,
    /// Its last column up to `state.row`, if it is needed.
    pub column: Option<Border>,
    /// Its marks.
    pub marks: Vec<(u32, Piece)>,
    /// Kept columns inside it.
    pub inner: Vec<(u32, Piece)>,
}

/// The logs of a part of the matrix.
#[derive(Debug)]
pub(crate) struct TileSaver {
    log: Mutex<Log>,
    every: Duration,
    /// Rows of the part, from the first border to the last.
    rows: RangeInclusive<u32>,
    /// Distance of the marks, if all of them are needed; `None` if only the last one is needed.
    mark_every: Option<u32>,
}

/// State of the thread that writes logs.
#[derive(Debug)]
pub(crate) struct Log {
    directory: PathBuf,
    /// Whether all marks are needed until the end.
    keeps: bool,
    last: Instant,
    took: Duration,
    next: u64,
    /// Row of each panel, and whether it was done, at the last save.
    saved: Vec<Option<(u32, bool)>>,
    /// Logs that can be removed, with the panels whose borders they contain.
    flights: Vec<(PathBuf, Vec<usize>)>,
}

impl TileSaver {
    /// Creates the logs of a directory. `mark_every` is the distance of the marks if all are
    /// needed.
    pub(crate) fn new(
        directory: PathBuf,
        every: Duration,
        rows: RangeInclusive<u32>,
        mark_every: Option<u32>,
    ) -> TileSaver {
        let log = Log {
            directory,
            keeps: mark_every.is_some(),
            last: Instant::now(),
            took: Duration::ZERO,
            next: 0,
            saved: Vec::new(),
            flights: Vec::new(),
        };
        TileSaver { log: Mutex::new(log), every, rows, mark_every }
    }

    /// Returns the log if it is time to write and no other thread is writing. With `now`, waits for
    /// the log and returns it in any case.
    pub(crate) fn lock_if_due(&self, now: bool) -> Option<MutexGuard<'_, Log>> {
        if now {
            return Some(self.log.lock().unwrap_or_else(|poisoned| poisoned.into_inner()));
        }
        let log = self.log.try_lock().ok()?;
        let pause = if self.every.is_zero() { self.every } else { self.every.max(log.took * SHARE) };
        (log.last.elapsed() >= pause).then_some(log)
    }

    /// Reads the panels of an earlier run, from left to right. Each panel is restored up to the
    /// last row whose borders are all available.
    ///
    /// # Errors
    /// [`Error::Io`] if borders cannot be stored.
    pub(crate) fn restore(&self, border_store: &Arc<BorderStore>) -> Result<Vec<Restored>> {
        let mut log = self.log.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let logged = LoggedPanels::read(&mut log);
        let count = (0..).take_while(|index| logged.states.iter().any(|state| state.index == *index)).count();
        let mut restored: Vec<Restored> = Vec::new();
        // The loop goes from right to left, because a column is needed only if its right neighbour
        // is not done.
        let mut next_is_done = false;
        for index in (0..count).rev() {
            let states = logged.states.iter().rev().filter(|state| state.index == index);
            let mut whole = None;
            let mut first = None;
            for state in states {
                first.get_or_insert(state);
                if let Some(panel) =
                    self.assemble(&logged, state, state.kept || !state.done || !next_is_done, border_store)?
                {
                    whole = Some(panel);
                    break;
                }
            }
            let Some(first) = first else { continue };
            let from_start = || {
                let state = PanelState {
                    row: *self.rows.start(),
                    done: false,
                    best: None,
                    pruned: 0,
                    inner: Vec::new(),
                    ..first.clone()
                };
                Restored { state, column: None, marks: Vec::new(), inner: Vec::new() }
            };
            let panel = whole.unwrap_or_else(from_start);
            next_is_done = panel.state.done;
            restored.push(panel);
        }
        restored.reverse();
        // Panels are created from left to right. A panel to the right of a missing one is useless.
        let follow =
            restored.windows(2).take_while(|pair| pair[0].state.columns.last == pair[1].state.columns.first).count();
        restored.truncate(follow + 1);
        log.saved = restored.iter().map(|panel| Some((panel.state.row, panel.state.done))).collect();
        for (saved, panel) in log.saved.iter_mut().zip(&restored) {
            saved.take_if(|_| panel.state.row == *self.rows.start());
        }
        Ok(restored)
    }

    /// Returns a panel in a state, or `None` if a border is missing.
    fn assemble(
        &self,
        logged: &LoggedPanels,
        state: &PanelState,
        needs_column: bool,
        border_store: &Arc<BorderStore>,
    ) -> Result<Option<Restored>> {
        let (first_row, last_row) = (*self.rows.start(), *self.rows.end());
        let entries = || logged.entries.iter().filter(|(entry, ..)| entry.panel == state.index);
        let mut column = None;
        if needs_column {
            let mut border = Border::default();
            let mut chunks: Vec<_> = entries().filter(|(entry, ..)| entry.kind == BorderKind::Column).collect();
            chunks.sort_by_key(|(entry, ..)| entry.row);
            for (entry, position) in chunks {
                let next = first_row as usize + border.h.len();
                let (first, end) = (entry.row as usize, entry.row as usize + entry.entries);
                if first <= next && next < end {
                    let Some(more) = logged.border(entry, *position) else { break };
                    border.h.extend_from_slice(&more.h[next - first..]);
                    border.gap.extend_from_slice(&more.gap[next - first..]);
                }
            }
            let needed = (state.row - first_row) as usize + 1;
            if border.h.len() < needed {
                return Ok(None);
            }
            border.h.truncate(needed);
            border.gap.truncate(needed);
            column = Some(border);
        }
        let mut rows: Vec<u32> = Vec::new();
        if let Some(every) = self.mark_every {
            rows.extend(
                (1..)
                    .map(|k| u64::from(first_row) + k * u64::from(every))
                    .take_while(|&row| row < state.row.into())
                    .map(|row| row as u32),
            );
        }
        rows.extend((state.row > first_row).then_some(state.row));
        // Returns the borders of a kind with these numbers; `None` if one is missing or has another
        // length.
        let all = |kind: BorderKind, numbers: &[u32], length: u32| -> Result<Option<Vec<(u32, Piece)>>> {
            let mut pieces = Vec::new();
            for &number in numbers {
                let wanted = |(entry, _): &&(LogEntry, EntryPlace)| entry.kind == kind && entry.row == number;
                match entries().rev().find(wanted).and_then(|(entry, position)| logged.border(entry, *position)) {
                    Some(border) if border.h.len() == length as usize + 1 => {
                        pieces.push((number, border_store.put(border)?))
                    }
                    _ => return Ok(None),
                }
            }
            Ok(Some(pieces))
        };
        let Some(marks) = all(BorderKind::Mark, &rows, state.columns.length())? else { return Ok(None) };
        let Some(inner) = all(BorderKind::Inner, &state.inner, last_row - first_row)? else { return Ok(None) };
        Ok(Some(Restored { state: state.clone(), column, marks, inner }))
    }
}

/// Position of a border in a log.
#[derive(Debug, Clone, Copy)]
struct EntryPlace {
    /// Index of the log file.
    file: usize,
    /// Offset in the file, in bytes.
    offset: u64,
}

/// Contents of the logs of a part.
#[derive(Default)]
struct LoggedPanels {
    files: Vec<PathBuf>,
    /// Progress of panels, oldest first.
    states: Vec<PanelState>,
    entries: Vec<(LogEntry, EntryPlace)>,
}

impl LoggedPanels {
    fn read(log: &mut Log) -> LoggedPanels {
        let mut logged = LoggedPanels::default();
        let mut names: Vec<(u64, PathBuf)> = fs::read_dir(&log.directory)
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|file| Some((file.path().file_stem()?.to_str()?.parse().ok()?, file.path())))
            .collect();
        names.sort();
        for (number, path) in names {
            log.next = log.next.max(number + 1);
            if path.extension().is_some_and(|extension| extension == "part") {
                // The file is incomplete, because the run was killed while it wrote this file.
                let _ = fs::remove_file(path);
                continue;
            }
            let Some(index) = read_index(&path) else {
                tracing::warn!("{} is damaged: its part of the matrix is computed again", path.display());
                continue;
            };
            let mut at = 0;
            for entry in &index.entries {
                logged.entries.push((*entry, EntryPlace { file: logged.files.len(), offset: at }));
                at += entry.entries as u64 * 8;
            }
            if path.extension().is_some_and(|extension| extension == "flight") {
                log.flights.push((path.clone(), index.entries.iter().map(|entry| entry.panel).collect()));
            }
            logged.states.extend(index.panels);
            logged.files.push(path);
        }
        logged
    }

    fn border(&self, entry: &LogEntry, position: EntryPlace) -> Option<Border> {
        read_border(&self.files[position.file], entry, position.offset)
    }
}

impl Log {
    /// Returns the row of a panel, and whether it was done, at the last save.
    pub(crate) fn saved(&self, index: usize) -> Option<(u32, bool)> {
        self.saved.get(index).copied().flatten()
    }

    /// Writes the changes since the last save, and removes logs that are no longer needed.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(crate) fn write(&mut self, snapshots: Vec<Snapshot>) -> Result<()> {
        let begin = Instant::now();
        if !snapshots.is_empty() {
            let (mut keep, mut flight, mut panels) = (Vec::new(), Vec::new(), Vec::new());
            for Snapshot { state, first, column, marks, inner } in snapshots {
                let column = column.map(|border| (BorderKind::Column, first, border, state.kept));
                let mut borders: Vec<_> = column.into_iter().collect();
                for (row, piece) in marks {
                    let lasting = self.keeps || state.done;
                    borders.push((BorderKind::Mark, row, piece.slice(0..piece.len())?, lasting));
                }
                for (column, piece) in inner {
                    borders.push((BorderKind::Inner, column, piece.slice(0..piece.len())?, true));
                }
                for (kind, row, border, lasting) in borders {
                    let entry = LogEntry { panel: state.index, kind, row, entries: border.h.len() };
                    if lasting { &mut keep } else { &mut flight }.push((entry, border));
                }
                panels.push(state);
            }
            for state in &panels {
                if self.saved.len() <= state.index {
                    self.saved.resize(state.index + 1, None);
                }
            }
            let path = |kind: &str| self.directory.join(format!("{}.{kind}", self.next));
            if !flight.is_empty() {
                write_log(&path("flight"), Vec::new(), &flight)?;
                self.flights.push((path("flight"), flight.iter().map(|(entry, _)| entry.panel).collect()));
            }
            let path = self.directory.join(format!("{}.keep", self.next));
            for state in &panels {
                self.saved[state.index] = Some((state.row, state.done));
            }
            write_log(&path, panels, &keep)?;
            self.next += 1;
        }
        let saved = std::mem::take(&mut self.saved);
        let is_done = |index: usize| saved.get(index).copied().flatten().is_some_and(|saved| saved.1);
        self.flights.retain(|(path, panels)| {
            let is_over = panels.iter().all(|&panel| is_done(panel) && is_done(panel + 1));
            is_over.then(|| fs::remove_file(path)).is_none()
        });
        self.saved = saved;
        (self.last, self.took) = (Instant::now(), begin.elapsed());
        Ok(())
    }
}
