//! From scores to alignments: CIGARs, traceback, and verification by rescoring.
//!
//! # The canonical alignment
//!
//! A pair often has many alignments with the best score. Pairwave always gives the same one:
//!
//! 1. It has the best score, and among all alignments with this score the most matches (`=` columns).
//! 2. Among these it is the one that the walk back through the matrices finds, from the ends of both sequences to their
//!    beginnings. Where several steps lead to the same score and number of matches, two symbols are aligned before a
//!    query symbol is set against a gap (I), and this before a target symbol (D). Inside a gap, leaving it (so that the
//!    symbol at hand is the gap's first) is preferred to extending it. At the border, the rest is one end gap.
//! 3. Where end gaps have costs of their own, or none, the walk starts from the cell of the last row and the last column
//!    that is best when the end gap from there is paid: from the corner if this is among the best, else from the last
//!    column's best cell with the longest part of the query, else from the last row's with the longest part of the target.
//!    What lies beyond is one end gap. (If they cost what inner gaps cost, that is always the corner.)
//!
//! A local alignment ([`Mode::Local`](crate::score::Mode::Local)) is one of two parts:
//!
//! 1. If nothing scores more than 0, it is empty: score 0, no columns, and both parts are empty and begin at 0.
//! 2. Else it ends where the best score is reached first: of all cells (i, j) of the matrix with the best score, that
//!    with the shortest beginning of the query (least i), and among these of the target (least j).
//! 3. Among all alignments with this score that end there, it has the fewest query symbols, and among these the fewest
//!    target symbols.
//! 4. Between these two places it is the canonical global alignment of the two parts, with charged end gaps.
//!
//! So a local alignment begins and ends with two symbols, and no part at either end of it adds nothing to its score.
//!
//! Every engine gives the same alignment, so output never depends on who computed it.

mod avx2;
mod band;
mod global;
mod hint;
mod local;
mod rows;
mod sweep;
pub mod traceback;
mod walk;
mod wavefront;

pub use hint::{EndRegion, Hint};
pub use traceback::{Workspace, traceback, traceback_from};
