//! Sizes of the kernels that can store directions, and the arenas that they store them in.

use crate::error::Result;
use crate::gpu::adapter::{AdapterDescription, FoundAdapter};
use crate::gpu::device::{Gpu, GrowingBuffer};
use crate::gpu::kernels::Scan;
use crate::pairs::kernels::layout::Ends;
use crate::pairs::kernels::matrix::Variant;
use crate::pairs::{Batch, Extent};
use crate::score::offset::fits;

/// Arenas at most: more than enough to fill any device.
const MOST_ARENAS: u64 = 16;
/// Quads below which an arena does not shrink when memory is short.
const LEAST_QUADS: u64 = 1 << 16;
/// Columns of a lane in the diagonal scans at most.
const MOST_LANE_COLUMNS: u32 = 16;
/// Storage buffers that a kernel binds beside the arenas.
const OTHER_BUFFERS: u32 = 6;

/// Buffers for borders and directions.
pub(super) struct Arenas {
    buffers: Vec<GrowingBuffer>,
    quads: u64,
}

impl Arenas {
    /// As many as take `all` bytes together if each has at most `each`.
    pub(super) fn new(gpu: &Gpu, all: u64, each: u64) -> Self {
        let limits = gpu.device.limits();
        let each = each.min(limits.max_storage_buffer_binding_size).min(limits.max_buffer_size).min(all).max(16);
        let bindings = limits.max_storage_buffers_per_shader_stage.saturating_sub(OTHER_BUFFERS).max(1) as u64;
        let count = (all / each).clamp(1, MOST_ARENAS.min(bindings));
        Arenas { buffers: (0..count).map(|_| GrowingBuffer::default()).collect(), quads: each / 16 }
    }

    /// How many there are.
    pub(super) fn count(&self) -> u32 {
        self.buffers.len() as u32
    }

    /// Quads (of four words) that one can have.
    pub(super) fn quads(&self) -> u64 {
        self.quads
    }

    /// Bytes of all together.
    pub(super) fn bytes(&self) -> u64 {
        16 * self.quads * self.buffers.len() as u64
    }

    /// Gives all memory back and goes on with arenas of half the size; false if they are small already.
    pub(super) fn shrink(&mut self) -> bool {
        if self.quads <= LEAST_QUADS {
            return false;
        }
        self.quads /= 2;
        self.release();
        true
    }

    /// Gives all memory back.
    pub(super) fn release(&mut self) {
        self.buffers.iter_mut().for_each(|buffer| *buffer = GrowingBuffer::default());
    }

    /// The first `count` of them, with room for so many quads each; those not named are as small as can be.
    pub(super) fn reserve(&mut self, gpu: &Gpu, count: u32, quads: &[u64]) -> Result<Vec<wgpu::Buffer>> {
        let wanted = quads.iter().copied().chain(std::iter::repeat(1));
        let limit = self.quads;
        self.buffers
            .iter_mut()
            .take(count as usize)
            .zip(wanted)
            .map(|(buffer, quads)| {
                // Powers of two, so that a slightly larger batch does not mean a new buffer.
                let bytes = 16 * quads.next_power_of_two().min(limit);
                buffer.reserve(gpu, "arena", bytes, wgpu::BufferUsages::STORAGE).cloned()
            })
            .collect()
    }
}

/// Sizes of the kernels that can store directions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MatrixShape {
    /// `nw_rows`: invocations a workgroup.
    pub rows_workgroup: u32,
    /// `nw_rows`: words of directions that a slice has a row.
    pub rows_words: u32,
    /// `nw_diagonal`: invocations a workgroup, which share a pair.
    pub diagonal_workgroup: u32,
    /// `nw_diagonal_subgroup`: invocations a workgroup, a multiple of every subgroup size.
    pub subgroup_workgroup: u32,
    /// `nw_tiled_diagonal`: invocations a workgroup.
    pub tile_workgroup: u32,
    /// `nw_tiled_diagonal`: rows of a tile, a multiple of 4.
    pub tile_rows: u32,
    /// Columns of a lane in the diagonal scans: 4, 8 or 16; `None` for what pads least.
    pub lane_columns: Option<u32>,
}

impl Default for MatrixShape {
    fn default() -> Self {
        MatrixShape {
            rows_workgroup: 32,
            rows_words: 4,
            diagonal_workgroup: 64,
            subgroup_workgroup: 128,
            tile_workgroup: 32,
            tile_rows: 512,
            lane_columns: None,
        }
    }
}

impl MatrixShape {
    /// The defaults for a kind of adapter.
    pub fn for_adapter(found: &FoundAdapter) -> Self {
        let default = MatrixShape::default();
        if found.is_software() {
            MatrixShape { rows_workgroup: 16, rows_words: 1, diagonal_workgroup: 16, tile_workgroup: 16, ..default }
        } else {
            default
        }
    }

    /// The variant of a kernel for a batch.
    pub fn variant(
        &self,
        scan: Scan,
        batch: &Batch,
        extent: &Extent,
        adapter: &AdapterDescription,
        arenas: u32,
        directions: bool,
    ) -> Variant {
        let scoring = &batch.band.scoring;
        let affine = !scoring.gaps.is_linear();
        let workgroup = match scan {
            Scan::Rows => self.rows_workgroup,
            Scan::Diagonal => self.diagonal_workgroup,
            Scan::DiagonalSubgroup => self.subgroup_workgroup,
            Scan::TiledDiagonal => self.tile_workgroup,
        };
        let of_columns = |columns: u32| Variant {
            scan,
            workgroup,
            columns,
            tile_rows: self.tile_rows,
            arenas,
            subgroup_sizes: adapter.subgroup_sizes.map(|size| size.clamp(4, 128)),
            codes: scoring.alphabet.size() as u32,
            affine,
            ends: Ends::of(scoring),
            directions,
            tags: fits(scoring, extent.shorter as u64, extent.sum, true, 31 - if affine { 4 } else { 2 }),
        };
        if scan == Scan::Rows {
            return of_columns(self.rows_words * if affine { 8 } else { 16 });
        }
        if let Some(columns) = self.lane_columns {
            return of_columns(columns.min(MOST_LANE_COLUMNS));
        }
        // What a step costs beside its cells is about as much as four of them.
        let cost = |columns: &u32| {
            let variant = of_columns(*columns);
            let padded: u64 =
                batch.blocks.iter().map(|b| variant.padded_columns(batch.band.queries.length(b.query))).sum();
            padded * (*columns as u64 + 4) / *columns as u64
        };
        of_columns([MOST_LANE_COLUMNS, 8, 4].into_iter().min_by_key(cost).unwrap_or(4))
    }
}
