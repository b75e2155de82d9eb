//! A program of every kernel of the room.

use super::myers;
use crate::gpu::kernels::{Cooperation, Kind, Program};
use crate::score::EditMode;

/// Programs of a kernel; none of those of other rooms.
pub fn samples(kind: Kind) -> Vec<Box<dyn Program>> {
    match kind {
        Kind::Edit(cooperation) => vec![Box::new(myers::Variant {
            cooperation,
            bits: 4,
            stride: 4,
            words: 2,
            workgroup: 32,
            lanes: if matches!(cooperation, Cooperation::Subgroup | Cooperation::Workgroup) { 4 } else { 1 },
            mode: EditMode::Infix,
            strips: false,
            row_words: if cooperation == Cooperation::Band { 7 } else { 0 },
            selection: myers::Selection::All,
        })],
        _ => Vec::new(),
    }
}
