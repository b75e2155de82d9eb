//! Start states (paper 2, section V). The start state of a cell is the point where the path to this
//! cell enters the strip. Start states are computed together with the values. So both ends of a
//! path's part in a strip are known before the part is traced.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Error, Result};
use crate::long::{Border, LongPair, PathPoint, PathState};

/// The point where the path to a cell enters a strip, packed into a u64: row, column within the
/// strip, and state. A fourth state (`BEGINS`) marks the start of a local alignment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct StartState(u64);

const BEGINS: u64 = 3;

impl StartState {
    fn new(i: u32, column: usize, code: u64) -> Self {
        StartState(u64::from(i) << 32 | (column as u64) << 2 | code)
    }

    fn unpack(self, first_column: u32) -> (PathPoint, bool) {
        let state = match self.0 & 3 {
            1 => PathState::I,
            2 => PathState::D,
            _ => PathState::H,
        };
        let column = (self.0 & u64::from(u32::MAX)) >> 2;
        (PathPoint { i: (self.0 >> 32) as u32, j: first_column + column as u32, state }, self.0 & 3 == BEGINS)
    }
}

/// A strip that was swept.
#[derive(Debug, Default)]
pub(super) struct StartStrip {
    first_column: u32,
    first_row: u32,
    /// Left border of the strip.
    pub left: Border,
    /// Borders along every `chunk`-th row, from the first row on; empty without chunks.
    pub rows: Vec<Border>,
    /// Start states of H and D in the last column, from the first row on. Those of I are needed
    /// only for the last cell.
    h: Vec<StartState>,
    d: Vec<StartState>,
    last_i: StartState,
}

impl StartStrip {
    /// Sweeps a strip. Returns it with its right border.
    ///
    /// # Errors
    /// [`Error::Interrupted`].
    pub(super) fn pass(
        pair: &LongPair,
        rows: Range<u32>,
        columns: Range<u32>,
        top: Border,
        left: Border,
        chunk: Option<u32>,
        interrupt: &AtomicBool,
    ) -> Result<(StartStrip, Border)> {
        let gaps = pair.scoring.gaps;
        let is_local = pair.is_local();
        let target = &pair.target[columns.start as usize..columns.end as usize];
        let n = target.len();
        let begins = |h: i32| if is_local && h == 0 { BEGINS } else { 0 };
        // On a border, a traceback leaves a gap if opening the gap gives its value.
        let inside = |h: i32, gap: i32, code: u64| if gap == h - gaps.first { begins(h) } else { code };
        let Border { mut h, mut gap } = top;
        let mut of_h: Vec<StartState> = (0..=n).map(|j| StartState::new(rows.start, j, begins(h[j]))).collect();
        let mut of_gap: Vec<StartState> =
            (0..=n).map(|j| StartState::new(rows.start, j, inside(h[j], gap[j], 1))).collect();
        let mut strip = StartStrip { first_column: columns.start, first_row: rows.start, ..StartStrip::default() };
        let mut right = Border::default();
        let (mut last_d, mut last_gap) = (StartState::default(), h[n].saturating_sub(gaps.first));
        for i in rows.start..=rows.end {
            if i % 256 == 0 && interrupt.load(Ordering::Relaxed) {
                return Err(Error::Interrupted);
            }
            if i > rows.start {
                let row_index = (i - rows.start) as usize;
                let code = pair.query[i as usize - 1];
                let (mut diagonal, mut diagonal_start) = (h[0], of_h[0]);
                (h[0], of_h[0]) = (left.h[row_index], StartState::new(i, 0, begins(left.h[row_index])));
                let mut deletion = left.gap[row_index];
                let mut deletion_start = StartState::new(i, 0, inside(left.h[row_index], deletion, 2));
                for (j, &other) in (1..).zip(target) {
                    let substituted = diagonal + pair.scoring.substitution.score(code, other);
                    let (insertion, insertion_start) = (gap[j], of_gap[j]);
                    let mut cell = substituted.max(insertion).max(deletion);
                    let mut start = match cell {
                        _ if cell == substituted => diagonal_start,
                        _ if cell == insertion => insertion_start,
                        _ => deletion_start,
                    };
                    if is_local && cell <= 0 {
                        (cell, start) = (0, StartState::new(i, j, BEGINS));
                    }
                    (diagonal, diagonal_start) = (h[j], of_h[j]);
                    (h[j], of_h[j]) = (cell, start);
                    let opened = cell - gaps.first;
                    if j == n {
                        (last_d, strip.last_i) = (deletion_start, insertion_start);
                    }
                    (gap[j], of_gap[j]) = if opened >= insertion - gaps.next {
                        (opened, start)
                    } else {
                        (insertion - gaps.next, insertion_start)
                    };
                    (deletion, deletion_start) = if opened >= deletion - gaps.next {
                        (opened, start)
                    } else {
                        (deletion - gaps.next, deletion_start)
                    };
                }
                last_gap = deletion;
            }
            if chunk.is_some_and(|chunk| (i - rows.start).is_multiple_of(chunk)) {
                strip.rows.push(Border { h: h.clone(), gap: gap.clone() });
            }
            strip.h.push(of_h[n]);
            strip.d.push(last_d);
            right.h.push(h[n]);
            right.gap.push(last_gap);
        }
        strip.left = left;
        Ok((strip, right))
    }

    /// Returns the point where the path to `end` enters the strip, and whether a local alignment
    /// starts there. `end` is in the last column; in state I it must be the last cell.
    pub(super) fn start(&self, end: PathPoint) -> (PathPoint, bool) {
        let row_index = (end.i - self.first_row) as usize;
        let start = match end.state {
            PathState::H => self.h[row_index],
            PathState::I => self.last_i,
            PathState::D => self.d[row_index],
        };
        start.unpack(self.first_column)
    }

    /// Returns the column of the left border.
    pub(super) fn first_column(&self) -> u32 {
        self.first_column
    }

    /// Returns the bytes of borders and start states.
    pub(super) fn bytes(&self) -> u64 {
        let borders: usize = self.rows.iter().chain([&self.left]).map(|border| border.h.len() * 8).sum();
        (borders + (self.h.len() + self.d.len()) * size_of::<StartState>()) as u64
    }
}
