//! Tracing through a region: its chunks' edges are computed again, or are still there from the sweep.

use super::fine::FineGrid;
use super::panel::{Extent, PanelPlan};
use super::resident::Resident;
use super::sweep::{Handed, Keep};
use super::trace::TraceInput;
use super::width::ANY_KINDS;
use super::{GpuLong, PanelBuffers};
use crate::error::Result;
use crate::long::kernels::striped::BLOCK_ROWS;
use crate::long::kernels::striped_trace::MOST_STRIP;
use crate::long::{Best, BestSoFar, Edge, LongPair, Method, Region, Sink, Source, State, Sweep, Traced};

use std::sync::Arc;

/// Rows of a chunk: what start states of and what a part of a path are made from.
const CHUNK: u32 = 512;
/// The same on adapters that count loop iterations.
const SMALL_CHUNK: u32 = 128;
/// Chunks that are lower cost more than they spare.
const LEAST_CHUNK: u32 = 256;

/// A sweep whose chunks' edges are still on the device.
pub(super) struct Retained {
    pair: LongPair,
    rows: (u32, u32),
    columns: (u32, u32),
    grid: FineGrid,
}

/// An edge as what comes from the left; rows beyond it are of no account.
struct Given<'a> {
    edge: &'a Edge,
    first: u32,
}

impl Source for Given<'_> {
    fn read(&self, first: u32, until: u32, h: &mut [i32], gap: &mut [i32]) -> Result<()> {
        let begin = (first - self.first) as usize;
        let there = self.edge.h.len().min((until - self.first) as usize + 1).saturating_sub(begin);
        h[..there].copy_from_slice(&self.edge.h[begin..begin + there]);
        gap[..there].copy_from_slice(&self.edge.gap[begin..begin + there]);
        Ok(())
    }

    fn ready(&self) -> u32 {
        u32::MAX
    }
}

/// Nobody is told.
struct Nobody;

impl Sink for Nobody {
    fn right(&self, _first: u32, _h: &[i32], _gap: &[i32]) -> Result<()> {
        Ok(())
    }

    fn mark(&self, _row: u32, _edge: Edge) -> Result<()> {
        Ok(())
    }

    fn progress(&self, _cells: u64, _best: Option<Best>) {}
}

impl GpuLong {
    /// Columns of a strip and rows of a chunk: a region's strips are as narrow as those of a narrow panel.
    fn chunks(&self, strip: Option<u32>, chunk: Option<u32>) -> (u32, u32) {
        let lanes = self.lanes();
        let cells = strip.map_or_else(|| self.cells(0, ANY_KINDS), |strip| strip.div_ceil(lanes).next_multiple_of(4));
        let usual = if self.loop_budget.is_some() { SMALL_CHUNK } else { CHUNK };
        let chunk = chunk.unwrap_or(usual).clamp(BLOCK_ROWS, 1 << 16).next_multiple_of(BLOCK_ROWS);
        (lanes * cells.clamp(4, (MOST_STRIP / lanes).max(4) & !3), chunk)
    }

    /// Whether there is memory to trace through a region.
    pub(super) fn can_trace_by(
        &self,
        rows: u32,
        columns: u32,
        method: Method,
        strip: Option<u32>,
        chunk: Option<u32>,
    ) -> bool {
        let (strip, chunk) = self.chunks(strip, chunk);
        let rows = rows.max(1).saturating_add(BLOCK_ROWS) / BLOCK_ROWS * BLOCK_ROWS;
        let extent = Extent { rows, columns: columns.max(1), mark_every: chunk, keep_strips: Some(1) };
        let strips = u64::from(extent.columns.div_ceil(strip));
        let vertical = (strips + 1) * (u64::from(rows) + 4) * 8;
        let horizontal = (u64::from(rows.div_ceil(chunk)) + 1) * (u64::from(columns) + 1) * 8;
        vertical.max(horizontal) <= self.binding
            && vertical + horizontal <= self.memory / 2
            && self.kernels.can_trace(rows, (strip, chunk), method)
    }

    /// The rows of a chunk, if a sweep is to leave the edges of its chunks: of a whole pair, if there is room.
    pub(super) fn retained_chunk(&self, sweep: &Sweep) -> Option<u32> {
        let (m, n) = (sweep.pair.query.len() as u32, sweep.pair.target.len() as u32);
        let is_whole = sweep.is_kept && sweep.rows == (0, m) && sweep.columns == (0, n);
        // A mark is the edge of a chunk.
        let (_, usual) = self.chunks(None, None);
        let divides = |chunk: &u32| sweep.mark_every.is_multiple_of(*chunk);
        let chunk = (1..=2 * usual / 64).rev().map(|count| count * 64).find(divides)?;
        (is_whole && chunk >= LEAST_CHUNK.min(usual) && self.can_trace_by(m, n, Method::Chunked2, None, Some(chunk)))
            .then_some(chunk)
    }

