//! Sweeps a panel in tiles. A tile needs the lower border of the tile above and the right border of
//! the tile to its left, so the tiles of an antidiagonal can be computed at the same time. Threads
//! take the uppermost tile that is ready, so that the right border of the panel is available early.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::atomic::Ordering;
use std::sync::{Condvar, Mutex};

use super::tile::{TileBuffers, TileRows, TileScoring};
use super::{CpuLong, TileSize};
use crate::engine::threads;
use crate::error::{Error, Result};
use crate::long::{BestCell, Border, LeftSource, NEG_INF, PanelSweep, RestGain, SweepResult, SweepSink};

/// Minimum number of columns of a tile, unless the engine is limited to narrower tiles.
pub(super) const MIN_WIDTH: u32 = 256;

/// Computes a panel.
pub(super) fn run(
    engine: &CpuLong,
    sweep: &PanelSweep,
    left: &dyn LeftSource,
    sink: &dyn SweepSink,
) -> Result<SweepResult> {
    // The tiles are narrow enough for every thread to have one.
    let width = sweep.columns.length() / (2 * engine.threads as u32);
    let tile = TileSize { columns: engine.tile.columns.min(width.max(MIN_WIDTH)), ..engine.tile };
    run_in(engine, sweep, left, sink, tile, None)
}

/// Computes a panel in tiles of at most this size. With `kept`, stores the right border of each
/// column of tiles there, and does not search for the best cell.
pub(super) fn run_in(
    engine: &CpuLong,
    sweep: &PanelSweep,
    left: &dyn LeftSource,
    sink: &dyn SweepSink,
    tile: TileSize,
    kept: Option<&Mutex<Vec<Border>>>,
) -> Result<SweepResult> {
    let scheme = TileScoring::new(&sweep.pair.scoring, sweep.pair.is_local(), engine.instruction_set);
    let ends = row_ends(sweep, tile.rows);
    let cuts: Vec<u32> = (sweep.columns.first..sweep.columns.last).step_by(tile.columns as usize).collect();
    let cuts = if cuts.is_empty() { vec![sweep.columns.first] } else { cuts };
    if ends.is_empty() {
        // The panel has no rows, so its lower border is its upper border.
        let (h, gap) = (sweep.top.h.last(), sweep.top.gap.last());
        sink.push_right_border(sweep.rows.first, &[*h.unwrap_or(&0)], &[*gap.unwrap_or(&0)])?;
        sink.push_row(sweep.rows.last, sweep.top.clone().into())?;
        return Ok(SweepResult::default());
    }
    let columns = cuts.iter().enumerate().map(|(index, &start)| {
        let end = cuts.get(index + 1).copied().unwrap_or(sweep.columns.last);
        let span = (start - sweep.columns.first) as usize..=(end - sweep.columns.first) as usize;
        let row = Border { h: sweep.top.h[span.clone()].to_vec(), gap: sweep.top.gap[span].to_vec() };
        TileColumn { start, end, done: 0, busy: false, row, lefts: VecDeque::new() }
    });
    let panel = TiledPanel {
        sweep,
        scheme: &scheme,
        left,
        sink,
        ends,
        rest_gain: sweep.pair.rest_gain(),
        kept,
        state: Mutex::new(SweepState { columns: columns.collect(), ..SweepState::default() }),
        changed: Condvar::new(),
    };
    let helpers = engine.threads.min(cuts.len()).saturating_sub(1);
    std::thread::scope(|scope| {
        drop(threads::helpers(scope, helpers, || panel.work()));
        panel.work();
    });
    let state = panel.state.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    match state.error {
        Some(error) => Err(error),
        None => Ok(SweepResult { best: state.best, pruned_cells: state.pruned_cells }),
    }
}

/// Returns the last row of each row of tiles. Tiles end at marked rows, and between these at
/// multiples of `height`.
fn row_ends(sweep: &PanelSweep, height: u32) -> Vec<u32> {
    let mut ends = Vec::new();
    let mut at = sweep.rows.first;
    while at < sweep.rows.last {
        let marked = (at - sweep.rows.first) / sweep.mark_every * sweep.mark_every;
        let next_mark = (sweep.rows.first + marked).saturating_add(sweep.mark_every).min(sweep.rows.last);
        at = at.saturating_add(height).min(next_mark);
        ends.push(at);
    }
    ends
}

