//! ClustalW's pairwise alignments, the source of its distances.
//!
//! For each pair, the best local alignment gives a rectangle. Within it, the algorithm of Myers and
//! Miller computes a global alignment, whose identities are counted.

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
