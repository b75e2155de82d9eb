//! Columns in flight between panels, and the lines of edges that parts of the matrix begin with.

use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

use super::edge_store::{ENTRY_BYTES, EdgeStore, Hold, Piece};
use crate::error::{Error, Result};
use crate::long::{Edge, LongPair, NEVER, Source};

/// How often who waits for a column looks whether it is still worth it.
const LOOK: Duration = Duration::from_millis(20);

/// The last column of a panel, while the panel is computed and its right neighbour reads.
#[derive(Debug)]
pub(crate) struct Column {
    /// Row edges, from the first to the last.
    rows: RangeInclusive<u32>,
    values: Mutex<Values>,
    changed: Condvar,
    _hold: Hold,
}

#[derive(Debug)]
struct Values {
    edge: Edge,
    /// Whether an engine computes the panel, or has.
    coming: bool,
}

impl Column {
    /// A column of these rows of which nothing is known.
    pub(crate) fn new(rows: RangeInclusive<u32>, edge_store: &Arc<EdgeStore>) -> Column {
        Self::with(rows, Edge::default(), edge_store)
    }

    /// A column of which the first rows are known.
    pub(crate) fn with(rows: RangeInclusive<u32>, mut edge: Edge, edge_store: &Arc<EdgeStore>) -> Column {
        let steps = rows.end() - rows.start();
        // At once, for a vector that grows would be there twice now and then.
        let more = (steps as usize + 1).saturating_sub(edge.h.len());
        edge.h.reserve_exact(more);
        edge.gap.reserve_exact(more);
        let hold = edge_store.hold((u64::from(steps) + 1) * ENTRY_BYTES);
        Column { rows, values: Mutex::new(Values { edge, coming: false }), changed: Condvar::new(), _hold: hold }
    }

    fn values(&self) -> MutexGuard<'_, Values> {
        self.values.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Adds rows. Those that are there already are left as they are: who begins a panel again finds the same.
    ///
    /// # Errors
    /// [`Error::Internal`] if rows are left out, or come after the last.
    pub(crate) fn append(&self, first: u32, h: &[i32], gap: &[i32]) -> Result<()> {
        let mut values = self.values();
        let rows = (*self.rows.start(), *self.rows.end());
        let next = rows.0 as usize + values.edge.h.len();
        let end = first as usize + h.len();
        if first as usize > next || h.len() != gap.len() || end > rows.1 as usize + 1 || first < rows.0 {
            return Err(Error::Internal(format!("rows {first}..{end} do not follow row {next} of a column {rows:?}")));
        }
        if end > next {
            let known = next - first as usize;
            values.edge.h.extend_from_slice(&h[known..]);
            values.edge.gap.extend_from_slice(&gap[known..]);
            drop(values);
            self.changed.notify_all();
        }
        Ok(())
    }

    /// Says whether anybody computes the panel.
    pub(crate) fn set_coming(&self, coming: bool) {
        self.values().coming = coming;
        self.changed.notify_all();
    }

    /// The last row that is known; `None` if none is.
    pub(crate) fn last(&self) -> Option<u32> {
        let first = *self.rows.start();
        (first + self.values().edge.h.len() as u32).checked_sub(1).filter(|&row| row >= first)
    }

    /// A part of what is known, by the numbers of the rows, both inclusive.
    pub(crate) fn slice(&self, first: u32, last: u32) -> Edge {
        let start = self.rows.start();
        let range = (first - start) as usize..(last - start) as usize + 1;
        let values = self.values();
        Edge { h: values.edge.h[range.clone()].to_vec(), gap: values.edge.gap[range].to_vec() }
    }

    /// The whole column, when nobody else needs it.
    pub(crate) fn take(&self) -> Edge {
        std::mem::take(&mut self.values().edge)
    }
}

/// A part of a [`Line`].
#[derive(Debug, Clone)]
pub(crate) enum Part {
    /// Row 0 or column 0 of the matrix.
    Border,
    /// The edge of a forbidden part: H is 0, and no gap goes on. But the first entry has this H.
    Masked(i32),
    /// What was computed.
    Piece(Piece),
}

/// Values along a row or a column: parts one after another, each with its first and its last place. Two neighbours share
/// a place; there the earlier one counts, for the first entry of an edge has no gap.
#[derive(Debug, Clone, Default)]
pub(crate) struct Line(Vec<(RangeInclusive<u32>, Part)>);

