//! Tracebacks through a region whose chunks have borders on the device (Li, Ranka and Sahni,
//! section V, phases 2 and 3).
//!
//! A round consists of one submission. It has three stages, which compute start states of a window
//! of blocks around the expected path, follow the path from start state to start state (the chase),
//! and compute the columns of the parts found this way. If the path leaves the window, or if there
//! is not enough memory for the directions of its parts, another round continues from there.

mod buffers;
mod decode;
pub mod window;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::fine::FineGrid;
use crate::alignment::Cigar;
use crate::error::{Error, Result};
use crate::gpu::adapter::FoundAdapter;
use crate::gpu::device::Gpu;
use crate::gpu::memory::memory_budget;
use crate::gpu::pipeline::{Compiled, CompilingAhead, Pipelines};
use crate::long::kernels::striped_trace::{
    MAX_CODES, MAX_STRIP, MAX_VALUE, PATHS_HEADER_WORDS, PathPart, START_BITS, Stop, TracebackParams, TracebackStage,
    TracebackVariant, column_bits, directions_words, iterations, start_words, state_code, workgroup,
};
use crate::long::{Method, PathPoint, TracebackResult};
use crate::score::{Mode, Scoring};
use buffers::{TraceBuffers, TraceRound};
use decode::decode;
use window::{BlockWindow, Division, WindowReach};

/// Sizes of windows and buffers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceShape {
    /// Maximum number of blocks of a window.
    pub blocks: usize,
    /// Maximum number of cells of a window, which limits the duration of a dispatch.
    pub cells: u64,
    /// Number of chunks above and below the expected path in the first window.
    pub margin_chunks: u32,
    /// Maximum number of bytes of directions.
    pub directions_bytes: u64,
    /// Maximum number of bytes of start states.
    pub starts_bytes: u64,
    /// Maximum number of rows of a block that consists of several chunks.
    pub block_rows: u32,
}

/// A region to trace a path through.
#[derive(Debug, Clone, Copy)]
pub struct TraceInput<'a> {
    /// Borders of its chunks.
    pub grid: &'a FineGrid,
    /// Codes of the query, four in a u32, the first one in the lowest bits.
    pub query: &'a wgpu::Buffer,
    /// Index in `query` of the symbol of the region's first row.
    pub query_begin: u32,
    /// Codes of the target.
    pub target: &'a wgpu::Buffer,
    /// Index in `target` of the symbol of the region's first column.
    pub target_begin: u32,
    /// The scoring.
    pub scoring: &'a Scoring,
    /// Row and column of the pair that are row 0 and column 0 of the region.
    pub origin: (u32, u32),
    /// The point where the traceback enters, in rows and columns of the pair.
    pub from: PathPoint,
    /// The method.
    pub method: Method,
    /// Set to end early with [`Error::Interrupted`].
    pub interrupt: &'a AtomicBool,
}

/// The kernels of the traceback and their memory.
pub struct TraceKernels {
    gpu: Gpu,
    pipelines: Pipelines<TracebackVariant>,
    loop_budget: Option<u64>,
    shape: TraceShape,
    buffers: TraceBuffers,
}

impl TraceKernels {
    /// Creates the kernels for an opened adapter.
    pub fn new(gpu: &Gpu, adapter: &FoundAdapter) -> Self {
        let share = (memory_budget(adapter, None) / 8).min(gpu.binding_bytes());
        TraceKernels {
            pipelines: Pipelines::default(),
            loop_budget: adapter.description.loop_budget(),
            shape: TraceShape {
                // A large card runs this number of blocks at once.
                blocks: if adapter.is_software() { 64 } else { 4096 },
                cells: if adapter.is_software() { 20_000_000 } else { 5_000_000_000 },
                margin_chunks: 1,
                directions_bytes: share.min(512 << 20),
                starts_bytes: share.min(1 << 30),
                block_rows: 1 << 16,
            },
            buffers: TraceBuffers::new(gpu),
            gpu: gpu.clone(),
        }
    }

    /// Returns kernels for another engine on the same device, with the same pipelines.
    pub(super) fn shared(&self) -> Self {
        let (pipelines, gpu) = (self.pipelines.shared(), self.gpu.clone());
        TraceKernels { pipelines, buffers: TraceBuffers::new(&gpu), gpu, ..*self }
    }

    /// Compiles shaders with wgpu's bounds and loop checks, which make them slower. For tests.
    pub fn with_runtime_checks(mut self) -> Self {
        self.pipelines = self.pipelines.with_runtime_checks();
        self
    }

    /// Sets the sizes.
    pub fn with_shape(mut self, shape: TraceShape) -> Self {
        self.shape = shape;
        self
    }

    /// Returns the sizes.
    pub fn shape(&self) -> TraceShape {
        self.shape
    }

