//! Host half of the kernels that trace a path back through a region of a very long pair: `sw_striped_starts` and
//! `sw_striped_chase` (phase 2) and `sw_striped_trace` (phase 3; Li, Ranka and Sahni, section V).

pub use crate::gpu::kernels::TracebackStage;
use crate::gpu::kernels::{Kernel, KernelKind, KernelProgram, of_kind};
use crate::gpu::source::{Constants, Supplied};
use crate::long::{Point, State};
use crate::score::Substitution;

/// Columns that an invocation keeps in registers.
pub const CELLS: u32 = 8;
/// Codes of the largest alphabet that is taken: its table is in workgroup memory.
pub const MAX_CODES: u32 = 40;
/// Columns of the widest strip.
pub const MAX_STRIP: u32 = 1024;
/// Bits of a row and a column in a start state.
pub const START_BITS: u32 = 30;
/// What a greatest cost or score, times rows and columns of a rectangle, stays below.
pub const MAX_VALUE: i64 = 1 << 29;

/// What a pipeline is made for: shader constants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Variant {
    /// The kernel.
    pub stage: TracebackStage,
    /// Invocations a workgroup; a power of two.
    pub workgroup: u32,
    /// Codes of the alphabet.
    pub codes: u32,
    /// Bits of a column in a start state.
    pub column_bits: u32,
    /// Whether H is cut off at 0.
    pub local: bool,
    /// Whether parts are traced from edges, chunk by chunk.
    pub edges: bool,
}

impl KernelProgram for Variant {
    fn kernel(&self) -> &'static Kernel {
        of_kind(KernelKind::LongTraceback(self.stage))
    }

    fn constants(&self) -> Constants {
        Constants::default()
            .number("WG", self.workgroup)
            .number("CODES", self.codes)
            .number("COLUMN_BITS", self.column_bits)
            .flag("LOCAL", self.local)
            .flag("EDGES", self.edges)
    }

    fn supplied(&self) -> Supplied {
        let border = if self.edges { "striped_border_edges" } else { "striped_border_anchored" };
        vec![("striped_border", format!("#import {border}\n"))]
    }
}

impl Variant {
    /// Bytes of workgroup memory that a workgroup takes.
    pub const fn workgroup_bytes(&self) -> u32 {
        let ring = 2 * self.workgroup;
        match self.stage {
            TracebackStage::Starts => 4 * self.codes * self.codes + ring * (8 + 4 + 16) + 16,
            TracebackStage::Chase => 0,
            TracebackStage::Trace => 4 * self.codes * self.codes + ring * (8 + 4 + 8) + 36 + 16,
        }
    }
}

/// Invocations of a workgroup for strips of so many columns.
pub fn workgroup(strip: u32) -> u32 {
    strip.div_ceil(CELLS).next_power_of_two()
}

/// Bits that hold the columns 0 to `strip`.
pub fn column_bits(strip: u32) -> u32 {
    u32::BITS - strip.leading_zeros()
}

/// Words of directions of a rectangle: one a lane and step, with one step to spare.
pub fn directions_words(rows: u32, columns: u32) -> u64 {
    let lanes = u64::from(columns.div_ceil(CELLS));
    (u64::from(rows) + lanes) * lanes
}

/// Words of start states of a block.
pub fn start_words(rows: u32, strip: u32) -> u64 {
    2 * (u64::from(rows) + u64::from(strip))
}

/// Loop iterations of one invocation at most, for a rectangle (or block) of so many rows: of its steps and the cells of each
/// and, as the walk may take that many, of rows and columns.
pub fn iterations(rows: u32, strip: u32) -> u64 {
    let steps = u64::from(rows) + u64::from(strip.div_ceil(CELLS));
    // A step, its cells, and where a strip's width is no multiple of them the choice of its last; batches; the table.
    steps * (2 + 2 * u64::from(CELLS)) + u64::from(rows) + u64::from(strip) + u64::from(MAX_CODES * MAX_CODES) + 64
}

/// Scores and matches as the kernels read them.
pub fn table(substitution: &Substitution) -> Vec<i32> {
    let size = substitution.size() as u8;
    let pairs = (0..size).flat_map(|a| (0..size).map(move |b| (a, b)));
    pairs.map(|(a, b)| 2 * substitution.score(a, b) + i32::from(substitution.is_match(a, b))).collect()
}

/// `Params` of the shaders.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct Params {
    /// Symbol of the region's first row in the query's buffer.
    pub query_begin_symbols: u32,
    /// Symbol of the region's first column in the target's buffer.
    pub target_begin_symbols: u32,
    /// Last row that is looked at.
    pub rows: u32,
    /// Last column that is looked at.
    pub columns: u32,
    /// Entries of vertical edges a column.
    pub rows_stride: u32,
    /// Entries of horizontal edges a row.
    pub columns_stride: u32,
    /// Columns of a strip.
    pub strip: u32,
    /// Rows of a chunk.
    pub chunk: u32,
    /// Cost of a gap's first symbol.
    pub first: i32,
    /// Cost of each further one.
    pub next: i32,
    /// Rows of the tallest block.
    pub block_rows: u32,
    /// First strip of the window.
    pub strip_begin: u32,
    /// Strips of the window.
    pub strip_count: u32,
    /// Blocks of the window.
    pub block_count: u32,
    /// Where the walk is.
    pub at_row: u32,
    /// Where the walk is.
    pub at_column: u32,
    /// Where the walk is, as [`state_code`] has it.
    pub at_state: u32,
    /// Parts that there is room for.
    pub path_capacity: u32,
    /// Words of directions that there is room for.
    pub directions_capacity_words: u32,
    /// Columns that the first strip lacks.
    pub lead: u32,
}

/// Words before the parts in `Paths`.
pub const PATHS_HEADER_WORDS: usize = 8;

/// `Path` of the shaders: a part of the path.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct Path {
    /// Where it starts.
    pub start_row: u32,
    /// Where it starts.
    pub start_column: u32,
    /// Where it starts.
    pub start_state: u32,
    /// Where it ends.
    pub end_row: u32,
    /// Where it ends.
    pub end_column: u32,
    /// Where it ends.
    pub end_state: u32,
    /// First word of its directions.
    pub directions_begin: u32,
    /// First word of its runs.
    pub runs_begin: u32,
    /// Number of its runs.
    pub run_count: u32,
}

/// Why a chase stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// It came to a block without start states.
    LeftWindow,
    /// It came to the region's first row or column.
    Border,
    /// A local alignment begins there.
    Begun,
    /// There was no room for directions of one part more.
    Full,
}

impl Stop {
    /// From the shader's number; `None` if the chase went astray.
    pub fn from_code(code: u32) -> Option<Self> {
        [Stop::LeftWindow, Stop::Border, Stop::Begun, Stop::Full].get(code as usize).copied()
    }
}

/// A state as the shaders have it.
pub fn state_code(state: State) -> u32 {
    match state {
        State::H => 0,
        State::I => 1,
        State::D => 2,
    }
}

/// A point as the shaders have it, counted from a region's first row and column.
pub fn point(i: u32, j: u32, state: u32) -> Option<Point> {
    let state = *[State::H, State::I, State::D].get(state as usize)?;
    Some(Point { i, j, state })
}
