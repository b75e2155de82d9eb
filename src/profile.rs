//! Profiles against profiles, and the progressive alignments that are made of them (ClustalW: Thompson, Higgins and Gibson
//! 1994).
//!
//! What is computed is what ClustalW 2.1 computes, to the last gap:
//!
//! - Sequences are aligned along the joins of a guide tree ([`align`]), those that are not alike enough to any other at the end.
//! - Of aligned sequences only sums over columns are kept: how much the sequences with each letter count, and what is known of
//!   gaps. Two groups make two profiles, one of what letters score, one of tenths of letters, and costs of gaps at each column
//!   ([`Penalties`]).
//! - The profiles are aligned in the memory of a few rows ([`pass`]); which of several best alignments is taken follows from the
//!   recursion.
//!
//! [`oracle`] is the recurrence as it is written down; passes answer to it in tests.

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
mod rows;
mod scores;
mod walk;
pub mod work;

pub use columns::Penalties;
pub use divided::{Crossing, Divided};
pub use engines::{Engines, align_on};
pub use options::{Iterate, Options, Series};
pub use path::Step;
pub use progressive::{Guide, Likeness, Progressive, Run, align};
pub use scores::Scores;

#[cfg(test)]
mod tests;
