//! The production traceback: the canonical alignment of one pair, in a band if a band is known to hold it.
//!
//! Which cells are computed is `band`'s matter; how, `wavefront`'s, `rows`' and `sweep`'s; the walk
//! back over them, `walk`'s. `global` chooses the band and the width of the numbers, `local` finds
//! where local alignments begin and end.

use super::global::{self, Known, fits_the_table, global};
use super::hint::EndRegion;
pub use super::hint::Hint;
use super::local;
use crate::alignment::Alignment;
use crate::error::Result;
use crate::score::{Mode, Scoring};
use crate::seq::Code;
use crate::simd::InstructionSet;

/// Buffers that tracebacks use again and again; one for each thread.
#[derive(Debug)]
pub struct Workspace {
    global: global::Buffers,
    local: local::Buffers,
}

impl Workspace {
    /// Bytes of directions that a workspace keeps if nothing else is said: those of all cells of two sequences of 8,000
    /// symbols.
    pub const DEFAULT_BUDGET_BYTES: usize = 64 << 20;

    /// A workspace with [`Workspace::DEFAULT_BUDGET_BYTES`].
    pub fn new() -> Self {
        Self::with_budget(Self::DEFAULT_BUDGET_BYTES)
    }

    /// A workspace that keeps at most about so many bytes of directions at once, and, to find where a local alignment begins,
    /// of values. Any number is enough; less is slower.
    pub fn with_budget(budget_bytes: usize) -> Self {
        Workspace { global: global::Buffers::new(budget_bytes), local: local::Buffers::default() }
    }

    /// Computes with these instructions. Changes no result.
    pub fn with_level(mut self, level: InstructionSet) -> Self {
        self.global.resources.level = level;
        self
    }
}

impl Default for Workspace {
    fn default() -> Self {
        Self::new()
    }
}

/// The canonical alignment of two sequences (the rule is in [`crate::trace`]). Either may be empty.
///
/// # Errors
/// [`Error::Usage`](crate::Error::Usage) for a code that `scoring` has no score for.
/// [`Error::Internal`](crate::Error::Internal) if the alignment has not the score or the matches of
/// `hint`: one of the two was computed wrongly.
pub fn traceback(
    query: &[Code],
    target: &[Code],
    scoring: &Scoring,
    hint: Hint,
    workspace: &mut Workspace,
) -> Result<Alignment> {
    traceback_from(query, target, scoring, hint, None, workspace)
}

/// The same where it may be known in which cells a local alignment ends. With the score that saves most of the work.
///
/// # Errors
/// As [`traceback()`].
pub fn traceback_from(
    query: &[Code],
    target: &[Code],
    scoring: &Scoring,
    hint: Hint,
    region: Option<&EndRegion>,
    workspace: &mut Workspace,
) -> Result<Alignment> {
    scoring.check_codes(query)?;
    scoring.check_codes(target)?;
    match scoring.mode {
        Mode::Global => {
            let end = region.filter(|_| scoring.has_own_ends());
            global(query, target, scoring, hint, Known { end, ..Known::default() }, &mut workspace.global)
        }
        Mode::Local => {
            fits_the_table(scoring)?;
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
    fn letters_without_a_table_have_distances_only() {
        let align = |scoring: &Scoring| traceback(b"Bytes", b"bites", scoring, Hint::NONE, &mut Workspace::default());
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
