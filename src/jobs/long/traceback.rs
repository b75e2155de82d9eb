//! Traces an alignment back through the regions of the grid.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::bound::KmerAnchor;
use super::parts::{JobShared, MatrixSweep};
use super::prefetch::RegionPrefetch;
use crate::alignment::{Cigar, Op};
use crate::error::{Error, Result};
use crate::long::chain::border::{BorderLine, LinePart};
use crate::long::chain::engine_pool::PoolMember;
use crate::long::chain::grid::{BorderGrid, FramedRegion, MatrixCut, MatrixSize};
use crate::long::chain::panels::{Watch, sweep};
use crate::long::chain::table::MatrixPart;
use crate::long::{LongPair, Method, PathPoint, PathState, TraceRegion, TracebackResult};

/// Settings of engines for tracebacks.
#[derive(Debug, Clone, Copy)]
pub(super) struct TracebackOptions {
    /// See [`TraceRegion::method`].
    pub method: Method,
    /// See [`TraceRegion::strip`].
    pub strip: Option<u32>,
    /// See [`TraceRegion::chunk`].
    pub chunk: Option<u32>,
}

/// A traceback in progress.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct LongTraceback {
    /// Point where the traceback starts: the end of the alignment.
    start: PathPoint,
    /// Current position of the traceback.
    at: PathPoint,
    /// Runs of equal columns so far. The last column of the alignment comes first.
    runs: Vec<(u32, char)>,
    /// Whether the traceback has reached the start of the alignment.
    over: bool,
    /// Number of cells that were computed for the traceback.
    pub traced_cells: u64,
    /// Regions that an engine has prepared for the traceback.
    #[serde(skip)]
    ahead: RegionPrefetch,
}

impl LongTraceback {
    /// Creates a traceback from a cell. `expected_path` are points that it is likely to visit.
    pub(super) fn new(start: PathPoint, expected_path: &Arc<[KmerAnchor]>) -> LongTraceback {
        LongTraceback {
            start,
            at: start,
            runs: Vec::new(),
            over: false,
            traced_cells: 0,
            ahead: RegionPrefetch::new(expected_path),
        }
    }

    /// Traces to the start of the alignment. Returns that point and the columns of the alignment.
    /// If an earlier run has started a traceback from the same cell under the same `name`,
    /// continues it.
    ///
    /// # Errors
    /// The errors of [`sweep`].
    pub(super) fn run(
        mut self,
        pair: &LongPair,
        pass: &MatrixSweep,
        traceback_options: TracebackOptions,
        name: &str,
        shared: &mut JobShared,
    ) -> Result<(LongTraceback, PathPoint, Cigar)> {
        let note = format!("walk-{name}.json");
        let earlier = shared.checkpoint.as_ref().and_then(|checkpoint| checkpoint.read::<LongTraceback>(&note));
        if let Some(earlier) = earlier.filter(|earlier| earlier.start == self.start) {
            self = LongTraceback { ahead: self.ahead, ..earlier };
        }
        let mut saved = Instant::now();
        while !self.over {
            match pass.tile_with(self.at.into()) {
                Some(tile) => self.step(pair, tile, traceback_options, shared)?,
                None => self.border(pair)?,
            }
            if let Some(checkpoint) =
                shared.checkpoint.as_ref().filter(|checkpoint| saved.elapsed() >= checkpoint.save_interval())
            {
                checkpoint.write(&note, &self)?;
                saved = Instant::now();
            }
        }
        let mut cigar = Cigar::new();
        for &(length, letter) in self.runs.iter().rev() {
            let ops = [Op::Match, Op::Mismatch, Op::Insertion, Op::Deletion];
            let op = ops.into_iter().find(|op| op.letter() == letter);
            cigar.push(length, op.ok_or_else(|| Error::Internal(format!("a traceback with '{letter}'")))?);
        }
        let begin = self.at;
        Ok((self, begin, cigar))
    }

    fn push(&mut self, length: u32, op: Op) {
        self.runs.extend((length > 0).then_some((length, op.letter())));
    }

    fn step(
        &mut self,
        pair: &LongPair,
        tile: &BorderGrid,
        traceback_options: TracebackOptions,
        shared: &mut JobShared,
    ) -> Result<()> {
        let framed = tile.region(pair, self.at.into())?;
        let traced = self.trace(pair, framed, tile, traceback_options, shared)?;
        let TracebackResult { cigar, to: Some(to), ended, .. } = traced else {
            return Err(Error::Internal("a traceback through a region ended nowhere".into()));
        };
        let spans = (cigar.query_span(), cigar.target_span());
        let way = (self.at.i.checked_sub(to.i), self.at.j.checked_sub(to.j));
        let went = (way.0.map(u64::from), way.1.map(u64::from));
        if went != (Some(spans.0), Some(spans.1)) || (way == (Some(0), Some(0)) && !ended) {
            return Err(Error::Internal(format!("a traceback from {:?} to {to:?} has columns {spans:?}", self.at)));
        }
        for (length, op) in cigar.iter().rev() {
            self.push(length, op);
        }
        (self.at, self.over) = (to, ended);
        Ok(())
    }