    /// Remembers what a sweep has left.
    pub(super) fn retain(&mut self, sweep: &Sweep, plan: &PanelPlan, chunk: u32) {
        // If memory was short, the edges of chunks were not kept.
        let is_kept = plan.params.mark_blocks * BLOCK_ROWS == chunk;
        if let Some(grid) = self.grid(plan, sweep.rows.1 - sweep.rows.0, chunk).filter(|_| is_kept) {
            self.retained = Some(Retained { pair: sweep.pair.clone(), rows: sweep.rows, columns: sweep.columns, grid });
        }
    }

    /// The edges of chunks that a panel has left, if all were kept.
    fn grid(&self, plan: &PanelPlan, rows: u32, chunk: u32) -> Option<FineGrid> {
        let p = plan.params;
        let (vertical, horizontal) = (self.buffers.vertical.get()?.clone(), self.buffers.horizontal.get()?.clone());
        (p.keep_strips == 1).then_some(FineGrid {
            vertical,
            horizontal,
            rows,
            columns: p.columns,
            rows_stride: p.whole_entries,
            columns_stride: p.columns_stride,
            strip: plan.strip,
            lead: p.padding,
            chunk,
        })
    }

    /// Traces through a region. `sparing`: memory was short for it.
    pub(super) fn trace_region(&mut self, region: &Region, sparing: bool) -> Result<Traced> {
        if region.from.i == region.rows.0 || region.from.j == region.columns.0 {
            // On an edge: at most it ends there.
            let at = match region.from.i == region.rows.0 {
                true => region.top.h[(region.from.j - region.columns.0) as usize],
                false => region.left.h[(region.from.i - region.rows.0) as usize],
            };
            let ended = region.pair.is_local() && region.from.state == State::H && at == 0;
            return Ok(Traced { to: Some(region.from), ended, ..Traced::default() });
        }
        let grid = match self.known(region) {
            Some(grid) => grid,
            None => {
                if sparing {
                    (self.buffers, self.retained) = (PanelBuffers::default(), None);
                }
                self.fine(region)?
            }
        };
        let Resident { query, target } = Resident::of(&mut self.residents, &self.gpu, region.pair, region.rows.0)?;
        let input = TraceInput {
            grid: &grid,
            query: &query.codes,
            query_begin: region.rows.0 - query.shift,
            target: &target.0,
            target_begin: region.columns.0,
            scoring: &region.pair.scoring,
            origin: (region.rows.0, region.columns.0),
            from: region.from,
            method: region.method,
            interrupt: region.interrupt,
        };
        self.kernels.trace(&input)
    }

    /// The edges of a region's chunks, if they are still there.
    fn known(&self, region: &Region) -> Option<FineGrid> {
        let Retained { pair, rows, columns, grid } = self.retained.as_ref()?;
        let same = Arc::ptr_eq(&pair.query, &region.pair.query)
            && Arc::ptr_eq(&pair.target, &region.pair.target)
            && Arc::ptr_eq(&pair.scoring, &region.pair.scoring);
        let here = rows.0 == region.rows.0 && columns.0 == region.columns.0;
        let within = region.from.i <= rows.1 && region.from.j <= columns.1;
        let suits = region.strip.is_none_or(|strip| strip == grid.strip)
            && region.chunk.is_none_or(|chunk| chunk == grid.chunk)
            && self.kernels.can_trace(region.from.i - rows.0, (grid.strip, grid.chunk), region.method);
        (same && here && within && suits).then(|| grid.clone())
    }

    /// Computes the edges of a region's chunks.
    fn fine(&mut self, region: &Region) -> Result<FineGrid> {
        let (rows, columns) = (region.from.i - region.rows.0, region.from.j - region.columns.0);
        let (strip, chunk) = self.chunks(region.strip, region.chunk);
        // Rows beyond the walk's are computed from whatever is there, and never looked at.
        let whole = rows.next_multiple_of(BLOCK_ROWS).max(BLOCK_ROWS);
        // So are columns: with a lane's last cell the last, all regions share a pipeline.
        let columns = columns.next_multiple_of(strip / self.lanes()).max(1);
        let best = BestSoFar::default();
        let entries = columns as usize + 1;
        let mut top = Edge { h: region.top.h.clone(), gap: region.top.gap.clone() };
        top.h.resize(entries, 0);
        top.gap.resize(entries, 0);
        let sweep = Sweep {
            pair: region.pair,
            rows: (region.rows.0, region.rows.0 + whole),
            columns: (region.columns.0, region.columns.0 + columns),
            top: &top,
            mark_every: chunk,
            is_kept: true,
            keep_every: None,
            prune: false,
            best: &best,
            interrupt: region.interrupt,
        };
        let keep = Keep { columns: Some(1), strip: Some(strip), mark_every: chunk, quiet: true };
        let left = Given { edge: region.left, first: region.rows.0 };
        let (plan, _) = self.run_once(&sweep, keep, &left, &Nobody, &mut Handed::default())?;
        self.grid(&plan, whole, chunk).ok_or_else(|| self.gpu.error("chunks without edges"))
    }
}
