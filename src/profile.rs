//! Alignment of profiles with profiles, and progressive multiple alignment (ClustalW: Thompson,
//! Higgins and Gibson 1994).
//!
//! Every alignment is identical to that of ClustalW 2.1:
//!
//! - [`align`] aligns sequences along the joins of a guide tree. Sequences that are not similar
//!   enough to any other sequence are aligned at the end.
//! - A group of aligned sequences is summarized by sums over its columns: the weight of each
//!   letter, and counts of gaps and residues. To join two groups, both become profiles. The first
//!   profile has the score of each letter for each column. The second profile has the share of each
//!   letter, in tenths, for each column. Both have gap costs for each column ([`Penalties`]).
//! - The alignment of two profiles needs memory for a few rows only ([`pass`]). Among alignments
//!   with the best score, the recursion chooses the same one as ClustalW.
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
