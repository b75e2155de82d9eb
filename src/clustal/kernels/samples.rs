//! A program of every kernel of the room.

use super::program::{Pass, Variant};
use crate::gpu::kernels::{KernelKind, KernelProgram};
use crate::seq::Alphabet;

/// Programs of a kernel; none of those of other rooms.
pub fn samples(kind: KernelKind) -> Vec<Box<dyn KernelProgram>> {
    let all = Pass::ALL.map(|pass| Variant::new(pass, Alphabet::Protein, 32));
    all.into_iter().filter(|own| own.kernel().kind == kind).map(|own| Box::new(own) as Box<dyn KernelProgram>).collect()
}
