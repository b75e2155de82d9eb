//! ClustalW's pairwise identities on the CPU. Each lane holds one second sequence; all lanes share
//! the first sequence.
//!
//! Two vectorised passes find the best local alignment of each pair and a corridor that ClustalW's
//! recursion does not leave (`ends`). The recursion ([`super::recursion`]) then computes the
//! identities of each pair within its corridor.

mod compute;
mod corridors;
mod detail;
mod ends;

pub use compute::{ClustalWorkspace, compute, identities};

#[cfg(test)]
mod tests;
