//! A program of every kernel of the room.

use super::program::{MAX_LETTERS, Variant};
use crate::gpu::kernels::{KernelKind, KernelProgram};

/// Programs of a kernel; none of those of other rooms.
pub fn samples(kind: KernelKind) -> Vec<Box<dyn KernelProgram>> {
    let all = [Variant::Tile { workgroup: 32, columns: 128, letters: MAX_LETTERS }, Variant::Cross { workgroup: 32 }];
    all.into_iter().filter(|own| own.kernel().kind == kind).map(|own| Box::new(own) as Box<dyn KernelProgram>).collect()
}
