//! One program for each kernel of this module.

use super::program::PosteriorVariant;
use crate::gpu::kernels::{KernelKind, KernelProgram, PosteriorPass};
use crate::seq::Alphabet;

/// Returns the programs of a kernel. Empty for kernels of other modules.
pub fn samples(kind: KernelKind) -> Vec<Box<dyn KernelProgram>> {
    let all = [PosteriorPass::Forward, PosteriorPass::Backward]
        .map(|sweep| PosteriorVariant::new(sweep, Alphabet::Protein, 32, 4));
    all.into_iter()
        .filter(|sample| sample.kernel().kind == kind)
        .map(|sample| Box::new(sample) as Box<dyn KernelProgram>)
        .collect()
}
