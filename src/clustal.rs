//! ClustalW's full pairwise alignments, of which its distances come: the best local alignment's rectangle, in it the
//! alignment of Myers and Miller, of that the identities.

pub mod costs;
pub mod cpu;
pub mod gpu;
pub mod kernels;
pub mod mock;
pub mod oracle;
pub mod plan;
pub mod walk;
pub mod work;

pub use costs::ClustalCosts;
pub use plan::{Plan, Table};
pub use work::*;
