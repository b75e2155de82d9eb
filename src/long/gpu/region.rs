//! Traces through a region. The borders of its chunks are computed again, unless they are still on
//! the device from the sweep.

use super::delivery::{DeliveredRange, RecordPolicy};
use super::fine::FineGrid;
use super::panel::PanelPlan;
use super::resident::ResidentPair;
use super::trace::{TraceInput, TraceKernels};
use super::width::NARROW_CELLS;
use super::{GpuLong, PanelBuffers};
use crate::error::Result;
use crate::gpu::pipeline::CompilingAhead;
use crate::long::kernels::striped::BLOCK_ROWS;
use crate::long::kernels::striped_trace::MAX_STRIP;
use crate::long::{
    BestCell, BestSoFar, Border, BorderSpan, KeptBorder, LeftSource, LongPair, Method, PanelSweep, PathPoint,
    PathState, SweepSink, TraceRegion, TracebackResult,
};

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Number of columns per lane. Lanes are wider than in a panel of the same width, because several
/// regions are computed at once, and to save memory.
const REGION_CELLS: u32 = 12;
/// Rows of a chunk, the unit of start states and of traced parts.
const CHUNK: u32 = 512;
/// Rows of a chunk on adapters that limit loop iterations.
const SMALL_CHUNK: u32 = 128;
/// Minimum number of rows of a chunk. Lower chunks cost more than they save.
const MIN_CHUNK: u32 = 256;

/// A part of the matrix whose chunks have borders on the device.
pub(super) struct Retained {
    pair: LongPair,
    /// The upper and left borders of the computation; `None` for the matrix's first row and column.
    /// Rows and columns do not identify a region: once an alignment is found, cells are forbidden,
    /// and the same rows and columns have other borders.
    borders: Option<(Border, Border)>,
    rows: BorderSpan,
    columns: BorderSpan,
    grid: FineGrid,
}

/// A known border as a left border. Rows after its end are not needed, so their values are
/// arbitrary.
pub(super) struct KnownLeft<'a> {
    border: &'a Border,
    first: u32,
}

impl LeftSource for KnownLeft<'_> {
    fn read(&self, first: u32, until: u32, h: &mut [i32], gap: &mut [i32]) -> Result<()> {
        let begin = (first - self.first) as usize;
        let there = self.border.h.len().min((until - self.first) as usize + 1).saturating_sub(begin);
        h[..there].copy_from_slice(&self.border.h[begin..begin + there]);
        gap[..there].copy_from_slice(&self.border.gap[begin..begin + there]);
        Ok(())
    }

    fn last_known_row(&self) -> u32 {
        u32::MAX
    }
}

/// Ignores all results.
struct NullSink;

impl SweepSink for NullSink {
    fn push_right_border(&self, _first: u32, _h: &[i32], _gap: &[i32]) -> Result<()> {
        Ok(())
    }

    fn push_row(&self, _row: u32, _border: KeptBorder) -> Result<()> {
        Ok(())
    }

    fn progress(&self, _cells: u64, _best: Option<BestCell>) {}
}

/// The sweep that computes the borders of a region's chunks.
pub(super) struct FineSweep {
    rows: BorderSpan,
    columns: BorderSpan,
    top: Border,
    /// Results that the sweep leaves on the device.
    pub keep: RecordPolicy,
}

impl FineSweep {
    /// Returns the sweep.
    pub(super) fn sweep<'a>(&'a self, region: &TraceRegion<'a>, best: &'a BestSoFar) -> PanelSweep<'a> {
        PanelSweep {
            pair: region.pair,
            rows: self.rows,
            columns: self.columns,
            top: &self.top,
            mark_every: self.keep.mark_every,
            is_kept: true,
            keep_every: None,
            prune: false,
            best,
            interrupt: region.interrupt,
        }
    }

    /// Returns the left border.
    pub(super) fn left_border<'a>(&self, region: &TraceRegion<'a>) -> KnownLeft<'a> {
        KnownLeft { border: region.left, first: region.rows.first }
    }
}

impl Retained {
    /// Returns the part of the matrix whose chunks have borders in a panel's memory; `None` if the
    /// panel did not keep the borders of all chunks.
    pub(super) fn new(
        region: &TraceRegion,
        fine: &FineSweep,
        plan: &PanelPlan,
        vertical: &wgpu::Buffer,
        horizontal: &wgpu::Buffer,
    ) -> Option<Self> {
        let grid = grid(plan, fine.rows.length(), fine.keep.mark_every, vertical, horizontal)?;
        let borders = Some((region.top.clone(), region.left.clone()));
        Some(Retained { pair: region.pair.clone(), borders, rows: region.rows, columns: region.columns, grid })
    }

