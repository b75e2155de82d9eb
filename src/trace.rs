//! Traceback: computes the canonical alignment of one pair of sequences.
//!
//! # The canonical alignment
//!
//! A pair often has many alignments with the best score. Pairwave always returns the alignment that
//! this rule selects:
//!
//! 1. It has the best score. Among all alignments with this score, it has the most matches
//!    (`=` columns).
//! 2. Among these, it is the alignment that the traceback finds. The traceback goes through the
//!    matrices from the ends of both sequences to their starts. Several steps can lead to the
//!    current score and number of matches. The traceback then prefers a column of two symbols over
//!    a query symbol opposite a gap (I), and this over a target symbol opposite a gap (D). Inside a
//!    gap, it prefers to leave the gap, so that the current symbol is the gap's first, over
//!    extending it. At the border of the matrix, all remaining symbols form one end gap.
//! 3. If end gaps are free or have their own costs, the traceback starts from the best cell of the
//!    last row and the last column, including the cost of the end gap from there. If the corner is
//!    among the best cells, it starts there. Otherwise it starts from the last column's best cell
//!    with the longest part of the query. If the last column has no best cell, it starts from the
//!    last row's best cell with the longest part of the target. The symbols beyond this cell form
//!    one end gap. If end gaps cost as much as inner gaps, the start is always the corner.
//!
//! A local alignment ([`Mode::Local`](crate::score::Mode::Local)) aligns one part of each sequence:
//!
//! 1. If no alignment scores more than 0, it is empty: score 0, no columns, and both parts are
//!    empty and start at 0.
//! 2. Otherwise it ends in the first cell (i, j) that has the best score. This is the cell with the
//!    shortest prefix of the query (least i), and among these with the shortest prefix of the
//!    target (least j).
//! 3. Among all alignments with this score that end there, it has the fewest query symbols, and
//!    among these the fewest target symbols.
//! 4. Between its start and its end, it is the canonical global alignment of the two parts, with
//!    charged end gaps.
//!
//! It follows that a local alignment starts and ends with a column of two symbols. Every prefix and
//! every suffix of it scores more than 0.
//!
//! Every engine returns the same alignment, so the output does not depend on the device.

mod avx2;
mod band;
mod checkpoints;
mod global;
mod hint;
mod local;
#[doc(hidden)]
pub mod pivot;
mod rows;
mod sweep;
pub mod traceback;
mod wavefront;

pub(crate) use band::{Band, ScoreRange};
pub use hint::{EndRegion, Hint};
pub use local::further::LocalAlignments;
pub use local::workspace::TracebackWorkspace;
pub use traceback::{traceback, traceback_from};
