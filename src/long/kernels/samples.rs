//! Some programs of every kernel of the room, whose texts together have all of its parts.

use super::{striped, striped_trace};
use crate::gpu::kernels::{Kind, Program, Stage};

fn strips(shuffle: bool) -> striped::Variant {
    striped::Variant {
        lanes: 32,
        cells: 8,
        classes: 4,
        codes: 16,
        batch: 8,
        last_cell: 7,
        local: true,
        linear: false,
        best: true,
        prune: true,
        persistent: true,
        shuffle,
    }
}

fn traceback(stage: Stage, edges: bool) -> striped_trace::Variant {
    let workgroup = if stage == Stage::Chase { 1 } else { 4 };
    striped_trace::Variant { stage, workgroup, codes: 16, column_bits: 6, local: true, edges }
}

/// Programs of a kernel; none of those of other rooms.
pub fn samples(kind: Kind) -> Vec<Box<dyn Program>> {
    match kind {
        Kind::Strips => vec![Box::new(strips(false)), Box::new(strips(true))],
        Kind::Traceback(stage) => vec![Box::new(traceback(stage, false)), Box::new(traceback(stage, true))],
        _ => Vec::new(),
    }
}
