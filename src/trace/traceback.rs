//! The production traceback: the canonical alignment of one pair, within a band of diagonals if one
//! is known to contain it.
//!
//! - `band` determines which cells are computed.
//! - `wavefront`, `rows` and `sweep` compute them.
//! - `checkpoints` follows the directions back through the cells.
//! - `global` chooses the band and the integer width.
//! - `local` finds where local alignments start and end.

use super::global::{GlobalBuffers, GlobalLimits, check_table_size, global};
use super::hint::EndRegion;
pub use super::hint::Hint;
use super::local::{self, LocalBuffers};
use crate::alignment::Alignment;
use crate::error::Result;
use crate::score::{Mode, Scoring};
use crate::seq::Code;
use crate::simd::InstructionSet;

/// Buffers for repeated tracebacks. Each thread has its own.
#[derive(Debug)]
pub struct TracebackWorkspace {
    pub(super) global: GlobalBuffers,
    pub(super) local: LocalBuffers,
}

impl TracebackWorkspace {
    /// Default limit in bytes on the directions that a workspace keeps: enough for all cells of two
    /// sequences of 8,000 symbols.
    pub const DEFAULT_BUDGET_BYTES: usize = 64 << 20;

    /// Returns a workspace with a limit of [`TracebackWorkspace::DEFAULT_BUDGET_BYTES`].
    pub fn new() -> Self {
        Self::with_budget(Self::DEFAULT_BUDGET_BYTES)
    }

    /// Returns a workspace that keeps at most about `budget_bytes` bytes of directions. The search
    /// for the start of a local alignment also keeps at most about `budget_bytes` bytes of values.
    /// Results do not depend on the limit. A lower limit makes tracebacks slower.
    pub fn with_budget(budget_bytes: usize) -> Self {
        TracebackWorkspace { global: GlobalBuffers::new(budget_bytes), local: LocalBuffers::default() }
    }

    /// Sets the instruction set. Results do not depend on it.
    pub fn with_instructions(mut self, instructions: InstructionSet) -> Self {
        self.global.resources.instructions = instructions;
        self
    }
}

impl Default for TracebackWorkspace {
    fn default() -> Self {
        Self::new()
    }
}

/// Returns the canonical alignment of two sequences by the rule in [`crate::trace`]. Either
/// sequence may be empty.
///
/// # Errors
/// [`Error::Usage`](crate::Error::Usage) for a code that has no score in `scoring`.
/// [`Error::Internal`](crate::Error::Internal) if the score or the matches of the alignment differ
/// from `hint`: either the traceback or the engine computed a wrong value.
pub fn traceback(
    query: &[Code],
    target: &[Code],
    scoring: &Scoring,
    hint: Hint,
    workspace: &mut TracebackWorkspace,
) -> Result<Alignment> {
    traceback_from(query, target, scoring, hint, None, workspace)
}

/// Returns the canonical alignment of two sequences like [`traceback()`], given a region that
/// contains the alignment's end. If the hint also has a score, the region saves most of the work of
/// a local traceback.
///
/// # Errors
/// See [`traceback()`].
pub fn traceback_from(
    query: &[Code],
    target: &[Code],
    scoring: &Scoring,
    hint: Hint,
    region: Option<&EndRegion>,
    workspace: &mut TracebackWorkspace,
) -> Result<Alignment> {
    scoring.check_codes(query)?;
    scoring.check_codes(target)?;
    match scoring.mode {
        Mode::Global => {
            let end = region.filter(|_| scoring.has_own_ends());
            global(query, target, scoring, hint, GlobalLimits { end, ..GlobalLimits::default() }, &mut workspace.global)
        }
        Mode::Local => {
            check_table_size(scoring)?;
            local::traceback(query, target, scoring, hint, region, &mut workspace.global, &mut workspace.local)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::{Equality, Gaps};
    use crate::seq::Alphabet;

    #[test]
    fn bytes_are_aligned_by_distance_only() {
        let align =
            |scoring: &Scoring| traceback(b"Bytes", b"bites", scoring, Hint::NONE, &mut TracebackWorkspace::default());
        let distance = Equality::literal(Alphabet::Bytes).scoring();
        let alignment = align(&distance).unwrap();
        assert_eq!((alignment.score, alignment.cigar.to_string().as_str()), (-2, "2X3="));
        let affine = Scoring { gaps: Gaps::from_blast(1, 1), ..distance.clone() };
        for scoring in [affine, Scoring { mode: Mode::Local, ..distance }] {
            let error = align(&scoring).unwrap_err().to_string();
            assert_eq!(error, "bytes are aligned by distance only: they have no table of scores");
        }
    }
}
