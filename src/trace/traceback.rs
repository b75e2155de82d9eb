//! The production traceback: the canonical alignment of one pair, within a band of diagonals if one
//! is known to contain it.
//!
//! - `band` determines which cells are computed.
//! - `wavefront`, `rows` and `sweep` compute them.
//! - `checkpoints` follows the directions back through the cells.
//! - `global` chooses the band and the integer width.
//! - `local` finds where local alignments start and end.

use super::global::{GlobalLimits, check_table_size, global};
use super::hint::EndRegion;
pub use super::hint::Hint;
use super::local::{self, workspace::TracebackWorkspace};
use crate::alignment::Alignment;
use crate::error::Result;
use crate::score::{Mode, Scoring};
use crate::seq::Code;

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
