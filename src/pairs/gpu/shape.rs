//! Sizes of the kernels that can store directions, and the arenas for their directions.

use crate::error::Result;
use crate::gpu::adapter::{AdapterDescription, FoundAdapter};
use crate::gpu::device::{Gpu, GrowingBuffer};
use crate::gpu::kernels::Scan;
use crate::pairs::kernels::layout::EndGapKind;
use crate::pairs::kernels::matrix::MatrixVariant;
use crate::pairs::{BatchLengths, PairsBatch};
use crate::score::offset::fits;

/// Greatest number of arenas. It is more than enough to fill any device.
const MAX_ARENAS: u64 = 16;
/// Least number of quads (of four words) of an arena when memory is short.
const MIN_QUADS: u64 = 1 << 16;
/// Greatest number of columns per lane in the diagonal scans.
const MAX_LANE_COLUMNS: u32 = 16;
/// Number of storage buffers that a kernel binds in addition to the arenas.
const OTHER_BUFFERS: u32 = 6;
/// Time in seconds for the driver to allocate and free a byte of an arena (H200).
const BYTE_SECONDS: f64 = 4.5e-11;
/// Relative increase of this time for each further device of a job. The driver serves devices one
/// after another, and more slowly: two H200s took three times as long per byte as one.
const DEVICE_SLOWDOWN: f64 = 2.0;
/// Additional seconds per round, because the last pairs and the traceback do not fill the device.
/// For linear and for affine gaps (H200).
const ROUND_SECONDS: [f64; 2] = [5e-3, 17e-3];

/// Buffers for borders and directions.
pub(super) struct Arenas {
    buffers: Vec<GrowingBuffer>,
    quads: u64,
    /// Number of arenas whose allocation saves time, once the job's amount of directions is known.
    /// Before that, all arenas are used.
    paying: Option<u32>,
}

/// Expected amount of directions of a job.
#[derive(Debug, Clone, Copy)]
pub(super) struct Expected {
    /// Number of cells of all alignments.
    pub cells: u64,
    /// Whether gaps are affine, whose directions take twice the memory.
    pub affine: bool,
    /// Number of devices that allocate arenas at the same time, including this one.
    pub devices: u32,
}

impl Arenas {
    /// Returns arenas that take `all` bytes together, with at most `each` bytes per arena.
    pub(super) fn new(gpu: &Gpu, all: u64, each: u64) -> Self {
        let limits = gpu.device.limits();
        let each = each.min(gpu.binding_bytes()).min(all).max(16);
        let bindings = limits.max_storage_buffers_per_shader_stage.saturating_sub(OTHER_BUFFERS).max(1) as u64;
        let count = (all / each).clamp(1, MAX_ARENAS.min(bindings));
        Arenas { buffers: (0..count).map(|_| GrowingBuffer::default()).collect(), quads: each / 16, paying: None }
    }

    /// Returns the number of arenas in use.
    pub(super) fn count(&self) -> u32 {
        self.paying.unwrap_or(self.buffers.len() as u32)
    }

    /// Sets the number of arenas to the one that saves most time for a job. The number never falls,
    /// because the arenas in use are already allocated.
    pub(super) fn grow_arenas(&mut self, expected: Expected) {
        let pay = arenas_that_pay(expected, 16 * self.quads);
        self.paying = Some(pay.max(self.paying.unwrap_or(1)).min(self.buffers.len() as u32));
    }

    /// Returns the greatest number of quads (of four words) per arena.
    pub(super) fn quads(&self) -> u64 {
        self.quads
    }

    /// Returns the number of bytes of all arenas.
    pub(super) fn bytes(&self) -> u64 {
        16 * self.quads * self.buffers.len() as u64
    }

    /// Frees all memory and halves the size of arenas. Returns false if they already have the least
    /// size.
    pub(super) fn shrink(&mut self) -> bool {
        if self.quads <= MIN_QUADS {
            return false;
        }
        self.quads /= 2;
        self.release();
        true
    }

