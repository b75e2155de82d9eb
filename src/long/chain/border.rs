//! Columns that pass from panel to panel, and the border lines of parts of the matrix.

use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

use super::border_store::{BorderStore, ENTRY_BYTES, MemoryHold, Piece};
use crate::error::{Error, Result};
use crate::long::{Border, LeftSource, LongPair, NEG_INF};

/// Time between two checks of a thread that waits for a column.
const CHECK_INTERVAL: Duration = Duration::from_millis(20);

/// The last column of a panel, while the panel is computed and its right neighbour reads it.
#[derive(Debug)]
pub(crate) struct SharedColumn {
    /// Rows from the first border to the last.
    rows: RangeInclusive<u32>,
    values: Mutex<ColumnValues>,
    changed: Condvar,
    _hold: MemoryHold,
}

#[derive(Debug)]
struct ColumnValues {
    border: Border,
    /// Whether an engine computes the panel or has computed it.
    coming: bool,
}

impl SharedColumn {
    /// Creates a column of these rows without values.
    pub(crate) fn new(rows: RangeInclusive<u32>, border_store: &Arc<BorderStore>) -> SharedColumn {
        Self::with(rows, Border::default(), border_store)
    }

    /// Creates a column whose first rows have values.
    pub(crate) fn with(rows: RangeInclusive<u32>, mut border: Border, border_store: &Arc<BorderStore>) -> SharedColumn {
        let steps = rows.end() - rows.start();
        // Reserves the whole column at once. A growing vector would sometimes exist twice.
        let more = (steps as usize + 1).saturating_sub(border.h.len());
        border.h.reserve_exact(more);
        border.gap.reserve_exact(more);
        let hold = border_store.count_memory((u64::from(steps) + 1) * ENTRY_BYTES);
        SharedColumn {
            rows,
            values: Mutex::new(ColumnValues { border, coming: false }),
            changed: Condvar::new(),
            _hold: hold,
        }
    }

    fn values(&self) -> MutexGuard<'_, ColumnValues> {
        self.values.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Appends rows. Ignores rows that are already known, because an engine that computes a panel
    /// again obtains the same values.
    ///
    /// # Errors
    /// [`Error::Internal`] if rows are missing, or come after the last row.
    pub(crate) fn append(&self, first: u32, h: &[i32], gap: &[i32]) -> Result<()> {
        let mut values = self.values();
        let rows = (*self.rows.start(), *self.rows.end());
        let next = rows.0 as usize + values.border.h.len();
        let end = first as usize + h.len();
        if first as usize > next || h.len() != gap.len() || end > rows.1 as usize + 1 || first < rows.0 {
            return Err(Error::Internal(format!("rows {first}..{end} do not follow row {next} of a column {rows:?}")));
        }
        if end > next {
            let known = next - first as usize;
            values.border.h.extend_from_slice(&h[known..]);
            values.border.gap.extend_from_slice(&gap[known..]);
            drop(values);
            self.changed.notify_all();
        }
        Ok(())
    }

    /// Sets whether an engine computes the panel.
    pub(crate) fn set_coming(&self, coming: bool) {
        self.values().coming = coming;
        self.changed.notify_all();
    }

    /// Returns the last row with values; `None` if there is none.
    pub(crate) fn last_row(&self) -> Option<u32> {
        let first = *self.rows.start();
        (first + self.values().border.h.len() as u32).checked_sub(1).filter(|&row| row >= first)
    }

    /// Copies rows `first..=last`, which have values.
    pub(crate) fn slice(&self, first: u32, last: u32) -> Border {
        let start = self.rows.start();
        let range = (first - start) as usize..(last - start) as usize + 1;
        let values = self.values();
        Border { h: values.border.h[range.clone()].to_vec(), gap: values.border.gap[range].to_vec() }
    }

    /// Takes the whole column. The caller ensures that no other thread still needs it.
    pub(crate) fn take(&self) -> Border {
        std::mem::take(&mut self.values().border)
    }
}

/// A part of a [`BorderLine`].
#[derive(Debug, Clone)]
pub(crate) enum LinePart {
    /// Row 0 or column 0 of the matrix.
    Border,
    /// The border of forbidden cells: H is 0 and gaps are minus infinity. H of the first entry has
    /// this value instead.
    Masked(i32),
    /// Computed values.
    Piece(Piece),
}

/// Values along a row or a column. The line consists of consecutive parts, each with its first and
/// last position. Two neighbouring parts share a position. The value of the earlier part applies
/// there, because the first entry of a border has no gap.
#[derive(Debug, Clone, Default)]
pub(crate) struct BorderLine(Vec<(RangeInclusive<u32>, LinePart)>);

