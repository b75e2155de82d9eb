//! ClustalW's pairwise identities on the CPU: lanes are second sequences of one first sequence.
//!
//! Two passes in lanes find each pair's best local alignment, and a corridor that ClustalW's recursion does not leave
//! (`ends`); the recursion then walks every pair in its corridor ([`super::walk`]). So all identities are known.

mod compute;
mod corridors;
mod detail;
mod ends;

pub use compute::{Workspace, compute, identities};

#[cfg(test)]
mod tests;