    /// Continues along row 0 or column 0, or ends the traceback next to a forbidden cell.
    fn border(&mut self, pair: &LongPair) -> Result<()> {
        let PathPoint { i, j, state } = self.at;
        if !pair.is_local() {
            self.push(i, Op::Insertion);
            self.push(j, Op::Deletion);
            self.at = PathPoint { i: 0, j: 0, state: PathState::H };
            if i > 0 && j > 0 {
                return Err(Error::Internal(format!("a traceback left the matrix at ({i}, {j})")));
            }
        } else if state != PathState::H {
            return Err(Error::Internal(format!("a local traceback reached ({i}, {j}) in a gap")));
        }
        self.over = true;
        Ok(())
    }

    /// Traces through a region of a grid with the fastest engine that has enough memory. If no
    /// engine has, sweeps the region again with a finer grid inside, and traces through the regions
    /// of that grid.
    fn trace(
        &mut self,
        pair: &LongPair,
        framed: FramedRegion,
        grid: &BorderGrid,
        traceback_options: TracebackOptions,
        shared: &mut JobShared,
    ) -> Result<TracebackResult> {
        let framed = Arc::new(framed);
        let cells = framed.cells();
        if let Some(traced) = self.trace_by_fastest(pair, &framed, grid, traceback_options, shared)? {
            self.traced_cells += cells;
            return Ok(traced);
        }
        if shared.engine_pool.members.is_empty() {
            return Err(shared.engine_pool.no_engine_left());
        }
        // If `framed` is still shared, the other owner is an abandoned engine.
        let framed = Arc::unwrap_or_clone(framed);
        let finer = finer_grid(pair, framed, shared)?;
        self.traced_cells += cells;
        self.trace_through(pair, &finer, traceback_options, shared)
    }

    /// Traces through a region with the fastest engine that has enough memory. Returns `None` if no
    /// engine has.
    fn trace_by_fastest(
        &mut self,
        pair: &LongPair,
        framed: &Arc<FramedRegion>,
        grid: &BorderGrid,
        traceback_options: TracebackOptions,
        shared: &mut JobShared,
    ) -> Result<Option<TracebackResult>> {
        let size = framed.size();
        // Engines that refused this region. They may trace other regions.
        let mut refused: Vec<String> = Vec::new();
        loop {
            if shared.watch.interrupt.load(Ordering::Relaxed) {
                return Err(Error::Interrupted);
            }
            let mut members = shared.engine_pool.by_speed();
            let can = |member: &mut &mut PoolMember| {
                !refused.contains(&member.stats.name)
                    && member.query(|engine| engine.can_trace(size.rows, size.columns, traceback_options.method))
                        == Some(true)
            };
            let Some(id) = members.iter_mut().find_map(|member| can(member).then_some(member.id)) else {
                shared.engine_pool.remove_abandoned();
                let is_stuck = shared.engine_pool.members.is_empty() || !refused.is_empty();
                if is_stuck && shared.engine_pool.call_reserve() {
                    continue;
                }
                return Ok(None);
            };
            let regions = member_ahead(shared, id);
            let ahead = self.ahead.next(grid, pair, framed, regions)?;
            match self.trace_by(pair, framed, ahead, traceback_options, id, shared) {
                Some(Ok(traced)) => return Ok(Some(traced)),
                Some(Err((name, error @ Error::Unsuited { .. }))) => {
                    tracing::warn!("{name} cannot trace {} x {} cells: {error}", size.rows, size.columns);
                    refused.push(name);
                }
                Some(Err((_, error))) => return Err(error),
                None => shared.engine_pool.remove_abandoned(),
            }
        }
    }

    /// Traces through all regions of a finer grid, each from the point where the last one ended.
    fn trace_through(
        &mut self,
        pair: &LongPair,
        grid: &BorderGrid,
        traceback_options: TracebackOptions,
        shared: &mut JobShared,
    ) -> Result<TracebackResult> {
        let mut whole: Vec<(u32, Op)> = Vec::new();
        let entered = self.at;
        let mut ended = false;
        while !ended && grid.holds(self.at.into()) {
            let framed = grid.region(pair, self.at.into())?;
            if (framed.rows, framed.columns) == (grid.rows, grid.columns) {
                // The sweep kept no line inside the region, because it is small enough for every
                // engine.
                return Err(untraceable(shared, framed.size()));
            }
            let traced = self.trace(pair, framed, grid, traceback_options, shared)?;
            let Some(to) = traced.to else {
                return Err(Error::Internal("a traceback through a region ended nowhere".into()));
            };
            if to == self.at && !traced.ended {
                return Err(Error::Internal(format!("a traceback does not advance at {to:?}")));
            }
            whole.extend(traced.cigar.iter().rev());
            (self.at, ended) = (to, traced.ended);
        }
        let mut cigar = Cigar::new();
        whole.iter().rev().for_each(|&(length, op)| cigar.push(length, op));
        let to = std::mem::replace(&mut self.at, entered);
        Ok(TracebackResult { cigar, to: Some(to), ended, bytes: 0 })
    }

