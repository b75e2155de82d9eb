//! The kernels with their constants.

use crate::gpu::kernels::{Kernel, KernelKind, KernelProgram, PosteriorPass, of_kind};
use crate::gpu::source::Constants;
use crate::posterior::scale::{BLOCK, STEP};
use crate::seq::Alphabet;

/// What a pipeline is made for: shader constants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Variant {
    /// The sweep.
    pub sweep: PosteriorPass,
    /// Invocations a workgroup.
    pub workgroup: u32,
    /// Of these a pair.
    pub lanes: u32,
    /// Codes of the alphabet.
    pub codes: u32,
}

impl Variant {
    /// A sweep over sequences of an alphabet.
    pub fn new(sweep: PosteriorPass, alphabet: Alphabet, workgroup: u32, lanes: u32) -> Self {
        Variant { sweep, workgroup, lanes, codes: alphabet.size() as u32 }
    }

    /// Bytes of workgroup memory that a workgroup takes.
    pub fn workgroup_bytes(&self) -> u32 {
        let weights = 4 * self.codes * (self.codes + 1);
        let handed = 2 * (16 * STEP as u32 + 4) * self.workgroup;
        let own = match self.sweep {
            PosteriorPass::Forward => 8 * self.workgroup,
            PosteriorPass::Backward => 8 * (self.workgroup / self.lanes),
        };
        weights.next_multiple_of(16) + handed + own
    }

    /// Iterations of loops that an invocation makes of a strip of so many groups of rows.
    pub fn strip_iterations(&self, groups: u32) -> u64 {
        let (block, step) = (BLOCK as u64, STEP as u64);
        let row = match self.sweep {
            PosteriorPass::Forward => 1 + block,
            PosteriorPass::Backward => 1 + 3 * block + block / 4,
        };
        u64::from(groups + self.lanes) * (1 + 2 * block + step * row) + 2 * block
    }

    /// Iterations of loops before all strips and after them, for a pair of so many residues and survivors at most.
    pub fn other_iterations(&self, [rows, columns]: [u32; 2], list: u32) -> u64 {
        let weights = self.codes * (self.codes + 1) / self.workgroup + 1;
        u64::from(weights) + u64::from((rows + columns + 2 + 2 * list) / self.lanes + 4 + self.lanes)
    }
}

impl KernelProgram for Variant {
    fn kernel(&self) -> &'static Kernel {
        of_kind(KernelKind::Posterior(self.sweep))
    }

    fn constants(&self) -> Constants {
        let all = Constants::default().number("WG", self.workgroup).number("CODES", self.codes);
        all.number("LANES", self.lanes)
    }
}