    /// Returns whether a region can be traced with these borders.
    fn holds(&self, region: &TraceRegion, kernels: &TraceKernels) -> bool {
        let Retained { pair, borders, rows, columns, grid } = self;
        let same = Arc::ptr_eq(&pair.query, &region.pair.query)
            && Arc::ptr_eq(&pair.target, &region.pair.target)
            && Arc::ptr_eq(&pair.scoring, &region.pair.scoring);
        let here = rows.first == region.rows.first && columns.first == region.columns.first;
        let within = region.from.i <= rows.last && region.from.j <= columns.last;
        let suits = || {
            region.strip.is_none_or(|strip| strip == grid.strip)
                && region.chunk.is_none_or(|chunk| chunk == grid.chunk)
                && kernels.can_trace(region.from.i - rows.first, grid.strip, grid.chunk, region.method)
        };
        let begins =
            |longer: &Border, other: &Border| longer.h.starts_with(&other.h) && longer.gap.starts_with(&other.gap);
        let as_then =
            || borders.as_ref().is_none_or(|(top, left)| begins(top, region.top) && begins(left, region.left));
        same && here && within && suits() && as_then()
    }
}

/// Returns the borders of chunks that a panel has left on the device; `None` if it did not keep all
/// of them.
fn grid(
    plan: &PanelPlan,
    rows: u32,
    chunk: u32,
    vertical: &wgpu::Buffer,
    horizontal: &wgpu::Buffer,
) -> Option<FineGrid> {
    let p = plan.params;
    (p.keep_strips == 1).then(|| FineGrid {
        vertical: vertical.clone(),
        horizontal: horizontal.clone(),
        rows,
        columns: p.columns,
        rows_stride: p.whole_entries,
        columns_stride: p.columns_stride,
        strip: plan.strip,
        lead: p.padding,
        chunk,
    })
}

impl GpuLong {
    /// Returns the number of columns of a strip and the number of rows of a chunk.
    fn chunks(&self, strip: Option<u32>, chunk: Option<u32>) -> (u32, u32) {
        let lanes = self.lanes();
        let suits = if self.software { NARROW_CELLS } else { REGION_CELLS };
        let cells = strip.map_or(self.shape.cells.unwrap_or(suits), |strip| strip.div_ceil(lanes)).next_multiple_of(4);
        let usual = if self.loop_budget.is_some() { SMALL_CHUNK } else { CHUNK };
        let chunk = chunk.unwrap_or(usual).clamp(BLOCK_ROWS, 1 << 16).next_multiple_of(BLOCK_ROWS);
        (lanes * cells.clamp(4, (MAX_STRIP / lanes).max(4) & !3), chunk)
    }

    /// Returns whether the memory suffices to trace through a region.
    pub(super) fn can_trace_by(
        &self,
        rows: u32,
        columns: u32,
        method: Method,
        strip: Option<u32>,
        chunk: Option<u32>,
    ) -> bool {
        self.traced_bytes(rows, columns, method, strip, chunk).is_some()
    }

    /// Returns the number of bytes of the borders of a region's chunks; `None` if the memory does
    /// not suffice to trace through the region.
    pub(super) fn fine_bytes(&self, region: &TraceRegion) -> Option<u64> {
        let (rows, columns) = (region.from.i - region.rows.first, region.from.j - region.columns.first);
        self.traced_bytes(rows, columns, region.method, region.strip, region.chunk)
    }

    /// Returns the number of bytes of the borders of chunks for these rows and columns; `None` if
    /// the memory does not suffice.
    fn traced_bytes(
        &self,
        rows: u32,
        columns: u32,
        method: Method,
        strip: Option<u32>,
        chunk: Option<u32>,
    ) -> Option<u64> {
        let (strip, chunk) = self.chunks(strip, chunk);
        let (rows, columns) = (rows.max(1).saturating_add(BLOCK_ROWS) / BLOCK_ROWS * BLOCK_ROWS, columns.max(1));
        let vertical = (u64::from(columns.div_ceil(strip)) + 1) * (u64::from(rows) + 4) * 8;
        let horizontal = (u64::from(rows.div_ceil(chunk)) + 1) * (u64::from(columns) + 1) * 8;
        let fits = vertical.max(horizontal) <= self.binding && vertical + horizontal <= self.memory / 2;
        (fits && self.kernels.can_trace(rows, strip, chunk, method)).then_some(vertical + horizontal)
    }

