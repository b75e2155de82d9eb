//! ClustalW's pairwise alignments, the source of its distances.
//!
//! For each pair, the start and end of the best local alignment span a rectangle of the matrix.
//! Within it, the algorithm of Myers and Miller computes a global alignment. The result is the
//! number of its identities.

pub mod costs;
pub mod cpu;
pub mod gpu;
pub mod kernels;
pub mod mock;
pub mod oracle;
pub mod plan;
pub mod recursion;
pub mod work;

pub use costs::ClustalCosts;
pub use plan::{ClustalPlan, IdentityTable};
pub use work::*;
