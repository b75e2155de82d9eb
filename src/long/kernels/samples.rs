//! Sample programs of every kernel of the module. Together they contain all parts of the shaders.

use super::{striped, striped_trace};
use crate::gpu::kernels::{KernelKind, KernelProgram, TracebackStage};

fn strips(shuffle: bool) -> striped::StripedVariant {
    striped::StripedVariant {
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

fn traceback(stage: TracebackStage, stored_borders: bool) -> striped_trace::TracebackVariant {
    let workgroup = if stage == TracebackStage::Chase { 1 } else { 4 };
    striped_trace::TracebackVariant { stage, workgroup, codes: 16, column_bits: 6, local: true, stored_borders }
}

/// Returns sample programs of a kernel, or none for a kernel of another module.
pub fn samples(kind: KernelKind) -> Vec<Box<dyn KernelProgram>> {
    match kind {
        KernelKind::Strips => vec![Box::new(strips(false)), Box::new(strips(true))],
        KernelKind::LongTraceback(stage) => vec![Box::new(traceback(stage, false)), Box::new(traceback(stage, true))],
        _ => Vec::new(),
    }
}
