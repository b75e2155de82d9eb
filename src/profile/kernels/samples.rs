//! One program for each kernel of this module.

use super::program::{MAX_LETTERS, ProfileVariant};
use crate::gpu::kernels::{KernelKind, KernelProgram};

/// Returns the programs of a kernel. Empty for kernels of other modules.
pub fn samples(kind: KernelKind) -> Vec<Box<dyn KernelProgram>> {
    let all = [
        ProfileVariant::Tile { workgroup: 32, columns: 128, letters: MAX_LETTERS },
        ProfileVariant::Cross { workgroup: 32 },
    ];
    all.into_iter()
        .filter(|sample| sample.kernel().kind == kind)
        .map(|sample| Box::new(sample) as Box<dyn KernelProgram>)
        .collect()
}