    /// Limits the total number of bytes of start states and directions.
    pub fn with_memory(mut self, bytes: u64) -> Self {
        self.shape.directions_bytes = self.shape.directions_bytes.min(bytes / 2);
        self.shape.starts_bytes = self.shape.starts_bytes.min(bytes / 2);
        self
    }

    /// Starts to compile the programs for strips of this width.
    pub(super) fn compile_ahead(&mut self, strip: u32, method: Method, scoring: &Scoring) -> CompilingAhead {
        let stages = trace_variants(strip, method, scoring);
        self.pipelines.compile_ahead(&self.gpu, &stages)
    }

    /// Returns the number of compiled programs.
    #[cfg(test)]
    pub(super) fn compiled(&self) -> usize {
        self.pipelines.count()
    }

    /// Frees the memory of tracebacks.
    pub fn release(&mut self) {
        self.buffers.release();
    }

    /// Returns whether a region of this number of rows can be traced, with these strips and chunks.
    pub fn can_trace(&self, rows: u32, strip: u32, chunk: u32, method: Method) -> bool {
        // Both the tallest block that may be needed and its rectangle of directions must fit.
        let block = if method == Method::Striped { rows } else { chunk.min(rows) };
        strip > 0
            && strip <= MAX_STRIP
            && chunk > 0
            && u64::from(block) < 1 << (START_BITS - column_bits(strip))
            && 4 * directions_words(block, strip) <= self.shape.directions_bytes
            && 4 * start_words(block, strip) <= self.shape.starts_bytes
            && self.loop_budget.is_none_or(|budget| iterations(block, strip) <= budget)
    }

