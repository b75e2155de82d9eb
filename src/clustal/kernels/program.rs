//! The kernels with their constants.

use crate::gpu::kernels::{ClustalStage, Kernel, KernelKind, KernelProgram, LaneGrouping, of_kind};
use crate::gpu::source::Constants;
use crate::seq::Alphabet;

/// Columns of a slice of scores.
const SCORE_COLUMNS: u32 = 20;
/// Columns of a slice of `nw_forward_reverse_thread`.
const IDENTITY_COLUMNS: u32 = 20;
/// Rows of an invocation of `nw_forward_reverse`.
const ROWS: u32 = 8;

/// A pass over the matrices of pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Pass {
    /// To the end of the best local alignment.
    Ends,
    /// From there to its start.
    Starts,
    /// Over the rectangle between the two, for identities, by a workgroup.
    ForwardReverse,
    /// The same by an invocation.
    ForwardReverseThread,
}

impl Pass {
    /// All of them, those that go over a batch first before the others.
    pub const ALL: [Pass; 4] = [Pass::Ends, Pass::Starts, Pass::ForwardReverse, Pass::ForwardReverseThread];

    /// Whether it finds identities.
    pub fn is_last(self) -> bool {
        matches!(self, Pass::ForwardReverse | Pass::ForwardReverseThread)
    }
}

/// What a pipeline is made for: shader constants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Variant {
    /// The pass.
    pub pass: Pass,
    /// Invocations a workgroup; even.
    pub workgroup: u32,
    /// Columns of a slice, in fours; rows of an invocation where a workgroup has one pair.
    pub size: u32,
    /// Codes of the alphabet.
    pub codes: u32,
}

impl Variant {
    /// A pass of the usual size.
    pub fn new(pass: Pass, alphabet: Alphabet, workgroup: u32) -> Self {
        let size = match pass {
            Pass::Ends | Pass::Starts => SCORE_COLUMNS,
            Pass::ForwardReverse => ROWS,
            Pass::ForwardReverseThread => IDENTITY_COLUMNS,
        };
        Variant { pass, workgroup, size, codes: alphabet.size() as u32 }
    }

    /// Slices of a query.
    pub fn slices(&self, symbols: u32) -> u32 {
        symbols.div_ceil(self.size)
    }

    /// Pairs, or tasks of such, that a workgroup does at once.
    pub fn pairs(&self) -> u32 {
        if self.pass == Pass::ForwardReverseThread { self.workgroup } else { 1 }
    }

    /// Bytes of scratch memory that a workgroup takes of each entry.
    pub fn entry_bytes(&self) -> u64 {
        match self.pass {
            // Two rows of each half.
            Pass::ForwardReverse => 4 * 8,
            // A border, and a row of each half.
            Pass::ForwardReverseThread => u64::from(3 * 8 * self.workgroup),
            _ => u64::from(8 * self.workgroup),
        }
    }

    /// Bytes of workgroup memory that a workgroup takes.
    pub fn workgroup_bytes(&self) -> u32 {
        match self.pass {
            // Parts, sums, and of every invocation what it hands down and finds.
            Pass::ForwardReverse => 41 * 24 + 32 + (16 + 20) * self.workgroup,
            // Scores and a number.
            Pass::ForwardReverseThread => 4 * self.codes * self.stride() + 4,
            _ => 16 * self.codes * self.stride4(),
        }
    }

    /// Vec4s from one row of the profile to the next: odd, so that rows of neighbouring codes start in different banks.
    fn stride4(&self) -> u32 {
        (self.size / 4) | 1
    }

    /// Entries from one row of the table to the next: odd, and one more than codes at least.
    fn stride(&self) -> u32 {
        (self.codes + 1) | 1
    }
}

impl KernelProgram for Variant {
    fn kernel(&self) -> &'static Kernel {
        of_kind(KernelKind::Clustal(match self.pass {
            Pass::Ends | Pass::Starts => ClustalStage::Ends,
            Pass::ForwardReverse => ClustalStage::ForwardReverse(LaneGrouping::Workgroup),
            Pass::ForwardReverseThread => ClustalStage::ForwardReverse(LaneGrouping::Thread),
        }))
    }

    fn constants(&self) -> Constants {
        let all = Constants::default().number("WG", self.workgroup).number("CODES", self.codes);
        match self.pass {
            Pass::ForwardReverse => all.number("ROWS", self.size),
            Pass::ForwardReverseThread => all.number("SLICE", self.size).number("STRIDE", self.stride()),
            _ => all
                .number("SLICE", self.size)
                .number("STRIDE4", self.stride4())
                .flag("REVERSE", self.pass != Pass::Ends),
        }
    }
}
