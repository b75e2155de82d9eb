//! Computes the textbook recurrence cell by cell, in 64 bits. The engine is slow but obviously
//! correct. Tests use it in place of real engines.

use std::sync::atomic::Ordering;

use super::{
    BestCell, Border, BorderSpan, LeftSource, LongEngine, LongPair, Method, NEG_INF, PanelSweep, PathPoint, PathState,
    SweepResult, SweepSink, TraceRegion, TracebackResult,
};
use crate::alignment::{Cigar, Op};
use crate::error::{Error, Result};

/// Rows between two reads of the left column and checks of the interrupt.
const ROWS: u32 = 64;

/// An engine that computes one cell after another.
#[derive(Debug, Clone)]
pub struct Textbook {
    /// Name of the engine.
    pub label: String,
    /// Speed that it reports, in cells a second.
    pub speed: f64,
    /// Columns of the panels that it requests.
    pub panel_columns: u32,
    /// Cells of the largest region that it traces.
    pub trace_cells: u64,
    /// Whether it delivers columns inside a panel.
    pub keeps_columns: bool,
}

impl Default for Textbook {
    fn default() -> Self {
        Textbook {
            label: "textbook".into(),
            speed: 1e8,
            panel_columns: 16_384,
            trace_cells: 1 << 22,
            keeps_columns: false,
        }
    }
}

impl Textbook {
    /// Delivers columns inside a panel if they are requested.
    pub fn with_kept_columns(mut self) -> Self {
        self.keeps_columns = true;
        self
    }
}

/// Converts a value to the form in which borders store it. A value that starts from [`NEG_INF`]
/// never becomes a real one.
fn narrow(value: i64) -> i32 {
    value.clamp(NEG_INF.into(), i32::MAX.into()) as i32
}

/// Returns H of a cell from H\[i-1,j-1\], I\[i,j\] and D\[i,j\].
#[inline]
fn cell(pair: &LongPair, i: u32, j: u32, diagonal: i64, insertion: i64, deletion: i64) -> i64 {
    let (a, b) = (pair.query[i as usize - 1], pair.target[j as usize - 1]);
    let aligned = diagonal + i64::from(pair.scoring.substitution.score(a, b));
    let best = aligned.max(insertion).max(deletion);
    if pair.is_local() { best.max(0) } else { best }
}

impl LongEngine for Textbook {
    fn label(&self) -> &str {
        &self.label
    }

    fn speed(&self) -> f64 {
        self.speed
    }

    fn panel_columns(&self, _rows: u32, columns: u32, _alone: bool) -> u32 {
        self.panel_columns.min(columns)
    }

    fn keeps_columns(&self) -> bool {
        self.keeps_columns
    }

    fn is_host(&self) -> bool {
        true
    }

    fn sweep(&mut self, sweep: &PanelSweep, left: &dyn LeftSource, sink: &dyn SweepSink) -> Result<SweepResult> {
        let pair = sweep.pair;
        let BorderSpan { first: first_row, last: last_row } = sweep.rows;
        let BorderSpan { first, last } = sweep.columns;
        let (open, extend) = (i64::from(pair.scoring.gaps.first), i64::from(pair.scoring.gaps.next));
        let wide = |values: &[i32]| values.iter().copied().map(i64::from).collect::<Vec<i64>>();
        let (mut h, mut gap) = (wide(&sweep.top.h), wide(&sweep.top.gap));
        let every = sweep.keep_every.filter(|_| self.keeps_columns).unwrap_or(u32::MAX).max(1);
        let inner: Vec<u32> = (first..last).step_by(every as usize).skip(1).collect();
        let corner = |&column: &u32| Border { h: vec![sweep.top.h[(column - first) as usize]], gap: vec![NEG_INF] };
        let mut kept: Vec<Border> = inner.iter().map(corner).collect();
        let mut best = None;
        sink.push_right_border(first_row, &[sweep.top.h[(last - first) as usize]], &[NEG_INF])?;
        let mut row = first_row;
        while row < last_row {
            if sweep.interrupt.load(Ordering::Relaxed) {
                return Err(Error::Interrupted);
            }
            let until = (row + ROWS).min(last_row);
            let rows = (until - row) as usize;
            let (mut left_h, mut left_gap) = (vec![0; rows], vec![0; rows]);
            left.read(row + 1, until, &mut left_h, &mut left_gap)?;
            let (mut right_h, mut right_gap) = (Vec::with_capacity(rows), Vec::with_capacity(rows));
            for (offset, i) in (row + 1..=until).enumerate() {
                let mut diagonal = h[0];
                h[0] = left_h[offset].into();
                let mut deletion = i64::from(left_gap[offset]);
                let mut next_kept = 0;
                for (k, j) in (1..).zip(first + 1..=last) {
                    let value = cell(pair, i, j, diagonal, gap[k], deletion);
                    diagonal = h[k];
                    h[k] = value;
                    gap[k] = (value - open).max(gap[k] - extend);
                    deletion = (value - open).max(deletion - extend);
                    if inner.get(next_kept) == Some(&j) {
                        kept[next_kept].h.push(narrow(value));
                        kept[next_kept].gap.push(narrow(deletion));
                        next_kept += 1;
                    }
                    if pair.is_local() && value > 0 {
                        best = BestCell::better(best, Some(BestCell { score: narrow(value), i, j }));
                    }
                }
                right_h.push(narrow(h[h.len() - 1]));
                right_gap.push(narrow(deletion));
            }
            sink.push_right_border(row + 1, &right_h, &right_gap)?;
            if (until - first_row).is_multiple_of(sweep.mark_every) || until == last_row {
                let narrowed = |values: &[i64]| values.iter().copied().map(narrow).collect();
                sink.push_row(until, Border { h: narrowed(&h), gap: narrowed(&gap) }.into())?;
            }
            if let Some(best) = best {
                sweep.best.raise(best.score);
            }
            sink.progress(rows as u64 * u64::from(last - first), best);
            row = until;
        }
        // Columns may be delivered in any order.
        for (&column, border) in inner.iter().zip(kept).rev() {
            sink.push_column(column, border.into())?;
        }
        Ok(SweepResult { best, pruned_cells: 0 })
    }