impl Line {
    /// A line of one part.
    pub(crate) fn of(places: RangeInclusive<u32>, part: Part) -> Line {
        Line(vec![(places, part)])
    }

    /// Adds a part that begins where the last one ends.
    pub(crate) fn push(&mut self, places: RangeInclusive<u32>, part: Part) {
        debug_assert!(self.0.last().is_none_or(|(last, _)| last.end() == places.start()));
        self.0.push((places, part));
    }

    /// Adds the parts of another line that begins where this one ends.
    pub(crate) fn extend(&mut self, line: &Line) {
        for (places, part) in &line.0 {
            self.push(places.clone(), part.clone());
        }
    }

    /// The last place.
    pub(crate) fn end(&self) -> Option<u32> {
        self.0.last().map(|(places, _)| *places.end())
    }

    /// The values at places `first..=last`.
    ///
    /// # Errors
    /// [`Error::Io`] if a piece cannot be read; [`Error::Internal`] if the line does not reach so far.
    pub(crate) fn slice(&self, pair: &LongPair, first: u32, last: u32) -> Result<Edge> {
        let mut edge = Edge::default();
        let mut next = first;
        for (places, part) in &self.0 {
            let (start, end) = (*places.start(), *places.end());
            if next > last || next < start || next > end {
                continue;
            }
            let until = last.min(end);
            let entries = (until - next) as usize + 1;
            let more = match part {
                Part::Border => pair.top(next..until),
                Part::Masked(corner) => {
                    let h = (next..=until).map(|place| if place == start { *corner } else { 0 }).collect();
                    Edge { h, gap: vec![NEVER; entries] }
                }
                Part::Piece(piece) => piece.slice((next - start) as usize..(until - start) as usize + 1)?,
            };
            edge.h.extend(more.h);
            edge.gap.extend(more.gap);
            next = until + 1;
        }
        if next == last + 1 {
            return Ok(edge);
        }
        Err(Error::Internal(format!("an edge ends before place {next}, but is needed up to {last}")))
    }
}

/// What the first panel of a part of the matrix, or any other one, reads.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Left<'a> {
    /// The left edge of the part.
    Line(&'a LongPair, &'a Line),
    /// The panel before.
    Column(&'a Column),
}

/// How a panel reads from the left.
#[derive(Debug)]
pub(crate) struct Reader<'a> {
    /// From where.
    pub left: Left<'a>,
    /// Set to end early.
    pub interrupt: &'a AtomicBool,
    /// Set for the same reason, when the job has failed elsewhere.
    pub stop: &'a AtomicBool,
    /// Set here if nobody computes what is waited for.
    pub abandoned: AtomicBool,
    /// Nanoseconds that were spent waiting.
    pub waited: std::sync::atomic::AtomicU64,
}

impl Source for Reader<'_> {
    fn read(&self, first: u32, until: u32, h: &mut [i32], gap: &mut [i32]) -> Result<()> {
        let entries = (until + 1).saturating_sub(first) as usize;
        match self.left {
            Left::Line(pair, line) => {
                let edge = line.slice(pair, first, until)?;
                h[..entries].copy_from_slice(&edge.h);
                gap[..entries].copy_from_slice(&edge.gap);
            }
            Left::Column(column) => {
                let begin = std::time::Instant::now();
                let mut values = column.values();
                let needed = (until + 1 - column.rows.start()) as usize;
                while values.edge.h.len() < needed {
                    if self.interrupt.load(Ordering::Relaxed) || self.stop.load(Ordering::Relaxed) {
                        return Err(Error::Interrupted);
                    }
                    if !values.coming {
                        self.abandoned.store(true, Ordering::Relaxed);
                        return Err(Error::Internal("the panel to the left was given up".into()));
                    }
                    let waited = column.changed.wait_timeout(values, LOOK);
                    values = waited.unwrap_or_else(|poisoned| poisoned.into_inner()).0;
                }
                self.waited.fetch_add(begin.elapsed().as_nanos() as u64, Ordering::Relaxed);
                let range = (first - column.rows.start()) as usize..needed;
                h[..entries].copy_from_slice(&values.edge.h[range.clone()]);
                gap[..entries].copy_from_slice(&values.edge.gap[range]);
            }
        }
        Ok(())
    }

    fn ready(&self) -> u32 {
        match self.left {
            Left::Line(_, line) => line.end().unwrap_or(0),
            Left::Column(column) => column.last().unwrap_or(*column.rows.start()),
        }
    }
}
