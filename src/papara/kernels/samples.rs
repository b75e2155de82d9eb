//! A program of every kernel of the room.

use super::block;
use crate::gpu::kernels::{KernelKind, KernelProgram};

/// Programs of a kernel; none of those of other rooms.
pub fn samples(kind: KernelKind) -> Vec<Box<dyn KernelProgram>> {
    match kind {
        KernelKind::Block(numbers) => vec![Box::new(block::Variant {
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
