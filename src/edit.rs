//! Levenshtein distances between patterns and texts. The texts may be regions of longer sequences,
//! for example regions that a read mapper reported.

mod check;
pub mod cpu;
mod distances;
pub mod exact;
pub mod gpu;
pub mod kernels;
pub mod mock;
mod narrow;
pub mod oracle;
pub mod overhang;
pub mod overhang_cost;
pub mod pieces;
pub mod places;
pub mod plan;
pub mod qgrams;
mod scheduling;
pub mod tiles;
pub mod trace;
pub mod work;

pub use distances::BatchDistances;
pub use work::*;
