//! Compiled variants of the kernels.

use crate::gpu::kernels::{Kernel, KernelKind, KernelProgram, PosteriorPass, of_kind};
use crate::gpu::source::Constants;
use crate::posterior::scale::{BLOCK, STEP};
use crate::seq::Alphabet;

/// Constants of a pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PosteriorVariant {
    /// The sweep.
    pub sweep: PosteriorPass,
    /// Invocations in a workgroup.
    pub workgroup: u32,
    /// Invocations for each pair.
    pub lanes: u32,
    /// Number of codes of the alphabet.
    pub codes: u32,
}

impl PosteriorVariant {
    /// Returns the variant of a sweep for an alphabet.
    pub fn new(sweep: PosteriorPass, alphabet: Alphabet, workgroup: u32, lanes: u32) -> Self {
        PosteriorVariant { sweep, workgroup, lanes, codes: alphabet.size() as u32 }
    }

    /// Returns the bytes of workgroup memory that a workgroup uses.
    pub fn workgroup_bytes(&self) -> u32 {
        let weights = 4 * self.codes * (self.codes + 1);
        let handed = 2 * (16 * STEP as u32 + 4) * self.workgroup;
        let sweep_bytes = match self.sweep {
            PosteriorPass::Forward => 8 * self.workgroup,
            PosteriorPass::Backward => 8 * (self.workgroup / self.lanes),
        };
        weights.next_multiple_of(16) + handed + sweep_bytes
    }

    /// Returns the number of loop iterations of an invocation in a strip with the given number of
    /// groups of rows.
    pub fn strip_iterations(&self, groups: u32) -> u64 {
        let (block, step) = (BLOCK as u64, STEP as u64);
        let row = match self.sweep {
            PosteriorPass::Forward => 1 + block,
            PosteriorPass::Backward => 1 + 3 * block + block / 4,
        };
        u64::from(groups + self.lanes) * (1 + 2 * block + step * row) + 2 * block
    }

    /// Returns the number of loop iterations before and after all strips, for a pair with the given
    /// numbers of rows and columns and at most `list` survivors.
    pub fn other_iterations(&self, [rows, columns]: [u32; 2], list: u32) -> u64 {
        let weights = self.codes * (self.codes + 1) / self.workgroup + 1;
        u64::from(weights) + u64::from((rows + columns + 2 + 2 * list) / self.lanes + 4 + self.lanes)
    }
}

impl KernelProgram for PosteriorVariant {
    fn kernel(&self) -> &'static Kernel {
        of_kind(KernelKind::Posterior(self.sweep))
    }

    fn workgroup_memory(&self) -> u32 {
        self.workgroup_bytes()
    }

    fn constants(&self) -> Constants {
        let all = Constants::default().number("WG", self.workgroup).number("CODES", self.codes);
        all.number("LANES", self.lanes)
    }
}
