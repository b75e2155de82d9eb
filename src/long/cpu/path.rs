//! Tracebacks through a region (paper 2, section V).
//!
//! - StripedAlignment and ChunkedAlignment1 sweep the strips with start states ([`StartStrip`]),
//!   which give both ends of the path's part in each strip. Then all threads trace these parts: in
//!   the whole rectangle between the ends, or chunk by chunk from kept borders.
//! - ChunkedAlignment2 of the paper carries start states from chunk to chunk, so that all parts can
//!   be traced at the same time. On a CPU this does not pay off, because start states for all cells
//!   cost many times more than the few chunks on the path. Therefore this module sweeps values
//!   only, with vectors and on all threads, and keeps the borders of all chunks. When the traceback
//!   reaches a chunk, the chunk's directions determine where the path enters it.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::piece::{MatrixRectangle, PieceTracer, StartWalls, anchors_fit};
use super::start::StartStrip;
use super::{CpuLong, TileSize, sweep};
use crate::alignment::Cigar;
use crate::engine::threads;
use crate::error::{Error, Result};
use crate::long::{
    BestCell, BestSoFar, Border, BorderSpan, KeptBorder, LeftSource, Method, PanelSweep, PathPoint, SweepSink,
    TraceRegion, TracebackResult,
};

/// Candidates for the columns of a strip and the rows of a chunk. The first one that fits the
/// memory is used.
const TILE_SIZES: [u32; 4] = [1 << 10, 1 << 11, 1 << 12, 1 << 13];

/// Returns the maximum number of bytes of a traceback.
pub(super) fn bytes_for(engine: &CpuLong, rows: u64, columns: u64, method: Method) -> u64 {
    let side = side(engine, rows, columns, method).into();
    bytes_with(engine, rows, columns, method, side, side)
}

fn side(engine: &CpuLong, rows: u64, columns: u64, method: Method) -> u32 {
    let fits = |side: u32| bytes_with(engine, rows, columns, method, side.into(), side.into()) <= engine.memory;
    TILE_SIZES.into_iter().find(|&side| fits(side)).unwrap_or(TILE_SIZES[0])
}

fn bytes_with(engine: &CpuLong, rows: u64, columns: u64, method: Method, strip: u64, chunk: u64) -> u64 {
    let (m, n) = (rows + 1, columns + 1);
    let (strips, chunks) = (n.div_ceil(strip), m.div_ceil(chunk));
    let threads = engine.threads as u64;
    let (strip, chunk) = (strip.min(n), chunk.min(m));
    match method {
        Method::Striped => strips * m * 24 + threads * PieceTracer::bytes_for(engine.instruction_set, m, strip),
        Method::Chunked1 => {
            strips * m * 24 + chunks * n * 8 + threads * PieceTracer::bytes_for(engine.instruction_set, chunk, strip)
        }
        Method::Chunked2 => {
            strips * m * 8 + chunks * n * 8 + PieceTracer::bytes_for(engine.instruction_set, chunk, strip)
        }
    }
}

/// Traces a path back through a region.
pub(super) fn run(engine: &CpuLong, region: &TraceRegion) -> Result<TracebackResult> {
    let from = region.from;
    if from.i == region.rows.first || from.j == region.columns.first {
        let mut pieces = PieceTracer::new(&region.pair.scoring, engine.instruction_set);
        let rectangle = rectangle(region, region.rows.first, region.columns.first, from);
        let (cigar, to, ended) = pieces.trace_with_borders(rectangle, region.top, region.left, from);
        return Ok(TracebackResult { cigar, to: Some(to), ended, bytes: 0 });
    }
    // Cells below the starting point or to the right of it are not needed.
    let (rows, columns) = (u64::from(from.i - region.rows.first), u64::from(from.j - region.columns.first));
    let side = side(engine, rows, columns, region.method);
    let (strip, chunk) = (region.strip.unwrap_or(side).max(1), region.chunk.unwrap_or(side).max(1));
    match region.method {
        Method::Striped => by_strips(engine, region, strip, None),
        Method::Chunked1 => by_strips(engine, region, strip, Some(chunk)),
        Method::Chunked2 => by_chunks(engine, region, strip, chunk),
    }
}

fn check_interrupt(region: &TraceRegion) -> Result<()> {
    if region.interrupt.load(Ordering::Relaxed) { Err(Error::Interrupted) } else { Ok(()) }
}