    /// Frees all memory.
    pub(super) fn release(&mut self) {
        self.buffers.iter_mut().for_each(|buffer| *buffer = GrowingBuffer::default());
    }

    /// Returns the first `count` arenas with space for this many quads each. Arenas for which
    /// `quads` has no entry are as small as possible.
    pub(super) fn reserve(&mut self, gpu: &Gpu, count: u32, quads: &[u64]) -> Result<Vec<wgpu::Buffer>> {
        let wanted = quads.iter().copied().chain(std::iter::repeat(1));
        let limit = self.quads;
        self.buffers
            .iter_mut()
            .take(count as usize)
            .zip(wanted)
            .map(|(buffer, quads)| {
                let bytes = 16 * with_room(quads).min(limit);
                buffer.reserve(gpu, "arena", bytes, wgpu::BufferUsages::STORAGE).cloned()
            })
            .collect()
    }
}

/// Returns the number of quads to allocate for a batch that needs `quads` quads. A little slack
/// keeps a slightly larger batch from allocating a new buffer. The slack is small because the
/// driver takes time for every byte.
fn with_room(quads: u64) -> u64 {
    quads.next_multiple_of((quads.next_power_of_two() / 8).max(1))
}

/// Returns the number of arenas of `arena_bytes` bytes with the least total time. Twice the memory
/// takes twice as long to allocate and halves the number of rounds. The sum is least if allocation
/// and rounds take the same time. The result is the nearest power of two, because kernels are
/// compiled for their number of arenas.
fn arenas_that_pay(Expected { cells, affine, devices }: Expected, arena_bytes: u64) -> u32 {
    let bytes = cells as f64 * if affine { 0.5 } else { 0.25 };
    let round_seconds = ROUND_SECONDS[usize::from(affine)];
    let byte_seconds = BYTE_SECONDS * (1.0 + DEVICE_SLOWDOWN * f64::from(devices.max(1) - 1));
    let pay = (bytes * round_seconds / byte_seconds).sqrt() / arena_bytes.max(1) as f64;
    pay.max(1.0).log2().round().exp2() as u32
}

/// Sizes of the kernels that can store directions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MatrixKernelShape {
    /// `nw_rows`: invocations per workgroup.
    pub rows_workgroup: u32,
    /// `nw_rows`: words of directions per row of a slice.
    pub rows_words: u32,
    /// `nw_diagonal`: invocations per workgroup. They share a pair.
    pub diagonal_workgroup: u32,
    /// `nw_diagonal_subgroup`: invocations per workgroup, a multiple of every subgroup size.
    pub subgroup_workgroup: u32,
    /// `nw_checkpoint`: invocations per workgroup, or the subgroup size if that is greater.
    pub checkpoint_workgroup: u32,
    /// `nw_checkpoint`: steps between two checkpoints, a multiple of 4.
    pub checkpoint_steps: u32,
    /// `nw_tiled_diagonal`: invocations per workgroup.
    pub tile_workgroup: u32,
    /// `nw_tiled_diagonal`: rows of a tile, a multiple of 4.
    pub tile_rows: u32,
    /// Columns per lane in the diagonal scans: 4, 8 or 16. `None` chooses the number with the least
    /// padding.
    pub lane_columns: Option<u32>,
}

impl Default for MatrixKernelShape {
    fn default() -> Self {
        MatrixKernelShape {
            rows_workgroup: 32,
            rows_words: 4,
            diagonal_workgroup: 64,
            subgroup_workgroup: 128,
            checkpoint_workgroup: 128,
            checkpoint_steps: 64,
            tile_workgroup: 32,
            tile_rows: 512,
            lane_columns: None,
        }
    }
}

