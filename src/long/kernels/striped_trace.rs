//! Constants and layouts of the kernels that trace a path back through a region of a very long
//! pair: `sw_striped_starts` and `sw_striped_chase` (phase 2), and `sw_striped_trace` (phase 3; Li,
//! Ranka and Sahni, section V).

pub use crate::gpu::kernels::TracebackStage;
use crate::gpu::kernels::{Kernel, KernelKind, KernelProgram, of_kind};
use crate::gpu::source::{Constants, Supplied};
use crate::long::{PathPoint, PathState};
use crate::score::Substitution;

/// Number of columns that an invocation keeps in registers.
pub const CELLS: u32 = 8;
/// Number of codes of the largest supported alphabet. Its table is in workgroup memory.
pub const MAX_CODES: u32 = 40;
/// Number of columns of the widest strip.
pub const MAX_STRIP: u32 = 1024;
/// Total number of bits for the row and the column in a start state.
pub const START_BITS: u32 = 30;
/// Upper bound of the product of the greatest cost or score and the sum of a rectangle's rows and
/// columns.
pub const MAX_VALUE: i64 = 1 << 29;

/// Constants of a pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TracebackVariant {
    /// The kernel.
    pub stage: TracebackStage,
    /// Invocations of a workgroup; a power of two.
    pub workgroup: u32,
    /// Codes of the alphabet.
    pub codes: u32,
    /// Number of bits for the column in a start state.
    pub column_bits: u32,
    /// Whether H is clamped at 0.
    pub local: bool,
    /// Whether parts are traced from stored borders, chunk by chunk.
    pub stored_borders: bool,
}

impl KernelProgram for TracebackVariant {
    fn kernel(&self) -> &'static Kernel {
        of_kind(KernelKind::LongTraceback(self.stage))
    }

    fn workgroup_memory(&self) -> u32 {
        self.workgroup_bytes()
    }

    fn constants(&self) -> Constants {
        Constants::default()
            .number("WG", self.workgroup)
            .number("CODES", self.codes)
            .number("COLUMN_BITS", self.column_bits)
            .flag("LOCAL", self.local)
            .flag("STORED_BORDERS", self.stored_borders)
    }

    fn supplied(&self) -> Supplied {
        let border = if self.stored_borders { "striped_border_stored" } else { "striped_border_anchored" };
        vec![("striped_border", format!("#import {border}\n"))]
    }
}

impl TracebackVariant {
    /// Returns the bytes of workgroup memory.
    pub const fn workgroup_bytes(&self) -> u32 {
        let ring = 2 * self.workgroup;
        match self.stage {
            TracebackStage::Starts => 4 * self.codes * self.codes + ring * (8 + 4 + 16) + 16,
            TracebackStage::Chase => 0,
            TracebackStage::Trace => 4 * self.codes * self.codes + ring * (8 + 4 + 8) + 36 + 16,
        }
    }
}

/// Returns the invocations of a workgroup for strips of this number of columns.
pub fn workgroup(strip: u32) -> u32 {
    strip.div_ceil(CELLS).next_power_of_two()
}

/// Returns the number of bits for the columns 0 to `strip`.
pub fn column_bits(strip: u32) -> u32 {
    u32::BITS - strip.leading_zeros()
}

/// Returns the number of u32 values for the directions of a rectangle: one for each lane and step,
/// and one spare step.
pub fn directions_words(rows: u32, columns: u32) -> u64 {
    let lanes = u64::from(columns.div_ceil(CELLS));
    (u64::from(rows) + lanes) * lanes
}

/// Returns the u32 values of the start states of a block.
pub fn start_words(rows: u32, strip: u32) -> u64 {
    2 * (u64::from(rows) + u64::from(strip))
}