struct TiledPanel<'a> {
    sweep: &'a PanelSweep<'a>,
    scheme: &'a TileScoring,
    left: &'a dyn LeftSource,
    sink: &'a dyn SweepSink,
    /// Last row of each row of tiles.
    ends: Vec<u32>,
    /// The most that paths can gain in the rest of the matrix.
    rest_gain: RestGain,
    /// Right borders of the columns of tiles.
    kept: Option<&'a Mutex<Vec<Border>>>,
    state: Mutex<SweepState>,
    changed: Condvar,
}

#[derive(Default)]
struct SweepState {
    columns: Vec<TileColumn>,
    /// Parts of tiles that may contain the best cell, until their row of tiles is done.
    candidates: Vec<BestCandidate>,
    best: Option<BestCell>,
    pruned_cells: u64,
    /// Row of tiles and border of each marked row. The border contains the columns computed so far.
    marks: VecDeque<(usize, Border)>,
    error: Option<Error>,
    /// Set when a thread has stopped, so that the others stop as well.
    stop: bool,
}

/// A column of tiles.
struct TileColumn {
    /// Columns of the left and the right border.
    start: u32,
    end: u32,
    /// Number of finished tiles.
    done: usize,
    /// Whether a thread computes the next tile.
    busy: bool,
    /// Lower border of the last finished tile.
    row: Border,
    /// Right borders of tiles in the column to the left that this column has not used yet. Empty
    /// for the first column.
    lefts: VecDeque<Border>,
}

/// Rows of a tile that may contain the best cell.
struct BestCandidate {
    tile_row: usize,
    tile_column: usize,
    tile_rows: TileRows,
}

/// A tile that a thread has taken.
struct ClaimedTile {
    tile_row: usize,
    tile_column: usize,
    rows: Range<u32>,
    columns: Range<u32>,
    row: Border,
    left: Option<Border>,
    /// Value that cells must exceed to matter.
    beat: i32,
}

