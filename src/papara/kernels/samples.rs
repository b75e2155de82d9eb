//! Sample programs of every kernel of this module.

use super::block;
use crate::gpu::kernels::{KernelKind, KernelProgram};

/// Returns the sample programs of a kernel, or none if the kernel belongs to another module.
pub fn samples(kind: KernelKind) -> Vec<Box<dyn KernelProgram>> {
    match kind {
        KernelKind::Block(numbers) => vec![Box::new(block::BlockVariant {
            numbers,
            workgroup: 32,
            columns: block::columns(numbers)[0],
            chunk: block::CHUNK,
            is_plain: true,
            is_protein: false,
        })],
        _ => Vec::new(),
    }
}
