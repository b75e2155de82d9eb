//! The CPU engine for long pairs. It computes the tiles of a panel with vectors, as a wavefront
//! over threads. Tracebacks start from kept borders of chunks.
//!
//! Module `sweep` is StripedScore of paper 2 with tiles in place of strips. Module `path`
//! implements the paper's three methods of finding the alignment. Module `start` computes the start
//! states that two of them need.

mod path;
pub mod piece;
mod start;
mod sweep;
pub mod tile;

use super::{LeftSource, LongEngine, Method, PanelSweep, SweepResult, SweepSink, TraceRegion, TracebackResult};
use crate::error::Result;
use crate::simd::InstructionSet;

/// Rows and columns of a tile. Its borders are small compared with its cells, and the values and
/// profile scores of one row fit in the cache.
const TILE: TileSize = TileSize { rows: 1 << 10, columns: 1 << 12 };
/// Default number of bytes that a traceback may use.
const MEMORY: u64 = 1 << 30;

/// Maximum numbers of rows and columns of a tile.
#[derive(Debug, Clone, Copy)]
struct TileSize {
    rows: u32,
    columns: u32,
}

/// The CPU as an engine for long pairs.
#[derive(Debug, Clone)]
pub struct CpuLong {
    threads: usize,
    instruction_set: InstructionSet,
    tile: TileSize,
    /// Number of bytes that a traceback may use.
    memory: u64,
}

impl CpuLong {
    /// Creates an engine with this number of threads; 0 stands for one thread per processor.
    pub fn new(threads: usize) -> Self {
        let processors = || std::thread::available_parallelism().map_or(1, usize::from);
        let threads = if threads == 0 { processors() } else { threads };
        CpuLong { threads, instruction_set: InstructionSet::best(), tile: TILE, memory: MEMORY }
    }

    /// Limits the memory of a traceback in bytes. Regions of at most 1,024 x 1,024 cells are not
    /// limited.
    pub fn with_memory(self, bytes: u64) -> Self {
        CpuLong { memory: bytes, ..self }
    }

    /// Limits the rows and columns of a tile. This does not change results.
    ///
    /// # Panics
    /// If one is 0.
    pub fn with_tile(self, rows: u32, columns: u32) -> Self {
        assert!(rows > 0 && columns > 0, "a tile has rows and columns");
        CpuLong { tile: TileSize { rows, columns }, ..self }
    }

    /// Uses this instruction set. This does not change results.
    pub fn with_instruction_set(self, instruction_set: InstructionSet) -> Self {
        CpuLong { instruction_set, ..self }
    }
}

impl LongEngine for CpuLong {
    fn label(&self) -> &str {
        "CPU"
    }

    fn speed(&self) -> f64 {
        // Measured with one thread for a local alignment with affine gaps.
        let thread = match self.instruction_set.bytes() {
            _ if self.instruction_set == InstructionSet::PORTABLE => 0.8e9,
            ..32 => 0.8e9,
            32..64 => 2.6e9,
            _ => 5.5e9,
        };
        thread * self.threads as f64
    }

    fn panel_columns(&self, _: u32, columns: u32, _alone: bool) -> u32 {
        // Two tiles of the wavefront for each thread and two more are enough for no thread to wait.
        // In a wider panel, the right border would be available later.
        let wave = self.tile.columns.saturating_mul(2 * self.threads as u32 + 2);
        columns.min(wave.saturating_mul(8))
    }

    fn min_panel_columns(&self) -> u32 {
        // Each thread has two of the narrowest tiles.
        (2 * sweep::MIN_WIDTH).saturating_mul(self.threads as u32).clamp(1024, 4096)
    }

    fn is_host(&self) -> bool {
        true
    }

    fn engines_for_pairs(&mut self) -> Vec<Box<dyn LongEngine>> {
        let engine = CpuLong { threads: 1, memory: self.memory / self.threads as u64, ..self.clone() };
        (0..self.threads).map(|_| Box::new(engine.clone()) as Box<dyn LongEngine>).collect()
    }

    fn sweep(&mut self, sweep: &PanelSweep, left: &dyn LeftSource, sink: &dyn SweepSink) -> Result<SweepResult> {
        sweep::run(self, sweep, left, sink)
    }

    fn can_trace(&self, rows: u32, columns: u32, method: Method) -> bool {
        let small = rows <= 1024 && columns <= 1024;
        small || path::bytes_for(self, rows.into(), columns.into(), method) <= self.memory
    }

    fn trace(&mut self, region: &TraceRegion) -> Result<TracebackResult> {
        path::run(self, region)
    }
}