fn rectangle<'a>(region: &TraceRegion<'a>, top: u32, left: u32, end: PathPoint) -> MatrixRectangle<'a> {
    MatrixRectangle::new(&region.pair.query, &region.pair.target, top..end.i, left..end.j)
}

/// Copies the entries of a border at the positions `entries`. The border starts at position
/// `first`.
fn part(border: &Border, first: u32, entries: RangeInclusive<u32>) -> Border {
    let places = (entries.start() - first) as usize..=(entries.end() - first) as usize;
    Border { h: border.h[places.clone()].to_vec(), gap: border.gap[places].to_vec() }
}

/// Returns the last position `first + k * step` before `position`. `position` must be greater than
/// `first`.
fn last_step_before(position: u32, first: u32, step: u32) -> u32 {
    first + (position - first - 1) / step * step
}

/// Joins parts of a path. The last part was traced first.
fn join_parts(parts: impl DoubleEndedIterator<Item = Cigar>) -> Cigar {
    let mut all = Cigar::new();
    for part in parts.rev() {
        part.iter().for_each(|(length, op)| all.push(length, op));
    }
    all
}

/// The part of the path in a strip.
struct StripPart<'a> {
    strip: &'a StartStrip,
    start: PathPoint,
    end: PathPoint,
}

/// Traces by StripedAlignment, or with chunks by ChunkedAlignment1.
fn by_strips(engine: &CpuLong, region: &TraceRegion, width: u32, chunk: Option<u32>) -> Result<TracebackResult> {
    let (rows, from) = (region.rows.first..region.from.i, region.from);
    // If anchored values of a strip may exceed 32 bits, whole strips are traced from their borders.
    let (whole, columns) = (rows.end - rows.start, width.min(from.j - region.columns.first));
    let chunk = chunk.or((!anchors_fit(&region.pair.scoring, whole, columns)).then_some(whole));
    let mut strips = Vec::new();
    let mut left = part(region.left, rows.start, rows.start..=rows.end);
    for start in (region.columns.first..from.j).step_by(width as usize) {
        check_interrupt(region)?;
        let columns = start..start.saturating_add(width).min(from.j);
        let top = part(region.top, region.columns.first, columns.start..=columns.end);
        let (strip, right) = StartStrip::pass(region.pair, rows.clone(), columns, top, left, chunk, region.interrupt)?;
        strips.push(strip);
        left = right;
    }
    let mut parts = Vec::new();
    let (mut to, mut ended) = (from, false);
    for strip in strips.iter().rev() {
        let (start, begins) = strip.start(to);
        parts.push(StripPart { strip, start, end: to });
        (to, ended) = (start, begins);
        if ended || to.i == rows.start {
            break;
        }
    }
    let (next, bytes) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let traced: Mutex<Vec<Cigar>> = Mutex::new(vec![Cigar::new(); parts.len()]);
    let work = || -> Result<()> {
        let mut pieces = PieceTracer::new(&region.pair.scoring, engine.instruction_set);
        let mut most = 0;
        while let Some((position, part)) =
            Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|k| parts.get(k).map(|p| (k, p)))
        {
            check_interrupt(region)?;
            let cigar = match chunk {
                None => {
                    let StripPart { start, end, .. } = *part;
                    let walls = StartWalls { row: start.i == rows.start, column: start.j == region.columns.first };
                    pieces.path_columns(&region.pair.query, &region.pair.target, start, walls, end)
                }
                Some(chunk) => chunk_by_chunk(region, part, chunk, &mut pieces),
            };
            most = most.max(pieces.bytes());
            traced.lock().unwrap_or_else(PoisonError::into_inner)[position] = cigar;
        }
        bytes.fetch_add(most, Ordering::Relaxed);
        Ok(())
    };
    std::thread::scope(|scope| {
        let helpers = threads::helpers(scope, engine.threads.min(parts.len()).saturating_sub(1), work);
        let mine = work();
        helpers
            .into_iter()
            .map(|helper| helper.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .fold(mine, Result::and)
    })?;
    let kept: u64 = strips.iter().map(StartStrip::bytes).sum();
    let cigar = join_parts(traced.into_inner().unwrap_or_else(PoisonError::into_inner).into_iter());
    Ok(TracebackResult { cigar, to: Some(to), ended, bytes: kept + bytes.into_inner() as u64 })
}

