//! Sample programs of every kernel of this module. Their texts together contain all parts of the
//! shaders.

use super::layout::EndGapKind;
use super::{matrix, nw_slice, nw_slice_half, sw_tile};
use crate::gpu::kernels::{KernelKind, KernelProgram, LaneGrouping, Packing, Scan, ScoreType};

fn sample_matrix(scan: Scan) -> matrix::MatrixVariant {
    matrix::MatrixVariant {
        scan,
        workgroup: 16,
        columns: 8,
        tile_rows: 12,
        arenas: 2,
        subgroup_sizes: [4, 16],
        codes: 16,
        affine: true,
        ends: EndGapKind::Affine,
        directions: true,
        tags: true,
    }
}

fn sample_tile(grouping: LaneGrouping, packing: Packing) -> sw_tile::TileVariant {
    sw_tile::TileVariant {
        grouping,
        packing,
        lanes: 4,
        columns: 12,
        workgroup: 16,
        codes: 16,
        gaps: crate::score::Gaps::from_blast(11, 1),
        group: Some(4),
        passes: true,
        split: true,
    }
}

/// Returns sample programs of a kernel, or none if another module owns it.
pub fn samples(kind: KernelKind) -> Vec<Box<dyn KernelProgram>> {
    match kind {
        KernelKind::Slice(numbers) => {
            let (slice, workgroup, codes, affine, ends) = (12, 16, 16, true, EndGapKind::Affine);
            match numbers {
                ScoreType::I32 => vec![Box::new(nw_slice::SliceVariant { slice, workgroup, codes, affine, ends })],
                ScoreType::F16 => {
                    let group_words = 4;
                    let variant =
                        nw_slice_half::HalfSliceVariant { slice, workgroup, group_words, codes, affine, ends };
                    vec![Box::new(variant)]
                }
            }
        }
        KernelKind::Scan(scan) => vec![Box::new(sample_matrix(scan))],
        KernelKind::PairTraceback => vec![Box::new(matrix::MatrixTraceback(sample_matrix(Scan::Rows)))],
        KernelKind::Tile(grouping, packing) => vec![Box::new(sample_tile(grouping, packing))],
        _ => Vec::new(),
    }
}