    /// Returns the reason why a traceback is refused; `None` if it is not.
    fn refusal(&self, input: &TraceInput) -> Option<&'static str> {
        let (grid, scoring) = (input.grid, input.scoring);
        let at = (input.from.i.wrapping_sub(input.origin.0), input.from.j.wrapping_sub(input.origin.1));
        if at.0 > grid.rows
            || at.1 > grid.columns
            || grid.rows >= grid.rows_stride
            || grid.columns >= grid.columns_stride
        {
            return Some("the traceback does not enter the region");
        }
        if !self.can_trace(at.0.max(1), grid.strip, grid.chunk, input.method) {
            return Some("strips or chunks too large to trace a path through");
        }
        if scoring.substitution.size() as u32 > MAX_CODES {
            return Some("an alphabet too large to trace long pairs");
        }
        let substitution = &scoring.substitution;
        let step = i64::from(scoring.gaps.first)
            .max(i64::from(substitution.max_score()))
            .max(-i64::from(substitution.min_score()));
        let rows = if input.method == Method::Striped { at.0 } else { grid.chunk.max(self.shape.block_rows) };
        (step * (i64::from(rows.min(grid.rows)) + i64::from(grid.strip)) >= MAX_VALUE)
            .then_some("scores too large to trace a path")
    }

    /// Traces a path back.
    ///
    /// # Errors
    /// [`Error::Unsuited`] if sizes or scores exceed the kernels' limits; [`Error::Device`] if the
    /// device fails or borders contradict each other; [`Error::Interrupted`].
    pub fn trace(&mut self, input: &TraceInput) -> Result<TracebackResult> {
        if let Some(reason) = self.refusal(input) {
            return Err(self.gpu.refusal(reason));
        }
        self.buffers.load_table(&self.gpu, &input.scoring.substitution)?;
        let (grid, from) = (input.grid, input.from);
        let mut at = PathPoint { i: from.i - input.origin.0, j: from.j - input.origin.1, ..from };
        let mut reach = self.first_window_reach(input);
        let mut window: Option<BlockWindow> = None;
        let (mut backward, mut bytes, mut rounds) = (Cigar::new(), 0, 0);
        let ended = loop {
            if input.interrupt.load(Ordering::Relaxed) {
                return Err(Error::Interrupted);
            }
            let is_new = window.is_none();
            let trace_window = window.get_or_insert_with(|| {
                let division = Division { strip: grid.strip, chunk: grid.chunk, lead: grid.lead };
                BlockWindow::new(input.method, division, at.i, at.j, &reach)
            });
            let words = self.run_submission(input, trace_window, at, is_new)?;
            let before = at;
            let round =
                decode(&words, trace_window.parts, at, &mut backward).map_err(|message| self.gpu.error(message))?;
            (at, rounds) = (round.at, rounds + 1);
            let kept = 4 * (trace_window.start_words(grid.strip) + u64::from(round.directions_words));
            bytes = bytes.max(kept);
            tracing::trace!(?at, ?round.stop, round.parts, blocks = trace_window.blocks.len(), reach.margin, "round of a trace");
            match round.stop {
                Stop::Border => break false,
                Stop::Begun => break true,
                Stop::LeftWindow | Stop::Full if at == before => {
                    return Err(self.gpu.error("the path through a region ends nowhere"));
                }
                Stop::Full => {}
                Stop::LeftWindow => {
                    reach.adapt_extent(trace_window, before, at, grid.chunk, self.shape.blocks);
                    window = None;
                }
            }
        };
        tracing::debug!(rounds, bytes, "traced");
        backward.reverse();
        let to = PathPoint { i: at.i + input.origin.0, j: at.j + input.origin.1, ..at };
        Ok(TracebackResult { cigar: backward, to: Some(to), ended, bytes: bytes + grid.bytes() })
    }

    /// Returns the extent of the first window.
    fn first_window_reach(&self, input: &TraceInput) -> WindowReach {
        let (strip, chunk) = (input.grid.strip, input.grid.chunk);
        let bits = START_BITS - column_bits(strip);
        let mut rows = self.shape.block_rows.min((1 << bits) - 1);
        if let Some(budget) = self.loop_budget {
            // To compute directions, the kernel starts again at every chunk of a block.
            let lanes = strip.div_ceil(crate::long::kernels::striped_trace::CELLS);
            while rows > chunk && iterations(rows + (rows / chunk) * lanes, strip) > budget {
                rows /= 2;
            }
        }
        let words = self.shape.starts_bytes / 4;
        rows = rows.min((words / 2).saturating_sub(strip.into()).try_into().unwrap_or(u32::MAX)).max(chunk);
        WindowReach {
            margin: self.shape.margin_chunks.saturating_mul(chunk),
            slope: 1.0,
            blocks: self.shape.blocks,
            start_words: words,
            cells: self.shape.cells,
            block_rows: rows,
        }
    }

    /// Runs one submission, and returns its results. Computes start states only for a new window.
    fn run_submission(
        &mut self,
        input: &TraceInput,
        window: &BlockWindow,
        at: PathPoint,
        is_new: bool,
    ) -> Result<Vec<u32>> {
        let grid = input.grid;
        let stored_borders = input.method == Method::Chunked1;
        let tallest = if stored_borders { grid.chunk } else { window.block_rows };
        let a_part = directions_words(tallest, grid.strip);
        let directions = (a_part * u64::from(window.parts)).min(self.shape.directions_bytes / 4).max(a_part);
        let params = TracebackParams {
            query_begin_symbols: input.query_begin,
            target_begin_symbols: input.target_begin,
            rows: window.rows,
            columns: window.columns,
            rows_stride: grid.rows_stride,
            columns_stride: grid.columns_stride,
            strip: grid.strip,
            chunk: grid.chunk,
            first: input.scoring.gaps.first,
            next: input.scoring.gaps.next,
            block_rows: window.block_rows,
            strip_begin: window.strip_begin,
            strip_count: window.spans.len() as u32,
            block_count: window.blocks.len() as u32,
            at_row: at.i,
            at_column: at.j,
            at_state: state_code(at.state),
            path_capacity: window.parts,
            directions_capacity_words: directions as u32,
            lead: grid.lead,
        };
        let stages = trace_variants(grid.strip, input.method, input.scoring);
        let programs: Vec<Compiled> =
            stages.into_iter().map(|variant| self.pipelines.get(&self.gpu, variant)).collect::<Result<_>>()?;
        let paths_words = PATHS_HEADER_WORDS as u64 + u64::from(window.parts) * (size_of::<PathPart>() as u64 / 4);
        let sizes = buffers::TraceBufferSizes {
            starts: window.start_words(grid.strip),
            paths: paths_words,
            directions,
            runs: window.path_columns,
        };
        let limit = Duration::from_secs(60) + Duration::from_secs_f64(window.cells as f64 / 1e7);
        let workgroups = [window.blocks.len() as u32 * u32::from(is_new), 1, window.parts];
        let stages = programs.into_iter().zip(workgroups).collect();
        self.buffers.run(&self.gpu, input, &TraceRound { params: &params, window, is_new, sizes, stages, limit })
    }
}

/// Returns the programs of the three stages of a traceback, in order.
fn trace_variants(strip: u32, method: Method, scoring: &Scoring) -> [TracebackVariant; 3] {
    let stored_borders = method == Method::Chunked1;
    let of_stage = |stage| TracebackVariant {
        stage,
        workgroup: if stage == TracebackStage::Chase { 1 } else { workgroup(strip) },
        codes: scoring.substitution.size() as u32,
        column_bits: column_bits(strip),
        local: scoring.mode == Mode::Local,
        stored_borders: stored_borders && stage != TracebackStage::Starts,
    };
    [TracebackStage::Starts, TracebackStage::Chase, TracebackStage::Trace].map(of_stage)
}
