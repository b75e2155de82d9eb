//! Alignment of profiles with profiles, and progressive multiple alignment (ClustalW: Thompson,
//! Higgins and Gibson 1994).
//!
//! The results equal those of ClustalW 2.1 to the last gap:
//!
//! - [`align`] aligns sequences along the joins of a guide tree. Sequences that are not similar
//!   enough to any other sequence are aligned at the end.
//! - Aligned sequences are summarized by sums over columns: the weight of each letter, and counts
//!   of gaps and residues. Two groups give two profiles: the scores of letters for each column of
//!   the first, the share of each letter in tenths for each column of the second, and gap costs for
//!   each column ([`Penalties`]).
//! - Two profiles are aligned in the memory of a few rows ([`pass`]). If several alignments score
//!   best, the recursion decides in the same way as ClustalW.
//!
//! [`oracle`] is the textbook form of the recurrence. Tests compare the passes with it.

mod columns;
mod divided;
mod engines;
pub mod gpu;
mod group;
mod iterate;
pub mod kernels;
mod letters;
mod options;
pub mod oracle;
pub mod pass;
mod path;
mod progressive;
mod recursion;
mod rows;
mod scores;
pub mod work;

pub use columns::Penalties;
pub use divided::{DividedRectangles, ProfileCrossing};
pub use engines::{ProfileEngines, align_on};
pub use options::{Iterate, ProfileOptions, Series};
pub use path::ColumnStep;
pub use progressive::{Guide, Likeness, Progressive, ProgressiveRun, align};
pub use scores::ColumnScores;

#[cfg(test)]
mod tests;