/// Returns the maximum number of loop iterations of an invocation for a rectangle or block with
/// this number of rows. It covers the steps with their cells, and rows plus columns for the
/// traceback.
pub fn iterations(rows: u32, strip: u32) -> u64 {
    let steps = u64::from(rows) + u64::from(strip.div_ceil(CELLS));
    // The first term covers steps with their cells, and the selection of the last cell in a strip
    // whose width is not a multiple of the lanes. The others cover batches and the table.
    steps * (2 + 2 * u64::from(CELLS)) + u64::from(rows) + u64::from(strip) + u64::from(MAX_CODES * MAX_CODES) + 64
}

/// Returns the table of scores and matches in the kernels' format.
pub fn table(substitution: &Substitution) -> Vec<i32> {
    let size = substitution.size() as u8;
    let pairs = (0..size).flat_map(|a| (0..size).map(move |b| (a, b)));
    pairs.map(|(a, b)| 2 * substitution.score(a, b) + i32::from(substitution.is_match(a, b))).collect()
}

/// `TracebackParams` of the shaders.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct TracebackParams {
    /// Index of the symbol of the region's first row in the query's buffer.
    pub query_begin_symbols: u32,
    /// Index of the symbol of the region's first column in the target's buffer.
    pub target_begin_symbols: u32,
    /// Last row of the window.
    pub rows: u32,
    /// Last column of the window.
    pub columns: u32,
    /// Entries of vertical borders for each column.
    pub rows_stride: u32,
    /// Entries of horizontal borders for each row.
    pub columns_stride: u32,
    /// Columns of a strip.
    pub strip: u32,
    /// Rows of a chunk.
    pub chunk: u32,
    /// Cost of the first symbol of a gap.
    pub first: i32,
    /// Cost of each further symbol of a gap.
    pub next: i32,
    /// Rows of the tallest block.
    pub block_rows: u32,
    /// First strip of the window.
    pub strip_begin: u32,
    /// Strips of the window.
    pub strip_count: u32,
    /// Blocks of the window.
    pub block_count: u32,
    /// Row of the traceback.
    pub at_row: u32,
    /// Column of the traceback.
    pub at_column: u32,
    /// State of the traceback, as [`state_code`] encodes it.
    pub at_state: u32,
    /// Maximum number of parts.
    pub path_capacity: u32,
    /// Maximum number of u32 values of directions.
    pub directions_capacity_words: u32,
    /// Number of columns by which the first strip is narrower.
    pub lead: u32,
}

/// Number of u32 values before the parts in `Paths`.
pub const PATHS_HEADER_WORDS: usize = 8;

/// `PathPart` of the shaders: a part of the path.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct PathPart {
    /// Row of the start.
    pub start_row: u32,
    /// Column of the start.
    pub start_column: u32,
    /// State of the start.
    pub start_state: u32,
    /// Row of the end.
    pub end_row: u32,
    /// Column of the end.
    pub end_column: u32,
    /// State of the end.
    pub end_state: u32,
    /// Index of the first u32 of its directions.
    pub directions_begin: u32,
    /// Index of the first u32 of its runs.
    pub runs_begin: u32,
    /// Number of its runs.
    pub run_count: u32,
}

/// Reason why a chase stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// The chase reached a block without start states.
    LeftWindow,
    /// The chase reached the region's first row or column.
    Border,
    /// The chase reached the start of a local alignment.
    Begun,
    /// There was not enough memory for the directions of another part.
    Full,
}

impl Stop {
    /// Decodes the shader's number. Returns `None` for an invalid number.
    pub fn from_code(code: u32) -> Option<Self> {
        [Stop::LeftWindow, Stop::Border, Stop::Begun, Stop::Full].get(code as usize).copied()
    }
}

/// Encodes a state for the shaders.
pub fn state_code(state: PathState) -> u32 {
    match state {
        PathState::H => 0,
        PathState::I => 1,
        PathState::D => 2,
    }
}

/// Decodes a point from a shader, whose row and column count from the region's first.
pub fn point(i: u32, j: u32, state: u32) -> Option<PathPoint> {
    let state = *[PathState::H, PathState::I, PathState::D].get(state as usize)?;
    Some(PathPoint { i, j, state })
}
