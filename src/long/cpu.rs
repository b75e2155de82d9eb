//! Long pairs on the CPU: tiles of a panel in vectors, as a wavefront over threads; paths from kept edges of chunks.
//!
//! Module `sweep` is the paper's StripedScore with tiles for strips, `path` its three ways to the alignment, `start` the
//! start states that two of them carry.

mod path;
pub mod piece;
mod start;
mod sweep;
pub mod tile;

use super::{LongEngine, Method, Region, Sink, Source, Sweep, Swept, Traced};
use crate::error::Result;
use crate::simd::InstructionSet;

/// Rows and columns of a tile: edges are small beside its cells, and a row's values and profile stay in the cache.
const TILE: TileSize = TileSize { rows: 1 << 10, columns: 1 << 12 };
/// Bytes that a trace may take if nobody says otherwise.
const MEMORY: u64 = 1 << 30;

/// The greatest numbers of rows and of columns of a tile.
#[derive(Debug, Clone, Copy)]
struct TileSize {
    rows: u32,
    columns: u32,
}

/// The CPU as an engine for long pairs.
#[derive(Debug, Clone)]
pub struct CpuLong {
    threads: usize,
    level: InstructionSet,
    tile: TileSize,
    /// Bytes.
    memory: u64,
}

impl CpuLong {
    /// An engine of so many threads; 0 for as many as there are processors.
    pub fn new(threads: usize) -> Self {
        let processors = || std::thread::available_parallelism().map_or(1, usize::from);
        let threads = if threads == 0 { processors() } else { threads };
        CpuLong { threads, level: InstructionSet::best(), tile: TILE, memory: MEMORY }
    }

    /// A trace takes no more than so many bytes, if its region is larger than 1,024 x 1,024.
    pub fn with_memory(self, bytes: u64) -> Self {
        CpuLong { memory: bytes, ..self }
    }

    /// Tiles of at most so many rows and columns. Changes no result.
    ///
    /// # Panics
    /// If one is 0.
    pub fn with_tile(self, rows: u32, columns: u32) -> Self {
        assert!(rows > 0 && columns > 0, "a tile has rows and columns");
        CpuLong { tile: TileSize { rows, columns }, ..self }
    }

    /// Computes with these instructions. Changes no result.
    pub fn with_level(self, level: InstructionSet) -> Self {
        CpuLong { level, ..self }
    }
}

impl LongEngine for CpuLong {
    fn label(&self) -> &str {
        "CPU"
    }

    fn speed(&self) -> f64 {
        // Measured of one thread, local alignment with affine gaps.
        let thread = match self.level.bytes() {
            _ if self.level == InstructionSet::PORTABLE => 0.8e9,
            ..32 => 0.8e9,
            32..64 => 2.6e9,
            _ => 5.5e9,
        };
        thread * self.threads as f64
    }

    fn panel_columns(&self, _: u32, columns: u32, _alone: bool) -> u32 {
        // Every thread has a tile of its own to work on in the wave, and two more so that none waits. Beyond that, a
        // panel's right edge comes the sooner the narrower it is.
        let wave = self.tile.columns.saturating_mul(2 * self.threads as u32 + 2);
        columns.min(wave.saturating_mul(8))
    }

    fn is_host(&self) -> bool {
        true
    }

    fn sweep(&mut self, sweep: &Sweep, left: &dyn Source, sink: &dyn Sink) -> Result<Swept> {
        sweep::run(self, sweep, left, sink)
    }

    fn can_trace(&self, rows: u32, columns: u32, method: Method) -> bool {
        let small = rows <= 1024 && columns <= 1024;
        small || path::bytes_for(self, rows.into(), columns.into(), method) <= self.memory
    }

    fn trace(&mut self, region: &Region) -> Result<Traced> {
        path::run(self, region)
    }
}