    /// Returns the number of rows of a chunk if a sweep should leave the borders of its chunks on
    /// the device. Only the sweep of a whole pair does, and only if the memory suffices.
    pub(super) fn retained_chunk(&self, sweep: &PanelSweep) -> Option<u32> {
        let (m, n) = (sweep.pair.query.len() as u32, sweep.pair.target.len() as u32);
        let is_whole = sweep.is_kept && sweep.rows == BorderSpan::new(0, m) && sweep.columns == BorderSpan::new(0, n);
        // Each mark must be the border of a chunk.
        let (_, usual) = self.chunks(None, None);
        let divides = |chunk: &u32| sweep.mark_every.is_multiple_of(*chunk);
        let chunk = (1..=2 * usual / 64).rev().map(|count| count * 64).find(divides)?;
        (is_whole && chunk >= MIN_CHUNK.min(usual) && self.can_trace_by(m, n, Method::Chunked2, None, Some(chunk)))
            .then_some(chunk)
    }

    /// Records the borders that a sweep has left.
    pub(super) fn retain(&mut self, sweep: &PanelSweep, plan: &PanelPlan, chunk: u32) {
        // If memory was short, the borders of chunks were not kept.
        let is_kept = plan.params.mark_blocks * BLOCK_ROWS == chunk;
        if let Some(grid) = self.grid(plan, sweep.rows.length(), chunk).filter(|_| is_kept) {
            let (pair, rows, columns) = (sweep.pair.clone(), sweep.rows, sweep.columns);
            self.retained = Some(Retained { pair, borders: None, rows, columns, grid });
        }
    }

    /// Returns the borders of chunks that the last panel has left; `None` if it did not keep all of
    /// them.
    fn grid(&self, plan: &PanelPlan, rows: u32, chunk: u32) -> Option<FineGrid> {
        grid(plan, rows, chunk, self.buffers.vertical.get()?, self.buffers.horizontal.get()?)
    }

    /// Traces through a region. `saves_memory` states that memory was too short in an earlier attempt.
    pub(super) fn trace_region(&mut self, region: &TraceRegion, saves_memory: bool) -> Result<TracebackResult> {
        if region.from.i == region.rows.first || region.from.j == region.columns.first {
            // The traceback starts on a border, so it can only end there.
            let at = match region.from.i == region.rows.first {
                true => region.top.h[(region.from.j - region.columns.first) as usize],
                false => region.left.h[(region.from.i - region.rows.first) as usize],
            };
            let ended = region.pair.is_local() && region.from.state == PathState::H && at == 0;
            return Ok(TracebackResult { to: Some(region.from), ended, ..TracebackResult::default() });
        }
        let grid = match self.known(region) {
            Some(grid) => grid,
            None => {
                if saves_memory {
                    (self.buffers, self.retained) = (PanelBuffers::default(), None);
                }
                self.compute_chunk_borders(region)?
            }
        };
        let ResidentPair { query, target } =
            ResidentPair::upload(&mut self.residents, &self.gpu, region.pair, region.rows.first)?;
        let input = TraceInput {
            grid: &grid,
            query: &query.codes,
            query_begin: region.rows.first - query.shift,
            target: &target.0,
            target_begin: region.columns.first,
            scoring: &region.pair.scoring,
            origin: (region.rows.first, region.columns.first),
            from: region.from,
            method: region.method,
            interrupt: region.interrupt,
        };
        self.kernels.trace(&input)
    }

    /// Returns the borders of a region's chunks if they are known.
    fn known(&self, region: &TraceRegion) -> Option<FineGrid> {
        let there = self.retained.iter().chain(self.ahead.regions());
        there.into_iter().find(|kept| kept.holds(region, &self.kernels)).map(|kept| kept.grid.clone())
    }