impl TiledPanel<'_> {
    /// Computes tiles until all are done.
    fn work(&self) {
        // If a thread panics, the others must not wait for it forever.
        struct Stopper<'a, 'b>(&'a TiledPanel<'b>);
        impl Drop for Stopper<'_, '_> {
            fn drop(&mut self) {
                if std::thread::panicking() {
                    self.0.lock().stop = true;
                    self.0.changed.notify_all();
                }
            }
        }
        let _stopper = Stopper(self);
        let mut buffers = TileBuffers::default();
        while let Some(tile) = self.take() {
            if let Err(error) = self.tile(tile, &mut buffers) {
                let mut state = self.lock();
                state.error.get_or_insert(error);
                state.stop = true;
                self.changed.notify_all();
                return;
            }
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, SweepState> {
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn first_row(&self, tile_row: usize) -> u32 {
        if tile_row == 0 { self.sweep.rows.first } else { self.ends[tile_row - 1] }
    }

    /// Waits for a tile. Returns `None` if there are no more tiles.
    fn take(&self) -> Option<ClaimedTile> {
        let mut state = self.lock();
        loop {
            if state.stop {
                return None;
            }
            let columns = &state.columns;
            let open = |index: usize| !columns[index].busy && columns[index].done < self.ends.len();
            let there = |index: usize| match index {
                0 => self.left.last_known_row() >= self.ends[columns[0].done],
                _ => !columns[index].lefts.is_empty(),
            };
            // Selects the uppermost tile that is ready. If none is ready, selects the next tile of
            // the first column, which waits for the left border.
            let ready = (0..columns.len()).filter(|&index| open(index) && there(index));
            let index = ready.min_by_key(|&index| (columns[index].done, index)).or_else(|| open(0).then_some(0));
            if let Some(tile_column) = index {
                let beat = self.value_to_beat(&state);
                let column = &mut state.columns[tile_column];
                column.busy = true;
                let tile_row = column.done;
                return Some(ClaimedTile {
                    tile_row,
                    tile_column,
                    rows: self.first_row(tile_row)..self.ends[tile_row],
                    columns: column.start..column.end,
                    row: std::mem::take(&mut column.row),
                    left: column.lefts.pop_front(),
                    beat,
                });
            }
            if columns.iter().all(|column| column.done == self.ends.len()) {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(std::sync::PoisonError::into_inner);
        }
    }

    /// Returns the greatest value that cannot be the best. It is the best value so far minus one,
    /// because an equal value may be in an earlier cell.
    fn value_to_beat(&self, state: &SweepState) -> i32 {
        if self.kept.is_some() {
            return i32::MAX;
        }
        let others = if self.sweep.prune { self.sweep.best.get() } else { 0 };
        let seen = state.candidates.iter().map(|candidate| candidate.tile_rows.value);
        seen.chain(state.best.map(|best| best.score)).chain([others, 1]).max().map_or(0, |score| score - 1)
    }

    /// Computes a tile and delivers its borders.
    fn tile(&self, tile: ClaimedTile, buffers: &mut TileBuffers) -> Result<()> {
        let ClaimedTile { tile_row, tile_column, rows, columns, mut row, left, beat } = tile;
        if self.sweep.interrupt.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        let mut column = match left {
            Some(border) => border,
            None => {
                let length = rows.len() + 1;
                let mut border = Border { h: vec![0; length], gap: vec![0; length] };
                self.left.read(rows.start, rows.end, &mut border.h, &mut border.gap)?;
                border
            }
        };
        let (first_row, first_column) = (rows.start, columns.start);
        let (query, target) = self.symbols(&rows, &columns);
        let (mut tile_rows, mut pruned_cells) = (None, 0);
        if self.sweep.prune && self.cannot_reach_best(&row, &column, first_row, first_column) {
            pruned_cells = query.len() as u64 * target.len() as u64;
            self.skip(&mut row, &mut column, &rows, &columns);
        } else {
            tile_rows = self.scheme.sweep(query, target, &mut row, &mut column, beat, buffers);
        }
        if let Some(tile_rows) = &tile_rows {
            self.sweep.best.raise(tile_rows.value);
        }
        // Two rows of tiles share a row, which is delivered with the upper one.
        let skip = usize::from(tile_row > 0);
        if let Some(kept) = self.kept {
            let mut kept = kept.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            kept[tile_column].h.extend_from_slice(&column.h[skip..]);
            kept[tile_column].gap.extend_from_slice(&column.gap[skip..]);
        }
        let is_last = columns.end == self.sweep.columns.last;
        if is_last {
            self.sink.push_right_border(first_row + skip as u32, &column.h[skip..], &column.gap[skip..])?;
        }
        let mark = is_mark(self.sweep, rows.end);
        let mut state = self.lock();
        state.pruned_cells += pruned_cells;
        state.candidates.extend(tile_rows.map(|tile_rows| BestCandidate { tile_row, tile_column, tile_rows }));
        if mark {
            add_to_mark(&mut state.marks, tile_row, &row, first_column == self.sweep.columns.first);
        }
        if is_last {
            let mark = if mark { state.marks.pop_front() } else { None };
            let candidates = self.take_best_candidates(&mut state, tile_row);
            drop(state);
            let best = self.locate(candidates, buffers);
            if let Some((_, border)) = mark {
                self.sink.push_row(rows.end, border.into())?;
            }
            state = self.lock();
            let best = BestCell::better(state.best, best);
            state.best = best;
            drop(state);
            let cells = u64::from(rows.end - rows.start) * u64::from(self.sweep.columns.length());
            self.sink.progress(cells, best);
            state = self.lock();
        } else {
            state.columns[tile_column + 1].lefts.push_back(column);
        }
        let done = &mut state.columns[tile_column];
        (done.row, done.busy, done.done) = (row, false, tile_row + 1);
        drop(state);
        self.changed.notify_all();
        Ok(())
    }

    fn symbols(&self, rows: &Range<u32>, columns: &Range<u32>) -> (&[u8], &[u8]) {
        let pair = self.sweep.pair;
        (
            &pair.query[rows.start as usize..rows.end as usize],
            &pair.target[columns.start as usize..columns.end as usize],
        )
    }

    /// Removes the candidates of a finished row of tiles. Returns the candidates that may contain
    /// the best cell so far.
    fn take_best_candidates(&self, state: &mut SweepState, tile_row: usize) -> Vec<BestCandidate> {
        let (mut done, open): (Vec<BestCandidate>, Vec<BestCandidate>) =
            std::mem::take(&mut state.candidates).into_iter().partition(|candidate| candidate.tile_row == tile_row);
        state.candidates = open;
        let greatest = done.iter().map(|candidate| candidate.tile_rows.value).max().unwrap_or(0);
        // An equal value in an upper row of tiles is already known and comes first.
        let known = state.best.map_or(0, |best| best.score);
        done.retain(|candidate| candidate.tile_rows.value == greatest && greatest > known);
        let uppermost = done.iter().map(|candidate| candidate.tile_rows.rows.start).min();
        done.retain(|candidate| Some(candidate.tile_rows.rows.start) == uppermost);
        done
    }

    /// Returns the best cell of candidates with the same value.
    fn locate(&self, candidates: Vec<BestCandidate>, buffers: &mut TileBuffers) -> Option<BestCell> {
        candidates.into_iter().fold(None, |best, BestCandidate { tile_row, tile_column, tile_rows }| {
            let rows = self.first_row(tile_row)..self.ends[tile_row];
            let columns = {
                let state = self.lock();
                state.columns[tile_column].start..state.columns[tile_column].end
            };
            let (query, target) = self.symbols(&rows, &columns);
            let (i, j) = self.scheme.first_cell(query, target, &tile_rows, buffers);
            let cell =
                BestCell { score: tile_rows.value, i: rows.start + i as u32 + 1, j: columns.start + j as u32 + 1 };
            BestCell::better(best, Some(cell))
        })
    }

    /// Returns whether no path through a tile can have the best known score. A gap that enters has a
    /// lower value than the cell from which it comes, so it need not be checked. A local path may also
    /// start inside the tile.
    fn cannot_reach_best(&self, row: &Border, column: &Border, first_row: u32, first_column: u32) -> bool {
        let pair = self.sweep.pair;
        let best = i64::from(self.sweep.best.get());
        let reaches = |h: i32, i: u32, j: u32| i64::from(h) + self.rest_gain.after(i, j) >= best;
        let (top, left) = (first_row, first_column);
        // The start inside the tile is checked first, because this check decides for nearly every
        // tile that cannot be pruned.
        !((pair.is_local() && reaches(0, top, left))
            || row.h.iter().zip(left..).any(|(&h, j)| reaches(h, top, j))
            || column.h.iter().zip(top..).any(|(&h, i)| reaches(h, i, left)))
    }

    /// Sets the borders of a pruned tile to values that do not exceed the true ones: 0, or in a path
    /// from the start of both sequences, the score of two gaps.
    fn skip(&self, row: &mut Border, column: &mut Border, rows: &Range<u32>, columns: &Range<u32>) {
        let pair = self.sweep.pair;
        let gaps = pair.scoring.gaps;
        let least = |i: u32, j: u32| match pair.is_local() {
            true => 0,
            // Fits, because `LongPair::fits` has checked both gaps in one.
            false => i32::try_from(-gaps.cost(i.into()) - gaps.cost(j.into())).unwrap_or(NEG_INF),
        };
        let (lower_corner, upper_corner) = (column.h[column.h.len() - 1], row.h[row.h.len() - 1]);
        row.h.iter_mut().zip(columns.start..).for_each(|(h, j)| *h = least(rows.end, j));
        column.h.iter_mut().zip(rows.start..).for_each(|(h, i)| *h = least(i, columns.end));
        for border in [&mut *row, &mut *column] {
            border.gap.iter_mut().zip(&border.h).for_each(|(gap, h)| *gap = h - gaps.first);
        }
        // The corners belong to the neighbouring tiles.
        row.h[0] = lower_corner;
        column.h[0] = upper_corner;
    }
}

/// Returns whether the border along a row must be delivered.
fn is_mark(sweep: &PanelSweep, row: u32) -> bool {
    row == sweep.rows.last || (row - sweep.rows.first).is_multiple_of(sweep.mark_every)
}

/// Appends the lower border of a tile to the marked border of its row of tiles.
fn add_to_mark(marks: &mut VecDeque<(usize, Border)>, tile_row: usize, row: &Border, is_first: bool) {
    if is_first {
        marks.push_back((tile_row, row.clone()));
        return;
    }
    if let Some((_, border)) = marks.iter_mut().find(|mark| mark.0 == tile_row) {
        border.h.extend_from_slice(&row.h[1..]);
        border.gap.extend_from_slice(&row.gap[1..]);
    }
}
