//! A program of every kernel of the room.

use super::myers;
use crate::gpu::kernels::{KernelKind, KernelProgram, LaneGrouping};
use crate::score::EditMode;

/// Programs of a kernel; none of those of other rooms.
pub fn samples(kind: KernelKind) -> Vec<Box<dyn KernelProgram>> {
    match kind {
        KernelKind::Edit(grouping) => vec![Box::new(myers::Variant {
            grouping,
            bits: 4,
            stride: 4,
            words: 2,
            workgroup: 32,
            lanes: if matches!(grouping, LaneGrouping::Subgroup | LaneGrouping::Workgroup) { 4 } else { 1 },
            mode: EditMode::Infix,
            strips: false,
            row_words: if grouping == LaneGrouping::Band { 7 } else { 0 },
            selection: myers::Selection::All,
        })],
        _ => Vec::new(),
    }
}