impl BorderLine {
    /// Creates a line of one part.
    pub(crate) fn from_part(places: RangeInclusive<u32>, part: LinePart) -> BorderLine {
        BorderLine(vec![(places, part)])
    }

    /// Appends a part that starts where the last part ends.
    pub(crate) fn push(&mut self, places: RangeInclusive<u32>, part: LinePart) {
        debug_assert!(self.0.last().is_none_or(|(last, _)| last.end() == places.start()));
        self.0.push((places, part));
    }

    /// Appends the parts of another line, which starts where this line ends.
    pub(crate) fn extend(&mut self, line: &BorderLine) {
        for (places, part) in &line.0 {
            self.push(places.clone(), part.clone());
        }
    }

    /// Returns the last position.
    pub(crate) fn end(&self) -> Option<u32> {
        self.0.last().map(|(places, _)| *places.end())
    }

    /// Returns the values at positions `first..=last`.
    ///
    /// # Errors
    /// [`Error::Io`] if a piece cannot be read; [`Error::Internal`] if the line is too short.
    pub(crate) fn slice(&self, pair: &LongPair, first: u32, last: u32) -> Result<Border> {
        let mut border = Border::default();
        let mut next = first;
        for (places, part) in &self.0 {
            let (start, end) = (*places.start(), *places.end());
            if next > last || next < start || next > end {
                continue;
            }
            let until = last.min(end);
            let entries = (until - next) as usize + 1;
            let more = match part {
                LinePart::Border => pair.top_border(next..until),
                LinePart::Masked(corner) => {
                    let h = (next..=until).map(|position| if position == start { *corner } else { 0 }).collect();
                    Border { h, gap: vec![NEG_INF; entries] }
                }
                LinePart::Piece(piece) => piece.slice((next - start) as usize..(until - start) as usize + 1)?,
            };
            border.h.extend(more.h);
            border.gap.extend(more.gap);
            next = until + 1;
        }
        if next == last + 1 {
            return Ok(border);
        }
        Err(Error::Internal(format!("a border ends before position {next}, but is needed up to {last}")))
    }
}

/// The left border of a panel.
#[derive(Debug, Clone, Copy)]
pub(crate) enum LeftValues<'a> {
    /// The left border of the part of the matrix, which is read for the first panel.
    Line(&'a LongPair, &'a BorderLine),
    /// The last column of the panel to the left.
    Column(&'a SharedColumn),
}

/// Reads the left border of a panel.
#[derive(Debug)]
pub(crate) struct LeftReader<'a> {
    /// The border.
    pub left: LeftValues<'a>,
    /// Set when the user interrupts the job.
    pub interrupt: &'a AtomicBool,
    /// Set when the job has failed elsewhere.
    pub stop: &'a AtomicBool,
    /// Set by the reader if no engine computes the rows that it waits for.
    pub abandoned: AtomicBool,
    /// Nanoseconds that the reader waited.
    pub waited: std::sync::atomic::AtomicU64,
}

impl LeftSource for LeftReader<'_> {
    fn read(&self, first: u32, until: u32, h: &mut [i32], gap: &mut [i32]) -> Result<()> {
        let entries = (until + 1).saturating_sub(first) as usize;
        match self.left {
            LeftValues::Line(pair, line) => {
                let border = line.slice(pair, first, until)?;
                h[..entries].copy_from_slice(&border.h);
                gap[..entries].copy_from_slice(&border.gap);
            }
            LeftValues::Column(column) => {
                let begin = std::time::Instant::now();
                let mut values = column.values();
                let needed = (until + 1 - column.rows.start()) as usize;
                while values.border.h.len() < needed {
                    if self.interrupt.load(Ordering::Relaxed) || self.stop.load(Ordering::Relaxed) {
                        return Err(Error::Interrupted);
                    }
                    if !values.coming {
                        self.abandoned.store(true, Ordering::Relaxed);
                        return Err(Error::Internal("the panel to the left was released".into()));
                    }
                    let waited = column.changed.wait_timeout(values, CHECK_INTERVAL);
                    values = waited.unwrap_or_else(|poisoned| poisoned.into_inner()).0;
                }
                self.waited.fetch_add(begin.elapsed().as_nanos() as u64, Ordering::Relaxed);
                let range = (first - column.rows.start()) as usize..needed;
                h[..entries].copy_from_slice(&values.border.h[range.clone()]);
                gap[..entries].copy_from_slice(&values.border.gap[range]);
            }
        }
        Ok(())
    }

    fn last_known_row(&self) -> u32 {
        match self.left {
            LeftValues::Line(_, line) => line.end().unwrap_or(0),
            LeftValues::Column(column) => column.last_row().unwrap_or(*column.rows.start()),
        }
    }
}