    /// Prepares the regions of `ahead` if there are any, and traces through a region, with an
    /// engine. Returns `None` if the engine is lost. An error is returned with the engine's name.
    fn trace_by(
        &mut self,
        pair: &LongPair,
        framed: &Arc<FramedRegion>,
        ahead: Vec<FramedRegion>,
        traceback_options: TracebackOptions,
        id: usize,
        shared: &mut JobShared,
    ) -> Option<Result<TracebackResult, (String, Error)>> {
        let (pair, framed, from) = (pair.clone(), Arc::clone(framed), self.at);
        let (interrupt, flag) = (shared.watch.interrupt, Arc::clone(shared.watch.interrupt));
        let cells = ahead.iter().chain([&*framed]).map(FramedRegion::cells).sum();
        let task = move |member: &mut PoolMember| {
            let settings = RegionSettings { pair: &pair, traceback_options, interrupt: &flag };
            let corner =
                |framed: &FramedRegion| PathPoint { i: framed.rows.last, j: framed.columns.last, state: PathState::H };
            let regions: Vec<TraceRegion> =
                ahead.iter().map(|framed| settings.region(framed, corner(framed))).collect();
            let traced = member.call(cells, |engine| {
                let ready = if regions.is_empty() { None } else { Some(engine.prepare(&regions)?) };
                Ok((ready, engine.trace(&settings.region(&framed, from))?))
            });
            match traced {
                Ok(traced) => Some(Ok(traced)),
                Err(error) if !matches!(error, Error::Unsuited { .. }) && member.is_engine_fault(&error) => None,
                Err(error) => Some(Err((member.stats.name.clone(), error))),
            }
        };
        let is_over = || interrupt.load(Ordering::Relaxed);
        let traced = shared.engine_pool.work(&[id], cells, task, |_| (), is_over).pop().flatten()?;
        Some(traced.map(|(ready, traced)| {
            ready.into_iter().for_each(|ready| self.ahead.record_prepared(ready));
            traced
        }))
    }
}

/// Settings that all regions of a traceback share.
struct RegionSettings<'a> {
    pair: &'a LongPair,
    traceback_options: TracebackOptions,
    interrupt: &'a AtomicBool,
}

impl<'a> RegionSettings<'a> {
    fn region(&self, framed: &'a FramedRegion, from: PathPoint) -> TraceRegion<'a> {
        let FramedRegion { rows, columns, ref top, ref left } = *framed;
        let TracebackOptions { method, strip, chunk } = self.traceback_options;
        TraceRegion { pair: self.pair, rows, columns, top, left, from, method, strip, chunk, interrupt: self.interrupt }
    }
}

/// Returns the number of regions that an engine can prepare at once.
fn member_ahead(shared: &mut JobShared, id: usize) -> usize {
    let member = shared.engine_pool.members.iter_mut().find(|member| member.id == id);
    member.and_then(|member| member.query(|engine| engine.max_prepared_regions())).unwrap_or(0)
}

/// Sweeps a region again with a finer grid inside, and returns that grid.
///
/// # Errors
/// [`Error::Internal`] if the region is too small for a finer grid; the errors of [`sweep`].
fn finer_grid(pair: &LongPair, framed: FramedRegion, shared: &mut JobShared) -> Result<BorderGrid> {
    let size = framed.size();
    let cut = MatrixCut::finer(size);
    if cut.mark_every >= size.rows && cut.pitch.is_none_or(|pitch| pitch >= size.columns) {
        return Err(untraceable(shared, size));
    }
    let FramedRegion { rows, columns, top, left, .. } = framed;
    let border_store = Arc::clone(&shared.border_store);
    let line = |edge, places| border_store.put(edge).map(|piece| BorderLine::from_part(places, LinePart::Piece(piece)));
    let (top, left) = (line(top, columns.lines())?, line(left, rows.lines())?);
    let (pair, best) = (pair.clone(), Arc::default());
    let part = MatrixPart { pair, rows, columns, top, left, cut, needs_traceback: true, prune: false, best };
    let watch = Watch { interrupt: shared.watch.interrupt, progress: None };
    Ok(sweep(part, shared.engine_pool, &border_store, None, watch)?.grid)
}

/// Returns the error for engines that cannot trace a region of 1,024 x 1,024 cells. Every engine
/// must be able to trace such a region.
fn untraceable(shared: &JobShared, size: MatrixSize) -> Error {
    let MatrixSize { rows, columns } = size;
    let names: Vec<&str> = shared.engine_pool.members.iter().map(|member| &*member.stats.name).collect();
    let names = names.join(", ");
    Error::Internal(format!("{names}: cannot trace through {rows} x {columns} cells, which are not cut further"))
}