    /// Returns the sweep that computes the borders of a region's chunks, limited to the part that
    /// the traceback needs.
    pub(super) fn fine_sweep(&self, region: &TraceRegion) -> FineSweep {
        let (rows, columns) = (region.from.i - region.rows.first, region.from.j - region.columns.first);
        let (strip, chunk) = self.chunks(region.strip, region.chunk);
        // Rows below the start of the traceback are computed from arbitrary symbols, and their
        // values are never read.
        let whole = rows.next_multiple_of(BLOCK_ROWS).max(BLOCK_ROWS);
        // Columns are rounded up as well. If the panel ends with the last cell of a lane, all
        // regions share a pipeline.
        let columns = columns.next_multiple_of(strip / self.lanes()).max(1);
        let entries = columns as usize + 1;
        let mut top = Border { h: region.top.h.clone(), gap: region.top.gap.clone() };
        top.h.resize(entries, 0);
        top.gap.resize(entries, 0);
        FineSweep {
            rows: BorderSpan::new(region.rows.first, region.rows.first + whole),
            columns: BorderSpan::new(region.columns.first, region.columns.first + columns),
            top,
            keep: RecordPolicy { columns: Some(1), strip: Some(strip), mark_every: chunk, quiet: true },
        }
    }

    /// Starts to compile the programs of a traceback through regions of this pair, whose sequences
    /// are on the device for a sweep from row `first`.
    pub(super) fn compile_for_traceback(&mut self, pair: &LongPair, first: u32) -> Result<[CompilingAhead; 2]> {
        let ResidentPair { query, .. } = ResidentPair::upload(&mut self.residents, &self.gpu, pair, first)?;
        let (from, best) = (PathPoint { i: 1, j: 1, state: PathState::H }, BestSoFar::default());
        let (rows, columns, border) = (BorderSpan::new(0, 1), BorderSpan::new(0, 1), Border::default());
        let (method, interrupt) = (Method::default(), AtomicBool::new(false));
        let region = TraceRegion {
            pair,
            rows,
            columns,
            top: &border,
            left: &border,
            from,
            method,
            strip: None,
            chunk: None,
            interrupt: &interrupt,
        };
        let (fine, schedule) = (self.fine_sweep(&region), self.schedule()?);
        let variant = self.variant(&fine.sweep(&region, &best), query.kinds, fine.keep, schedule);
        Ok([
            self.pipelines.compile_ahead(&self.gpu, &[variant]),
            self.kernels.compile_ahead(variant.strip(), method, &pair.scoring),
        ])
    }

    /// Computes the borders of a region's chunks.
    fn compute_chunk_borders(&mut self, region: &TraceRegion) -> Result<FineGrid> {
        let fine = self.fine_sweep(region);
        let best = BestSoFar::default();
        let sweep = fine.sweep(region, &best);
        let (plan, ..) =
            self.run_once(&sweep, fine.keep, &fine.left_border(region), &NullSink, &mut DeliveredRange::default())?;
        let grid = self.grid(&plan, sweep.rows.length(), fine.keep.mark_every);
        grid.ok_or_else(|| self.gpu.error("a sweep left no borders of chunks"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::adapter::enumerate;
    use crate::score::Scoring;
    use crate::seq::Code;

    #[test]
    fn the_programs_of_a_traceback_are_compiled_ahead() {
        let adapter = enumerate().into_iter().next().expect("no adapter runs compute shaders here");
        let mut engine = GpuLong::open(&adapter).unwrap();
        let codes: Arc<[Code]> = (0..600u32).map(|k| 1 << (k.wrapping_mul(2_654_435_761) >> 13 & 3)).collect();
        let scoring = Arc::new(Scoring { mode: crate::score::Mode::Local, ..Scoring::dna() });
        let pair = LongPair { query: Arc::clone(&codes), target: codes, scoring };
        drop(engine.compile_for_traceback(&pair, 0).unwrap());
        let compiled = |engine: &GpuLong| [engine.pipelines.count(), engine.kernels.compiled()];
        let ahead = compiled(&engine);
        let (top, left) = (pair.top_border(0..600), pair.top_border(0..600));
        let (from, span) = (PathPoint { i: 600, j: 600, state: PathState::H }, BorderSpan::new(0, 600));
        let (method, interrupt) = (Method::default(), AtomicBool::new(false));
        let (rows, columns, strip, chunk) = (span, span, None, None);
        let region = TraceRegion {
            pair: &pair,
            rows,
            columns,
            top: &top,
            left: &left,
            from,
            method,
            strip,
            chunk,
            interrupt: &interrupt,
        };
        let traced = engine.trace_region(&region, false).unwrap();
        assert_eq!(traced.cigar.query_span(), 600);
        assert_eq!((compiled(&engine), ahead[1]), (ahead, 3));
    }
}