    fn can_trace(&self, rows: u32, columns: u32, _method: Method) -> bool {
        u64::from(rows) * u64::from(columns) <= self.trace_cells
    }

    fn trace(&mut self, region: &TraceRegion) -> Result<TracebackResult> {
        let matrices = RegionMatrices::fill(region)?;
        Ok(matrices.trace_back(region))
    }
}

/// H, I and D of a region, in row order. Row 0 and column 0 are its borders.
struct RegionMatrices {
    width: usize,
    h: Vec<i64>,
    insertion: Vec<i64>,
    deletion: Vec<i64>,
}

impl RegionMatrices {
    fn fill(region: &TraceRegion) -> Result<RegionMatrices> {
        let (pair, row, column) = (region.pair, region.rows.first, region.columns.first);
        let (rows, columns) = ((region.from.i - row) as usize, (region.from.j - column) as usize);
        let (open, extend) = (i64::from(pair.scoring.gaps.first), i64::from(pair.scoring.gaps.next));
        let width = columns + 1;
        let zeros = || vec![0i64; (rows + 1) * width];
        let mut matrices = RegionMatrices { width, h: zeros(), insertion: zeros(), deletion: zeros() };
        let RegionMatrices { h, insertion, deletion, .. } = &mut matrices;
        for (k, value) in h[..width].iter_mut().enumerate() {
            *value = region.top.h[k].into();
        }
        for i in 1..=rows {
            if region.interrupt.load(Ordering::Relaxed) {
                return Err(Error::Interrupted);
            }
            let at = i * width;
            h[at] = region.left.h[i].into();
            for j in 1..=columns {
                insertion[at + j] = if i == 1 {
                    region.top.gap[j].into()
                } else {
                    (h[at - width + j] - open).max(insertion[at - width + j] - extend)
                };
                deletion[at + j] = if j == 1 {
                    region.left.gap[i].into()
                } else {
                    (h[at + j - 1] - open).max(deletion[at + j - 1] - extend)
                };
                let (i, j, diagonal) = (row + i as u32, column + j as u32, h[at - width + j - 1]);
                let at = at + (j - column) as usize;
                h[at] = cell(pair, i, j, diagonal, insertion[at], deletion[at]);
            }
        }
        Ok(matrices)
    }

    fn trace_back(&self, region: &TraceRegion) -> TracebackResult {
        let pair = region.pair;
        let open = i64::from(pair.scoring.gaps.first);
        let PathPoint { mut i, mut j, mut state } = region.from;
        let mut cigar = Cigar::new();
        let mut ended = false;
        loop {
            let at = (i - region.rows.first) as usize * self.width + (j - region.columns.first) as usize;
            if state == PathState::H && pair.is_local() && self.h[at] == 0 {
                ended = true;
                break;
            }
            if i == region.rows.first || j == region.columns.first {
                break;
            }
            match state {
                PathState::H => {
                    let (a, b) = (pair.query[i as usize - 1], pair.target[j as usize - 1]);
                    let substitution = &pair.scoring.substitution;
                    if self.h[at - self.width - 1] + i64::from(substitution.score(a, b)) == self.h[at] {
                        cigar.push(1, if substitution.is_match(a, b) { Op::Match } else { Op::Mismatch });
                        (i, j) = (i - 1, j - 1);
                    } else {
                        state = if self.insertion[at] == self.h[at] { PathState::I } else { PathState::D };
                    }
                }
                PathState::I => {
                    cigar.push(1, Op::Insertion);
                    i -= 1;
                    let leaves = self.h[at - self.width] - open == self.insertion[at];
                    state = if leaves { PathState::H } else { PathState::I };
                }
                PathState::D => {
                    cigar.push(1, Op::Deletion);
                    j -= 1;
                    let leaves = self.h[at - 1] - open == self.deletion[at];
                    state = if leaves { PathState::H } else { PathState::D };
                }
            }
        }
        cigar.reverse();
        let bytes = 24 * self.h.len() as u64;
        TracebackResult { cigar, to: Some(PathPoint { i, j, state }), ended, bytes }
    }
}
