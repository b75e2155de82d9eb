//! ClustalW's pairwise identities on the CPU. All lanes have the same first sequence, and each lane
//! has its own second sequence.
//!
//! Two vectorised passes find the best local alignment of each pair and a corridor of cells that
//! ClustalW's recursion does not leave (`ends`). The recursion ([`super::recursion`]) then computes
//! the identities of each pair within its corridor.

mod compute;
mod corridors;
mod detail;
mod ends;

pub use compute::{ClustalWorkspace, compute, identities};

#[cfg(test)]
mod tests;
