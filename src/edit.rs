//! Levenshtein distances: patterns against texts, or against regions of texts that a read mapper found.

mod check;
pub mod cpu;
mod distances;
pub mod gpu;
pub mod kernels;
pub mod mock;
pub mod oracle;
pub mod plan;
pub mod qgrams;
pub mod trace;
pub mod work;

pub use distances::Distances;
pub use work::*;