/// Traces the part of a strip from the borders of its chunks.
fn chunk_by_chunk(region: &TraceRegion, part_of: &StripPart<'_>, chunk: u32, pieces: &mut PieceTracer) -> Cigar {
    let StripPart { strip, start, end } = *part_of;
    let (first_row, left_column) = (region.rows.first, strip.first_column());
    let mut parts = Vec::new();
    let mut at = end;
    while at != start {
        let top = last_step_before(at.i, first_row, chunk);
        let upper = part(&strip.rows[((top - first_row) / chunk) as usize], left_column, left_column..=at.j);
        let left = part(&strip.left, first_row, top..=at.i);
        let (cigar, to, _) = pieces.trace_with_borders(rectangle(region, top, left_column, at), &upper, &left, at);
        parts.push(cigar);
        at = to;
    }
    join_parts(parts.into_iter())
}

/// Traces by ChunkedAlignment2, but determines start states only where the path passes.
fn by_chunks(engine: &CpuLong, region: &TraceRegion, width: u32, height: u32) -> Result<TracebackResult> {
    let from = region.from;
    let (first_row, first_column) = (region.rows.first, region.columns.first);
    let top = part(region.top, first_column, first_column..=from.j);
    let sweep = PanelSweep {
        pair: region.pair,
        rows: BorderSpan::new(first_row, from.i),
        columns: BorderSpan::new(first_column, from.j),
        top: &top,
        mark_every: height,
        is_kept: true,
        keep_every: None,
        prune: false,
        best: &BestSoFar::default(),
        interrupt: region.interrupt,
    };
    let columns = (from.j - first_column).div_ceil(width);
    let kept = Mutex::new(vec![Border::default(); columns as usize]);
    let marks = Marks::default();
    sweep::run_in(engine, &sweep, &RegionLeft(region), &marks, TileSize { rows: height, columns: width }, Some(&kept))?;
    let kept = kept.into_inner().unwrap_or_else(PoisonError::into_inner);
    let marks = marks.0.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut pieces = PieceTracer::new(&region.pair.scoring, engine.instruction_set);
    let (mut at, mut ended, mut parts, mut most) = (from, false, Vec::new(), 0);
    while !ended && at.i > first_row && at.j > first_column {
        check_interrupt(region)?;
        let (top, left) = (last_step_before(at.i, first_row, height), last_step_before(at.j, first_column, width));
        let upper = if top == first_row { region.top } else { &marks[&top] };
        let left_border =
            if left == first_column { region.left } else { &kept[((left - first_column) / width) as usize - 1] };
        let (upper, left_border) = (part(upper, first_column, left..=at.j), part(left_border, first_row, top..=at.i));
        let (cigar, to, begins) = pieces.trace_with_borders(rectangle(region, top, left, at), &upper, &left_border, at);
        most = most.max(pieces.bytes() as u64);
        parts.push(cigar);
        (at, ended) = (to, begins);
    }
    let borders: usize = kept.iter().chain(marks.values()).map(|border| border.h.len() * 8).sum();
    Ok(TracebackResult { cigar: join_parts(parts.into_iter()), to: Some(at), ended, bytes: borders as u64 + most })
}

/// The left border of a region.
struct RegionLeft<'a>(&'a TraceRegion<'a>);

impl LeftSource for RegionLeft<'_> {
    fn read(&self, first: u32, until: u32, h: &mut [i32], gap: &mut [i32]) -> Result<()> {
        let places = (first - self.0.rows.first) as usize..=(until - self.0.rows.first) as usize;
        h.copy_from_slice(&self.0.left.h[places.clone()]);
        gap.copy_from_slice(&self.0.left.gap[places]);
        Ok(())
    }

    fn last_known_row(&self) -> u32 {
        self.0.rows.last
    }
}

/// Borders along rows.
#[derive(Default)]
struct Marks(Mutex<BTreeMap<u32, Border>>);

impl SweepSink for Marks {
    fn push_right_border(&self, _: u32, _: &[i32], _: &[i32]) -> Result<()> {
        Ok(())
    }

    fn push_row(&self, row: u32, border: KeptBorder) -> Result<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(row, border.into_border());
        Ok(())
    }

    fn progress(&self, _: u64, _: Option<BestCell>) {}
}
