//! Compiled variants of the kernels: pass, sizes and shader constants.

use crate::gpu::kernels::{ClustalStage, Kernel, KernelKind, KernelProgram, LaneGrouping, of_kind};
use crate::gpu::source::Constants;
use crate::seq::Alphabet;

/// Columns of a slice in `sw_ends`.
const SCORE_COLUMNS: u32 = 20;
/// Columns of a slice in `nw_forward_reverse_thread`.
const IDENTITY_COLUMNS: u32 = 20;
/// Rows per invocation in `nw_forward_reverse`.
const ROWS: u32 = 8;

/// A pass over the matrices of the pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ClustalPass {
    /// Finds the end of the best local alignment.
    Ends,
    /// Finds its start, going back from the end.
    Starts,
    /// Counts the identities in the rectangle between start and end, with one workgroup per pair.
    ForwardReverse,
    /// Counts the identities in that rectangle, with one invocation per pair.
    ForwardReverseThread,
}

impl ClustalPass {
    /// All passes in execution order.
    pub const ALL: [ClustalPass; 4] =
        [ClustalPass::Ends, ClustalPass::Starts, ClustalPass::ForwardReverse, ClustalPass::ForwardReverseThread];

    /// Checks whether the pass counts identities.
    pub fn is_last(self) -> bool {
        matches!(self, ClustalPass::ForwardReverse | ClustalPass::ForwardReverseThread)
    }
}

/// The constants that a pipeline is compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ClustalVariant {
    /// Pass that the pipeline computes.
    pub pass: ClustalPass,
    /// Invocations per workgroup; an even number.
    pub workgroup: u32,
    /// Columns of a slice (a multiple of 4). In passes with one workgroup per pair, rows per
    /// invocation.
    pub size: u32,
    /// Number of codes in the alphabet.
    pub codes: u32,
}

impl ClustalVariant {
    /// Returns the variant of a pass with the default size.
    pub fn new(pass: ClustalPass, alphabet: Alphabet, workgroup: u32) -> Self {
        let size = match pass {
            ClustalPass::Ends | ClustalPass::Starts => SCORE_COLUMNS,
            ClustalPass::ForwardReverse => ROWS,
            ClustalPass::ForwardReverseThread => IDENTITY_COLUMNS,
        };
        ClustalVariant { pass, workgroup, size, codes: alphabet.size() as u32 }
    }

    /// Returns the number of slices of a query with `symbols` symbols.
    pub fn slices(&self, symbols: u32) -> u32 {
        symbols.div_ceil(self.size)
    }

    /// Returns the number of pairs (or of tasks, in passes that take tasks) that a workgroup
    /// computes at once.
    pub fn pairs(&self) -> u32 {
        if self.pass == ClustalPass::ForwardReverseThread { self.workgroup } else { 1 }
    }

    /// Returns the bytes of scratch memory that a workgroup takes per entry.
    pub fn entry_bytes(&self) -> u64 {
        match self.pass {
            // Two rows for each half.
            ClustalPass::ForwardReverse => 4 * 8,
            // A border, and one row for each half.
            ClustalPass::ForwardReverseThread => u64::from(3 * 8 * self.workgroup),
            _ => u64::from(8 * self.workgroup),
        }
    }

    /// Returns the bytes of workgroup memory that a workgroup takes.
    pub fn workgroup_bytes(&self) -> u32 {
        match self.pass {
            // Parts, sums, and for each invocation the values that it passes on and its best
            // crossing.
            ClustalPass::ForwardReverse => 41 * 24 + 32 + (16 + 20) * self.workgroup,
            // Scores and one counter.
            ClustalPass::ForwardReverseThread => 4 * self.codes * self.stride() + 4,
            _ => 16 * self.codes * self.stride4(),
        }
    }

    /// Distance in `vec4`s between rows of the profile. It is odd, so rows of neighbouring codes
    /// start in different banks.
    fn stride4(&self) -> u32 {
        (self.size / 4) | 1
    }

    /// Distance in entries between rows of the table. It is odd and at least `codes + 1`.
    fn stride(&self) -> u32 {
        (self.codes + 1) | 1
    }
}

impl KernelProgram for ClustalVariant {
    fn kernel(&self) -> &'static Kernel {
        of_kind(KernelKind::Clustal(match self.pass {
            ClustalPass::Ends | ClustalPass::Starts => ClustalStage::Ends,
            ClustalPass::ForwardReverse => ClustalStage::ForwardReverse(LaneGrouping::Workgroup),
            ClustalPass::ForwardReverseThread => ClustalStage::ForwardReverse(LaneGrouping::Thread),
        }))
    }

    fn workgroup_memory(&self) -> u32 {
        self.workgroup_bytes()
    }

    fn constants(&self) -> Constants {
        let all = Constants::default().number("WG", self.workgroup).number("CODES", self.codes);
        match self.pass {
            ClustalPass::ForwardReverse => all.number("ROWS", self.size),
            ClustalPass::ForwardReverseThread => all.number("SLICE", self.size).number("STRIDE", self.stride()),
            _ => all
                .number("SLICE", self.size)
                .number("STRIDE4", self.stride4())
                .flag("REVERSE", self.pass != ClustalPass::Ends),
        }
    }
}
