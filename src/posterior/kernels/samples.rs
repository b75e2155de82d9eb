//! A program of every kernel of the room.

use super::program::Variant;
use crate::gpu::kernels::{KernelKind, KernelProgram, PosteriorPass};
use crate::seq::Alphabet;

/// Programs of a kernel; none of those of other rooms.
pub fn samples(kind: KernelKind) -> Vec<Box<dyn KernelProgram>> {
    let all =
        [PosteriorPass::Forward, PosteriorPass::Backward].map(|sweep| Variant::new(sweep, Alphabet::Protein, 32, 4));
    all.into_iter().filter(|own| own.kernel().kind == kind).map(|own| Box::new(own) as Box<dyn KernelProgram>).collect()
}
