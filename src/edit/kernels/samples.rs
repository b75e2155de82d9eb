//! Sample programs of every kernel of this module.

use super::myers;
use crate::gpu::kernels::{KernelKind, KernelProgram, LaneGrouping};
use crate::score::EditMode;

/// Returns the sample programs of a kernel, or none if the kernel belongs to another module.
pub fn samples(kind: KernelKind) -> Vec<Box<dyn KernelProgram>> {
    match kind {
        KernelKind::Edit(grouping) => vec![Box::new(myers::EditVariant {
            grouping,
            bits: 4,
            stride: 4,
            words: 2,
            workgroup: 32,
            lanes: if grouping.divides_pairs() { 4 } else { 1 },
            mode: EditMode::Infix,
            strips: false,
            row_words: if grouping == LaneGrouping::Band { 7 } else { 0 },
            code_lanes: if grouping == LaneGrouping::ScanSubgroup { 8 } else { 0 },
            selection: myers::PairSelection::All,
        })],
        _ => Vec::new(),
    }
}
