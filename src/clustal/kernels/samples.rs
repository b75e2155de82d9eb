//! Sample programs of every kernel of this module.

use super::program::{ClustalPass, ClustalVariant};
use crate::gpu::kernels::{KernelKind, KernelProgram};
use crate::seq::Alphabet;

/// Returns the sample programs of a kernel, or none if the kernel belongs to another module.
pub fn samples(kind: KernelKind) -> Vec<Box<dyn KernelProgram>> {
    let all = ClustalPass::ALL.map(|pass| ClustalVariant::new(pass, Alphabet::Protein, 32));
    all.into_iter()
        .filter(|variant| variant.kernel().kind == kind)
        .map(|variant| Box::new(variant) as Box<dyn KernelProgram>)
        .collect()
}