impl MatrixKernelShape {
    /// Returns the defaults for a kind of adapter.
    pub(super) fn for_adapter(adapter: &FoundAdapter) -> Self {
        let default = MatrixKernelShape::default();
        if adapter.is_software() {
            MatrixKernelShape {
                rows_workgroup: 16,
                rows_words: 1,
                diagonal_workgroup: 16,
                checkpoint_workgroup: 16,
                tile_workgroup: 16,
                ..default
            }
        } else {
            default
        }
    }

    /// Returns the variant of a kernel for a batch.
    pub fn variant(
        &self,
        scan: Scan,
        batch: &PairsBatch,
        extent: &BatchLengths,
        adapter: &AdapterDescription,
        arenas: u32,
        directions: bool,
    ) -> MatrixVariant {
        let scoring = &batch.chunk.scoring;
        let affine = !scoring.gaps.is_linear();
        let workgroup = match scan {
            Scan::Rows => self.rows_workgroup,
            Scan::Diagonal => self.diagonal_workgroup,
            Scan::DiagonalSubgroup => self.subgroup_workgroup,
            Scan::TiledDiagonal => self.tile_workgroup,
            // A workgroup must consist of whole subgroups on any device.
            Scan::Checkpoint => self.checkpoint_workgroup.max(adapter.subgroup_sizes[1].clamp(4, 128)),
        };
        let of_columns = |columns: u32| MatrixVariant {
            scan,
            workgroup,
            columns,
            tile_rows: if scan == Scan::Checkpoint { self.checkpoint_steps } else { self.tile_rows },
            arenas,
            subgroup_sizes: adapter.subgroup_sizes.map(|size| size.clamp(4, 128)),
            codes: scoring.alphabet.size() as u32,
            affine,
            ends: EndGapKind::from_scoring(scoring),
            directions,
            tags: fits(scoring, extent.shorter as u64, extent.sum, true, 31 - if affine { 4 } else { 2 }),
        };
        if scan == Scan::Rows {
            return of_columns(self.rows_words * if affine { 8 } else { 16 });
        }
        if let Some(columns) = self.lane_columns {
            return of_columns(columns.min(MAX_LANE_COLUMNS));
        }
        // The overhead of a step takes about as long as four cells.
        let cost = |columns: &u32| {
            let variant = of_columns(*columns);
            let padded: u64 =
                batch.blocks.iter().map(|b| variant.padded_columns(batch.chunk.queries.length(b.query))).sum();
            padded * (*columns as u64 + 4) / *columns as u64
        };
        let fits = |columns: &u32| of_columns(*columns).workgroup_bytes() <= adapter.workgroup_memory_bytes;
        of_columns([MAX_LANE_COLUMNS, 8, 4].into_iter().filter(fits).min_by_key(cost).unwrap_or(4))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arenas_have_a_little_slack() {
        assert_eq!([0, 1, 7, 9, 1000, 1024, 1025].map(with_room), [0, 1, 7, 10, 1024, 1024, 1280]);
        assert!((1..100_000).all(|quads| (quads..=quads + quads / 4 + 1).contains(&with_room(quads))));
    }

    #[test]
    fn more_directions_need_more_arenas() {
        const BYTES: u64 = 1 << 31;
        let pay_beside =
            |cells: f64, affine, devices| arenas_that_pay(Expected { cells: cells as u64, affine, devices }, BYTES);
        let pay = |cells: f64, affine| pay_beside(cells, affine, 1);
        // All pairs of 2,000 genes and of 200 genes.
        assert_eq!([pay(4.2e12, false), pay(4.2e12, true)], [4, 16]);
        assert_eq!([pay(4.2e10, false), pay(4.2e10, true)], [1, 1]);
        // Two devices, each with half of the pairs.
        assert_eq!([pay_beside(2.1e12, false, 2), pay_beside(2.1e12, true, 2)], [2, 4]);
        for affine in [false, true] {
            let counts: Vec<u32> = (0..64).map(|bits| pay((1u64 << bits) as f64, affine)).collect();
            assert!(counts.is_sorted() && counts.iter().all(|count| count.is_power_of_two()), "{counts:?}");
        }
    }
}
